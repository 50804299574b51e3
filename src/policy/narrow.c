/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are compared as they are spelled: both sides are final. Control characters are %XX. */
#include "policy/narrow.h"

#include "policy/build.h"

enum { MOST_LINES = 4096 };

enum key {
    KEY_NONE = 0,
    KEY_MODE,
    KEY_GIT,
    KEY_NET,
    KEY_PROXY,
    KEY_STRICT,
    KEY_TEMP,
    KEY_TEMP_OWN,     /* what this run or its session created */
    KEY_TEMP_PRIVATE, /* a folder of this run or its session */
    KEY_ROOT,
    KEY_GIT_DIR,
    KEY_GIT_OBEYS,
    KEY_DENY_WRITE,
    KEY_SELF,
    KEY_DENY_READ,
    KEY_ALLOW_READ,
    KEY_UNPROTECT,
    KEY_NET_ALLOW,
    KEY_ALLOW_TOOL,
    KEY_SOCKET,
    KEY_DENY_TOOL,
    KEY_COUNT
};

static const char *const keys[KEY_COUNT] = {
    [KEY_MODE] = "mode",
    [KEY_GIT] = "git",
    [KEY_NET] = "net",
    [KEY_PROXY] = "proxy",
    [KEY_STRICT] = "strict",
    [KEY_TEMP] = "temp",
    [KEY_TEMP_OWN] = "temp-own",
    [KEY_TEMP_PRIVATE] = "temp-private",
    [KEY_ROOT] = "root",
    [KEY_GIT_DIR] = "git-dir",
    [KEY_GIT_OBEYS] = "git-obeys",
    [KEY_DENY_WRITE] = "deny-write",
    [KEY_SELF] = "self",
    [KEY_DENY_READ] = "deny-read",
    [KEY_ALLOW_READ] = "allow-read",
    [KEY_UNPROTECT] = "unprotect",
    [KEY_NET_ALLOW] = "net-allow",
    [KEY_ALLOW_TOOL] = "allow-tool",
    [KEY_SOCKET] = "allow-socket",
    [KEY_DENY_TOOL] = "deny-tool",
};

struct narrow_line {
    enum key key;
    struct str value;
};

static void add_line(struct buf *out, enum key key, struct str value)
{
    buf_fmt(out, "%s ", keys[key]);
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c < 0x20 || c == '%')
            buf_fmt(out, "%%%02x", c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, '\n');
}

static void add_number(struct buf *out, enum key key, int number)
{
    buf_fmt(out, "%s %d\n", keys[key], number);
}

/* Paths of lists of paths, else what was written. */
static void add_list(struct buf *out, enum key key, const struct policy_list *list, bool paths)
{
    for (size_t i = 0; i < list->count; i++)
        add_line(out, key, paths ? list->items[i].path : list->items[i].given);
}

static bool temp_is_writable(const struct policy_settings *s)
{
    return s->temp_path.n && !s->no_temp && s->mode != POLICY_READ_ONLY;
}

static enum key temp_key(enum policy_temp temp)
{
    switch (temp) {
    case POLICY_TEMP_SHARED: return KEY_TEMP;
    case POLICY_TEMP_OWN: return KEY_TEMP_OWN;
    case POLICY_TEMP_PRIVATE:
    case POLICY_TEMP_SESSION: break;
    }
    return KEY_TEMP_PRIVATE;
}

void policy_outline(const struct policy *policy, struct buf *out)
{
    const struct policy_settings *s = &policy->settings;
    add_number(out, KEY_MODE, s->mode);
    add_number(out, KEY_GIT, s->git);
    add_number(out, KEY_NET, s->net);
    add_number(out, KEY_STRICT, s->strict);
    if (s->net == POLICY_NET_PROXY)
        add_line(out, KEY_PROXY, s->proxy);
    if (temp_is_writable(s))
        add_line(out, temp_key(s->temp), s->temp_path);
    if (s->mode != POLICY_READ_ONLY)
        add_list(out, KEY_ROOT, &s->roots, true);
    if (s->mode != POLICY_READ_ONLY)
        add_list(out, KEY_GIT_DIR, &s->git_dirs, true);
    add_list(out, KEY_GIT_OBEYS, &s->git_obeys, true);
    add_list(out, KEY_DENY_WRITE, &s->deny_write, true);
    add_list(out, KEY_SELF, &s->self, true);
    add_list(out, KEY_DENY_READ, &s->deny_read, true);
    add_list(out, KEY_ALLOW_READ, &s->allow_read, true);
    add_list(out, KEY_UNPROTECT, &s->unprotect, false);
    if (s->net == POLICY_NET_ALLOW)
        add_list(out, KEY_NET_ALLOW, &s->net_allow, false);
    add_list(out, KEY_ALLOW_TOOL, &s->allow_tools, false);
    add_list(out, KEY_SOCKET, &s->sockets, true);
    add_list(out, KEY_DENY_TOOL, &s->deny_tools, false);
}

static bool read_value(struct arena *arena, struct str text, struct str *out)
{
    char *p = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    if (!p)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            if (i + 2 >= text.n)
                return false;
            int high = ascii_hex(text.p[i + 1]), low = ascii_hex(text.p[i + 2]);
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        p[n++] = c;
    }
    *out = (struct str){p, n};
    return true;
}

static bool read_lines(struct arena *arena, struct str text, struct narrow_line *lines,
                       size_t *count)
{
    *count = 0;
    for (size_t at = 0, end; at < text.n; at = end + 1) {
        end = str_find_char(text, '\n', at);
        struct str line = str_slice(text, at, end);
        size_t blank = str_find_char(line, ' ', 0);
        struct str name = str_slice(line, 0, blank);
        if (*count == MOST_LINES || blank == line.n || end == text.n)
            return false;
        struct narrow_line *l = &lines[(*count)++];
        l->key = KEY_NONE;
        for (int k = 1; k < KEY_COUNT; k++)
            if (str_eq(name, str_of(keys[k])))
                l->key = (enum key)k;
        if (l->key == KEY_NONE || !read_value(arena, str_from(line, blank + 1), &l->value))
            return false;
    }
    return *count > 0;
}

struct narrow_comparison {
    const struct narrow_line *lines;
    size_t count;
    const struct policy_settings *wanted;
    struct buf *why;
};

static bool wider(struct narrow_comparison *c, const char *what, struct str value)
{
    buf_fmt(c->why, "it %s%s%.*s", what, value.n ? " " : "", STR_ARG(value));
    return false;
}

/* The single value of a key; -1 if it is missing or no digit. */
static int number_of(const struct narrow_comparison *c, enum key key)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->lines[i].key == key)
            return c->lines[i].value.n == 1 && ascii_is_digit(c->lines[i].value.p[0])
                       ? c->lines[i].value.p[0] - '0'
                       : -1;
    return -1;
}

static bool has_line(const struct narrow_comparison *c, enum key key, struct str value, bool path)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->lines[i].key == key && (path ? path_is_below(PATH_POSIX, c->lines[i].value, value)
                                            : str_eqi(c->lines[i].value, value)))
            return true;
    return false;
}

static bool in_list(const struct policy_list *list, struct str value, bool path)
{
    for (size_t i = 0; i < list->count; i++)
        if (path ? path_is_below(PATH_POSIX, list->items[i].path, value)
                 : str_eqi(list->items[i].given, value))
            return true;
    return false;
}

static bool is_place(enum key key)
{
    return key == KEY_ROOT || key == KEY_TEMP || key == KEY_TEMP_OWN || key == KEY_TEMP_PRIVATE ||
           key == KEY_GIT_DIR;
}

/* The part of the outer policy's writable folders that lies below or above this path. */
static bool outer_writes(const struct narrow_comparison *c, struct str path)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_place(c->lines[i].key) && (path_is_below(PATH_POSIX, c->lines[i].value, path) ||
                                          path_is_below(PATH_POSIX, path, c->lines[i].value)))
            return true;
    return false;
}

static bool compare_files(struct narrow_comparison *c)
{
    const struct policy_settings *w = c->wanted;
    int mode = number_of(c, KEY_MODE), commit = number_of(c, KEY_GIT);
    if (mode < 0 || mode > (int)w->mode)
        return wider(c, "lets files be changed", STR_NONE);
    if (commit < 0 || commit > (int)w->git)
        return wider(c, "lets .git be changed", STR_NONE);
    for (size_t i = 0; i < c->count; i++) {
        const struct narrow_line *l = &c->lines[i];
        bool git = l->key == KEY_GIT_DIR && in_list(&w->git_dirs, l->value, true);
        if (is_place(l->key) && !git && !in_list(&w->roots, l->value, true) &&
            !(temp_is_writable(w) && path_is_below(PATH_POSIX, w->temp_path, l->value) &&
              (l->key == KEY_TEMP_OWN || l->key == KEY_TEMP_PRIVATE || w->temp != POLICY_TEMP_OWN)))
            return wider(c, "can change", l->value);
        if (l->key == KEY_UNPROTECT && !in_list(&w->unprotect, l->value, false))
            return wider(c, "does not protect", l->value);
    }
    for (size_t i = 0; i < w->deny_write.count; i++) {
        struct str path = w->deny_write.items[i].path;
        if (!has_line(c, KEY_DENY_WRITE, path, true) && outer_writes(c, path))
            return wider(c, "can change", path);
    }
    for (size_t i = 0; i < w->self.count; i++) {
        struct str path = w->self.items[i].path;
        if (!has_line(c, KEY_SELF, path, true) && !has_line(c, KEY_DENY_WRITE, path, true) &&
            outer_writes(c, path))
            return wider(c, "can change Cordon's own file", path);
    }
    return true;
}

static bool compare_reads(struct narrow_comparison *c)
{
    const struct policy_settings *w = c->wanted;
    for (size_t i = 0; i < w->deny_read.count; i++) {
        struct str path = w->deny_read.items[i].path;
        if (!has_line(c, KEY_DENY_READ, path, true))
            return wider(c, "can read", path);
        for (size_t j = 0; j < c->count; j++)
            if (c->lines[j].key == KEY_ALLOW_READ &&
                (path_is_below(PATH_POSIX, path, c->lines[j].value) ||
                 path_is_below(PATH_POSIX, c->lines[j].value, path)) &&
                !in_list(&w->allow_read, c->lines[j].value, true))
                return wider(c, "can read", c->lines[j].value);
    }
    return true;
}

static bool compare_net(struct narrow_comparison *c)
{
    const struct policy_settings *w = c->wanted;
    int net = number_of(c, KEY_NET);
    if (net == POLICY_NET_OFF || (net >= 0 && w->net == POLICY_NET_ON))
        return true;
    bool same = net == (int)w->net;
    for (size_t i = 0; i < c->count && same; i++) {
        const struct narrow_line *l = &c->lines[i];
        if (l->key == KEY_PROXY)
            same = str_eq(l->value, w->proxy);
        else if (l->key == KEY_NET_ALLOW && !str_starts(l->value, STR("!")))
            same = in_list(&w->net_allow, l->value, false);
    }
    for (size_t i = 0; i < w->net_allow.count && same; i++)
        if (str_starts(w->net_allow.items[i].given, STR("!")))
            same = has_line(c, KEY_NET_ALLOW, w->net_allow.items[i].given, false);
    return same || wider(c, "reaches more of the network", STR_NONE);
}

static bool compare_tools(struct narrow_comparison *c)
{
    const struct policy_settings *w = c->wanted;
    if (w->strict && number_of(c, KEY_STRICT) != 1)
        return wider(c, "is not strict", STR_NONE);
    for (size_t i = 0; i < w->deny_tools.count; i++)
        if (!has_line(c, KEY_DENY_TOOL, w->deny_tools.items[i].given, false))
            return wider(c, "can run", w->deny_tools.items[i].given);
    for (size_t i = 0; i < c->count; i++)
        if (c->lines[i].key == KEY_SOCKET && !in_list(&w->sockets, c->lines[i].value, true))
            return wider(c, "can connect to", c->lines[i].value);
    for (size_t i = 0; i < c->count; i++)
        if (c->lines[i].key == KEY_ALLOW_TOOL &&
            !in_list(&w->allow_tools, c->lines[i].value, false))
            return wider(c, "can run", c->lines[i].value);
    return true;
}

bool policy_is_narrow(struct str outline, const struct policy *wanted, struct buf *why)
{
    auto_arena struct arena arena = {0};
    struct narrow_line *lines = ARENA_ARRAY(&arena, MOST_LINES, struct narrow_line);
    struct narrow_comparison c = {.lines = lines, .wanted = &wanted->settings, .why = why};
    if (!lines || !read_lines(&arena, outline, lines, &c.count)) {
        buf_add(why, STR("it cannot be understood"));
        return false;
    }
    return compare_files(&c) && compare_reads(&c) && compare_net(&c) && compare_tools(&c);
}

static int take_number(struct str value, int most, int *out)
{
    int number = value.n == 1 ? value.p[0] - '0' : -1;
    if (number < 0 || number > most)
        return CORDON_E_VALUE;
    *out = number;
    return 0;
}

static struct policy_list *list_of(struct policy_settings *s, enum key key, bool *paths)
{
    *paths = true;
    switch (key) {
    case KEY_ROOT: return &s->roots;
    case KEY_GIT_DIR: return &s->git_dirs;
    case KEY_GIT_OBEYS: return &s->git_obeys;
    case KEY_DENY_WRITE: return &s->deny_write;
    case KEY_SELF: return &s->self;
    case KEY_DENY_READ: return &s->deny_read;
    case KEY_ALLOW_READ: return &s->allow_read;
    case KEY_SOCKET: return &s->sockets;
    default: break;
    }
    *paths = false;
    switch (key) {
    case KEY_UNPROTECT: return &s->unprotect;
    case KEY_NET_ALLOW: return &s->net_allow;
    case KEY_ALLOW_TOOL: return &s->allow_tools;
    case KEY_DENY_TOOL: return &s->deny_tools;
    default: return NULL;
    }
}

static int take_line(struct arena *arena, const struct narrow_line *l, struct policy_settings *s)
{
    bool paths;
    int number = 0, rc = 0;
    struct policy_list *list = list_of(s, l->key, &paths);
    if (list)
        return policy_list_add(arena, list,
                               (struct policy_entry){.given = l->value,
                                                     .path = paths ? l->value : STR_NONE,
                                                     .from = STR("this run")});
    switch (l->key) {
    case KEY_MODE:
        rc = take_number(l->value, POLICY_FULL_ACCESS, &number);
        s->mode = (enum policy_mode)number;
        break;
    case KEY_GIT:
        rc = take_number(l->value, POLICY_GIT_FULL, &number);
        s->git = (enum policy_git)number;
        break;
    case KEY_NET:
        rc = take_number(l->value, POLICY_NET_ON, &number);
        s->net = (enum policy_net)number;
        break;
    case KEY_STRICT:
        rc = take_number(l->value, 1, &number);
        s->strict = number;
        break;
    case KEY_PROXY: s->proxy = l->value; break;
    case KEY_TEMP:
    case KEY_TEMP_OWN:
    case KEY_TEMP_PRIVATE:
        s->temp = l->key == KEY_TEMP       ? POLICY_TEMP_SHARED
                  : l->key == KEY_TEMP_OWN ? POLICY_TEMP_OWN
                                           : POLICY_TEMP_PRIVATE;
        s->temp_path = l->value;
        break;
    default: rc = CORDON_E_VALUE; break;
    }
    return rc;
}

int policy_read_outline(struct arena *arena, struct str outline, struct policy_settings *settings)
{
    size_t count;
    struct narrow_line *lines = ARENA_ARRAY(arena, MOST_LINES, struct narrow_line);
    if (!lines)
        return CORDON_E_NOMEM;
    if (!read_lines(arena, outline, lines, &count))
        return CORDON_E_VALUE;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = take_line(arena, &lines[i], settings);
    return rc;
}
