/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions while a command runs, through --ask-pipe. Each kind is asked about and answered each
 * way, with the file system or the peer as the witness. The tree never answers a question of its
 * own, and nobody waits for a call that waits.
 */
#include <winsock2.h>

#include "person.h"

/* Each kind of change, allowed and denied: the effect is there or it is not. */
static void test_kinds(void)
{
    static const struct {
        const char *what, *line, *op, *effect, *options;
    } rows[] = {
        {"a new file", "%P% create ..\\out\\new", "file.create", "+out\\new", NULL},
        {"a new folder", "%P% mkdir ..\\out\\new", "file.create", "+out\\new", NULL},
        {"an existing file, written", "%P% write ..\\out\\secret", "file.write",
         "=out\\secret|xecret", NULL},
        {"an existing file, overwritten", "%P% overwrite ..\\out\\secret", "file.write",
         "=out\\secret|x", NULL},
        {"an existing file, by cmd", "cmd /c echo new> ..\\out\\secret", "file.write",
         "=out\\secret|new", NULL},
        {"deleted", "%P% delete ..\\out\\secret", "file.delete", "-out\\secret", NULL},
        {"deleted by cmd", "cmd /c del ..\\out\\secret", "file.delete", "-out\\secret", NULL},
        {"deleted on close", "%P% delete-on-close ..\\out\\secret", "file.delete", "-out\\secret",
         NULL},
        {"deleted by its name", "%P% nt-delete ..\\out\\secret", "file.delete", "-out\\secret",
         NULL},
        {"a folder removed", "%P% rmdir ..\\out\\empty", "file.delete", "-out\\empty", NULL},
        {"renamed outside", "%P% rename ..\\out\\secret ..\\out\\new", "file.rename", "+out\\new",
         NULL},
        {"made read-only", "%P% read-only ..\\out\\secret", "file.attributes", "!out\\secret",
         NULL},
        {"in read-only mode", "%P% write file", "file.write", "=ws\\file|xld", "--mode read-only"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0}, said = {0};
        struct person yes = {.first = ONCE, .others = ONCE}, no = {.first = NO, .others = NO};
        fresh();
        if (strstr(rows[i].options ? rows[i].options : "", "read-only"))
            DeleteFileA(path_of("ws\\hard"));
        bool before = holds(rows[i].effect);
        asked(&no, rows[i].options, rows[i].line, &said);
        bool denied = !holds(rows[i].effect), refused = audit_has(rows[i].op, "\"choice\":\"no\"");
        asked(&yes, rows[i].options, rows[i].line, &out);
        bool done = holds(rows[i].effect);
        if (!ok(!before && denied && refused && done && yes.asked >= 1 && no.asked >= 1 &&
                    audit_has(rows[i].op, "\"choice\":\"once\"") &&
                    audit_has("\"by\":\"pipe\"", rows[i].op) && !has(&out, "sandbox denied"),
                "%s: asked; no denies it, once allows it", rows[i].what)) {
            note("before %d, denied %d, in the audit %d, done %d; asked %u and %u", before, denied,
                 refused, done, no.asked, yes.asked);
            note_output(&out);
            note_output(&yes.lines);
        }
        buf_free(&yes.lines);
        buf_free(&no.lines);
    }
}

/* Two new files and the first again: how often it is asked, and what is there then. */
static void test_scopes(void)
{
    static const struct {
        const char *what, *first, *others;
        unsigned asked, errors;
        bool a, b;
        const char *answer;
    } rows[] = {
        {"once each", ONCE, ONCE, 3, 0, true, true, "\"scope\":\"call\""},
        {"this path for the run", RUN, NO, 2, 0, true, false, "\"scope\":\"path\""},
        {"the folder for the run", FOLDER, NO, 1, 0, true, true, "\"scope\":\"folder\""},
        {"no, then once", NO, ONCE, 3, 0, true, true, "\"choice\":\"no\""},
        {"never", NEVER, NO, 2, 0, false, false, "\"choice\":\"never\""},
        {"after two wrong lines", "!" ONCE, NO, 3, 2, true, false, "\"choice\":\"once\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        struct person p = {.first = rows[i].first, .others = rows[i].others};
        fresh();
        asked(&p, NULL,
              "cmd /c \"%P% write ..\\out\\a & %P% write ..\\out\\b & %P% write ..\\out\\a\"",
              &out);
        if (!ok(p.asked == rows[i].asked && exists("out\\a") == rows[i].a &&
                    exists("out\\b") == rows[i].b && p.errors == rows[i].errors &&
                    audit_has(rows[i].answer, "roots.outside"),
                "answered %s", rows[i].what)) {
            note("asked %u times; a %d, b %d, errors %u", p.asked, exists("out\\a"),
                 exists("out\\b"), p.errors);
            note_output(&out);
            note_output(&p.lines);
        }
        buf_free(&p.lines);
    }
}

/* What prints something when it works: reads, connections, names, tools, commands. */
static void test_others(const char *port)
{
    char tcp[80], tcp_ex[80], name[80];
    snprintf(tcp, sizeof tcp, "%%P%% tcp 127.0.0.1 %s", port);
    snprintf(tcp_ex, sizeof tcp_ex, "%%P%% tcp-ex 127.0.0.1 %s", port);
    snprintf(name, sizeof name, "%%P%% ask-name localhost:%s", port);
    const struct {
        const char *what, *line, *op, *works, *fails, *options;
        unsigned asked;
    } rows[] = {
        {"a denied read", "%P% read ..\\out\\words", "file.read", "plain text", "error 5",
         "--deny-read ..\\out", 1},
        {"a denied read by cmd", "cmd /c type ..\\out\\words", "file.read", "plain text", "denied",
         "--deny-read ..\\out", 1},
        {"a connection", tcp, "net.connect", "hello", "error", NULL, 1},
        {"a server on this machine through the proxy", name, "net.connect", " 200 ",
         "sandbox denied", NULL, 1},
        {"a name at the proxy", "%P% ask-name no-such-name.invalid", "net.connect",
         "host not found", "sandbox denied", NULL, 1},
        {"a tool", "cmd /c ..\\out\\ssh.exe read file", "process.start", "old", "tool.ssh", NULL,
         1},
        {"a tool as the command", "..\\out\\ssh.exe read file", "process.start", "old", "tool.ssh",
         NULL, 1},
        {"a command about which the guard asks",
         "%P% kill-child 2000 ..\\out\\perl.exe -e system($c)", "guard", "there is no action",
         "opaque.text", NULL, 1},
        {"such a command as the first one", "..\\out\\perl.exe -e \"$c='x'; system($c)\"", "guard",
         "there is no action", "opaque.text", NULL, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0}, said = {0};
        struct person yes = {.first = ONCE, .others = NO}, no = {.first = NO, .others = NO};
        fresh();
        put("out\\words", "plain text");
        CopyFileA(probe, path_of("out\\ssh.exe"), FALSE);
        CopyFileA(probe, path_of("out\\perl.exe"), FALSE);
        asked(&no, rows[i].options, rows[i].line, &said);
        bool refused = audit_has(rows[i].op, "\"choice\":\"no\"");
        asked(&yes, rows[i].options, rows[i].line, &out);
        if (!ok(has(&said, rows[i].fails) && !has(&said, rows[i].works) && refused &&
                    has(&out, rows[i].works) && !has(&out, "sandbox denied") &&
                    yes.asked == rows[i].asked && no.asked >= 1 &&
                    audit_has(rows[i].op, "\"choice\":\"once\""),
                "%s: asked; no denies it, once allows it", rows[i].what)) {
            note("refused in the audit %d; asked %u and %u", refused, no.asked, yes.asked);
            note_output(&said);
            note_output(&out);
            note_output(&yes.lines);
        }
        buf_free(&yes.lines);
        buf_free(&no.lines);
    }
}

/* A script of the folder as the first command: it is read, so that its lines are asked about before
   it starts. */
static void test_script(void)
{
    auto_buf struct buf out = {0}, said = {0};
    struct person yes = {.first = ONCE, .others = ONCE}, no = {.first = NO, .others = NO};
    fresh();
    CopyFileA(probe, path_of("out\\perl.exe"), FALSE);
    put("ws\\job.cmd", "@echo x> began\r\n@..\\out\\perl.exe -e \"$c='x'; system($c)\"\r\n");
    int code = asked(&no, NULL, "cmd /c job.cmd", &said);
    ok(code == 126 && no.asked == 1 && has(&said, "opaque.text") && !exists("ws\\began"),
       "a script about which the guard asks: no, and it does not begin (%d)", code);
    asked(&yes, NULL, "cmd /c job.cmd", &out);
    ok(yes.asked == 2 && exists("ws\\began") && has(&out, "there is no action"),
       "once: it begins, and the program in it is asked about, too");
    put("ws\\job.cmd", "@echo x> began\r\n");
    struct person control = {.first = NO, .others = NO};
    DeleteFileA(path_of("ws\\began"));
    code = asked(&control, NULL, "cmd /c job.cmd", NULL);
    ok(code == 0 && control.asked == 0 && exists("ws\\began"),
       "control: a script without such a line is not asked about");
    buf_free(&yes.lines);
    buf_free(&no.lines);
    buf_free(&control.lines);
}

/* A question and the events about a name at the proxy say which program connects. */
static void test_caller(void)
{
    auto_buf struct buf out = {0};
    struct person p = {.first = NO, .others = NO};
    fresh();
    asked(&p, NULL, "cmd /c \"%P% ask-name no-such-name.invalid\"", &out);
    if (!ok(p.asked == 1 && has(&p.lines, "probe-ask.exe\",\"cmdline\":") &&
                has(&p.lines, "ask-name no-such-name.invalid") && has(&p.lines, "\"pid\":") &&
                audit_has("probe-ask.exe", "net.connect"),
            "a name at the proxy: the question names the program and its command line"))
        note_output(&p.lines);
    buf_free(&p.lines);
}

/* Never asked: what no option allows. */
static void test_never(void)
{
    static const char *const rows[][3] = {
        {"in .git", "%P% write repo\\.git\\hooks\\new", "-ws\\repo\\.git\\hooks\\new"},
        {"a stream", "%P% write file:stream", "-ws\\file:stream"},
        {"a protected name outside", "%P% write ..\\out\\.mcp.json", "-out\\.mcp.json"},
        {"a file with another name outside", "%P% write hard", "=out\\file|old"},
        {"a second name of a file outside", "%P% link second ..\\out\\secret", "-ws\\second"},
        {"a name outside for a file inside", "%P% link ..\\out\\second file", "-out\\second"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        struct person p = {.first = ONCE, .others = ONCE};
        fresh();
        asked(&p, NULL, rows[i][1], &out);
        if (!ok(p.asked == 0 && has(&out, "sandbox denied") && holds(rows[i][2]), "never asked: %s",
                rows[i][0])) {
            note_output(&out);
            note_output(&p.lines);
        }
        buf_free(&p.lines);
    }
}

static void test_itself(void)
{
    auto_buf struct buf out = {0}, line = {0};
    DWORD n;
    struct person p = {.first = "", .others = ""};
    fresh();
    /* The name of the next pipe is known: there is one for each person. */
    HANDLE thread = person_start(&p);
    buf_fmt(&line, "--quiet --ask-timeout 3 --ask-pipe %s", pipe_name);
    auto_buf struct buf command = {0};
    buf_fmt(&command, "%%P%% ask-itself ..\\out %s", pipe_name);
    confined(buf_cstr(&line), buf_cstr(&command), &out);
    WaitForSingleObject(thread, 10000);
    CloseHandle(thread);
    if (!ok(p.asked == 1 && has(&out, "0 ways") && has(&out, "0 made") && !exists("out\\1") &&
                p.timed_out == 1 && p.errors == 0,
            "the tree cannot open the pipe, nor answer a question of its own"))
        note_output(&out);
    /* A program outside opens such a pipe, and what it says arrives. */
    struct person outside = {.first = "", .others = ""};
    thread = person_start(&outside);
    HANDLE pipe =
        CreateFileA(pipe_name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    WriteFile(pipe, "hello\n", 6, &n, NULL);
    FlushFileBuffers(pipe); /* until it is read */
    CloseHandle(pipe);
    WaitForSingleObject(thread, 10000);
    CloseHandle(thread);
    ok(pipe != INVALID_HANDLE_VALUE && has(&outside.lines, "hello"),
       "control: outside, such a pipe can be opened");
    buf_free(&p.lines);
    buf_free(&outside.lines);
}

/* Another run that guessed the name of the pipe and is quicker than the host answers nothing. */
static void test_server(void)
{
    static const struct {
        const char *what;
        bool confined;
    } rows[] = {{"control: a pipe that a program outside serves is taken", false},
                {"a pipe that a program of another run serves is not", true}};
    for (size_t i = 0; i < 2; i++) {
        auto_buf struct buf out = {0}, served = {0};
        char line[128], options[128];
        fresh();
        snprintf(line, sizeof line, "%s ask-serve \\\\.\\pipe\\guessed-%lu-%zu", "%P%",
                 GetCurrentProcessId(), i);
        snprintf(options, sizeof options, "--quiet --ask-timeout 5 --ask-pipe guessed-%lu-%zu",
                 GetCurrentProcessId(), i);
        struct command server =
            rows[i].confined ? confined_start("--quiet", line) : command_start(line);
        for (int k = 0; k < 1000 && !exists("ws\\serves"); k++)
            Sleep(10);
        bool serves = exists("ws\\serves"), plain = holds("=ws\\serves|plain");
        int code = confined(options, "%P% create ..\\out\\new", &out);
        DeleteFileA(path_of("ws\\serves"));
        command_end(&server, 20000, &served);
        if (rows[i].confined && plain)
            skip(rows[i].what, "the tokens of this Wine are not restricted");
        else if (!ok(serves && exists("out\\new") == !rows[i].confined &&
                         (code == 125) == rows[i].confined &&
                         has(&out, "nobody serves a pipe") == rows[i].confined,
                     "%s", rows[i].what)) {
            note("serves %d, code %d", serves, code);
            note_output(&out);
            note_output(&served);
        }
    }
}

static void test_waiting(void)
{
    enum { MANY = 1000 };
    auto_buf struct buf out = {0}, few = {0};
    struct person p = {.others = ONCE, .until = MANY, .until_here = "ws\\served"};
    fresh();
    uint64_t begin = GetTickCount64();
    asked(&p, "--quiet --ask-timeout 120", "%P% ask-many ..\\out 1000", &out);
    if (!ok(p.asked == MANY && has(&out, "1000 of 1000") && exists("ws\\served") &&
                exists("out\\1000"),
            "1,000 calls wait while another thread of the process writes: all are answered (%u ms)",
            (unsigned)(GetTickCount64() - begin))) {
        note("asked %u, errors %u", p.asked, p.errors);
        note_output(&out);
    }
    buf_free(&p.lines);
    struct person nobody = {.first = "", .others = ""};
    fresh();
    begin = GetTickCount64();
    asked(&nobody, "--quiet --ask-timeout 1", "%P% ask-many ..\\out 20", &few);
    unsigned ms = (unsigned)(GetTickCount64() - begin);
    ok(nobody.asked == 20 && nobody.timed_out == 20 && has(&few, "0 of 20") && ms < 15000 &&
           audit_has("\"by\":\"time-out\"", "file.create"),
       "nobody answers: no after --ask-timeout (%u ms)", ms);
    buf_free(&nobody.lines);
}

/* The file behind the handle is exchanged while the question is open. */
static void test_swapped(void)
{
    for (int swaps = 0; swaps < 2; swaps++) {
        auto_buf struct buf out = {0};
        struct person p = {.others = ONCE, .until = 1, .until_here = "ws\\swapped"};
        fresh();
        DeleteFileA(path_of("ws\\swapped"));
        DeleteFileA(path_of("ws\\away"));
        DeleteFileA(path_of("ws\\own"));
        int code = asked(
            &p, "--quiet --ask-timeout 5",
            swaps ? "%P% ask-swap ..\\out\\new swap" : "%P% ask-swap ..\\out\\new keep", &out);
        if (swaps && has(&out, "did not come back"))
            skip("another file behind the handle", "the handle has another number");
        else if (!ok(has(&out, "ready") &&
                         (swaps ? code != 0 && p.asked == 2 && !exists("out\\new")
                                : code == 0 && p.asked == 1 && exists("out\\new")),
                     swaps ? "another file behind the handle by then is another question"
                           : "control: a file that is renamed by its handle")) {
            note("code %d, asked %u", code, p.asked);
            note_output(&out);
        }
        buf_free(&p.lines);
    }
}

static void test_gone(void)
{
    auto_buf struct buf out = {0}, ended = {0}, timed = {0}, killed = {0};
    struct person p = {.first = ONCE, .others = ONCE, .hangs_up = true};
    fresh();
    asked(&p, "--quiet", "%P% create ..\\out\\new", &out);
    ok(p.asked == 1 && !exists("out\\new") && audit_has("\"by\":\"closed\"", "file.create"),
       "whoever answers has gone: no");
    struct person thread = {.first = "", .others = ONCE};
    fresh();
    asked(&thread, "--quiet", "%P% ask-ended ..\\out", &ended);
    if (!ok(thread.asked == 2 && thread.closed == 1 && !exists("out\\1") && exists("out\\2"),
            "a thread that ends takes its question away"))
        note_output(&thread.lines);
    struct person process = {.first = "", .others = ONCE};
    fresh();
    asked(&process, "--quiet", "%P% kill-child 1500 %P% create ..\\out\\new", &killed);
    ok(process.asked == 1 && process.closed == 1 && !exists("out\\new"),
       "a process that is killed takes its question away");
    struct person late = {.first = "", .others = ""};
    fresh();
    uint64_t begin = GetTickCount64();
    int code = asked(&late, "--quiet --timeout 2", "%P% create ..\\out\\new", &timed);
    ok(code == 124 && late.asked == 1 && !exists("out\\new") && GetTickCount64() - begin < 20000,
       "--timeout ends a run that waits");
    struct person *all[] = {&p, &thread, &process, &late};
    for (size_t i = 0; i < 4; i++)
        buf_free(&all[i]->lines);
}

static void test_options(void)
{
    static const char *const rows[][2] = {
        {"--ask-pipe no-such-pipe-here", "nobody serves a pipe"},
        {"--ask-pipe \\\\host\\pipe\\x", "nobody serves a pipe"},
        {"--ask-pipe a --ask", "only one can answer"},
        {"--ask-fd 3,4", "--ask-pipe"},
        {"--ask-timeout 5", "belongs to --ask"},
        {"--ask-pipe a --ask-timeout 0", "1 to 86400"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        fresh();
        int code = confined(rows[i][0], "%P% write new", &out);
        if (!ok(code == 125 && has(&out, rows[i][1]) && !exists("ws\\new"), "125: %s", rows[i][0]))
            note_output(&out);
    }
}

static void test_no_console(void)
{
    auto_buf struct buf out = {0};
    fresh();
    command_flags = DETACHED_PROCESS;
    confined("--ask", "%P% create ..\\out\\new", &out);
    command_flags = 0;
    const char *said = strstr(buf_cstr(&out), "there is no console");
    if (!ok(said && !strstr(said + 1, "there is no console") &&
                has(&out, "sandbox denied: create") && !exists("out\\new"),
            "no console: denied as ever, and said once"))
        note_output(&out);
}

/* Says hello to whoever connects. */
static DWORD WINAPI greet(void *context)
{
    SOCKET s = (SOCKET)context, client;
    while ((client = accept(s, NULL, NULL)) != INVALID_SOCKET) {
        send(client, "hello", 5, 0);
        closesocket(client);
    }
    return 0;
}

int main(void)
{
    WSADATA data;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int size = sizeof here;
    char port[8];
    harness_make("ask");
    WSAStartup(MAKEWORD(2, 2), &data);
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
    bind(s, (struct sockaddr *)&here, size);
    listen(s, 8);
    getsockname(s, (struct sockaddr *)&here, &size);
    snprintf(port, sizeof port, "%u", ntohs(here.sin_port));
    CreateThread(NULL, 0, greet, (void *)s, 0, NULL);
    test_options();
    test_no_console();
    test_kinds();
    test_scopes();
    test_others(port);
    test_script();
    test_caller();
    test_never();
    test_itself();
    test_server();
    test_swapped();
    test_gone();
    test_waiting();
    return harness_done();
}
