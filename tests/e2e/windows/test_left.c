/*
 * Promise 57: nothing is left on the machine. The temp folder, what lies around the workspace, the
 * user's registry and the list of processes are the same before and after thirty mixed runs, some
 * of them killed.
 */
#include "bed.h"

static void list_folder(const char *path, struct buf *out)
{
    char pattern[MAX_PATH + 8];
    WIN32_FIND_DATAA found;
    snprintf(pattern, sizeof pattern, "%s\\*", path);
    HANDLE find = FindFirstFileA(pattern, &found);
    if (find == INVALID_HANDLE_VALUE)
        return;
    do
        buf_fmt(out, "%s\\%s\n", path, found.cFileName);
    while (FindNextFileA(find, &found));
    FindClose(find);
}

static void list_keys(HKEY parent, const char *name, int depth, struct buf *out)
{
    HKEY key;
    char child[300];
    if (RegOpenKeyExA(parent, name, 0, KEY_READ, &key))
        return;
    for (DWORD i = 0, n = sizeof child; RegEnumKeyA(key, i, child, n) == 0; i++) {
        buf_fmt(out, "key %d %s\n", depth, child);
        if (depth < 4)
            list_keys(key, child, depth + 1, out);
    }
    DWORD values = 0;
    RegQueryInfoKeyA(key, NULL, NULL, NULL, NULL, NULL, NULL, &values, NULL, NULL, NULL, NULL);
    buf_fmt(out, "values %s %lu\n", name, (unsigned long)values);
    RegCloseKey(key);
}

static void list_processes(struct buf *out)
{
    static const char *const names[] = {"cordon.exe", "probe-left.exe", "cmd.exe", "node.exe",
                                        "winebrowser.exe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        buf_fmt(out, "process %s %u\n", names[i], processes_named(names[i]));
}

static void snapshot(struct buf *out)
{
    char folder[MAX_PATH];
    buf_reset(out);
    GetTempPathA(MAX_PATH, folder);
    list_folder(folder, out);
    list_folder(top, out);
    list_tree(path_of("out"), "out ", out);
    for (int i = 0; i < 3; i++) {
        static const char *const variables[] = {"APPDATA", "LOCALAPPDATA", "USERPROFILE"};
        const char *value = getenv(variables[i]);
        if (value)
            list_folder(value, out);
    }
    list_keys(HKEY_CURRENT_USER, "Software", 0, out);
    list_keys(HKEY_CURRENT_USER, "Environment", 0, out);
    list_processes(out);
}

static void killed(const char *line)
{
    struct command c = confined_start("--quiet", line);
    Sleep(400);
    HANDLE launcher = OpenProcess(PROCESS_TERMINATE, FALSE, c.pid);
    TerminateProcess(launcher ? launcher : c.process, 9);
    if (launcher)
        CloseHandle(launcher);
    command_end(&c, 5000, NULL);
}

int main(void)
{
    static const struct {
        const char *options, *line;
    } runs[] = {
        {"", "%P% write new"},
        {"", "cmd /c \"echo x> %TEMP%\\left & mkdir %TEMP%\\d & echo y> %TEMP%\\d\\e\""},
        {"", "%P% write ..\\out\\new"},
        {"--mode read-only", "%P% write new"},
        {"", "%P% child-detached \"%P% sleep 200\""},
        {"--timeout 1", "%P% child \"%P% sleep 20000\""},
        {"", "%P% registry Software\\CordonLeft v"},
        {"", "%P% pipe-inside \\\\.\\pipe\\cordon-left"},
        {"", "nothing-of-that-name"},
        {"", "cmd /c start https://example.com"},
        {"--deny-tool probe-left", "%P% write new"},
        {"", "%P% hostile broken 3"},
        {"--net=on", "%P% udp 127.0.0.1 9"},
        {"--json", "cmd /c \"echo a | more\""},
        {"", "%P% threads sub 4 20"},
    };
    auto_buf struct buf before = {0}, after = {0};
    bed_make("left");
    fresh();
    run("cmd /c echo warm", NULL); /* what Wine itself makes at its first start is not ours */
    confined("--quiet", "cmd /c echo warm", NULL);
    list_processes(&before);
    snapshot(&before);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
            confined(runs[i].options, runs[i].line, NULL);
    for (int i = 0; i < 3; i++)
        killed("cmd /c \"echo x> %TEMP%\\left & %P% sleep 20000\"");
    confined("--quiet", "cmd /c echo last", NULL); /* removes what the killed ones left */
    gone_within("cordon.exe", 3000);
    gone_within("probe-left.exe", 3000);
    snapshot(&after);
    if (!ok(before.n > 500 && str_eq(buf_str(&before), buf_str(&after)),
            "57 thirty runs and three killed ones leave nothing")) {
        struct str a = buf_str(&before), b = buf_str(&after);
        size_t at = 0;
        while (at < a.n && at < b.n && a.p[at] == b.p[at])
            at++;
        at = at > 80 ? at - 80 : 0;
        note("before: %.300s", at < a.n ? a.p + at : "");
        note("after: %.300s", at < b.n ? b.p + at : "");
    }
    put("seen", "x");
    snapshot(&after);
    ok(!str_eq(buf_str(&before), buf_str(&after)), "57 control: a file that was left is seen");
    DeleteFileA(path_of("seen"));
    HKEY key;
    RegCreateKeyA(HKEY_CURRENT_USER, "Software\\CordonLeft", &key);
    RegCloseKey(key);
    snapshot(&after);
    ok(!str_eq(buf_str(&before), buf_str(&after)), "57 control: a key that was left is seen");
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonLeft");
    return bed_done();
}
