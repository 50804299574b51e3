/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run on Windows, end to end, under Wine or on Windows itself. Every attempt is a command
 * line that runs in a fresh workspace; what it should have done is looked up on the disk. A denied
 * attempt must have its effect without the sandbox (the control) and none with it; an allowed one
 * must have it with the sandbox.
 */
#include "harness.h"

#include "launch/windows/wine.h"

struct attempt {
    const char *what, *line, *effect;
    const char *options; /* NULL: none */
};

static const struct attempt denied[] = {
    /* 3, 33, 39: outside, by every way to spell it */
    {"3 write outside", "cmd /c echo x> ..\\out\\new", "+out\\new", NULL},
    {"3 write outside by its path", "%P% write %T%\\out\\new", "+out\\new", NULL},
    {"33 write outside by \\\\?\\", "%P% write \\\\?\\%T%\\out\\new", "+out\\new", NULL},
    {"3 write outside by dots", "%P% write sub\\..\\..\\out\\new", "+out\\new", NULL},
    {"3 create outside", "%P% create ..\\out\\new", "+out\\new", NULL},
    {"3 overwrite outside", "%P% overwrite ..\\out\\file", "=out\\file|x", NULL},
    {"3 truncate outside", "%P% truncate ..\\out\\file", "=out\\file|x", NULL},
    {"3 append outside", "%P% append ..\\out\\file", "=out\\file|x", NULL},
    {"3 everything outside", "%P% open-all ..\\out\\file", "=out\\file|x", NULL},
    {"3 relative to a folder outside", "%P% relative ..\\out new", "+out\\new", NULL},
    {"3 make a folder outside", "%P% mkdir ..\\out\\d", "+out\\d", NULL},
    {"3 remove a folder outside", "%P% rmdir ..\\out\\empty", "-out\\empty", NULL},
    {"3 delete outside", "%P% delete ..\\out\\file", "-out\\file", NULL},
    {"3 delete outside by name", "%P% nt-delete ..\\out\\file", "-out\\file", NULL},
    {"3 delete outside on close", "%P% delete-on-close ..\\out\\file", "-out\\file", NULL},
    {"3 del", "cmd /c del ..\\out\\file", "-out\\file", NULL},
    {"3 copy outside", "%P% copy file ..\\out\\new", "+out\\new", NULL},
    {"3 from another current directory", "cmd /c \"cd ..\\out && echo x> new\"", "+out\\new", NULL},
    /* 1, 5, 7, 9, 24, 27: read-only */
    {"1 read-only: write", "%P% write new", "+ws\\new", "--mode read-only"},
    {"5 read-only: another root", "%P% write ..\\out\\new", "+out\\new",
     "--mode read-only --root . --root ..\\out"},
    {"9 read-only: append", "%P% append file", "=ws\\file|x", "--mode read-only"},
    {"24 read-only: overwrite", "%P% overwrite file", "=ws\\file|x", "--mode read-only"},
    {"27 read-only: redirection", "cmd /c echo x> new", "+ws\\new", "--mode read-only"},
    {"27 read-only: delete", "%P% delete file", "-ws\\file", "--mode read-only"},
    {"5 another root only", "%P% write new", "+ws\\new", "--root sub"},
    {"3 denied by an option", "%P% write sub\\new", "+ws\\sub\\new", "--deny-write sub"},
    /* 32: streams */
    {"32 a stream", "%P% write file:s", "+ws\\file:s", NULL},
    {"32 a stream of a new file", "%P% write new:s", "+ws\\new:s", NULL},
    {"32 a stream with its type", "%P% write file:s:$DATA", "+ws\\file:s:$DATA", NULL},
    {"32 a stream by redirection", "cmd /c echo x> file:s", "+ws\\file:s", NULL},
    /* 34, 35, 45: protected names */
    {"34 .GiT made", "%P% mkdir .GiT", "+ws\\.GiT", NULL},
    {"45 .git made", "%P% mkdir .git", "+ws\\.git", NULL},
    {"34 .git as a file", "%P% write .git", "+ws\\.git", NULL},
    {"34 a nested hook", "%P% write repo\\.git\\hooks\\pre-commit",
     "+ws\\repo\\.git\\hooks\\pre-commit", NULL},
    {"34 a worktree led elsewhere", "%P% overwrite linked\\.git", "=ws\\linked\\.git|x", NULL},
    {"34 a worktree's file deleted", "%P% delete linked\\.git", "-ws\\linked\\.git", NULL},
    {"34 a nested config", "%P% overwrite repo\\.GIT\\CONFIG", "=ws\\repo\\.git\\config|x", NULL},
    {"34 a nested repository renamed", "%P% rename repo\\.git repo\\g", "+ws\\repo\\g", NULL},
    {"35 .claude made", "%P% mkdir .claude", "+ws\\.claude", NULL},
    {"35 .Cursor below", "%P% mkdir sub\\.Cursor", "+ws\\sub\\.Cursor", NULL},
    {"35 .mcp.json", "%P% write .mcp.json", "+ws\\.mcp.json", NULL},
    {"47 rename to a protected name", "%P% rename sub .vscode", "+ws\\.vscode", NULL},
    {"47 rename a granted handle to a protected name", "%P% rename-granted file .mcp.json",
     "+ws\\.mcp.json", NULL},
    /* 46, 47: links and renames */
    {"46 write through a hard link", "%P% overwrite hard", "=out\\file|x", NULL},
    {"46 append through a hard link", "%P% append hard", "=out\\file|x", NULL},
    {"46 link in and write", "cmd /c \"%P% link mine ..\\out\\secret & %P% overwrite mine\"",
     "=out\\secret|x", NULL},
    {"46 link out", "%P% link ..\\out\\new file", "+out\\new", NULL},
    {"47 rename out", "%P% rename file ..\\out\\new", "+out\\new", NULL},
    {"47 rename in", "%P% rename ..\\out\\file in", "+ws\\in", NULL},
    {"47 rename outside", "%P% rename ..\\out\\file ..\\out\\new", "+out\\new", NULL},
    {"47 replace outside", "%P% replace file ..\\out\\file", "-ws\\file", NULL},
    {"47 rename by a read handle", "%P% rename-read-only ..\\out\\file ..\\out\\new", "+out\\new",
     NULL},
    {"47 rename relative to a folder", "%P% rename-relative file ..\\out new", "+out\\new", NULL},
    {"47 move", "cmd /c move file ..\\out\\new", "+out\\new", NULL},
    /* 48: attributes, times */
    {"48 attributes outside", "%P% read-only ..\\out\\file", "!out\\file", NULL},
    {"48 attributes by a handle for nothing", "%P% basic ..\\out\\file", "!out\\file", NULL},
    {"48 attrib", "cmd /c attrib +r ..\\out\\file", "!out\\file", NULL},
    {"48 times outside", "%P% times ..\\out\\file", "<out\\file", NULL},
    {"48 attributes through a hard link", "%P% read-only hard", "!out\\file", NULL},
    /* 49, 50: children */
    {"49 a child of a child of a child", "cmd /c cmd /c cmd /c %P% write ..\\out\\new", "+out\\new",
     NULL},
    {"50 a suspended child", "%P% child-suspended \"%P% write ..\\out\\new\"", "+out\\new", NULL},
    {"50 a detached child", "%P% child-detached \"%P% write ..\\out\\new\"", "+out\\new", NULL},
    {"50 a child with its own console", "%P% child-console \"%P% write ..\\out\\new\"", "+out\\new",
     NULL},
    {"50 a child that asks to break away", "%P% child-breakaway \"%P% write ..\\out\\new\"",
     "+out\\new", NULL},
    {"50 a child as a user", "%P% child-as-user \"%P% write ..\\out\\new\"", "+out\\new", NULL},
    {"44 a program by the shell", "%P% shell %P% \"write ..\\out\\new\"", "+out\\new", NULL},
    {"44 start", "cmd /c start /wait /b %P% write ..\\out\\new", "+out\\new", NULL},
    /* tools */
    {"37 a denied tool", "cmd /c %P% write new", "+ws\\new", "--deny-tool probe-run"},
    {"37 a denied tool by a copy", "cmd /c copy %P% p2.exe >nul & p2.exe write new", "+ws\\new",
     "--deny-tool probe-run --deny-tool p2"},
    /* 6, 7 */
    {"7 read-only: temp",
     "cmd /c \"echo x> %TEMP%\\cordon-t & move %TEMP%\\cordon-t ..\\out\\new\"", "+out\\new",
     "--mode read-only"},
};

static const struct attempt allowed[] = {
    {"2 write", "cmd /c echo x> new", "=ws\\new|x", NULL},
    {"2 write by its path", "%P% write %T%\\ws\\new", "=ws\\new|x", NULL},
    {"2 write by \\\\?\\", "%P% write \\\\?\\%T%\\ws\\new", "=ws\\new|x", NULL},
    {"2 overwrite", "%P% overwrite file", "=ws\\file|x", NULL},
    {"2 truncate", "%P% truncate file", "=ws\\file|x", NULL},
    {"2 relative to a folder", "%P% relative sub new", "+ws\\sub\\new", NULL},
    {"2 everything", "%P% open-all file", "=ws\\file|x", NULL},
    {"2 what is allowed", "%P% maximum file", "=ws\\file|x", NULL},
    {"4 another root", "%P% write ..\\out\\new", "=out\\new|x", "--root . --root ..\\out"},
    {"8 append", "%P% append file", "=ws\\file|oldx", NULL},
    {"12 mkdir and write", "cmd /c \"mkdir a\\b && echo x> a\\b\\c\"", "=ws\\a\\b\\c|x", NULL},
    {"13 rename", "%P% rename file g", "+ws\\g", NULL},
    {"13 rename a folder", "%P% rename sub s2", "+ws\\s2", NULL},
    {"13 rename relative to a folder", "%P% rename-relative file sub g", "+ws\\sub\\g", NULL},
    {"14 delete", "%P% delete file", "-ws\\file", NULL},
    {"14 delete by name", "%P% nt-delete file", "-ws\\file", NULL},
    {"14 delete on close", "%P% delete-on-close file", "-ws\\file", NULL},
    {"14 remove a folder", "%P% rmdir sub", "-ws\\sub", NULL},
    {"25 deep", "cmd /c mkdir 1\\2\\3\\4\\5\\6\\7\\8", "+ws\\1\\2\\3\\4\\5\\6\\7\\8", NULL},
    {"26 move", "cmd /c move file sub\\file", "+ws\\sub\\file", NULL},
    {"26 replace", "cmd /c \"echo x> n && %P% replace n file\"", "=ws\\file|x", NULL},
    {"copy", "%P% copy file new", "=ws\\new|old", NULL},
    {"attributes", "%P% read-only file", "!ws\\file", NULL},
    {"an access list", "cmd /c \"%P% security file && echo x> new\"", "+ws\\new", NULL},
    {"times", "%P% times file", "<ws\\file", NULL},
    {"a hard link and a write through it", "cmd /c \"%P% link l file && %P% overwrite l\"",
     "=ws\\file|x", NULL},
    {"linked, unlinked, linked and written",
     "cmd /c \"%P% link l file && %P% delete l && %P% link m file && %P% overwrite m\"",
     "=ws\\file|x", NULL},
    {"a file read outside", "cmd /c copy ..\\out\\secret new", "=ws\\new|secret", NULL},
    {"a program by the shell", "%P% shell %P% \"write new\"", "+ws\\new", NULL},
    {"a suspended child", "%P% child-suspended \"%P% write new\"", "+ws\\new", NULL},
    {"a detached child", "%P% child-detached \"%P% write new\"", "+ws\\new", NULL},
    {"a child with its own console", "%P% child-console \"%P% write new\"", "+ws\\new", NULL},
    {"a new process group", "%P% child-group \"%P% write new\"", "+ws\\new", NULL},
    {"a child of a child of a child", "cmd /c cmd /c cmd /c %P% write new", "+ws\\new", NULL},
    {"an unprotected name", "%P% mkdir .vscode", "+ws\\.vscode", "--unprotect .vscode"},
    {"6 temp", "cmd /c \"echo x> %TEMP%\\t && copy %TEMP%\\t new\"", "=ws\\new|x", NULL},
    {"a nested commit", "cmd /c \"mkdir repo\\.git\\objects && echo x> repo\\.git\\index.lock\"",
     "+ws\\repo\\.git\\index.lock", NULL},
    {"a repository made by the run",
     "cmd /c \"mkdir sub\\.git && echo x> sub\\.git\\config && mkdir sub\\.git\\hooks && echo x> "
     "sub\\.git\\hooks\\h\"",
     "+ws\\sub\\.git\\hooks\\h", NULL},
    {"a worktree made by the run", "cmd /c \"echo x> sub\\.git&& echo y> sub\\.git\"",
     "=ws\\sub\\.git|y", NULL},
};

static void test_attempts(void)
{
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        auto_buf struct buf out = {0}, control = {0};
        const struct attempt *a = &denied[i];
        fresh();
        bool before = holds(a->effect);
        int code = confined(a->options, a->line, &out);
        bool stopped = !holds(a->effect) && !before;
        bool said = has(&out, "sandbox denied");
        fresh();
        int free_code = run(a->line, &control);
        bool happens = holds(a->effect);
        /* Where handles are checked nobody can do this one, with or without a sandbox. */
        if (!happens && stopped && strstr(a->line, "rename-read-only")) {
            skip(a->what, "a read handle renames nothing here, for anybody");
            continue;
        }
        if (!ok(stopped && said && happens, "denied: %s", a->what)) {
            note("stopped %d, said %d, happens without the sandbox %d; codes %d and %d", stopped,
                 said, happens, code, free_code);
            note_output(&out);
            note_output(&control);
        }
    }
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        auto_buf struct buf out = {0};
        const struct attempt *a = &allowed[i];
        fresh();
        bool before = holds(a->effect);
        int code = confined(a->options, a->line, &out);
        if (!ok(holds(a->effect) && !before && !has(&out, "sandbox denied"), "allowed: %s",
                a->what)) {
            note("code %d", code);
            note_output(&out);
        }
    }
}

/* ---- the same as without the sandbox ---- */

/* Rows where Wine itself is laxer than Windows: FILE_SUPERSEDE keeps the content, folders take
   overwriting dispositions, read-only files are overwritten and deleted. */
static bool is_lax_row(struct str row)
{
    bool supersedes = str_find(row, STR("disposition 0 "), 0) < row.n;
    bool overwrites = supersedes || str_find(row, STR("disposition 4 "), 0) < row.n ||
                      str_find(row, STR("disposition 5 "), 0) < row.n;
    bool folder = str_find(row, STR("options 21:"), 0) < row.n;
    bool on_close = str_find(row, STR("options 1020:"), 0) < row.n;
    return supersedes || (folder && overwrites) || on_close ||
           (str_starts(row, STR("locked ")) && overwrites);
}

static void test_statuses(void)
{
    auto_buf struct buf with = {0}, without = {0};
    size_t rows = 0, different = 0;
    fresh();
    CreateDirectoryA(path_of("ws\\table"), NULL);
    run("%P% table table", &without);
    fresh();
    CreateDirectoryA(path_of("ws\\table"), NULL);
    confined("--quiet", "%P% table table", &with);
    struct str a = buf_str(&with), b = buf_str(&without);
    while (a.n && b.n) {
        struct str x = str_slice(a, 0, str_find_char(a, '\n', 0));
        struct str y = str_slice(b, 0, str_find_char(b, '\n', 0));
        a = str_from(a, x.n + 1);
        b = str_from(b, y.n + 1);
        if (is_lax_row(y))
            continue;
        rows++;
        if (!str_eq(x, y) && different++ < 5)
            note("%.*s\n# instead of %.*s", STR_ARG(x), STR_ARG(y));
    }
    ok(rows > 700 && different == 0 && a.n == b.n, "%u opens give the same status as without",
       (unsigned)rows);
}

/* An access list that a new file is made with is the one it gets. */
static void test_listed(void)
{
    auto_buf struct buf plain = {0}, without = {0}, with = {0};
    fresh();
    run("%P% listed plain", &plain);
    run("%P% listed one yes", &without);
    confined("--quiet", "%P% listed two yes", &with);
    ok(!str_eq(buf_str(&plain), buf_str(&without)), "control: the list makes a difference");
    ok(with.n > 0 && str_eq(buf_str(&with), buf_str(&without)),
       "a new file has the access list that it was made with");
    if (!str_eq(buf_str(&with), buf_str(&without)))
        note("%s instead of %s", buf_cstr(&with), buf_cstr(&without));
}

static void test_handles(void)
{
    auto_buf struct buf with = {0}, without = {0};
    fresh();
    run("%P% handles sub", &without);
    fresh();
    confined("--quiet", "%P% handles sub", &with);
    ok(with.n > 100 && str_eq(buf_str(&with), buf_str(&without)),
       "overlapped, share modes, locks, mappings, notifications, inheritance, delete on close");
    if (!str_eq(buf_str(&with), buf_str(&without)))
        note("%s\n# instead of\n# %s", buf_cstr(&with), buf_cstr(&without));
    buf_reset(&with);
    fresh();
    ok(confined(NULL, "%P% threads sub 8 200", &with) == 0 && has(&with, "wrong 0"),
       "8 threads, 200 files each, made, read back, renamed and deleted");
    buf_reset(&with);
    ok(confined(NULL, "%P% many-children \"%P% exit 0 --\" 50", &with) == 0, "50 children at once");
}

/* ---- how a run ends ---- */

static void test_ends(void)
{
    auto_buf struct buf out = {0};
    fresh();
    ok(confined(NULL, "%P% exit 77", &out) == 77, "the exit code is the command's");
    ok(confined(NULL, "nothing-of-that-name", &out) == 127, "127: no such program");
    ok(confined("--root nowhere", "cmd /c exit 0", &out) == 125, "125: a root that does not exist");
    buf_reset(&out);
    ok(confined(NULL, "cmd /c start https://example.com", &out) == 126 && has(&out, "launch.url"),
       "126: a URL for the shell");
    buf_reset(&out);
    ok(confined("--deny-tool probe-run", "%P% write new", &out) == 126 &&
           has(&out, "tool.denied") && holds("-ws\\new"),
       "37 126: a denied tool as the command itself");
    buf_reset(&out);
    ok(confined(NULL, "cmd /c ssh host", &out) == 126 && has(&out, "tool.ssh"),
       "37 a stub says why ssh does not run");
    /* regedit carries its name in its version resource, under Wine as on Windows. */
    if (run("cmd /c copy %SystemRoot%\\regedit.exe mine.exe", NULL) == 0) {
        buf_reset(&out);
        ok(confined("--deny-tool regedit", "cmd /c mine.exe /?", &out) != 0 &&
               has(&out, "tool.denied"),
           "37 a denied tool by a renamed copy");
    }
    buf_reset(&out);
    confined(NULL, "cmd /v:on /c \"set a=start&& set b=https://example.com&& !a! !b!\"", &out);
    ok(has(&out, "launch."), "44 a URL that only a child puts together");
    buf_reset(&out);
    confined(NULL, "%P% shell https://example.com", &out);
    ok(has(&out, "sandbox denied: start") && has(&out, "browser"), "44 ShellExecute of a URL");
    uint64_t begin = GetTickCount64();
    fresh();
    int code = confined("--timeout 1", "%P% child \"%P% child \\\"%P% sleep 60000\\\"\"", &out);
    ok(code == 124 && GetTickCount64() - begin < 20000, "43 --timeout ends the tree: 124");
    buf_reset(&out);
    code = confined("--json", "%P% exit 3", &out);
    ok(code == 3 && has(&out, "\"reason\":\"exited\"") && has(&out, "\"exit\":3"), "--json");
    fresh();
    buf_reset(&out);
    confined("--json", "cmd /c mkdir made\\.git", &out);
    ok(has(&out, "\\\\made\\\\.git\"]"), "a repository that the run made is in it");
    buf_reset(&out);
    confined(NULL, "cmd /c \"mkdir gone\\.git && rmdir gone\\.git\"", &out);
    ok(has(&out, "made 1 git repository, deleted or moved since"),
       "one that is not there any more is counted");
    buf_reset(&out);
    confined(NULL, "cmd /c mkdir more\\.git", &out);
    ok(has(&out, "the run made a git repository: ") && has(&out, "\\more\\.git (rule git.new)"),
       "and in the summary for people");
    buf_reset(&out);
    confined("--require-kernel", "cmd /c echo ran> new", &out);
    ok(holds("-ws\\new") == has(&out, "--require-kernel"), "--require-kernel runs or says why not");
    fresh();
    ok(confined("--mode read-only",
                "cmd /c \"echo x> %TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.ps1 && type "
                "%TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.ps1 && del "
                "%TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.ps1 && if not exist "
                "%TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.ps1 exit 5\"",
                NULL) == 5,
       "PowerShell's test of the language mode works in read-only runs");
    ok(confined("--mode read-only",
                "cmd /c \"echo x> %TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.cmd & if exist "
                "%TEMP%\\__PSScriptPolicyTest_abcd1234.xyz.cmd exit 5\"",
                NULL) != 5,
       "and no other file of that kind");
    fresh();
    confined("--audit ..\\out\\audit.jsonl", "%P% write ..\\out\\new", NULL);
    ok(holds("=out\\audit.jsonl|\"type\":\"start\"") && holds("-out\\new"), "an audit file");
    fresh();
    confined("--audit ..\\out\\all --audit-all", "%P% write new", NULL);
    auto_buf struct buf granted = {0};
    run("cmd /c type ..\\out\\all", &granted);
    ok(has(&granted, "\"type\":\"allow\"") && has(&granted, "ws\\\\new"),
       "--audit-all writes grants");
    fresh();
    confined("--audit audit.jsonl", "%P% overwrite audit.jsonl", NULL);
    ok(!holds("=ws\\audit.jsonl|x\n") && holds("=ws\\audit.jsonl|\"type\":\"start\""),
       "36 the audit file inside the root is not the command's");
}

/* Codes of programs that die before they can say why, and no box that waits for somebody to close it. */
static void test_start_failures(void)
{
    static const struct {
        uint32_t code;
        const char *words; /* NULL: any program may end so */
    } codes[] = {{0xC0000142, "STATUS_DLL_INIT_FAILED"},
                 {0xC0000022, "STATUS_ACCESS_DENIED"},
                 {0xC0000135, "STATUS_DLL_NOT_FOUND"},
                 {0xC000007B, "STATUS_INVALID_IMAGE_FORMAT"},
                 {0xE0434352, "an unhandled .NET exception"},
                 {0xC0000005, NULL},
                 {1, NULL}};
    auto_buf struct buf mode = {0};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        auto_buf struct buf out = {0};
        char line[40];
        snprintf(line, sizeof line, "%%P%% exit 0x%08lX", (unsigned long)codes[i].code);
        uint32_t code = (uint32_t)confined(NULL, line, &out);
        const char *words = codes[i].words;
        bool said = words ? has(&out, words) : !has(&out, "STATUS_") && !has(&out, ".NET");
        if (!ok(code == codes[i].code && said, "a program that ends with 0x%08lX: %s",
                (unsigned long)codes[i].code, words ? words : "no more words"))
            note_output(&out);
    }
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    run("%P% error-mode", &mode);
    SetErrorMode(0);
    if (!has(&mode, "boxes 0")) {
        skip("no box is shown for a program of the tree", "programs inherit no error mode here");
        return;
    }
    buf_reset(&mode);
    confined("--quiet", "%P% child \"%P% error-mode\"", &mode);
    if (!ok(has(&mode, "boxes 0"), "no box is shown for a program of the tree that cannot start"))
        note_output(&mode);
    buf_reset(&mode);
    run("%P% error-mode", &mode);
    ok(has(&mode, "boxes 1"), "control: outside there would be one");
}

/* A program that can change the policy file chooses the next run's policy. */
static void test_policy_file(void)
{
    static const struct {
        const char *what, *line, *effect;
    } ways[] = {
        {"overwritten", "%P% overwrite policy.json", "=ws\\policy.json|x"},
        {"deleted", "%P% delete policy.json", "-ws\\policy.json"},
        {"renamed", "%P% rename policy.json other.json", "-ws\\policy.json"},
        {"replaced", "cmd /c \"%P% write other.json & %P% replace other.json policy.json\"",
         "=ws\\policy.json|x"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_buf struct buf out = {0};
        fresh();
        put("ws\\policy.json", "{\"roots\": [\".\"]}");
        run(ways[i].line, NULL);
        bool control = holds(ways[i].effect);
        fresh();
        put("ws\\policy.json", "{\"roots\": [\".\"]}");
        confined("--policy policy.json", ways[i].line, &out);
        if (!ok(control && !holds(ways[i].effect) && has(&out, "protected.self") &&
                    holds("=ws\\policy.json|roots"),
                "36 the policy file of the run: %s", ways[i].what))
            note_output(&out);
    }
    fresh();
    put("ws\\policy.json", "{\"roots\": [\".\"]}");
    ok(confined("--policy policy.json", "%P% write other.json", NULL) == 0 &&
           holds("+ws\\other.json"),
       "control: another file beside it");
}

static void put_repository(const char *config)
{
    fresh();
    CreateDirectoryA(path_of("ws\\repo\\named"), NULL);
    CreateDirectoryA(path_of("ws\\repo\\other"), NULL);
    put("ws\\repo\\.git\\HEAD", "ref: refs/heads/main\n");
    put("ws\\repo\\.git\\config", config);
}

/* Programs that a repository's config names are looked up when something is changed first. */
static void test_obeyed(void)
{
    enum { INCLUDED = 300 };
    static const char config[] = "[core]\n\thooksPath = named\n";
    static const struct {
        const char *what, *line, *effect;
    } ways[] = {
        {"as the first change", "%P% write repo\\named\\h", "+ws\\repo\\named\\h"},
        {"after another change", "cmd /c \"echo x> new& %P% write repo\\named\\h\"",
         "+ws\\repo\\named\\h"},
        {"by a child of a child", "cmd /c cmd /c %P% write repo\\named\\h", "+ws\\repo\\named\\h"},
        {"its folder renamed first", "%P% rename repo\\named repo\\away", "+ws\\repo\\away"},
        {"in another place's name", "%P% rename repo\\other repo\\named\\h", "+ws\\repo\\named\\h"},
    };
    auto_buf struct buf many = {0}, out = {0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_buf struct buf said = {0};
        put_repository(config);
        run(ways[i].line, NULL);
        bool control = holds(ways[i].effect);
        put_repository(config);
        confined(NULL, ways[i].line, &said);
        if (!ok(control && !holds(ways[i].effect) && has(&said, "protected.git"),
                "34 a hook of a folder that the config names: %s", ways[i].what))
            note_output(&said);
    }
    put_repository(config);
    ok(confined(NULL, "%P% write repo\\other\\h", NULL) == 0 && holds("+ws\\repo\\other\\h"),
       "control: a folder beside it");
    for (int i = 0; i < INCLUDED; i++)
        buf_fmt(&many, "[include]\n\tpath = ../more%d\n", i);
    put_repository(buf_cstr(&many));
    ok(confined(NULL, "cmd /c exit 3", NULL) == 3,
       "with a config that includes too many files, a command that changes nothing runs");
    ok(confined(NULL, "cmd /c \"echo x> new& %P% sleep 60000\"", &out) == 125 &&
           holds("-ws\\new") && has(&out, "cannot protect every file that git obeys"),
       "one that changes something cannot, and is ended: 125");
    note_output(&out);
    ok(confined("--verbose", "cmd /c exit 3", NULL) == 125,
       "--verbose, which tells all of the policy, refuses to start it");
}

/* Wine's own ways: ping by its driver, and the Unix file system as a drive. */
static void test_wine(void)
{
    auto_buf struct buf out = {0}, plain = {0}, loopback = {0}, drive = {0}, here = {0};
    confined(NULL, "ping -n 1 127.0.0.1", &out);
    run("ping -n 1 127.0.0.1", &plain);
    confined("--net=loopback", "ping -n 1 127.0.0.1", &loopback);
    ok(has(&out, "net.off") && !has(&out, "Reply from"), "52 ping");
    ok(has(&plain, "Reply from") && has(&loopback, "Reply from"),
       "52 control: it gets an answer without the sandbox, and with --net=loopback");
    ok(run("%C% run --cwd Z:\\tmp -- cmd /c exit 0", &drive) == 125 &&
           has(&drive, "a folder on C:"),
       "a folder on Z: is refused before anything starts");
    ok(run("%C% run --root . --root Z:\\tmp -- cmd /c exit 0", &drive) == 125,
       "a root on Z: is refused, too");
    ok(run("%C% run -- cmd /c exit 0", &here) == 0, "control: a folder on C: is not");
}

/* ---- other doors ---- */

static void test_doors(void)
{
    auto_buf struct buf out = {0};
    fresh();
    ok(confined(NULL, "%P% device \\\\.\\PhysicalDrive0", &out) != 0 && has(&out, "path.device"),
       "30 \\\\.\\PhysicalDrive0");
    buf_reset(&out);
    ok(confined(NULL, "%P% device \\\\.\\C:", &out) != 0 && has(&out, "sandbox denied"),
       "30 \\\\.\\C:");
    ok(confined(NULL, "%P% device NUL", &out) == 0, "NUL can be opened for writing");
    ok(confined(NULL, "%P% pipe-inside \\\\.\\pipe\\cordon-inside", &out) == 0,
       "31 a pipe inside the tree");
    buf_reset(&out);
    auto_buf struct buf control = {0};
    ok(confined(NULL, "%P% object cordon-event", &out) == 0 && has(&out, "entries 1") &&
           run("%P% object cordon-event", &control) == 0 && has(&control, "entries 0"),
       "66 an access list that a program gives its own event gets an entry for the run");
    ok(confined(NULL, "%P% directory make \\BaseNamedObjects\\msys-2.0S5-run", NULL) == 0,
       "66 msys2's object directory is made and found again inside");
    buf_reset(&out);
    HANDLE pipe = CreateNamedPipeA("\\\\.\\pipe\\cordon-outside", PIPE_ACCESS_DUPLEX,
                                   PIPE_TYPE_BYTE, 4, 4096, 4096, 0, NULL);
    ok(confined(NULL, "%P% pipe-client \\\\.\\pipe\\cordon-outside", &out) != 0 &&
           has(&out, "pipe.outside"),
       "31 a pipe of a process outside");
    ok(run("%P% pipe-client \\\\.\\pipe\\cordon-outside", NULL) == 0,
       "31 control: it can be opened");
    CloseHandle(pipe);
    buf_reset(&out);
    ok(confined(NULL, "%P% registry Software\\CordonTest v", &out) != 0 &&
           run("%P% registry-read Software\\CordonTest v", NULL) != 0 &&
           has(&out, "registry.write"),
       "51 a new key");
    ok(run("%P% registry Software\\CordonTest v", NULL) == 0, "51 control: it can be made");
    ok(confined(NULL, "%P% registry-read Software\\CordonTest v", &out) == 0,
       "an existing key opened with every right can be read");
    ok(confined(NULL, "%P% registry-delete Software\\CordonTest", &out) != 0 &&
           run("%P% registry-read Software\\CordonTest v", NULL) == 0,
       "51 a key is not deleted");
    run("%P% registry-delete Software\\CordonTest", NULL);
    buf_reset(&out);
    ok(confined(NULL, "%P% udp 127.0.0.1 9", &out) != 0 && has(&out, "net."), "52 UDP");
    ok(run("%P% udp 127.0.0.1 9", NULL) == 0, "52 control: UDP can be sent");
    ok(confined(NULL, "%P% udp-connected 127.0.0.1 9", NULL) != 0, "52 UDP with connect");
    ok(confined(NULL, "%P% udp ::1 9", NULL) != 0, "52 UDP over IPv6");
    if (wine_is_here())
        test_wine();
    ok(confined(NULL, "%P% tcp-inside 127.0.0.1", NULL) == 0, "loopback inside the tree");
    ok(confined(NULL, "%P% tcp-inside ::1", NULL) == 0, "loopback inside the tree, IPv6");
    buf_reset(&out);
    ok(confined(NULL, "%P% raw", &out) != 0 && has(&out, "raw socket"), "52 raw sockets");
    ok(confined(NULL, "%P% resolve localhost", NULL) == 0, "52 this machine has a name");
    uint64_t asked = GetTickCount64();
    ok(confined(NULL, "%P% resolve cordon.invalid", NULL) != 0 && GetTickCount64() - asked < 5000,
       "52 a name of the network: an error at once");
    ok(confined("--net=on", "%P% udp 127.0.0.1 9", NULL) == 0, "52 control: --net=on");
    ok(confined("--net=proxy=127.0.0.1:9", "%P% udp 127.0.0.1 9", NULL) != 0,
       "20 only the proxy by TCP, not UDP to it");
    char line[200];
    PROCESS_INFORMATION other;
    STARTUPINFOA startup = {.cb = sizeof startup};
    auto_buf struct buf sleeper = {0};
    expand(&sleeper, "%P% sleep 60000");
    if (CreateProcessA(NULL, (char *)buf_cstr(&sleeper), NULL, NULL, FALSE, 0, NULL, NULL, &startup,
                       &other)) {
        snprintf(line, sizeof line, "%%P%% kill %lu", (unsigned long)other.dwProcessId);
        buf_reset(&out);
        ok(confined(NULL, line, &out) != 0 &&
               WaitForSingleObject(other.hProcess, 0) == WAIT_TIMEOUT &&
               has(&out, "process.outside"),
           "a process outside is not ended");
        snprintf(line, sizeof line, "%%P%% child-parent \"%%P%% write ..\\out\\new\" %lu",
                 (unsigned long)other.dwProcessId);
        confined(NULL, line, NULL);
        ok(holds("-out\\new"), "50 a child under another parent");
        snprintf(line, sizeof line, "%%P%% kill %lu", (unsigned long)other.dwProcessId);
        ok(run(line, NULL) == 0 && WaitForSingleObject(other.hProcess, 5000) == WAIT_OBJECT_0,
           "control: it can be ended");
    }
    buf_reset(&out);
    ok(confined(NULL, "%P% service", &out) != 0, "50 the service manager");
    buf_reset(&out);
    ok(confined(NULL, "%P% read \\\\127.0.0.1\\share\\file", &out) != 0 && has(&out, "path.unc"),
       "41 a share is not even looked for");
    buf_reset(&out);
    confined("--net=on", "%P% read \\\\127.0.0.1\\share\\file", &out);
    ok(!has(&out, "path.unc"), "41 control: with the network on it is");
    ok(confined("--deny-read ..\\out\\secret", "%P% read ..\\out\\secret", NULL) != 0,
       "60 deny-read: open");
    ok(confined("--deny-read ..\\out\\secret", "%P% read-map ..\\out\\secret", NULL) != 0,
       "60 deny-read: mapping");
    ok(confined("--deny-read ..\\out\\secret", "%P% read-relative ..\\out secret", NULL) != 0,
       "60 deny-read: relative to its folder");
    ok(confined("--deny-read ..\\out\\secret", "%P% read ..\\out\\SECRET", NULL) != 0,
       "60 deny-read: another case");
    ok(confined("--deny-read ..\\out\\secret", "cmd /c %P% read ..\\out\\secret", NULL) != 0,
       "60 deny-read: a child");
    buf_reset(&out);
    ok(confined("--deny-read ..\\out\\nothing", "%P% read ..\\out\\nothing", &out) == 2 &&
           !has(&out, "sandbox denied"),
       "60 deny-read: what is not there is just that");
    ok(confined("--deny-read sub\\s",
                "cmd /c \"echo x> sub\\s & %P% rename sub\\s t & %P% read t\"", NULL) != 0,
       "60 deny-read: renamed");
    ok(confined(NULL, "%P% read ..\\out\\secret", NULL) == 0, "60 control: it can be read");
    ok(confined(NULL, "%P% mailslot \\\\.\\mailslot\\cordon", NULL) != 0, "mailslots");
    ok(run("%P% mailslot \\\\.\\mailslot\\cordon", NULL) == 0, "mailslots: control");
}

int main(void)
{
    harness_make("run");
    test_attempts();
    test_statuses();
    test_listed();
    test_handles();
    test_ends();
    test_start_failures();
    test_policy_file();
    test_obeyed();
    test_doors();
    return harness_done();
}
