/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An obfuscator for the guard's tests: rewrites a command so that its shell does the same, by the
 * published families of such tools (token, string, encoding, abstract syntax tree, launcher). A
 * transformation takes a whole script and gives another one; several can follow each other.
 */
#ifndef CORDON_TESTS_OBFUSCATE_H
#define CORDON_TESTS_OBFUSCATE_H

#include "base/buf.h"
#include "guard/guard.h"

struct random {
    uint64_t state;
};
uint32_t random_below(struct random *r, uint32_t limit);
const char *random_pick(struct random *r, const char *const *choices, size_t count);
#define PICK(r, ...)                                         \
    random_pick(r, (const char *const[]){__VA_ARGS__},       \
                sizeof((const char *const[]){__VA_ARGS__}) / \
                    sizeof *(const char *const[]){__VA_ARGS__})

/* Writes text so that every a is replaced by b. */
void put_replaced(struct buf *out, struct str text, char a, const char *b);
/* Base64 of bytes; of the text as UTF-16. */
void put_base64(struct buf *out, struct str bytes);
void put_base64_wide(struct buf *out, struct str text);
/* In any case, at random. */
void put_any_case(struct buf *out, struct str text, struct random *r);

/* Writes around with the script, followed by end, in place of every \1. */
void put_around(struct buf *out, const char *around, struct str script, const char *end);
/* Defines a transformation that puts the script into one of these frames; for PowerShell every
   script ends its line, so that a comment in it ends too. */
#define WRAPPED_WITH(name, end, ...)                                       \
    static void name(struct buf *out, struct str script, struct random *r) \
    {                                                                      \
        put_around(out, PICK(r, __VA_ARGS__), script, end);                \
    }
#define WRAPPED(name, ...) WRAPPED_WITH(name, "", __VA_ARGS__)
#define WRAPPED_LINES(name, ...) WRAPPED_WITH(name, "\n", __VA_ARGS__)

struct transformation {
    const char *family, *name;
    void (*apply)(struct buf *out, struct str script, struct random *r);
    bool first; /* works on the plain command only, so it must come first */
};

struct obfuscator {
    enum guard_shell shell;
    const char *name;
    const char *const *hostile, *const *benign;
    size_t hostile_count, benign_count;
    const struct transformation *transformations;
    size_t count;
};
extern const struct obfuscator obfuscate_powershell, obfuscate_cmd, obfuscate_bash;

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
