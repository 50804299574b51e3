/* SPDX-License-Identifier: Apache-2.0 */
/* The world in which attempts are made. */
#include "selftest/linux/world.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cordon.h"

enum { MOST_ARGUMENTS = 32, TIMEOUT_S = 60 };

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    if (kind == FTW_D || kind == FTW_DNR)
        chmod(path, 0700);
    remove(path);
    return 0;
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* The outsider: if the selftest dies without ending it, it removes the selftest's folders. */
__attribute__((noreturn)) static void watch(const struct selftest_world *w, int alive)
{
    char byte;
    setsid(); /* signals from the selftest's terminal must not end this one */
    while (read(alive, &byte, 1) < 0 && errno == EINTR)
        ;
    /* The processes its attempts started are just dying. */
    for (int i = 0; i < 100 && !w->keep && access(w->top, F_OK) == 0; i++) {
        remove_all(w->top);
        remove_all(w->elsewhere);
        usleep(50000);
    }
    _exit(0);
}

static void put(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return;
    (void)!write(fd, text, strlen(text));
    fchmod(fd, mode);
    close(fd);
}

void world_fresh(const struct selftest_world *w)
{
    static const char *const folders[] = {"ws", "out", "extra", "tmp", "host"};
    static const char *const more[] = {"ws/sub",  "ws/repo", "ws/repo/.git", "ws/repo/.git/hooks",
                                       "ws/bin",  "out/dir", "ws/deep",      "ws/deep/a",
                                       "ws/keys", "ws/in"};
    char path[PATH_MAX], target[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", w->top, folders[i]);
        remove_all(path);
        mkdir(path, i == 1 ? 0777 : 0755);
    }
    if (chdir(w->top))
        return;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        mkdir(more[i], 0755);
    chmod("out/dir", 0777);
    put("ws/file", "old", 0644);
    put("ws/log", "", 0644);
    put("out/file", "old", 0644);
    put("out/second", "old", 0644);
    put("ws/repo/.git/config", "old", 0644);
    put("ws/keys/one", "SECRET", 0644);
    put("ws/secret", "SECRET", 0644);
    put("out/secret", "SECRET", 0644);
    put("ws/bin/ssh", "#!/bin/sh\necho shim > shim-ran\n", 0755);
    put("host/ssh", "#!/bin/sh\necho host > host-ran\n", 0755);
    put("host/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n", 0755);
    (void)!link("out/second", "ws/hard");
    (void)!symlink("../out", "ws/away");
    (void)!symlink("../out/file", "ws/file-away");
    (void)!symlink("../../../out/dir", "ws/deep/a/b");
    (void)!symlink("ws", "link-to-ws");
    (void)!symlink("/", "link-to-root");
    snprintf(target, sizeof target, "%s/out", w->top);
    (void)!symlink(target, "ws/absolute");
}

/* Splits at blanks, modifying the text. */
static void split(char *text, const char **argv, size_t *count)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word && *count + 1 < MOST_ARGUMENTS;
         word = strtok_r(NULL, " ", &save))
        argv[(*count)++] = word;
}

static pid_t start(const struct selftest_world *w, const char *const *argv)
{
    char ws[PATH_MAX], temp[PATH_MAX], path[PATH_MAX + 8192];
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char *before = getenv("PATH");
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    snprintf(ws, sizeof ws, "%s/ws", w->top);
    snprintf(temp, sizeof temp, "%s/tmp", w->top);
    snprintf(path, sizeof path, "%s/ws/bin:%s/host:%.8000s", w->top, w->top,
             before ? before : "/usr/bin:/bin");
    setenv("TMPDIR", temp, 1);
    setenv("PATH", path, 1);
    if (none < 0 || chdir(ws) || dup2(none, 0) < 0 || dup2(none, 1) < 0 || dup2(none, 2) < 0)
        _exit(125);
    signal(SIGPIPE, SIG_DFL);
    alarm(TIMEOUT_S);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

int world_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* "@PORT" and the like become what they are. */
static void fill_in(const struct selftest_world *w, const char *script, char *out, size_t capacity)
{
    size_t n = 0;
    while (*script && n + 64 < capacity) {
        if (strncmp(script, "@PORT", 5) == 0) {
            n += (size_t)snprintf(out + n, capacity - n, "%u", w->port);
            script += 5;
        } else if (strncmp(script, "@UDP", 4) == 0) {
            n += (size_t)snprintf(out + n, capacity - n, "%u", w->udp_port);
            script += 4;
        } else if (strncmp(script, "@PID", 4) == 0) {
            n += (size_t)snprintf(out + n, capacity - n, "%d", (int)w->outsider);
            script += 4;
        } else if (strncmp(script, "@NAME", 5) == 0) {
            n += (size_t)snprintf(out + n, capacity - n, "@%s", w->abstract_name);
            script += 5;
        } else {
            out[n++] = *script++;
        }
    }
    out[n] = '\0';
}

static pid_t start_confined(const struct selftest_world *w, const char *options, const char *script,
                            bool shell)
{
    char words[1024], filled[1024], text[3000], body[2048];
    const char *argv[MOST_ARGUMENTS] = {w->self, "run", "--quiet"};
    size_t count = 3;
    fill_in(w, options ? options : "", filled, sizeof filled);
    snprintf(words, sizeof words, "%s", filled);
    split(words, argv, &count);
    argv[count++] = "--";
    fill_in(w, script, body, sizeof body);
    if (shell) {
        snprintf(text, sizeof text, "echo new 2>/dev/null > ../out/canary; %s", body);
        argv[count++] = "sh";
        argv[count++] = "-c";
    } else {
        snprintf(text, sizeof text, "canary; %s", body);
        argv[count++] = w->self;
        argv[count++] = "selftest";
        argv[count++] = "--probe";
    }
    argv[count++] = text;
    argv[count] = NULL;
    return start(w, argv);
}

static int finish(const struct selftest_world *w, pid_t pid, bool *escaped)
{
    int code = world_wait(pid);
    *escaped = *escaped || world_check(w, "exists ../out/canary");
    return code;
}

int world_run(const struct selftest_world *w, const char *options, const char *script,
              bool *escaped)
{
    return finish(w, start_confined(w, options, script, false), escaped);
}

pid_t world_start(const struct selftest_world *w, const char *options, const char *script)
{
    return start_confined(w, options, script, false);
}

int world_run_free(const struct selftest_world *w, const char *script)
{
    char text[2048];
    fill_in(w, script, text, sizeof text);
    return world_wait(start(w, (const char *const[]){w->self, "selftest", "--probe", text, NULL}));
}

int world_tool(const struct selftest_world *w, const char *options, const char *line, bool *escaped)
{
    char text[2048];
    if (options)
        return finish(w, start_confined(w, options, line, true), escaped);
    fill_in(w, line, text, sizeof text);
    return world_wait(start(w, (const char *const[]){"sh", "-c", text, NULL}));
}

bool world_read(const struct selftest_world *w, const char *path, char *out, size_t capacity)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s/ws/%s", w->top, path);
    int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, out, capacity - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static int count_names(const char *folder)
{
    int found = 0;
    DIR *names = opendir(folder);
    while (names && readdir(names))
        found++;
    if (names)
        closedir(names);
    return found - 2;
}

/* Drains everything received; true if there was something. */
static bool was_spoken_to(const struct selftest_world *w, bool tcp)
{
    bool seen = false;
    char piece[64];
    if (!tcp)
        while (recv(w->udp, piece, sizeof piece, MSG_DONTWAIT) > 0)
            seen = true;
    for (int fd; tcp && (fd = accept4(w->tcp, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(fd))
        seen = true;
    return seen;
}

bool world_check(const struct selftest_world *w, const char *effect)
{
    static char content[65536];
    char text[512], path[PATH_MAX];
    const char *words[4] = {"", "", "", ""};
    size_t count = 0;
    struct stat st;
    snprintf(text, sizeof text, "%s", effect);
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word && count < 4;
         word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    if (strcmp(words[0], "tcp") == 0 || strcmp(words[0], "udp") == 0)
        return was_spoken_to(w, words[0][0] == 't');
    snprintf(path, sizeof path, "%s/ws/%s", w->top, words[1]);
    bool exists = lstat(path, &st) == 0;
    if (strcmp(words[0], "exists") == 0)
        return exists;
    if (strcmp(words[0], "absent") == 0)
        return !exists;
    if (strcmp(words[0], "mode") == 0)
        return exists && (st.st_mode & 07777) == (mode_t)strtol(words[2], NULL, 8);
    if (strcmp(words[0], "times") == 0)
        return exists && st.st_mtime == 1;
    if (strcmp(words[0], "count") == 0)
        return count_names(path) == atoi(words[2]);
    bool read = world_read(w, words[1], content, sizeof content);
    if (strcmp(words[0], "same") == 0)
        return read && strcmp(content, words[2]) == 0;
    if (strcmp(words[0], "line") == 0)
        for (const char *at = content; read && (at = strstr(at, words[2])); at++)
            if (at == content || at[-1] == '\n')
                return true;
    return strcmp(words[0], "holds") == 0 && read && strstr(content, words[2]) != NULL;
}

bool world_outside_unchanged(const struct selftest_world *w)
{
    return world_check(w, "same ../out/file old") && world_check(w, "mode ../out/file 644") &&
           world_check(w, "same ../out/second old") && world_check(w, "absent ../out/new");
}

bool world_has_tool(const char *name)
{
    char path[PATH_MAX];
    const char *all = getenv("PATH");
    for (const char *p = all ? all : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, p, name);
        if (n && access(path, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static int listen_at(int domain, int type, const void *address, socklen_t length)
{
    int fd = socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, address, length) || (type == SOCK_STREAM && listen(fd, 64))) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t length = sizeof own;
    getsockname(fd, (void *)&own, &length);
    return ntohs(own.sin_port);
}

static bool open_servers(struct selftest_world *w)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un local = {.sun_family = AF_UNIX}, hidden = {.sun_family = AF_UNIX};
    if (chdir(w->top))
        return false;
    snprintf(local.sun_path, sizeof local.sun_path, "server");
    snprintf(w->abstract_name, sizeof w->abstract_name, "cordon-selftest-%d", (int)getpid());
    snprintf(hidden.sun_path + 1, sizeof hidden.sun_path - 1, "%s", w->abstract_name);
    w->tcp = listen_at(AF_INET, SOCK_STREAM, &here, sizeof here);
    w->udp = listen_at(AF_INET, SOCK_DGRAM, &here, sizeof here);
    w->local = listen_at(AF_UNIX, SOCK_STREAM, &local, sizeof local);
    w->abstract = listen_at(
        AF_UNIX, SOCK_STREAM, &hidden,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(w->abstract_name)));
    if (w->tcp < 0 || w->udp < 0 || w->local < 0 || w->abstract < 0)
        return false;
    w->port = port_of(w->tcp);
    w->udp_port = port_of(w->udp);
    int alive[2];
    if (pipe2(alive, O_CLOEXEC))
        return false;
    w->alive = alive[1];
    w->outsider = fork();
    if (w->outsider == 0) {
        close(alive[1]);
        watch(w, alive[0]);
    }
    close(alive[0]);
    return w->outsider > 0;
}

int selftest_open(const struct selftest_options *o, struct selftest_world **out, struct buf *error)
{
    struct selftest_world *w = calloc(1, sizeof *w);
    const char *temp = getenv("TMPDIR");
    if (!w)
        return CORDON_E_NOMEM;
    w->keep = o->keep;
    w->tcp = w->udp = w->local = w->abstract = w->alive = -1;
    snprintf(w->self, sizeof w->self, "%s", o->program);
    snprintf(w->top, sizeof w->top, "%s/cordon-selftest-XXXXXX",
             temp && temp[0] == '/' ? temp : "/tmp");
    if (!mkdtemp(w->top)) {
        buf_fmt(error, "%s: %s", w->top, strerror(errno));
        free(w);
        return CORDON_E_OPEN;
    }
    snprintf(w->elsewhere, sizeof w->elsewhere, "/dev/shm/%.50s", strrchr(w->top, '/') + 1);
    if (!open_servers(w)) {
        buf_fmt(error, "no server can listen on this machine: %s", strerror(errno));
        selftest_close(w);
        return CORDON_E_OPEN;
    }
    world_fresh(w);
    bool escaped = false;
    int code = world_run(w, "", "code 7", &escaped);
    if (code != 7) {
        buf_fmt(error, "cordon run does not work on this machine (exit code %d); see cordon doctor",
                code);
        selftest_close(w);
        return CORDON_E_CONFINE;
    }
    *out = w;
    return 0;
}

void selftest_close(struct selftest_world *w)
{
    if (w->outsider > 0) {
        kill(w->outsider, SIGKILL);
        waitpid(w->outsider, NULL, 0);
    }
    const int fds[] = {w->tcp, w->udp, w->local, w->abstract, w->alive};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    (void)!chdir("/");
    if (!w->keep)
        remove_all(w->top);
    free(w);
}
