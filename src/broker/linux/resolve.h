/* SPDX-License-Identifier: Apache-2.0 */
/* Where a caller's path leads: a parent folder held open, one component below it, and facts about
   the object. */
#ifndef CORDON_BROKER_LINUX_RESOLVE_H
#define CORDON_BROKER_LINUX_RESOLVE_H

#include <limits.h>
#include <sys/stat.h>

#include "broker/linux/request.h"

struct resolved {
    int parent; /* O_PATH descriptor of the folder, or of the object if leaf is empty */
    char leaf[NAME_MAX + 1]; /* a single component, never "." or ".."; empty: the parent itself */
    char path[PATH_MAX];     /* final path of the object */
    bool exists;
    bool folder_wanted;    /* the path ended in a slash */
    bool descriptor;       /* /proc/PID/fd/N: one of the caller's own descriptors */
    const char *link_text; /* of a symbolic link that would be made there; borrowed */
    struct stat st;        /* of the object itself, if it exists; a final symlink is not followed */
};

void resolved_close(struct resolved *r);
#define auto_resolved __attribute__((cleanup(resolved_close)))

/* Follows the path as the caller's kernel would; the last component only if follow is set. Returns
   0, or a negative errno and then *out holds nothing. */
int resolve(const struct request *r, int dirfd, const char *path, bool follow,
            struct resolved *out);

/* The same for a path in the caller's memory. */
int resolve_argument(const struct request *r, int dirfd, uint64_t address, bool follow,
                     struct resolved *out);

/* The path of a descriptor of ours: false if it has none (a pipe, a deleted file). */
bool resolve_path_of(int fd, char *out, size_t capacity);

/* The path of the caller's current directory (AT_FDCWD) or descriptor: false if it has none. */
bool resolve_folder_text(const struct request *r, int dirfd, char *out, size_t capacity);

/* For a path that denotes a descriptor: a copy of it, or a negative errno; -EACCES if it belongs to
   another process. */
int resolved_descriptor(const struct request *r, const struct resolved *where);

/* True for a path below /proc, by its text alone: anything else would cost more than looking up a
   missing path. */
bool resolve_in_proc(const char *path);

#endif
