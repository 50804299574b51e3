/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the tree starts, judged by guard and tool rules beforehand. The kernel reads path
 * and arguments again afterwards, so the program that really started is compared at its first
 * brokered call (the C library makes one before main) and judged again if it differs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/jsonl.h"
#include "base/sha256.h"
#include "broker/linux/broker.h"
#include "guard/refusal.h"
#include "launch/linux/process.h"

/* The kernel's own limit on all strings of an exec, including their pointers. */
enum { LONGEST_ARGUMENTS = 6 * 1024 * 1024, PAGE = 4096 };

/* A NULL-terminated list of pointers in the caller's memory, read page by page like strings. */
static int read_pointers(const struct request *r, uint64_t address, struct buf *out)
{
    for (;;) {
        uint64_t piece[PAGE / 8];
        size_t n = (PAGE - address % PAGE) / 8;
        n = n ? n : 1; /* across two pages */
        int rc = request_read(r, address, piece, 8 * n);
        if (rc)
            return rc;
        for (size_t i = 0; i < n; i++) {
            if (!piece[i])
                return out->failed ? -ENOMEM : 0;
            buf_add(out, (struct str){(const char *)&piece[i], 8});
        }
        address += 8 * n;
        if (out->n > LONGEST_ARGUMENTS)
            return -E2BIG;
    }
}

/* The caller's argument list, copied once, with room for EXTRA_WORDS more. Returns a negative errno
   on failure. */
enum { EXTRA_WORDS = 4 };
static int read_arguments(struct broker *b, const struct request *r, uint64_t address,
                          struct arena *arena, struct str **out, size_t *count)
{
    auto_buf struct buf pointers = {0};
    int rc = address ? read_pointers(r, address, &pointers) : 0;
    size_t total = pointers.n;
    *count = 0;
    *out = rc ? NULL : ARENA_ARRAY(arena, pointers.n / 8 + EXTRA_WORDS, struct str);
    if (!*out)
        return rc ? rc : -ENOMEM;
    for (size_t at = 0; at < pointers.n; at += 8) {
        uint64_t pointer;
        memcpy(&pointer, pointers.p + at, sizeof pointer);
        ssize_t n = request_read_string(r, pointer, b->argument, sizeof b->argument);
        if (n < 0)
            return n == -ENAMETOOLONG ? -E2BIG : (int)n;
        total += (size_t)n + 1;
        if (total > LONGEST_ARGUMENTS)
            return -E2BIG;
        struct str word = arena_copy(arena, (struct str){b->argument, (size_t)n});
        if (!word.p)
            return -ENOMEM;
        (*out)[(*count)++] = word;
    }
    return 0;
}

static struct str base_name(struct str path)
{
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    return str_from(path, at);
}

/* Wine's console host (wine64 …\\conhost.exe --unix --width 80 --server 0x38) starts nothing. With
   any other argument it could, so the guard decides. */
static bool is_console_server(const struct str *words, size_t count)
{
    static const struct str known[] = {STR("--server"), STR("--unix"),   STR("--headless"),
                                       STR("--width"),  STR("--height"), STR("--signal")};
    static const struct str loaders[] = {STR("wine"), STR("wine64"), STR("wine-preloader"),
                                         STR("wine64-preloader")};
    bool serves = false, loads = false;
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        loads = loads || (count && str_eq(base_name(words[0]), loaders[i]));
    if (!loads || count < 3 || !str_endsi(words[1], STR("\\conhost.exe")))
        return false;
    for (size_t i = 2; i < count; i++) {
        bool harmless = words[i].n && ascii_is_digit(words[i].p[0]);
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            harmless = harmless || str_eq(words[i], known[j]);
        if (!harmless)
            return false;
        serves = serves || str_eq(words[i], known[0]);
    }
    return serves;
}

/* The same command under another name of its program is the same question. */
static enum broker_ruling ask_command(struct broker *b, struct request *r,
                                      const struct guard_finding *f, struct str program,
                                      const struct str *argv, size_t count, struct str target,
                                      struct str fix)
{
    auto_buf struct buf words = {0}, name = {0}, spelled = {0}, command = {0};
    process_spell(&spelled, &program, 1);
    if (count > 1) {
        buf_char(&spelled, ' ');
        process_spell(&spelled, argv + 1, count - 1);
    }
    audit_mask(&command, buf_str(&spelled));
    buf_fmt(&words, "%zu %.*s", program.n, STR_ARG(program));
    for (size_t i = 1; i < count; i++)
        buf_fmt(&words, "%zu %.*s", argv[i].n, STR_ARG(argv[i]));
    buf_fmt(&name, "%.*s ", STR_ARG(f->id));
    sha256_hex(&name, buf_str(&words));
    if (words.failed || name.failed)
        return BROKER_DENIES;
    return broker_ask_rule(b, r,
                           &(struct ask_subject){.kind = ASK_COMMAND,
                                                 .op = AUDIT_GUARD,
                                                 .target = target,
                                                 .command = buf_str(&command),
                                                 .name = buf_str(&name),
                                                 .rule = f->id,
                                                 .why = f->why,
                                                 .fix = fix},
                           NULL);
}

/* Reports what the guard found; true if the program must not start. */
static bool guard_refuses(struct broker *b, struct request *r, struct str program,
                          const struct str *argv, size_t count)
{
    struct guard_question question = {
        .argv = argv, .argc = count, .policy = b->policy, .cwd = STR_NONE, .confined = true};
    struct guard_answer answer;
    char cwd[PATH_MAX];
    if (!b->guard || is_console_server(argv, count))
        return false;
    if (resolve_folder_text(r, AT_FDCWD, cwd, sizeof cwd) && request_alive(r))
        question.cwd = str_of(cwd);
    if (guard_check(b->guard, &question, &answer))
        return true;
    if (answer.verdict == CORDON_ALLOW)
        return false;
    bool strict = policy_settings_of(b->policy)->strict;
    bool deny = answer.verdict == CORDON_DENY || strict;
    auto_buf struct buf target = {0}, fix = {0};
    const struct guard_finding *f = guard_refusal(&answer, b->policy, &target, &fix);
    /* Files outside are asked about one by one, when they are changed. */
    if (!deny && b->asks.desk && !(f && f->rule == GUARD_DESTROY_OUTSIDE)) {
        enum broker_ruling ruling =
            f ? ask_command(b, r, f, program, argv, count, buf_str(&target), buf_str(&fix))
              : BROKER_DENIES;
        if (ruling != BROKER_DENIES)
            return ruling == BROKER_WAITS;
        deny = true;
    }
    if (f)
        broker_report_text(b, r, AUDIT_GUARD, buf_str(&target), deny ? AUDIT_DENY : AUDIT_ASK,
                           f->id, f->why, buf_str(&fix));
    return deny;
}

static bool tool_refused(struct broker *b, struct request *r, struct str path, struct str name,
                         struct str original, const struct str *words, size_t count, bool said)
{
    struct policy_program program = {.name = name,
                                     .original = original,
                                     .path = {.class = PATH_FILE, .text = path, .base = path},
                                     .seen = true};
    struct policy_answer answer = {0};
    policy_tool_decide(b->policy, &program, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return false;
    auto_buf struct buf why = {0}, fix = {0}, spelled = {0}, command = {0}, all = {0}, exact = {0};
    policy_tool_explain(b->policy, &program, &answer, &why, &fix);
    if (b->asks.desk) {
        /* The command is cut and masked for people. */
        for (size_t i = 0; i < count; i++) {
            buf_fmt(&all, "%zu ", words[i].n);
            buf_add(&all, words[i]);
        }
        sha256_hex(&exact, buf_str(&all));
        process_spell(&spelled, words, count);
        audit_mask(&command, buf_str(&spelled));
    }
    struct ask_subject subject = {.kind = ASK_TOOL,
                                  .op = AUDIT_PROCESS_START,
                                  .target = path,
                                  .command = buf_str(&command),
                                  .exact = buf_str(&exact),
                                  .name = str_of(policy_rule_id(answer.rule)),
                                  .rule = str_of(policy_rule_id(answer.rule)),
                                  .why = buf_str(&why),
                                  .fix = buf_str(&fix)};
    enum broker_ruling ruling = ask_can_lift(ASK_TOOL, answer.rule) && !all.failed
                                    ? broker_ask_rule(b, r, &subject, NULL)
                                    : BROKER_DENIES;
    if (ruling != BROKER_DENIES)
        return ruling == BROKER_WAITS;
    char image[PATH_MAX];
    b->event(b->context, &(struct audit_event){.type = AUDIT_DENY,
                                               .op = AUDIT_PROCESS_START,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = path,
                                               .verdict = CORDON_DENY,
                                               .rule = subject.rule,
                                               .why = subject.why,
                                               .fix = subject.fix,
                                               .said = said});
    return true;
}

/* True if what the caller's child writes to stderr appears where the summary will. */
static bool shares_stderr(const struct request *r)
{
    struct stat here, there;
    int fd = request_descriptor(r, STDERR_FILENO);
    bool same = fd >= 0 && fstat(fd, &there) == 0 && fstat(STDERR_FILENO, &here) == 0 &&
                here.st_dev == there.st_dev && here.st_ino == there.st_ino &&
                !S_ISDIR(here.st_mode);
    if (fd >= 0)
        close(fd);
    return same;
}

/* True for a script in the stub folder, which nothing in the tree can change. */
static bool is_stub(const struct broker *b, struct str path)
{
    return path.n > b->stubs.n + 1 && path_is_below(PATH_POSIX, b->stubs, path);
}

/* The index of the argument that names the program on a loader's command line; 0 if there is
   none. */
static size_t loaded_program(struct str path, bool is_loader, const struct str *words, size_t count)
{
    static const char *const with_value[] = {
        "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};
    struct str name = base_name(path);
    if (!is_loader && !str_starts(name, STR("ld-linux")) && !str_starts(name, STR("ld-musl")) &&
        !str_starts(name, STR("ld.so")) && !str_starts(name, STR("ld-2.")))
        return 0;
    for (size_t i = 1; i < count; i++) {
        if (!str_starts(words[i], STR("--")))
            return i;
        for (size_t j = 0; j < sizeof with_value / sizeof *with_value; j++)
            if (str_eq(words[i], str_of(with_value[j]))) {
                i++;
                break;
            }
    }
    return 0;
}

static void report_unnamed(struct broker *b, struct request *r, struct str called)
{
    broker_report_text(b, r, AUDIT_PROCESS_START, called, AUDIT_DENY,
                       str_of(policy_rule_id(RULE_TOOL_UNNAMED)),
                       STR("a program in memory, or one that was deleted, cannot be judged"),
                       STR("write it to a file in a root and start that"));
}

/* Reports and returns true if the program at this final path must not run with these arguments. */
static bool refused(struct broker *b, struct request *r, struct str path, struct str *words,
                    size_t count)
{
    struct str called = words[0];
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%.*s", STR_ARG(path));
    struct str original = tool_original(b, text);
    bool is_loader = str_eq(original, STR(BROKER_LOADER));
    size_t program = loaded_program(path, is_loader, words, count);
    if (program) {
        struct resolved where = {.parent = -1};
        char given[PATH_MAX], loaded[PATH_MAX];
        snprintf(given, sizeof given, "%.*s", STR_ARG(words[program]));
        bool found = resolve(r, AT_FDCWD, given, true, &where) == 0;
        snprintf(loaded, sizeof loaded, "%s", found ? where.path : given);
        bool named = found && where.exists && !where.descriptor;
        resolved_close(&where);
        if (!named) {
            report_unnamed(b, r, words[program]);
            return true;
        }
        if (refused(b, r, str_of(loaded), words + program, count - program))
            return true;
    }
    /* The file decides, not the name given by the caller; but many files have two names. */
    words[0] = path;
    bool no =
        tool_refused(b, r, path, called, is_loader ? STR_NONE : original, words, count, false) ||
        guard_refuses(b, r, path, words, count);
    words[0] = called;
    if (!no && !str_eq(base_name(called), base_name(path)))
        no = guard_refuses(b, r, path, words, count);
    return no;
}

/* FNV-1a of a command line as /proc shows it: every argument ends in a zero byte. */
static uint64_t hash_bytes(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * 0x100000001B3;
    return hash;
}

#define HASH_START 0xCBF29CE484222325u

static uint64_t hash_words(const struct str *words, size_t count)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < count; i++)
        hash = hash_bytes(hash_bytes(hash, words[i]), (struct str){"", 1});
    return hash;
}

static bool image_of(pid_t process, struct stat *st, char *path, size_t capacity)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
    ssize_t n = path ? readlink(link, path, capacity - 1) : 0;
    if (n < 0 || stat(link, st))
        return false;
    if (path)
        path[n] = '\0';
    return true;
}

/* Where the program's stack begins, which changes on exec; 0 if it is hidden. One thread may make a
   call while another is in the middle of an exec. */
static uint64_t stack_of(pid_t process)
{
    static const int field = PROCESS_STACK;
    uint64_t stack;
    return process_stat(process, &field, 1, &stack) ? stack : 0;
}

/* The calling thread's process and its parent; *alone: it has no other thread, so that both have one
   number and nobody else can make it start a program. False if it is gone. */
static bool find_caller(const struct request *r, struct request_status *out, bool *alone)
{
    static const int fields[] = {PROCESS_PARENT, PROCESS_THREADS};
    uint64_t numbers[2];
    *alone = process_stat(r->pid, fields, 2, numbers) && numbers[1] == 1;
    if (!*alone)
        return request_status(r, out);
    *out = (struct request_status){.process = r->pid, .parent = (pid_t)numbers[0]};
    return request_alive(r);
}

/* Records what was judged; false if no room is left even after dropping dead processes. */
static bool expect(struct broker *b, pid_t process, bool alone, pid_t thread,
                   const struct stat *program, const struct str *words, size_t count)
{
    struct stat before;
    if (!image_of(process, &before, NULL, 0))
        return false;
    uint64_t stack = alone ? 0 : stack_of(process);
    if (b->expected_count == BROKER_MOST_EXPECTED)
        for (size_t i = b->expected_count; i-- > 0;)
            if (kill(b->expected[i].process, 0))
                b->expected[i] = b->expected[--b->expected_count];
    size_t at = 0;
    while (at < b->expected_count && b->expected[at].process != process)
        at++;
    if (at == BROKER_MOST_EXPECTED)
        return false;
    if (at == b->expected_count)
        b->expected_count++;
    b->expected[at] = (struct broker_expected){
        process,       program->st_dev,          program->st_ino, before.st_dev,
        before.st_ino, hash_words(words, count), thread,          stack};
    return true;
}

/* /proc/PID/cmdline. */
static bool read_cmdline(pid_t process, struct buf *out)
{
    enum { FIRST = 1000, PIECE = 65536 }; /* most are short, and new memory is not free */
    char path[64];
    size_t piece = FIRST;
    ssize_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    buf_reserve(out, 2 * FIRST); /* the second read finds the end */
    while (out->n <= LONGEST_ARGUMENTS && buf_reserve(out, piece) &&
           (n = read(fd, out->p + out->n, piece)) > 0) {
        out->n += (size_t)n;
        piece = out->n < FIRST ? FIRST : PIECE;
    }
    close(fd);
    return n == 0 && out->n > 0 && out->p[out->n - 1] == '\0';
}

static struct str *split_words(struct str line, struct arena *arena, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < line.n; i++)
        *count += line.p[i] == '\0';
    struct str *words = ARENA_ARRAY(arena, *count, struct str);
    for (size_t i = 0, at = 0; words && i < *count; i++) {
        words[i] = str_of(line.p + at);
        at += words[i].n + 1;
    }
    return words;
}

static bool is_as_judged(struct broker *b, struct request *r, const struct broker_expected *e)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf line = {0};
    char path[PATH_MAX];
    struct stat st;
    size_t count;
    if (!image_of(e->process, &st, NULL, 0))
        return false;
    bool same = st.st_dev == e->device && st.st_ino == e->inode;
    /* The exec failed: the previous program continues. */
    if (!same && st.st_dev == e->before_device && st.st_ino == e->before_inode)
        return true;
    if (!read_cmdline(e->process, &line))
        return false;
    if (same && hash_bytes(HASH_START, buf_str(&line)) == e->words)
        return true;
    struct str *words = split_words(buf_str(&line), &arena, &count);
    if (!image_of(e->process, &st, path, sizeof path))
        return false;
    struct resolved file = {.parent = -1, .exists = true, .st = st};
    snprintf(file.path, sizeof file.path, "%s", path);
    if (!words || (b->judges_reads && read_refuses(b, r, &file)))
        return false;
    return st.st_nlink > 0 && !refused(b, r, str_of(path), words, count);
}

bool exec_verify(struct broker *b, struct request *r)
{
    struct request_status status = {.process = r->pid};
    for (int round = 0; round < 2 && b->expected_count; round++) {
        for (size_t i = 0; i < b->expected_count; i++) {
            if (b->expected[i].process != status.process)
                continue;
            struct broker_expected e = b->expected[i];
            /* A call by another thread says nothing about the program about to start. */
            bool waits = e.stack && stack_of(e.process) == e.stack;
            if (waits && r->pid != e.thread)
                return true;
            b->expected[i] = b->expected[--b->expected_count];
            b->asks.silent = true; /* a call of the new program cannot wait for its start */
            bool good = is_as_judged(b, r, &e);
            b->asks.silent = false;
            int process = good ? -1 : (int)syscall(SYS_pidfd_open, e.process, 0);
            /* A thread that has since been ended by an exec does not speak for the new program. */
            if (!request_alive(r)) {
                if (process >= 0)
                    close(process);
                b->expected[b->expected_count++] = e;
                return true;
            }
            if (good)
                return true;
            if (process >= 0)
                syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
            if (process >= 0)
                close(process);
            request_fail(r, EPERM);
            return false;
        }
        /* A thread stands for its process. */
        if (round == 0 && !request_status(r, &status))
            return true;
    }
    return true;
}

/* Opens the file that a call names; negative errno on failure. */
static int program_of(struct broker *b, struct request *r, int dirfd, const char *given, int flags)
{
    auto_resolved struct resolved where = {.parent = -1};
    if (given[0] == '\0')
        return flags & AT_EMPTY_PATH ? request_descriptor(r, dirfd) : -ENOENT;
    /* Most programs are named by a path without links. */
    int rc = straight_find_path(b, r, dirfd, given, &where);
    if (rc == 0 && S_ISLNK(where.st.st_mode) && !(flags & AT_SYMLINK_NOFOLLOW)) {
        resolved_close(&where);
        rc = resolve(r, dirfd, given, true, &where);
    }
    if (rc)
        return rc;
    if (where.descriptor)
        return resolved_descriptor(r, &where);
    if (!where.exists)
        return -ENOENT;
    if (!where.leaf[0])
        return -EACCES;
    int fd = openat(where.parent, where.leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* "#! interpreter [argument]": the words that the kernel puts in front of the call's arguments.
   Returns a descriptor of the interpreter, NO_SCRIPT, or UNREADABLE. */
enum { NO_SCRIPT = -1, UNREADABLE = -2 };

static int read_script(struct broker *b, struct request *r, int program, const char *given,
                       struct arena *arena, struct str *words, size_t *count)
{
    char own[64], line[256], path[256];
    snprintf(own, sizeof own, "/proc/self/fd/%d", program);
    int fd = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof line - 1, 0);
    int error = errno;
    if (fd >= 0)
        close(fd);
    else if (error == EACCES)
        return UNREADABLE;
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return NO_SCRIPT;
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *begin = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(begin, " \t");
    char *argument = begin + length + strspn(begin + length, " \t");
    for (size_t end = strlen(argument); end > 0 && strchr(" \t", argument[end - 1]); end--)
        argument[end - 1] = '\0';
    snprintf(path, sizeof path, "%.*s", (int)length, begin);
    int interpreter = program_of(b, r, AT_FDCWD, path, 0);
    if (interpreter < 0)
        return NO_SCRIPT;
    size_t extra = argument[0] ? 2 : 1;
    memmove(words + 1 + extra, words + 1, (*count - 1) * sizeof *words);
    words[0] = arena_copy(arena, str_of(path));
    if (argument[0])
        words[1] = arena_copy(arena, str_of(argument));
    words[extra] = arena_copy(arena, str_of(given));
    *count += extra;
    return interpreter;
}

/* Judges one program and its arguments; false if the call has been answered. path holds
   PATH_MAX. */
static bool allowed(struct broker *b, struct request *r, int program, struct str *words,
                    size_t count, struct stat *st, char *path)
{
    /* A file that nobody may execute does not start. */
    if (fstat(program, st) || !S_ISREG(st->st_mode) || !(st->st_mode & 0111)) {
        request_fail(r, EACCES);
        return false;
    }
    if (st->st_nlink == 0 || !resolve_path_of(program, path, PATH_MAX)) {
        report_unnamed(b, r, words[0]);
        request_fail(r, EACCES);
        return false;
    }
    struct resolved file = {.parent = -1, .exists = true, .st = *st};
    snprintf(file.path, sizeof file.path, "%s", path);
    b->asks.silent = true; /* the kernel opens it, and Landlock knows no answers */
    bool readable = !b->judges_reads || read_allows(b, r, &file);
    b->asks.silent = false;
    if (!readable)
        return false;
    /* A stub runs in place of a tool and prints the reason; it may run, and is reported. */
    if (is_stub(b, str_of(path)))
        tool_refused(b, r, base_name(str_of(path)), base_name(str_of(path)), STR_NONE, words, count,
                     shares_stderr(r));
    else if (refused(b, r, str_of(path), words, count)) {
        request_fail(r, EACCES);
        return false;
    }
    return true;
}

/*
 * True once, for the exec that starts the command. Its caller is Cordon's own code in a process
 * that shares its memory with nobody who runs, and nothing of the tree runs yet: what was judged is
 * what starts.
 */
static bool is_first(struct broker *b, const struct request *r)
{
    bool first = b->command && b->command == r->pid;
    b->command = 0;
    return first;
}

static void do_exec(struct broker *b, struct request *r, int dirfd, uint64_t path, uint64_t argv,
                    int flags)
{
    auto_arena struct arena arena = {0};
    struct str *words = NULL;
    struct request_status caller;
    struct stat st;
    bool alone;
    size_t count = 0;
    char given[PATH_MAX], image[PATH_MAX];
    ssize_t n = request_read_string(r, path, given, sizeof given);
    int rc = n < 0 ? (int)n : read_arguments(b, r, argv, &arena, &words, &count);
    int program = rc ? rc : program_of(b, r, dirfd, given, flags);
    if (program < 0) {
        request_fail(r, -program);
        return;
    }
    if (count == 0)
        words[count++] = STR_NONE;
    bool good = allowed(b, r, program, words, count, &st, image);
    int interpreter = good ? read_script(b, r, program, given, &arena, words, &count) : NO_SCRIPT;
    /* The kernel hides the memory of such a program, and with it the arguments of its calls. */
    if (interpreter == UNREADABLE) {
        broker_report_text(b, r, AUDIT_PROCESS_START, str_of(image), AUDIT_DENY,
                           str_of(policy_rule_id(RULE_TOOL_UNREADABLE)),
                           STR("a program that can be started but not read cannot be served"),
                           STR("make it readable (chmod +r)"));
        request_fail(r, EACCES);
        good = false;
    }
    if (interpreter >= 0) {
        good = allowed(b, r, interpreter, words, count, &st, image);
        close(interpreter);
    }
    close(program);
    if (!good)
        return;
    if (is_first(b, r)) {
        caller = (struct request_status){.process = r->pid, .parent = b->reaper};
    } else if (!find_caller(r, &caller, &alone) ||
               !expect(b, caller.process, alone, r->pid, &st, words, count)) {
        request_fail(r, EAGAIN);
        return;
    }
    process_began(b, caller.process, caller.parent, str_of(image), words, count);
    if (b->began)
        b->began(b->context, words, count);
    request_continue(r);
}

void exec_execve(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_exec(b, r, AT_FDCWD, a[0], a[1], 0);
}

void exec_execveat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_exec(b, r, (int)a[0], a[1], a[2], (int)a[4]);
}

/* This call was only sent here for that comparison. */
void exec_set_tid_address(struct broker *b, struct request *r)
{
    (void)b;
    request_continue(r);
}
