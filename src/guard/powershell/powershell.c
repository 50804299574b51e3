/* SPDX-License-Identifier: Apache-2.0 */
/* Reading PowerShell: parse it as both versions, list its commands, then follow what it does. */
#include "guard/powershell/powershell.h"

#include "guard/powershell/run.h"

/* ---- --show: every command of the tree in order of its start ---- */

static struct str prefixed(struct guard *g, struct str dash, struct str name, struct str value)
{
    char *p = arena_alloc(guard_arena(g), dash.n + name.n + 1 + value.n);
    if (!p)
        return STR_NONE;
    size_t n = 0;
    memcpy(p, dash.p, dash.n);
    n += dash.n;
    if (name.n)
        memcpy(p + n, name.p, name.n);
    n += name.n;
    if (value.p) {
        p[n++] = ':';
        if (value.n)
            memcpy(p + n, value.p, value.n);
        n += value.n;
    }
    return (struct str){p, n};
}

static struct word constant_word(struct guard *g, const struct ps_node *node)
{
    struct word w = word_unknown(node->start, node->end);
    switch (node->kind) {
    case PS_STRING:
        w.text = node->text.p ? node->text : STR("");
        w.quoted = node->flags & PS_QUOTED;
        break;
    case PS_NUMBER: w.text = node->text; break;
    case PS_PARAMETER:
        if (!node->a) {
            w.text = prefixed(g, STR("-"), node->text, STR_NONE);
        } else {
            struct word value = constant_word(g, node->a);
            w.text = prefixed(g, STR("-"), node->text, value.text);
        }
        break;
    default: break;
    }
    return w;
}

static void show(struct guard *g, const struct ps_node *node);

static void show_list(struct guard *g, const struct ps_node *list)
{
    for (; list && !guard_stopped(g); list = list->next)
        show(g, list);
}

static void show_command(struct guard *g, const struct ps_node *node)
{
    size_t count = 0;
    for (const struct ps_node *n = node->a; n; n = n->next)
        count++;
    struct word *words = ARENA_ARRAY(guard_arena(g), count, struct word);
    if (!words) {
        guard_limit(g, (struct word){.start = node->start, .end = node->end});
        return;
    }
    size_t i = 0;
    for (const struct ps_node *n = node->a; n; n = n->next)
        words[i++] = constant_word(g, n);
    if (count && node->a->kind != PS_STRING)
        words[0].text = STR("\xFF");
    if (count)
        guard_command(g, GUARD_POWERSHELL, words[0], words + 1, count - 1, node->start, node->end);
}

/* The left side of a long chain is deep: its right sides are shown in a loop. */
static void show_binary(struct guard *g, const struct ps_node *node)
{
    size_t count = 0;
    const struct ps_node *leaf = node;
    for (; leaf && leaf->kind == PS_BINARY; leaf = leaf->a)
        count++;
    const struct ps_node **chain = ARENA_ARRAY(guard_arena(g), count, const struct ps_node *);
    if (!chain) {
        guard_limit(g, (struct word){.start = node->start, .end = node->end});
        return;
    }
    size_t i = count;
    for (leaf = node; leaf && leaf->kind == PS_BINARY; leaf = leaf->a)
        chain[--i] = leaf;
    show(g, leaf);
    for (i = 0; i < count && !guard_stopped(g); i++)
        show(g, chain[i]->b);
}

/* Children stand in the order of the text in a, b, c, d but for PS_WHILE after do and functions. */
static void show(struct guard *g, const struct ps_node *node)
{
    if (!node || guard_stopped(g))
        return;
    switch (node->kind) {
    case PS_STRING:
    case PS_NUMBER:
    case PS_VARIABLE:
    case PS_SPLAT: return;
    case PS_COMMAND:
        show_command(g, node);
        show_list(g, node->a);
        show_list(g, node->b);
        return;
    case PS_PIPELINE:
    case PS_EXPAND:
    case PS_HASH:
    case PS_ARRAY:
    case PS_SUBEXPR:
    case PS_LIST:
    case PS_BODY:
    case PS_CLASS:
    case PS_TYPE:
        show_list(g, node->a);
        show_list(g, node->b);
        return;
    case PS_SCRIPTBLOCK:
        show_list(g, node->a);
        show_list(g, node->b);
        return;
    case PS_CALL:
        show(g, node->a);
        show(g, node->b);
        show_list(g, node->c);
        return;
    case PS_CAST:
        show(g, node->b);
        show(g, node->a);
        return;
    case PS_PARAM:
        show_list(g, node->b);
        show(g, node->a);
        return;
    case PS_SWITCH:
    case PS_TRY:
        show(g, node->a);
        show_list(g, node->b);
        show(g, node->c);
        return;
    case PS_IF: /* long chains of elseif must not be deep */
        for (; node && node->kind == PS_IF && !guard_stopped(g); node = node->c) {
            show(g, node->a);
            show(g, node->b);
        }
        show(g, node);
        return;
    case PS_BINARY: show_binary(g, node); return;
    case PS_WHILE:
        if (node->flags & PS_POST) {
            show(g, node->d);
            show(g, node->b);
            return;
        }
        break;
    default: break;
    }
    show(g, node->a);
    show(g, node->b);
    show(g, node->c);
    show(g, node->d);
}

void powershell_show(struct guard *g, const struct ps_node *tree)
{
    show_list(g, tree->a);
    show_list(g, tree->b);
}

/* ---- both versions ---- */

bool powershell_parse(struct guard *g, struct str text, struct ps_versions *out)
{
    *out = (struct ps_versions){0};
    bool error[2] = {false, false}, differs = true;
    for (; out->count < 2 && differs; out->count++) {
        size_t i = out->count;
        struct ps_parser p = {
            .g = g, .arena = guard_arena(g), .text = text, .length = text.n, .version = i ? 5 : 7};
        out->tree[i] = ps_parse_script(&p);
        if (guard_stopped(g) || !out->tree[i])
            return false;
        out->nodes[i] = p.nodes;
        error[i] = p.error;
        differs = p.differs;
    }
    out->broken = error[0] && (out->count == 1 || error[1]);
    /* A version that rejects the text runs none of it. Text that neither accepts is judged all the
       same, as far as it could be read. */
    out->runs[0] = !error[0] || out->broken;
    out->runs[1] = out->count == 2 && !error[1];
    return true;
}

void powershell_read(struct guard *g, struct str text)
{
    if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0) {
        /* A byte order mark is white space to the shell; spans stay as they are. */
        char *copy = (char *)arena_copy(guard_arena(g), text).p;
        if (!copy) {
            guard_limit(g, (struct word){0});
            return;
        }
        memcpy(copy, "   ", 3);
        text.p = copy;
    }
    struct ps_versions trees;
    if (!powershell_parse(g, text, &trees))
        return;
    powershell_show(g, trees.tree[0]);
    if (guard_stopped(g))
        return;
    if (trees.broken)
        guard_find(g, GUARD_OPAQUE_SYNTAX,
                   (struct word){.text = STR(""), .start = 0, .end = (uint32_t)text.n},
                   STR("PowerShell"), NULL, NULL);
    for (size_t i = 0; i < trees.count; i++)
        if (trees.runs[i])
            powershell_run(g, trees.tree[i], trees.nodes[i], trees.broken);
}
