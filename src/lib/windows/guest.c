/* A run inside another program, on Windows: pipes and the threads that read them. */
#include <stdlib.h>
#include <windows.h>

#include "lib/system.h"

struct stream {
    struct system_guest *guest;
    int number; /* 1: stdout, 2: stderr */
    HANDLE read, write, thread;
};

struct system_guest {
    cordon_output *output;
    void *context;
    CRITICAL_SECTION lock; /* the function is called by one thread at a time */
    struct stream streams[2];
    intptr_t handles[2];
};

static DWORD WINAPI read_output(void *context)
{
    struct stream *s = context;
    char piece[16384];
    DWORD n;
    while (ReadFile(s->read, piece, sizeof piece, &n, NULL) && n > 0) {
        EnterCriticalSection(&s->guest->lock);
        s->guest->output(s->guest->context, s->number, piece, n);
        LeaveCriticalSection(&s->guest->lock);
    }
    return 0;
}

static bool open_stream(struct system_guest *g, int i)
{
    struct stream *s = &g->streams[i];
    *s = (struct stream){.guest = g, .number = i + 1};
    if (!CreatePipe(&s->read, &s->write, NULL, 65536))
        return false;
    g->handles[i] = (intptr_t)s->write;
    s->thread = CreateThread(NULL, 0, read_output, s, 0, NULL);
    return s->thread != NULL;
}

int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why)
{
    struct system_guest *g = calloc(1, sizeof *g);
    if (!g)
        return CORDON_E_NOMEM;
    g->output = output;
    g->context = context;
    InitializeCriticalSection(&g->lock);
    if (output && (!open_stream(g, 0) || !open_stream(g, 1))) {
        *why = "the pipes for its output could not be made";
        system_guest_close(g);
        return CORDON_E_CONFINE;
    }
    *out = g;
    return 0;
}

const intptr_t *system_guest_stdio(const struct system_guest *g)
{
    return g->output ? g->handles : NULL;
}

void system_guest_close(struct system_guest *g)
{
    for (int i = 0; i < 2; i++) {
        struct stream *s = &g->streams[i];
        if (s->write)
            CloseHandle(s->write);
        if (s->thread) {
            WaitForSingleObject(s->thread, INFINITE);
            CloseHandle(s->thread);
        }
        if (s->read)
            CloseHandle(s->read);
    }
    DeleteCriticalSection(&g->lock);
    free(g);
}
