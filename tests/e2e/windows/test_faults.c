/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of the launcher and the broker that can fail is made to fail, one in each run: nothing
 * outside changes, nothing hangs, nothing stays behind; the command does not run, or what it asked
 * for is refused. tests/doubles/faults.h says how.
 */
#include "../../doubles/faults.h"
#include "harness.h"

/* The work inside: a write outside first, then one of everything that the broker serves. */
#define WORK                                                                             \
    "canary; write new; append file more; mkdir d; rename new d\\n; link d\\n l; "       \
    "read-only l; times file; unlink d\\n; write %TEMP%\\t; objects; connect 1; udp 1; " \
    "registry Software\\CordonFaults; copy secret got; child 1; write ..\\out\\file; "   \
    "write second"

#define PIPE "\\\\.\\pipe\\cordon-test-faults"

static const struct {
    const char *name, *options, *first; /* of the work */
} variants[] = {
    {"a run", "", ""},
    {"with everything",
     "--root . --deny-read secret --audit ..\\log --audit-all --git=commit --timeout 60 "
     "--net=proxy=127.0.0.1:9",
     ""},
    {"a proxy of its own", "--root . --temp=session=faults --net=allow=a.test", ""},
    {"asking", "--root . --deny-read secret --ask-timeout 5 --ask-pipe " PIPE,
     "write ..\\extra\\new; rename own ..\\extra\\left; read-only ..\\extra\\new; "},
};

static struct fault_table *table;
static uint64_t tried[FAULT_PLACES];
static size_t tried_count;
static char faults[MAX_PATH], inside[MAX_PATH];
static volatile LONG asked;

/* Answers the questions of one run after the other: once about what is in extra, else no. */
static DWORD WINAPI answer(void *context)
{
    static char line[1 << 16];
    (void)context;
    for (;;) {
        HANDLE pipe = CreateNamedPipeA(PIPE, PIPE_ACCESS_DUPLEX, 0, PIPE_UNLIMITED_INSTANCES, 65536,
                                       65536, 0, NULL);
        size_t n = 0;
        DWORD one;
        char reply[64];
        bool there = ConnectNamedPipe(pipe, NULL) || GetLastError() == ERROR_PIPE_CONNECTED;
        while (there && ReadFile(pipe, line + n, 1, &one, NULL) && one == 1) {
            if (line[n] != '\n') {
                n += n < sizeof line - 2;
                continue;
            }
            line[n] = '\0';
            n = 0;
            const char *id = strstr(line, "\"id\":"), *target = strstr(line, "\"target\":\"");
            if (!id || !target || !strstr(line, "\"choices\""))
                continue;
            struct str name = {target, strcspn(target + 10, "\"") + 10};
            snprintf(reply, sizeof reply, "{\"id\":%lu,\"answer\":\"%s\"}\n",
                     strtoul(id + 5, NULL, 10),
                     str_find(name, STR("extra"), 0) < name.n ? "once" : "no");
            WriteFile(pipe, reply, (DWORD)strlen(reply), &one, NULL);
            InterlockedIncrement(&asked);
        }
        CloseHandle(pipe);
    }
    return 0;
}

static int attempt(size_t v, uint64_t at, bool *hangs, struct buf *out)
{
    enum { PATIENCE_MS = 30000 };
    auto_buf struct buf line = {0};
    char number[32];
    fresh();
    put("ws\\secret", "SECRET");
    put("ws\\own", "own");
    remove_tree(path_of("extra"));
    CreateDirectoryA(path_of("extra"), NULL);
    remove_tree(path_of("tmp"));
    CreateDirectoryA(path_of("tmp"), NULL);
    DeleteFileA(path_of("log"));
    memset(table, 0, sizeof *table);
    snprintf(number, sizeof number, "%llu", (unsigned long long)at);
    SetEnvironmentVariableA("CORDON_FAULT_AT", number);
    buf_fmt(&line, "\"%s\" run %s -- \"%s\" --probe \"%s%s\"", faults, variants[v].options, inside,
            variants[v].first, WORK);
    uint64_t begin = GetTickCount64();
    struct command c = command_start(buf_cstr(&line));
    int code = command_end(&c, PATIENCE_MS, out);
    *hangs = GetTickCount64() - begin >= PATIENCE_MS;
    return code;
}

static bool temp_is_clean(size_t v)
{
    auto_buf struct buf names = {0};
    list_tree(path_of("tmp"), "", &names);
    return names.n == 0 || strstr(variants[v].options, "session");
}

/* The first thing that is wrong after a run, whatever failed in it; NULL: nothing is. */
static const char *what_is_wrong(size_t v, int code, bool hangs, const struct buf *out)
{
    if (!is_text("out\\file", "old") || exists("out\\canary") || holds("KSoftware\\CordonFaults"))
        return "outside has changed";
    if (!is_text("ws\\own", "own") && !is_text("extra\\left", "own"))
        return "a file that was to leave is lost";
    if (hangs)
        return "it hangs";
    if (code < 0 || code > 255)
        return "it crashed";
    if (!gone_within("inside-faults.exe", 3000))
        return "a process was left";
    if (!temp_is_clean(v))
        return "a folder was left";
    if (code == 125 && !has(out, "cordon: "))
        return "it failed without a word";
    if (code == 125 && exists("ws\\second"))
        return "it says that nothing ran, and all of it did";
    return NULL;
}

static void check(size_t v)
{
    static struct fault_place places[FAULT_PLACES];
    unsigned count = 0, refused = 0, bad = 0, hit = 0;
    bool hangs;
    auto_buf struct buf out = {0};
    int code = attempt(v, 0, &hangs, &out);
    const char *wrong = what_is_wrong(v, code, hangs, &out);
    if (!ok(!wrong && exists("ws\\second"), "%s: all is well where nothing fails",
            variants[v].name)) {
        note("%s, code %d", wrong ? wrong : "", code);
        note_output(&out);
    }
    memcpy(places, table->places, sizeof places);
    for (size_t i = 0; i < FAULT_PLACES; i++) {
        bool again = false;
        for (size_t j = 0; j < tried_count; j++)
            again = again || tried[j] == places[i].at;
        if (!places[i].at || again)
            continue;
        tried[tried_count++] = places[i].at;
        buf_reset(&out);
        code = attempt(v, places[i].at, &hangs, &out);
        wrong = what_is_wrong(v, code, hangs, &out);
        count++;
        hit += table->failed > 0;
        refused += code == 125;
        if (wrong) {
            bad++;
            note("%s at %llx: %s, code %d", places[i].name, (unsigned long long)places[i].at, wrong,
                 code);
            note_output(&out);
        }
    }
    ok(bad == 0 && hit >= count * 9 / 10, "%s: %u calls made to fail, %u did, %u runs refused",
       variants[v].name, count, hit, refused);
}

/* A query about a handle of the tree can take as long as the tree likes: it holds up one thread. */
static void test_stands_still(void)
{
    auto_buf struct buf line = {0}, out = {0};
    fresh();
    SetEnvironmentVariableA("CORDON_TEST_STAND_STILL", "60000");
    buf_fmt(&line, "\"%s\" run -- \"%s\" stand-still", faults, probe);
    uint64_t begin = GetTickCount64();
    int code = run(buf_cstr(&line), &out);
    SetEnvironmentVariableA("CORDON_TEST_STAND_STILL", NULL);
    if (!ok(code == 0 && has(&out, "made 1") && has(&out, "moved 0") && exists("ws\\beside") &&
                GetTickCount64() - begin < 30000,
            "a request that stands still in the broker holds up no other of its process"))
        note_output(&out);
}

int main(void)
{
    harness_make("faults");
    fresh();
    GetFullPathNameA(CORDON_FAULTS, sizeof faults, faults, NULL);
    test_stands_still();
    snprintf(inside, sizeof inside, "%s\\inside-faults.exe", top);
    CopyFileA(selftest_program, inside, FALSE);
    HANDLE file = CreateFileA(path_of("table"), GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, CREATE_ALWAYS, 0, NULL);
    HANDLE section = CreateFileMappingA(file, NULL, PAGE_READWRITE, 0, sizeof *table, NULL);
    table = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    if (!table)
        return 1;
    SetEnvironmentVariableA("CORDON_FAULT_FILE", path_of("table"));
    SetEnvironmentVariableA("TEMP", path_of("tmp"));
    SetEnvironmentVariableA("TMP", path_of("tmp"));
    CloseHandle(CreateThread(NULL, 0, answer, NULL, 0, NULL));
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(i);
    ok(asked > 20, "questions were asked and answered (%ld)", asked);
    ok(tried_count >= 120, "%u places in all", (unsigned)tried_count);
    UnmapViewOfFile(table);
    CloseHandle(section);
    CloseHandle(file);
    return harness_done();
}
