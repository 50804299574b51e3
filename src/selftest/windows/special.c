/* SPDX-License-Identifier: Apache-2.0 */
/* Promises that need more than a row: each function is one, or the same kind of attempt for
   several. */
#include "selftest/windows/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

/* 22 and 66: programs that are there start and end well; else the probe's own. */
static void try_tools(struct selftest_world *w, struct selftest_line *line,
                      const char *const *tools, size_t count, const char *script)
{
    char command[200];
    bool escaped = false, same = true;
    line->by[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!world_has_tool(tools[i]))
            continue;
        size_t used = strlen(line->by);
        snprintf(line->by + used, sizeof line->by - used, "%s%s", used ? ", " : "", tools[i]);
        world_fresh(w);
        snprintf(command, sizeof command, "%s --version", tools[i]);
        same = same && world_tool(w, NULL, command, NULL) == world_tool(w, "", command, NULL);
    }
    world_fresh(w);
    attempt_say(line, script, "the same without the sandbox");
    bool control = world_run_free(w, script) == 0;
    same = same && world_run(w, "", script, &escaped) == 0;
    attempt_conclude(line, escaped, control, same, "it ended otherwise than without the sandbox");
}

/* 28 and 40: a root that is a link is refused; the folder itself is not. */
static void try_link_root(struct selftest_world *w, struct selftest_line *line, const char *target)
{
    bool escaped = false;
    if (!w->links) {
        attempt_not_tried(line, "this system makes no links");
        return;
    }
    world_fresh(w);
    bool made = world_link(w, world_path(w, "root-link"), target);
    attempt_say(line, "--root ..\\root-link: write new", "--root .: write new");
    int refused = world_run(w, "--root ..\\root-link", "write new", &escaped);
    bool written = world_check(w, "exists new");
    int control = world_run(w, "--root .", "write new", &escaped);
    attempt_conclude(line, escaped, made && control == 0 && world_check(w, "exists new"),
                     refused == 125 && !written, "it was not refused");
}

/* 29, 39, 42: through a link in the workspace. */
static void try_through_link(struct selftest_world *w, struct selftest_line *line,
                             const char *folder, const char *link, const char *script,
                             const char *target)
{
    char file[2 * WORLD_PATH];
    bool escaped = false;
    if (!w->links) {
        attempt_not_tried(line, "this system makes no links");
        return;
    }
    world_fresh(w);
    if (folder)
        CreateDirectoryA(world_path(w, folder), NULL);
    bool made = world_link(w, world_path(w, link), target);
    snprintf(file, sizeof file, "%s\\new", target);
    attempt_say(line, script, "the same without the sandbox");
    world_run_free(w, script);
    bool control = made && GetFileAttributesA(file) != INVALID_FILE_ATTRIBUTES;
    DeleteFileA(file);
    world_run(w, "", script, &escaped);
    attempt_conclude(line, escaped, control, GetFileAttributesA(file) == INVALID_FILE_ATTRIBUTES,
                     "it was written");
    DeleteFileA(file);
}

/* 42: a folder of ours on another drive; under Wine the Unix file system is one. */
static void try_other_drive(struct selftest_world *w, struct selftest_line *line)
{
    char target[WORLD_PATH];
    DWORD drives = GetLogicalDrives();
    for (int letter = 25; letter >= 0; letter--) {
        char root[] = {(char)('A' + letter), ':', '\\', 0};
        UINT type = drives >> letter & 1 ? GetDriveTypeA(root) : DRIVE_UNKNOWN;
        if ((root[0] | 32) == (w->top[0] | 32) || (type != DRIVE_FIXED && type != DRIVE_REMOTE))
            continue;
        world_elsewhere(root[0], GetCurrentProcessId(), target, sizeof target);
        if (!CreateDirectoryA(target, NULL))
            continue;
        try_through_link(w, line, NULL, "ws\\elsewhere", "write elsewhere\\new", target);
        RemoveDirectoryA(target);
        return;
    }
    attempt_not_tried(line, "there is no other drive that this user can write to");
}

static void try_device(struct selftest_world *w, struct selftest_line *line)
{
    static const char *const devices[] = {"\\\\.\\PhysicalDrive0", "\\\\.\\C:"};
    bool escaped = false, control = false, opened = false;
    char script[80];
    world_fresh(w);
    attempt_say(line, "device \\\\.\\PhysicalDrive0",
                "the same device for reading, without the sandbox");
    for (size_t i = 0; i < 2; i++) {
        snprintf(script, sizeof script, "device %s reading", devices[i]);
        control = world_run_free(w, script) == 0 || control;
        snprintf(script, sizeof script, "device %s", devices[i]);
        opened = world_run(w, "", script, &escaped) == 0 || opened;
    }
    if (!control)
        attempt_not_tried(line, "this user cannot open a disk, with or without Cordon");
    else
        attempt_conclude(line, escaped, control, !opened, "a disk was opened");
}

static void try_pipes(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "pipe \\\\.\\pipe\\cordon-selftest-@ME",
                "the same without the sandbox; a pipe of the tree's own inside");
    bool own = world_run(w, "", "objects", &escaped) == 0;
    bool reached = world_run(w, "", "pipe \\\\.\\pipe\\cordon-selftest-@ME", &escaped) == 0;
    bool control = world_run_free(w, "pipe \\\\.\\pipe\\cordon-selftest-@ME") == 0;
    DisconnectNamedPipe(w->pipe);
    attempt_conclude(line, escaped, control && own, !reached, "a server outside was reached");
}

/* 37: the tool is this program under another name. */
static void try_shim(struct selftest_world *w, struct selftest_line *line)
{
    static const char *const ways[] = {"run ..\\host\\ssh.exe host-ran",
                                       "child 2; run ..\\host\\ssh.exe host-ran"};
    bool escaped = false, ran = false, control = true;
    attempt_say(line, "ssh by its name, by its path",
                "the same without the sandbox, and with --allow-tool");
    world_fresh(w);
    CopyFileA(w->self, world_path(w, "ws\\bin\\ssh.exe"), FALSE);
    world_run(w, "", "run bin\\ssh.exe shim-ran", &escaped);
    bool shim = world_check(w, "exists shim-ran");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        world_fresh(w);
        CopyFileA(w->self, world_path(w, "host\\ssh.exe"), FALSE);
        world_run_free(w, ways[i]);
        control = control && world_check(w, "exists host-ran");
        DeleteFileA(world_path(w, "ws\\host-ran"));
        world_run(w, "", ways[i], &escaped);
        ran = ran || world_check(w, "exists host-ran");
    }
    world_run(w, "--allow-tool ssh", ways[0], &escaped);
    control = control && world_check(w, "exists host-ran");
    attempt_conclude(line, escaped, control, shim && !ran,
                     shim ? "the host's ssh ran" : "the shim did not run");
}

/* 38: turned by a native helper under Wine, where alone a link can be turned in one step. */
static bool write_while_turning(struct selftest_world *w, bool confined, bool *escaped, bool *able)
{
    char *(CDECL * unix_name)(const wchar_t *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    wchar_t wide[WORLD_PATH];
    char line[4000];
    world_fresh(w);
    world_wide(wide, WORLD_PATH, L"", w->top);
    char *top = unix_name ? unix_name(wide) : NULL;
    if (!top)
        return false;
    snprintf(line, sizeof line,
             "\\\\?\\unix\\usr\\bin\\perl -e \"chdir shift; for my $i (1..10000) { symlink($i %% 2 "
             "? 'ws/in' : 'out/dir', 'next'); symlink($i %% 2 ? 'in' : '../out/dir', 'ws/next'); "
             "rename('ws/next', 'ws/turn'); unlink 'next'; select(undef, undef, undef, 0.0002) "
             "unless $i %% 4; } open(my $f, '>', 'turned');\" \"%s\"",
             top);
    HeapFree(GetProcessHeap(), 0, top);
    HANDLE helper = world_spawn(w, line, NULL, NULL);
    for (int i = 0; i < 300 && !world_check(w, "exists turn"); i++)
        Sleep(10);
    *able = world_check(w, "exists turn");
    while (*able && GetFileAttributesA(world_path(w, "turned")) == INVALID_FILE_ATTRIBUTES) {
        if (confined)
            world_run(w, "", "many turn 400; many turn 400", escaped);
        else
            world_run_free(w, "many turn 400; many turn 400");
    }
    if (helper)
        CloseHandle(helper);
    DeleteFileA(world_path(w, "turned"));
    return !world_check(w, "count ..\\out\\dir 0");
}

static void try_turning(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false, able = false;
    attempt_say(line, "many turn 800, again and again while the link turns 10,000 times",
                "the same without the sandbox");
    bool control = write_while_turning(w, false, &escaped, &able);
    if (!able) {
        attempt_not_tried(line, "no helper here can turn a link in one step");
        return;
    }
    bool changed = write_while_turning(w, true, &escaped, &able);
    attempt_conclude(line, escaped, control, !changed, "something was written outside");
}

/* Running programs of this name. */
static unsigned count_programs(const char *name)
{
    unsigned count = 0;
    PROCESSENTRY32 entry = {.dwSize = sizeof entry};
    wchar_t wide[80];
    world_wide(wide, 80, L"", name);
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    if (Process32First(all, &entry))
        do
            count += _wcsicmp(entry.szExeFile, wide) == 0;
        while (Process32Next(all, &entry));
    CloseHandle(all);
    return count;
}

/* Programs that a URL would open; other programs come and go on a machine in use. */
static unsigned count_browsers(void)
{
    static const char *const names[] = {"winebrowser.exe", "iexplore.exe", "msedge.exe",
                                        "chrome.exe",      "firefox.exe",  "brave.exe",
                                        "opera.exe"};
    unsigned count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        count += count_programs(names[i]);
    return count;
}

static void try_url(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "shell https://cordon.test/; cmd /c start https://cordon.test/",
                "the shell starts this program without the sandbox");
    world_run_free(w, "shell @SELF opened");
    bool control = world_check(w, "exists opened");
    unsigned before = count_browsers();
    bool handed = world_run(w, "", "shell https://cordon.test/", &escaped) == 0;
    handed = world_run(w, "", "child 2; shell https://cordon.test/", &escaped) == 0 || handed;
    handed = world_tool(w, "", "cmd /c start https://cordon.test/", NULL) != 126 || handed;
    Sleep(200);
    unsigned after = count_browsers();
    attempt_conclude(line, escaped, control, !handed && after <= before, "the URL was handed over");
}

static void try_registry(struct selftest_world *w, struct selftest_line *line)
{
    char key[80], script[100], effect[100];
    bool escaped = false;
    world_key(GetCurrentProcessId(), key, sizeof key);
    snprintf(script, sizeof script, "registry %s", key);
    snprintf(effect, sizeof effect, "key %s", key);
    world_fresh(w);
    attempt_say(line, script,
                "the same without the sandbox, a key of its own that is removed again");
    world_run(w, "", script, &escaped);
    bool made = world_check(w, effect);
    world_run_free(w, script);
    bool control = world_check(w, effect);
    RegDeleteKeyA(HKEY_CURRENT_USER, key);
    attempt_conclude(line, escaped, control, !made, "a key was made");
}

static void try_udp(struct selftest_world *w, struct selftest_line *line)
{
    static const char *const scripts[] = {"udp @UDP", "udp @UDP 6", "raw-socket"};
    bool escaped = false, sent = false;
    world_fresh(w);
    attempt_say(line, "udp, udp over IPv6, a raw socket", "udp without the sandbox arrives");
    world_check(w, "udp");
    for (size_t i = 0; i < 3; i++)
        sent = world_run(w, "", scripts[i], &escaped) == 0 || sent;
    Sleep(50);
    sent = world_check(w, "udp") || sent;
    bool control = world_run_free(w, scripts[0]) == 0;
    Sleep(50);
    control = control && world_check(w, "udp");
    attempt_conclude(line, escaped, control, !sent, "a datagram or a raw socket got out");
}

static void try_subst(struct selftest_world *w, struct selftest_line *line)
{
    char target[WORLD_PATH], script[WORLD_PATH + 20];
    bool escaped = false;
    world_fresh(w);
    char drive[3] = "";
    DWORD drives = GetLogicalDrives();
    for (char letter = 'Q'; letter <= 'Y' && !drive[0]; letter++)
        if (!(drives >> (letter - 'A') & 1))
            drive[0] = letter, drive[1] = ':';
    if (!drive[0]) {
        attempt_not_tried(line, "no drive letter is free");
        return;
    }
    snprintf(script, sizeof script, "subst %s %s", drive, world_path(w, "out"));
    attempt_say(line, script, "the same without the sandbox; it is taken back");
    world_run(w, "", script, &escaped);
    bool changed = QueryDosDeviceA(drive, target, sizeof target) > 0;
    DefineDosDeviceA(DDD_REMOVE_DEFINITION, drive, NULL);
    world_run_free(w, script);
    bool control = QueryDosDeviceA(drive, target, sizeof target) > 0;
    DefineDosDeviceA(DDD_REMOVE_DEFINITION, drive, NULL);
    attempt_conclude(line, escaped, control, !changed, "the drive letter changed");
}

/* 36: besides the rows about the audit file. */
static void try_launcher(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "reach @PID: a process outside; --audit log: write log",
                "the same without the sandbox");
    bool control = world_run_free(w, "reach @PID") == 0;
    bool reached = world_run(w, "", "reach @PID", &escaped) == 0 ||
                   world_run(w, "", "kill @PID", &escaped) == 0;
    /* The audit names the command too; there the backslash stands twice. */
    world_run(w, "--audit log", "write log tam\\pered", &escaped);
    bool tampered = world_check(w, "holds log tam\\pered") || !world_check(w, "holds log start");
    bool lives = WaitForSingleObject(w->outsider, 0) == WAIT_TIMEOUT;
    attempt_conclude(line, escaped, control, !reached && !tampered && lives, "it could be reached");
}

/* 41: this machine's own drive by its share, by the path and through a link where one can be
   made. */
static void try_share(struct selftest_world *w, struct selftest_line *line)
{
    char target[2 * WORLD_PATH], script[2 * WORLD_PATH + 20];
    bool escaped = false;
    world_fresh(w);
    snprintf(target, sizeof target, "\\\\localhost\\%c$%s\\out", w->top[0], w->top + 2);
    CreateSymbolicLinkA(world_path(w, "ws\\share"), target,
                        SYMBOLIC_LINK_FLAG_DIRECTORY | 2 /* without the privilege */);
    bool linked = GetFileAttributesA(world_path(w, "ws\\share")) != INVALID_FILE_ATTRIBUTES;
    snprintf(script, sizeof script, linked ? "write share\\new" : "write %s\\new", target);
    attempt_say(line, script, "the same without the sandbox");
    world_run_free(w, script);
    bool control = world_check(w, "exists ..\\out\\new");
    DeleteFileA(world_path(w, "out\\new"));
    world_run(w, "", script, &escaped);
    bool written = world_check(w, "exists ..\\out\\new");
    RemoveDirectoryA(world_path(w, "ws\\share"));
    if (!control && !written)
        attempt_not_tried(line, "this user reaches no share of this machine's own drives");
    else
        attempt_conclude(line, escaped, control, !written, "it was written");
}

/* 62: in a console of its own that nobody sees; its shell is a probe. */
static bool types_into(struct selftest_world *w, const char *script)
{
    char text[2 * WORLD_PATH];
    STARTUPINFOA startup = {
        .cb = sizeof startup, .dwFlags = STARTF_USESHOWWINDOW, .wShowWindow = SW_HIDE};
    PROCESS_INFORMATION made;
    world_fresh(w);
    snprintf(text, sizeof text, "\"%s\" --probe \"%s\"", w->self, script);
    if (CreateProcessA(NULL, text, NULL, NULL, FALSE, CREATE_NEW_CONSOLE, NULL, world_path(w, "ws"),
                       &startup, &made)) {
        CloseHandle(made.hThread);
        world_wait(made.hProcess);
    }
    return world_check(w, "exists typed");
}

static void try_typing(struct selftest_world *w, struct selftest_line *line)
{
    attempt_say(line, "type: a key into the console", "the same without the sandbox");
    bool control = types_into(w, "typed typed"), typed = types_into(w, "typed typed run");
    bool escaped = world_check(w, "exists ..\\out\\canary");
    if (!control && !typed && !escaped)
        attempt_not_tried(line, "there is no console here that keys can be put into");
    else
        attempt_conclude(line, escaped, control, !typed, "it could type");
}

bool special_try(struct selftest_world *w, unsigned n, struct selftest_line *line)
{
    static const char *const versions[] = {"curl", "rg", "git", "node"};
    static const char *const own[] = {"bash", "node", "python", "dotnet"};
    char out[2 * WORLD_PATH];
    snprintf(out, sizeof out, "%s", world_path(w, "out"));
    switch (n) {
    case 22: try_tools(w, line, versions, 4, "write new; copy new got"); return true;
    case 28: try_link_root(w, line, out); return true;
    case 29: try_through_link(w, line, NULL, "ws\\away", "write away\\new", out); return true;
    case 30: try_device(w, line); return true;
    case 31: try_pipes(w, line); return true;
    case 36: try_launcher(w, line); return true;
    case 37: try_shim(w, line); return true;
    case 38: try_turning(w, line); return true;
    case 39:
        snprintf(out, sizeof out, "%s", world_path(w, "out\\dir"));
        try_through_link(w, line, "ws\\deep", "ws\\deep\\b", "write deep\\b\\new", out);
        return true;
    case 40: try_link_root(w, line, "C:\\"); return true;
    case 41: try_share(w, line); return true;
    case 42: try_other_drive(w, line); return true;
    case 44: try_url(w, line); return true;
    case 51: try_registry(w, line); return true;
    case 52: try_udp(w, line); return true;
    case 63: try_subst(w, line); return true;
    case 75: scheduler_try(w, line); return true;
    case 66: try_tools(w, line, own, 4, "objects"); return true;
    case 61:
    case 62:
    case 64:
        if (!w->kernel)
            attempt_not_tried(line,
                              "this system keeps neither restricting SIDs nor labels: nothing "
                              "but the agent confines, and code can step around that");
        else if (n == 62)
            try_typing(w, line);
        return !w->kernel || n == 62; /* else rows */
    default: return runs_try(w, n, line);
    }
}
