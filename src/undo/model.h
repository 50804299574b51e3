/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a journal, as two sets of names over one set of objects: the names before the run
 * and those after it. An object is a file, folder or link, whatever its names; a name is an entry
 * of a folder. To take a run back is to give every name the object that it had.
 */
#ifndef CORDON_UNDO_MODEL_H
#define CORDON_UNDO_MODEL_H

#include "base/arena.h"
#include "undo/format.h"

/* Objects and entries are numbered from 1; 0 is none. */
struct undo_object {
    uint32_t before, after;  /* its first name then and now; roots have none */
    uint32_t meta;           /* record that says how it was, counted from 1; 0: it did not change */
    uint32_t data;           /* record that says where its content is */
    uint32_t handle;         /* record of a further name kept in the journal */
    uint32_t partial;        /* record that says what of it is not kept */
    struct undo_ident ident; /* when it was first mentioned; links 0: never by inode */
    bool made;               /* by this run */
    bool foreign;            /* by someone else, during the run */
    bool root;
    bool folder;
    bool dead; /* its inode number is free again */
};

struct undo_entry {
    uint32_t folder; /* the object that it is a name in */
    struct str name;
    uint32_t before, after;           /* objects */
    uint32_t next_before, next_after; /* of the same object */
    uint32_t next;                    /* with the same hash */
};

struct undo_model {
    struct arena arena;
    struct undo_head head;
    struct undo_record *records;
    size_t record_count, record_capacity;
    struct undo_object *objects; /* [0] is unused; the roots come first */
    size_t object_count, object_capacity;
    struct undo_entry *entries; /* [0] is unused */
    size_t entry_count, entry_capacity;
    uint32_t *table; /* entries by folder and name */
    size_t table_size;
    uint32_t *inodes; /* objects by inode */
    size_t inodes_size, inodes_used;
    bool ended;
    struct undo_time end;
    uint32_t last; /* the last change if nothing says that it failed; 0: none. In doubt if !ended */
};

/* Reads all records of a journal; the strings point into log, which must last as long. Nothing is
   replayed yet. CORDON_E_SYNTAX: damaged; CORDON_E_UNKNOWN: another version; CORDON_E_NOMEM. */
int undo_model_read(struct undo_model *m, struct str log);

/* The last change did not happen. */
void undo_model_drop_last(struct undo_model *m);

/* Replays the records. CORDON_E_NOMEM; CORDON_E_SYNTAX if they contradict each other. */
int undo_model_replay(struct undo_model *m);

void undo_model_free(struct undo_model *m);
#define auto_undo_model __attribute__((cleanup(undo_model_free)))

/* The path of an entry below its root, before or after the run, appended; the root's number, or -1
   if it has no path then. */
int undo_model_path(const struct undo_model *m, uint32_t entry, bool before, struct buf *out);

/* The entry of a name in a folder; 0: the journal does not mention it. */
uint32_t undo_model_entry(const struct undo_model *m, uint32_t folder, struct str name);

/* How deep that is: 1 for an entry of the root itself; 0: it has no path then. */
unsigned undo_model_depth(const struct undo_model *m, uint32_t entry, bool before);

const struct undo_record *undo_model_record(const struct undo_model *m, uint32_t number);

/* ---- what changed ---- */

enum undo_kind {
    UNDO_SAME = 0,
    UNDO_CREATED,
    UNDO_MODIFIED,
    UNDO_DELETED,
    UNDO_RENAMED,
    UNDO_KINDS
};

struct undo_change {
    enum undo_kind kind;
    uint32_t root;          /* of path */
    struct str path, from;  /* below the root; from: what a renamed object was called */
    uint32_t before, after; /* entries; 0: it has none */
    uint32_t was, is;       /* objects */
    bool in_doubt; /* UNDO_MODIFIED: it was opened for writing or touched; whether it differs is
                      for the disk to say */
};

/* The changes in order of path, in the model's arena. CORDON_E_NOMEM. */
int undo_model_changes(struct undo_model *m, struct undo_change **out, size_t *count);

const char *undo_kind_word(enum undo_kind kind);

/* The object that has this name after the run has lost it since: it is no name of it any more, not
   of the state before the run either if it had it then. */
void undo_model_disown(struct undo_model *m, uint32_t entry);

/* A name that the object had before and lost; 0: none. */
uint32_t undo_lost_name(const struct undo_model *m, uint32_t object);

/* A name that the object has only since the run; 0: none. */
uint32_t undo_new_name(const struct undo_model *m, uint32_t object);

#endif
