/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run on Windows (here: Wine) against the same work without it. The work runs in a process
 * of its own, which prints how long its inner part took; direct and confined take turns.
 *
 * Runs in a folder of its own on C:, which tools/bench makes: cordon.exe and this program lie in
 * it, the other programs where they were found, and big\ holds 100,000 files.
 */
#include <windows.h>

#include <psapi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST_RUNS = 64, SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* ---- the work ---- */

static int wrong;

static void touch(const char *path, DWORD access, DWORD disposition)
{
    HANDLE file = CreateFileA(path, access, SHARE_ALL, NULL, disposition, 0, NULL);
    wrong += file == INVALID_HANDLE_VALUE;
    CloseHandle(file);
}

static void work_open(int count)
{
    for (int i = 0; i < count; i++)
        touch("ws\\again", GENERIC_WRITE, OPEN_EXISTING);
}

static void work_new(int count)
{
    char path[64];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "ws\\n%d", i);
        touch(path, GENERIC_WRITE, CREATE_NEW);
    }
}

static void work_files(int count)
{
    char path[64];
    for (int i = 0; i < count; i++) {
        DWORD n;
        snprintf(path, sizeof path, "ws\\d%d", i / 50);
        if (i % 50 == 0)
            CreateDirectoryA(path, NULL);
        snprintf(path, sizeof path, "ws\\d%d\\f%d", i / 50, i);
        HANDLE file = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
        wrong += !WriteFile(file, "0123456789", 10, &n, NULL);
        CloseHandle(file);
    }
}

static void work_read(int count)
{
    for (int i = 0; i < count; i++) {
        char text[16];
        DWORD n;
        HANDLE file =
            CreateFileA("ws\\again", GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
        wrong += !ReadFile(file, text, sizeof text, &n, NULL);
        CloseHandle(file);
    }
}

static DWORD WINAPI open_in_thread(void *count)
{
    work_open((int)(intptr_t)count);
    return 0;
}

static void work_threads(int count)
{
    HANDLE threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = CreateThread(NULL, 0, open_in_thread, (void *)(intptr_t)count, 0, NULL);
    WaitForMultipleObjects(8, threads, TRUE, INFINITE);
}

/* The steps of a launcher that confines nothing. */
static void work_start(int times)
{
    for (int i = 0; i < times; i++) {
        char line[] = "cmd /c exit";
        STARTUPINFOA startup = {.cb = sizeof startup};
        PROCESS_INFORMATION process;
        wrong += !CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process);
        WaitForSingleObject(process.hProcess, INFINITE);
    }
}

static void work_pour(int mebibytes)
{
    static char block[65536];
    DWORD n;
    for (int i = 0; i < 16 * mebibytes; i++)
        wrong += !WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), block, sizeof block, &n, NULL);
}

int bench_work(const char *what, const char *how)
{
    static const struct {
        const char *name;
        void (*run)(int count);
    } works[] = {{"open", work_open},  {"new", work_new},   {"files", work_files},
                 {"read", work_read},  {"pour", work_pour}, {"threads", work_threads},
                 {"start", work_start}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(what, works[i].name) == 0) {
            double start = bench_now();
            works[i].run(atoi(how));
            fprintf(stderr, "took %.9f\n", bench_now() - start);
            return wrong ? 1 : 0;
        }
    return 2;
}

/* ---- the measurements ---- */

struct sample {
    double whole, inner; /* seconds */
    double peak_mib;
};

/* One command; stdout goes nowhere, stderr is searched for what the work says it took. */
static bool run(const char *line, struct sample *out)
{
    char command[1024], said[4096] = "";
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof memory};
    PROCESS_INFORMATION process;
    DWORD n, code = 1;
    HANDLE nul = CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, SHARE_ALL, &inherit,
                             OPEN_EXISTING, 0, NULL);
    HANDLE err = CreateFileA("said", GENERIC_READ | GENERIC_WRITE, SHARE_ALL, &inherit,
                             CREATE_ALWAYS, 0, NULL);
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = nul,
                            .hStdOutput = nul,
                            .hStdError = err};
    snprintf(command, sizeof command, "%s", line);
    double start = bench_now();
    bool good = CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process);
    if (good) {
        WaitForSingleObject(process.hProcess, INFINITE);
        out->whole = bench_now() - start;
        GetExitCodeProcess(process.hProcess, &code);
        if (GetProcessMemoryInfo(process.hProcess, &memory, sizeof memory))
            out->peak_mib = (double)memory.PeakWorkingSetSize / (1024 * 1024);
        CloseHandle(process.hProcess);
        CloseHandle(process.hThread);
    }
    SetFilePointer(err, 0, NULL, FILE_BEGIN);
    ReadFile(err, said, sizeof said - 1, &n, NULL);
    CloseHandle(err);
    CloseHandle(nul);
    const char *took = strstr(said, "took ");
    out->inner = took ? atof(took + 5) : out->whole;
    if (code)
        fprintf(stderr, "bench: %s: exit code %lu\n", line, (unsigned long)code);
    return good && code == 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void clean(void)
{
    struct sample ignored;
    run("cmd /c rmdir /s /q ws", &ignored);
    CreateDirectoryA("ws", NULL);
    CloseHandle(CreateFileA("ws\\again", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL));
}

enum { FRESH = 1, WHOLE = 2 };

/* Direct and confined in turns: minimum by minimum and median by median. */
static void add_ratio(struct bench *bench, const char *name, const char *how, unsigned runs,
                      unsigned flags, const char *direct, const char *confined)
{
    double a[MOST_RUNS], b[MOST_RUNS];
    for (unsigned i = 0; i < runs; i++) {
        struct sample one, two;
        if (flags & FRESH)
            clean();
        bool good = run(direct, &one);
        if (flags & FRESH)
            clean();
        if (!good || !run(confined, &two))
            return;
        a[i] = flags & WHOLE ? one.whole : one.inner;
        b[i] = flags & WHOLE ? two.whole : two.inner;
    }
    qsort(a, runs, sizeof *a, by_size);
    qsort(b, runs, sizeof *b, by_size);
    bench_add(bench, name, b[0] / a[0], b[runs / 2] / a[runs / 2], "x", how);
}

#define CONFINED ".\\cordon.exe run --quiet --root ws -- "
#define WORK(what, how) ".\\cordon-bench.exe --work " what " " how

static void add_memory(struct bench *bench)
{
    struct sample s = {0};
    clean();
    if (run(CONFINED WORK("files", "1000"), &s) && s.peak_mib > 0)
        bench_add(bench, "launcher.rss_mib", s.peak_mib, s.peak_mib, "MiB",
                  "peak working set of the launcher while the tree makes 1,000 files");
}

static void add_size(struct bench *bench)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    if (GetFileAttributesExA("cordon.exe", GetFileExInfoStandard, &data))
        bench_add(bench, "exe.bytes", data.nFileSizeLow, data.nFileSizeLow, "B", "cordon.exe");
}

static void add_requests(struct bench *bench)
{
    struct sample s = {0};
    double best = 0, all[5];
    for (int i = 0; i < 5; i++) {
        clean();
        if (!run(CONFINED WORK("threads", "500"), &s))
            return;
        all[i] = 8 * 500 / s.inner;
        best = all[i] > best ? all[i] : best;
    }
    qsort(all, 5, sizeof *all, by_size);
    bench_add(bench, "broker.requests_per_s", best, all[2], "/s",
              "8 threads open a file for writing");
}

static bool is_there(const char *path)
{
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
}

void bench_system(struct bench *bench)
{
    add_size(bench);
    clean();
    add_ratio(bench, "launch.ratio", "cmd /c exit, 50 times, in turns with a plain CreateProcess",
              50, WHOLE, "cmd /c exit", CONFINED "cmd /c exit");
    add_ratio(bench, "launch.ratio_floor",
              "the same by a program that starts it and confines nothing", 50, WHOLE, "cmd /c exit",
              WORK("start", "1"));
    if (is_there("big"))
        add_ratio(bench, "launch.ratio_big_workspace",
                  "a root with 100,000 files against an empty one", 30, WHOLE,
                  CONFINED "cmd /c exit", ".\\cordon.exe run --quiet --root big -- cmd /c exit");
    add_memory(bench);
    add_ratio(bench, "open.ratio_cached", "an existing file opened for writing again, 2,000 times",
              9, 0, WORK("open", "2000"), CONFINED WORK("open", "2000"));
    add_ratio(bench, "open.ratio_cold", "500 new files in one folder", 9, FRESH, WORK("new", "500"),
              CONFINED WORK("new", "500"));
    add_ratio(bench, "files5000.ratio", "5,000 small files, 50 per folder", 5, FRESH,
              WORK("files", "5000"), CONFINED WORK("files", "5000"));
    add_ratio(bench, "read.ratio", "a file opened and read, 3,000 times", 9, 0,
              WORK("read", "3000"), CONFINED WORK("read", "3000"));
    add_ratio(bench, "stdio.ratio", "100 MiB to stdout, a handle that is inherited", 5, 0,
              WORK("pour", "100"), CONFINED WORK("pour", "100"));
    add_ratio(bench, "threads.ratio", "8 threads, each opens a file for writing 500 times", 7, 0,
              WORK("threads", "500"), CONFINED WORK("threads", "500"));
    add_requests(bench);
    if (is_there("node.exe"))
        add_ratio(bench, "node.ratio", "node -e 1", 15, WHOLE, ".\\node.exe -e 1",
                  CONFINED ".\\node.exe -e 1");
    if (is_there("7za.exe") && is_there("many.zip"))
        add_ratio(bench, "unzip.ratio", "7za unpacks 1,000 files", 5, FRESH | WHOLE,
                  ".\\7za.exe x -y -ows many.zip", CONFINED ".\\7za.exe x -y -ows many.zip");
}
