/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that are known by name. */
#include "policy/presets.h"

#include "base/buf.h"

static const struct preset presets[] = {
#define PRESET(name, programs, told_posix, told_windows, hosts, variables, caches_posix, \
               caches_windows, opened)                                                   \
    {name,  programs,  {[PATH_POSIX] = told_posix, [PATH_WINDOWS] = told_windows},       \
     hosts, variables, {[PATH_POSIX] = caches_posix, [PATH_WINDOWS] = caches_windows},   \
     opened},
#include "policy/presets.def"
#undef PRESET
};

enum { COUNT = (int)(sizeof presets / sizeof *presets) };

const struct preset *preset_find(struct str name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (str_eqi(str_of(presets[i].name), name))
            return &presets[i];
    return NULL;
}

void preset_names(struct buf *out)
{
    for (size_t i = 0; i < COUNT; i++)
        buf_fmt(out, "%s%s", i == 0 ? "" : i + 1 == COUNT ? " or " : ", ", presets[i].name);
}

bool preset_word(const char *list, size_t *at, struct str *word)
{
    size_t start = *at;
    while (list[start] == ' ')
        start++;
    for (*at = start; list[*at] && list[*at] != ' ';)
        ++*at;
    *word = (struct str){list + start, *at - start};
    return word->n > 0;
}

/* 0: it is not in the list; 1: it is; 2: with a "!" after it. */
static int find_word(const char *list, struct str wanted)
{
    struct str word;
    for (size_t at = 0; preset_word(list, &at, &word);) {
        bool marked = str_ends(word, STR("!"));
        word.n -= marked;
        if (str_eqi(word, wanted))
            return marked ? 2 : 1;
    }
    return 0;
}

bool preset_has_host(const struct preset *preset, struct str host)
{
    return find_word(preset->hosts, host) > 0;
}

/* The last component, without an ending that starts programs. */
static struct str program_name(struct str path)
{
    static const struct str endings[] = {{".exe", 4}, {".cmd", 4}, {".ps1", 4}, {".js", 3}};
    size_t start = path.n;
    while (start > 0 && path.p[start - 1] != '/' && path.p[start - 1] != '\\')
        start--;
    struct str name = str_from(path, start);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name.n > endings[i].n && str_endsi(name, endings[i]))
            name.n -= endings[i].n;
    /* The file behind the name npm is npm-cli.js. */
    return str_endsi(name, STR("-cli")) ? str_slice(name, 0, name.n - 4) : name;
}

/* A program that runs the script, module or program that its first plain word names. */
static bool is_interpreter(struct str name)
{
    while (name.n && (str_has_char(STR("0123456789."), name.p[name.n - 1])))
        name.n--;
    return find_word("node nodejs python py pypy ruby sh bash dash zsh env nice time timeout",
                     name);
}

const struct preset *preset_of(const struct str *words, size_t count, enum path_dialect dialect,
                               bool *gives_up)
{
    enum { DEEPEST = 4 };
    *gives_up = false;
    for (size_t i = 0; i < count && i < DEEPEST; i++) {
        struct str name = program_name(words[i]);
        bool module = i > 0 && str_eq(words[i - 1], STR("-m"));
        /* After an interpreter and its switches. */
        if (i > 0 && !module && str_starts(words[i], STR("-")))
            continue;
        for (size_t k = 0; k < COUNT; k++) {
            int found = find_word(presets[k].programs, name);
            if (!found)
                continue;
            size_t j = i + 1;
            while (j < count && str_starts(words[j], STR("-")))
                j++;
            const char *told = presets[k].words[dialect];
            *gives_up = j < count && *told && (found == 2 || find_word(told, words[j]));
            return &presets[k];
        }
        if (i > 0 ? !module : !is_interpreter(name))
            return NULL;
    }
    return NULL;
}
