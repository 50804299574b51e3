/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: values of PowerShell as far as they are known before the run, and what operators, casts,
 * methods and static members make of them. What cannot be known is VALUE_UNKNOWN, or a string with
 * GUARD_HOLE in it. Everything lives in the guard's arena and is paid from its expansion budget.
 */
#ifndef CORDON_GUARD_POWERSHELL_FOLD_H
#define CORDON_GUARD_POWERSHELL_FOLD_H

#include "guard/effects.h"

struct ps_node;
struct value_hash;
struct value_object;

enum value_kind {
    VALUE_UNKNOWN = 0,
    VALUE_VOID, /* no output at all */
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_NUMBER,
    VALUE_CHAR,   /* number: code point */
    VALUE_STRING, /* text */
    VALUE_LIST,
    VALUE_HASH,
    VALUE_BLOCK,  /* node: script block */
    VALUE_TYPE,   /* text: full name in lower case */
    VALUE_OBJECT, /* something with a known class */
    VALUE_METHOD  /* object: a member that was not called yet */
};

struct ps_value {
    uint8_t kind;
    uint8_t room; /* VALUE_LIST that is being collected: log2 of the items it has room for */
    bool real;    /* VALUE_NUMBER: not an integer type; VALUE_LIST: made of bytes; VALUE_STRING: its
                     holes are what a wildcard found, without slashes and hidden names */
    union {
        double number; /* also VALUE_BOOL */
        struct str text;
        struct {
            struct ps_value *items;
            size_t count;
        };
        struct value_hash *hash;
        struct ps_node *node;
        struct value_object *object;
    };
};

struct value_pair {
    struct str key;
    struct ps_value value;
};

struct value_hash {
    struct value_pair *pairs;
    size_t count, capacity;
    bool open; /* there may be keys that are not known */
};

/* type: lower case; "com/shell.application", "command", "code", "wmi/win32_process", … */
struct value_object {
    struct str type;
    struct str text;    /* command: name; code: text; method: name; builder: content */
    struct ps_value of; /* method: its object */
    struct value_hash properties;
    struct fold_buffer *grows; /* builder: its text */
};

struct ps_fold {
    struct guard *g;
    struct arena *arena;
    struct str ofs; /* between the items of a list that becomes text: $OFS */
    size_t steps;   /* left; at 0 everything is unknown */
};

enum { FOLD_MAX_ITEMS = 65536, FOLD_MAX_TEXT = 1024 * 1024 };

/* Takes count steps; false when they are used up. */
bool fold_step(struct ps_fold *f, size_t count);

static inline struct ps_value value_unknown(void)
{
    return (struct ps_value){.kind = VALUE_UNKNOWN};
}
static inline struct ps_value value_string(struct str text)
{
    return (struct ps_value){.kind = VALUE_STRING, .text = text.p ? text : STR("")};
}
static inline struct ps_value value_number(double number)
{
    return (struct ps_value){.kind = VALUE_NUMBER, .number = number};
}
static inline struct ps_value value_bool(bool truth)
{
    return (struct ps_value){.kind = VALUE_BOOL, .number = truth};
}
static inline struct ps_value value_kind(enum value_kind kind)
{
    return (struct ps_value){.kind = (uint8_t)kind};
}
static inline bool value_known(struct ps_value v)
{
    return v.kind == VALUE_STRING ? !str_has_char(v.text, GUARD_HOLE) : v.kind != VALUE_UNKNOWN;
}

struct ps_value value_list(struct ps_fold *f,
                           size_t count); /* items to be filled; may be unknown */
struct ps_value value_object(struct ps_fold *f, struct str type, struct str text);
void value_put(struct ps_fold *f, struct value_hash *hash, struct str key, struct ps_value value);
const struct ps_value *value_get(const struct value_hash *hash, struct str key);

/* The text as PowerShell would print it in a string. */
struct str value_text(struct ps_fold *f, struct ps_value v);
/* The items of a value that a pipeline or a loop goes through; unknown if they are not known. */
struct ps_value value_items(struct ps_fold *f, struct ps_value v);
/* A number, if it is one or a string that is one. */
bool fold_number(struct ps_value v, double *number);
/* 1 true, 0 false, -1 not known */
int fold_truth(struct ps_value v);
/* True if every character is one byte, so that positions in it are PowerShell's. */
bool fold_ascii(struct str text);
struct str fold_lower(struct ps_fold *f, struct str text);
struct str fold_concat(struct ps_fold *f, struct str a, struct str b);

/* Text that grows at its end. */
struct fold_buffer {
    struct arena_text text;
    bool failed;
};
void fold_add(struct ps_fold *f, struct fold_buffer *t, struct str s);
struct str fold_result(struct fold_buffer *t);

struct ps_value fold_binary(struct ps_fold *f, unsigned op, struct ps_value a, struct ps_value b);
struct ps_value fold_unary(struct ps_fold *f, unsigned op, struct ps_value a);
struct ps_value fold_cast(struct ps_fold *f, struct str type, struct ps_value v);
struct ps_value fold_index(struct ps_fold *f, struct ps_value v, struct ps_value index);
struct ps_value fold_replace(struct ps_fold *f, struct str text, struct str pattern,
                             struct str with, bool ignore_case);

/* fold_inflate.c: bytes packed by deflate, gzip or zlib; false if they are not, or too many. */
bool fold_inflate(struct ps_fold *f, struct str packed, struct str *out);

/* False if the member is not one that is folded. */
bool fold_property(struct ps_fold *f, struct ps_value v, struct str name, struct ps_value *out);
bool fold_method(struct ps_fold *f, struct ps_value v, struct str name, const struct ps_value *args,
                 size_t count, struct ps_value *out);
/* A folder of the desktop by its name or number, as far as programs are started from it. */
struct ps_value fold_special_folder(struct ps_fold *f, struct ps_value folder);
bool fold_static(struct ps_fold *f, struct str type, struct str name, const struct ps_value *args,
                 size_t count, struct ps_value *out);

#endif
