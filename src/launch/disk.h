/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from this machine's file system and environment; before a run, nothing else reads them. */
#ifndef CORDON_LAUNCH_DISK_H
#define CORDON_LAUNCH_DISK_H

#include "base/arena.h"
#include "base/buf.h"
#include "policy/path.h"

/* The dialect of this machine's own paths. */
enum path_dialect disk_dialect(void);

/* The current directory, normalized; empty if there is none. */
struct str disk_cwd(struct arena *arena);

/* An environment variable; false if it is not set. */
bool disk_variable(struct arena *arena, struct str name, struct str *value);

struct disk_facts {
    bool exists, directory;
    bool link;           /* the last component is itself a junction or symlink */
    bool strange;        /* a reparse point that is neither a link nor an ordinary file */
    uint32_t links;      /* names of the file; 0: unknown */
    struct str final;    /* where the path ends, links followed; missing parts are appended */
    struct str existing; /* its deepest existing folder, final */
};

/* Inspects an absolute path; CORDON_E_OPEN if not even its root can be reached. */
int disk_look(struct arena *arena, struct str path, struct disk_facts *facts);

/* One step along a link: where it leads, perhaps relative to its folder. False if it is not a
   link. */
bool disk_link(struct arena *arena, struct str path, struct str *target);

/* True if the current directory was entered through a link, where disk_cwd does not show that. */
bool disk_cwd_is_link(void);

/* Calls each with every other name of the file, for the hard link rule, until it returns false.
   False if the names cannot be determined. */
bool disk_names(struct arena *arena, struct str path, bool (*each)(void *context, struct str name),
                void *context);

/* Reads a whole regular file of at most limit bytes: CORDON_E_OPEN, CORDON_E_READ or
   CORDON_E_TOOBIG. */
int disk_read(struct str path, size_t limit, struct buf *out);

/* True for a regular file. */
bool disk_is_file(const char *path);

/* True if something has this name, be it a link that leads nowhere. */
bool disk_there(const char *path);

/* True for a folder, not a link, that belongs to the caller or to root. */
bool disk_is_trusted_folder(const char *path);

/* Calls each with the folders and links in a folder; looks at so many names at most. False if there are
   more, or may be: it could not be read to its end. A folder that is not there, or closed, has none. */
bool disk_children(struct arena *arena, struct str path, size_t most,
                   void (*each)(void *context, struct str name), void *context);

/* Creates a folder and those above it; true if it exists then. On Linux no link is followed. */
bool disk_make(struct arena *arena, struct str path);

/* Removes the folder and those above it, up to but not including above, as long as they are empty. */
void disk_unmake(struct arena *arena, struct str path, struct str above);

/* Standard folders that are too broad for a root; empty where unknown. */
struct policy_machine;
void disk_machine(struct arena *arena, struct policy_machine *machine);

#endif
