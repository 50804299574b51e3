/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a run back, in this order: decide for every object whether it can be restored; take away
 * what the run made and move aside what it renamed, deepest names first; put every object back under
 * its old name, outermost first; then contents, and the times of folders last. Every step goes into
 * a journal of its own, so that the undo can be taken back like any other run.
 *
 * Objects on their way lie in a folder of the root, under a number: from there a rename puts them
 * into place at once.
 */
#include "undo/linux/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cordon.h"

enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE */

/* What is decided and done about one object. */
struct task {
    bool wanted;  /* it changed and was asked for */
    bool left;    /* alone: why says why */
    bool failed;  /* in the attempt */
    bool staged;  /* it lies in the staging folder under its number */
    bool adopted; /* a folder that the run made anew: it stays */
    bool quiet;   /* a folder nobody else changed since: its times are restored too */
    bool told;
    uint32_t missing; /* names that it does not have again yet */
    const char *why;
};

struct undoing {
    int store;
    struct store_journal *j;
    struct undo_model *m;
    const struct restore_options *o;
    struct restore_counts *counts;
    int roots[UNDO_MOST_ROOTS];
    int staging[UNDO_MOST_ROOTS];        /* -1: none yet */
    struct stat before[UNDO_MOST_ROOTS]; /* the root before staging changed its times */
    char stage_name[STORE_LONGEST_ID + 16];
    struct keep *keep;  /* the undo's own journal */
    struct task *tasks; /* by object */
    struct buf same;    /* what to add to the list of equal states */
    const struct equal *equals;
    size_t equal_count;
    uint64_t spare; /* the next number of a further name in staging */
};

/* Two states of a file that are the same: an undo made the first out of the second. */
struct equal {
    uint64_t device, inode, seconds, nanoseconds;
    uint64_t old_inode, old_seconds, old_nanoseconds;
};

/* ---- paths ---- */

static bool is_ready(const struct undoing *u, uint32_t object)
{
    const struct task *t = &u->tasks[object];
    return t->wanted && !t->left && !t->failed;
}

/* Where an entry will be, or is, given which folders go back to their old names. */
static int final_path(const struct undoing *u, uint32_t entry, struct buf *out)
{
    uint32_t chain[UNDO_LONGEST_PATH];
    size_t count = 0;
    for (uint32_t at = entry; at;) {
        uint32_t folder = u->m->entries[at].folder;
        const struct undo_object *o = &u->m->objects[folder];
        if (count == UNDO_LONGEST_PATH)
            return -1;
        chain[count++] = at;
        if (!o->root) {
            bool back = o->before && (is_ready(u, folder) || !o->after);
            at = back ? o->before : o->after;
            continue;
        }
        while (count-- > 0) {
            buf_add(out, u->m->entries[chain[count]].name);
            if (count)
                buf_char(out, '/');
        }
        return (int)folder - 1;
    }
    return -1;
}

/* Finds an entry on the disk: as the run left it, or as it will be. */
static int find_entry(const struct undoing *u, uint32_t entry, bool final,
                      struct restore_spot *spot)
{
    auto_buf struct buf path = {0};
    int root = final ? final_path(u, entry, &path) : undo_model_path(u->m, entry, false, &path);
    spot->parent = -1;
    if (root < 0 || path.failed)
        return -ENOENT;
    return restore_find(&u->m->head, u->roots, (uint32_t)root, buf_str(&path), spot);
}

static struct keep_place place_of(const struct restore_spot *spot)
{
    return (struct keep_place){spot->parent, spot->leaf, spot->path,
                               spot->exists ? &spot->st : NULL};
}

/* ---- saying ---- */

static void say(struct undoing *u, uint32_t object, enum restore_result result, const char *why)
{
    auto_buf struct buf path = {0}, from = {0};
    const struct undo_object *o = &u->m->objects[object];
    bool before = !o->made && o->before;
    if (u->tasks[object].told)
        return;
    u->tasks[object].told = true;
    uint32_t entry = before ? o->before : o->after;
    if (u->m->head.root_count > 1) {
        auto_buf struct buf rest = {0};
        int root = undo_model_path(u->m, entry, before, &rest);
        if (root >= 0)
            buf_fmt(&path, "%.*s/", STR_ARG(u->m->head.roots[root].path));
        buf_add(&path, buf_str(&rest));
    } else
        undo_model_path(u->m, entry, before, &path);
    if (result == RESTORE_MOVED)
        undo_model_path(u->m, o->after, false, &from);
    if (o->folder)
        buf_char(&path, '/');
    switch (result) {
    case RESTORE_FAILED: u->counts->failed++; break;
    case RESTORE_CONFLICT: u->counts->conflicts++; break;
    case RESTORE_REMOVED:
    case RESTORE_RESTORED:
    case RESTORE_MOVED: u->counts->done++; break;
    }
    if (u->o->said)
        u->o->said(u->o->context, &(struct restore_item){result, buf_cstr(&path), buf_cstr(&from),
                                                         why ? why : ""});
}

static void leave(struct undoing *u, uint32_t object, const char *why)
{
    u->tasks[object].left = true;
    u->tasks[object].why = why;
}

static void fail(struct undoing *u, uint32_t object, int error)
{
    u->tasks[object].failed = true;
    u->tasks[object].told = false;
    say(u, object, RESTORE_FAILED, strerror(error < 0 ? -error : error));
}

/* ---- what can be restored ---- */

static bool names_differ(const struct undo_model *m, uint32_t object)
{
    const struct undo_object *o = &m->objects[object];
    for (uint32_t i = o->before; i; i = m->entries[i].next_before)
        if (m->entries[i].after != object)
            return true;
    for (uint32_t i = o->after; i; i = m->entries[i].next_after)
        if (m->entries[i].before != object)
            return true;
    return false;
}

/* By the state that the undo made. */
static int compare_equals(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    for (size_t i = 0; i < offsetof(struct equal, old_inode) / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The state that this one is equal to. */
static bool step_back(const struct undoing *u, uint64_t device, uint64_t *inode,
                      struct undo_time *time)
{
    struct equal key = {device, *inode, (uint64_t)time->seconds, time->nanoseconds, 0, 0, 0};
    const struct equal *e =
        u->equal_count ? bsearch(&key, u->equals, u->equal_count, sizeof key, compare_equals)
                       : NULL;
    if (!e)
        return false;
    *inode = e->old_inode;
    *time = (struct undo_time){(int64_t)e->old_seconds, (uint32_t)e->old_nanoseconds};
    return true;
}

/* True if the object is as the run left it, or as an undo of a later run left it. */
static bool is_untouched(const struct undoing *u, const struct stat *st)
{
    enum { MOST_STEPS = 64 };
    uint64_t inode = st->st_ino;
    struct undo_time time = {st->st_ctim.tv_sec, (uint32_t)st->st_ctim.tv_nsec};
    for (int i = 0; i < MOST_STEPS; i++) {
        if (undo_time_compare(time, u->j->end) <= 0)
            return true;
        if (!step_back(u, st->st_dev, &inode, &time))
            return false;
    }
    return false;
}

/* An earlier undo of a part has put it back, and nothing changed it since. */
static bool is_back(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    struct restore_spot spot = {.parent = -1};
    if (o->made || o->folder || !o->before)
        return false;
    bool back = find_entry(u, o->before, true, &spot) == 0 && spot.exists;
    uint64_t inode = spot.st.st_ino;
    struct undo_time time = {spot.st.st_ctim.tv_sec, (uint32_t)spot.st.st_ctim.tv_nsec};
    const struct undo_ident *was = &o->ident;
    back = back && step_back(u, spot.st.st_dev, &inode, &time) && inode == was->inode &&
           undo_time_compare(time, was->changed) == 0;
    restore_leave(&spot);
    return back;
}

/* Looks at the object's names on the disk. */
static void look_for_conflicts(struct undoing *u, uint32_t object)
{
    if (names_differ(u->m, object) && is_back(u, object)) {
        u->tasks[object].wanted = false;
        return;
    }
    const struct undo_object *o = &u->m->objects[object];
    struct task *t = &u->tasks[object];
    struct restore_spot spot;
    for (uint32_t i = o->after; i && !t->left; i = u->m->entries[i].next_after) {
        int rc = find_entry(u, i, false, &spot);
        bool there = rc == 0 && spot.exists;
        if (rc == -ELOOP || rc == -EXDEV || rc == -ENOTDIR)
            leave(u, object, "a folder on the way to it is something else now");
        else if (!there && !o->made)
            leave(u, object, "it is gone");
        else if (there && S_ISDIR(spot.st.st_mode) != o->folder)
            leave(u, object, "something else has its name");
        else if (there && !is_untouched(u, &spot.st)) {
            if (!o->folder && !u->o->force)
                leave(u, object, "it was changed after the run");
        } else if (there)
            t->quiet = true;
        restore_leave(&spot);
    }
    for (uint32_t i = o->before; i && !t->left && !o->folder; i = u->m->entries[i].next_before) {
        const struct undo_object *f = &u->m->objects[u->m->entries[i].folder];
        if (u->m->entries[i].after || (!f->root && !f->after))
            continue;
        bool there = find_entry(u, i, false, &spot) == 0 && spot.exists;
        if (there && (!u->o->force || S_ISDIR(spot.st.st_mode)))
            leave(u, object, "something new has its name");
        restore_leave(&spot);
    }
}

/* What is needed to restore it must be in the journal. */
static void look_for_content(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *data = undo_model_record(u->m, o->data);
    if (o->made || o->folder)
        return;
    if (data && data->how == UNDO_LOST) {
        auto_buf struct buf why = {0};
        buf_fmt(&why, "it was not kept: %.*s", STR_ARG(data->text));
        const char *text = arena_copy(&u->m->arena, buf_str(&why)).p;
        leave(u, object, text ? text : "it was not kept");
    } else if (!o->after && !data && !o->handle)
        leave(u, object, "it was not kept");
}

static bool is_below(const char *path, const struct restore_options *o)
{
    for (size_t i = 0; i < o->path_count; i++) {
        size_t n = strlen(o->paths[i]);
        if (strncmp(path, o->paths[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return o->path_count == 0;
}

static bool is_asked_for(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    for (int before = 0; before < 2; before++)
        for (uint32_t i = before ? o->before : o->after; i;
             i = before ? u->m->entries[i].next_before : u->m->entries[i].next_after) {
            auto_buf struct buf path = {0}, rest = {0};
            int root = undo_model_path(u->m, i, before, &rest);
            if (root < 0)
                continue;
            buf_fmt(&path, "%.*s/%s", STR_ARG(u->m->head.roots[root].path), buf_cstr(&rest));
            if (is_below(buf_cstr(&path), u->o))
                return true;
        }
    return u->o->path_count == 0;
}

/* A folder that is gone is needed again for what was in it. */
static void want_parents(struct undoing *u, uint32_t object)
{
    for (uint32_t e = u->m->objects[object].before; e;) {
        uint32_t folder = u->m->entries[e].folder;
        if (u->m->objects[folder].root || u->tasks[folder].wanted)
            return;
        if (!u->m->objects[folder].after)
            u->tasks[folder].wanted = true;
        e = u->m->objects[folder].before;
    }
}

/* The object that has the entry now gives it up. */
static bool gives_up(const struct undoing *u, uint32_t entry)
{
    uint32_t now = u->m->entries[entry].after;
    return !now || is_ready(u, now);
}

/* One round; true if something was found that is in the way of something else. */
static bool find_blocked(struct undoing *u)
{
    bool found = false;
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (!is_ready(u, i) || o->made)
            continue;
        for (uint32_t e = o->before; e && !u->tasks[i].left; e = u->m->entries[e].next_before) {
            uint32_t folder = u->m->entries[e].folder;
            const struct undo_object *f = &u->m->objects[folder];
            const struct task *now = &u->tasks[u->m->entries[e].after];
            if (!f->root && !f->after && !is_ready(u, folder))
                leave(u, i, "its folder cannot be restored");
            else if (u->m->entries[e].after != i && !u->tasks[i].adopted && !gives_up(u, e))
                leave(u, i, now->left && now->why ? now->why : "something else has its name");
            found = found || u->tasks[i].left;
        }
    }
    return found;
}

static void decide(struct undoing *u)
{
    struct undo_model *m = u->m;
    for (uint32_t i = 1; i < m->object_count; i++) {
        const struct undo_object *o = &m->objects[i];
        if (o->root || o->foreign)
            continue;
        bool changed = o->made ? o->after != 0 : o->meta || names_differ(m, i);
        u->tasks[i].wanted = changed && is_asked_for(u, i);
        if (u->tasks[i].wanted && !o->made)
            want_parents(u, i);
    }
    for (uint32_t i = 1; i < m->object_count; i++) {
        const struct undo_object *o = &m->objects[i];
        /* A folder that was removed and made again stays. */
        if (o->folder && !o->made && !o->after && o->before) {
            uint32_t now = m->entries[o->before].after;
            if (now && m->objects[now].made && m->objects[now].folder)
                u->tasks[i].adopted = u->tasks[now].adopted = true;
        }
    }
    for (uint32_t i = 1; i < m->object_count; i++)
        if (u->tasks[i].wanted) {
            look_for_content(u, i);
            if (!u->tasks[i].left)
                look_for_conflicts(u, i);
        }
    while (find_blocked(u))
        ;
}

/* ---- steps, each with its record ---- */

static int act_rename(struct undoing *u, struct restore_spot *from, struct restore_spot *to,
                      bool over)
{
    struct keep_place first = place_of(from), second = place_of(to);
    int rc = keep_rename(u->keep, &first, &second, false);
    if (rc)
        return rc;
    rc = (int)syscall(SYS_renameat2, from->parent, from->leaf, to->parent, to->leaf,
                      over ? 0 : NO_REPLACE);
    rc = rc ? -errno : 0;
    keep_after(u->keep, -rc, NULL);
    return rc;
}

static int act_remove(struct undoing *u, struct restore_spot *spot)
{
    struct keep_place place = place_of(spot);
    int rc = keep_remove(u->keep, &place);
    if (rc)
        return rc;
    rc = unlinkat(spot->parent, spot->leaf, S_ISDIR(spot->st.st_mode) ? AT_REMOVEDIR : 0);
    rc = rc ? -errno : 0;
    keep_after(u->keep, -rc, NULL);
    return rc;
}

static int act_link(struct undoing *u, struct restore_spot *from, struct restore_spot *to)
{
    struct keep_place first = place_of(from), second = place_of(to);
    int rc = keep_link(u->keep, &first, &second);
    if (rc)
        return rc;
    rc = linkat(from->parent, from->leaf, to->parent, to->leaf, 0) ? -errno : 0;
    keep_after(u->keep, -rc, NULL);
    return rc;
}

static int act_mkdir(struct undoing *u, struct restore_spot *spot)
{
    struct keep_place place = place_of(spot);
    int rc = keep_create(u->keep, &place, S_IFDIR);
    if (rc)
        return rc;
    rc = mkdirat(spot->parent, spot->leaf, 0700) ? -errno : 0;
    keep_after(u->keep, -rc, &place);
    return rc;
}

/* ---- the staging folder ---- */

static int stage_find(struct undoing *u, uint32_t root, uint64_t number, struct restore_spot *out)
{
    char path[STORE_LONGEST_ID + 48];
    if (u->staging[root] < 0) {
        struct restore_spot spot;
        int rc = restore_find(&u->m->head, u->roots, root, str_of(u->stage_name), &spot);
        if (rc == 0)
            rc = fstat(u->roots[root], &u->before[root]) ? -errno : act_mkdir(u, &spot);
        restore_leave(&spot);
        if (rc)
            return rc;
        u->staging[root] = 1;
    }
    snprintf(path, sizeof path, "%s/%llu", u->stage_name, (unsigned long long)number);
    return restore_find(&u->m->head, u->roots, root, str_of(path), out);
}

static uint32_t root_of(const struct undoing *u, uint32_t object)
{
    auto_buf struct buf path = {0};
    const struct undo_object *o = &u->m->objects[object];
    int root = undo_model_path(u->m, o->before ? o->before : o->after, o->before != 0, &path);
    return root < 0 ? 0 : (uint32_t)root;
}

static void remove_staging(struct undoing *u)
{
    struct restore_spot spot;
    for (uint32_t i = 0; i < u->m->head.root_count; i++)
        if (u->staging[i] >= 0 &&
            restore_find(&u->m->head, u->roots, i, str_of(u->stage_name), &spot) == 0) {
            if (spot.exists)
                act_remove(u, &spot); /* not if something had to stay in it */
            restore_leave(&spot);
        }
}

/* ---- content and attributes ---- */

static int copy_range(int from, off_t at, uint64_t size, int to)
{
    while (size) {
        ssize_t n = sendfile(to, from, &at, size > 1 << 26 ? 1 << 26 : (size_t)size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO; /* the journal is cut off */
        size -= (uint64_t)n;
    }
    return 0;
}

/* Writes the kept content to an empty file. */
static int write_content(const struct undoing *u, const struct undo_record *data, int to)
{
    char name[24], content[UNDO_SMALL];
    if (data->how == UNDO_PACK) {
        size_t size = (size_t)data->size;
        if (pread(u->j->pack, content, size, (off_t)data->place) != (ssize_t)size ||
            undo_hash((struct str){content, size}) != data->hash)
            return -EIO;
        ssize_t n = size ? write(to, content, size) : 0;
        return n == (ssize_t)size ? 0 : n < 0 ? -errno : -ENOSPC;
    }
    snprintf(name, sizeof name, "%llu", (unsigned long long)data->place);
    int from = store_open_file(u->j->objects, name);
    if (from < 0)
        return -errno;
    struct stat st;
    int rc = fstat(from, &st) ? -errno : 0;
    if (rc == 0 && ioctl(to, FICLONE, from))
        rc = copy_range(from, 0, (uint64_t)st.st_size, to);
    close(from);
    return rc;
}

static void set_attributes(const char *path, struct str kept)
{
    char names[4096];
    ssize_t n = listxattr(path, names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        /* With the NUL: the whole name. */
        struct str whole = {name, text.n + 1};
        if ((str_starts(text, STR("user.")) || str_starts(text, STR("system.posix_acl_"))) &&
            str_find(kept, whole, 0) >= kept.n)
            removexattr(path, name);
    }
    for (size_t at = 0; at < kept.n;) {
        size_t end = str_find_char(kept, '\0', at), size = 0;
        if (end + 5 > kept.n)
            return;
        for (int i = 0; i < 4; i++)
            size |= (size_t)(unsigned char)kept.p[end + 1 + (size_t)i] << (8 * i);
        if (size > kept.n - end - 5)
            return;
        setxattr(path, kept.p + at, kept.p + end + 5, size, 0);
        at = end + 5 + size;
    }
}

/* Mode, owner, attributes and times of an object that is in place. */
static int set_meta(const struct undo_record *meta, const struct restore_spot *spot, bool times,
                    bool attributes)
{
    char own[64];
    struct stat st;
    int fd = spot->leaf[0] ? openat(spot->parent, spot->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                           : dup(spot->parent);
    if (fd < 0 || fstat(fd, &st) || (st.st_mode & S_IFMT) != (meta->ident.mode & S_IFMT)) {
        if (fd >= 0)
            close(fd);
        return -ESTALE;
    }
    int rc = 0;
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if ((st.st_uid != meta->user || st.st_gid != meta->group) &&
        fchownat(fd, "", meta->user, meta->group, AT_EMPTY_PATH))
        rc = -errno;
    if (!S_ISLNK(st.st_mode)) {
        if (attributes)
            set_attributes(own, meta->attributes);
        if (chmod(own, meta->ident.mode & 07777) && rc == 0)
            rc = -errno;
    }
    struct timespec both[2] = {{(time_t)meta->accessed.seconds, (long)meta->accessed.nanoseconds},
                               {(time_t)meta->modified.seconds, (long)meta->modified.nanoseconds}};
    if (times && syscall(SYS_utimensat, fd, "", both, AT_EMPTY_PATH) && rc == 0)
        rc = -errno;
    close(fd);
    return rc;
}

/* Makes a new object in staging out of what was kept. */
static int make_object(struct undoing *u, uint32_t object, struct restore_spot *spot)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    const struct undo_record *data = undo_model_record(u->m, o->data);
    mode_t type = meta ? meta->ident.mode & S_IFMT : 0;
    struct keep_place place = place_of(spot);
    char name[24], target[UNDO_LONGEST_TEXT + 1];
    int rc = keep_create(u->keep, &place, type);
    if (rc)
        return rc;
    int fd = -1;
    /* The inode itself, if the journal has it and nothing wrote to it. */
    const struct undo_record *inode = o->handle ? undo_model_record(u->m, o->handle)
                                      : data && data->how == UNDO_LINKED ? data
                                                                         : NULL;
    if (!meta || (!inode && !data))
        rc = -ENOENT;
    else if (inode) {
        snprintf(name, sizeof name, "%llu", (unsigned long long)inode->place);
        rc = linkat(u->j->objects, name, spot->parent, spot->leaf, 0) ? -errno : 0;
        /* The journal's name of an inode goes when another is known. */
        if ((rc == -EXDEV || rc == -ENOENT) && data) {
            inode = NULL;
            rc = 0;
        }
    }
    if (rc == 0 && !inode) {
        if (S_ISREG(type)) {
            fd = openat(spot->parent, spot->leaf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            rc = fd < 0 ? -errno : data ? write_content(u, data, fd) : -ENOENT;
        } else if (S_ISLNK(type)) {
            snprintf(target, sizeof target, "%.*s", STR_ARG(data->text));
            rc = symlinkat(target, spot->parent, spot->leaf) ? -errno : 0;
        } else if (S_ISFIFO(type) || S_ISSOCK(type))
            rc = mknodat(spot->parent, spot->leaf, type | 0600, 0) ? -errno : 0;
        else
            rc = -EOPNOTSUPP;
    }
    if (rc && fd >= 0)
        unlinkat(spot->parent, spot->leaf, 0);
    keep_after(u->keep, -rc, &place);
    /* An inode that had several names may have been written to after one of them went. */
    if (rc == 0 && inode && data && data->how != UNDO_LINKED && S_ISREG(type)) {
        fd = openat(spot->parent, spot->leaf, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
        rc = fd < 0 ? -errno : write_content(u, data, fd);
    }
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        rc = set_meta(meta, spot, true, meta->how != UNDO_LINKED);
    return rc;
}

/* ---- the passes ---- */

struct order {
    uint32_t entry;
    unsigned depth;
};

static int deepest_first(const void *a, const void *b)
{
    const struct order *left = a, *right = b;
    if (left->depth != right->depth)
        return left->depth > right->depth ? -1 : 1;
    return left->entry < right->entry ? -1 : left->entry > right->entry;
}

static int outermost_first(const void *a, const void *b)
{
    return deepest_first(b, a);
}

/* The file that comes back to this name replaces the present one in one step. */
static bool is_overwritten(const struct undoing *u, uint32_t entry)
{
    const struct undo_entry *e = &u->m->entries[entry];
    return e->before && is_ready(u, e->before) && !u->m->objects[e->before].folder &&
           u->m->objects[e->after].made && !u->m->objects[e->after].folder;
}

/* The object leaves a name that it did not have before. */
static void vacate(struct undoing *u, uint32_t entry)
{
    uint32_t object = u->m->entries[entry].after;
    struct task *t = &u->tasks[object];
    struct restore_spot spot, stage = {.parent = -1};
    int rc = find_entry(u, entry, false, &spot);
    if (rc == 0 && !spot.exists)
        rc = -ENOENT;
    if (rc) {
        if (!u->m->objects[object].made)
            fail(u, object, rc);
    } else if (u->m->objects[object].made) {
        rc = act_remove(u, &spot);
        if (rc == -ENOTEMPTY || rc == -EEXIST)
            say(u, object, RESTORE_CONFLICT, "something new is in it");
        else if (rc)
            fail(u, object, rc);
        else
            say(u, object, RESTORE_REMOVED, NULL);
    } else if (undo_lost_name(u->m, object) && !t->staged) {
        rc = stage_find(u, root_of(u, object), object, &stage);
        if (rc == 0)
            rc = act_rename(u, &spot, &stage, false);
        t->staged = rc == 0;
        if (rc)
            fail(u, object, rc);
    } else {
        rc = act_remove(u, &spot);
        if (rc)
            fail(u, object, rc);
        else
            say(u, object, RESTORE_REMOVED, NULL);
    }
    restore_leave(&spot);
    restore_leave(&stage);
}

/* A file that is in place but has one name too few: staging gets a further one. */
static int stage_present(struct undoing *u, uint32_t object, struct restore_spot *stage)
{
    struct restore_spot spot;
    int rc = find_entry(u, u->m->objects[object].after, true, &spot);
    if (rc == 0)
        rc = spot.exists ? act_link(u, &spot, stage) : -ENOENT;
    restore_leave(&spot);
    return rc;
}

/* Puts the object under a name that it had. */
static int attach(struct undoing *u, uint32_t entry, bool last)
{
    uint32_t object = u->m->entries[entry].before;
    const struct undo_object *o = &u->m->objects[object];
    struct task *t = &u->tasks[object];
    struct restore_spot spot, stage = {.parent = -1}, extra = {.parent = -1};
    int rc = find_entry(u, entry, true, &spot);
    uint32_t root = root_of(u, object);
    bool over = spot.parent >= 0 && spot.exists && (u->o->force || is_overwritten(u, entry)) &&
                !S_ISDIR(spot.st.st_mode);
    if (rc == 0 && o->folder && t->adopted) {
        rc = spot.exists && S_ISDIR(spot.st.st_mode) ? 0 : act_mkdir(u, &spot);
    } else if (rc == 0 && o->folder && !t->staged) {
        rc = act_mkdir(u, &spot);
    } else if (rc == 0) {
        rc = stage_find(u, root, object, &stage);
        if (rc == 0 && !t->staged) {
            rc = o->after ? stage_present(u, object, &stage) : make_object(u, object, &stage);
            t->staged = rc == 0;
        }
        if (rc == 0) {
            restore_leave(&stage);
            rc = stage_find(u, root, object, &stage);
        }
        if (rc == 0 && !last) {
            rc = stage_find(u, root, u->m->object_count + u->spare++, &extra);
            if (rc == 0)
                rc = act_link(u, &stage, &extra);
            restore_leave(&extra);
            if (rc == 0)
                rc = stage_find(u, root, u->m->object_count + u->spare - 1, &extra);
        }
        if (rc == 0)
            rc = act_rename(u, last ? &stage : &extra, &spot, over);
    }
    restore_leave(&extra);
    restore_leave(&stage);
    restore_leave(&spot);
    return rc;
}

/* It could not go back: better its last place than none. */
static void put_back(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    struct restore_spot spot = {.parent = -1}, stage = {.parent = -1};
    if (stage_find(u, root_of(u, object), object, &stage) == 0 && stage.exists) {
        if (!o->after)
            act_remove(u, &stage); /* the journal has it still */
        else if (find_entry(u, o->after, true, &spot) == 0)
            act_rename(u, &stage, &spot, false);
    }
    restore_leave(&spot);
    restore_leave(&stage);
}

static void attach_all(struct undoing *u, struct order *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t object = u->m->entries[list[i].entry].before;
        bool last = --u->tasks[object].missing == 0;
        if (!is_ready(u, object))
            continue;
        int rc = attach(u, list[i].entry, last);
        if (rc) {
            if (u->tasks[object].staged)
                put_back(u, object);
            fail(u, object, rc);
        } else if (last)
            say(u, object, u->m->objects[object].after ? RESTORE_MOVED : RESTORE_RESTORED, NULL);
    }
}

/* The run changed nothing in this folder, the undo does: its times stay. */
static void set_folder_times(const struct restore_spot *spot, const struct stat *before)
{
    struct timespec both[2] = {before->st_atim, before->st_mtim};
    syscall(SYS_utimensat, spot->parent, "", both, AT_EMPTY_PATH);
}

/* The content of a file that kept its inode: by a new file in its place, or in place if it has
   several names. */
static int restore_content(struct undoing *u, uint32_t object, struct restore_spot *spot)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *data = undo_model_record(u->m, o->data);
    struct keep_place place = place_of(spot);
    if (spot->st.st_nlink > 1) {
        int rc = keep_write(u->keep, &place);
        if (rc)
            return rc;
        int fd = openat(spot->parent, spot->leaf, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        rc = ftruncate(fd, 0) ? -errno : write_content(u, data, fd);
        close(fd);
        return rc ? rc : set_meta(undo_model_record(u->m, o->meta), spot, true, true);
    }
    struct restore_spot stage;
    struct stat folder;
    uint32_t root = root_of(u, object);
    if (fstat(spot->parent, &folder))
        return -errno;
    int rc = stage_find(u, root, object, &stage);
    if (rc == 0)
        rc = make_object(u, object, &stage);
    restore_leave(&stage);
    if (rc == 0)
        rc = stage_find(u, root, object, &stage);
    if (rc == 0) {
        rc = act_rename(u, &stage, spot, true);
        if (rc)
            act_remove(u, &stage);
        restore_leave(&stage);
        set_folder_times(spot, &folder);
    }
    return rc;
}

/* Objects whose content, mode or times changed, now that all are in their places. */
static void restore_present(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        const struct undo_record *meta = undo_model_record(u->m, o->meta);
        struct restore_spot spot;
        if (!is_ready(u, i) || o->made || o->folder || !meta || !o->before || !o->after)
            continue;
        const struct undo_record *data = undo_model_record(u->m, o->data);
        int rc = find_entry(u, o->before, true, &spot);
        if (rc == 0 && !spot.exists)
            rc = -ENOENT;
        struct keep_place place = place_of(&spot);
        struct undo_change change = {.kind = UNDO_MODIFIED, .was = i, .in_doubt = true};
        auto_buf struct buf path = {0};
        if (rc == 0) {
            change.root = (uint32_t)final_path(u, o->before, &path);
            change.path = buf_str(&path);
        }
        if (rc == 0 && !restore_differs(u->j, u->roots, &change)) {
            /* The same but for its attributes, perhaps. */
            bool touched = spot.st.st_ctim.tv_sec != meta->ident.changed.seconds ||
                           spot.st.st_ctim.tv_nsec != (long)meta->ident.changed.nanoseconds;
            rc = touched ? keep_attributes(u->keep, &place) : 0;
            if (rc == 0 && touched)
                rc = set_meta(meta, &spot, true, true);
            u->tasks[i].told = u->tasks[i].told || rc == 0;
        } else if (rc == 0 && data && S_ISREG(meta->ident.mode)) {
            rc = restore_content(u, i, &spot);
        } else if (rc == 0) {
            rc = keep_attributes(u->keep, &place);
            if (rc == 0)
                rc = set_meta(meta, &spot, true, true);
        }
        restore_leave(&spot);
        if (rc)
            fail(u, i, rc);
        else
            say(u, i, RESTORE_RESTORED, NULL);
    }
}

/* Folders last: everything above changed their times. */
static void restore_folders(struct undoing *u, struct order *list)
{
    size_t count = 0;
    bool all = u->o->path_count == 0;
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (o->folder && !o->made && o->before && o->meta && is_ready(u, i))
            list[count++] = (struct order){i, undo_model_depth(u->m, o->before, true)};
    }
    qsort(list, count, sizeof *list, deepest_first);
    for (size_t i = 0; i < count + u->m->head.root_count; i++) {
        uint32_t object = i < count ? list[i].entry : (uint32_t)(i - count) + 1;
        const struct undo_object *o = &u->m->objects[object];
        const struct undo_record *meta = undo_model_record(u->m, o->meta);
        const struct task *t = &u->tasks[object];
        struct restore_spot spot = {.parent = -1};
        if (o->root && u->staging[object - 1] >= 0 && (!meta || !all)) {
            spot.parent = u->roots[object - 1];
            set_folder_times(&spot, &u->before[object - 1]);
            continue;
        }
        if (!meta || (o->root && !all))
            continue;
        int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                         : find_entry(u, o->before, true, &spot);
        if (rc == 0 && spot.exists && S_ISDIR(spot.st.st_mode)) {
            struct keep_place place = place_of(&spot);
            if (keep_attributes(u->keep, &place) == 0)
                set_meta(meta, &spot, t->quiet || !o->after, true);
        }
        restore_leave(&spot);
    }
}

/* ---- states that are equal ---- */

static void note_equal(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    /* At the first record that names it. */
    const struct undo_ident *old = o->root && meta ? &meta->ident : &o->ident;
    struct restore_spot spot = {.parent = -1};
    if (!old->links || o->made || (!o->root && (!is_ready(u, object) || !o->before)))
        return;
    int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                     : find_entry(u, o->before, true, &spot);
    if (rc == 0 && spot.exists) {
        struct equal e = {spot.st.st_dev,
                          spot.st.st_ino,
                          (uint64_t)spot.st.st_ctim.tv_sec,
                          (uint64_t)spot.st.st_ctim.tv_nsec,
                          old->inode,
                          (uint64_t)old->changed.seconds,
                          old->changed.nanoseconds};
        buf_add(&u->same, (struct str){(const char *)&e, sizeof e});
    }
    restore_leave(&spot);
}

enum { MOST_EQUALS = 1 << 20 };

static void write_equals(struct undoing *u)
{
    int fd =
        openat(u->store, ".same", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 &&
        (uint64_t)st.st_size > (uint64_t)MOST_EQUALS * sizeof(struct equal) && ftruncate(fd, 0)) {
        close(fd);
        return;
    }
    if (!u->same.failed && u->same.n)
        (void)!write(fd, u->same.p, u->same.n);
    close(fd);
}

static struct equal *read_equals(int store, size_t *count)
{
    struct stat st;
    int fd = openat(store, ".same", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct equal *out = NULL;
    *count = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
        (uint64_t)st.st_size <= 2 * (uint64_t)MOST_EQUALS * sizeof *out)
        out = malloc((size_t)st.st_size);
    ssize_t n = out ? read(fd, out, (size_t)st.st_size) : 0;
    if (n > 0)
        *count = (size_t)n / sizeof *out;
    if (fd >= 0)
        close(fd);
    if (*count)
        qsort(out, *count, sizeof *out, compare_equals);
    return out;
}

/* The journal's own names of inodes that are in the tree again. */
static void release_inodes(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        const struct undo_record *data = undo_model_record(u->m, o->data);
        const struct undo_record *kept[2] = {undo_model_record(u->m, o->handle),
                                             data && data->how == UNDO_LINKED ? data : NULL};
        for (int k = 0; k < 2 && is_ready(u, i); k++)
            if (kept[k]) {
                char name[24];
                snprintf(name, sizeof name, "%llu", (unsigned long long)kept[k]->place);
                unlinkat(u->j->objects, name, 0);
            }
    }
}

/* ---- all of it ---- */

static void tell_left(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        /* The file that it replaced is said to be left. */
        bool replacing = o->made && o->after && u->tasks[u->m->entries[o->after].before].left;
        if (u->tasks[i].wanted && u->tasks[i].left && !replacing)
            say(u, i, RESTORE_CONFLICT, u->tasks[i].why);
    }
}

/* What would be done, without doing it. */
static void tell_plan(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (!is_ready(u, i) || (o->made && u->tasks[i].adopted))
            continue;
        /* The file that comes back is said, not the one that it replaces. */
        if (o->made && o->after && is_overwritten(u, o->after))
            continue;
        struct undo_change change = {.kind = UNDO_MODIFIED, .was = i, .in_doubt = true};
        auto_buf struct buf path = {0};
        bool moved = !o->made && o->after && names_differ(u->m, i);
        if (!o->made && o->after && !moved) {
            int root = undo_model_path(u->m, o->after, false, &path);
            change.root = root < 0 ? 0 : (uint32_t)root;
            change.path = buf_str(&path);
            if (o->folder || root < 0 || !restore_differs(u->j, u->roots, &change))
                continue;
        }
        say(u, i, o->made ? RESTORE_REMOVED : moved ? RESTORE_MOVED : RESTORE_RESTORED, NULL);
    }
}

static int work(struct undoing *u)
{
    struct undo_model *m = u->m;
    size_t away = 0, back = 0;
    size_t room = (m->entry_count > m->object_count ? m->entry_count : m->object_count) + 1;
    struct order *list = calloc(room, sizeof *list);
    if (!list)
        return CORDON_E_NOMEM;
    for (uint32_t i = 1; i < m->entry_count; i++) {
        const struct undo_entry *e = &m->entries[i];
        if (e->after && e->after != e->before && is_ready(u, e->after) && !is_overwritten(u, i) &&
            !(m->objects[e->after].made && u->tasks[e->after].adopted))
            list[away++] = (struct order){i, undo_model_depth(m, i, false)};
    }
    qsort(list, away, sizeof *list, deepest_first);
    for (size_t i = 0; i < away; i++)
        if (is_ready(u, m->entries[list[i].entry].after))
            vacate(u, list[i].entry);
    for (uint32_t i = 1; i < m->entry_count; i++) {
        const struct undo_entry *e = &m->entries[i];
        if (e->before && e->after != e->before && is_ready(u, e->before)) {
            list[back++] = (struct order){i, undo_model_depth(m, i, true)};
            u->tasks[e->before].missing++;
        }
    }
    qsort(list, back, sizeof *list, outermost_first);
    attach_all(u, list, back);
    restore_present(u);
    remove_staging(u);
    restore_folders(u, list);
    free(list);
    return 0;
}

static void mark_undone(struct undoing *u)
{
    const char *run = keep_run(u->keep);
    int fd =
        openat(u->j->folder, "undone", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    (void)!write(fd, run, strlen(run));
    close(fd);
}

static int open_own_journal(struct undoing *u, const char *id, char *why, size_t capacity)
{
    const char *roots[UNDO_MOST_ROOTS];
    auto_arena struct arena arena = {0};
    char command[STORE_LONGEST_ID + 16];
    const struct undo_head *h = &u->m->head;
    for (uint32_t i = 0; i < h->root_count; i++)
        if (!(roots[i] = arena_copy(&arena, h->roots[i].path).p))
            return CORDON_E_NOMEM;
    struct str session = arena_copy(&arena, h->session);
    snprintf(command, sizeof command, "cordon undo %s", id);
    struct keep_options options = {.roots = roots,
                                   .root_count = h->root_count,
                                   .session = session.p ? session.p : "",
                                   .command = command,
                                   .undoes = id,
                                   .limit = UINT64_MAX,
                                   .strict = true};
    return keep_open(&options, &u->keep, why, capacity);
}

int restore_run(int store, const char *id, const struct restore_options *options,
                struct restore_counts *counts, char *why, size_t capacity)
{
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    *counts = (struct restore_counts){0};
    int rc = store_read(store, id, &j, why, capacity);
    if (rc)
        return rc;
    struct undoing u = {.store = store, .j = &j, .m = &j.model, .o = options, .counts = counts};
    rc = restore_open_roots(&u.m->head, u.roots, why, capacity);
    if (rc)
        return rc;
    for (size_t i = 0; i < UNDO_MOST_ROOTS; i++)
        u.staging[i] = -1;
    struct equal *equals = read_equals(store, &u.equal_count);
    u.equals = equals;
    u.tasks = calloc(u.m->object_count, sizeof *u.tasks);
    snprintf(why, capacity, "out of memory");
    rc = u.tasks ? 0 : CORDON_E_NOMEM;
    if (rc == 0) {
        decide(&u);
        for (uint32_t i = 0; i < u.m->head.root_count; i++) {
            struct stat st;
            u.tasks[i + 1].quiet = fstat(u.roots[i], &st) == 0 && is_untouched(&u, &st);
        }
        char live[STORE_LONGEST_ID] = "";
        if (!options->dry)
            store_find_live(store, &u.m->head, live);
        if (options->dry)
            tell_plan(&u);
        else if (live[0]) {
            snprintf(why, capacity, "run %.40s, which has not ended, can change these folders",
                     live);
            rc = CORDON_E_CONFLICT;
        } else
            rc = open_own_journal(&u, id, why, capacity);
    }
    if (rc == 0 && !options->dry) {
        snprintf(u.stage_name, sizeof u.stage_name, ".cordon-undo-%s", keep_run(u.keep));
        rc = work(&u);
        release_inodes(&u);
        keep_end(u.keep);
        for (uint32_t i = 1; i < u.m->object_count; i++)
            note_equal(&u, i);
        write_equals(&u);
        bool clean = !counts->conflicts && !counts->failed;
        for (uint32_t i = 1; i < u.m->object_count; i++)
            clean = clean && !(u.tasks[i].wanted && u.tasks[i].left);
        bool kept = counts->done || clean;
        if (kept)
            snprintf(counts->run, sizeof counts->run, "%s", keep_run(u.keep));
        if (kept && options->path_count == 0)
            mark_undone(&u);
        keep_close(u.keep, !kept);
    }
    if (rc == 0)
        tell_left(&u);
    free(u.tasks);
    free(equals);
    buf_free(&u.same);
    restore_close_roots(&u.m->head, u.roots);
    return rc;
}
