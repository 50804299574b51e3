/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of one run: what was there before each change, as records that are only appended.
 *
 * A record is: length of the payload (4 bytes), check (4 bytes, undo_hash of the payload), payload.
 * Numbers are little-endian. A record is written before the change that it describes, so a record
 * that is cut off at the end of the file describes a change that did not happen.
 */
#ifndef CORDON_UNDO_FORMAT_H
#define CORDON_UNDO_FORMAT_H

#include "base/buf.h"

enum {
    UNDO_VERSION = 1,
    UNDO_MOST_ROOTS = 64,
    UNDO_LONGEST_PATH = 4096,
    UNDO_LONGEST_NAME = 765,         /* 255 units of UTF-16 */
    UNDO_LONGEST_TEXT = 4096,        /* a command, a link's target, a reason */
    UNDO_LONGEST_ATTRIBUTES = 65536, /* extended attributes of one file */
    UNDO_LONGEST_RECORD = 1 << 20,
    UNDO_SMALL = 65536, /* smaller files are kept in the pack */
};

enum undo_type {
    UNDO_NONE = 0,
    UNDO_HEAD,     /* the first record: which run, which roots */
    UNDO_KEEP,     /* an existing object is about to change: how it was */
    UNDO_CREATE,   /* a new object: path; one that has this name goes */
    UNDO_REMOVE,   /* a name goes away: path, ident */
    UNDO_RENAME,   /* path to to; replaced is what was there */
    UNDO_EXCHANGE, /* path and to change places */
    UNDO_LINK,     /* to becomes another name of path */
    UNDO_FAILED,   /* the last change did not happen */
    UNDO_END,      /* the tree is dead: when */
    UNDO_TYPES
};

/* How an object's content is kept. */
enum undo_how {
    UNDO_LOST = 0, /* it is not: text says why */
    UNDO_META,     /* not needed: only mode, owner, times and attributes; with a text that says it,
                      a part of the object that goes and is not kept */
    UNDO_PACK,     /* place and size in the pack, hash of the bytes */
    UNDO_COPY,     /* a file of the journal: its number is place */
    UNDO_LINKED,   /* the same, and it is the very inode, which has no other name any more */
    UNDO_HANDLE,   /* a further name of an inode that has others: nothing of its content */
    UNDO_TARGET,   /* a symbolic link: text */
    UNDO_HOWS
};

struct undo_path {
    uint32_t root;   /* which one */
    struct str text; /* below it; empty: the root itself */
};

struct undo_time {
    int64_t seconds;
    uint32_t nanoseconds;
};

/* Which object, at the time of the record. */
struct undo_ident {
    uint64_t device, inode;
    uint32_t links; /* 0: there is no object */
    uint32_t mode;
    struct undo_time changed; /* ctime */
};

struct undo_root {
    struct str path;
    uint64_t device, inode;
};

struct undo_head {
    uint32_t version;
    struct str run, session, command;
    struct str undoes; /* the run that this run of undo takes back; empty: an ordinary run */
    uint64_t time;     /* milliseconds since 1970 */
    uint32_t root_count;
    struct undo_root roots[UNDO_MOST_ROOTS];
};

struct undo_record {
    enum undo_type type;
    struct undo_path path, to;
    struct undo_ident ident, replaced;
    enum undo_how how;
    uint64_t place, size, hash;
    uint32_t user, group;
    struct undo_time modified, accessed;
    struct str text, attributes;
    struct undo_time end; /* of UNDO_END */
};

/* Not cryptographic: finds damage, not malice. The journal is out of the tree's reach. */
uint64_t undo_hash(struct str bytes);

/* Appends a record; check out->failed. */
void undo_put_head(struct buf *out, const struct undo_head *head);
void undo_put(struct buf *out, const struct undo_record *record);

/* Reads the record at *at and moves on. The strings point into log. Returns 1; 0 at the end, also
   if the last record is cut off; CORDON_E_SYNTAX if the journal is damaged; CORDON_E_UNKNOWN if it
   has another version. Type HEAD fills head, the others record. */
int undo_read(struct str log, size_t *at, struct undo_head *head, struct undo_record *record);

/* Negative, zero or positive. */
int undo_time_compare(struct undo_time a, struct undo_time b);

#endif
