/* SPDX-License-Identifier: Apache-2.0 */
/* The bash reader's entries: text in bash's language, and the arguments of bash and its kin. */
#include "guard/bash/bash.h"
#include "guard/names.h"

void bash_read(struct guard *g, struct str text)
{
    struct bash_reader b = {.g = g,
                            .arena = guard_arena(g),
                            .vars = {.arena = guard_arena(g)},
                            .input = {.text = STR_NONE}};
    struct bash_parser p = {
        .g = g, .arena = guard_arena(g), .src = text, .end = text.n, .functions = &b.functions};
    p.pending_tail = &p.pending;
    struct bash_node *list = bash_parse(&p);
    bash_run_list(&b, list);
    if (str_has_char(text,
                     '\0')) /* which bash leaves out of a file: what it runs is another text */
        guard_find(g, GUARD_OPAQUE_SYNTAX, word_unknown(0, (uint32_t)text.n), STR("this"), NULL,
                   NULL);
    if (p.failed && !guard_stopped(g)) {
        uint32_t at = (uint32_t)(p.error < text.n ? p.error : text.n);
        struct word where = {
            .text = str_slice(text, at, at + 1), .start = at, .end = at < text.n ? at + 1 : at};
        guard_find(g, GUARD_OPAQUE_SYNTAX, where, STR("this"), NULL, NULL);
    }
}

/* ---- bash, sh, dash, zsh, ksh ---- */

/* Options that take the next word. */
static bool takes_value(struct str option)
{
    static const char *const names[] = {"-o",       "+o",          "-O",       "+O",
                                        "--rcfile", "--init-file", "--emulate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(option, str_of(names[i])))
            return true;
    return false;
}

/* The code with set -- in front, where it uses arguments that follow it. */
static struct str with_arguments(struct guard *g, struct str code, const struct word *words,
                                 size_t count)
{
    if (count == 0 || !str_has_char(code, '$'))
        return code;
    size_t size = code.n + 32;
    for (size_t i = 0; i < count; i++)
        size += words[i].text.n * 4 + 3;
    char *p = arena_alloc(guard_arena(g), size);
    if (!p || !guard_spend(g, size))
        return code;
    size_t n = 0;
    memcpy(p, "BASH_ARGV0=", 11); /* $0 */
    n += 11;
    for (size_t i = 0; i < count; i++) {
        if (i == 1) {
            memcpy(p + n, ";set --", 7);
            n += 7;
        }
        if (i)
            p[n++] = ' ';
        p[n++] = '\'';
        for (size_t k = 0; k < words[i].text.n; k++) {
            if (words[i].text.p[k] == '\'') {
                memcpy(p + n, "'\\'", 3);
                n += 3;
            }
            p[n++] = words[i].text.p[k];
        }
        p[n++] = '\'';
    }
    p[n++] = '\n';
    memcpy(p + n, code.p, code.n);
    return (struct str){p, n + code.n};
}

bool bash_is_input(struct str path)
{
    return str_eq(path, STR("/dev/stdin")) || str_eq(path, STR("/dev/fd/0")) ||
           str_eq(path, STR("/proc/self/fd/0"));
}

static void read_code(struct guard *g, struct word code, struct str who)
{
    if (str_has_char(code.text, GUARD_HOLE))
        guard_opaque_text(g, code, who);
    guard_nested(g, GUARD_BASH, code);
}

/* The opener itself may be a script: sh /usr/bin/xdg-open. */
static void bash_script(struct guard *g, const struct guard_call *call, size_t i)
{
    struct word script = call->words[i];
    size_t count = call->count - i;
    struct word *words =
        guard_script_opens(g, &script) ? ARENA_ARRAY(guard_arena(g), count, struct word) : NULL;
    if (!words) {
        guard_script_as(g, call->words[i], GUARD_BASH);
        return;
    }
    memcpy(words, call->words + i, count * sizeof *words);
    words[0] = script;
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
}

void bash_program(struct guard *g, const struct guard_call *call)
{
    const struct word *words = call->words;
    bool command = false, from_input = false;
    size_t i = 1;
    for (; i < call->count; i++) {
        struct str w = words[i].text;
        if (str_eq(w, STR("--")) || str_eq(w, STR("-"))) {
            i++;
            break;
        }
        if (w.n < 2 || (w.p[0] != '-' && w.p[0] != '+'))
            break;
        if (takes_value(w)) {
            i++;
            if (i < call->count && name_is_one_of(w, STR("--rcfile|--init-file")))
                guard_script_as(g, words[i], GUARD_BASH);
            if (i < call->count && str_eq(w, STR("-O")) && str_eq(words[i].text, STR("dotglob")))
                guard_find_dots(g);
        } else if (w.p[1] != '-') {
            command |= w.p[0] == '-' && str_has_char(w, 'c');
            from_input |= str_has_char(w, 's');
            if (w.n > 2 && (w.p[w.n - 1] == 'o' || w.p[w.n - 1] == 'O'))
                i++;
        }
    }
    struct str who = words[0].text;
    if (command) {
        if (i >= call->count)
            return;
        struct word code = words[i];
        if (str_has_char(code.text, GUARD_HOLE))
            guard_opaque_text(g, code, who);
        code.text = with_arguments(g, code.text, words + i + 1, call->count - i - 1);
        guard_nested(g, GUARD_BASH, code);
        return;
    }
    bool file = i < call->count && !from_input && !bash_is_input(words[i].text);
    if (file) {
        bash_script(g, call, i);
        return;
    }
    if (call->input.text.p)
        read_code(g, call->input, who);
}
