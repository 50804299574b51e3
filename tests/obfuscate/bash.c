/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bash: quoting, escapes of $'…', variables with their operators, substitutions, here-documents,
 * encodings decoded by a pipeline, functions and nested shells.
 */
#include <stdio.h>
#include <string.h>

#include "obfuscate.h"

static void put_quoted(struct buf *out, struct str text)
{
    buf_char(out, '\'');
    put_replaced(out, text, '\'', "'\\''");
    buf_char(out, '\'');
}

static struct str head(struct str script, struct str *rest)
{
    size_t blank = str_find_char(script, ' ', 0);
    *rest = str_from(script, blank);
    return str_slice(script, 0, blank);
}

static void token_backslashes(struct buf *out, struct str script, struct random *r)
{
    for (size_t i = 0; i < script.n; i++) {
        if (ascii_is_alnum(script.p[i]) && random_below(r, 2))
            buf_char(out, '\\');
        buf_char(out, script.p[i]);
    }
}

static void token_quotes(struct buf *out, struct str script, struct random *r)
{
    for (size_t i = 0; i < script.n; i++) {
        if (ascii_is_alnum(script.p[i]) && random_below(r, 3) == 0)
            buf_fmt(out, random_below(r, 2) ? "'%c'" : "\"%c\"", script.p[i]);
        else
            buf_char(out, script.p[i]);
        if (ascii_is_alnum(script.p[i]) && random_below(r, 5) == 0)
            buf_add(out, str_of(PICK(r, "''", "\"\"", "$''")));
    }
}

static void token_escapes(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    const char *form = PICK(r, "\\x%02x", "\\%03o", "\\u%04x");
    buf_add(out, STR("$'"));
    for (size_t i = 0; i < name.n; i++)
        buf_fmt(out,
                form[1] == 'x'   ? "\\x%02x"
                : form[1] == 'u' ? "\\u%04x"
                                 : "\\%03o",
                (unsigned)(unsigned char)name.p[i]);
    buf_char(out, '\'');
    buf_add(out, rest);
}

static void token_variable(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    size_t at = 1 + random_below(r, (uint32_t)name.n - 1);
    buf_fmt(out, "a='%.*s';b=%.*s;%s%.*s", STR_ARG(str_slice(name, 0, at)),
            STR_ARG(str_from(name, at)),
            PICK(r, "$a$b", "\"${a}${b}\"", "${a:-x}$b", "${c:-$a}${b}"), STR_ARG(rest));
}

static void token_operators(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    switch (random_below(r, 4)) {
    case 0: buf_fmt(out, "v=zz%.*szz;${v:2:%zu}%.*s", STR_ARG(name), name.n, STR_ARG(rest)); return;
    case 1: {
        auto_buf struct buf changed = {0};
        put_replaced(&changed, name, 'e', "QQ");
        buf_fmt(out, "v=%.*s;${v//QQ/e}%.*s", STR_ARG(buf_str(&changed)), STR_ARG(rest));
        return;
    }
    case 2: buf_fmt(out, "v=x/%.*s;${v#x/}%.*s", STR_ARG(name), STR_ARG(rest)); return;
    default: buf_fmt(out, "v=%.*s.z;${v%%.z}%.*s", STR_ARG(name), STR_ARG(rest)); return;
    }
}

static void token_substituted(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    const char *form = PICK(r, "$(echo @)", "`echo @`", "$(printf %s @)", "$(printf '%s' '@')",
                            "\"$(echo '@')\"", "$(cat <<< @)");
    for (; *form; form++)
        if (*form == '@')
            buf_add(out, name);
        else
            buf_char(out, *form);
    buf_add(out, rest);
}

static void token_braces(struct buf *out, struct str script, struct random *r)
{
    (void)r;
    if (str_has_char(script, '{') || str_has_char(script, ',') || str_has_char(script, '"')) {
        buf_add(out, script);
        return;
    }
    buf_char(out, '{');
    put_replaced(out, script, ' ', ",");
    buf_char(out, '}');
}

static void token_array(struct buf *out, struct str script, struct random *r)
{
    buf_fmt(out, "w=(%.*s);%s", STR_ARG(script), PICK(r, "\"${w[@]}\"", "${w[@]}", "${w[*]}"));
}

static void token_continued(struct buf *out, struct str script, struct random *r)
{
    size_t at = 1 + random_below(r, (uint32_t)script.n - 1);
    buf_fmt(out, "%.*s\\\n%.*s", STR_ARG(str_slice(script, 0, at)), STR_ARG(str_from(script, at)));
}

static void string_eval(struct buf *out, struct str script, struct random *r)
{
    buf_add(out, str_of(PICK(r, "eval ", "builtin eval ", "command eval ", "bash -c ", "sh -c ",
                             "/bin/bash -c ", "env bash -c ", "trap -- ")));
    bool trap = out->p[out->n - 2] == '-';
    put_quoted(out, script);
    if (trap)
        buf_add(out, STR(" EXIT"));
}

static void string_variable(struct buf *out, struct str script, struct random *r)
{
    buf_add(out, STR("t="));
    put_quoted(out, script);
    buf_fmt(out, ";%s",
            PICK(r, "eval \"$t\"", "bash -c \"$t\"", "bash <<< \"$t\"", "echo \"$t\" | sh"));
}

static void encoding_base64(struct buf *out, struct str script, struct random *r)
{
    auto_buf struct buf text = {0};
    put_base64(&text, script);
    const char *form = PICK(r, "echo @ | base64 -d | bash", "eval \"$(echo @ | base64 --decode)\"",
                            "bash -c \"$(base64 -d <<< @)\"", "base64 -d <<< @ | sh");
    for (; *form; form++)
        if (*form == '@')
            buf_add(out, buf_str(&text));
        else
            buf_char(out, *form);
}

static void encoding_hex(struct buf *out, struct str script, struct random *r)
{
    bool is_octal = random_below(r, 2);
    buf_add(out, str_of(PICK(r, "eval $'", "bash -c $'")));
    for (size_t i = 0; i < script.n; i++)
        buf_fmt(out, is_octal ? "\\%03o" : "\\x%02x", (unsigned)(unsigned char)script.p[i]);
    buf_char(out, '\'');
}

static void encoding_printf(struct buf *out, struct str script, struct random *r)
{
    buf_add(out, STR("printf '"));
    for (size_t i = 0; i < script.n; i++)
        buf_fmt(out, "\\%03o", (unsigned)(unsigned char)script.p[i]);
    buf_fmt(out, "' | %s", PICK(r, "bash", "sh", "bash -s"));
}

static void encoding_reversed(struct buf *out, struct str script, struct random *r)
{
    auto_buf struct buf text = {0};
    if (str_has_char(script, '\n')) {
        buf_add(out, script);
        return;
    }
    for (size_t i = script.n; i-- > 0;)
        buf_char(&text, script.p[i]);
    buf_add(out, STR("echo "));
    put_quoted(out, buf_str(&text));
    buf_fmt(out, " | rev | %s", PICK(r, "bash", "sh"));
}

WRAPPED(tree_block, "{ \1\n}", "(\1\n)", "! \1", "( { \1\n} )")
WRAPPED(tree_branch, "if true; then \1\nfi", "if \1\nthen :; fi", "case a in a) \1\n;; esac",
        "true && { \1\n}", "false || { \1\n}", "[ 1 = 1 ] && { \1\n}")
WRAPPED(tree_loop, "for i in 1; do \1\ndone", "while \1\ndo break; done",
        "until \1\ndo break; done", "for ((i=0;i<1;i++)); do \1\ndone")
WRAPPED(tree_function, "f() { \1\n}; f", "function g { \1\n}; g", "f() ( \1\n); f x")
WRAPPED(tree_substituted, "x=$(\1\n)", ": $(\1\n)", "echo \"$(\1\n)\"", "cat <(\1\n)", "x=`\1`")
WRAPPED(launch_document, "bash <<'END'\n\1\nEND", "cat <<'END' | sh\n\1\nEND",
        "sh <<\\END\n\1\nEND\n")

static void substituted_if_plain(struct buf *out, struct str script, struct random *r)
{
    /* backticks and backslashes inside backticks mean something else */
    if (str_has_char(script, '`') || str_has_char(script, '\\'))
        buf_fmt(out, "x=$(%.*s\n)", STR_ARG(script));
    else
        tree_substituted(out, script, r);
}

static void document_if_plain(struct buf *out, struct str script, struct random *r)
{
    if (str_find(script, STR("END"), 0) < script.n)
        string_eval(out, script, r);
    else
        launch_document(out, script, r);
}

static void launch_file(struct buf *out, struct str script, struct random *r)
{
    buf_add(out, STR("printf '%s\\n' "));
    put_quoted(out, script);
    buf_fmt(out, " %s; %s", PICK(r, "> zz.sh", ">zz.sh", "| tee zz.sh", ">| zz.sh"),
            PICK(r, "bash zz.sh", "sh ./zz.sh", ". ./zz.sh", "source ./zz.sh"));
}

static const struct transformation transformations[] = {
    {"token", "backslashes", token_backslashes, true},
    {"token", "quotes", token_quotes, true},
    {"token", "escapes", token_escapes, true},
    {"token", "name in variables", token_variable, true},
    {"token", "operators of variables", token_operators, true},
    {"token", "name from a command", token_substituted, true},
    {"token", "braces", token_braces, true},
    {"token", "array", token_array, true},
    {"token", "continued line", token_continued, true},
    {"string", "eval", string_eval, false},
    {"string", "text in a variable", string_variable, false},
    {"encoding", "base64", encoding_base64, false},
    {"encoding", "hex and octal", encoding_hex, false},
    {"encoding", "printf", encoding_printf, false},
    {"encoding", "reversed", encoding_reversed, false},
    {"tree", "groups", tree_block, false},
    {"tree", "branches", tree_branch, false},
    {"tree", "loops", tree_loop, false},
    {"tree", "functions", tree_function, false},
    {"tree", "substitutions", substituted_if_plain, false},
    {"launcher", "here-document", document_if_plain, false},
    {"launcher", "script file", launch_file, false},
};

static const char *const hostile[] = {
    "xdg-open https://x.test/a",         "open https://x.test/a",
    "wslview https://x.test/a",          "firefox https://x.test/a",
    "explorer.exe https://x.test/a",     "systemd-run calc",
    "gio open https://x.test/a",         "start https://x.test/a",
    "cmd.exe /c start https://x.test/a",
};

static const char *const benign[] = {"git status", "npm install react", "curl https://x.test/a",
                                     "ls src", "node a.js"};

const struct obfuscator obfuscate_bash = {
    GUARD_BASH,     "bash",        hostile,         benign,
    COUNT(hostile), COUNT(benign), transformations, COUNT(transformations)};
