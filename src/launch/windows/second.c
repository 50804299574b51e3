/* SPDX-License-Identifier: Apache-2.0 */
/* See second.h. */
#include "launch/windows/second.h"

#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "launch/windows/spawn.h"
#include "launch/windows/stdio.h"
#include "launch/windows/token.h"

enum { LONGEST_PATH = 32768, LONGEST_LINE = 32768 };

/* ---- the first ---- */

/* What follows the program's own name in its command line. */
static const wchar_t *own_arguments(void)
{
    const wchar_t *line = GetCommandLineW();
    bool quoted = false;
    for (; *line && (quoted || (*line != L' ' && *line != L'\t')); line++)
        if (*line == L'"')
            quoted = !quoted;
    return line;
}

static wchar_t *own_path(void)
{
    wchar_t *path = malloc(LONGEST_PATH * sizeof *path);
    DWORD n = path ? GetModuleFileNameW(NULL, path, LONGEST_PATH) : 0;
    if (n > 0 && n < LONGEST_PATH)
        return path;
    free(path);
    return NULL;
}

static wchar_t *line_for(const struct second_plan *plan, const wchar_t *self, HANDLE first,
                         HANDLE cancel)
{
    wchar_t *line = malloc(LONGEST_LINE * sizeof *line);
    int n = line ? swprintf(line, LONGEST_LINE, L"\"%ls\" " SECOND_WORD " %lu,%lu,%u %ls", self,
                            HandleToUlong(first), HandleToUlong(cancel), ladder_pack(plan->rung),
                            plan->arguments ? plan->arguments : own_arguments())
                 : -1;
    if (n > 0 && n < LONGEST_LINE)
        return line;
    free(line);
    return NULL;
}

static DWORD wait_for(HANDLE process, DWORD patience)
{
    DWORD code = 125;
    if (WaitForSingleObject(process, patience) != WAIT_OBJECT_0) {
        TerminateProcess(process, 125);
        return STILL_ACTIVE;
    }
    GetExitCodeProcess(process, &code);
    return code;
}

static int start_and_wait(const struct second_plan *plan, const HANDLE handles[2],
                          struct stdio *ends, DWORD *code, struct launch_failure *f)
{
    HANDLE process, thread;
    wchar_t *self = own_path();
    wchar_t *line = self ? line_for(plan, self, handles[0], handles[1]) : NULL;
    int rc = line ? 0 : launch_fail_words(f, "cannot start cordon again: its command is too long");
    if (rc == 0)
        rc = spawn_suspended(&(struct spawn_plan){.image = self,
                                                  .cmdline = line,
                                                  .stdio = ends->child,
                                                  .more = handles,
                                                  .console = SPAWN_HIDDEN_CONSOLE},
                             &process, &thread, f);
    stdio_started(ends);
    if (rc == 0) {
        if (ResumeThread(thread) == (DWORD)-1)
            TerminateProcess(process, 125);
        *code = wait_for(process, plan->patience_ms);
        CloseHandle(thread);
        CloseHandle(process);
    }
    free(line);
    free(self);
    return rc;
}

int second_run(const struct second_plan *plan, DWORD *code, struct launch_failure *f)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    struct stdio ends = {0};
    struct stdio_watch watch = {0};
    HANDLE handles[2] = {NULL, CreateEventW(&inherit, TRUE, FALSE, NULL)};
    int rc = handles[1] && DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(),
                                           GetCurrentProcess(), &handles[0],
                                           SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, TRUE, 0)
                 ? token_protect_self(f)
                 : launch_fail(f, "cannot start cordon again (DuplicateHandle)");
    if (rc == 0)
        rc = plan->stdio ? stdio_open_handles(&ends, plan->stdio, f) : stdio_open(&ends, f);
    if (rc == 0)
        rc = stdio_watch_console(&watch, handles[1]);
    if (rc == 0)
        rc = start_and_wait(plan, handles, &ends, code, f);
    if (rc == 0 && plan->cancelled)
        *plan->cancelled = WaitForSingleObject(handles[1], 0) == WAIT_OBJECT_0;
    stdio_started(&ends);
    stdio_finish(&ends);
    stdio_unwatch_console(&watch);
    for (size_t i = 0; i < 2; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    return rc;
}

/* ---- the second ---- */

static struct {
    HANDLE first, cancel;
    struct ladder_rung rung;
    bool here;
} second;

static DWORD WINAPI obey(void *context)
{
    enum { PATIENCE_MS = 10000 };
    HANDLE either[] = {second.first, second.cancel};
    (void)context;
    DWORD got = WaitForMultipleObjects(2, either, FALSE, INFINITE);
    stdio_end_runs();
    /* Nobody is left who would read the summary; the tree dies with this process. */
    if (got != WAIT_OBJECT_0 + 1 || WaitForSingleObject(second.first, INFINITE) == WAIT_OBJECT_0) {
        Sleep(PATIENCE_MS);
        TerminateProcess(GetCurrentProcess(), 125);
    }
    return 0;
}

static BOOL WINAPI ignore(DWORD event)
{
    (void)event;
    return TRUE;
}

static bool is_this_program(HANDLE process)
{
    DWORD n = LONGEST_PATH, m = LONGEST_PATH;
    wchar_t *self = malloc(LONGEST_PATH * sizeof *self);
    wchar_t *other = malloc(LONGEST_PATH * sizeof *other);
    bool same = self && other && QueryFullProcessImageNameW(GetCurrentProcess(), 0, self, &n) &&
                QueryFullProcessImageNameW(process, 0, other, &m) && _wcsicmp(self, other) == 0;
    free(self);
    free(other);
    return same;
}

bool second_begin(const wchar_t *word)
{
    uint64_t numbers[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        wchar_t *end;
        numbers[i] = wcstoul(word, &end, 10);
        if (end == word || *end != L",,"[i])
            return false;
        word = end + 1;
    }
    if (numbers[2] >= LADDER_RUNGS)
        return false;
    second.first = (HANDLE)(uintptr_t)numbers[0];
    second.cancel = (HANDLE)(uintptr_t)numbers[1];
    second.rung = ladder_unpack((unsigned)numbers[2]);
    /* No program of the tree may inherit them. */
    HANDLE thread = NULL;
    bool good = is_this_program(second.first) && GetConsoleCP() != 0 &&
                SetHandleInformation(second.first, HANDLE_FLAG_INHERIT, 0) &&
                SetHandleInformation(second.cancel, HANDLE_FLAG_INHERIT, 0) &&
                SetConsoleCtrlHandler(ignore, TRUE) &&
                (thread = CreateThread(NULL, 0, obey, NULL, 0, NULL)) != NULL;
    if (thread)
        CloseHandle(thread);
    stdio_ignore_console();
    second.here = good;
    return good;
}

bool second_is_here(struct ladder_rung *rung)
{
    if (second.here && rung)
        *rung = second.rung;
    return second.here;
}
