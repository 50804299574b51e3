/* SPDX-License-Identifier: Apache-2.0 */
/* cordon check: a verdict on a command, a script, or a stream of them. Nothing is started. */
#include <stdlib.h>

#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/check.h"

enum { MOST_ROOTS = 256 };

struct check_options {
    bool json, jsonl, show, rules, help;
    const char *shell, *file, *explain;
    const char *roots[MOST_ROOTS];
    size_t root_count;
    bool rootless; /* --root none */
};

static int exit_code(enum cordon_verdict verdict)
{
    return verdict == CORDON_DENY ? EXIT_REFUSED : verdict == CORDON_ASK ? EXIT_ASK : 0;
}

static void print_reads(const struct guard_answer *a)
{
    for (size_t i = 0; i < a->read_count; i++) {
        const struct guard_read *r = &a->reads[i];
        printf("  %*s", (int)(r->depth - 1) * 2, "");
        for (size_t j = 0; j <= r->count; j++) {
            struct str text = j ? r->args[j - 1].text : r->name.text;
            print_row(j ? " " : "", str_has_char(text, GUARD_HOLE) ? STR("?") : text, "");
        }
        putchar('\n');
    }
}

static void print_answer(const struct guard_answer *a, bool show)
{
    enum { MOST_SHOWN = 200 };
    if (a->finding_count == 0)
        printf("%sallow%s: nothing here would leave the sandbox\n", print_style(PRINT_GREEN),
               print_style(PRINT_PLAIN));
    for (size_t i = 0; i < a->finding_count; i++) {
        const struct guard_finding *f = &a->findings[i];
        printf("%s%s%s %s", print_style(print_verdict_style(f->verdict)), verdict_name(f->verdict),
               print_style(PRINT_PLAIN), f->id.p);
        print_row(": ", f->why, "\n");
        print_span(a->text, f->start, f->end);
        if (f->resolved.n && !str_eq(f->resolved, STR("\xE2\x80\xA6")) &&
            !str_eq(f->resolved, str_slice(a->text, f->start, f->end)))
            print_row("  which is: ", str_cut(f->resolved, MOST_SHOWN), "\n");
        print_row("  instead: ", f->fix, "\n");
    }
    for (size_t i = 0; i < a->unread_count; i++)
        print_row("not read: ", a->unread[i], " (absent, or outside the roots)\n");
    if (show && a->read_count) {
        printf("read as:\n");
        print_reads(a);
    }
}

/* ---- the root that run would have ---- */

static bool is_of_windows(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\\' || (i && text.p[i] == ':' && ascii_is_alpha(text.p[i - 1]) &&
                                  (i == 1 || !ascii_is_alnum(text.p[i - 2]))))
            return true;
    return false;
}

/* Paths of another system mean nothing in a folder of this one. */
static bool is_foreign(const struct guard_question *q)
{
    if (disk_dialect() != PATH_POSIX)
        return false;
    bool foreign = (q->shell != GUARD_NO_SHELL && q->shell != GUARD_BASH) ||
                   is_of_windows(q->text) || (!q->argv && is_of_windows(q->cmdline));
    for (size_t i = 0; i < q->argc && !foreign; i++)
        foreign = is_of_windows(q->argv[i]);
    return foreign;
}

/* As for run, the current directory is a root if none is named: a policy with it, or NULL where it
   cannot be one. */
static struct cordon_policy *with_current_root(const struct cordon_policy *p,
                                               const struct check_options *o)
{
    struct cordon_policy *own = NULL;
    if (p->has_roots || o->rootless || cordon_policy_new(&own))
        return NULL;
    if (settings_copy(&p->settings, &own->settings, NULL, 0) == 0 &&
        cordon_policy_set(own, "root", ".") == 0 && api_prepare(own, STR_NONE) == 0)
        return own;
    cordon_policy_free(own);
    return NULL;
}

static int print_verdict(const struct check_options *o, const struct guard_question *q,
                         const struct guard_answer *a)
{
    if (!o->json) {
        print_answer(a, o->show);
        return exit_code(a->verdict);
    }
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    check_write(&w, a, q->argv != NULL, o->show);
    json_close(&w, '}');
    buf_char(&out, '\n');
    if (out.failed || !print_out(buf_str(&out)))
        return print_failure("cannot write the answer");
    return exit_code(a->verdict);
}

/* Prints a message or the answer and returns the exit code. */
static int ask(struct cordon_policy *p, const struct check_options *o, struct guard_question *q)
{
    struct guard_answer a;
    struct cordon_policy *here = is_foreign(q) ? NULL : with_current_root(p, o);
    q->show = o->show;
    int code = check_ask(here ? here : p, q, &a)
                   ? print_failure("%s", cordon_policy_error(here ? here : p))
                   : print_verdict(o, q, &a);
    cordon_policy_free(here);
    return code;
}

static int check_file(struct cordon_policy *p, const struct check_options *o)
{
    static const struct {
        struct str extension;
        enum guard_shell shell;
    } kinds[] = {{STR(".ps1"), GUARD_POWERSHELL}, {STR(".psm1"), GUARD_POWERSHELL},
                 {STR(".cmd"), GUARD_CMD},        {STR(".bat"), GUARD_CMD},
                 {STR(".sh"), GUARD_BASH},        {STR(".bash"), GUARD_BASH}};
    struct guard_question q = {.script_file = true};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_endsi(str_of(o->file), kinds[i].extension))
            q.shell = kinds[i].shell;
    if (o->shell && !check_shell(str_of(o->shell), &q.shell))
        return print_failure("--shell takes powershell, cmd or bash, not %s", o->shell);
    if (q.shell == GUARD_NO_SHELL)
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
    struct guard_question q = {.text = str_of(text), .cmdline = str_of(text)};
    if (!check_shell(str_of(o->shell), &q.shell))
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
    struct str *argv = calloc(count, sizeof *argv);
    if (!argv)
        return print_failure("out of memory");
    for (size_t i = 0; i < count; i++)
        argv[i] = str_of(items[i]);
    struct guard_question q = {.argv = argv, .argc = count};
    int code = ask(p, o, &q);
    free(argv);
    return code;
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
    struct guard_question question;
    const struct json_value *id;
    const char *error;
};

static bool take_strings(struct arena *arena, const struct json_value *value, struct str **out,
                         size_t *count)
{
    if (value->type != JSON_ARRAY)
        return false;
    struct str *items = ARENA_ARRAY(arena, value->count + 1, struct str);
    for (size_t i = 0; i < value->count; i++) {
        if (!items || value->items[i].type != JSON_STRING)
            return false;
        items[i] = value->items[i].text;
    }
    *out = items;
    *count = value->count;
    return items != NULL;
}

static const char *take_row(struct arena *arena, const struct json_value *object, struct row *row)
{
    struct guard_question *q = &row->question;
    const struct json_value *argv = json_get(object, STR("argv"));
    const struct json_value *cmdline = json_get(object, STR("cmdline"));
    const struct json_value *shell = json_get(object, STR("shell"));
    const struct json_value *script = json_get(object, STR("script"));
    row->id = json_get(object, STR("id"));
    if (!!argv + !!cmdline + !!script != 1)
        return "exactly one of argv, cmdline and script is needed";
    struct str *words;
    if (argv) {
        if (!take_strings(arena, argv, &words, &q->argc) || q->argc == 0)
            return "argv must be an array of strings, with at least one";
        q->argv = words;
    } else if (cmdline) {
        if (cmdline->type != JSON_STRING)
            return "cmdline must be a string";
        q->cmdline = cmdline->text.p ? cmdline->text : STR("");
    } else {
        if (script->type != JSON_STRING)
            return "script must be a string";
        if (!shell || shell->type != JSON_STRING || !check_shell(shell->text, &q->shell) ||
            q->shell == GUARD_NO_SHELL)
            return "shell must be powershell, cmd or bash";
        q->text = script->text.p ? script->text : STR("");
    }
    return NULL;
}

/* The policies of a stream. The one of a row that brings its own roots or cwd is rebuilt when they
   change. A row that does not say where it comes from has no root: the folder of this process tells
   nothing about it. */
struct row_policies {
    struct cordon_policy *common;
    struct cordon_policy *here; /* the same with --cwd as a root; NULL: it was not given */
    struct cordon_policy *own;
    struct buf key;
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
                                 const struct row *row, struct cordon_policy **out)
{
    const struct json_value *roots = json_get(object, STR("roots"));
    const struct json_value *cwd = json_get(object, STR("cwd"));
    bool foreign = is_foreign(&row->question);
    *out = all->here && !foreign ? all->here : all->common;
    if (!roots && !cwd)
        return NULL;
    auto_buf struct buf key = {0};
    if (cwd && cwd->type != JSON_STRING)
        return "cwd must be a string";
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

static void write_row(struct buf *out, const struct row *row, const struct guard_answer *a,
                      bool show, unsigned number)
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
    } else {
        check_write(&w, a, row->question.argv != NULL, show);
    }
    json_close(&w, '}');
    buf_char(out, '\n');
}

static int check_stream(struct cordon_policy *p, const struct check_options *o)
{
    auto_buf struct buf line = {0}, out = {0};
    auto_arena struct arena arena = {0};
    struct row_policies all = {.common = p,
                               .here = api_has(p, "cwd") ? with_current_root(p, o) : NULL,
                               .defaults = !p->has_roots && !o->rootless};
    bool too_long, malformed = false, written = true;
    for (unsigned number = 1; written && read_line(&line, &too_long); number++) {
        struct str text = str_trim(buf_str(&line));
        if (text.n == 0 && !too_long)
            continue;
        arena_reset(&arena);
        struct row row = {.error = too_long ? "the line is over its limit" : NULL};
        struct json_value object = {0};
        struct json_error error;
        struct guard_answer answer = {0};
        struct cordon_policy *policy = p;
        if (!row.error && json_read(&arena, text, &object, &error))
            row.error = error.what;
        if (!row.error && object.type != JSON_OBJECT)
            row.error = "the line is not an object";
        if (!row.error)
            row.error = take_row(&arena, &object, &row);
        if (!row.error)
            row.error = choose_policy(&all, &object, &row, &policy);
        row.question.show = o->show;
        if (!row.error && check_ask_alone(policy, &row.question, &answer))
            row.error = cordon_policy_error(policy);
        malformed = malformed || row.error;
        buf_reset(&out);
        write_row(&out, &row, &answer, o->show, number);
        written = !out.failed && print_out(buf_str(&out)) && fflush(stdout) == 0;
    }
    cordon_policy_free(all.here);
    cordon_policy_free(all.own);
    buf_free(&all.key);
    if (!written)
        return print_failure("cannot write the answers");
    return malformed ? EXIT_FAILED : 0;
}

/* The roots of the command line; "none" alone stands for no root at all. */
static int take_roots(struct cordon_policy *p, struct check_options *o)
{
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
        {.name = "root", .value = o.roots, .count = &o.root_count, .most = MOST_ROOTS}};
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
