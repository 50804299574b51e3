/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: every spelling becomes one normal spelling and a class. Lexical only: nothing here touches
   the disk, allocates or knows a policy. */
#ifndef CORDON_POLICY_PATH_H
#define CORDON_POLICY_PATH_H

#include "base/str.h"

enum path_dialect { PATH_WINDOWS = 0, PATH_POSIX };

/* The kind of object that a spelling names. Zero is refused everywhere. */
enum path_class {
    PATH_MALFORMED = 0, /* no system accepts it, or two would read it differently */
    PATH_FILE,          /* C:\a\b or /a/b; the only class that is a plain file or folder */
    PATH_STREAM,        /* C:\a:b; base is the file it belongs to */
    PATH_TRAILING,      /* \\?\C:\a. : a name that only verbatim spellings can reach */
    PATH_RESERVED,      /* C:\a\aux, C:\nul.txt */
    PATH_UNC,           /* \\server\share\a, WebDAV too */
    PATH_WSL,           /* \\wsl$\distribution\a */
    PATH_NUL,           /* \\.\NUL */
    PATH_CONSOLE,       /* \\.\CON, \\.\CONIN$, \\.\CONOUT$ */
    PATH_PIPE,          /* \\.\pipe\name */
    PATH_MAILSLOT,      /* \\.\mailslot\name */
    PATH_VOLUME, /* \\.\C: and \\?\Volume{...}: the raw volume, or a file on an unknown one */
    PATH_DEVICE, /* \\.\PhysicalDrive0, \Device\X, \\?\GLOBALROOT\X */
    PATH_UNIX    /* Wine's doors to the Unix file system: \\?\unix\a, Z:\a */
};

/* How a volume is called elsewhere, for example {"\Device\HarddiskVolume3", "C:"}. */
struct path_map {
    struct str prefix;
    struct str drive;
};

struct path_context {
    enum path_dialect dialect;
    struct str cwd; /* normal and PATH_FILE or PATH_UNC; empty: relative paths are malformed */
    const struct path_map *maps;
    size_t map_count;
    bool nt;         /* the name is an object name as the kernel sees it: \a is not rooted */
    char unix_drive; /* 'Z' under Wine; 0: none */
};

struct path {
    enum path_class class;
    struct str text; /* the normal spelling; of a malformed path the bytes as given */
    struct str base; /* text without the stream */
    bool folder;     /* it was written with a trailing separator */
};

enum {
    PATH_MAX_UNITS = 32767,
    PATH_MAX_BYTES = 3 * PATH_MAX_UNITS + 16 /* room that always suffices for a normal spelling */
};

/*
 * Writes the normal spelling into out. Normalizing twice gives the same spelling and class. Linear
 * in the length. Needs at most given.n + cwd.n + 16 bytes (PATH_MAX_BYTES always suffice);
 * CORDON_E_TOOBIG if capacity is too small, and then *path is untouched.
 */
int path_normalize(const struct path_context *context, struct str given, char *out, size_t capacity,
                   struct path *path);

/* True for a stream that tells where a download came from: a:Zone.Identifier. */
bool path_is_zone(const struct path *path);

/* The class in one word, for messages: "stream", "device". */
const char *path_class_name(enum path_class class);

/* Length of the part that has no parent: "C:" of C:\a, "\\h\s" of \\h\s\a, 0 of /a. */
size_t path_root_length(enum path_dialect dialect, struct str normal);

/* The folder that contains it; C:\ and / and \\h\s have none and give an empty string. */
struct str path_parent(enum path_dialect dialect, struct str normal);

/* The last component; empty for C:\ and /. */
struct str path_leaf(enum path_dialect dialect, struct str normal);

static inline char path_separator(enum path_dialect dialect)
{
    return dialect == PATH_WINDOWS ? '\\' : '/';
}

/* True if path is folder or lies below it; both normal, and compared byte by byte. */
bool path_is_below(enum path_dialect dialect, struct str folder, struct str path);

/* Walks the components of a normal path, the indivisible root ("C:", "\\h\s", "") first. */
struct path_cursor {
    enum path_dialect dialect;
    struct str path;
    size_t pos;   /* after the component returned last */
    bool started; /* the root was returned */
};

/* False at the end. */
bool path_next(struct path_cursor *cursor, struct str *component);

#endif
