/* SPDX-License-Identifier: Apache-2.0 */
/* Types, objects and members: what .NET and WMI calls of a PowerShell script do. */
#include "guard/powershell/run.h"

#include "guard/names.h"
#include "guard/powershell/com.h"

static bool is(struct str a, const char *b)
{
    return str_eqi(a, str_of(b));
}

/* The node of the n-th argument, for its place. */
static struct ps_node *place(struct ps_node *node, size_t n)
{
    if (node->kind != PS_CALL)
        return node;
    struct ps_node *arg = node->c;
    while (arg && n--)
        arg = arg->next;
    return arg ? arg : node;
}

static struct word arg_word(struct ps_run *r, struct ps_node *node, const struct value *args,
                            size_t count, size_t n)
{
    if (n >= count)
        return word_unknown(node->start, node->end);
    return eval_word(r, place(node, n), args[n]);
}

struct str dotnet_type(struct ps_run *r, struct str name)
{
    name = fold_lower(&r->f, str_trim(name));
    if (str_starts(name, STR("system.")))
        name = str_from(name, 7);
    if (is(name, "powershell"))
        return STR("management.automation.powershell");
    if (is(name, "scriptblock") || is(name, "management.automation.scriptblock"))
        return STR("scriptblock");
    if (!str_has_char(name, '.')) {
        /* using namespace System.Diagnostics: [Process] */
        static const char *const known[] = {"diagnostics.process",
                                            "diagnostics.processstartinfo",
                                            "io.directory",
                                            "io.file",
                                            "io.path",
                                            "text.encoding",
                                            "text.stringbuilder",
                                            "management.managementclass",
                                            "windows.forms.help",
                                            "microsoft.visualbasic.interaction",
                                            "microsoft.visualbasic.fileio.filesystem",
                                            "runtime.interopservices.marshal"};
        for (size_t i = 0; i < r->namespace_count; i++) {
            struct str space = fold_lower(&r->f, r->namespaces[i]);
            if (str_starts(space, STR("system.")))
                space = str_from(space, 7);
            for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
                struct str type = str_of(known[k]);
                if (type.n == space.n + 1 + name.n && str_starts(type, space) &&
                    str_ends(type, name) && type.p[space.n] == '.')
                    return type;
            }
        }
    }
    return name;
}

/* ---- processes ---- */

static struct value property_of(struct value v, const char *name)
{
    const struct value_hash *hash = v.kind == VALUE_OBJECT ? &v.object->properties
                                    : v.kind == VALUE_HASH ? v.hash
                                                           : NULL;
    const struct value *hit = hash ? value_get(hash, str_of(name)) : NULL;
    return hit ? *hit : value_kind(VALUE_VOID);
}

static void add_arguments(struct ps_words *w, struct ps_node *at, struct value v)
{
    if (v.kind == VALUE_LIST)
        words_add(w, at, v);
    else if (v.kind != VALUE_VOID && v.kind != VALUE_NULL)
        words_split(w, at, value_text(&w->r->f, v));
}

/* Process.Start(file, arguments) or Process.Start(info). */
static struct value start(struct ps_run *r, struct ps_node *node, const struct value *args,
                          size_t count)
{
    if (count == 0)
        return value_unknown();
    struct ps_words w = {.r = r};
    struct value file = args[0], arguments = count > 1 ? args[1] : value_kind(VALUE_VOID);
    if (file.kind == VALUE_OBJECT || file.kind == VALUE_HASH) {
        struct value info = file;
        struct str verb = value_text(&r->f, property_of(info, "verb"));
        if (is(verb, "runas"))
            guard_find(r->g, GUARD_LAUNCH_OUTSIDE,
                       (struct word){.text = verb, .start = node->start, .end = node->end},
                       STR("Process.Start"),
                       "starts the program elevated, outside the sandboxed process tree", NULL);
        file = property_of(info, "filename");
        arguments = property_of(info, "arguments");
        if (file.kind == VALUE_VOID)
            file = value_unknown();
    }
    add_arguments(&w, place(node, count > 1 ? 1 : 0), arguments);
    ps_run_open(r, STR("Process.Start"), eval_word(r, place(node, 0), file), w.words, w.count);
    return value_object(&r->f, STR("diagnostics.process"), STR_NONE);
}

/* ---- WMI ---- */

void dotnet_wmi(struct ps_run *r, struct ps_node *at, struct str class, struct str method,
                struct str who)
{
    static const char *const starting[] = {"create",  "startservice", "registerbyxml",
                                           "install", "execute",      "exec",
                                           "start",   "runbypath",    "registertask"};
    static const char *const classes[] = {
        "win32_process",    "win32_scheduledjob", "win32_service",   "win32_product",
        "ps_scheduledtask", "win32_baseservice",  "ps_scheduledjob", "msft_scheduledtask"};
    bool unknown = str_has_char(class, GUARD_HOLE);
    bool starts = str_has_char(method, GUARD_HOLE);
    for (size_t i = class.n; i-- > 0;) {
        if (class.p[i] == ':' || class.p[i] == '\\' || class.p[i] == '/') {
            class = str_from(class, i + 1);
            break;
        }
    }
    size_t dot = str_find_char(class, '.', 0);
    class = str_trim(str_slice(class, 0, dot));
    for (size_t i = 0; i < sizeof starting / sizeof *starting; i++)
        starts |= is(method, starting[i]);
    bool risky = unknown && is(method, "create");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        risky |= is(class, classes[i]);
    if (risky && starts && !(r->quiet && unknown))
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE,
                   (struct word){.text = class, .start = at->start, .end = at->end}, who,
                   "lets a service start the process, outside the sandboxed process tree", NULL);
}

/* ---- objects ---- */

struct value dotnet_new(struct ps_run *r, struct ps_node *at, struct str type,
                        const struct value *args, size_t count)
{
    struct fold *f = &r->f;
    struct value out;
    if (is(type, "string") || str_startsi(type, STR("text.asciiencoding")) ||
        str_startsi(type, STR("text.u"))) {
        fold_static(f, type, STR("new"), args, count, &out);
        return out;
    }
    if (is(type, "uri"))
        return count == 0 ? value_unknown()
                          : value_string(count == 1 ? value_text(f, args[0])
                                                    : fold_concat(f, value_text(f, args[0]),
                                                                  value_text(f, args[1])));
    if (is(type, "management.managementclass") || is(type, "management.managementobject"))
        return value_object(
            f,
            fold_concat(f, STR("wmi/"),
                        count ? fold_lower(f, value_text(f, args[count - 1])) : STR("")),
            STR_NONE);
    if (is(type, "collections.hashtable") ||
        is(type, "collections.specialized.ordereddictionary")) {
        out = value_kind(VALUE_HASH);
        out.hash = ARENA_NEW(f->arena, struct value_hash);
        return out.hash ? out : value_unknown();
    }
    (void)at;
    out = value_object(f, type, STR_NONE);
    if (out.kind != VALUE_OBJECT)
        return out;
    if (is(type, "text.stringbuilder"))
        out.object->text = count ? value_text(f, args[0]) : STR("");
    if (is(type, "diagnostics.processstartinfo")) {
        if (count > 0)
            value_put(f, &out.object->properties, STR("filename"), args[0]);
        if (count > 1)
            value_put(f, &out.object->properties, STR("arguments"), args[1]);
    }
    if (str_startsi(type, STR("io.")) && count)
        value_put(f, &out.object->properties, STR("fullname"), args[0]);
    return out;
}

static struct value method_value(struct ps_run *r, struct value of, struct str name, bool reflected)
{
    struct value v = value_object(&r->f, reflected ? STR("mreflected") : STR("method"), name);
    if (v.kind != VALUE_OBJECT)
        return v;
    v.kind = VALUE_METHOD;
    v.object->of = of;
    return v;
}

static void run_blocks(struct ps_run *r, const struct value *args, size_t count, struct value on)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == VALUE_BLOCK)
            ps_run_block_on(r, args[i].node, on);
}

/* ---- static members ---- */

static struct value delete_tree(struct ps_run *r, struct ps_node *node, const struct value *args,
                                size_t count, struct str who, unsigned flags)
{
    if (count)
        ps_run_delete(r, who, arg_word(r, node, args, count, 0), flags);
    return value_kind(VALUE_VOID);
}

static struct value static_call(struct ps_run *r, struct ps_node *node, struct str type,
                                struct str member, struct value *args, size_t count)
{
    struct fold *f = &r->f;
    struct value out;
    if (is(member, "new"))
        return dotnet_new(r, node, type, args, count);
    if (is(type, "diagnostics.process") && is(member, "start"))
        return start(r, node, args, count);
    if (is(type, "microsoft.visualbasic.interaction")) {
        if (is(member, "shell") && count) {
            struct ps_words w = {.r = r};
            words_split(&w, place(node, 0), value_text(f, args[0]));
            if (w.count)
                ps_run_open(r, STR("Interaction.Shell"), w.words[0], w.words + 1, w.count - 1);
        } else if ((is(member, "createobject") || is(member, "getobject")) && count) {
            return dotnet_com(r, place(node, 0),
                              value_text(f, args[is(member, "getobject") ? count - 1 : 0]));
        }
        return value_unknown();
    }
    if (is(type, "windows.forms.help") && count > 1) {
        ps_run_open(r, STR("Help.ShowHelp"), arg_word(r, node, args, count, 1), NULL, 0);
        return value_unknown();
    }
    if (str_startsi(type, STR("windows.system.launcher")) && count) {
        ps_run_open(r, STR("Launcher"), arg_word(r, node, args, count, 0), NULL, 0);
        return value_unknown();
    }
    if (is(type, "windows.forms.sendkeys")) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, arg_word(r, node, args, count, 0), STR("SendKeys"),
                   "types into other programs' windows", NULL);
        return value_unknown();
    }
    if (is(type, "io.directory") && is(member, "delete"))
        return delete_tree(r, node, args, count, STR("Directory.Delete"),
                           count > 1 && fold_truth(args[1]) != 0 ? GUARD_RECURSE : 0);
    if (is(type, "io.file") && is(member, "delete"))
        return delete_tree(r, node, args, count, STR("File.Delete"), GUARD_FORCE);
    if (is(type, "microsoft.visualbasic.fileio.filesystem") && str_startsi(member, STR("delete")))
        return delete_tree(r, node, args, count, STR("FileSystem.Delete"),
                           GUARD_FORCE | GUARD_RECURSE);
    if (is(type, "activator") && is(member, "createinstance") && count) {
        if (args[0].kind == VALUE_OBJECT && str_eq(args[0].object->type, STR("comtype")))
            return dotnet_com(r, node, args[0].object->text);
        if (args[0].kind == VALUE_TYPE)
            return dotnet_new(r, node, args[0].text, args + 1, count - 1);
        return value_unknown();
    }
    if (is(type, "type") || is(type, "runtimetype")) {
        if ((is(member, "gettypefromprogid") || is(member, "gettypefromclsid")) && count)
            return value_object(f, STR("comtype"), value_text(f, args[0]));
        if (is(member, "gettype") && count)
            return fold_cast(f, STR("type"), args[0]);
        return value_unknown();
    }
    if (is(type, "runtime.interopservices.marshal")) {
        if ((is(member, "getactiveobject") || is(member, "bindtomoniker")) && count)
            return dotnet_com(r, place(node, 0), value_text(f, args[0]));
        return count ? args[0] : value_unknown();
    }
    if (is(type, "scriptblock") && is(member, "create") && count)
        return args[0].kind == VALUE_BLOCK ? args[0]
                                           : value_object(f, STR("code"), value_text(f, args[0]));
    if (is(type, "management.automation.powershell") && is(member, "create"))
        return value_object(f, STR("powershell"), STR_NONE);
    if (is(type, "environment") && count) {
        struct str name = value_text(f, args[0]);
        bool set;
        if (is(member, "setenvironmentvariable") && count > 1) {
            scope_set(r, SPACE_ENV, name, args[1]);
            return value_kind(VALUE_VOID);
        }
        if (is(member, "getenvironmentvariable"))
            return variable_get(r, fold_concat(f, STR("env:"), name), &set);
    }
    /* Whoever wrote it: ShellExecute is ShellExecute. */
    if (str_startsi(member, STR("shellexecute"))) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE,
                   (struct word){.text = member, .start = node->start, .end = node->end}, member,
                   "hands this to the desktop's shell", NULL);
        return value_unknown();
    }
    if (fold_static(f, type, member, args, count, &out))
        return out;
    run_blocks(r, args, count, value_unknown());
    return value_unknown();
}

/* ---- instance members ---- */

static struct value run_pending(struct ps_run *r, struct ps_node *node, struct value shell)
{
    struct value_object *o = shell.object;
    const struct value *script = value_get(&o->properties, STR("script"));
    const struct value *command = value_get(&o->properties, STR("command"));
    const struct value *arguments = value_get(&o->properties, STR("arguments"));
    struct ps_arg few[8];
    size_t count = 0;
    for (size_t i = 0; arguments && arguments->kind == VALUE_LIST && i < arguments->count; i++)
        if (count < 8)
            few[count++] = (struct ps_arg){.node = node, .value = arguments->items[i]};
    if (script)
        ps_run_code(r, node, *script, STR("PowerShell.AddScript"));
    if (command)
        ps_run_value(r, *command, node, few, count, value_kind(VALUE_VOID), false);
    return value_unknown();
}

static struct value powershell_call(struct ps_run *r, struct ps_node *node, struct value shell,
                                    struct str member, const struct value *args, size_t count)
{
    struct fold *f = &r->f;
    struct value_hash *properties = &shell.object->properties;
    if (is(member, "addscript") && count)
        value_put(f, properties, STR("script"), args[0]);
    else if (is(member, "addcommand") && count)
        value_put(f, properties, STR("command"), args[0]);
    else if ((is(member, "addargument") || is(member, "addparameter")) && count) {
        struct value one = value_list(f, 1);
        if (one.kind != VALUE_LIST)
            return shell;
        one.items[0] = args[count - 1];
        const struct value *old = value_get(properties, STR("arguments"));
        value_put(f, properties, STR("arguments"), old ? fold_binary(f, OP_ADD, *old, one) : one);
    } else if (str_startsi(member, STR("invoke")) || str_startsi(member, STR("begininvoke")))
        return run_pending(r, node, shell);
    return shell;
}

static struct value builder_call(struct ps_run *r, struct value v, struct str member,
                                 const struct value *args, size_t count)
{
    if (is(member, "tostring"))
        return value_string(v.object->text);
    if (is(member, "append") && count)
        v.object->text = fold_concat(&r->f, v.object->text, value_text(&r->f, args[0]));
    else if (is(member, "appendline"))
        v.object->text = fold_concat(
            &r->f, fold_concat(&r->f, v.object->text, count ? value_text(&r->f, args[0]) : STR("")),
            STR("\r\n"));
    else if (is(member, "clear"))
        v.object->text = STR("");
    else
        v.object->text = fold_concat(&r->f, v.object->text, STR("\xFF"));
    return v;
}

static struct value object_call(struct ps_run *r, struct ps_node *node, struct value object,
                                struct str member, struct value *args, size_t count)
{
    struct str type = object.object->type;
    struct value out;
    if (str_starts(type, STR("com/")))
        return com_call(r, node, object, member, args, count);
    if (str_starts(type, STR("wmi/"))) {
        struct str method = member;
        if (is(member, "invokemethod") && count)
            method = value_text(&r->f, args[0]);
        if (is(method, "delete") && str_find(type, STR("shadowcopy"), 0) < type.n && !r->quiet)
            guard_find(r->g, GUARD_DESTROY_DISK,
                       (struct word){.text = type, .start = node->start, .end = node->end},
                       STR("Delete"), NULL, NULL);
        dotnet_wmi(r, node, str_from(type, 4).n ? str_from(type, 4) : STR("\xFF"), method, method);
        run_blocks(r, args, count, object);
        return is(member, "get") || is(member, "put") ? object : value_unknown();
    }
    if (str_starts(type, STR("encoding/")) && fold_static(&r->f, type, member, args, count, &out))
        return out;
    if (is(type, "powershell"))
        return powershell_call(r, node, object, member, args, count);
    if (is(type, "text.stringbuilder"))
        return builder_call(r, object, member, args, count);
    if (is(type, "code")) {
        if (str_startsi(member, STR("invoke")))
            return ps_run_value(r, object, node, NULL, 0, value_kind(VALUE_VOID), true);
        return is(member, "tostring") ? value_string(object.object->text) : object;
    }
    if (is(type, "invokecommand") && count) {
        if (is(member, "invokescript")) {
            for (size_t i = 0; i < count; i++)
                if (args[i].kind == VALUE_STRING || args[i].kind == VALUE_BLOCK ||
                    (args[i].kind == VALUE_UNKNOWN && count == 1))
                    ps_run_code(r, place(node, i), args[i], STR("InvokeScript"));
            return value_unknown();
        }
        if (is(member, "newscriptblock"))
            return value_object(&r->f, STR("code"), value_text(&r->f, args[0]));
        if (is(member, "expandstring"))
            return args[0];
        if (str_startsi(member, STR("getc")) && value_known(args[0])) {
            struct str name = value_text(&r->f, args[0]);
            if (str_has_char(name, '*') || str_has_char(name, '?'))
                name = cmdlet_match(name);
            return name.p ? value_object(&r->f, STR("command"), name) : value_unknown();
        }
    }
    if (is(type, "assembly") && is(member, "gettype") && count)
        return fold_cast(&r->f, STR("type"), args[0]);
    if (is(type, "diagnostics.process") && is(member, "start")) {
        struct value info = property_of(object, "startinfo");
        return info.kind == VALUE_VOID ? value_unknown() : start(r, node, &info, 1);
    }
    if (str_startsi(type, STR("io.")) && is(member, "delete")) {
        struct value path = property_of(object, "fullname");
        return delete_tree(r, node, &path, path.kind != VALUE_VOID, STR("Delete"),
                           count && fold_truth(args[0]) != 0 ? GUARD_RECURSE : 0);
    }
    if (is(type, "windows.forms.webbrowser") || is(type, "windows.controls.webbrowser")) {
        if (str_startsi(member, STR("navigate")))
            guard_find(r->g, GUARD_LAUNCH_BROWSER, arg_word(r, node, args, count, 0),
                       STR("WebBrowser"), NULL, NULL);
        return value_unknown();
    }
    if (is(type, "service") && (is(member, "start") || is(member, "continue"))) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE,
                   (struct word){.text = member, .start = node->start, .end = node->end}, member,
                   "starts a service", NULL);
        return value_unknown();
    }
    if (is(type, "variable") || is(type, "command")) {
        if (is(member, "tostring"))
            return value_string(value_text(&r->f, object));
        if (str_startsi(member, STR("invoke")))
            return ps_run_value(r, object, node, NULL, 0, value_kind(VALUE_VOID), false);
    }
    run_blocks(r, args, count, value_unknown());
    return value_unknown();
}

/* A receiver that is not known: some names speak for themselves. */
static struct value unknown_call(struct ps_run *r, struct ps_node *node, struct str member,
                                 struct value *args, size_t count)
{
    struct word first = arg_word(r, node, args, count, 0);
    run_blocks(r, args, count, value_unknown());
    if (is(member, "shellexecute") && count) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, "hands this to the desktop's shell",
                   NULL);
    } else if (is(member, "executeshellcommand")) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, NULL, NULL);
    } else if (str_startsi(member, STR("navigate")) && count && guard_is_url(first.text)) {
        guard_find(r->g, GUARD_LAUNCH_BROWSER, first, member, NULL, NULL);
    } else if ((is(member, "run") || is(member, "exec") || is(member, "start")) && count &&
               args[0].kind == VALUE_STRING && guard_is_url(first.text)) {
        ps_run_open(r, member, first, NULL, 0);
    } else if (is(member, "createpipeline") && count && args[0].kind == VALUE_STRING) {
        struct value shell = value_object(&r->f, STR("powershell"), STR_NONE);
        return shell.kind == VALUE_OBJECT
                   ? powershell_call(r, node, shell, STR("addscript"), args, count)
                   : shell;
    } else if (is(member, "invokescript") && count) {
        ps_run_code(r, place(node, 0), args[0], member);
    } else if (is(member, "delete") && count == 1 && args[0].kind == VALUE_BOOL) {
        ps_run_delete(r, STR("Delete"), word_unknown(node->start, node->end), GUARD_RECURSE);
    }
    return value_unknown();
}

static struct value invoke_method(struct ps_run *r, struct ps_node *node, struct value method,
                                  struct value *args, size_t count)
{
    struct value of = method.object->of;
    bool reflected = str_eq(method.object->type, STR("mreflected"));
    if (reflected && count > 0) { /* Invoke(object, arguments) */
        struct value list = count > 1 ? args[count - 1] : value_kind(VALUE_VOID);
        if (list.kind == VALUE_LIST)
            return dotnet_call(r, node, of, method.object->text, list.items, list.count,
                               of.kind == VALUE_TYPE);
        return dotnet_call(r, node, of, method.object->text, &list, list.kind != VALUE_VOID,
                           of.kind == VALUE_TYPE);
    }
    return dotnet_call(r, node, of, method.object->text, args, count, of.kind == VALUE_TYPE);
}

static struct value list_call(struct ps_run *r, struct ps_node *node, struct value object,
                              struct str member, struct value *args, size_t count)
{
    struct value out;
    if (count && args[0].kind == VALUE_BLOCK) { /* .ForEach({…}) and .Where({…}) */
        struct value one = value_kind(VALUE_LIST);
        one.items = &object;
        one.count = 1;
        struct value items = object.kind == VALUE_LIST ? object : one;
        struct value list = value_list(&r->f, items.count);
        for (size_t i = 0; i < items.count && i < 256 && !guard_stopped(r->g); i++) {
            struct value v = ps_run_block_on(r, args[0].node, items.items[i]);
            if (list.kind == VALUE_LIST)
                list.items[i] = is(member, "where") ? items.items[i] : v;
        }
        return list;
    }
    if (fold_method(&r->f, object, member, args, count, &out))
        return out;
    if (object.kind == VALUE_LIST && object.count && object.count <= 64 &&
        object.items[0].kind == VALUE_OBJECT) {
        for (size_t i = 0; i < object.count; i++)
            dotnet_call(r, node, object.items[i], member, args, count, false);
        return value_unknown();
    }
    return object.kind == VALUE_HASH ? value_unknown() : unknown_call(r, node, member, args, count);
}

struct value dotnet_call(struct ps_run *r, struct ps_node *node, struct value object,
                         struct str member, struct value *args, size_t count, bool is_static)
{
    if (str_has_char(member, GUARD_HOLE)) {
        for (size_t i = 0; i < count; i++)
            if (guard_is_url(arg_word(r, node, args, count, i).text))
                ps_run_opaque_command(r, word_unknown(node->start, node->end));
        run_blocks(r, args, count, value_unknown());
        return value_unknown();
    }
    switch (object.kind) {
    case VALUE_TYPE:
        if (is_static)
            return static_call(r, node, object.text, member, args, count);
        if ((is(member, "getmethod") || is(member, "getmethods")) && count)
            return method_value(r, object, value_text(&r->f, args[0]), true);
        if (is(member, "invokemember") && count) {
            struct value list = args[count - 1];
            if (list.kind == VALUE_LIST)
                return dotnet_call(r, node, object, value_text(&r->f, args[0]), list.items,
                                   list.count, true);
            return dotnet_call(r, node, object, value_text(&r->f, args[0]), &list, 1, true);
        }
        return value_unknown();
    case VALUE_METHOD:
        if (is(member, "invoke"))
            return invoke_method(r, node, object, args, count);
        return value_unknown();
    case VALUE_BLOCK:
        if (str_startsi(member, STR("invoke"))) {
            struct ps_arg few[8];
            size_t n = 0;
            for (; n < count && n < 8; n++)
                few[n] = (struct ps_arg){.node = place(node, n), .value = args[n]};
            return ps_run_block(r, object.node, few, n, value_kind(VALUE_VOID), true);
        }
        return is(member, "getnewclosure") ? object : value_unknown();
    case VALUE_OBJECT: return object_call(r, node, object, member, args, count);
    case VALUE_STRING:
        if (is_static && value_known(object)) { /* ('X' -as [type])::Start */
            return static_call(r, node, dotnet_type(r, object.text), member, args, count);
        } /* fall through */
    case VALUE_LIST:
    case VALUE_CHAR:
    case VALUE_NUMBER:
    case VALUE_BOOL:
    case VALUE_HASH: return list_call(r, node, object, member, args, count);
    default: return unknown_call(r, node, member, args, count);
    }
}

struct value dotnet_property(struct ps_run *r, struct ps_node *node, struct value object,
                             struct str member, bool is_static)
{
    struct value out;
    if (str_has_char(member, GUARD_HOLE))
        return value_unknown();
    switch (object.kind) {
    case VALUE_TYPE:
        if (!is_static) {
            if (is(member, "assembly"))
                return value_object(&r->f, STR("assembly"), STR_NONE);
            return fold_property(&r->f, object, member, &out) ? out : value_unknown();
        }
        if (str_has_char(object.text, '.') && !is(object.text, "text.encoding"))
            return method_value(r, object, member, false);
        if (fold_static(&r->f, object.text, member, NULL, 0, &out) && out.kind != VALUE_UNKNOWN)
            return out;
        return method_value(r, object, member, false);
    case VALUE_OBJECT: {
        const struct value *hit = value_get(&object.object->properties, member);
        struct str type = object.object->type;
        if (hit)
            return *hit;
        if (str_starts(type, STR("com/")) || str_starts(type, STR("wmi/")))
            return object;
        if (is(type, "executioncontext") || is(type, "invokecommand"))
            return value_object(&r->f, STR("invokecommand"), STR_NONE);
        if (is(type, "diagnostics.process") && is(member, "startinfo")) {
            out = value_object(&r->f, STR("diagnostics.processstartinfo"), STR_NONE);
            value_put(&r->f, &object.object->properties, STR("startinfo"), out);
            return out;
        }
        if (is(type, "command") && (is(member, "scriptblock") || is(member, "commandtype")))
            return object;
        return value_unknown();
    }
    case VALUE_STRING:
    case VALUE_LIST:
    case VALUE_HASH:
    case VALUE_CHAR:
    case VALUE_NUMBER:
        if (is_static && object.kind == VALUE_STRING && value_known(object)) {
            struct value type = value_kind(VALUE_TYPE);
            type.text = dotnet_type(r, object.text);
            return dotnet_property(r, node, type, member, true);
        }
        if (fold_property(&r->f, object, member, &out))
            return out;
        if (object.kind == VALUE_STRING &&
            (is(member, "fullname") || is(member, "path") || is(member, "providerpath") ||
             is(member, "pspath") || is(member, "value")))
            return object;
        if (object.kind == VALUE_LIST) {
            struct value list = value_list(&r->f, object.count);
            for (size_t i = 0; list.kind == VALUE_LIST && i < object.count; i++)
                list.items[i] = dotnet_property(r, node, object.items[i], member, false);
            return list;
        }
        return method_value(r, object, member, false);
    case VALUE_BLOCK:
        return is(member, "ast") ? value_unknown() : method_value(r, object, member, false);
    default: return value_unknown();
    }
}
