/* SPDX-License-Identifier: Apache-2.0 */
/* Created by this user alone, never reached through a link, removed without following one. */
#include "launch/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DEEPEST = 64,
    MOST_ROUNDS = 100000,
    MOST_TRIES = 16,
    LONGEST_ID = 64,
    LONGEST_PATH = 4096,
    A_DAY = 24 * 60 * 60
};

static int fail(struct settings *s, int code, const char *path, const char *why)
{
    buf_reset(&s->error);
    buf_fmt(&s->error, "--temp: %s: %s", path, why);
    return code;
}

static bool is_plain_id(struct str id)
{
    if (id.n == 0 || id.n > LONGEST_ID || id.p[0] == '.')
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-' && id.p[i] != '_' && id.p[i] != '.')
            return false;
    return true;
}

/* Anybody can create names in the shared folder: only a folder owned by this user is accepted. */
static int make_session(struct settings *s, const char *path)
{
    struct stat st;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return fail(s, CORDON_E_OPEN, path, strerror(errno));
    if (lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return fail(s, CORDON_E_REFUSED, path,
                    "this is not a folder of yours alone; remove it or take another session id");
    return 0;
}

/* Held until temp_release(); false if another process is removing the folder right now. */
static bool hold(struct settings *s, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) || futimens(fd, NULL) || fstat(fd, &st) || st.st_nlink == 0) {
        close(fd);
        return false;
    }
    s->temp_hold = fd + 1;
    return true;
}

void temp_release(struct settings *s)
{
    if (s->temp_hold)
        close((int)s->temp_hold - 1);
    s->temp_hold = 0;
}

/* Removes this user's folders that nobody holds: those of killed runs, and sessions unused for a
   day. */
static void remove_old(const char *shared)
{
    char run[64], session[64], path[4096];
    int n = snprintf(run, sizeof run, "cordon-run-%u-", (unsigned)geteuid());
    int m = snprintf(session, sizeof session, "cordon-session-%u-", (unsigned)geteuid());
    DIR *names = opendir(shared);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        struct stat st;
        bool private = strncmp(entry->d_name, run, (size_t)n) == 0;
        if ((!private && strncmp(entry->d_name, session, (size_t)m) != 0) ||
            snprintf(path, sizeof path, "%s/%s", shared, entry->d_name) >= (int)sizeof path)
            continue;
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && fstat(folder, &st) == 0 && st.st_uid == geteuid() &&
            (private || time(NULL) - st.st_mtime > A_DAY) && flock(folder, LOCK_EX | LOCK_NB) == 0)
            temp_remove(path);
        if (folder >= 0)
            close(folder);
    }
    if (names)
        closedir(names);
}

/* The same for the lists of sessions. */
static void remove_old_records(const char *shared)
{
    char own[64], path[4096];
    int n = snprintf(own, sizeof own, "cordon-own-%u-", (unsigned)geteuid());
    DIR *names = opendir(shared);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        struct stat st;
        if (strncmp(entry->d_name, own, (size_t)n) != 0 ||
            snprintf(path, sizeof path, "%s/%s", shared, entry->d_name) >= (int)sizeof path)
            continue;
        int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            time(NULL) - st.st_mtime > A_DAY && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlink(path);
        if (fd >= 0)
            close(fd);
    }
    if (names)
        closedir(names);
}

int temp_record(struct settings *s, const char *folder, int *record)
{
    enum { LONGEST = 8 * 1024 * 1024 };
    char path[LONGEST_PATH];
    struct stat st;
    *record = -1;
    if (s->policy.temp != POLICY_TEMP_OWN || !s->policy.session.n)
        return 0;
    remove_old_records(folder);
    snprintf(path, sizeof path, "%s/cordon-own-%u-%.*s", folder, (unsigned)geteuid(),
             STR_ARG(s->policy.session));
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(s, CORDON_E_OPEN, path, strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) ||
        st.st_nlink != 1) {
        close(fd);
        return fail(s, CORDON_E_REFUSED, path,
                    "this is not a file of yours alone; remove it or take another session id");
    }
    /* A list that grew too long is started afresh: what it listed becomes foreign. */
    if (st.st_size > LONGEST && flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0))
        errno = 0;
    flock(fd, LOCK_SH | LOCK_NB);
    futimens(fd, NULL);
    *record = fd;
    return 0;
}

static bool is_session(const struct settings *s)
{
    return s->policy.temp == POLICY_TEMP_SESSION ||
           (s->policy.temp == POLICY_TEMP_OWN && s->policy.session.n);
}

/* Writes the folder's path to *path, LONGEST_PATH bytes; a private folder gets a fresh name. */
static int make_folder(struct settings *s, struct str shared, char *path)
{
    bool session = is_session(s);
    struct str id = s->policy.session;
    int n = session ? snprintf(path, LONGEST_PATH, "%.*s/cordon-session-%u-%.*s", STR_ARG(shared),
                               (unsigned)geteuid(), STR_ARG(id))
                    : snprintf(path, LONGEST_PATH, "%.*s/cordon-run-%u-XXXXXX", STR_ARG(shared),
                               (unsigned)geteuid());
    if (n >= LONGEST_PATH)
        return fail(s, CORDON_E_TOOBIG, "the shared temp folder", "its path is too long");
    if (session)
        return make_session(s, path);
    return mkdtemp(path) ? 0 : fail(s, CORDON_E_OPEN, path, strerror(errno));
}

static void write_base36(char *out, unsigned number)
{
    char digits[16];
    size_t n = 0;
    do
        digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
    while (number /= 36);
    while (n)
        *out++ = digits[--n];
    *out = '\0';
}

bool temp_cache(enum temp_cache which, struct str temp, char *out, size_t capacity)
{
    unsigned user = (unsigned)geteuid();
    char number[16];
    int n = -1;
    /* As pytest finds it out. */
    const char *name = getenv("LOGNAME");
    name = name && *name ? name : getenv("USER");
    switch (which) {
    case TEMP_JEST:
        write_base36(number, user);
        n = snprintf(out, capacity, "%.*s/jest_%s", STR_ARG(temp), number);
        break;
    case TEMP_TSX: n = snprintf(out, capacity, "%.*s/tsx-%u", STR_ARG(temp), user); break;
    case TEMP_PLAYWRIGHT:
        n = snprintf(out, capacity, "%.*s/playwright-transform-cache-%u", STR_ARG(temp), user);
        break;
    case TEMP_PYTEST:
        n = name && *name && !strchr(name, '/')
                ? snprintf(out, capacity, "%.*s/pytest-of-%s", STR_ARG(temp), name)
                : -1;
        break;
    case TEMP_NUGET:
        name = user == 0 ? "root" : name;
        n = name && *name && !strchr(name, '/')
                ? snprintf(out, capacity, "%.*s/NuGetScratch%s", STR_ARG(temp), name)
                : -1;
        break;
    case TEMP_CACHES: break;
    }
    return n > 0 && n < (int)capacity;
}

/* A cache of one of these that is there already is somebody else's, and its program would fail. */
static bool needs_own(struct str temp)
{
    struct stat st;
    char path[LONGEST_PATH];
    for (enum temp_cache i = 0; i < TEMP_CACHES; i++)
        if (temp_cache(i, temp, path, sizeof path) && lstat(path, &st) == 0)
            return true;
    return false;
}

/* Only the name, if one is needed: the folder is made while the command's process confines
   itself. */
static int name_own(struct settings *s, struct str temp, struct str *out)
{
    char path[LONGEST_PATH];
    uint64_t random;
    if (!needs_own(temp))
        return 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random ||
        snprintf(path, sizeof path, "%.*s/cordon-run-%u-%016llx", STR_ARG(temp),
                 (unsigned)geteuid(), (unsigned long long)random) >= (int)sizeof path)
        return fail(s, CORDON_E_OPEN, "a folder for TMPDIR", "it cannot be named");
    *out = arena_copy(&s->arena, str_of(path));
    return out->p ? 0 : CORDON_E_NOMEM;
}

void temp_make_own(struct settings *s)
{
    const char *path = s->policy.temp_own.p;
    char shared[LONGEST_PATH];
    if (!s->policy.temp_own.n || is_session(s))
        return;
    bool held = false;
    for (int tries = 0; tries < MOST_TRIES && !held && mkdir(path, 0700) == 0; tries++) {
        held = hold(s, path);
        if (!held)
            rmdir(path);
    }
    snprintf(shared, sizeof shared, "%.*s", (int)(strrchr(path, '/') - path), path);
    /* Killed runs leave their folders, which is rare: one run in sixteen looks for them. */
    if (path[strlen(path) - 1] == '0')
        remove_old(shared);
}

int temp_make(struct settings *s, struct str shared, struct str *out)
{
    char path[LONGEST_PATH], folder[LONGEST_PATH];
    if (is_session(s) && !is_plain_id(s->policy.session))
        return fail(s, CORDON_E_VALUE, "session",
                    "an id has letters, digits, dots, dashes and underscores, at most 64");
    snprintf(folder, sizeof folder, "%.*s", STR_ARG(shared));
    if (s->policy.temp == POLICY_TEMP_OWN && !is_session(s))
        return name_own(s, shared, out);
    remove_old(folder);
    /* Another run that is cleaning up may take a folder between its creation and its locking. */
    bool held = false;
    for (int tries = 0; tries < MOST_TRIES && !held; tries++) {
        int rc = make_folder(s, shared, path);
        if (rc)
            return rc;
        held = hold(s, path);
        if (!held && !is_session(s))
            rmdir(path);
    }
    /* A session's folder can be used without a lock where the file system has none. */
    if (!held && !is_session(s))
        return fail(s, CORDON_E_OPEN, path, "it cannot be held");
    *out = arena_copy(&s->arena, str_of(path));
    return out->p ? 0 : CORDON_E_NOMEM;
}

/* Made readable first, through the folder itself: its name could be a link by then. */
static int open_folder(int parent, const char *name)
{
    char own[64];
    int place = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return -1;
    snprintf(own, sizeof own, "/proc/self/fd/%d", place);
    chmod(own, 0700);
    int folder = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(place);
    return folder;
}

/* One round: folders nested too deep are moved to the top for the next round. */
static void remove_below(int top, int folder, int depth, unsigned *moved)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
            continue;
        if (depth == DEEPEST) {
            char above[32];
            snprintf(above, sizeof above, ".cordon-%u", (*moved)++);
            renameat(folder, name, top, above);
            continue;
        }
        int below = open_folder(folder, name);
        if (below < 0)
            continue;
        remove_below(top, below, depth + 1, moved);
        close(below);
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (names)
        closedir(names);
    else if (copy >= 0)
        close(copy);
}

static bool remove_inside(const char *path)
{
    unsigned moved = 0, before;
    int top = open_folder(AT_FDCWD, path);
    if (top < 0)
        return false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        before = moved;
        remove_below(top, top, 0, &moved);
        if (moved == before)
            break;
    }
    close(top);
    return true;
}

bool temp_remove(const char *path)
{
    enum { MOST_ATTEMPTS = 3 }; /* a failure for want of descriptors may succeed a moment later */
    bool had_files = false;
    for (int i = 0; i < MOST_ATTEMPTS && rmdir(path) && errno != ENOENT; i++)
        had_files = remove_inside(path) || had_files;
    return had_files;
}
