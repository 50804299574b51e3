/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the attempts. A script is words between blanks, commands between semicolons; paths
 * are relative to the workspace, %NAME% is a variable. The exit code is 0 if every command did what
 * it says.
 */
#include <winsock2.h>

#include <ws2tcpip.h>

#include "wire/windows/nt.h"

#include <shellapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftest/selftest.h"
#include "selftest/windows/late.h"
#include "selftest/windows/world.h"
#include "wire/wire.h"

enum { MOST_WORDS = 6, LONGEST = 1024, SHARE_ALL = 7 };

struct probe_command {
    char words[MOST_WORDS][LONGEST]; /* "" where there is none */
    const char *rest;                /* the script after this command */
};

/* ---- files ---- */

static bool put(const char *path, DWORD access, DWORD disposition, const char *text)
{
    DWORD n;
    HANDLE file = CreateFileA(path, access, SHARE_ALL, NULL, disposition, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool done = WriteFile(file, text, (DWORD)strlen(text), &n, NULL);
    return CloseHandle(file) && done;
}

static bool do_write(const struct probe_command *c)
{
    return put(c->words[1], GENERIC_WRITE, CREATE_ALWAYS, c->words[2][0] ? c->words[2] : "new");
}

static bool do_canary(const struct probe_command *c)
{
    (void)c;
    put("..\\out\\canary", GENERIC_WRITE, CREATE_ALWAYS, "new");
    return true;
}

static bool do_append(const struct probe_command *c)
{
    return put(c->words[1], FILE_APPEND_DATA, OPEN_EXISTING, c->words[2]);
}

static bool do_mkdirs(const struct probe_command *c)
{
    char path[LONGEST];
    snprintf(path, sizeof path, "%s", c->words[1]);
    for (char *p = path; (p = strchr(p + 1, '\\'));) {
        *p = '\0';
        CreateDirectoryA(path, NULL);
        *p = '\\';
    }
    return CreateDirectoryA(path, NULL);
}

static bool do_rename(const struct probe_command *c)
{
    return MoveFileExA(c->words[1], c->words[2], MOVEFILE_REPLACE_EXISTING);
}

static bool do_unlink(const struct probe_command *c)
{
    return DeleteFileA(c->words[1]);
}

static bool do_link(const struct probe_command *c)
{
    return CreateHardLinkA(c->words[2], c->words[1], NULL);
}

static bool do_cd(const struct probe_command *c)
{
    return SetCurrentDirectoryA(c->words[1]);
}

static bool do_read_only(const struct probe_command *c)
{
    return SetFileAttributesA(c->words[1], FILE_ATTRIBUTE_READONLY);
}

static bool do_times(const struct probe_command *c)
{
    FILETIME old = {0, 0x01A00000};
    HANDLE file =
        CreateFileA(c->words[1], FILE_WRITE_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    return SetFileTime(file, &old, &old, &old);
}

/* Content of the first to the second file: by reading or by a mapping. */
static bool do_copy(const struct probe_command *c)
{
    char piece[4096] = "";
    DWORD n = 0;
    HANDLE from = CreateFileA(c->words[1], GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    if (from == INVALID_HANDLE_VALUE)
        return false;
    if (strcmp(c->words[3], "map") == 0) {
        HANDLE map = CreateFileMappingA(from, NULL, PAGE_READONLY, 0, 0, NULL);
        const char *view = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
        n = view ? GetFileSize(from, NULL) : 0;
        memcpy(piece, view ? view : "", n < sizeof piece - 1 ? n : sizeof piece - 1);
    } else {
        ReadFile(from, piece, sizeof piece - 1, &n, NULL);
    }
    return n > 0 && put(c->words[2], GENERIC_WRITE, CREATE_ALWAYS, piece);
}

/* many FOLDER COUNT [MILLISECONDS at most] */
static bool do_many(const struct probe_command *c)
{
    char path[LONGEST + 40];
    uint64_t begin = GetTickCount64(), most = c->words[3][0] ? (uint64_t)atoi(c->words[3]) : ~0ull;
    for (int i = 0; i < atoi(c->words[2]) && GetTickCount64() - begin < most; i++) {
        snprintf(path, sizeof path, "%s\\many-%d", c->words[1], i % 1000);
        put(path, GENERIC_WRITE, CREATE_ALWAYS, "x");
    }
    return true;
}

static bool do_files(const struct probe_command *c)
{
    char path[LONGEST + 40];
    CreateDirectoryA(c->words[1], NULL);
    for (int i = 0; i < atoi(c->words[2]); i++) {
        snprintf(path, sizeof path, "%s\\%d", c->words[1], i / 100);
        if (i % 100 == 0)
            CreateDirectoryA(path, NULL);
        snprintf(path, sizeof path, "%s\\%d\\%d", c->words[1], i / 100, i);
        put(path, GENERIC_WRITE, CREATE_NEW, "");
    }
    return true;
}

/* ---- processes ---- */

static bool run_line(const char *line, DWORD flags, bool wait)
{
    char text[4 * LONGEST];
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    DWORD code = 1;
    snprintf(text, sizeof text, "%s", line);
    if (!CreateProcessA(NULL, text, NULL, NULL, FALSE, flags, NULL, NULL, &startup, &made))
        return false;
    if (flags & CREATE_SUSPENDED)
        ResumeThread(made.hThread);
    if (!wait)
        return true;
    WaitForSingleObject(made.hProcess, 60000);
    GetExitCodeProcess(made.hProcess, &code);
    return code == 0;
}

/* The rest of the script in a child of a child …, made in the way that is asked for. */
static bool do_child(const struct probe_command *c)
{
    char self[LONGEST], line[4 * LONGEST];
    int depth = atoi(c->words[1]);
    const char *how = c->words[2];
    DWORD flags = strcmp(how, "suspended") == 0   ? CREATE_SUSPENDED
                  : strcmp(how, "detached") == 0  ? DETACHED_PROCESS
                  : strcmp(how, "console") == 0   ? CREATE_NEW_CONSOLE
                  : strcmp(how, "breakaway") == 0 ? CREATE_BREAKAWAY_FROM_JOB
                                                  : 0;
    GetModuleFileNameA(NULL, self, sizeof self);
    if (depth > 1)
        snprintf(line, sizeof line, "\"%s\" --probe \"child %d;%s\"", self, depth - 1, c->rest);
    else
        snprintf(line, sizeof line, "\"%s\" --probe \"%s\"", self, c->rest);
    return run_line(line, flags, true);
}

/* leave FILE: the rest of the script in a child that is not waited for; FILE shows that it runs. */
static bool do_leave(const struct probe_command *c)
{
    char self[LONGEST], line[4 * LONGEST];
    GetModuleFileNameA(NULL, self, sizeof self);
    snprintf(line, sizeof line, "\"%s\" --probe \"%s\"", self, c->rest);
    bool good = run_line(line, DETACHED_PROCESS, false);
    for (int i = 0; i < 1000 && GetFileAttributesA(c->words[1]) == INVALID_FILE_ATTRIBUTES; i++)
        Sleep(10);
    return good;
}

static bool do_watch(const struct probe_command *c)
{
    world_watch((DWORD)atoi(c->words[1]));
    return true;
}

/* By its name, or by a copy: run ssh.exe … The words after it are a script for it. */
static bool do_run(const struct probe_command *c)
{
    char line[4 * LONGEST];
    snprintf(line, sizeof line, "%s --probe \"write %s\"", c->words[1], c->words[2]);
    return run_line(line, 0, true);
}

static bool do_copy_file(const struct probe_command *c)
{
    return CopyFileA(c->words[1], c->words[2], FALSE);
}

static bool do_shell(const struct probe_command *c)
{
    char words[2 * LONGEST] = "";
    if (c->words[2][0])
        snprintf(words, sizeof words, "--probe \"write %s\"", c->words[2]);
    SHELLEXECUTEINFOA info = {.cbSize = sizeof info,
                              .fMask =
                                  SEE_MASK_NOCLOSEPROCESS | SEE_MASK_FLAG_NO_UI | SEE_MASK_NOASYNC,
                              .lpFile = c->words[1],
                              .lpParameters = words};
    if (!LATE(L"shell32.dll", ShellExecuteExA)(&info))
        return false;
    if (info.hProcess)
        WaitForSingleObject(info.hProcess, 10000);
    return true;
}

static bool do_kill(const struct probe_command *c)
{
    HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)atoi(c->words[1]));
    return process && TerminateProcess(process, 9);
}

/* Only opened, never ended: for processes that must live. */
static bool do_reach(const struct probe_command *c)
{
    return OpenProcess(PROCESS_VM_WRITE | PROCESS_VM_OPERATION | PROCESS_CREATE_THREAD, FALSE,
                       (DWORD)atoi(c->words[1])) != NULL;
}

/* Writes its own number and the path of its temp folder to a file. */
static bool do_own(const struct probe_command *c)
{
    char text[LONGEST];
    const char *temp = getenv("TEMP");
    snprintf(text, sizeof text, "%lu %s", (unsigned long)GetCurrentProcessId(), temp ? temp : "");
    return put(c->words[1], GENERIC_WRITE, CREATE_ALWAYS, text);
}

static bool do_wait(const struct probe_command *c)
{
    Sleep((DWORD)atoi(c->words[1]));
    return true;
}

static bool do_code(const struct probe_command *c)
{
    exit(atoi(c->words[1]));
}

/* Copies standard input to standard output. */
static bool do_cat(const struct probe_command *c)
{
    static char block[65536];
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD n, done;
    (void)c;
    while (ReadFile(in, block, sizeof block, &n, NULL) && n > 0)
        if (!WriteFile(out, block, n, &done, NULL) || done != n)
            return false;
    return true;
}

struct crowd {
    const struct probe_command *c;
    int number;
    bool good;
};

static DWORD WINAPI one_of_many(void *context)
{
    struct crowd *one = context;
    char path[LONGEST + 60], text[60], back[60] = "";
    DWORD n;
    snprintf(path, sizeof path, "%s\\%s-%d", one->c->words[1], one->c->words[2], one->number);
    snprintf(text, sizeof text, "%lu-%d", (unsigned long)GetCurrentProcessId(), one->number);
    one->good = put(path, GENERIC_WRITE, CREATE_NEW, text) &&
                !put("..\\out\\crowd", GENERIC_WRITE, CREATE_ALWAYS, "new");
    HANDLE file = CreateFileA(path, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    one->good =
        one->good && ReadFile(file, back, sizeof back - 1, &n, NULL) && strcmp(text, back) == 0;
    CloseHandle(file);
    return 0;
}

/* crowd FOLDER NAME THREADS [PROCESSES]: threads that ask at once, in so many processes. */
static bool do_crowd(const struct probe_command *c)
{
    enum { MOST = 200 };
    HANDLE all[MOST];
    struct crowd crowd[MOST];
    int threads = atoi(c->words[3]), processes = atoi(c->words[4]), made = 0;
    bool good = true;
    for (int i = 0; i < (processes ? processes : threads) && i < MOST; i++, made++) {
        char self[LONGEST], line[3 * LONGEST];
        STARTUPINFOA startup = {.cb = sizeof startup};
        PROCESS_INFORMATION child;
        if (!processes) {
            crowd[i] = (struct crowd){c, i, false};
            all[i] = CreateThread(NULL, 0, one_of_many, &crowd[i], 0, NULL);
            continue;
        }
        GetModuleFileNameA(NULL, self, sizeof self);
        snprintf(line, sizeof line, "\"%s\" --probe \"crowd %s %d %d\"", self, c->words[1], i,
                 threads);
        if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
            return false;
        all[i] = child.hProcess;
    }
    for (int i = 0; i < made; i++) {
        DWORD code = 0;
        WaitForSingleObject(all[i], 60000);
        if (processes)
            GetExitCodeProcess(all[i], &code);
        good = good && (processes ? code == 0 : crowd[i].good);
    }
    return good;
}

/* ---- other doors ---- */

static bool speak(const struct probe_command *c, int type)
{
    WSADATA data;
    bool six = strcmp(c->words[2], "6") == 0;
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = NET16((u_short)atoi(c->words[1]))};
    struct sockaddr_in6 sixth = {.sin6_family = AF_INET6, .sin6_port = four.sin_port};
    four.sin_addr.s_addr = NET32(INADDR_LOOPBACK);
    sixth.sin6_addr.s6_addr[15] = 1;
    if (WS(WSAStartup)(MAKEWORD(2, 2), &data))
        return false;
    SOCKET s = WS(socket)(six ? AF_INET6 : AF_INET, type, 0);
    const struct sockaddr *to = six ? (struct sockaddr *)&sixth : (struct sockaddr *)&four;
    int size = six ? (int)sizeof sixth : (int)sizeof four;
    if (s == INVALID_SOCKET)
        return false;
    if (type == SOCK_DGRAM)
        return WS(sendto)(s, "udp", 3, 0, to, size) == 3;
    return WS(connect)(s, to, size) == 0;
}

static bool do_connect(const struct probe_command *c)
{
    return speak(c, SOCK_STREAM);
}

static bool do_udp(const struct probe_command *c)
{
    return speak(c, SOCK_DGRAM);
}

static bool do_raw(const struct probe_command *c)
{
    WSADATA data;
    (void)c;
    return WS(WSAStartup)(MAKEWORD(2, 2), &data) == 0 &&
           WS(socket)(AF_INET, SOCK_RAW, IPPROTO_ICMP) != INVALID_SOCKET;
}

static bool do_pipe(const struct probe_command *c)
{
    return CreateFileA(c->words[1], GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0,
                       NULL) != INVALID_HANDLE_VALUE;
}

/* Pipes, events, mutexes and sections of its own, by name. */
static bool do_objects(const struct probe_command *c)
{
    char name[LONGEST];
    DWORD n;
    char text[2] = "";
    (void)c;
    snprintf(name, sizeof name, "\\\\.\\pipe\\cordon-own-%lu",
             (unsigned long)GetCurrentProcessId());
    HANDLE server =
        CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 512, 512, 0, NULL);
    HANDLE client =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    bool good = server != INVALID_HANDLE_VALUE && client != INVALID_HANDLE_VALUE &&
                WriteFile(client, "p", 1, &n, NULL) && ReadFile(server, text, 1, &n, NULL) &&
                text[0] == 'p';
    snprintf(name, sizeof name, "cordon-own-%lu", (unsigned long)GetCurrentProcessId());
    HANDLE mutex = CreateMutexA(NULL, TRUE, name);
    HANDLE again = OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name);
    good = good && mutex && again && ReleaseMutex(again);
    strcat(name, "-map");
    HANDLE map = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, name);
    HANDLE second = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name);
    char *view = second ? MapViewOfFile(second, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    return good && map && view && (view[0] = 'x') == 'x';
}

static bool do_device(const struct probe_command *c)
{
    DWORD access =
        strcmp(c->words[2], "reading") == 0 ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE;
    return CreateFileA(c->words[1], access, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL) !=
           INVALID_HANDLE_VALUE;
}

static bool do_registry(const struct probe_command *c)
{
    HKEY key;
    return RegCreateKeyExA(HKEY_CURRENT_USER, c->words[1], 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key,
                           NULL) == 0;
}

static bool do_subst(const struct probe_command *c)
{
    return DefineDosDeviceA(0, c->words[1], c->words[2]);
}

static bool do_task(const struct probe_command *c)
{
    return scheduler_do(c->words[1], c->words[2]);
}

/* One message to the broker that no agent would write; this process does not outlive it. */
static bool do_garbage(const struct probe_command *c)
{
    MEMORY_BASIC_INFORMATION m;
    (void)c;
    for (const char *at = NULL; VirtualQuery(at, &m, sizeof m) == sizeof m;
         at = (const char *)m.BaseAddress + m.RegionSize) {
        struct wire_shared *s = m.BaseAddress;
        if (m.State != MEM_COMMIT || m.Type != MEM_MAPPED || m.Protect != PAGE_READWRITE ||
            m.RegionSize < sizeof *s || s->magic != WIRE_MAGIC)
            continue;
        s->slot[WIRE_SLOTS - 1].owner = GetCurrentThreadId();
        s->slot[WIRE_SLOTS - 1].size = 0xFFFFFFFF;
        s->slot[WIRE_SLOTS - 1].state = WIRE_ASKED;
        ReleaseSemaphore((HANDLE)(uintptr_t)s->requests, 1, NULL);
        Sleep(20000);
        return true;
    }
    return true;
}

/* ---- around the agent ---- */

/* The stub of a call as ntdll's file has it, in memory of our own. */
static void *own_stub(const char *call)
{
    char path[MAX_PATH + 20];
    DWORD before;
    GetSystemDirectoryA(path, MAX_PATH);
    strcat(path, "\\ntdll.dll");
    HANDLE file = CreateFileA(path, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    HANDLE map = CreateFileMappingA(file, NULL, PAGE_READONLY | SEC_IMAGE, 0, 0, NULL);
    const unsigned char *image = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
    unsigned char *code = VirtualAlloc(NULL, 4096, MEM_COMMIT, PAGE_READWRITE);
    HMODULE ntdll = GetModuleHandleA("ntdll.dll");
    if (!image || !code)
        return NULL;
    size_t at = (size_t)((unsigned char *)(void *)GetProcAddress(ntdll, call) -
                         (unsigned char *)(void *)ntdll);
    memcpy(code, image + at, 32);
    VirtualProtect(code, 4096, PAGE_EXECUTE_READ, &before);
    return code;
}

/* raw write P, raw delete P: by system calls of its own. */
static bool do_raw_call(const struct probe_command *c)
{
    NTSTATUS(NTAPI * create)
    (HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *, LARGE_INTEGER *, ULONG, ULONG,
     ULONG, ULONG, void *, ULONG) = own_stub("NtCreateFile");
    bool deletes = strcmp(c->words[1], "delete") == 0;
    char full[LONGEST];
    wchar_t name[LONGEST + 8];
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE file;
    GetFullPathNameA(c->words[2], sizeof full, full, NULL);
    world_wide(name, LONGEST + 8, L"\\??\\", full);
    RtlInitUnicodeString(&text, name);
    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE, NULL, NULL);
    if (!create ||
        create(&file, (deletes ? DELETE : GENERIC_WRITE) | SYNCHRONIZE, &object, &io, NULL, 0,
               SHARE_ALL, deletes ? FILE_OPEN : FILE_OVERWRITE_IF,
               FILE_SYNCHRONOUS_IO_NONALERT | (deletes ? FILE_DELETE_ON_CLOSE : 0), NULL, 0) < 0)
        return false;
    return CloseHandle(file);
}

/* turn rename P NEW, turn link P NEW, turn junction P TARGET: a handle that was granted, then
   system calls of its own on it. */
static bool do_turn(const struct probe_command *c)
{
    NTSTATUS(NTAPI * set)
    (HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int) = own_stub("NtSetInformationFile");
    NTSTATUS(NTAPI * control)
    (HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, ULONG, void *, ULONG, void *, ULONG) =
        own_stub("NtFsControlFile");
    enum { RENAME = 10, LINK = 11, SET_REPARSE_POINT = 0x900A4 };
    struct {
        ULONG replace;
        HANDLE root;
        ULONG size;
        wchar_t name[LONGEST + 8];
    } new_name = {.replace = 1};
    struct {
        DWORD tag;
        WORD size, reserved, name_at, name_size, shown_at, shown_size;
        wchar_t path[LONGEST + 8];
    } link = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    char full[LONGEST];
    IO_STATUS_BLOCK io;
    bool links = strcmp(c->words[1], "link") == 0;
    bool renames = strcmp(c->words[1], "rename") == 0 || links;
    HANDLE file =
        CreateFileA(c->words[2], renames && !links ? DELETE | SYNCHRONIZE : GENERIC_WRITE,
                    SHARE_ALL, NULL, OPEN_EXISTING,
                    renames ? 0 : FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE || !set || !control)
        return false;
    GetFullPathNameA(c->words[3], sizeof full, full, NULL);
    int n = 2 * world_wide(renames ? new_name.name : link.path, LONGEST + 8, L"\\??\\", full);
    new_name.size = (ULONG)n;
    link.name_size = (WORD)n;
    link.shown_at = (WORD)(n + 2);
    link.size = (WORD)(8 + n + 4);
    return (renames ? set(file, &io, &new_name, (ULONG)sizeof new_name, links ? LINK : RENAME)
                    : control(file, NULL, NULL, NULL, &io, SET_REPARSE_POINT, &link, 8u + link.size,
                              NULL, 0)) >= 0;
}

/* One key into the console that this process has, or that its parent has. */
static bool do_type(const struct probe_command *c)
{
    DWORD n = 0;
    INPUT_RECORD key = {
        .EventType = KEY_EVENT,
        .Event.KeyEvent = {.bKeyDown = TRUE, .wRepeatCount = 1, .uChar.AsciiChar = '~'}};
    (void)c;
    AttachConsole(ATTACH_PARENT_PROCESS);
    HANDLE in = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE, SHARE_ALL, NULL, OPEN_EXISTING,
                            0, NULL);
    return WriteConsoleInputA(in, &key, 1, &n) && n == 1;
}

/* typed FILE [run]: types in this process's console, or lets a run try; makes FILE if a key
   came. */
static bool do_typed(const struct probe_command *c)
{
    INPUT_RECORD keys[16];
    DWORD n = 0;
    HANDLE in = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE, SHARE_ALL, NULL, OPEN_EXISTING,
                            0, NULL);
    char line[4 * LONGEST], self[LONGEST];
    const char *program = getenv(WORLD_PROGRAM);
    GetModuleFileNameA(NULL, self, sizeof self);
    if (c->words[2][0])
        snprintf(line, sizeof line, "\"%s\" run --quiet -- \"%s\" --probe \"canary; type\"",
                 program ? program : "", self);
    else
        snprintf(line, sizeof line, "\"%s\" --probe type", self);
    FlushConsoleInputBuffer(in);
    run_line(line, 0, true);
    bool typed = false;
    if (PeekConsoleInputA(in, keys, 16, &n))
        for (DWORD i = 0; i < n; i++)
            typed = typed || (keys[i].EventType == KEY_EVENT &&
                              keys[i].Event.KeyEvent.uChar.AsciiChar == '~');
    return typed && put(c->words[1], GENERIC_WRITE, CREATE_ALWAYS, "x");
}

/* ---- reading the script ---- */

static const struct {
    const char *name;
    bool (*run)(const struct probe_command *c);
} commands[] = {
    {"write", do_write},         {"canary", do_canary},   {"append", do_append},
    {"bytes", do_write},         {"mkdir", do_mkdirs},    {"rename", do_rename},
    {"unlink", do_unlink},       {"link", do_link},       {"cd", do_cd},
    {"read-only", do_read_only}, {"times", do_times},     {"copy", do_copy},
    {"many", do_many},           {"files", do_files},     {"child", do_child},
    {"leave", do_leave},         {"watch", do_watch},     {"run", do_run},
    {"copy-file", do_copy_file}, {"shell", do_shell},     {"kill", do_kill},
    {"reach", do_reach},         {"own", do_own},         {"wait", do_wait},
    {"code", do_code},           {"cat", do_cat},         {"crowd", do_crowd},
    {"connect", do_connect},     {"udp", do_udp},         {"raw-socket", do_raw},
    {"pipe", do_pipe},           {"objects", do_objects}, {"device", do_device},
    {"registry", do_registry},   {"subst", do_subst},     {"garbage", do_garbage},
    {"raw", do_raw_call},        {"turn", do_turn},       {"type", do_type},
    {"typed", do_typed},         {"task", do_task},
};

int selftest_probe(const char *script)
{
    bool good = true;
    while (*script) {
        static struct probe_command c;
        char text[2 * LONGEST], expanded[2 * LONGEST];
        size_t n = strcspn(script, ";"), count = 0;
        memset(&c, 0, sizeof c);
        c.rest = script[n] ? script + n + 1 : "";
        snprintf(text, sizeof text, "%.*s", (int)n, script);
        ExpandEnvironmentStringsA(text, expanded, sizeof expanded);
        for (char *word = strtok(expanded, " "); word && count < MOST_WORDS;
             word = strtok(NULL, " "))
            snprintf(c.words[count++], LONGEST, "%s", word);
        size_t i = 0, known = sizeof commands / sizeof *commands;
        while (i < known && strcmp(commands[i].name, c.words[0]) != 0)
            i++;
        if (i == known)
            return 99;
        good = commands[i].run(&c) && good;
        if (strcmp(c.words[0], "child") == 0 || strcmp(c.words[0], "leave") == 0)
            break; /* the child had the rest */
        script = c.rest;
    }
    return good ? 0 : 1;
}
