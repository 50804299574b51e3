/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads only the plain form in which git itself writes a config: a section or a key per line, no
 * value over two lines. What git would read differently is not harmless.
 */
#include "policy/git_config.h"

#include <stdio.h>

enum values { ANY, FALSE, PLACE };

static const struct git_key {
    const char *section, *key;
    enum values values;
} keys[] = {
#define GIT_KEY(section, key, values) {section, key, values},
#include "policy/git_config.def"
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
    bool sub;         /* it has a subsection */
    struct str text;  /* of that, as it is written */
    bool old;         /* it was there: no address is added to it */
    struct str *tree; /* where the value of core.worktree goes; NULL: that key is not harmless */
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
        out->text = str_slice(line, 1, end);
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
            return value_fits(keys[i].values, value) && !(in->old && keys[i].values == PLACE);
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
    if (section->tree && !section->sub && str_eqi(section->name, STR("core")) &&
        str_eqi(word, STR("worktree"))) {
        bool first = !section->tree->n;
        *section->tree = str_trim(str_from(line, 1));
        return first && value_fits(PLACE, *section->tree);
    }
    return key_fits(section, word, str_from(line, 1));
}

bool git_config_is_harmless(struct str text, struct str *tree, char key[GIT_CONFIG_KEY])
{
    struct section section = {.tree = tree};
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

/* A line that goes on in the next one could make a section look like another. */
static bool goes_on(struct str text)
{
    return str_find(text, STR("\\\n"), 0) < text.n || str_find(text, STR("\\\r"), 0) < text.n;
}

bool git_config_keeps_all_but_branches(struct str old, struct str new)
{
    if (goes_on(old))
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

/* ---- additions ---- */

/* A line without its end. */
static struct str bare_line(struct str line)
{
    if (str_ends(line, STR("\n")))
        line.n--;
    if (str_ends(line, STR("\r")))
        line.n--;
    return skip_spaces(line);
}

/* True if this text has that section already, or one that cannot be read. */
static bool has_section(struct str text, const struct section *wanted)
{
    while (text.n) {
        struct str line = bare_line(take_line(&text));
        struct section found = {0};
        if (!is_header(line))
            continue;
        if (!read_section(line, &found) ||
            (found.sub && str_eqi(found.name, wanted->name) && str_eqi(found.text, wanted->text)))
            return true;
    }
    return false;
}

/* A section that git remote add and the like append: with a name of its own, if it has one. */
static bool adds_section(struct str old, struct str line, struct section *out)
{
    *out = (struct section){.tree = out->tree};
    return read_section(line, out) && !str_has_char(out->text, '\\') &&
           (!out->sub || !has_section(old, out));
}

bool git_config_only_adds(struct str old, struct str new, struct str *tree,
                          char key[GIT_CONFIG_KEY])
{
    struct str all = old;
    struct section in = {.tree = tree};
    bool added = false; /* the section at hand is new */
    snprintf(key, GIT_CONFIG_KEY, "a line that cannot be judged");
    if (goes_on(old) || goes_on(new))
        return str_eq(old, new);
    while (new.n) {
        struct str raw = take_line(&new), after = old, line = bare_line(raw);
        bool header = is_header(line);
        bool same = old.n && str_eq(raw, take_line(&after)) && (header || !added);
        if (same) {
            old = after;
            if (header) {
                in = (struct section){.tree = tree, .old = true};
                read_section(line, &in);
                added = false;
            }
        } else if (header) {
            if (!is_readable(line) || !adds_section(all, line, &in))
                return false;
            added = true;
        } else if (!read_line(line, &in, key)) {
            return false;
        }
    }
    return old.n == 0;
}

bool git_config_keeps_lines(struct str old, struct str new)
{
    while (old.n && new.n) {
        struct str after = old, line = take_line(&new);
        if (str_eq(take_line(&after), line))
            old = after;
    }
    return old.n == 0;
}

/* ---- files that a config names ---- */

enum { LONGEST_VALUE = 4096 };

/* A value as git reads it: without quotes, escapes, spaces at the end and a comment, over several lines if
   they end in a backslash. The rest of the text begins after its last line. */
static struct str read_value(struct str *text, char room[LONGEST_VALUE])
{
    size_t i = 0, n = 0, end = 0;
    bool quoted = false, comment = false;
    *text = skip_spaces(*text);
    for (; i < text->n && text->p[i] != '\n'; i++) {
        char c = text->p[i];
        comment = comment || (!quoted && (c == '#' || c == ';'));
        if (comment)
            continue;
        if (c == '"') {
            quoted = !quoted;
            continue;
        }
        if (c == '\\' && i + 1 < text->n) {
            i += text->p[i + 1] == '\r' && i + 2 < text->n ? 2 : 1;
            c = text->p[i];
            if (c == '\n')
                continue;
        }
        bool space = !quoted && (c == ' ' || c == '\t' || c == '\r');
        if (n < LONGEST_VALUE && (n || !space))
            room[n++] = c;
        if (!space)
            end = n;
    }
    *text = str_from(*text, i + 1);
    return (struct str){room, end};
}

static bool is_word_end(char c)
{
    return str_has_char(STR(" \t'\"`;&|<>()="), c);
}

/* The words of a command that may be files: not a program that is looked up in PATH, no option. */
static void look_at_command(struct str command, const struct git_config_use *use)
{
    bool first = true;
    for (size_t at = 0, end; at < command.n; at = end + 1) {
        end = at;
        while (end < command.n && !is_word_end(command.p[end]))
            end++;
        struct str word = str_slice(command, at, end);
        if (!word.n)
            continue;
        if (word.p[0] != '-' && (!first || str_has_char(word, '/')))
            use->named(use->context, GIT_CONFIG_COMMAND, word);
        first = false;
    }
}

static void look_at_key(struct str section, struct str key, struct str value,
                        const struct git_config_use *use)
{
    bool core = str_eqi(section, STR("core"));
    bool include = str_eqi(section, STR("include")) || str_eqi(section, STR("includeif"));
    if (!value.n)
        return;
    if (core && str_eqi(key, STR("hookspath")))
        use->named(use->context, GIT_CONFIG_HOOKS, value);
    if (core && str_eqi(key, STR("fsmonitor")))
        look_at_command(value, use);
    if (include && str_eqi(key, STR("path")))
        use->named(use->context, GIT_CONFIG_INCLUDE, value);
}

void git_config_name(struct str name, struct str value, const struct git_config_use *use)
{
    size_t key = name.n;
    while (key && name.p[key - 1] != '.')
        key--;
    look_at_key(str_slice(name, 0, str_find_char(name, '.', 0)), str_from(name, key), value, use);
}

/* The end of [name] or [name "sub"]; a key may follow on the same line. */
static size_t header_end(struct str text)
{
    bool quoted = false;
    size_t i = 1;
    for (; i < text.n && text.p[i] != '\n'; i++) {
        if (text.p[i] == '"')
            quoted = !quoted;
        else if (quoted && text.p[i] == '\\')
            i++;
        else if (!quoted && text.p[i] == ']')
            return i + 1;
    }
    return i < text.n ? i : text.n;
}

void git_config_names(struct str text, const struct git_config_use *use)
{
    struct str section = STR_NONE;
    char room[LONGEST_VALUE];
    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_from(text, 3);
    while (text.n) {
        text = skip_spaces(text);
        while (text.n && text.p[0] == '[') { /* a line may hold several */
            struct str name = str_from(text, 1);
            section = cut_word(&name);
            text = skip_spaces(str_from(text, header_end(text)));
        }
        struct str key = cut_word(&text);
        text = skip_spaces(text);
        if (key.n && text.n && text.p[0] == '=') {
            text = str_from(text, 1);
            struct str value = read_value(&text, room);
            look_at_key(section, key, value, use);
        } else {
            take_line(&text);
        }
    }
}
