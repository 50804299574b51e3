/* SPDX-License-Identifier: Apache-2.0 */
/* PowerShell's operators and casts on values. */
#include "base/glob.h"
#include "base/utf.h"
#include "guard/powershell/fold.h"
#include "guard/powershell/powershell.h"

/* As a cast to an integer rounds: ties to the even number. */
static double whole(double x)
{
    if (!(x > -9e15 && x < 9e15))
        return x;
    long long n = (long long)(x < 0 ? x - 0.5 : x + 0.5);
    if (n % 2 && (x - (double)n == 0.5 || (double)n - x == 0.5))
        n += x < 0 ? 1 : -1;
    return (double)n;
}

static struct ps_value join_lists(struct ps_fold *f, struct ps_value a, struct ps_value b)
{
    b = value_items(f, b);
    if (a.kind != VALUE_LIST || b.kind != VALUE_LIST)
        return value_unknown();
    struct ps_value list = value_list(f, a.count + b.count);
    if (list.kind != VALUE_LIST)
        return list;
    memcpy(list.items, a.items, a.count * sizeof *a.items);
    memcpy(list.items + a.count, b.items, b.count * sizeof *b.items);
    return list;
}

static struct ps_value add(struct ps_fold *f, struct ps_value a, struct ps_value b)
{
    double x, y;
    switch (a.kind) {
    case VALUE_STRING: return value_string(fold_concat(f, a.text, value_text(f, b)));
    case VALUE_CHAR: return value_string(fold_concat(f, value_text(f, a), value_text(f, b)));
    case VALUE_LIST: return join_lists(f, a, b);
    case VALUE_NULL:
    case VALUE_VOID: return b;
    case VALUE_HASH:
        if (b.kind == VALUE_HASH) {
            for (size_t i = 0; i < b.hash->count; i++)
                value_put(f, a.hash, b.hash->pairs[i].key, b.hash->pairs[i].value);
            return a;
        }
        return value_unknown();
    case VALUE_UNKNOWN:
        /* Most likely text; the known part must not get lost. */
        if (b.kind == VALUE_STRING)
            return value_string(fold_concat(f, STR("\xFF"), b.text));
        return value_unknown();
    default:
        if (b.kind != VALUE_UNKNOWN && fold_number(a, &x) && fold_number(b, &y))
            return value_number(x + y);
        return value_unknown();
    }
}

static struct ps_value repeat(struct ps_fold *f, struct ps_value a, double times)
{
    if (!(times >= 0) || times > FOLD_MAX_ITEMS)
        return value_unknown();
    size_t count = (size_t)times;
    if (a.kind == VALUE_STRING) {
        struct fold_buffer t = {0};
        if (a.text.n && count > FOLD_MAX_TEXT / a.text.n)
            return value_unknown();
        for (size_t i = 0; i < count; i++)
            fold_add(f, &t, a.text);
        return value_string(fold_result(&t));
    }
    if (a.count && count > FOLD_MAX_ITEMS / a.count)
        return value_unknown();
    struct ps_value list = value_list(f, a.count * count);
    for (size_t i = 0; list.kind == VALUE_LIST && i < list.count; i++)
        list.items[i] = a.items[i % a.count];
    return list;
}

static struct ps_value arithmetic(struct ps_fold *f, unsigned op, struct ps_value a,
                                  struct ps_value b)
{
    double x, y;
    if (op == OP_MUL && (a.kind == VALUE_STRING || a.kind == VALUE_LIST))
        return fold_number(b, &y) ? repeat(f, a, y) : value_unknown();
    if (!fold_number(a, &x) || !fold_number(b, &y))
        return value_unknown();
    long long i = x > -9e15 && x < 9e15 ? (long long)x : 0;
    long long j = y > -9e15 && y < 9e15 ? (long long)y : 0;
    switch (op) {
    case OP_SUB: return value_number(x - y);
    case OP_MUL: return value_number(x * y);
    case OP_DIV: return y == 0 ? value_unknown() : value_number(x / y);
    case OP_REM: return j == 0 ? value_unknown() : value_number((double)(i % j));
    case OP_BAND: return value_number((double)(i & j));
    case OP_BOR: return value_number((double)(i | j));
    case OP_BXOR: return value_number((double)(i ^ j));
    case OP_SHL: return value_number(j < 0 || j > 31 ? 0 : (double)(int32_t)((uint32_t)i << j));
    case OP_SHR: return value_number(j < 0 || j > 62 ? 0 : (double)(i >> j));
    default: return value_unknown();
    }
}

static struct ps_value range(struct ps_fold *f, struct ps_value a, struct ps_value b)
{
    double x, y;
    /* 'a'..'e' makes characters, since PowerShell 6 */
    bool chars = (a.kind == VALUE_CHAR || (a.kind == VALUE_STRING && a.text.n == 1)) &&
                 (b.kind == VALUE_CHAR || (b.kind == VALUE_STRING && b.text.n == 1));
    if (chars && a.kind == VALUE_STRING && ascii_is_digit(a.text.p[0]))
        chars = false;
    if (chars) {
        x = a.kind == VALUE_CHAR ? a.number : (unsigned char)a.text.p[0];
        y = b.kind == VALUE_CHAR ? b.number : (unsigned char)b.text.p[0];
    } else if (!fold_number(a, &x) || !fold_number(b, &y)) {
        return value_unknown();
    }
    if (x > 1e9 || x < -1e9 || y > 1e9 || y < -1e9 || x - y >= FOLD_MAX_ITEMS ||
        y - x >= FOLD_MAX_ITEMS)
        return value_unknown();
    long long from = (long long)x, to = (long long)y, step = from <= to ? 1 : -1;
    struct ps_value list = value_list(f, (size_t)((to - from) * step + 1));
    for (size_t i = 0; list.kind == VALUE_LIST && i < list.count; i++) {
        list.items[i] = value_number((double)(from + step * (long long)i));
        if (chars)
            list.items[i].kind = VALUE_CHAR;
    }
    return list;
}

/* "{1}{0}" -f … ; a width or a number's format is not followed. */
static struct ps_value format(struct ps_fold *f, struct ps_value a, struct ps_value b)
{
    if (a.kind != VALUE_STRING)
        return value_unknown();
    struct ps_value args = b.kind == VALUE_UNKNOWN ? b : value_items(f, b);
    struct str s = a.text;
    struct fold_buffer t = {0};
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '{' && i + 1 < s.n && s.p[i + 1] == '{') {
            fold_add(f, &t, STR("{"));
            i++;
        } else if (c == '}' && i + 1 < s.n && s.p[i + 1] == '}') {
            fold_add(f, &t, STR("}"));
            i++;
        } else if (c == '{') {
            size_t index = 0, digits = i + 1;
            for (; digits < s.n && ascii_is_digit(s.p[digits]) && index < 10000; digits++)
                index = index * 10 + (size_t)(s.p[digits] - '0');
            size_t close = str_find_char(s, '}', digits);
            if (args.kind != VALUE_LIST || index >= args.count || digits == i + 1)
                fold_add(f, &t, STR("\xFF"));
            else if (close > digits &&
                     (s.p[digits] == ',' ||
                      (s.p[digits] == ':' && args.items[index].kind == VALUE_NUMBER)))
                fold_add(f, &t, STR("\xFF"));
            else
                fold_add(f, &t, value_text(f, args.items[index]));
            i = close;
        } else {
            fold_add(f, &t, (struct str){s.p + i, 1});
        }
    }
    return value_string(fold_result(&t));
}

static struct ps_value join(struct ps_fold *f, struct ps_value a, struct str separator)
{
    if (a.kind == VALUE_UNKNOWN)
        return a;
    a = value_items(f, a);
    struct fold_buffer t = {0};
    for (size_t i = 0; a.kind == VALUE_LIST && i < a.count; i++) {
        if (i)
            fold_add(f, &t, separator);
        fold_add(f, &t, value_text(f, a.items[i]));
    }
    return a.kind == VALUE_LIST ? value_string(fold_result(&t)) : a;
}

/* True if a pattern of -split, -replace or -match means itself but for escaped signs. */
static bool literal_pattern(struct ps_fold *f, struct str pattern, struct str *out)
{
    char *p = arena_alloc(f->arena, pattern.n + 1);
    size_t n = 0;
    if (!p)
        return false;
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        if (c == '\\' && i + 1 < pattern.n && !ascii_is_alnum(pattern.p[i + 1]))
            c = pattern.p[++i];
        else if (ascii_is_in(c, "\\^$.|?*+()[]{}"))
            return false;
        p[n++] = c;
    }
    *out = (struct str){p, n};
    return true;
}

/* [abc] or (a|b|c) or a|b|c: alternatives, each literal. Returns their number, 0 if it is none. */
static size_t alternatives(struct ps_fold *f, struct str pattern, struct str *out, size_t max)
{
    size_t count = 0;
    if (literal_pattern(f, pattern, &out[0]))
        return out[0].n ? 1 : 0;
    if (pattern.n >= 2 && pattern.p[0] == '[' && pattern.p[pattern.n - 1] == ']' &&
        pattern.p[1] != '^') {
        for (size_t i = 1; i + 1 < pattern.n; i++) {
            if (pattern.p[i] == '\\' && i + 2 < pattern.n)
                i++;
            else if (pattern.p[i] == '-' && i > 1 && i + 2 < pattern.n)
                return 0;
            if (count == max)
                return 0;
            out[count++] = str_slice(pattern, i, i + 1);
        }
        return count;
    }
    if (pattern.n >= 2 && pattern.p[0] == '(' && pattern.p[pattern.n - 1] == ')')
        pattern = str_slice(pattern, 1, pattern.n - 1);
    for (size_t from = 0; from <= pattern.n;) {
        size_t bar = str_find_char(pattern, '|', from);
        if (count == max || bar == from ||
            !literal_pattern(f, str_slice(pattern, from, bar), &out[count]))
            return 0;
        count++;
        from = bar + 1;
    }
    return count;
}

static size_t match_at(struct str text, size_t pos, const struct str *options, size_t count,
                       bool ignore_case)
{
    for (size_t i = 0; i < count; i++) {
        struct str piece = str_slice(text, pos, pos + options[i].n);
        if (piece.n == options[i].n &&
            (ignore_case ? str_eqi(piece, options[i]) : str_eq(piece, options[i])))
            return piece.n;
    }
    return 0;
}

enum { MAX_OPTIONS = 16 };

struct ps_value fold_replace(struct ps_fold *f, struct str text, struct str pattern,
                             struct str with, bool ignore_case)
{
    struct str options[MAX_OPTIONS];
    size_t count = alternatives(f, pattern, options, MAX_OPTIONS);
    struct str literal;
    /* "^x" and "x$" only touch the ends. */
    if (count == 0 && pattern.n > 1 && pattern.p[0] == '^' &&
        literal_pattern(f, str_from(pattern, 1), &literal)) {
        if (ignore_case ? !str_startsi(text, literal) : !str_starts(text, literal))
            return value_string(text);
        return value_string(fold_concat(f, with, str_from(text, literal.n)));
    }
    if (count == 0 && pattern.n > 1 && pattern.p[pattern.n - 1] == '$' &&
        literal_pattern(f, str_slice(pattern, 0, pattern.n - 1), &literal)) {
        if (ignore_case ? !str_endsi(text, literal) : !str_ends(text, literal))
            return value_string(text);
        return value_string(fold_concat(f, str_slice(text, 0, text.n - literal.n), with));
    }
    if (count == 0 || str_has_char(pattern, GUARD_HOLE)) {
        /* An unknown pattern may take anything away; what stays is unlikely to be new. */
        struct fold_buffer kept = {0};
        fold_add(f, &kept, text);
        fold_add(f, &kept, STR("\xFF"));
        return value_string(fold_result(&kept));
    }
    if (!fold_step(f, text.n * count))
        return value_unknown();
    struct fold_buffer t = {0};
    size_t plain = 0;
    bool group = str_has_char(with, '$');
    for (size_t i = 0; i < text.n;) {
        size_t n = match_at(text, i, options, count, ignore_case);
        if (!n) {
            i++;
            continue;
        }
        fold_add(f, &t, str_slice(text, plain, i));
        fold_add(f, &t, group ? STR("\xFF") : with);
        i += n;
        plain = i;
    }
    fold_add(f, &t, str_from(text, plain));
    return value_string(fold_result(&t));
}

/* As many matches as follow each other, if the pattern takes them together. */
static size_t match_run(struct str text, size_t pos, const struct str *options, size_t count,
                        bool ignore_case, bool run)
{
    size_t n = match_at(text, pos, options, count, ignore_case);
    for (size_t more = n; run && more; n += more)
        more = match_at(text, pos + n, options, count, ignore_case);
    return n;
}

static struct ps_value split(struct ps_fold *f, struct str text, struct str pattern,
                             bool ignore_case)
{
    struct str options[MAX_OPTIONS];
    size_t count = 0;
    bool run = false;
    if (str_has_char(text, GUARD_HOLE))
        return value_unknown();
    if (pattern.n == 0) { /* between all characters */
        if (!fold_ascii(text))
            return value_unknown();
        struct ps_value list = value_list(f, text.n + 2);
        for (size_t i = 0; list.kind == VALUE_LIST && i < list.count; i++)
            list.items[i] = value_string(i == 0 ? STR("") : str_slice(text, i - 1, i));
        return list;
    }
    if (str_eq(pattern, STR("\\s+")) || str_eq(pattern, STR("\\s")) || str_eq(pattern, STR(" +"))) {
        options[count++] = STR(" ");
        options[count++] = STR("\t");
        options[count++] = STR("\n");
        options[count++] = STR("\r");
        run = pattern.p[pattern.n - 1] == '+';
    } else if (str_eq(pattern, STR("\\r?\\n")) || str_eq(pattern, STR("[\\r\\n]+"))) {
        options[count++] = STR("\r\n");
        options[count++] = STR("\n");
        run = pattern.p[0] == '[';
    } else {
        count = alternatives(f, pattern, options, MAX_OPTIONS);
    }
    if (!count || !fold_step(f, text.n * count))
        return value_unknown();
    size_t pieces = 1;
    for (size_t i = 0; i < text.n;) {
        size_t n = match_run(text, i, options, count, ignore_case, run);
        pieces += n != 0;
        i += n ? n : 1;
    }
    struct ps_value list = value_list(f, pieces);
    if (list.kind != VALUE_LIST)
        return list;
    size_t at = 0, from = 0;
    for (size_t i = 0; i < text.n;) {
        size_t n = match_run(text, i, options, count, ignore_case, run);
        if (n) {
            list.items[at++] = value_string(str_slice(text, from, i));
            from = i + n;
        }
        i += n ? n : 1;
    }
    list.items[at] = value_string(str_from(text, from));
    return list;
}

static int compare(struct ps_value a, struct ps_value b, struct ps_fold *f, bool ignore_case)
{
    double x, y;
    if (a.kind == VALUE_NUMBER && fold_number(b, &y)) {
        x = a.number;
        return (x > y) - (x < y);
    }
    struct str s = value_text(f, a), t = value_text(f, b);
    return ignore_case ? str_cmpi(s, t) : str_cmp(s, t);
}

static bool is_scalar(struct ps_value v)
{
    return v.kind >= VALUE_NULL && v.kind <= VALUE_STRING && value_known(v);
}

static struct ps_value comparison(struct ps_fold *f, unsigned op, struct ps_value a,
                                  struct ps_value b, bool ignore_case)
{
    if (!is_scalar(a) || !is_scalar(b))
        return value_unknown();
    struct str pattern;
    int order = compare(a, b, f, ignore_case);
    switch (op) {
    case OP_EQ: return value_bool(order == 0);
    case OP_NE: return value_bool(order != 0);
    case OP_GT: return value_bool(order > 0);
    case OP_GE: return value_bool(order >= 0);
    case OP_LT: return value_bool(order < 0);
    case OP_LE: return value_bool(order <= 0);
    case OP_LIKE:
        return value_bool(glob_match(GLOB_POWERSHELL, value_text(f, b), value_text(f, a)));
    case OP_NOTLIKE:
        return value_bool(!glob_match(GLOB_POWERSHELL, value_text(f, b), value_text(f, a)));
    case OP_MATCH:
    case OP_NOTMATCH:
        if (!literal_pattern(f, value_text(f, b), &pattern))
            return value_unknown();
        struct str text = value_text(f, a);
        return value_bool((str_findi(text, pattern, 0) < text.n) == (op == OP_MATCH));
    default: return value_unknown();
    }
}

/* -ieq and -ceq to -eq. */
static unsigned plain_operator(unsigned op, bool *case_sensitive)
{
    static const struct {
        uint8_t op, plain, sensitive;
    } variants[] = {{OP_CEQ, OP_EQ, 1},           {OP_CNE, OP_NE, 1},
                    {OP_CGT, OP_GT, 1},           {OP_CGE, OP_GE, 1},
                    {OP_CLT, OP_LT, 1},           {OP_CLE, OP_LE, 1},
                    {OP_CLIKE, OP_LIKE, 1},       {OP_CNOTLIKE, OP_NOTLIKE, 1},
                    {OP_CMATCH, OP_MATCH, 1},     {OP_CNOTMATCH, OP_NOTMATCH, 1},
                    {OP_CREPLACE, OP_REPLACE, 1}, {OP_CSPLIT, OP_SPLIT, 1},
                    {OP_IEQ, OP_EQ, 0},           {OP_INE, OP_NE, 0},
                    {OP_IGT, OP_GT, 0},           {OP_IGE, OP_GE, 0},
                    {OP_ILT, OP_LT, 0},           {OP_ILE, OP_LE, 0},
                    {OP_ILIKE, OP_LIKE, 0},       {OP_INOTLIKE, OP_NOTLIKE, 0},
                    {OP_IMATCH, OP_MATCH, 0},     {OP_INOTMATCH, OP_NOTMATCH, 0},
                    {OP_IREPLACE, OP_REPLACE, 0}, {OP_ISPLIT, OP_SPLIT, 0}};
    *case_sensitive = false;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (variants[i].op == op) {
            *case_sensitive = variants[i].sensitive;
            return variants[i].plain;
        }
    }
    return op;
}

/* An operator on every item of a list. */
static struct ps_value each(struct ps_fold *f, unsigned op, struct ps_value a, struct ps_value b)
{
    struct ps_value list = value_list(f, a.count);
    for (size_t i = 0; list.kind == VALUE_LIST && i < a.count; i++)
        list.items[i] = fold_binary(f, op, a.items[i], b);
    return list;
}

struct ps_value fold_binary(struct ps_fold *f, unsigned op, struct ps_value a, struct ps_value b)
{
    bool sensitive;
    if (!fold_step(f, 1))
        return value_unknown();
    op = plain_operator(op, &sensitive);
    switch (op) {
    case OP_ADD: return add(f, a, b);
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_REM:
    case OP_BAND:
    case OP_BOR:
    case OP_BXOR:
    case OP_SHL:
    case OP_SHR: return arithmetic(f, op, a, b);
    case OP_RANGE: return range(f, a, b);
    case OP_FORMAT: return format(f, a, b);
    case OP_JOIN: return join(f, a, value_text(f, b));
    case OP_REPLACE: {
        struct str pattern = value_text(f, b), with = STR("");
        if (b.kind == VALUE_LIST) {
            pattern = b.count ? value_text(f, b.items[0]) : STR("");
            with = b.count > 1 ? value_text(f, b.items[1]) : STR("");
        }
        if (a.kind == VALUE_LIST)
            return each(f, OP_REPLACE, a, b);
        if (a.kind == VALUE_UNKNOWN)
            return a;
        return fold_replace(f, value_text(f, a), pattern, with, !sensitive);
    }
    case OP_SPLIT: {
        struct str pattern =
            b.kind == VALUE_LIST && b.count ? value_text(f, b.items[0]) : value_text(f, b);
        if (b.kind == VALUE_BLOCK || (b.kind == VALUE_LIST && b.count > 1))
            return value_unknown(); /* a limit or options */
        if (a.kind == VALUE_LIST)
            a = join(f, a, pattern); /* the pieces of all of them */
        return a.kind == VALUE_UNKNOWN ? a : split(f, value_text(f, a), pattern, !sensitive);
    }
    case OP_AND:
    case OP_OR:
    case OP_XOR: {
        int x = fold_truth(a), y = fold_truth(b);
        if (op == OP_AND && (x == 0 || y == 0))
            return value_bool(false);
        if (op == OP_OR && (x == 1 || y == 1))
            return value_bool(true);
        return x < 0 || y < 0 ? value_unknown() : value_bool(op == OP_XOR ? x != y : x == 1);
    }
    case OP_AS: return b.kind == VALUE_TYPE ? fold_cast(f, b.text, a) : value_unknown();
    case OP_COALESCE: return a.kind == VALUE_NULL ? b : a.kind == VALUE_UNKNOWN ? a : a;
    default: return comparison(f, op, a, b, !sensitive);
    }
}

struct ps_value fold_unary(struct ps_fold *f, unsigned op, struct ps_value a)
{
    double x;
    bool sensitive;
    switch (plain_operator(op, &sensitive)) {
    case OP_SUB: return fold_number(a, &x) ? value_number(-x) : value_unknown();
    case OP_ADD: return fold_number(a, &x) ? value_number(x) : value_unknown();
    case OP_NOT: return fold_truth(a) < 0 ? value_unknown() : value_bool(!fold_truth(a));
    case OP_BNOT: return fold_number(a, &x) ? value_number(-x - 1) : value_unknown();
    case OP_JOIN: return join(f, a, STR(""));
    case OP_SPLIT:
        return a.kind == VALUE_UNKNOWN ? a
                                       : split(f, str_trim(value_text(f, a)), STR("\\s+"), true);
    case OP_COMMA: {
        struct ps_value list = value_list(f, 1);
        if (list.kind == VALUE_LIST)
            list.items[0] = a;
        return list;
    }
    default: return value_unknown();
    }
}

static struct ps_value to_char(struct ps_fold *f, struct ps_value v)
{
    double x;
    (void)f;
    if (v.kind == VALUE_STRING && value_known(v)) {
        uint32_t pos = 0;
        uint32_t c = ps_char(v.text, &pos);
        if (v.text.n && pos == v.text.n)
            return (struct ps_value){.kind = VALUE_CHAR, .number = c};
        return value_unknown();
    }
    if (fold_number(v, &x) && x >= 0 && x < 0x110000)
        return (struct ps_value){.kind = VALUE_CHAR, .number = x};
    return value_unknown();
}

static struct ps_value each_cast(struct ps_fold *f, struct str type, struct ps_value v)
{
    if (v.kind == VALUE_STRING && str_eqi(type, STR("char"))) {
        if (!value_known(v))
            return value_unknown();
        struct ps_value list = value_list(f, v.text.n);
        size_t n = 0;
        for (uint32_t pos = 0; list.kind == VALUE_LIST && pos < v.text.n;)
            list.items[n++] =
                (struct ps_value){.kind = VALUE_CHAR, .number = ps_char(v.text, &pos)};
        if (list.kind == VALUE_LIST)
            list.count = n;
        return list;
    }
    v = value_items(f, v);
    if (v.kind != VALUE_LIST)
        return v;
    struct ps_value list = value_list(f, v.count);
    for (size_t i = 0; list.kind == VALUE_LIST && i < v.count; i++)
        list.items[i] = fold_cast(f, type, v.items[i]);
    if (list.kind == VALUE_LIST && str_eqi(type, STR("byte")))
        list.real = true;
    return list;
}

struct ps_value fold_cast(struct ps_fold *f, struct str type, struct ps_value v)
{
    double x;
    if (str_startsi(type, STR("system.")))
        type = str_from(type, 7);
    if (str_ends(type, STR("[]")))
        return each_cast(f, str_slice(type, 0, type.n - 2), v);
    if (str_eqi(type, STR("void")))
        return value_kind(VALUE_VOID);
    if (v.kind == VALUE_UNKNOWN)
        return v;
    if (str_eqi(type, STR("string")))
        return value_string(value_text(f, v));
    if (str_eqi(type, STR("char")))
        return to_char(f, v);
    if (str_eqi(type, STR("int")) || str_eqi(type, STR("int32")) || str_eqi(type, STR("long")) ||
        str_eqi(type, STR("int64")) || str_eqi(type, STR("byte")) || str_eqi(type, STR("uint32")) ||
        str_eqi(type, STR("int16")) || str_eqi(type, STR("uint16")) ||
        str_eqi(type, STR("double")) || str_eqi(type, STR("decimal"))) {
        bool real = str_eqi(type, STR("double")) || str_eqi(type, STR("decimal"));
        return fold_number(v, &x) ? value_number(real ? x : whole(x)) : value_unknown();
    }
    if (str_eqi(type, STR("bool")) || str_eqi(type, STR("boolean")) || str_eqi(type, STR("switch")))
        return fold_truth(v) < 0 ? value_unknown() : value_bool(fold_truth(v));
    if (str_eqi(type, STR("array")))
        return value_items(f, v);
    if (str_eqi(type, STR("type")) && v.kind == VALUE_STRING && value_known(v)) {
        /* "Name, Assembly" */
        struct str name = str_slice(v.text, 0, str_find_char(v.text, ',', 0));
        name = fold_lower(f, str_trim(name));
        return (struct ps_value){.kind = VALUE_TYPE,
                                 .text =
                                     str_starts(name, STR("system.")) ? str_from(name, 7) : name};
    }
    if (str_eqi(type, STR("scriptblock")) && v.kind == VALUE_STRING)
        return value_object(f, STR("code"), v.text);
    if (str_eqi(type, STR("wmiclass")) || str_eqi(type, STR("wmi")) ||
        str_eqi(type, STR("wmisearcher")))
        return value_object(f, fold_concat(f, STR("wmi/"), fold_lower(f, value_text(f, v))),
                            STR_NONE);
    return v; /* uri, object, ordered, psobject, void, … keep what they hold */
}

static struct ps_value one(struct ps_value v, double index)
{
    double size = v.kind == VALUE_LIST ? (double)v.count : (double)v.text.n;
    if (index < 0)
        index += size;
    if (!(index >= 0) || index >= size)
        return value_kind(VALUE_NULL);
    size_t i = (size_t)index;
    if (v.kind == VALUE_LIST)
        return v.items[i];
    return (struct ps_value){.kind = VALUE_CHAR, .number = (unsigned char)v.text.p[i]};
}

/* Characters of a text of which only the beginning is known. */
static struct ps_value beginning(struct ps_fold *f, struct ps_value known, struct ps_value index)
{
    double x;
    struct ps_value wanted = value_items(f, index);
    for (size_t i = 0; wanted.kind == VALUE_LIST && i < wanted.count; i++)
        if (!fold_number(wanted.items[i], &x) || x < 0 || x >= (double)known.text.n)
            return value_unknown();
    return wanted.kind == VALUE_LIST ? fold_index(f, known, index) : value_unknown();
}

struct ps_value fold_index(struct ps_fold *f, struct ps_value v, struct ps_value index)
{
    double x;
    if (v.kind == VALUE_HASH) {
        const struct ps_value *hit = value_get(v.hash, value_text(f, index));
        if (hit)
            return *hit;
        return v.hash->open || !value_known(index) ? value_unknown() : value_kind(VALUE_NULL);
    }
    if (v.kind == VALUE_OBJECT && !str_eq(v.object->type, STR("bytes")) && fold_number(index, &x) &&
        (x == 0 || x == -1))
        return v; /* one thing is its own first item */
    if (v.kind == VALUE_OBJECT)
        v = value_items(f, v);
    if (v.kind == VALUE_STRING && !value_known(v)) { /* its beginning may be known */
        struct ps_value known =
            value_string(str_slice(v.text, 0, str_find_char(v.text, GUARD_HOLE, 0)));
        return beginning(f, known, index);
    }
    if (v.kind != VALUE_LIST && v.kind != VALUE_STRING)
        return value_unknown();
    if (v.kind == VALUE_STRING)
        for (size_t i = 0; i < v.text.n; i++)
            if ((unsigned char)v.text.p[i] >= 0x80)
                return fold_index(f, each_cast(f, STR("char"), v), index);
    if (index.kind == VALUE_LIST) {
        struct ps_value list = value_list(f, index.count);
        for (size_t i = 0; list.kind == VALUE_LIST && i < index.count; i++)
            list.items[i] = fold_number(index.items[i], &x) ? one(v, x) : value_unknown();
        return list;
    }
    if (index.kind == VALUE_UNKNOWN || !fold_number(index, &x))
        return value_unknown();
    return one(v, x);
}
