/* SPDX-License-Identifier: Apache-2.0 */
/* The library in a program with threads: every run as if it were alone, the program as before. */
#include <windows.h>

#include <tlhelp32.h>

#include "concurrent.h"

#define TOP "C:\\users\\Public\\cordon-concurrent"

struct place {
    char folder[MAX_PATH], script[512];
};

static void describe(struct one_run *run, struct place *place, int i)
{
    memset(run, 0, sizeof *run);
    snprintf(place->folder, sizeof place->folder, TOP "\\ws%d", i);
    CreateDirectoryA(place->folder, NULL);
    const char *settings[] = {"root",   place->folder,
                              "cwd",    place->folder,
                              "mode",   i % 4 == 1 ? "read-only" : "workspace-write",
                              "strict", NULL};
    size_t count = i % 4 == 2 ? 8 : 6;
    for (size_t j = 0; j < count; j++)
        run->settings[j] = settings[j];
    run->settings[count] = NULL;
    snprintf(place->script, sizeof place->script,
             "echo v%d.> in.txt& echo v%d.> ..\\out%d.txt& echo temp %d.> %%TEMP%%\\t.txt& "
             "type %%TEMP%%\\t.txt& echo done %d& exit %d",
             i, i, i, i, i, i + 1);
    run->argv[0] = "cmd";
    run->argv[1] = "/c";
    run->argv[2] = place->script;
}

static bool exists(const char *format, const char *folder, int i)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, format, folder, i);
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
}

static void judge(struct one_run *run, struct place *place, int i)
{
    char done[32], temp[32];
    snprintf(done, sizeof done, "done %d", i);
    snprintf(temp, sizeof temp, "temp %d.", i);
    bool writes = i % 4 != 1;
    bool good = run->rc == 0 && strcmp(run->reason, "exited") == 0 &&
                run->exit == (unsigned)i + 1 && has(&run->out[1], done) &&
                count_of(&run->out[1], "done ") == 1 && has(&run->out[1], temp) == writes &&
                has(&run->events, "\"type\":\"end\"");
    if (!ok(good, "run %d of %d ends as if it were alone", i, RUNS))
        run_note(run);
    ok(exists("%s\\in.txt", place->folder, i) == writes && !exists("%s\\out%d.txt", TOP, i),
       "run %d writes %s", i, writes ? "inside and not outside" : "nothing");
    char outside[32];
    size_t denied = 0;
    for (int j = 0; j < RUNS; j++) {
        snprintf(outside, sizeof outside, "\\\\out%d.txt", j);
        denied += j != i && has(&run->events, outside);
    }
    ok(denied == 0 && run->denied > 0, "run %d is told of its own denials only", i);
}

static DWORD WINAPI in_thread(void *context)
{
    do_run(context);
    return 0;
}

static void do_all(struct one_run *runs, size_t count)
{
    HANDLE threads[RUNS];
    for (size_t i = 0; i < count; i++) {
        threads[i] = CreateThread(NULL, 0, in_thread, &runs[i], 0, NULL);
        if (!threads[i])
            exit(1);
    }
    WaitForMultipleObjects((DWORD)count, threads, TRUE, INFINITE);
    for (size_t i = 0; i < count; i++)
        CloseHandle(threads[i]);
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    THREADENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry))
        count += entry.th32OwnerProcessID == GetCurrentProcessId();
    CloseHandle(all);
    return count;
}

static unsigned count_handles(void)
{
    DWORD count = 0;
    GetProcessHandleCount(GetCurrentProcess(), &count);
    return count;
}

static void clear(struct one_run *runs, struct place *places)
{
    for (int i = 0; i < RUNS; i++) {
        char path[MAX_PATH + 16];
        run_free(&runs[i]);
        snprintf(path, sizeof path, "%s\\in.txt", places[i].folder);
        DeleteFileA(path);
        RemoveDirectoryA(places[i].folder);
    }
}

int main(void)
{
    static struct one_run runs[RUNS];
    static struct place places[RUNS];
    CreateDirectoryA("C:\\users\\Public", NULL);
    CreateDirectoryA(TOP, NULL);
    /* The first run loads libraries, which stay. */
    for (int i = 0; i < RUNS; i++)
        describe(&runs[i], &places[i], i);
    do_all(runs, 1);
    if (runs[0].rc) {
        skip("cordon_run", runs[0].error);
        return tap_done();
    }
    run_free(&runs[0]);
    describe(&runs[0], &places[0], 0);
    unsigned threads = count_threads(), handles = count_handles();
    do_all(runs, RUNS);
    for (int i = 0; i < 200 && count_threads() != threads; i++)
        Sleep(10);
    ok(count_threads() == threads, "threads are as before (%u, then %u)", threads, count_threads());
    ok(count_handles() == handles, "handles are as before (%u, then %u)", handles, count_handles());
    for (int i = 0; i < RUNS; i++)
        judge(&runs[i], &places[i], i);
    clear(runs, places);
    RemoveDirectoryA(TOP);
    return tap_done();
}
