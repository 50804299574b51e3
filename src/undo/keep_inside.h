/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the journal's writer. */
#ifndef CORDON_UNDO_KEEP_INSIDE_H
#define CORDON_UNDO_KEEP_INSIDE_H

#include "undo/keep.h"
#include "undo/store.h"

/* The state of an inode in this run. */
enum { KEEP_MADE = 1, KEEP_META = 2, KEEP_DATA = 4, KEEP_HANDLE = 8, KEEP_USED = 128 };

struct known {
    uint64_t device, inode;
    unsigned char bits; /* KEEP_USED: the place was taken once */
};

enum { LONGEST_REASON = 96 };

struct keep {
    fs_file store, folder, objects, log, pack, lock;
    char id[STORE_LONGEST_ID];
    struct undo_head head;
    char *paths[UNDO_MOST_ROOTS];
    struct known *known;
    size_t known_size, known_used;
    uint64_t limit, used, pack_end, log_end, objects_made, lost;
    bool strict, waits, stopped;
    struct keep_copying *copies;
    size_t copy_count;
    struct keep_object awaited;
    bool broken; /* the log cannot be written any more: nothing after this is covered */
    char reason[LONGEST_REASON];
    struct buf record;
    struct undo_time end;     /* of the tree; 0: not yet */
    bool pending;             /* a change is recorded and not yet made */
    uint64_t linked;          /* object that the pending change relies on, counted from 1 */
    struct fs_stat gone;      /* whose last name goes with the pending change; links 0: none */
    struct fs_stat linked_of; /* the inode of linked */
    struct handle {
        uint64_t object;
        struct fs_stat st;
    } * handles; /* names that the journal gave to inodes which had others */
    size_t handle_count, handle_capacity;
    char content[UNDO_SMALL];
};

/* ---- inodes ---- */

struct known *keep_find_known(const struct keep *k, uint64_t device, uint64_t inode);
unsigned keep_bits(const struct keep *k, const struct fs_stat *st);

/* False if memory runs out: the object is then kept again, which does no harm but cost. */
bool keep_set_bits(struct keep *k, const struct fs_stat *st, unsigned bits);

/* ---- records ---- */

/* 0, or -ENOSPC: the change is not covered. */
int keep_add(struct keep *k, const struct undo_record *record);

/* The path below the root that holds it; false: none does. */
bool keep_below_root(const struct keep *k, const char *path, struct undo_path *out);

struct undo_ident keep_ident(const struct fs_stat *st);
struct undo_record keep_record(const struct undo_path *path, const struct fs_stat *st);

/* An undo writes a record before every step, also if how the object was is known: what is changed later
   than the last one, and is not its object, was changed by somebody else. */
int keep_note_again(struct keep *k, const struct undo_path *path, const struct fs_stat *st);

/* Records how the object is apart from its content. */
int keep_note_meta(struct keep *k, fs_file file, const struct undo_path *path,
                   const struct fs_stat *st);

/* A change in a folder changes its times. */
int keep_note_folder(struct keep *k, const struct keep_place *place, const struct undo_path *path);

/* ---- content ---- */

/* The name of a file of the journal. */
void keep_object_name(uint64_t number, char out[24]);

/* -EALREADY while this object is being copied, otherwise 0. */
int keep_wait_for(struct keep *k, const struct fs_stat *st);
/* Begins a long copy: 0 or a negative errno, -EALREADY among them. file stays the caller's. */
int keep_begin_copy(struct keep *k, fs_file file, const struct fs_stat *st);
/* Takes a finished copy of this object: 0; 1 if there is none; a negative errno if it failed,
   -EALREADY if it must be made again. */
int keep_take_copy(struct keep *k, fs_file file, const struct fs_stat *st,
                   struct undo_record *record);

/* Keeps a copy of a regular file. */
int keep_copy(struct keep *k, const struct keep_place *place, const struct undo_path *path);

/* The end of a run: where an inode has a name in a root, the journal's own name of it goes. */
void keep_drop_handles(struct keep *k);

/* An object loses this name. */
int keep_away(struct keep *k, const struct keep_place *place, const struct undo_path *path);

#endif
