/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of journals: listing, reading, dropping. */
#include "undo/linux/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cordon.h"

static bool make_all(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *p = '/';
            if (!made)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The name's length, as snprintf says it; 0 if there is no place. */
static int name_store(char *out, size_t capacity)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return snprintf(out, capacity, "%s/cordon/runs", state);
    if (home && home[0] == '/')
        return snprintf(out, capacity, "%s/.local/state/cordon/runs", home);
    return 0;
}

bool store_name(char *out, size_t capacity)
{
    int n = name_store(out, capacity);
    return n > 0 && n < (int)capacity;
}

bool store_path(bool make, char *out, size_t capacity, char *why, size_t why_capacity)
{
    char path[3072], *final;
    int n = name_store(path, sizeof path);
    if (n == 0) {
        snprintf(why, why_capacity, "no place for journals: set XDG_STATE_HOME or HOME");
        return false;
    }
    if (n >= (int)sizeof path || (make && !make_all(path)) || !(final = realpath(path, NULL))) {
        snprintf(why, why_capacity, "cannot open the folder of journals %.200s: %s", path,
                 n >= (int)sizeof path ? "too long" : strerror(errno));
        return false;
    }
    bool fits = snprintf(out, capacity, "%s", final) < (int)capacity;
    free(final);
    return fits;
}

int store_open(bool make, char *why, size_t capacity)
{
    char path[4096];
    struct stat st;
    if (!store_path(make, path, sizeof path, why, capacity))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        ((st.st_mode & 077) == 0 || fchmod(fd, 0700) == 0))
        return fd;
    snprintf(why, capacity, "the folder of journals %.200s is not yours alone", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

int store_lock(int store)
{
    int fd = openat(store, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX))
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

int store_open_file(int folder, const char *name)
{
    struct stat st;
    int how = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(folder, name, how);
    if (fd >= 0 || errno != EACCES || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(st.st_mode))
        return fd;
    if (fchmodat(folder, name, 0400, 0))
        return -1;
    fd = openat(folder, name, how);
    int error = errno;
    fchmodat(folder, name, 0, 0);
    errno = error;
    return fd;
}

/* An id is one name, and never a hidden one. */
static bool is_id(const char *id)
{
    return id[0] && id[0] != '.' && strlen(id) < STORE_LONGEST_ID && !strchr(id, '/');
}

int store_open_run(int store, const char *id)
{
    if (!is_id(id)) {
        errno = ENOENT;
        return -1;
    }
    return openat(store, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int store_take_lock(int folder, int how, bool *live)
{
    int fd = openat(folder, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    *live = fd >= 0 && flock(fd, how | LOCK_NB) && errno == EWOULDBLOCK;
    if (*live) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static uint64_t bytes_in(int folder)
{
    struct stat st;
    uint64_t total = 0;
    int copy = dup(folder);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    if (!names && copy >= 0)
        close(copy);
    if (!names)
        return 0;
    rewinddir(names);
    for (struct dirent *entry; (entry = readdir(names));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISREG(st.st_mode))
            total += (uint64_t)st.st_blocks * 512;
        if (S_ISDIR(st.st_mode) && strcmp(entry->d_name, "objects") == 0) {
            int below =
                openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            total += below < 0 ? 0 : bytes_in(below);
            if (below >= 0)
                close(below);
        }
    }
    closedir(names);
    return total;
}

/* The head alone; its strings are copied. */
static int read_head(int folder, struct arena *arena, struct undo_head *out)
{
    struct undo_record record;
    size_t at = 0;
    char *text = arena_alloc(arena, UNDO_LONGEST_RECORD);
    int fd = store_open_file(folder, "log");
    ssize_t n = fd < 0 || !text ? -1 : pread(fd, text, UNDO_LONGEST_RECORD, 0);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return CORDON_E_SYNTAX;
    int rc = undo_read((struct str){text, (size_t)n}, &at, out, &record);
    return rc == 1 ? 0 : rc == 0 ? CORDON_E_SYNTAX : rc;
}

static int newest_first(const void *a, const void *b)
{
    const struct store_run *left = a, *right = b;
    if (left->head.time != right->head.time)
        return left->head.time > right->head.time ? -1 : 1;
    return strcmp(right->id, left->id);
}

static struct str read_undone(int folder, struct arena *arena)
{
    char text[STORE_LONGEST_ID];
    int fd = openat(folder, "undone", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return n > 0 ? arena_copy(arena, (struct str){text, (size_t)n}) : STR_NONE;
}

static void look_at(int folder, struct arena *arena, struct store_run *run)
{
    auto_arena struct arena scratch = {0};
    int lock = store_take_lock(folder, LOCK_SH, &run->live);
    if (lock >= 0)
        close(lock);
    struct undo_head *h = &run->head;
    int rc = read_head(folder, &scratch, h);
    run->other = rc == CORDON_E_UNKNOWN;
    run->damaged = rc && !run->other;
    run->bytes = bytes_in(folder);
    run->undone = read_undone(folder, arena);
    if (rc) {
        *h = (struct undo_head){0};
        return;
    }
    h->run = arena_copy(arena, h->run);
    h->session = arena_copy(arena, h->session);
    h->command = arena_copy(arena, h->command);
    h->undoes = arena_copy(arena, h->undoes);
    for (uint32_t i = 0; i < h->root_count; i++)
        h->roots[i].path = arena_copy(arena, h->roots[i].path);
}

int store_list(int store, struct arena *arena, struct store_run **out, size_t *count)
{
    struct store_run *runs = NULL;
    size_t n = 0, capacity = 0;
    int copy = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    if (!names) {
        if (copy >= 0)
            close(copy);
        return CORDON_E_OPEN;
    }
    int rc = 0;
    for (struct dirent *entry; rc == 0 && n < STORE_MOST_RUNS && (entry = readdir(names));) {
        int folder = entry->d_name[0] == '.' ? -1 : store_open_run(store, entry->d_name);
        if (folder < 0)
            continue;
        if (n == capacity) {
            struct store_run *more = arena_grow(arena, runs, &capacity, sizeof *runs);
            rc = more ? 0 : CORDON_E_NOMEM;
            runs = more ? more : runs;
        }
        if (rc == 0) {
            runs[n] = (struct store_run){0};
            snprintf(runs[n].id, sizeof runs[n].id, "%.39s", entry->d_name);
            look_at(folder, arena, &runs[n++]);
        }
        close(folder);
    }
    closedir(names);
    if (rc)
        return rc;
    if (n)
        qsort(runs, n, sizeof *runs, newest_first);
    *out = runs;
    *count = n;
    return 0;
}

static void empty_folder(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    if (!names) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(names));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(folder, entry->d_name, 0);
    closedir(names);
}

bool store_drop(int store, const char *id)
{
    int folder = store_open_run(store, id);
    bool live;
    if (folder < 0)
        return false;
    int lock = store_take_lock(folder, LOCK_EX, &live);
    if (!live) {
        int objects = openat(folder, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (objects >= 0) {
            empty_folder(objects);
            close(objects);
            unlinkat(folder, "objects", AT_REMOVEDIR);
        }
        empty_folder(folder);
    }
    if (lock >= 0)
        close(lock);
    close(folder);
    return !live && unlinkat(store, id, AT_REMOVEDIR) == 0;
}

size_t store_prune(int store, uint64_t limit, const char *spare)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count, gone = 0;
    uint64_t total = 0;
    if (store_list(store, &arena, &runs, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        total += runs[i].bytes;
        bool spared = runs[i].live || (spare && strcmp(spare, runs[i].id) == 0);
        if (total > limit && !spared && store_drop(store, runs[i].id)) {
            total -= runs[i].bytes;
            gone++;
        }
    }
    return gone;
}

bool store_is_id(const char *word)
{
    /* 20260131-235959-0a1b */
    static const char shape[] = "00000000-000000-xxxx";
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == '-'   ? word[i] != '-'
            : shape[i] == 'x' ? ascii_hex(word[i]) < 0
                              : !ascii_is_digit(word[i]))
            return false;
    return word[sizeof shape - 1] == '\0';
}

bool store_below(struct str folder, struct str path)
{
    return folder.n == 1 ||
           (str_starts(path, folder) && (path.n == folder.n || path.p[folder.n] == '/'));
}

bool store_is_forward(const struct store_run *runs, size_t count, const struct store_run *run)
{
    bool forward = true;
    for (int steps = 0; run->head.undoes.n && steps < 64; steps++) {
        const struct store_run *target = NULL;
        for (size_t i = 0; i < count && !target; i++)
            if (str_eq(str_of(runs[i].id), run->head.undoes))
                target = &runs[i];
        forward = !forward;
        if (!target)
            break;
        run = target;
    }
    return forward;
}

/* The newest run that may be taken back in or, if below is set, beneath a folder. */
static const struct store_run *newest(const struct store_run *runs, size_t count, struct str folder,
                                      bool below)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_run *r = &runs[i];
        bool fits = false;
        for (uint32_t k = 0; k < r->head.root_count; k++)
            fits = fits || (below ? store_below(folder, r->head.roots[k].path)
                                  : store_below(r->head.roots[k].path, folder));
        if (fits && !r->undone.n && !r->damaged && !r->other && store_is_forward(runs, count, r))
            return r;
    }
    return NULL;
}

bool store_choose(int store, const char *wanted, const char *folder, char id[STORE_LONGEST_ID],
                  char *why, size_t capacity)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    if (wanted) {
        int fd = store_open_run(store, wanted);
        if (fd < 0) {
            snprintf(why, capacity, "no run %.60s; cordon runs lists them", wanted);
            return false;
        }
        close(fd);
        snprintf(id, STORE_LONGEST_ID, "%s", wanted);
        return true;
    }
    if (store_list(store, &arena, &runs, &count)) {
        snprintf(why, capacity, "cannot read the folder of journals");
        return false;
    }
    const struct store_run *found = newest(runs, count, str_of(folder), false);
    if (found) {
        snprintf(id, STORE_LONGEST_ID, "%s", found->id);
        return true;
    }
    found = newest(runs, count, str_of(folder), true);
    if (found)
        snprintf(why, capacity,
                 "no run with --undo had this folder as its root; the newest below it is %s in "
                 "%.200s: name it, or go there",
                 found->id, found->head.roots[0].path.p);
    else
        snprintf(why, capacity,
                 "no run with --undo that changed this folder is left to take back; cordon runs "
                 "lists all");
    return false;
}

/* True if a run can change what lies in one of the roots. */
static bool concerns(const struct undo_head *head, const struct undo_head *other)
{
    for (uint32_t i = 0; i < head->root_count; i++)
        for (uint32_t k = 0; k < other->root_count; k++) {
            struct str one = head->roots[i].path, two = other->roots[k].path;
            if (store_below(one, two) || store_below(two, one))
                return true;
        }
    return false;
}

void store_find_live(int store, const struct undo_head *head, bool undos, char id[STORE_LONGEST_ID])
{
    auto_arena struct arena arena = {0};
    id[0] = '\0';
    int copy = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    if (!names && copy >= 0)
        close(copy);
    for (struct dirent *entry; names && !id[0] && (entry = readdir(names));) {
        struct undo_head other = {0};
        bool live;
        int folder = store_open_run(store, entry->d_name);
        if (folder < 0 || str_eq(str_of(entry->d_name), head->run)) {
            if (folder >= 0)
                close(folder);
            continue;
        }
        int lock = store_take_lock(folder, LOCK_SH, &live);
        if (lock >= 0)
            close(lock);
        /* One whose head cannot be read may be any. */
        if (live && (read_head(folder, &arena, &other) ||
                     (concerns(&other, head) && (!undos || other.undoes.n))))
            snprintf(id, STORE_LONGEST_ID, "%.39s", entry->d_name);
        close(folder);
    }
    if (names)
        closedir(names);
}
