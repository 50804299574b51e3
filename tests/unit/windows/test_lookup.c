/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a name means and what command line it gets, on a real disk; and that cmd reads it
   so. */
#include <windows.h>

#include <shellapi.h>

#include "base/utf.h"
#include "child.h"
#include "cordon.h"
#include "launch/windows/block.h"
#include "launch/windows/lookup.h"
#include "launch/windows/wide.h"

static struct arena arena;
static struct str top, cwd; /* the test's folder; its "work dir" */
static char path[4096];

static struct str below(const char *name)
{
    struct buf text = {0};
    buf_fmt(&text, "%.*s\\%s", STR_ARG(top), name);
    struct str copy = arena_copy(&arena, buf_str(&text));
    buf_free(&text);
    return copy;
}

static void make_folder(const char *name)
{
    CreateDirectoryW(wide_of(&arena, below(name)), NULL);
}

static void make_file(const char *name, const char *content)
{
    DWORD n;
    HANDLE file =
        CreateFileW(wide_of(&arena, below(name)), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    WriteFile(file, content, (DWORD)strlen(content), &n, NULL);
    CloseHandle(file);
}

/* The program itself under another name, so that it can be started. */
static void make_program(const char *name)
{
    wchar_t self[MAX_PATH];
    GetModuleFileNameW(NULL, self, MAX_PATH);
    CopyFileW(self, wide_of(&arena, below(name)), FALSE);
}

static const struct row {
    const char *name, *pathext;
    const char *image; /* below the folder; NULL: not found or refused */
    const char *says;  /* in the sentence, or in the command line */
    bool through_cmd;
} rows[] = {
    {"tool", ".EXE;.CMD", "bin\\tool.exe", "tool", false},
    {"tool", ".CMD;.EXE", NULL, "bin\\tool.cmd", true},
    {"TOOL.EXE", ".EXE", "bin\\tool.exe", "TOOL.EXE", false},
    {"tool.cmd", ".EXE", NULL, "bin\\tool.cmd", true},
    {"t\xC3\xB6\xC3\xB6l", ".EXE", "sp\xC3\xA4 dir\\t\xC3\xB6\xC3\xB6l.exe", "t\xC3\xB6\xC3\xB6l",
     false},
    {"v1.2", ".EXE", "bin\\v1.2.exe", "v1.2", false},
    {"here", ".EXE", NULL, "type .\\here.exe", false},
    {".\\here", ".EXE", "work dir\\here.exe", ".\\here", false},
    {"./here.exe", ".EXE", "work dir\\here.exe", "./here.exe", false},
    {"..\\bin\\tool", ".EXE", "bin\\tool.exe", "..\\bin\\tool", false},
    {".\\noext", ".EXE", "work dir\\noext", ".\\noext", false},
    {".\\notes.txt", ".EXE", NULL, "is not a program", false},
    {"script", ".PS1;.EXE", NULL, "type: powershell -File", false},
    {"script.ps1", ".EXE", NULL, "type: powershell -File", false},
    {"folder", ".EXE", NULL, "program not found", false},
    {"absent", ".EXE", NULL, "absent: program not found", false},
    {"", ".EXE", NULL, "no program", false},
    {"t*l", ".EXE", NULL, "program not found", false},
    {"relative", ".EXE", NULL, "program not found", false},
};

static int look_up(const char *name, const char *pathext, struct str tail, struct lookup *out,
                   struct buf *error)
{
    const char *argv[] = {name, "a b", NULL};
    return lookup_program(&arena, argv, 2, tail, cwd, path, pathext, out, error);
}

static bool contains(const wchar_t *text, const char *part)
{
    struct str narrow = text ? wide_narrow(&arena, text, wcslen(text)) : STR_NONE;
    return str_find(narrow, str_of(part), 0) < narrow.n;
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        auto_buf struct buf error = {0};
        struct lookup found = {0};
        int rc = look_up(r->name, r->pathext, STR_NONE, &found, &error);
        bool passed;
        if (r->through_cmd)
            passed = rc == 0 && found.through_cmd && contains(found.image, "\\cmd.exe") &&
                     contains(found.cmdline, r->says) && contains(found.script, r->says) &&
                     contains(found.cmdline, " \"a b\"\"");
        else if (r->image)
            passed = rc == 0 && !found.through_cmd && !found.script &&
                     contains(found.image, r->image) && contains(found.cmdline, r->says) &&
                     contains(found.cmdline, " \"a b\"");
        else
            passed =
                rc != 0 && !found.image && str_find(buf_str(&error), str_of(r->says), 0) < error.n;
        if (!ok(passed, "%s with %s", r->name, r->pathext))
            note("%d %s", rc, buf_cstr(&error));
    }
}

static void test_tails(void)
{
    auto_buf struct buf error = {0};
    struct lookup found = {0};
    ok(look_up("tool", ".EXE", STR("tool   \"a\" b\""), &found, &error) == 0 &&
           contains(found.cmdline, "tool \"a b\""),
       "a tail that reads otherwise is not used");
    ok(look_up("tool", ".EXE", STR("tool   a\" \"b"), &found, &error) == 0 &&
           contains(found.cmdline, "tool   a\" \"b"),
       "one that reads as the arguments is passed word for word");
    const char *argv[] = {"cmd", "/c", "echo", "a b", NULL};
    const char *system = "C:\\absent"; /* cmd is found all the same */
    ok(lookup_program(&arena, argv, 4, STR("cmd /c echo \"a b\"^&x"), cwd, system, ".EXE", &found,
                      &error) == 0 &&
           wcscmp(found.cmdline, L"cmd /c echo \"a b\"") == 0,
       "for cmd, too, the tail must be what was parsed");
    ok(lookup_program(&arena, argv, 4, STR("cmd  /c  echo \"a b\""), cwd, system, ".EXE", &found,
                      &error) == 0 &&
           wcscmp(found.cmdline, L"cmd  /c  echo \"a b\"") == 0 && !found.through_cmd,
       "and is then verbatim");
}

/* Runs the batch file with the arguments; it hands them to this program, which writes them down. */
static bool comes_back(const char *const *argv, size_t argc, struct buf *why)
{
    PROCESS_INFORMATION child;
    STARTUPINFOW startup = {.cb = sizeof startup};
    struct lookup found;
    if (lookup_program(&arena, argv, argc, STR_NONE, cwd, path, ".CMD", &found, why))
        return false;
    DeleteFileW(wide_of(&arena, below("work dir\\args.txt")));
    if (!CreateProcessW(found.image, found.cmdline, NULL, NULL, FALSE, 0, NULL,
                        wide_of(&arena, cwd), &startup, &child))
        return false;
    child_end(&child);
    char got[4096] = "";
    DWORD n = 0;
    HANDLE file = CreateFileW(wide_of(&arena, below("work dir\\args.txt")), GENERIC_READ, 0, NULL,
                              OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    ReadFile(file, got, sizeof got - 1, &n, NULL);
    CloseHandle(file);
    auto_buf struct buf want = {0};
    for (size_t i = 1; i < argc; i++)
        buf_fmt(&want, "%s\n", argv[i]);
    buf_fmt(why, "%s", got);
    return str_eq(buf_str(&want), str_of(got));
}

static void test_batch(void)
{
    static const char *const good[][5] = {
        {"pass", "plain", "--x=y", "two words", NULL},
        {"pass", "a&echo injected>work.txt", "b|c", "d>e", NULL},
        {"pass", "(x)", "C:\\dir with\\", "f^g", NULL},
        {"pass", "!x!", "semi;colon,comma", "$HOME", NULL},
    };
    static const char *const bad[][3] = {
        {"pass", "\"&echo x>injected.txt", NULL},
        {"pass", "%PATH%", NULL},
        {"pass", "a\r\necho x>injected.txt", NULL},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        auto_buf struct buf why = {0};
        if (!ok(comes_back(good[i], 4, &why), "a batch file passes on %s, %s, %s", good[i][1],
                good[i][2], good[i][3]))
            note("%s", buf_cstr(&why));
    }
    ok(GetFileAttributesW(wide_of(&arena, below("work dir\\work.txt"))) == INVALID_FILE_ATTRIBUTES,
       "and nothing of it ran");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        auto_buf struct buf why = {0};
        struct lookup found = {0};
        ok(lookup_program(&arena, bad[i], 2, STR_NONE, cwd, path, ".CMD", &found, &why) ==
                   CORDON_E_VALUE &&
               !found.cmdline,
           "refused, row %zu", i);
        note("%s", buf_cstr(&why));
    }
}

static void test_blocks(void)
{
    const char *variables[] = {"b=2", "A=1", "=C:=C:\\x", "\xC3\xA4=3", "C=", NULL};
    wchar_t *block = NULL;
    ok(block_make(&arena, variables, &block) == 0 &&
           memcmp(block, L"=C:=C:\\x\0A=1\0b=2\0C=\0\u00e4=3\0", 26 * sizeof *block) == 0,
       "a block is sorted by name and ends with an empty string");
    const char *none[] = {NULL};
    ok(block_make(&arena, none, &block) == 0 && block[0] == 0 && block[1] == 0, "an empty one");
    const char *bad[] = {"novalue", NULL};
    wchar_t *before = block;
    ok(block_make(&arena, bad, &block) == CORDON_E_VALUE && block == before, "no name: refused");
    SetEnvironmentVariableW(L"CORDON_TEST_\u00c4", L"x=y");
    const char *const *own = block_read(&arena);
    bool found = false;
    for (size_t i = 0; own && own[i]; i++)
        found |= strcmp(own[i], "CORDON_TEST_\xC3\x84=x=y") == 0;
    ok(found, "the own environment is read");
    ok(own && block_make(&arena, own, &block) == 0, "and makes a block again");
}

int main(void)
{
    int argc;
    wchar_t **argv = CommandLineToArgvW(GetCommandLineW(), &argc);
    if (argc > 1) { /* the batch file's program: writes down what it got */
        auto_buf struct buf text = {0};
        DWORD n;
        for (int i = 1; i < argc; i++) {
            utf_from16(&text, (const uint16_t *)argv[i], wcslen(argv[i]));
            buf_char(&text, '\n');
        }
        HANDLE file = CreateFileW(L"args.txt", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
        return WriteFile(file, text.p, (DWORD)text.n, &n, NULL) ? 0 : 1;
    }
    wchar_t folder[MAX_PATH];
    child_folder(folder, L"lookup");
    CreateDirectoryW(folder, NULL);
    top = wide_narrow(&arena, folder, wcslen(folder));
    cwd = below("work dir");
    make_folder("work dir");
    make_folder("work dir\\rel");
    make_folder("bin");
    make_folder("bin\\folder.exe");
    make_folder("sp\xC3\xA4 dir");
    make_program("bin\\tool.exe");
    make_program("bin\\v1.2.exe");
    make_program("work dir\\here.exe");
    make_program("work dir\\noext");
    make_program("work dir\\rel\\relative.exe");
    make_program("sp\xC3\xA4 dir\\t\xC3\xB6\xC3\xB6l.exe");
    make_file("bin\\tool.cmd", "@echo off\r\n");
    make_file("bin\\tool", "#!/bin/sh\n");
    make_file("bin\\script.ps1", "1\r\n");
    make_file("bin\\pass.cmd", "@\"%~dp0tool.exe\" %*\r\n");
    make_file("work dir\\notes.txt", "text");
    snprintf(path, sizeof path, ";.;rel;%.*s;\"%.*s\";C:\\absent", STR_ARG(below("bin")),
             STR_ARG(below("sp\xC3\xA4 dir")));
    test_rows();
    test_tails();
    test_batch();
    test_blocks();
    wchar_t clean[2 * MAX_PATH];
    swprintf(clean, 2 * MAX_PATH, L"cmd /c rmdir /s /q \"%ls\"", folder);
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    if (CreateProcessW(NULL, clean, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
        child_end(&child);
    arena_free(&arena);
    return tap_done();
}
