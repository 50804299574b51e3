/* SPDX-License-Identifier: Apache-2.0 */
/* PowerShell's classes of characters: blanks, quotes, dashes, letters, and what ends a bare
   word. */
#include "base/utf.h"
#include "guard/powershell/powershell.h"

#define L (PS_LETTER | PS_VARIABLE_START)
#define D (PS_DIGIT | PS_VARIABLE_START)
#define B (PS_BLANK | PS_ENDS_WORD)
#define E PS_ENDS_WORD
#define N PS_AFTER_NUMBER
#define V PS_VARIABLE_START

const uint8_t ps_ascii[128] = {
    [0] = E,   ['\t'] = B, ['\n'] = E, ['\v'] = B, ['\f'] = B, ['\r'] = E, [' '] = B, ['!'] = N,
    ['#'] = N, ['$'] = V,  ['%'] = N,  ['&'] = E,  ['('] = E,  [')'] = E,  ['*'] = N, ['+'] = N,
    [','] = E, ['-'] = N,  ['.'] = N,  ['/'] = N,  ['0'] = D,  ['1'] = D,  ['2'] = D, ['3'] = D,
    ['4'] = D, ['5'] = D,  ['6'] = D,  ['7'] = D,  ['8'] = D,  ['9'] = D,  [':'] = V, [';'] = E,
    ['<'] = N, ['='] = N,  ['>'] = N,  ['?'] = V,  ['A'] = L,  ['B'] = L,  ['C'] = L, ['D'] = L,
    ['E'] = L, ['F'] = L,  ['G'] = L,  ['H'] = L,  ['I'] = L,  ['J'] = L,  ['K'] = L, ['L'] = L,
    ['M'] = L, ['N'] = L,  ['O'] = L,  ['P'] = L,  ['Q'] = L,  ['R'] = L,  ['S'] = L, ['T'] = L,
    ['U'] = L, ['V'] = L,  ['W'] = L,  ['X'] = L,  ['Y'] = L,  ['Z'] = L,  ['['] = N, [']'] = N,
    ['^'] = V, ['_'] = L,  ['a'] = L,  ['b'] = L,  ['c'] = L,  ['d'] = L,  ['e'] = L, ['f'] = L,
    ['g'] = L, ['h'] = L,  ['i'] = L,  ['j'] = L,  ['k'] = L,  ['l'] = L,  ['m'] = L, ['n'] = L,
    ['o'] = L, ['p'] = L,  ['q'] = L,  ['r'] = L,  ['s'] = L,  ['t'] = L,  ['u'] = L, ['v'] = L,
    ['w'] = L, ['x'] = L,  ['y'] = L,  ['z'] = L,  ['{'] = E,  ['|'] = E,  ['}'] = E,
};

#undef L
#undef D
#undef B
#undef E
#undef N
#undef V

uint32_t ps_char_beyond_ascii(struct str text, uint32_t *pos)
{
    size_t at = *pos;
    unsigned char first = (unsigned char)text.p[at];
    if (first < 0xC2 || first > 0xF4 || at + 1 >= text.n ||
        ((unsigned char)text.p[at + 1] & 0xC0) != 0x80) {
        ++*pos;
        return 0xFFFD;
    }
    int32_t c = utf_decode(text, &at);
    *pos = (uint32_t)at;
    return c < 0 ? 0xFFFD : (uint32_t)c; /* stray bytes and holes are ordinary characters */
}

/* Letters beyond ASCII only matter inside variable names and identifiers, so whole blocks of
   punctuation and symbols are told apart, not single characters. */
static bool letter(uint32_t c)
{
    if (c < 0xC0)
        return c == 0xAA || c == 0xB5 || c == 0xBA;
    if (c == 0xD7 || c == 0xF7)
        return false;
    return !(c >= 0x2000 && c <= 0x2BFF) && !(c >= 0x3000 && c <= 0x3004) &&
           !(c >= 0x3008 && c <= 0x3030) && !(c >= 0xD800 && c <= 0xF8FF) &&
           !(c >= 0xFE10 && c <= 0xFE6F) && !(c >= 0xFF00 && c <= 0xFF20) && c < 0xFFE0;
}

unsigned ps_class_beyond_ascii(uint32_t c)
{
    if (c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
        c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000)
        return PS_BLANK | PS_ENDS_WORD;
    if (ps_is_dash(c))
        return PS_AFTER_NUMBER;
    return letter(c) ? PS_LETTER | PS_VARIABLE_START : 0;
}
