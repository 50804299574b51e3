/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of cmdlets and aliases, and the cmdlets that only pass values on or name things. */
#include "guard/powershell/cmdlets.h"

#include "base/glob.h"
#include "guard/names.h"

/* ---- pipelines ---- */

/* A member by a pattern: the first of those that start or delete something that it fits. */
static struct str matched_member(struct str pattern)
{
    struct str rest =
        STR("ShellExecute|Open|Explore|Start|Run|Exec|Create|Navigate|Delete|InvokeVerb|"
            "Invoke|Document");
    for (size_t end; rest.n; rest = str_from(rest, end + 1)) {
        end = str_find_char(rest, '|', 0);
        if (glob_match(GLOB_POWERSHELL, pattern, str_slice(rest, 0, end)))
            return str_slice(rest, 0, end);
    }
    return pattern;
}

static struct ps_value member_of_item(struct ps_bound *b, struct ps_value item, struct str member,
                                      size_t from)
{
    enum { ARGUMENTS = 5 };
    struct ps_value args[8], out;
    size_t n = 0;
    if (b->present[ARGUMENTS])
        args[n++] = b->values[ARGUMENTS];
    for (size_t i = from; i < b->count && n < 8; i++)
        if (!b->args[i].name.p)
            args[n++] = b->args[i].value;
    if (str_has_char(member, '*') || str_has_char(member, '?'))
        member = matched_member(member);
    if (n == 0 && fold_property(&b->r->f, item, member, &out))
        return out;
    return dotnet_call(b->r, b->at, item, member, args, n, false);
}

/* The blocks of ForEach-Object: begin, process …, end, by position or by name. */
struct each_blocks {
    struct ps_node *blocks[8];
    size_t count;
    struct str member;
    size_t member_at; /* its first argument */
};

static void collect_blocks(struct ps_bound *b, struct each_blocks *e)
{
    for (size_t i = 0; i < b->count; i++) {
        struct ps_value v = b->args[i].value;
        if (v.kind == VALUE_BLOCK && e->count < 8) {
            e->blocks[e->count++] = v.node;
        } else if (v.kind == VALUE_STRING && !b->args[i].name.p && !e->member.n) {
            e->member = v.text;
            e->member_at = i + 1;
        } else if ((v.kind == VALUE_OBJECT || v.kind == VALUE_UNKNOWN) && !b->args[i].name.p) {
            ps_run_value(b->r, v, b->args[i].node, NULL, 0, value_kind(VALUE_VOID), true);
        }
    }
}

struct ps_value cmdlet_for_each(struct ps_bound *b)
{
    enum { PROCESS, BEGIN, END, MEMBER, REST, ARGUMENTS, INPUT, PARALLEL };
    struct ps_run *r = b->r;
    struct each_blocks e = {0};
    collect_blocks(b, &e);
    if (b->present[MEMBER])
        e.member = value_text(&r->f, b->values[MEMBER]);
    struct ps_value input = b->present[INPUT] ? b->values[INPUT] : value_unknown();
    struct ps_value items = value_items(&r->f, input);
    if (items.kind != VALUE_LIST) {
        items = value_list(&r->f, 1);
        if (items.kind == VALUE_LIST)
            items.items[0] = input;
    }
    size_t count = items.kind == VALUE_LIST ? items.count : 0;
    bool cut = r->iterations + count > RUN_MAX_ITERATIONS && count > 4;
    if (cut)
        count = 4;
    r->iterations += (unsigned)count;
    /* Two blocks are begin and process, three or more end, too. */
    bool named = b->present[PROCESS] || b->present[BEGIN] || b->present[END];
    size_t from = e.count >= 2 && (!named || b->present[BEGIN]) ? 1 : 0;
    size_t to = e.count >= 3 || (e.count == 2 && b->present[END]) ? e.count - 1 : e.count;
    struct ps_value out = value_kind(VALUE_VOID);
    size_t mark = r->log_count;
    if (from)
        out = ps_run_block_on(r, e.blocks[0], value_unknown());
    for (size_t i = 0; i < count && !guard_stopped(r->g); i++) {
        if (!e.count)
            out = ps_run_collect(r, out, member_of_item(b, items.items[i], e.member, e.member_at));
        for (size_t k = from; k < to; k++)
            out = ps_run_collect(r, out, ps_run_block_on(r, e.blocks[k], items.items[i]));
    }
    if (cut && !e.count)
        member_of_item(b, value_unknown(), e.member, e.member_at);
    for (size_t k = from; cut && k < to; k++) /* all the others */
        ps_run_block_on(r, e.blocks[k], value_unknown());
    bool all = items.kind == VALUE_LIST && count == items.count && input.kind != VALUE_UNKNOWN;
    if (!all)
        scope_doubt(r, mark);
    if (to < e.count)
        out = ps_run_collect(r, out, ps_run_block_on(r, e.blocks[to], value_unknown()));
    return all || out.kind == VALUE_VOID ? out : value_unknown();
}

struct ps_value cmdlet_where(struct ps_bound *b)
{
    enum { FILTER, VALUE, INPUT };
    struct ps_value input = b->input.kind == VALUE_VOID ? b->values[INPUT] : b->input;
    struct ps_value filter = b->values[FILTER];
    if (filter.kind != VALUE_BLOCK)
        return input;
    if (input.kind != VALUE_LIST || input.count > 256) {
        ps_run_block_on(b->r, filter.node, input);
        return input;
    }
    /* One more item that is not known, where it is not known which ones stay. */
    struct ps_value kept = value_list(&b->r->f, input.count + 1);
    size_t count = 0;
    bool doubt = false;
    for (size_t i = 0; i < input.count && kept.kind == VALUE_LIST; i++) {
        int truth = fold_truth(ps_run_block_on(b->r, filter.node, input.items[i]));
        doubt |= truth < 0;
        if (truth)
            kept.items[count++] = input.items[i];
    }
    if (doubt && kept.kind == VALUE_LIST)
        kept.items[count++] = value_unknown();
    if (kept.kind == VALUE_LIST)
        kept.count = count;
    return kept;
}

/* The items in an order or a choice that is not followed: all of them, and one that is unknown. */
struct ps_value cmdlet_shuffled(struct ps_bound *b)
{
    struct ps_value v = b->present[0] ? b->values[0] : b->input;
    ps_run_blocks(b->r, b->args, b->count, v);
    if (v.kind != VALUE_LIST || v.count < 2)
        return v;
    /* Nobody knows the first one, nor the last. */
    struct ps_value list = value_list(&b->r->f, v.count + 2);
    if (list.kind == VALUE_LIST) {
        memcpy(list.items + 1, v.items, v.count * sizeof *v.items);
        list.items[0] = list.items[v.count + 1] = value_unknown();
    }
    return list;
}

struct ps_value cmdlet_select_object(struct ps_bound *b)
{
    enum { INPUT, PROPERTY, EXCLUDE, EXPAND, FIRST, LAST, SKIP, UNIQUE, WAIT, INDEX, SKIP_LAST };
    struct ps_value v = b->values[INPUT];
    ps_run_blocks(b->r, b->args, b->count, v);
    if (b->present[EXPAND]) {
        struct ps_value out;
        struct str name = value_text(&b->r->f, b->values[EXPAND]);
        return fold_property(&b->r->f, v, name, &out) ? out : value_unknown();
    }
    if (v.kind != VALUE_LIST)
        return v;
    double first = (double)v.count, last = first, skip = 0;
    if (b->present[UNIQUE] || b->present[INDEX] || b->present[SKIP_LAST] ||
        (b->present[FIRST] && !fold_number(b->values[FIRST], &first)) ||
        (b->present[LAST] && !fold_number(b->values[LAST], &last)) ||
        (b->present[SKIP] && !fold_number(b->values[SKIP], &skip)) || first < 0 || last < 0 ||
        skip < 0 || (b->present[LAST] && (b->present[FIRST] || b->present[SKIP])))
        return value_unknown();
    size_t from = skip < (double)v.count ? (size_t)skip : v.count;
    if (b->present[LAST] && last < (double)v.count)
        from = v.count - (size_t)last;
    v.items += from;
    v.count -= from;
    if (b->present[FIRST] && first < (double)v.count)
        v.count = (size_t)first;
    return v.count == 1 ? v.items[0] : v;
}

struct ps_value cmdlet_nothing(struct ps_bound *b)
{
    (void)b;
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_out_string(struct ps_bound *b)
{
    return b->values[0].kind == VALUE_UNKNOWN ? value_unknown()
                                              : value_string(value_text(&b->r->f, b->values[0]));
}

struct ps_value cmdlet_write_output(struct ps_bound *b)
{
    if (b->count <= 1)
        return b->present[0] ? b->values[0] : value_kind(VALUE_VOID);
    struct ps_value list = value_list(&b->r->f, b->count);
    size_t count = 0;
    for (size_t i = 0; i < b->count && list.kind == VALUE_LIST; i++)
        if (b->args[i].value.kind != VALUE_VOID)
            list.items[count++] = b->args[i].value;
    if (list.kind == VALUE_LIST)
        list.count = count;
    return list;
}

/* ---- names: variables, aliases, commands, provider paths ---- */

static struct ps_value command_object(struct ps_fold *f, struct str text)
{
    struct ps_value command = value_object(f, STR("command"), text);
    if (command.kind != VALUE_OBJECT)
        return command;
    static const char *const definitions[] = {"definition", "resolvedcommandname",
                                              "referencedcommand", "resolvedcommand"};
    bool old;
    struct str target = cmdlet_alias(text, &old);
    struct value_hash *properties = &command.object->properties;
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        value_put(f, properties, str_of(definitions[i]), value_string(target.p ? target : text));
    value_put(f, properties, STR("name"), value_string(text));
    value_put(f, properties, STR("path"), value_string(text));
    value_put(f, properties, STR("source"), value_string(text));
    return command;
}

struct ps_value cmdlet_get_command(struct ps_bound *b)
{
    enum { NAME, VERB, NOUN, DEFINITION };
    struct ps_fold *f = &b->r->f;
    bool alias = str_eq(b->who, STR("Get-Alias"));
    if (!b->present[NAME] && alias && b->present[DEFINITION])
        b->values[NAME] = b->values[DEFINITION];
    else if (!b->present[NAME] && !alias && b->present[VERB] && b->present[NOUN])
        b->values[NAME] = value_string(fold_concat(
            f, fold_concat(f, bound_word(b, VERB).text, STR("-")), bound_word(b, NOUN).text));
    else if (!b->present[NAME])
        return value_unknown();
    struct ps_value name = b->values[NAME];
    if (name.kind == VALUE_LIST && name.count == 1)
        name = name.items[0];
    if (!value_known(name) || name.kind == VALUE_LIST)
        return value_unknown();
    struct str text = value_text(f, name);
    if (str_has_char(text, '*') || str_has_char(text, '?') || str_has_char(text, '[')) {
        text = cmdlet_match(text);
        if (!text.p)
            return value_unknown();
    }
    return command_object(f, text);
}

/* env:x, variable:x, function:x, alias:x as a path. */
static bool provider_path(struct str path, struct str *name)
{
    static const char *const drives[] = {"env:", "variable:", "function:", "alias:"};
    for (size_t i = 0; i < 4; i++) {
        if (str_startsi(path, str_of(drives[i])) && path.n > strlen(drives[i])) {
            *name = path;
            return true;
        }
    }
    return false;
}

static struct word bound_path(struct ps_bound *b)
{
    return b->present[0] ? bound_word(b, 0) : bound_word(b, 1);
}

struct ps_value cmdlet_get_content(struct ps_bound *b)
{
    struct word path = bound_path(b);
    struct str name;
    bool set;
    if (word_known(path) && provider_path(path.text, &name))
        return variable_get(b->r, name, &set);
    return value_unknown();
}

/* A path with what is not known of the files it finds. */
static struct ps_value found_path(struct ps_bound *b, struct str path, struct str filter,
                                  bool children)
{
    enum { FORCE = 7 };
    struct ps_fold *f = &b->r->f;
    struct str leaf = name_leaf(path);
    bool wild = str_has_char(leaf, '*') || str_has_char(leaf, '?') || str_has_char(leaf, '[');
    if (children && !wild)
        path = fold_concat(f, path, filter.n ? STR("\\") : STR("\\\xFF"));
    if (filter.n)
        path = fold_concat(f, path, filter);
    struct str copy = arena_copy(f->arena, path);
    for (size_t i = 0; copy.p && i < copy.n; i++)
        if (copy.p[i] == '*' || copy.p[i] == '?' || copy.p[i] == '[')
            ((char *)copy.p)[i] = GUARD_HOLE;
    struct ps_value v = value_string(copy);
    v.real = !bound_switch(b, FORCE);
    return v;
}

/* What -Include finds: one path for each of its patterns. */
static struct ps_value found_included(struct ps_bound *b, struct str path)
{
    enum { INCLUDE = 3 };
    struct ps_value include = b->values[INCLUDE];
    while (path.n > 1 &&
           (path.p[path.n - 1] == '*' || path.p[path.n - 1] == '\\' || path.p[path.n - 1] == '/'))
        path.n--;
    if (include.kind != VALUE_LIST)
        return found_path(b, path, value_text(&b->r->f, include), true);
    struct ps_value all = value_list(&b->r->f, include.count);
    for (size_t i = 0; all.kind == VALUE_LIST && i < include.count; i++)
        all.items[i] = found_path(b, path, value_text(&b->r->f, include.items[i]), true);
    return all;
}

struct ps_value cmdlet_get_item(struct ps_bound *b)
{
    enum { FILTER = 2, INCLUDE = 3 };
    bool children = str_eq(b->who, STR("Get-ChildItem")), set;
    struct str name;
    bool given = b->present[0] || b->present[1];
    if (!given && (!children || b->input.kind != VALUE_VOID))
        return value_unknown();
    struct word path =
        given ? bound_path(b)
              : (struct word){.text = STR("."), .start = b->at->start, .end = b->at->end};
    struct ps_value first = given ? b->values[b->present[0] ? 0 : 1] : value_string(STR("."));
    if (first.kind != VALUE_STRING)
        return value_unknown();
    if (word_known(path) && provider_path(path.text, &name)) {
        enum ps_space space = variable_space(&name);
        bool wild = str_has_char(name, '*') || str_has_char(name, '?') || str_has_char(name, '[');
        if (space == SPACE_ALIAS && wild)
            name = cmdlet_match(name);
        if (!name.p)
            return value_unknown();
        if (space == SPACE_ALIAS)
            return command_object(&b->r->f, name);
        struct ps_value v = variable_get(b->r, path.text, &set);
        if (space == SPACE_FUNCTION)
            return v;
        struct ps_value object = value_object(&b->r->f, STR("variable"), path.text);
        if (object.kind == VALUE_OBJECT)
            value_put(&b->r->f, &object.object->properties, STR("value"), v);
        return object;
    }
    struct str filter = b->present[FILTER] ? bound_word(b, FILTER).text : STR("");
    if (children && !filter.n && b->present[INCLUDE])
        return found_included(b, path.text);
    return found_path(b, path.text, filter, children);
}

struct ps_value cmdlet_get_service(struct ps_bound *b)
{
    return value_object(&b->r->f, STR("service"), STR_NONE);
}

struct ps_value cmdlet_tee(struct ps_bound *b)
{
    struct ps_value through = b->present[0] ? b->values[0] : b->input;
    enum { VARIABLE = 3 };
    if (b->present[VARIABLE] && word_known(bound_word(b, VARIABLE)))
        variable_set(b->r, bound_word(b, VARIABLE).text, through);
    if (b->present[1] || b->present[2])
        ps_run_write(b->r, bound_word(b, b->present[1] ? 1 : 2), through, bound_switch(b, 4));
    return through;
}

struct ps_value cmdlet_set_item(struct ps_bound *b)
{
    struct word path = bound_word(b, 0);
    struct str name;
    enum { NAME = 2, TYPE = 3 };
    bool made = str_eq(b->who, STR("New-Item"));
    bool named = made && b->present[NAME];
    if (named && b->present[0])
        path.text = fold_concat(&b->r->f, fold_concat(&b->r->f, path.text, STR("/")),
                                bound_word(b, NAME).text);
    else if (named)
        path = bound_word(b, NAME);
    struct str type = made && b->present[TYPE] ? bound_word(b, TYPE).text : STR("");
    bool links = name_is_one_of(type, STR("HardLink|Junction|SymbolicLink")) && b->present[1];
    if (links && !b->r->quiet) {
        guard_write(b->r->g, b->who, path, false);
        guard_linked(b->r->g, bound_word(b, 1).text, path.text);
        guard_protects(b->r->g, b->who, bound_word(b, 1), false);
    }
    if (word_known(path) && provider_path(path.text, &name)) {
        if (b->present[1])
            variable_judge(b->r, name, bound_word(b, 1));
        variable_set(b->r, name, b->present[1] ? b->values[1] : value_kind(VALUE_NULL));
    } else if (links)
        made = true;
    else if (b->present[1] && str_eq(path.text, STR("\xFF")) && !made)
        ps_run_opaque_command(b->r, path); /* it may name a function or an alias */
    else if (b->present[1])
        ps_run_write(b->r, path, b->values[1], false);
    else if ((b->present[0] || named) && !b->r->quiet)
        guard_write(b->r->g, b->who, path, false);
    for (size_t i = 0; i < b->count; i++)
        made |= b->args[i].name.n > 1 && str_startsi(STR("PassThru"), b->args[i].name);
    return made ? value_unknown() : value_kind(VALUE_VOID);
}

struct ps_value cmdlet_set_content(struct ps_bound *b)
{
    struct str name;
    if (b->present[0] && provider_path(bound_word(b, 0).text, &name))
        return cmdlet_set_item(b);
    bool adds = str_eq(b->who, STR("Add-Content"));
    if (b->present[1])
        ps_run_write(b->r, b->present[0] ? bound_word(b, 0) : bound_word(b, 2), b->values[1], adds);
    if (b->present[0] && !adds)
        ps_run_delete(b->r, b->who, bound_word(b, 0), 0); /* of a pattern, every file */
    return value_kind(VALUE_VOID);
}

/* Copy-Item alias:a alias:b and Rename-Item alias:a b: another name for a command or a value. */
static bool copy_name(struct ps_bound *b, struct word from)
{
    struct str name, to = bound_word(b, 1).text;
    if (!b->present[1] || !provider_path(from.text, &name))
        return false;
    size_t drive = str_find_char(from.text, ':', 0) + 1;
    if (!word_known(from) || !word_known(bound_word(b, 1))) {
        ps_run_opaque_command(b->r, from);
        return true;
    }
    if (!provider_path(to, &name))
        to = fold_concat(&b->r->f, str_slice(from.text, 0, drive), to);
    bool set;
    struct ps_value v = variable_get(b->r, from.text, &set);
    if (!set && variable_space(&from.text) == SPACE_ALIAS)
        v = value_string(from.text);
    variable_set(b->r, to, v);
    return true;
}

struct ps_value cmdlet_copy_item(struct ps_bound *b)
{
    struct word from = bound_word(b, b->present[0] ? 0 : 2);
    if (copy_name(b, from))
        return value_unknown();
    if (b->present[1] && !b->r->quiet) {
        bool copies = str_eq(b->who, STR("Copy-Item")) || str_eq(b->who, STR("Expand-Archive"));
        if ((b->present[0] || b->present[2]) && copies)
            guard_copied(b->r->g, from.text, bound_word(b, 1).text);
        else if (b->present[0] || b->present[2])
            guard_moved(b->r->g, from.text, bound_word(b, 1).text);
        if (!str_eq(b->who, STR("Copy-Item"))) { /* it is gone from there */
            guard_write(b->r->g, b->who, from, true);
            guard_delete(b->r->g, b->who, from, 0);
        }
        guard_brings(b->r->g, b->who, from, bound_word(b, 1).text);
        guard_write(b->r->g, b->who, bound_word(b, 1), true);
    } else if (!b->r->quiet && str_eq(b->who, STR("Copy-Item"))) {
        guard_brings(b->r->g, b->who, from, STR("."));
    }
    ps_run_blocks(b->r, b->args, b->count, b->input);
    return value_unknown();
}

/* Invoke-WebRequest -OutFile: what it fetches is not known. */
struct ps_value cmdlet_download(struct ps_bound *b)
{
    enum { URI, FILE_NAME };
    if (b->present[FILE_NAME] && !b->r->quiet) {
        guard_write(b->r->g, b->who, bound_word(b, FILE_NAME), true);
        guard_wrote_unknown(b->r->g, bound_word(b, FILE_NAME).text);
    }
    ps_run_blocks(b->r, b->args, b->count, b->input);
    return value_unknown();
}

/* Set-ItemProperty and New-ItemProperty: keys of the registry, above all. */
struct ps_value cmdlet_set_property(struct ps_bound *b)
{
    enum { NAME = 2 };
    struct word key = bound_path(b);
    if (!b->present[0] && !b->present[1] && b->input.kind == VALUE_STRING)
        key = eval_word(b->r, b->at, b->input);
    if (b->present[NAME])
        key.text = fold_concat(&b->r->f, fold_concat(&b->r->f, key.text, STR("\\")),
                               bound_word(b, NAME).text);
    if ((b->present[0] || b->present[1] || b->input.kind == VALUE_STRING) && !b->r->quiet)
        guard_write(b->r->g, b->who, key, false);
    ps_run_blocks(b->r, b->args, b->count, b->input);
    return value_unknown();
}

/* Set-Location, Push-Location. Only the first of several worlds moves. */
struct ps_value cmdlet_set_location(struct ps_bound *b)
{
    struct ps_run *r = b->r;
    if (r->quiet || r->world || (!b->present[0] && !b->present[1]))
        return value_kind(VALUE_VOID);
    if (str_eq(b->who, STR("Push-Location")))
        r->pushed = guard_folder(r->g);
    if (word_known(bound_path(b)))
        guard_change_folder(r->g, bound_path(b).text);
    else
        guard_set_folder(r->g, fold_concat(&r->f, STR("\xFF/"), bound_path(b).text));
    return value_kind(VALUE_VOID);
}

/* The last one pushed is known; after it, nothing is. */
struct ps_value cmdlet_pop_location(struct ps_bound *b)
{
    struct ps_run *r = b->r;
    if (!r->quiet && !r->world) {
        guard_set_folder(r->g, r->pushed);
        r->pushed = STR("\xFF");
    }
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_join_path(struct ps_bound *b)
{
    struct ps_fold *f = &b->r->f;
    struct str path = value_text(f, b->values[0]);
    for (size_t i = 1; i <= 2; i++) {
        if (!b->present[i])
            continue;
        struct str child = value_text(f, b->values[i]);
        while (child.n && (child.p[0] == '\\' || child.p[0] == '/'))
            child = str_from(child, 1);
        if (path.n && path.p[path.n - 1] != '\\' && path.p[path.n - 1] != '/')
            path = fold_concat(f, path, STR("\\"));
        path = fold_concat(f, path, child);
    }
    return value_string(path);
}

struct ps_value cmdlet_split_path(struct ps_bound *b)
{
    enum { PATH, LITERAL, PARENT, LEAF };
    if (!b->present[PATH] && !b->present[LITERAL])
        return value_unknown();
    struct str path = bound_path(b).text;
    if (bound_switch(b, LEAF))
        return value_string(name_leaf(path));
    if (path.n && path.p[name_leaf(path).n ? path.n - name_leaf(path).n : 0] == GUARD_HOLE)
        return value_string(fold_concat(&b->r->f, path, STR("\\.."))); /* it may have slashes */
    for (size_t i = 4; i < 8; i++)
        if (bound_switch(b, i))
            return value_unknown();
    struct str leaf = name_leaf(path);
    return value_string(str_slice(path, 0, path.n > leaf.n ? path.n - leaf.n - 1 : 0));
}

struct ps_value cmdlet_same_path(struct ps_bound *b)
{
    if (b->present[0] && b->values[0].kind == VALUE_STRING)
        return found_path(b, b->values[0].text, STR(""), false);
    return b->present[0] ? b->values[0] : b->present[1] ? b->values[1] : value_unknown();
}

/* ---- tables ---- */

static const struct cmdlet_pool {
#define CMDLET(name, handler, spec) char ROW(n)[sizeof name], ROW(s)[sizeof spec];
#include "guard/tables/ps_cmdlets.def"
#undef CMDLET
} cmdlet_pool = {
#define CMDLET(name, handler, spec) name, spec,
#include "guard/tables/ps_cmdlets.def"
#undef CMDLET
};

static const struct {
    uint16_t name, spec;
    struct ps_value (*run)(struct ps_bound *b);
} cmdlets[] = {
#define CMDLET(name, handler, spec) \
    {PLACE(cmdlet_pool, ROW(n)), PLACE(cmdlet_pool, ROW(s)), cmdlet_##handler},
#include "guard/tables/ps_cmdlets.def"
#undef CMDLET
};

static const struct alias_pool {
#define ALIAS(alias, cmdlet) char ROW(a)[sizeof alias], ROW(c)[sizeof cmdlet];
#define OLD_ALIAS(alias, cmdlet) ALIAS(alias, cmdlet)
#include "guard/tables/ps_aliases.def"
#undef ALIAS
#undef OLD_ALIAS
} alias_pool = {
#define ALIAS(alias, cmdlet) alias, cmdlet,
#define OLD_ALIAS(alias, cmdlet) ALIAS(alias, cmdlet)
#include "guard/tables/ps_aliases.def"
#undef ALIAS
#undef OLD_ALIAS
};

static const struct {
    uint16_t alias, cmdlet;
    bool old;
} aliases[] = {
#define ALIAS(alias, cmdlet) {PLACE(alias_pool, ROW(a)), PLACE(alias_pool, ROW(c)), false},
#define OLD_ALIAS(alias, cmdlet) {PLACE(alias_pool, ROW(a)), PLACE(alias_pool, ROW(c)), true},
#include "guard/tables/ps_aliases.def"
#undef ALIAS
#undef OLD_ALIAS
};

bool cmdlet_find(struct str name, size_t *index)
{
    *index = NAME_ROW(cmdlet_pool, cmdlets, name);
    return *index < NAME_ROWS(cmdlets);
}

struct str cmdlet_alias(struct str alias, bool *old)
{
    *old = false;
    if (alias.n > 8)
        return STR_NONE;
    size_t row = NAME_ROW(alias_pool, aliases, alias);
    if (row == NAME_ROWS(aliases))
        return STR_NONE;
    *old = aliases[row].old;
    return name_at(&alias_pool, aliases[row].cmdlet);
}

struct str cmdlet_match(struct str pattern)
{
    for (size_t i = 0; i < NAME_ROWS(cmdlets); i++)
        if (glob_match(GLOB_POWERSHELL, pattern, name_at(&cmdlet_pool, cmdlets[i].name)))
            return name_at(&cmdlet_pool, cmdlets[i].name);
    size_t index;
    for (size_t i = 0; i < NAME_ROWS(aliases); i++)
        if (glob_match(GLOB_POWERSHELL, pattern, name_at(&alias_pool, aliases[i].alias)) &&
            cmdlet_find(name_at(&alias_pool, aliases[i].cmdlet), &index))
            return name_at(&alias_pool, aliases[i].alias);
    return STR_NONE;
}

struct ps_value cmdlet_run(struct ps_run *r, size_t index, struct ps_node *at, struct ps_arg *args,
                           size_t count, struct ps_value input)
{
    struct ps_bound b = {.r = r,
                         .who = name_at(&cmdlet_pool, cmdlets[index].name),
                         .at = at,
                         .args = args,
                         .count = count,
                         .input = input};
    bind_parameters(&b, name_at(&cmdlet_pool, cmdlets[index].spec).p);
    return cmdlets[index].run(&b);
}
