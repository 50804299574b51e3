/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of runs with --undo, as `cordon changes`, `undo` and `runs` and cordon.h show them. */
#ifndef CORDON_LIB_CHANGES_H
#define CORDON_LIB_CHANGES_H

#include "base/json.h"
#include "undo/restore.h"

/* The folder of journals; negative and a sentence, also inside a run. */
fs_file changes_open_store(char *why, size_t capacity);

/* The run that is meant, and the folder that paths are relative to. */
struct changes_choice {
    struct store_choice run;
    char folder[UNDO_LONGEST_PATH];
};

/* The run named, or the newest of a folder, NULL: the current one; shows: see store_choose(). A code and
   a sentence. */
int changes_choose(fs_file store, const char *wanted, const char *folder, bool shows,
                   struct changes_choice *out, char *why, size_t capacity);

/* Makes words absolute paths, without looking at the disk: the files may be gone. NULL: out of
   memory. */
const char **changes_paths(struct arena *arena, const char *folder, const char *const *words,
                           size_t count);

/* One change with what the disk says about it. Lasts for the call. */
struct changes_item {
    const struct undo_change *change;
    struct str root;  /* the change's, whole */
    struct str since; /* what happened to it after the run; empty: nothing */
    bool folder;
    bool had_size, has_size; /* of a file, before and now */
    uint64_t size_before, size;
    bool regular;                                       /* now */
    char mode_before[FS_MODE_TEXT], mode[FS_MODE_TEXT]; /* if it changed */
    struct str link_before, link; /* where a symbolic link led, and leads; empty: it is none */
    bool altered;                 /* not only renamed */
    bool counted;                 /* a text, before and now */
    size_t added, removed;
    struct str diff; /* if it was asked for */
    struct str lost; /* why it cannot be taken back; empty: it can */
};

struct changes_query {
    const char *const *only; /* absolute; only these and what lies below them */
    size_t only_count;       /* 0: all */
    bool diff;
    bool (*each)(void *context, const struct changes_item *item); /* false: stop */
    void *context;
};

/* The first of the paths that the run changed nothing of; only_count: there is none such.
   CORDON_E_NOMEM. */
int changes_unknown(struct store_journal *j, const struct changes_query *q, size_t *unknown);

/* Every change that made a difference, in order of path. CORDON_E_NOMEM. */
int changes_each(struct store_journal *j, const fs_file *roots, const struct changes_query *q,
                 uint64_t counts[UNDO_KINDS]);

/* One object each, as in the answers of --json. */
void changes_json(const struct changes_item *item, struct json_writer *w);
/* dry: marked as what would be done. */
void changes_restored_json(const struct restore_item *item, bool dry, struct json_writer *w);
void changes_run_json(const struct store_run *run, struct json_writer *w);

#endif
