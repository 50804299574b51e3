/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: good documents, bad ones with line and column, and writing. */
#include <stdlib.h>

#include "base/json.h"
#include "cordon.h"
#include "tap.h"

/* Writes it back without blanks. */
static void write_back(struct json_writer *w, struct buf *out, const struct json_value *v)
{
    switch (v->type) {
    case JSON_NULL: json_null(w); break;
    case JSON_FALSE:
    case JSON_TRUE: json_bool(w, v->type == JSON_TRUE); break;
    case JSON_NUMBER:
        json_key(w, v->text); /* numbers are kept as written: show them */
        w->after_key = false;
        break;
    case JSON_STRING: json_string(w, v->text); break;
    case JSON_ARRAY:
        json_open(w, '[');
        for (size_t i = 0; i < v->count; i++)
            write_back(w, out, &v->items[i]);
        json_close(w, ']');
        break;
    case JSON_OBJECT:
        json_open(w, '{');
        for (size_t i = 0; i < v->count; i++) {
            json_key(w, v->members[i].key);
            write_back(w, out, &v->members[i].value);
        }
        json_close(w, '}');
        break;
    }
}

/* Not str_of(): it takes NULL, and gcc then warns of printing it. */
static struct str text_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

static void test_good(void)
{
    static const struct {
        const char *text, *back;
    } rows[] = {
        {"null", "null"},
        {" true ", "true"},
        {"\t\r\nfalse\n", "false"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[ null , true,[false] ]", "[null,true,[false]]"},
        {"{\"a\" : {\"b\": [ ] } , \"c\":\"d\"}", "{\"a\":{\"b\":[]},\"c\":\"d\"}"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u0041\\u00e4\\u20AC\"", "\"A\xC3\xA4\xE2\x82\xAC\""},
        {"\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\""},
        {"\"\\ud800x\"", "\"\\ud800x\""},
        {"\"\\ud800\\u0041\"", "\"\\ud800A\""},
        {"\"\\udc00\\ud800\"", "\"\\udc00\\ud800\""},
        {"\"\\u0000\"", "\"\\u0000\""},
        {"\"\x7F\"", "\"\\u007f\""},
        {"\"\"", "\"\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf out = {0};
        struct json_value value;
        struct json_error error;
        struct json_writer w = {.out = &out};
        int rc = json_read(&arena, str_of(rows[i].text), &value, &error);
        if (!rc)
            write_back(&w, &out, &value);
        if (!ok(rc == 0 && str_eq(buf_str(&out), str_of(rows[i].back)), "good row %u", (unsigned)i))
            note("%d %s", rc, buf_cstr(&out));
    }
}

static void test_numbers(void)
{
    static const char *const good[] = {"0",      "-0",   "1",    "-12",   "0.5",
                                       "1e3",    "1E+3", "2e-9", "1.5e1", "12345678901234567890123",
                                       "-0.0e-0"};
    static const char *const bad[] = {"01", "-",   "+1", ".5",  "1.",       "1e",  "1e+",
                                      "-a", "0x1", "1a", "NaN", "Infinity", "--1", "1 2"};
    auto_arena struct arena arena = {0};
    struct json_value value;
    struct json_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(json_read(&arena, text_of(good[i]), &value, &error) == 0 && value.type == JSON_NUMBER &&
               str_eq(value.text, text_of(good[i])),
           "number %s is kept exactly", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(json_read(&arena, text_of(bad[i]), &value, &error) == CORDON_E_SYNTAX,
           "not a number: %s", bad[i]);
}

static void test_bad(void)
{
    static const struct {
        const char *text;
        int code;
        unsigned line, column;
    } rows[] = {
        {"", CORDON_E_SYNTAX, 1, 1},
        {"  \n ", CORDON_E_SYNTAX, 2, 2},
        {"{", CORDON_E_SYNTAX, 1, 2},
        {"[", CORDON_E_SYNTAX, 1, 2},
        {"[1", CORDON_E_SYNTAX, 1, 3},
        {"[1,]", CORDON_E_SYNTAX, 1, 4},
        {"[,1]", CORDON_E_SYNTAX, 1, 2},
        {"[1 2]", CORDON_E_SYNTAX, 1, 4},
        {"{\"a\":1,}", CORDON_E_SYNTAX, 1, 8},
        {"{\"a\" 1}", CORDON_E_SYNTAX, 1, 6},
        {"{a:1}", CORDON_E_SYNTAX, 1, 2},
        {"{\"a\":}", CORDON_E_SYNTAX, 1, 6},
        {"{\"a\":1 \"b\":2}", CORDON_E_SYNTAX, 1, 8},
        {"{\n  \"a\": 1,\n  \"a\": 2\n}", CORDON_E_SYNTAX, 3, 3},
        {"nul", CORDON_E_SYNTAX, 1, 1},
        {"True", CORDON_E_SYNTAX, 1, 1},
        {"'a'", CORDON_E_SYNTAX, 1, 1},
        {"\"a", CORDON_E_SYNTAX, 1, 1},
        {"\"a\nb\"", CORDON_E_SYNTAX, 1, 3},
        {"\"\\x\"", CORDON_E_SYNTAX, 1, 3},
        {"\"C:\\ws\"", CORDON_E_SYNTAX, 1, 5},
        {"\"\\u12\"", CORDON_E_SYNTAX, 1, 4},
        {"\"\\\"", CORDON_E_SYNTAX, 1, 1},
        {"\"\xFF\"", CORDON_E_ENCODING, 1, 2},
        {"\"\xED\xA0\x80\\udc00\"", CORDON_E_ENCODING, 1, 11},
        {"1 1", CORDON_E_SYNTAX, 1, 3},
        {"{} x", CORDON_E_SYNTAX, 1, 4},
        {"// c\n1", CORDON_E_SYNTAX, 1, 1},
        {"\xEF\xBB\xBF{}", CORDON_E_SYNTAX, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_arena struct arena arena = {0};
        struct json_value value = {.count = 77};
        struct json_error error;
        int rc = json_read(&arena, str_of(rows[i].text), &value, &error);
        bool untouched = value.count == 77;
        bool placed = error.place.line == rows[i].line;
        /* The end of an unclosed string is as good a place as its start. */
        placed = placed && (error.place.column == rows[i].column || rows[i].text[0] == '"');
        if (!ok(rc == rows[i].code && untouched && placed && error.what, "bad row %u", (unsigned)i))
            note("%d at %u:%u %s", rc, error.place.line, error.place.column, error.what);
    }
    auto_arena struct arena arena = {0};
    struct json_value value;
    struct json_error error;
    ok(json_read(&arena, STR("\"a\0b\""), &value, &error) == CORDON_E_SYNTAX,
       "NUL in a string is refused");
}

static void test_depth(void)
{
    for (int depth = JSON_MAX_DEPTH - 1; depth <= JSON_MAX_DEPTH + 1; depth++) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf text = {0};
        struct json_value value;
        struct json_error error;
        buf_fill(&text, '[', (size_t)depth);
        buf_fill(&text, ']', (size_t)depth);
        int rc = json_read(&arena, buf_str(&text), &value, &error);
        ok(depth <= JSON_MAX_DEPTH ? rc == 0 : rc == CORDON_E_TOOBIG, "depth %d", depth);
    }
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    for (int i = 0; i < JSON_MAX_DEPTH + 1; i++)
        json_open(&w, '[');
    ok(out.failed, "writing deeper fails");
}

static void test_keys(void)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf text = {0};
    struct json_value value;
    struct json_error error;
    buf_char(&text, '{');
    for (int i = 0; i < 20000; i++)
        buf_fmt(&text, "%s\"k%d\":%d", i ? "," : "", i, i);
    buf_char(&text, '}');
    ok(json_read(&arena, buf_str(&text), &value, &error) == 0 && value.count == 20000,
       "20,000 different keys");
    const struct json_value *found = json_get(&value, STR("k777"));
    ok(found && str_eq(found->text, STR("777")) && !json_get(&value, STR("x")) &&
           !json_get(found, STR("x")),
       "members are found");
}

static void test_write(void)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_put(&w, STR("a"), STR("\xFF\"\n"));
    json_put_number(&w, STR("b"), -5);
    json_put_bool(&w, STR("c"), true);
    json_key(&w, STR("d"));
    json_open(&w, '[');
    json_null(&w);
    json_number(&w, 1);
    json_close(&w, ']');
    json_close(&w, '}');
    ok(str_eq(buf_str(&out), STR("{\"a\":\"\\udcff\\\"\\n\",\"b\":-5,\"c\":true,\"d\":[null,1]}")),
       "stray bytes, commas and escapes");
}

int main(void)
{
    test_good();
    test_numbers();
    test_bad();
    test_depth();
    test_keys();
    test_write();
    return tap_done();
}
