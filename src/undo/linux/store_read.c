/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the journal of one run. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cordon.h"
#include "undo/linux/store.h"

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
    j->known_end = fstatat(j->folder, "lock", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec;
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
        .folder = store_open_run(store, id), .pack = -1, .objects = -1, .lock = -1};
    struct stat st;
    bool live;
    if (j.folder < 0) {
        snprintf(why, capacity, "no run %.60s; cordon runs lists them", id);
        return CORDON_E_UNKNOWN;
    }
    j.lock = store_take_lock(j.folder, LOCK_SH, &live);
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
