/* SPDX-License-Identifier: Apache-2.0 */
/* docker, podman, nerdctl: what a container can change is what is mounted, unless it has more rights. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* The value of an option, in the same word or in the next one; p NULL: this is another option. */
static struct str value_of(const struct word *words, size_t count, size_t *i, struct str name)
{
    struct str word = words[*i].text;
    if (!str_starts(word, name))
        return STR_NONE;
    if (word.n > name.n)
        return word.p[name.n] == '=' ? str_from(word, name.n + 1) : STR_NONE;
    return *i + 1 < count ? words[++*i].text : STR_NONE;
}

/* -v X, -vX, -itv X: letters of switches before it. */
static struct str short_volume(const struct word *words, size_t count, size_t *i)
{
    struct str word = words[*i].text;
    size_t v = str_find_char(word, 'v', 0);
    if (word.n < 2 || word.p[0] != '-' || word.p[1] == '-' || v == word.n)
        return STR_NONE;
    for (size_t k = 1; k < v; k++)
        if (!str_has_char(STR("itdPq"), word.p[k]))
            return STR_NONE;
    struct str rest = str_from(word, v + 1);
    if (rest.n)
        return rest.p[0] == '=' ? str_from(rest, 1) : rest;
    return *i + 1 < count ? words[++*i].text : STR_NONE;
}

/* type=bind,source=X,target=Y */
static struct str source_of_mount(struct str value)
{
    static const struct str keys[] = {STR("source="), STR("src=")};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        size_t at = str_find(value, keys[k], 0) + keys[k].n;
        if (at <= value.n)
            return str_slice(value, at, str_find_char(value, ',', at));
    }
    return STR_NONE;
}

/* X:Y:ro */
static struct str source_of_volume(struct str value)
{
    size_t first = str_find_char(value, ':', 0), second = str_find_char(value, ':', first + 1);
    bool drive = first == 1 && second < value.n && ascii_is_alpha(value.p[0]) &&
                 str_has_char(STR("/\\"), value.p[2]);
    return str_slice(value, 0, drive ? second : first);
}

/* What an argument mounts; empty: nothing. */
static struct str mounted(const struct word *words, size_t count, size_t *i)
{
    size_t at = *i;
    struct str value = value_of(words, count, i, STR("--mount"));
    if (value.p)
        return source_of_mount(value);
    value = *i == at ? value_of(words, count, i, STR("--volume")) : STR_NONE;
    if (!value.p && *i == at)
        value = short_volume(words, count, i);
    return value.p ? source_of_volume(value) : STR_NONE;
}

/* The current directory by a name that only the shell knows: $PWD, $(pwd), %cd%. */
static bool is_current(struct str raw, struct str source)
{
    bool named = str_findi(raw, STR("pwd"), 0) < raw.n || str_findi(raw, STR("%cd%"), 0) < raw.n ||
                 str_findi(raw, STR("get-location"), 0) < raw.n;
    return named && str_find(source, STR(".."), 0) == source.n;
}

static void judge_mount(struct guard *g, struct str who, struct word word, struct str source)
{
    const char *what = NULL;
    if (str_eq(source, STR("/")))
        what = "gives a container the whole disk";
    else if (str_has_char(source, GUARD_HOLE))
        what = is_current(str_slice(g->text, word.start, word.end), source)
                   ? NULL
                   : "gives a container a folder that may be outside the workspace";
    else if (str_starts(source, STR("~")) ||
             (source.n && guard_place_of(g, source) == GUARD_PLACE_OUTSIDE))
        what = "gives a container a folder outside the workspace";
    if (what)
        guard_find(g, GUARD_DESTROY_OUTSIDE, word, who, what, "mount a folder of the workspace");
}

static bool gives_rights(const struct word *words, size_t count, size_t i)
{
    static const struct {
        struct str name, values; /* empty: every one */
    } options[] = {{STR("--pid"), STR("host")},
                   {STR("--cap-add"), STR("ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|CAP_SYS_ADMIN")},
                   {STR("--device"), STR("")},
                   {STR("--security-opt"), STR("seccomp=unconfined|apparmor=unconfined")}};
    if (str_eq(words[i].text, STR("--privileged")) ||
        str_eq(words[i].text, STR("--privileged=true")))
        return true;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        size_t at = i;
        struct str value = value_of(words, count, &at, options[k].name);
        if (value.p && (!options[k].values.n || name_is_one_of(value, options[k].values)))
            return true;
    }
    return false;
}

void judge_container(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    for (size_t i = 1; i < call->count; i++) {
        if (gives_rights(call->words, call->count, i))
            guard_find(g, GUARD_DESTROY_OUTSIDE, call->words[i], who,
                       "gives a container rights over the whole machine", "leave the option out");
        struct str source = mounted(call->words, call->count, &i);
        if (source.n)
            judge_mount(g, who, call->words[i], source);
    }
}
