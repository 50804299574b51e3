/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: a strict reader (RFC 8259, duplicate keys refused, depth and size bounded, numbers kept as
 * written) and a writer. Strings are WTF-8: \ud800 survives as an unpaired surrogate.
 */
#ifndef CORDON_BASE_JSON_H
#define CORDON_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"

enum { JSON_MAX_DEPTH = 64 };

enum json_type {
    JSON_NULL = 0,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_place {
    unsigned line, column; /* from 1; column counts bytes */
};

struct json_member;

struct json_value {
    enum json_type type;
    struct json_place place;
    struct str text; /* JSON_STRING: decoded; JSON_NUMBER: as written */
    size_t count;    /* of JSON_ARRAY and JSON_OBJECT */
    union {
        struct json_value *items;
        struct json_member *members;
    };
};

struct json_member {
    struct str key;
    struct json_place place;
    struct json_value value;
};

struct json_error {
    struct json_place place;
    const char *what; /* a constant phrase */
};

/* Reads one document; all of text must belong to it. The value lives in the arena. Fails with
   CORDON_E_SYNTAX, CORDON_E_ENCODING or CORDON_E_NOMEM and then fills *error. */
int json_read(struct arena *arena, struct str text, struct json_value *out,
              struct json_error *error);

/* The member's value, or NULL. */
const struct json_value *json_get(const struct json_value *object, struct str key);

/* Writer: appends to a buffer, commas and quotes by itself. Nesting deeper than JSON_MAX_DEPTH
   marks the buffer as failed. */
struct json_writer {
    struct buf *out;
    unsigned depth;
    bool comma[JSON_MAX_DEPTH + 1];
    bool after_key;
};

void json_open(struct json_writer *w, char bracket); /* '{' or '[' */
void json_close(struct json_writer *w, char bracket);
void json_key(struct json_writer *w, struct str key);
void json_string(struct json_writer *w, struct str s); /* stray bytes become \udc80 to \udcff */
void json_number(struct json_writer *w, long long number);
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
void json_copy(struct json_writer *w, const struct json_value *value); /* as it was read */

/* Shorthand: a member of an object. */
void json_put(struct json_writer *w, struct str key, struct str value);
void json_put_number(struct json_writer *w, struct str key, long long value);
void json_put_bool(struct json_writer *w, struct str key, bool value);

#endif
