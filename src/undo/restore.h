/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a run back. It has the user's full rights over a tree that the run prepared, so every path
 * is looked up beneath a root held open, without following any link, and changed by its folder and
 * one name. What somebody changed after the run is left alone.
 */
#ifndef CORDON_UNDO_RESTORE_H
#define CORDON_UNDO_RESTORE_H

#include "undo/keep.h"
#include "undo/store.h"

/* Opens the roots of a journal. Returns 0, or a code and a sentence if one of them is gone or is
   another folder; if nothing was changed in that one, -1 is in its place. */
int restore_open_roots(const struct undo_model *m, fs_file *roots, char *why, size_t capacity);
void restore_close_roots(const struct undo_head *head, const fs_file *roots);

/* An object beneath a root: the folder held open and a name. */
struct restore_spot {
    fs_file parent;
    char leaf[UNDO_LONGEST_NAME + 1];
    char path[UNDO_LONGEST_PATH * 2 + 2]; /* whole */
    bool exists;
    struct fs_stat st;
};

/* 0 or a negative errno. Close it with restore_leave. */
int restore_find(const struct undo_head *head, const fs_file *roots, uint32_t root, struct str path,
                 struct restore_spot *out);
void restore_leave(struct restore_spot *spot);

/* The same for one after another: spot is the last one, not left, or one with no parent. */
int restore_find_next(const struct undo_head *head, const fs_file *roots, uint32_t root,
                      struct str path, struct restore_spot *spot);

/* True if an object that the run touched in place is not as it was. */
bool restore_differs(const struct store_journal *j, const fs_file *roots,
                     const struct undo_change *change);
bool restore_differs_at(const struct store_journal *j, const struct undo_change *change,
                        const struct restore_spot *spot);

/* True if a regular file there holds what the object held before the run, with its mode and
   owner. */
bool restore_is_as_before(const struct store_journal *j, uint32_t object,
                          const struct restore_spot *spot);

/* True if anything that the run recorded is not exactly as it was, times of folders included. */
bool restore_any(const struct store_journal *j, const fs_file *roots);

/* Reads at most limit bytes of a file as it was, or as it is; false if that is impossible. */
bool restore_read_before(const struct store_journal *j, uint32_t object, size_t limit,
                         struct buf *out);
bool restore_read_after(const struct restore_spot *spot, size_t limit, struct buf *out);

enum restore_result {
    RESTORE_FAILED = 0, /* and left as it was */
    RESTORE_CONFLICT,   /* left alone: changed since the run */
    RESTORE_REMOVED,
    RESTORE_RESTORED,
    RESTORE_MOVED /* back to its old name */
};

struct restore_item {
    enum restore_result result;
    const char *path; /* below the root, or whole if there are several roots */
    const char *from; /* what a renamed object is called now; else "" */
    const char *why;  /* of a conflict or failure; else "" */
};

/* Names that later runs changed, whole and in order, in the arena. */
struct restore_assumed {
    struct arena arena;
    const char **paths;
    size_t count, capacity;
};

struct restore_options {
    const char *const *paths; /* absolute; only these and what lies below them */
    const char *const *given; /* the same as somebody typed them, for messages */
    size_t path_count;        /* 0: all */
    bool force;               /* conflicts are overridden */
    bool dry;                 /* only say what would be done */
    /* Of a dry run of several runs, the latest first: what the earlier ones find there now is no
       conflict, and each adds its own. NULL: none. */
    struct restore_assumed *assumed;
    uint64_t limit;
    void (*said)(void *context, const struct restore_item *item);
    void *context;
};

struct restore_counts {
    uint64_t done, conflicts, failed;
    bool already;               /* nothing had to be done: the run stays on offer */
    bool cut_off;               /* the run was killed and wrote no end */
    uint64_t changed;           /* of the conflicts: --force would restore them */
    bool forced;                /* something was restored over, which only our journal has now */
    char run[STORE_LONGEST_ID]; /* that takes the undo back; "": nothing was changed */
};

/* Returns 0, or a code and a sentence: then nothing was changed, unless memory ran out. An undo that was
   killed on its way is taken back like any run. */
int restore_run(fs_file store, const char *id, const struct restore_options *options,
                struct restore_counts *counts, char *why, size_t capacity);

/* ---- undos that were killed ---- */

struct restore_half {
    char id[STORE_LONGEST_ID];
    char of[STORE_LONGEST_ID]; /* the run that it was taking back */
};

/* Finishes undos that had only cleaning up left. The two functions below do this first. */
void restore_tidy(fs_file store);

/* The newest undo that was killed on its way, in or around the roots of a run, and not before that run;
   it may be the run itself. "" if there is none. CORDON_E_NOMEM, CORDON_E_OPEN. */
int restore_find_half(fs_file store, const char *run, struct restore_half *out);

/* Takes all of these back, the newest first, so that everything is as if they had not begun. Of the
   options it takes force, only if no paths are given, since all of such an undo is taken back. begun:
   before each. counts: of the last one; if it has conflicts, they were left alone, and the rest is not
   looked at; else run is the journal of what was restored over, "" if nothing was. A code and a
   sentence on failure. */
int restore_finish(fs_file store, const char *run, const struct restore_options *options,
                   void (*begun)(void *context, const struct restore_half *half),
                   struct restore_counts *counts, char *why, size_t capacity);

/* Gives up the journal's own names of the inode of an object. at: only if this is the object, with that
   name of the tree; NULL: it is known to have one. True if there was any. */
bool restore_release(const struct store_journal *j, uint32_t object, const struct restore_spot *at);

#endif
