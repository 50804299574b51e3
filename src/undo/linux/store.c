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

bool store_path(bool make, char *out, size_t capacity, char *why, size_t why_capacity)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char path[3072], *final;
    int n;
    if (state && state[0] == '/')
        n = snprintf(path, sizeof path, "%s/cordon/runs", state);
    else if (home && home[0] == '/')
        n = snprintf(path, sizeof path, "%s/.local/state/cordon/runs", home);
    else {
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

static int open_run(int store, const char *id)
{
    if (!is_id(id)) {
        errno = ENOENT;
        return -1;
    }
    return openat(store, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Held by the run itself while it lasts. */
static int take_lock(int folder, bool *live)
{
    int fd = openat(folder, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    *live = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
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
    int lock = take_lock(folder, &run->live);
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
        int folder = entry->d_name[0] == '.' ? -1 : open_run(store, entry->d_name);
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
    int folder = open_run(store, id);
    bool live;
    if (folder < 0)
        return false;
    int lock = take_lock(folder, &live);
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

static bool concerns(const struct undo_head *head, struct str folder)
{
    for (uint32_t i = 0; i < head->root_count; i++)
        if (store_below(head->roots[i].path, folder) || store_below(folder, head->roots[i].path))
            return true;
    return false;
}

bool store_choose(int store, const char *wanted, const char *folder, char id[STORE_LONGEST_ID],
                  char *why, size_t capacity)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    if (wanted) {
        int fd = open_run(store, wanted);
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
    for (size_t i = 0; i < count; i++)
        if (!runs[i].undone.n && !runs[i].damaged && !runs[i].other &&
            concerns(&runs[i].head, str_of(folder)) && store_is_forward(runs, count, &runs[i])) {
            snprintf(id, STORE_LONGEST_ID, "%s", runs[i].id);
            return true;
        }
    snprintf(why, capacity,
             "no run with --undo that changed this folder is left to take back; cordon runs lists "
             "all");
    return false;
}

void store_find_live(int store, const struct undo_head *head, char id[STORE_LONGEST_ID])
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    id[0] = '\0';
    if (store_list(store, &arena, &runs, &count))
        return;
    for (size_t i = 0; i < count && !id[0]; i++)
        for (uint32_t k = 0; k < head->root_count && runs[i].live; k++)
            if (concerns(&runs[i].head, head->roots[k].path) &&
                !str_eq(str_of(runs[i].id), head->run))
                snprintf(id, STORE_LONGEST_ID, "%s", runs[i].id);
}

/* ---- reading one ---- */

void store_close(struct store_journal *j)
{
    int files[] = {j->folder, j->pack, j->objects, j->lock};
    undo_model_free(&j->model);
    if (j->log)
        munmap(j->log, j->size);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    *j = (struct store_journal){.folder = -1, .pack = -1, .objects = -1, .lock = -1};
}

/* Whether the last change took place, if the run died before it could say so. */
static bool happened(const struct undo_model *m)
{
    const struct undo_record *r = undo_model_record(m, m->last);
    char path[UNDO_LONGEST_PATH * 2 + 2];
    struct stat st;
    if (r->type == UNDO_CREATE)
        return true; /* to remove what is not there does no harm */
    const struct undo_path *where = r->type == UNDO_LINK ? &r->to : &r->path;
    struct str root = m->head.roots[where->root].path;
    if (snprintf(path, sizeof path, "%.*s/%.*s", STR_ARG(root), STR_ARG(where->text)) >=
        (int)sizeof path)
        return true;
    bool there =
        lstat(path, &st) == 0 && st.st_ino == r->ident.inode && st.st_dev == r->ident.device;
    return r->type == UNDO_LINK ? there : !there;
}

static struct undo_time time_of(struct timespec t)
{
    return (struct undo_time){t.tv_sec, (uint32_t)t.tv_nsec};
}

/* When the tree died: as the run wrote it, as the reaper did, or when the last record was
   written. */
static void find_end(struct store_journal *j, const struct stat *log)
{
    struct stat st;
    j->known_end = j->model.ended;
    j->end = j->model.end;
    if (j->known_end)
        return;
    j->end = time_of(log->st_mtim);
    j->known_end = fstatat(j->folder, "stamp", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec;
    if (j->known_end)
        j->end = time_of(st.st_mtim);
}

/* An inode that was kept for a change that did not happen would have one name too many. */
static void drop_unused(struct store_journal *j)
{
    char name[24];
    const struct undo_record *kept = undo_model_record(&j->model, j->model.last - 1);
    if (!kept || kept->type != UNDO_KEEP || kept->how != UNDO_LINKED)
        return;
    snprintf(name, sizeof name, "%llu", (unsigned long long)kept->place);
    unlinkat(j->objects, name, 0);
}

int store_read(int store, const char *id, struct store_journal *out, char *why, size_t capacity)
{
    auto_store_journal struct store_journal j = {
        .folder = open_run(store, id), .pack = -1, .objects = -1, .lock = -1};
    struct stat st;
    bool live;
    if (j.folder < 0) {
        snprintf(why, capacity, "no run %.60s; cordon runs lists them", id);
        return CORDON_E_UNKNOWN;
    }
    j.lock = take_lock(j.folder, &live);
    if (live) {
        snprintf(why, capacity, "run %.60s has not ended", id);
        return CORDON_E_CONFLICT;
    }
    int log = store_open_file(j.folder, "log");
    j.pack = store_open_file(j.folder, "pack");
    j.objects = openat(j.folder, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (log >= 0 && fstat(log, &st) == 0 && st.st_size > 0 && st.st_size <= STORE_LARGEST_LOG) {
        j.size = (size_t)st.st_size;
        bytes = mmap(NULL, j.size, PROT_READ, MAP_PRIVATE, log, 0);
    }
    if (log >= 0)
        close(log);
    int rc = bytes == MAP_FAILED || j.pack < 0 || j.objects < 0 ? CORDON_E_SYNTAX : 0;
    if (bytes != MAP_FAILED)
        j.log = bytes;
    if (rc == 0)
        rc = undo_model_read(&j.model, (struct str){j.log, j.size});
    if (rc == 0 && !j.model.ended && j.model.last && !happened(&j.model)) {
        drop_unused(&j);
        undo_model_drop_last(&j.model);
    }
    if (rc == 0)
        rc = undo_model_replay(&j.model);
    if (rc) {
        snprintf(why, capacity,
                 rc == CORDON_E_UNKNOWN ? "the journal of run %.60s was written by another version "
                                          "of cordon"
                 : rc == CORDON_E_NOMEM ? "out of memory for the journal of run %.60s"
                                        : "the journal of run %.60s is damaged; nothing was "
                                          "changed",
                 id);
        return rc;
    }
    find_end(&j, &st);
    *out = j;
    j = (struct store_journal){.folder = -1, .pack = -1, .objects = -1, .lock = -1};
    return 0;
}
