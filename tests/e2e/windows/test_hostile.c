/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker under attack: a program in the sandbox that speaks the wire itself. Every request is
 * answered or its sender is dead, the others are served meanwhile, the broker neither grows nor
 * keeps handles, and nothing outside changes.
 */
#include "harness.h"

/* Handles and memory of the launcher, read while it serves. */
struct size {
    unsigned handles;
    size_t memory;
};

static struct size size_of(DWORD pid)
{
    return (struct size){handles_of(pid), memory_of(pid)};
}

static void outside(struct buf *out)
{
    list_tree(path_of("out"), "", out);
}

static void test_broken(void)
{
    auto_buf struct buf out = {0}, before = {0}, after = {0};
    fresh();
    outside(&before);
    int code = confined("--quiet --audit ..\\audit.jsonl", "%P% hostile family", &out);
    outside(&after);
    if (!ok(code == 0 && has(&out, "died 16 of 16, worked 80"),
            "54 sixteen kinds of broken message: each sender dies, its parent is served"))
        note_output(&out);
    FILE *f = fopen(path_of("audit.jsonl"), "rb");
    char line[4096];
    int events = 0;
    while (f && fgets(line, sizeof line, f))
        events += strstr(line, "process.malformed") != NULL;
    if (f)
        fclose(f);
    ok(events > 0, "54 the audit says so");
    ok(before.n > 0 && str_eq(buf_str(&before), buf_str(&after)), "54 nothing outside changed");
    fresh();
    ok(run("%P% hostile family", NULL) == 2, "54 control: without the sandbox there is no wire");
}

/* Children that nobody brings the agent into: ended before they do anything. */
static void test_unasked(void)
{
    static const char *const ways[][2] = {
        {"asked", "asked for and never said to be made"},
        {"silent", "not even asked for"},
        {"resumed", "made suspended, then let go"},
        {"behind", "behind another that keeps the broker waiting"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_buf struct buf out = {0}, line = {0};
        buf_fmt(&line, "%%P%% hostile unasked %s ..\\out\\new", ways[i][0]);
        fresh();
        confined(NULL, buf_cstr(&line), &out);
        Sleep(1200);
        bool stopped = !exists("out\\new"), said = has(&out, "process.unasked");
        fresh();
        run(buf_cstr(&line), NULL);
        bool happens = exists("out\\new");
        if (!ok(stopped && said && happens, "54 a child %s", ways[i][1])) {
            note("stopped %d, said %d, happens without the sandbox %d", stopped, said, happens);
            note_output(&out);
        }
    }
}

/* Two hostile processes and an honest one in one run; sizes after the first part and at the end. */
static void test_requests(unsigned rounds, unsigned each)
{
    auto_buf struct buf before = {0}, after = {0}, line = {0};
    struct size first = {0}, last = {0};
    unsigned answered = 0, granted = 0;
    bool good = true;
    fresh();
    outside(&before);
    struct command keeper = confined_start("--quiet", "%P% serve-lines ..\\lines");
    for (unsigned i = 0; i < rounds && good; i++) {
        auto_buf struct buf text = {0}, answer = {0};
        buf_fmt(&text, "%s hostile requests %u %u ..\\out", probe, each, i);
        tell_line(buf_cstr(&text));
        char chunk[256];
        unsigned a = 0, g = 0;
        read_done(chunk, sizeof chunk);
        good = strstr(chunk, "code 0") && sscanf(chunk, "answered %u, granted %u", &a, &g) == 2;
        if (!good)
            note("round %u: %s", i, chunk);
        answered += a;
        granted += g;
        /* The broker lets go of a process a moment after its end. */
        for (int waited = 0; waited < 50; waited++) {
            last = size_of(keeper.pid);
            if (i == 0 ? waited == 5 : last.handles <= first.handles)
                break;
            Sleep(100);
        }
        if (i == 0)
            first = last;
    }
    tell_line("end");
    int code = command_end(&keeper, 30000, &line);
    outside(&after);
    if (!ok(good && code == 0 && granted > 0, "54 %u hostile requests answered, %u opens granted",
            answered, granted))
        note_output(&line);
    ok(str_eq(buf_str(&before), buf_str(&after)), "54 nothing outside changed");
    ok(first.handles > 0 && last.handles <= first.handles + 4,
       "54 the launcher's handles stay flat: %u, then %u", first.handles, last.handles);
    ok(first.memory > 0 && last.memory < first.memory + (4u << 20),
       "54 its memory stays flat: %u KiB, then %u KiB", (unsigned)(first.memory >> 10),
       (unsigned)(last.memory >> 10));
}

static void test_race(unsigned count)
{
    auto_buf struct buf out = {0}, before = {0}, after = {0}, line = {0};
    fresh();
    outside(&before);
    buf_fmt(&line, "%%P%% hostile race %u 1 ..\\out", count);
    int code = confined("--quiet", buf_cstr(&line), &out);
    unsigned granted = 0, refused = 0;
    sscanf(buf_cstr(&out), "granted %u, refused %u", &granted, &refused);
    outside(&after);
    if (!ok(code == 0 && granted > 0 && refused > 0,
            "54 a name exchanged while it is read: %u granted, %u refused", granted, refused))
        note_output(&out);
    ok(str_eq(buf_str(&before), buf_str(&after)), "54 nothing outside changed");
}

static void test_replay(unsigned count)
{
    auto_buf struct buf out = {0}, line = {0};
    fresh();
    buf_fmt(&line, "cmd /c \"%%P%% hostile replay %u && echo x> new\"", count);
    int code = confined("--quiet", buf_cstr(&line), &out);
    if (!ok(code == 0 && has(&out, "answered") && exists("ws\\new"),
            "54 replayed, reordered, taken back, the semaphore flooded: the others are served"))
        note_output(&out);
}

/* More threads than slots and as many workers as there may be: none is woken in vain. */
static void test_storm(unsigned rounds)
{
    bool good = true;
    fresh();
    for (unsigned i = 0; i < rounds && good; i++)
        good = confined("--quiet", i % 2 ? "%P% storm 3 4000" : "%P% storm 12 1000", NULL) == 0;
    ok(good, "55 threads that ask without a pause are all answered");
}

static void test_held(void)
{
    auto_buf struct buf out = {0};
    fresh();
    uint64_t begin = GetTickCount64();
    int code = confined("--quiet", "%P% hostile held", &out);
    if (!ok(code == 0 && has(&out, "held, 8 slots") && exists("ws\\held-0") &&
                GetTickCount64() - begin < 20000,
            "54 a thread that stands still with a slot holds up no other"))
        note("code %d", code), note_output(&out);
}

int main(void)
{
    harness_make("hostile");
    bool soak = harness_soak();
    test_broken();
    test_unasked();
    test_requests(soak ? 100 : 5, soak ? 10000 : 20000);
    test_race(soak ? 100000 : 5000);
    test_storm(soak ? 50 : 2);
    test_held();
    test_replay(soak ? 100000 : 5000);
    return harness_done();
}
