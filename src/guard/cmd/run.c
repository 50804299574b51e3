/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the commands of a unit in the order cmd runs them and hands each to its judge. */
#include "guard/cmd/cmd.h"

static void run_text(struct cmd_reader *r, struct cmd_node *node, struct word input);

/* ---- branches ---- */

void cmd_fork_begin(struct cmd_reader *r, struct cmd_fork *f)
{
    vars_fork_begin(&r->vars, &f->vars);
    f->level = r->vars.forks;
    f->folder = f->after = guard_folder(r->g);
}

void cmd_branch_end(struct cmd_reader *r, struct cmd_fork *f)
{
    while (r->vars.forks > f->level && r->local_count) {
        vars_fork_drop(&r->vars, &r->locals[--r->local_count].vars);
        r->unbalanced = true;
    }
    vars_branch_end(&r->vars, &f->vars);
    if (guard_folder(r->g).p != f->folder.p)
        f->after = f->vars.branches == 1 ? guard_folder(r->g) : STR("\xFF");
    else if (f->after.p != f->folder.p)
        f->after = STR("\xFF");
    guard_set_folder(r->g, f->folder);
}

void cmd_fork_end(struct cmd_reader *r, struct cmd_fork *f, bool exhaustive)
{
    vars_fork_end(&r->vars, &f->vars, exhaustive);
    bool moved = f->after.p != f->folder.p;
    if (moved)
        guard_set_folder(r->g, exhaustive && f->vars.branches == 1 ? f->after : STR("\xFF"));
}

void cmd_fork_drop(struct cmd_reader *r, struct cmd_fork *f)
{
    vars_fork_drop(&r->vars, &f->vars);
}

/* ---- the output of a command ---- */

static struct str echo_output(struct cmd_reader *r, const struct cmd_text *t, size_t name_end)
{
    struct str text = str_from(cmd_str(t), name_end + 1);
    char *p = arena_alloc(r->arena, text.n + 1);
    if (!p)
        return STR("\xFF\n");
    if (text.n)
        memcpy(p, text.p, text.n);
    p[text.n] = '\n';
    return (struct str){p, text.n + 1};
}

/* The command word: where it starts and ends in the text, and its decoded form. */
static struct word command_word(struct cmd_reader *r, const struct cmd_text *t, size_t *from,
                                size_t *to)
{
    *from = cmd_skip_blanks(t, 0);
    while (*from < t->n && (t->p[*from] == '@' || cmd_is_blank(t->p[*from])))
        ++*from;
    *to = cmd_token_end(t, *from);
    return cmd_word(r, t, *from, *to);
}

/* The number of bytes of t after from that hold length bytes without quotes. */
static size_t length_with_quotes(const struct cmd_text *t, size_t from, size_t length)
{
    size_t i = from;
    while (i < t->n && (length || t->p[i] == '"'))
        if (t->p[i++] != '"')
            length--;
    return i - from;
}

struct str cmd_output(struct cmd_reader *r, struct cmd_node *node)
{
    if (node->kind == CMD_SIMPLE) {
        struct cmd_text text = cmd_expand_late(r, &node->text);
        text = cmd_expand_rest(r, &text, false);
        size_t from, to, length;
        struct word word = command_word(r, &text, &from, &to);
        if (cmd_builtin_find(word.text, &length) != CMD_ECHO)
            return STR("\xFF\n");
        return echo_output(r, &text, from + length_with_quotes(&text, from, length));
    }
    if (node->kind != CMD_BLOCK || r->nesting >= CMD_MAX_NESTING)
        return STR("\xFF\n");
    r->nesting++;
    struct cmd_text all = {0};
    for (struct cmd_node *n = node->body; n && !guard_stopped(r->g); n = n->next) {
        if (n->join == CMD_PIPE || (n->next && n->next->join == CMD_PIPE)) {
            cmd_put_str(r, &all, STR("\xFF\n"), 0);
            continue;
        }
        cmd_put_str(r, &all, cmd_output(r, n), 0);
    }
    r->nesting--;
    return cmd_str(&all);
}

/* ---- one command ---- */

/* The words after the program by the C runtime's rules, with their places in the source. */
static struct word *split_words(struct cmd_reader *r, const struct cmd_text *t, size_t *count)
{
    struct word *words = winargv_split(r->arena, cmd_str(t), count);
    if (!words) {
        guard_limit(r->g, word_unknown(0, 0));
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) {
        struct word *w = &words[i];
        uint32_t start = w->start, end = w->end;
        if (start >= t->n) {
            w->start = w->end = t->n ? t->at[t->n - 1] + 1 : 0;
            continue;
        }
        w->start = t->at[start];
        w->end = end > start ? t->at[end - 1] + 1 : w->start;
        if (w->end < w->start)
            w->end = w->start;
    }
    return words;
}

/* cmd/c: a slash ends the name of a program that is no path. */
static size_t name_length(const struct cmd_text *t, size_t from, size_t to)
{
    bool path = false;
    for (size_t i = from; i < to; i++) {
        char c = t->p[i];
        path |= c == '\\' || c == '.' || c == ':' || c == '"';
        if (c != '/' || i == from)
            continue;
        if (!path)
            return i - from;
        /* a path: the slash ends it after the name of a program */
        struct str before = str_slice(cmd_str(t), from, t->p[i - 1] == '"' ? i - 1 : i);
        if (str_endsi(before, STR(".exe")) || str_endsi(before, STR(".com")) ||
            str_endsi(before, STR(".bat")) || str_endsi(before, STR(".cmd")))
            return i - from;
    }
    return to - from;
}

/* st%nothing%art: a variable that is not set vanishes, so the name without it is judged too. True
   if there is nothing more to say about it. */
static bool judge_without_holes(struct cmd_reader *r, const struct cmd_text *rest, struct word name,
                                struct word input)
{
    struct cmd_text text = {0};
    for (size_t i = 0; i < name.text.n; i++)
        if (name.text.p[i] != GUARD_HOLE && !cmd_put(r, &text, name.text.p[i], name.start))
            return true;
    if (text.n == 0 || r->nesting >= CMD_MAX_NESTING)
        return false;
    if (!cmd_put_part(r, &text, rest, 0, rest->n))
        return true;
    bool silent = r->silent;
    r->silent = true;
    r->nesting++;
    cmd_run_simple(r, text, input);
    r->nesting--;
    r->silent = silent;
    return false;
}

/* Something that cmd itself does not know: a program, a script or a document. */
static void run_external(struct cmd_reader *r, const struct cmd_text *t, size_t from, size_t to,
                         struct word input)
{
    to = from + name_length(t, from, to);
    struct cmd_text rest = cmd_part(t, to, t->n);
    struct word name = cmd_word(r, t, from, to);
    size_t count;
    /* the splitter takes the first word as the program, whatever it is */
    struct word *words = split_words(r, &rest, &count);
    if (!words)
        return;
    if (rest.n && words[0].text.n) { /* the rest sticks to the name: cmd/c */
        struct word *more = ARENA_ARRAY(r->arena, count + 1, struct word);
        if (!more) {
            guard_limit(r->g, name);
            return;
        }
        memcpy(more + 1, words, count * sizeof *words);
        words = more;
        count++;
    }
    words[0] = name;
    if (!r->silent)
        guard_command(r->g, GUARD_CMD, name, words + 1, count - 1, name.start,
                      words[count - 1].end > name.end ? words[count - 1].end : name.end);
    if (str_has_char(name.text, GUARD_HOLE) && judge_without_holes(r, &rest, name, input))
        return;
    struct guard_call call = {
        .from = GUARD_CMD, .words = words, .count = count, .raw = cmd_str(&rest), .input = input};
    guard_program(r->g, &call);
}

static bool is_cmd(struct str path)
{
    if (str_endsi(path, STR(".exe")))
        path.n -= 4;
    return str_eqi(path, STR("cmd")) || str_endsi(path, STR("\\cmd")) ||
           str_endsi(path, STR("/cmd"));
}

void cmd_run_simple(struct cmd_reader *r, struct cmd_text text, struct word input)
{
    size_t from, to, length;
    struct word word = command_word(r, &text, &from, &to);
    if (r->delayed && str_has_char(word.text, '!')) {
        /* an unset !x!, or a part of it, that set kept in front of the collected text */
        size_t last = to;
        while (text.p[last - 1] != '!')
            last--;
        text = cmd_part(&text, last, text.n);
        word = command_word(r, &text, &from, &to);
    }
    if (word.text.n == 0 || word.text.p[0] == ':')
        return;
    enum cmd_builtin builtin = cmd_builtin_find(word.text, &length);
    if (builtin != CMD_CALL && str_has_char(cmd_str(&text), '%')) {
        text = cmd_expand_rest(r, &text, is_cmd(word.text));
        word = command_word(r, &text, &from, &to);
        builtin = cmd_builtin_find(word.text, &length);
    }
    if (builtin == CMD_NOT_BUILTIN) {
        run_external(r, &text, from, to, input);
        return;
    }
    size_t name_end = from + length_with_quotes(&text, from, length);
    struct cmd_text arguments = cmd_part(&text, name_end, text.n);
    if (!r->silent) {
        struct word name = cmd_word(r, &text, from, name_end);
        size_t count;
        struct word *words = split_words(r, &arguments, &count);
        if (!words)
            return;
        bool sticks = arguments.n && words[0].text.n;
        uint32_t end = words[count - 1].end > name.end ? words[count - 1].end : name.end;
        guard_command(r->g, GUARD_CMD, name, sticks ? words : words + 1, sticks ? count : count - 1,
                      name.start, end);
    }
    cmd_builtin_run(r, builtin, arguments, input);
}

/* set x=!x!…: on the command line an unset !x! stays as it is, in a file it is empty. */
static void settle_self_reference(struct cmd_reader *r, const struct cmd_text *t)
{
    size_t from, to, length;
    struct word word = command_word(r, t, &from, &to);
    if (cmd_builtin_find(word.text, &length) != CMD_SET)
        return;
    struct str s = cmd_str(t);
    size_t start = cmd_skip_blanks(t, from + length);
    if (start < s.n && s.p[start] == '"')
        start++;
    size_t equals = str_find_char(s, '=', start);
    if (equals >= s.n || equals + 1 >= s.n || s.p[equals + 1] != '!')
        return;
    struct str name = str_slice(s, start, equals);
    struct str quoted = str_slice(s, equals + 1, equals + 3 + name.n);
    if (name.n == 0 || quoted.n != name.n + 2 || quoted.p[quoted.n - 1] != '!' ||
        !str_eqi(str_slice(quoted, 1, quoted.n - 1), name))
        return;
    struct var *var = cmd_variable(r, name);
    if (var && var->state.count == 0)
        cmd_assign(r, var, vars_one(&r->vars, r->batch ? STR("") : quoted));
}

/* ---- if ---- */

/* 1 true, 0 false, -1 not known. */
static int condition(struct cmd_reader *r, struct cmd_node *node)
{
    if (!node->op[0])
        return -1;
    struct cmd_text left = cmd_expand_late(r, &node->left);
    struct cmd_text right = cmd_expand_late(r, &node->right);
    left = cmd_expand_rest(r, &left, false);
    right = cmd_expand_rest(r, &right, false);
    struct str a = cmd_str(&left), b = cmd_str(&right);
    if (str_has_char(a, GUARD_HOLE) || str_has_char(b, GUARD_HOLE))
        return -1;
    long x = 0, y = 0;
    bool numbers = a.n && b.n && a.n < 10 && b.n < 10;
    for (size_t i = 0; i < a.n && numbers; i++)
        numbers = ascii_is_digit(a.p[i]);
    for (size_t i = 0; i < b.n && numbers; i++)
        numbers = ascii_is_digit(b.p[i]);
    int order = node->fold_case ? str_cmpi(a, b) : str_cmp(a, b);
    if (numbers && node->op[0] != '=') {
        for (size_t i = 0; i < a.n; i++)
            x = x * 10 + (a.p[i] - '0');
        for (size_t i = 0; i < b.n; i++)
            y = y * 10 + (b.p[i] - '0');
        order = (x > y) - (x < y);
    }
    bool result;
    switch (node->op[0]) {
    case '=': result = order == 0; break;
    case 'e': result = order == 0; break;
    case 'n': result = order != 0; break;
    case 'l': result = node->op[1] == 's' ? order < 0 : order <= 0; break;
    default: result = node->op[1] == 't' ? order > 0 : order >= 0; break;
    }
    return result != node->negated;
}

/* A condition is trusted only while a loop has rounds to come, so that every branch is read
   once. */
static void run_if(struct cmd_reader *r, struct cmd_node *node)
{
    int known = r->loops && !r->last_round ? condition(r, node) : -1;
    if (known >= 0) {
        cmd_run_list(r, known ? node->body : node->other);
        return;
    }
    struct cmd_fork fork;
    cmd_fork_begin(r, &fork);
    r->maybe++;
    cmd_run_list(r, node->body);
    cmd_branch_end(r, &fork);
    if (node->other) {
        cmd_run_list(r, node->other);
        cmd_branch_end(r, &fork);
    }
    r->maybe--;
    cmd_fork_end(r, &fork, node->other != NULL);
}

/* ---- lists ---- */

/* The command once for each value of var; text is what it reads like if the value is not known. */
static void text_for_each(struct cmd_reader *r, struct cmd_node *node, struct var *var,
                          struct cmd_text text, struct word input)
{
    struct var_state state = var->state;
    bool unknown = state.unknown;
    struct cmd_fork fork;
    cmd_fork_begin(r, &fork);
    r->maybe++;
    for (unsigned i = 0; i < state.count && !guard_stopped(r->g); i++) {
        if (++r->retries > CMD_MAX_RETRIES || !guard_spend(r->g, node->text.n + 16)) {
            unknown = true;
            break;
        }
        var->state = vars_one(&r->vars, state.values[i]);
        run_text(r, node, input);
        cmd_branch_end(r, &fork);
        var->state = state;
        r->silent = true;
    }
    if (unknown) {
        cmd_run_simple(r, text, input);
        cmd_branch_end(r, &fork);
    }
    r->maybe--;
    cmd_fork_end(r, &fork, true);
}

static void run_text(struct cmd_reader *r, struct cmd_node *node, struct word input)
{
    if (r->delayed)
        settle_self_reference(r, &node->text);
    r->ambiguous = NULL;
    struct cmd_text text = cmd_expand_late(r, &node->text);
    struct var *var = r->ambiguous;
    r->ambiguous = NULL;
    bool silent = r->silent;
    r->silent |= node->shown;
    node->shown = true;
    if (var)
        text_for_each(r, node, var, text, input);
    else
        cmd_run_simple(r, text, input);
    r->silent = silent;
}

static struct word target_word(struct cmd_reader *r, const struct cmd_text *output)
{
    struct cmd_text target = cmd_expand_late(r, output);
    target = cmd_expand_rest(r, &target, false);
    return cmd_word(r, &target, 0, target.n);
}

/* echo code > a.bat: if the text runs the file later, this is its content. */
static void note_file(struct cmd_reader *r, struct cmd_node *node)
{
    struct str content = cmd_output(r, node);
    struct word file = target_word(r, &node->output);
    guard_write(r->g, STR("the redirection"), file, false);
    if (content.n && content.p[0] == GUARD_HOLE)
        guard_wrote_unknown(r->g, file.text);
    else if (content.n)
        guard_wrote(r->g, file.text, content, node->append);
}

static void run_node(struct cmd_reader *r, struct cmd_node *node, struct word input)
{
    if (guard_stopped(r->g))
        return;
    if (r->vars.failed) {
        guard_limit(r->g, word_unknown(node->start, node->end));
        return;
    }
    if (node->input_file)
        input = word_unknown(node->start, node->end);
    if (node->output.n)
        note_file(r, node);
    for (struct cmd_emptied *e = node->emptied; e && !guard_stopped(r->g); e = e->next)
        guard_protects(r->g, STR("the redirection"), target_word(r, &e->file), false);
    if (node->kind == CMD_SIMPLE) {
        run_text(r, node, input);
        return;
    }
    struct word outer = r->input;
    r->input = input;
    switch (node->kind) {
    case CMD_BLOCK: cmd_run_list(r, node->body); break;
    case CMD_IF: run_if(r, node); break;
    case CMD_FOR: cmd_run_for(r, node); break;
    default: break;
    }
    r->input = outer;
}

/* True if the command cannot fail, so that what follows && runs for certain. */
static bool always_succeeds(struct cmd_reader *r, struct cmd_node *node)
{
    if (node->kind != CMD_SIMPLE)
        return true;
    size_t from, to, length;
    struct word word = command_word(r, &node->text, &from, &to);
    enum cmd_builtin builtin = cmd_builtin_find(word.text, &length);
    return builtin == CMD_SET || builtin == CMD_ECHO || builtin == CMD_CALL ||
           builtin == CMD_SETLOCAL;
}

/* A side of a pipe runs in a cmd of its own; what stands behind && or || may not run. */
static void run_apart(struct cmd_reader *r, struct cmd_node *node, struct word input, bool piped)
{
    struct cmd_fork fork;
    struct str folder = guard_folder(r->g);
    cmd_fork_begin(r, &fork);
    r->maybe++;
    run_node(r, node, input);
    r->maybe--;
    struct str after = guard_folder(r->g);
    cmd_branch_end(r, &fork);
    if (piped) {
        cmd_fork_drop(r, &fork);
        guard_set_folder(r->g, folder);
    } else {
        cmd_fork_end(r, &fork, false);
        guard_set_folder(r->g, after); /* cd x && cd y: what follows is meant for y */
    }
}

void cmd_run_list(struct cmd_reader *r, struct cmd_node *list)
{
    struct cmd_node *before = NULL;
    struct cmd_fork rest;
    bool unreached = false;
    for (struct cmd_node *node = list; node && !guard_stopped(r->g); node = node->next) {
        struct word input = r->input;
        if (node->join == CMD_PIPE && before)
            input = (struct word){
                .text = cmd_output(r, before), .start = before->start, .end = before->end};
        bool maybe = node->join == CMD_OR ||
                     (node->join == CMD_AND && before && !always_succeeds(r, before));
        bool piped = node->join == CMD_PIPE || (node->next && node->next->join == CMD_PIPE);
        if (piped || maybe)
            run_apart(r, node, input, piped);
        else
            run_node(r, node, input);
        before = node;
        if (r->dead && !unreached) {
            unreached = true;
            cmd_fork_begin(r, &rest);
        }
    }
    if (unreached) {
        cmd_branch_end(r, &rest);
        cmd_fork_drop(r, &rest);
    }
}
