/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deaths at any moment: programs killed in the middle of their requests (no worker stuck, no handle
 * left, no file half-renamed), and the launcher killed (promise 53: the tree is dead within a
 * second, nothing half-granted).
 */
#include "harness.h"

static uint64_t seed = 88172645463325252u;

static unsigned next(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

/* Every file of churn is whole: its content says its name, or it is empty because its writer died
   before it wrote; and no more files than there are names. */
static bool is_whole(const char *folder, unsigned *files)
{
    WIN32_FIND_DATAA found;
    char pattern[2 * MAX_PATH], path[2 * MAX_PATH], text[200];
    bool good = true;
    snprintf(pattern, sizeof pattern, "%s\\*", path_of(folder));
    HANDLE find = FindFirstFileA(pattern, &found);
    *files = 0;
    if (find == INVALID_HANDLE_VALUE)
        return false;
    do {
        if (found.cFileName[0] == '.')
            continue;
        ++*files;
        snprintf(path, sizeof path, "%s\\%s", path_of(folder), found.cFileName);
        FILE *f = fopen(path, "rb");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
            fclose(f);
        text[n] = 0;
        bool known =
            strncmp(found.cFileName, "a-", 2) == 0 || strncmp(found.cFileName, "b-", 2) == 0;
        if (!f || !known || (n > 0 && strcmp(text, found.cFileName + 2) != 0)) {
            note("%s holds %s", found.cFileName, text);
            good = false;
        }
    } while (FindNextFileA(find, &found));
    FindClose(find);
    return good;
}

/* One launcher that lives through all of it: its children are killed one after the other. */
static void test_children(unsigned kills)
{
    auto_buf struct buf out = {0}, options = {0};
    unsigned files = 0, died = 0, first = 0, last = 0;
    fresh();
    CreateDirectoryA(path_of("ws\\churn"), NULL);
    put("lines", "");
    struct command c = confined_start("--quiet", "%P% serve-lines ..\\lines");
    for (unsigned i = 0; i < kills; i++) {
        auto_buf struct buf text = {0};
        buf_fmt(&text, "%s killer churn %u %u", probe, next(60), i);
        tell_line(buf_cstr(&text));
        char said[200] = "";
        size_t n = read_done(said, sizeof said);
        bool right = n > 0 && strstr(said, "killed") && strstr(said, "code 0");
        if (!right)
            note("program %u: %s", i, said);
        died += right;
        if (i == 4)
            Sleep(300), first = handles_of(c.pid);
    }
    Sleep(300);
    last = handles_of(c.pid);
    tell_line("end");
    uint64_t begin = GetTickCount64();
    int code = command_end(&c, 20000, &out);
    unsigned took = (unsigned)(GetTickCount64() - begin);
    if (!ok(died == kills && code == 0, "%u programs killed at a random moment, %u died of it",
            kills, died))
        note_output(&out);
    ok(took < 5000, "no worker was stuck: the run ended within %u ms", took);
    ok(first > 0 && last <= first + 3, "no handle was left: %u, then %u", first, last);
    bool whole = is_whole("ws\\churn", &files);
    ok(whole && files > 0, "no file was half-renamed: %u files whole", files);
}

/* The launcher is killed while its tree is at work. */
static void test_launcher(unsigned kills)
{
    unsigned alive = 0, slowest = 0, files = 0, worked = 0;
    bool whole = true, outside = true;
    for (unsigned i = 0; i < kills; i++) {
        fresh();
        CreateDirectoryA(path_of("ws\\churn"), NULL);
        struct command c = confined_start("--quiet", "%P% child \"%P% churn churn 60000\"");
        for (int waited = 0; waited < 1000 && !exists("ws\\churn\\b-0-1"); waited++)
            Sleep(10);
        worked += processes_named("probe-kill.exe") >= 2;
        Sleep(next(100));
        HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, c.pid);
        TerminateProcess(process ? process : c.process, 9);
        uint64_t begin = GetTickCount64();
        alive += !gone_within("probe-kill.exe", 5000);
        unsigned took = (unsigned)(GetTickCount64() - begin);
        slowest = took > slowest ? took : slowest;
        if (process)
            CloseHandle(process);
        command_end(&c, 1000, NULL);
        whole = whole && is_whole("ws\\churn", &files);
        outside = outside && is_text("out\\file", "old") && is_text("out\\secret", "secret");
        /* The next run removes the temp folder that the dead run left. */
    }
    ok(worked == kills && alive == 0 && slowest < 1000,
       "53 the launcher killed %u times: its tree is dead within %u ms", kills, slowest);
    ok(whole && outside, "53 nothing half-granted");
    /* Control: the same tree without a launcher lives on when its starter dies. */
    fresh();
    CreateDirectoryA(path_of("ws\\churn"), NULL);
    struct command c = command_start("%P% child \"%P% churn churn 4000\"");
    for (int waited = 0; waited < 1000 && !exists("ws\\churn\\b-0-1"); waited++)
        Sleep(10);
    TerminateProcess(c.process, 9);
    bool lives = !gone_within("probe-kill.exe", 1000);
    ok(lives && gone_within("probe-kill.exe", 20000),
       "53 control: without the sandbox the tree lives on");
    command_end(&c, 1000, NULL);
}

int main(void)
{
    harness_make("kill");
    bool soak = harness_soak();
    test_children(soak ? 500 : 50);
    test_launcher(soak ? 100 : 5);
    return harness_done();
}
