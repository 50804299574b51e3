/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of git's index, or of a file that leaves the roots by an answer, on its way to its name. */
#ifndef CORDON_BROKER_WINDOWS_INDEX_H
#define CORDON_BROKER_WINDOWS_INDEX_H

#include "broker/git_index.h"
#include "broker/windows/broker.h"

struct index_copy {
    bool judged;
    char why[GIT_INDEX_WHY]; /* if not */
    struct buf bytes;
    struct nt_basic basic; /* times and attributes */
    struct place place;
    HANDLE file; /* the only one that writes to it */
};
void index_copy_close(struct index_copy *copy);
#define auto_index_copy __attribute__((cleanup(index_copy_close)))

/* Reads and judges the file that is to become the index. */
bool index_judge(struct request *r, HANDLE lock, const struct place *to, struct index_copy *out);

/* Of a file that leaves. */
enum { INDEX_MOST_LEAVING = 64 << 20 };

/* The same for a file of any content; false if it cannot be read or holds more than that. */
bool index_take(HANDLE file, struct index_copy *out);

/* Makes the file beside the index. False: it has been answered. */
bool index_make(struct request *r, const struct place *to, struct index_copy *copy);

/* Removes it again. */
void index_drop(struct request *r, struct index_copy *copy);

#endif
