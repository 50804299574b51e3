/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of cmd itself that matter: set, start, call, del, rd, cd, setlocal. */
#include "guard/cmd/cmd.h"
#include "guard/names.h"

static const struct builtin_pool {
#define BUILTIN(name, kind) char ROW(n)[sizeof name];
#include "guard/tables/cmd_builtins.def"
#undef BUILTIN
} pool = {
#define BUILTIN(name, kind) name,
#include "guard/tables/cmd_builtins.def"
#undef BUILTIN
};

static const struct builtin {
    uint16_t name;
    uint8_t kind;
} builtins[] = {
#define BUILTIN(name, kind) {PLACE(builtin_pool, ROW(n)), kind},
#include "guard/tables/cmd_builtins.def"
#undef BUILTIN
};

static enum cmd_builtin find_name(struct str name)
{
    size_t row = NAME_ROW(pool, builtins, name);
    return row < NAME_ROWS(builtins) ? (enum cmd_builtin)builtins[row].kind : CMD_NOT_BUILTIN;
}

enum cmd_builtin cmd_builtin_find(struct str word, size_t *length)
{
    size_t n = 0;
    while (n < word.n && ascii_is_alpha(word.p[n]) && n < 9)
        n++;
    *length = n;
    if (n == word.n)
        return find_name(word);
    if (str_eqi(word, STR("start.exe"))) { /* Wine has it as a program */
        *length = word.n;
        return CMD_START;
    }
    /* cmd ends the name of a builtin at these, unless it is a path or a file's name */
    if (!ascii_is_in(word.p[n], "/.,;=([:\\+]"))
        return CMD_NOT_BUILTIN;
    enum cmd_builtin kind = find_name(str_slice(word, 0, n));
    if (kind == CMD_NOT_BUILTIN)
        return kind;
    bool path = word.p[n] == '\\' || (word.p[n] == ':' && n == 1);
    if (path && kind != CMD_CD && kind != CMD_ECHO && kind != CMD_START)
        return CMD_NOT_BUILTIN;
    if (word.p[n] == '.' && kind != CMD_ECHO) {
        struct str ending = str_from(word, n + 1);
        if (str_eqi(ending, STR("exe")) || str_eqi(ending, STR("com")) ||
            str_eqi(ending, STR("bat")) || str_eqi(ending, STR("cmd")))
            return CMD_NOT_BUILTIN;
    }
    return kind;
}

/* ---- set ---- */

static void run_set(struct cmd_reader *r, const struct cmd_text *t)
{
    struct str s = cmd_str(t);
    size_t i = 0;
    while (i < s.n && cmd_is_blank(s.p[i]))
        i++;
    bool unknown = false;
    if (i + 1 < s.n && s.p[i] == '/') {
        unknown = true; /* /p asks, /a computes */
        bool computes = ascii_lower(s.p[i + 1]) == 'a';
        i += 2;
        while (i < s.n && (cmd_is_blank(s.p[i]) || (computes && s.p[i] == '"')))
            i++;
    }
    s = str_from(s, i);
    if (s.n && s.p[0] == '"') { /* set "x=y" ends at the last quote */
        size_t last = s.n;
        while (last > 1 && s.p[last - 1] != '"')
            last--;
        s = last > 1 ? str_slice(s, 1, last - 1) : str_from(s, 1);
    }
    size_t equals = str_find_char(s, '=', 0);
    if (equals >= s.n || equals == 0)
        return;
    struct str name = str_slice(s, 0, equals);
    if (unknown)
        while (name.n && ascii_is_in(name.p[name.n - 1], " +-*/%&|^<>"))
            name.n--;
    struct var *var = cmd_variable(r, name);
    struct var_state state = {.unknown = true};
    if (!unknown) {
        struct str value = arena_copy(r->arena, str_from(s, equals + 1));
        if (!value.p)
            value = STR("\xFF");
        state = vars_one(&r->vars, value);
        struct word word = cmd_word(r, t, 0, t->n);
        word.text = value;
        guard_variable(r->g, name, word);
    }
    cmd_assign(r, var, state);
}

/* ---- start ---- */

/* True if the next token is the switch's value: /d folder, /node 1, /affinity ff. */
static bool takes_value(struct str name)
{
    return str_eqi(name, STR("/d")) || str_eqi(name, STR("/node")) ||
           str_eqi(name, STR("/affinity")) || str_eqi(name, STR("/machine"));
}

static void run_start(struct cmd_reader *r, const struct cmd_text *t)
{
    struct word title = {.text = STR_NONE};
    size_t i = 0;
    for (;;) {
        i = cmd_skip_blanks(t, i);
        if (i >= t->n)
            break;
        size_t end = cmd_token_end(t, i);
        if (t->p[i] == '"' && !title.text.p) {
            title = cmd_word(r, t, i, end);
            i = end;
            continue;
        }
        if (t->p[i] != '/')
            break;
        size_t next = str_find_char(str_slice(cmd_str(t), 0, end), '/', i + 1);
        struct str name = str_slice(cmd_str(t), i, next);
        if (ascii_lower(name.n > 1 ? name.p[1] : 0) == 'd' && name.n > 2)
            next = end; /* /dC:/folder */
        i = next;
        if (takes_value(name)) {
            i = cmd_skip_blanks(t, i);
            i = cmd_token_end(t, i);
        }
    }
    if (i >= t->n) { /* a title alone opens a window; one that was meant as a target is judged */
        if (title.text.p && title.text.n)
            guard_open(r->g, STR("start"), title, NULL, 0, GUARD_CMD);
        return;
    }
    /* the target ends at a blank; , ; and = may be part of a URL */
    size_t end = i;
    bool quoted = false;
    for (; end < t->n && (quoted || (t->p[end] != ' ' && t->p[end] != '\t')); end++)
        quoted ^= t->p[end] == '"';
    struct word target = cmd_word(r, t, i, end);
    struct cmd_text rest = cmd_part(t, end, t->n);
    size_t count;
    struct word *words = winargv_split(r->arena, cmd_str(&rest), &count);
    if (!words) {
        guard_limit(r->g, target);
        return;
    }
    for (size_t k = 1; k < count; k++) {
        words[k].start = rest.at[words[k].start];
        words[k].end = rest.at[words[k].end - 1] + 1;
        if (words[k].end < words[k].start)
            words[k].end = words[k].start;
    }
    guard_open(r->g, STR("start"), target, words + 1, count - 1, GUARD_CMD);
}

/* ---- call ---- */

/* A batch file that is called sets variables of this one. */
static void call_command(struct cmd_reader *r, struct cmd_text text, struct word input)
{
    struct str name = cmd_word(r, &text, 0, cmd_token_end(&text, 0)).text;
    cmd_run_simple(r, text, input);
    bool program = str_endsi(name, STR(".exe")) || str_endsi(name, STR(".com"));
    bool path = str_has_char(name, '\\') || str_has_char(name, '/');
    if (str_endsi(name, STR(".cmd")) || str_endsi(name, STR(".bat")) || (path && !program))
        cmd_doubt(r);
}

static void run_call(struct cmd_reader *r, const struct cmd_text *t, struct word input);

/* The call once for each value of var; text is what it reads like if the value is not known. */
static void call_for_each(struct cmd_reader *r, const struct cmd_text *t, struct var *var,
                          const struct cmd_text *text, struct word input)
{
    struct var_state state = var->state;
    bool unknown = state.unknown;
    struct cmd_fork fork;
    cmd_fork_begin(r, &fork);
    r->maybe++;
    for (unsigned k = 0; k < state.count && !guard_stopped(r->g); k++) {
        if (++r->retries > CMD_MAX_RETRIES) {
            unknown = true;
            break;
        }
        var->state = vars_one(&r->vars, state.values[k]);
        run_call(r, t, input);
        cmd_branch_end(r, &fork);
        var->state = state;
        r->silent = true;
    }
    if (unknown) {
        call_command(r, cmd_part(text, cmd_skip_blanks(text, 0), text->n), input);
        cmd_branch_end(r, &fork);
    }
    r->maybe--;
    cmd_fork_end(r, &fork, true);
}

static void run_call(struct cmd_reader *r, const struct cmd_text *t, struct word input)
{
    if (!guard_spend(r->g, t->n + 1))
        return;
    if (r->nesting >= CMD_MAX_NESTING) {
        guard_limit(r->g, word_unknown(t->n ? t->at[0] : 0, t->n ? t->at[0] : 0));
        return;
    }
    struct var *outer = r->ambiguous;
    r->ambiguous = NULL;
    struct cmd_text text = cmd_expand_again(r, t);
    struct var *var = r->ambiguous;
    r->ambiguous = outer;
    size_t i = cmd_skip_blanks(&text, 0);
    r->nesting++;
    bool silent = r->silent;
    if (var) {
        call_for_each(r, t, var, &text, input);
    } else if (i < text.n && text.p[i] == ':') {
        cmd_call_label(r, &text, i);
    } else {
        r->silent = false;
        call_command(r, cmd_part(&text, i, text.n), input);
    }
    r->silent = silent;
    r->nesting--;
}

/* ---- folders and files ---- */

static void run_cd(struct cmd_reader *r, const struct cmd_text *t)
{
    size_t i = cmd_skip_blanks(t, 0);
    if (i + 1 < t->n && t->p[i] == '/' && ascii_lower(t->p[i + 1]) == 'd')
        i = cmd_skip_blanks(t, i + 2);
    if (i >= t->n)
        return;
    size_t end = t->n;
    while (end > i && cmd_is_blank(t->p[end - 1]))
        end--;
    struct str path = cmd_word(r, t, i, end).text;
    guard_change_folder(r->g, path);
}

static void run_delete(struct cmd_reader *r, const struct cmd_text *t, struct str who, bool folder)
{
    unsigned flags = 0;
    bool quiet = false;
    for (int pass = 0; pass < 2; pass++) { /* switches may follow the names */
        size_t i = 0;
        for (;;) {
            i = cmd_skip_blanks(t, i);
            if (i >= t->n || guard_stopped(r->g))
                break;
            size_t end = cmd_token_end(t, i);
            if (t->p[i] != '/') {
                size_t slash = i; /* build/q: the switch sticks to the name */
                bool quoted = false;
                for (; slash < end && (quoted || t->p[slash] != '/'); slash++)
                    quoted ^= t->p[slash] == '"';
                if (slash + 2 == end)
                    end = slash;
                if (pass == 1) {
                    struct word target = cmd_word(r, t, i, end);
                    bool many = str_has_char(target.text, '*') || str_has_char(target.text, '?') ||
                                str_has_char(target.text, GUARD_HOLE);
                    guard_delete(r->g, who, target, flags | (quiet && many ? GUARD_QUIET : 0u));
                }
            } else if (pass == 0) {
                for (size_t k = i; k + 1 < end; k++) {
                    if (t->p[k] != '/')
                        continue;
                    char c = ascii_lower(t->p[k + 1]);
                    if (c == 's')
                        flags |= GUARD_RECURSE | (folder ? 0u : GUARD_HIDDEN);
                    if (c == 'f' && !folder)
                        flags |= GUARD_FORCE;
                    if (c == 'a' && !folder)
                        flags |= GUARD_HIDDEN;
                    quiet |= c == 'q' && !folder;
                }
            }
            i = end > i ? end : i + 1;
        }
    }
}

/* ---- setlocal ---- */

/* assoc .x=y and ftype x=command change what opens files. */
static void run_plant(struct cmd_reader *r, const struct cmd_text *t)
{
    struct word word = cmd_word(r, t, 0, t->n);
    word.text = str_trim(word.text);
    size_t equals = str_find_char(word.text, '=', 0);
    if (equals + 1 < word.text.n)
        guard_find(r->g, GUARD_PLANT_STARTUP, word, STR("this"), "changes what opens files", NULL);
}

static void run_setlocal(struct cmd_reader *r, const struct cmd_text *t)
{
    struct str s = cmd_str(t);
    cmd_setlocal(r);
    if (str_findi(s, STR("enabledelayedexpansion"), 0) < s.n)
        r->delayed = true;
    else if (str_findi(s, STR("disabledelayedexpansion"), 0) < s.n)
        r->delayed = false;
}

void cmd_builtin_run(struct cmd_reader *r, enum cmd_builtin builtin, struct cmd_text arguments,
                     struct word input)
{
    switch (builtin) {
    case CMD_SET: run_set(r, &arguments); break;
    case CMD_START: run_start(r, &arguments); break;
    case CMD_CALL: run_call(r, &arguments, input); break;
    case CMD_CD: run_cd(r, &arguments); break;
    case CMD_ENDLOCAL: cmd_endlocal(r); break;
    case CMD_EXIT: cmd_leave(r, NULL); break;
    case CMD_GOTO: cmd_goto(r, &arguments); break;
    case CMD_SHIFT: cmd_shift(r); break;
    case CMD_POPD: guard_set_folder(r->g, STR("\xFF")); break;
    case CMD_DEL: run_delete(r, &arguments, STR("del"), false); break;
    case CMD_PLANT: run_plant(r, &arguments); break;
    case CMD_RD: run_delete(r, &arguments, STR("rd"), true); break;
    case CMD_SETLOCAL: run_setlocal(r, &arguments); break;
    default: break;
    }
}
