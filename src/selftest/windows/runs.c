/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about whole runs: their end, their load, what they leave behind. One function each. */
#include "selftest/windows/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void try_timeout(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "--timeout 1: child 1; wait 2500; write late", "the same without a time-out");
    world_run(w, "", "child 1; wait 300; write in-time", &escaped);
    bool control = world_check(w, "exists in-time");
    int code = world_run(w, "--timeout 1", "child 1; wait 3000; write late", &escaped);
    Sleep(2500);
    attempt_conclude(line, escaped, control,
                     code == 124 && !world_check(w, "exists late") && world_outside_unchanged(w),
                     "the tree went on, or the code is not 124");
}

static uint64_t written_at(const struct selftest_world *w)
{
    WIN32_FILE_ATTRIBUTE_DATA d = {0};
    uint64_t newest = 0;
    for (int i = 0; i < 1000; i += 50) {
        char name[60];
        snprintf(name, sizeof name, "ws\\sub\\many-%d", i);
        if (!GetFileAttributesExA(world_path(w, name), GetFileExInfoStandard, &d))
            continue;
        uint64_t time =
            (uint64_t)d.ftLastWriteTime.dwHighDateTime << 32 | d.ftLastWriteTime.dwLowDateTime;
        newest = time > newest ? time : newest;
    }
    return newest;
}

static void try_killed(struct selftest_world *w, struct selftest_line *line)
{
    world_fresh(w);
    attempt_say(line, "child 1; many sub 1000000 20000; the launcher is killed",
                "before that, writes happen");
    HANDLE launcher = world_start(w, "", "child 1; many sub 1000000 20000");
    /* On a busy machine it takes a while until they do. */
    uint64_t one = 0, two = 0;
    for (int i = 0; i < 200 && two <= one; i++) {
        Sleep(50);
        two = written_at(w);
        one = one ? one : two;
    }
    bool escaped = world_check(w, "exists ..\\out\\canary");
    TerminateProcess(launcher, 9);
    world_wait(launcher);
    Sleep(900);
    uint64_t three = written_at(w);
    Sleep(700);
    attempt_conclude(line, escaped, one && two > one, three == written_at(w),
                     "the tree went on writing");
}

static void try_garbage(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "a child sends a broken request and writes; then its parent writes",
                "without the broken request the child writes");
    bool control = world_run(w, "", "child 1; write alone", &escaped) == 0;
    world_tool(w, "", "cmd /c \"@SELF --probe garbage & echo x> after\"", NULL);
    bool lived = world_run(w, "", "garbage; write too-late", &escaped) == 0;
    attempt_conclude(line, escaped, control && world_check(w, "exists alone"),
                     !lived && !world_check(w, "exists too-late") && world_check(w, "exists after"),
                     lived ? "the sender lived on" : "its parent was not served any more");
}

static void try_crowd(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    attempt_say(line, "mkdir d; crowd d all 5 200", RO ": mkdir d; crowd d all 5 4");
    world_fresh(w);
    world_run(w, RO, "mkdir d; crowd d all 5 4", &escaped);
    bool control = !world_check(w, "exists d");
    int code = world_run(w, "", "mkdir d; crowd d all 5 200", &escaped);
    attempt_conclude(line, escaped, control, code == 0 && world_check(w, "count d 1000"),
                     "it had no effect");
}

struct feeder {
    HANDLE to;
    uint64_t left, sum;
};

static uint64_t mix(uint64_t sum, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, n - i < 8 ? n - i : 8);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

static DWORD WINAPI feed(void *context)
{
    struct feeder *f = context;
    static unsigned char block[64000];
    for (uint64_t turn = 0; f->left; turn++) {
        DWORD n = f->left < sizeof block ? (DWORD)f->left : sizeof block, done;
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (unsigned char)(i * 31 + turn);
        f->sum = mix(f->sum, block, n);
        if (!WriteFile(f->to, block, n, &done, NULL) || done != n)
            break;
        f->left -= n;
    }
    CloseHandle(f->to);
    return 0;
}

/* 56: every block is a multiple of 8, so that the sums can be compared whatever the pieces are. */
static void try_streams(struct selftest_world *w, struct selftest_line *line)
{
    enum { SIZE = 100000000, PIECE = 64000 };
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE in, feed_end, read_end, out;
    char command[2 * WORLD_PATH + 100];
    bool escaped = false;
    unsigned char *all = malloc(PIECE);
    world_fresh(w);
    attempt_say(line, "100 MB through a run, 42 as exit code",
                "the sum of the bytes that were sent");
    CreatePipe(&in, &feed_end, &inherit, PIECE);
    CreatePipe(&read_end, &out, &inherit, PIECE);
    SetHandleInformation(feed_end, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
    snprintf(command, sizeof command, "\"%s\" run --quiet -- \"%s\" --probe cat", w->program,
             w->self);
    HANDLE process = world_spawn(w, command, in, out);
    CloseHandle(in);
    CloseHandle(out);
    struct feeder f = {feed_end, SIZE, 1};
    HANDLE thread = CreateThread(NULL, 0, feed, &f, 0, NULL);
    uint64_t sum = 1, total = 0;
    DWORD n, held = 0;
    while (all && ReadFile(read_end, all + held, PIECE - held, &n, NULL) && n > 0) {
        held += n;
        total += n;
        DWORD whole = total == SIZE ? held : held & ~7u;
        sum = mix(sum, all, whole);
        memmove(all, all + whole, held - whole);
        held -= whole;
    }
    WaitForSingleObject(thread, 10000);
    CloseHandle(thread);
    CloseHandle(read_end);
    free(all);
    bool ended = world_wait(process) == 0;
    bool code = world_run(w, "", "code 42", &escaped) == 42;
    attempt_conclude(line, escaped, f.left == 0, ended && total == SIZE && sum == f.sum && code,
                     "bytes or the exit code changed");
}

static void list_world(const struct selftest_world *w, char *out, size_t capacity)
{
    static const char *const folders[] = {"out", "extra", "host", "."};
    size_t n = 0;
    HKEY key;
    DWORD keys = 0;
    char temp[MAX_PATH + 8];
    GetTempPathA(MAX_PATH, temp);
    for (size_t i = 0; i < 5; i++) {
        WIN32_FIND_DATAA found;
        char pattern[3 * WORLD_PATH];
        snprintf(pattern, sizeof pattern, "%s\\*", i < 4 ? world_path(w, folders[i]) : temp);
        HANDLE find = FindFirstFileA(pattern, &found);
        if (find == INVALID_HANDLE_VALUE)
            continue;
        do
            if (n + 320 < capacity)
                n += (size_t)snprintf(
                    out + n, capacity - n, "%s %lx %lu\n", found.cFileName,
                    (unsigned long)(i < 3 ? found.ftLastWriteTime.dwLowDateTime : 0),
                    (unsigned long)(i < 3 ? found.nFileSizeLow : 0));
        while (FindNextFileA(find, &found));
        FindClose(find);
    }
    if (RegOpenKeyExA(HKEY_CURRENT_USER, "Software", 0, KEY_READ, &key) == 0) {
        RegQueryInfoKeyA(key, NULL, NULL, NULL, &keys, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        RegCloseKey(key);
    }
    snprintf(out + n, capacity - n, "%lu keys\n", (unsigned long)keys);
}

/* True if the process that wrote its number to ws\left is still there; then it is ended. */
static bool end_left(const struct selftest_world *w)
{
    char image[WORLD_PATH] = "", text[32];
    unsigned long pid = 0;
    DWORD n = sizeof image;
    FILE *f = fopen(world_path(w, "ws\\left"), "rb");
    if (f && fgets(text, sizeof text, f))
        pid = strtoul(text, NULL, 10);
    if (f)
        fclose(f);
    HANDLE process = OpenProcess(
        PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE | SYNCHRONIZE, FALSE, pid);
    if (!process)
        return false;
    bool there = WaitForSingleObject(process, 0) == WAIT_TIMEOUT &&
                 QueryFullProcessImageNameA(process, 0, image, &n) && _stricmp(image, w->self) == 0;
    if (there)
        TerminateProcess(process, 9);
    CloseHandle(process);
    return there;
}

static void try_nothing_left(struct selftest_world *w, struct selftest_line *line)
{
    enum { ROOM = 60000 };
    char *before = calloc(3, ROOM), *after = before + ROOM, *changed = after + ROOM;
    bool escaped = false;
    if (!before)
        return;
    world_fresh(w);
    attempt_say(line, "a run that writes, with a private temp folder and a child left behind",
                "a file and a process made by hand are seen");
    list_world(w, before, ROOM);
    world_run(w, "", "write new; write %TEMP%\\left; leave left; own left; wait 20000", &escaped);
    Sleep(200);
    list_world(w, after, ROOM);
    bool wrote = world_check(w, "exists new") && world_check(w, "holds left \\");
    bool left = end_left(w);
    DeleteFileA(world_path(w, "ws\\left"));
    world_run_free(w, "write ..\\extra\\seen; leave left; own left; wait 20000");
    list_world(w, changed, ROOM);
    bool seen = end_left(w);
    attempt_conclude(line, escaped, wrote && seen && strcmp(after, changed) != 0,
                     !left && strcmp(before, after) == 0, "something was left");
    free(before);
}

static double now(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}

static void try_launch_time(struct selftest_world *w, struct selftest_line *line)
{
    char inside[WORLD_PATH], beside[WORLD_PATH];
    world_fresh(w);
    attempt_say(line, "launch with 5,000 files in the workspace", "launch with a few");
    world_run_free(w, "files many 5000");
    snprintf(inside, sizeof inside, "%s", world_path(w, "ws\\many"));
    snprintf(beside, sizeof beside, "%s", world_path(w, "extra\\many"));
    if (world_check(w, "count many 50"))
        attempt_launches(w, line, inside, beside, now, 0.02);
    else
        attempt_conclude(line, false, false, false, "");
}

/* 65: one run reaches for another's process and temp folder. */
static void try_two_runs(struct selftest_world *w, struct selftest_line *line)
{
    char text[WORLD_PATH] = "", script[2 * WORLD_PATH], temp[WORLD_PATH] = "";
    unsigned long pid = 0;
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "a second run ends the first one's process and writes into its temp folder",
                "the same without the sandbox");
    HANDLE first = world_start(w, "", "own who; wait 20000");
    for (int i = 0; i < 500 && !world_check(w, "holds who \\"); i++)
        Sleep(10);
    FILE *f = fopen(world_path(w, "ws\\who"), "rb");
    if (f) {
        if (fgets(text, sizeof text, f)) {
            char *rest;
            pid = strtoul(text, &rest, 10);
            snprintf(temp, sizeof temp, "%.*s", (int)strcspn(rest + (*rest == ' '), "\r\n"),
                     rest + (*rest == ' '));
        }
        fclose(f);
    }
    snprintf(script, sizeof script, "kill %lu; write %s\\planted", pid, temp);
    world_run(w, "", script, &escaped);
    snprintf(text, sizeof text, "%.500s\\planted", temp);
    bool alive = WaitForSingleObject(first, 0) == WAIT_TIMEOUT;
    bool planted = GetFileAttributesA(text) != INVALID_FILE_ATTRIBUTES;
    world_run_free(w, script);
    bool control = pid && (GetFileAttributesA(text) != INVALID_FILE_ATTRIBUTES ||
                           WaitForSingleObject(first, 3000) == WAIT_OBJECT_0);
    TerminateProcess(first, 9);
    world_wait(first);
    attempt_conclude(line, escaped, control, alive && !planted, "one run reached into the other");
}

bool runs_try(struct selftest_world *w, unsigned n, struct selftest_line *line)
{
    switch (n) {
    case 43: try_timeout(w, line); return true;
    case 53: try_killed(w, line); return true;
    case 54: try_garbage(w, line); return true;
    case 55: try_crowd(w, line); return true;
    case 56: try_streams(w, line); return true;
    case 57: try_nothing_left(w, line); return true;
    case 58: try_launch_time(w, line); return true;
    case 65: try_two_runs(w, line); return true;
    default: return false;
    }
}
