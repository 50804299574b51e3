/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cordon's entry in an agent's settings file. The file is the person's: only the entry's own bytes
 * come and go, so places are taken from the parsed tree and the text is cut there.
 *   {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}
 */
#include "hook/hook.h"

#include "launch/disk.h"

bool hook_folder(enum hook_agent agent, struct buf *out)
{
    auto_arena struct arena arena = {0};
    const struct hook_agent_info *info = &hook_agents[agent];
    struct str home, variable = disk_dialect() == PATH_WINDOWS ? STR("USERPROFILE") : STR("HOME");
    if (info->variable.n && disk_variable(&arena, info->variable, &home) && home.n) {
        buf_add(out, home);
        return !out->failed;
    }
    bool xdg = agent == HOOK_OPENCODE;
    if (xdg && disk_variable(&arena, STR("XDG_CONFIG_HOME"), &home) && home.n) {
        buf_add(out, home);
        buf_add(out, STR("/opencode"));
        return !out->failed;
    }
    if (!disk_variable(&arena, variable, &home) || home.n == 0)
        return false;
    buf_add(out, home);
    if (xdg) {
        buf_add(out, STR("/.config/opencode"));
        return !out->failed;
    }
    buf_fmt(out, "/%s", info->folder);
    return !out->failed;
}

/* ---- text and tree ---- */

/* Where a place of the tree is in the text. */
static size_t offset_of(struct str text, struct json_place place)
{
    size_t at = 0;
    for (unsigned line = 1; line < place.line; line++)
        at = str_find_char(text, '\n', at) + 1;
    return at + place.column - 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* After the value that begins at start; the text is known to be JSON. */
static size_t end_of(struct str text, size_t start)
{
    size_t depth = 0;
    for (size_t i = start; i < text.n; i++) {
        char c = text.p[i];
        if (c == '"') {
            for (i++; i < text.n && text.p[i] != '"'; i++)
                if (text.p[i] == '\\')
                    i++;
            if (depth == 0)
                return i + 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth <= 1)
                return depth == 0 ? i : i + 1;
            depth--;
        } else if (depth == 0 && (c == ',' || is_blank(c))) {
            return i;
        }
    }
    return text.n;
}

/* JSON without blanks, laid out. An empty step leaves it as it is. */
static void lay_out(struct buf *out, struct str compact, struct str newline, struct str indent,
                    struct str step)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < compact.n; i++) {
        char c = compact.p[i];
        if (quoted || step.n == 0) {
            buf_char(out, c);
            if (c == '\\' && i + 1 < compact.n)
                buf_char(out, compact.p[++i]);
            else if (c == '"')
                quoted = false;
            continue;
        }
        quoted = c == '"';
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
        depth += opens;
        depth -= closes;
        if (!closes)
            buf_char(out, c);
        if (c == ':')
            buf_char(out, ' ');
        if (!opens && !closes && c != ',')
            continue;
        buf_add(out, newline);
        buf_add(out, indent);
        for (size_t j = 0; j < depth; j++)
            buf_add(out, step);
        if (closes)
            buf_char(out, c);
    }
}

/* The blanks between the line's beginning and at; nothing if something else stands there. */
static struct str indent_at(struct str text, size_t at)
{
    size_t from = at;
    while (from > 0 && text.p[from - 1] != '\n')
        from--;
    size_t to = from;
    while (to < at && (text.p[to] == ' ' || text.p[to] == '\t'))
        to++;
    return str_slice(text, from, to);
}

struct layout {
    struct str newline, step;
};

/* How the file is laid out, by its first member; two blanks where there is none. */
static struct layout layout_of(struct str text)
{
    size_t open = str_find_char(text, '{', 0), at = open + 1;
    size_t line = str_find_char(text, '\n', 0);
    struct layout l = {STR("\n"), STR("  ")};
    if (line < text.n && line > 0 && text.p[line - 1] == '\r')
        l.newline = STR("\r\n");
    while (at < text.n && is_blank(text.p[at]))
        at++;
    if (at >= text.n || text.p[at] != '"')
        return l;
    bool one_line = str_find_char(text, '\n', open) > at;
    struct str indent = indent_at(text, at);
    l.step = one_line ? STR("") : indent.n ? indent : l.step;
    return l;
}

/* ---- insert ---- */

/* Puts a value or member after the last one of the container that begins at start. */
static void insert(struct str text, size_t start, struct str piece, struct buf *out)
{
    struct layout l = layout_of(text);
    size_t close = end_of(text, start) - 1, last = close, first = start + 1;
    while (is_blank(text.p[last - 1]))
        last--;
    while (is_blank(text.p[first]))
        first++;
    bool empty = first == close;
    if (!empty) {
        bool lines = str_find_char(text, '\n', start) < first;
        buf_add(out, str_slice(text, 0, last));
        buf_char(out, ',');
        if (lines)
            buf_add(out, l.newline);
        struct str indent = lines ? indent_at(text, first) : STR_NONE;
        buf_add(out, indent);
        lay_out(out, piece, l.newline, indent, lines ? l.step : STR_NONE);
        buf_add(out, str_from(text, last));
        return;
    }
    auto_buf struct buf deeper = {0};
    struct str outer = indent_at(text, start);
    buf_add(&deeper, outer);
    buf_add(&deeper, l.step);
    buf_add(out, str_slice(text, 0, start + 1));
    if (l.step.n) {
        buf_add(out, l.newline);
        buf_add(out, buf_str(&deeper));
    }
    lay_out(out, piece, l.newline, buf_str(&deeper), l.step);
    if (l.step.n && str_find_char(text, '\n', start) > close) {
        buf_add(out, l.newline);
        buf_add(out, outer);
    }
    buf_add(out, str_from(text, start + 1));
    out->failed = out->failed || deeper.failed;
}

/* ---- remove ---- */

/* A child of a container, by offsets. */
struct child {
    size_t container, index, count;
    size_t start, end, previous_end, next_start;
};

static struct child child_of(struct str text, const struct json_value *container, size_t index)
{
    bool object = container->type == JSON_OBJECT;
    struct child c = {
        .container = offset_of(text, container->place), .index = index, .count = container->count};
#define VALUE(i) (object ? &container->members[i].value : &container->items[i])
#define START(i) offset_of(text, object ? container->members[i].place : container->items[i].place)
    c.start = START(index);
    c.end = end_of(text, offset_of(text, VALUE(index)->place));
    if (index > 0)
        c.previous_end = end_of(text, offset_of(text, VALUE(index - 1)->place));
    if (index + 1 < c.count)
        c.next_start = START(index + 1);
#undef VALUE
#undef START
    return c;
}

static void cut(struct str text, const struct child *c, struct buf *out)
{
    size_t from = c->start, to = c->next_start;
    if (c->index > 0) {
        from = c->previous_end;
        to = c->end;
    } else if (c->count == 1) {
        from = c->container + 1;
        for (to = c->end; is_blank(text.p[to]);)
            to++;
    }
    buf_add(out, str_slice(text, 0, from));
    buf_add(out, str_from(text, to));
}

/* The program and its words, if they are a list, as one text. */
static bool command_of(const struct json_value *handler, struct buf *out)
{
    bool object = handler->type == JSON_OBJECT;
    const struct json_value *command = object ? json_get(handler, STR("command")) : NULL;
    const struct json_value *words = object ? json_get(handler, STR("args")) : NULL;
    if (!command || command->type != JSON_STRING)
        return false;
    buf_add(out, command->text);
    for (size_t i = 0; words && words->type == JSON_ARRAY && i < words->count; i++) {
        buf_char(out, ' ');
        if (words->items[i].type == JSON_STRING)
            buf_add(out, words->items[i].text);
    }
    return !out->failed;
}

static bool is_ours(enum hook_agent agent, const struct json_value *handler)
{
    auto_buf struct buf command = {0};
    if (!command_of(handler, &command))
        return false;
    char call[32] = " hook ";
    strcat(call, hook_agents[agent].name);
    struct str text = buf_str(&command);
    size_t at = str_find(text, str_of(call), 0), behind = at + strlen(call);
    return at < text.n && (behind == text.n || text.p[behind] == ' ' || text.p[behind] == ';') &&
           str_findi(str_slice(text, 0, at), STR("cordon"), 0) < at;
}

/* The settings as a tree, with the parts that matter here; NULL where there is none. */
struct tree {
    struct json_value root;
    const struct json_value *hooks, *groups, *env;
    size_t hooks_index, groups_index, env_index;
};

static const struct json_value *member(const struct json_value *object, struct str key,
                                       size_t *index)
{
    for (size_t i = 0; i < object->count; i++)
        if (str_eq(object->members[i].key, key)) {
            *index = i;
            return &object->members[i].value;
        }
    return NULL;
}

static int read_tree(struct arena *arena, enum hook_agent agent, struct str text, struct tree *t,
                     struct buf *error)
{
    struct json_error wrong;
    struct str event = hook_agents[agent].event;
    *t = (struct tree){0};
    int rc = json_read(arena, text, &t->root, &wrong);
    if (rc) {
        buf_fmt(error, "line %u, column %u: %s", wrong.place.line, wrong.place.column, wrong.what);
        return rc;
    }
    if (t->root.type != JSON_OBJECT) {
        buf_add(error, STR("this is not an object"));
        return CORDON_E_SYNTAX;
    }
    t->hooks = member(&t->root, STR("hooks"), &t->hooks_index);
    if (t->hooks && t->hooks->type != JSON_OBJECT) {
        buf_add(error, STR("\"hooks\" is not an object"));
        return CORDON_E_SYNTAX;
    }
    t->groups = t->hooks ? member(t->hooks, event, &t->groups_index) : NULL;
    if (t->groups && t->groups->type != JSON_ARRAY) {
        buf_fmt(error, "\"hooks\": \"%.*s\" is not a list", STR_ARG(event));
        return CORDON_E_SYNTAX;
    }
    t->env = agent == HOOK_CLAUDE ? member(&t->root, STR("env"), &t->env_index) : NULL;
    if (t->env && t->env->type != JSON_OBJECT) {
        buf_add(error, STR("\"env\" is not an object"));
        return CORDON_E_SYNTAX;
    }
    return 0;
}

static const struct json_value *handlers_of(const struct json_value *group)
{
    const struct json_value *list =
        group->type == JSON_OBJECT ? json_get(group, STR("hooks")) : NULL;
    return list && list->type == JSON_ARRAY ? list : NULL;
}

static const struct str shell_variable = STR("CLAUDE_CODE_SHELL");

bool hook_is_shell(struct str path)
{
    static const struct str ends[] = {STR("/cordon/bash"), STR("/cordon/zsh")};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (path.n > ends[i].n && str_eq(str_from(path, path.n - ends[i].n), ends[i]))
            return true;
    return false;
}

/* The first entry of ours, or of what holds nothing else; false if there is none. */
static bool find_ours(enum hook_agent agent, struct str text, const struct tree *t,
                      struct child *out)
{
    size_t index;
    const struct json_value *shell = t->env ? member(t->env, shell_variable, &index) : NULL;
    if (shell && shell->type == JSON_STRING && hook_is_shell(shell->text)) {
        *out = t->env->count > 1 ? child_of(text, t->env, index)
                                 : child_of(text, &t->root, t->env_index);
        return true;
    }
    for (size_t i = 0; t->groups && i < t->groups->count; i++) {
        const struct json_value *list = handlers_of(&t->groups->items[i]);
        for (size_t j = 0; list && j < list->count; j++) {
            if (!is_ours(agent, &list->items[j]))
                continue;
            if (list->count > 1)
                *out = child_of(text, list, j);
            else if (t->groups->count > 1)
                *out = child_of(text, t->groups, i);
            else if (t->hooks->count > 1)
                *out = child_of(text, t->hooks, t->groups_index);
            else
                *out = child_of(text, &t->root, t->hooks_index);
            return true;
        }
    }
    return false;
}

bool hook_find(struct arena *arena, enum hook_agent agent, struct str text, size_t *group,
               size_t *handler, const struct json_value **entry, const struct json_value **matcher)
{
    auto_buf struct buf error = {0};
    struct tree t;
    if (read_tree(arena, agent, text, &t, &error))
        return false;
    for (size_t i = 0; t.groups && i < t.groups->count; i++) {
        const struct json_value *list = handlers_of(&t.groups->items[i]);
        for (size_t j = 0; list && j < list->count; j++)
            if (is_ours(agent, &list->items[j])) {
                const struct json_value *m = json_get(&t.groups->items[i], STR("matcher"));
                *matcher = m && m->type == JSON_STRING ? m : NULL;
                *entry = &list->items[j];
                *group = i;
                *handler = j;
                return true;
            }
    }
    return false;
}

static struct str after_mark(struct str text)
{
    return str_starts(text, STR("\xEF\xBB\xBF")) ? str_from(text, 3) : text;
}

int hook_remove(enum hook_agent agent, struct str text, struct buf *out, bool *changed,
                struct buf *error)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf now = {0}, next = {0};
    struct str body = after_mark(text), mark = str_slice(text, 0, text.n - body.n);
    bool any = false;
    buf_add(&now, body);
    while (str_trim(buf_str(&now)).n) {
        struct tree t;
        struct child c;
        arena_reset(&arena);
        int rc = read_tree(&arena, agent, buf_str(&now), &t, error);
        if (rc)
            return rc;
        if (!find_ours(agent, buf_str(&now), &t, &c))
            break;
        buf_reset(&next);
        cut(buf_str(&now), &c, &next);
        if (next.failed)
            return CORDON_E_NOMEM;
        struct buf swap = now;
        now = next;
        next = swap;
        any = true;
    }
    buf_add(out, mark);
    buf_add(out, buf_str(&now));
    *changed = any;
    return out->failed ? CORDON_E_NOMEM : 0;
}

static bool same(const struct json_value *a, const struct json_value *b)
{
    bool good = a->type == b->type && a->count == b->count && str_eq(a->text, b->text);
    for (size_t i = 0; good && i < a->count && a->type == JSON_ARRAY; i++)
        good = same(&a->items[i], &b->items[i]);
    for (size_t i = 0; good && i < a->count && a->type == JSON_OBJECT; i++) {
        const struct json_value *other = json_get(b, a->members[i].key);
        good = other && same(&a->members[i].value, other);
    }
    return good;
}

/* True if two texts of JSON say the same, however they are laid out. */
static bool same_values(struct str a, struct str b)
{
    auto_arena struct arena arena = {0};
    struct json_value x, y;
    struct json_error error;
    return json_read(&arena, a, &x, &error) == 0 && json_read(&arena, b, &y, &error) == 0 &&
           same(&x, &y);
}

static void compact_entry(enum hook_agent agent, const struct hook_entry *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put(&w, STR("matcher"), hook_agents[agent].tools);
    json_key(&w, STR("hooks"));
    json_open(&w, '[');
    json_open(&w, '{');
    json_put(&w, STR("type"), STR("command"));
    json_put(&w, STR("command"), e->command);
    if (e->words) {
        json_key(&w, STR("args"));
        json_open(&w, '[');
        for (size_t i = 0; i < e->word_count; i++)
            json_string(&w, e->words[i]);
        json_close(&w, ']');
    }
    if (e->powershell)
        json_put(&w, STR("shell"), STR("powershell"));
    if (agent == HOOK_CLAUDE)
        json_put(&w, STR("onFailure"), STR("block"));
    json_close(&w, '}');
    json_close(&w, ']');
    json_close(&w, '}');
}

/* Puts what text lacks of the entry into it: a member of the object at path, or a value. */
static int add_hook(enum hook_agent agent, struct str text, const struct hook_entry *e,
                    struct buf *out, struct buf *error)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf piece = {0};
    struct tree t;
    int rc = read_tree(&arena, agent, text, &t, error);
    if (rc)
        return rc;
    if (!t.hooks)
        buf_add(&piece, STR("\"hooks\":{"));
    if (!t.groups)
        buf_fmt(&piece, "\"%s\":[", hook_agents[agent].event.p);
    compact_entry(agent, e, &piece);
    if (!t.groups)
        buf_char(&piece, ']');
    if (!t.hooks)
        buf_char(&piece, '}');
    const struct json_value *container = t.groups ? t.groups : t.hooks ? t.hooks : &t.root;
    insert(text, offset_of(text, container->place), buf_str(&piece), out);
    return out->failed || piece.failed ? CORDON_E_NOMEM : 0;
}

static int add_shell(enum hook_agent agent, struct str text, const struct hook_entry *e,
                     struct buf *out, struct buf *error)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf piece = {0};
    struct tree t;
    struct json_writer w = {.out = &piece};
    size_t index;
    int rc = read_tree(&arena, agent, text, &t, error);
    if (rc)
        return rc;
    if (t.env && member(t.env, shell_variable, &index)) {
        buf_add(error, STR("\"env\" names another CLAUDE_CODE_SHELL; take it out first"));
        return CORDON_E_SYNTAX;
    }
    if (!t.env)
        buf_add(&piece, STR("\"env\":"));
    json_open(&w, '{');
    json_put(&w, shell_variable, e->shell);
    json_close(&w, '}');
    struct str member_text = t.env ? str_slice(buf_str(&piece), 1, piece.n - 1) : buf_str(&piece);
    const struct json_value *container = t.env ? t.env : &t.root;
    insert(text, offset_of(text, container->place), member_text, out);
    return out->failed || piece.failed ? CORDON_E_NOMEM : 0;
}

int hook_install(enum hook_agent agent, struct str text, const struct hook_entry *entry,
                 struct buf *out, bool *changed, struct buf *error)
{
    auto_buf struct buf bare = {0}, hooked = {0}, whole = {0};
    bool any;
    int rc = hook_remove(agent, text, &bare, &any, error);
    if (rc)
        return rc;
    if (str_trim(after_mark(buf_str(&bare))).n == 0) {
        buf_reset(&bare);
        buf_add(&bare, STR("{}\n"));
    }
    struct str rest = after_mark(buf_str(&bare));
    rc = add_hook(agent, rest, entry, &hooked, error);
    if (rc == 0 && entry->shell.n)
        rc = add_shell(agent, buf_str(&hooked), entry, &whole, error);
    else if (rc == 0)
        buf_add(&whole, buf_str(&hooked));
    if (rc)
        return rc;
    struct str mark = str_slice(buf_str(&bare), 0, bare.n - rest.n);
    /* The same entry may stand in another place of the file: that is no change. */
    struct str before = after_mark(text), after = buf_str(&whole);
    *changed = !same_values(before, after);
    buf_add(out, *changed ? mark : text);
    if (*changed)
        buf_add(out, after);
    return out->failed || whole.failed || bare.failed ? CORDON_E_NOMEM : 0;
}
