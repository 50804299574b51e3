/* SPDX-License-Identifier: Apache-2.0 */
/* Types, objects and members: the effects of .NET and WMI calls of a PowerShell script. */
#include "guard/powershell/dotnet.h"

#include "guard/names.h"

struct ps_node *call_place(struct ps_node *node, size_t n)
{
    if (node->kind != PS_CALL)
        return node;
    struct ps_node *arg = node->c;
    while (arg && n--)
        arg = arg->next;
    return arg ? arg : node;
}

struct word call_word(struct ps_call *c, size_t n)
{
    if (n >= c->count)
        return word_unknown(c->node->start, c->node->end);
    return eval_word(c->r, call_place(c->node, n), c->args[n]);
}

/* Blocks among the arguments, which may be called with anything. */
void call_blocks(struct ps_call *c, struct ps_value on)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->args[i].kind == VALUE_BLOCK) {
            scope_set(c->r, SPACE_VARIABLE, STR("args"), value_unknown());
            ps_run_block_on(c->r, c->args[i].node, on);
        } else if (c->args[i].kind == VALUE_OBJECT &&
                   str_eq(c->args[i].object->type, STR("code"))) {
            ps_run_value(c->r, c->args[i], c->node, NULL, 0, on, true);
        }
    }
}

struct ps_value property_of(struct ps_value v, const char *name)
{
    const struct value_hash *hash = v.kind == VALUE_OBJECT ? &v.object->properties
                                    : v.kind == VALUE_HASH ? v.hash
                                                           : NULL;
    const struct ps_value *hit = hash ? value_get(hash, str_of(name)) : NULL;
    return hit ? *hit : value_kind(VALUE_VOID);
}

struct str dotnet_type(struct ps_run *r, struct str name)
{
    name = fold_lower(&r->f, str_trim(name));
    if (str_starts(name, STR("system.")))
        name = str_from(name, 7);
    if (str_is(name, "powershell"))
        return STR("management.automation.powershell");
    if (str_is(name, "scriptblock") || str_is(name, "management.automation.scriptblock"))
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
                                            "microsoft.win32.registry",
                                            "microsoft.win32.registrykey",
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

void dotnet_set_folder(struct ps_run *r, struct ps_value folder)
{
    struct str location = guard_folder(r->g);
    if (r->quiet || r->world)
        return;
    guard_set_folder(r->g, r->process_folder);
    guard_change_folder(r->g, value_text(&r->f, folder));
    r->process_folder = guard_folder(r->g);
    guard_set_folder(r->g, location);
}

/* ---- objects ---- */

/* A stream over bytes, or one that unpacks another. */
static struct ps_value new_stream(struct ps_run *r, struct str type, const struct ps_value *args,
                                  size_t count)
{
    struct ps_fold *f = &r->f;
    struct ps_value out = value_object(f, type, STR_NONE);
    if (out.kind != VALUE_OBJECT || !count || args[0].kind != VALUE_OBJECT)
        return out;
    struct str bytes = args[0].object->text;
    bool packed = str_startsi(type, STR("io.compression."));
    if (packed && bytes.p)
        fold_inflate(f, bytes, &bytes);
    out.object->text = packed && bytes.p == args[0].object->text.p ? STR_NONE : bytes;
    if (count > 1 && args[1].kind == VALUE_OBJECT)
        value_put(f, &out.object->properties, STR("encoding"), value_string(args[1].object->type));
    return out;
}

static struct ps_value run_class_method(struct ps_run *r, struct ps_node *node, struct str type,
                                        struct str member, const struct ps_value *args,
                                        size_t count, bool *found)
{
    struct str name = fold_concat(&r->f, fold_concat(&r->f, type, STR("::")), member);
    struct ps_value method = scope_get(r, SPACE_FUNCTION, name, found);
    *found = *found && method.kind == VALUE_BLOCK;
    if (!*found)
        return value_unknown();
    struct ps_arg few[8];
    size_t n = 0;
    for (; n < count && n < 8; n++)
        few[n] = (struct ps_arg){.node = call_place(node, n), .value = args[n]};
    return ps_run_block(r, method.node, few, n, value_kind(VALUE_VOID), true);
}

struct ps_value dotnet_new(struct ps_run *r, struct ps_node *at, struct str type,
                           const struct ps_value *args, size_t count)
{
    struct ps_fold *f = &r->f;
    struct ps_value out;
    bool own;
    if (str_is(type, "string") || str_startsi(type, STR("text.asciiencoding")) ||
        str_startsi(type, STR("text.u"))) {
        fold_static(f, type, STR("new"), args, count, &out);
        return out;
    }
    if (str_is(type, "uri"))
        return count == 0 ? value_unknown()
                          : value_string(count == 1 ? value_text(f, args[0])
                                                    : fold_concat(f, value_text(f, args[0]),
                                                                  value_text(f, args[1])));
    if ((str_startsi(type, STR("management.management")) &&
         !str_is(type, "management.managementscope")) ||
        name_is_one_of(type, STR("wmiclass|wmi|wmisearcher")))
        return value_object(
            f,
            fold_concat(f, STR("wmi/"),
                        count ? fold_lower(f, value_text(f, args[count - 1])) : STR("")),
            STR_NONE);
    if (str_is(type, "collections.hashtable") ||
        str_is(type, "collections.specialized.ordereddictionary")) {
        out = value_kind(VALUE_HASH);
        out.hash = ARENA_NEW(f->arena, struct value_hash);
        return out.hash ? out : value_unknown();
    }
    if (str_is(type, "io.memorystream") || str_is(type, "io.streamreader") ||
        str_startsi(type, STR("io.compression.")))
        return new_stream(r, type, args, count);
    out = value_object(f, type, STR_NONE);
    if (out.kind != VALUE_OBJECT)
        return out;
    size_t mark = r->log_count;
    scope_set(r, SPACE_VARIABLE, STR("this"), out);
    run_class_method(r, at, type, type, args, count, &own);
    if (r->log_count == mark + 1)
        scope_undo(r, mark);
    if (str_is(type, "text.stringbuilder"))
        out.object->text = count ? value_text(f, args[0]) : STR("");
    if (str_is(type, "diagnostics.processstartinfo")) {
        if (count > 0)
            value_put(f, &out.object->properties, STR("filename"), args[0]);
        if (count > 1)
            value_put(f, &out.object->properties, STR("arguments"), args[1]);
    }
    if (str_startsi(type, STR("io.")) && count)
        value_put(f, &out.object->properties, STR("fullname"), args[0]);
    /* NetworkCredential(user, password) gives the password back */
    if (str_is(type, "net.networkcredential") && count > 1)
        value_put(f, &out.object->properties, STR("password"), args[1]);
    return out;
}

static struct ps_value method_value(struct ps_run *r, struct ps_value of, struct str name,
                                    bool reflected)
{
    struct ps_value v = value_object(&r->f, reflected ? STR("mreflected") : STR("method"), name);
    if (v.kind != VALUE_OBJECT)
        return v;
    v.kind = VALUE_METHOD;
    v.object->of = of;
    return v;
}

/* ---- calls ---- */

static struct ps_value static_call(struct ps_call *c)
{
    struct ps_value out;
    bool own;
    if (str_is(c->member, "new"))
        return dotnet_new(c->r, c->node, c->type, c->args, c->count);
    if (members_static(c, &out))
        return out;
    if (fold_static(&c->r->f, c->type, c->member, c->args, c->count, &out)) {
        if (!value_known(out))
            call_blocks(c, value_unknown());
        return out;
    }
    out = run_class_method(c->r, c->node, c->type, c->member, c->args, c->count, &own);
    if (!own)
        call_blocks(c, value_unknown());
    return out;
}

struct ps_value call_by_name(struct ps_call *c, struct ps_value name, struct ps_value target,
                             struct ps_value arguments)
{
    bool is_static = target.kind == VALUE_TYPE;
    struct str member = value_known(name) ? value_text(&c->r->f, name) : STR("\xFF");
    if (arguments.kind == VALUE_LIST)
        return dotnet_call(c->r, c->node, target, member, arguments.items, arguments.count,
                           is_static);
    return dotnet_call(c->r, c->node, target, member, &arguments, arguments.kind != VALUE_VOID,
                       is_static);
}

/* type.InvokeMember(name, flags, binder, target, arguments) */
static struct ps_value invoke_member(struct ps_call *c)
{
    struct ps_value target = c->object;
    if (c->count > 3 && c->args[3].kind != VALUE_NULL)
        target = c->args[3];
    struct ps_value arguments = c->count > 1 ? c->args[c->count - 1] : value_kind(VALUE_VOID);
    return call_by_name(c, c->args[0], target, arguments);
}

static struct ps_value object_call(struct ps_call *c)
{
    struct ps_value out;
    bool own;
    if (members_instance(c, &out))
        return out;
    bool set;
    size_t mark = c->r->log_count;
    struct ps_value outer = scope_get(c->r, SPACE_VARIABLE, STR("this"), &set);
    scope_set(c->r, SPACE_VARIABLE, STR("this"), c->object);
    out = run_class_method(c->r, c->node, c->type, c->member, c->args, c->count, &own);
    if (c->r->log_count == mark + 1)
        scope_undo(c->r, mark);
    else
        scope_set(c->r, SPACE_VARIABLE, STR("this"), set ? outer : value_unknown());
    if (own)
        return out;
    if (str_startsi(c->member, STR("invoke")) || str_is(c->member, "dynamicinvoke"))
        return members_unknown(c, false);
    call_blocks(c, value_unknown());
    return value_unknown();
}

static struct ps_value invoke_method(struct ps_call *c)
{
    struct ps_value method = c->object, of = method.object->of;
    bool is_static = of.kind == VALUE_TYPE;
    struct str name = method.object->text;
    /* Invoke(object, arguments) */
    if (str_eq(method.object->type, STR("mreflected")) && c->count > 0) {
        if (c->args[0].kind != VALUE_NULL && c->args[0].kind != VALUE_VOID &&
            c->args[0].kind != VALUE_UNKNOWN && c->count > 1) {
            of = c->args[0];
            is_static = false;
        }
        return call_by_name(c, value_string(name), is_static ? method.object->of : of,
                            c->count > 1 ? c->args[c->count - 1] : value_kind(VALUE_VOID));
    }
    return dotnet_call(c->r, c->node, of, name, c->args, c->count, is_static);
}

static struct ps_value list_call(struct ps_call *c)
{
    struct ps_run *r = c->r;
    struct ps_value object = c->object, out, key = key_of_path(r, object);
    if (key.kind == VALUE_OBJECT && object.kind == VALUE_STRING)
        return dotnet_call(r, c->node, key, c->member, c->args, c->count, false);
    if (c->count && c->args[0].kind == VALUE_BLOCK) { /* .ForEach({…}) and .Where({…}) */
        struct ps_value items = value_items(&r->f, object), all = value_kind(VALUE_VOID);
        bool where = str_is(c->member, "where");
        for (size_t i = 0; items.kind == VALUE_LIST && i < items.count && !guard_stopped(r->g);
             i++) {
            struct ps_value v = ps_run_block_on(r, c->args[0].node, items.items[i]);
            if (!where)
                all = ps_run_collect(r, all, v);
            else if (fold_truth(v))
                all = ps_run_collect(r, all, fold_truth(v) > 0 ? items.items[i] : value_unknown());
        }
        return all;
    }
    if (str_is(c->member, "delete") && object.kind == VALUE_STRING)
        return members_delete_found(c); /* of what Get-ChildItem finds */
    if (str_is(c->member, "foreach") && c->count && c->args[0].kind == VALUE_STRING &&
        !str_is(c->args[0].text, "foreach"))
        return dotnet_call(r, c->node, object, c->args[0].text, c->args + 1, c->count - 1, false);
    if (fold_method(&r->f, object, c->member, c->args, c->count, &out))
        return out;
    if (str_is(c->member, "gettype") && !c->count && object.kind != VALUE_HASH) {
        out = value_kind(VALUE_TYPE);
        out.text = object.kind == VALUE_STRING ? STR("string") : STR("object");
        return out;
    }
    if (object.kind == VALUE_LIST && object.count && object.count <= 64 &&
        (object.items[0].kind == VALUE_OBJECT || object.items[0].kind == VALUE_METHOD ||
         object.items[0].kind == VALUE_BLOCK)) {
        for (size_t i = 0; i < object.count; i++)
            dotnet_call(r, c->node, object.items[i], c->member, c->args, c->count, false);
        return value_unknown();
    }
    if (object.kind == VALUE_HASH && !str_is(c->member, "start")) /* [Diagnostics.Process]@{…} */
        return value_unknown();
    if (object.kind == VALUE_HASH)
        ps_run_opaque_command(r, word_unknown(c->node->start, c->node->end));
    return members_unknown(c, false);
}

/* A member whose name is not known: of text and numbers it only computes. */
static struct ps_value unknown_member(struct ps_call *c)
{
    call_blocks(c, value_unknown());
    switch (c->object.kind) {
    case VALUE_STRING:
    case VALUE_CHAR:
    case VALUE_NUMBER:
    case VALUE_BOOL:
    case VALUE_HASH:
    case VALUE_NULL: break;
    default: ps_run_opaque_command(c->r, word_unknown(c->node->start, c->node->end));
    }
    return value_unknown();
}

static struct ps_value type_call(struct ps_call *c, bool is_static)
{
    c->type = c->object.text;
    if (is_static)
        return static_call(c);
    if ((str_is(c->member, "getmethod") || str_is(c->member, "getmethods")) && c->count)
        return method_value(
            c->r, c->object,
            value_known(c->args[0]) ? value_text(&c->r->f, c->args[0]) : STR("\xFF"), true);
    if (str_is(c->member, "tostring"))
        return value_string(value_text(&c->r->f, c->object));
    return str_startsi(c->member, STR("invoke")) ? members_unknown(c, false) : value_unknown();
}

static struct ps_value block_call(struct ps_call *c)
{
    if (str_startsi(c->member, STR("invoke"))) {
        struct ps_arg few[8];
        size_t n = 0;
        for (; n < c->count && n < 8; n++)
            few[n] = (struct ps_arg){.node = call_place(c->node, n), .value = c->args[n]};
        return ps_run_block(c->r, c->object.node, few, n, value_kind(VALUE_VOID), true);
    }
    return str_is(c->member, "getnewclosure") ? c->object : value_unknown();
}

struct ps_value dotnet_call(struct ps_run *r, struct ps_node *node, struct ps_value object,
                            struct str member, struct ps_value *args, size_t count, bool is_static)
{
    struct ps_call call = {r, node, object, STR_NONE, member, args, count}, *c = &call;
    if (str_has_char(member, GUARD_HOLE))
        return unknown_member(c);
    if (str_is(member, "invokemember") && count && object.kind != VALUE_METHOD)
        return invoke_member(c);
    switch (object.kind) {
    case VALUE_TYPE: return type_call(c, is_static);
    case VALUE_METHOD:
        if (str_is(member, "tostring"))
            return value_string(value_text(&r->f, object));
        return str_startsi(member, STR("invoke")) ? invoke_method(c) : value_unknown();
    case VALUE_BLOCK: return block_call(c);
    case VALUE_OBJECT: c->type = object.object->type; return object_call(c);
    case VALUE_STRING:
        if (is_static && value_known(object)) { /* ('X' -as [type])::Start */
            c->type = dotnet_type(r, object.text);
            return static_call(c);
        } /* fall through */
    case VALUE_LIST:
    case VALUE_CHAR:
    case VALUE_NUMBER:
    case VALUE_BOOL:
    case VALUE_HASH: return list_call(c);
    default: return members_unknown(c, is_static);
    }
}

/* ---- properties ---- */

static struct ps_value object_property(struct ps_run *r, struct ps_value object, struct str member)
{
    const struct ps_value *hit = value_get(&object.object->properties, member);
    struct str type = object.object->type;
    struct ps_value out;
    if (hit)
        return *hit;
    if (str_starts(type, STR("com/")) || str_starts(type, STR("wmi/")))
        return value_object(&r->f, type, member); /* it may be a method that is called later */
    if (str_is(type, "ref") && str_is(member, "value")) {
        bool set;
        return variable_get(r, object.object->text, &set);
    }
    if (str_is(type, "pscmdlet"))
        return str_is(member, "sessionstate")
                   ? value_object(&r->f, STR("executioncontext"), STR_NONE)
               : str_is(member, "invokecommand")
                   ? value_object(&r->f, STR("invokecommand"), STR_NONE)
                   : value_unknown();
    if (str_is(type, "executioncontext") && str_is(member, "sessionstate"))
        return object;
    if (str_is(type, "executioncontext") && str_is(member, "psvariable"))
        return value_object(&r->f, STR("psvariable"), STR_NONE);
    if (str_is(type, "powershell") && (str_is(member, "commands") || str_is(member, "parameters")))
        return object;
    if (str_is(type, "executioncontext") || str_is(type, "invokecommand"))
        return str_startsi(member, STR("invoke")) && str_is(type, "invokecommand")
                   ? method_value(r, object, member, false)
                   : value_object(&r->f, STR("invokecommand"), STR_NONE);
    if (str_is(type, "diagnostics.process") && str_is(member, "startinfo")) {
        out = value_object(&r->f, STR("diagnostics.processstartinfo"), STR_NONE);
        value_put(&r->f, &object.object->properties, STR("startinfo"), out);
        return out;
    }
    if (str_is(type, "command") && (str_is(member, "scriptblock") || str_is(member, "commandtype")))
        return object;
    return method_value(r, object, member, false);
}

static struct ps_value type_property(struct ps_run *r, struct ps_value type, struct str member,
                                     bool is_static)
{
    struct ps_value out;
    if (!is_static) {
        if (str_is(member, "assembly"))
            return value_object(&r->f, STR("assembly"), STR_NONE);
        return fold_property(&r->f, type, member, &out) ? out : value_unknown();
    }
    if ((!str_has_char(type.text, '.') || str_is(type.text, "text.encoding")) &&
        fold_static(&r->f, type.text, member, NULL, 0, &out) && out.kind != VALUE_UNKNOWN)
        return out;
    if (str_is(type.text, "microsoft.win32.registry"))
        return key_of_hive(r, member);
    if (str_is(type.text, "appdomain") && str_is(member, "currentdomain"))
        return value_object(&r->f, STR("appdomain"), STR_NONE);
    return method_value(r, type, member, false);
}

static struct ps_value scalar_property(struct ps_run *r, struct ps_node *node,
                                       struct ps_value object, struct str member, bool is_static)
{
    struct ps_value out;
    if (is_static && object.kind == VALUE_STRING && value_known(object)) {
        struct ps_value type = value_kind(VALUE_TYPE);
        type.text = dotnet_type(r, object.text);
        return dotnet_property(r, node, type, member, true);
    }
    if (fold_property(&r->f, object, member, &out))
        return out;
    if (object.kind == VALUE_STRING &&
        (str_is(member, "fullname") || str_is(member, "path") || str_is(member, "providerpath") ||
         str_is(member, "pspath") || str_is(member, "value") ||
         /* $PROFILE.CurrentUserAllHosts */
         str_startsi(member, STR("currentuser")) || str_startsi(member, STR("allusers"))))
        return object;
    if (object.kind == VALUE_LIST) {
        struct ps_value list = value_list(&r->f, object.count);
        for (size_t i = 0; list.kind == VALUE_LIST && i < object.count; i++)
            list.items[i] = dotnet_property(r, node, object.items[i], member, false);
        return list;
    }
    return method_value(r, object, member, false);
}

struct ps_value dotnet_property(struct ps_run *r, struct ps_node *node, struct ps_value object,
                                struct str member, bool is_static)
{
    /* One that is not known may be called later, by Invoke. */
    if (str_has_char(member, GUARD_HOLE) && object.kind != VALUE_TYPE &&
        object.kind != VALUE_OBJECT)
        return value_unknown();
    switch (object.kind) {
    case VALUE_TYPE: return type_property(r, object, member, is_static);
    case VALUE_OBJECT: return object_property(r, object, member);
    case VALUE_STRING:
    case VALUE_LIST:
    case VALUE_HASH:
    case VALUE_CHAR:
    case VALUE_NUMBER: return scalar_property(r, node, object, member, is_static);
    case VALUE_BLOCK:
        if (str_is(member, "scriptblock"))
            return object; /* of what Get-Item function:x gives */
        return str_is(member, "ast") ? value_unknown() : method_value(r, object, member, false);
    default: return value_unknown();
    }
}
