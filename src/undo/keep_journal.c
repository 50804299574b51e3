/* SPDX-License-Identifier: Apache-2.0 */
/* A journal's life: created before the command starts, ended when its tree is dead. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "launch/machine.h"
#include "undo/keep_inside.h"

const char *keep_run(const struct keep *k)
{
    return k->id;
}

fs_file keep_lock(const struct keep *k)
{
    return k->lock;
}

/* The date of a day counted from 1970 (the calendar of 400 years repeats). */
static void date_of(int64_t day, int *year, int *month, int *date)
{
    day += 719468; /* from 1 March of the year 0 */
    int64_t era = day / 146097, in_era = day % 146097;
    int64_t years = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * years + years / 4 - years / 100);
    int64_t shifted = (5 * in_year + 2) / 153;
    *date = (int)(in_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = (int)(years + era * 400 + (*month <= 2));
}

static fs_file make_folder(struct keep *k)
{
    int rc = -EEXIST;
    for (int tries = 0; tries < 16 && rc == -EEXIST; tries++) {
        int64_t now = fs_now().seconds;
        int year, month, date, second = (int)(now % 86400);
        unsigned short random = 0;
        date_of(now / 86400, &year, &month, &date);
        if (!machine_random(&random, sizeof random))
            return -EIO;
        snprintf(k->id, sizeof k->id, "%04d%02d%02d-%02d%02d%02d-%04x", year, month, date,
                 second / 3600, second / 60 % 60, second % 60, random);
        rc = fs_make_folder(k->store, k->id);
        if (rc == 0)
            return fs_open_folder(k->store, k->id);
    }
    k->id[0] = '\0';
    return rc;
}

static int take_roots(struct keep *k, const struct keep_options *o, char *why, size_t capacity)
{
    struct fs_stat st;
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
        fs_file root = fs_open_root(k->paths[i]);
        int rc = root < 0 ? (int)root : fs_stat(root, "", &st);
        fs_close(root);
        if (rc) {
            snprintf(why, capacity, "--undo: %.200s: %s", o->roots[i], strerror(-rc));
            return CORDON_E_OPEN;
        }
        k->head.roots[i] = (struct undo_root){str_of(k->paths[i]), st.device, st.inode};
        k->head.root_count = (uint32_t)i + 1;
        snprintf(reason, sizeof reason, "%.240s", k->paths[i]);
        if (keep_below_root(k, store, &path)) {
            snprintf(why, capacity,
                     "--undo: the journal would lie inside the root %s; set %s to "
                     "another folder",
                     reason, store_variable);
            return CORDON_E_CONFLICT;
        }
    }
    return 0;
}

/* Nobody may change the roots while an undo does. The store is locked, so that two that begin at
   the same time see each other. */
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

/* Makes the files of the journal and writes its head. 0 or a negative errno. */
static int make_journal(struct keep *k, const struct keep_options *o)
{
    struct undo_time now = fs_now();
    k->folder = make_folder(k);
    int rc = k->folder < 0 ? (int)k->folder : fs_make_folder(k->folder, "objects");
    if (rc)
        return rc;
    k->objects = fs_open_folder(k->folder, "objects");
    k->lock = fs_open_file(k->folder, "lock", FS_CREATE);
    k->pack = fs_open_file(k->folder, "pack", FS_CREATE_KEPT);
    k->log = fs_open_file(k->folder, "log", FS_CREATE_KEPT);
    k->head.run = str_of(k->id);
    k->head.session = str_slice(str_of(o->session), 0, UNDO_LONGEST_NAME);
    k->head.command = str_slice(str_of(o->command), 0, UNDO_LONGEST_TEXT);
    k->head.undoes = str_of(o->undoes);
    k->head.time = (uint64_t)now.seconds * 1000 + now.nanoseconds / 1000000;
    undo_put_head(&k->record, &k->head);
    k->log_end = k->record.n;
    fs_file files[] = {k->objects, k->lock, k->pack, k->log};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] < 0)
            return (int)files[i];
    rc = k->record.failed ? -ENOMEM : fs_lock(k->lock, true, true);
    if (rc)
        return rc;
    fs_set_times(k->lock, (struct undo_time){0, 0}, (struct undo_time){0, 0});
    return fs_write(k->log, k->record.p, k->record.n, 0);
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
    k->waits = o->waits;
    k->known_size = 1024;
    k->known = calloc(k->known_size, sizeof *k->known);
    int rc = k->known ? take_roots(k, o, why, capacity) : CORDON_E_NOMEM;
    if (rc == 0 && (k->store = store_open(true, why, capacity)) < 0)
        rc = CORDON_E_OPEN;
    fs_file guard = rc == 0 ? store_lock(k->store) : -1;
    int error = guard < 0 ? (int)guard : 0;
    if (rc == 0 && error == 0)
        rc = refuse_others(k, o, why, capacity);
    if (rc == 0 && error == 0)
        error = make_journal(k, o);
    if (rc == 0 && error) {
        rc = CORDON_E_WRITE;
        snprintf(why, capacity, "--undo: cannot create the journal: %s", strerror(-error));
    }
    fs_close(guard);
    if (rc) {
        keep_close(k, true);
        return rc;
    }
    *out = k;
    return 0;
}

void keep_settle(struct keep *k)
{
    if (k->handle_count)
        keep_drop_handles(k);
    k->handle_count = 0;
}

void keep_commit(struct keep *k)
{
    k->end = fs_now();
    k->broken = false;
    keep_add(k, &(struct undo_record){.type = UNDO_END, .end = k->end});
}

bool keep_end(struct keep *k)
{
    bool lossless = !k->broken;
    keep_drop_copies(k);
    keep_settle(k);
    keep_commit(k);
    store_put_length(k->lock, k->log_end);
    fs_set_times(k->lock, k->end, k->end);
    return lossless && !k->broken;
}

void keep_release(struct keep *k)
{
    keep_drop_copies(k);
    fs_file *const files[] = {&k->log, &k->pack, &k->objects, &k->lock, &k->folder};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fs_close(*files[i]);
        *files[i] = -1;
    }
}

void keep_close(struct keep *k, bool discard)
{
    keep_release(k);
    if (k->store >= 0 && discard && k->id[0])
        store_drop(k->store, k->id);
    fs_close(k->store);
    for (size_t i = 0; i < UNDO_MOST_ROOTS; i++)
        free(k->paths[i]);
    free(k->known);
    free(k->handles);
    buf_free(&k->record);
    if (k->end.seconds)
        fs_wait_past(k->end); /* what is changed after this run must get a later time */
    free(k);
}
