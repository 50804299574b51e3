/* SPDX-License-Identifier: Apache-2.0 */
/* docker, podman, nerdctl: a container can change its mounts, and more with extra rights. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* The value of an option that is written with it, or stands in the next word; p NULL: it is
   neither. */
static struct str value_of(const struct word *words, size_t count, size_t *i, size_t name)
{
    struct str rest = str_from(words[*i].text, name);
    if (rest.n)
        return str_from(rest, rest.p[0] == '=');
    return *i + 1 < count ? words[++*i].text : STR_NONE;
}

/* The length of -v with letters of switches before it, as in -itv; 0: it is another option. */
static size_t short_volume(struct str word)
{
    size_t v = 1;
    while (v < word.n && str_has_char(STR("itdPq"), word.p[v]))
        v++;
    return word.n > v && word.p[0] == '-' && word.p[v] == 'v' ? v + 1 : 0;
}

/* The source of type=bind,source=X,target=Y or of X:Y:ro. */
static struct str source_of(struct str value)
{
    size_t at = str_find(value, STR("source="), 0);
    at = at < value.n ? at + 7 : str_find(value, STR("src="), 0) + 4;
    if (at <= value.n)
        return str_slice(value, at, str_find_char(value, ',', at));
    size_t first = str_find_char(value, ':', 0), second = str_find_char(value, ':', first + 1);
    bool drive = first == 1 && second < value.n && ascii_is_alpha(value.p[0]) &&
                 str_has_char(STR("/\\"), value.p[2]);
    return str_slice(value, 0, drive ? second : first);
}

/* The folder that an argument mounts; empty: none. */
static struct str mounted(const struct word *words, size_t count, size_t *i)
{
    struct str word = words[*i].text;
    /* A volume that is a folder of the host: --opt device=X, volume-opt=device=X. */
    size_t device = str_find(word, STR("device="), 0);
    if (device < word.n && (device == 0 || ascii_is_in(word.p[device - 1], "=,'\"")) &&
        !str_starts(word, STR("--device=")))
        return str_slice(word, device + 7, str_find_char(word, ',', device));
    size_t name = name_is_one_of(word, STR("--mount"))    ? 7
                  : name_is_one_of(word, STR("--volume")) ? 8
                                                          : short_volume(word);
    struct str value = name ? value_of(words, count, i, name) : STR_NONE;
    device = str_find(value, STR("volume-opt=device="), 0) + 18;
    if (device <= value.n)
        return str_slice(value, device, str_find_char(value, ',', device));
    return value.p ? source_of(value) : STR_NONE;
}

/* The current directory by a name that only the shell knows: $PWD, $(pwd), %cd%. */
static bool is_current(struct str raw, struct str source)
{
    return (str_findi(raw, STR("pwd"), 0) < raw.n || str_findi(raw, STR("%cd%"), 0) < raw.n) &&
           str_find(source, STR(".."), 0) == source.n && str_find(raw, STR("dirname"), 0) == raw.n;
}

static const char *judge_mount(struct guard *g, struct word word, struct str source)
{
    if (str_eq(source, STR("/")))
        return "gives a container the whole disk";
    if (str_ends(source, STR("docker.sock")) || str_ends(source, STR("podman.sock")) ||
        str_ends(source, STR("containerd.sock")))
        return "gives a container control of the service that starts containers";
    if (str_has_char(source, GUARD_HOLE))
        return is_current(str_slice(g->text, word.start, word.end), source)
                   ? NULL
                   : "gives a container a folder that may be outside the workspace";
    return str_starts(source, STR("~")) ||
                   (source.n && guard_place_of(g, source) == GUARD_PLACE_OUTSIDE)
               ? "gives a container a folder outside the workspace"
               : NULL;
}

static bool gives_rights(const struct word *words, size_t count, size_t i)
{
    struct str word = words[i].text;
    if (name_is_one_of(word, STR("--privileged|--device|--pid=host")))
        return true;
    if (!name_is_one_of(word, STR("--cap-add|--pid|--security-opt")))
        return false;
    struct str value = value_of(words, count, &i, str_find_char(word, '=', 0));
    return name_is_one_of(value, STR("host|ALL|SYS_ADMIN|CAP_SYS_ADMIN|SYS_PTRACE|SYS_MODULE|"
                                     "seccomp=unconfined|apparmor=unconfined"));
}

void judge_container(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    for (size_t i = 1; i < call->count; i++) {
        const char *what = gives_rights(call->words, call->count, i)
                               ? "gives a container rights over the whole machine"
                               : NULL;
        if (!what) {
            struct str source = mounted(call->words, call->count, &i);
            what = judge_mount(g, call->words[i], source);
        }
        if (what)
            guard_find(g, GUARD_DESTROY_OUTSIDE, call->words[i], who, what,
                       "mount a folder of the workspace, and leave out options that give rights");
    }
}
