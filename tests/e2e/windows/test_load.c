/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: 200 processes with 1,000 threads that ask at once, a tree of short processes, many files,
 * much through stdin and stdout. All is answered rightly, and the launcher's memory and handles
 * stay flat. The long form (CORDON_SOAK) has 2,000 processes, 50,000 files and 4 GB.
 */
#include "harness.h"

/* The launcher's size: after its first part of the work, and the most since then. */
struct size {
    unsigned handles, most_handles;
    size_t memory, most_memory;
};

static void look(DWORD pid, struct size *s, bool first)
{
    unsigned handles = handles_of(pid);
    size_t memory = memory_of(pid);
    if (!handles || !memory)
        return;
    if (first)
        *s = (struct size){handles, handles, memory, memory};
    s->most_handles = handles > s->most_handles ? handles : s->most_handles;
    s->most_memory = memory > s->most_memory ? memory : s->most_memory;
}

static bool is_flat(const struct size *s)
{
    return s->handles && s->most_handles <= s->handles + 120 &&
           s->most_memory <= s->memory + (8u << 20);
}

static unsigned count_files(const char *name)
{
    auto_buf struct buf names = {0};
    unsigned count = 0;
    char pattern[2 * MAX_PATH];
    WIN32_FIND_DATAA found;
    snprintf(pattern, sizeof pattern, "%s\\*", path_of(name));
    HANDLE find = FindFirstFileA(pattern, &found);
    if (find == INVALID_HANDLE_VALUE)
        return 0;
    do
        count += found.cFileName[0] != '.';
    while (FindNextFileA(find, &found));
    FindClose(find);
    return count;
}

/* The work once inside; how long it took. files: how many must lie in ws\sub at the end. */
static void work(const char *what, const char *line, unsigned files)
{
    auto_buf struct buf out = {0};
    struct size size = {0};
    fresh();
    uint64_t begin = GetTickCount64();
    struct command c = confined_start("--quiet", line);
    for (int i = 0; WaitForSingleObject(c.process, 250) == WAIT_TIMEOUT && i < 4000; i++)
        look(c.pid, &size, i < 8);
    int code = command_end(&c, 1000, &out);
    unsigned made = count_files("ws\\sub");
    if (!ok(code == 0 && has(&out, "wrong 0") && made == files && is_text("out\\file", "old") &&
                !exists("out\\crowd"),
            "%s: %u ms, handles %u, at most %u, memory %u KiB, at most %u", what,
            (unsigned)(GetTickCount64() - begin), size.handles, size.most_handles,
            (unsigned)(size.memory >> 10), (unsigned)(size.most_memory >> 10))) {
        note("code %d, %u files", code, made);
        note_output(&out);
    }
}

/* One run that works for so many seconds. */
static void steady(unsigned seconds)
{
    auto_buf struct buf line = {0};
    struct size size = {0};
    fresh();
    buf_fmt(&line, "%%P%% churn sub %u000", seconds);
    struct command c = confined_start("--quiet", buf_cstr(&line));
    uint64_t begin = GetTickCount64(), spent = 0;
    for (unsigned looks = 0;
         WaitForSingleObject(c.process, 1000) == WAIT_TIMEOUT && spent < seconds + 60; looks++) {
        look(c.pid, &size, looks < 10);
        spent = (GetTickCount64() - begin) / 1000;
    }
    int code = command_end(&c, 1000, NULL);
    ok(code == 0 && spent + 5 >= seconds && is_flat(&size) && is_text("out\\file", "old"),
       "%u s of work: %u s, code %d, handles %u, at most %u, memory %u KiB, at most %u", seconds,
       (unsigned)spent, code, size.handles, size.most_handles, (unsigned)(size.memory >> 10),
       (unsigned)(size.most_memory >> 10));
}

struct feeder {
    HANDLE to;
    uint64_t left, sum;
};

static uint64_t mix(uint64_t sum, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ words[i]) * 1099511628211u;
    return sum;
}

static DWORD WINAPI feed(void *context)
{
    static uint64_t block[8192];
    struct feeder *f = context;
    DWORD done;
    for (uint64_t turn = 0; f->left; turn++) {
        for (size_t i = 0; i < 8192; i += 64)
            block[i] = turn * 31 + i;
        f->sum = mix(f->sum, block, 8192);
        if (!WriteFile(f->to, block, sizeof block, &done, NULL) || done != sizeof block)
            break;
        f->left -= sizeof block;
    }
    CloseHandle(f->to);
    return 0;
}

static void stream(uint64_t blocks)
{
    static union {
        uint64_t words[8192];
        char bytes[65536];
    } piece;
    auto_buf struct buf line = {0};
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    PROCESS_INFORMATION made = {0};
    HANDLE in, feed_end, read_end, out;
    struct size size = {0};
    DWORD n, code = 999;
    fresh();
    CreatePipe(&in, &feed_end, &inherit, 1 << 20);
    CreatePipe(&read_end, &out, &inherit, 1 << 20);
    SetHandleInformation(feed_end, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = in,
                            .hStdOutput = out,
                            .hStdError = out};
    expand(&line, "%C% run --quiet -- %S% --probe cat");
    bool started = CreateProcessA(NULL, (char *)buf_cstr(&line), NULL, NULL, TRUE, 0, NULL,
                                  path_of("ws"), &startup, &made);
    CloseHandle(in);
    CloseHandle(out);
    struct feeder f = {feed_end, blocks * sizeof piece, 1};
    uint64_t begin = GetTickCount64(), total = 0, sum = 1, seen = 0;
    HANDLE thread = CreateThread(NULL, 0, feed, &f, 0, NULL);
    DWORD held = 0;
    while (started && ReadFile(read_end, piece.bytes + held, sizeof piece - held, &n, NULL) && n) {
        total += n;
        held += n;
        if (held == sizeof piece) {
            sum = mix(sum, piece.words, 8192);
            held = 0;
        }
        if (total >> 24 != seen) {
            seen = total >> 24;
            look(made.dwProcessId, &size, seen <= 2);
        }
    }
    WaitForSingleObject(thread, 10000);
    WaitForSingleObject(made.hProcess, 10000);
    GetExitCodeProcess(made.hProcess, &code);
    unsigned ms = (unsigned)(GetTickCount64() - begin);
    ok(started && code == 0 && f.left == 0 && total == blocks * sizeof piece && sum == f.sum &&
           is_flat(&size),
       "%u MB through stdin and stdout: %u MB/s, memory %u KiB, at most %u",
       (unsigned)(total / 1000000), (unsigned)(total / 1000 / (ms ? ms : 1)),
       (unsigned)(size.memory >> 10), (unsigned)(size.most_memory >> 10));
    CloseHandle(thread);
    CloseHandle(read_end);
    CloseHandle(made.hProcess);
    CloseHandle(made.hThread);
}

int main(void)
{
    bool soak = harness_soak();
    harness_make("load");
    const char *seconds = getenv("CORDON_STEADY");
    if (seconds) {
        steady((unsigned)atoi(seconds));
        return harness_done();
    }
    work("200 processes and 1,000 threads that ask at once", "%P% crowd sub 200 5", 1000);
    if (soak) {
        work("2,000 short processes", "%P% short sub 2000", 2000);
        work("50,000 files by 50 threads", "%P% threads sub 50 1000", 0);
    } else {
        work("200 short processes", "%P% short sub 200", 200);
        work("2,000 files by 20 threads", "%P% threads sub 20 100", 0);
    }
    stream(soak ? 61036 : 1600);
    return harness_done();
}
