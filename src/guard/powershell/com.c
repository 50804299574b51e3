/* SPDX-License-Identifier: Apache-2.0 */
/* COM objects that a PowerShell script makes: what making one starts, and what its members do. */
#include "guard/powershell/com.h"

#include "guard/names.h"

enum com_class {
    COM_OTHER = 0,
    COM_OUTSIDE,
    COM_BROWSER,
    COM_SHELL,
    COM_SCRIPT_SHELL,
    COM_FILES,
    COM_WMI,
    COM_TASKS
};

static const struct {
    struct str name;
    enum com_class class;
} classes[] = {
#define COM(name, class) {{name, sizeof(name) - 1}, COM_##class},
#include "guard/tables/ps_com.def"
#undef COM
};

static bool is(struct str a, const char *b)
{
    return str_eqi(a, str_of(b));
}

static enum com_class class_of(struct str name)
{
    if (name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}')
        name = str_slice(name, 1, name.n - 1);
    for (int pass = 0; pass < 2; pass++) {
        size_t row = NAME_ROW(classes, name);
        if (row < NAME_ROWS(classes))
            return classes[row].class;
        /* Excel.Application.16: a version at the end */
        while (name.n && ascii_is_digit(name.p[name.n - 1]))
            name.n--;
        if (name.n && name.p[name.n - 1] == '.')
            name.n--;
    }
    return COM_OTHER;
}

struct value dotnet_com(struct ps_run *r, struct ps_node *at, struct str progid)
{
    struct word word = {.text = progid, .start = at->start, .end = at->end};
    struct str name = fold_lower(&r->f, str_trim(progid));
    if (str_has_char(name, GUARD_HOLE)) {
        ps_run_opaque_command(r, word);
        return value_unknown();
    }
    if (str_starts(name, STR("winmgmts:"))) {
        size_t colon = name.n;
        while (colon > 0 && name.p[colon - 1] != ':' && name.p[colon - 1] != '\\')
            colon--;
        return value_object(&r->f, fold_concat(&r->f, STR("wmi/"), str_from(name, colon)),
                            STR_NONE);
    }
    switch (class_of(name)) {
    case COM_OUTSIDE:
    case COM_TASKS:
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, word, progid,
                   "is a program that COM starts outside the sandboxed process tree", NULL);
        break;
    case COM_BROWSER: guard_find(r->g, GUARD_LAUNCH_BROWSER, word, progid, NULL, NULL); break;
    default: break;
    }
    return value_object(&r->f, fold_concat(&r->f, STR("com/"), name), STR_NONE);
}

static void shell_call(struct ps_run *r, struct ps_node *node, struct str member, struct word first)
{
    static const char *const opening[] = {
        "shellexecute",     "open",         "explore",  "filerun",   "invokeverb", "invokeverbex",
        "controlpanelitem", "servicestart", "navigate", "navigate2", "findfiles",  "doit"};
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        if (!is(member, opening[i]))
            continue;
        bool url = guard_is_url(first.text);
        if (r->quiet && !word_known(first))
            return;
        guard_find(r->g, url ? GUARD_LAUNCH_URL : GUARD_LAUNCH_OUTSIDE, first, member,
                   "hands this to the desktop's shell, outside the sandbox", NULL);
        return;
    }
    (void)node;
}

static void script_shell_call(struct ps_run *r, struct ps_node *node, struct str member,
                              struct value *args, size_t count, struct word first)
{
    if ((is(member, "run") || is(member, "exec")) && count) {
        struct ps_words w = {.r = r};
        words_split(&w, node->kind == PS_CALL && node->c ? node->c : node,
                    value_text(&r->f, args[0]));
        if (w.count)
            ps_run_open(r, member, w.words[0], w.words + 1, w.count - 1);
    } else if (is(member, "sendkeys")) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, "types into other programs' windows",
                   "call the program directly");
    }
}

struct value com_call(struct ps_run *r, struct ps_node *node, struct value object,
                      struct str member, struct value *args, size_t count)
{
    struct str name = str_from(object.object->type, 4);
    struct ps_node *at = node->kind == PS_CALL && node->c ? node->c : node;
    struct word first = count
                            ? eval_word(r, at, args[0])
                            : (struct word){.text = member, .start = node->start, .end = node->end};
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == VALUE_BLOCK)
            ps_run_block_on(r, args[i].node, object);
    switch (class_of(name)) {
    case COM_SHELL: shell_call(r, node, member, first); break;
    case COM_SCRIPT_SHELL: script_shell_call(r, node, member, args, count, first); break;
    case COM_FILES:
        if (is(member, "deletefolder") || is(member, "deletefile"))
            ps_run_delete(r, member, first, GUARD_FORCE | GUARD_RECURSE);
        break;
    case COM_WMI:
        if (is(member, "create") || str_startsi(member, STR("execmethod")))
            guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        break;
    case COM_TASKS:
        if (str_startsi(member, STR("registertask")) || str_startsi(member, STR("run")))
            guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        break;
    default:
        if (is(member, "shellexecute") || is(member, "executeshellcommand"))
            guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        else if (str_startsi(member, STR("navigate")))
            guard_find(r->g, GUARD_LAUNCH_BROWSER, first, member, NULL, NULL);
        break;
    }
    return object;
}
