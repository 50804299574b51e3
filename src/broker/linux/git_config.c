/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads only the plain form in which git itself writes a config: a section or a key per line, no
 * value over two lines. What git would read differently is not harmless.
 */
#include "broker/linux/git_config.h"

#include <stdio.h>

enum values { ANY, FALSE, PLACE };

static const struct git_key {
    const char *section, *key;
    enum values values;
} keys[] = {
#define GIT_KEY(section, key, values) {section, key, values},
#include "broker/linux/git_config.def"
#undef GIT_KEY
};

/* git's own idea of a space. */
static struct str skip_spaces(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    return s;
}

static bool is_comment(struct str rest)
{
    return rest.n == 0 || rest.p[0] == '#' || rest.p[0] == ';';
}

/* The letters, digits and dashes at the start. */
static struct str cut_word(struct str *s)
{
    size_t n = 0;
    while (n < s->n && (ascii_is_alnum(s->p[n]) || s->p[n] == '-'))
        n++;
    struct str word = str_slice(*s, 0, n);
    *s = str_from(*s, n);
    return word;
}

struct section {
    struct str name;
    bool sub; /* it has a subsection */
};

/* [name] or [name "sub"], and nothing after it. */
static bool read_section(struct str line, struct section *out)
{
    line = str_from(line, 1);
    out->name = cut_word(&line);
    out->sub = line.n && line.p[0] == ' ';
    if (out->sub) {
        line = skip_spaces(line);
        if (!line.n || line.p[0] != '"')
            return false;
        size_t end = 1;
        while (end < line.n && line.p[end] != '"')
            end += line.p[end] == '\\' ? 2 : 1;
        line = str_from(line, end + 1);
    }
    return out->name.n && line.n && line.p[0] == ']' && is_comment(skip_spaces(str_from(line, 1)));
}

static bool value_fits(enum values values, struct str value)
{
    value = str_trim(value);
    switch (values) {
    case ANY: return true;
    case FALSE: return str_eq(value, STR("false"));
    case PLACE:
        return value.n && value.p[0] != '-' && !str_has_char(value, '"') &&
               !str_has_char(value, '\\') && str_find(value, STR("::"), 0) >= value.n;
    }
    return false;
}

/* A key in its section. */
static bool key_fits(const struct section *in, struct str key, struct str value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct str section = str_of(keys[i].section);
        bool sub = str_ends(section, STR("."));
        section.n -= sub;
        if (sub == in->sub && str_eqi(in->name, section) && str_eqi(key, str_of(keys[i].key)))
            return value_fits(keys[i].values, value);
    }
    return false;
}

static bool is_readable(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (((unsigned char)line.p[i] < ' ' && line.p[i] != '\t') || line.p[i] == 127)
            return false;
    return !str_ends(line, STR("\\")); /* it would go on in the next one */
}

static bool read_line(struct str line, struct section *section, char key[GIT_CONFIG_KEY])
{
    snprintf(key, GIT_CONFIG_KEY, "a line that cannot be judged");
    if (!is_readable(line))
        return false;
    line = skip_spaces(line);
    if (is_comment(line))
        return true;
    if (line.p[0] == '[')
        return read_section(line, section);
    struct str word = cut_word(&line);
    if (!word.n || !ascii_is_alpha(word.p[0]) || !section->name.n)
        return false;
    line = skip_spaces(line);
    if (line.n && line.p[0] != '=')
        return false;
    snprintf(key, GIT_CONFIG_KEY, "%.*s%s.%.*s", STR_ARG(str_slice(section->name, 0, 40)),
             section->sub ? ".*" : "", STR_ARG(str_slice(word, 0, 60)));
    return key_fits(section, word, str_from(line, 1));
}

bool git_config_is_harmless(struct str text, char key[GIT_CONFIG_KEY])
{
    struct section section = {0};
    for (size_t at = 0, end; at < text.n; at = end + 1) {
        end = str_find_char(text, '\n', at);
        struct str line = str_slice(text, at, end);
        if (str_ends(line, STR("\r")))
            line.n--;
        if (!read_line(line, &section, key))
            return false;
    }
    return true;
}

/* ---- branches ---- */

static struct str take_line(struct str *rest)
{
    size_t end = str_find_char(*rest, '\n', 0);
    struct str line = str_slice(*rest, 0, end < rest->n ? end + 1 : end);
    *rest = str_from(*rest, line.n);
    return line;
}

/* A line that begins a section, whatever follows on it. */
static bool is_header(struct str line)
{
    size_t i = 0;
    while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
        i++;
    return i < line.n && line.p[i] == '[';
}

/* [branch "name"] and nothing else on the line. */
static bool is_branch(struct str line)
{
    const struct str head = STR("[branch \""), tail = STR("\"]\n");
    if (!str_starts(line, head) || !str_ends(line, tail) || line.n <= head.n + tail.n)
        return false;
    for (size_t i = head.n; i < line.n - tail.n; i++)
        if (line.p[i] == '"' || line.p[i] == '\\' || (unsigned char)line.p[i] < ' ')
            return false;
    return true;
}

/* The lines up to the next section. */
static struct str take_body(struct str *rest)
{
    struct str before = *rest, look = *rest;
    while (look.n) {
        struct str line = take_line(&look);
        if (is_header(line))
            break;
        *rest = look;
    }
    return str_slice(before, 0, before.n - rest->n);
}

bool git_config_keeps_all_but_branches(struct str old, struct str new)
{
    /* A line that goes on in the next one could make a section look like another. */
    if (str_find(old, STR("\\\n"), 0) < old.n || str_find(old, STR("\\\r"), 0) < old.n)
        return str_eq(old, new);
    while (old.n) {
        struct str line = take_line(&old), after = new, other = take_line(&after);
        if (!is_branch(line)) {
            if (!str_eq(line, other))
                return false;
            new = after;
            continue;
        }
        /* Kept, or kept under another name; otherwise it is gone. */
        struct str body = take_body(&old);
        if (is_branch(other) && str_eq(take_body(&after), body))
            new = after;
    }
    return new.n == 0;
}
