/* SPDX-License-Identifier: Apache-2.0 */
/* Children: judged by tool rules and guard before they are created and again as they are, and given
   their agent while suspended. A process that appears in the job and never gets one is killed. */
#include <stdio.h>

#include "audit/jsonl.h"
#include "base/sha256.h"
#include "base/utf.h"
#include "broker/windows/ask.h"
#include "guard/refusal.h"
#include "launch/windows/job.h"
#include "launch/windows/version.h"

enum {
    LONGEST_COMMAND = 32767,
    GRACE_MS = 10000,
    LOOK_MS = 5,
    STUB_MS = 5000,
    SHOWN_COMMAND = 2048
};

/* ---- judging ---- */

struct child_program {
    struct str path;    /* of the file, as final as it can be had */
    struct str cmdline; /* as it stands */
};

static struct str base_name(struct str path)
{
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '\\' && path.p[at - 1] != '/')
        at--;
    return str_from(path, at);
}

/* The first word of a command line: in quotes, or up to a blank. */
static size_t first_word_end(struct str cmdline)
{
    size_t at = 0;
    bool quoted = false;
    for (; at < cmdline.n; at++) {
        if (cmdline.p[at] == '"')
            quoted = !quoted;
        else if (!quoted && (cmdline.p[at] == ' ' || cmdline.p[at] == '\t'))
            break;
    }
    return at;
}

static struct str without_exe(struct str name)
{
    if (name.n && name.p[name.n - 1] == '"')
        name.n--;
    return str_endsi(name, STR(".exe")) ? str_slice(name, 0, name.n - 4) : name;
}

/* The command as it is asked about, with what looks like a secret masked. */
static void spell_command(const struct child_program *p, struct buf *out)
{
    auto_buf struct buf whole = {0};
    buf_fmt(&whole, "\"%.*s\"%.*s", STR_ARG(p->path),
            STR_ARG(str_from(p->cmdline, first_word_end(p->cmdline))));
    audit_mask(out, buf_str(&whole));
}

/* The same command under another name of its program is the same question. */
static enum ask_ruling ask_command(struct request *r, const struct child_program *p,
                                   struct ask_subject *subject)
{
    auto_buf struct buf command = {0}, name = {0}, whole = {0};
    spell_command(p, &command);
    buf_add(&whole, p->path);
    buf_add(&whole, str_from(p->cmdline, first_word_end(p->cmdline)));
    buf_fmt(&name, "%.*s ", STR_ARG(subject->rule));
    sha256_hex(&name, buf_str(&whole));
    if (command.failed || name.failed || whole.failed)
        return ASK_DENIES;
    subject->command = buf_str(&command);
    subject->name = buf_str(&name);
    return broker_ask_rule(r, subject, &(struct ask_objects){0});
}

static bool guard_refuses(struct request *r, const struct child_program *p, struct str cmdline)
{
    struct broker *b = r->broker;
    struct guard_question question = {.cmdline = cmdline, .policy = b->policy, .confined = true};
    struct guard_answer answer;
    auto_buf struct buf target = {0}, fix = {0};
    struct ask_subject s = {.kind = ASK_COMMAND, .op = AUDIT_GUARD};
    bool told = false, outside = false;
    EnterCriticalSection(&b->lock);
    int rc = guard_check(b->guard, &question, &answer);
    enum cordon_verdict verdict = rc ? CORDON_DENY : answer.verdict;
    const struct guard_finding *f =
        rc || verdict == CORDON_ALLOW ? NULL : guard_refusal(&answer, b->policy, &target, &fix);
    if (f) {
        told = true;
        outside = f->rule == GUARD_DESTROY_OUTSIDE;
        s.rule = arena_copy(&r->arena, f->id);
        s.why = arena_copy(&r->arena, f->why);
    }
    LeaveCriticalSection(&b->lock);
    s.target = buf_str(&target);
    s.fix = buf_str(&fix);
    bool refused =
        verdict == CORDON_DENY || (verdict == CORDON_ASK && policy_settings_of(b->policy)->strict);
    /* Files outside are asked about one by one, when they are changed. */
    if (!refused && told && b->asks && !outside) {
        enum ask_ruling ruling = ask_command(r, p, &s);
        if (ruling != ASK_DENIES)
            return ruling == ASK_WAITS;
        refused = true;
    }
    if (told)
        request_event(r, &(struct audit_event){.type = refused ? AUDIT_DENY : AUDIT_ASK,
                                               .op = AUDIT_GUARD,
                                               .target = s.target,
                                               .verdict = refused ? CORDON_DENY : verdict,
                                               .rule = s.rule,
                                               .why = s.why,
                                               .fix = s.fix});
    return refused;
}

/* Read only from a disk of this machine: no other machine is contacted for a program's name. */
static struct str original_name(struct request *r, struct str path)
{
    struct path place = {.class = PATH_FILE, .text = path, .base = path};
    return place_is_remote(r->broker, &place) ? STR_NONE : version_original_name(&r->arena, path);
}

/* *stub: it was called by its own name, so the stub can say why it does not run. */
static bool tool_refused(struct request *r, const struct child_program *p, bool *stub)
{
    struct str called = str_slice(p->cmdline, 0, first_word_end(p->cmdline));
    if (called.n && called.p[0] == '"')
        called = str_slice(called, 1, called.n - (called.p[called.n - 1] == '"'));
    struct policy_program program = {.name = called,
                                     .path = {.class = PATH_FILE, .text = p->path, .base = p->path},
                                     .original = original_name(r, p->path),
                                     .seen = true};
    struct policy_answer answer = {0};
    policy_tool_decide(r->broker->policy, &program, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return false;
    auto_buf struct buf why = {0}, fix = {0}, command = {0}, exact = {0};
    policy_tool_explain(r->broker->policy, &program, &answer, &why, &fix);
    if (r->broker->asks && ask_can_lift(ASK_TOOL, answer.rule)) {
        spell_command(p, &command);
        sha256_hex(&exact, p->cmdline); /* the command is masked for people */
        struct ask_subject s = {.kind = ASK_TOOL,
                                .op = AUDIT_PROCESS_START,
                                .target = p->path,
                                .command = buf_str(&command),
                                .exact = buf_str(&exact),
                                .name = str_of(policy_rule_id(answer.rule)),
                                .rule = str_of(policy_rule_id(answer.rule)),
                                .why = buf_str(&why),
                                .fix = buf_str(&fix)};
        enum ask_ruling ruling = broker_ask_rule(r, &s, &(struct ask_objects){0});
        if (ruling != ASK_DENIES)
            return ruling == ASK_WAITS;
    }
    request_deny_text(r, AUDIT_PROCESS_START, p->path, str_of(policy_rule_id(answer.rule)),
                      buf_str(&why), buf_str(&fix));
    *stub = r->broker->inject.stub_size && policy_tool_speaks(PATH_WINDOWS, called, answer.rule);
    return true;
}

/* ---- the console's host ---- */

static bool is_system_file(struct str path, struct str name)
{
    wchar_t own[MAX_PATH + 1];
    auto_buf struct buf text = {0};
    UINT length = GetSystemDirectoryW(own, MAX_PATH);
    if (length == 0 || length >= MAX_PATH)
        return false;
    utf_from16(&text, (const uint16_t *)own, length);
    buf_char(&text, '\\');
    buf_add(&text, name);
    return !text.failed && str_eqi(buf_str(&text), path);
}

/* A conhost that serves a console (--server 0x58 --headless, as CreatePseudoConsole starts it, and
   Wine for every console) starts nothing; with any other argument it could. */
static bool is_console_server(const struct child_program *p)
{
    static const struct str words[] = {{"--server", 8},         {"--headless", 10}, {"--width", 7},
                                       {"--height", 8},         {"--signal", 8},    {"--unix", 6},
                                       {"--inheritcursor", 15}, {"--vtmode", 8}};
    struct str rest = str_from(p->cmdline, first_word_end(p->cmdline));
    bool serves = false;
    if (!is_system_file(p->path, STR("conhost.exe")))
        return false;
    while ((rest = str_trim(rest)).n) {
        struct str word = str_slice(rest, 0, str_find_char(rest, ' ', 0));
        bool known = ascii_is_digit(word.p[0]);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known = known || str_eq(word, words[i]);
        if (!known)
            return false;
        serves = serves || str_eq(word, words[0]);
        rest = str_from(rest, word.n);
    }
    return serves;
}

/* The file decides, not the name given by the caller; but many files have two names. */
static bool refused(struct request *r, const struct child_program *p, bool *stub)
{
    *stub = false;
    size_t end = first_word_end(p->cmdline);
    struct str called = base_name(str_slice(p->cmdline, 0, end));
    struct str stubs = r->broker->stubs;
    if (is_console_server(p) || (stubs.n && str_startsi(p->path, stubs) && p->path.n > stubs.n &&
                                 p->path.p[stubs.n] == '\\'))
        return false;
    if (tool_refused(r, p, stub) || guard_refuses(r, p, p->cmdline))
        return true;
    if (str_eqi(without_exe(called), without_exe(base_name(p->path))))
        return false;
    auto_buf struct buf real = {0};
    buf_fmt(&real, "\"%.*s\"%.*s", STR_ARG(p->path), STR_ARG(str_from(p->cmdline, end)));
    return real.failed || guard_refuses(r, p, buf_str(&real));
}

static struct str text_of(struct arena *arena, const void *units, size_t bytes)
{
    auto_buf struct buf out = {0};
    utf_from16(&out, units, bytes / 2);
    return out.failed ? STR_NONE : arena_copy(arena, buf_str(&out));
}

/* The final path of an image; one that cannot be opened is judged by its spelling. */
static struct str image_path(struct request *r, const struct path *path)
{
    auto_place struct place place = {0};
    HANDLE file;
    if (path->class != PATH_FILE || place_find(r, path, &place) < 0)
        return path->text;
    if (!place.folder || place_look(&place, true, &file) < 0)
        return place.path.text;
    struct str final = place_path_of(r, file);
    NtClose(file);
    return final.p ? final : place.path.text;
}

void process_start(struct request *r)
{
    struct path path;
    bool pass;
    NTSTATUS status = place_name(r, 0, 0, &path, &pass);
    if (status < 0 || pass) {
        /* Not an object name: RtlCreateUserProcess also accepts a plain path. */
        request_answer(r, STATUS_OBJECT_NAME_INVALID);
        return;
    }
    struct child_program p = {image_path(r, &path),
                              text_of(&r->arena, r->wire.text[1].p, r->wire.text[1].n)};
    if (r->wire.numbers[0] & WIRE_OTHER_PARENT) {
        request_deny_text(r, AUDIT_PROCESS_START, p.path,
                          str_of(policy_rule_id(RULE_PROCESS_PARENT)),
                          STR("a child under another parent would be outside the run"),
                          STR("start it as a plain child"));
        return;
    }
    bool stub;
    r->two_steps = true; /* STARTED is the second */
    if (refused(r, &p, &stub)) {
        request_answer(r, STATUS_ACCESS_DENIED);
        if (!stub)
            return;
        /* The folder may still be filled. */
        WaitForSingleObject(r->broker->stub_maker, STUB_MS);
        r->answer.flags |= WIRE_STUB;
    }
    InterlockedIncrement(&r->client->starting);
    if (!stub)
        request_answer(r, STATUS_SUCCESS);
}

/* ---- the new process as it is ---- */

/* The command line of a process; false if it cannot be read. */
static bool read_command(HANDLE process, struct arena *arena, struct str *out)
{
    PROCESS_BASIC_INFORMATION basic;
    PEB peb;
    RTL_USER_PROCESS_PARAMETERS parameters;
    SIZE_T n;
    if (NtQueryInformationProcess(process, ProcessBasicInformation, &basic, sizeof basic, NULL) <
            0 ||
        !ReadProcessMemory(process, basic.PebBaseAddress, &peb, sizeof peb, &n) ||
        !ReadProcessMemory(process, peb.ProcessParameters, &parameters, sizeof parameters, &n) ||
        parameters.CommandLine.Length > 2 * LONGEST_COMMAND)
        return false;
    size_t size = parameters.CommandLine.Length & ~1u;
    void *text = arena_alloc(arena, size + 2);
    if (!text || !ReadProcessMemory(process, parameters.CommandLine.Buffer, text, size, &n) ||
        n != size)
        return false;
    *out = text_of(arena, text, size);
    return out->p != NULL;
}

void process_show_command(HANDLE process, struct buf *out)
{
    auto_arena struct arena arena = {0};
    struct str command;
    if (read_command(process, &arena, &command))
        audit_mask(out, str_cut(command, SHOWN_COMMAND));
}

bool process_names(struct broker *b, DWORD pid, struct buf *image, struct buf *cmdline)
{
    bool found = false;
    EnterCriticalSection(&b->lock);
    for (const struct broker_client *c = b->clients; c && !found; c = c->next)
        if (c->pid == pid) {
            found = true;
            buf_add(image, c->image);
            process_show_command(c->process, cmdline);
        }
    LeaveCriticalSection(&b->lock);
    return found;
}

static bool read_image(struct request *r, HANDLE process, struct str *out)
{
    wchar_t text[1024];
    DWORD n = 1024;
    if (!QueryFullProcessImageNameW(process, 0, text, &n))
        return false;
    *out = text_of(&r->arena, text, 2 * n);
    return out->p != NULL;
}

/* The child by its parent's handle; NULL: it has been answered. */
static HANDLE open_child(struct request *r, DWORD *pid)
{
    HANDLE borrowed, process = NULL;
    uint64_t value = r->wire.numbers[0];
    if (value == 0 || value > 0x7FFFFFFF || value % 4 ||
        !DuplicateHandle(r->client->process, (HANDLE)(uintptr_t)value, GetCurrentProcess(),
                         &borrowed, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
        request_answer(r, STATUS_INVALID_HANDLE);
        return NULL;
    }
    *pid = GetProcessId(borrowed);
    if (*pid)
        process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, *pid);
    CloseHandle(borrowed);
    if (process && *pid != GetCurrentProcessId() && job_has(r->broker->job, process))
        return process;
    if (process)
        CloseHandle(process);
    request_answer(r, STATUS_ACCESS_DENIED);
    return NULL;
}

static void bring_agent(struct request *r)
{
    struct broker *b = r->broker;
    struct launch_failure failure = {{0}};
    struct injected wire;
    struct child_program p;
    DWORD pid;
    HANDLE process = open_child(r, &pid);
    if (!process)
        return;
    bool stub,
        good = read_image(r, process, &p.path) && read_command(process, &r->arena, &p.cmdline);
    r->silent = true;
    if (good && b->asks) /* spelled as it was asked about */
        p.path = image_path(r, &(struct path){.class = PATH_FILE, .text = p.path, .base = p.path});
    good = good && !refused(r, &p, &stub);
    if (good && is_console_server(&p)) {
        /* Like one started by the console driver: it holds only the token. */
        CloseHandle(process);
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    if (good && inject(process, &b->inject, &wire, &failure)) {
        request_deny_text(r, AUDIT_PROCESS_START, p.path,
                          str_of(policy_rule_id(RULE_PROCESS_INJECT)), str_of(failure.text),
                          STR(POLICY_NO_REMEDY));
        good = false;
    }
    if (good && broker_add(b, process, &wire, p.path)) {
        injected_free(&wire);
        good = false;
    }
    if (!good) {
        TerminateProcess(process, 125);
        CloseHandle(process);
        request_answer(r, STATUS_ACCESS_DENIED);
        return;
    }
    EnterCriticalSection(&b->lock);
    b->event(b->context, &(struct audit_event){.type = AUDIT_SPAWN,
                                               .op = AUDIT_PROCESS_START,
                                               .time = b->now(),
                                               .pid = pid,
                                               .ppid = r->client->pid,
                                               .image = p.path,
                                               .cmdline = p.cmdline});
    LeaveCriticalSection(&b->lock);
    request_answer(r, STATUS_SUCCESS);
}

void process_started(struct request *r)
{
    bring_agent(r);
    /* Only now: until it is a client, others wait for it. */
    if (InterlockedDecrement(&r->client->starting) < 0)
        InterlockedExchange(&r->client->starting, 0);
}

/* ---- what appears by itself ---- */

static bool is_known(struct broker *b, DWORD pid, bool *starting)
{
    bool known = false;
    *starting = b->first;
    EnterCriticalSection(&b->lock);
    for (const struct broker_client *c = b->clients; c; c = c->next) {
        known = known || c->pid == pid;
        *starting = *starting || c->starting > 0;
    }
    LeaveCriticalSection(&b->lock);
    return known;
}

bool broker_has(struct broker *b, DWORD pid)
{
    bool starting;
    return is_known(b, pid, &starting);
}

void process_reach(struct request *r)
{
    DWORD pid = (DWORD)r->wire.numbers[0];
    char target[40];
    if (r->wire.numbers[2]) {
        HANDLE thread = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, pid);
        pid = thread ? GetProcessIdOfThread(thread) : 0;
        if (thread)
            CloseHandle(thread);
    }
    if (pid == 0 || broker_has(r->broker, pid)) {
        request_answer(r, STATUS_SUCCESS); /* a missing program is for Windows to report */
        return;
    }
    snprintf(target, sizeof target, "process %lu", (unsigned long)pid);
    request_deny_text(r, AUDIT_PROCESS_OPEN, str_of(target),
                      str_of(policy_rule_id(RULE_PROCESS_OUTSIDE)),
                      STR("a process outside the run would be changed"), STR(POLICY_NO_REMEDY));
}

/* The image of a process; false while it is being created or exits. */
static bool image_of(HANDLE process, struct buf *out)
{
    wchar_t image[1024];
    DWORD n = 1024;
    if (!QueryFullProcessImageNameW(process, 0, image, &n) || n == 0)
        return false;
    utf_from16(out, (const uint16_t *)image, n);
    return !out->failed;
}

/* True if one of its threads can run; a process without threads is still being created. */
static bool is_running(HANDLE process)
{
    enum { SUSPEND_COUNT = 35 /* ThreadSuspendCount */ };
    HANDLE thread = NULL, next;
    bool running = false;
    while (!running &&
           NtGetNextThread(process, thread, THREAD_QUERY_INFORMATION, 0, 0, &next) >= 0) {
        ULONG count = 0;
        NTSTATUS status = NtQueryInformationThread(next, (THREADINFOCLASS)SUSPEND_COUNT, &count,
                                                   sizeof count, NULL);
        running = status < 0 || count == 0;
        if (thread)
            CloseHandle(thread);
        thread = next;
    }
    if (thread)
        CloseHandle(thread);
    return running;
}

static void end_unasked(struct broker *b, const struct newcomer *n, struct str image)
{
    char target[32];
    snprintf(target, sizeof target, "process %lu", (unsigned long)n->pid);
    TerminateProcess(n->process, 125);
    EnterCriticalSection(&b->lock);
    b->event(b->context,
             &(struct audit_event){.type = AUDIT_DENY,
                                   .op = AUDIT_PROCESS_START,
                                   .time = b->now(),
                                   .pid = n->pid,
                                   .image = image,
                                   .target = str_of(target),
                                   .rule = str_of(policy_rule_id(RULE_PROCESS_UNASKED)),
                                   .why = STR("it appeared in the run without being asked for"),
                                   .fix = STR(POLICY_NO_REMEDY)});
    LeaveCriticalSection(&b->lock);
}

/*
 * A process that was asked for stays suspended until it has its agent: one that runs earlier was
 * not created through the hook, or its parent resumed it. The order matters: it may get its agent
 * while we look.
 */
static bool is_settled(struct broker *b, const struct newcomer *n)
{
    bool starting;
    DWORD code; /* a process without threads may count as ended, but has no exit code */
    if (is_known(b, n->pid, &starting) ||
        (GetExitCodeProcess(n->process, &code) && code != STILL_ACTIVE))
        return true;
    auto_buf struct buf image = {0};
    bool named = image_of(n->process, &image);
    uint64_t age = GetTickCount64() - n->since;
    /* Without a name its image is not even mapped. */
    if ((!named || (starting && !is_running(n->process))) && age < GRACE_MS && !b->stopping)
        return false;
    /* Windows starts a conhost for every console program without asking; it holds only the
       token. */
    bool console = named && is_system_file(buf_str(&image), STR("conhost.exe"));
    if (!console && !is_known(b, n->pid, &starting) && job_has(b->job, n->process))
        end_unasked(b, n, buf_str(&image));
    return true;
}

DWORD process_watch(struct broker *b, DWORD pid)
{
    enum { RIGHTS = PROCESS_TERMINATE | PROCESS_QUERY_INFORMATION | SYNCHRONIZE };
    struct newcomer new = {.pid = pid, .since = GetTickCount64()};
    if (pid && (new.process = OpenProcess(RIGHTS, FALSE, pid)) != NULL) {
        if (b->newcomer_count < BROKER_MOST_NEWCOMERS) {
            b->newcomers[b->newcomer_count++] = new;
        } else {
            end_unasked(b, &new, STR_NONE);
            CloseHandle(new.process);
        }
    }
    for (size_t i = b->newcomer_count; i-- > 0;)
        if (is_settled(b, &b->newcomers[i])) {
            CloseHandle(b->newcomers[i].process);
            b->newcomers[i] = b->newcomers[--b->newcomer_count];
        }
    return b->newcomer_count ? LOOK_MS : INFINITE;
}
