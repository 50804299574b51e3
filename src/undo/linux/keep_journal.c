/* SPDX-License-Identifier: Apache-2.0 */
/* A journal's life: created before the command starts, ended when its tree is dead. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cordon.h"
#include "undo/linux/keep_inside.h"

const char *keep_run(const struct keep *k)
{
    return k->id;
}

int keep_lock(const struct keep *k)
{
    return k->lock;
}

static int make_folder(struct keep *k)
{
    for (int tries = 0; tries < 16; tries++) {
        time_t now = time(NULL);
        struct tm parts;
        unsigned short random = 0;
        gmtime_r(&now, &parts);
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(k->id, sizeof k->id, "%04d%02d%02d-%02d%02d%02d-%04x", parts.tm_year + 1900,
                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                 random);
        if (mkdirat(k->store, k->id, 0700) == 0)
            return openat(k->store, k->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static int make_file(struct keep *k, const char *name, mode_t mode)
{
    int fd = openat(k->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0)
        fchmod(fd, mode);
    return fd;
}

static int take_roots(struct keep *k, const struct keep_options *o, char *why, size_t capacity)
{
    struct stat st;
    char store[4096], reason[256];
    if (!store_path(true, store, sizeof store, why, capacity))
        return CORDON_E_OPEN;
    if (o->root_count == 0 || o->root_count > UNDO_MOST_ROOTS) {
        snprintf(why, capacity, "--undo: more than %d roots", UNDO_MOST_ROOTS);
        return CORDON_E_TOOBIG;
    }
    for (size_t i = 0; i < o->root_count; i++) {
        struct undo_path path;
        k->paths[i] = strdup(o->roots[i]);
        if (!k->paths[i])
            return CORDON_E_NOMEM;
        if (stat(k->paths[i], &st)) {
            snprintf(why, capacity, "--undo: %.200s: %s", o->roots[i], strerror(errno));
            return CORDON_E_OPEN;
        }
        k->head.roots[i] = (struct undo_root){str_of(k->paths[i]), st.st_dev, st.st_ino};
        k->head.root_count = (uint32_t)i + 1;
        snprintf(reason, sizeof reason, "%.240s", k->paths[i]);
        if (keep_below_root(k, store, &path)) {
            snprintf(why, capacity,
                     "--undo: the journal would lie inside the root %s; set XDG_STATE_HOME to "
                     "another folder",
                     reason);
            return CORDON_E_CONFLICT;
        }
    }
    return 0;
}

/* Nobody may change the roots while an undo does. The store is locked, so that two that begin at the
   same time see each other. */
static int refuse_others(const struct keep *k, const struct keep_options *o, char *why,
                         size_t capacity)
{
    char live[STORE_LONGEST_ID];
    bool undo = o->undoes[0] != '\0';
    store_find_live(k->store, &k->head, !undo, live);
    if (!live[0])
        return 0;
    snprintf(why, capacity,
             undo ? "run %s, which has not ended, can change these folders; try again when it has"
                  : "--undo: an undo changes these folders just now (run %s); try again when it "
                    "has ended",
             live);
    return CORDON_E_CONFLICT;
}

/* Makes the files of the journal and writes its head. */
static int make_journal(struct keep *k, const struct keep_options *o)
{
    static const struct timespec never[2] = {{0, 0}, {0, 0}};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    k->folder = make_folder(k);
    if (k->folder >= 0 && mkdirat(k->folder, "objects", 0700) == 0)
        k->objects = openat(k->folder, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    k->lock = make_file(k, "lock", 0600);
    k->pack = make_file(k, "pack", 0);
    k->log = make_file(k, "log", 0);
    k->head.run = str_of(k->id);
    k->head.session = str_slice(str_of(o->session), 0, UNDO_LONGEST_NAME);
    k->head.command = str_slice(str_of(o->command), 0, UNDO_LONGEST_TEXT);
    k->head.undoes = str_of(o->undoes);
    k->head.time = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    undo_put_head(&k->record, &k->head);
    k->log_end = k->record.n;
    bool made = k->objects >= 0 && k->lock >= 0 && k->pack >= 0 && k->log >= 0 &&
                flock(k->lock, LOCK_EX) == 0 && futimens(k->lock, never) == 0 &&
                !k->record.failed && keep_write_all(k->log, k->record.p, k->record.n);
    return made ? 0 : CORDON_E_WRITE;
}

int keep_open(const struct keep_options *o, struct keep **out, char *why, size_t capacity)
{
    struct keep *k = calloc(1, sizeof *k);
    snprintf(why, capacity, "out of memory");
    if (!k)
        return CORDON_E_NOMEM;
    k->store = k->folder = k->objects = k->log = k->pack = k->lock = -1;
    k->limit = o->limit;
    k->strict = o->strict;
    k->known_size = 1024;
    k->known = calloc(k->known_size, sizeof *k->known);
    int rc = k->known ? take_roots(k, o, why, capacity) : CORDON_E_NOMEM;
    if (rc == 0 && (k->store = store_open(true, why, capacity)) < 0)
        rc = CORDON_E_OPEN;
    int guard = rc == 0 ? store_lock(k->store) : -1;
    if (rc == 0)
        rc = guard < 0 ? CORDON_E_WRITE : refuse_others(k, o, why, capacity);
    if (rc == 0)
        rc = make_journal(k, o);
    if (rc == CORDON_E_WRITE)
        snprintf(why, capacity, "--undo: cannot create the journal: %s", strerror(errno));
    if (guard >= 0)
        close(guard);
    if (rc) {
        keep_close(k, true);
        return rc;
    }
    *out = k;
    return 0;
}

/* A file in the tree should have no name more than without --undo. Where one of its names is found
   in a root, that is recorded, and the journal's own goes. */
static void find_names(struct keep *k, int folder, char *path, size_t n, int depth, size_t *left)
{
    enum { DEEPEST = 64 };
    struct stat st;
    char entries[4096];
    long filled = 0;
    while (*left && depth < DEEPEST &&
           (filled = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < filled && *left;) {
            /* inode, offset, length, type, name: as the call fills it */
            uint64_t inode;
            unsigned short length;
            memcpy(&inode, entries + at, sizeof inode);
            memcpy(&length, entries + at + 16, sizeof length);
            unsigned char type = (unsigned char)entries[at + 18];
            const char *name = entries + at + 19;
            size_t size = strlen(name);
            at += length;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || n + size + 2 > PATH_MAX)
                continue;
            --*left;
            path[n] = '/';
            memcpy(path + n + 1, name, size + 1);
            struct undo_path below;
            for (size_t i = 0; type != DT_DIR && i < k->handle_count; i++) {
                struct handle *h = &k->handles[i];
                char own[24];
                if (h->st.st_ino != inode || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
                    st.st_dev != h->st.st_dev || st.st_ino != h->st.st_ino ||
                    !keep_below_root(k, path, &below))
                    continue;
                struct undo_record record = keep_record(&below, &h->st);
                keep_object_name(h->object, own);
                if (keep_add(k, &record) == 0 && !k->broken && unlinkat(k->objects, own, 0) == 0)
                    *h = k->handles[--k->handle_count];
                break;
            }
            int inner = type == DT_DIR || type == DT_UNKNOWN
                            ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                            : -1;
            if (inner >= 0) {
                find_names(k, inner, path, n + 1 + size, depth + 1, left);
                close(inner);
            }
        }
    path[n] = '\0';
}

static void drop_handles(struct keep *k)
{
    struct stat st;
    char name[24], path[PATH_MAX];
    size_t left = 200000;
    for (size_t i = k->handle_count; i-- > 0;) {
        keep_object_name(k->handles[i].object, name);
        if (fstatat(k->objects, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 1)
            continue;
        if (S_ISREG(k->handles[i].st.st_mode))
            fchmodat(k->objects, name, 0, 0); /* no other name is left: this is the content */
        k->handles[i] = k->handles[--k->handle_count];
    }
    for (uint32_t i = 0; k->handle_count && i < k->head.root_count; i++) {
        int folder = open(k->paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(path, sizeof path, "%s", k->paths[i]);
        if (folder >= 0 && strlen(path) > 1)
            find_names(k, folder, path, strlen(path), 0, &left);
        if (folder >= 0)
            close(folder);
    }
}

bool keep_end(struct keep *k)
{
    bool lossless = !k->broken;
    drop_handles(k);
    clock_gettime(CLOCK_REALTIME, &k->end);
    k->broken = false;
    keep_add(k, &(struct undo_record){.type = UNDO_END, .end = keep_time(k->end)});
    futimens(k->lock, (struct timespec[2]){k->end, k->end});
    return lossless && !k->broken;
}

/* File systems take times from a clock that moves in steps, or from the exact one: what is changed
   after this run must get a later time from either. */
static void wait_past(struct timespec end)
{
    struct timespec later;
    for (;;) {
        clock_gettime(CLOCK_REALTIME_COARSE, &later);
        if (undo_time_compare(keep_time(later), keep_time(end)) > 0 ||
            later.tv_sec < end.tv_sec - 1) /* the clock was set */
            return;
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

void keep_release(struct keep *k)
{
    int *const files[] = {&k->log, &k->pack, &k->objects, &k->lock, &k->folder};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

void keep_close(struct keep *k, bool discard)
{
    keep_release(k);
    if (k->store >= 0 && discard && k->id[0])
        store_drop(k->store, k->id);
    if (k->store >= 0)
        close(k->store);
    for (size_t i = 0; i < UNDO_MOST_ROOTS; i++)
        free(k->paths[i]);
    free(k->known);
    free(k->handles);
    buf_free(&k->record);
    if (k->end.tv_sec)
        wait_past(k->end);
    free(k);
}
