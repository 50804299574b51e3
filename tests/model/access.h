/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of the Windows access check, from its public description ([MS-DTYP] 2.5.3 and the pages
 * on restricted tokens and mandatory integrity): small, portable, for the tests alone. It says what
 * should follow from published descriptors; only Windows can say what does (token_probe).
 *
 * In this order: generic rights are mapped by type; integrity takes away what the object's label
 * forbids from below; the DACL is read with the token's user and groups; if the token is restricted
 * it is read again with the restricting SIDs alone, for a WRITE_RESTRICTED token only for those of
 * the rights that the type's write mapping has and its read and execute mappings do not, and for
 * DELETE, WRITE_DAC, WRITE_OWNER and ACCESS_SYSTEM_SECURITY (public listings of SepAccessCheck). So
 * FILE_DELETE_CHILD of a folder is asked once.
 */
#ifndef CORDON_TESTS_MODEL_ACCESS_H
#define CORDON_TESTS_MODEL_ACCESS_H

#include "base/arena.h"

enum model_type {
    MODEL_FILE, /* folders, devices and pipes, too */
    MODEL_KEY,
    MODEL_PROCESS,
    MODEL_THREAD,
    MODEL_TOKEN,
    MODEL_SECTION,
    MODEL_EVENT,
    MODEL_DIRECTORY, /* of the object namespace */
    MODEL_DESKTOP,
    MODEL_STATION
};

enum model_level {
    MODEL_UNTRUSTED = 0,
    MODEL_LOW = 0x1000,
    MODEL_MEDIUM = 0x2000,
    MODEL_HIGH = 0x3000,
    MODEL_SYSTEM = 0x4000
};

/* Rights that every type has. */
enum {
    RIGHT_DELETE = 0x10000,
    RIGHT_READ_CONTROL = 0x20000,
    RIGHT_WRITE_DAC = 0x40000,
    RIGHT_WRITE_OWNER = 0x80000,
    RIGHT_SYNCHRONIZE = 0x100000,
    RIGHT_SYSTEM_SECURITY = 0x1000000
};
#define RIGHT_GENERIC_ALL 0x10000000u
#define RIGHT_GENERIC_EXECUTE 0x20000000u
#define RIGHT_GENERIC_WRITE 0x40000000u
#define RIGHT_GENERIC_READ 0x80000000u

struct model_ace {
    bool deny, inherit_only;
    uint32_t mask;
    struct str sid; /* S-1-… */
};

struct model_object {
    enum model_type type;
    struct str owner;
    bool no_dacl; /* then everything is granted */
    struct model_ace *aces;
    size_t count;
    unsigned level; /* of the label; Medium without one */
    bool no_read_up, no_write_up, no_execute_up;
};

struct model_token {
    const char *name;
    unsigned level;
    bool write_restricted;
    const char *const *sids;        /* user and enabled groups, NULL at the end */
    const char *const *deny_only;   /* matched by deny entries only */
    const char *const *restricting; /* NULL: not a restricted token */
};

/* Reads O:, D: and S:(ML…) of SDDL; false and where it stopped if it is malformed. */
bool model_read(struct arena *arena, enum model_type type, const char *sddl,
                struct model_object *out, const char **where);

/* Which check refused. */
enum model_answer { MODEL_GRANTED, MODEL_BY_INTEGRITY, MODEL_BY_DACL, MODEL_BY_RESTRICTING };
extern const char *const model_words[];

enum model_answer model_check(const struct model_token *t, const struct model_object *o,
                              uint32_t desired);

/* Deleting a file: DELETE on it, or FILE_DELETE_CHILD on its folder. */
enum model_answer model_check_delete(const struct model_token *t, const struct model_object *file,
                                     const struct model_object *folder);

#endif
