/* SPDX-License-Identifier: Apache-2.0 */
/* Names of programs and files as the judges compare them. */
#ifndef CORDON_GUARD_NAMES_H
#define CORDON_GUARD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The part after the last slash or backslash. */
struct str name_leaf(struct str path);

/* After the last dot of the leaf, without it; "" if there is none. */
struct str name_extension(struct str path);

/* The leaf without .exe and its like, trailing dots and blanks: "C:\x\Git.EXE " is "Git". */
struct str name_program(struct str path);

/*
 * Tables of names hold no pointers: all their texts stand in one structure, the pool, and a row
 * begins with the place of its name there. ROW(x) names a row's own member of the pool, which is
 * filled by including the table a second time.
 */
#define ROW_JOIN(prefix, line) prefix##line
#define ROW_OF_LINE(prefix, line) ROW_JOIN(prefix, line)
#define ROW(prefix) ROW_OF_LINE(prefix, __LINE__)
#define PLACE(pool, member) (uint16_t) offsetof(struct pool, member)

/* Rows about programs that Windows does not have stay out of the program for it. */
#ifdef _WIN32
#define UNIX_ROW(...)
#else
#define UNIX_ROW(...) __VA_ARGS__
#endif

static inline struct str name_at(const void *pool, uint16_t place)
{
    return str_of((const char *)pool + place);
}

/* The first row of a table sorted by its names, without case; count if none has this name. */
size_t name_row(const void *pool, const void *rows, size_t count, size_t size, struct str name);
#define NAME_ROWS(table) (sizeof(table) / sizeof *(table))
#define NAME_ROW(pool, table, name) \
    name_row(&(pool), table, NAME_ROWS(table), sizeof *(table), name)
#define NAME_KNOWN(pool, table, name) (NAME_ROW(pool, table, name) < NAME_ROWS(table))

/* True if text, up to its end, '=' or ':', is one of the alternatives in "a|b|c", without case. */
bool name_is_one_of_parts(const char *text, size_t n, const char *alternatives,
                          size_t alternatives_n);
static inline bool name_is_one_of(struct str text, struct str alternatives)
{
    return name_is_one_of_parts(text.p, text.n, alternatives.p, alternatives.n);
}

/* True if one of the words in "a|b|c" stands somewhere in the text, without case. */
bool name_has_one_of(struct str text, struct str words);
/* True if the name ends in one of the alternatives in "a|b|c", without case. */
bool name_ends_in_one_of(struct str name, struct str ends);

/* A file that the shell would open with another program (and not run itself). */
bool name_is_document(struct str name);

/* No extension, or one that is run: programs and scripts. */
bool name_is_program(struct str name);

#endif
