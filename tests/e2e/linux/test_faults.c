/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of the launcher and the broker that can fail is made to fail, one in each run: nothing
 * outside changes, nothing hangs, nothing stays behind; the command does not run, or what it asked
 * for is refused. tests/doubles/faults.h says how.
 */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "../../doubles/faults.h"

/* The work inside: a write outside first, then one of everything that the broker serves. */
#define WORK                                                                                    \
    "canary; write new; append file more; mkdir d; rename new d/n; link d/n l; symlink l s; "   \
    "mode l 600; times l; truncate l; xattr l; unlink s; copy secret got; connect 1; udp 1; "   \
    "unix-own own; reopen file; child 1; run true; signal 1; write ../out/file; write second; " \
    "daemon; wait 20000"
#define SHELL_WORK                                                                                \
    "echo x > ../out/file; mkfifo f; chown $(id -u) file; truncate -s 1 file; echo x >> file; "   \
    "mkdir $TMPDIR/a; echo x > $TMPDIR/a/b; chmod 0 $TMPDIR/a; ln -s a $TMPDIR/l; ln file hard; " \
    "sleep 5 & kill $!; cat /proc/self/fd/0 < file; tty; echo x > /dev/tty; cat secret; "         \
    "curl -s -m 1 http://a.test/; curl -s -m 1 http://127.0.0.1:9/; python3 -c \"import socket;"  \
    "s=socket.socket(socket.AF_UNIX);s.bind('own');s.listen();t=socket.socket();"                 \
    "t.bind(('127.0.0.1',0))\"; exit 0"

static const struct {
    const char *name, *options, *work;
    bool shell;   /* work is a line for sh, else a script of the selftest's probe */
    bool session; /* its temp folder stays */
} variants[] = {
    {"a run", "--root .", WORK, false, false},
    {"with everything",
     "--root . --root ../extra --temp=private --deny-read secret --audit ../log --audit-all "
     "--git=commit --timeout 60 --max-procs 200",
     "write ../extra/new; " WORK, false, false},
    {"read-only", "--root . --mode read-only", SHELL_WORK, true, false},
    {"a shell", "--root . --temp=private --deny-read secret", SHELL_WORK, true, false},
    {"a session", "--root . --temp=session=faults --net=loopback", SHELL_WORK, true, true},
    {"a proxy of its own", "--root . --temp=private --net=allow=a.test", SHELL_WORK, true, false},
    {"a proxy", "--root . --temp=private --net=proxy=127.0.0.1:9", SHELL_WORK, true, false},
    {"asking", "--root . --temp=private --deny-read secret --ask-fd 30,31", SHELL_WORK, true,
     false},
    {"leaving", "--root . --ask-fd 30,31",
     "mv leaver ../extra/left; echo x > ../extra/new; chmod 600 ../extra/new; : > ../extra/new; mv "
     "link ../extra/link; mv file ../out/left; exit 0",
     true, false},
};

static struct fault_table *table;
static uint64_t tried[FAULT_PLACES];
static size_t tried_count, all_hit;
static atomic_uint asked;

static void fresh(void)
{
    sh(".",
       "rm -rf ws out extra temp log; mkdir ws out extra temp; cd ws; echo old > file; "
       "echo SECRET > secret; echo old > ../out/file; mkdir -p repo/.git; echo own > leaver; ln -s "
       "leaver link");
    memset(table, 0, sizeof *table);
}

static int run(size_t v, uint64_t at, bool *hangs)
{
    enum { PATIENCE = 60 };
    time_t begin = time(NULL);
    char words[2000];
    snprintf(words, sizeof words, variants[v].shell ? "sh -c" : "'%s' selftest --probe", cordon);
    setenv("WORK", variants[v].work, 1);
    int code = sh(
        "ws",
        "CORDON_FAULT_FILE='%s/table' CORDON_FAULT_AT=%llu timeout -s KILL %d '%s/%s' run %s -- "
        "%s \"$WORK\" > ../said 2>&1",
        top, (unsigned long long)at, PATIENCE, project, CORDON_FAULTS, variants[v].options, words);
    *hangs = time(NULL) - begin >= PATIENCE - 1;
    return code;
}

/* Answers every question: no outside, yes elsewhere. */
static void *answer(void *context)
{
    const int *ends = context;
    char line[16384];
    FILE *questions = fdopen(ends[0], "r");
    while (questions && fgets(line, sizeof line, questions)) {
        unsigned long id;
        const char *target = strstr(line, "\"target\":\"");
        if (!target || !strstr(line, "\"choices\"") || sscanf(line, "{\"id\":%lu,", &id) != 1)
            continue;
        struct str name = {target, strcspn(target + 10, "\"") + 10};
        dprintf(ends[1], "{\"id\":%lu,\"answer\":\"%s\"}\n", id,
                str_find(name, STR("/out/"), 0) < name.n ? "no" : "once");
        asked++;
    }
    return NULL;
}

/* At 30 and 31, for every run; the other ends belong to a thread. */
static bool begin_answering(void)
{
    static int ends[2];
    int to[2], from[2];
    pthread_t thread;
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) || dup2(to[0], 30) < 0 ||
        dup2(from[1], 31) < 0)
        return false;
    ends[0] = from[0];
    ends[1] = to[1];
    return pthread_create(&thread, NULL, answer, ends) == 0;
}

/* Processes that still work in the workspace. */
static unsigned count_left(void)
{
    char path[300], where[4096], ws[1200];
    unsigned found = 0;
    DIR *names = opendir("/proc");
    snprintf(ws, sizeof ws, "%s/ws", top);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        ssize_t n = atoi(entry->d_name) > 0 ? readlink(path, where, sizeof where - 1) : -1;
        where[n > 0 ? n : 0] = '\0';
        found += strcmp(where, ws) == 0;
    }
    if (names)
        closedir(names);
    return found;
}

/* The first thing that is wrong after a run, whatever failed in it; NULL: nothing is. */
static const char *what_is_wrong(size_t v, int code, bool hangs)
{
    if (sh("out", "test \"$(cat file)\" = old && test \"$(ls)\" = file"))
        return "outside has changed";
    if (sh(".", "grep -qx own ws/leaver || grep -qx own extra/left"))
        return "a file that was to leave is lost";
    if (sh("ws", "ls -A | grep -q cordon-leaves") == 0)
        return "a copy was left";
    if (hangs)
        return "it hangs";
    if (sh(".", "grep -qE 'Sanitizer|runtime error' said") == 0)
        return "it crashed";
    if (count_left())
        return "a process was left";
    if (!variants[v].session && sh(".", "test -z \"$(ls temp)\""))
        return "a folder was left";
    if (code == 125 && sh(".", "grep -q '^cordon: ' said"))
        return "it failed without a word";
    return NULL;
}

static bool was_tried(uint64_t at)
{
    for (size_t i = 0; i < tried_count; i++)
        if (tried[i] == at)
            return true;
    return false;
}

static void check(size_t v)
{
    static struct fault_place places[FAULT_PLACES];
    unsigned count = 0, refused = 0, bad = 0, hit = 0;
    bool hangs;
    fresh();
    int code = run(v, 0, &hangs);
    const char *wrong = what_is_wrong(v, code, hangs);
    if (!ok(!wrong && code == 0, "%s: all is well where nothing fails", variants[v].name))
        note("%s, code %d", wrong ? wrong : "", code);
    memcpy(places, table->places, sizeof places);
    for (size_t i = 0; i < FAULT_PLACES; i++) {
        if (!places[i].at || was_tried(places[i].at))
            continue;
        tried[tried_count++] = places[i].at;
        fresh();
        code = run(v, places[i].at, &hangs);
        wrong = what_is_wrong(v, code, hangs);
        count++;
        hit += table->failed > 0;
        refused += code == 125;
        if (wrong) {
            bad++;
            note("%s at %llx: %s, code %d", places[i].name, (unsigned long long)places[i].at, wrong,
                 code);
        }
    }
    all_hit += hit;
    ok(bad == 0, "%s: %u calls made to fail, %u did, %u runs refused", variants[v].name, count, hit,
       refused);
}

int main(void)
{
    if (!box_make("faults-test"))
        return box_done();
    char path[1200];
    snprintf(path, sizeof path, "%s/table", top);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *table))
        return 1;
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (table == MAP_FAILED)
        return 1;
    if (!begin_answering())
        return 1;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(i);
    ok(atomic_load(&asked) > 20, "questions were asked and answered (%u)", atomic_load(&asked));
    /* One run in sixteen cleans up after others: its calls are seen once and rarely met again. */
    ok(tried_count > 160 && all_hit >= tried_count * 9 / 10, "%u places in all, %u failed",
       (unsigned)tried_count, (unsigned)all_hit);
    return box_done();
}
