/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The components of a Windows path, in two passes over one buffer: spelling_collapse() splits the
 * given text, resolves . and .. and drops what Win32 drops; spelling_finish() then reads what is
 * left, in place, for streams, reserved names and names that only verbatim spellings can reach.
 */
#include "policy/spelling.h"

#include "base/utf.h"

void spelling_put(struct spelling *j, struct str s)
{
    enum { FEW = 32 };
    if (j->full || s.n > j->capacity - j->n) {
        j->full = true;
        return;
    }
    /* Often the component is already in place, or further along in the same text. */
    char *to = j->out + j->n;
    if (s.p > to && s.n <= FEW)
        for (size_t i = 0; i < s.n; i++)
            to[i] = s.p[i];
    else if (s.n && s.p != to)
        memmove(to, s.p, s.n);
    j->n += s.n;
}

static void put_component(struct spelling *j, struct str c, char separator)
{
    if (j->n < j->capacity)
        j->out[j->n++] = separator;
    else
        j->full = true;
    spelling_put(j, c);
}

size_t spelling_trimmed(struct str s)
{
    size_t n = s.n;
    while (n > 0 && (s.p[n - 1] == '.' || s.p[n - 1] == ' '))
        n--;
    return n;
}

size_t spelling_units(struct str s)
{
    size_t units = 0;
    for (size_t pos = 0; pos < s.n; units++) {
        unsigned char c = (unsigned char)s.p[pos];
        if (c < 0x20)
            return SIZE_MAX;
        if (c < 0x80) {
            pos++;
            continue;
        }
        /* The usual three bytes, without a call: surrogates and other rare cases take the slow
           path. */
        if (c > 0xE0 && c < 0xED && s.n - pos > 2 && (s.p[pos + 1] & 0xC0) == 0x80 &&
            (s.p[pos + 2] & 0xC0) == 0x80) {
            pos += 3;
            continue;
        }
        int32_t code = utf_decode(s, &pos);
        if (code < 0)
            return SIZE_MAX;
        if (code > 0xFFFF)
            units++;
    }
    return units;
}

static void pop(struct spelling *j, char separator)
{
    if (j->n <= j->floor) {
        if (!j->clamp)
            j->malformed = true;
        return;
    }
    while (j->n > j->floor && j->out[j->n - 1] != separator)
        j->n--;
    if (j->n > j->floor)
        j->n--;
}

static void collapse_component(struct spelling *j, struct str c, char separator)
{
    if (!j->verbatim) {
        if (c.n == 0 || str_eq(c, STR(".")))
            return;
        if (str_eq(c, STR(".."))) {
            pop(j, separator);
            return;
        }
        if (separator == '\\') {
            c.n = spelling_trimmed(c);
            /* How Win32 reads "..." or ".. " depends on its version and on the position. */
            if (c.n == 0)
                j->malformed = true;
        }
    } else if (c.n == 0 || str_has_char(c, '/')) {
        j->malformed = true;
    }
    put_component(j, c, separator);
}

void spelling_collapse(struct spelling *j, struct str rest, char separator)
{
    size_t components = 0;
    bool mixed = separator == '\\' && !j->verbatim && str_has_char(rest, '/');
    if (rest.n == 0)
        return;
    for (size_t start = 0; start <= rest.n;) {
        size_t end = start;
        if (mixed)
            while (end < rest.n && rest.p[end] != separator && rest.p[end] != '/')
                end++;
        else
            end = str_find_char(rest, separator, start);
        if (end == rest.n && start == end)
            j->folder = true;
        else
            collapse_component(j, str_slice(rest, start, end), separator);
        components++;
        start = end + 1;
    }
    if (components != 1)
        j->bare = false;
}

/* Names that Win32 treats as devices in every folder, with any extension. */
static bool is_reserved(struct str name)
{
    static const struct str names[] = {
        {"CON", 3},    {"PRN", 3},     {"AUX", 3},    {"NUL", 3},
        {"CONIN$", 6}, {"CONOUT$", 7}, {"CLOCK$", 6},
    };
    if (name.n < 3 || !ascii_is_in(name.p[0], "CPANLcpanl"))
        return false;
    struct str base = str_slice(name, 0, str_find_char(name, '.', 0));
    base = str_slice(base, 0, str_find_char(base, ':', 0));
    base.n = spelling_trimmed(base);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eqi(base, names[i]))
            return true;
    if (base.n < 4 || (!str_startsi(base, STR("COM")) && !str_startsi(base, STR("LPT"))))
        return false;
    struct str digit = str_from(base, 3);
    return (digit.n == 1 && ascii_is_digit(digit.p[0])) || str_eq(digit, STR("\xC2\xB9")) ||
           str_eq(digit, STR("\xC2\xB2")) || str_eq(digit, STR("\xC2\xB3"));
}

static const unsigned char marks[256] = {
    ['<'] = SPELLING_BAD, ['>'] = SPELLING_BAD, ['"'] = SPELLING_BAD,   ['|'] = SPELLING_BAD,
    ['?'] = SPELLING_BAD, ['*'] = SPELLING_BAD, [':'] = SPELLING_COLON,
};

unsigned spelling_marks(struct str s)
{
    unsigned found = 0;
    for (size_t i = 0; i < s.n; i++)
        found |= marks[(unsigned char)s.p[i]];
    return found;
}

/* NAME:STREAM:TYPE. Removes what denotes the object itself; false if a real stream remains. */
static bool cut_stream(struct spelling *j, struct str *component, bool last)
{
    size_t colon = str_find_char(*component, ':', 0);
    struct str stream = str_from(*component, colon + 1);
    size_t second = str_find_char(stream, ':', 0);
    struct str type = str_from(stream, second + 1);
    stream.n = second;
    bool index =
        str_eqi(type, STR("$INDEX_ALLOCATION")) && (stream.n == 0 || str_eqi(stream, STR("$I30")));
    /* A stream without a file name belongs to the folder; there is no better spelling of it. */
    bool itself = last && stream.n == 0 && str_eqi(type, STR("$DATA"));
    if (itself && j->folder)
        j->malformed = true;
    if (colon > 0 && (index || itself)) {
        component->n = colon;
        j->folder |= index && last;
        return true;
    }
    if (str_eqi(type, STR("$DATA")) && stream.n > 0 && spelling_trimmed(stream) == stream.n)
        component->n = colon + 1 + stream.n;
    return false;
}

/* Reads the components from start, compacts them in place and returns the class; plain is the class
   of a path with nothing special in it. */
static enum path_class inspect(struct spelling *j, size_t start, enum path_class plain,
                               size_t *base_length)
{
    enum path_class class = plain;
    bool trailing = false, stream = false;
    size_t end = j->n, from = start;
    j->n = start;
    while (from < end) {
        struct str c = {j->out + from + 1, 0};
        c.n = str_find_char((struct str){c.p, end - from - 1}, '\\', 0);
        from += 1 + c.n;
        unsigned found = spelling_marks(c);
        bool last = from >= end;
        if (last && plain == PATH_FILE && !j->verbatim && !trailing && !stream) {
            if (str_eqi(str_slice(c, 0, str_find_char(c, ':', 0)), STR("NUL")))
                return PATH_NUL;
            if (j->bare && (str_eqi(c, STR("CON")) || str_eqi(c, STR("CON:")) ||
                            str_eqi(c, STR("CONIN$")) || str_eqi(c, STR("CONOUT$")))) {
                c.n -= c.p[c.n - 1] == ':';
                if (4 + c.n > j->capacity) {
                    j->full = true;
                    return PATH_MALFORMED;
                }
                /* The name is in the buffer being written: move it after the prefix first. */
                memmove(j->out + 4, c.p, c.n);
                memcpy(j->out, "\\\\.\\", 4);
                for (size_t i = 4; i < 4 + c.n; i++)
                    j->out[i] = ascii_upper(j->out[i]);
                j->n = 4 + c.n;
                return PATH_CONSOLE;
            }
        }
        if (found & SPELLING_BAD)
            j->malformed = true;
        if (is_reserved(c))
            class = class == PATH_STREAM ? class : PATH_RESERVED;
        if (j->verbatim && spelling_trimmed(c) != c.n) {
            trailing = true;
        } else if ((found & SPELLING_COLON) && !cut_stream(j, &c, last)) {
            if (!stream)
                *base_length = j->n + (str_find_char(c, ':', 0) ? 1 : 0) + str_find_char(c, ':', 0);
            stream = true;
            class = PATH_STREAM;
        } else if (spelling_trimmed(c) == 0) {
            j->malformed = true;
        } else if (spelling_trimmed(c) != c.n) {
            trailing = true;
        }
        put_component(j, c, '\\');
    }
    return trailing ? PATH_TRAILING : class;
}

/* Restores the verbatim prefix, without which the next reading would lose a trailing dot or take a
   file called nul for the device. */
static void make_verbatim(struct spelling *j)
{
    struct str prefix = STR("\\\\?\\");
    size_t cut = 0;
    if (j->out[0] == '\\') {
        prefix = STR("\\\\?\\UNC\\");
        cut = 2;
    }
    if (j->full || prefix.n > j->capacity - j->n) {
        j->full = true;
        return;
    }
    memmove(j->out + prefix.n, j->out + cut, j->n - cut);
    memcpy(j->out, prefix.p, prefix.n);
    j->n += prefix.n - cut;
}

enum path_class spelling_finish(struct spelling *j, size_t start, enum path_class plain,
                                size_t *base)
{
    *base = SIZE_MAX;
    enum path_class class = inspect(j, start, plain, base);
    if (j->malformed || j->full)
        return PATH_MALFORMED;
    if (class == PATH_NUL) {
        j->n = 0;
        spelling_put(j, STR("\\\\.\\NUL"));
    } else if (class == PATH_TRAILING || (class == PATH_RESERVED && j->verbatim)) {
        make_verbatim(j);
        *base = SIZE_MAX;
    }
    return class;
}
