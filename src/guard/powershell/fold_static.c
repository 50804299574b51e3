/* SPDX-License-Identifier: Apache-2.0 */
/* Static members that only compute: [string], [convert], [char], [regex], [array], encodings, … */
#include "base/utf.h"
#include "guard/powershell/fold.h"
#include "guard/powershell/powershell.h"

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (ascii_is_digit(c))
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Bytes of base64 text; blanks are skipped, anything else ends it. */
static struct ps_value from_base64(struct ps_fold *f, struct str text)
{
    if (str_has_char(text, GUARD_HOLE) || !fold_step(f, text.n))
        return value_unknown();
    char *bytes = arena_alloc(f->arena, text.n + 1);
    if (!bytes)
        return value_unknown();
    uint32_t bits = 0;
    unsigned have = 0;
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        int digit = base64_digit(text.p[i]);
        if (digit < 0) {
            if (text.p[i] == ' ' || text.p[i] == '\r' || text.p[i] == '\n' || text.p[i] == '\t')
                continue;
            break;
        }
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes[n++] = (char)(bits >> have & 0xFF);
        }
    }
    /* Kept as one object, so that a long text is not a list of thousands of numbers. */
    return value_object(f, STR("bytes"), (struct str){bytes, n});
}

/* The bytes of a value: an object of bytes, or a list of numbers. */
static bool bytes_of(struct ps_fold *f, struct ps_value v, struct str *out)
{
    if (v.kind == VALUE_OBJECT && str_eq(v.object->type, STR("bytes"))) {
        *out = v.object->text;
        return true;
    }
    if (v.kind != VALUE_LIST)
        return false;
    char *p = arena_alloc(f->arena, v.count + 1);
    double x;
    for (size_t i = 0; p && i < v.count; i++) {
        if (v.items[i].kind == VALUE_UNKNOWN || !fold_number(v.items[i], &x) || x < 0 || x > 255)
            return false;
        p[i] = (char)(unsigned char)x;
    }
    *out = (struct str){p, v.count};
    return p != NULL;
}

static struct ps_value decode(struct ps_fold *f, struct str encoding, struct str bytes)
{
    if (!guard_spend(f->g, bytes.n))
        return value_unknown();
    struct fold_buffer t = {0};
    char utf8[4];
    if (str_eqi(encoding, STR("unicode")) || str_eqi(encoding, STR("bigendianunicode"))) {
        bool big = encoding.p[0] == 'b' || encoding.p[0] == 'B';
        for (size_t i = 0; i + 1 < bytes.n; i += 2) {
            uint32_t low = (unsigned char)bytes.p[i + big], high = (unsigned char)bytes.p[i + !big];
            fold_add(f, &t, (struct str){utf8, utf_encode(high << 8 | low, utf8)});
        }
    } else {
        for (size_t i = 0; i < bytes.n; i++) {
            unsigned char c = (unsigned char)bytes.p[i];
            if (c < 0x80 || str_eqi(encoding, STR("utf8"))) {
                if (c == 0xFF)
                    c = '?';
                fold_add(f, &t, (struct str){(const char *)&c, 1});
            } else {
                fold_add(f, &t, (struct str){utf8, utf_encode(c, utf8)});
            }
        }
    }
    return value_string(fold_result(&t));
}

static struct str encoding_bytes(struct ps_fold *f, struct str encoding, struct str text)
{
    struct fold_buffer t = {0};
    bool wide = str_eqi(encoding, STR("unicode"));
    for (uint32_t pos = 0; pos < text.n;) {
        uint32_t start = pos, c = ps_char(text, &pos);
        if (!wide) {
            fold_add(f, &t, str_slice(text, start, pos));
            continue;
        }
        char pair[2] = {(char)(c & 0xFF), (char)(c >> 8 & 0xFF)};
        fold_add(f, &t, (struct str){pair, 2});
    }
    return fold_result(&t);
}

static struct ps_value to_base64(struct ps_fold *f, struct str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct fold_buffer t = {0};
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t bits = 0;
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0);
        char quad[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};
        fold_add(f, &t, (struct str){quad, 4});
    }
    return value_string(fold_result(&t));
}

static struct ps_value in_base(struct ps_value v, struct ps_value base_value)
{
    double base;
    if (v.kind != VALUE_STRING || !fold_number(base_value, &base) ||
        (base != 2 && base != 8 && base != 10 && base != 16))
        return value_unknown();
    struct str s = str_trim(v.text);
    if (str_startsi(s, STR("0x")))
        s = str_from(s, 2);
    double number = 0;
    for (size_t i = 0; i < s.n; i++) {
        int digit = ascii_hex(s.p[i]);
        if (digit < 0 || digit >= base || i > 15)
            return value_unknown();
        number = number * base + digit;
    }
    return s.n ? value_number(number) : value_unknown();
}

static struct ps_value string_static(struct ps_fold *f, struct str name,
                                     const struct ps_value *args, size_t count)
{
    if (str_eqi(name, STR("join")) && count >= 2) {
        if (count == 2)
            return fold_binary(f, OP_JOIN, args[1], value_string(value_text(f, args[0])));
        struct ps_value list = value_list(f, count - 1);
        if (list.kind == VALUE_LIST)
            memcpy(list.items, args + 1, (count - 1) * sizeof *args);
        return fold_binary(f, OP_JOIN, list, value_string(value_text(f, args[0])));
    }
    if (str_eqi(name, STR("concat")) && count) {
        struct ps_value list = value_list(f, count);
        if (list.kind != VALUE_LIST)
            return list;
        memcpy(list.items, args, count * sizeof *args);
        return fold_unary(f, OP_JOIN, count == 1 ? args[0] : list);
    }
    if (str_eqi(name, STR("format")) && count >= 1) {
        struct ps_value list = value_list(f, count - 1);
        if (list.kind == VALUE_LIST && count > 1)
            memcpy(list.items, args + 1, (count - 1) * sizeof *args);
        return fold_binary(f, OP_FORMAT, args[0], count == 2 ? args[1] : list);
    }
    if ((str_eqi(name, STR("new")) || str_eqi(name, STR("copy"))) && count == 1)
        return fold_unary(f, OP_JOIN, args[0]);
    if (str_eqi(name, STR("new")) && count == 2 && args[0].kind != VALUE_LIST)
        return fold_binary(f, OP_MUL, value_string(value_text(f, args[0])), args[1]);
    if (str_eqi(name, STR("empty")))
        return value_string(STR(""));
    return value_unknown();
}

static struct ps_value reverse(struct ps_value v)
{
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.count / 2; i++) {
        struct ps_value swap = v.items[i];
        v.items[i] = v.items[v.count - 1 - i];
        v.items[v.count - 1 - i] = swap;
    }
    return value_kind(VALUE_VOID);
}

/* [regex]::Matches(text, '.'): each character, from the right if that is said. */
static struct ps_value matches(struct ps_fold *f, struct ps_value text, struct str options)
{
    struct ps_value list = fold_cast(f, STR("char[]"), value_string(value_text(f, text)));
    bool right =
        str_findi(options, STR("righttoleft"), 0) < options.n || str_eq(options, STR("64"));
    if (list.kind != VALUE_LIST || (options.n && !right))
        return value_unknown();
    for (size_t i = 0; i < list.count; i++)
        list.items[i] = value_string(value_text(f, list.items[i]));
    if (right)
        reverse(list);
    return list;
}

static struct ps_value path_static(struct ps_fold *f, struct str name, const struct ps_value *args,
                                   size_t count)
{
    if (str_eqi(name, STR("combine")) || str_eqi(name, STR("join"))) {
        struct fold_buffer t = {0};
        for (size_t i = 0; i < count; i++) {
            if (i &&
                !(t.text.n && (t.text.p[t.text.n - 1] == '\\' || t.text.p[t.text.n - 1] == '/')))
                fold_add(f, &t, STR("\\"));
            fold_add(f, &t, value_text(f, args[i]));
        }
        return value_string(fold_result(&t));
    }
    if (str_eqi(name, STR("getfullpath")) && count)
        return args[0];
    if (str_eqi(name, STR("getfilename")) && count && args[0].kind == VALUE_STRING) {
        struct str s = args[0].text;
        for (size_t i = s.n; i-- > 0;)
            if (s.p[i] == '\\' || s.p[i] == '/')
                return value_string(str_from(s, i + 1));
        return args[0];
    }
    return value_unknown();
}

static struct ps_value percent_decode(struct ps_fold *f, struct str text)
{
    struct fold_buffer t = {0};
    for (size_t i = 0; i < text.n; i++) {
        int high = i + 2 < text.n && text.p[i] == '%' ? ascii_hex(text.p[i + 1]) : -1;
        int low = high >= 0 ? ascii_hex(text.p[i + 2]) : -1;
        char c = low >= 0 ? (char)(high * 16 + low) : text.p[i];
        fold_add(f, &t, (struct str){&c, 1});
        i += low >= 0 ? 2 : 0;
    }
    return value_string(fold_result(&t));
}

/* No sign in it means anything to a pattern. */
static bool literal(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (ascii_is_in(text.p[i], "\\^$.|?*+()[]{}# \t\r\n"))
            return false;
    return true;
}

/* [regex]::Unescape: \x41, \u0041 and escaped signs. */
static struct ps_value unescape(struct ps_fold *f, struct str text)
{
    struct fold_buffer t = {0};
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\\' || i + 1 == text.n) {
            fold_add(f, &t, str_slice(text, i, i + 1));
            continue;
        }
        char c = text.p[++i], utf8[4];
        size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
        uint32_t code = 0;
        for (size_t k = 0; k < digits; k++) {
            int digit = i + 1 < text.n ? ascii_hex(text.p[++i]) : -1;
            if (digit < 0)
                return value_unknown();
            code = code << 4 | (uint32_t)digit;
        }
        if (digits)
            fold_add(f, &t, (struct str){utf8, utf_encode(code, utf8)});
        else if (!ascii_is_alnum(c))
            fold_add(f, &t, str_slice(text, i, i + 1));
        else
            fold_add(f, &t,
                     c == 'n'   ? STR("\n")
                     : c == 't' ? STR("\t")
                     : c == 'r' ? STR("\r")
                                : STR("\xFF"));
    }
    return value_string(fold_result(&t));
}

static bool encoding_of(struct str type, struct str *name)
{
    if (!str_startsi(type, STR("encoding/")))
        return false;
    *name = str_from(type, 9);
    return true;
}

struct ps_value fold_special_folder(struct ps_fold *f, struct ps_value folder)
{
    /* [Environment+SpecialFolder]::Startup is a member that nobody calls */
    struct str name = folder.kind == VALUE_METHOD ? folder.object->text : value_text(f, folder);
    static const char *const startup[] = {"startup", "7", "shell:startup"};
    static const char *const common[] = {"commonstartup", "allusersstartup", "24",
                                         "shell:common startup"};
    for (size_t i = 0; i < sizeof startup / sizeof *startup; i++)
        if (str_eqi(name, str_of(startup[i])))
            return value_string(STR("\xFF\\Microsoft\\Windows\\Start Menu\\Programs\\Startup"));
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (str_eqi(name, str_of(common[i])))
            return value_string(
                STR("C:\\ProgramData\\Microsoft\\Windows\\Start Menu\\Programs\\Startup"));
    return value_unknown();
}

/* A method of an encoding object. */
static struct ps_value encoding_method(struct ps_fold *f, struct str encoding, struct str name,
                                       const struct ps_value *args, size_t count)
{
    struct str bytes;
    if (str_eqi(name, STR("getstring")) && count && bytes_of(f, args[0], &bytes))
        return decode(f, encoding, bytes);
    if (str_eqi(name, STR("getbytes")) && count && value_known(args[0]))
        return value_object(f, STR("bytes"), encoding_bytes(f, encoding, value_text(f, args[0])));
    return value_unknown();
}

static struct ps_value convert_static(struct ps_fold *f, struct str name,
                                      const struct ps_value *args, size_t count)
{
    struct str bytes;
    if (str_eqi(name, STR("frombase64string")) && count)
        return from_base64(f, value_text(f, args[0]));
    if (str_eqi(name, STR("tobase64string")) && count && bytes_of(f, args[0], &bytes))
        return to_base64(f, bytes);
    if (str_startsi(name, STR("toint")) || str_eqi(name, STR("tobyte")))
        return count == 2   ? in_base(args[0], args[1])
               : count == 1 ? fold_cast(f, STR("int"), args[0])
                            : value_unknown();
    if (str_eqi(name, STR("tochar")) && count == 1)
        return fold_cast(f, STR("char"), args[0]);
    if (str_eqi(name, STR("tostring")) && count == 1)
        return value_string(value_text(f, args[0]));
    return value_unknown();
}

/* [Text.Encoding]::UTF8, [Text.Encoding]::GetEncoding(name), [Text.UTF8Encoding]::new() */
static struct ps_value encoding_static(struct ps_fold *f, struct str type, struct str name,
                                       const struct ps_value *args, size_t count)
{
    struct str which = type.n > 13 ? str_slice(type, 5, type.n - 8) : name;
    if (str_eqi(name, STR("getencoding")) && count)
        which = value_text(f, args[0]);
    if (str_eqi(which, STR("utf-8")) || str_eqi(which, STR("default")))
        which = STR("utf8");
    else if (str_eqi(which, STR("utf-16")) || str_eqi(which, STR("1200")))
        which = STR("unicode");
    return value_object(f, fold_concat(f, STR("encoding/"), which), STR_NONE);
}

static struct ps_value char_static(struct ps_fold *f, struct str name, const struct ps_value *args,
                                   size_t count)
{
    struct ps_value out = value_unknown();
    if (str_eqi(name, STR("convertfromutf32")) && count)
        return value_string(value_text(f, fold_cast(f, STR("char"), args[0])));
    if (count && (str_eqi(name, STR("toupper")) || str_eqi(name, STR("tolower"))))
        fold_method(f, args[0], name, NULL, 0, &out);
    return out;
}

static struct ps_value regex_static(struct ps_fold *f, struct str name, const struct ps_value *args,
                                    size_t count)
{
    if (str_eqi(name, STR("replace")) && count >= 3)
        return fold_replace(f, value_text(f, args[0]), value_text(f, args[1]),
                            value_text(f, args[2]), false);
    if (str_eqi(name, STR("split")) && count >= 2)
        return fold_binary(f, OP_CSPLIT, args[0], args[1]);
    if (str_eqi(name, STR("escape")) && count && literal(value_text(f, args[0])))
        return args[0];
    if (str_eqi(name, STR("unescape")) && count)
        return unescape(f, value_text(f, args[0]));
    if (str_eqi(name, STR("matches")) && count > 1 && str_eqi(value_text(f, args[1]), STR(".")))
        return matches(f, args[0], count > 2 ? value_text(f, args[2]) : STR(""));
    return value_unknown();
}

/* Escaping and unescaping of addresses; entities are not decoded. */
static struct ps_value uri_static(struct ps_fold *f, struct str name, const struct ps_value *args,
                                  size_t count)
{
    bool decodes =
        str_findi(name, STR("decode"), 0) < name.n || str_findi(name, STR("unescape"), 0) < name.n;
    struct str text = count ? value_text(f, args[0]) : STR("");
    if (!count || (decodes && str_has_char(text, '&')))
        return value_unknown();
    return decodes ? percent_decode(f, text) : value_string(text);
}

bool fold_static(struct ps_fold *f, struct str type, struct str name, const struct ps_value *args,
                 size_t count, struct ps_value *out)
{
    struct str encoding;
    double x;
    if (str_startsi(type, STR("system.")))
        type = str_from(type, 7);
    *out = value_unknown();
    if (encoding_of(type, &encoding)) {
        *out = encoding_method(f, encoding, name, args, count);
    } else if (str_eqi(type, STR("string"))) {
        *out = string_static(f, name, args, count);
    } else if (str_eqi(type, STR("convert")) || str_eqi(type, STR("bitconverter"))) {
        *out = convert_static(f, name, args, count);
    } else if (str_eqi(type, STR("text.encoding")) || str_eqi(type, STR("text.asciiencoding")) ||
               str_eqi(type, STR("text.utf8encoding")) ||
               str_eqi(type, STR("text.unicodeencoding"))) {
        *out = encoding_static(f, type, name, args, count);
    } else if (str_eqi(type, STR("array"))) {
        if (str_eqi(name, STR("reverse")) && count == 1)
            *out = reverse(args[0]);
    } else if (str_eqi(type, STR("char"))) {
        *out = char_static(f, name, args, count);
    } else if (str_eqi(type, STR("regex")) || str_eqi(type, STR("text.regularexpressions.regex"))) {
        *out = regex_static(f, name, args, count);
    } else if (str_eqi(type, STR("io.path"))) {
        *out = path_static(f, name, args, count);
    } else if (str_eqi(type, STR("uri")) || str_eqi(type, STR("net.webutility")) ||
               str_eqi(type, STR("web.httputility"))) {
        *out = uri_static(f, name, args, count);
    } else if (str_eqi(type, STR("math"))) {
        if (count && fold_number(args[0], &x) && str_eqi(name, STR("abs")))
            *out = value_number(x < 0 ? -x : x);
    } else if (str_eqi(type, STR("environment")) && count) {
        if (str_eqi(name, STR("getfolderpath")))
            *out = fold_special_folder(f, args[0]);
        else
            return str_eqi(name, STR("expandenvironmentvariables"));
    } else {
        return false;
    }
    return true;
}
