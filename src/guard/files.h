/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a command writes, so that a script or program it runs later can be judged. */
#ifndef CORDON_GUARD_FILES_H
#define CORDON_GUARD_FILES_H

#include "guard/effects.h"

struct guard_file {
    struct guard_file *older;
    struct str path, content;
    unsigned leaf_hash, stem_hash; /* of its name with and without the extension */
    bool built;                    /* guard_build has looked at it */
    struct str original;           /* the program that this is a copy of; p NULL: none */
    struct str link;               /* the target of this symbolic link; p NULL: no link */
    bool moved;                    /* it is what link was the name of */
};

struct guard_files {
    struct guard_file *newest;
    size_t count;
};

/* The file of that path, or else one of that name, because folders have many spellings; NULL if the
   text wrote none. */
struct guard_file *files_find(const struct guard_files *files, struct str path);

/* The path of a written file with this name and an extension; the given path if there is none. */
struct str files_with_extension(const struct guard_files *files, struct str path);

/* The path behind a link that the text made and that the path leads through; the path itself if it
   does not. */
struct str guard_through_link(struct guard *g, struct str path);

/* The program behind a name that the text gave it (cp, ln); the word itself if it did not. An ask
   if the text made the program from something unknown. */
struct word guard_original(struct guard *g, struct word program);

/* Files that the text wrote are built, loaded or run by a program: those among its arguments are
   judged as code, and it asks if one of the others opens something. */
void guard_build(struct guard *g, const struct guard_call *call);

#endif
