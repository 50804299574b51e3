/* SPDX-License-Identifier: Apache-2.0 */
/* A path while it is being spelled: shared by normalize.c and components.c. */
#ifndef CORDON_POLICY_SPELLING_H
#define CORDON_POLICY_SPELLING_H

#include "policy/path.h"

struct spelling {
    const struct path_context *context;
    char *out;
    size_t n, capacity;
    bool full;      /* capacity did not suffice */
    bool malformed; /* found on the way */
    bool verbatim;  /* . .. / and trailing dots have no special meaning */
    bool folder;
    bool relative; /* the current directory is part of it */
    bool bare;     /* one component and nothing else */
    size_t floor;
    bool clamp; /* .. at the floor is ignored, as Win32 does; otherwise it is malformed */
};

static inline char ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

void spelling_put(struct spelling *j, struct str s);

/* Splits rest and appends its components: resolves . and .., drops what Win32 drops. .. does not
   climb above the floor. */
void spelling_collapse(struct spelling *j, struct str rest, char separator);

/* Reads the components from start, in place, and returns the class; plain is the class of a path
   with nothing special in it. *base is the length without the stream, SIZE_MAX if there is none. */
enum path_class spelling_finish(struct spelling *j, size_t start, enum path_class plain,
                                size_t *base);

/* UTF-16 units of well-formed text without control characters; SIZE_MAX for any other. */
size_t spelling_units(struct str s);

/* Length without the dots and spaces at the end. */
size_t spelling_trimmed(struct str s);

/* Characters that no name holds, and the colon of streams. */
enum { SPELLING_BAD = 1, SPELLING_COLON = 2 };
unsigned spelling_marks(struct str s);

#endif
