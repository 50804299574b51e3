/* SPDX-License-Identifier: Apache-2.0 */
/* Temp folders made and removed, the audit file, random numbers: what lib/ brings on Windows. */
#include <windows.h>

#include <aclapi.h>
#include <winioctl.h>

#include "child.h"
#include "launch/temp.h"
#include "launch/windows/wide.h"
#include "launch/windows/wine.h"
#include "lib/system.h"

static struct arena arena;

static wchar_t *join(struct str folder, const char *name)
{
    struct buf text = {0};
    buf_fmt(&text, "\\\\?\\%.*s\\%s", STR_ARG(folder), name);
    wchar_t *wide = wide_of(&arena, buf_str(&text));
    buf_free(&text);
    return wide;
}

static wchar_t *itself(struct str folder)
{
    return wide_of(&arena, folder);
}

static bool exists(const wchar_t *path)
{
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

static bool write_file(const wchar_t *path)
{
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    DWORD n;
    bool written = file != INVALID_HANDLE_VALUE && WriteFile(file, "x", 1, &n, NULL);
    CloseHandle(file);
    return written;
}

static bool is_closed(const wchar_t *path)
{
    ACL *dacl = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    bool closed = GetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                                        NULL, NULL, &dacl, NULL, &descriptor) == 0 &&
                  dacl;
    for (DWORD i = 0; closed && i < dacl->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace;
        closed = GetAce(dacl, i, (void **)&ace) && !IsWellKnownSid(&ace->SidStart, WinWorldSid) &&
                 !IsWellKnownSid(&ace->SidStart, WinBuiltinUsersSid);
    }
    LocalFree(descriptor);
    return closed;
}

/* Runs a program of Wine's Unix side: with two paths, target and link, or with one. */
static bool run_unix(const char *program, const wchar_t *first, const wchar_t *second)
{
    typedef char *(CDECL * to_unix)(const wchar_t *path);
    to_unix name = (to_unix)(void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"),
                                                   "wine_get_unix_file_name");
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    wchar_t image[64], line[4 * MAX_PATH], folder[MAX_PATH];
    /* The last component may not exist yet, or is the link itself. */
    wcscpy(folder, second + 4);
    wchar_t *leaf = wcsrchr(folder, L'\\');
    *leaf++ = L'\0';
    char *from = name && first ? name(first + 4) : NULL, *in = name ? name(folder) : NULL;
    if (!in || (first && !from))
        return false;
    swprintf(image, 64, L"\\\\?\\unix\\bin\\%hs", program);
    if (from)
        swprintf(line, 4 * MAX_PATH, L"%hs -s \"%hs\" \"%hs/%ls\"", program, from, in, leaf);
    else
        swprintf(line, 4 * MAX_PATH, L"%hs \"%hs/%ls\"", program, in, leaf);
    if (!CreateProcessW(image, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
        return false;
    child_end(&child);
    Sleep(200); /* Wine does not wait for it */
    return true;
}

static void unlink_by_unix(const wchar_t *link)
{
    run_unix("unlink", NULL, link);
}

/* A junction on Windows; under Wine, which cannot make one, a symbolic link of its Unix side. */
static bool make_link(const wchar_t *link, const wchar_t *target)
{
    if (wine_is_here())
        return run_unix("ln", target, link) && exists(link);
    struct {
        DWORD tag;
        WORD size, reserved, name_at, name_size, print_at, print_size;
        wchar_t text[600];
    } data = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    int n = swprintf(data.text, 500, L"\\??\\%ls", target + 4);
    data.name_size = (WORD)(n * 2);
    data.print_at = (WORD)(n * 2 + 2);
    data.size = (WORD)(8 + n * 2 + 4);
    CreateDirectoryW(link, NULL);
    HANDLE folder = CreateFileW(link, GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    DWORD got;
    bool made = DeviceIoControl(folder, FSCTL_SET_REPARSE_POINT, &data, data.size + 8u, NULL, 0,
                                &got, NULL);
    CloseHandle(folder);
    return made;
}

static void test_removal(struct str shared)
{
    struct settings s = {.policy.temp = POLICY_TEMP_PRIVATE};
    struct str folder = STR_NONE, other = STR_NONE;
    bool made = temp_make(&s, shared, &folder) == 0 && temp_make(&s, shared, &other) == 0;
    ok(made && !str_eq(folder, other) && str_find(folder, STR("\\cordon-"), 0) < folder.n,
       "two runs get two folders: %s", folder.p);
    ok(is_closed(itself(folder)), "for this user alone");
    ok(!temp_remove(other.p) && !exists(itself(other)), "an empty one is removed: it was empty");
    /* Read-only, hidden, nested beyond one round, and a link to a folder outside. */
    ok(write_file(join(folder, "readonly.txt")) &&
           SetFileAttributesW(join(folder, "readonly.txt"),
                              FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN),
       "a read-only file");
    CreateDirectoryW(join(folder, "d"), NULL);
    write_file(join(folder, "d\\f.txt"));
    SetFileAttributesW(join(folder, "d"), FILE_ATTRIBUTE_READONLY);
    struct buf deep = {0};
    buf_add(&deep, STR("deep"));
    CreateDirectoryW(join(folder, buf_cstr(&deep)), NULL);
    for (int i = 0; i < 150; i++) {
        buf_add(&deep, STR("\\n"));
        CreateDirectoryW(join(folder, buf_cstr(&deep)), NULL);
    }
    buf_add(&deep, STR("\\f.txt"));
    ok(write_file(join(folder, buf_cstr(&deep))), "a file 150 folders deep");
    buf_free(&deep);
    struct str outside = STR_NONE;
    temp_make(&s, shared, &outside);
    CreateDirectoryW(join(outside, "folder"), NULL);
    ok(write_file(join(outside, "folder\\kept.txt")) && write_file(join(outside, "file.txt")),
       "files outside");
    bool linked = make_link(join(folder, "link"), join(outside, "folder"));
    if (linked)
        ok(exists(join(folder, "link\\kept.txt")), "control: a link leads to them");
    else
        skip("a link leads outside", "no link could be made");
    if (wine_is_here())
        make_link(join(folder, "flink"), join(outside, "file.txt"));
    ok(temp_remove(folder.p), "the folder is removed: it was not empty");
    if (wine_is_here() && linked)
        skip("nothing is left of it", "Wine 8 cannot delete a link, only what it leads to");
    else
        ok(!exists(itself(folder)), "nothing is left of it");
    ok(exists(join(outside, "folder\\kept.txt")) && exists(join(outside, "file.txt")),
       "what the links led to is untouched");
    ok(!exists(join(folder, "readonly.txt")) && !exists(join(folder, "d")) &&
           !exists(join(folder, "deep")) && !exists(join(folder, ".cordon-0")),
       "files, read-only ones, folders and deep ones are gone");
    temp_remove(outside.p);
    ok(!exists(itself(outside)), "nothing is left of a folder without links");
    ok(!temp_remove(outside.p), "removing it again does nothing");
    if (wine_is_here() && linked) {
        unlink_by_unix(join(folder, "link"));
        unlink_by_unix(join(folder, "flink"));
        temp_remove(folder.p);
    }
    settings_free(&s);
}

static void test_session(struct str shared)
{
    struct settings s = {.policy.temp = POLICY_TEMP_SESSION, .policy.session = STR("test-1")};
    struct str first = STR_NONE, second = STR_NONE;
    ok(temp_make(&s, shared, &first) == 0 && temp_make(&s, shared, &second) == 0 &&
           str_eq(first, second) && str_ends(first, STR("\\cordon-session-test-1")),
       "a session's runs share a folder");
    write_file(join(first, "x.txt"));
    temp_remove(first.p);
    write_file(join(shared, "cordon-session-test-1"));
    second = STR_NONE;
    ok(temp_make(&s, shared, &second) != 0 && !second.p && s.error.n > 0,
       "a file in its place is refused: %s", buf_cstr(&s.error));
    DeleteFileW(join(shared, "cordon-session-test-1"));
    static const char *const bad[] = {"", "..", "a\\b", "a/b", "a:b", ".x", "x.", "a b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.policy.session = str_of(bad[i]);
        ok(temp_make(&s, shared, &second) == CORDON_E_VALUE, "no session id: '%s'", bad[i]);
    }
    settings_free(&s);
}

static void test_append(struct str shared)
{
    char path[1024], why[256] = "", got[64] = "";
    DWORD n = 0;
    snprintf(path, sizeof path, "%.*s\\cordon-append-%lu.txt", STR_ARG(shared),
             GetCurrentProcessId());
    intptr_t a = machine_append_open(path, why, sizeof why);
    intptr_t b = machine_append_open(path, why, sizeof why);
    ok(a != MACHINE_NO_FILE && b != MACHINE_NO_FILE, "a file is opened for appending, twice %s",
       why);
    ok(machine_append(a, STR("one\n")) && machine_append(b, STR("two\n")) &&
           machine_append(a, STR("three\n")),
       "lines are appended");
    machine_append_close(a);
    machine_append_close(b);
    wchar_t *wide = wide_of(&arena, str_of(path));
    HANDLE file = CreateFileW(wide, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    ok(ReadFile(file, got, sizeof got, &n, NULL) && n == 14 &&
           !memcmp(got, "one\ntwo\nthree\n", 14),
       "whole and in order");
    CloseHandle(file);
    ok(is_closed(wide), "for this user alone");
    DeleteFileW(wide);
    ok(machine_append_open("C:\\absent\\x", why, sizeof why) == MACHINE_NO_FILE && why[0],
       "no folder: %s", why);
}

static void test_system(void)
{
    unsigned char x[16] = {0}, y[16] = {0};
    auto_buf struct buf self = {0};
    ok(machine_random(x, sizeof x) && machine_random(y, sizeof y) && memcmp(x, y, sizeof x) != 0,
       "random numbers differ");
    ok(machine_own_path(&self) && str_endsi(buf_str(&self), STR("test_temp.exe")), "own path %s",
       buf_cstr(&self));
    ok(machine_now_ms() > 1700000000000ULL, "the clock runs");
}

int main(void)
{
    wchar_t temp[MAX_PATH], full[MAX_PATH];
    GetTempPathW(MAX_PATH, temp);
    GetLongPathNameW(temp, full, MAX_PATH);
    struct str shared = wide_narrow(&arena, full, wcslen(full));
    shared.n -= shared.n && shared.p[shared.n - 1] == '\\';
    test_removal(shared);
    test_session(shared);
    test_append(shared);
    test_system();
    arena_free(&arena);
    return tap_done();
}
