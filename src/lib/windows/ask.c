/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that serves whoever answers. It never waits for a slow reader or writer, and the
   broker never waits for it. */
#include "lib/windows/ask.h"

#include <stdio.h>
#include <stdlib.h>

#include "launch/windows/wide.h"
#include "prompt/windows/terminal.h"

enum { PIECE = 4096 };

struct asker {
    struct asking asking;
    struct broker *broker;
    struct run *run;
    struct terminal *terminal; /* NULL: another way */
    HANDLE pipe;               /* NULL: none, or closed */
    char pipe_name[256];
    HANDLE stop, thread;
    OVERLAPPED reading, writing;
    bool reads, writes; /* is under way */
    char in[PIECE], out[PIECE];
};

struct desk *asker_desk(struct asker *a)
{
    return a ? a->asking.desk : NULL;
}

struct str asker_pipe(const struct asker *a)
{
    return a ? str_of(a->pipe_name) : STR_NONE;
}

/* Whoever answers is gone. */
static void give_up(struct asker *a)
{
    DWORD n;
    if (a->pipe) {
        CancelIo(a->pipe);
        if (a->reads)
            GetOverlappedResult(a->pipe, &a->reading, &n, TRUE);
        if (a->writes)
            GetOverlappedResult(a->pipe, &a->writing, &n, TRUE);
        CloseHandle(a->pipe);
    }
    a->pipe = NULL;
    a->reads = a->writes = false;
    ResetEvent(a->reading.hEvent);
    ResetEvent(a->writing.hEvent);
    desk_close(a->asking.desk);
}

static bool begin_reading(struct asker *a)
{
    a->reads =
        ReadFile(a->pipe, a->in, PIECE, NULL, &a->reading) || GetLastError() == ERROR_IO_PENDING;
    return a->reads;
}

static bool finish_reading(struct asker *a)
{
    DWORD n = 0;
    a->reads = false;
    if (!GetOverlappedResult(a->pipe, &a->reading, &n, TRUE) || n == 0)
        return false;
    asking_take(&a->asking, (struct str){a->in, n});
    return begin_reading(a);
}

/* The piece is copied: the output may move while it is written. */
static bool begin_writing(struct asker *a)
{
    struct str rest = asking_rest(&a->asking);
    DWORD n = rest.n < PIECE ? (DWORD)rest.n : PIECE;
    if (a->writes || n == 0)
        return true;
    memcpy(a->out, rest.p, n);
    a->writes =
        WriteFile(a->pipe, a->out, n, NULL, &a->writing) || GetLastError() == ERROR_IO_PENDING;
    return a->writes;
}

static bool finish_writing(struct asker *a)
{
    DWORD n = 0;
    a->writes = false;
    if (!GetOverlappedResult(a->pipe, &a->writing, &n, TRUE))
        return false;
    ResetEvent(a->writing.hEvent);
    asking_sent(&a->asking, n);
    return true;
}

static DWORD WINAPI serve(void *context)
{
    struct asker *a = context;
    HANDLE events[] = {a->stop, (HANDLE)a->asking.desk->asked, a->reading.hEvent,
                       a->writing.hEvent};
    if (a->terminal) {
        terminal_serve(a->terminal, a->asking.desk, a->stop);
        desk_close(a->asking.desk); /* nobody answers from now on */
        return 0;
    }
    if (a->pipe && !begin_reading(a))
        give_up(a);
    for (;;) {
        bool goes_on;
        int timeout = asking_look(&a->asking, &goes_on);
        if (a->pipe && (!goes_on || !begin_writing(a)))
            give_up(a);
        switch (WaitForMultipleObjects(4, events, FALSE, timeout < 0 ? INFINITE : (DWORD)timeout)) {
        case WAIT_TIMEOUT: break;
        case WAIT_OBJECT_0 + 1: bell_hush(a->asking.desk->asked); break;
        case WAIT_OBJECT_0 + 2:
            if (!finish_reading(a))
                give_up(a);
            break;
        case WAIT_OBJECT_0 + 3:
            if (!finish_writing(a))
                give_up(a);
            break;
        default: desk_close(a->asking.desk); return 0;
        }
    }
}

/* From threads that wait for answers. */
static void event(void *context, const struct audit_event *e)
{
    struct asker *a = context;
    EnterCriticalSection(&a->broker->lock);
    run_event(a->run, e);
    LeaveCriticalSection(&a->broker->lock);
}

/* True if the pipe is served by a program that a run did not start: another run could guess the
   name and be quicker than the host. */
static bool is_served_outside(HANDLE pipe)
{
    ULONG pid;
    TOKEN_MANDATORY_LABEL *label;
    unsigned char space[sizeof *label + SECURITY_MAX_SID_SIZE];
    DWORD n;
    HANDLE token = NULL;
    HANDLE process = GetNamedPipeServerProcessId(pipe, &pid)
                         ? OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid)
                         : NULL;
    bool outside = process && OpenProcessToken(process, TOKEN_QUERY, &token) &&
                   !IsTokenRestricted(token) &&
                   GetTokenInformation(token, TokenIntegrityLevel, space, sizeof space, &n);
    label = (void *)space;
    outside = outside && *GetSidSubAuthority(label->Label.Sid, 0) >= SECURITY_MANDATORY_MEDIUM_RID;
    if (token)
        CloseHandle(token);
    if (process)
        CloseHandle(process);
    return outside;
}

/* A server of this machine only, which learns nothing of us. */
static bool open_pipe(struct asker *a, struct str name)
{
    auto_arena struct arena arena = {0};
    struct str front = STR("\\\\.\\pipe\\");
    if (str_startsi(name, front))
        name = str_from(name, front.n);
    int n = snprintf(a->pipe_name, sizeof a->pipe_name, "%s%.*s", front.p, STR_ARG(name));
    wchar_t *wide = n > 0 && (size_t)n < sizeof a->pipe_name && name.n && !str_has_char(name, '/')
                        ? wide_of(&arena, str_of(a->pipe_name))
                        : NULL;
    HANDLE pipe =
        wide ? CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                           FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL)
             : INVALID_HANDLE_VALUE;
    if (pipe == INVALID_HANDLE_VALUE)
        return false;
    a->pipe = pipe;
    return GetFileType(pipe) == FILE_TYPE_PIPE && is_served_outside(pipe);
}

int asker_open(struct run *run, struct broker *broker, struct console *console, struct asker **out)
{
    const struct run_options *o = run->options;
    *out = NULL;
    if (o->ask_fds)
        return api_fail(run->policy, CORDON_E_VALUE,
                        "--ask-fd is for Linux; here it is --ask-pipe");
    if (!o->ask && !o->ask_pipe && !o->ask_terminal)
        return 0;
    struct asker *a = calloc(1, sizeof *a);
    if (!a)
        return api_fail(run->policy, CORDON_E_NOMEM, "out of memory");
    a->asking.function = o->ask;
    a->asking.context = o->ask_context;
    a->asking.by = ASK_BY_PIPE;
    a->run = run;
    a->broker = broker;
    if (o->ask_terminal && !(a->terminal = terminal_open(console))) {
        asker_close(a);
        return 0;
    }
    if (o->ask_pipe && !open_pipe(a, str_of(o->ask_pipe))) {
        asker_close(a);
        return api_fail(run->policy, CORDON_E_VALUE,
                        "--ask-pipe: nobody serves a pipe of this name on this machine, for "
                        "reading and writing");
    }
    a->stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    a->reading.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    a->writing.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    a->asking.desk = desk_new(run->policy->policy, o->ask_terminal,
                              o->ask_timeout_ms ? o->ask_timeout_ms : ASK_DEFAULT_TIMEOUT_S * 1000);
    if (a->asking.desk) {
        a->asking.desk->event = event;
        a->asking.desk->context = a;
        a->asking.desk->now = machine_now_ms;
        if (a->stop && a->reading.hEvent && a->writing.hEvent)
            a->thread = CreateThread(NULL, 0, serve, a, 0, NULL);
    }
    if (!a->thread) {
        asker_close(a);
        return api_fail(run->policy, CORDON_E_CONFINE, "nobody can be asked: out of memory");
    }
    *out = a;
    return 0;
}

void asker_close(struct asker *a)
{
    if (!a)
        return;
    if (a->thread) {
        SetEvent(a->stop);
        WaitForSingleObject(a->thread, INFINITE);
    }
    if (a->asking.desk)
        give_up(a);
    HANDLE handles[] = {a->pipe, a->thread, a->stop, a->reading.hEvent, a->writing.hEvent};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    terminal_close(a->terminal);
    desk_drop(a->asking.desk);
    buf_free(&a->asking.output);
    free(a);
}
