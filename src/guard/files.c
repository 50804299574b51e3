/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a command writes: kept by name, judged when the command runs them. */
#include "guard/files.h"
#include "guard/names.h"
#include "guard/state.h"

/* ./a.sh and .\\a.sh are a.sh. */
static struct str without_dot(struct str path)
{
    while (path.n > 2 && path.p[0] == '.' && (path.p[1] == '/' || path.p[1] == '\\'))
        path = str_from(path, 2);
    return path;
}

static unsigned hash_of(struct str name)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)ascii_lower(name.p[i])) * 16777619u;
    return hash;
}

/* The name without its extension; "" if it has none. */
static struct str stem_of(struct str leaf)
{
    struct str extension = name_extension(leaf);
    return extension.n ? str_slice(leaf, 0, leaf.n - extension.n - 1) : STR("");
}

struct guard_file *files_find(const struct guard_files *files, struct str path)
{
    if (!files->newest)
        return NULL;
    path = without_dot(path);
    struct str leaf = name_leaf(path);
    unsigned hash = hash_of(leaf);
    struct guard_file *named = NULL;
    for (struct guard_file *f = files->newest; f; f = f->older) {
        if (f->leaf_hash != hash || !str_eqi(name_leaf(f->path), leaf))
            continue;
        if (str_eqi(f->path, path))
            return f;
        named = named ? named : f;
    }
    return named;
}

struct str files_with_extension(const struct guard_files *files, struct str path)
{
    struct str leaf = name_leaf(path);
    unsigned hash = hash_of(leaf);
    for (const struct guard_file *f = files->newest; f && leaf.n; f = f->older)
        if (f->stem_hash == hash && str_eqi(stem_of(name_leaf(f->path)), leaf))
            return f->path;
    return path;
}

static void append_to(struct guard *g, struct guard_file *file, struct str content)
{
    size_t n = file->content.n + content.n;
    char *p = guard_spend(g, n) ? arena_alloc(&g->arena, n + 1) : NULL;
    if (!p) {
        guard_limit(g, (struct word){0});
        return;
    }
    str_copy(p, file->content);
    str_copy(p + file->content.n, content);
    file->content = (struct str){p, n};
    file->built = false;
}

static void add_file(struct guard *g, struct str path, struct str content)
{
    enum { MOST_FILES = 256 };
    struct guard_file *file =
        g->files.count < MOST_FILES ? ARENA_NEW(&g->arena, struct guard_file) : NULL;
    if (!file) {
        guard_limit(g, (struct word){0});
        return;
    }
    struct str leaf = name_leaf(without_dot(path));
    *file = (struct guard_file){.older = g->files.newest,
                                .path = without_dot(path),
                                .content = content,
                                .leaf_hash = hash_of(leaf),
                                .stem_hash = hash_of(stem_of(leaf))};
    g->files.newest = file;
    g->files.count++;
}

void guard_wrote(struct guard *g, struct str path, struct str content, bool append)
{
    /* a folder that is not known is the same one each time it is named */
    if (g->stopped || path.n == 0 || path.p[path.n - 1] == GUARD_HOLE)
        return;
    struct guard_file *old = files_find(&g->files, path);
    if (!old) {
        add_file(g, path, content);
    } else if (append) {
        append_to(g, old, content);
    } else {
        old->content = content;
        old->original = STR_NONE;
        old->built = false;
    }
}

void guard_wrote_unknown(struct guard *g, struct str path)
{
    if (!str_startsi(path, STR("/dev/")) && !str_eqi(path, STR("nul")))
        guard_wrote(g, path, STR("\xFF"), false);
}

struct str guard_written(const struct guard *g, struct str path)
{
    const struct guard_file *file = files_find(&g->files, path);
    return file ? file->content : STR_NONE;
}

void guard_copied(struct guard *g, struct str from, struct str to)
{
    struct str text = guard_written(g, from);
    if (text.p) {
        guard_wrote(g, to, text, false);
        return;
    }
    if (str_eq(from, STR("/dev/stdin")) || str_starts(from, STR("/dev/fd/"))) {
        guard_wrote_unknown(g, to);
        return;
    }
    if (name_extension(to).n && !str_eqi(name_extension(to), STR("exe")))
        return;
    guard_wrote(g, to, STR_NONE, false);
    struct guard_file *file = files_find(&g->files, to);
    if (file)
        file->original = from;
}

void guard_linked(struct guard *g, struct str to, struct str link)
{
    guard_copied(g, to, link);
    struct guard_file *file = files_find(&g->files, link);
    if (!file) {
        guard_wrote(g, link, STR_NONE, false);
        file = files_find(&g->files, link);
    }
    if (file)
        file->link = to;
}

void guard_moved(struct guard *g, struct str from, struct str to)
{
    if (guard_place_of(g, from) != GUARD_PLACE_GIT) {
        guard_copied(g, from, to);
        return;
    }
    while (to.n > 1 && (to.p[to.n - 1] == '/' || to.p[to.n - 1] == '\\'))
        to.n--;
    guard_linked(g, from, to);
    struct guard_file *file = files_find(&g->files, to);
    if (file)
        file->moved = true;
}

/* A link whose path is exactly this; NULL if the text made none. */
static const struct guard_file *find_link(const struct guard_files *files, struct str path)
{
    const struct guard_file *file = files_find(files, path);
    return file && file->link.p && str_eqi(file->path, without_dot(path)) ? file : NULL;
}

struct str guard_through_link(struct guard *g, struct str path)
{
    for (size_t i = 1; g->files.newest && i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/' && path.p[i] != '\\')
            continue;
        const struct guard_file *file = find_link(&g->files, str_slice(path, 0, i));
        if (!file || (i == path.n && !file->moved))
            continue;
        /* a relative target starts from the folder of the link */
        struct str folder = str_slice(path, 0, i - name_leaf(str_slice(path, 0, i)).n);
        bool whole = ascii_is_in(file->link.p[0], "/\\~") || str_has_char(file->link, ':');
        struct str rest = str_from(path, i);
        char *p = guard_spend(g, path.n + file->link.n)
                      ? arena_alloc(&g->arena, path.n + file->link.n)
                      : NULL;
        if (!p)
            return STR("\xFF");
        size_t n = whole ? 0 : folder.n;
        str_copy(p, str_slice(folder, 0, n));
        str_copy(p + n, file->link);
        str_copy(p + n + file->link.n, rest);
        return (struct str){p, n + file->link.n + rest.n};
    }
    return path;
}

struct word guard_original(struct guard *g, struct word program)
{
    const struct guard_file *file = files_find(&g->files, program.text);
    if (g->files.newest && !file && g->shell != GUARD_BASH && !name_extension(program.text).n)
        file = files_find(&g->files, files_with_extension(&g->files, program.text));
    if (!file || (g->shell == GUARD_BASH && !str_has_char(program.text, '/') && !g->path_changed))
        return program;
    if (file->original.p)
        program.text = file->original;
    else if (str_eq(file->content, STR("\xFF")))
        guard_opaque_command(g, program,
                             STR("this file, which the command itself fetches or makes,"));
    return program;
}

/* Text that is not built or loaded. */
static bool is_plain_text(struct str path)
{
    return name_is_one_of(name_extension(path),
                          STR("md|txt|rst|html|htm|css|log|csv|json|svg|sh|bash|"
                              "ps1|psm1|cmd|bat|vbs|url|lnk|desktop"));
}

void guard_build(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    for (size_t i = 1; g->files.newest && i < call->count && !g->stopped; i++) {
        struct guard_file *file = files_find(&g->files, call->words[i].text);
        if (!file || file->built || file->original.p || str_eq(file->content, STR("\xFF")))
            continue;
        struct word code = call->words[i];
        code.text = file->content;
        file->built = true;
        guard_code(g, name_leaf(file->path), code);
    }
    for (struct guard_file *file = g->files.newest; file && !g->stopped; file = file->older) {
        struct word code = call->words[0];
        code.text = file->content;
        if (file->built || file->original.p || is_plain_text(file->path) ||
            !guard_spend(g, file->content.n))
            continue;
        file->built = true;
        if (guard_source_opens(g, code))
            guard_find(g, GUARD_OPAQUE_TEXT, call->words[0], who,
                       "may run a file that this command writes, which opens or starts something",
                       NULL);
    }
}
