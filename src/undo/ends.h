/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run left the files that it changed, with a hash of each, in the file `ends` of its journal. With it
 * an undo sees that a file whose time is later than the run still holds what the run wrote. Without it,
 * or if it is damaged, such a file counts as changed.
 */
#ifndef CORDON_UNDO_ENDS_H
#define CORDON_UNDO_ENDS_H

#include "undo/restore.h"

/* Files over ENDS_LARGEST are not hashed, nor is any file once ENDS_MOST_BYTES were read. */
enum { ENDS_LARGEST = 1 << 20, ENDS_MOST_BYTES = 64 << 20, ENDS_MOST_FILES = 20000 };

struct ends {
    uint64_t key[2];
    struct ends_file *items; /* by entry */
    size_t count;
};

struct ends_writer {
    uint64_t key[2];
    bool known; /* there is a key */
    uint64_t bytes;
    size_t files;
    struct buf out, content;
};

/* Once the tree is dead: the entries of the changes that are there, in any order. same: it is as it was
   before the run. */
void ends_begin(struct ends_writer *w);
void ends_add(struct ends_writer *w, const struct store_journal *j, uint32_t entry,
              const struct restore_spot *spot, bool same);
void ends_finish(struct ends_writer *w, const struct store_journal *j);

void ends_read(const struct store_journal *j, struct ends *out);
void ends_free(struct ends *ends);

/* How the run left an entry; false if that was not noted. */
struct ends_state {
    uint32_t mode;
    uint64_t size;
    bool same; /* as it was before the run */
};
bool ends_of(const struct ends *ends, uint32_t entry, struct ends_state *out);

/* True if the file at the place of an entry holds what the run left there, with the same mode and as
   many names; of a link, if it leads where it led. */
bool ends_match(const struct ends *ends, uint32_t entry, const struct restore_spot *spot);

#endif
