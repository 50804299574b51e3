/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value  = string | boolean | integer | list
 * list   = "[" [ string { "," string } [ "," ] ] "]"     blanks, line breaks and # comments between
 * string = '"' with escapes '"' | "'" as it stands "'"
 */
#include "policy/toml.h"

#include "base/utf.h"
#include "cordon.h"

struct toml_reader {
    struct arena *arena;
    struct str text;
    size_t pos;
    struct toml_error *error;
};

static int fail(struct toml_reader *r, int code, const char *what)
{
    r->error->at = r->pos;
    r->error->what = what;
    return code;
}

static bool next_is(const struct toml_reader *r, char c)
{
    return r->pos < r->text.n && r->text.p[r->pos] == c;
}

static void skip_blanks(struct toml_reader *r, bool lines)
{
    for (; r->pos < r->text.n; r->pos++) {
        char c = r->text.p[r->pos];
        if (c == '#') {
            while (r->pos < r->text.n && r->text.p[r->pos] != '\n')
                r->pos++;
            r->pos--;
        } else if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r'))) {
            return;
        }
    }
}

static int read_code(struct toml_reader *r, unsigned digits, uint32_t *code)
{
    *code = 0;
    for (unsigned i = 0; i < digits; i++, r->pos++) {
        int digit = r->pos < r->text.n ? ascii_hex(r->text.p[r->pos]) : -1;
        if (digit < 0) {
            r->error->escape = true;
            return fail(r, CORDON_E_SYNTAX, "not enough hex digits in an escape");
        }
        *code = *code << 4 | (uint32_t)digit;
    }
    if (*code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF))
        return fail(r, CORDON_E_SYNTAX, "an escape that is no character");
    return 0;
}

/* After the backslash. */
static int read_escape(struct toml_reader *r, uint32_t *code)
{
    static const char from[] = "btnfr\"\\";
    static const char to[] = "\b\t\n\f\r\"\\";
    char c = r->pos < r->text.n ? r->text.p[r->pos] : 0;
    if (c == 'u' || c == 'U') {
        r->pos++;
        return read_code(r, c == 'u' ? 4 : 8, code);
    }
    const char *hit = c ? strchr(from, c) : NULL;
    if (!hit) {
        r->error->escape = true;
        return fail(r, CORDON_E_SYNTAX, "a backslash that begins no escape");
    }
    r->pos++;
    *code = (unsigned char)to[hit - from];
    return 0;
}

static int read_string(struct toml_reader *r, struct str *out)
{
    char quote = r->text.p[r->pos++];
    size_t end = r->pos, n = 0;
    while (end < r->text.n && r->text.p[end] != quote)
        end += r->text.p[end] == '\\' && quote == '"' ? 2 : 1;
    /* An escape is at least as long as what it stands for. */
    char *p = arena_alloc(r->arena, end - r->pos + 4);
    if (!p)
        return fail(r, CORDON_E_NOMEM, "out of memory");
    while (!next_is(r, quote)) {
        if (r->pos >= r->text.n)
            return fail(r, CORDON_E_SYNTAX, "a string that is not closed");
        unsigned char c = (unsigned char)r->text.p[r->pos];
        uint32_t code;
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return fail(r, CORDON_E_SYNTAX, "a control character in a string");
        if (c == '\\' && quote == '"') {
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
        n += utf_encode(code, p + n);
    }
    r->pos++;
    *out = (struct str){p, n};
    return 0;
}

static int read_list(struct toml_reader *r, struct toml_value *out)
{
    size_t capacity = 0;
    r->pos++;
    out->type = TOML_LIST;
    for (;;) {
        skip_blanks(r, true);
        if (next_is(r, ']'))
            break;
        if (!next_is(r, '"') && !next_is(r, '\''))
            return fail(r, CORDON_E_SYNTAX, "expected a string in quotes or ]");
        if (out->count == capacity) {
            void *grown = arena_grow(r->arena, out->items, &capacity, sizeof *out->items);
            if (!grown)
                return fail(r, CORDON_E_NOMEM, "out of memory");
            out->items = grown;
        }
        int rc = read_string(r, &out->items[out->count]);
        if (rc)
            return rc;
        out->count++;
        skip_blanks(r, true);
        if (next_is(r, ']'))
            break;
        if (!next_is(r, ','))
            return fail(r, CORDON_E_SYNTAX, "expected , or ]");
        r->pos++;
    }
    r->pos++;
    return 0;
}

static int read_word(struct toml_reader *r, struct toml_value *out)
{
    size_t start = r->pos;
    while (r->pos < r->text.n &&
           (ascii_is_alnum(r->text.p[r->pos]) || ascii_is_in(r->text.p[r->pos], "_+-.")) &&
           r->text.p[r->pos])
        r->pos++;
    struct str word = str_slice(r->text, start, r->pos);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false"))) {
        out->type = TOML_BOOL;
        out->truth = word.n == 4;
        return 0;
    }
    size_t digits = word.n && (word.p[0] == '-' || word.p[0] == '+') ? 1 : 0;
    bool number = word.n > digits;
    for (size_t i = digits; i < word.n; i++)
        if (!ascii_is_digit(word.p[i]))
            number = false;
    if (!number) {
        r->pos = start;
        return fail(r, CORDON_E_SYNTAX, "expected a value");
    }
    out->type = TOML_NUMBER;
    out->text = word;
    return 0;
}

int toml_read(struct arena *arena, struct str text, struct toml_value *out,
              struct toml_error *error)
{
    struct toml_reader r = {.arena = arena, .text = text, .error = error};
    struct toml_value value = {0};
    *error = (struct toml_error){0};
    skip_blanks(&r, false);
    int rc;
    if (next_is(&r, '"') || next_is(&r, '\''))
        rc = read_string(&r, &value.text);
    else if (next_is(&r, '['))
        rc = read_list(&r, &value);
    else
        rc = read_word(&r, &value);
    if (rc)
        return rc;
    skip_blanks(&r, false);
    if (r.pos < text.n)
        return fail(&r, CORDON_E_SYNTAX, "text after the value");
    *out = value;
    return 0;
}
