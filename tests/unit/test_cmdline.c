/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines for programs, for cmd and for batch files: tables, and what comes back. */
#include "launch/cmdline.h"

#include "cordon.h"
#include "guard/effects.h"
#include "tap.h"

enum { MOST = 8 };

static size_t count_of(const char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n;
}

static const struct {
    const char *path, *extension;
    enum cmdline_kind kind;
} kinds[] = {
    {"a.exe", ".exe", CMDLINE_PROGRAM},
    {"C:\\x y\\A.COM", ".COM", CMDLINE_PROGRAM},
    {"npm.cmd", ".cmd", CMDLINE_BATCH},
    {"c:a.BaT", ".BaT", CMDLINE_BATCH},
    {"a.exe.bat", ".bat", CMDLINE_BATCH},
    {"a.bat\\b", "", CMDLINE_OTHER},
    {"a.bat/b", "", CMDLINE_OTHER},
    {".bat", "", CMDLINE_OTHER},
    {"x.ps1", ".ps1", CMDLINE_SCRIPT},
    {"x.PY", ".PY", CMDLINE_SCRIPT},
    {"x.txt", ".txt", CMDLINE_OTHER},
    {"x.", ".", CMDLINE_OTHER},
    {"", "", CMDLINE_OTHER},
};

static void test_kinds(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct str path = str_of(kinds[i].path);
        ok(cmdline_kind_of(path) == kinds[i].kind &&
               str_eq(cmdline_extension(path), str_of(kinds[i].extension)),
           "kind of %s", kinds[i].path);
    }
    ok(cmdline_is_cmd(STR("CMD")) && cmdline_is_cmd(STR("C:\\Windows\\System32\\cmd.exe")),
       "cmd by name and by path");
    ok(!cmdline_is_cmd(STR("cmd.bat")) && !cmdline_is_cmd(STR("xcmd")), "nothing else is cmd");
}

static void test_pathext(void)
{
    static const struct {
        const char *list, *want;
    } rows[] = {
        {".COM;.EXE", ".COM|.EXE|"},
        {".X;.EXE", ".X|.EXE|"},
        {"", ".COM|.EXE|.BAT|.CMD|.VBS|.VBE|.JS|.JSE|.WSF|.WSH|.MSC|"},
        {" .exe ;;exe;.;.a\\b;.cmd;", ".exe|.cmd|"},
        {"..\\x", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf got = {0};
        struct str one;
        for (size_t at = 0; cmdline_next_extension(str_of(rows[i].list), &at, &one);)
            buf_fmt(&got, "%.*s|", STR_ARG(one));
        ok(str_eq(buf_str(&got), str_of(rows[i].want)), "PATHEXT %s", rows[i].list);
    }
}

static const struct {
    const char *argv[MOST], *line; /* NULL: refused */
} joined[] = {
    {{"a"}, "a"},
    {{"a", "b c", ""}, "a \"b c\" \"\""},
    {{"C:\\Program Files\\x.exe", "a\\"}, "\"C:\\Program Files\\x.exe\" a\\"},
    {{"C:\\a b\\", "c"}, "\"C:\\a b\\\" c"},
    {{"x", "a\"b", "c d\\"}, "x \"a\\\"b\" \"c d\\\\\""},
    {{"x", "%PATH%", "a&b"}, "x %PATH% a&b"},
    {{"a\"b"}, NULL},
    {{"x", "\xff"}, NULL},
};

static const struct {
    const char *argv[MOST], *line;
} for_cmd[] = {
    {{"cmd"}, "cmd"},
    {{"cmd", "/c", "echo hi > x.txt"}, "cmd /c echo hi > x.txt"},
    {{"cmd", "/c", "echo", "a b", "\"c d\""}, "cmd /c echo \"a b\" \"c d\""},
    {{"cmd", "/c", "type", ""}, "cmd /c type \"\""},
    {{"cmd", "/c", "\"C:\\a b\\x.exe\" \"c\""}, "cmd /c \"\"C:\\a b\\x.exe\" \"c\"\""},
    {{"cmd", "/d", "/s", "/c", "\"a\""}, "cmd /d /s /c \"\"a\"\""},
    {{"cmd", "/c", "C:\\a b\\x.exe", "y"}, "cmd /c \"\"C:\\a b\\x.exe\" y\""},
    {{"cmd", "/d/s/c", "\"a\" b"}, "cmd /d/s/c \"\"a\" b\""},
    {{"cmd", "x/c", "\"a\" b"}, "cmd x/c \"a\" b"},
    {{"cmd", "/cecho", "\"a b\" c"}, "cmd /cecho \"a b\" c"},
    {{"C:\\x y\\cmd.exe", "/k", "dir"}, "\"C:\\x y\\cmd.exe\" /k dir"},
};

/* cmd is C:\w\cmd.exe, the batch file C:\a b\t.bat. */
#define BATCH "C:\\w\\cmd.exe /e:on /v:off /d /s /c \"\"C:\\a b\\t.bat\""
static const struct {
    const char *argv[MOST], *line, *sentence;
} batches[] = {
    {{NULL}, BATCH "\"", NULL},
    {{"install", "--save-dev", "@a/b"}, BATCH " install --save-dev @a/b\"", NULL},
    {{"a b", "", "c&calc", "d|e"}, BATCH " \"a b\" \"\" \"c&calc\" \"d|e\"\"", NULL},
    {{"f>g", "h^i", "(j)", "k,l;m=n", "o!p!"},
     BATCH " \"f>g\" \"h^i\" \"(j)\" \"k,l;m=n\" \"o!p!\"\"",
     NULL},
    {{"C:\\x y\\"}, BATCH " \"C:\\x y\\\\\"\"", NULL},
    {{"C:\\x\\"}, BATCH " C:\\x\\\"", NULL},
    {{"\xC3\xA4"}, BATCH " \"\xC3\xA4\"\"", NULL},
    {{"\"&calc"},
     NULL,
     "argument 1, \"&calc: t.bat is a batch file, and cmd cannot hand it a "
     "double quote safely"},
    {{"ok", "%CMDCMDLINE:~-1%&calc"}, NULL, "argument 2, %CMDCMDLINE:~-1%&calc"},
    {{"a\nb"}, NULL, "a line break"},
    {{"a\rb"}, NULL, "a line break"},
    {{"a\x1a"}, NULL, "a control character"},
};

static void test_joins(void)
{
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        auto_buf struct buf out = {0}, error = {0};
        const char *const *argv = joined[i].argv;
        int rc = cmdline_join(&out, argv, count_of(argv), &error);
        if (joined[i].line)
            ok(rc == 0 && str_eq(buf_str(&out), str_of(joined[i].line)) &&
                   cmdline_reads_as(buf_str(&out), argv, count_of(argv)),
               "for a program: %s", joined[i].line);
        else
            ok(rc != 0 && error.n > 0, "refused: %s", argv[0]);
    }
    for (size_t i = 0; i < sizeof for_cmd / sizeof *for_cmd; i++) {
        auto_buf struct buf out = {0}, error = {0};
        const char *const *argv = for_cmd[i].argv;
        int rc = cmdline_join_cmd(&out, argv, count_of(argv), &error);
        if (!ok(rc == 0 && str_eq(buf_str(&out), str_of(for_cmd[i].line)), "for cmd: %s",
                for_cmd[i].line))
            note("%s", buf_cstr(&out));
    }
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        auto_buf struct buf out = {0}, error = {0};
        const char *const *argv = batches[i].argv;
        int rc = cmdline_join_batch(&out, STR("C:\\w\\cmd.exe"), STR("C:\\a b\\t.bat"), argv,
                                    count_of(argv), &error);
        bool passed = batches[i].line
                          ? rc == 0 && str_eq(buf_str(&out), str_of(batches[i].line))
                          : rc == CORDON_E_VALUE &&
                                str_find(buf_str(&error), str_of(batches[i].sentence), 0) < error.n;
        if (!ok(passed, "for a batch file, row %zu", i))
            note("%s / %s", buf_cstr(&out), buf_cstr(&error));
    }
    auto_buf struct buf out = {0}, error = {0};
    ok(cmdline_join_batch(&out, STR("cmd.exe"), STR("C:\\100%\\t.bat"), NULL, 0, &error) ==
               CORDON_E_VALUE &&
           str_find(buf_str(&error), STR("percent sign"), 0) < error.n,
       "a batch file below a folder with a percent sign is refused");
    const char *quoted[] = {"c\"md", "/c", "x"};
    ok(cmdline_join_cmd(&out, quoted, 3, &error) == CORDON_E_VALUE &&
           cmdline_join_batch(&out, STR("c\"md"), STR("t.bat"), NULL, 0, &error) == CORDON_E_VALUE,
       "no cmd has a quote in its name");
}

static void test_lengths(void)
{
    static char word[9000];
    memset(word, 'a', sizeof word - 1);
    const char *argv[] = {"cmd", "/c", word, word, word, word, NULL};
    auto_buf struct buf out = {0}, error = {0};
    ok(cmdline_join(&out, argv, 4, &error) == 0, "18,000 characters for a program");
    ok(cmdline_join(&out, argv, 6, &error) == CORDON_E_TOOBIG &&
           str_find(buf_str(&error), STR("Windows takes at most"), 0) < error.n,
       "36,000 are too many");
    buf_reset(&error);
    ok(cmdline_join_cmd(&out, argv, 3, &error) == CORDON_E_TOOBIG &&
           str_find(buf_str(&error), STR("cmd takes at most"), 0) < error.n,
       "9,000 for cmd, too");
    word[8000] = '\0';
    buf_reset(&out);
    ok(cmdline_join_cmd(&out, argv, 3, &error) == 0, "8,000 are not");
    memset(word, 'a', sizeof word - 1);
    word[CMDLINE_MAX_CMD - (sizeof "cmd /c " - 1)] = '\0';
    buf_reset(&out);
    ok(cmdline_join_cmd(&out, argv, 3, &error) == 0 && out.n == CMDLINE_MAX_CMD,
       "nor are exactly as many as cmd takes");
    /* A sentence shows 80 bytes of an argument, cut between characters. */
    memset(word, 'a', 79);
    memcpy(word + 79, "\xC3\xA4%", 4);
    buf_reset(&error);
    cmdline_join_batch(&out, STR("c"), STR("t.bat"), argv + 2, 1, &error);
    word[79] = '\0';
    auto_buf struct buf want = {0};
    buf_fmt(&want, "argument 1, %s\xE2\x80\xA6: t.bat is", word);
    ok(str_starts(buf_str(&error), buf_str(&want)), "%s", buf_cstr(&error));
}

static void test_tails(void)
{
    const char *argv[] = {"C:\\a b\\x.exe", "y z", "w", NULL};
    ok(cmdline_reads_as(STR("\"C:\\a b\\x.exe\" \"y z\" w"), argv, 3),
       "the tail is what was parsed");
    ok(!cmdline_reads_as(STR("\"C:\\a b\\x.exe\" \"y z\""), argv, 3), "a word is missing");
    ok(!cmdline_reads_as(STR("\"C:\\a b\\x.exe\" \"y z\" v"), argv, 3), "a word differs");
    ok(!cmdline_reads_as(STR("\"C:\\a b\\x.exe\" \"y z\" w v"), argv, 3), "a word too many");
    /* As an argument \" is a quote, in a program's name it ends the name. */
    const char *odd[] = {"C:\\a\" x", NULL};
    ok(!cmdline_reads_as(STR("\"C:\\a\\\" x\""), odd, 1), "the name has rules of its own");
}

static void test_advice(void)
{
    auto_buf struct buf text = {0};
    cmdline_advise(&text, STR("C:\\a b\\x.exe"));
    ok(text.n == 0, "a program needs no advice");
    cmdline_advise(&text, STR("C:\\a b\\x.ps1"));
    ok(str_find(buf_str(&text), STR("type: powershell -File \"C:\\a b\\x.ps1\""), 0) < text.n, "%s",
       buf_cstr(&text));
}

/* The words that cmd sees in the line of a batch file: quotes toggle, everything else in them is
   literal; outside them nothing may mean anything. */
static bool is_inert(struct str line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"')
            quoted = !quoted;
        else if (line.p[i] == '%' || line.p[i] == '\n' || line.p[i] == '\r')
            return false;
        else if (!quoted && memchr("&|<>^()!,;=", line.p[i], 11))
            return false;
    }
    return !quoted;
}

/* The same sequence everywhere. */
static size_t draw(size_t below)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

/* Random arguments from the characters that matter. */
static void test_random(void)
{
    static const char alphabet[] = " \t\"\\\\%&|<>^()!,;=a-/.\n";
    unsigned bad_join = 0, bad_batch = 0, passed = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char words[4][8];
        const char *argv[6] = {"x"};
        for (size_t i = 0; i < 4; i++) {
            size_t n = draw(7);
            for (size_t k = 0; k < n; k++)
                words[i][k] = alphabet[draw(sizeof alphabet - 1)];
            words[i][n] = '\0';
            argv[i + 1] = words[i];
        }
        auto_buf struct buf out = {0}, batch = {0}, error = {0};
        if (cmdline_join(&out, argv, 5, &error) || !cmdline_reads_as(buf_str(&out), argv, 5))
            bad_join++;
        size_t prefix = sizeof "c.exe /e:on /v:off /d /s /c \"" - 1;
        if (cmdline_join_batch(&batch, STR("c.exe"), STR("C:\\t.bat"), argv + 1, 4, &error))
            continue;
        passed++;
        struct str inner = str_slice(buf_str(&batch), prefix, batch.n - 1);
        argv[0] = "C:\\t.bat";
        if (!is_inert(inner) || !cmdline_reads_as(inner, argv, 5))
            bad_batch++;
    }
    ok(bad_join == 0, "20,000 random command lines come back as they were");
    ok(bad_batch == 0 && passed > 100, "what a batch file gets is inert in cmd and comes back (%u)",
       passed);
}

int main(void)
{
    test_kinds();
    test_pathext();
    test_joins();
    test_lengths();
    test_tails();
    test_advice();
    test_random();
    return tap_done();
}
