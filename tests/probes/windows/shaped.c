/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as Windows' own DLLs make them, from public headers and sources. Wine cannot perform most
 * of them: what is printed is the broker's answer, asked past the agent, or what the agent did with
 * the call. One line each: NAME STATUS FLAGS RIGHTS.
 */
#include <winsock2.h>
#include <ws2tcpip.h>

#include "wire/windows/nt.h"

#include <stdio.h>
#include <string.h>

#include "probe.h"
#include "wire/wire.h"

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, SYNC = 0x20 };

static void show(const char *name, NTSTATUS status, uint32_t flags, HANDLE handle)
{
    PUBLIC_OBJECT_BASIC_INFORMATION info = {0};
    if (handle) {
        NtQueryObject(handle, ObjectBasicInformation, &info, sizeof info, NULL);
        CloseHandle(handle);
    }
    printf("%s %08lx %x %08lx\n", name, (unsigned long)status, (unsigned)flags,
           (unsigned long)info.GrantedAccess);
}

/* ---- opens, past the agent ---- */

struct opening {
    const char *name;
    const wchar_t *path; /* %W: the workspace, %O: the folder beside it */
    ACCESS_MASK access;
    ULONG disposition, options;
    uint64_t flags;
};

static void full_name(const wchar_t *pattern, wchar_t *out)
{
    wchar_t here[600], beside[600];
    size_t n = 0;
    GetCurrentDirectoryW(600, here);
    GetFullPathNameW(L"..\\out", 600, beside, NULL);
    for (; *pattern && n < 1000; pattern++) {
        if (pattern[0] == L'%' && (pattern[1] == L'W' || pattern[1] == L'O')) {
            n += (size_t)swprintf(out + n, 1024 - n, L"%ls", pattern[1] == L'W' ? here : beside);
            pattern++;
        } else {
            out[n++] = *pattern;
        }
    }
    out[n] = 0;
}

static void ask_open(const char *name, HANDLE root, const wchar_t *path, const struct opening *o,
                     const void *more, uint32_t size)
{
    wchar_t text[1024];
    struct wire_answer answer = {0};
    full_name(path, text);
    uint64_t numbers[WIRE_NUMBERS] = {
        (uint64_t)(uintptr_t)root, o->access, SHARE, o->disposition, o->options, 0, o->flags, 0};
    if (!wire_say(WIRE_OPEN, numbers, text, (uint32_t)(2 * wcslen(text)), more, size, &answer))
        return;
    show(name, (NTSTATUS)answer.status, answer.flags, (HANDLE)(uintptr_t)answer.handle);
}

static const struct opening openings[] = {
    /* kernelbase */
    {"SetFileAttributes", L"\\??\\%W\\file", FILE_WRITE_ATTRIBUTES | SYNCHRONIZE, FILE_OPEN,
     0x204020, 0},
    {"SetFileAttributes-outside", L"\\??\\%O\\file", FILE_WRITE_ATTRIBUTES | SYNCHRONIZE, FILE_OPEN,
     0x204020, 0},
    {"CreateHardLink-source", L"\\??\\%W\\file", FILE_WRITE_ATTRIBUTES | SYNCHRONIZE, FILE_OPEN,
     0x200020, 0},
    {"CreateHardLink-outside", L"\\??\\%O\\file", FILE_WRITE_ATTRIBUTES | SYNCHRONIZE, FILE_OPEN,
     0x200020, 0},
    {"DeleteFile", L"\\??\\%W\\file", DELETE | FILE_READ_ATTRIBUTES, FILE_OPEN, 0x204040, 0},
    {"DeleteFile-outside", L"\\??\\%O\\file", DELETE | FILE_READ_ATTRIBUTES, FILE_OPEN, 0x204040,
     0},
    {"RemoveDirectory", L"\\??\\%W\\sub", DELETE | SYNCHRONIZE | FILE_READ_ATTRIBUTES, FILE_OPEN,
     0x204021, 0},
    {"MoveFile", L"\\??\\%W\\file", DELETE | SYNCHRONIZE | FILE_READ_ATTRIBUTES, FILE_OPEN,
     0x204020, 0},
    {"CreateDirectory", L"\\??\\%W\\made", FILE_LIST_DIRECTORY | SYNCHRONIZE, FILE_CREATE, 0x204021,
     0},
    {"CreateDirectory-outside", L"\\??\\%O\\made", FILE_LIST_DIRECTORY | SYNCHRONIZE, FILE_CREATE,
     0x204021, 0},
    {"CreateFile-new", L"\\??\\%W\\made.txt", GENERIC_WRITE | SYNCHRONIZE | FILE_READ_ATTRIBUTES,
     FILE_OVERWRITE_IF, 0x60, 0},
    {"CreateFile-all", L"\\??\\%W\\file", GENERIC_ALL | SYNCHRONIZE, FILE_OPEN, 0x60, 0},
    {"CreateFile-folder-all", L"\\??\\%W\\sub", GENERIC_ALL | SYNCHRONIZE, FILE_OPEN, 0x4020, 0},
    {"CreateFile-append", L"\\??\\%W\\file", FILE_APPEND_DATA | SYNCHRONIZE, FILE_OPEN_IF, 0x60, 0},
    {"SetFileSecurity", L"\\??\\%W\\file", WRITE_DAC | SYNCHRONIZE | READ_CONTROL, FILE_OPEN, 0x20,
     0},
    {"SetFileSecurity-outside", L"\\??\\%O\\file", WRITE_DAC, FILE_OPEN, 0, 0},
    {"TakeOwnership-outside", L"\\??\\%O\\file", WRITE_OWNER, FILE_OPEN, 0x204000, 0},
    {"ReplaceFile-replaced", L"\\??\\%W\\file", DELETE | GENERIC_READ | SYNCHRONIZE | WRITE_DAC,
     FILE_OPEN, 0x60, 0},
    {"CopyFile-target", L"\\??\\%W\\copied",
     GENERIC_WRITE | DELETE | SYNCHRONIZE | FILE_READ_ATTRIBUTES | WRITE_DAC, FILE_OVERWRITE_IF,
     0x64, 0},
    {"CopyFile-zone", L"\\??\\%W\\file:Zone.Identifier", GENERIC_WRITE | DELETE | SYNCHRONIZE,
     FILE_OVERWRITE_IF, 0x64, 0},
    {"zone-in-data-form", L"\\??\\%W\\file:zone.identifier:$DATA", GENERIC_WRITE | SYNCHRONIZE,
     FILE_OPEN_IF, 0x60, 0},
    {"zone-outside", L"\\??\\%O\\file:Zone.Identifier", GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN_IF,
     0x60, 0},
    {"zone-of-a-protected-file", L"\\??\\%W\\.mcp.json:Zone.Identifier",
     GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN_IF, 0x60, 0},
    {"another-stream", L"\\??\\%W\\file:evil", GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN_IF, 0x60, 0},
    {"Unblock-File", L"\\??\\%W\\sub\\none:Zone.Identifier", DELETE | SYNCHRONIZE, FILE_OPEN,
     0x204020, 0},
    {"missing-stream", L"\\??\\%W\\file:none", DELETE | SYNCHRONIZE, FILE_OPEN, 0x20, 0},
    {"maximum-inside", L"\\??\\%W\\file", MAXIMUM_ALLOWED, FILE_OPEN, 0x20, 0},
    {"maximum-outside", L"\\??\\%O\\file", MAXIMUM_ALLOWED, FILE_OPEN, 0x20, 0},
    {"maximum-denied-outside", L"\\??\\%O\\secret", MAXIMUM_ALLOWED, FILE_OPEN, 0x20, 0},
    {"maximum-denied-inside", L"\\??\\%W\\secret", MAXIMUM_ALLOWED, FILE_OPEN, 0x20, 0},
    {"read-write-denied-inside", L"\\??\\%W\\secret", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE,
     FILE_OPEN, 0x60, 0},
    {"execute-write-denied-inside", L"\\??\\%W\\secret", GENERIC_EXECUTE | GENERIC_WRITE, FILE_OPEN,
     0, 0},
    {"write-denied-inside", L"\\??\\%W\\secret", FILE_WRITE_DATA | SYNCHRONIZE, FILE_OPEN, 0x60, 0},
    {"open-if-denied-inside", L"\\??\\%W\\secret", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE,
     FILE_OPEN_IF, 0x60, 0},
    {"overwrite-denied-inside", L"\\??\\%W\\secret", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE,
     FILE_OVERWRITE_IF, 0x60, 0},
    {"append-open-no-read", L"\\??\\%O\\secret", FILE_READ_DATA | FILE_APPEND_DATA, FILE_OPEN, 0,
     0},
    /* by number, with attributes, in a transaction's shape */
    {"by-id", L"\\??\\%W\\12345678", GENERIC_WRITE, FILE_OPEN, 0x2020, 0},
    {"file-with-attributes", L"\\??\\%W\\ea", GENERIC_WRITE | SYNCHRONIZE, FILE_CREATE, 0x60,
     WIRE_HAS_EA},
    /* other machines and devices */
    {"UNC-write", L"\\??\\UNC\\server.invalid\\share\\x", GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN_IF,
     0x60, 0},
    {"UNC-maximum", L"\\??\\UNC\\server.invalid\\share\\x", MAXIMUM_ALLOWED, FILE_OPEN, 0x20, 0},
    {"Mup", L"\\Device\\Mup\\server.invalid\\share\\x", GENERIC_WRITE, FILE_OPEN, 0x20, 0},
    {"wsl", L"\\??\\UNC\\wsl$\\Debian\\home\\x", GENERIC_WRITE, FILE_OPEN, 0x20, 0},
    {"PhysicalDrive0", L"\\??\\PhysicalDrive0", GENERIC_READ | GENERIC_WRITE, FILE_OPEN, 0x20, 0},
    {"volume", L"\\??\\C:", GENERIC_READ | GENERIC_WRITE, FILE_OPEN, 0x20, 0},
    {"Tcp", L"\\Device\\Tcp", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN_IF, 0,
     WIRE_HAS_EA},
    {"RawIp6", L"\\Device\\RawIp6", GENERIC_READ | GENERIC_WRITE, FILE_OPEN_IF, 0, WIRE_HAS_EA},
    {"MountPointManager-write", L"\\??\\MountPointManager", GENERIC_READ | GENERIC_WRITE, FILE_OPEN,
     0x60, 0},
    {"Afd-wepoll", L"\\Device\\Afd\\Wepoll", SYNCHRONIZE, FILE_OPEN_IF, 0, 0},
    {"KsecDD", L"\\Device\\KsecDD", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN, 0x20, 0},
    {"CNG", L"\\Device\\CNG", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN, 0x20, 0},
    {"NUL", L"\\??\\NUL", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN, 0x60, 0},
    {"ConDrv-absolute", L"\\Device\\ConDrv\\Connect", GENERIC_READ | GENERIC_WRITE, FILE_OPEN, 0x20,
     WIRE_HAS_EA},
    {"CONOUT$", L"\\??\\CONOUT$", GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, FILE_OPEN, 0x60, 0},
    {"pipe-outside", L"\\??\\pipe\\cordon-nobody", GENERIC_READ | GENERIC_WRITE, FILE_OPEN, 0x60,
     0},
};

/* ---- reads, past the agent ---- */

static const struct {
    const char *name;
    const wchar_t *path;
    ACCESS_MASK access;
} readings[] = {
    {"read-UNC", L"\\??\\UNC\\server.invalid\\share\\x", GENERIC_READ | SYNCHRONIZE},
    {"look-at-UNC", L"\\??\\UNC\\server.invalid\\share\\x", FILE_READ_ATTRIBUTES},
    {"look-at-wsl", L"\\??\\UNC\\wsl.localhost\\Debian\\x", FILE_READ_ATTRIBUTES},
    {"look-at-global-UNC", L"\\GLOBAL?\?\\UNC\\server.invalid\\share\\x", FILE_READ_DATA},
    {"look-at-globalroot-UNC", L"\\??\\GLOBALROOT\\Device\\Mup\\server.invalid\\share\\x",
     FILE_READ_ATTRIBUTES},
    {"look-at-global-link-UNC", L"\\??\\Global\\UNC\\server.invalid\\share\\x",
     FILE_READ_ATTRIBUTES},
    {"look-at-session-UNC",
     L"\\Sessions\\0\\DosDevices\\00000000-00012345\\Global\\UNC\\server.invalid\\share\\x",
     FILE_READ_ATTRIBUTES},
    {"look-at-disk-device", L"\\??\\PhysicalDrive0", FILE_READ_ATTRIBUTES},
    {"read-denied", L"\\??\\%O\\secret", FILE_READ_DATA},
    {"look-at-denied", L"\\??\\%O\\secret", FILE_READ_ATTRIBUTES},
    {"read-MountPointManager", L"\\??\\MountPointManager", GENERIC_READ | SYNCHRONIZE},
    {"look-at-MountPointManager", L"\\??\\MountPointManager", FILE_READ_ATTRIBUTES | SYNCHRONIZE},
    {"look-at-volume", L"\\??\\C:", FILE_READ_ATTRIBUTES | SYNCHRONIZE},
    {"read-volume", L"\\??\\C:", GENERIC_READ},
    {"pipe-root", L"\\Device\\NamedPipe\\", GENERIC_READ | SYNCHRONIZE},
    {"look-at-pipe-outside", L"\\??\\pipe\\cordon-nobody", FILE_READ_ATTRIBUTES},
};

static void ask_read(size_t i)
{
    wchar_t text[1024];
    struct wire_answer answer = {0};
    full_name(readings[i].path, text);
    uint64_t numbers[WIRE_NUMBERS] = {0, readings[i].access};
    if (wire_say(WIRE_READ, numbers, text, (uint32_t)(2 * wcslen(text)), NULL, 0, &answer))
        show(readings[i].name, (NTSTATUS)answer.status, answer.flags, NULL);
}

/* ---- sockets ---- */

static void ask_socket(const char *name, ULONG kind, int family, int type, int protocol,
                       ULONG device, const char *attribute)
{
    struct {
        ULONG next;
        UCHAR flags, name_size;
        USHORT value_size;
        char name[16];
        ULONG kind, group;
        int family, type, protocol;
        ULONG device;
        WCHAR rest[4];
    } ea = {0, 0, 15, 24, "", kind, 0, family, type, protocol, device, {0}};
    memcpy(ea.name, attribute, 16);
    ea.value_size = (USHORT)(24 + sizeof ea.rest);
    struct opening o = {.access = GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE,
                        .disposition = FILE_OPEN_IF,
                        .flags = WIRE_HAS_EA};
    ask_open(name, NULL, L"\\Device\\Afd\\Endpoint", &o, &ea, sizeof ea);
}

static void ask_sockets(void)
{
    const char *packet = "AfdOpenPacketXX";
    ask_socket("socket-tcp", 0, AF_INET, SOCK_STREAM, IPPROTO_TCP, 0, packet);
    ask_socket("socket-tcp6", 0, AF_INET6, SOCK_STREAM, IPPROTO_TCP, 0, packet);
    ask_socket("socket-udp", 0x11, AF_INET, SOCK_DGRAM, IPPROTO_UDP, 0, packet);
    ask_socket("socket-raw", 0x110, AF_INET, SOCK_RAW, IPPROTO_ICMP, 0, packet);
    ask_socket("socket-raw-by-flag", 0x100, AF_INET, SOCK_STREAM, IPPROTO_TCP, 0, packet);
    ask_socket("socket-hyperv", 0, 34, SOCK_STREAM, 1, 0, packet);
    ask_socket("socket-unix", 0, AF_UNIX, SOCK_STREAM, 0, 0, packet);
    ask_socket("socket-rio", 0x10000000, AF_INET, SOCK_STREAM, IPPROTO_TCP, 0, packet);
    ask_socket("socket-transport", 0, AF_INET, SOCK_STREAM, IPPROTO_TCP, 8, packet);
    ask_socket("socket-san", 0, AF_INET, SOCK_STREAM, IPPROTO_TCP, 0, "AfdSwOpenPacket");
}

/* A control code of the driver, through the agent: refused there, or a wrong handle. */
static void control(const char *name, ULONG code, const void *input, ULONG size)
{
    static HANDLE event;
    IO_STATUS_BLOCK io;
    if (!event)
        event = CreateEventW(NULL, TRUE, FALSE, NULL);
    show(name,
         NtDeviceIoControlFile(event, NULL, NULL, NULL, &io, code, (void *)input, size, NULL, 0), 0,
         NULL);
}

static void put_pointer(unsigned char *at, const void *value)
{
    memcpy(at, &value, sizeof value);
}

static void ask_controls(void)
{
    unsigned char in[0x80] = {0};
    struct sockaddr_in out4 = {.sin_family = AF_INET, .sin_port = htons(9)},
                       near4 = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr_in6 out6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    ULONG length = sizeof out4;
    out4.sin_addr.s_addr = htonl(0xC0000201); /* 192.0.2.1: nobody's */
    near4.sin_addr.s_addr = htonl(0x7F000001);
    out6.sin6_addr.u.Byte[0] = 0x20, out6.sin6_addr.u.Byte[1] = 1;
    out6.sin6_addr.u.Byte[2] = 0x0d, out6.sin6_addr.u.Byte[3] = 0xb8;
    memcpy(in + 0x18, &out4, sizeof out4);
    control("connect", 0x12007, in, 0x28);
    memcpy(in + 0x18, &out6, sizeof out6);
    control("connect6", 0x12007, in, 0x18 + sizeof out6);
    memset(in, 0, sizeof in);
    memcpy(in + 2, &out4, sizeof out4);
    control("ConnectEx", 0x120C7, in, 2 + sizeof out4);
    memset(in, 0, sizeof in);
    memcpy(in + 4, &near4, sizeof near4);
    near4.sin_port = 0;
    control("bind-loopback", 0x12003, in, 4 + sizeof near4);
    memcpy(in + 4, &out4, sizeof out4);
    control("bind-elsewhere", 0x12003, in, 4 + sizeof out4);
    memset(in, 0, sizeof in);
    memcpy(in + 0x58, &length, 4);
    put_pointer(in + 0x60, &out4);
    control("sendto", 0x12023, in, 0x68);
    memset(in, 0, sizeof in);
    memcpy(in + 0x60, &length, 4);
    put_pointer(in + 0x68, &out4);
    control("sendto-with-flags", 0x12023, in, 0x70);
    memset(in, 0, sizeof in);
    control("sendto-nowhere", 0x12023, in, 0x68);
    control("sendto-short", 0x12023, in, 0x20);
    put_pointer(in + 0x18, &out4);
    put_pointer(in + 0x20, &length);
    control("WSASendMsg", 0x120D3, in, 0x40);
    memset(in, 0, sizeof in);
    control("WSASendMsg-connected", 0x120D3, in, 0x40);
    control("JoinLeaf", 0x120BB, in, 0x30);
    control("RIO", 0x1211B, in, 0x10);
    control("listen", 0x1200B, in, 0xC);
    control("receive", 0x12017, in, 0x18);
}

/* ---- names below handles ---- */

static HANDLE nt_open(const wchar_t *path, ACCESS_MASK access, ULONG options)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE out = NULL;
    RtlInitUnicodeString(&name, path);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    NTSTATUS status = NtOpenFile(&out, access, &object, &io, SHARE, options);
    return status >= 0 ? out : NULL;
}

NTSYSAPI NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);

static void ask_relative(void)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    HANDLE devices = NULL, near_end, far_end;
    HANDLE folder = CreateFileW(L".", FILE_TRAVERSE | SYNCHRONIZE, SHARE, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS, NULL);
    HANDLE pipes = nt_open(L"\\Device\\NamedPipe\\", GENERIC_READ | SYNCHRONIZE, SYNC);
    const struct opening writes = {.access = GENERIC_WRITE | SYNCHRONIZE, .disposition = FILE_OPEN},
                         write_end = {.access = GENERIC_WRITE | SYNCHRONIZE | FILE_READ_ATTRIBUTES,
                                      .disposition = FILE_OPEN,
                                      .options = 0x60},
                         makes = {.access = GENERIC_WRITE | SYNCHRONIZE,
                                  .disposition = FILE_OVERWRITE_IF,
                                  .options = 0x60};
    RtlInitUnicodeString(&name, L"\\??");
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    NtOpenDirectoryObject(&devices, 3, &object);
    CreatePipe(&near_end, &far_end, NULL, 0);
    printf("pipe-root-opens %08x 0 0\n", pipes ? 0 : 0xC0000022);
    ask_open("below-the-current-folder", folder, L"made.txt", &makes, NULL, 0);
    ask_open("CreatePipe-write-end", near_end, L"", &write_end, NULL, 0);
    ask_open("below-pipes", pipes, L"cordon-nobody", &writes, NULL, 0);
    ask_open("below-devices-UNC", devices, L"UNC\\server.invalid\\share\\x", &writes, NULL, 0);
    ask_open("below-devices-file", devices, L"%O\\file", &writes, NULL, 0);
    ask_open("below-devices-disk", devices, L"PhysicalDrive0", &writes, NULL, 0);
    ask_open("below-an-event", CreateEventW(NULL, 0, 0, NULL), L"file", &writes, NULL, 0);
}

/* A pipe made by a name below the folder of pipes, as msys2 does, then opened by its whole name. */
static void ask_pipes(void)
{
    static const wchar_t name[] = L"msys-cordon-pipe", whole[] = L"\\??\\pipe\\msys-cordon-pipe";
    HANDLE root = nt_open(L"\\Device\\NamedPipe\\", GENERIC_READ | SYNCHRONIZE, SYNC);
    struct wire_answer answer = {0};
    uint64_t made[WIRE_NUMBERS] = {WIRE_PIPE_MADE, (uint64_t)(uintptr_t)root},
             reads[WIRE_NUMBERS] = {0, GENERIC_READ};
    if (wire_say(WIRE_READ, reads, whole, sizeof whole - 2, NULL, 0, &answer))
        show("pipe-before", (NTSTATUS)answer.status, answer.flags, NULL);
    if (wire_say(WIRE_PIPE, made, name, sizeof name - 2, NULL, 0, &answer))
        show("pipe-made", (NTSTATUS)answer.status, answer.flags, NULL);
    if (wire_say(WIRE_READ, reads, whole, sizeof whole - 2, NULL, 0, &answer))
        show("pipe-after", (NTSTATUS)answer.status, answer.flags, NULL);
}

/* ---- names that are looked at, through the agent ---- */

NTSYSAPI NTSTATUS NTAPI NtQueryAttributesFile(OBJECT_ATTRIBUTES *, void *);
NTSYSAPI NTSTATUS NTAPI NtQueryFullAttributesFile(OBJECT_ATTRIBUTES *, void *);

static void look(const char *label, const wchar_t *path, bool full)
{
    wchar_t text[1024];
    unsigned char info[64];
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    full_name(path, text);
    RtlInitUnicodeString(&name, text);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    show(label,
         full ? NtQueryFullAttributesFile(&object, info) : NtQueryAttributesFile(&object, info), 0,
         NULL);
}

static void ask_keys(void)
{
    HKEY key = NULL;
    ULONG tag = 0x40, flags = 0;
    LARGE_INTEGER time = {0};
    RegOpenKeyExW(HKEY_CURRENT_USER, L"Software", 0, KEY_READ, &key);
    show("key-handle-tags",
         NtSetInformationKey(key, (KEY_SET_INFORMATION_CLASS)5, &tag, sizeof tag), 0, NULL);
    show("key-wow64-flags",
         NtSetInformationKey(key, (KEY_SET_INFORMATION_CLASS)1, &flags, sizeof flags), 0, NULL);
    show("key-write-time",
         NtSetInformationKey(key, (KEY_SET_INFORMATION_CLASS)0, &time, sizeof time), 0, NULL);
}

static void set_transaction(uint64_t handle)
{
    __asm__ volatile("movq %0, %%gs:0x17B8" : : "r"(handle)); /* TEB.CurrentTransactionHandle */
}

/* What CreateFileTransacted does: the thread has a transaction while the file is opened. */
static void open_in_transaction(const char *name, ACCESS_MASK access)
{
    wchar_t path[1024];
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE file = NULL;
    full_name(L"\\??\\%W\\file", path);
    RtlInitUnicodeString(&text, path);
    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE, NULL, NULL);
    set_transaction(0x44);
    NTSTATUS status = NtCreateFile(&file, access | SYNCHRONIZE, &object, &io, NULL, 0,
                                   FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN,
                                   FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
    set_transaction(0);
    show(name, status, 0, file);
}

int do_shaped(void)
{
    open_in_transaction("transaction-write", FILE_WRITE_DATA);
    open_in_transaction("transaction-read", FILE_READ_DATA);
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        ask_open(openings[i].name, NULL, openings[i].path, &openings[i], "\0\0\0\0\0\0\0\0",
                 openings[i].flags & WIRE_HAS_EA ? 8 : 0);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        ask_read(i);
    ask_sockets();
    ask_controls();
    ask_relative();
    ask_pipes();
    look("if-exist-UNC", L"\\??\\UNC\\server.invalid\\share\\x", false);
    look("stat-UNC", L"\\??\\UNC\\server.invalid\\share\\x", true);
    look("if-exist-file", L"\\??\\%O\\file", false);
    look("stat-file", L"\\??\\%O\\file", true);
    look("stat-none", L"\\??\\%O\\none", true);
    ask_keys();
    return 0;
}

/* ---- single effects ---- */

/* Writes, sets an old time, writes again, closes: the time stays. */
int do_timed(void)
{
    FILETIME old = {0, 0x01C00000};
    DWORD n;
    HANDLE file = CreateFileW(word(0), GENERIC_WRITE, SHARE, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    BOOL good = WriteFile(file, "a", 1, &n, NULL) && SetFileTime(file, NULL, NULL, &old) &&
                WriteFile(file, "b", 1, &n, NULL);
    CloseHandle(file);
    return result(good);
}

/* Attributes by a handle that may do nothing else, as kernelbase opens it. */
int do_attribute_handle(void)
{
    FILE_BASIC_INFO basic = {.FileAttributes = FILE_ATTRIBUTE_READONLY};
    HANDLE file = CreateFileW(word(0), FILE_WRITE_ATTRIBUTES | SYNCHRONIZE, SHARE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    return result(SetFileInformationByHandle(file, FileBasicInfo, &basic, sizeof basic));
}

/* Folders in folders, beyond what short buffers hold, then a file at the end. */
int do_long_folder(void)
{
    wchar_t path[1200];
    DWORD n = GetCurrentDirectoryW(1000, path + 4);
    memcpy(path, L"\\\\?\\", 8);
    n += 4;
    for (int i = 0; i < 8; i++) {
        n += (DWORD)swprintf(path + n, 1200 - n, L"\\%050d", i);
        if (!CreateDirectoryW(path, NULL))
            return last_error();
    }
    swprintf(path + n, 1200 - n, L"\\file");
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    return result(file != INVALID_HANDLE_VALUE);
}

/* Opens with the access given as a number and prints what can be read. */
int do_read_both(void)
{
    char text[64] = "";
    DWORD n = 0;
    HANDLE file =
        CreateFileW(word(0), (DWORD)wcstoul(word(1), NULL, 0), SHARE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE || !ReadFile(file, text, sizeof text - 1, &n, NULL))
        return last_error();
    printf("%s\n", text);
    return 0;
}
