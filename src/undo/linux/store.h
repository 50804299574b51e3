/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of journals: $XDG_STATE_HOME/cordon/runs, one folder per run. A run's folder holds
 * `log` (the records), `pack` (small files), `objects` (a folder of larger ones), `lock`
 * and, once it was taken back, `undone`. The lock is held by the run until its tree is dead, and its
 * mtime says when that was, if nobody lived to write it. Files that hold content have mode 0: nobody of the same
 * user can open them without changing that, and a confined tree cannot change it.
 */
#ifndef CORDON_UNDO_LINUX_STORE_H
#define CORDON_UNDO_LINUX_STORE_H

#include "base/arena.h"
#include "undo/model.h"

enum { STORE_MOST_RUNS = 4096, STORE_LONGEST_ID = 40, STORE_LARGEST_LOG = 256 << 20 };

/* The folder's name, whether it is there or not; false if there is no place for it. */
bool store_name(char *out, size_t capacity);
/* The folder, created if make is set; NUL-terminated. False with a sentence. */
bool store_path(bool make, char *out, size_t capacity, char *why, size_t why_capacity);

/* The same, held open; -1 with a sentence. */
int store_open(bool make, char *why, size_t capacity);

/* A run as the list shows it. */
struct store_run {
    char id[STORE_LONGEST_ID];
    struct undo_head head; /* strings live in the arena */
    uint64_t bytes;
    bool live;         /* it has not ended */
    bool damaged;      /* its journal cannot be read */
    bool other;        /* its journal is of another version */
    struct str undone; /* the run that took it back; empty: none */
};

/* Newest first. CORDON_E_NOMEM, CORDON_E_OPEN. */
int store_list(int store, struct arena *arena, struct store_run **out, size_t *count);

/* Removes a run; false if it is live or cannot be removed. */
bool store_drop(int store, const char *id);

/* Removes the oldest runs until all take at most limit bytes; never the one named. Returns how many
   are gone. */
size_t store_prune(int store, uint64_t limit, const char *spare);

/* Opens a file of a run for reading, whose mode is 0; -1 and errno. */
int store_open_file(int folder, const char *name);

/* A journal being read. */
struct store_journal {
    int folder, pack, objects, lock;
    void *log;
    size_t size;
    struct undo_model model;
    struct undo_time end; /* after this, changes are not the run's */
    bool known_end;       /* false: the end is a guess, nobody lived to write it */
};

/* Reads a run. Returns a code and a sentence on failure; lock: fails if the run is live. */
int store_read(int store, const char *id, struct store_journal *out, char *why, size_t capacity);
void store_close(struct store_journal *j);
#define auto_store_journal __attribute__((cleanup(store_close)))

/* Which run is meant: the one named, or the newest whose roots hold this folder and that was not taken
   back.   False with a sentence. */
bool store_choose(int store, const char *wanted, const char *folder, char id[STORE_LONGEST_ID],
                  char *why, size_t capacity);

/* True if the word looks like the id of a run. */
bool store_is_id(const char *word);

/* True if a path is a folder or lies below it. */
bool store_below(struct str folder, struct str path);

/* Another run that has not ended and can change what lies in these roots; undos: only one that takes
   a run back. "" if there is none. */
void store_find_live(int store, const struct undo_head *head, bool undos,
                     char id[STORE_LONGEST_ID]);

/* The folder of a run; -1 and errno. */
int store_open_run(int store, const char *id);

/* Locks a run's folder as flock does, without waiting: to read (LOCK_SH) or to drop it (LOCK_EX).
   -1: failed, and *live if the run has not ended or, for LOCK_EX, somebody reads it. */
int store_take_lock(int folder, int how, bool *live);

/* True if a run may be taken back: an ordinary one, or one that redid it. */
bool store_is_forward(const struct store_run *runs, size_t count, const struct store_run *run);

/* Locks the whole store against a run or an undo that begins at the same time; -1: failed. */
int store_lock(int store);

#endif
