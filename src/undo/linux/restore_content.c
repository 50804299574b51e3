/* SPDX-License-Identifier: Apache-2.0 */
/* Contents, modes, owners, attributes and times, once every object has its names again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cordon.h"
#include "undo/linux/keep_inside.h"
#include "undo/linux/restore_inside.h"

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
    int rc = fstat(from, &st) ? -errno
             : data->how == UNDO_COPY && (uint64_t)st.st_size != data->size
                 ? -EIO
                 : keep_copy_content(from, to);
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

int undoing_make_object(struct undoing *u, uint32_t object, struct restore_spot *spot)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    const struct undo_record *data = undo_model_record(u->m, o->data);
    mode_t type = meta ? meta->ident.mode & S_IFMT : 0;
    struct keep_place place = undoing_place(spot);
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
    struct keep_place place = undoing_place(spot);
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
    uint32_t root = undoing_root(u, object);
    if (fstat(spot->parent, &folder))
        return -errno;
    int rc = undoing_stage(u, root, object, &stage);
    if (rc == 0)
        rc = undoing_make_object(u, object, &stage);
    restore_leave(&stage);
    if (rc == 0)
        rc = undoing_stage(u, root, object, &stage);
    if (rc == 0) {
        rc = undoing_rename(u, &stage, spot, true);
        if (rc)
            undoing_remove(u, &stage);
        restore_leave(&stage);
        set_folder_times(spot, &folder);
    }
    return rc;
}

void undoing_restore_present(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        const struct undo_record *meta = undo_model_record(u->m, o->meta);
        struct restore_spot spot;
        if (!undoing_is_ready(u, i) || o->made || o->folder || !meta || !o->before || !o->after)
            continue;
        const struct undo_record *data = undo_model_record(u->m, o->data);
        int rc = undoing_find(u, o->before, true, &spot);
        if (rc == 0 && !spot.exists)
            rc = -ENOENT;
        struct keep_place place = undoing_place(&spot);
        struct undo_change change = {.kind = UNDO_MODIFIED, .was = i, .in_doubt = true};
        auto_buf struct buf path = {0};
        if (rc == 0) {
            change.root = (uint32_t)undoing_final_path(u, o->before, &path);
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
            undoing_fail(u, i, rc);
        else
            undoing_say(u, i, RESTORE_RESTORED, NULL);
    }
}

int undoing_restore_folders(struct undoing *u)
{
    struct order *list = calloc(u->m->object_count, sizeof *list);
    if (!list)
        return CORDON_E_NOMEM;
    size_t count = 0;
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (o->folder && !o->made && o->before && o->meta && undoing_is_ready(u, i))
            list[count++] = (struct order){i, undo_model_depth(u->m, o->before, true)};
    }
    qsort(list, count, sizeof *list, undoing_deepest_first);
    for (size_t i = 0; i < count + u->m->head.root_count; i++) {
        uint32_t object = i < count ? list[i].entry : (uint32_t)(i - count) + 1;
        const struct undo_object *o = &u->m->objects[object];
        const struct undo_record *meta = undo_model_record(u->m, o->meta);
        const struct task *t = &u->tasks[object];
        struct restore_spot spot = {.parent = -1};
        if (o->root && u->staging[object - 1] >= 0 && (!meta || !u->all)) {
            spot.parent = u->roots[object - 1];
            set_folder_times(&spot, &u->before[object - 1]);
            continue;
        }
        if (!meta || (o->root && !u->all) || (t->stands && !t->quiet))
            continue;
        int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                         : undoing_find(u, o->before, true, &spot);
        if (rc == 0 && spot.exists && S_ISDIR(spot.st.st_mode)) {
            struct keep_place place = undoing_place(&spot);
            bool times = t->quiet || !o->after;
            if (keep_attributes(u->keep, &place) == 0)
                set_meta(meta, &spot, times, true);
            /* Usually somebody put something into it since, and that is no conflict. */
            if (!times && !u->j->known_end) {
                u->tasks[object].told = false;
                undoing_say(u, object, RESTORE_CONFLICT,
                            "its times: when the run ended is not known");
            }
        }
        restore_leave(&spot);
    }
    free(list);
    return 0;
}
