/* SPDX-License-Identifier: Apache-2.0 */
/* Reading policy files: one table of keys, ours and those of other tools. */
#include "policy/load.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "policy/toml.h"

/* The setting that a key stands for. */
enum target {
    SET_MODE = 0,
    SET_GIT,
    SET_TEMP,
    SET_NET,
    SET_NET_ACCESS, /* a boolean: on or off */
    SET_NO_TEMP,
    SET_STRICT,
    SET_TIMEOUT,
    SET_PROCESSES,
    SET_MEMORY,
    LAST_SINGLE = SET_MEMORY,
    ADD_ROOTS,
    CREATE_ROOTS,
    ADD_DENY_WRITE,
    ADD_DENY_READ,
    ADD_DENY_BOTH,
    ADD_ALLOW_READ,
    ADD_UNPROTECT,
    ADD_NET_ALLOW,
    ADD_NET_DENY,
    ADD_SOCKETS,
    ADD_ALLOW_TOOLS,
    ADD_DENY_TOOLS,
    IGNORED
};

static const struct key {
    struct str name;
    enum target target;
    bool codex; /* accepted by -c */
} keys[] = {
#define KEY(name, target, codex) {{name, sizeof(name) - 1}, target, codex},
#include "policy/keys.def"
#undef KEY
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* A value from either JSON or TOML. */
struct load_value {
    enum json_type type;
    struct str text;
    const struct json_value *items; /* of a list */
    size_t count;
    struct json_place place;
};

struct loader {
    struct arena *arena;
    const struct policy_source *source;
    struct policy_settings settings;
    struct buf *error;
    bool pair;                                 /* -c: no line and column */
    const struct key *single[LAST_SINGLE + 1]; /* which key has set it */
    struct json_place net_allow_place;
    bool net_allow_given;
};

PRINTF_LIKE(4, 5)
static int fail(struct loader *l, int code, struct json_place place, const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_add(l->error, l->source->name);
    if (!l->pair)
        buf_fmt(l->error, ":%u:%u", place.line, place.column);
    buf_fmt(l->error, ": %s", text);
    return code;
}

static struct str from_of(struct loader *l, struct json_place place)
{
    char text[64];
    if (l->pair)
        return l->source->name;
    int n = snprintf(text, sizeof text, ":%u:%u", place.line, place.column);
    char *p = arena_alloc(l->arena, l->source->name.n + (size_t)n + 1);
    if (!p)
        return STR_NONE;
    if (l->source->name.n)
        memcpy(p, l->source->name.p, l->source->name.n);
    memcpy(p + l->source->name.n, text, (size_t)n);
    return (struct str){p, l->source->name.n + (size_t)n};
}

/* Keys. */

static const struct key *find_key(struct str name, bool pair)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (str_eq(keys[i].name, name) && (!pair || keys[i].codex))
            return &keys[i];
    return NULL;
}

/* True if keys begin with name and a dot. */
static bool is_section(struct str name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (keys[i].name.n > name.n && keys[i].name.p[name.n] == '.' &&
            str_starts(keys[i].name, name))
            return true;
    return false;
}

static int unknown_key(struct loader *l, struct str name, struct json_place place)
{
    enum { FAR = 4 };
    size_t best = FAR;
    struct str nearest = STR_NONE;
    struct str shown = str_slice(name, 0, 80);
    for (size_t i = 0; i < KEY_COUNT && shown.n == name.n; i++) {
        if (l->pair && !keys[i].codex)
            continue;
        /* A key may be right but in the wrong section. */
        size_t dot = str_find_char(keys[i].name, '.', 0);
        struct str last = dot < keys[i].name.n ? str_from(keys[i].name, dot + 1) : keys[i].name;
        size_t far = str_distance(name, keys[i].name, FAR);
        size_t apart = str_distance(name, last, FAR) + 1;
        if (apart < far)
            far = apart;
        if (name.n >= 3 && far > 1 && str_starts(keys[i].name, name))
            far = 1;
        if (far < best && 2 * far <= name.n + 1) {
            best = far;
            nearest = keys[i].name;
        }
    }
    if (nearest.n)
        return fail(l, CORDON_E_UNKNOWN, place, "unknown key \"%.*s\"; did you mean \"%.*s\"?",
                    STR_ARG(shown), STR_ARG(nearest));
    return fail(l, CORDON_E_UNKNOWN, place, "unknown key \"%.*s\"", STR_ARG(shown));
}

/* Paths. */

static bool is_variable(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '(' || c == ')';
}

static int expand_variable(struct loader *l, struct str name, struct json_place place,
                           struct buf *out)
{
    struct str value;
    if (name.n == 0 || !l->source->lookup || !l->source->lookup(l->source->context, name, &value))
        return fail(l, CORDON_E_VALUE, place,
                    "the variable %.*s is not set (a real %% or $ is written twice)",
                    STR_ARG(str_slice(name, 0, 80)));
    buf_add(out, value);
    return 0;
}

/* ~ at the start, %NAME%, $NAME, ${NAME}; %% and $$ stand for themselves. */
static int expand(struct loader *l, struct str text, struct json_place place, struct buf *out)
{
    bool windows = l->settings.paths.dialect == PATH_WINDOWS;
    size_t i = 0;
    if (text.n && text.p[0] == '~' &&
        (text.n == 1 || text.p[1] == '/' || (windows && text.p[1] == '\\'))) {
        if (l->settings.machine.home.n == 0)
            return fail(l, CORDON_E_VALUE, place, "~ is used but the home folder is unknown");
        buf_add(out, l->settings.machine.home);
        i = 1;
    }
    while (i < text.n) {
        char c = text.p[i];
        if ((c != '%' || !windows) && c != '$') {
            buf_char(out, c);
            i++;
            continue;
        }
        if (i + 1 < text.n && text.p[i + 1] == c) {
            buf_char(out, c);
            i += 2;
            continue;
        }
        size_t start = i + 1, end, next;
        if (c == '%' || (start < text.n && text.p[start] == '{')) {
            start += c == '$';
            end = str_find_char(text, c == '%' ? '%' : '}', start);
            next = end + 1;
            if (end == text.n)
                return fail(l, CORDON_E_VALUE, place, "a variable that does not end");
        } else {
            for (end = start; end < text.n && (is_variable(text.p[end]) && text.p[end] != '(' &&
                                               text.p[end] != ')');)
                end++;
            next = end;
        }
        int rc = expand_variable(l, str_slice(text, start, end), place, out);
        if (rc)
            return rc;
        i = next;
    }
    return out->failed ? CORDON_E_NOMEM : 0;
}

static int add_path(struct loader *l, struct policy_list *list, struct str text,
                    struct json_place place)
{
    auto_buf struct buf expanded = {0};
    struct path path;
    if (text.n == 0)
        return fail(l, CORDON_E_VALUE, place, "an empty path");
    /* In \\?\ paths ? is not a wildcard. A root's name may hold one, where a system allows that: it
       must exist. A rule about a name that no file has would close nothing. */
    bool root = list == &l->settings.roots;
    if (str_has_char(text, '*') ||
        ((!root || l->settings.paths.dialect == PATH_WINDOWS) &&
         str_find_char(text, '?', str_startsi(text, STR("\\\\?\\")) ? 4 : 0) < text.n))
        return fail(l, CORDON_E_VALUE, place,
                    root ? "wildcards are not supported; name the folder, everything below it is "
                           "included"
                         : "wildcards are not supported; name the file, or the folder with "
                           "everything below it");
    int rc = expand(l, text, place, &expanded);
    if (rc)
        return rc;
    struct path_context context = l->settings.paths;
    context.cwd = l->source->folder;
    char *room = arena_alloc(l->arena, expanded.n + context.cwd.n + 16);
    if (!room)
        return CORDON_E_NOMEM;
    rc = path_normalize(&context, buf_str(&expanded), room, expanded.n + context.cwd.n + 16, &path);
    if (rc)
        return rc;
    if (path.class != PATH_FILE && path.class != PATH_UNC)
        return fail(l, CORDON_E_VALUE, place, "not a plain path (%s)", path_class_name(path.class));
    /* The remedy will be typed elsewhere, so the whole path is kept as given. */
    return policy_list_add(
        l->arena, list,
        (struct policy_entry){.given = path.text, .path = path.text, .from = from_of(l, place)});
}

static int add_name(struct loader *l, struct policy_list *list, struct str text,
                    struct json_place place)
{
    if (text.n == 0)
        return fail(l, CORDON_E_VALUE, place, "an empty name");
    return policy_list_add(l->arena, list,
                           (struct policy_entry){.given = text, .from = from_of(l, place)});
}

/* Among the names that are allowed, with the mark of those that are not. */
static int add_refused(struct loader *l, struct str text, struct json_place place)
{
    auto_buf struct buf marked = {0};
    buf_fmt(&marked, "!%.*s", STR_ARG(text));
    return marked.failed ? CORDON_E_NOMEM
                         : add_name(l, &l->settings.net_allow, buf_str(&marked), place);
}

static int add_item(struct loader *l, const struct key *key, struct str text,
                    struct json_place place)
{
    struct policy_settings *s = &l->settings;
    int rc;
    switch (key->target) {
    case ADD_ROOTS: return add_path(l, &s->roots, text, place);
    case CREATE_ROOTS:
        rc = add_path(l, &s->roots, text, place);
        if (rc == 0)
            s->roots.items[s->roots.count - 1].create = true;
        return rc;
    case ADD_DENY_WRITE: return add_path(l, &s->deny_write, text, place);
    case ADD_DENY_READ:
        return str_starts(text, STR("@")) ? add_name(l, &s->deny_read, text, place)
                                          : add_path(l, &s->deny_read, text, place);
    case ADD_DENY_BOTH:
        rc = add_path(l, &s->deny_read, text, place);
        return rc ? rc : add_path(l, &s->deny_write, text, place);
    case ADD_ALLOW_READ: return add_path(l, &s->allow_read, text, place);
    case ADD_UNPROTECT: return add_name(l, &s->unprotect, text, place);
    case ADD_NET_ALLOW: return add_name(l, &s->net_allow, text, place);
    case ADD_SOCKETS: return add_path(l, &s->sockets, text, place);
    case ADD_NET_DENY: return add_refused(l, text, place);
    case ADD_ALLOW_TOOLS: return add_name(l, &s->allow_tools, text, place);
    case ADD_DENY_TOOLS: return add_name(l, &s->deny_tools, text, place);
    default: return CORDON_E_VALUE;
    }
}

/* Values. */

static int wrong_type(struct loader *l, const struct key *key, struct json_place place,
                      const char *wanted)
{
    return fail(l, CORDON_E_VALUE, place, "\"%.*s\" must be %s", STR_ARG(key->name), wanted);
}

static int set_list(struct loader *l, const struct key *key, const struct load_value *value)
{
    const char *wanted = l->pair ? "a list such as ['C:\\ws']" : "a list of strings";
    if (value->type != JSON_ARRAY)
        return wrong_type(l, key, value->place, wanted);
    if (key->target == ADD_NET_ALLOW) {
        l->net_allow_given = value->count > 0;
        l->net_allow_place = value->place;
    }
    for (size_t i = 0; i < value->count; i++) {
        const struct json_value *item = &value->items[i];
        if (item->type != JSON_STRING)
            return wrong_type(l, key, item->place, wanted);
        int rc = add_item(l, key, item->text, item->place);
        if (rc)
            return rc;
    }
    return 0;
}

static int set_word(struct loader *l, const struct key *key, const struct load_value *value)
{
    struct policy_settings *s = &l->settings;
    struct str from = from_of(l, value->place);
    if (value->type != JSON_STRING)
        return wrong_type(l, key, value->place, "a string");
    int rc;
    const char *words;
    switch (key->target) {
    case SET_MODE:
        rc = policy_read_mode(value->text, &s->mode);
        words = l->pair ? "read-only, workspace-write or danger-full-access"
                        : "read-only, workspace-write or full-access";
        s->mode_from = from;
        break;
    case SET_GIT:
        rc = policy_read_git(value->text, &s->git);
        words = "protect, commit or full";
        s->git_from = from;
        break;
    case SET_TEMP:
        rc = policy_read_temp(l->arena, value->text, s);
        words = "private, own, shared or session=ID";
        s->temp_from = from;
        break;
    default:
        rc = policy_read_net(l->arena, value->text, from, s);
        words = "off, loopback, proxy=HOST:PORT, allow or on";
        s->net_from = from;
        break;
    }
    return rc == CORDON_E_VALUE ? wrong_type(l, key, value->place, words) : rc;
}

static int set_bool(struct loader *l, const struct key *key, const struct load_value *value)
{
    struct policy_settings *s = &l->settings;
    if (value->type != JSON_TRUE && value->type != JSON_FALSE)
        return wrong_type(l, key, value->place, "true or false");
    bool truth = value->type == JSON_TRUE;
    if (key->target == SET_STRICT) {
        s->strict = truth;
        s->strict_from = from_of(l, value->place);
    } else if (key->target == SET_NO_TEMP) {
        s->no_temp = s->no_temp || truth; /* two keys, of which either is enough */
    } else {
        s->net = truth ? POLICY_NET_ON : POLICY_NET_OFF;
        s->net_from = from_of(l, value->place);
    }
    return 0;
}

/* Whole numbers; the timeout may also have tenths and thousandths of a second. */
static bool read_thousandths(struct str text, uint64_t *out)
{
    uint64_t value = 0;
    size_t point = str_find_char(text, '.', 0);
    for (size_t i = 0; i < point; i++) {
        if (!ascii_is_digit(text.p[i]) || value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(text.p[i] - '0');
    }
    for (size_t i = 1; i <= 3; i++) {
        bool digit = point + i < text.n;
        if (digit && !ascii_is_digit(text.p[point + i]))
            return false;
        value = value * 10 + (digit ? (uint64_t)(text.p[point + i] - '0') : 0);
    }
    if (point + 4 < text.n)
        return false;
    *out = value;
    return true;
}

static int set_number(struct loader *l, const struct key *key, const struct load_value *value)
{
    struct policy_limits *limits = &l->settings.limits;
    uint64_t number;
    if (key->target == SET_MEMORY && (value->type == JSON_NUMBER || value->type == JSON_STRING) &&
        policy_read_memory(value->text, &number) == 0) {
        limits->memory = number;
        return 0;
    }
    if (key->target == SET_MEMORY)
        return wrong_type(l, key, value->place, "a number of bytes, or a string such as \"512M\"");
    if (value->type != JSON_NUMBER || !read_thousandths(value->text, &number) || number == 0 ||
        (key->target == SET_PROCESSES && number % 1000))
        return wrong_type(l, key, value->place,
                          key->target == SET_TIMEOUT ? "a number of seconds" : "a whole number");
    if (key->target == SET_TIMEOUT)
        limits->timeout_ms = number;
    else
        limits->processes = number / 1000;
    return 0;
}

static int set_value(struct loader *l, const struct key *key, const struct load_value *value,
                     struct json_place place)
{
    /* network_access and network.mode are the same thing. */
    enum target slot = key->target == SET_NET_ACCESS ? SET_NET : key->target;
    if (slot <= LAST_SINGLE) {
        if (l->single[slot])
            return fail(l, CORDON_E_CONFLICT, place, "\"%.*s\" says again what \"%.*s\" has said",
                        STR_ARG(key->name), STR_ARG(l->single[slot]->name));
        l->single[slot] = key;
    }
    switch (key->target) {
    case SET_MODE:
    case SET_GIT:
    case SET_TEMP:
    case SET_NET: return set_word(l, key, value);
    case SET_NET_ACCESS:
    case SET_NO_TEMP:
    case SET_STRICT: return set_bool(l, key, value);
    case SET_TIMEOUT:
    case SET_PROCESSES:
    case SET_MEMORY: return set_number(l, key, value);
    case IGNORED: return 0;
    default: return set_list(l, key, value);
    }
}

static int load_object(struct loader *l, const struct json_value *object, struct str prefix)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct json_member *m = &object->members[i];
        auto_buf struct buf name = {0};
        buf_add(&name, prefix);
        buf_add(&name, m->key);
        if (name.failed)
            return CORDON_E_NOMEM;
        const struct key *key = find_key(buf_str(&name), false);
        int rc;
        if (key) {
            struct load_value value = {.type = m->value.type,
                                       .text = m->value.text,
                                       .items = m->value.items,
                                       .count = m->value.count,
                                       .place = m->value.place};
            rc = set_value(l, key, &value, m->place);
        } else if (is_section(buf_str(&name)) && prefix.n == 0) {
            if (m->value.type != JSON_OBJECT)
                return fail(l, CORDON_E_VALUE, m->value.place, "\"%.*s\" must be an object",
                            STR_ARG(m->key));
            buf_char(&name, '.');
            if (name.failed)
                return CORDON_E_NOMEM;
            rc = load_object(l, &m->value, buf_str(&name));
        } else {
            rc = unknown_key(l, buf_str(&name), m->place);
        }
        if (rc)
            return rc;
    }
    return 0;
}

/* Listing hosts implies that the network is to be filtered. */
static int settle_network(struct loader *l)
{
    struct policy_settings *s = &l->settings;
    if (!l->net_allow_given || s->net == POLICY_NET_ALLOW)
        return 0;
    if (l->single[SET_NET])
        return fail(l, CORDON_E_CONFLICT, l->net_allow_place,
                    "a list of allowed names needs network mode allow, and \"%.*s\" says otherwise",
                    STR_ARG(l->single[SET_NET]->name));
    s->net = POLICY_NET_ALLOW;
    s->net_from = from_of(l, l->net_allow_place);
    return 0;
}

int policy_load(struct arena *arena, const struct policy_source *source, struct str text,
                struct policy_settings *settings, struct buf *error)
{
    struct loader l = {.arena = arena, .source = source, .settings = *settings, .error = error};
    struct json_value root;
    struct json_error json;
    if (text.n > POLICY_MAX_FILE)
        return fail(&l, CORDON_E_TOOBIG, (struct json_place){1, 1}, "larger than 16 MiB");
    /* Editors on Windows like to write a byte order mark. */
    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_from(text, 3);
    /* So does > in Windows PowerShell, in an encoding that JSON does not have. */
    if (str_starts(text, STR("\xFF\xFE")) || str_starts(text, STR("\xFE\xFF")))
        return fail(&l, CORDON_E_ENCODING, (struct json_place){1, 1},
                    "the file is UTF-16; save it as UTF-8");
    int rc = json_read(arena, text, &root, &json);
    if (rc)
        return fail(&l, rc, json.place, "%s", json.what);
    if (root.type != JSON_OBJECT)
        return fail(&l, CORDON_E_VALUE, root.place, "a policy is an object in { }");
    rc = load_object(&l, &root, STR_NONE);
    if (!rc)
        rc = settle_network(&l);
    if (rc) {
        if (error->n == 0)
            buf_fmt(error, "%.*s: %s", STR_ARG(source->name), cordon_strerror(rc));
        return rc;
    }
    *settings = l.settings;
    return 0;
}

static int bad_toml(struct loader *l, struct str text, const struct toml_error *toml)
{
    struct json_place none = {0};
    char c = toml->at < text.n ? text.p[toml->at] : '\0';
    if (toml->escape)
        return fail(l, CORDON_E_SYNTAX, none,
                    "a backslash in double quotes begins an escape; write 'C:\\ws' or C:/ws");
    if (str_starts(text, STR("[")) && (ascii_is_alnum(c) || c == '/' || c == '~' || c == '.'))
        return fail(l, CORDON_E_SYNTAX, none,
                    "the quotes in the list are missing, or the shell took them; write \"%s\"",
                    "['C:/ws']");
    return fail(l, CORDON_E_SYNTAX, none, "%s, at character %u of the value", toml->what,
                (unsigned)toml->at + 1);
}

int policy_load_pair(struct arena *arena, const struct policy_source *source, struct str pair,
                     struct policy_settings *settings, struct buf *error)
{
    struct loader l = {
        .arena = arena, .source = source, .settings = *settings, .error = error, .pair = true};
    struct json_place none = {0};
    size_t equals = str_find_char(pair, '=', 0);
    if (equals == pair.n)
        return fail(&l, CORDON_E_SYNTAX, none, "expected KEY=VALUE");
    struct str name = str_trim(str_slice(pair, 0, equals)), text = str_from(pair, equals + 1);
    const struct key *key = find_key(name, true);
    if (!key)
        return unknown_key(&l, name, none);
    struct toml_value toml;
    struct toml_error problem;
    struct load_value value = {.type = JSON_STRING, .text = str_trim(text)};
    int rc = toml_read(arena, text, &toml, &problem);
    if (rc && rc != CORDON_E_SYNTAX)
        return fail(&l, rc, none, "%s", problem.what);
    /* Shells strip quotes, so a bare word is a string; a broken list or string is neither. */
    if (rc && (str_starts(value.text, STR("[")) || str_starts(value.text, STR("\"")) ||
               str_starts(value.text, STR("'"))))
        return bad_toml(&l, text, &problem);
    if (!rc && toml.type == TOML_LIST) {
        struct json_value *items = ARENA_ARRAY(arena, toml.count, struct json_value);
        if (!items)
            return CORDON_E_NOMEM;
        for (size_t i = 0; i < toml.count; i++)
            items[i] = (struct json_value){.type = JSON_STRING, .text = toml.items[i]};
        value = (struct load_value){.type = JSON_ARRAY, .items = items, .count = toml.count};
    } else if (!rc && toml.type == TOML_BOOL) {
        value.type = toml.truth ? JSON_TRUE : JSON_FALSE;
    } else if (!rc && toml.type == TOML_NUMBER) {
        value.type = JSON_NUMBER;
    } else if (!rc) {
        value.text = toml.text;
    }
    rc = set_value(&l, key, &value, none);
    if (rc)
        return rc;
    *settings = l.settings;
    return 0;
}
