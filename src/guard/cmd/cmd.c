/* SPDX-License-Identifier: Apache-2.0 */
/* The cmd reader's entries: text in cmd's language, and the arguments of cmd.exe. */
#include "guard/cmd/cmd.h"

/* The unit once for each value of var; list is what it reads like if the value is not known. */
static void read_for_each(struct cmd_reader *r, struct var *var, struct cmd_node *list,
                          size_t start)
{
    struct var_state state = var->state;
    size_t next = r->next;
    bool silent = r->silent, unknown = state.unknown;
    struct cmd_fork fork;
    cmd_fork_begin(r, &fork);
    r->maybe++;
    for (unsigned i = 0; i < state.count && !guard_stopped(r->g); i++) {
        if (++r->retries > CMD_MAX_RETRIES || !guard_spend(r->g, next - start)) {
            unknown = true;
            break;
        }
        var->state = vars_one(&r->vars, state.values[i]);
        r->next = start;
        cmd_read_unit(r);
        cmd_branch_end(r, &fork);
        var->state = state;
        r->silent = true;
    }
    if (unknown) {
        cmd_run_list(r, list);
        cmd_branch_end(r, &fork);
    }
    r->maybe--;
    cmd_fork_end(r, &fork, true);
    r->silent = silent;
    r->next = next;
}

void cmd_read_unit(struct cmd_reader *r)
{
    size_t start = r->next;
    r->ambiguous = NULL;
    struct cmd_node *list = cmd_parse_unit(r);
    struct var *var = r->ambiguous;
    r->input = (struct word){.text = STR_NONE};
    if (var)
        read_for_each(r, var, list, start);
    else
        cmd_run_list(r, list);
}

static struct cmd_reader reader_of(struct guard *g, struct str text, unsigned flags)
{
    return (struct cmd_reader){.g = g,
                               .arena = guard_arena(g),
                               .source = text,
                               .batch = flags & READ_BATCH_FILE,
                               .delayed = flags & READ_DELAYED_EXPANSION,
                               .vars = {.arena = guard_arena(g), .fold_case = true},
                               .ever = {.arena = guard_arena(g), .fold_case = true}};
}

/* Text with labels is a batch file, but it may also be lines that a cmd reads from its input: what
   is not said to be a file is read both ways. */
void cmd_read(struct guard *g, struct str text, unsigned flags)
{
    struct cmd_reader r = reader_of(g, text, flags);
    cmd_find_labels(&r);
    if (r.labels && !r.batch) {
        struct cmd_reader lines = reader_of(g, text, flags);
        struct str folder = guard_folder(g);
        cmd_run_batch(&lines);
        guard_set_folder(g, folder);
        r.silent = true;
    }
    r.batch |= r.labels != NULL;
    r.lines = guard_depth(g) == 0 && str_has_char(str_trim(text), '\n');
    cmd_run_batch(&r);
}

/* ---- cmd.exe ---- */

struct cmd_options {
    bool delayed, keep_quotes, runs; /* /v:on, /s, /c or /k or /r */
    size_t code;                     /* where the code starts in the text */
};

/* The switches of cmd.exe in text, up to /c, /k or /r: it looks for them anywhere, even in a
   word. */
static struct cmd_options read_switches(struct str text)
{
    struct cmd_options o = {.code = text.n};
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.p[i] != '/')
            continue;
        if (text.p[i + 1] == '/') /* MSYS doubles the slash */
            continue;
        char c = ascii_lower(text.p[i + 1]);
        struct str rest = str_from(text, i + 1);
        if (c == 'c' || c == 'k' || c == 'r') {
            o.runs = true;
            o.code = i + 2;
            break;
        }
        if (c == 's')
            o.keep_quotes = true;
        else if (c == 'v')
            o.delayed = !str_startsi(rest, STR("v:off"));
    }
    return o;
}

/*
 * cmd /c "text": the quotes around stay only without /s, with exactly two quotes, no special
 * character between them, a blank between them, and if the text is a program's name; otherwise the
 * first and the last quote go.
 */
struct str cmd_strip_quotes(struct guard *g, struct str text, bool always)
{
    size_t i = 0;
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
        i++;
    text = str_from(text, i);
    if (text.n == 0 || text.p[0] != '"')
        return text;
    size_t last = text.n;
    while (last > 1 && text.p[last - 1] != '"')
        last--;
    size_t quotes = 0;
    bool special = false, blank = false;
    for (size_t k = 0; k < text.n; k++)
        quotes += text.p[k] == '"';
    for (size_t k = 1; k + 1 < last; k++) {
        special |= ascii_is_in(text.p[k], "&<>()@^|");
        blank |= text.p[k] == ' ' || text.p[k] == '\t';
    }
    if (!always && quotes == 2 && !special && blank) {
        struct str name = str_slice(text, 1, last - 1);
        if (str_endsi(name, STR(".exe")) || str_endsi(name, STR(".com")) ||
            str_endsi(name, STR(".bat")) || str_endsi(name, STR(".cmd")))
            return text;
    }
    char *p = arena_alloc(guard_arena(g), text.n);
    if (!p)
        return text;
    size_t n = 0;
    for (size_t k = 1; k < text.n; k++)
        if (k != last - 1 || last == 1)
            p[n++] = text.p[k];
    return (struct str){p, n};
}

/* The words after the program as one text, quoted where a blank would tear them apart. */
static struct str join_words(struct guard *g, const struct word *words, size_t count, bool *failed)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += words[i].text.n + 3;
    char *p = arena_alloc(guard_arena(g), size);
    if (!p) {
        *failed = true;
        return STR_NONE;
    }
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct str w = words[i].text;
        bool quote =
            w.n == 0 || ((str_has_char(w, ' ') || str_has_char(w, '\t')) && !str_has_char(w, '"'));
        if (i)
            p[n++] = ' ';
        if (quote)
            p[n++] = '"';
        if (w.n)
            memcpy(p + n, w.p, w.n);
        n += w.n;
        if (quote)
            p[n++] = '"';
    }
    return (struct str){p, n};
}

/* The index of the word that holds /c, /k or /r, or count. */
static size_t find_code_word(const struct word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str w = words[i].text;
        if (w.n == 0 || w.p[0] != '/')
            continue;
        if (read_switches(w).runs)
            return i;
    }
    return count;
}

void cmd_program(struct guard *g, const struct guard_call *call)
{
    const struct word *words = call->words + 1;
    size_t count = call->count - 1;
    struct word code = {
        .start = call->words[0].start, .end = call->words[call->count - 1].end, .text = STR("")};
    if (code.end < code.start)
        code.end = code.start;
    struct cmd_options o = {0};
    bool failed = false;
    if (call->raw.n) {
        o = read_switches(call->raw);
        if (o.runs)
            code.text = str_from(call->raw, o.code);
    } else {
        size_t at = find_code_word(words, count);
        struct str switches = join_words(g, words, at < count ? at + 1 : count, &failed);
        if (failed) {
            guard_limit(g, code);
            return;
        }
        o = read_switches(switches);
        if (!o.runs && str_has_char(switches, GUARD_HOLE)) /* /c may stand there */
            guard_opaque_text(g, code, STR("cmd"));
        if (o.runs) {
            struct str sticking = str_from(switches, o.code);
            if (at >= count) { /* the switch hides inside another word */
                code.text = sticking;
            } else if (sticking.n == 0 &&
                       at + 2 == count) { /* one word after /c is taken as it is */
                code.text = words[at + 1].text;
            } else {
                struct word *all = ARENA_ARRAY(guard_arena(g), count - at, struct word);
                if (!all) {
                    guard_limit(g, code);
                    return;
                }
                memcpy(all, words + at, (count - at) * sizeof *all);
                all[0].text = sticking;
                size_t skip = sticking.n == 0;
                code.text = join_words(g, all + skip, count - at - skip, &failed);
            }
            if (at + 1 < count)
                code.start = words[at + 1].start;
        }
    }
    if (failed) {
        guard_limit(g, code);
        return;
    }
    if (o.runs) {
        unsigned flags = o.delayed ? READ_DELAYED_EXPANSION : 0;
        struct word stripped = code;
        stripped.text = cmd_strip_quotes(g, code.text, o.keep_quotes);
        guard_nested_cmd(g, stripped, flags);
        /* The quotes of argv may reach cmd changed or unchanged: both ways are read. */
        if (!call->raw.n && code.text.n && code.text.p[0] == '"' &&
            !str_eq(stripped.text, code.text))
            guard_nested_cmd(g, code, flags);
        return;
    }
    if (call->input.text.p) {
        if (str_has_char(call->input.text, GUARD_HOLE))
            guard_opaque_text(g, call->input, STR("cmd"));
        guard_nested_cmd(g, call->input, o.delayed ? READ_DELAYED_EXPANSION : 0);
    }
}
