/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second process of Cordon, which lives on a hidden console that the tree inherits: everything
 * is as in a run of one process, each of the two ends with the other, and the tree's console events
 * end neither. The double takes this rung where CORDON_TEST_CONSOLE is set.
 */
#include "harness.h"

static bool is_plain(int code, int expected, const struct buf *out, const char *text)
{
    if (code == expected && (!text || has(out, text)))
        return true;
    note("exit code %d", code);
    note_output(out);
    return false;
}

static void test_same(void)
{
    auto_buf struct buf out = {0}, lines = {0};
    fresh();
    int code = confined("", "%P% exit 7", &out);
    ok(is_plain(code, 7, &out, NULL), "the exit code is the command's");
    buf_reset(&out);
    code = confined("", "%P% write new", &out);
    ok(is_plain(code, 0, &out, NULL) && exists("ws\\new"), "it writes inside");
    buf_reset(&out);
    code = confined("", "%P% write ..\\out\\new", &out);
    size_t first = str_find(buf_str(&out), STR("out\\new"), 0);
    ok(code != 0 && !exists("out\\new") && first < out.n, "and not outside");
    buf_reset(&lines);
    buf_add(&lines, str_from(buf_str(&out), first + 1));
    ok(!has(&lines, "denied"), "the summary is there once");
    buf_reset(&out);
    put("ws\\two  words", "as typed");
    code = confined("", "cmd /c type \"two  words\"", &out);
    ok(is_plain(code, 0, &out, "as typed"), "words arrive as typed");
    buf_reset(&out);
    code = confined("--json --quiet", "%P% write ..\\out\\new", &out);
    ok(code != 0 && has(&out, "\"reason\":\"exited\""), "--json tells how it ended");
    buf_reset(&out);
    code = confined("--timeout 2", "%P% sleep 60000", &out);
    ok(is_plain(code, 124, &out, NULL) && gone_within("probe-second.exe", 3000),
       "--timeout ends it");
    buf_reset(&out);
    code = confined("", "no-such-program", &out);
    ok(is_plain(code, 127, &out, "not found"), "so does a program that is not there");
}

static void test_console(void)
{
    auto_buf struct buf out = {0};
    char line[64] = "";
    unsigned of = 0;
    int code = confined("", "%P% console", &out);
    size_t at = str_find(buf_str(&out), STR("console of "), 0);
    if (at < out.n) {
        snprintf(line, sizeof line, "%.*s", 20, buf_cstr(&out) + at);
        of = (unsigned)strtoul(line + strlen("console of "), NULL, 10);
    }
    if (!ok(code == 0 && of == 2, "the tree shares its console with the second process alone"))
        note_output(&out);
    buf_reset(&out);
    code = confined("", "%P% child-console \"%P% console\"", &out);
    ok(is_plain(code, 0, &out, NULL), "a child that asks for a console of its own starts");
    buf_reset(&out);
    code = confined("", "%P% console-break", &out);
    ok(is_plain(code, 0, &out, NULL), "Ctrl-C by the tree does not end the run");
}

/* The other process of the program under test, whose parent is this one. */
static DWORD second_of(DWORD first)
{
    for (int tries = 0; tries < 200; tries++) {
        PROCESSENTRY32W entry = {.dwSize = sizeof entry};
        HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
        DWORD found = 0;
        if (Process32FirstW(all, &entry))
            do
                if (entry.th32ParentProcessID == first)
                    found = entry.th32ProcessID;
            while (Process32NextW(all, &entry));
        CloseHandle(all);
        if (found && processes_named("probe-second.exe"))
            return found;
        Sleep(50);
    }
    return 0;
}

/* Nobody may open it, but the first has a handle. */
static void kill_second(HANDLE first, DWORD second)
{
    for (uintptr_t i = 4; i < 2048; i += 4) {
        HANDLE copy;
        if (!DuplicateHandle(first, (HANDLE)i, GetCurrentProcess(), &copy,
                             PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, 0))
            continue;
        if (GetProcessId(copy) == second)
            TerminateProcess(copy, 9);
        CloseHandle(copy);
    }
}

static void test_deaths(void)
{
    auto_buf struct buf out = {0};
    struct command c = confined_start("", "%P% sleep 60000");
    DWORD second = second_of(c.pid);
    ok(second != 0, "there are two processes");
    TerminateProcess(c.process, 9);
    ok(gone_within("probe-second.exe", 15000), "the tree dies with the first");
    command_end(&c, 5000, &out);
    ok(gone_within("cordon-faults.exe", 15000), "and so does the second");
    c = confined_start("", "%P% sleep 60000");
    kill_second(c.process, second_of(c.pid));
    ok(gone_within("probe-second.exe", 5000), "the tree dies with the second");
    int code = command_end(&c, 5000, &out);
    ok(code != 0 && code != 998, "and the first ends, with a failure");
}

/* As a key does it: the event that the console's handler of the first process sets. */
static void set_events(HANDLE process)
{
    for (uintptr_t i = 4; i < 2048; i += 4) {
        HANDLE copy;
        if (!DuplicateHandle(process, (HANDLE)i, GetCurrentProcess(), &copy, EVENT_MODIFY_STATE,
                             FALSE, 0))
            continue;
        SetEvent(copy);
        CloseHandle(copy);
    }
}

/* While it is tried whether programs start on the hidden console, nothing of the command runs. */
static void test_cancelled_trial(void)
{
    auto_buf struct buf out = {0};
    fresh();
    SetEnvironmentVariableA("CORDON_TEST_STAND_STILL", "60000");
    struct command c = confined_start("", "%P% write new");
    SetEnvironmentVariableA("CORDON_TEST_STAND_STILL", NULL);
    bool tries = WaitForSingleObject(c.process, 4000) == WAIT_TIMEOUT;
    set_events(c.process);
    uint64_t begin = GetTickCount64();
    int code = command_end(&c, 60000, &out);
    ok(tries, "control: the trial takes its time");
    if (!ok(code == 130 && !exists("ws\\new") && GetTickCount64() - begin < 15000,
            "Ctrl-C during the trial ends the run: 130")) {
        note("code %d after %llu ms", code, (unsigned long long)(GetTickCount64() - begin));
        note_output(&out);
    }
}

static void test_others(void)
{
    auto_buf struct buf out = {0};
    int code = run("\"%C%\" hidden-console 8,12,1 run -- %P% exit 7", &out);
    ok(is_plain(code, 125, &out, "for cordon itself"), "nobody else can start a second");
    buf_reset(&out);
    code = confined("--ask --ask-timeout 30", "%P% write ..\\out\\new", &out);
    size_t first = str_find(buf_str(&out), STR("no console"), 0);
    ok(code != 0 && first < out.n && !has(&out, "no answer") &&
           str_find(buf_str(&out), STR("no console"), first + 1) >= out.n,
       "no question is asked on the hidden console, and that is said once");
}

int main(void)
{
    harness_make("second");
    GetFullPathNameA(CORDON_FAULTS, sizeof cordon, cordon, NULL);
    fresh();
    auto_buf struct buf out = {0};
    confined("", "%P% console", &out);
    ok(!has(&out, "console of 2"), "control: without it, no console is shared");
    SetEnvironmentVariableA("CORDON_TEST_CONSOLE", "inherited");
    test_same();
    test_console();
    test_deaths();
    test_cancelled_trial();
    test_others();
    return harness_done();
}
