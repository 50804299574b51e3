/* SPDX-License-Identifier: Apache-2.0 */
/* Script files: those that the text wrote, and those on the disk inside the roots. */
#include "guard/files.h"
#include "guard/names.h"
#include "guard/state.h"

bool guard_is_share(struct str path)
{
    return (str_starts(path, STR("\\\\")) || str_starts(path, STR("//"))) && path.n > 3 &&
           (ascii_is_alnum(path.p[2]) || path.p[2] == GUARD_HOLE);
}

static void note_unread(struct guard *g, struct str path)
{
    for (size_t i = 0; i < g->unread_count; i++)
        if (str_eq(g->unread[i], path))
            return;
    if (g->unread_count < GUARD_MAX_UNREAD)
        g->unread[g->unread_count++] = guard_without_holes(g, path);
}

/* The text of a script on the disk that lies inside the roots; false if it is not read. */
static bool on_disk(struct guard *g, struct word path, struct str *text)
{
    const struct policy *policy = g->question.policy ? g->question.policy : g->question.defaults;
    if (!g->question.read_file || !word_known(path))
        return false;
    enum guard_place place = guard_place_in(g, policy, path.text);
    if (place != GUARD_PLACE_INSIDE && place != GUARD_PLACE_PROTECTED)
        return false;
    auto_buf struct buf content = {0};
    int rc = g->question.read_file(g->question.context, guard_from_start(g, path.text), &content);
    if (rc && rc != CORDON_E_TOOBIG)
        return false;
    if (!rc && content.n <= GUARD_MAX_INPUT)
        *text = arena_copy(&g->arena, buf_str(&content));
    if (!text->p)
        guard_limit(g, path);
    return true;
}

/* #!/usr/bin/env python3: another language than its shell's. */
static bool other_language(struct str text)
{
    static const struct str names[] = {STR("python"), STR("node"), STR("perl"), STR("ruby"),
                                       STR("php")};
    struct str line = str_slice(text, 0, str_find_char(text, '\n', 0));
    for (size_t i = 0; str_starts(line, STR("#!")) && i < NAME_ROWS(names); i++)
        if (str_find(line, names[i], 0) < line.n)
            return true;
    return false;
}

bool guard_script_as(struct guard *g, struct word path, enum guard_shell shell)
{
    struct str text = guard_written(g, path.text);
    if (!text.p &&
        (str_starts(path.text, STR("/dev/fd/")) || str_starts(path.text, STR("/proc/self/fd/")))) {
        guard_opaque_text(g, path, STR("this script"));
        return true;
    }
    if (!text.p)
        return guard_script(g, path);
    struct word code = path;
    code.text = text;
    if (shell == GUARD_NO_SHELL || other_language(text))
        guard_code(
            g, str_starts(path.text, STR("/dev/fd/")) ? STR("this script") : name_leaf(path.text),
            code);
    else
        guard_read_deeper(g, shell, path, text, READ_BATCH_FILE);
    return true;
}

bool guard_script_opens(struct guard *g, struct word *path)
{
    const struct guard_file *file = files_find(&g->files, path->text);
    if (file && file->original.p)
        path->text = file->original;
    return (!file || file->original.p) && guard_is_launcher(g, path->text);
}

/* False if no script has this extension. */
static bool find_shell(struct str extension, enum guard_shell *shell)
{
    static const struct script_pool {
#define SCRIPT(extension, shell) char ROW(n)[sizeof extension];
#include "guard/tables/scripts.def"
#undef SCRIPT
    } pool = {
#define SCRIPT(extension, shell) extension,
#include "guard/tables/scripts.def"
#undef SCRIPT
    };
    static const struct {
        uint16_t extension;
        uint8_t shell;
    } scripts[] = {
#define SCRIPT(extension, shell) {PLACE(script_pool, ROW(n)), GUARD_##shell},
#include "guard/tables/scripts.def"
#undef SCRIPT
    };
    size_t row = NAME_ROW(pool, scripts, extension);
    if (row == NAME_ROWS(scripts))
        return false;
    *shell = (enum guard_shell)scripts[row].shell;
    return true;
}

enum guard_shell guard_script_shell(struct str name)
{
    enum guard_shell shell;
    return find_shell(name_extension(name), &shell) ? shell : GUARD_NO_SHELL;
}

bool guard_script(struct guard *g, struct word path)
{
    enum guard_shell shell;
    bool found = find_shell(name_extension(path.text), &shell);
    if (!found && g->files.newest && !name_extension(path.text).n) {
        path.text = files_with_extension(&g->files, path.text);
        found = find_shell(name_extension(path.text), &shell);
    }
    if (!found)
        return false;
    struct str text = guard_written(g, path.text);
    if (shell == GUARD_NO_SHELL) {
        struct word code = path;
        code.text = text;
        if (text.p)
            guard_code(g,
                       str_starts(path.text, STR("/dev/fd/")) ? STR("this script")
                                                              : name_leaf(path.text),
                       code);
        return text.p != NULL;
    }
    if (!text.p && !on_disk(g, path, &text)) {
        if (guard_is_share(path.text))
            guard_opaque_command(g, path, STR("this script, which lies on another machine,"));
        note_unread(g, path.text);
        return false;
    }
    if (text.p)
        guard_read_deeper(g, shell, path, text, READ_BATCH_FILE);
    return true;
}
