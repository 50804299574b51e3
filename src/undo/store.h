/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of journals, one folder per run: $XDG_STATE_HOME/cordon/runs or, on Windows,
 * %LOCALAPPDATA%\cordon\runs. A run's folder holds `log` (the records), `pack` (small files),
 * `objects` (a folder of larger ones), `lock` and, once it was taken back, `undone`; that of a run
 * that changed nothing has `empty`, so that `changes` does not show an older run. The lock is held by
 * the run until its tree is dead, and its mtime says when that was, if nobody lived to write it. Once
 * the run has ended, the lock holds the length of `log`, so that one that was cut off is noticed.
 * Files that hold content are closed to a confined tree of the same user.
 */
#ifndef CORDON_UNDO_STORE_H
#define CORDON_UNDO_STORE_H

#include "base/arena.h"
#include "undo/fs.h"
#include "undo/model.h"

enum { STORE_MOST_RUNS = 4096, STORE_LONGEST_ID = 40, STORE_LARGEST_LOG = 256 << 20 };

/* The environment variable that moves it. */
extern const char store_variable[];

/* The folder's name, whether it is there or not; false if there is no place for it. */
bool store_name(char *out, size_t capacity);
/* The folder, created if make is set; NUL-terminated. False with a sentence. */
bool store_path(bool make, char *out, size_t capacity, char *why, size_t why_capacity);

/* The same, held open; negative with a sentence. */
fs_file store_open(bool make, char *why, size_t capacity);

/* A run as the list shows it. */
struct store_run {
    char id[STORE_LONGEST_ID];
    struct undo_head head; /* strings live in the arena */
    uint64_t bytes;
    bool live;         /* it has not ended */
    bool damaged;      /* its journal cannot be read */
    bool other;        /* its journal is of another version */
    bool empty;        /* it changed nothing */
    bool half;         /* an undo that was killed on its way: see restore_finish */
    struct str undone; /* the run that took it back; empty: none */
};

/* Newest first, STORE_MOST_RUNS at most. CORDON_E_NOMEM, CORDON_E_OPEN. */
int store_list(fs_file store, struct arena *arena, struct store_run **out, size_t *count);

/* Removes a run; false if it is live or cannot be removed. */
bool store_drop(fs_file store, const char *id);

/* How much journals may take: all of them, and those whose first root is that of one run. */
struct store_limits {
    uint64_t all, same_root;
    const char *run; /* the run, which is never removed; NULL: there is none */
};

/* Runs that changed something and were removed. */
struct store_pruned {
    uint64_t count;
    char root[UNDO_LONGEST_PATH]; /* the first root of the newest */
    bool others;                  /* some had other roots */
};

/* Removes the oldest runs until all are within the limits, and those that are not listed any more; pruned
   may be NULL. */
void store_prune(fs_file store, const struct store_limits *limits, struct store_pruned *pruned);

/* A journal being read. */
struct store_journal {
    fs_file folder, pack, objects, lock;
    void *log;
    size_t size;
    struct undo_model model;
    struct undo_time end; /* after this, changes are not the run's */
    bool known_end;       /* false: the end is a guess, nobody lived to write it */
    bool cut_off;         /* the run was killed and wrote no end */
    bool half;            /* and it was an undo, which changed things one after the other */
};

/* Reads a run. Returns a code and a sentence on failure; lock: fails if the run is live. */
int store_read(fs_file store, const char *id, struct store_journal *out, char *why,
               size_t capacity);
void store_close(struct store_journal *j);
#define auto_store_journal __attribute__((cleanup(store_close)))

/* The run changed nothing: its journal stays as a note, and those of earlier such runs with the same
   first root go. spare: it changed something, and only the others go. False if it cannot be noted. */
bool store_note_empty(fs_file store, const char *id, bool spare);

struct store_choice {
    char id[STORE_LONGEST_ID];
    char root[UNDO_LONGEST_PATH]; /* its first; empty if the run was named */
    bool empty;                   /* it changed nothing */
    /* The newest other run that might be meant: if this one is empty, the one before it that changed
       something; to show it, a newer one below the folder. "": none. */
    char other[STORE_LONGEST_ID];
    bool below; /* other is the latter */
};

/* Which run is meant: the one named, or the newest whose roots hold this folder and that was not taken
   back, even if it changed nothing. A newer one below the folder might be meant as well: shows, which
   does no harm, names it; otherwise that is a failure. False with a sentence. */
bool store_choose(fs_file store, const char *wanted, const char *folder, bool shows,
                  struct store_choice *out, char *why, size_t capacity);

/* True if the word looks like the id of a run. */
bool store_is_id(const char *word);

/* True if a path is a folder or lies below it. */
bool store_below(struct str folder, struct str path);

/* True if what one run can change another one can, too. */
bool store_overlap(const struct undo_head *one, const struct undo_head *other);

/* Another run that has not ended and can change what lies in these roots; undos: only one that takes
   a run back. "" if there is none. */
void store_find_live(fs_file store, const struct undo_head *head, bool undos,
                     char id[STORE_LONGEST_ID]);

/* The length of the log, in the lock of a run that has ended. 0 or a negative errno; true if it is
   there. */
int store_put_length(fs_file lock, uint64_t length);
bool store_take_length(fs_file lock, uint64_t *length);

/* The folder of a run. */
fs_file store_open_run(fs_file store, const char *id);

/* Locks a run's folder without waiting, to read it or, exclusively, to drop it. Negative: failed, and
   *live if the run has not ended or, for an exclusive lock, somebody reads it. */
fs_file store_take_lock(fs_file folder, bool exclusive, bool *live);

/* True if a run may be taken back: an ordinary one, or one that redid it. */
bool store_is_forward(const struct store_run *runs, size_t count, const struct store_run *run);

/* Locks the whole store against a run or an undo that begins at the same time. */
fs_file store_lock(fs_file store);

#endif
