/* SPDX-License-Identifier: Apache-2.0 */
/* Cmdlets that delete files, registry keys and disks. */
#include "guard/names.h"
#include "guard/powershell/cmdlets.h"

/* ---- deleting ---- */

/* Remove-Item * -Include .git: of what the pattern finds, this. */
static void delete_included(struct ps_bound *b, struct word target, unsigned flags)
{
    enum { FILTER = 2, INCLUDE = 3 };
    struct str folder = str_slice(target.text, 0, target.text.n - name_leaf(target.text).n);
    for (size_t index = FILTER; index <= INCLUDE; index++) {
        struct ps_value v = b->present[index] ? b->values[index] : value_kind(VALUE_VOID);
        struct ps_value one[] = {v};
        struct ps_value list = {.kind = VALUE_LIST, .items = one, .count = 1};
        if (v.kind == VALUE_LIST)
            list = v;
        for (size_t i = 0; v.kind != VALUE_VOID && i < list.count && i < 64; i++) {
            target.text = fold_concat(&b->r->f, folder, value_text(&b->r->f, list.items[i]));
            ps_run_delete(b->r, b->who, target, flags);
        }
    }
}

static void delete_path(struct ps_bound *b, struct word target, unsigned flags)
{
    static const char *const harmless[] = {"env:", "variable:", "function:", "alias:", "wsman:"};
    static const char *const registry[] = {"hklm:",
                                           "hkcu:",
                                           "hkcr:",
                                           "hku:",
                                           "hkcc:",
                                           "registry::",
                                           "microsoft.powershell.core\\registry::",
                                           "hkey_"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (str_startsi(target.text, str_of(harmless[i])))
            return;
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (str_startsi(target.text, str_of(registry[i])))
            flags |= GUARD_REGISTRY;
    ps_run_delete(b->r, b->who, target, flags);
    if (str_eq(b->who, STR("Remove-Item")))
        delete_included(b, target, flags);
}

/* The path as a pattern, if its holes are names that a wildcard found in a known folder. */
static struct word path_of(struct ps_bound *b, struct ps_node *at, struct ps_value v)
{
    struct word path = eval_word(b->r, at, v);
    struct str leaf = name_leaf(path.text);
    bool found = v.kind == VALUE_STRING && v.real && path.text.n > leaf.n &&
                 !str_has_char(str_slice(path.text, 0, path.text.n - leaf.n), GUARD_HOLE);
    struct str copy = found ? arena_copy(b->r->f.arena, path.text) : STR_NONE;
    for (size_t i = 0; copy.p && i < copy.n; i++)
        if (copy.p[i] == GUARD_HOLE)
            ((char *)copy.p)[i] = '*';
    if (copy.p)
        path.text = copy;
    return path;
}

static void delete_paths(struct ps_bound *b, unsigned flags)
{
    size_t index = b->present[0] ? 0 : 1;
    if (bound_what_if(b))
        return;
    if (!b->present[index]) {
        if (b->input.kind != VALUE_VOID)
            delete_path(b, word_unknown(b->at->start, b->at->end), flags);
        return;
    }
    struct ps_value v = b->values[index];
    if (v.kind == VALUE_LIST) {
        for (size_t i = 0; i < v.count && fold_step(&b->r->f, 1); i++)
            delete_path(b, path_of(b, b->nodes[index], v.items[i]), flags);
        return;
    }
    if (v.kind != VALUE_NULL)
        delete_path(b, path_of(b, b->nodes[index] ? b->nodes[index] : b->at, v), flags);
}

/* -Exclude .git */
static bool spares_git(struct ps_bound *b, size_t index)
{
    struct str text = b->present[index] ? value_text(&b->r->f, b->values[index]) : STR("");
    return str_findi(text, STR(".git"), 0) < text.n;
}

struct ps_value cmdlet_remove_item(struct ps_bound *b)
{
    enum { FILTER = 2, INCLUDE, EXCLUDE, RECURSE, FORCE };
    unsigned flags = (bound_switch(b, RECURSE) ? GUARD_RECURSE : 0u) |
                     (bound_switch(b, FORCE) ? GUARD_FORCE : 0u);
    bool chosen = b->present[FILTER] || b->present[INCLUDE];
    if (bound_switch(b, RECURSE) && bound_switch(b, FORCE) && !spares_git(b, EXCLUDE))
        flags |= chosen ? 0u : GUARD_HIDDEN;
    /* rm -rf: on Linux rm is the program, not an alias */
    for (size_t i = 0; i < b->count; i++) {
        if (!str_eqi(b->args[i].name, STR("rf")) && !str_eqi(b->args[i].name, STR("fr")))
            continue;
        flags = GUARD_RECURSE | GUARD_FORCE;
        if (b->args[i].value.kind == VALUE_STRING)
            delete_path(b, eval_word(b->r, b->args[i].node, b->args[i].value), flags);
    }
    delete_paths(b, flags);
    return value_kind(VALUE_VOID);
}

/* A pattern, or what Get-ChildItem found. */
static bool names_many(struct str path)
{
    return str_has_char(path, '*') || str_has_char(path, '?') || str_has_char(path, GUARD_HOLE) ||
           path.n == 0;
}

struct ps_value cmdlet_clear_content(struct ps_bound *b)
{
    enum { FORCE = 5 };
    size_t path = b->present[0] ? 0 : 1;
    if (b->present[path] && !b->r->quiet)
        guard_write(b->r->g, b->who, bound_word(b, path), true);
    /* nothing asks before the content of every file that is found goes */
    bool many = str_eq(b->who, STR("Clear-Item")) || b->input.kind != VALUE_VOID ||
                (b->present[path] && names_many(bound_word(b, path).text));
    delete_paths(b, many || bound_switch(b, FORCE) ? GUARD_FORCE : 0);
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_remove_property(struct ps_bound *b)
{
    enum { FORCE = 6 };
    delete_paths(b, bound_switch(b, FORCE) ? GUARD_FORCE : 0);
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_recycle_bin(struct ps_bound *b)
{
    if (!b->r->quiet)
        guard_find(b->r->g, GUARD_DESTROY_OUTSIDE, bound_command(b), b->who,
                   "empties the recycle bin", "do this yourself, outside the sandbox");
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_disk(struct ps_bound *b)
{
    if (!b->r->quiet && !bound_what_if(b))
        guard_find(b->r->g, GUARD_DESTROY_DISK, bound_command(b), b->who, NULL, NULL);
    return value_unknown();
}

struct ps_value cmdlet_remove_wmi(struct ps_bound *b)
{
    struct str class = bound_class(b, 1, 0);
    if (str_findi(class, STR("shadowcopy"), 0) < class.n && !b->r->quiet)
        guard_find(b->r->g, GUARD_DESTROY_DISK, bound_command(b), b->who, NULL, NULL);
    return value_unknown();
}
