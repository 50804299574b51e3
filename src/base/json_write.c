/* SPDX-License-Identifier: Apache-2.0 */
/* JSON writer. */
#include "base/json.h"
#include "base/utf.h"

static void before_value(struct json_writer *w)
{
    if (w->after_key)
        w->after_key = false;
    else if (w->comma[w->depth])
        buf_char(w->out, ',');
    w->comma[w->depth] = true;
}

void json_open(struct json_writer *w, char bracket)
{
    before_value(w);
    buf_char(w->out, bracket);
    if (w->depth >= JSON_MAX_DEPTH) {
        w->out->failed = true;
        return;
    }
    w->comma[++w->depth] = false;
}

void json_close(struct json_writer *w, char bracket)
{
    if (w->depth > 0)
        w->depth--;
    buf_char(w->out, bracket);
}

static void write_code(struct buf *out, uint32_t code, struct str bytes)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    const char *hit = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
    if (hit) {
        buf_char(out, '\\');
        buf_char(out, letter[hit - plain]);
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code <= 0xDFFF)) {
        buf_fmt(out, "\\u%04x", (unsigned)code);
    } else {
        buf_add(out, bytes);
    }
}

static void write_quoted(struct buf *out, struct str s)
{
    buf_char(out, '"');
    for (size_t pos = 0; pos < s.n;) {
        size_t start = pos;
        int32_t code = utf_decode(s, &pos);
        if (code < 0)
            buf_fmt(out, "\\udc%02x", (unsigned char)s.p[start]);
        else
            write_code(out, (uint32_t)code, str_slice(s, start, pos));
    }
    buf_char(out, '"');
}

void json_key(struct json_writer *w, struct str key)
{
    before_value(w);
    write_quoted(w->out, key);
    buf_char(w->out, ':');
    w->after_key = true;
}

void json_string(struct json_writer *w, struct str s)
{
    before_value(w);
    write_quoted(w->out, s);
}

void json_number(struct json_writer *w, long long number)
{
    before_value(w);
    buf_fmt(w->out, "%lld", number);
}

void json_bool(struct json_writer *w, bool value)
{
    before_value(w);
    buf_add(w->out, value ? STR("true") : STR("false"));
}

void json_null(struct json_writer *w)
{
    before_value(w);
    buf_add(w->out, STR("null"));
}

/* The reader bounds the depth, and so this recursion. */
void json_copy(struct json_writer *w, const struct json_value *value)
{
    switch (value->type) {
    case JSON_NULL: json_null(w); return;
    case JSON_FALSE:
    case JSON_TRUE: json_bool(w, value->type == JSON_TRUE); return;
    case JSON_STRING: json_string(w, value->text); return;
    case JSON_NUMBER:
        before_value(w);
        buf_add(w->out, value->text);
        return;
    case JSON_ARRAY:
        json_open(w, '[');
        for (size_t i = 0; i < value->count; i++)
            json_copy(w, &value->items[i]);
        json_close(w, ']');
        return;
    case JSON_OBJECT:
        json_open(w, '{');
        for (size_t i = 0; i < value->count; i++) {
            json_key(w, value->members[i].key);
            json_copy(w, &value->members[i].value);
        }
        json_close(w, '}');
    }
}

void json_put(struct json_writer *w, struct str key, struct str value)
{
    json_key(w, key);
    json_string(w, value);
}

void json_put_number(struct json_writer *w, struct str key, long long value)
{
    json_key(w, key);
    json_number(w, value);
}

void json_put_bool(struct json_writer *w, struct str key, bool value)
{
    json_key(w, key);
    json_bool(w, value);
}
