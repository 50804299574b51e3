/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, as a journal and an undo use them; each system implements this in its own folder. An object
 * is one name in a folder held open, and links are never followed. Functions return 0, or a negative
 * errno; those that open a file return it, or a negative errno.
 */
#ifndef CORDON_UNDO_FS_H
#define CORDON_UNDO_FS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "undo/format.h"

/* A descriptor or a handle; negative: none. */
typedef intptr_t fs_file;

/* Kinds of objects in a mode; the other bits are the system's own. */
enum { FS_TYPE = 0170000, FS_FOLDER = 0040000, FS_REGULAR = 0100000, FS_LINK = 0120000 };

static inline bool fs_is_file(uint32_t mode)
{
    return (mode & FS_TYPE) == FS_REGULAR;
}

static inline bool fs_is_folder(uint32_t mode)
{
    return (mode & FS_TYPE) == FS_FOLDER;
}

static inline bool fs_is_link(uint32_t mode)
{
    return (mode & FS_TYPE) == FS_LINK;
}

struct fs_stat {
    uint64_t device, inode;
    uint32_t links, mode, user, group;
    uint64_t size, taken; /* bytes of it, and on the disk */
    struct undo_time modified, accessed, changed;
};

enum fs_open {
    FS_READ = 0,   /* a regular file; its time of access stays where that is possible */
    FS_READ_KEPT,  /* a file of a journal, which is closed to others */
    FS_CHANGE,     /* an existing one, to read and write */
    FS_CREATE,     /* a new one, or an error */
    FS_CREATE_KEPT /* a new one of a journal, closed to others */
};

/* Nothing happens to a negative one. */
void fs_close(fs_file file);
fs_file fs_duplicate(fs_file file);

/* An empty name is the folder itself, here and below. */
int fs_stat(fs_file folder, const char *name, struct fs_stat *out);

fs_file fs_open_root(const char *path);
/* To look things up in; path has several names, or is empty. */
fs_file fs_open_beneath(fs_file root, const char *path);
/* To list. */
fs_file fs_open_folder(fs_file in, const char *name);
/* For its attributes alone. */
fs_file fs_open_object(fs_file in, const char *name);
fs_file fs_open_file(fs_file in, const char *name, enum fs_open how);

/* How many bytes were read; fewer than n at the end of the file. */
int64_t fs_read(fs_file file, void *p, size_t n, uint64_t at);
int fs_write(fs_file file, const void *p, size_t n, uint64_t at);
int fs_truncate(fs_file file, uint64_t size);
/* Makes an empty file the same as another, holes included; a clone where the file system offers
   that. -ECANCELED once *stop is set; it may be NULL. -EAGAIN if the other became shorter meanwhile
   and that was noticed. */
int fs_copy(fs_file from, fs_file to, const atomic_bool *stop);
/* A clone or nothing. */
int fs_clone(fs_file from, fs_file to);

/* The whole content, to be released; NULL: impossible. */
void *fs_map(fs_file file, size_t size);
void fs_unmap(void *content, size_t size);

int fs_make_folder(fs_file in, const char *name);
/* What people call the mode: 644, or the attributes that they set. */
enum { FS_MODE_TEXT = 16 };
void fs_mode_text(uint32_t mode, char out[FS_MODE_TEXT]);

/* A link, a fifo or a socket. */
int fs_make_other(fs_file in, const char *name, uint32_t mode, const char *target);
/* How many bytes the link's target has. */
int fs_read_link(fs_file in, const char *name, char *out, size_t capacity);
int fs_remove(fs_file in, const char *name, bool folder);
int fs_rename(fs_file from, const char *name, fs_file to, const char *new_name, bool over);
int fs_link(fs_file from, const char *name, fs_file to, const char *new_name);
/* The same from a tree into a journal and back; -EOPNOTSUPP where a copy is better. */
int fs_link_kept(fs_file from, const char *name, fs_file to, const char *new_name);
/* True if a file has more than one content: alternate streams, which no journal keeps. marks: also if
   the other one is only the system's mark of a download. */
bool fs_has_streams(fs_file in, const char *name, bool marks);
/* Closes a file of a journal to others. */
void fs_shut(fs_file in, const char *name);

/* What a record keeps of an object besides its content, mode, owner and times of change and access;
   out is at most UNDO_LONGEST_ATTRIBUTES. */
void fs_take_attributes(fs_file file, struct buf *out);
/* Restores mode, owner and, as wanted, times and attributes. Fails if it is something else now. */
int fs_restore_meta(fs_file in, const char *name, const struct undo_record *meta, bool times,
                    bool attributes);
/* Times of access and modification alone. */
void fs_set_times(fs_file object, struct undo_time accessed, struct undo_time modified);

/* Until the file is closed. -EWOULDBLOCK if it would have to wait. */
int fs_lock(fs_file file, bool exclusive, bool wait);

/* The names in a folder, in the arena. */
int fs_list(fs_file folder, struct arena *arena, const char ***out, size_t *count);

struct undo_time fs_now(void);
/* Waits until whatever changes gets a later time than this. */
void fs_wait_past(struct undo_time end);

/* Puts '/' between the names of a path of the policy. */
void fs_use_slashes(char *path);
/* The final path of a folder, or of the current one if it is NULL, with '/' between names. */
int fs_final_path(const char *folder, char *out, size_t capacity);
/* Makes a word an absolute path with '/' between names, without looking at the disk. */
bool fs_absolute(const char *folder, const char *word, struct buf *out);
/* True if a path begins with these bytes, compared as the system compares names. */
bool fs_path_starts(struct str path, struct str start);

#endif
