/* SPDX-License-Identifier: Apache-2.0 */
/* Standard handles and the threads that relay a console. The bytes are never inspected. */
#include "wire/windows/nt.h"

#include "launch/windows/stdio.h"

#include <ntsecapi.h>
#include <stdio.h>

#include "cordon.h"
#include "launch/windows/console.h"
#include "launch/windows/token.h"
#include "launch/windows/wine.h"

enum {
    BLOCK = 262144, /* per read and write; a quarter of it takes half as long again */
    MOST_AFTER = 16 * BLOCK,
    PIPE_SIZE = 4 * BLOCK /* so that writer and relay do not wait for each other at every block */
};

struct stdio_relay {
    HANDLE own;    /* the launcher's console or pipe; not ours to close */
    HANDLE pipe;   /* our end, overlapped: waiting for it can be interrupted */
    HANDLE stop;   /* set: the tree is dead */
    HANDLE ready;  /* of the overlapped call */
    HANDLE thread; /* NULL: not started */
    bool input;    /* own to pipe; otherwise pipe to own */
    bool console;  /* own is one */
    DWORD after;   /* bytes carried since the tree's death */
    char block[BLOCK];
};

/* ---- pipes ---- */

/*
 * Reading an anonymous pipe cannot be interrupted, so this is a named one with a random name: only
 * this user may open it, there is a single instance, and we take its other end at once. If a
 * stranger is quicker, our open fails.
 */
static int make_pipe(bool input, HANDLE *ours, HANDLE *theirs, struct launch_failure *f)
{
    wchar_t name[64];
    DWORD random[4];
    struct token_descriptor own;
    int rc = token_describe_own(GENERIC_ALL, &own, f);
    if (rc)
        return rc;
    if (!RtlGenRandom(random, sizeof random))
        return launch_fail_words(f, "cannot name a pipe: cannot read random bytes");
    swprintf(name, 64, L"\\\\.\\pipe\\cordon-%08lx%08lx%08lx%08lx", random[0], random[1], random[2],
             random[3]);
    DWORD direction = input ? PIPE_ACCESS_OUTBOUND : PIPE_ACCESS_INBOUND;
    HANDLE server = CreateNamedPipeW(
        name, direction | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, PIPE_SIZE,
        PIPE_SIZE, 0, &own.attributes);
    if (server == INVALID_HANDLE_VALUE)
        return launch_fail(f, "cannot make a pipe (CreateNamedPipe)");
    /* Programs that set a pipe's mode need write-attributes on their output. */
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE client = CreateFileW(
        name, input ? GENERIC_READ | FILE_WRITE_ATTRIBUTES : GENERIC_WRITE | FILE_READ_ATTRIBUTES,
        0, &inherit, OPEN_EXISTING, SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
    if (client == INVALID_HANDLE_VALUE) {
        rc = launch_fail(f, "cannot open the other end of a pipe (CreateFile)");
        CloseHandle(server);
        return rc;
    }
    *ours = server;
    *theirs = client;
    return 0;
}

/* ---- relays ---- */

/*
 * Waits for an overlapped call. Once the tree is dead, a call that still has nothing to do is
 * cancelled: everything the tree wrote is already in the pipe, and a read would have returned it.
 */
static bool complete(struct stdio_relay *r, OVERLAPPED *call, DWORD *count)
{
    HANDLE either[] = {r->ready, r->stop};
    if (WaitForMultipleObjects(2, either, FALSE, INFINITE) != WAIT_OBJECT_0)
        CancelIoEx(r->pipe, call);
    return GetOverlappedResult(r->pipe, call, count, TRUE);
}

static bool read_pipe(struct stdio_relay *r, DWORD *count)
{
    OVERLAPPED call = {.hEvent = r->ready};
    if (ReadFile(r->pipe, r->block, BLOCK, NULL, &call))
        return GetOverlappedResult(r->pipe, &call, count, TRUE);
    return GetLastError() == ERROR_IO_PENDING && complete(r, &call, count);
}

/* The dead leave no more than the pipe holds; anything beyond that is from somebody else. */
static bool may_read(struct stdio_relay *r, DWORD last)
{
    if (WaitForSingleObject(r->stop, 0) == WAIT_OBJECT_0)
        r->after += last;
    return r->after <= MOST_AFTER;
}

static bool write_pipe(struct stdio_relay *r, DWORD size)
{
    for (DWORD done = 0, n = 0; done < size; done += n) {
        OVERLAPPED call = {.hEvent = r->ready};
        bool written = WriteFile(r->pipe, r->block + done, size - done, NULL, &call)
                           ? GetOverlappedResult(r->pipe, &call, &n, TRUE)
                           : GetLastError() == ERROR_IO_PENDING && complete(r, &call, &n);
        if (!written || n == 0)
            return false;
    }
    return true;
}

static bool write_own(struct stdio_relay *r, DWORD size)
{
    for (DWORD done = 0, n = 0; done < size; done += n) {
        bool written = r->console ? console_write(r->own, r->block + done, size - done, &n)
                                  : WriteFile(r->own, r->block + done, size - done, &n, NULL);
        if (!written || n == 0)
            return false;
    }
    return true;
}

/* A line typed after the end belongs to the shell: a console is read only when there is input. 0
   bytes (Ctrl-Z on a console) mean the end. */
static bool read_own(struct stdio_relay *r, DWORD *count)
{
    bool read = r->console ? console_read_line(r->own, r->stop, r->block, BLOCK, count)
                           : ReadFile(r->own, r->block, BLOCK, count, NULL);
    return read && *count > 0 && WaitForSingleObject(r->stop, 0) != WAIT_OBJECT_0;
}

static DWORD WINAPI relay(void *argument)
{
    struct stdio_relay *r = argument;
    DWORD n = 0;
    if (r->input)
        while (read_own(r, &n) && write_pipe(r, n))
            ;
    else
        while (may_read(r, n) && read_pipe(r, &n) && write_own(r, n))
            ;
    /* The other side sees the end as it would have without us. */
    CloseHandle(r->pipe);
    r->pipe = NULL;
    return 0;
}

static void relay_free(struct stdio_relay *r)
{
    HANDLE handles[] = {r->pipe, r->stop, r->ready, r->thread};
    for (size_t i = 0; i < 4; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    HeapFree(GetProcessHeap(), 0, r);
}

static int relay_start(struct stdio_relay **out, HANDLE own, bool input, HANDLE *child,
                       struct launch_failure *f)
{
    DWORD mode;
    HANDLE theirs = NULL;
    struct token_descriptor closed;
    struct stdio_relay *r = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof *r);
    if (!r)
        return launch_fail_words(f, "cannot relay a console: out of memory");
    r->own = own;
    r->input = input;
    r->console = GetConsoleMode(own, &mode);
    int rc = token_describe_own(THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, &closed, f);
    if (rc == 0)
        rc = make_pipe(input, &r->pipe, &theirs, f);
    if (rc == 0) {
        r->stop = CreateEventW(NULL, TRUE, FALSE, NULL);
        r->ready = CreateEventW(NULL, TRUE, FALSE, NULL);
        if (r->stop && r->ready)
            r->thread = CreateThread(&closed.attributes, 0, relay, r, 0, NULL);
        if (!r->thread)
            rc = launch_fail(f, "cannot start the thread that relays a console (CreateThread)");
    }
    if (rc) {
        if (theirs)
            CloseHandle(theirs);
        relay_free(r);
        return rc;
    }
    *out = r;
    *child = theirs;
    return 0;
}

/* The input thread may be stuck in a read of the launcher's own handle that Windows does not
   cancel; then the thread and its data are left behind until the process ends. */
static void relay_end(struct stdio_relay *r)
{
    SetEvent(r->stop);
    if (r->input) {
        for (int i = 0; i < 20 && WaitForSingleObject(r->thread, 10) == WAIT_TIMEOUT; i++)
            CancelSynchronousIo(r->thread);
        if (WaitForSingleObject(r->thread, 0) != WAIT_OBJECT_0)
            return;
    }
    WaitForSingleObject(r->thread, INFINITE);
    relay_free(r);
}

/* ---- the three handles ---- */

static int open_nul(HANDLE *child, bool input, struct launch_failure *f)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE nul = CreateFileW(L"NUL", input ? GENERIC_READ : GENERIC_WRITE,
                             FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit, OPEN_EXISTING, 0, NULL);
    if (nul == INVALID_HANDLE_VALUE)
        return launch_fail(f, "cannot open NUL for a missing standard handle (CreateFile)");
    *child = nul;
    return 0;
}

/* Rights by which a file on a disk gets another name or owner: a redirection needs none of them. */
static DWORD reduced(HANDLE own)
{
    enum {
        NEVER = FILE_WRITE_ATTRIBUTES | FILE_WRITE_EA | DELETE | WRITE_DAC | WRITE_OWNER,
        BASIC = 0 /* ObjectBasicInformation */
    };
    PUBLIC_OBJECT_BASIC_INFORMATION info;
    if (GetFileType(own) != FILE_TYPE_DISK ||
        NtQueryObject(own, (OBJECT_INFORMATION_CLASS)BASIC, &info, sizeof info, NULL) < 0)
        return 0;
    return info.GrantedAccess & ~(DWORD)NEVER;
}

static int duplicate(HANDLE own, HANDLE *child, struct launch_failure *f)
{
    HANDLE copy;
    DWORD access = reduced(own);
    if (!DuplicateHandle(GetCurrentProcess(), own, GetCurrentProcess(), &copy, access, TRUE,
                         access ? 0 : DUPLICATE_SAME_ACCESS))
        return launch_fail(f, "cannot pass on a standard handle (DuplicateHandle)");
    *child = copy;
    return 0;
}

int stdio_relay(struct stdio *s, int which, HANDLE own, struct launch_failure *f)
{
    struct stdio_relay *made = NULL;
    HANDLE child = NULL;
    int rc = relay_start(&made, own, which == 0, &child, f);
    if (rc)
        return rc;
    if (s->child[which])
        CloseHandle(s->child[which]);
    s->relay[which] = made;
    s->child[which] = child;
    return 0;
}

static int open_one(struct stdio *s, int i, HANDLE own, struct launch_failure *f)
{
    DWORD mode;
    DWORD type = own && own != INVALID_HANDLE_VALUE ? GetFileType(own) & ~FILE_TYPE_REMOTE
                                                    : FILE_TYPE_UNKNOWN;
    if (type == FILE_TYPE_UNKNOWN)
        return open_nul(&s->child[i], i == 0, f);
    /* Both on the console: one pipe, so that lines keep the order in which they were written. */
    if (i == 2 && s->relay[1] && s->relay[1]->console && GetConsoleMode(own, &mode))
        return duplicate(s->child[1], &s->child[2], f);
    if (GetConsoleMode(own, &mode) || wine_is_unix_pipe(own))
        return stdio_relay(s, i, own, f);
    return duplicate(own, &s->child[i], f);
}

int stdio_open_handles(struct stdio *s, const HANDLE own[3], struct launch_failure *f)
{
    struct stdio made = {0};
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = open_one(&made, i, own[i], f);
    if (rc) {
        stdio_started(&made);
        stdio_finish(&made);
        return rc;
    }
    *s = made;
    return 0;
}

int stdio_open(struct stdio *s, struct launch_failure *f)
{
    HANDLE own[] = {GetStdHandle(STD_INPUT_HANDLE), GetStdHandle(STD_OUTPUT_HANDLE),
                    GetStdHandle(STD_ERROR_HANDLE)};
    return stdio_open_handles(s, own, f);
}

void stdio_started(struct stdio *s)
{
    for (int i = 0; i < 3; i++) {
        if (s->child[i])
            CloseHandle(s->child[i]);
        s->child[i] = NULL;
    }
}

void stdio_finish(struct stdio *s)
{
    for (int i = 0; i < 3; i++) {
        if (s->relay[i])
            relay_end(s->relay[i]);
        s->relay[i] = NULL;
    }
}

/* ---- the console's events ---- */

/* The handler belongs to the process and has no argument: it notifies every run. */
static SRWLOCK watching = SRWLOCK_INIT;
static struct stdio_watch *watches; /* under the lock */
static bool over;                   /* under the lock: every run is to end */
static volatile bool deaf;

void stdio_ignore_console(void)
{
    deaf = true;
}

void stdio_end_runs(void)
{
    AcquireSRWLockExclusive(&watching);
    over = true;
    for (const struct stdio_watch *w = watches; w; w = w->next)
        SetEvent(w->end);
    ReleaseSRWLockExclusive(&watching);
}

static BOOL WINAPI on_console(DWORD event)
{
    if (deaf)
        return TRUE;
    AcquireSRWLockShared(&watching);
    bool any = watches != NULL;
    for (const struct stdio_watch *w = watches; w; w = w->next)
        SetEvent(w->end);
    ReleaseSRWLockShared(&watching);
    if (!any)
        return FALSE;
    /* Windows ends the process when this returns, or after five seconds: time to kill the tree and
       record how it ended. */
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

int stdio_watch_console(struct stdio_watch *w, HANDLE end)
{
    int rc = 0;
    AcquireSRWLockExclusive(&watching);
    if (!watches && !SetConsoleCtrlHandler(on_console, TRUE))
        rc = CORDON_E_CONFINE;
    if (rc == 0) {
        *w = (struct stdio_watch){end, watches};
        watches = w;
        if (over)
            SetEvent(end);
    }
    ReleaseSRWLockExclusive(&watching);
    return rc;
}

void stdio_unwatch_console(struct stdio_watch *w)
{
    if (!w->end)
        return;
    AcquireSRWLockExclusive(&watching);
    struct stdio_watch **at = &watches;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
    bool last = !watches;
    ReleaseSRWLockExclusive(&watching);
    w->end = NULL;
    /* Not under the lock: this waits for a running handler. A handler that is added meanwhile is
       counted once more than it is removed. */
    if (last)
        SetConsoleCtrlHandler(on_console, FALSE);
}
