/* SPDX-License-Identifier: Apache-2.0 */
/* Ways out that need more than one plain call; each exits with 0 if it got through. */
#include "wire/windows/nt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

#include "probe.h"

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

typedef NTSTATUS NTAPI NtCreateFile_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *,
                                      LARGE_INTEGER *, ULONG, ULONG, ULONG, ULONG, void *, ULONG);

static int put(const wchar_t *path, DWORD access)
{
    DWORD n;
    HANDLE file = CreateFileW(path, access, SHARE, NULL, OPEN_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    BOOL good = WriteFile(file, "x", 1, &n, NULL);
    CloseHandle(file);
    return result(good);
}

static NTSTATUS nt_write(NtCreateFile_t *create, const wchar_t *name, HANDLE root,
                         ULONG disposition)
{
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE file;
    DWORD n;
    RtlInitUnicodeString(&text, name);
    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE, root, NULL);
    NTSTATUS status = create(&file, GENERIC_WRITE | SYNCHRONIZE, &object, &io, NULL, 0, SHARE,
                             disposition, FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
    if (status < 0)
        return status;
    WriteFile(file, "x", 1, &n, NULL);
    CloseHandle(file);
    return status;
}

/* ---- paths ---- */

/* nt-write PREFIX PATH: an object name of one's own. */
int do_nt_write(void)
{
    wchar_t full[600], name[700];
    GetFullPathNameW(word(1), 600, full, NULL);
    swprintf(name, 700, L"%ls%ls", word(0), full);
    return status_result(nt_write(NtCreateFile, name, NULL, FILE_OPEN_IF));
}

/* nt-volume PATH: by the device that the drive letter stands for. */
int do_nt_volume(void)
{
    wchar_t full[600], device[300], name[1000];
    GetFullPathNameW(word(0), 600, full, NULL);
    wchar_t drive[3] = {full[0], L':', 0};
    if (!QueryDosDeviceW(drive, device, 300))
        return last_error();
    swprintf(name, 1000, L"%ls%ls", device, full + 2);
    return status_result(nt_write(NtCreateFile, name, NULL, FILE_OPEN_IF));
}

/* short-write FOLDER NAME: by the folder's short name. */
int do_short_write(void)
{
    wchar_t path[600], name[700];
    if (!GetShortPathNameW(word(0), path, 600))
        return last_error();
    swprintf(name, 700, L"%ls\\%ls", path, word(1));
    return put(name, GENERIC_WRITE);
}

/* unix-write FORM FOLDER NAME: by the name of the Unix file system; FORM is z or unix. */
int do_unix_write(void)
{
    char *(CDECL * unix_name)(const wchar_t *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    wchar_t full[600], name[1200];
    GetFullPathNameW(word(1), 600, full, NULL);
    char *found = unix_name ? unix_name(full) : NULL;
    if (!found)
        return 2;
    swprintf(name, 1200, L"%ls%hs\\%ls", word(0)[0] == L'z' ? L"Z:" : L"\\\\?\\unix", found,
             word(2));
    for (wchar_t *p = name; *p; p++)
        if (*p == L'/')
            *p = L'\\';
    return put(name, GENERIC_WRITE);
}

/* unroot-write PATH: without its drive; drive-write PATH: relative to the drive's folder. */
int do_unroot_write(void)
{
    wchar_t full[600];
    GetFullPathNameW(word(0), 600, full, NULL);
    return put(full + 2, GENERIC_WRITE);
}

/* ---- handles ---- */

/* use-handle NUMBER: one that was inherited. */
int do_use_handle(void)
{
    DWORD n;
    return result(WriteFile((HANDLE)(uintptr_t)_wtoi(word(0)), "x", 1, &n, NULL));
}

/* reopen HOW PATH: a handle for reading becomes one for writing. */
int do_reopen(void)
{
    HANDLE read = CreateFileW(word(1), GENERIC_READ, SHARE, NULL, OPEN_EXISTING, 0, NULL);
    DWORD n;
    if (wcscmp(word(0), L"empty") == 0)
        return status_result(nt_write(NtCreateFile, L"", read, FILE_OPEN));
    if (wcscmp(word(0), L"duplicate") == 0) {
        HANDLE more;
        return result(DuplicateHandle(GetCurrentProcess(), read, GetCurrentProcess(), &more,
                                      GENERIC_WRITE, FALSE, 0) &&
                      WriteFile(more, "x", 1, &n, NULL));
    }
    HANDLE again = ReOpenFile(read, GENERIC_WRITE, SHARE, 0);
    return result(again != INVALID_HANDLE_VALUE && WriteFile(again, "x", 1, &n, NULL));
}

/* relative-up FOLDER NAME: a name with dots below an open folder. */
int do_relative_up(void)
{
    HANDLE folder = CreateFileW(word(0), FILE_TRAVERSE, SHARE, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS, NULL);
    return status_result(nt_write(NtCreateFile, word(1), folder, FILE_OPEN_IF));
}

/* replace-file NEW OLD: ReplaceFile. */
int do_replace_file(void)
{
    return result(ReplaceFileW(word(1), word(0), NULL, 0, NULL, NULL));
}

/* reboot-move OLD NEW: at the next start, which is a value of the registry. */
int do_reboot_move(void)
{
    return result(MoveFileExW(word(0), word(1), MOVEFILE_DELAY_UNTIL_REBOOT));
}

/* ---- processes ---- */

/* reach PID ACCESS: only opened. */
int do_reach(void)
{
    return result(OpenProcess((DWORD)wcstoul(word(1), NULL, 16), FALSE, (DWORD)_wtoi(word(0))) !=
                  NULL);
}

int do_reach_thread(void)
{
    THREADENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    if (Thread32First(all, &entry))
        do
            if (entry.th32OwnerProcessID == (DWORD)_wtoi(word(0)))
                return result(OpenThread((DWORD)wcstoul(word(1), NULL, 16), FALSE,
                                         entry.th32ThreadID) != NULL);
        while (Thread32Next(all, &entry));
    return 2;
}

int do_debug(void)
{
    if (!DebugActiveProcess((DWORD)_wtoi(word(0))))
        return last_error();
    DebugSetProcessKillOnExit(FALSE);
    return result(DebugActiveProcessStop((DWORD)_wtoi(word(0))));
}

int do_winexec(void)
{
    char line[1200];
    snprintf(line, sizeof line, "%ls", word(0));
    UINT code = WinExec(line, SW_HIDE);
    Sleep(1000);
    return code > 31 ? 0 : 1;
}

int do_system(void)
{
    return _wsystem(word(0));
}

int do_with_token(void)
{
    wchar_t line[1200];
    HANDLE token;
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    swprintf(line, 1200, L"%ls", word(0));
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &token) ||
        !CreateProcessWithTokenW(token, 0, NULL, line, 0, NULL, NULL, &startup, &made))
        return last_error();
    WaitForSingleObject(made.hProcess, 10000);
    return 0;
}

/* env-child NAME VALUE LINE: a child with another environment. */
int do_env_child(void)
{
    return SetEnvironmentVariableW(word(0), word(1)) ? _wsystem(word(2)) : last_error();
}

/* ---- registry, pipes ---- */

/* registry-value KEY NAME: in a key that exists. */
int do_registry_value(void)
{
    HKEY key;
    LSTATUS status = RegOpenKeyExW(HKEY_CURRENT_USER, word(0), 0, MAXIMUM_ALLOWED, &key);
    if (status == 0)
        status = RegSetValueExW(key, word(1), 0, REG_SZ, (const BYTE *)L"x", 4);
    SetLastError((DWORD)status);
    return result(status == 0);
}

/* registry-volatile KEY: a key that does not outlive the session. */
int do_registry_volatile(void)
{
    HKEY key;
    LSTATUS status = RegCreateKeyExW(HKEY_CURRENT_USER, word(0), 0, NULL, REG_OPTION_VOLATILE,
                                     KEY_WRITE, NULL, &key, NULL);
    SetLastError((DWORD)status);
    return result(status == 0);
}

/* pipe-second NAME: one more instance of somebody's pipe, then a connection to the name. */
int do_pipe_second(void)
{
    HANDLE own = CreateNamedPipeW(word(0), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE,
                                  PIPE_UNLIMITED_INSTANCES, 512, 512, 0, NULL);
    HANDLE first =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    DWORD n;
    if (own == INVALID_HANDLE_VALUE || first == INVALID_HANDLE_VALUE)
        return last_error();
    WriteFile(first, "x", 1, &n, NULL);
    HANDLE second =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    WriteFile(second, "x", 1, &n, NULL);
    Sleep(300);
    return 0;
}

int do_pipe_call(void)
{
    char out[8];
    DWORD n;
    CallNamedPipeW(word(0), (void *)L"x", 1, out, sizeof out, &n, 500);
    return 0; /* the server says whether somebody came */
}

/* ---- around the agent ---- */

static const unsigned char *fresh_ntdll(void)
{
    wchar_t path[300];
    GetSystemDirectoryW(path, 200);
    wcscat(path, L"\\ntdll.dll");
    HANDLE file = CreateFileW(path, GENERIC_READ, SHARE, NULL, OPEN_EXISTING, 0, NULL);
    HANDLE map = CreateFileMappingW(file, NULL, PAGE_READONLY | SEC_IMAGE, 0, 0, NULL);
    return map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
}

static size_t stub_at(const char *name)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    return (size_t)((unsigned char *)(void *)GetProcAddress(ntdll, name) -
                    (unsigned char *)(void *)ntdll);
}

bool take_hook_away(const char *name)
{
    const unsigned char *image = fresh_ntdll();
    unsigned char *ntdll = (unsigned char *)(void *)GetModuleHandleW(L"ntdll.dll");
    size_t at = stub_at(name);
    DWORD before;
    if (!image || !VirtualProtect(ntdll + at, 32, PAGE_EXECUTE_READWRITE, &before))
        return false;
    memcpy(ntdll + at, image + at, 32);
    return VirtualProtect(ntdll + at, 32, before, &before);
}

/* unhook PATH: the stubs as the file on disk has them, then a plain write. */
int do_unhook(void)
{
    return take_hook_away("NtCreateFile") && take_hook_away("NtOpenFile")
               ? put(word(0), GENERIC_WRITE)
               : 2;
}

/* late-write MS PATH. */
int do_late_write(void)
{
    Sleep((DWORD)_wtoi(word(0)));
    return put(word(1), GENERIC_WRITE);
}

/* NtCreateFile as the file on disk has it, copied to memory of our own and called. */
static int call_copy(unsigned char *code, DWORD protection, ULONG disposition)
{
    wchar_t full[600], name[700];
    const unsigned char *image = fresh_ntdll();
    DWORD before;
    if (!image || !code)
        return 2;
    memcpy(code, image + stub_at("NtCreateFile"), 32);
    VirtualProtect(code, 4096, protection, &before);
    GetFullPathNameW(word(0), 600, full, NULL);
    swprintf(name, 700, L"\\??\\%ls", full);
    return status_result(nt_write((NtCreateFile_t *)(void *)code, name, NULL, disposition));
}

/* fresh PATH: a second ntdll, mapped and called. */
int do_fresh(void)
{
    return call_copy(VirtualAlloc(NULL, 4096, MEM_COMMIT, PAGE_EXECUTE_READWRITE),
                     PAGE_EXECUTE_READWRITE, FILE_OPEN_IF);
}

/*
 * syscall PATH: a stub of our own, in memory that is never writable and executable at once. Under
 * Wine nothing but the Linux box stops this; on Windows the token does.
 */
int do_syscall(void)
{
    return call_copy(VirtualAlloc(NULL, 4096, MEM_COMMIT, PAGE_READWRITE), PAGE_EXECUTE_READ,
                     FILE_OVERWRITE_IF);
}

/* The agent's own copy of NtCreateFile's stub, found after the jump to its hook; NULL: none. */
static const unsigned char *find_trampoline(unsigned char **hook)
{
    const unsigned char *stub = (const unsigned char *)(void *)GetProcAddress(
        GetModuleHandleW(L"ntdll.dll"), "NtCreateFile");
    MEMORY_BASIC_INFORMATION m;
    if (stub[0] != 0x48 || stub[1] != 0xB8)
        return NULL;
    memcpy(hook, stub + 2, sizeof *hook);
    VirtualQuery(*hook, &m, sizeof m);
    /* mov r10,rcx; mov eax,N: the first trampoline is NtCreateFile's. */
    static const unsigned char head[] = {0x4C, 0x8B, 0xD1, 0xB8};
    const unsigned char *at = m.AllocationBase, *end = *hook;
    at += 4096; /* its headers are not mapped for execution */
    while (at < end && memcmp(at, head, sizeof head) != 0)
        at++;
    return at < end ? at : NULL;
}

/* trampoline PATH: the agent's own way to the system call. */
int do_trampoline(void)
{
    wchar_t full[600], name[700];
    unsigned char *hook;
    const unsigned char *at = find_trampoline(&hook);
    GetFullPathNameW(word(0), 600, full, NULL);
    swprintf(name, 700, L"\\??\\%ls", full);
    return at ? status_result(nt_write((NtCreateFile_t *)(void *)at, name, NULL, FILE_OPEN_IF)) : 2;
}

/* linux PATH: under Wine the kernel below is Linux, and a program can call it by itself. The path
   is Z:\\…, which is the Unix file system. */
int do_linux(void)
{
    enum { OPENAT = 257, WRITE_CREATE_TRUNCATE = 01101, CWD = -100 };
    char path[600];
    int n = WideCharToMultiByte(CP_UTF8, 0, word(0), -1, path, sizeof path, NULL, NULL);
    for (int i = 0; i < n; i++)
        if (path[i] == '\\')
            path[i] = '/';
    const char *name = n > 2 && path[1] == ':' ? path + 2 : path;
    long long result;
    register long long mode __asm__("r10") = 0644;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long long)OPENAT), "D"((long long)CWD), "S"(name),
                       "d"((long long)WRITE_CREATE_TRUNCATE), "r"(mode)
                     : "rcx", "r11", "memory");
    return result >= 0 ? 0 : 1;
}

/* overwrite-agent PATH: the agent's hook made to go straight on, then a plain write. */
int do_overwrite_agent(void)
{
    unsigned char *hook, jump[] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
    const unsigned char *at = find_trampoline(&hook);
    DWORD before;
    if (!at)
        return 2;
    memcpy(jump + 2, &at, sizeof at);
    if (!VirtualProtect(hook, sizeof jump, PAGE_EXECUTE_READWRITE, &before))
        return last_error();
    memcpy(hook, jump, sizeof jump);
    return put(word(0), GENERIC_WRITE);
}
