/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire: every request there and back, and everything that no agent would write refused. The
 * messages are built here byte by byte, not by the code under test, and every one lies in a buffer
 * of exactly its size so that a sanitizer sees the first byte too many.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "wire/shared_name.h"
#include "wire/wire.h"

enum { RANDOM_MESSAGES = 100000, HEAD = 8 + 8 * 8 + 2 * 4 };

static const struct {
    const char *name;
    unsigned numbers, texts;
} list[] = {
    {"nothing", 0, 0},
#define REQUEST(name, numbers, texts) {#name, numbers, texts},
#include "wire/requests.def"
#undef REQUEST
};
enum { OPS = sizeof list / sizeof *list };

static unsigned char buffer[2 * WIRE_MAX_MESSAGE];
static size_t length;

static void put32(size_t at, uint32_t value)
{
    memcpy(buffer + at, &value, 4);
}

static void put64(size_t at, uint64_t value)
{
    memcpy(buffer + at, &value, 8);
}

/* op, sequence | eight numbers | two sizes | texts, each padded to four bytes */
static void build(uint32_t op, uint32_t sequence, unsigned numbers, uint32_t first, uint32_t second)
{
    size_t used = HEAD + (size_t)first + second + 64;
    memset(buffer, 0, used < sizeof buffer ? used : sizeof buffer);
    put32(0, op);
    put32(4, sequence);
    for (unsigned i = 0; i < numbers && i < WIRE_NUMBERS; i++)
        put64(8 + 8 * i, 0x1000 + i);
    put32(72, first);
    put32(76, second);
    length = HEAD;
    for (uint32_t i = 0; i < first && length + i < sizeof buffer; i++)
        buffer[length + i] = (unsigned char)('a' + i % 26);
    length += (first + 3u) / 4 * 4;
    for (uint32_t i = 0; i < second && length + i < sizeof buffer; i++)
        buffer[length + i] = (unsigned char)('A' + i % 26);
    length += (second + 3u) / 4 * 4;
}

/* Decodes a copy that ends where the message ends. */
static bool decodes(size_t size, struct wire_request *out)
{
    unsigned char *exact = malloc(size ? size : 1);
    struct wire_request ignored;
    if (!exact)
        return false;
    memcpy(exact, buffer, size);
    bool accepted = wire_decode(exact, size, out ? out : &ignored);
    /* The texts are compared before the copy goes: they point into it. */
    if (accepted && out)
        for (unsigned i = 0; i < WIRE_TEXTS; i++) {
            size_t at = (size_t)((const unsigned char *)out->text[i].p - exact);
            if (out->text[i].n && (at < HEAD || at + out->text[i].n > size))
                accepted = false;
            out->text[i].p = out->text[i].n ? buffer + at : NULL;
        }
    free(exact);
    return accepted;
}

static void test_every_request(void)
{
    for (unsigned op = 1; op < OPS; op++) {
        struct wire_request r;
        uint32_t first = list[op].texts > 0 ? 7 : 0, second = list[op].texts > 1 ? 5 : 0;
        build(op, 41 + op, list[op].numbers, first, second);
        bool good = decodes(length, &r) && r.op == op && r.sequence == 41 + op;
        for (unsigned i = 0; good && i < WIRE_NUMBERS; i++)
            good = r.numbers[i] == (i < list[op].numbers ? 0x1000 + i : 0);
        good = good && r.text[0].n == first && r.text[1].n == second;
        good = good && (first == 0 || memcmp(r.text[0].p, "abcdefg", 7) == 0);
        good = good && (second == 0 || memcmp(r.text[1].p, "ABCDE", 5) == 0);
        uint32_t sizes[WIRE_TEXTS] = {first, second};
        good = good && wire_size((enum wire_op)op, sizes) == length;
        ok(good, "%s there and back", list[op].name);
        ok(strcmp(wire_op_name(op), list[op].name) == 0, "%s by its name", list[op].name);

        bool strict = true;
        for (size_t size = 0; size < length + 8; size++)
            strict = strict && (size == length || !decodes(size, NULL));
        ok(strict, "%s: no other length", list[op].name);

        strict = true;
        for (unsigned i = list[op].numbers; i < WIRE_NUMBERS; i++) {
            build(op, 1, list[op].numbers, first, second);
            put64(8 + 8 * i, 1);
            strict = strict && !decodes(length, NULL);
        }
        ok(strict, "%s: no number beyond its %u", list[op].name, list[op].numbers);

        strict = true;
        for (unsigned i = list[op].texts; i < WIRE_TEXTS; i++) {
            build(op, 1, list[op].numbers, i == 0 ? 4 : first, i == 1 ? 4 : second);
            strict = strict && !decodes(length, NULL);
        }
        ok(strict, "%s: no text beyond its %u", list[op].name, list[op].texts);
    }
}

static void test_limits(void)
{
    struct wire_request r;
    build(WIRE_START, 1, 1, WIRE_MAX_TEXT, WIRE_MAX_TEXT);
    ok(length <= WIRE_MAX_MESSAGE && decodes(length, &r) && r.text[1].n == WIRE_MAX_TEXT,
       "two texts of the longest kind fit");
    build(WIRE_START, 1, 1, WIRE_MAX_TEXT + 1, 0);
    ok(!decodes(length, NULL), "a first text that is one byte too long");
    build(WIRE_START, 1, 1, 0, WIRE_MAX_TEXT + 1);
    ok(!decodes(length, NULL), "a second text that is one byte too long");
    static const uint32_t huge[] = {0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFF};
    bool refused = true;
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        for (uint32_t size = HEAD; size < HEAD + 64; size += 4)
            for (unsigned text = 0; text < WIRE_TEXTS; text++) {
                build(WIRE_START, 1, 1, 0, 0);
                put32(72 + 4 * text, huge[i]);
                put32(76 - 4 * text, size - HEAD);
                refused = refused && !decodes(size, NULL);
            }
    ok(refused, "sizes that overflow when they are added");
    build(WIRE_NOTHING, 1, 0, 0, 0);
    ok(!decodes(length, NULL), "0 is no request");
    static const uint32_t unknown[] = {OPS, OPS + 1, 255, 256, 0x10001, 0x7FFFFFFF, 0xFFFFFFFF};
    refused = true;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        build(unknown[i], 1, 0, 0, 0);
        refused = refused && !decodes(length, NULL);
        refused = refused && strcmp(wire_op_name(unknown[i]), "unknown") == 0;
    }
    ok(refused, "requests of no known number");
    uint32_t none[WIRE_TEXTS] = {0};
    ok(wire_size(WIRE_NOTHING, none) == 0 && wire_size((enum wire_op)OPS, none) == 0,
       "no size for what is no request");
    r = (struct wire_request){.sequence = 77};
    build(WIRE_OPEN, 1, 8, 4, 0);
    ok(!wire_decode(buffer, length - 1, &r) && r.sequence == 77,
       "a refused message leaves the output alone");
}

static uint64_t seed = 0x9E3779B97F4A7C15u;

static uint32_t next(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 33) % below);
}

/* The valid messages, stated a second time in another way. */
static bool is_right(size_t size)
{
    uint32_t op, texts[2];
    if (size < HEAD)
        return false;
    memcpy(&op, buffer, 4);
    memcpy(texts, buffer + 72, 8);
    if (op == 0 || op >= OPS)
        return false;
    for (unsigned i = list[op].numbers * 8; i < 64; i++)
        if (buffer[8 + i])
            return false;
    uint64_t expected = HEAD;
    for (unsigned i = 0; i < 2; i++) {
        if (texts[i] > 65534 || (texts[i] && list[op].texts <= i))
            return false;
        expected += ((uint64_t)texts[i] + 3) / 4 * 4;
    }
    return size == expected;
}

static void test_random(void)
{
    unsigned wrong = 0, right = 0;
    for (unsigned n = 0; n < RANDOM_MESSAGES; n++) {
        uint32_t op = 1 + next(OPS - 1);
        size_t size;
        if (next(8) == 0) {
            size = next(200);
            for (size_t i = 0; i < size; i++)
                buffer[i] = (unsigned char)next(256);
        } else {
            build(op, next(1000), list[op].numbers, list[op].texts > 0 ? next(40) : 0,
                  list[op].texts > 1 ? next(40) : 0);
            size = length;
        }
        for (uint32_t changes = next(4); changes > 0; changes--)
            switch (next(4)) {
            case 0: buffer[next(HEAD)] = (unsigned char)next(256); break;
            case 1: buffer[next(HEAD)] ^= (unsigned char)(1u << next(8)); break;
            case 2: put32(72 + 4 * next(2), next(3) ? next(70000) : 0xFFFFFFF0u + next(16)); break;
            default: size = next(2) ? size + next(9) : size - next((uint32_t)size + 1); break;
            }
        bool expected = is_right(size);
        right += expected;
        wrong += decodes(size, NULL) != expected;
    }
    ok(wrong == 0 && right > RANDOM_MESSAGES / 10 && right < RANDOM_MESSAGES * 9 / 10,
       "%d random messages, %u of them right: each taken or refused rightly", RANDOM_MESSAGES,
       right);
}

/* Which names become the run's own, and what they are called there. */
static void test_shared_names(void)
{
    static const struct {
        const char *name;
        bool relative;
        enum shared_name kind;
        const char *moved;
    } rows[] = {
        {"\\BaseNamedObjects\\msys-2.0S5-e022", false, SHARED_NAME_ALWAYS, "msys-2.0S5-e022"},
        {"\\basenamedobjects\\Cygwin1S5-c5e3", false, SHARED_NAME_ALWAYS, "Cygwin1S5-c5e3"},
        {"\\BaseNamedObjects\\msys-2.0S5-1\\shared.5", false, SHARED_NAME_ALWAYS,
         "msys-2.0S5-1\\shared.5"},
        {"\\Sessions\\BNOLINKS\\1\\msys-2.0S5-1", false, SHARED_NAME_ALWAYS, "msys-2.0S5-1"},
        {"\\Sessions\\1\\BaseNamedObjects\\cygwin1S5-1", false, SHARED_NAME_ALWAYS, "cygwin1S5-1"},
        {"\\Sessions\\1\\BaseNamedObjects\\mine", false, SHARED_NAME_NONE, ""},
        {"\\Sessions\\BNOLINKS\\1\\mine", false, SHARED_NAME_NONE, ""},
        {"\\BaseNamedObjects\\mine", false, SHARED_NAME_GLOBAL, "mine"},
        {"Global\\mine", true, SHARED_NAME_GLOBAL, "mine"},
        {"Global\\msys-1", true, SHARED_NAME_ALWAYS, "msys-1"},
        {"Local\\mine", true, SHARED_NAME_NONE, ""},
        {"mine", true, SHARED_NAME_NONE, ""},
        {"msys-2.0S5-1", true, SHARED_NAME_NONE, ""},
        {"Global\\", true, SHARED_NAME_NONE, ""},
        {"\\BaseNamedObjects", false, SHARED_NAME_NONE, ""},
        {"\\BaseNamedObjects\\", false, SHARED_NAME_NONE, ""},
        {"\\Sessions\\BNOLINKS\\1", false, SHARED_NAME_NONE, ""},
        {"\\Sessions\\BNOLINKS\\", false, SHARED_NAME_NONE, ""},
        {"", false, SHARED_NAME_NONE, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint16_t name[100];
        char got[100] = "";
        size_t n = strlen(rows[i].name), start = n;
        for (size_t j = 0; j < n; j++)
            name[j] = (unsigned char)rows[i].name[j];
        enum shared_name kind = shared_name_read(name, n, rows[i].relative, &start);
        for (size_t j = start; kind != SHARED_NAME_NONE && j < n; j++)
            got[j - start] = (char)name[j];
        ok(kind == rows[i].kind && strcmp(got, rows[i].moved) == 0, "shared name \"%s\": \"%s\"",
           rows[i].name, got);
    }
}

int main(void)
{
    ok(sizeof(struct wire_message) == HEAD, "the head has %d bytes", HEAD);
    test_every_request();
    test_limits();
    test_random();
    test_shared_names();
    return tap_done();
}
