/* SPDX-License-Identifier: Apache-2.0 */
/* The members of .NET types that do something, one row each: type, member, function. */
#include "guard/powershell/dotnet.h"

#include "guard/names.h"

static struct word at_node(struct ps_call *c, struct str text)
{
    return (struct word){.text = text, .start = c->node->start, .end = c->node->end};
}

/* ---- processes and the desktop ---- */

static void add_arguments(struct ps_words *w, struct ps_node *at, struct ps_value v)
{
    if (v.kind == VALUE_LIST)
        words_add(w, at, v);
    else if (v.kind != VALUE_VOID && v.kind != VALUE_NULL)
        words_split(w, at, value_text(&w->r->f, v));
}

/* Process.Start(file, arguments) or Process.Start(info). */
static struct ps_value process_start(struct ps_call *c)
{
    struct ps_run *r = c->r;
    if (c->count == 0)
        return value_unknown();
    struct ps_words w = {.r = r};
    struct ps_value file = c->args[0];
    struct ps_value arguments = c->count > 1 ? c->args[1] : value_kind(VALUE_VOID);
    if (file.kind == VALUE_OBJECT || file.kind == VALUE_HASH) {
        struct ps_value info = file;
        struct str verb = value_text(&r->f, property_of(info, "verb"));
        if (str_is(verb, "runas"))
            guard_find(r->g, GUARD_LAUNCH_OUTSIDE, at_node(c, verb), STR("Process.Start"),
                       "starts the program elevated, outside the sandboxed process tree", NULL);
        file = property_of(info, "filename");
        arguments = property_of(info, "arguments");
        if (file.kind == VALUE_VOID)
            file = value_unknown();
    }
    add_arguments(&w, call_place(c->node, c->count > 1 ? 1 : 0), arguments);
    ps_run_open(r, STR("Process.Start"), eval_word(r, call_place(c->node, 0), file), w.words,
                w.count);
    return value_object(&r->f, STR("diagnostics.process"), STR_NONE);
}

static struct ps_value process_start_object(struct ps_call *c)
{
    struct ps_value info = property_of(c->object, "startinfo");
    if (info.kind == VALUE_VOID)
        return value_unknown();
    struct ps_call start = *c;
    start.args = &info;
    start.count = 1;
    return process_start(&start);
}

static struct ps_value interaction_shell(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    struct ps_words w = {.r = c->r};
    words_split(&w, call_place(c->node, 0), value_text(&c->r->f, c->args[0]));
    if (w.count)
        ps_run_open(c->r, STR("Interaction.Shell"), w.words[0], w.words + 1, w.count - 1);
    return value_unknown();
}

static struct ps_value com_create(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    size_t index = str_is(c->member, "getobject") ? c->count - 1 : 0;
    return dotnet_com(c->r, call_place(c->node, index), value_text(&c->r->f, c->args[index]));
}

/* [Marshal]::BindToMoniker(name), Interaction.GetObject(name, class): an object by a name that says
   how to find it. A document is found by the program that opens it. */
static struct ps_value moniker(struct ps_call *c)
{
    if (c->count != 1)
        return com_create(c);
    struct word name = call_word(c, 0);
    struct str text = str_trim(name.text);
    if (!word_known(name) || str_startsi(text, STR("winmgmts:")))
        return com_create(c);
    size_t class = str_findi(text, STR("new:"), 0);
    if (class == text.n)
        class = str_findi(text, STR("clsid:"), 0);
    bool elevated = str_startsi(text, STR("elevation:"));
    if (elevated || class == text.n) {
        guard_find(c->r->g, GUARD_LAUNCH_OUTSIDE, name, c->member,
                   "makes an object that lives outside the sandboxed process tree", NULL);
        return value_object(&c->r->f, STR("com/"), STR_NONE);
    }
    text = str_from(text, str_find_char(text, ':', class) + 1);
    return dotnet_com(c->r, call_place(c->node, 0),
                      text.n && text.p[text.n - 1] == ':' ? str_slice(text, 0, text.n - 1) : text);
}

/* XAML can call any method: an ObjectDataProvider names it. */
static struct ps_value read_xaml(struct ps_call *c)
{
    struct str text = c->count ? value_text(&c->r->f, c->args[0]) : STR("");
    static const struct str calls[] = {STR("ObjectDataProvider"), STR("FactoryMethod"),
                                       STR("ObjectDataSource")};
    for (size_t i = 0; i < NAME_ROWS(calls); i++)
        if (str_findi(text, calls[i], 0) < text.n) {
            guard_find(c->r->g, GUARD_OPAQUE_TEXT, at_node(c, calls[i]), c->member,
                       "makes objects that call a method of any class", "call the method itself");
            break;
        }
    return value_unknown();
}

/* Interaction.CallByName(object, name, kind, arguments) */
static struct ps_value interaction_call(struct ps_call *c)
{
    if (c->count < 3)
        return value_unknown();
    return call_by_name(c, c->args[1], c->args[0],
                        c->count > 3 ? c->args[3] : value_kind(VALUE_VOID));
}

static struct ps_value help_show(struct ps_call *c)
{
    if (c->count > 1)
        ps_run_open(c->r, STR("Help.ShowHelp"), call_word(c, 1), NULL, 0);
    return value_unknown();
}

static struct ps_value launcher(struct ps_call *c)
{
    if (c->count)
        ps_run_open(c->r, STR("Launcher"), call_word(c, 0), NULL, 0);
    return value_unknown();
}

static struct ps_value send_keys(struct ps_call *c)
{
    guard_find(c->r->g, GUARD_LAUNCH_OUTSIDE, call_word(c, 0), STR("SendKeys"),
               "types into other programs' windows", NULL);
    return value_unknown();
}

static struct ps_value browser_navigate(struct ps_call *c)
{
    guard_find(c->r->g, GUARD_LAUNCH_BROWSER, call_word(c, 0), STR("WebBrowser"), NULL, NULL);
    return value_unknown();
}

static struct ps_value service_start(struct ps_call *c)
{
    guard_find(c->r->g, GUARD_LAUNCH_OUTSIDE, at_node(c, c->member), c->member, "starts a service",
               NULL);
    return value_unknown();
}

static struct ps_value service_objects(struct ps_call *c)
{
    return value_object(&c->r->f, STR("service"), STR_NONE);
}

/* ShellExecute of any type, also of one that the script declares. */
static struct ps_value shell_execute(struct ps_call *c)
{
    guard_find(c->r->g, GUARD_LAUNCH_OUTSIDE, at_node(c, c->member), c->member,
               "hands this to the desktop's shell", NULL);
    return value_unknown();
}

/* CreateProcess(program, line, …) of a type that the script declares. */
static struct ps_value create_process(struct ps_call *c)
{
    struct ps_call line = *c;
    bool named = c->count > 1 && c->args[1].kind == VALUE_STRING && c->args[1].text.n;
    line.args += named;
    line.count -= named;
    return interaction_shell(&line);
}

/* ---- reflection ---- */

static struct ps_value create_instance(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    struct ps_value type = c->args[0];
    if (type.kind == VALUE_OBJECT && str_eq(type.object->type, STR("comtype")))
        return dotnet_com(c->r, c->node, type.object->text);
    if (type.kind == VALUE_TYPE)
        return dotnet_new(c->r, c->node, type.text, c->args + 1, c->count - 1);
    return value_unknown();
}

static struct ps_value com_type(struct ps_call *c)
{
    return c->count ? value_object(&c->r->f, STR("comtype"), value_text(&c->r->f, c->args[0]))
                    : value_unknown();
}

static struct ps_value type_by_name(struct ps_call *c)
{
    return c->count ? fold_cast(&c->r->f, STR("type"), c->args[0]) : value_unknown();
}

/* An assembly made of bytes: its code is unknown. */
static struct ps_value load_assembly(struct ps_call *c)
{
    if (c->count && c->args[0].kind != VALUE_STRING)
        ps_run_opaque_command(c->r, word_unknown(c->node->start, c->node->end));
    return value_unknown();
}

/* A library of another machine. */
static struct ps_value load_from(struct ps_call *c)
{
    if (c->count && guard_is_url(value_text(&c->r->f, c->args[0])))
        ps_run_opaque_command(c->r, word_unknown(c->node->start, c->node->end));
    return value_unknown();
}

/* Marshal's conversions between strings and their memory keep the text. */
static struct ps_value marshal_keep(struct ps_call *c)
{
    return c->count ? c->args[0] : value_unknown();
}

/* ---- code ---- */

static struct ps_value block_create(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    return c->args[0].kind == VALUE_BLOCK
               ? c->args[0]
               : value_object(&c->r->f, STR("code"), value_text(&c->r->f, c->args[0]));
}

static struct ps_value code_invoke(struct ps_call *c)
{
    return ps_run_value(c->r, c->object, c->node, NULL, 0, value_kind(VALUE_VOID),
                        str_is(c->type, "code"));
}

static struct ps_value keep_object(struct ps_call *c)
{
    return c->object;
}

static struct ps_value object_text(struct ps_call *c)
{
    return value_string(value_text(&c->r->f, c->object));
}

static struct ps_value shell_create(struct ps_call *c)
{
    return value_object(&c->r->f, STR("powershell"), STR_NONE);
}

static struct ps_value shell_put(struct ps_call *c, const char *name)
{
    if (c->count)
        value_put(&c->r->f, &c->object.object->properties, str_of(name), c->args[0]);
    return c->object;
}

static struct ps_value shell_script(struct ps_call *c)
{
    return shell_put(c, "script");
}

static struct ps_value shell_command(struct ps_call *c)
{
    return shell_put(c, "command");
}

static struct ps_value shell_argument(struct ps_call *c)
{
    struct ps_fold *f = &c->r->f;
    struct ps_value one = value_list(f, 1);
    if (!c->count || one.kind != VALUE_LIST)
        return c->object;
    one.items[0] = c->args[c->count - 1];
    struct value_hash *properties = &c->object.object->properties;
    const struct ps_value *old = value_get(properties, STR("arguments"));
    value_put(f, properties, STR("arguments"), old ? fold_binary(f, OP_ADD, *old, one) : one);
    return c->object;
}

static struct ps_value shell_invoke(struct ps_call *c)
{
    const struct value_hash *properties = &c->object.object->properties;
    const struct ps_value *script = value_get(properties, STR("script"));
    const struct ps_value *command = value_get(properties, STR("command"));
    const struct ps_value *arguments = value_get(properties, STR("arguments"));
    struct ps_arg few[8];
    size_t count = 0;
    for (size_t i = 0; arguments && arguments->kind == VALUE_LIST && i < arguments->count; i++)
        if (count < 8)
            few[count++] = (struct ps_arg){.node = c->node, .value = arguments->items[i]};
    if (value_get(properties, STR("commands")))
        ps_run_opaque_command(c->r, word_unknown(c->node->start, c->node->end));
    if (script)
        ps_run_code(c->r, c->node, *script, STR("PowerShell.AddScript"));
    if (command)
        ps_run_value(c->r, *command, c->node, few, count, value_kind(VALUE_VOID), false);
    return value_unknown();
}

/* InvokeScript(text, …) or InvokeScript(flag, block, …) */
static struct ps_value context_script(struct ps_call *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (i == 0 ? c->args[i].kind != VALUE_BOOL
                   : c->args[i].kind == VALUE_BLOCK || c->args[i].kind == VALUE_STRING)
            ps_run_code(c->r, call_place(c->node, i), c->args[i], STR("InvokeScript"));
    return value_unknown();
}

static struct ps_value context_command(struct ps_call *c)
{
    if (!c->count || !value_known(c->args[0]))
        return value_unknown();
    struct str name = value_text(&c->r->f, c->args[0]);
    if (str_has_char(name, '*') || str_has_char(name, '?'))
        name = cmdlet_match(name);
    return name.p ? value_object(&c->r->f, STR("command"), name) : value_unknown();
}

/* ExpandString runs the code in $(…). */
static struct ps_value context_expand(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    struct str text = value_text(&c->r->f, c->args[0]);
    if (!str_has_char(text, '$') && !str_has_char(text, '`'))
        return c->args[0];
    if (str_find(text, STR("$("), 0) < text.n) {
        struct ps_fold *f = &c->r->f;
        ps_run_code(c->r, call_place(c->node, 0),
                    value_string(fold_concat(f, fold_concat(f, STR("\""), text), STR("\""))),
                    STR("ExpandString"));
    }
    return value_unknown();
}

/* ---- text ---- */

static struct ps_value builder_call(struct ps_call *c)
{
    struct ps_fold *f = &c->r->f;
    struct str *text = &c->object.object->text;
    struct fold_buffer **grows = &c->object.object->grows;
    if (str_is(c->member, "tostring"))
        return c->count ? value_unknown() : value_string(*text);
    if (str_is(c->member, "append") && c->count == 1) {
        if (!*grows && (*grows = ARENA_NEW(f->arena, struct fold_buffer)))
            fold_add(f, *grows, *text);
        if (*grows)
            fold_add(f, *grows, value_text(f, c->args[0]));
        *text = *grows ? fold_result(*grows) : STR("\xFF");
        return c->object;
    }
    *grows = NULL;
    if (str_is(c->member, "appendline"))
        *text = fold_concat(
            f, fold_concat(f, *text, c->count ? value_text(f, c->args[0]) : STR("")), STR("\r\n"));
    else if (str_is(c->member, "clear"))
        *text = STR("");
    else
        *text = fold_concat(f, *text, STR("\xFF"));
    return c->object;
}

static struct ps_value encoding_call(struct ps_call *c)
{
    struct ps_value out;
    return fold_static(&c->r->f, c->type, c->member, c->args, c->count, &out) ? out
                                                                              : value_unknown();
}

static struct ps_value read_stream(struct ps_call *c)
{
    struct ps_fold *f = &c->r->f;
    struct ps_value bytes = value_object(f, STR("bytes"), c->object.object->text), out;
    if (!c->object.object->text.p || bytes.kind != VALUE_OBJECT)
        return value_unknown();
    if (str_is(c->member, "toarray"))
        return bytes;
    struct ps_value encoding = property_of(c->object, "encoding");
    struct str name = encoding.kind == VALUE_STRING ? encoding.text : STR("encoding/utf8");
    return fold_static(f, name, STR("getstring"), &bytes, 1, &out) ? out : value_unknown();
}

/* file.CopyTo(path), file.MoveTo(path) */
static void copy_to(struct ps_call *c)
{
    if (!c->count || c->args[0].kind != VALUE_STRING || c->r->quiet)
        return;
    struct ps_value path = property_of(c->object, "fullname");
    if (path.kind == VALUE_STRING && str_startsi(c->member, STR("move")))
        guard_protects(c->r->g, c->member, eval_word(c->r, c->node, path), true);
    guard_write(c->r->g, c->member, call_word(c, 0), true);
}

/* stream.CopyTo(other), or that of a file */
static struct ps_value copy_stream(struct ps_call *c)
{
    if (c->count && c->args[0].kind == VALUE_OBJECT)
        c->args[0].object->text = c->object.object->text;
    copy_to(c);
    return value_kind(VALUE_VOID);
}

/* $ExecutionContext.SessionState.PSVariable.Set(name, value), .Get(name), .GetValue(name) */
static struct ps_value session_variable(struct ps_call *c)
{
    bool set;
    if (!c->count || !value_known(c->args[0]))
        return value_unknown();
    struct str name = value_text(&c->r->f, c->args[0]);
    if (str_is(c->member, "set") && c->args[0].kind == VALUE_STRING) {
        enum ps_space space = variable_space(&name);
        scope_set_outer(c->r, space, name, c->count > 1 ? c->args[1] : value_kind(VALUE_NULL));
        return value_kind(VALUE_VOID);
    }
    struct ps_value v = variable_get(c->r, name, &set);
    if (!str_is(c->member, "get"))
        return v;
    struct ps_value object = value_object(&c->r->f, STR("variable"), name);
    if (object.kind == VALUE_OBJECT)
        value_put(&c->r->f, &object.object->properties, STR("value"), v);
    return object;
}

static struct ps_value environment_set(struct ps_call *c)
{
    if (c->count > 1) {
        struct str name = value_text(&c->r->f, c->args[0]);
        /* a constant path is not one that something is added to */
        bool kept = c->count > 2 && !str_eqi(value_text(&c->r->f, c->args[2]), STR("process")) &&
                    name_is_one_of(name, STR("PATH|PATHEXT|COMSPEC")) && value_known(c->args[1]);
        if (kept && !c->r->quiet)
            guard_find(c->r->g, GUARD_PLANT_STARTUP, call_word(c, 0), c->member,
                       "changes the environment of programs outside the sandbox",
                       "set it for this process alone: $env:NAME = …");
        if (!c->r->quiet)
            guard_variable(c->r->g, name, call_word(c, 1));
        scope_set(c->r, SPACE_ENV, name, c->args[1]);
    }
    return value_kind(VALUE_VOID);
}

static struct ps_value environment_get(struct ps_call *c)
{
    bool set;
    if (!c->count)
        return value_unknown();
    return variable_get(c->r, fold_concat(&c->r->f, STR("env:"), value_text(&c->r->f, c->args[0])),
                        &set);
}

/* ---- the tables ---- */

struct member {
    uint16_t type, member; /* in a pool of their own */
    uint8_t run;
};

static struct ps_value (*const runs[])(struct ps_call *c) = {
    process_start,
    interaction_shell,
    com_create,
    interaction_call,
    help_show,
    launcher,
    send_keys,
    net_delete_folder,
    net_delete_file,
    net_write_file,
    net_delete_anything,
    create_instance,
    com_type,
    type_by_name,
    load_assembly,
    load_from,
    marshal_keep,
    block_create,
    shell_create,
    registry_set,
    environment_set,
    environment_get,
    service_objects,
    shell_execute,
    com_call,
    wmi_call,
    encoding_call,
    shell_script,
    shell_command,
    shell_argument,
    shell_invoke,
    keep_object,
    builder_call,
    code_invoke,
    object_text,
    context_script,
    context_expand,
    context_command,
    process_start_object,
    net_download_file,
    net_delete_object,
    read_stream,
    copy_stream,
    browser_navigate,
    service_start,
    net_open_writer,
    net_writer_write,
    key_base,
    key_open,
    key_create,
    key_set,
    key_delete,
    create_process,
    net_copy_file,
    session_variable,
    moniker,
    net_set_folder,
    read_xaml,
    net_link_file,
};

enum {
    AT_process_start,
    AT_interaction_shell,
    AT_com_create,
    AT_interaction_call,
    AT_help_show,
    AT_launcher,
    AT_send_keys,
    AT_net_delete_folder,
    AT_net_delete_file,
    AT_net_write_file,
    AT_net_delete_anything,
    AT_create_instance,
    AT_com_type,
    AT_type_by_name,
    AT_load_assembly,
    AT_load_from,
    AT_marshal_keep,
    AT_block_create,
    AT_shell_create,
    AT_registry_set,
    AT_environment_set,
    AT_environment_get,
    AT_service_objects,
    AT_shell_execute,
    AT_com_call,
    AT_wmi_call,
    AT_encoding_call,
    AT_shell_script,
    AT_shell_command,
    AT_shell_argument,
    AT_shell_invoke,
    AT_keep_object,
    AT_builder_call,
    AT_code_invoke,
    AT_object_text,
    AT_context_script,
    AT_context_expand,
    AT_context_command,
    AT_process_start_object,
    AT_net_download_file,
    AT_net_delete_object,
    AT_read_stream,
    AT_copy_stream,
    AT_browser_navigate,
    AT_service_start,
    AT_net_open_writer,
    AT_net_writer_write,
    AT_key_base,
    AT_key_open,
    AT_key_create,
    AT_key_set,
    AT_key_delete,
    AT_create_process,
    AT_net_copy_file,
    AT_session_variable,
    AT_moniker,
    AT_net_set_folder,
    AT_read_xaml,
    AT_net_link_file,
};

static const struct static_pool {
#define MEMBER(type, member, run) char ROW(t)[sizeof type], ROW(m)[sizeof member];
#include "guard/tables/ps_statics.def"
#undef MEMBER
} static_pool = {
#define MEMBER(type, member, run) type, member,
#include "guard/tables/ps_statics.def"
#undef MEMBER
};

static const struct member statics[] = {
#define MEMBER(type, member, run) \
    {PLACE(static_pool, ROW(t)), PLACE(static_pool, ROW(m)), AT_##run},
#include "guard/tables/ps_statics.def"
#undef MEMBER
};

static const struct instance_pool {
#define MEMBER(type, member, run) char ROW(t)[sizeof type], ROW(m)[sizeof member];
#include "guard/tables/ps_instances.def"
#undef MEMBER
} instance_pool = {
#define MEMBER(type, member, run) type, member,
#include "guard/tables/ps_instances.def"
#undef MEMBER
};

static const struct member instances[] = {
#define MEMBER(type, member, run) \
    {PLACE(instance_pool, ROW(t)), PLACE(instance_pool, ROW(m)), AT_##run},
#include "guard/tables/ps_instances.def"
#undef MEMBER
};

static bool fits(struct str name, struct str text)
{
    if (name.p[name.n - 1] == '*')
        return str_startsi(text, str_slice(name, 0, name.n - 1));
    return str_eqi(text, name);
}

static bool dispatch(const void *pool, const struct member *rows, size_t count, struct ps_call *c,
                     struct ps_value *out)
{
    for (size_t i = 0; i < count; i++) {
        if (fits(name_at(pool, rows[i].type), c->type) &&
            fits(name_at(pool, rows[i].member), c->member)) {
            *out = runs[rows[i].run](c);
            return true;
        }
    }
    return false;
}

bool dotnet_is_known(struct str type)
{
    for (size_t i = 0; i < NAME_ROWS(instances) && str_has_char(type, '.'); i++)
        if (str_eqi(name_at(&instance_pool, instances[i].type), type))
            return true;
    return false;
}

bool members_static(struct ps_call *c, struct ps_value *out)
{
    return dispatch(&static_pool, statics, NAME_ROWS(statics), c, out);
}

bool members_instance(struct ps_call *c, struct ps_value *out)
{
    return dispatch(&instance_pool, instances, NAME_ROWS(instances), c, out);
}

/* ---- receivers that are not known ---- */

static bool invokes(struct str member)
{
    return str_startsi(member, STR("invoke")) || str_is(member, "dynamicinvoke") ||
           str_is(member, "begininvoke");
}

struct ps_value members_unknown(struct ps_call *c, bool is_static)
{
    struct ps_run *r = c->r;
    struct str member = c->member;
    struct word first = call_word(c, 0);
    bool url = c->count && guard_is_url(first.text);
    call_blocks(c, value_unknown());
    if ((str_is(member, "shellexecute") && c->count) || str_is(member, "executeshellcommand")) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, first, member, "hands this to the desktop's shell",
                   NULL);
    } else if (str_startsi(member, STR("navigate")) && url) {
        guard_find(r->g, GUARD_LAUNCH_BROWSER, first, member, NULL, NULL);
    } else if ((str_is(member, "run") || str_is(member, "exec") || str_is(member, "start")) &&
               url) {
        ps_run_open(r, member, first, NULL, 0);
    } else if (c->count && (str_is(member, "addscript") || (str_is(member, "createpipeline") &&
                                                            c->args[0].kind == VALUE_STRING))) {
        c->object = value_object(&r->f, STR("powershell"), STR_NONE);
        return c->object.kind == VALUE_OBJECT ? shell_script(c) : c->object;
    } else if (str_is(member, "copyto") || str_is(member, "moveto")) {
        copy_to(c);
    } else if (str_startsi(member, STR("downloadfile"))) {
        return net_download_file(c);
    } else if (str_is(member, "invokescript") && c->count) {
        ps_run_code(r, call_place(c->node, 0), c->args[0], member);
    } else if (str_is(member, "gettype") && c->count && c->args[0].kind == VALUE_STRING) {
        return type_by_name(c);
    } else if (invokes(member) || (is_static && str_is(member, "start"))) {
        /* Code, a command or a method that cannot be named. */
        ps_run_opaque_command(r, word_unknown(c->node->start, c->node->end));
    } else if (str_is(member, "delete") && c->count == 1 && c->args[0].kind == VALUE_BOOL) {
        ps_run_delete(r, STR("Delete"), word_unknown(c->node->start, c->node->end), GUARD_RECURSE);
    }
    return value_unknown();
}
