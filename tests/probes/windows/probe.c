/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts by a program on Windows, one call each: windows_probe ACTION WORD… Runs inside the
 * sandbox and, as the control, outside. Exits with 0 if the call worked, else with the Windows
 * error (the low byte); prints what the test compares.
 */
#include <winsock2.h>
#include <ws2tcpip.h>

#include "wire/windows/nt.h"

#include <io.h>
#include <shellapi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

NTSYSAPI NTSTATUS NTAPI NtSetEaFile(HANDLE, IO_STATUS_BLOCK *, void *, ULONG);
NTSYSAPI NTSTATUS NTAPI NtCreateSymbolicLinkObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *,
                                                   UNICODE_STRING *);

static int argc_of;
static wchar_t **argv_of;

const wchar_t *word(int i)
{
    return i + 2 < argc_of ? argv_of[i + 2] : L"";
}

int last_error(void)
{
    DWORD error = GetLastError();
    printf("error %lu\n", (unsigned long)error);
    return error & 0xFF ? (int)(error & 0xFF) : 255;
}

int result(BOOL good)
{
    return good ? 0 : last_error();
}

int status_result(NTSTATUS status)
{
    if (status >= 0)
        return 0;
    printf("status %08lx\n", (unsigned long)status);
    return 1;
}

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static HANDLE open_file(const wchar_t *path, DWORD access, DWORD disposition, DWORD flags)
{
    return CreateFileW(path, access, SHARE_ALL, NULL, disposition, flags, NULL);
}

static int put(const wchar_t *path, DWORD access, DWORD disposition)
{
    DWORD n;
    HANDLE file = open_file(path, access, disposition, FILE_ATTRIBUTE_NORMAL);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    BOOL good = WriteFile(file, "x", 1, &n, NULL);
    CloseHandle(file);
    return result(good);
}

/* An absolute path as an object name: \??\C:\a. */
static NTSTATUS nt_open(const wchar_t *path, ACCESS_MASK access, ULONG disposition, ULONG options,
                        HANDLE root, HANDLE *out, IO_STATUS_BLOCK *io)
{
    wchar_t full[1024], name[1100];
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    if (root) {
        swprintf(name, 1100, L"%ls", path);
    } else {
        GetFullPathNameW(path, 1024, full, NULL);
        swprintf(name, 1100, L"\\??\\%ls", full);
    }
    RtlInitUnicodeString(&text, name);
    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE, root, NULL);
    return NtCreateFile(out, access, &object, io, NULL, FILE_ATTRIBUTE_NORMAL, SHARE_ALL,
                        disposition, options, NULL, 0);
}

/* ---- files ---- */

int do_write(void)
{
    return put(word(0), GENERIC_WRITE, OPEN_ALWAYS);
}
int do_create(void)
{
    return put(word(0), GENERIC_WRITE, CREATE_NEW);
}
int do_overwrite(void)
{
    return put(word(0), GENERIC_WRITE, CREATE_ALWAYS);
}
int do_truncate(void)
{
    return put(word(0), GENERIC_WRITE, TRUNCATE_EXISTING);
}
int do_append(void)
{
    return put(word(0), FILE_APPEND_DATA, OPEN_ALWAYS);
}
/* The same file, so many times, as a program opens it to write into it. */
int do_open_times(void)
{
    for (int i = _wtoi(word(1)); i > 0; i--) {
        HANDLE file = open_file(word(0), GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, 0);
        if (file == INVALID_HANDLE_VALUE)
            return last_error();
        CloseHandle(file);
    }
    return 0;
}

int do_open_all(void)
{
    return put(word(0), GENERIC_ALL, OPEN_EXISTING);
}
int do_maximum(void)
{
    return put(word(0), MAXIMUM_ALLOWED, OPEN_EXISTING);
}
int do_delete(void)
{
    return result(DeleteFileW(word(0)));
}
int do_mkdir(void)
{
    return result(CreateDirectoryW(word(0), NULL));
}
int do_rmdir(void)
{
    return result(RemoveDirectoryW(word(0)));
}
int do_rename(void)
{
    return result(MoveFileW(word(0), word(1)));
}
int do_replace(void)
{
    return result(MoveFileExW(word(0), word(1), MOVEFILE_REPLACE_EXISTING));
}
/* Replaces one file by another, and writes a third into it through a mapping and a handle that it
   had of the first. */
int do_replace_and_write(void)
{
    char text[4096];
    DWORD n = 0, written = 0;
    HANDLE from = open_file(word(2), GENERIC_READ, OPEN_EXISTING, 0);
    HANDLE file = CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, 0, NULL);
    HANDLE map = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, sizeof text, NULL);
    char *view = map ? MapViewOfFile(map, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    if (!ReadFile(from, text, sizeof text, &n, NULL))
        return last_error();
    int code = result(MoveFileExW(word(0), word(1), MOVEFILE_REPLACE_EXISTING));
    if (view)
        memcpy(view, text, n);
    SetFilePointer(file, 0, NULL, FILE_BEGIN);
    WriteFile(file, text, n, &written, NULL);
    return code;
}
int do_copy(void)
{
    return result(CopyFileW(word(0), word(1), FALSE));
}
int do_link(void)
{
    return result(CreateHardLinkW(word(0), word(1), NULL));
}
int do_read_only(void)
{
    return result(SetFileAttributesW(word(0), FILE_ATTRIBUTE_READONLY));
}

int do_read(void)
{
    char text[64];
    DWORD n = 0;
    HANDLE file = open_file(word(0), GENERIC_READ, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    BOOL good = ReadFile(file, text, sizeof text, &n, NULL);
    CloseHandle(file);
    printf("%.*s\n", (int)n, text);
    return result(good);
}

/* Reading by a mapping, by a handle relative to the folder, with the name in another spelling. */
int do_read_map(void)
{
    HANDLE file = open_file(word(0), GENERIC_READ | GENERIC_EXECUTE, OPEN_EXISTING, 0);
    HANDLE map = file == INVALID_HANDLE_VALUE
                     ? NULL
                     : CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    const char *view = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
    if (!view)
        return last_error();
    printf("%.6s\n", view);
    return 0;
}

int do_read_relative(void)
{
    HANDLE file, folder = open_file(word(0), FILE_LIST_DIRECTORY | SYNCHRONIZE, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS);
    IO_STATUS_BLOCK io;
    char text[64];
    if (folder == INVALID_HANDLE_VALUE)
        return last_error();
    NTSTATUS status = nt_open(word(1), GENERIC_READ | SYNCHRONIZE, FILE_OPEN,
                              FILE_SYNCHRONOUS_IO_NONALERT, folder, &file, &io);
    if (status < 0)
        return status_result(status);
    DWORD n = 0;
    ReadFile(file, text, sizeof text, &n, NULL);
    printf("%.*s\n", (int)n, text);
    return 0;
}

int do_times(void)
{
    FILETIME old = {0xD53E8000, 0x01C295C4}; /* 2002 */
    HANDLE file =
        open_file(word(0), FILE_WRITE_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    BOOL good = SetFileTime(file, NULL, NULL, &old);
    CloseHandle(file);
    return result(good);
}

/* Attributes through a handle that was opened for nothing but waiting. */
int do_basic(void)
{
    HANDLE file;
    IO_STATUS_BLOCK io;
    struct nt_basic basic = {.attributes = FILE_ATTRIBUTE_READONLY};
    NTSTATUS status =
        nt_open(word(0), SYNCHRONIZE, FILE_OPEN, FILE_SYNCHRONOUS_IO_NONALERT, NULL, &file, &io);
    if (status >= 0)
        status =
            NtSetInformationFile(file, &io, &basic, sizeof basic, (FILE_INFORMATION_CLASS)NT_BASIC);
    return status_result(status);
}

int do_security(void)
{
    SECURITY_DESCRIPTOR descriptor;
    InitializeSecurityDescriptor(&descriptor, SECURITY_DESCRIPTOR_REVISION);
    SetSecurityDescriptorDacl(&descriptor, TRUE, NULL, FALSE);
    return result(SetFileSecurityW(word(0), DACL_SECURITY_INFORMATION, &descriptor));
}

/* A file that was opened for reading: its end, a rename, a deletion through that handle. */
int do_end_of_read_only(void)
{
    HANDLE file = open_file(word(0), GENERIC_READ, OPEN_EXISTING, 0);
    LARGE_INTEGER end = {0};
    IO_STATUS_BLOCK io;
    return status_result(
        NtSetInformationFile(file, &io, &end, sizeof end, (FILE_INFORMATION_CLASS)NT_END_OF_FILE));
}

static int set_name(HANDLE file, const wchar_t *to, int class, HANDLE root)
{
    struct {
        struct nt_rename info;
        wchar_t more[1100];
    } buffer = {{0}, {0}};
    wchar_t full[1024];
    IO_STATUS_BLOCK io;
    if (!root) {
        GetFullPathNameW(to, 1024, full, NULL);
        swprintf(buffer.info.name, 1100, L"\\??\\%ls", full);
    } else {
        swprintf(buffer.info.name, 1100, L"%ls", to);
    }
    buffer.info.root = root;
    buffer.info.length = (ULONG)(2 * wcslen(buffer.info.name));
    return status_result(
        NtSetInformationFile(file, &io, &buffer, sizeof buffer, (FILE_INFORMATION_CLASS) class));
}

int do_rename_read_only(void)
{
    return set_name(open_file(word(0), GENERIC_READ, OPEN_EXISTING, 0), word(1), NT_RENAME, NULL);
}

int do_rename_granted(void)
{
    return set_name(open_file(word(0), GENERIC_WRITE | DELETE, OPEN_EXISTING, 0), word(1),
                    NT_RENAME, NULL);
}

int do_rename_relative(void)
{
    HANDLE folder =
        open_file(word(1), FILE_LIST_DIRECTORY, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    return set_name(open_file(word(0), DELETE, OPEN_EXISTING, 0), word(2), NT_RENAME, folder);
}

int do_delete_read_only(void)
{
    HANDLE file = open_file(word(0), GENERIC_READ, OPEN_EXISTING, 0);
    BOOLEAN yes = TRUE;
    IO_STATUS_BLOCK io;
    return status_result(
        NtSetInformationFile(file, &io, &yes, sizeof yes, (FILE_INFORMATION_CLASS)NT_DISPOSITION));
}

int do_delete_on_close(void)
{
    HANDLE file = open_file(word(0), DELETE, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    CloseHandle(file);
    return 0;
}

int do_nt_delete(void)
{
    wchar_t full[1024], name[1100];
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    GetFullPathNameW(word(0), 1024, full, NULL);
    swprintf(name, 1100, L"\\??\\%ls", full);
    RtlInitUnicodeString(&text, name);
    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE, NULL, NULL);
    return status_result(NtDeleteFile(&object));
}

/* A stream by a name relative to the file itself, and a file relative to its folder. */
int do_relative(void)
{
    HANDLE file, root = open_file(word(0), GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    IO_STATUS_BLOCK io;
    if (root == INVALID_HANDLE_VALUE)
        return last_error();
    return status_result(nt_open(word(1), GENERIC_WRITE | SYNCHRONIZE, FILE_OVERWRITE_IF,
                                 FILE_SYNCHRONOUS_IO_NONALERT, root, &file, &io));
}

int do_junction(void)
{
    struct {
        ULONG tag;
        USHORT size, reserved, name_at, name_size, shown_at, shown_size;
        wchar_t text[600];
    } data = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    wchar_t full[500];
    DWORD n;
    GetFullPathNameW(word(1), 500, full, NULL);
    int units = swprintf(data.text, 600, L"\\??\\%ls", full);
    data.name_size = (USHORT)(2 * units);
    data.shown_at = (USHORT)(2 * units + 2);
    data.size = (USHORT)(12 + 2 * units + 2);
    CreateDirectoryW(word(0), NULL);
    HANDLE folder = open_file(word(0), GENERIC_WRITE, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    return result(DeviceIoControl(folder, 0x900A4, &data, 8u + data.size, NULL, 0, &n, NULL));
}

int do_ea(void)
{
    unsigned char ea[] = {0, 0, 0, 0, 0, 1, 1, 0, 'A', 0, 'b', 0};
    HANDLE file = open_file(word(0), GENERIC_WRITE, OPEN_EXISTING, 0);
    IO_STATUS_BLOCK io;
    return status_result(NtSetEaFile(file, &io, ea, sizeof ea));
}

int do_device(void)
{
    HANDLE file = open_file(word(0), GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    CloseHandle(file);
    return 0;
}

int do_mailslot(void)
{
    return result(CreateMailslotW(word(0), 0, 0, NULL) != INVALID_HANDLE_VALUE);
}

/* ---- a whole table of opens: the statuses must be those of Windows ---- */

static void fresh_targets(const wchar_t *top)
{
    wchar_t path[600];
    static const wchar_t *const files[] = {L"file", L"folder\\inner", L"full\\x", L"hidden",
                                           L"locked"};
    for (int i = 0; i < 3; i++) {
        static const wchar_t *const folders[] = {L"", L"folder", L"full"};
        swprintf(path, 600, L"%ls\\%ls", top, folders[i]);
        CreateDirectoryW(path, NULL);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (i == 1)
            continue;
        swprintf(path, 600, L"%ls\\%ls", top, files[i]);
        SetFileAttributesW(path, FILE_ATTRIBUTE_NORMAL);
        HANDLE file = open_file(path, GENERIC_WRITE, CREATE_ALWAYS, 0);
        DWORD n;
        WriteFile(file, "12345", 5, &n, NULL);
        CloseHandle(file);
    }
    swprintf(path, 600, L"%ls\\locked", top);
    SetFileAttributesW(path, FILE_ATTRIBUTE_READONLY);
    swprintf(path, 600, L"%ls\\new", top);
    DeleteFileW(path);
    RemoveDirectoryW(path);
}

int do_table(void)
{
    static const wchar_t *const names[] = {L"file",    L"new",     L"folder",
                                           L"none\\x", L"file\\x", L"full",
                                           L"locked",  L"FILE",    L"folder\\..\\file"};
    static const ACCESS_MASK accesses[] = {FILE_READ_DATA | SYNCHRONIZE,
                                           FILE_WRITE_DATA | SYNCHRONIZE,
                                           FILE_APPEND_DATA | SYNCHRONIZE,
                                           DELETE | SYNCHRONIZE,
                                           FILE_WRITE_ATTRIBUTES | SYNCHRONIZE,
                                           GENERIC_READ | GENERIC_WRITE,
                                           GENERIC_ALL};
    static const ULONG options[] = {FILE_SYNCHRONOUS_IO_NONALERT,
                                    FILE_SYNCHRONOUS_IO_NONALERT | FILE_DIRECTORY_FILE,
                                    FILE_SYNCHRONOUS_IO_NONALERT | FILE_NON_DIRECTORY_FILE,
                                    FILE_SYNCHRONOUS_IO_NONALERT | FILE_DELETE_ON_CLOSE};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t a = 0; a < sizeof accesses / sizeof *accesses; a++)
            for (ULONG d = 0; d <= FILE_MAXIMUM_DISPOSITION; d++)
                for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
                    wchar_t path[600];
                    HANDLE file = NULL;
                    IO_STATUS_BLOCK io = {0};
                    LARGE_INTEGER size = {.QuadPart = -1};
                    fresh_targets(word(0));
                    swprintf(path, 600, L"%ls\\%ls", word(0), names[n]);
                    NTSTATUS status = nt_open(path, accesses[a], d, options[o], NULL, &file, &io);
                    if (status >= 0) {
                        GetFileSizeEx(file, &size);
                        CloseHandle(file);
                    }
                    DWORD after = GetFileAttributesW(path);
                    printf(
                        "%ls access %08lx disposition %lu options %lx: %08lx information %lu size "
                        "%ld after %lx\n",
                        names[n], (unsigned long)accesses[a], (unsigned long)d,
                        (unsigned long)options[o], (unsigned long)status,
                        status >= 0 ? (unsigned long)io.Information : 0ul, (long)size.QuadPart,
                        (unsigned long)(after == INVALID_FILE_ATTRIBUTES ? after : after & 0x11));
                }
    return 0;
}

/* ---- behaviour of handles ---- */

static DWORD WINAPI many_files(void *context)
{
    int thread = (int)(intptr_t)context, wrong = 0, count = _wtoi(word(2));
    for (int i = 0; i < count; i++) {
        wchar_t path[600], other[600];
        char text[32], back[32] = "";
        DWORD n;
        swprintf(path, 600, L"%ls\\t%d-%d", word(0), thread, i);
        swprintf(other, 600, L"%ls\\u%d-%d", word(0), thread, i);
        int length = snprintf(text, sizeof text, "%d/%d", thread, i);
        HANDLE file = open_file(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, 0);
        wrong += !WriteFile(file, text, (DWORD)length, &n, NULL);
        SetFilePointer(file, 0, NULL, FILE_BEGIN);
        wrong += !ReadFile(file, back, sizeof back - 1, &n, NULL) || strcmp(text, back) != 0;
        CloseHandle(file);
        wrong += !MoveFileW(path, other);
        wrong += !DeleteFileW(other);
    }
    return (DWORD)wrong;
}

int do_threads(void)
{
    HANDLE threads[64];
    int count = _wtoi(word(1)), wrong = 0;
    for (int i = 0; i < count && i < 64; i++)
        threads[i] = CreateThread(NULL, 0, many_files, (void *)(intptr_t)i, 0, NULL);
    for (int i = 0; i < count && i < 64; i++) {
        DWORD code = 1;
        WaitForSingleObject(threads[i], INFINITE);
        GetExitCodeThread(threads[i], &code);
        wrong += (int)code;
    }
    printf("wrong %d\n", wrong);
    return wrong ? 1 : 0;
}

/* Overlapped writes, locks, mappings, notifications, inheritance, share modes on granted files. */
int do_handles(void)
{
    wchar_t path[600];
    DWORD n;
    char text[8] = "";
    swprintf(path, 600, L"%ls\\h", word(0));
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL,
                              CREATE_ALWAYS, FILE_FLAG_OVERLAPPED, NULL);
    OVERLAPPED at = {.Offset = 3, .hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
    BOOL good = WriteFile(file, "abc", 3, NULL, &at) || GetLastError() == ERROR_IO_PENDING;
    printf("overlapped %d\n", good && GetOverlappedResult(file, &at, &n, TRUE) && n == 3);
    HANDLE second = CreateFileW(path, GENERIC_WRITE, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    printf("share %lu\n", second == INVALID_HANDLE_VALUE ? GetLastError() : 0ul);
    second = CreateFileW(path, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    printf("lock %d\n", LockFile(file, 0, 0, 4, 0));
    printf("locked read %d\n", ReadFile(second, text, 2, &n, NULL) ? 0 : (int)GetLastError());
    printf("unlock %d\n", UnlockFile(file, 0, 0, 4, 0));
    HANDLE map = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, 100, NULL);
    char *view = map ? MapViewOfFile(map, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    if (view)
        memcpy(view, "mapped", 6);
    printf("map %d\n", view != NULL);
    UnmapViewOfFile(view);
    CloseHandle(map);
    ReadFile(second, text, 6, &n, NULL);
    printf("through the map %.6s\n", text);
    CloseHandle(second);
    CloseHandle(file);
    HANDLE notify = FindFirstChangeNotificationW(word(0), FALSE, FILE_NOTIFY_CHANGE_FILE_NAME);
    swprintf(path, 600, L"%ls\\h2", word(0));
    CloseHandle(open_file(path, GENERIC_WRITE, CREATE_ALWAYS, 0));
    printf("notified %lu\n", WaitForSingleObject(notify, 5000));
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    file = CreateFileW(path, GENERIC_WRITE, SHARE_ALL, &inherit, OPEN_EXISTING, 0, NULL);
    DWORD flags = 0;
    GetHandleInformation(file, &flags);
    printf("inherited %lu\n", flags & HANDLE_FLAG_INHERIT);
    CloseHandle(file);
    file =
        CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    printf("on close, before %d\n", GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES);
    CloseHandle(file);
    printf("on close, after %d\n", GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES);
    return 0;
}

/* ---- processes ---- */

static int start(DWORD flags, STARTUPINFOW *startup)
{
    wchar_t line[2000];
    PROCESS_INFORMATION process;
    swprintf(line, 2000, L"%ls", word(0));
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, flags, NULL, NULL, startup, &process))
        return last_error();
    if (flags & CREATE_SUSPENDED)
        ResumeThread(process.hThread);
    DWORD code = 1;
    WaitForSingleObject(process.hProcess, 20000);
    GetExitCodeProcess(process.hProcess, &code);
    printf("child %lu\n", (unsigned long)code);
    return 0;
}

static int start_with(DWORD flags)
{
    STARTUPINFOW startup = {.cb = sizeof startup};
    return start(flags, &startup);
}

int do_child(void)
{
    return start_with(0);
}
int do_child_suspended(void)
{
    return start_with(CREATE_SUSPENDED);
}
int do_child_detached(void)
{
    return start_with(DETACHED_PROCESS);
}
int do_child_console(void)
{
    return start_with(CREATE_NEW_CONSOLE);
}

/* How many processes share its console. */
int do_console(void)
{
    DWORD pids[64];
    printf("console of %lu\n", (unsigned long)GetConsoleProcessList(pids, 64));
    return 0;
}

/* Everybody on the console is told to end; this program does not listen. */
int do_console_break(void)
{
    SetConsoleCtrlHandler(NULL, TRUE);
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return last_error();
    Sleep(1000);
    return 0;
}

int do_child_breakaway(void)
{
    return start_with(CREATE_BREAKAWAY_FROM_JOB);
}
int do_child_group(void)
{
    return start_with(CREATE_NEW_PROCESS_GROUP);
}

int do_child_parent(void)
{
    STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof startup}};
    SIZE_T size = 0;
    HANDLE parent = OpenProcess(PROCESS_CREATE_PROCESS, FALSE, (DWORD)_wtoi(word(1)));
    if (!parent)
        return last_error();
    InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    startup.lpAttributeList = malloc(size);
    InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size);
    UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_PARENT_PROCESS,
                              &parent, sizeof parent, NULL, NULL);
    return start(EXTENDED_STARTUPINFO_PRESENT, &startup.StartupInfo);
}

int do_child_as_user(void)
{
    wchar_t line[2000];
    HANDLE token;
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION process;
    swprintf(line, 2000, L"%ls", word(0));
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &token) ||
        !CreateProcessAsUserW(token, NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup,
                              &process))
        return last_error();
    WaitForSingleObject(process.hProcess, 20000);
    return 0;
}

int do_many_children(void)
{
    HANDLE children[64];
    int count = _wtoi(word(1)), bad = 0;
    for (int i = 0; i < count && i < 64; i++) {
        wchar_t line[2000];
        STARTUPINFOW startup = {.cb = sizeof startup};
        PROCESS_INFORMATION process = {0};
        swprintf(line, 2000, L"%ls %d", word(0), i);
        bad += !CreateProcessW(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process);
        children[i] = process.hProcess;
    }
    for (int i = 0; i < count && i < 64; i++) {
        DWORD code = 1;
        WaitForSingleObject(children[i], 60000);
        GetExitCodeProcess(children[i], &code);
        bad += code != 0;
    }
    printf("bad %d\n", bad);
    return bad ? 1 : 0;
}

int do_shell(void)
{
    SHELLEXECUTEINFOW info = {.cbSize = sizeof info,
                              .fMask =
                                  SEE_MASK_NOCLOSEPROCESS | SEE_MASK_FLAG_NO_UI | SEE_MASK_NOASYNC,
                              .lpVerb = L"open",
                              .lpFile = word(0),
                              .lpParameters = word(1)};
    if (!ShellExecuteExW(&info))
        return last_error();
    if (info.hProcess)
        WaitForSingleObject(info.hProcess, 20000);
    return 0;
}

int do_open_process(void)
{
    return result(OpenProcess(PROCESS_ALL_ACCESS, FALSE, (DWORD)_wtoi(word(0))) != NULL);
}

int do_kill(void)
{
    HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)_wtoi(word(0)));
    return result(process && TerminateProcess(process, 9));
}

int do_pid(void)
{
    printf("%lu\n", (unsigned long)GetCurrentProcessId());
    Sleep((DWORD)_wtoi(word(0)));
    return 0;
}

int do_sleep(void)
{
    Sleep((DWORD)_wtoi(word(0)));
    return 0;
}

int do_exit(void)
{
    return (int)wcstoul(word(0), NULL, 0);
}

/* Whether a box would be shown for a missing DLL, a crash, a missing file. */
int do_error_mode(void)
{
    UINT mode = GetErrorMode();
    bool boxes = !(mode & SEM_FAILCRITICALERRORS) || !(mode & SEM_NOGPFAULTERRORBOX) ||
                 !(mode & SEM_NOOPENFILEERRORBOX);
    printf("mode %x, boxes %d\n", mode, boxes);
    return 0;
}

/* ---- other doors ---- */

int do_registry(void)
{
    HKEY key;
    DWORD value = 1;
    LSTATUS status =
        RegCreateKeyExW(HKEY_CURRENT_USER, word(0), 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    if (status == 0)
        status = RegSetValueExW(key, word(1), 0, REG_DWORD, (const BYTE *)&value, sizeof value);
    SetLastError((DWORD)status);
    return result(status == 0);
}

int do_registry_delete(void)
{
    LSTATUS status = RegDeleteKeyW(HKEY_CURRENT_USER, word(0));
    SetLastError((DWORD)status);
    return result(status == 0);
}

int do_registry_read(void)
{
    HKEY key;
    DWORD value = 0, size = sizeof value;
    LSTATUS status = RegOpenKeyExW(HKEY_CURRENT_USER, word(0), 0, KEY_ALL_ACCESS, &key);
    if (status == 0)
        status = RegQueryValueExW(key, word(1), NULL, NULL, (BYTE *)&value, &size);
    SetLastError((DWORD)status);
    return result(status == 0);
}

/* The file system of pipes ignores the disposition. */
int do_pipe_client(void)
{
    static const DWORD dispositions[] = {OPEN_EXISTING, OPEN_ALWAYS, CREATE_ALWAYS,
                                         TRUNCATE_EXISTING};
    for (size_t i = 0; i < sizeof dispositions / sizeof *dispositions; i++)
        if (CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, dispositions[i], 0, NULL) !=
            INVALID_HANDLE_VALUE)
            return result(true);
    return result(false);
}

int do_pipe_server(void)
{
    HANDLE pipe =
        CreateNamedPipeW(word(0), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 4, 4096, 4096, 0, NULL);
    if (pipe == INVALID_HANDLE_VALUE)
        return last_error();
    printf("ready\n");
    fflush(stdout);
    Sleep((DWORD)_wtoi(word(1)));
    return 0;
}

int do_pipe_inside(void)
{
    HANDLE server =
        CreateNamedPipeW(word(0), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
    HANDLE client =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    DWORD n;
    char text[2] = "";
    return result(server != INVALID_HANDLE_VALUE && client != INVALID_HANDLE_VALUE &&
                  WriteFile(client, "p", 1, &n, NULL) && ReadFile(server, text, 1, &n, NULL) &&
                  text[0] == 'p');
}

/* The number of entries in the access list of an event that was made with none, and whether it can
   be opened by its name. */
int do_object(void)
{
    SECURITY_DESCRIPTOR given;
    SECURITY_ATTRIBUTES attributes = {sizeof attributes, &given, FALSE};
    union {
        ACL list;
        unsigned char bytes[64];
    } empty;
    unsigned char back[1024];
    DWORD size;
    InitializeSecurityDescriptor(&given, SECURITY_DESCRIPTOR_REVISION);
    InitializeAcl(&empty.list, sizeof empty, ACL_REVISION);
    SetSecurityDescriptorDacl(&given, TRUE, &empty.list, FALSE);
    HANDLE event = CreateEventW(&attributes, FALSE, FALSE, word(0));
    BOOL present, defaulted;
    ACL *list = NULL;
    if (!event ||
        !GetKernelObjectSecurity(event, DACL_SECURITY_INFORMATION, back, sizeof back, &size) ||
        !GetSecurityDescriptorDacl(back, &present, &list, &defaulted))
        return last_error();
    printf("entries %u\n", list ? list->AceCount : 999);
    return 0;
}

int do_subst(void)
{
    return result(DefineDosDeviceW(DDD_RAW_TARGET_PATH, L"Q:", word(0)));
}

int do_service(void)
{
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CREATE_SERVICE);
    return result(manager != NULL);
}

/* Copies standard input to standard output, byte for byte. */
int do_cat(void)
{
    static char block[65536];
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD n, done;
    while (ReadFile(in, block, sizeof block, &n, NULL) && n > 0)
        if (!WriteFile(out, block, n, &done, NULL) || done != n)
            return last_error();
    return 0;
}

static const struct {
    const wchar_t *name;
    int (*run)(void);
} actions[] = {
#define ACTION(name, function) {L##name, do_##function},
#include "actions.def"
};

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv)
{
    argc_of = argc;
    argv_of = argv;
    for (size_t i = 0; argc > 1 && i < sizeof actions / sizeof *actions; i++)
        if (wcscmp(argv[1], actions[i].name) == 0) {
            int code = actions[i].run();
            fflush(stdout);
            return code;
        }
    printf("there is no action %ls\n", argc > 1 ? argv[1] : L"");
    return 99;
}
