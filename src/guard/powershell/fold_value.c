/* SPDX-License-Identifier: Apache-2.0 */
/* Values: making them, their text, number and truth. */
#include "guard/names.h"
#include "guard/powershell/fold.h"

#include "base/utf.h"
#include "guard/powershell/powershell.h"

#include <stdio.h>

bool fold_step(struct ps_fold *f, size_t count)
{
    if (f->steps < count) {
        f->steps = 0;
        return false;
    }
    f->steps -= count;
    return true;
}

struct ps_value value_list(struct ps_fold *f, size_t count)
{
    if (count > FOLD_MAX_ITEMS || !fold_step(f, count))
        return value_unknown();
    struct ps_value v = {.kind = VALUE_LIST};
    v.count = count;
    v.items = ARENA_ARRAY(f->arena, count ? count : 1, struct ps_value);
    return v.items ? v : value_unknown();
}

struct ps_value value_object(struct ps_fold *f, struct str type, struct str text)
{
    struct ps_value v = {.kind = VALUE_OBJECT};
    v.object = ARENA_NEW(f->arena, struct value_object);
    if (!v.object)
        return value_unknown();
    v.object->type = type;
    v.object->text = text;
    return v;
}

const struct ps_value *value_get(const struct value_hash *hash, struct str key)
{
    for (size_t i = hash->count; i-- > 0;)
        if (str_eqi(hash->pairs[i].key, key))
            return &hash->pairs[i].value;
    return NULL;
}

void value_put(struct ps_fold *f, struct value_hash *hash, struct str key, struct ps_value value)
{
    if (!fold_step(f, hash->count + 1)) {
        hash->open = true;
        return;
    }
    for (size_t i = 0; i < hash->count; i++) {
        if (str_eqi(hash->pairs[i].key, key)) {
            hash->pairs[i].value = value;
            return;
        }
    }
    if (hash->count == hash->capacity) {
        struct value_pair *pairs =
            arena_grow(f->arena, hash->pairs, &hash->capacity, sizeof *pairs);
        if (!pairs) {
            hash->open = true;
            return;
        }
        hash->pairs = pairs;
    }
    hash->pairs[hash->count++] = (struct value_pair){key, value};
}

void fold_add(struct ps_fold *f, struct fold_buffer *t, struct str s)
{
    if (t->failed || s.n == 0)
        return;
    t->failed = t->text.n + s.n > FOLD_MAX_TEXT || !guard_spend(f->g, s.n) ||
                !arena_append(f->arena, &t->text, s);
}

struct str fold_result(struct fold_buffer *t)
{
    if (t->failed)
        return STR("\xFF");
    return t->text.p ? (struct str){t->text.p, t->text.n} : STR("");
}

struct str fold_concat(struct ps_fold *f, struct str a, struct str b)
{
    if (a.n == 0)
        return b.p ? b : STR("");
    if (b.n == 0)
        return a;
    struct fold_buffer t = {0};
    fold_add(f, &t, a);
    fold_add(f, &t, b);
    return fold_result(&t);
}

bool fold_ascii(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0x80)
            return false;
    return true;
}

struct str fold_lower(struct ps_fold *f, struct str text)
{
    size_t i = 0;
    while (i < text.n && !(text.p[i] >= 'A' && text.p[i] <= 'Z'))
        i++;
    if (i == text.n)
        return text.p ? text : STR("");
    struct str copy = arena_copy(f->arena, text);
    if (!copy.p)
        return STR("\xFF");
    for (; i < copy.n; i++)
        ((char *)copy.p)[i] = ascii_lower(copy.p[i]);
    return copy;
}

static struct str number_text(struct ps_fold *f, struct ps_value v)
{
    char digits[40];
    if (v.number < 1e15 && v.number > -1e15 && v.number == (double)(long long)v.number)
        return arena_copy(f->arena, str_of_number((long long)v.number, digits));
    int n = snprintf(digits, sizeof digits, "%.15g", v.number);
    return arena_copy(f->arena, (struct str){digits, (size_t)n});
}

/* A method that is not called, as text: its overloads. */
static struct str method_text(const struct value_object *method)
{
    static const struct method_pool {
#define METHOD(name, text) char ROW(n)[sizeof name], ROW(t)[sizeof text];
#include "guard/tables/ps_methods.def"
#undef METHOD
    } pool = {
#define METHOD(name, text) name, text,
#include "guard/tables/ps_methods.def"
#undef METHOD
    };
    static const struct {
        uint16_t name, text;
    } methods[] = {
#define METHOD(name, text) {PLACE(method_pool, ROW(n)), PLACE(method_pool, ROW(t))},
#include "guard/tables/ps_methods.def"
#undef METHOD
    };
    if (method->of.kind != VALUE_STRING && method->of.kind != VALUE_CHAR)
        return STR("\xFF");
    size_t row = NAME_ROW(pool, methods, method->text);
    return row < NAME_ROWS(methods) ? name_at(&pool, methods[row].text) : STR("\xFF");
}

struct ps_value value_items(struct ps_fold *f, struct ps_value v)
{
    if (v.kind == VALUE_LIST || v.kind == VALUE_UNKNOWN)
        return v;
    bool bytes = v.kind == VALUE_OBJECT && str_eq(v.object->type, STR("bytes"));
    size_t count = bytes ? v.object->text.n : v.kind != VALUE_VOID;
    if (count > FOLD_MAX_ITEMS || !fold_step(f, count))
        return value_unknown();
    struct ps_value list = value_list(f, count);
    for (size_t i = 0; list.kind == VALUE_LIST && i < count; i++)
        list.items[i] = bytes ? value_number((unsigned char)v.object->text.p[i]) : v;
    return list;
}

struct str value_text(struct ps_fold *f, struct ps_value v)
{
    char bytes[4];
    switch (v.kind) {
    case VALUE_VOID:
    case VALUE_NULL: return STR("");
    case VALUE_BOOL: return v.number != 0 ? STR("True") : STR("False");
    case VALUE_NUMBER: return number_text(f, v);
    case VALUE_CHAR:
        return arena_copy(f->arena,
                          (struct str){bytes, utf_encode((uint32_t)v.number & 0x1FFFFF, bytes)});
    case VALUE_STRING: return v.text.p ? v.text : STR("");
    case VALUE_TYPE:
        if (!str_has_char(v.text, '.') || str_starts(v.text, STR("microsoft.")))
            return v.text.p ? v.text : STR("");
        return fold_concat(f, STR("System."), v.text);
    case VALUE_LIST: {
        struct fold_buffer t = {0};
        for (size_t i = 0; i < v.count; i++) {
            if (i)
                fold_add(f, &t, f->ofs);
            fold_add(f, &t,
                     v.items[i].kind == VALUE_LIST ? STR("System.Object[]")
                                                   : value_text(f, v.items[i]));
        }
        return fold_result(&t);
    }
    case VALUE_HASH: return STR("System.Collections.Hashtable");
    case VALUE_OBJECT:
        if (v.object->text.p && v.object->type.p[0] != 'm' && !str_eq(v.object->type, STR("bytes")))
            return v.object->text;
        return STR("\xFF");
    case VALUE_METHOD: return method_text(v.object);
    default: return STR("\xFF");
    }
}

bool fold_number(struct ps_value v, double *number)
{
    bool real;
    switch (v.kind) {
    case VALUE_NUMBER:
    case VALUE_CHAR:
    case VALUE_BOOL: *number = v.number; return true;
    case VALUE_NULL: *number = 0; return true;
    case VALUE_STRING: return ps_number(str_trim(v.text), number, &real);
    case VALUE_LIST: return v.count == 1 && fold_number(v.items[0], number);
    default: return false;
    }
}

int fold_truth(struct ps_value v)
{
    switch (v.kind) {
    case VALUE_VOID:
    case VALUE_NULL: return 0;
    case VALUE_BOOL:
    case VALUE_NUMBER:
    case VALUE_CHAR: return v.number != 0;
    case VALUE_STRING: return value_known(v) ? v.text.n != 0 : -1;
    case VALUE_LIST: return v.count == 0 ? 0 : v.count == 1 ? fold_truth(v.items[0]) : 1;
    case VALUE_HASH:
    case VALUE_BLOCK:
    case VALUE_TYPE:
    case VALUE_OBJECT: return 1;
    default: return -1;
    }
}
