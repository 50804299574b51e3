/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a cmdlet: names by unambiguous prefix, aliases, switches, positions, the
   pipeline. */
#include "base/glob.h"
#include "guard/powershell/run.h"

/* One entry of a spec: "Name|Alias:2^" with '!' for a switch, '^' if it takes pipeline input. */
struct bind_entry {
    struct str names;
    int position;
    bool is_switch, piped;
};

static bool next_entry(const char **spec, struct bind_entry *e)
{
    while (**spec == ' ')
        ++*spec;
    if (!**spec)
        return false;
    const char *p = *spec;
    *e = (struct bind_entry){.position = -1};
    while (*p && *p != ' ' && *p != ':' && *p != '!' && *p != '^')
        p++;
    e->names = (struct str){*spec, (size_t)(p - *spec)};
    for (; *p && *p != ' '; p++) {
        if (*p == '!')
            e->is_switch = true;
        else if (*p == '^')
            e->piped = true;
        else if (ascii_is_digit(*p))
            e->position = *p - '0';
    }
    *spec = p;
    return true;
}

static bool name_matches(struct str names, struct str given, bool exact)
{
    for (size_t from = 0; from < names.n;) {
        size_t bar = str_find_char(names, '|', from);
        struct str name = str_slice(names, from, bar);
        if (exact ? str_eqi(name, given) : str_startsi(name, given))
            return true;
        from = bar + 1;
    }
    return false;
}

/* Parameters that every cmdlet has; they take no part in what a command does. */
static const char common[] =
    "ErrorAction|EA WarningAction|WA InformationAction|Infa ProgressAction|Proga ErrorVariable|EV "
    "WarningVariable|WV InformationVariable|IV OutVariable|OV OutBuffer|OB PipelineVariable|PV "
    "Verbose|vb! Debug|db! WhatIf|wi! Confirm|cf!";

static bool find(const char *spec, struct str given, bool exact, size_t *index,
                 struct bind_entry *e)
{
    for (size_t i = 0; next_entry(&spec, e); i++) {
        if (name_matches(e->names, given, exact)) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void set(struct ps_bound *b, size_t index, struct ps_value v, struct ps_node *node)
{
    if (index >= BIND_MAX)
        return;
    b->values[index] = v;
    b->nodes[index] = node;
    b->present[index] = true;
}

/* Defaults from $PSDefaultParameterValues. */
static void bind_defaults(struct ps_bound *b, const char *spec)
{
    bool known;
    struct ps_value defaults =
        scope_get(b->r, SPACE_VARIABLE, STR("PSDefaultParameterValues"), &known);
    if (!known || defaults.kind != VALUE_HASH)
        return;
    for (size_t i = 0; i < defaults.hash->count; i++) {
        struct str key = defaults.hash->pairs[i].key;
        size_t colon = str_find_char(key, ':', 0), index;
        struct bind_entry e;
        if (colon < key.n && glob_match(GLOB_POWERSHELL, str_slice(key, 0, colon), b->who) &&
            find(spec, str_from(key, colon + 1), true, &index, &e) && index < BIND_MAX &&
            !b->present[index])
            set(b, index, defaults.hash->pairs[i].value, b->at);
    }
}

void bind_parameters(struct ps_bound *b, const char *spec)
{
    struct bind_entry e;
    size_t index;
    b->spec = spec;
    bool few[32] = {0}, *taken = few;
    if (b->count > 32 && !(taken = ARENA_ARRAY(b->r->f.arena, b->count, bool)))
        return;
    for (size_t i = 0; i < b->count; i++) {
        struct ps_arg *arg = &b->args[i];
        if (!arg->name.p)
            continue;
        taken[i] = true;
        bool own = find(spec, arg->name, true, &index, &e);
        bool shared = !own && find(common, arg->name, true, &index, &e);
        if (!own && !shared) {
            own = find(spec, arg->name, false, &index, &e);
            shared = !own && find(common, arg->name, false, &index, &e);
        }
        struct ps_value v = arg->value;
        struct ps_node *node = arg->node;
        bool is_switch = own || shared ? e.is_switch : false;
        if (v.kind == VALUE_VOID && !is_switch && (own || shared) && i + 1 < b->count &&
            !b->args[i + 1].name.p) {
            v = b->args[i + 1].value;
            node = b->args[i + 1].node;
            taken[++i] = true;
        } else if (v.kind == VALUE_VOID) {
            v = value_bool(true);
        }
        if (own)
            set(b, index, v, node);
    }
    size_t left = 0; /* the first argument that no parameter has */
    for (int position = 0; position < 6; position++) {
        while (left < b->count && taken[left])
            left++;
        if (left == b->count)
            break;
        const char *rest = spec;
        for (index = 0; next_entry(&rest, &e); index++) {
            if (e.position != position || index >= BIND_MAX || b->present[index])
                continue;
            taken[left] = true;
            set(b, index, b->args[left].value, b->args[left].node);
            break;
        }
    }
    if (b->input.kind != VALUE_VOID) {
        const char *rest = spec;
        for (index = 0; next_entry(&rest, &e) && index < BIND_MAX; index++) {
            if (e.piped && !b->present[index]) {
                set(b, index, b->input, b->at);
                break;
            }
        }
    }
    bind_defaults(b, spec);
}

struct word bound_word(struct ps_bound *b, size_t index)
{
    return eval_word(b->r, b->nodes[index] ? b->nodes[index] : b->at, b->values[index]);
}

/* A switch that is on, or may be. */
bool bound_switch(struct ps_bound *b, size_t index)
{
    return b->present[index] && fold_truth(b->values[index]) != 0;
}

bool bound_text_is(struct ps_bound *b, size_t index, const char *text)
{
    return b->present[index] &&
           str_eqi(str_trim(value_text(&b->r->f, b->values[index])), str_of(text));
}

struct word bound_command(struct ps_bound *b)
{
    return (struct word){.text = b->who, .start = b->at->start, .end = b->at->end};
}

/* -WhatIf only says what would be done. */
bool bound_what_if(struct ps_bound *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct str name = b->args[i].name;
        if (name.n >= 2 && str_startsi(STR("WhatIf"), name) &&
            (b->args[i].value.kind == VALUE_VOID || fold_truth(b->args[i].value) == 1))
            return true;
    }
    return false;
}

/* The WMI class that a parameter names or an object is of. */
struct str bound_class(struct ps_bound *b, size_t text, size_t object)
{
    if (b->present[text])
        return bound_word(b, text).text;
    if (b->present[object] && b->values[object].kind == VALUE_OBJECT &&
        str_starts(b->values[object].object->type, STR("wmi/")))
        return str_from(b->values[object].object->type, 4);
    return STR("\xFF");
}
