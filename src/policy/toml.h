/* SPDX-License-Identifier: Apache-2.0 */
/* TOML values as they follow `-c key=`: strings, booleans, integers and lists of strings. */
#ifndef CORDON_POLICY_TOML_H
#define CORDON_POLICY_TOML_H

#include "base/arena.h"

enum toml_type { TOML_STRING = 0, TOML_BOOL, TOML_NUMBER, TOML_LIST };

struct toml_value {
    enum toml_type type;
    struct str text; /* TOML_STRING: decoded; TOML_NUMBER: as written */
    bool truth;
    struct str *items;
    size_t count;
};

struct toml_error {
    size_t at;        /* byte offset */
    const char *what; /* a constant phrase */
    bool escape;      /* a backslash in a "string" that begins no escape */
};

/* CORDON_E_SYNTAX, CORDON_E_ENCODING or CORDON_E_NOMEM, and then *error is filled. */
int toml_read(struct arena *arena, struct str text, struct toml_value *out,
              struct toml_error *error);

#endif
