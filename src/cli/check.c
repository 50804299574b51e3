/* SPDX-License-Identifier: Apache-2.0 */
/* cordon check: a verdict on a command, a script, or a stream of them. Nothing is started. */
#include <stdlib.h>

#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/check.h"

enum { MOST_ROOTS = 256, MOST_OTHERS = 4 };

struct check_options {
    bool json, jsonl, show, rules, help;
    const char *shell, *file, *explain;
    const char *roots[MOST_ROOTS], *cwds[MOST_OTHERS], *policies[MOST_OTHERS];
    size_t root_count, cwd_count, policy_count;
    bool rootless; /* --root none */
};

static int exit_code(enum cordon_verdict verdict)
{
    return verdict == CORDON_DENY ? EXIT_REFUSED : verdict == CORDON_ASK ? EXIT_ASK : 0;
}

/* ---- one question ---- */

/* A command in one of its forms: words, or a text in a shell. */
struct check_question {
    const char *const *argv;
    size_t argc;
    const char *shell; /* of a text */
    struct str text;
    bool script; /* the text is that of a script file */
};

static bool is_of_windows(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\\' || (i && text.p[i] == ':' && ascii_is_alpha(text.p[i - 1]) &&
                                  (i == 1 || !ascii_is_alnum(text.p[i - 2]))))
            return true;
    return false;
}

/* Paths of another system mean nothing in a folder of this one. */
static bool is_foreign(const struct check_question *q)
{
    if (disk_dialect() != PATH_POSIX)
        return false;
    bool foreign = is_of_windows(q->text);
    enum guard_shell shell;
    if (q->shell && check_shell(str_of(q->shell), &shell))
        foreign = foreign || shell == GUARD_CMD || shell == GUARD_POWERSHELL;
    for (size_t i = 0; i < q->argc && !foreign; i++)
        foreign = is_of_windows(str_of(q->argv[i]));
    return foreign;
}

static int ask_library(struct cordon_policy *p, const struct check_question *q, unsigned flags,
                       struct cordon_answer **out)
{
    if (q->argv)
        return cordon_check(p, q->argc, q->argv, flags, out);
    return cordon_check_text(p, q->shell, q->text.p, q->text.n,
                             flags | (q->script ? CORDON_SCRIPT : 0), out);
}

/* ---- the answer, for people ---- */

static struct str text_of(const struct json_value *object, struct str key)
{
    const struct json_value *value = json_get(object, key);
    return value && value->type == JSON_STRING && value->text.p ? value->text : STR("");
}

static size_t number_of(const struct json_value *object, struct str key)
{
    const struct json_value *value = json_get(object, key);
    return value && value->type == JSON_NUMBER ? (size_t)strtoull(value->text.p, NULL, 10) : 0;
}

static size_t list_of(const struct json_value *object, struct str key,
                      const struct json_value **items)
{
    const struct json_value *value = json_get(object, key);
    *items = value ? value->items : NULL;
    return value && value->type == JSON_ARRAY ? value->count : 0;
}

/* A word with a part that is not known before the run is null. */
static void print_word(const char *before, const struct json_value *word)
{
    print_row(before, word && word->type == JSON_STRING ? word->text : STR("?"), "");
}

static void print_reads(const struct json_value *answer)
{
    const struct json_value *reads, *args;
    size_t count = list_of(answer, STR("read"), &reads);
    if (count)
        printf("read as:\n");
    for (size_t i = 0; i < count; i++) {
        size_t depth = number_of(&reads[i], STR("depth"));
        printf("  %*s", depth ? (int)(depth - 1) * 2 : 0, "");
        print_word("", json_get(&reads[i], STR("name")));
        size_t words = list_of(&reads[i], STR("args"), &args);
        for (size_t j = 0; j < words; j++)
            print_word(" ", &args[j]);
        putchar('\n');
    }
}

static enum cordon_verdict verdict_of(struct str name)
{
    enum cordon_verdict verdict = CORDON_ALLOW;
    while (verdict > CORDON_DENY && !str_eq(name, str_of(verdict_name(verdict))))
        verdict--;
    return verdict;
}

static void print_finding(const struct json_value *f, struct str text)
{
    enum { MOST_SHOWN = 200 };
    struct str resolved = text_of(f, STR("resolved"));
    size_t start = number_of(f, STR("start")), end = number_of(f, STR("end"));
    enum cordon_verdict verdict = verdict_of(text_of(f, STR("verdict")));
    printf("%s%s%s ", print_style(print_verdict_style(verdict)), verdict_name(verdict),
           print_style(PRINT_PLAIN));
    print_row("", text_of(f, STR("rule")), "");
    print_row(": ", text_of(f, STR("why")), "\n");
    if (start <= end && end <= text.n)
        print_span(text, start, end);
    if (resolved.n && !str_eq(resolved, STR("\xE2\x80\xA6")) &&
        !str_eq(resolved, text_of(f, STR("text"))))
        print_row("  which is: ", str_cut(resolved, MOST_SHOWN), "\n");
    print_row("  instead: ", text_of(f, STR("fix")), "\n");
}

static int print_answer(const struct check_question *q, const struct cordon_answer *a)
{
    auto_arena struct arena arena = {0};
    struct json_value answer;
    struct json_error error;
    const struct json_value *findings, *unread;
    if (json_read(&arena, str_of(cordon_answer_json(a)), &answer, &error))
        return print_failure("out of memory");
    size_t count = list_of(&answer, STR("findings"), &findings);
    if (count == 0)
        printf("%sallow%s: nothing here would leave the sandbox\n", print_style(PRINT_GREEN),
               print_style(PRINT_PLAIN));
    for (size_t i = 0; i < count; i++)
        print_finding(&findings[i], q->argv ? text_of(&answer, STR("cmdline")) : q->text);
    count = list_of(&answer, STR("unread"), &unread);
    for (size_t i = 0; i < count; i++)
        print_row("not read: ", unread[i].text, " (absent, or outside the roots)\n");
    print_reads(&answer);
    return exit_code(cordon_answer_verdict(a));
}

/* Prints a message or the answer and returns the exit code. As for run, the current directory is a
   root if none is named. */
static int ask(struct cordon_policy *p, const struct check_options *o,
               const struct check_question *q)
{
    struct cordon_answer *a;
    unsigned flags = (o->show ? CORDON_SHOW : 0) | (o->rootless || is_foreign(q) ? 0 : CORDON_HERE);
    if (ask_library(p, q, flags, &a))
        return print_failure("%s", cordon_policy_error(p));
    int code = exit_code(cordon_answer_verdict(a));
    if (!o->json)
        code = print_answer(q, a);
    else if (!print_out(str_of(cordon_answer_json(a))) || !print_out(STR("\n")))
        code = print_failure("cannot write the answer");
    cordon_answer_free(a);
    return code;
}

static int check_file(struct cordon_policy *p, const struct check_options *o)
{
    struct check_question q = {.shell = o->shell, .script = true};
    enum guard_shell shell = guard_script_shell(str_of(o->file));
    if (q.shell && !check_shell(str_of(q.shell), &shell))
        return print_failure("--shell takes powershell, cmd or bash, not %s", o->shell);
    if (!q.shell)
        q.shell = check_shell_name(shell);
    if (shell == GUARD_NO_SHELL)
        return print_failure(
            "%s: the name does not end in .ps1, .cmd, .bat or .sh; say --shell too", o->file);
    auto_buf struct buf text = {0};
    int rc = disk_read(str_of(o->file), GUARD_MAX_INPUT, &text);
    if (rc && rc != CORDON_E_TOOBIG)
        return print_failure("%s: %s", o->file, cordon_strerror(rc));
    q.text = text.n ? buf_str(&text) : STR("");
    return ask(p, o, &q);
}

static int check_text(struct cordon_policy *p, const struct check_options *o, const char *text)
{
    struct check_question q = {.shell = o->shell, .text = str_of(text)};
    enum guard_shell shell;
    if (!check_shell(str_of(o->shell), &shell))
        return print_failure("--shell takes powershell, cmd or bash, not %s", o->shell);
    return ask(p, o, &q);
}

/* One word with blanks that begins with a plain name: run would look for a program of that name. */
static bool is_line(const char *word)
{
    size_t first = strcspn(word, " ");
    return word[first] && first > 0 && strcspn(word, "/\\:") > first && !disk_is_file(word);
}

static int check_words(struct cordon_policy *p, const struct check_options *o,
                       struct arguments *args, bool dashes)
{
    size_t count = args->count - args->next;
    const char **items = args->items + args->next;
    if (count == 0)
        return print_failure("no command given; type: cordon check -- PROGRAM ARG…");
    if (!dashes)
        return mistake_dashes(args, "check");
    if (count == 1 && is_line(items[0]))
        return print_failure("this is a whole line, and no program has such a name; it is for a "
                             "shell: cordon check --shell %s \"TEXT\"",
                             disk_dialect() == PATH_WINDOWS ? "powershell" : "bash");
    return ask(p, o, &(struct check_question){.argv = items, .argc = count});
}

/* ---- --jsonl ---- */

/* One input line without its newline; false at the end. An overlong line is cut and marked. */
static bool read_line(struct buf *line, bool *too_long)
{
    enum { LONGEST = 8 * 1024 * 1024 };
    buf_reset(line);
    *too_long = false;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (line->n < LONGEST)
            buf_char(line, (char)c);
        else
            *too_long = true;
    }
    return c != EOF || line->n > 0;
}

struct row {
    struct check_question question;
    const struct json_value *id;
    const char *error;
};

static bool take_strings(struct arena *arena, const struct json_value *value,
                         const char *const **out, size_t *count)
{
    if (value->type != JSON_ARRAY)
        return false;
    const char **items = ARENA_ARRAY(arena, value->count + 1, const char *);
    for (size_t i = 0; i < value->count; i++) {
        if (!items || value->items[i].type != JSON_STRING ||
            str_has_char(value->items[i].text, '\0') ||
            !(items[i] = arena_copy(arena, value->items[i].text).p))
            return false;
    }
    *out = items;
    *count = value->count;
    return items != NULL;
}

static const char *take_row(struct arena *arena, const struct json_value *object, struct row *row)
{
    struct check_question *q = &row->question;
    enum guard_shell kind;
    const struct json_value *argv = json_get(object, STR("argv"));
    const struct json_value *cmdline = json_get(object, STR("cmdline"));
    const struct json_value *shell = json_get(object, STR("shell"));
    const struct json_value *script = json_get(object, STR("script"));
    row->id = json_get(object, STR("id"));
    if (!!argv + !!cmdline + !!script != 1)
        return "exactly one of argv, cmdline and script is needed";
    if (argv) {
        if (!take_strings(arena, argv, &q->argv, &q->argc) || q->argc == 0)
            return "argv must be an array of strings, with at least one, and none with a NUL";
    } else if (cmdline) {
        if (cmdline->type != JSON_STRING)
            return "cmdline must be a string";
        q->shell = "cmdline";
        q->text = cmdline->text.p ? cmdline->text : STR("");
    } else {
        if (script->type != JSON_STRING)
            return "script must be a string";
        if (!shell || shell->type != JSON_STRING || !check_shell(shell->text, &kind) ||
            kind == GUARD_NO_SHELL)
            return "shell must be powershell, cmd or bash";
        if (!(q->shell = arena_copy(arena, shell->text).p))
            return "out of memory";
        q->text = script->text.p ? script->text : STR("");
    }
    return NULL;
}

/* The policies of a stream. The one of a row that brings its own roots or cwd is rebuilt when they
   change. A row that does not say where it comes from has no root: the folder of this process tells
   nothing about it. */
struct row_policies {
    struct cordon_policy *common;
    struct cordon_policy *own;
    struct buf key;
    bool here;     /* --cwd was given: it is the root of rows that name none */
    bool defaults; /* a row with a cwd and without roots has the one that run would have */
};

/* A row that names a folder and no roots has this folder as its root. */
static int set_row(struct cordon_policy *p, const struct json_value *roots,
                   const struct json_value *cwd, bool foreign)
{
    auto_arena struct arena arena = {0};
    int rc = cwd ? cordon_policy_set(p, "cwd", arena_copy(&arena, cwd->text).p) : 0;
    for (size_t i = 0; roots && i < roots->count && rc == 0; i++)
        rc = cordon_policy_set(p, "root", arena_copy(&arena, roots->items[i].text).p);
    if (!roots && !foreign && rc == 0)
        rc = cordon_policy_set(p, "root", ".");
    return rc;
}

static bool is_folder(struct str path)
{
    auto_arena struct arena arena = {0};
    struct disk_facts facts;
    return disk_look(&arena, path, &facts) == 0 && facts.exists && facts.directory;
}

static const char *choose_policy(struct row_policies *all, const struct json_value *object,
                                 const struct row *row, struct cordon_policy **out, unsigned *flags)
{
    const struct json_value *roots = json_get(object, STR("roots"));
    const struct json_value *cwd = json_get(object, STR("cwd"));
    bool foreign = is_foreign(&row->question);
    *out = all->common;
    if (!roots && !cwd) {
        *flags |= all->here && !foreign ? CORDON_HERE : 0;
        return NULL;
    }
    auto_buf struct buf key = {0};
    if (cwd && (cwd->type != JSON_STRING || str_has_char(cwd->text, '\0')))
        return "cwd must be a string without NUL";
    if (roots && roots->type != JSON_ARRAY)
        return "roots must be an array of strings";
    /* only a folder of another system need not be here */
    if (foreign && cwd && !is_of_windows(cwd->text) && !is_folder(cwd->text))
        return "cwd: folder not found";
    buf_char(&key, roots || foreign || !all->defaults ? 'n' : 'r');
    if (cwd)
        buf_add(&key, cwd->text);
    for (size_t i = 0; roots && i < roots->count; i++) {
        if (roots->items[i].type != JSON_STRING || str_has_char(roots->items[i].text, '\0'))
            return "roots must be an array of strings";
        buf_char(&key, '\0');
        buf_add(&key, roots->items[i].text);
    }
    if (!all->own || !str_eq(buf_str(&all->key), buf_str(&key))) {
        cordon_policy_free(all->own);
        all->own = NULL;
        if (cordon_policy_new(&all->own))
            return "out of memory";
        buf_reset(&all->key);
        buf_add(&all->key, buf_str(&key));
        if (set_row(all->own, roots, cwd, foreign || !all->defaults)) {
            buf_reset(&all->key);
            return "roots or cwd cannot be used";
        }
    }
    *out = all->own;
    return NULL;
}

static void write_row(struct buf *out, const struct row *row, const struct cordon_answer *a,
                      unsigned number)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    if (row->id && row->id->type == JSON_STRING)
        json_put(&w, STR("id"), row->id->text);
    else if (row->id && row->id->type == JSON_NUMBER) {
        json_key(&w, STR("id"));
        buf_add(out, row->id->text);
        w.after_key = false;
    }
    if (row->error) {
        auto_buf struct buf text = {0};
        buf_fmt(&text, "line %u: %s", number, row->error);
        json_put(&w, STR("error"), buf_str(&text));
        json_put(&w, STR("verdict"), STR("deny"));
        json_close(&w, '}');
    } else {
        /* The members of the library's object, after the id. */
        buf_add(out, row->id && out->n > 1 ? STR(",") : STR(""));
        buf_add(out, str_from(str_of(cordon_answer_json(a)), 1));
    }
    buf_char(out, '\n');
}

static int check_stream(struct cordon_policy *p, const struct check_options *o)
{
    auto_buf struct buf line = {0}, out = {0};
    auto_arena struct arena arena = {0};
    struct row_policies all = {.common = p,
                               .here = o->cwd_count && !o->rootless,
                               .defaults = !o->root_count && !o->policy_count};
    bool too_long, malformed = false, written = true;
    for (unsigned number = 1; written && read_line(&line, &too_long); number++) {
        struct str text = buf_str(&line);
        if (number == 1 && str_starts(text, STR("\xEF\xBB\xBF"))) /* as Windows' editors write it */
            text = str_from(text, 3);
        text = str_trim(text);
        if (text.n == 0 && !too_long)
            continue;
        arena_reset(&arena);
        struct row row = {.error = too_long ? "the line is over its limit" : NULL};
        struct json_value object = {0};
        struct json_error error;
        struct cordon_answer *answer = NULL;
        unsigned flags = CORDON_ANYWHERE | (o->show ? CORDON_SHOW : 0);
        struct cordon_policy *policy = p;
        if (!row.error && json_read(&arena, text, &object, &error))
            row.error = error.what;
        if (!row.error && object.type != JSON_OBJECT)
            row.error = "the line is not an object";
        if (!row.error)
            row.error = take_row(&arena, &object, &row);
        if (!row.error)
            row.error = choose_policy(&all, &object, &row, &policy, &flags);
        if (!row.error && ask_library(policy, &row.question, flags, &answer))
            row.error = cordon_policy_error(policy);
        malformed = malformed || row.error;
        buf_reset(&out);
        write_row(&out, &row, answer, number);
        cordon_answer_free(answer);
        written = !out.failed && print_out(buf_str(&out)) && fflush(stdout) == 0;
    }
    cordon_policy_free(all.own);
    buf_free(&all.key);
    if (!written)
        return print_failure("cannot write the answers");
    return malformed ? EXIT_FAILED : 0;
}

static int set_all(struct cordon_policy *p, const char *option, const char *const *values,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cordon_policy_set(p, option, values[i]))
            return print_failure("%s", cordon_policy_error(p));
    return 0;
}

/* The folders of the command line; "none" alone stands for no root at all. */
static int take_roots(struct cordon_policy *p, struct check_options *o)
{
    int rc = set_all(p, "cwd", o->cwds, o->cwd_count);
    if (rc == 0)
        rc = set_all(p, "policy", o->policies, o->policy_count);
    if (rc)
        return rc;
    for (size_t i = 0; i < o->root_count; i++) {
        if (strcmp(o->roots[i], "none") != 0) {
            if (cordon_policy_set(p, "root", o->roots[i]))
                return print_failure("%s", cordon_policy_error(p));
            continue;
        }
        if (o->root_count > 1)
            return print_failure("--root none stands alone; a folder of this name is ./none");
        o->rootless = true;
    }
    return 0;
}

static int check(struct cordon_policy *p, struct arguments *args)
{
    struct check_options o = {0};
    const struct cli_option own[] = {
        {.name = "json", .flag = &o.json},
        {.name = "jsonl", .flag = &o.jsonl},
        {.name = "show", .flag = &o.show},
        {.name = "rules", .flag = &o.rules},
        {.name = "help", .flag = &o.help},
        {.name = "shell", .value = &o.shell},
        {.name = "file", .value = &o.file},
        {.name = "explain", .value = &o.explain},
        {.name = "root", .value = o.roots, .count = &o.root_count, .most = MOST_ROOTS},
        {.name = "cwd", .value = o.cwds, .count = &o.cwd_count, .most = MOST_OTHERS},
        {.name = "policy", .value = o.policies, .count = &o.policy_count, .most = MOST_OTHERS}};
    bool dashes = false;
    int rc = options_take(args, own, sizeof own / sizeof *own, p, &dashes);
    if (rc)
        return rc;
    if (o.help)
        return cli_help("check");
    if (o.rules)
        return explain_list(o.json);
    if (o.explain)
        return explain_rule(o.explain, o.json);
    if (o.shell && !o.file && !o.jsonl) {
        const char *text = args->next < args->count ? args->items[args->next++] : NULL;
        rc = dashes ? 0 : options_take(args, own, sizeof own / sizeof *own, p, NULL);
        if (rc)
            return rc;
        if (!text || args->next < args->count)
            return print_failure("--shell takes one text; put it in quotes: "
                                 "cordon check --shell %s \"TEXT\"",
                                 o.shell);
        return (rc = take_roots(p, &o)) ? rc : check_text(p, &o, text);
    }
    bool words = args->next < args->count;
    if ((o.jsonl || o.file) && words)
        return print_failure("%s takes no command; leave out %s", o.jsonl ? "--jsonl" : "--file",
                             args->items[args->next]);
    if ((rc = take_roots(p, &o)))
        return rc;
    if (o.jsonl)
        return check_stream(p, &o);
    if (o.file)
        return check_file(p, &o);
    return check_words(p, &o, args, dashes);
}

int command_check(struct arguments *args)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return print_failure("out of memory");
    int code = check(p, args);
    cordon_policy_free(p);
    return code;
}
