/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the journal of one run. */
#include <stdio.h>

#include "cordon.h"
#include "undo/store.h"

void store_close(struct store_journal *j)
{
    fs_file files[] = {j->folder, j->pack, j->objects, j->lock};
    undo_model_free(&j->model);
    if (j->log)
        fs_unmap(j->log, j->size);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fs_close(files[i]);
    *j = (struct store_journal){.folder = -1, .pack = -1, .objects = -1, .lock = -1};
}

/* Whether the last change took place, if the run died before it could say so. */
static bool happened(const struct undo_model *m)
{
    const struct undo_record *r = undo_model_record(m, m->last);
    char path[UNDO_LONGEST_PATH + 1];
    struct fs_stat st;
    if (r->type == UNDO_CREATE)
        return true; /* to remove what is not there does no harm */
    const struct undo_path *where = r->type == UNDO_LINK ? &r->to : &r->path;
    size_t leaf = where->text.n;
    while (leaf > 0 && where->text.p[leaf - 1] != '/')
        leaf--;
    snprintf(path, sizeof path, "%.*s", STR_ARG(m->head.roots[where->root].path));
    fs_file root = fs_open_root(path);
    snprintf(path, sizeof path, "%.*s", leaf ? (int)leaf - 1 : 0, where->text.p);
    fs_file folder = root < 0 ? root : fs_open_beneath(root, path);
    snprintf(path, sizeof path, "%.*s", STR_ARG(str_from(where->text, leaf)));
    bool there = folder >= 0 && fs_stat(folder, path, &st) == 0 && st.inode == r->ident.inode &&
                 st.device == r->ident.device;
    fs_close(folder);
    fs_close(root);
    return r->type == UNDO_LINK ? there : !there;
}

/* When the tree died: as the run wrote it, as the reaper did, or when the last record was
   written. Of an undo that was killed only the last step may be later than that, and its object is
   known by other means. */
static void find_end(struct store_journal *j, const struct fs_stat *log)
{
    struct fs_stat st;
    j->known_end = j->model.ended;
    j->end = j->model.end;
    if (j->known_end)
        return;
    j->end = log->modified;
    bool stamped = fs_stat(j->folder, "lock", &st) == 0 && st.modified.seconds;
    if (stamped)
        j->end = st.modified;
    j->known_end = stamped || j->half;
}

enum { LENGTH_BYTES = 8 };

int store_put_length(fs_file lock, uint64_t length)
{
    char text[LENGTH_BYTES];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(length >> (8 * i));
    return fs_write(lock, text, sizeof text, 0);
}

bool store_take_length(fs_file lock, uint64_t *length)
{
    unsigned char text[LENGTH_BYTES];
    if (lock < 0 || fs_read(lock, text, sizeof text, 0) != sizeof text)
        return false;
    *length = 0;
    for (size_t i = 0; i < sizeof text; i++)
        *length |= (uint64_t)text[i] << (8 * i);
    return true;
}

/* An inode that was kept for a change that did not happen would have one name too many. */
static void drop_unused(struct store_journal *j)
{
    char name[24];
    const struct undo_record *kept = undo_model_record(&j->model, j->model.last - 1);
    if (!kept || kept->type != UNDO_KEEP || kept->how != UNDO_LINKED)
        return;
    snprintf(name, sizeof name, "%llu", (unsigned long long)kept->place);
    fs_remove(j->objects, name, false);
}

int store_read(fs_file store, const char *id, struct store_journal *out, char *why, size_t capacity)
{
    auto_store_journal struct store_journal j = {
        .folder = store_open_run(store, id), .pack = -1, .objects = -1, .lock = -1};
    struct fs_stat st;
    uint64_t length;
    bool live;
    if (j.folder < 0) {
        snprintf(why, capacity, "no run %.60s; cordon runs lists them", id);
        return CORDON_E_UNKNOWN;
    }
    j.lock = store_take_lock(j.folder, false, &live);
    if (live) {
        snprintf(why, capacity, "run %.60s has not ended", id);
        return CORDON_E_CONFLICT;
    }
    fs_file log = fs_open_file(j.folder, "log", FS_READ_KEPT);
    j.pack = fs_open_file(j.folder, "pack", FS_READ_KEPT);
    j.objects = fs_open_folder(j.folder, "objects");
    if (log >= 0 && fs_stat(log, "", &st) == 0 && st.size > 0 && st.size <= STORE_LARGEST_LOG) {
        j.size = (size_t)st.size;
        j.log = fs_map(log, j.size);
    }
    fs_close(log);
    bool ended = store_take_length(j.lock, &length);
    if (ended && j.log && length != j.size) {
        snprintf(why, capacity,
                 "the journal of run %.60s is damaged: %llu bytes of %llu are left; nothing was "
                 "changed",
                 id, (unsigned long long)j.size, (unsigned long long)length);
        return CORDON_E_SYNTAX;
    }
    int rc = !j.log || j.pack < 0 || j.objects < 0 ? CORDON_E_SYNTAX : 0;
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
    j.cut_off = !ended && !j.model.ended;
    j.half = j.cut_off && j.model.head.undoes.n;
    find_end(&j, &st);
    *out = j;
    j = (struct store_journal){.folder = -1, .pack = -1, .objects = -1, .lock = -1};
    return 0;
}
