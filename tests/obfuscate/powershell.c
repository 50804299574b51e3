/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PowerShell. The families are those of the published obfuscators: tokens (case, backticks, quotes,
 * dynamic names, members and types), strings (concatenated, reordered, reversed, replaced),
 * encodings (ASCII, hex, octal, binary, bxor, base64, whitespace, special characters, compression),
 * the syntax tree (blocks, functions, classes, splatting) and launchers (nested shells).
 */
#include <stdio.h>
#include <string.h>

#include "obfuscate.h"

/* ---- text as an expression ---- */

static void put_quoted(struct buf *out, struct str text)
{
    buf_char(out, '\'');
    put_replaced(out, text, '\'', "''");
    buf_char(out, '\'');
}

/* Pieces of 1 to 9 bytes. */
static struct str piece(struct str *rest, struct random *r)
{
    size_t n = 1 + random_below(r, 9);
    struct str p = str_slice(*rest, 0, n);
    *rest = str_from(*rest, p.n);
    return p;
}

static void concatenated(struct buf *out, struct str text, struct random *r)
{
    bool first = true;
    buf_char(out, '(');
    while (text.n || first) {
        if (!first)
            buf_add(out, str_of(PICK(r, "+", " + ", "  +")));
        put_quoted(out, piece(&text, r));
        first = false;
    }
    buf_char(out, ')');
}

static void reordered(struct buf *out, struct str text, struct random *r)
{
    struct str pieces[64];
    size_t order[64], count = 0;
    while (text.n && count < 63)
        pieces[count++] = piece(&text, r);
    pieces[count++] = text;
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = random_below(r, (uint32_t)i), swap = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swap;
    }
    buf_add(out, STR("(\""));
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (order[at] != i)
            at++;
        buf_fmt(out, "{%zu}", at);
    }
    buf_fmt(out, "\"%s", PICK(r, "-f", " -f ", " -F "));
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_char(out, ',');
        put_quoted(out, pieces[order[i]]);
    }
    buf_char(out, ')');
}

static void put_reversed(struct buf *out, struct str text)
{
    auto_buf struct buf reversed = {0};
    for (size_t i = text.n; i-- > 0;)
        buf_char(&reversed, text.p[i]);
    put_quoted(out, buf_str(&reversed));
}

static void reversed_by_index(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("(-join "));
    put_reversed(out, text);
    buf_fmt(out, "[-1..-%zu])", text.n);
    (void)r;
}

static void reversed_by_array(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("$($z="));
    put_reversed(out, text);
    buf_fmt(out, "%s;[array]::Reverse($z);-join $z)",
            PICK(r, ".ToCharArray()", ".tochararray()", ".\"ToCharArray\"()"));
}

static void reversed_by_pattern(struct buf *out, struct str text, struct random *r)
{
    buf_fmt(out, "(([regex]::%s(", PICK(r, "Matches", "matches"));
    put_reversed(out, text);
    buf_fmt(out, ",'.','RightToLeft')|%s{$_.value})-join'')",
            PICK(r, "%", "foreach", "ForEach-Object"));
}

/* A mark that the text does not hold. */
static void put_mark(struct buf *mark, struct str text, struct random *r)
{
    do {
        buf_reset(mark);
        for (int i = 0; i < 3; i++)
            buf_char(mark, (char)('A' + random_below(r, 26)));
    } while (str_findi(text, buf_str(mark), 0) < text.n);
}

static void replaced(struct buf *out, struct str text, struct random *r)
{
    auto_buf struct buf mark = {0}, once = {0};
    put_mark(&mark, text, r);
    put_replaced(&once, text, 's', buf_cstr(&mark));
    buf_char(out, '(');
    put_quoted(out, buf_str(&once));
    if (random_below(r, 2))
        buf_fmt(out, ".Replace('%s','s'))", buf_cstr(&mark));
    else
        buf_fmt(out, " -%s '%s',[char]115)", PICK(r, "creplace", "replace", "CReplace"),
                buf_cstr(&mark));
}

static void split_joined(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("(("));
    auto_buf struct buf pieces = {0};
    while (text.n) {
        buf_add(&pieces, piece(&text, r));
        if (text.n)
            buf_add(&pieces, STR("\x01"));
    }
    put_quoted(out, buf_str(&pieces));
    buf_add(out, str_of(PICK(r, " -split \"$([char]1)\") -join '')", ".Split([char]1))-join'')")));
}

static void substring(struct buf *out, struct str text, struct random *r)
{
    auto_buf struct buf longer = {0};
    buf_fmt(&longer, "ab%.*syz", STR_ARG(text));
    buf_char(out, '(');
    put_quoted(out, buf_str(&longer));
    if (random_below(r, 2))
        buf_fmt(out, ".Substring(2,%zu))", text.n);
    else
        buf_fmt(out, ".Remove(%zu).Remove(0,2))", text.n + 2);
}

static void inserted(struct buf *out, struct str text, struct random *r)
{
    size_t at = text.n / 2, end = at + 1 + random_below(r, 5);
    struct str middle = str_slice(text, at, end);
    auto_buf struct buf rest = {0};
    buf_add(&rest, str_slice(text, 0, at));
    buf_add(&rest, str_from(text, at + middle.n));
    buf_char(out, '(');
    put_quoted(out, buf_str(&rest));
    buf_fmt(out, ".Insert(%zu,", at);
    put_quoted(out, middle);
    buf_add(out, STR("))"));
}

static void static_joined(struct buf *out, struct str text, struct random *r)
{
    size_t half = text.n / 2;
    switch (random_below(r, 3)) {
    case 0: buf_add(out, STR("([string]::Join('',@(")); break;
    case 1: buf_add(out, STR("([string]::Concat(")); break;
    default: buf_add(out, STR("([string]::Format('{0}{1}',")); break;
    }
    bool list = out->p[out->n - 2] == '@';
    put_quoted(out, str_slice(text, 0, half));
    buf_char(out, ',');
    put_quoted(out, str_from(text, half));
    buf_add(out, list ? STR(")))") : STR("))"));
}

static void here_string(struct buf *out, struct str text, struct random *r)
{
    if (str_find(text, STR("\n'@"), 0) < text.n) {
        concatenated(out, text, r);
        return;
    }
    buf_add(out, STR("(@'\n"));
    buf_add(out, text);
    buf_add(out, STR("\n'@)"));
}

static void builder(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("$($z=New-Object Text.StringBuilder"));
    while (text.n) {
        buf_add(out, STR(";[void]$z.Append("));
        put_quoted(out, piece(&text, r));
        buf_char(out, ')');
    }
    buf_add(out, STR(";$z.ToString())"));
}

/* ---- encodings ---- */

static void put_codes(struct buf *out, struct str text, unsigned base, unsigned key,
                      const char *between)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned code = (unsigned char)text.p[i] ^ key;
        if (i)
            buf_add(out, str_of(between));
        if (base == 16)
            buf_fmt(out, "%x", code);
        else if (base == 8)
            buf_fmt(out, "%o", code);
        else if (base == 10)
            buf_fmt(out, "%u", code);
        else
            for (int bit = 7; bit >= 0; bit--)
                buf_char(out, code >> bit & 1 ? '1' : '0');
    }
}

static const char *each(struct random *r)
{
    return PICK(r, "%", "foreach", "ForEach-Object", "FOREACH-object");
}

static void ascii_codes(struct buf *out, struct str text, struct random *r)
{
    switch (random_below(r, 4)) {
    case 0:
        buf_add(out, STR("(-join [char[]]("));
        put_codes(out, text, 10, 0, ",");
        buf_add(out, STR("))"));
        return;
    case 1:
        buf_add(out, STR("((("));
        put_codes(out, text, 10, 0, " , ");
        buf_fmt(out, ")|%s{([int]$_ -as [char])})-join'')", each(r));
        return;
    case 2:
        buf_add(out, STR("([string]::Join('',('"));
        put_codes(out, text, 10, 0, "~");
        buf_fmt(out, "'.Split('~')|%s{([char][int]$_)})))", each(r));
        return;
    default:
        buf_add(out, STR("(\"$(Set-Item 'Variable:OFS' '')\"+[string]('"));
        put_codes(out, text, 10, 0, "%");
        buf_fmt(out, "'-split'%%'|%s{[char][int]$_})+\"$(Set-Item 'Variable:OFS' ' ')\")", each(r));
    }
}

static void in_base(struct buf *out, struct str text, struct random *r, unsigned base)
{
    buf_add(out, STR("(('"));
    put_codes(out, text, base, 0, "_");
    buf_fmt(out, "'%s|%s{%s})-join'')", PICK(r, ".Split('_')", "-split'_'"), each(r),
            base == 16  ? PICK(r, "[char][convert]::ToInt16($_,16)",
                               "([convert]::toint16(([string]$_),16)-as[char])")
            : base == 8 ? "[char][convert]::ToInt16($_,8)"
                        : "[char][convert]::ToInt32($_,2)");
}

static void hex(struct buf *out, struct str text, struct random *r)
{
    in_base(out, text, r, 16);
}

static void octal(struct buf *out, struct str text, struct random *r)
{
    in_base(out, text, r, 8);
}

static void binary(struct buf *out, struct str text, struct random *r)
{
    in_base(out, text, r, 2);
}

static void bxor(struct buf *out, struct str text, struct random *r)
{
    unsigned key = 1 + random_below(r, 90);
    buf_add(out, STR("(('"));
    put_codes(out, text, 10, key, ",");
    const char *quote = PICK(r, "'", "\"", "");
    buf_fmt(out, "'.Split(',')|%s{[char]($_ -bxor %s%u%s)})-join'')", each(r), quote, key, quote);
}

static void base64(struct buf *out, struct str text, struct random *r)
{
    if (random_below(r, 2)) {
        buf_add(out, STR("([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String('"));
        put_base64_wide(out, text);
    } else {
        buf_fmt(out, "([%sText.Encoding]::%s.GetString([Convert]::FromBase64String('",
                PICK(r, "", "System."), PICK(r, "ASCII", "UTF8"));
        put_base64(out, text);
    }
    buf_add(out, STR("')))"));
}

static void base64_characters(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("(-join([Convert]::FromBase64String('"));
    put_base64(out, text);
    buf_fmt(out, "')|%s{[char]$_}))", each(r));
}

/* Digits as runs of tabs. */
static void whitespace(struct buf *out, struct str text, struct random *r)
{
    buf_add(out, STR("(-join[char[]][int[]](('"));
    for (size_t i = 0; i < text.n; i++) {
        char digits[8];
        snprintf(digits, sizeof digits, "%d", text.p[i]);
        if (i)
            buf_add(out, STR("  "));
        for (size_t k = 0; digits[k]; k++) {
            if (k)
                buf_char(out, ' ');
            buf_fill(out, '\t', (size_t)(digits[k] - '0') + 1);
        }
    }
    buf_fmt(out,
            "'-csplit'  '|%s{' ';$_.Split(' ')|%s{$_.Length-1}})-join'').Trim(' ').Split(' '))",
            each(r), each(r));
}

/* Deflate without packing anything: one stored block. */
static void deflated(struct buf *out, struct str text, struct random *r)
{
    auto_buf struct buf packed = {0};
    buf_char(&packed, 1);
    buf_char(&packed, (char)(text.n & 0xFF));
    buf_char(&packed, (char)(text.n >> 8));
    buf_char(&packed, (char)(~text.n & 0xFF));
    buf_char(&packed, (char)(~text.n >> 8 & 0xFF));
    buf_add(&packed, text);
    buf_fmt(out,
            "((New-Object %sIO.StreamReader((New-Object IO.Compression.DeflateStream("
            "[IO.MemoryStream][Convert]::FromBase64String('",
            PICK(r, "", "System."));
    put_base64(out, buf_str(&packed));
    buf_add(out, STR("'),[IO.Compression.CompressionMode]::Decompress)),[Text.Encoding]::ASCII))"
                     ".ReadToEnd())"));
}

/* The variable whose name stands for a digit. */
static const char digit_names[10][4] = {"=", "+", "@", ".", "[", "]", "(", ")", "&", "|"};

static void put_digits(struct buf *out, unsigned number)
{
    char digits[8];
    snprintf(digits, sizeof digits, "%u", number);
    for (size_t i = 0; digits[i]; i++)
        buf_fmt(out, "${%s}", digit_names[digits[i] - '0']);
}

/* A letter of the text of a table, by a number of such digits. */
static void put_letter(struct buf *out, unsigned at)
{
    buf_add(out, STR("\"$(@{})\"[\""));
    put_digits(out, at);
    buf_add(out, STR("\"]"));
}

/* Names and numbers made of signs only: ++ counts, letters come from the texts of things. */
static void special_characters(struct buf *out, struct str text, struct random *r)
{
    static const char *const insert = "\"\".(";
    (void)r;
    buf_add(out, STR("${;}=+$();${=}=${;};"));
    for (size_t i = 1; i < 10; i++)
        buf_fmt(out, "${%s}=++${;};", digit_names[i]);
    /* [char] */
    buf_add(out, STR("${~}=\"[\"+"));
    put_letter(out, 12);
    buf_char(out, '+');
    put_letter(out, 22);
    buf_char(out, '+');
    put_letter(out, 20);
    buf_add(out, STR("+\"$?\"[${+}]+\"]\";"));
    /* insert, as text: string Insert(int startIndex, string value) */
    buf_fmt(out, "${;}=%s", insert);
    static const unsigned letters[] = {14, 16, 2, 4};
    for (size_t i = 0; i < COUNT(letters); i++) {
        put_letter(out, letters[i]);
        buf_char(out, '+');
    }
    buf_add(out, STR("\"$?\"[${+}]+"));
    put_letter(out, 3);
    buf_add(out, STR(");"));
    /* iex */
    buf_add(out, STR("${;}="));
    put_letter(out, 14);
    buf_char(out, '+');
    put_letter(out, 4);
    buf_add(out, STR("+\"${;}\"[\""));
    put_digits(out, 27);
    buf_add(out, STR("\"];\""));
    for (size_t i = 0; i < text.n; i++) {
        if (i)
            buf_char(out, '+');
        buf_add(out, STR("${~}"));
        put_digits(out, (unsigned char)text.p[i]);
    }
    buf_add(out, STR("|${;}\"|&${;}"));
}

/* ---- running a text ---- */

typedef void encoder(struct buf *out, struct str text, struct random *r);

/* Text that becomes a command's name: iex, made of letters of well-known variables. */
static const char *name_of_iex(struct random *r)
{
    return PICK(r, "iex", "Invoke-Expression", "&('i'+'ex')", "&(\"{1}{0}\"-f'x','ie')",
                "&($ShellId[1]+$ShellId[13]+'x')", "&($PSHome[4]+$PSHome[30]+'x')",
                "&($env:ComSpec[4,24,25]-join'')", "&((gv '*mdr*').Name[3,11,2]-join'')",
                "&((Get-Variable '*mdr*').Name[3,11,2]-join'')",
                "&((Variable '*mdr*').Name[3,11,2]-join'')",
                "&(([string]$VerbosePreference)[1,3]+'x'-join'')",
                "&($VerbosePreference.ToString()[1,3]+'x'-join'')", "&(gcm i*-e*n)",
                "&(Get-Command 'Invoke-Expr*')", "&(([string]''.IndexOf)[0,7,8]-join'')",
                "&(\"\".LastIndexOf.ToString()[0,11,12]-join'')",
                "Microsoft.PowerShell.Utility\\Invoke-Expression", ".(gal iex)");
}

static void run_text(struct buf *out, struct str script, struct random *r, encoder *encode)
{
    auto_buf struct buf text = {0};
    encode(&text, script, r);
    struct str t = buf_str(&text);
    switch (random_below(r, 7)) {
    case 0:
    case 1: buf_fmt(out, "%s %.*s", name_of_iex(r), STR_ARG(t)); return;
    case 2: buf_fmt(out, "%.*s|%s", STR_ARG(t), name_of_iex(r)); return;
    case 3: buf_fmt(out, "&([scriptblock]::Create(%.*s))", STR_ARG(t)); return;
    case 4: buf_fmt(out, "$q=%.*s;%s $q", STR_ARG(t), name_of_iex(r)); return;
    case 5:
        buf_fmt(out, "$ExecutionContext.InvokeCommand.(\"{1}{0}\"-f'Script','Invoke').Invoke(%.*s)",
                STR_ARG(t));
        return;
    default: buf_fmt(out, "[scriptblock]::Create(%.*s).Invoke()", STR_ARG(t)); return;
    }
}

#define ENCODED(name, encode)                                              \
    static void name(struct buf *out, struct str script, struct random *r) \
    {                                                                      \
        run_text(out, script, r, encode);                                  \
    }
ENCODED(run_concatenated, concatenated)
ENCODED(run_reordered, reordered)
ENCODED(run_reversed_index, reversed_by_index)
ENCODED(run_reversed_array, reversed_by_array)
ENCODED(run_reversed_pattern, reversed_by_pattern)
ENCODED(run_replaced, replaced)
ENCODED(run_split, split_joined)
ENCODED(run_substring, substring)
ENCODED(run_inserted, inserted)
ENCODED(run_joined, static_joined)
ENCODED(run_here, here_string)
ENCODED(run_builder, builder)
ENCODED(run_ascii, ascii_codes)
ENCODED(run_hex, hex)
ENCODED(run_octal, octal)
ENCODED(run_binary, binary)
ENCODED(run_bxor, bxor)
ENCODED(run_base64, base64)
ENCODED(run_base64_characters, base64_characters)
ENCODED(run_whitespace, whitespace)
ENCODED(run_deflated, deflated)

/* ---- tokens: of a command whose words stand apart by blanks ---- */

static struct str head(struct str script, struct str *rest)
{
    size_t blank = str_find_char(script, ' ', 0);
    *rest = str_from(script, blank);
    return str_slice(script, 0, blank);
}

static bool is_command(struct str script)
{
    return script.n && ascii_is_alpha(script.p[0]);
}

/* The arguments, the last one as an expression if it is plain. */
static void put_rest(struct buf *out, struct str rest, struct random *r)
{
    size_t last = rest.n;
    while (last && rest.p[last - 1] != ' ')
        last--;
    struct str word = str_from(rest, last);
    bool plain = word.n && (ascii_is_alpha(word.p[0]) || word.p[0] == 'h') &&
                 !str_has_char(word, '(') && !str_has_char(word, '{') &&
                 !str_has_char(word, '\'') && !str_has_char(word, '}') && !str_has_char(word, ')');
    if (!plain) {
        buf_add(out, rest);
        return;
    }
    buf_add(out, str_slice(rest, 0, last));
    encoder *const few[] = {concatenated, reordered, replaced, ascii_codes, hex};
    few[random_below(r, COUNT(few))](out, word, r);
}

static void token_case(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    put_any_case(out, name, r);
    buf_add(out, rest);
}

static void token_backticks(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    for (size_t i = 0; i < name.n; i++) {
        if (i && ascii_is_alpha(name.p[i]) && !strchr("abefnrtuv", name.p[i]) &&
            is_command(script) && random_below(r, 2))
            buf_char(out, '`');
        buf_char(out, name.p[i]);
    }
    buf_add(out, rest);
}

static void token_called(struct buf *out, struct str script, struct random *r, encoder *encode)
{
    struct str rest, name = head(script, &rest);
    if (!is_command(script)) {
        buf_add(out, script);
        return;
    }
    buf_add(out, str_of(PICK(r, "&", "& ", ". ")));
    encode(out, name, r);
    put_rest(out, rest, r);
}

static void quoted(struct buf *out, struct str text, struct random *r)
{
    (void)r;
    put_quoted(out, text);
}

#define CALLED(name, encode)                                               \
    static void name(struct buf *out, struct str script, struct random *r) \
    {                                                                      \
        token_called(out, script, r, encode);                              \
    }
CALLED(token_quoted, quoted)
CALLED(token_concatenated, concatenated)
CALLED(token_reordered, reordered)
CALLED(token_encoded, ascii_codes)

static void token_variable(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    if (!is_command(script)) {
        buf_add(out, script);
        return;
    }
    const char *variable = PICK(r, "${a b}", "${global:v}", "$script:q", "${!}", "$v1");
    buf_fmt(out, "%s=", variable);
    concatenated(out, name, r);
    buf_fmt(out, ";& %s", variable);
    put_rest(out, rest, r);
}

static void token_alias(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    if (!is_command(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "%s zq ", PICK(r, "Set-Alias", "sal", "New-Alias", "nal"));
    concatenated(out, name, r);
    buf_add(out, STR(";zq"));
    buf_add(out, rest);
}

static void token_item_alias(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    if (!is_command(script)) {
        buf_add(out, script);
        return;
    }
    buf_fmt(out, "%s alias:zz ", PICK(r, "Set-Item", "si", "New-Item"));
    buf_add(out, str_has_char(buf_str(out), 'N') ? STR("-Value ") : STR(""));
    reordered(out, name, r);
    buf_fmt(out, ";zz%.*s", STR_ARG(rest));
}

static void token_comments(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    buf_fmt(out, "<#%s#> ", PICK(r, "", "x", " start #", "\n"));
    buf_add(out, name);
    buf_add(out, str_of(PICK(r, "", "  ", " <# y #>", " `\n", "\t")));
    buf_add(out, rest);
    buf_add(out, str_of(PICK(r, "", " # z", " ;", "\n")));
}

static void token_arguments(struct buf *out, struct str script, struct random *r)
{
    struct str rest, name = head(script, &rest);
    buf_add(out, name);
    if (is_command(script))
        put_rest(out, rest, r);
    else
        buf_add(out, rest);
}

/* [Type]::Member( and object.Member(: both by computed names. */
static void token_members(struct buf *out, struct str script, struct random *r)
{
    size_t open = str_find_char(script, '(', script.n && script.p[0] == '(' ? 30 : 0);
    size_t colons = str_find(script, STR("]::"), 0);
    if (is_command(script) || open >= script.n) {
        buf_add(out, script);
        return;
    }
    if (colons < open) {
        buf_fmt(out, "sv zt ([type]");
        concatenated(out, str_slice(script, 1, colons), r);
        buf_fmt(out, ");%s::(",
                PICK(r, "$zt", "(gv zt).Value", "(ls variable:zt).Value", "${ZT}",
                     "(Get-Item Variable:ZT).Value", "(dir ('varia'+'ble:zt')).Value"));
        reordered(out, str_slice(script, colons + 3, open), r);
    } else {
        size_t dot = open;
        while (dot && script.p[dot - 1] != '.')
            dot--;
        buf_add(out, str_slice(script, 0, dot));
        buf_char(out, '(');
        reordered(out, str_slice(script, dot, open), r);
    }
    buf_add(out, STR(").Invoke"));
    buf_add(out, str_from(script, open));
}

/* ---- the syntax tree ---- */

/* A line break after the script, so that a comment at its end does not take what follows. */
WRAPPED_LINES(tree_block, "& {\1}", ".{\1}", "&{param($x)\1} 1", "$b={\1};& $b", "{\1}.Invoke()",
              "({\1}).InvokeReturnAsIs()")
WRAPPED_LINES(tree_branch, "if($true){\1}", "if($x){1}else{\1}", "switch(1){1{\1}}",
              "switch -regex ('a'){'.'{\1}}", "try{\1}catch{}", "try{throw}catch{\1}finally{}",
              "if(1){if(2){\1}}")
WRAPPED_LINES(tree_loop, "foreach($i in 1){\1}", "for($i=0;$i -lt 1;$i++){\1}",
              "while($true){\1;break}", "do{\1}while($false)", "1..2|%{\1}",
              "1|ForEach-Object -Begin {} -Process {\1}", "@(1).ForEach({\1})", "1|%{$k=1}{\1}{$k}")
WRAPPED_LINES(tree_function, "function f{\1};f", "function global:g([string]$a){\1};g 'b'",
              "filter zf{\1};1|zf", "$function:k={\1};k", "Set-Item function:m {\1};m",
              "function f{begin{\1}process{}};f")
WRAPPED_LINES(tree_class, "class Z{static [void]Go(){\1}};[Z]::Go()",
              "class Z{Z(){\1}};[void][Z]::new()",
              "class Z{[object]Go($a){\1;return 1}};([Z]::new()).Go(2)")
WRAPPED_LINES(tree_jobs, "Invoke-Command -ScriptBlock {\1}", "icm {\1}", "Start-Job {\1}|Wait-Job",
              "New-Module {\1}|Out-Null", "Measure-Command {\1}", "1|Where-Object {\1}",
              "1|Select-Object @{n='a';e={\1}}", "1|Sort-Object {\1}")
WRAPPED_LINES(tree_assignment, "$null=$(\1)", "[void]$(\1)", "$y=@(\1)", "$h=@{a=$(\1)}",
              "($w=$(\1))")

/* ---- launchers ---- */

static void launch_encoded(struct buf *out, struct str script, struct random *r)
{
    buf_fmt(out, "%s -%s %s -%s ", PICK(r, "powershell", "powershell.exe", "pwsh", "PowerShell"),
            PICK(r, "nop", "NoProfile", "noni", "sta"), PICK(r, "-w hidden", "", "-ep bypass"),
            PICK(r, "enc", "e", "EncodedCommand", "ec", "en"));
    put_base64_wide(out, script);
}

static void launch_command(struct buf *out, struct str script, struct random *r)
{
    buf_fmt(out, "%s %s ", PICK(r, "powershell", "pwsh -nop", "powershell.exe -NoProfile"),
            PICK(r, "-c", "-Command", "/c", "-com"));
    put_quoted(out, script);
}

static void launch_input(struct buf *out, struct str script, struct random *r)
{
    put_quoted(out, script);
    buf_fmt(out, "|%s", PICK(r, "powershell -", "powershell -nop -", "pwsh -Command -"));
}

static void launch_shell(struct buf *out, struct str script, struct random *r)
{
    buf_fmt(out, "[%s]::Create().AddScript(",
            PICK(r, "powershell", "PowerShell", "Management.Automation.PowerShell"));
    encoder *const few[] = {concatenated, reordered, ascii_codes, quoted};
    few[random_below(r, COUNT(few))](out, script, r);
    buf_fmt(out, ").%s()", PICK(r, "Invoke", "BeginInvoke", "(\"{1}{0}\"-f'oke','Inv').Invoke"));
}

static void launch_script_file(struct buf *out, struct str script, struct random *r)
{
    switch (random_below(r, 3)) {
    case 0: buf_add(out, STR("Set-Content zz.ps1 ")); break;
    case 1: buf_add(out, STR("Set-Content -Path zz.ps1 -Value ")); break;
    default: buf_add(out, STR("[IO.File]::WriteAllText('zz.ps1',")); break;
    }
    bool call = out->p[out->n - 1] == ',';
    concatenated(out, script, r);
    buf_fmt(out, "%s;%s", call ? ")" : "",
            PICK(r, "& .\\zz.ps1", ". .\\zz.ps1", "powershell -File zz.ps1"));
}

static const struct transformation transformations[] = {
    {"token", "case", token_case, true},
    {"token", "backticks", token_backticks, true},
    {"token", "quoted name", token_quoted, true},
    {"token", "concatenated name", token_concatenated, true},
    {"token", "reordered name", token_reordered, true},
    {"token", "encoded name", token_encoded, true},
    {"token", "name in a variable", token_variable, true},
    {"token", "alias", token_alias, true},
    {"token", "alias as an item", token_item_alias, true},
    {"token", "comments and blanks", token_comments, true},
    {"token", "arguments", token_arguments, true},
    {"token", "members and types", token_members, true},
    {"string", "concatenated", run_concatenated, false},
    {"string", "reordered", run_reordered, false},
    {"string", "reversed by index", run_reversed_index, false},
    {"string", "reversed by array", run_reversed_array, false},
    {"string", "reversed by pattern", run_reversed_pattern, false},
    {"string", "replaced", run_replaced, false},
    {"string", "split and joined", run_split, false},
    {"string", "cut out", run_substring, false},
    {"string", "inserted", run_inserted, false},
    {"string", "static methods", run_joined, false},
    {"string", "here-string", run_here, false},
    {"string", "string builder", run_builder, false},
    {"encoding", "ASCII codes", run_ascii, false},
    {"encoding", "hex", run_hex, false},
    {"encoding", "octal", run_octal, false},
    {"encoding", "binary", run_binary, false},
    {"encoding", "bxor", run_bxor, false},
    {"encoding", "base64", run_base64, false},
    {"encoding", "base64 by characters", run_base64_characters, false},
    {"encoding", "whitespace", run_whitespace, false},
    {"encoding", "special characters", special_characters, false},
    {"encoding", "deflate", run_deflated, false},
    {"tree", "blocks", tree_block, false},
    {"tree", "branches", tree_branch, false},
    {"tree", "loops", tree_loop, false},
    {"tree", "functions", tree_function, false},
    {"tree", "classes", tree_class, false},
    {"tree", "blocks as arguments", tree_jobs, false},
    {"tree", "assignments", tree_assignment, false},
    {"launcher", "encoded command", launch_encoded, false},
    {"launcher", "command", launch_command, false},
    {"launcher", "standard input", launch_input, false},
    {"launcher", "PowerShell object", launch_shell, false},
    {"launcher", "script file", launch_script_file, false},
};

static const char *const hostile[] = {
    "Start-Process https://x.test/a",
    "start https://x.test/a",
    "saps -FilePath https://x.test/a",
    "explorer https://x.test/a",
    "Invoke-Item page.html",
    "msedge https://x.test/a",
    "schtasks /create /tn x /tr calc",
    "rundll32 url.dll,FileProtocolHandler https://x.test/a",
    "Invoke-CimMethod Win32_Process @{CommandLine='calc'} Create",
    "Start-Service x",
    "cmd /c start https://x.test/a",
    "[Diagnostics.Process]::Start('https://x.test/a')",
    "(New-Object -ComObject Shell.Application).ShellExecute('https://x.test/a')",
    "(New-Object -ComObject WScript.Shell).Run('https://x.test/a')",
    "[Microsoft.VisualBasic.Interaction]::Shell('explorer https://x.test/a')",
};

static const char *const benign[] = {
    "Get-Date",          "git status",         "Write-Host https://x.test/a",
    "npm install react", "Start-Process node", "[Math]::Abs(-1)",
};

const struct obfuscator obfuscate_powershell = {
    GUARD_POWERSHELL, "powershell",  hostile,         benign,
    COUNT(hostile),   COUNT(benign), transformations, COUNT(transformations)};
