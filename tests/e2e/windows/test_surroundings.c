/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings of a run fail: the disk, folders, files, drives and handles. Nothing outside
   changes, nothing hangs, and every failure is reported. */
#include "harness.h"
#include "windows/console.h"

/* A write outside, which must never work, and one inside. */
#define WORK "%S% --probe \"canary; write ..\\out\\file; write new\""

static bool outside_is_kept(void)
{
    return is_text("out\\file", "old") && !exists("out\\canary");
}

static void check(const char *what, const char *options, int wanted, const char *says)
{
    auto_buf struct buf line = {0}, out = {0};
    uint64_t begin = GetTickCount64();
    buf_fmt(&line, "%%C%% run %s -- %s", options, WORK);
    int code = run(buf_cstr(&line), &out);
    bool ran = exists("ws\\new");
    if (!ok(outside_is_kept() && (wanted < 0 || code == wanted) && (code != 125 || !ran) &&
                has(&out, says) && GetTickCount64() - begin < 60000,
            "%s", what)) {
        note("code %d", code);
        note_output(&out);
    }
    fresh();
}

static void check_temp(void)
{
    char before[MAX_PATH];
    GetEnvironmentVariableA("TEMP", before, sizeof before);
    SetEnvironmentVariableA("TEMP", "C:\\no\\such\\folder");
    SetEnvironmentVariableA("TMP", "C:\\no\\such\\folder");
    check("the temp folder is not there", "", 125, "C:\\no\\such\\folder");
    put("file", "x");
    SetEnvironmentVariableA("TEMP", path_of("file"));
    SetEnvironmentVariableA("TMP", path_of("file"));
    check("the temp folder is a file", "", 125, "cordon: ");
    SetEnvironmentVariableA("TEMP", NULL);
    SetEnvironmentVariableA("TMP", NULL);
    check("there is no TEMP at all", "", -1, "");
    SetEnvironmentVariableA("TEMP", before);
    SetEnvironmentVariableA("TMP", before);
}

/* A root that goes away, and one whose drive does. */
static void check_gone(void)
{
    auto_buf struct buf out = {0};
    CreateDirectoryA(path_of("r"), NULL);
    struct command c =
        command_start("%C% run --root . --root ..\\r -- %S% --probe \"wait 1500; canary; "
                      "write ..\\r\\new; write ..\\out\\file; write new\"");
    Sleep(700);
    RemoveDirectoryA(path_of("r")); /* it goes when nobody holds it any more */
    int code = command_end(&c, 60000, &out);
    if (!ok(outside_is_kept() && exists("ws\\new") && code != 998, "the root goes away meanwhile"))
        note_output(&out);
    remove_tree(path_of("r"));
    fresh();
    if (!DefineDosDeviceA(0, "Q:", path_of("ws"))) {
        skip("a root's drive goes away meanwhile", "no drive can be made here");
        return;
    }
    buf_reset(&out);
    c = command_start("%C% run --root . --root Q:\\sub -- %S% --probe \"wait 1500; canary; "
                      "write Q:\\sub\\new; write ..\\out\\file; write new\"");
    Sleep(700);
    DefineDosDeviceA(DDD_REMOVE_DEFINITION, "Q:", NULL);
    code = command_end(&c, 60000, &out);
    if (!ok(outside_is_kept() && code != 998, "a root's drive goes away meanwhile"))
        note_output(&out);
    fresh();
}

static void check_handles(void)
{
    auto_buf struct buf line = {0};
    STARTUPINFOA startup = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION made = {0};
    DWORD code = 999;
    expand(&line, "%C% run -- " WORK);
    if (CreateProcessA(NULL, (char *)buf_cstr(&line), NULL, NULL, FALSE, DETACHED_PROCESS, NULL,
                       path_of("ws"), &startup, &made)) {
        if (WaitForSingleObject(made.hProcess, 30000) == WAIT_OBJECT_0)
            GetExitCodeProcess(made.hProcess, &code);
        else
            TerminateProcess(made.hProcess, 9);
        CloseHandle(made.hProcess);
        CloseHandle(made.hThread);
    }
    ok(outside_is_kept() && exists("ws\\new") && code != 999, "no console and no standard handles");
    fresh();
}

static BOOL WINAPI stay(DWORD event)
{
    return event == CTRL_BREAK_EVENT;
}

/* The console is closed: what Windows then tells its processes. Under Wine only Ctrl-Break can be
   sent from outside. In a process of the console; 0: it ended the tree. */
enum { NOT_SENT = 998 };
static int close_console(void)
{
    auto_buf struct buf line = {0};
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made = {0};
    SetConsoleCtrlHandler(stay, TRUE);
    expand(&line, "%C% run -- %S% --probe \"write began; wait 20000; write late\"");
    if (!CreateProcessA(NULL, (char *)buf_cstr(&line), NULL, NULL, FALSE, 0, NULL, path_of("ws"),
                        &startup, &made))
        return 1;
    for (int i = 0; i < 500 && !exists("ws\\began"); i++)
        Sleep(20);
    bool began = exists("ws\\began");
    bool sent = GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0);
    bool ended = sent && WaitForSingleObject(made.hProcess, 10000) == WAIT_OBJECT_0;
    TerminateProcess(made.hProcess, 9);
    CloseHandle(made.hProcess);
    CloseHandle(made.hThread);
    return !sent ? NOT_SENT : !began ? 2 : !ended ? 3 : exists("ws\\late") ? 4 : 0;
}

static void check_console(void)
{
    DWORD code = console_start("console");
    if (code == CONSOLE_NONE || code == NOT_SENT)
        skip("the console's event ends the tree",
             code == NOT_SENT ? "the event cannot be sent here" : "no console can be made here");
    else
        ok(code == 0, "the console's event ends the tree (%lu)", code);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "console") == 0) {
        harness_make("console");
        fresh();
        int code = close_console();
        remove_tree(top);
        return code;
    }
    harness_make("around");
    fresh();
    check("control: all is well", "--audit ..\\log", 1, "");
    check("the audit's folder is not there", "--audit ..\\no\\log", 125, "no\\log");
    CreateDirectoryA(path_of("folder"), NULL);
    check("the audit file is a folder", "--audit ..\\folder", 125, "folder");
    if (GetFileAttributesA("Z:\\dev\\full") != INVALID_FILE_ATTRIBUTES)
        check("the audit's disk is full", "--audit Z:\\dev\\full", -1, "cordon: ");
    else
        skip("the audit's disk is full", "there is no disk here that is full");
    check("a root is not there", "--root . --root ..\\no", 125, "no");
    check("a root's drive is not there", "--root . --root Y:\\x", 125, "Y:");
    check("a root is a file", "--root . --root ..\\out\\file", 125, "file");
    check("its policy file is not there", "--policy ..\\no.toml", 125, "no.toml");
    SetFileAttributesA(path_of("ws"), FILE_ATTRIBUTE_READONLY);
    check("the root is read-only", "", -1, "");
    check_temp();
    check_gone();
    check_handles();
    check_console();
    return harness_done();
}
