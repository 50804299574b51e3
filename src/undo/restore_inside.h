/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of an undo. */
#ifndef CORDON_UNDO_RESTORE_INSIDE_H
#define CORDON_UNDO_RESTORE_INSIDE_H

#include "undo/ends.h"
#include "undo/restore.h"

/* The folder of a root in which objects lie on their way. */
enum { RESTORE_STAGE_NAME = STORE_LONGEST_ID + 16 };
void restore_stage_name(struct str run, char out[RESTORE_STAGE_NAME]);

/* What the journal of an undo has as its command. */
enum { RESTORE_COMMAND = STORE_LONGEST_ID + 24 };
void restore_command(const char *id, bool force, char out[RESTORE_COMMAND]);

/* The decision about one object, and its outcome. */
struct restore_task {
    bool wanted;    /* it changed and was asked for */
    bool left;      /* alone: why says why */
    bool forceable; /* with --force it would not be left */
    bool failed;    /* in the attempt */
    bool staged;    /* it lies in the staging folder under its number */
    bool stranded;  /* and stays there: it could go neither back nor where it was */
    bool adopted;   /* a folder that the run made anew: it stays */
    bool stands;    /* a folder that was removed is there again as it was */
    bool quiet;     /* a folder nobody else changed since: its times are restored too */
    bool foreign;   /* its name is one of several of another file, which may lie anywhere */
    bool told;
    bool listed;      /* a folder that the run made: what is in it was looked at */
    bool full;        /* something in it stays: why names it */
    uint32_t missing; /* names that it does not have again yet */
    const char *why;
};

struct undoing {
    fs_file store;
    struct store_journal *j;
    struct undo_model *m;
    const struct restore_options *o;
    struct restore_counts *counts;
    fs_file roots[UNDO_MOST_ROOTS];
    bool staging[UNDO_MOST_ROOTS];          /* made */
    struct fs_stat before[UNDO_MOST_ROOTS]; /* the root before staging changed its times */
    char stage_name[RESTORE_STAGE_NAME];
    struct keep *keep;          /* the undo's own journal */
    struct restore_task *tasks; /* by object */
    struct buf same;            /* what to add to the list of equal states */
    struct ends ends;
    const struct equal *equals;
    size_t equal_count;
    bool gone;      /* a change of the run is not there any more, by other means than an undo */
    bool all;       /* of the run is taken back, now or before */
    bool torn;      /* a file could not be written to its end: only our own journal has it */
    uint64_t spare; /* the next number of a further name in staging */
};

/* Two states of a file that are the same: an undo made the first out of the second. */
struct equal {
    uint64_t device, inode, seconds, nanoseconds;
    uint64_t old_inode, old_seconds, old_nanoseconds;
};

/* ---- paths and words ---- */

/* It is wanted, and nothing was found so far that is against it. */
bool undoing_is_ready(const struct undoing *u, uint32_t object);

/* Where an entry will be, or is, given which folders go back to their old names. */
int undoing_final_path(const struct undoing *u, uint32_t entry, struct buf *out);

/* Finds an entry on the disk: as the run left it, or as it will be. */
int undoing_find(const struct undoing *u, uint32_t entry, bool final, struct restore_spot *spot);

struct keep_place undoing_place(const struct restore_spot *spot);

/* Says what became of one of its names, and once what became of an object. */
void undoing_say_name(struct undoing *u, uint32_t object, uint32_t entry,
                      enum restore_result result, const char *why);
void undoing_say(struct undoing *u, uint32_t object, enum restore_result result, const char *why);
void undoing_leave(struct undoing *u, uint32_t object, const char *why);
void undoing_fail(struct undoing *u, uint32_t object, int error);

/* ---- what can be restored ---- */

bool undoing_names_differ(const struct undo_model *m, uint32_t object);
/* False if it was touched and is as before all the same, as after a rename to and fro. */
bool undoing_was_changed(const struct undo_model *m, uint32_t object);

/* Decides for every object. */
void undoing_decide(struct undoing *u);

/* True if a later run changed this whole path, or a folder that it lies in. */
bool undoing_is_assumed(const struct undoing *u, struct str path);
/* Adds the names that this undo would change. CORDON_E_NOMEM. */
int undoing_assume(struct undoing *u);

/* The first path that the run changed nothing of; path_count: there is none such. */
size_t undoing_unknown(const struct undoing *u);

/* ---- names ---- */

/* Steps, each with its record. 0 or a negative errno. */
int undoing_rename(struct undoing *u, struct restore_spot *from, struct restore_spot *to,
                   bool over);
int undoing_remove(struct undoing *u, struct restore_spot *spot);

/* Folders on the way to an entry that somebody deleted after the run. */
int undoing_make_parents(struct undoing *u, uint32_t entry);

/* A place in the staging folder, which is made if there is none. */
int undoing_stage(struct undoing *u, uint32_t root, uint64_t number, struct restore_spot *out);
void undoing_remove_staging(struct undoing *u);

/* The root that an object was in. */
uint32_t undoing_root(const struct undoing *u, uint32_t object);

/* The file that comes back to this name replaces the present one in one step. */
bool undoing_is_overwritten(const struct undoing *u, uint32_t entry);

/* True if a folder that the run made holds something that stays in it; its task says so. */
bool undoing_is_full(struct undoing *u, uint32_t object);

/* Takes away what the run made, moves aside what it renamed, and puts every object back under its
   old names. CORDON_E_NOMEM. */
int undoing_restore_names(struct undoing *u);

/* ---- content and attributes ---- */

/* Makes a new object in staging out of what was kept. */
int undoing_make_object(struct undoing *u, uint32_t object, struct restore_spot *spot);

/* Objects whose content, mode or times changed, now that all are in their places. */
void undoing_restore_present(struct undoing *u);

/* True if mode, owner or attributes are not as they were. */
bool undoing_meta_differs(const struct undo_record *meta, const struct restore_spot *spot);

/* Folders last: everything above changed their times. CORDON_E_NOMEM. */
int undoing_restore_folders(struct undoing *u);

/* ---- states that are equal ---- */

/* So many are followed. */
enum { UNDOING_MOST_STEPS = 64 };

/* The state that this one is equal to. */
bool undoing_step_back(const struct undoing *u, uint64_t device, uint64_t *inode,
                       struct undo_time *time);

/* True if the object is as the run left it, or as an undo of a later run left it. */
bool undoing_is_untouched(const struct undoing *u, const struct fs_stat *st);

/* Notes that the object is as it was before the run, and writes what was noted since the last time. */
void undoing_note_equal(struct undoing *u, uint32_t object);
void undoing_write_equals(struct undoing *u);

/* All that are known; to be freed. */
struct equal *undoing_read_equals(fs_file store, size_t *count);

/* ---- order ---- */

struct order {
    uint32_t entry;
    unsigned depth;
};

int undoing_deepest_first(const void *a, const void *b);

#endif
