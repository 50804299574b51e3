/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with --ask-pipe in a box of harness.h, and a thread that answers their questions. */
#ifndef CORDON_TESTS_PERSON_H
#define CORDON_TESTS_PERSON_H

#include "harness.h"

/* Who answers: the first question with the first answer, all others with the second. "" answers
   nothing, a leading ! says two wrong lines before. */
struct person {
    const char *first, *others;
    unsigned asked, errors, closed, timed_out;
    bool hangs_up;  /* at the first question */
    unsigned until; /* answers nothing before so many were asked and this exists */
    const char *until_here;
    HANDLE pipe;
    struct buf lines;
};

__attribute__((unused)) static char pipe_name[64];

__attribute__((unused)) static void say(struct person *p, const char *text)
{
    DWORD n;
    WriteFile(p->pipe, text, (DWORD)strlen(text), &n, NULL);
}

__attribute__((unused)) static void answer(struct person *p, unsigned id, const char *words)
{
    char text[128];
    if (words[0] == '!') {
        words++;
        say(p, "nonsense\n");
        snprintf(text, sizeof text, "{\"id\":%u,\"answer\":\"yes\"}\n", id);
        say(p, text);
    }
    snprintf(text, sizeof text, "{\"id\":%u,%s}\n", id, words);
    if (words[0])
        say(p, text);
}

__attribute__((unused)) static void take(struct person *p, const char *line)
{
    const char *id = strstr(line, "\"id\":");
    p->errors += strstr(line, "\"error\"") != NULL;
    p->closed += strstr(line, "\"closed\"") != NULL;
    p->timed_out += strstr(line, "\"closed\":\"time-out\"") != NULL;
    if (!id || !strstr(line, "\"choices\""))
        return;
    p->asked++;
    if (p->until) {
        for (int i = 0; p->asked == p->until && i < 3000 && !exists(p->until_here); i++)
            Sleep(10);
        for (unsigned i = 1; p->asked == p->until && i <= p->until; i++)
            answer(p, i, p->others);
    } else {
        answer(p, (unsigned)strtoul(id + 5, NULL, 10), p->asked == 1 ? p->first : p->others);
    }
}

__attribute__((unused)) static DWORD WINAPI be_asked(void *context)
{
    struct person *p = context;
    static char line[1 << 17];
    size_t length = 0;
    char piece[4096];
    DWORD n;
    if (!ConnectNamedPipe(p->pipe, NULL) && GetLastError() != ERROR_PIPE_CONNECTED &&
        GetLastError() != ERROR_NO_DATA) /* it has already closed its end */
        return 1;
    while (ReadFile(p->pipe, piece, sizeof piece, &n, NULL) && n > 0)
        for (DWORD i = 0; i < n; i++) {
            if (length < sizeof line - 1)
                line[length++] = piece[i];
            if (piece[i] != '\n')
                continue;
            line[length] = '\0';
            length = 0;
            buf_add(&p->lines, str_of(line));
            if (p->hangs_up) {
                p->asked++;
                CloseHandle(p->pipe);
                return 0;
            }
            take(p, line);
        }
    CloseHandle(p->pipe);
    return 0;
}

__attribute__((unused)) static HANDLE person_start(struct person *p)
{
    static unsigned number;
    snprintf(pipe_name, sizeof pipe_name, "\\\\.\\pipe\\ask-%lu-%u", GetCurrentProcessId(),
             number++);
    p->pipe = CreateNamedPipeA(pipe_name, PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE, 0,
                               PIPE_UNLIMITED_INSTANCES, 65536, 65536, 0, NULL);
    return CreateThread(NULL, 0, be_asked, p, 0, NULL);
}

/* Runs the line with this person; its exit code. */
__attribute__((unused)) static int asked(struct person *p, const char *options, const char *line,
                                         struct buf *out)
{
    auto_buf struct buf all = {0};
    HANDLE thread = person_start(p);
    buf_fmt(&all, "--ask-pipe %s --audit ..\\audit.jsonl %s", pipe_name, options ? options : "");
    DeleteFileA(path_of("audit.jsonl"));
    int code = confined(buf_cstr(&all), line, out);
    if (WaitForSingleObject(thread, 10000) != WAIT_OBJECT_0)
        note("the pipe stays open");
    CloseHandle(thread);
    return code;
}

__attribute__((unused)) static bool audit_has(const char *a, const char *b)
{
    static char line[1 << 16];
    bool found = false;
    FILE *f = fopen(path_of("audit.jsonl"), "rb");
    while (f && fgets(line, sizeof line, f))
        found =
            found || (strstr(line, "\"type\":\"answer\"") && strstr(line, a) && strstr(line, b));
    if (f)
        fclose(f);
    return found;
}

#define ONCE "\"answer\":\"once\""
#define RUN "\"answer\":\"run\""
#define FOLDER "\"answer\":\"run\",\"scope\":\"folder\""
#define NO "\"answer\":\"no\""
#define NEVER "\"answer\":\"never\""

#endif
