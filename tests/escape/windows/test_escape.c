/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of the sandbox, by door. Each is tried inside, where it must have no effect, and without
 * the sandbox, where it must have it. Together with the attempts of test_run, test_hostile,
 * test_race and test_kill. What steps around the agent is a list of its own at the end: under plain
 * Wine it gets through (nothing but the agent confines there), on Windows the token must stop it.
 *
 */
#include <winsock2.h>
#include <ws2tcpip.h>

#include "harness.h"

#include "launch/windows/boundary.h"
#include "launch/windows/token.h"

struct attempt {
    const char *door, *what, *line, *effect;
    const char *options; /* NULL: none */
};

#define MADE "+out\\new"

static const struct attempt attempts[] = {
#define ATTEMPT(door, what, line, effect) {door, what, line, effect, NULL},
#define ATTEMPT_WITH(door, what, line, effect, options) {door, what, line, effect, options},
#include "attempts.def"
};

/* Around the agent: what nothing but the token stops. */
static const struct attempt around[] = {
    {"agent", "its own system call", "%P% syscall ..\\out\\new", MADE, NULL},
    {"agent", "a stub from a second ntdll", "%P% fresh ..\\out\\new", MADE, NULL},
    {"agent", "the hooks taken away", "%P% unhook ..\\out\\new", MADE, NULL},
    {"agent", "the agent's own trampoline", "%P% trampoline ..\\out\\new", MADE, NULL},
    {"agent", "the agent's code overwritten", "%P% overwrite-agent ..\\out\\new", MADE, NULL},
};

static char sleeper[20];

static void fill_in(const char *line, char *out, size_t size)
{
    const char *at = strstr(line, "%S%");
    if (at)
        snprintf(out, size, "%.*s%s%s", (int)(at - line), line, sleeper, at + 3);
    else
        snprintf(out, size, "%s", line);
}

static void bare(void)
{
    fresh();
    put("ws\\file", "old-in");
    remove_tree(path_of("outside-folder"));
    CreateDirectoryA(path_of("outside-folder"), NULL);
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonEscape");
}

/* A task is a file, a service a key; neither can be seen elsewhere without asking its service. */
static bool has_effect(const struct attempt *a, int code)
{
    char path[600];
    HKEY key;
    if (a->effect[0] == '#')
        return code == 0;
    if (a->effect[0] == 'T') {
        GetSystemDirectoryA(path, 300);
        snprintf(path + strlen(path), 200, "\\Tasks\\%s", a->effect + 1);
        return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
    }
    if (a->effect[0] == 'S') {
        snprintf(path, sizeof path, "System\\CurrentControlSet\\Services\\%s", a->effect + 1);
        bool there = RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key) == 0;
        if (there)
            RegCloseKey(key);
        return there;
    }
    return holds(a->effect);
}

/* What a service starts may come late on a busy machine, and would then count against the next
   attempt: a control is waited for. */
static bool happens_soon(const struct attempt *a, int code)
{
    bool happens = has_effect(a, code);
    for (int i = 0; !happens && a->effect[0] != '#' && i < 200; i++) {
        Sleep(100);
        happens = has_effect(a, code);
    }
    return happens;
}

/* Tasks and services are removed as they were made. */
static void take_back(const struct attempt *a)
{
    if (a->effect[0] == 'T' || strstr(a->line, "schtasks"))
        run("%P% com-task CordonEscape -", NULL);
    if (a->effect[0] == 'S') {
        run("%P% service-create CordonEscape -", NULL);
        RegDeleteKeyA(HKEY_LOCAL_MACHINE, "System\\CurrentControlSet\\Services\\CordonEscape");
    }
}

static void try_all(void)
{
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct attempt *a = &attempts[i];
        auto_buf struct buf out = {0}, control = {0}, before = {0}, after = {0};
        char line[2000];
        fill_in(a->line, line, sizeof line);
        bare();
        bool already = a->effect[0] != '#' && has_effect(a, 1);
        list_tree(path_of("out"), "", &before);
        int code = confined(a->options ? a->options : "--quiet", line, &out);
        list_tree(path_of("out"), "", &after);
        bool stopped = !has_effect(a, code) && str_eq(buf_str(&before), buf_str(&after));
        bare();
        code = run(line, &control);
        bool happens = happens_soon(a, code);
        take_back(a);
        if (!happens && stopped && strstr(line, "rename-read-only")) {
            skip(a->what, "a read handle renames nothing here, for anybody");
            continue;
        }
        if (!ok(!already && stopped && happens, "%s: %s", a->door, a->what)) {
            note("stopped %d, happens without the sandbox %d (%d)", stopped, happens, code);
            note_output(&out);
            note_output(&control);
        }
    }
}

/* On the user's desktop: the token's integrity, a private desktop and the job's window limits close
   it on Windows; Wine keeps none of them. */
static const struct attempt on_desktop[] = {
    {"desktop", "a message posted to a window", "%P% window-post cordon-escape posted",
     "+out\\told", NULL},
    {"desktop", "a message sent to a window", "%P% window-post cordon-escape sent", "+out\\told",
     NULL},
    {"desktop", "data sent to a window", "%P% window-post cordon-escape data", "+out\\told", NULL},
    {"desktop", "DDE: a command to a server", "%P% dde-client cordon-escape", "+out\\told", NULL},
    {"desktop", "a hook on the thread of a window", "%P% window-hook cordon-escape", "#", NULL},
    {"desktop", "the clipboard", "%P% clipboard cordon", "#", NULL},
};

/* Attempts without a control, because Wine lacks the feature. */
static const struct attempt on_windows[] = {
    {"processes", "another account (CreateProcessWithLogon)",
     "%P% logon \"%P% write %T%\\out\\new\"", MADE, NULL},
    {"devices", "a drive letter of its own (DefineDosDevice)", "%P% subst \\??\\C:\\Windows", "#",
     NULL},
    {"devices", "the kernel's state (NtSystemDebugControl)", "%P% debug-control", "#", NULL},
};

/* Whether this kernel holds programs to their token, found out by trying: what only the token stops
   must be stopped where it does, and gets through where it does not. */
static bool token_holds(void)
{
    struct token_run who;
    struct launch_failure failure;
    struct boundary tried = {0};
    HANDLE token;
    if (token_run_sid(&who, &failure) == 0 &&
        token_make(&who, &(struct token_options){0}, &token, &failure) == 0) {
        boundary_try(token, &tried);
        CloseHandle(token);
    }
    return boundary_is_kernel(&tried);
}

static bool is_wine(void)
{
    return GetProcAddress(GetModuleHandleA("ntdll"), "wine_get_version") != NULL;
}

static void try_around(const struct attempt *list, size_t count)
{
    bool held = token_holds();
    for (size_t i = 0; i < count; i++) {
        auto_buf struct buf out = {0};
        bare();
        int code = confined("--quiet", list[i].line, &out);
        Sleep(list[i].effect[0] == '#' ? 0 : 100);
        bool escaped = has_effect(&list[i], code);
        if (!ok(escaped == !held, "%s: %s: %s", list[i].door, list[i].what,
                held ? "the token holds: must be denied" : "the token holds nothing: gets around"))
            note_output(&out);
    }
}

/* A window and a DDE server outside; where no window can be made there is nothing to try. */
static void try_desktop(void)
{
    enum { COUNT = sizeof on_desktop / sizeof *on_desktop };
    bare();
    run(on_desktop[0].line, NULL);
    Sleep(100);
    bool control = exists("out\\told");
    if (control)
        try_around(on_desktop, COUNT);
    for (size_t i = 0; !control && i < COUNT; i++)
        skip(on_desktop[i].what, "no window can be made here");
}

static void try_on_windows(void)
{
    for (size_t i = 0; i < sizeof on_windows / sizeof *on_windows; i++) {
        if (is_wine()) {
            skip(on_windows[i].what, "Wine does not have it");
            continue;
        }
        bare();
        int code = confined("--quiet", on_windows[i].line, NULL);
        ok(!has_effect(&on_windows[i], code), "%s: %s", on_windows[i].door, on_windows[i].what);
    }
}

/* ---- the network ---- */

struct ear {
    SOCKET tcp, tcp6, udp;
    unsigned port, port6, udp_port;
};

static SOCKET listen_on(int family, int type, unsigned *port)
{
    struct sockaddr_storage here = {.ss_family = (short)family};
    int size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    u_long on = 1;
    if (family == AF_INET)
        ((struct sockaddr_in *)&here)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&here)->sin6_addr.s6_addr[15] = 1;
    SOCKET s = socket(family, type, 0);
    if (bind(s, (struct sockaddr *)&here, size) || (type == SOCK_STREAM && listen(s, 8)) ||
        ioctlsocket(s, FIONBIO, &on) || getsockname(s, (struct sockaddr *)&here, &size))
        return INVALID_SOCKET;
    *port = ntohs(((struct sockaddr_in *)&here)->sin_port);
    return s;
}

/* True if somebody came since the last look. */
static bool heard(const struct ear *ear)
{
    char text[64];
    bool any = false;
    for (SOCKET s; (s = accept(ear->tcp, NULL, NULL)) != INVALID_SOCKET; closesocket(s))
        any = true;
    for (SOCKET s; (s = accept(ear->tcp6, NULL, NULL)) != INVALID_SOCKET; closesocket(s))
        any = true;
    while (recv(ear->udp, text, sizeof text, 0) >= 0)
        any = true;
    return any;
}

static void try_network(void)
{
    static const struct {
        const char *what, *line; /* %u is the port */
        char to;                 /* t, 6 or u: which */
    } ways[] = {
        {"TCP", "%%P%% tcp-later 127.0.0.1 %u", 't'},
        {"TCP over IPv6", "%%P%% tcp-later ::1 %u", '6'},
        {"TCP to an IPv4 address in IPv6", "%%P%% tcp-mapped 127.0.0.1 %u", 't'},
        {"ConnectEx", "%%P%% tcp-ex 127.0.0.1 %u", 't'},
        {"ConnectEx over IPv6", "%%P%% tcp-ex ::1 %u", '6'},
        {"by name", "%%P%% tcp-name localhost %u", 't'},
        {"by a child", "cmd /c cmd /c %%P%% tcp-later 127.0.0.1 %u", 't'},
        {"to every address", "%%P%% tcp-later 0.0.0.0 %u", 't'},
        {"WinHTTP", "%%P%% winhttp 127.0.0.1 %u", 't'},
        {"URLDownloadToFile", "%%P%% urlmon 127.0.0.1 %u", 't'},
        {"UDP", "%%P%% udp 127.0.0.1 %u", 'u'},
        {"UDP, connected", "%%P%% udp-connected 127.0.0.1 %u", 'u'},
        {"UDP by WSASendTo", "%%P%% udp-wsa 127.0.0.1 %u", 'u'},
        {"UDP by WSASendMsg", "%%P%% udp-message 127.0.0.1 %u", 'u'},
    };
    WSADATA data;
    struct ear ear = {0};
    WSAStartup(MAKEWORD(2, 2), &data);
    ear.tcp = listen_on(AF_INET, SOCK_STREAM, &ear.port);
    ear.tcp6 = listen_on(AF_INET6, SOCK_STREAM, &ear.port6);
    ear.udp = listen_on(AF_INET, SOCK_DGRAM, &ear.udp_port);
    fresh();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_buf struct buf line = {0}, out = {0};
        buf_fmt(&line, ways[i].line,
                ways[i].to == 't'   ? ear.port
                : ways[i].to == '6' ? ear.port6
                                    : ear.udp_port);
        heard(&ear);
        confined("--timeout 10", buf_cstr(&line), &out);
        /* An IPv4 address is spelled as one, so that --net=allow:… can name it. */
        bool inside = heard(&ear), said = has(&out, "net.off") && !has(&out, "[127.");
        struct command c = command_start(buf_cstr(&line));
        command_end(&c, 3000, NULL); /* nobody answers it */
        bool control = heard(&ear);
        if (!ok(!inside && said && control, "network: %s", ways[i].what)) {
            note("reached inside %d, said %d, without the sandbox %d", inside, said, control);
            note_output(&out);
        }
    }
    closesocket(ear.tcp);
    closesocket(ear.tcp6);
    closesocket(ear.udp);
}

/* A handle for writing outside that the launcher's caller left inheritable. */
static void try_inherited(void)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    char line[80];
    bare();
    HANDLE file = CreateFileA(path_of("out\\file"), GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherit,
                              OPEN_EXISTING, 0, NULL);
    snprintf(line, sizeof line, "%%P%% use-handle %u", (unsigned)(uintptr_t)file);
    confined("--quiet", line, NULL);
    bool stopped = is_text("out\\file", "old");
    run(line, NULL);
    CloseHandle(file);
    ok(stopped && is_text("out\\file", "xld"), "handles: one that was left to be inherited");
}

/* True if somebody connected to one of the two instances. */
static bool came(HANDLE pipe, OVERLAPPED *wait)
{
    DWORD n;
    return WaitForSingleObject(wait->hEvent, 0) == WAIT_OBJECT_0 &&
           (GetOverlappedResult(pipe, wait, &n, FALSE) || true);
}

static bool reached(const char *line, bool sandbox)
{
    OVERLAPPED wait = {.hEvent = CreateEventA(NULL, TRUE, FALSE, NULL)};
    HANDLE pipe =
        CreateNamedPipeA("\\\\.\\pipe\\cordon-escape", PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                         PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, 512, 512, 0, NULL);
    ConnectNamedPipe(pipe, &wait);
    if (sandbox)
        confined("--quiet", line, NULL);
    else
        run(line, NULL);
    bool found = came(pipe, &wait);
    CloseHandle(pipe);
    CloseHandle(wait.hEvent);
    return found;
}

static void try_pipes(void)
{
    static const struct {
        const char *what, *line;
    } ways[] = {
        {"connected to", "%P% pipe-client \\\\.\\pipe\\cordon-escape"},
        {"another case", "%P% pipe-client \\\\.\\PIPE\\Cordon-Escape"},
        {"CallNamedPipe", "%P% pipe-call \\\\.\\pipe\\cordon-escape"},
        {"by a child", "cmd /c %P% pipe-client \\\\.\\pipe\\cordon-escape"},
        {"one more instance of it, then connected to",
         "%P% pipe-second \\\\.\\pipe\\cordon-escape"},
    };
    fresh();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool inside = reached(ways[i].line, true), control = reached(ways[i].line, false);
        if (!ok(!inside && control, "pipes: %s", ways[i].what))
            note("reached inside %d, without the sandbox %d", inside, control);
    }
}

int main(void)
{
    harness_make("escape");
    CreateDirectoryA(path_of("ws"), NULL);
    struct command other = command_start("%P% sleep 3600000");
    snprintf(sleeper, sizeof sleeper, "%lu", (unsigned long)other.pid);
    /* From the beginning: Wine starts its desktop for the first window, in whatever job that is. */
    struct command window = command_start("%P% window-server cordon-escape ..\\out\\told");
    struct command holder =
        command_start("%P% directory hold \\BaseNamedObjects\\msys-2.0S5-cordon");
    Sleep(1000);
    try_all();
    try_inherited();
    try_pipes();
    try_network();
    try_around(around, sizeof around / sizeof *around);
    try_desktop();
    try_on_windows();
    ok(WaitForSingleObject(other.process, 0) == WAIT_TIMEOUT, "the process outside lives");
    TerminateProcess(window.process, 0);
    command_end(&window, 1000, NULL);
    TerminateProcess(holder.process, 0);
    command_end(&holder, 1000, NULL);
    TerminateProcess(other.process, 0);
    command_end(&other, 1000, NULL);
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonEscape");
    HKEY key;
    if (RegOpenKeyExA(HKEY_CURRENT_USER, "Software", 0, KEY_SET_VALUE, &key) == 0) {
        RegDeleteValueA(key, "CordonEscape");
        RegCloseKey(key);
    }
    return harness_done();
}
