/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting for the C runtime, for cmd and for batch files. */
#include "launch/cmdline.h"

#include "base/utf.h"
#include "cordon.h"
#include "guard/effects.h"

struct str cmdline_name(struct str path)
{
    size_t i = path.n;
    while (i > 0 && path.p[i - 1] != '\\' && path.p[i - 1] != '/' && path.p[i - 1] != ':')
        i--;
    return str_from(path, i);
}

struct str cmdline_extension(struct str path)
{
    struct str name = cmdline_name(path);
    for (size_t i = name.n; i > 1; i--)
        if (name.p[i - 1] == '.')
            return str_from(name, i - 1);
    return str_from(name, name.n);
}

static const struct {
    struct str extension, what, how;
} scripts[] = {
    {STR(".ps1"), STR("a PowerShell script"), STR("powershell -File")},
    {STR(".py"), STR("a Python script"), STR("python")},
    {STR(".pyw"), STR("a Python script"), STR("python")},
    {STR(".js"), STR("a JavaScript file"), STR("node")},
    {STR(".mjs"), STR("a JavaScript file"), STR("node")},
    {STR(".cjs"), STR("a JavaScript file"), STR("node")},
    {STR(".ts"), STR("a TypeScript file"), STR("npx tsx")},
    {STR(".jse"), STR("an encoded script"), STR("cscript //nologo")},
    {STR(".vbs"), STR("a VBScript file"), STR("cscript //nologo")},
    {STR(".vbe"), STR("an encoded script"), STR("cscript //nologo")},
    {STR(".wsf"), STR("a Windows script"), STR("cscript //nologo")},
    {STR(".sh"), STR("a shell script"), STR("bash")},
    {STR(".pl"), STR("a Perl script"), STR("perl")},
    {STR(".rb"), STR("a Ruby script"), STR("ruby")},
    {STR(".jar"), STR("a Java archive"), STR("java -jar")},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static size_t script_of(struct str path)
{
    struct str extension = cmdline_extension(path);
    size_t i = 0;
    while (i < COUNT(scripts) && !str_eqi(scripts[i].extension, extension))
        i++;
    return i;
}

enum cmdline_kind cmdline_kind_of(struct str path)
{
    struct str extension = cmdline_extension(path);
    if (str_eqi(extension, STR(".exe")) || str_eqi(extension, STR(".com")))
        return CMDLINE_PROGRAM;
    if (str_eqi(extension, STR(".bat")) || str_eqi(extension, STR(".cmd")))
        return CMDLINE_BATCH;
    return script_of(path) < COUNT(scripts) ? CMDLINE_SCRIPT : CMDLINE_OTHER;
}

bool cmdline_is_cmd(struct str program)
{
    struct str name = cmdline_name(program);
    return str_eqi(name, STR("cmd")) || str_eqi(name, STR("cmd.exe"));
}

bool cmdline_next_extension(struct str pathext, size_t *at, struct str *extension)
{
    if (str_trim(pathext).n == 0)
        pathext = STR(".COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC");
    while (*at < pathext.n) {
        size_t end = str_find_char(pathext, ';', *at);
        struct str one = str_trim(str_slice(pathext, *at, end));
        *at = end + 1;
        if (one.n < 2 || one.p[0] != '.' || str_has_char(one, '\\') || str_has_char(one, '/') ||
            str_has_char(one, ':'))
            continue;
        *extension = one;
        return true;
    }
    return false;
}

void cmdline_advise(struct buf *error, struct str path)
{
    size_t i = script_of(path);
    if (i == COUNT(scripts))
        return;
    bool blank = str_has_char(path, ' ');
    buf_fmt(error, "%.*s is %s, which Windows does not start by itself; type: %s %s%.*s%s",
            STR_ARG(path), scripts[i].what.p, scripts[i].how.p, blank ? "\"" : "", STR_ARG(path),
            blank ? "\"" : "");
}

bool cmdline_reads_as(struct str tail, const char *const *argv, size_t argc)
{
    auto_arena struct arena arena = {0};
    size_t count;
    struct word *words = winargv_split(&arena, tail, &count);
    if (!words || count != argc)
        return false;
    for (size_t i = 0; i < argc; i++)
        if (!str_eq(words[i].text, str_of(argv[i])))
            return false;
    return true;
}

/* A program name has no escapes: backslashes are ordinary, and it cannot contain a quote. */
static int add_name(struct buf *out, struct str name, struct buf *error)
{
    if (str_has_char(name, '"')) {
        buf_fmt(error, "%.*s: a program's name cannot hold a quote", STR_ARG(name));
        return CORDON_E_VALUE;
    }
    bool quote = name.n == 0 || str_has_char(name, ' ') || str_has_char(name, '\t');
    if (quote)
        buf_char(out, '"');
    buf_add(out, name);
    if (quote)
        buf_char(out, '"');
    return 0;
}

static int finish(const struct buf *out, size_t begin, size_t most, struct buf *error)
{
    size_t units;
    if (out->failed)
        return CORDON_E_NOMEM;
    if (utf_length16((struct str){out->p + begin, out->n - begin}, &units)) {
        buf_add(error, STR("the command line is not valid UTF-8"));
        return CORDON_E_ENCODING;
    }
    if (units > most) {
        buf_fmt(error, "the command line has %zu characters; %s takes at most %zu", units,
                most == CMDLINE_MAX_CMD ? "cmd" : "Windows", most);
        return CORDON_E_TOOBIG;
    }
    return 0;
}

int cmdline_join(struct buf *out, const char *const *argv, size_t argc, struct buf *error)
{
    size_t begin = out->n;
    int rc = add_name(out, str_of(argv[0]), error);
    for (size_t i = 1; i < argc && rc == 0; i++) {
        buf_char(out, ' ');
        winargv_quote(out, str_of(argv[i]));
    }
    return rc ? rc : finish(out, begin, CMDLINE_MAX_UNITS, error);
}

/* ---- cmd ---- */

/* Where the code begins in a word of switches, the way cmd looks for /c, /k and /r; 0: not in this
   word. */
static size_t code_in(struct str word)
{
    if (word.n < 2 || word.p[0] != '/')
        return 0;
    for (size_t i = 0; i + 1 < word.n; i++)
        if (word.p[i] == '/' && memchr("ckrCKR", word.p[i + 1], 6))
            return i + 2;
    return 0;
}

static void add_for_cmd(struct buf *out, struct str word)
{
    bool blank = str_has_char(word, ' ') || str_has_char(word, '\t');
    bool quote = word.n == 0 || (blank && !str_has_char(word, '"'));
    if (quote)
        buf_char(out, '"');
    buf_add(out, word);
    if (quote)
        buf_char(out, '"');
}

/*
 * After /c, cmd strips the first and the last quote of a text that begins with one, always with /s
 * and nearly always without. So one more pair is added, which it strips instead. With four or more
 * quotes, which the text then has, cmd makes no exception.
 */
static void add_code(struct buf *out, const char *const *argv, size_t argc)
{
    auto_buf struct buf code = {0};
    if (argc == 1)
        buf_add(&code, str_of(argv[0]));
    for (size_t i = 0; argc > 1 && i < argc; i++) {
        if (i)
            buf_char(&code, ' ');
        add_for_cmd(&code, str_of(argv[i]));
    }
    bool wrap = code.n && code.p[0] == '"';
    if (wrap)
        buf_char(out, '"');
    buf_add(out, buf_str(&code));
    if (wrap)
        buf_char(out, '"');
    out->failed = out->failed || code.failed;
}

int cmdline_join_cmd(struct buf *out, const char *const *argv, size_t argc, struct buf *error)
{
    size_t begin = out->n, i = 1;
    int rc = add_name(out, str_of(argv[0]), error);
    if (rc)
        return rc;
    for (bool code = false; i < argc && !code; i++) {
        struct str word = str_of(argv[i]);
        size_t at = code_in(word);
        buf_char(out, ' ');
        add_for_cmd(out, word);
        /* Code attached to its switch, as in /cecho, cannot be wrapped: it is passed as it is. */
        code = at == word.n && at > 0;
    }
    if (i < argc) {
        buf_char(out, ' ');
        add_code(out, argv + i, argc - i);
    }
    return finish(out, begin, CMDLINE_MAX_CMD, error);
}

/* ---- batch files ---- */

/*
 * cmd reads the line before the batch file does: %NAME% is replaced even inside quotes, a quote
 * ends the quoted part whatever precedes it, and a line break ends the command. No escape is undone
 * by every batch file and the programs it starts, so these are refused rather than escaped.
 */
static const char *unsafe_in(struct str argument)
{
    for (size_t i = 0; i < argument.n; i++) {
        unsigned char c = (unsigned char)argument.p[i];
        if (c == '"')
            return "a double quote";
        if (c == '%')
            return "a percent sign";
        if (c == '\r' || c == '\n')
            return "a line break";
        if (c < 0x20 && c != '\t')
            return "a control character";
    }
    return NULL;
}

/* Unquoted only if nothing in it is special to cmd: batch files compare %1 with plain words. */
static bool is_plain(struct str argument)
{
    for (size_t i = 0; i < argument.n; i++)
        if (!ascii_is_alnum(argument.p[i]) && !memchr("#$*+-./:?@\\_", argument.p[i], 12))
            return false;
    return argument.n > 0;
}

static void add_batch_argument(struct buf *out, struct str argument)
{
    buf_char(out, ' ');
    if (is_plain(argument)) {
        buf_add(out, argument);
        return;
    }
    size_t slashes = 0;
    while (slashes < argument.n && argument.p[argument.n - 1 - slashes] == '\\')
        slashes++;
    buf_char(out, '"');
    buf_add(out, argument);
    /* The program to which the batch file passes it would read \" as a quote. */
    buf_fill(out, '\\', slashes);
    buf_char(out, '"');
}

/* Shortened to one line that fits into a sentence. */
static void add_shown(struct buf *out, struct str argument)
{
    size_t n = argument.n < 80 ? argument.n : 80;
    while (n > 0 && n < argument.n && ((unsigned char)argument.p[n] & 0xC0) == 0x80)
        n--;
    for (size_t i = 0; i < n; i++)
        buf_char(out, (unsigned char)argument.p[i] < 0x20 ? ' ' : argument.p[i]);
    if (n < argument.n)
        buf_add(out, STR("\xE2\x80\xA6"));
}

int cmdline_join_batch(struct buf *out, struct str cmd, struct str script, const char *const *argv,
                       size_t argc, struct buf *error)
{
    size_t begin = out->n;
    const char *unsafe = unsafe_in(script);
    if (unsafe) {
        buf_fmt(error,
                "%.*s: cmd cannot be given a batch file with %s in its path safely; move or rename "
                "it",
                STR_ARG(script), unsafe);
        return CORDON_E_VALUE;
    }
    for (size_t i = 0; i < argc; i++) {
        unsafe = unsafe_in(str_of(argv[i]));
        if (!unsafe)
            continue;
        buf_fmt(error, "argument %zu, ", i + 1);
        add_shown(error, str_of(argv[i]));
        buf_fmt(error,
                ": %.*s is a batch file, and cmd cannot hand it %s safely; call the program behind "
                "it instead, or put the argument into a file",
                STR_ARG(cmdline_name(script)), unsafe);
        return CORDON_E_VALUE;
    }
    int rc = add_name(out, cmd, error);
    if (rc)
        return rc;
    /* No AutoRun, no !NAME!, default extensions, outer quotes dropped. */
    buf_fmt(out, " /e:on /v:off /d /s /c \"\"%.*s\"", STR_ARG(script));
    for (size_t i = 0; i < argc; i++)
        add_batch_argument(out, str_of(argv[i]));
    buf_char(out, '"');
    return finish(out, begin, CMDLINE_MAX_CMD, error);
}
