/* SPDX-License-Identifier: Apache-2.0 */
/* Properties and methods of strings, characters and lists. */
#include "base/utf.h"
#include "guard/powershell/fold.h"
#include "guard/powershell/powershell.h"

static struct str trim_set(struct str s, struct str set, bool start, bool end)
{
    if (set.n == 0)
        set = STR(" \t\r\n\v\f");
    while (start && s.n && str_has_char(set, s.p[0]))
        s = str_from(s, 1);
    while (end && s.n && str_has_char(set, s.p[s.n - 1]))
        s.n--;
    return s;
}

static struct str upper(struct ps_fold *f, struct str text)
{
    struct str copy = arena_copy(f->arena, text);
    for (size_t i = 0; copy.p && i < copy.n; i++)
        if (copy.p[i] >= 'a' && copy.p[i] <= 'z')
            ((char *)copy.p)[i] -= 32;
    return copy.p ? copy : STR("\xFF");
}

static struct ps_value replace_text(struct ps_fold *f, struct str text, struct str what,
                                    struct str with)
{
    if (what.n == 0 || str_has_char(what, GUARD_HOLE))
        return value_string(fold_concat(f, text, STR("\xFF")));
    struct fold_buffer t = {0};
    size_t from = 0;
    for (;;) {
        size_t hit = str_find(text, what, from);
        fold_add(f, &t, str_slice(text, from, hit));
        if (hit >= text.n)
            break;
        fold_add(f, &t, with);
        from = hit + what.n;
    }
    return value_string(fold_result(&t));
}

/* Characters given as text, as one character or as several. */
static struct str character_set(struct ps_fold *f, struct ps_value v)
{
    return v.kind == VALUE_LIST ? value_text(f, fold_unary(f, OP_JOIN, v)) : value_text(f, v);
}

/*
 * .Split('ab', options): at any of the characters in Windows PowerShell, at the whole string in
 * PowerShell 7, which must come to the same or it is not known.
 */
static struct ps_value split_text(struct ps_fold *f, struct str text, const struct ps_value *args,
                                  size_t count)
{
    struct str set = count ? character_set(f, args[0]) : STR("");
    bool drop = count > 1 && (str_eqi(value_text(f, args[1]), STR("RemoveEmptyEntries")) ||
                              str_eqi(value_text(f, args[1]), STR("1")));
    if (!fold_ascii(set) || (count > 1 && !drop) || count > 2)
        return value_unknown();
    if (count && args[0].kind == VALUE_STRING && set.n > 1 &&
        str_find(text, set, 0) < text.n) /* the two differ */
        return value_unknown();
    if (set.n == 0)
        set = STR(" \t\r\n");
    size_t pieces = 1;
    for (size_t i = 0; i < text.n; i++)
        pieces += str_has_char(set, text.p[i]);
    struct ps_value list = value_list(f, pieces);
    size_t at = 0, from = 0;
    for (size_t i = 0; list.kind == VALUE_LIST && i <= text.n; i++) {
        if (i == text.n || str_has_char(set, text.p[i])) {
            if (i > from || !drop)
                list.items[at++] = value_string(str_slice(text, from, i));
            from = i + 1;
        }
    }
    if (list.kind == VALUE_LIST)
        list.count = at;
    return list;
}

static struct ps_value pad(struct ps_fold *f, struct str text, double width, struct str with,
                           bool left)
{
    if (with.n == 0)
        with = STR(" ");
    struct fold_buffer t = {0};
    if (!left)
        fold_add(f, &t, text);
    for (double i = (double)text.n; i < width && i < FOLD_MAX_TEXT; i++)
        fold_add(f, &t, str_slice(with, 0, 1));
    if (left)
        fold_add(f, &t, text);
    return value_string(fold_result(&t));
}

static bool number_at(const struct ps_value *args, size_t count, size_t i, size_t max, size_t *out)
{
    double x;
    if (i >= count || !fold_number(args[i], &x) || !(x >= 0) || x > (double)max)
        return false;
    *out = (size_t)x;
    return true;
}

enum string_method {
    M_CONTAINS,
    M_ENDSWITH,
    M_INDEXOF,
    M_INSERT,
    M_NORMALIZE,
    M_PADLEFT,
    M_PADRIGHT,
    M_REMOVE,
    M_REPLACE,
    M_SPLIT,
    M_STARTSWITH,
    M_SUBSTRING,
    M_TOCHARARRAY,
    M_TOLOWER,
    M_TOLOWERINVARIANT,
    M_TOSTRING,
    M_TOUPPER,
    M_TOUPPERINVARIANT,
    M_TRIM,
    M_TRIMEND,
    M_TRIMSTART,
    M_CHARS,
    M_GETENUMERATOR,
    M_COUNT
};
static const char *const method_names[M_COUNT] = {
    "contains",    "endswith", "indexof",          "insert",   "normalize",    "padleft",
    "padright",    "remove",   "replace",          "split",    "startswith",   "substring",
    "tochararray", "tolower",  "tolowerinvariant", "tostring", "toupper",      "toupperinvariant",
    "trim",        "trimend",  "trimstart",        "chars",    "getenumerator"};

/* Whether, and where, a text holds another. */
static struct ps_value search_method(int method, struct str text, struct str first,
                                     const struct ps_value *args, size_t count)
{
    size_t from = 0;
    switch (method) {
    case M_CONTAINS: return value_bool(str_find(text, first, 0) < text.n);
    case M_ENDSWITH: return value_bool(count > 1 ? str_endsi(text, first) : str_ends(text, first));
    case M_STARTSWITH:
        return value_bool(count > 1 ? str_startsi(text, first) : str_starts(text, first));
    default: break; /* M_INDEXOF */
    }
    if (!fold_ascii(text) || count > 2 || (count == 2 && !number_at(args, count, 1, text.n, &from)))
        return value_unknown();
    size_t hit = str_find(text, first, from);
    return value_number(hit < text.n ? (double)hit : -1);
}

/* Methods that take places: in a text whose characters are bytes. */
static struct ps_value place_method(struct ps_fold *f, int method, struct str text,
                                    struct str second, const struct ps_value *args, size_t count)
{
    size_t from, length;
    bool pads = method == M_PADLEFT || method == M_PADRIGHT;
    if (pads)
        return number_at(args, count, 0, FOLD_MAX_TEXT, &length)
                   ? pad(f, text, (double)length, second, method == M_PADLEFT)
                   : value_unknown();
    if (!number_at(args, count, 0, text.n, &from))
        return method == M_SUBSTRING ? value_string(STR("\xFF")) : value_unknown();
    struct str before = str_slice(text, 0, from);
    if (method == M_INSERT)
        return value_string(fold_concat(f, fold_concat(f, before, second), str_from(text, from)));
    if (!number_at(args, count, 1, text.n - from, &length))
        length = text.n - from;
    if (method == M_REMOVE)
        return value_string(fold_concat(f, before, str_from(text, from + length)));
    return value_string(str_slice(text, from, from + length)); /* M_SUBSTRING */
}

static int method_of(struct str name)
{
    int method = 0;
    while (method < M_COUNT && !str_eqi(name, str_of(method_names[method])))
        method++;
    return method;
}

static bool string_method(struct ps_fold *f, struct str text, struct str name,
                          const struct ps_value *args, size_t count, struct ps_value *out)
{
    int method = method_of(name);
    if (method == M_COUNT)
        return false;
    struct str first = count ? value_text(f, args[0]) : STR("");
    struct str second = count > 1 ? value_text(f, args[1]) : STR("");
    bool known = !str_has_char(text, GUARD_HOLE) && !str_has_char(first, GUARD_HOLE);
    struct str set = count ? character_set(f, args[0]) : STR("");
    *out = value_unknown();
    switch (method) {
    case M_CONTAINS:
    case M_ENDSWITH:
    case M_STARTSWITH:
    case M_INDEXOF:
        if (known)
            *out = search_method(method, text, first, args, count);
        break;
    case M_SUBSTRING: *out = value_string(STR("\xFF")); /* fall through */
    case M_INSERT:
    case M_REMOVE:
    case M_PADLEFT:
    case M_PADRIGHT:
        if (known && fold_ascii(text))
            *out = place_method(f, method, text, second, args, count);
        break;
    case M_REPLACE:
        *out = count > 1 ? replace_text(f, text, first, second) : value_unknown();
        break;
    case M_SPLIT: *out = known ? split_text(f, text, args, count) : value_unknown(); break;
    case M_TOCHARARRAY:
    case M_GETENUMERATOR: *out = fold_cast(f, STR("char[]"), value_string(text)); break;
    case M_TOLOWER:
    case M_TOLOWERINVARIANT: *out = value_string(fold_lower(f, text)); break;
    case M_TOUPPER:
    case M_TOUPPERINVARIANT: *out = value_string(upper(f, text)); break;
    case M_TOSTRING:
    case M_NORMALIZE: *out = value_string(text); break;
    case M_TRIM: *out = value_string(trim_set(text, set, true, true)); break;
    case M_TRIMEND: *out = value_string(trim_set(text, set, false, true)); break;
    case M_TRIMSTART: *out = value_string(trim_set(text, set, true, false)); break;
    case M_CHARS:
        *out = count ? fold_index(f, value_string(text), args[0]) : value_unknown();
        break;
    default: break;
    }
    return true;
}

static bool list_method(struct ps_fold *f, struct ps_value v, struct str name,
                        const struct ps_value *args, size_t count, struct ps_value *out)
{
    if (str_eqi(name, STR("tostring"))) {
        *out = value_string(value_text(f, v));
        return true;
    }
    if (str_eqi(name, STR("contains")) || str_eqi(name, STR("indexof")) ||
        str_eqi(name, STR("getenumerator")) || str_eqi(name, STR("clone")) ||
        str_eqi(name, STR("toarray"))) {
        *out =
            str_eqi(name, STR("contains")) || str_eqi(name, STR("indexof")) ? value_unknown() : v;
        return true;
    }
    if (str_eqi(name, STR("getvalue")) || str_eqi(name, STR("get_item")) ||
        str_eqi(name, STR("get"))) {
        *out = count ? fold_index(f, v, args[0]) : value_unknown();
        return true;
    }
    return false;
}

bool fold_method(struct ps_fold *f, struct ps_value v, struct str name, const struct ps_value *args,
                 size_t count, struct ps_value *out)
{
    switch (v.kind) {
    case VALUE_STRING: return string_method(f, v.text, name, args, count, out);
    case VALUE_CHAR: return string_method(f, value_text(f, v), name, args, count, out);
    case VALUE_LIST:
        /* A method of the items, as member enumeration calls it. */
        if (list_method(f, v, name, args, count, out))
            return true;
        if (v.count && v.items[0].kind == VALUE_STRING) {
            struct ps_value list = value_list(f, v.count);
            for (size_t i = 0; list.kind == VALUE_LIST && i < v.count; i++)
                if (!fold_method(f, v.items[i], name, args, count, &list.items[i]))
                    return false;
            *out = list;
            return true;
        }
        return false;
    case VALUE_NUMBER:
    case VALUE_BOOL:
        if (str_eqi(name, STR("tostring"))) {
            *out = count ? value_unknown() : value_string(value_text(f, v));
            return true;
        }
        return false;
    case VALUE_HASH:
        if ((str_eqi(name, STR("get_item")) || str_eqi(name, STR("item"))) && count) {
            *out = fold_index(f, v, args[0]);
            return true;
        }
        if ((str_eqi(name, STR("add")) || str_eqi(name, STR("set_item"))) && count > 1) {
            value_put(f, v.hash, value_text(f, args[0]), args[1]);
            *out = value_kind(VALUE_VOID);
            return true;
        }
        return false;
    default: return false;
    }
}

static bool uri_property(struct ps_fold *f, struct ps_value v, struct str name,
                         struct ps_value *out)
{
    static const char *const whole[] = {"absoluteuri", "originalstring"};
    for (size_t i = 0; i < 2; i++) {
        if (v.kind == VALUE_STRING && str_eqi(name, str_of(whole[i]))) {
            *out = v;
            return true;
        }
    }
    (void)f;
    return false;
}

bool fold_property(struct ps_fold *f, struct ps_value v, struct str name, struct ps_value *out)
{
    bool length = str_eqi(name, STR("length")) || str_eqi(name, STR("count"));
    switch (v.kind) {
    case VALUE_STRING:
        if (length) {
            bool count = str_eqi(name, STR("count"));
            *out = count                                  ? value_number(1)
                   : value_known(v) && fold_ascii(v.text) ? value_number((double)v.text.n)
                                                          : value_unknown();
            return true;
        }
        return uri_property(f, v, name, out);
    case VALUE_LIST:
        if (length) {
            *out = value_number((double)v.count);
            return true;
        }
        return false;
    case VALUE_HASH: {
        const struct ps_value *hit = value_get(v.hash, name);
        if (hit) {
            *out = *hit;
            return true;
        }
        if (str_eqi(name, STR("count")) || str_eqi(name, STR("keys")) ||
            str_eqi(name, STR("values"))) {
            bool values = str_eqi(name, STR("values"));
            if (str_eqi(name, STR("count"))) {
                *out = value_number((double)v.hash->count);
                return true;
            }
            struct ps_value list = value_list(f, v.hash->count);
            for (size_t i = 0; list.kind == VALUE_LIST && i < list.count; i++)
                list.items[i] =
                    values ? v.hash->pairs[i].value : value_string(v.hash->pairs[i].key);
            *out = list;
            return true;
        }
        *out = v.hash->open ? value_unknown() : value_kind(VALUE_NULL);
        return true;
    }
    case VALUE_TYPE:
        if (str_eqi(name, STR("fullname")) || str_eqi(name, STR("name"))) {
            struct str full = value_text(f, v);
            size_t dot = str_eqi(name, STR("name")) ? full.n : 0;
            while (dot && full.p[dot - 1] != '.')
                dot--;
            *out = value_string(str_from(full, dot));
            return true;
        }
        return false;
    default: return false;
    }
}
