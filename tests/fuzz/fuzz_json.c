/* SPDX-License-Identifier: Apache-2.0 */
/* A value that was read can be written, and reads the same again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_value(struct json_writer *w, const struct json_value *v)
{
    switch (v->type) {
    case JSON_NULL: json_null(w); break;
    case JSON_FALSE:
    case JSON_TRUE: json_bool(w, v->type == JSON_TRUE); break;
    case JSON_NUMBER: json_number(w, (long long)v->text.n); break;
    case JSON_STRING: json_string(w, v->text); break;
    case JSON_ARRAY:
        json_open(w, '[');
        for (size_t i = 0; i < v->count; i++)
            write_value(w, &v->items[i]);
        json_close(w, ']');
        break;
    case JSON_OBJECT:
        json_open(w, '{');
        for (size_t i = 0; i < v->count; i++) {
            json_key(w, v->members[i].key);
            write_value(w, &v->members[i].value);
        }
        json_close(w, '}');
        break;
    }
}

static bool same(const struct json_value *a, const struct json_value *b)
{
    if (a->type != b->type || a->count != b->count)
        return false;
    if (a->type == JSON_STRING)
        return str_eq(a->text, b->text);
    for (size_t i = 0; i < a->count; i++) {
        if (a->type == JSON_ARRAY && !same(&a->items[i], &b->items[i]))
            return false;
        if (a->type == JSON_OBJECT && (!str_eq(a->members[i].key, b->members[i].key) ||
                                       !same(&a->members[i].value, &b->members[i].value)))
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena arena = {.limit = 64 << 20};
    auto_buf struct buf out = {0};
    struct json_value one, two;
    struct json_error error;
    if (json_read(&arena, (struct str){(const char *)data, size}, &one, &error)) {
        if (!error.what || error.place.line == 0 || error.place.column == 0)
            abort();
        return 0;
    }
    struct json_writer w = {.out = &out};
    write_value(&w, &one);
    if (out.failed || json_read(&arena, buf_str(&out), &two, &error) || !same(&one, &two))
        abort();
    return 0;
}
