/* SPDX-License-Identifier: Apache-2.0 */
/* The backslashes of $'…', echo -e and printf. */
#include "guard/bash/bash.h"

#include "base/utf.h"

/* \xHH, \uHHHH, \UHHHHHHHH at s.p[*i]; writes no more bytes than it takes. */
static size_t put_hex(struct str s, size_t *i, char *out)
{
    char kind = s.p[*i];
    size_t most = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    uint32_t code = 0;
    size_t digits = 0;
    for (++*i; *i < s.n && digits < most && ascii_hex(s.p[*i]) >= 0; digits++)
        code = code * 16 + (uint32_t)ascii_hex(s.p[(*i)++]);
    if (kind != 'x')
        return utf_encode(code <= 0x10FFFF ? code : 0xFFFD, out);
    *out = (char)code;
    return 1;
}

static char octal(struct str s, size_t *i, size_t most)
{
    unsigned value = 0;
    for (size_t k = 0; k < most && *i < s.n && s.p[*i] >= '0' && s.p[*i] <= '7'; k++)
        value = value * 8 + (unsigned)(s.p[(*i)++] - '0');
    return (char)value;
}

struct str bash_unescape(struct arena *arena, struct str s, bool ansi, bool *stop)
{
    if (!str_has_char(s, '\\'))
        return s;
    char *out = arena_alloc(arena, s.n + 4);
    if (!out)
        return STR("\xFF");
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] != '\\' || i + 1 >= s.n) {
            out[n++] = s.p[i++];
            continue;
        }
        static const char from[] = "abeEfnrtv\\\"'?", to[] = "\a\b\033\033\f\n\r\t\v\\\"'?";
        char c = s.p[++i];
        const char *hit = memchr(from, c, sizeof from - 1);
        if (hit) {
            out[n++] = to[hit - from];
            i++;
        } else if (c == 'x' || c == 'u' || c == 'U') {
            n += put_hex(s, &i, out + n);
        } else if (c >= '0' && c <= '7') {
            out[n++] = octal(s, &i, !ansi && c == '0' ? 4 : 3);
        } else if (c == 'c' && !ansi) {
            *stop = true;
            break;
        } else if (c == 'c' && i + 1 < s.n) {
            out[n++] = (char)(s.p[i + 1] & 0x1F);
            i += 2;
        } else {
            out[n++] = '\\';
            out[n++] = c;
            i++;
        }
    }
    return (struct str){out, n};
}
