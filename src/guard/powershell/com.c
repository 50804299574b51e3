/* SPDX-License-Identifier: Apache-2.0 */
/* COM objects of a PowerShell script: the effects of making one and of calling its members. */
#include "guard/powershell/dotnet.h"

#include "guard/names.h"

enum com_class {
    COM_OTHER = 0,
    COM_LIBRARY,
    COM_OUTSIDE,
    COM_BROWSER,
    COM_SHELL,
    COM_SCRIPT_SHELL,
    COM_FILES,
    COM_WMI,
    COM_TASKS
};

static const struct class_pool {
#define COM(name, class) char ROW(n)[sizeof name];
#include "guard/tables/ps_com.def"
#undef COM
} class_pool = {
#define COM(name, class) name,
#include "guard/tables/ps_com.def"
#undef COM
};

static const struct {
    uint16_t name;
    uint8_t class;
} classes[] = {
#define COM(name, class) {PLACE(class_pool, ROW(n)), COM_##class},
#include "guard/tables/ps_com.def"
#undef COM
};

static enum com_class class_of(struct str name)
{
    if (name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}')
        name = str_slice(name, 1, name.n - 1);
    for (int pass = 0; pass < 2; pass++) {
        size_t row = NAME_ROW(class_pool, classes, name);
        if (row < NAME_ROWS(classes))
            return (enum com_class)classes[row].class;
        /* Excel.Application.16: a version at the end */
        while (name.n && (ascii_is_digit(name.p[name.n - 1]) || name.p[name.n - 1] == '.'))
            name.n--;
    }
    return COM_OTHER;
}

struct ps_value dotnet_com(struct ps_run *r, struct ps_node *at, struct str progid)
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
    case COM_OTHER:
        if (!r->quiet)
            guard_find(r->g, GUARD_OPAQUE_COMMAND, word, progid,
                       "may be a program that COM starts outside the sandboxed process tree",
                       "call a program or a cmdlet directly");
        break;
    default: break;
    }
    return value_object(&r->f, fold_concat(&r->f, STR("com/"), name), STR_NONE);
}

static void shell_call(struct ps_call *c, struct str member, struct word first)
{
    static const char *const opening[] = {
        "shellexecute",     "open",         "explore",  "filerun",   "invokeverb", "invokeverbex",
        "controlpanelitem", "servicestart", "navigate", "navigate2", "findfiles",  "doit"};
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        if (!str_is(member, opening[i]))
            continue;
        bool url = guard_is_url(first.text);
        if (c->r->quiet && !word_known(first))
            return;
        guard_find(c->r->g, url ? GUARD_LAUNCH_URL : GUARD_LAUNCH_OUTSIDE, first, member,
                   "hands this to the desktop's shell, outside the sandbox", NULL);
        return;
    }
}

static void script_shell_call(struct ps_call *c, struct str member, struct word first)
{
    if ((str_is(member, "run") || str_is(member, "exec")) && c->count) {
        struct ps_words w = {.r = c->r};
        words_split(&w, call_place(c->node, 0), value_text(&c->r->f, c->args[0]));
        if (w.count)
            ps_run_open(c->r, member, w.words[0], w.words + 1, w.count - 1);
    } else if (str_is(member, "createshortcut")) {
        guard_write(c->r->g, member, first, true);
    } else if (str_is(member, "regwrite")) {
        guard_write(c->r->g, member, first, false);
    } else if (str_is(member, "sendkeys")) {
        guard_find(c->r->g, GUARD_LAUNCH_OUTSIDE, first, member,
                   "types into other programs' windows", "call the program directly");
    }
}

/* shell.SpecialFolders(name), shell.SpecialFolders.Item(name): a folder by its name. */
static bool names_folder(const struct ps_call *c)
{
    struct str property = c->object.object->text;
    return c->count && (str_is(c->member, "specialfolders") ||
                        (property.p && str_is(property, "specialfolders")));
}

/* NameSpace(folder) gives the folder that CopyHere and MoveHere write into. */
static struct ps_value folder_call(struct ps_call *c)
{
    struct ps_fold *f = &c->r->f;
    struct ps_value folder = value_object(f, c->type, STR_NONE),
                    into = property_of(c->object, "into");
    if (str_is(c->member, "namespace") && c->count && folder.kind == VALUE_OBJECT) {
        struct ps_value special = fold_special_folder(f, c->args[0]);
        value_put(f, &folder.object->properties, STR("into"),
                  special.kind == VALUE_STRING ? special : c->args[0]);
    }
    if (into.kind == VALUE_STRING && !c->r->quiet &&
        (str_is(c->member, "copyhere") || str_is(c->member, "movehere")))
        guard_write(c->r->g, c->member, eval_word(c->r, c->node, into), false);
    return folder;
}

static void plain_call(struct ps_call *c, struct str member)
{
    struct guard *g = c->r->g;
    struct word first =
        c->count ? call_word(c, 0)
                 : (struct word){.text = member, .start = c->node->start, .end = c->node->end};
    switch (class_of(str_from(c->type, 4))) {
    case COM_SHELL: shell_call(c, member, first); break;
    case COM_SCRIPT_SHELL: script_shell_call(c, member, first); break;
    case COM_FILES:
        if (str_is(member, "deletefolder") || str_is(member, "deletefile"))
            ps_run_delete(c->r, member, first, GUARD_FORCE | GUARD_RECURSE);
        break;
    case COM_WMI:
        if (str_is(member, "create") || str_startsi(member, STR("execmethod")))
            guard_find(g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        break;
    case COM_TASKS:
        if (str_startsi(member, STR("registertask")) || str_startsi(member, STR("run")))
            guard_find(g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        break;
    default:
        if (str_is(member, "shellexecute") || str_is(member, "executeshellcommand"))
            guard_find(g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
        else if (str_startsi(member, STR("navigate")))
            guard_find(g, GUARD_LAUNCH_BROWSER, first, member, NULL, NULL);
        break;
    }
}

struct ps_value com_call(struct ps_call *c)
{
    call_blocks(c, c->object);
    struct str property = c->object.object->text;
    if (property.p && str_is(c->member, "invoke")) { /* object.Name.Invoke(…) */
        if (str_has_char(property, GUARD_HOLE))
            ps_run_opaque_command(c->r, word_unknown(c->node->start, c->node->end));
        else
            plain_call(c, property);
        return value_object(&c->r->f, c->type, STR_NONE);
    }
    if (names_folder(c))
        return fold_special_folder(&c->r->f, c->args[0]);
    plain_call(c, c->member);
    return folder_call(c);
}
