/* SPDX-License-Identifier: Apache-2.0 */
/* Contents, modes, owners, attributes and times, once every object has its names again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "undo/keep_inside.h"
#include "undo/restore_inside.h"

/* Kept content, found to be whole before anything is written over. */
struct kept {
    fs_file file; /* negative: it is in content */
    size_t size;
    char content[UNDO_SMALL];
};

static int open_kept(const struct undoing *u, const struct undo_record *data, struct kept *out)
{
    char name[24];
    struct fs_stat st;
    out->file = -1;
    out->size = (size_t)data->size;
    if (data->how == UNDO_PACK)
        return fs_read(u->j->pack, out->content, out->size, data->place) == (int64_t)out->size &&
                       undo_hash((struct str){out->content, out->size}) == data->hash
                   ? 0
                   : -EIO;
    snprintf(name, sizeof name, "%llu", (unsigned long long)data->place);
    fs_file file = fs_open_file(u->j->objects, name, FS_READ_KEPT);
    int rc = file < 0 ? (int)file : fs_stat(file, "", &st);
    if (rc == 0 && data->how == UNDO_COPY && st.size != data->size)
        rc = -EIO;
    if (rc == 0)
        out->file = file;
    else
        fs_close(file);
    return rc;
}

/* Writes it to an empty file, and closes it. */
static int write_kept(struct kept *kept, fs_file to)
{
    int rc =
        kept->file < 0 ? fs_write(to, kept->content, kept->size, 0) : fs_copy(kept->file, to, NULL);
    fs_close(kept->file);
    return rc;
}

static int write_content(const struct undoing *u, const struct undo_record *data, fs_file to)
{
    struct kept kept;
    int rc = open_kept(u, data, &kept);
    return rc ? rc : write_kept(&kept, to);
}

static int set_meta(const struct undo_record *meta, const struct restore_spot *spot, bool times,
                    bool attributes)
{
    return fs_restore_meta(spot->parent, spot->leaf, meta, times, attributes);
}

/* The same to a file that is there. What it holds is given up only for content that is whole. */
static int rewrite(struct undoing *u, const struct undo_record *data,
                   const struct restore_spot *spot)
{
    struct kept kept;
    int rc = open_kept(u, data, &kept);
    if (rc)
        return rc;
    fs_file file = fs_open_file(spot->parent, spot->leaf, FS_CHANGE);
    rc = file < 0 ? (int)file : fs_truncate(file, 0);
    if (rc == 0) {
        rc = write_kept(&kept, file);
        u->torn = u->torn || rc;
    } else
        fs_close(kept.file);
    fs_close(file);
    return rc;
}

int undoing_make_object(struct undoing *u, uint32_t object, struct restore_spot *spot)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    const struct undo_record *data = undo_model_record(u->m, o->data);
    uint32_t type = meta ? meta->ident.mode & FS_TYPE : 0;
    struct keep_place place = undoing_place(spot);
    char name[24], target[UNDO_LONGEST_TEXT + 1];
    int rc = keep_create(u->keep, &place, type);
    if (rc)
        return rc;
    fs_file file = -1;
    /* The inode itself, if the journal has it and nothing wrote to it. */
    const struct undo_record *inode = o->handle ? undo_model_record(u->m, o->handle)
                                      : data && data->how == UNDO_LINKED ? data
                                                                         : NULL;
    if (!meta || (!inode && !data))
        rc = -ENOENT;
    else if (inode) {
        snprintf(name, sizeof name, "%llu", (unsigned long long)inode->place);
        rc = fs_link_kept(u->j->objects, name, spot->parent, spot->leaf);
        /* The journal's name of an inode goes when another is known. */
        if ((rc == -EXDEV || rc == -ENOENT) && data) {
            inode = NULL;
            rc = 0;
        }
    }
    if (rc == 0 && !inode) {
        if (fs_is_file(type)) {
            file = fs_open_file(spot->parent, spot->leaf, FS_CREATE);
            rc = file < 0 ? (int)file : data ? write_content(u, data, file) : -ENOENT;
        } else {
            snprintf(target, sizeof target, "%.*s", STR_ARG(data->text));
            rc = fs_make_other(spot->parent, spot->leaf, type, target);
        }
    }
    if (rc && file >= 0)
        fs_remove(spot->parent, spot->leaf, false);
    keep_after(u->keep, -rc, &place);
    bool made = rc == 0;
    /* An inode that had several names may have been written to after one of them went. */
    if (rc == 0 && inode && data && data->how != UNDO_LINKED && fs_is_file(type))
        rc = rewrite(u, data, spot);
    fs_close(file);
    if (rc == 0)
        rc = set_meta(meta, spot, true, meta->how != UNDO_LINKED);
    if (rc && made) {
        spot->exists = fs_stat(spot->parent, spot->leaf, &spot->st) == 0;
        if (spot->exists)
            undoing_remove(u, spot); /* the journal has it still */
    }
    return rc;
}

/* The run changed nothing in this folder, the undo does: its times stay. */
static void set_folder_times(const struct restore_spot *spot, const struct fs_stat *before)
{
    fs_set_times(spot->parent, before->accessed, before->modified);
}

/* The content of a file that kept its inode: by a new file in its place, or in place if it has
   several names, or streams, which a new file would not have. Another file that has its name by now may
   have names anywhere: it is replaced. */
static int restore_content(struct undoing *u, uint32_t object, struct restore_spot *spot)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *data = undo_model_record(u->m, o->data);
    struct keep_place place = undoing_place(spot);
    if (!u->tasks[object].foreign &&
        (spot->st.links > 1 || fs_has_streams(spot->parent, spot->leaf, true))) {
        int rc = keep_write(u->keep, &place);
        if (rc)
            return rc;
        rc = rewrite(u, data, spot);
        return rc ? rc : set_meta(undo_model_record(u->m, o->meta), spot, true, true);
    }
    struct restore_spot stage = {.parent = -1};
    struct fs_stat folder;
    uint32_t root = undoing_root(u, object);
    int rc = fs_stat(spot->parent, "", &folder);
    if (rc)
        return rc;
    rc = undoing_stage(u, root, object, &stage);
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
        if (rc == -ENOENT && data && u->o->force && undoing_make_parents(u, o->before) == 0)
            rc = undoing_find(u, o->before, true, &spot);
        bool again = rc == 0 && !spot.exists && data && u->o->force; /* somebody deleted it since */
        if (rc == 0 && !spot.exists)
            rc = again ? undoing_make_object(u, i, &spot) : -ENOENT;
        struct keep_place place = undoing_place(&spot);
        struct undo_change change = {.kind = UNDO_MODIFIED, .was = i, .in_doubt = true};
        auto_buf struct buf path = {0};
        if (rc == 0 && !again) {
            change.root = (uint32_t)undoing_final_path(u, o->before, &path);
            change.path = buf_str(&path);
        }
        if (again) {
            /* Made anew, with its attributes. */
        } else if (rc == 0 && !u->tasks[i].foreign && !restore_differs(u->j, u->roots, &change)) {
            /* The same but for its attributes, perhaps. */
            bool touched = undo_time_compare(spot.st.changed, meta->ident.changed) != 0;
            rc = touched ? keep_attributes(u->keep, &place) : 0;
            if (rc == 0 && touched)
                rc = set_meta(meta, &spot, true, true);
            u->tasks[i].told = u->tasks[i].told || rc == 0;
        } else if (rc == 0 && data && fs_is_file(meta->ident.mode)) {
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

bool undoing_meta_differs(const struct undo_record *meta, const struct restore_spot *spot)
{
    auto_buf struct buf attributes = {0};
    fs_file object = fs_open_object(spot->parent, spot->leaf);
    if (object >= 0)
        fs_take_attributes(object, &attributes);
    fs_close(object);
    return spot->st.mode != meta->ident.mode || spot->st.user != meta->user ||
           spot->st.group != meta->group || !str_eq(buf_str(&attributes), meta->attributes);
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
        const struct restore_task *t = &u->tasks[object];
        struct restore_spot spot = {.parent = -1};
        if (o->root && u->staging[object - 1] && (!meta || !u->all)) {
            spot.parent = u->roots[object - 1];
            set_folder_times(&spot, &u->before[object - 1]);
            continue;
        }
        if (!meta || (o->root && !u->all) || (t->stands && !t->quiet))
            continue;
        int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                         : undoing_find(u, o->before, true, &spot);
        if (rc == 0 && spot.exists && fs_is_folder(spot.st.mode)) {
            struct keep_place place = undoing_place(&spot);
            bool times = t->quiet || !o->after;
            bool differs = !o->root && o->after && undoing_meta_differs(meta, &spot);
            if (keep_attributes(u->keep, &place) == 0 && set_meta(meta, &spot, times, true) == 0 &&
                differs)
                undoing_say(u, object, RESTORE_RESTORED, NULL);
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
