/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps objects before they change, and records the changes. */
#include "undo/linux/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "cordon.h"
#include "undo/linux/store.h"

/* What is known of an inode in this run. */
enum { MADE = 1, META = 2, DATA = 4, HANDLE = 8, USED = 128 };

struct known {
    uint64_t device, inode;
    unsigned char bits; /* USED: the place was taken once */
};

enum { LONGEST_REASON = 96 };

struct keep {
    int store, folder, objects, log, pack, lock, stamp;
    char id[STORE_LONGEST_ID];
    struct undo_head head;
    char *paths[UNDO_MOST_ROOTS];
    struct known *known;
    size_t known_size, known_used;
    uint64_t limit, used, pack_end, log_end, objects_made, lost;
    bool strict;
    bool broken; /* the log cannot be written any more: nothing after this is covered */
    char reason[LONGEST_REASON];
    struct buf record;
    bool pending;          /* a change is recorded and not yet made */
    uint64_t linked;       /* object that the pending change relies on, counted from 1 */
    struct stat gone;      /* whose last name goes with the pending change; st_nlink 0: none */
    struct stat linked_of; /* the inode of linked */
    struct handle {
        uint64_t object;
        struct stat st;
    } * handles; /* names that the journal gave to inodes which had others */
    size_t handle_count, handle_capacity;
    char content[UNDO_SMALL];
};

/* ---- inodes ---- */

static struct known *find_known(const struct keep *k, uint64_t device, uint64_t inode)
{
    size_t mask = k->known_size - 1;
    size_t i = (size_t)((inode * 0x9e3779b97f4a7c15u) >> 20 ^ device) & mask;
    while (k->known[i].bits && (k->known[i].inode != inode || k->known[i].device != device))
        i = (i + 1) & mask;
    return &k->known[i];
}

static unsigned bits_of(const struct keep *k, const struct stat *st)
{
    return find_known(k, st->st_dev, st->st_ino)->bits & ~(unsigned)USED;
}

/* False if memory runs out: the object is then kept again, which does no harm but cost. */
static bool set_bits(struct keep *k, const struct stat *st, unsigned bits)
{
    if (k->known_used * 2 >= k->known_size) {
        size_t size = k->known_size * 2, old = k->known_size;
        struct known *before = k->known, *table = calloc(size, sizeof *table);
        if (!table)
            return false;
        k->known = table;
        k->known_size = size;
        k->known_used = 0;
        for (size_t i = 0; i < old; i++)
            if (before[i].bits & ~USED) {
                *find_known(k, before[i].device, before[i].inode) = before[i];
                k->known_used++;
            }
        free(before);
    }
    struct known *place = find_known(k, st->st_dev, st->st_ino);
    k->known_used += place->bits == 0;
    *place = (struct known){st->st_dev, st->st_ino, (unsigned char)(place->bits | bits | USED)};
    return true;
}

unsigned keep_handles(const struct keep *k, const struct stat *st)
{
    return st->st_nlink > 1 && (bits_of(k, st) & HANDLE) ? 1 : 0;
}

/* ---- records ---- */

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* 0, or -ENOSPC: the change is not covered. A record that was written in part is taken back, so
   that later ones can be read. */
static int append(struct keep *k)
{
    if (k->broken)
        return k->strict ? -ENOSPC : 0;
    uint64_t end = k->log_end + k->record.n;
    if (!k->record.failed && end < STORE_LARGEST_LOG &&
        write_all(k->log, k->record.p, k->record.n)) {
        k->log_end = end;
        return 0;
    }
    k->broken = ftruncate(k->log, (off_t)k->log_end) != 0 || !k->strict ||
                lseek(k->log, (off_t)k->log_end, SEEK_SET) < 0;
    k->lost++;
    snprintf(k->reason, sizeof k->reason, "%s",
             end >= STORE_LARGEST_LOG ? "too many changes for one journal"
                                      : "the journal cannot be written");
    return k->strict ? -ENOSPC : 0;
}

static int add(struct keep *k, const struct undo_record *record)
{
    buf_reset(&k->record);
    undo_put(&k->record, record);
    return append(k);
}

/* The path below the root that holds it; false: none does. */
static bool below_root(const struct keep *k, const char *path, struct undo_path *out)
{
    size_t best = 0;
    bool found = false;
    for (uint32_t i = 0; i < k->head.root_count; i++) {
        struct str root = k->head.roots[i].path;
        size_t n = root.n == 1 ? 0 : root.n;
        if (n < best || strncmp(path, root.p, n) != 0 || (path[n] != '/' && path[n] != '\0'))
            continue;
        best = n;
        found = true;
        *out = (struct undo_path){i, str_of(path[n] ? path + n + 1 : path + n)};
    }
    return found && out->text.n <= UNDO_LONGEST_PATH;
}

static struct undo_path parent_of(struct undo_path path)
{
    size_t n = path.text.n;
    while (n > 0 && path.text.p[n - 1] != '/')
        n--;
    return (struct undo_path){path.root, str_slice(path.text, 0, n ? n - 1 : 0)};
}

static struct undo_time time_of(struct timespec t)
{
    return (struct undo_time){t.tv_sec, (uint32_t)t.tv_nsec};
}

static struct undo_ident ident_of(const struct stat *st)
{
    return (struct undo_ident){st->st_dev, st->st_ino,
                               st->st_nlink > UINT32_MAX ? UINT32_MAX
                               : st->st_nlink            ? (uint32_t)st->st_nlink
                                                         : 1,
                               st->st_mode, time_of(st->st_ctim)};
}

static struct undo_record keep_record(const struct undo_path *path, const struct stat *st)
{
    return (struct undo_record){.type = UNDO_KEEP,
                                .path = *path,
                                .ident = ident_of(st),
                                .how = UNDO_META,
                                .size = (uint64_t)st->st_size,
                                .user = st->st_uid,
                                .group = st->st_gid,
                                .modified = time_of(st->st_mtim),
                                .accessed = time_of(st->st_atim)};
}

/* Extended attributes that a tree can change: name, NUL, 4 bytes of length, value, each. */
static void take_attributes(int fd, struct buf *out)
{
    char path[64], names[4096], value[UNDO_LONGEST_ATTRIBUTES];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = listxattr(path, names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        if (!str_starts(text, STR("user.")) && !str_starts(text, STR("system.posix_acl_")))
            continue;
        ssize_t size = getxattr(path, name, value, sizeof value);
        if (size < 0 || out->n + text.n + 5 + (size_t)size > UNDO_LONGEST_ATTRIBUTES)
            continue;
        buf_add(out, (struct str){name, text.n + 1});
        for (int i = 0; i < 4; i++)
            buf_char(out, (char)((size_t)size >> (8 * i)));
        buf_add(out, (struct str){value, (size_t)size});
    }
}

/* Records how the object is apart from its content. */
static int note_meta(struct keep *k, int fd, const struct undo_path *path, const struct stat *st)
{
    auto_buf struct buf attributes = {0};
    if (bits_of(k, st) & (MADE | META))
        return 0;
    struct undo_record record = keep_record(path, st);
    if (!S_ISLNK(st->st_mode))
        take_attributes(fd, &attributes);
    record.attributes = buf_str(&attributes);
    int rc = add(k, &record);
    if (rc == 0)
        set_bits(k, st, META);
    return rc;
}

/* A change in a folder changes its times. */
static int note_folder(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    struct stat st;
    if (!place->leaf[0] || fstat(place->parent, &st))
        return 0;
    struct undo_path folder = parent_of(*path);
    return note_meta(k, place->parent, &folder, &st);
}

/* ---- content ---- */

static int lose(struct keep *k, struct undo_record *record, const struct stat *st, const char *why)
{
    snprintf(k->reason, sizeof k->reason, "%s", why);
    k->lost++;
    if (k->strict)
        return -ENOSPC;
    record->how = UNDO_LOST;
    record->text = str_of(why);
    int rc = add(k, record);
    set_bits(k, st, META | DATA);
    return rc;
}

static int copy_content(int from, int to)
{
    off_t at = 0;
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    for (ssize_t n = 1; n > 0;) {
        n = sendfile(to, from, &at, 1 << 26);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            n = 1;
        else if (n < 0)
            return -errno;
    }
    return 0;
}

static void object_name(uint64_t number, char out[24])
{
    snprintf(out, 24, "%llu", (unsigned long long)number);
}

static int keep_large(struct keep *k, int fd, struct undo_record *record)
{
    char name[24];
    object_name(k->objects_made, name);
    int to = openat(k->objects, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
    if (to < 0)
        return -errno;
    int rc = copy_content(fd, to);
    close(to);
    if (rc) {
        unlinkat(k->objects, name, 0);
        return rc;
    }
    record->how = UNDO_COPY;
    record->place = k->objects_made++;
    return 0;
}

static int keep_small(struct keep *k, int fd, struct undo_record *record)
{
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<sizeof k->content; n += got> 0 ? (size_t)got : 0) {
        got = pread(fd, k->content + n, sizeof k->content - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            got = 1, n--;
        else if (got < 0)
            return -errno;
    }
    if (n == sizeof k->content)
        return -EFBIG; /* it has grown */
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite(k->pack, k->content + done, n - done, (off_t)(k->pack_end + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -ENOSPC;
        done += (size_t)wrote;
    }
    record->how = UNDO_PACK;
    record->place = k->pack_end;
    record->size = n;
    record->hash = undo_hash((struct str){k->content, n});
    k->pack_end += n;
    return 0;
}

static int open_to_read(const struct keep_place *place)
{
    char own[64];
    int how = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    snprintf(own, sizeof own, "/proc/self/fd/%d", place->parent);
    for (int quiet = O_NOATIME;; quiet = 0) {
        int fd = place->leaf[0] ? openat(place->parent, place->leaf, how | quiet | O_NOFOLLOW)
                                : open(own, how | quiet);
        if (fd >= 0 || !quiet || errno != EPERM)
            return fd;
    }
}

/* Keeps a copy of a regular file. */
static int keep_copy(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    auto_buf struct buf attributes = {0};
    struct stat st;
    struct undo_record record = keep_record(path, place->st);
    int fd = open_to_read(place);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP
                   ? -EAGAIN
                   : lose(k, &record, place->st, "it could not be read");
    if (fstat(fd, &st) || st.st_dev != place->st->st_dev || st.st_ino != place->st->st_ino) {
        close(fd);
        return -EAGAIN;
    }
    record = keep_record(path, &st);
    take_attributes(fd, &attributes);
    record.attributes = buf_str(&attributes);
    uint64_t size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    int rc;
    if (k->used + size > k->limit)
        rc = -EDQUOT;
    else if (size >= UNDO_SMALL || (rc = keep_small(k, fd, &record)) == -EFBIG)
        rc = keep_large(k, fd, &record);
    close(fd);
    if (rc)
        return lose(k, &record, &st,
                    rc == -EDQUOT   ? "over --undo-limit"
                    : rc == -ENOSPC ? "the disk is full"
                                    : "it could not be copied");
    k->used += size;
    rc = add(k, &record);
    if (rc == 0)
        set_bits(k, &st, META | DATA);
    return rc;
}

/* Keeps the inode itself under a name of the journal. 0; 1 if that is impossible here. */
static int keep_inode(struct keep *k, const struct keep_place *place, const struct undo_path *path,
                      enum undo_how how)
{
    char name[24];
    struct stat st;
    struct undo_record record = keep_record(path, place->st);
    uint64_t size = (uint64_t)place->st->st_blocks * 512;
    if (how == UNDO_LINKED && k->used + size > k->limit)
        return 1;
    object_name(k->objects_made, name);
    if (linkat(place->parent, place->leaf, k->objects, name, 0))
        return errno == ENOENT ? -EAGAIN : 1;
    if (fstatat(k->objects, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_ino != place->st->st_ino ||
        st.st_dev != place->st->st_dev) {
        unlinkat(k->objects, name, 0);
        return -EAGAIN;
    }
    record.how = how;
    record.place = k->objects_made++;
    auto_buf struct buf attributes = {0};
    int fd = how == UNDO_HANDLE ? openat(k->objects, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0) {
        take_attributes(fd, &attributes);
        close(fd);
    }
    record.attributes = buf_str(&attributes);
    int rc = add(k, &record);
    if (rc) {
        unlinkat(k->objects, name, 0);
        return rc;
    }
    if (how == UNDO_HANDLE) {
        if (k->handle_count == k->handle_capacity) {
            size_t more = k->handle_capacity ? k->handle_capacity * 2 : 64;
            struct handle *bigger = realloc(k->handles, more * sizeof *bigger);
            if (!bigger)
                return 0; /* the name stays */
            k->handles = bigger;
            k->handle_capacity = more;
        }
        k->handles[k->handle_count++] = (struct handle){record.place, st};
        set_bits(k, &st, META | HANDLE);
        return 0;
    }
    k->used += size;
    k->linked = record.place + 1;
    k->linked_of = *place->st;
    return 0;
}

/* An object loses this name. */
static int keep_away(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    const struct stat *st = place->st;
    unsigned bits = bits_of(k, st);
    bool last = S_ISDIR(st->st_mode) || st->st_nlink <= 1 + keep_handles(k, st);
    if (last)
        k->gone = *st;
    if (bits & MADE)
        return 0;
    if (S_ISDIR(st->st_mode)) {
        int fd = openat(place->parent, place->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int rc = fd < 0 ? -EAGAIN : note_meta(k, fd, path, st);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    if (S_ISREG(st->st_mode)) {
        if (st->st_nlink > 1 && (bits & HANDLE))
            return 0;
        if (st->st_nlink > 1) {
            int rc = keep_inode(k, place, path, UNDO_HANDLE);
            if (rc <= 0)
                return rc;
        }
        if (bits & DATA)
            return 0;
        int rc = st->st_nlink > 1 ? 1 : keep_inode(k, place, path, UNDO_LINKED);
        return rc <= 0 ? rc : keep_copy(k, place, path);
    }
    if (bits & DATA)
        return 0;
    char target[UNDO_LONGEST_TEXT];
    struct undo_record record = keep_record(path, st);
    ssize_t n =
        S_ISLNK(st->st_mode) ? readlinkat(place->parent, place->leaf, target, sizeof target) : 0;
    if (n < 0 || n == (ssize_t)sizeof target)
        return lose(k, &record, st, "the link could not be read");
    record.how = UNDO_TARGET;
    record.text = (struct str){target, (size_t)n};
    int rc = add(k, &record);
    if (rc == 0)
        set_bits(k, st, META | DATA);
    return rc;
}

/* ---- changes ---- */

static void begin(struct keep *k)
{
    k->pending = false;
    k->linked = 0;
    k->gone.st_nlink = 0;
}

/* The kept link is not needed: the change is not made. */
static void drop_linked(struct keep *k)
{
    char name[24];
    if (!k->linked)
        return;
    object_name(k->linked - 1, name);
    unlinkat(k->objects, name, 0);
    k->used -= (uint64_t)k->linked_of.st_blocks * 512;
    k->linked = 0;
}

static int record_change(struct keep *k, const struct undo_record *record)
{
    int rc = add(k, record);
    if (rc)
        drop_linked(k);
    k->pending = rc == 0;
    return rc;
}

int keep_write(struct keep *k, const struct keep_place *place)
{
    struct undo_path path;
    begin(k);
    if (!S_ISREG(place->st->st_mode) || (bits_of(k, place->st) & (MADE | DATA)) ||
        !below_root(k, place->path, &path))
        return 0;
    return keep_copy(k, place, &path);
}

int keep_attributes(struct keep *k, const struct keep_place *place)
{
    struct undo_path path;
    begin(k);
    if (!below_root(k, place->path, &path))
        return 0;
    int fd = place->leaf[0] ? openat(place->parent, place->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                            : place->parent;
    int rc = fd < 0 ? -EAGAIN : note_meta(k, fd, &path, place->st);
    if (fd >= 0 && fd != place->parent)
        close(fd);
    return rc;
}

int keep_create(struct keep *k, const struct keep_place *place, mode_t mode)
{
    struct undo_record record = {.type = UNDO_CREATE, .ident.mode = mode};
    begin(k);
    if (!below_root(k, place->path, &record.path))
        return 0;
    int rc = note_folder(k, place, &record.path);
    return rc ? rc : record_change(k, &record);
}

int keep_remove(struct keep *k, const struct keep_place *place)
{
    struct undo_record record = {.type = UNDO_REMOVE, .ident = ident_of(place->st)};
    begin(k);
    if (!below_root(k, place->path, &record.path))
        return 0;
    record.ident.links -= keep_handles(k, place->st);
    int rc = note_folder(k, place, &record.path);
    if (rc == 0)
        rc = keep_away(k, place, &record.path);
    return rc ? rc : record_change(k, &record);
}

/* Whether both ends are covered: *rc is 0 if neither is, and -EXDEV if one is, so that programs
   copy instead and every file is seen. */
static bool are_below(const struct keep *k, const struct keep_place *from,
                      const struct keep_place *to, struct undo_record *record, int *rc)
{
    bool first = below_root(k, from->path, &record->path);
    bool second = below_root(k, to->path, &record->to);
    *rc = first == second ? 0 : -EXDEV;
    return first && second;
}

int keep_rename(struct keep *k, const struct keep_place *from, const struct keep_place *to,
                bool exchange)
{
    struct undo_record record = {.type = exchange ? UNDO_EXCHANGE : UNDO_RENAME,
                                 .ident = ident_of(from->st)};
    int rc;
    begin(k);
    if (!are_below(k, from, to, &record, &rc))
        return rc;
    if (to->st && to->st->st_dev == from->st->st_dev && to->st->st_ino == from->st->st_ino)
        return 0; /* two names of one file: nothing happens */
    /* The kernel refuses this: nothing is to be kept. */
    if (to->st && !exchange && S_ISDIR(to->st->st_mode) != S_ISDIR(from->st->st_mode))
        return 0;
    record.ident.links -= keep_handles(k, from->st);
    if (to->st) {
        record.replaced = ident_of(to->st);
        record.replaced.links -= keep_handles(k, to->st);
    }
    rc = note_folder(k, from, &record.path);
    if (rc == 0)
        rc = note_folder(k, to, &record.to);
    /* A folder's own entry for the one above it changes. */
    if (rc == 0 && S_ISDIR(from->st->st_mode))
        rc = keep_attributes(k, from);
    if (rc == 0 && exchange && S_ISDIR(to->st->st_mode))
        rc = keep_attributes(k, to);
    if (rc == 0 && to->st && !exchange)
        rc = keep_away(k, to, &record.to);
    return rc ? rc : record_change(k, &record);
}

int keep_link(struct keep *k, const struct keep_place *from, const struct keep_place *to)
{
    struct undo_record record = {.type = UNDO_LINK, .ident = ident_of(from->st)};
    int rc;
    begin(k);
    if (!are_below(k, from, to, &record, &rc))
        return rc;
    rc = note_folder(k, to, &record.to);
    return rc ? rc : record_change(k, &record);
}

void keep_after(struct keep *k, int error, const struct keep_place *made)
{
    struct stat st;
    char name[24];
    if (!k->pending)
        return;
    k->pending = false;
    if (error) {
        add(k, &(struct undo_record){.type = UNDO_FAILED});
        drop_linked(k);
        return;
    }
    if (k->gone.st_nlink)
        find_known(k, k->gone.st_dev, k->gone.st_ino)->bits &= USED;
    if (k->linked) {
        /* Only now: while it had a name in the tree, others could open it. */
        object_name(k->linked - 1, name);
        fchmodat(k->objects, name, 0, 0);
        k->linked = 0;
    }
    if (made && fstatat(made->parent, made->leaf, &st, AT_SYMLINK_NOFOLLOW) == 0)
        set_bits(k, &st, MADE);
}

const char *keep_lost(const struct keep *k, uint64_t *count)
{
    *count = k->lost;
    return k->lost ? k->reason : NULL;
}

/* ---- a journal's life ---- */

const char *keep_run(const struct keep *k)
{
    return k->id;
}

int keep_stamp(const struct keep *k)
{
    return k->stamp;
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
        if (below_root(k, store, &path)) {
            snprintf(why, capacity,
                     "--undo: the journal would lie inside the root %s; set XDG_STATE_HOME to "
                     "another folder",
                     reason);
            return CORDON_E_CONFLICT;
        }
    }
    return 0;
}

int keep_open(const struct keep_options *o, struct keep **out, char *why, size_t capacity)
{
    struct keep *k = calloc(1, sizeof *k);
    snprintf(why, capacity, "out of memory");
    if (!k)
        return CORDON_E_NOMEM;
    k->store = k->folder = k->objects = k->log = k->pack = k->lock = k->stamp = -1;
    k->limit = o->limit;
    k->strict = o->strict;
    k->known_size = 1024;
    k->known = calloc(k->known_size, sizeof *k->known);
    int rc = k->known ? take_roots(k, o, why, capacity) : CORDON_E_NOMEM;
    if (rc == 0 && (k->store = store_open(true, why, capacity)) < 0)
        rc = CORDON_E_OPEN;
    int guard = rc == 0 ? store_lock(k->store) : -1;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (rc == 0) {
        static const struct timespec never[2] = {{0, 0}, {0, 0}};
        k->folder = make_folder(k);
        if (k->folder >= 0 && mkdirat(k->folder, "objects", 0700) == 0)
            k->objects = openat(k->folder, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        k->lock = make_file(k, "lock", 0600);
        k->stamp = make_file(k, "stamp", 0600);
        k->pack = make_file(k, "pack", 0);
        k->log = make_file(k, "log", 0);
        k->head.run = str_of(k->id);
        k->head.session = str_slice(str_of(o->session), 0, UNDO_LONGEST_NAME);
        k->head.command = str_slice(str_of(o->command), 0, UNDO_LONGEST_TEXT);
        k->head.undoes = str_of(o->undoes);
        k->head.time = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        undo_put_head(&k->record, &k->head);
        k->log_end = k->record.n;
        if (k->objects < 0 || k->lock < 0 || k->stamp < 0 || k->pack < 0 || k->log < 0 ||
            flock(k->lock, LOCK_EX | LOCK_NB) || futimens(k->stamp, never) || k->record.failed ||
            !write_all(k->log, k->record.p, k->record.n)) {
            snprintf(why, capacity, "--undo: cannot create the journal: %s", strerror(errno));
            rc = CORDON_E_WRITE;
        }
    }
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
                    !below_root(k, path, &below))
                    continue;
                struct undo_record record = keep_record(&below, &h->st);
                object_name(h->object, own);
                if (add(k, &record) == 0 && !k->broken && unlinkat(k->objects, own, 0) == 0)
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
        object_name(k->handles[i].object, name);
        if (fstatat(k->objects, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 1)
            continue;
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
    struct timespec now, later;
    bool lossless = !k->broken;
    drop_handles(k);
    clock_gettime(CLOCK_REALTIME, &now);
    /* File systems take times from a clock that moves in steps, or from the exact one: what is
       changed after this run must get a later time from either. */
    do {
        nanosleep(&(struct timespec){0, 500000}, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, &later);
    } while (undo_time_compare(time_of(later), time_of(now)) <= 0 &&
             later.tv_sec >= now.tv_sec - 1); /* unless the clock was set */
    k->broken = false;
    add(k, &(struct undo_record){.type = UNDO_END, .end = time_of(now)});
    futimens(k->stamp, (struct timespec[2]){now, now});
    return lossless && !k->broken;
}

void keep_close(struct keep *k, bool discard)
{
    int files[] = {k->log, k->pack, k->objects, k->stamp, k->lock, k->folder};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (k->store >= 0 && discard && k->id[0])
        store_drop(k->store, k->id);
    if (k->store >= 0)
        close(k->store);
    for (size_t i = 0; i < UNDO_MOST_ROOTS; i++)
        free(k->paths[i]);
    free(k->known);
    free(k->handles);
    buf_free(&k->record);
    free(k);
}
