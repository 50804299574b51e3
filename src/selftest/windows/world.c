/* SPDX-License-Identifier: Apache-2.0 */
/* The world in which attempts are made. */
#include "selftest/windows/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ws2tcpip.h>

#include "cordon.h"
#include "selftest/windows/late.h"

enum { TIMEOUT_MS = 60000, LONGEST_LINE = 6000 };

const char *world_path(const struct selftest_world *w, const char *name)
{
    static char paths[4][2 * WORLD_PATH];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s\\%s", w->top, name);
    return path;
}

/* Links are removed, never followed. */
static void remove_all(const char *path)
{
    WIN32_FIND_DATAA found;
    char name[3 * WORLD_PATH];
    snprintf(name, sizeof name, "%s\\*", path);
    HANDLE find = FindFirstFileA(name, &found);
    if (find != INVALID_HANDLE_VALUE) {
        do {
            if (strcmp(found.cFileName, ".") == 0 || strcmp(found.cFileName, "..") == 0)
                continue;
            snprintf(name, sizeof name, "%s\\%s", path, found.cFileName);
            SetFileAttributesA(name, FILE_ATTRIBUTE_NORMAL);
            if (!DeleteFileA(name) && !RemoveDirectoryA(name) &&
                !(found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
                remove_all(name);
        } while (FindNextFileA(find, &found));
        FindClose(find);
    }
    RemoveDirectoryA(path);
}

static void put(const struct selftest_world *w, const char *name, const char *text)
{
    FILE *f = fopen(world_path(w, name), "wb");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void remove_links(const struct selftest_world *w, bool unseen);

void world_fresh(const struct selftest_world *w)
{
    static const char *const folders[] = {"ws", "out", "extra", "host", "tmp"};
    static const char *const more[] = {
        "ws\\sub", "ws\\repo", "ws\\repo\\.git", "ws\\repo\\.git\\hooks",
        "ws\\bin", "out\\dir", "ws\\keys",       "ws\\in"};
    remove_links(w, false);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        remove_all(world_path(w, folders[i]));
        CreateDirectoryA(world_path(w, folders[i]), NULL);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        CreateDirectoryA(world_path(w, more[i]), NULL);
    put(w, "ws\\file", "old");
    put(w, "out\\file", "old");
    put(w, "out\\second", "old");
    put(w, "out\\secret", "SECRET");
    put(w, "ws\\secret", "SECRET");
    put(w, "ws\\keys\\one", "SECRET");
    put(w, "ws\\repo\\.git\\config", "old");
    CreateHardLinkA(world_path(w, "ws\\hard"), world_path(w, "out\\second"), NULL);
}

/* ---- running ---- */

HANDLE world_spawn(const struct selftest_world *w, const char *line, HANDLE in, HANDLE out)
{
    char text[LONGEST_LINE];
    PROCESS_INFORMATION made = {0};
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE none = CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit, OPEN_EXISTING, 0, NULL);
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = in ? in : none,
                            .hStdOutput = out ? out : none,
                            .hStdError = none};
    snprintf(text, sizeof text, "%s", line);
    BOOL good =
        CreateProcessA(NULL, text, NULL, NULL, TRUE, 0, NULL, world_path(w, "ws"), &startup, &made);
    CloseHandle(none);
    /* Wine has no handles for a program of Linux; what it returns may be a handle of somebody
       else. */
    if (!good || strncmp(line, "\\\\?\\unix\\", 9) == 0)
        return NULL;
    CloseHandle(made.hThread);
    return made.hProcess;
}

int world_wait(HANDLE process)
{
    DWORD code = 999;
    if (!process)
        return 999;
    if (WaitForSingleObject(process, TIMEOUT_MS) != WAIT_OBJECT_0)
        TerminateProcess(process, 998);
    WaitForSingleObject(process, 5000);
    GetExitCodeProcess(process, &code);
    CloseHandle(process);
    return (int)code;
}

/* "@PORT" and the like become what they are. */
static void fill_in(const struct selftest_world *w, const char *script, char *out, size_t capacity)
{
    const struct {
        const char *name;
        unsigned number;
        const char *text;
    } names[] = {{"@PORT", w->port, NULL},
                 {"@UDP", w->udp_port, NULL},
                 {"@PID", (unsigned)w->outsider_pid, NULL},
                 {"@ME", (unsigned)GetCurrentProcessId(), NULL},
                 {"@TOP", 0, w->top},
                 {"@SELF", 0, w->self}};
    size_t n = 0;
    while (*script && n + WORLD_PATH + 2 < capacity) {
        size_t i = 0, count = sizeof names / sizeof *names;
        while (i < count && strncmp(script, names[i].name, strlen(names[i].name)) != 0)
            i++;
        if (i == count) {
            out[n++] = *script++;
            continue;
        }
        n += (size_t)(names[i].text ? snprintf(out + n, capacity - n, "%s", names[i].text)
                                    : snprintf(out + n, capacity - n, "%u", names[i].number));
        script += strlen(names[i].name);
    }
    out[n] = '\0';
}

HANDLE world_start(const struct selftest_world *w, const char *options, const char *script)
{
    char line[LONGEST_LINE], body[2500], words[1500];
    fill_in(w, script, body, sizeof body);
    fill_in(w, options, words, sizeof words);
    snprintf(line, sizeof line, "\"%s\" run --quiet %s -- \"%s\" --probe \"canary; %s\"",
             w->program, words, w->self, body);
    return world_spawn(w, line, NULL, NULL);
}

int world_run(const struct selftest_world *w, const char *options, const char *script,
              bool *escaped)
{
    int code = world_wait(world_start(w, options, script));
    *escaped = *escaped || world_check(w, "exists ..\\out\\canary");
    return code;
}

int world_run_free(const struct selftest_world *w, const char *script)
{
    char line[LONGEST_LINE], body[2500];
    fill_in(w, script, body, sizeof body);
    snprintf(line, sizeof line, "\"%s\" --probe \"%s\"", w->self, body);
    return world_wait(world_spawn(w, line, NULL, NULL));
}

int world_tool(const struct selftest_world *w, const char *options, const char *line, bool *escaped)
{
    (void)escaped; /* the line is a tool's own: nothing is tried before it */
    char text[LONGEST_LINE], body[2500];
    fill_in(w, line, body, sizeof body);
    if (options)
        snprintf(text, sizeof text, "\"%s\" run --quiet %s -- %s", w->program, options, body);
    else
        snprintf(text, sizeof text, "%s", body);
    return world_wait(world_spawn(w, text, NULL, NULL));
}

/* ---- links ---- */

static bool junction(const char *link, const char *target)
{
    enum { SET_REPARSE_POINT = 0x900A4 };
    struct {
        DWORD tag;
        WORD size, reserved, name_at, name_size, shown_at, shown_size;
        wchar_t path[WORLD_PATH + 8];
    } data = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    int n = world_wide(data.path, WORLD_PATH + 4, L"\\??\\", target);
    DWORD done;
    if (n <= 0 || !CreateDirectoryA(link, NULL))
        return false;
    data.name_size = (WORD)(2 * n);
    data.shown_at = (WORD)(2 * n + 2);
    data.size = (WORD)(8 + 2 * n + 4);
    HANDLE file = CreateFileA(link, GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    BOOL good =
        DeviceIoControl(file, SET_REPARSE_POINT, &data, 8u + data.size, NULL, 0, &done, NULL);
    CloseHandle(file);
    if (!good)
        RemoveDirectoryA(link);
    return good;
}

/* Under Wine a link of the Unix file system is what a junction is. */
static bool unix_link(const struct selftest_world *w, const char *link, const char *target)
{
    char *(CDECL * unix_name)(const wchar_t *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    wchar_t wide[WORLD_PATH];
    char line[LONGEST_LINE], parent[2 * WORLD_PATH];
    snprintf(parent, sizeof parent, "%s", link);
    char *leaf = strrchr(parent, '\\');
    if (!unix_name || !leaf)
        return false;
    *leaf++ = '\0';
    world_wide(wide, WORLD_PATH, L"", target);
    char *to = unix_name(wide);
    world_wide(wide, WORLD_PATH, L"", parent);
    char *at = unix_name(wide);
    if (to && at) {
        snprintf(line, sizeof line, "\\\\?\\unix\\bin\\ln -s \"%s\" \"%s/%s\"", to, at, leaf);
        world_spawn(w, line, NULL, NULL);
    }
    HeapFree(GetProcessHeap(), 0, to);
    HeapFree(GetProcessHeap(), 0, at);
    for (int i = 0; i < 100 && GetFileAttributesA(link) == INVALID_FILE_ATTRIBUTES; i++)
        Sleep(10);
    return GetFileAttributesA(link) != INVALID_FILE_ATTRIBUTES;
}

/* Removes every link that an attempt made; unseen: those that lead nowhere, too, which Wine does
   not show. Wine's own calls would remove what a link leads to. */
static void remove_links(const struct selftest_world *w, bool unseen)
{
    static const char *const links[] = {"try-link", "root-link", "ws\\away",    "ws\\turn",
                                        "ws\\next", "next",      "ws\\deep\\b", "ws\\elsewhere"};
    char *(CDECL * unix_name)(const wchar_t *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    wchar_t wide[WORLD_PATH];
    char line[LONGEST_LINE];
    bool any = unseen;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        DWORD attributes = GetFileAttributesA(world_path(w, links[i]));
        bool is_link =
            attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_REPARSE_POINT;
        if (is_link && !unix_name)
            RemoveDirectoryA(world_path(w, links[i]));
        any = any || is_link;
    }
    world_wide(wide, WORLD_PATH, L"", w->top);
    char *top = any && unix_name ? unix_name(wide) : NULL;
    if (!top)
        return;
    snprintf(line, sizeof line,
             "\\\\?\\unix\\bin\\sh -c \"cd '%s' && rm -f try-link root-link next ws/away ws/turn "
             "ws/next ws/elsewhere ws/deep/b && : > links-gone\"",
             top);
    HeapFree(GetProcessHeap(), 0, top);
    world_spawn(w, line, NULL, NULL);
    for (int i = 0; i < 500 && !DeleteFileA(world_path(w, "links-gone")); i++)
        Sleep(10);
}

int world_wide(wchar_t *room, int size, const wchar_t *before, const char *text)
{
    int n = (int)wcslen(before);
    room[0] = L'\0';
    if (n >= size)
        return 0;
    wcscpy(room, before);
    int added = MultiByteToWideChar(CP_ACP, 0, text, -1, room + n, size - n);
    return added ? n + added - 1 : 0;
}

bool world_link(const struct selftest_world *w, const char *link, const char *target)
{
    return junction(link, target) || unix_link(w, link, target);
}

/* ---- looking ---- */

static bool was_spoken_to(SOCKET s, bool tcp)
{
    bool seen = false;
    char piece[64];
    if (!tcp)
        while (WS(recv)(s, piece, sizeof piece, 0) > 0)
            seen = true;
    for (SOCKET c; tcp && (c = WS(accept)(s, NULL, NULL)) != INVALID_SOCKET; WS(closesocket)(c))
        seen = true;
    return seen;
}

static int count_names(const char *folder)
{
    char pattern[3 * WORLD_PATH];
    WIN32_FIND_DATAA found;
    int count = 0;
    snprintf(pattern, sizeof pattern, "%s\\*", folder);
    HANDLE find = FindFirstFileA(pattern, &found);
    if (find == INVALID_HANDLE_VALUE)
        return -1;
    do
        count += strcmp(found.cFileName, ".") != 0 && strcmp(found.cFileName, "..") != 0;
    while (FindNextFileA(find, &found));
    FindClose(find);
    return count;
}

bool world_check(const struct selftest_world *w, const char *effect)
{
    char text[512], path[3 * WORLD_PATH], content[4096] = "";
    const char *words[3] = {"", "", ""};
    size_t count = 0;
    WIN32_FILE_ATTRIBUTE_DATA data = {0};
    HKEY key;
    snprintf(text, sizeof text, "%s", effect);
    for (char *word = strtok(text, " "); word && count < 3; word = strtok(NULL, " "))
        words[count++] = word;
    if (strcmp(words[0], "tcp") == 0)
        return was_spoken_to(w->tcp, true);
    if (strcmp(words[0], "udp") == 0)
        return was_spoken_to(w->udp, false);
    if (strcmp(words[0], "key") == 0) {
        bool there = RegOpenKeyExA(HKEY_CURRENT_USER, words[1], 0, KEY_READ, &key) == 0;
        if (there)
            RegCloseKey(key);
        return there;
    }
    snprintf(path, sizeof path, "%s\\ws\\%s", w->top, words[1]);
    bool exists = GetFileAttributesExA(path, GetFileExInfoStandard, &data);
    if (strcmp(words[0], "exists") == 0)
        return exists;
    if (strcmp(words[0], "absent") == 0)
        return !exists;
    if (strcmp(words[0], "read-only") == 0)
        return exists && data.dwFileAttributes & FILE_ATTRIBUTE_READONLY;
    if (strcmp(words[0], "old") == 0) /* before 2010 */
        return exists && data.ftLastWriteTime.dwHighDateTime < 0x01CA8A00;
    if (strcmp(words[0], "count") == 0)
        return count_names(path) == atoi(words[2]);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(content, 1, sizeof content - 1, f) : 0;
    if (f)
        fclose(f);
    content[n] = '\0';
    if (strcmp(words[0], "same") == 0)
        return f && strcmp(content, words[2]) == 0;
    return strcmp(words[0], "holds") == 0 && f && strstr(content, words[2]) != NULL;
}

bool world_outside_unchanged(const struct selftest_world *w)
{
    return world_check(w, "same ..\\out\\file old") && !world_check(w, "read-only ..\\out\\file") &&
           world_check(w, "same ..\\out\\second old") && world_check(w, "absent ..\\out\\new");
}

bool world_has_tool(const char *name)
{
    char found[WORLD_PATH];
    return SearchPathA(NULL, name, ".exe", sizeof found, found, NULL) > 0;
}

/* ---- what is left ---- */

void world_key(DWORD pid, char *out, size_t capacity)
{
    snprintf(out, capacity, "Software\\CordonSelftest-%lu", (unsigned long)pid);
}

/* Under Wine a drive is the Unix file system, and its temp folder the place to write to. */
void world_elsewhere(char drive, DWORD pid, char *out, size_t capacity)
{
    bool is_unix = drive == 'Z' && GetFileAttributesA("Z:\\tmp") != INVALID_FILE_ATTRIBUTES;
    snprintf(out, capacity, "%c:\\%scordon-selftest-%lu", drive, is_unix ? "tmp\\" : "",
             (unsigned long)pid);
}

/* A drive letter that stands for the folder outside. */
static void remove_drives(const struct selftest_world *w)
{
    char target[WORLD_PATH + 8];
    for (char drive[] = "Q:"; drive[0] <= 'Y'; drive[0]++)
        if (QueryDosDeviceA(drive, target, sizeof target) && strstr(target, w->top))
            DefineDosDeviceA(DDD_REMOVE_DEFINITION, drive, NULL);
}

void world_watch(DWORD pid)
{
    struct selftest_world w = {0};
    char name[80], key[80], other[80];
    snprintf(name, sizeof name, "\\cordon-selftest-%lu\\ws", (unsigned long)pid);
    DWORD n = GetCurrentDirectoryA(sizeof w.top, w.top);
    HANDLE selftest = OpenProcess(SYNCHRONIZE, FALSE, pid);
    if (n < strlen(name) || n >= sizeof w.top || strcmp(w.top + n - strlen(name), name) != 0 ||
        !selftest)
        return;
    w.top[n - 3] = '\0';
    SetConsoleCtrlHandler(NULL, TRUE); /* what ends the selftest from its console */
    SetCurrentDirectoryA("\\");
    WaitForSingleObject(selftest, INFINITE);
    world_key(pid, key, sizeof key);
    RegDeleteKeyA(HKEY_CURRENT_USER, key);
    remove_drives(&w);
    /* Attempts that still run hold their files, and turn their links. */
    for (int i = 0; i < 120 && GetFileAttributesA(w.top) != INVALID_FILE_ATTRIBUTES; i++) {
        remove_links(&w, true);
        remove_all(w.top);
        Sleep(500);
    }
    for (char drive = 'A'; drive <= 'Z'; drive++) {
        world_elsewhere(drive, pid, other, sizeof other);
        if (GetLogicalDrives() >> (drive - 'A') & 1 &&
            GetFileAttributesA(other) != INVALID_FILE_ATTRIBUTES)
            remove_all(other);
    }
}

/* ---- opening and closing ---- */

static SOCKET listen_at(int type, unsigned *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    int length = sizeof here;
    u_long on = 1;
    here.sin_addr.s_addr = NET32(INADDR_LOOPBACK);
    SOCKET s = WS(socket)(AF_INET, type, 0);
    if (s == INVALID_SOCKET || WS(bind)(s, (struct sockaddr *)&here, sizeof here) ||
        (type == SOCK_STREAM && WS(listen)(s, 64)) || WS(ioctlsocket)(s, FIONBIO, &on) ||
        WS(getsockname)(s, (struct sockaddr *)&here, &length))
        return INVALID_SOCKET;
    *port = NET16(here.sin_port);
    return s;
}

static bool open_servers(struct selftest_world *w)
{
    WSADATA data;
    char line[WORLD_PATH + 60];
    if (WS(WSAStartup)(MAKEWORD(2, 2), &data))
        return false;
    w->tcp = listen_at(SOCK_STREAM, &w->port);
    w->udp = listen_at(SOCK_DGRAM, &w->udp_port);
    snprintf(line, sizeof line, "\\\\.\\pipe\\cordon-selftest-%lu",
             (unsigned long)GetCurrentProcessId());
    w->pipe = CreateNamedPipeA(line, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES,
                               512, 512, 0, NULL);
    CreateDirectoryA(world_path(w, "ws"), NULL);
    snprintf(line, sizeof line, "\"%s\" --probe \"%s %lu\"", w->self, w->keep ? "wait" : "watch",
             w->keep ? 600000ul : (unsigned long)GetCurrentProcessId());
    w->outsider = world_spawn(w, line, NULL, NULL);
    w->outsider_pid = w->outsider ? GetProcessId(w->outsider) : 0;
    return w->tcp != INVALID_SOCKET && w->udp != INVALID_SOCKET &&
           w->pipe != INVALID_HANDLE_VALUE && w->outsider;
}

int selftest_open(const struct selftest_options *o, struct selftest_world **out, struct buf *error)
{
    struct selftest_world *w = calloc(1, sizeof *w);
    char temp[MAX_PATH + 1];
    if (!w)
        return CORDON_E_NOMEM;
    w->keep = o->keep;
    w->tcp = w->udp = INVALID_SOCKET;
    w->kernel = strcmp(o->boundary, "kernel") == 0;
    snprintf(w->program, sizeof w->program, "%s", o->program);
    SetEnvironmentVariableA(WORLD_PROGRAM, w->program);
    DWORD n = GetTempPathA(sizeof temp, temp);
    if (n == 0 || n >= sizeof temp || !GetLongPathNameA(temp, temp, sizeof temp) ||
        !GetModuleFileNameA(NULL, w->self, sizeof w->self)) {
        buf_fmt(error, "there is no temp folder");
        free(w);
        return CORDON_E_OPEN;
    }
    snprintf(w->top, sizeof w->top, "%s%scordon-selftest-%lu", temp,
             temp[strlen(temp) - 1] == '\\' ? "" : "\\", (unsigned long)GetCurrentProcessId());
    if (!CreateDirectoryA(w->top, NULL)) {
        buf_fmt(error, "%s: Windows error %lu", w->top, (unsigned long)GetLastError());
        free(w);
        return CORDON_E_OPEN;
    }
    snprintf(w->temp, sizeof w->temp, "%s", temp);
    /* The temp folder of every attempt; the real one is not touched. */
    SetEnvironmentVariableA("TEMP", world_path(w, "tmp"));
    SetEnvironmentVariableA("TMP", world_path(w, "tmp"));
    bool escaped = false;
    int code = 0;
    bool serving = open_servers(w);
    if (serving) {
        world_fresh(w);
        code = world_run(w, "", "code 7", &escaped);
        w->links = world_link(w, world_path(w, "try-link"), world_path(w, "out"));
    }
    if (!serving || code != 7) {
        if (serving)
            buf_fmt(error,
                    "cordon run does not work on this machine (exit code %d); see cordon doctor",
                    code);
        else
            buf_fmt(error, "no server can listen on this machine");
        selftest_close(w);
        return CORDON_E_CONFINE;
    }
    *out = w;
    return 0;
}

void selftest_close(struct selftest_world *w)
{
    if (w->outsider) {
        TerminateProcess(w->outsider, 0);
        WaitForSingleObject(w->outsider, 5000);
        CloseHandle(w->outsider);
    }
    if (w->tcp != INVALID_SOCKET)
        WS(closesocket)(w->tcp);
    if (w->udp != INVALID_SOCKET)
        WS(closesocket)(w->udp);
    if (w->pipe && w->pipe != INVALID_HANDLE_VALUE)
        CloseHandle(w->pipe);
    if (!w->keep) {
        remove_links(w, w->links);
        SetEnvironmentVariableA("TEMP", w->temp);
        SetEnvironmentVariableA("TMP", w->temp);
        remove_all(w->top);
    }
    free(w);
}
