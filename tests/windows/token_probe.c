/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_probe: what a real Windows does with the token of a run, in one table. Self-contained: one
 * file, no library of the project, nothing left behind.
 *
 * Each action is tried by a child of this program, once without a token (the control: it must work)
 * and once with each variant of the token. The cell is "ok" or the Windows error; a child that
 * could not even start shows the status that it ended with.
 *
 *   x86_64-w64-mingw32-gcc -municode -DUNICODE -D_WIN32_WINNT=0x0A00 token_probe.c -o
 * token_probe.exe
 */
#include <winsock2.h>

#include <windows.h>

#include <ntsecapi.h>
#include <sddl.h>
#include <shlobj.h>
#include <stdbool.h>
#include <stdio.h>
#include <winternl.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static wchar_t folder[MAX_PATH], file[2 * MAX_PATH], low_file[2 * MAX_PATH];
static DWORD victim; /* an unconfined process of the user */

/* ---- what the children try: 0, or the Windows error ---- */

static DWORD failed_if(bool failed)
{
    return failed ? (GetLastError() ? GetLastError() : ERROR_GEN_FAILURE) : 0;
}

static DWORD open_file(const wchar_t *path, DWORD access, DWORD disposition)
{
    HANDLE h = CreateFileW(path, access, 7, NULL, disposition, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    DWORD error = failed_if(h == INVALID_HANDLE_VALUE);
    if (!error)
        CloseHandle(h);
    return error;
}

static DWORD open_process(DWORD access)
{
    HANDLE h = OpenProcess(access, FALSE, victim);
    DWORD error = failed_if(!h);
    if (h)
        CloseHandle(h);
    return error;
}

static DWORD try_read(void)
{
    return open_file(file, GENERIC_READ, OPEN_EXISTING);
}
static DWORD try_write(void)
{
    return open_file(file, GENERIC_WRITE, OPEN_EXISTING);
}
static DWORD try_create(void)
{
    wchar_t path[2 * MAX_PATH];
    swprintf(path, COUNT(path), L"%ls\\new-%lu", folder, GetCurrentProcessId());
    DWORD error = open_file(path, GENERIC_WRITE, CREATE_NEW);
    DeleteFileW(path);
    return error;
}
static DWORD try_delete(void)
{
    return failed_if(!DeleteFileW(file));
}
static DWORD try_delete_child(void)
{
    return open_file(folder, FILE_DELETE_CHILD, OPEN_EXISTING);
}
static DWORD try_write_dac(void)
{
    return open_file(file, WRITE_DAC, OPEN_EXISTING);
}
static DWORD try_low_write(void)
{
    return open_file(low_file, GENERIC_WRITE, OPEN_EXISTING);
}
static DWORD try_low_delete(void)
{
    return failed_if(!DeleteFileW(low_file));
}
static DWORD try_nul(void)
{
    return open_file(L"NUL", GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING);
}
static DWORD try_afd(void)
{
    WSADATA data;
    int rc = WSAStartup(MAKEWORD(2, 2), &data);
    if (rc)
        return (DWORD)rc;
    return socket(AF_INET, SOCK_STREAM, 0) == INVALID_SOCKET ? (DWORD)WSAGetLastError() : 0;
}
static DWORD try_random(void)
{
    BYTE bytes[16];
    return failed_if(!RtlGenRandom(bytes, sizeof bytes));
}
static DWORD try_registry(void)
{
    HKEY key;
    LONG rc = RegOpenKeyExW(HKEY_CURRENT_USER, L"Software", 0, KEY_SET_VALUE, &key);
    if (rc == 0)
        RegCloseKey(key);
    return (DWORD)rc;
}
static DWORD try_memory_write(void)
{
    return open_process(PROCESS_VM_WRITE | PROCESS_VM_OPERATION);
}
static DWORD try_memory_read(void)
{
    return open_process(PROCESS_VM_READ);
}
static DWORD try_terminate(void)
{
    return open_process(PROCESS_TERMINATE);
}
static DWORD try_own_token(void)
{
    HANDLE token;
    return failed_if(!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_DEFAULT, &token));
}
static DWORD try_window(void)
{
    return failed_if(
        !CreateWindowExW(0, L"STATIC", L"", 0, 0, 0, 1, 1, HWND_MESSAGE, NULL, NULL, NULL));
}
static DWORD try_clipboard(void)
{
    bool opened = OpenClipboard(NULL);
    if (opened)
        CloseClipboard();
    return failed_if(!opened);
}
static DWORD try_console(void)
{
    FreeConsole();
    if (!AllocConsole())
        return GetLastError();
    DWORD n;
    HANDLE out =
        CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE, 3, NULL, OPEN_EXISTING, 0, NULL);
    return failed_if(out == INVALID_HANDLE_VALUE || !WriteConsoleW(out, L"x", 1, &n, NULL));
}
static DWORD try_pipe(void)
{
    wchar_t name[64];
    swprintf(name, COUNT(name), L"\\\\.\\pipe\\token-probe-%lu", GetCurrentProcessId());
    HANDLE server =
        CreateNamedPipeW(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
    return server == INVALID_HANDLE_VALUE ? GetLastError()
                                          : open_file(name, GENERIC_WRITE, OPEN_EXISTING);
}
/* A server in the tree and a client of ours without quality of service: what may it be? The answer
   is 100 + the level (0 anonymous, 1 identification, 2 impersonation: act as the user). */
static DWORD try_impersonation(void)
{
    char byte;
    DWORD n;
    HANDLE token;
    SECURITY_IMPERSONATION_LEVEL level = 0;
    SECURITY_DESCRIPTOR open;
    SECURITY_ATTRIBUTES all = {sizeof all, &open, FALSE};
    InitializeSecurityDescriptor(&open, SECURITY_DESCRIPTOR_REVISION);
    SetSecurityDescriptorDacl(&open, TRUE, NULL, FALSE);
    HANDLE server = CreateNamedPipeW(L"\\\\.\\pipe\\token-probe-server", PIPE_ACCESS_DUPLEX,
                                     PIPE_TYPE_BYTE, 1, 64, 64, 0, &all);
    if (server == INVALID_HANDLE_VALUE)
        return GetLastError();
    if ((!ConnectNamedPipe(server, NULL) && GetLastError() != ERROR_PIPE_CONNECTED) ||
        !ReadFile(server, &byte, 1, &n, NULL) || !ImpersonateNamedPipeClient(server) ||
        !OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token) ||
        !GetTokenInformation(token, TokenImpersonationLevel, &level, sizeof level, &n))
        return GetLastError();
    return 100 + (DWORD)level;
}

static DWORD try_unnamed_pipe(void)
{
    HANDLE read, write;
    DWORD n;
    return failed_if(!CreatePipe(&read, &write, NULL, 0) || !WriteFile(write, "x", 1, &n, NULL));
}
static DWORD try_global(void)
{
    return failed_if(!CreateEventW(NULL, TRUE, FALSE, L"Global\\token-probe-event"));
}
static DWORD try_local(void)
{
    return failed_if(!CreateEventW(NULL, TRUE, FALSE, L"Local\\token-probe-event"));
}
/* A device by the kernel's name, as DLLs open it. */
static DWORD open_device(const wchar_t *path, ACCESS_MASK access)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE device;
    RtlInitUnicodeString(&name, path);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    NTSTATUS status = NtOpenFile(&device, access, &object, &io, 3, 0x20);
    if (status >= 0)
        NtClose(device);
    return status >= 0 ? 0 : RtlNtStatusToDosError(status);
}
static DWORD try_ksec(void)
{
    return open_device(L"\\Device\\KsecDD", FILE_READ_DATA | FILE_WRITE_DATA | SYNCHRONIZE);
}
static DWORD try_afd_device(void)
{
    return open_device(L"\\Device\\Afd\\Mio", SYNCHRONIZE);
}
static DWORD try_mounts(void)
{
    return open_device(L"\\??\\MountPointManager", FILE_READ_ATTRIBUTES | SYNCHRONIZE);
}

static const struct action {
    const char *name;
    DWORD (*run)(void);
    const char *design; /* what the design expects of the run's token */
} actions[] = {
    {"read a file outside", try_read, "ok"},
    {"write a file outside", try_write, "5"},
    {"make a file outside", try_create, "5"},
    {"delete a file outside", try_delete, "5"},
    {"FILE_DELETE_CHILD on a folder", try_delete_child, "5"},
    {"WRITE_DAC on a file outside", try_write_dac, "5"},
    {"write a file in LocalLow", try_low_write, "5"},
    {"delete a file in LocalLow", try_low_delete, "open: ok by the model"},
    {"open NUL for writing", try_nul, "5, or ok without the broker"},
    {"make a socket (AFD)", try_afd, "an error, or ok without the broker"},
    {"random numbers (CNG)", try_random, "ok"},
    {"set values in HKCU", try_registry, "5"},
    {"write the memory of a process", try_memory_write, "5"},
    {"read the memory of a process", try_memory_read, "5"},
    {"terminate a process", try_terminate, "open: ok by the model"},
    {"adjust its own token", try_own_token, "5 here; ok when opened up"},
    {"make a window", try_window, "ok"},
    {"open the clipboard", try_clipboard, "an error by the job's limits"},
    {"a console (conhost)", try_console, "ok"},
    {"a default pipe, both ends", try_pipe, "5; ok with the run's SID"},
    {"impersonate a client", try_impersonation, "at most 101"},
    {"an unnamed pipe (CreatePipe)", try_unnamed_pipe, "ok"},
    {"an event for all sessions (Global\\)", try_global, "5; the run has a directory of its own"},
    {"an event of the session (Local\\)", try_local, "ok"},
    {"open KsecDD", try_ksec, "an error, or ok without Everyone"},
    {"open AFD by its own name", try_afd_device, "an error, or ok without the broker"},
    {"open the mount point manager", try_mounts, "ok"},
};

/* ---- tokens ---- */

static const struct variant {
    const char *name;
    bool token, everyone, low;
} variants[] = {
    {"no token", false, false, false},
    {"the run's", true, false, true},
    {"+Everyone", true, true, true},
    {"medium", true, false, false},
};

static PSID sid_of(const wchar_t *text)
{
    PSID sid = NULL;
    ConvertStringSidToSidW(text, &sid);
    return sid;
}

static HANDLE make_token(const struct variant *v, bool interactive)
{
    HANDLE own, token = NULL;
    static union {
        TOKEN_GROUPS groups;
        BYTE bytes[32768];
    } info;
    DWORD size;
    PSID logon = NULL;
    OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &own);
    GetTokenInformation(own, TokenGroups, &info, sizeof info, &size);
    for (DWORD i = 0; i < info.groups.GroupCount; i++)
        if ((info.groups.Groups[i].Attributes & SE_GROUP_LOGON_ID) == SE_GROUP_LOGON_ID)
            logon = info.groups.Groups[i].Sid;
    SID_AND_ATTRIBUTES disabled[] = {{sid_of(L"S-1-5-4"), 0}};
    SID_AND_ATTRIBUTES restricting[] = {
        {sid_of(L"S-1-0-11-12-13-14"), 0}, {logon, 0}, {sid_of(L"S-1-1-0"), 0}};
    if (!CreateRestrictedToken(own, DISABLE_MAX_PRIVILEGE | LUA_TOKEN | WRITE_RESTRICTED,
                               interactive ? 0 : 1, disabled, 0, NULL, v->everyone ? 3 : 2,
                               restricting, &token))
        printf("# CreateRestrictedToken: error %lu\n", GetLastError());
    TOKEN_MANDATORY_LABEL label = {
        {sid_of(v->low ? L"S-1-16-4096" : L"S-1-16-8192"), SE_GROUP_INTEGRITY}};
    if (token && !SetTokenInformation(token, TokenIntegrityLevel, &label,
                                      sizeof label + GetLengthSid(label.Label.Sid)))
        printf("# integrity: error %lu\n", GetLastError());
    CloseHandle(own);
    return token;
}

/* ---- starting ---- */

static bool start(HANDLE token, const wchar_t *text, DWORD flags, PROCESS_INFORMATION *child)
{
    wchar_t line[4096];
    STARTUPINFOW startup = {.cb = sizeof startup};
    wcscpy(line, text);
    return token ? CreateProcessAsUserW(token, NULL, line, NULL, NULL, FALSE, flags, NULL, folder,
                                        &startup, child)
                 : CreateProcessW(NULL, line, NULL, NULL, FALSE, flags, NULL, folder, &startup,
                                  child);
}

static DWORD finish(PROCESS_INFORMATION *child)
{
    DWORD code = STILL_ACTIVE;
    if (WaitForSingleObject(child->hProcess, 30000) == WAIT_OBJECT_0)
        GetExitCodeProcess(child->hProcess, &code);
    TerminateProcess(child->hProcess, 1);
    CloseHandle(child->hProcess);
    CloseHandle(child->hThread);
    return code;
}

static void make_files(void)
{
    DWORD n;
    const wchar_t *both[] = {file, low_file};
    for (int i = 0; i < 2; i++) {
        HANDLE h = CreateFileW(both[i], GENERIC_WRITE, 7, NULL, CREATE_ALWAYS, 0, NULL);
        WriteFile(h, "x", 1, &n, NULL);
        CloseHandle(h);
    }
}

static void connect_to_server(void)
{
    DWORD n;
    for (int i = 0; i < 100; i++) {
        HANDLE pipe = CreateFileW(L"\\\\.\\pipe\\token-probe-server", GENERIC_READ | GENERIC_WRITE,
                                  0, NULL, OPEN_EXISTING, 0, NULL);
        if (pipe != INVALID_HANDLE_VALUE) {
            WriteFile(pipe, "x", 1, &n, NULL);
            Sleep(300);
            CloseHandle(pipe);
            return;
        }
        Sleep(20);
    }
}

static void cell(DWORD code)
{
    char text[16];
    snprintf(text, sizeof text, code > 0xFFFF ? "%08lx" : code ? "%lu" : "ok", code);
    printf(" | %-9s", text);
}

static void run_action(size_t i, HANDLE token)
{
    wchar_t self[MAX_PATH], line[2 * MAX_PATH];
    PROCESS_INFORMATION child;
    make_files();
    GetModuleFileNameW(NULL, self, MAX_PATH);
    swprintf(line, COUNT(line), L"\"%ls\" --child %u %lu", self, (unsigned)i, victim);
    if (!start(token, line, CREATE_NO_WINDOW, &child)) {
        cell(GetLastError());
        return;
    }
    if (actions[i].run == try_impersonation)
        connect_to_server();
    cell(finish(&child));
}

/* ---- programs, the job, the mappings ---- */

static const wchar_t *const programs[] = {
    L"cmd /c exit 0",
    L"cmd /c cd . | findstr x || exit 0",
    L"node -e 0",
    L"node -e \"require('child_process').execSync('cmd /c exit 0')\"",
    L"pwsh -NoProfile -Command 1",
    L"powershell -NoProfile -Command 1",
    L"git --version",
    L"\"C:\\Program Files\\Git\\bin\\bash.exe\" -c \"echo x | cat\"",
    L"cargo --version",
    L"python -c 0",
};

/* ---- one factor a row: which of them keeps a program from starting ---- */

enum console { INHERITED, NO_WINDOW, NEW_CONSOLE, DETACHED, PSEUDO };

static const struct recipe {
    const char *name;
    enum console console;
    bool own_desktop;
    struct variant token;
    bool interactive, own_dacl;
} recipes[] = {
    {"no token", NO_WINDOW, false, {"", false, false, false}, true, false},
    {"all of it, no window", NO_WINDOW, true, {"", true, false, true}, false, true},
    {"all of it, inherited console", INHERITED, true, {"", true, false, true}, false, true},
    {"all of it, new console", NEW_CONSOLE, true, {"", true, false, true}, false, true},
    {"all of it, no console", DETACHED, true, {"", true, false, true}, false, true},
    {"all of it, pseudoconsole", PSEUDO, true, {"", true, false, true}, false, true},
    {"the caller's desktop", NO_WINDOW, false, {"", true, false, true}, false, true},
    {"with Everyone", NO_WINDOW, true, {"", true, true, true}, false, true},
    {"Medium", NO_WINDOW, true, {"", true, false, false}, false, true},
    {"with INTERACTIVE", NO_WINDOW, true, {"", true, false, true}, true, true},
    {"the user's default DACL", NO_WINDOW, true, {"", true, false, true}, false, false},
    {"new console, with Everyone", NEW_CONSOLE, true, {"", true, true, true}, false, true},
    {"pseudoconsole, with Everyone", PSEUDO, true, {"", true, true, true}, false, true},
    {"pseudoconsole, the caller's desktop", PSEUDO, false, {"", true, false, true}, false, true},
};

static void set_default_dacl(HANDLE token)
{
    PSECURITY_DESCRIPTOR descriptor = NULL;
    static union {
        TOKEN_USER user;
        BYTE bytes[256];
    } info;
    DWORD size;
    wchar_t text[300], *user = NULL;
    BOOL present, defaulted;
    TOKEN_DEFAULT_DACL dacl = {0};
    GetTokenInformation(token, TokenUser, &info, sizeof info, &size);
    ConvertSidToStringSidW(info.user.User.Sid, &user);
    swprintf(text, COUNT(text), L"D:(A;;GA;;;%ls)(A;;GA;;;S-1-0-11-12-13-14)(A;;GA;;;SY)", user);
    if (ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &descriptor,
                                                             NULL) &&
        GetSecurityDescriptorDacl(descriptor, &present, &dacl.DefaultDacl, &defaulted))
        SetTokenInformation(token, TokenDefaultDacl, &dacl, sizeof dacl);
}

static HDESK make_desktop(void)
{
    SECURITY_ATTRIBUTES attributes = {sizeof attributes, NULL, FALSE};
    ConvertStringSecurityDescriptorToSecurityDescriptorW(
        L"D:(A;;GA;;;WD)(A;;GA;;;S-1-0-11-12-13-14)S:(ML;;NW;;;LW)", SDDL_REVISION_1,
        &attributes.lpSecurityDescriptor, NULL);
    return CreateDesktopW(L"token-probe", NULL, NULL, 0, GENERIC_ALL, &attributes);
}

/* The attribute of a pseudoconsole; NULL where there are none. */
static LPPROC_THREAD_ATTRIBUTE_LIST pseudo_console(void)
{
    HRESULT(WINAPI * make)
    (COORD, HANDLE, HANDLE, DWORD, void **) =
        (void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "CreatePseudoConsole");
    static BYTE list[256];
    SIZE_T size = sizeof list;
    HANDLE in_read, in_write, out_read, out_write;
    void *console = NULL;
    if (!make || !CreatePipe(&in_read, &in_write, NULL, 0) ||
        !CreatePipe(&out_read, &out_write, NULL, 0) ||
        make((COORD){80, 25}, in_read, out_write, 0, &console) < 0)
        return NULL;
    InitializeProcThreadAttributeList((void *)list, 1, 0, &size);
    UpdateProcThreadAttribute((void *)list, 0, 0x20016, console, sizeof console, NULL, NULL);
    return (void *)list;
}

static void try_recipe(const struct recipe *r)
{
    static const DWORD flags[] = {0, CREATE_NO_WINDOW, CREATE_NEW_CONSOLE, DETACHED_PROCESS,
                                  EXTENDED_STARTUPINFO_PRESENT};
    wchar_t line[] = L"cmd /c exit 0", desktop[] = L"token-probe";
    STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof startup}};
    PROCESS_INFORMATION child;
    HANDLE token = NULL;
    if (r->token.token) {
        token = make_token(&r->token, r->interactive);
        if (r->own_dacl)
            set_default_dacl(token);
    }
    HDESK own = r->own_desktop ? make_desktop() : NULL;
    if (own)
        startup.StartupInfo.lpDesktop = desktop;
    if (r->console == PSEUDO && !(startup.lpAttributeList = pseudo_console())) {
        printf(" | none\n");
        return;
    }
    if (r->console != PSEUDO)
        startup.StartupInfo.cb = sizeof startup.StartupInfo;
    BOOL started =
        token ? CreateProcessAsUserW(token, NULL, line, NULL, NULL, FALSE, flags[r->console], NULL,
                                     folder, &startup.StartupInfo, &child)
              : CreateProcessW(NULL, line, NULL, NULL, FALSE, flags[r->console], NULL, folder,
                               &startup.StartupInfo, &child);
    cell(started ? finish(&child) : GetLastError());
    printf("\n");
    if (own)
        CloseDesktop(own);
    if (token)
        CloseHandle(token);
}

static void try_recipes(bool dry)
{
    printf("\nstarting a program, one factor a row\n");
    for (size_t i = 0; i < (dry ? 1 : COUNT(recipes)); i++) {
        printf("%-44s", recipes[i].name);
        try_recipe(&recipes[i]);
        fflush(stdout);
    }
}

/* Does a job with window limits take a process when this program is in a job itself? */
static void probe_job(void)
{
    PROCESS_INFORMATION child;
    BOOL nested = FALSE;
    JOBOBJECT_BASIC_UI_RESTRICTIONS ui = {0xFF};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    SetInformationJobObject(job, JobObjectBasicUIRestrictions, &ui, sizeof ui);
    IsProcessInJob(GetCurrentProcess(), NULL, &nested);
    if (!start(NULL, L"cmd /c exit 0", CREATE_SUSPENDED | CREATE_NO_WINDOW, &child))
        return;
    DWORD error = failed_if(!AssignProcessToJobObject(job, child.hProcess));
    printf("# a job with window limits, this program %s a job: %s (%lu)\n",
           nested ? "in" : "not in", error ? "refused" : "ok", error);
    TerminateProcess(child.hProcess, 0);
    finish(&child);
    CloseHandle(job);
}

static void print_mapping(const char *name, HANDLE object)
{
    ULONG size;
    struct {
        UNICODE_STRING name;
        ULONG counts[12], attributes;
        GENERIC_MAPPING mapping;
        BYTE rest[256];
    } info;
    if (NtQueryObject(object, ObjectTypeInformation, &info, sizeof info, &size) >= 0)
        printf("# mapping of %-8s read %06lx write %06lx execute %06lx all %06lx\n", name,
               info.mapping.GenericRead, info.mapping.GenericWrite, info.mapping.GenericExecute,
               info.mapping.GenericAll);
}

static void print_mappings(void)
{
    HANDLE token;
    print_mapping("process", GetCurrentProcess());
    print_mapping("thread", GetCurrentThread());
    print_mapping("event", CreateEventW(NULL, FALSE, FALSE, NULL));
    print_mapping("desktop", GetThreadDesktop(GetCurrentThreadId()));
    print_mapping("station", GetProcessWindowStation());
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        print_mapping("token", token);
}

/* ---- */

static void name_files(void)
{
    wchar_t base[MAX_PATH], *low = NULL;
    GetTempPathW(MAX_PATH, base);
    swprintf(folder, COUNT(folder), L"%lstoken-probe", base);
    swprintf(file, COUNT(file), L"%ls\\outside.txt", folder);
    if (SHGetKnownFolderPath(&FOLDERID_LocalAppDataLow, 0, NULL, &low) == S_OK)
        swprintf(low_file, COUNT(low_file), L"%ls\\token-probe.txt", low);
    CoTaskMemFree(low);
}

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv)
{
    name_files();
    if (argc > 3 && wcscmp(argv[1], L"--child") == 0) {
        size_t i = (size_t)_wtoi(argv[2]);
        victim = (DWORD)_wtoi(argv[3]);
        return i < COUNT(actions) ? (int)actions[i].run() : 1;
    }
    if (argc > 1 && wcscmp(argv[1], L"--sleep") == 0)
        Sleep(600000);
    bool dry = argc > 1 && wcscmp(argv[1], L"--dry") == 0;
    if (argc > 1 && !dry) {
        puts("token_probe        try every action with and without the token and print a table\n"
             "token_probe --dry  only without the token, to see that the probe itself works");
        return wcscmp(argv[1], L"--help") == 0 ? 0 : 1;
    }
    HANDLE tokens[COUNT(variants)] = {0};
    size_t columns = dry ? 1 : COUNT(variants);
    wchar_t self[MAX_PATH], line[2 * MAX_PATH];
    PROCESS_INFORMATION sleeper;
    CreateDirectoryW(folder, NULL);
    GetModuleFileNameW(NULL, self, MAX_PATH);
    swprintf(line, COUNT(line), L"\"%ls\" --sleep", self);
    if (!start(NULL, line, CREATE_NO_WINDOW, &sleeper))
        return 1;
    victim = sleeper.dwProcessId;
    printf("%-44s", "action");
    for (size_t v = 0; v < columns; v++) {
        tokens[v] = variants[v].token ? make_token(&variants[v], false) : NULL;
        printf(" | %-9s", variants[v].name);
    }
    printf(" | design\n");
    for (size_t i = 0; i < COUNT(actions); i++) {
        printf("%-44s", actions[i].name);
        for (size_t v = 0; v < columns; v++)
            run_action(i, tokens[v]);
        printf(" | %s\n", actions[i].design);
        fflush(stdout);
    }
    for (size_t i = 0; i < COUNT(programs) && !dry; i++) {
        printf("%-44.44ls", programs[i]);
        for (size_t v = 0; v < columns; v++) {
            PROCESS_INFORMATION child;
            bool started = start(tokens[v], programs[i], CREATE_NO_WINDOW, &child);
            cell(started ? finish(&child) : GetLastError());
        }
        printf(" | ok\n");
        fflush(stdout);
    }
    try_recipes(dry);
    probe_job();
    print_mappings();
    TerminateProcess(sleeper.hProcess, 0);
    finish(&sleeper);
    DeleteFileW(file);
    DeleteFileW(low_file);
    RemoveDirectoryW(folder);
    return 0;
}
