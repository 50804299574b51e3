/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promise 57: nothing is left on the machine. The temp folder, what lies around the workspace,
 * access lists, the user's registry, processes, desktops, pipes and named objects are the same
 * before and after thirty mixed runs, some of them killed; a hundred in the long form.
 */
#include "harness.h"

#include <aclapi.h>
#include <sddl.h>

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

/* Owner, DACL and label of what a run touches or lies beside it. */
static void list_access(const char *path, struct buf *out)
{
    PSECURITY_DESCRIPTOR descriptor = NULL;
    char *text = NULL;
    const SECURITY_INFORMATION what =
        OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION | LABEL_SECURITY_INFORMATION;
    if (GetNamedSecurityInfoA(path, SE_FILE_OBJECT, what, NULL, NULL, NULL, NULL, &descriptor))
        return;
    if (ConvertSecurityDescriptorToStringSecurityDescriptorA(descriptor, SDDL_REVISION_1, what,
                                                             &text, NULL)) {
        buf_fmt(out, "access %s %s\n", path, text);
        LocalFree(text);
    }
    LocalFree(descriptor);
}

static BOOL CALLBACK one_desktop(char *name, LPARAM context)
{
    buf_fmt((struct buf *)context, "desktop %s\n", name);
    return TRUE;
}

struct object_entry {
    UNICODE_STRING name, type;
};
NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *out, ACCESS_MASK access, OBJECT_ATTRIBUTES *object);
NTSTATUS NTAPI NtQueryDirectoryObject(HANDLE directory, struct object_entry *out, ULONG size,
                                      BOOLEAN single, BOOLEAN restart, ULONG *context,
                                      ULONG *returned);

/* Events, mutexes, sections and the like by name; those of the system come and go. */
static void list_objects(const wchar_t *folder, struct buf *out)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    HANDLE directory;
    ULONG context = 0, size;
    union {
        struct object_entry entry;
        char bytes[4096];
    } found;
    RtlInitUnicodeString(&name, folder);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    if (NtOpenDirectoryObject(&directory, 1 /* query */, &object) < 0)
        return;
    while (NtQueryDirectoryObject(directory, &found.entry, sizeof found, TRUE, FALSE, &context,
                                  &size) == 0)
        if (wcsncmp(found.entry.name.Buffer, L"__wine", 6) != 0)
            buf_fmt(out, "object %ls\n", found.entry.name.Buffer);
    CloseHandle(directory);
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
    static const char *const touched[] = {"ws", "ws\\file", "ws\\sub", "out", "out\\file", "."};
    for (size_t i = 0; i < sizeof touched / sizeof *touched; i++)
        list_access(path_of(touched[i]), out);
    list_access(folder, out);
    list_access(cordon, out);
    EnumDesktopsA(GetProcessWindowStation(), one_desktop, (LPARAM)out);
    list_folder("\\\\.\\pipe", out);
    list_objects(L"\\BaseNamedObjects", out);
    list_objects(L"\\Sessions\\1\\BaseNamedObjects", out);
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
    harness_make("left");
    fresh();
    run("cmd /c echo warm", NULL); /* what Wine itself makes at its first start is not ours */
    confined("--quiet", "cmd /c echo warm", NULL);
    list_processes(&before);
    snapshot(&before);
    int rounds = harness_soak() ? 6 : 2, kills = harness_soak() ? 10 : 3;
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
            confined(runs[i].options, runs[i].line, NULL);
    for (int i = 0; i < kills; i++)
        killed("cmd /c \"echo x> %TEMP%\\left & %P% sleep 20000\"");
    confined("--quiet", "cmd /c echo last", NULL); /* removes what the killed ones left */
    gone_within("cordon.exe", 3000);
    gone_within("probe-left.exe", 3000);
    snapshot(&after);
    if (!ok(before.n > 500 && str_eq(buf_str(&before), buf_str(&after)),
            "57 %d runs and %d killed ones leave nothing",
            rounds * (int)(sizeof runs / sizeof *runs), kills)) {
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
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, "CordonLeft");
    snapshot(&after);
    ok(has(&after, "object CordonLeft"), "57 control: a named object is seen");
    CloseHandle(event);
    HANDLE pipe =
        CreateNamedPipeA("\\\\.\\pipe\\CordonLeft", PIPE_ACCESS_DUPLEX, 0, 1, 0, 0, 0, NULL);
    snapshot(&after);
    if (has(&after, "\\pipe\\"))
        ok(has(&after, "pipe\\CordonLeft"), "57 control: a pipe is seen");
    else
        skip("57 control: a pipe is seen", "this system does not list its pipes");
    CloseHandle(pipe);
    HDESK desktop = CreateDesktopA("CordonLeft", NULL, NULL, 0, GENERIC_ALL, NULL);
    snapshot(&after);
    if (desktop)
        ok(has(&after, "desktop CordonLeft"), "57 control: a desktop is seen");
    else
        skip("57 control: a desktop is seen", "no desktop can be made here");
    if (desktop)
        CloseDesktop(desktop);
    PSECURITY_DESCRIPTOR wide = NULL;
    ConvertStringSecurityDescriptorToSecurityDescriptorA("D:(A;;FA;;;WD)(A;;FA;;;BA)",
                                                         SDDL_REVISION_1, &wide, NULL);
    SetFileSecurityA(path_of("out\\file"), DACL_SECURITY_INFORMATION, wide);
    snapshot(&after);
    ok(!str_eq(buf_str(&before), buf_str(&after)), "57 control: a changed access list is seen");
    LocalFree(wide);
    fresh();
    HKEY key;
    RegCreateKeyA(HKEY_CURRENT_USER, "Software\\CordonLeft", &key);
    RegCloseKey(key);
    snapshot(&after);
    ok(!str_eq(buf_str(&before), buf_str(&after)), "57 control: a key that was left is seen");
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonLeft");
    return harness_done();
}
