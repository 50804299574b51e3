/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and names that change while a call is judged. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

struct two {
    char *at;
    char first[512], second[512];
};

static void turn_text(void *context)
{
    struct two *t = context;
    memcpy(t->at, t->first, strlen(t->first) + 1);
    dwell();
    memcpy(t->at, t->second, strlen(t->second) + 1);
    dwell();
}

static pid_t turn_paths(struct two *t, const char *first, const char *second)
{
    t->at = shared_page();
    snprintf(t->first, sizeof t->first, "%s", first);
    snprintf(t->second, sizeof t->second, "%s", second);
    strcpy(t->at, t->first);
    return turner_start(turn_text, t);
}

struct flags {
    struct open_how *how;
    uint64_t first, second;
    uint64_t mode[2];
};

static void turn_flags(void *context)
{
    struct flags *f = context;
    *(volatile uint64_t *)&f->how->flags = f->first;
    *(volatile uint64_t *)&f->how->mode = f->mode[0];
    dwell();
    *(volatile uint64_t *)&f->how->flags = f->second;
    *(volatile uint64_t *)&f->how->mode = f->mode[1];
    dwell();
}

/* Opens a file again and again with flags that change; 1 as soon as seen says so. */
static bool open2_turned(const char *path, uint64_t first, uint64_t second, bool (*seen)(int fd))
{
    struct flags f = {shared_page(), first, second, {0, 0}};
    f.how->flags = first;
    pid_t turner = turner_start(turn_flags, &f);
    bool done = false;
    for (int i = 0; i < rounds(20000) && !done; i++) {
        int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, f.how, sizeof *f.how);
        done = fd >= 0 && seen(fd);
        if (fd >= 0)
            close(fd);
    }
    turner_stop(turner);
    return done;
}

static bool writes(int fd)
{
    return write(fd, "x", 1) == 1;
}

static bool shows(int fd)
{
    char text[64] = "";
    return read(fd, text, sizeof text - 1) > 0 && strstr(text, "TOPSECRET");
}

static bool flags_write(const char *const *w)
{
    return open2_turned(w[0], O_RDONLY, O_WRONLY, writes);
}

static bool flags_path_write(const char *const *w)
{
    return open2_turned(w[0], O_PATH, O_WRONLY, writes);
}

static bool flags_read(const char *const *w)
{
    return open2_turned(w[0], O_PATH, O_RDONLY, shows);
}

/* The mode of a new file, too, lies in memory. */
static bool flags_mode(const char *const *w)
{
    struct flags f = {shared_page(), O_CREAT | O_WRONLY, O_CREAT | O_WRONLY, {0755, 04755}};
    struct stat st;
    *f.how = (struct open_how){.flags = O_CREAT | O_WRONLY, .mode = 0755};
    pid_t turner = turner_start(turn_flags, &f);
    bool done = false;
    for (int i = 0; i < rounds(5000) && !done; i++) {
        unlink(w[0]);
        close((int)syscall(SYS_openat2, AT_FDCWD, w[0], f.how, sizeof *f.how));
        done = stat(w[0], &st) == 0 && (st.st_mode & S_ISUID);
    }
    turner_stop(turner);
    return done;
}

static bool path_create(const char *const *w)
{
    struct two t;
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && access(w[1], F_OK); i++)
        close(open(t.at, O_WRONLY | O_CREAT, 0644));
    turner_stop(turner);
    return access(w[1], F_OK) == 0;
}

static bool path_mkdir(const char *const *w)
{
    struct two t;
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && access(w[1], F_OK); i++)
        if (mkdir(t.at, 0755) == 0)
            rmdir(w[0]);
    turner_stop(turner);
    return access(w[1], F_OK) == 0;
}

static bool path_delete(const char *const *w)
{
    struct two t;
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && access(w[1], F_OK) == 0; i++) {
        close(open(w[0], O_WRONLY | O_CREAT, 0644));
        unlink(t.at);
    }
    turner_stop(turner);
    return access(w[1], F_OK) != 0;
}

static bool path_rename(const char *const *w)
{
    struct two t;
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && access(w[1], F_OK); i++) {
        close(open("turned", O_WRONLY | O_CREAT, 0644));
        rename("turned", t.at);
    }
    turner_stop(turner);
    return access(w[1], F_OK) == 0;
}

static bool path_mode(const char *const *w)
{
    struct two t;
    struct stat st;
    bool done = false;
    close(open(w[0], O_WRONLY | O_CREAT, 0644));
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && !done; i++) {
        chmod(t.at, 0600);
        done = stat(w[1], &st) == 0 && (st.st_mode & 0777) == 0600;
    }
    turner_stop(turner);
    return done;
}

static bool path_truncate(const char *const *w)
{
    struct two t;
    struct stat st;
    bool done = false;
    close(open(w[0], O_WRONLY | O_CREAT, 0644));
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && !done; i++) {
        truncate(t.at, 0);
        done = stat(w[1], &st) == 0 && st.st_size == 0;
    }
    turner_stop(turner);
    return done;
}

static bool path_read(const char *const *w)
{
    struct two t;
    bool done = false;
    pid_t turner = turn_paths(&t, w[0], w[1]);
    for (int i = 0; i < rounds(20000) && !done; i++) {
        int fd = open(t.at, O_RDONLY);
        done = fd >= 0 && shows(fd);
        close(fd);
    }
    turner_stop(turner);
    return done;
}

/* A folder and a link to outside change places while files are made through their name. */
static void turn_names(void *context)
{
    const char *const *w = context;
    syscall(SYS_renameat2, AT_FDCWD, w[0], AT_FDCWD, w[1], 2);
}

static bool folder_turned(const char *const *w)
{
    char path[512];
    pid_t turner = turner_start(turn_names, (void *)(uintptr_t)w);
    snprintf(path, sizeof path, "%s/turned", w[0]);
    bool done = false;
    for (int i = 0; i < rounds(10000) && !done; i++) {
        close(open(path, O_WRONLY | O_CREAT, 0644));
        done = access(w[2], F_OK) == 0;
    }
    turner_stop(turner);
    return done;
}

static bool file_turned(const char *const *w)
{
    struct stat before, st;
    bool done = false;
    stat(w[2], &before);
    pid_t turner = turner_start(turn_names, (void *)(uintptr_t)w);
    for (int i = 0; i < rounds(10000) && !done; i++) {
        int fd = open(w[0], O_WRONLY | O_APPEND);
        put(fd);
        close(fd);
        done = stat(w[2], &st) == 0 && st.st_size != before.st_size;
    }
    turner_stop(turner);
    return done;
}

static bool mode_turned(const char *const *w)
{
    struct stat st;
    bool done = false;
    pid_t turner = turner_start(turn_names, (void *)(uintptr_t)w);
    for (int i = 0; i < rounds(10000) && !done; i++) {
        chmod(w[0], 0600);
        done = stat(w[2], &st) == 0 && (st.st_mode & 0777) == 0600;
    }
    turner_stop(turner);
    return done;
}

/* An own socket and a link to a server's change places: w[0] own, w[1] the link, w[2] its mark. */
static bool socket_turned(const char *const *w)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", w[0]);
    if (bind(server, (void *)&address, sizeof address) || listen(server, 4096))
        return false;
    pid_t turner = turner_start(turn_names, (void *)(uintptr_t)w);
    for (int i = 0; i < rounds(3000) && access(w[2], F_OK); i++) {
        int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(s, (void *)&address, sizeof address);
        close(s);
        close(accept(server, NULL, NULL));
    }
    turner_stop(turner);
    usleep(100000);
    return access(w[2], F_OK) == 0;
}

static struct sockaddr_un family;

static void *turn_family(void *stop)
{
    while (!*(volatile int *)stop) {
        *(volatile sa_family_t *)&family.sun_family = AF_UNSPEC;
        *(volatile sa_family_t *)&family.sun_family = AF_UNIX;
    }
    return NULL;
}

static bool family_turned(const char *const *w)
{
    pthread_t thread;
    int stop = 0;
    bool connected = false;
    snprintf(family.sun_path, sizeof family.sun_path, "%s", w[0]);
    pthread_create(&thread, NULL, turn_family, &stop);
    for (int i = 0; i < rounds(3000) && !connected; i++) {
        struct sockaddr_un peer;
        socklen_t length = sizeof peer;
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        connect(s, (void *)&family, sizeof family);
        connected = getpeername(s, (void *)&peer, &length) == 0;
        close(s);
    }
    stop = 1;
    pthread_join(thread, NULL);
    return connected;
}

/* The program changes between the look and the start; another thread's calls come between. */
struct busy {
    volatile int stop;
};

static void *keep_busy(void *context)
{
    struct busy *b = context;
    while (!b->stop)
        umask(022);
    return NULL;
}

static bool program_turned(const char *const *w)
{
    struct two t;
    pid_t turner = turn_paths(&t, "/usr/bin/true", w[0]);
    for (int i = 0; i < rounds(1500) && access(w[1], F_OK); i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            struct busy busy = {0};
            if (w[2][0])
                pthread_create(&thread, NULL, keep_busy, &busy);
            for (int j = 0; j < 20; j++)
                execve(t.at, (char *[]){"x", (char *)(uintptr_t)w[1], NULL}, environ);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    turner_stop(turner);
    return access(w[1], F_OK) == 0;
}

const struct trick race_tricks[] = {
    {"flags-write", flags_write},       {"flags-path-write", flags_path_write},
    {"flags-read", flags_read},         {"flags-mode", flags_mode},
    {"path-create", path_create},       {"path-mkdir", path_mkdir},
    {"path-delete", path_delete},       {"path-rename", path_rename},
    {"path-mode", path_mode},           {"path-truncate", path_truncate},
    {"path-read", path_read},           {"folder-turned", folder_turned},
    {"file-turned", file_turned},       {"mode-turned", mode_turned},
    {"socket-turned", socket_turned},   {"family-turned", family_turned},
    {"program-turned", program_turned}, {NULL, NULL}};
