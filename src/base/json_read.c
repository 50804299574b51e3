/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON reader, recursive with a bounded depth, one pass, linear. */
#include "base/json.h"
#include "base/utf.h"

#include "cordon.h"

struct json_reader {
    struct arena *arena;
    struct str text;
    size_t pos;
    unsigned line;
    size_t line_start;
    unsigned depth;
    struct json_error *error;
};

static int read_value(struct json_reader *r, struct json_value *out);

static struct json_place place_at(const struct json_reader *r, size_t pos)
{
    return (struct json_place){r->line, (unsigned)(pos - r->line_start + 1)};
}

static int fail(struct json_reader *r, int code, const char *what)
{
    r->error->place = place_at(r, r->pos);
    r->error->what = what;
    return code;
}

static int fail_syntax(struct json_reader *r, const char *what)
{
    return fail(r, CORDON_E_SYNTAX, what);
}

static void skip_blanks(struct json_reader *r)
{
    for (; r->pos < r->text.n; r->pos++) {
        char c = r->text.p[r->pos];
        if (c == '\n') {
            r->line++;
            r->line_start = r->pos + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static bool next_is(const struct json_reader *r, char c)
{
    return r->pos < r->text.n && r->text.p[r->pos] == c;
}

static int read_word(struct json_reader *r, struct str word, enum json_type type,
                     struct json_value *out)
{
    if (!str_starts(str_from(r->text, r->pos), word))
        return fail_syntax(r, "unknown word; expected a value");
    r->pos += word.n;
    out->type = type;
    return 0;
}

static size_t skip_digits(struct json_reader *r)
{
    size_t start = r->pos;
    while (r->pos < r->text.n && ascii_is_digit(r->text.p[r->pos]))
        r->pos++;
    return r->pos - start;
}

static int read_number(struct json_reader *r, struct json_value *out)
{
    size_t start = r->pos;
    if (next_is(r, '-'))
        r->pos++;
    if (next_is(r, '0'))
        r->pos++;
    else if (skip_digits(r) == 0)
        return fail_syntax(r, "number without digits");
    if (r->pos < r->text.n && ascii_is_digit(r->text.p[r->pos]))
        return fail_syntax(r, "number with a leading zero");
    if (next_is(r, '.')) {
        r->pos++;
        if (skip_digits(r) == 0)
            return fail_syntax(r, "number without digits after the point");
    }
    if (next_is(r, 'e') || next_is(r, 'E')) {
        r->pos++;
        if (next_is(r, '+') || next_is(r, '-'))
            r->pos++;
        if (skip_digits(r) == 0)
            return fail_syntax(r, "number without digits in the exponent");
    }
    out->type = JSON_NUMBER;
    out->text = str_slice(r->text, start, r->pos);
    return 0;
}

/* Four hex digits at pos, or -1. */
static int32_t hex4(struct str text, size_t pos)
{
    if (text.n - pos < 4)
        return -1;
    int32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = ascii_hex(text.p[pos + i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Decodes \uXXXX after the 'u'; a pair of escapes becomes one code point. */
static int read_unicode(struct json_reader *r, uint32_t *code)
{
    int32_t unit = hex4(r->text, r->pos);
    if (unit < 0)
        return fail_syntax(r, "\\u needs four hex digits");
    r->pos += 4;
    *code = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDBFF || !str_starts(str_from(r->text, r->pos), STR("\\u")))
        return 0;
    int32_t low = hex4(r->text, r->pos + 2);
    if (low >= 0xDC00 && low <= 0xDFFF) {
        *code = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        r->pos += 6;
    }
    return 0;
}

static int read_escape(struct json_reader *r, uint32_t *code)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (r->pos >= r->text.n)
        return fail_syntax(r, "string is not closed");
    char c = r->text.p[r->pos];
    if (c == 'u') {
        r->pos++;
        return read_unicode(r, code);
    }
    const char *hit = c ? strchr(from, c) : NULL;
    if (!hit)
        return fail_syntax(r, "unknown escape; a backslash is written \\\\");
    r->pos++;
    *code = (unsigned char)to[hit - from];
    return 0;
}

/* An escaped half next to another half (escaped or raw) would make an ill-formed pair in WTF-8. */
static bool joins_halves(const char *p, size_t n, uint32_t code)
{
    return code >= 0xDC00 && code <= 0xDFFF && n >= 3 && (unsigned char)p[n - 3] == 0xED &&
           ((unsigned char)p[n - 2] & 0xF0) == 0xA0;
}

static int read_string(struct json_reader *r, struct str *out)
{
    r->pos++;
    size_t start = r->pos, end = start;
    bool plain = true;
    for (; end < r->text.n && r->text.p[end] != '"'; end++)
        if (r->text.p[end] == '\\') {
            plain = false;
            end++;
        }
    if (end >= r->text.n)
        return fail_syntax(r, "string is not closed");
    char *p = plain ? NULL : arena_alloc(r->arena, end - start + 1);
    if (!plain && !p)
        return fail(r, CORDON_E_NOMEM, "out of memory");
    size_t n = 0;
    while (r->pos < end) {
        char c = r->text.p[r->pos];
        if ((unsigned char)c < 0x20)
            return fail_syntax(r, "control character in a string; write it as an escape");
        uint32_t code = 0;
        if (c == '\\') {
            r->pos++;
            int rc = read_escape(r, &code);
            if (rc)
                return rc;
        } else {
            size_t before = r->pos;
            int32_t decoded = utf_decode(r->text, &r->pos);
            if (decoded < 0) {
                r->pos = before;
                return fail(r, CORDON_E_ENCODING, "text is not valid UTF-8");
            }
            code = (uint32_t)decoded;
        }
        if (plain)
            continue;
        if (joins_halves(p, n, code))
            return fail(r, CORDON_E_ENCODING, "two halves of a surrogate pair written apart");
        n += utf_encode(code, p + n);
    }
    *out = plain ? str_slice(r->text, start, end) : (struct str){p, n};
    r->pos = end + 1;
    return 0;
}

static uint32_t hash_of(struct str s)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 16777619u;
    return hash;
}

/*
 * Refuses duplicate keys. Open addressing keeps it linear; keys crafted to collide would make it
 * quadratic, so a long probe is refused as well.
 */
static int check_keys(struct json_reader *r, const struct json_member *members, size_t count)
{
    enum { LONGEST_PROBE = 64 };
    size_t size = 16;
    while (size < count * 2)
        size *= 2;
    uint32_t *slots = ARENA_ARRAY(r->arena, size, uint32_t);
    if (!slots)
        return fail(r, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        size_t at = hash_of(members[i].key) & (size - 1);
        for (unsigned probes = 0; slots[at]; at = (at + 1) & (size - 1)) {
            if (str_eq(members[slots[at] - 1].key, members[i].key)) {
                r->error->place = members[i].place;
                r->error->what = "this key stands twice in the object";
                return CORDON_E_SYNTAX;
            }
            if (++probes > LONGEST_PROBE) {
                r->error->place = members[i].place;
                r->error->what = "too many keys that hash alike";
                return CORDON_E_TOOBIG;
            }
        }
        slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

static int read_array(struct json_reader *r, struct json_value *out)
{
    struct json_value *items = NULL;
    size_t count = 0, capacity = 0;
    r->pos++;
    skip_blanks(r);
    if (!next_is(r, ']')) {
        for (;;) {
            if (count == capacity) {
                items = arena_grow(r->arena, items, &capacity, sizeof *items);
                if (!items)
                    return fail(r, CORDON_E_NOMEM, "out of memory");
            }
            int rc = read_value(r, &items[count++]);
            if (rc)
                return rc;
            skip_blanks(r);
            if (next_is(r, ']'))
                break;
            if (!next_is(r, ','))
                return fail_syntax(r, "expected , or ]");
            r->pos++;
            skip_blanks(r);
            if (next_is(r, ']'))
                return fail_syntax(r, "there is a comma before ]; take it out");
        }
    }
    r->pos++;
    out->type = JSON_ARRAY;
    out->items = items;
    out->count = count;
    return 0;
}

static int read_member(struct json_reader *r, struct json_member *member)
{
    if (!next_is(r, '"'))
        return fail_syntax(r, next_is(r, '}')    ? "there is a comma before }; take it out"
                              : next_is(r, '/')  ? "JSON has no comments; take it out"
                              : next_is(r, '\'') ? "keys and strings stand in double quotes"
                                                 : "expected a key in quotes");
    member->place = place_at(r, r->pos);
    int rc = read_string(r, &member->key);
    if (rc)
        return rc;
    skip_blanks(r);
    if (!next_is(r, ':'))
        return fail_syntax(r, "expected : after the key");
    r->pos++;
    return read_value(r, &member->value);
}

static int read_object(struct json_reader *r, struct json_value *out)
{
    struct json_member *members = NULL;
    size_t count = 0, capacity = 0;
    r->pos++;
    skip_blanks(r);
    if (!next_is(r, '}')) {
        for (;;) {
            if (count == capacity) {
                members = arena_grow(r->arena, members, &capacity, sizeof *members);
                if (!members)
                    return fail(r, CORDON_E_NOMEM, "out of memory");
            }
            int rc = read_member(r, &members[count++]);
            if (rc)
                return rc;
            skip_blanks(r);
            if (next_is(r, '}'))
                break;
            if (!next_is(r, ','))
                return fail_syntax(r, "expected , or }");
            r->pos++;
            skip_blanks(r);
        }
    }
    r->pos++;
    out->type = JSON_OBJECT;
    out->members = members;
    out->count = count;
    return check_keys(r, members, count);
}

static int read_value(struct json_reader *r, struct json_value *out)
{
    skip_blanks(r);
    if (r->pos >= r->text.n)
        return fail_syntax(r, "text ends where a value was expected");
    if (r->depth >= JSON_MAX_DEPTH)
        return fail(r, CORDON_E_TOOBIG, "nested too deeply");
    *out = (struct json_value){.place = place_at(r, r->pos)};
    int rc;
    r->depth++;
    switch (r->text.p[r->pos]) {
    case '{': rc = read_object(r, out); break;
    case '[': rc = read_array(r, out); break;
    case '"':
        out->type = JSON_STRING;
        rc = read_string(r, &out->text);
        break;
    case 't': rc = read_word(r, STR("true"), JSON_TRUE, out); break;
    case 'f': rc = read_word(r, STR("false"), JSON_FALSE, out); break;
    case 'n': rc = read_word(r, STR("null"), JSON_NULL, out); break;
    default:
        if (r->text.p[r->pos] == '-' || ascii_is_digit(r->text.p[r->pos]))
            rc = read_number(r, out);
        else
            rc = fail_syntax(r, "expected a value");
    }
    r->depth--;
    return rc;
}

int json_read(struct arena *arena, struct str text, struct json_value *out,
              struct json_error *error)
{
    struct json_reader r = {.arena = arena, .text = text, .line = 1, .error = error};
    struct json_value value;
    *error = (struct json_error){0};
    int rc = read_value(&r, &value);
    if (rc)
        return rc;
    skip_blanks(&r);
    if (r.pos < text.n)
        return fail_syntax(&r, "text after the end of the document");
    *out = value;
    return 0;
}

const struct json_value *json_get(const struct json_value *object, struct str key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (str_eq(object->members[i].key, key))
            return &object->members[i].value;
    return NULL;
}
