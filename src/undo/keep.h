/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the journal of a run. Each function is called before a change is made: when it returns 0,
 * the object is kept as it was and the change is recorded; keep_after says how the change went. One
 * thread at a time. Paths outside the roots are not recorded.
 */
#ifndef CORDON_UNDO_KEEP_H
#define CORDON_UNDO_KEEP_H

#include "undo/fs.h"

/* A name: the folder held open, one component, and the final path of the object. */
struct keep_place {
    fs_file parent;   /* held open; the object itself if leaf is empty */
    const char *leaf; /* may be empty */
    const char *path;
    const struct fs_stat *st; /* of the object, a link not followed; NULL: there is none */
};

struct keep_options {
    const char *const *roots; /* final paths */
    size_t root_count;
    const char *session, *command; /* "": none */
    const char *undoes;            /* a run that is being taken back; "": this is an ordinary run */
    uint64_t limit;                /* bytes */
    bool strict;                   /* refuse a change whose object cannot be kept */
    bool waits;                    /* the caller makes long copies itself: see keep_next_copy */
};

struct keep;

/* Creates a run in the store. Returns a code and a sentence on failure: CORDON_E_CONFLICT while an
   undo changes one of the roots, and for an undo while any run can. */
int keep_open(const struct keep_options *options, struct keep **out, char *why, size_t capacity);

/* The run's id, and the descriptor that keeps the journal locked. While a copy of it is open the
   run counts as going on, and its mtime says when the tree died if nothing else does. */
const char *keep_run(const struct keep *k);
fs_file keep_lock(const struct keep *k);

/* Each returns 0, or a negative errno: then the change must not be made. -EAGAIN: the object at
   this name is another one by now. -EALREADY: the object, which keep_awaited names, is being
   copied, or is to be as soon as another copy is done; ask again when it is. -ECANCELED: its copy
   was stopped. */
int keep_write(struct keep *k, const struct keep_place *place);
int keep_attributes(struct keep *k, const struct keep_place *place);
int keep_create(struct keep *k, const struct keep_place *place, uint32_t mode);
/* An object becomes another one under its name, in one step. */
int keep_replace(struct keep *k, const struct keep_place *place, uint32_t mode);
int keep_remove(struct keep *k, const struct keep_place *place);
int keep_rename(struct keep *k, const struct keep_place *from, const struct keep_place *to,
                bool exchange);
int keep_link(struct keep *k, const struct keep_place *from, const struct keep_place *to);

/* ---- long copies ---- */

enum { KEEP_LONG = 1 << 20, KEEP_MOST_COPIES = 16 };

struct keep_object {
    uint64_t device, inode;
};
struct keep_copying;

struct keep_object keep_awaited(const struct keep *k);
/* The copy that the last -EALREADY asks the caller to make; NULL: it is being made, or others
   are. */
struct keep_copying *keep_next_copy(struct keep *k);
/* Makes it: by any thread, while the journal goes on. The next question about the object takes
   it. */
void keep_make_copy(struct keep_copying *copy);
bool keep_is_copying(const struct keep *k, struct keep_object object);
/* Nobody waits for it any more. */
void keep_stop_copy(struct keep *k, struct keep_object object);
/* The run is over: no copy is worth waiting for. */
void keep_stop_copies(struct keep *k);
/* Nobody will take this copy: it is removed if it is done. */
void keep_drop_copy(struct keep *k, struct keep_object object);
/* The same for all, at the end. */
void keep_drop_copies(struct keep *k);

/* The change was made (error 0) or failed. made: the new name, if it has one. */
void keep_after(struct keep *k, int error, const struct keep_place *made);

/* Names that the journal itself gave to this inode, which has others. */
unsigned keep_handles(const struct keep *k, const struct fs_stat *st);

/* Why the last object could not be kept; NULL: all were. And how many were changed all the same. */
const char *keep_lost(const struct keep *k, uint64_t *count);

/* Gives up the names that the journal itself gave to inodes, where others are known. That changes
   the time of such a file: who notes times calls it before. keep_end does it too. */
void keep_settle(struct keep *k);

/* The same record as the end, for an undo whose last steps only clean up. */
void keep_commit(struct keep *k);

/* The tree is dead: writes the end. Returns false if the journal could not be written. */
bool keep_end(struct keep *k);

/* Stops writing and lets go of the lock, so that the journal can be read. */
void keep_release(struct keep *k);

/* Closes the journal; discard removes it. After this, changes get a later time than the end. */
void keep_close(struct keep *k, bool discard);

#endif
