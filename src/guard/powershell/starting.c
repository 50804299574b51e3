/* SPDX-License-Identifier: Apache-2.0 */
/* Cmdlets that start things, run code or make objects. */
#include "guard/names.h"
#include "guard/powershell/cmdlets.h"

/* ---- starting things ---- */

struct ps_value cmdlet_outside(struct ps_bound *b)
{
    if (bound_what_if(b))
        return value_unknown();
    guard_find(b->r->g, GUARD_LAUNCH_OUTSIDE, bound_command(b), b->who, NULL, NULL);
    for (size_t i = 0; i < b->count; i++)
        if (b->args[i].value.kind == VALUE_BLOCK)
            ps_run_block(b->r, b->args[i].value.node, NULL, 0, value_unknown(), true);
    return value_unknown();
}

/* Protection, accounts and packages of the machine. */
struct ps_value cmdlet_settings(struct ps_bound *b)
{
    if (!bound_what_if(b) && !b->r->quiet)
        guard_find(b->r->g, GUARD_PLANT_STARTUP, bound_command(b), b->who,
                   "changes settings that programs outside the sandbox act on",
                   "change the setting yourself, outside the sandbox");
    return value_unknown();
}

/* A folder that the virus scanner leaves out: a whole drive is asked about, and so is a program. */
struct ps_value cmdlet_exclusion(struct ps_bound *b)
{
    enum { PATH, PROGRAM, EXTENSION, LONGEST_DRIVE = 3 };
    bool broad = b->present[PATH] && bound_word(b, PATH).text.n <= LONGEST_DRIVE &&
                 word_known(bound_word(b, PATH));
    return broad || b->present[PROGRAM] || b->present[EXTENSION] ? cmdlet_settings(b)
                                                                 : value_unknown();
}

struct ps_value cmdlet_clear_log(struct ps_bound *b)
{
    if (!bound_what_if(b) && !b->r->quiet)
        guard_find(b->r->g, GUARD_DESTROY_OUTSIDE, bound_command(b), b->who,
                   "deletes the logs of the system", "do this yourself");
    return value_unknown();
}

/* Start-Process joins its arguments with blanks and does not quote them. */
static void add_argument_list(struct ps_words *w, struct ps_bound *b, size_t index)
{
    if (!b->present[index])
        return;
    struct ps_value v = b->values[index];
    struct str line = value_text(
        &b->r->f,
        v.kind == VALUE_LIST ? fold_binary(&b->r->f, OP_JOIN, v, value_string(STR(" "))) : v);
    words_split(w, b->nodes[index], line);
}

struct ps_value cmdlet_start_process(struct ps_bound *b)
{
    enum { FILE_PATH, ARGUMENTS, VERB, CREDENTIAL };
    struct ps_run *r = b->r;
    if (bound_text_is(b, VERB, "runas") || bound_text_is(b, VERB, "runasuser")) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, bound_word(b, VERB), b->who,
                   "starts the program elevated, outside the sandboxed process tree", NULL);
    } else if (b->present[CREDENTIAL]) {
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE, bound_word(b, CREDENTIAL), b->who,
                   "starts the program as another user, outside the sandboxed process tree", NULL);
    } else if (b->present[VERB] && !word_known(bound_word(b, VERB))) {
        ps_run_opaque_command(r, bound_word(b, VERB));
    }
    if (!b->present[FILE_PATH])
        return value_unknown();
    struct ps_words w = {.r = r};
    add_argument_list(&w, b, ARGUMENTS);
    struct ps_value target = b->values[FILE_PATH];
    if (target.kind == VALUE_OBJECT && str_eq(target.object->type, STR("command")))
        target = value_string(target.object->text);
    if (target.kind == VALUE_LIST) {
        for (size_t i = 0; i < target.count && i < 64; i++)
            ps_run_open(r, b->who, eval_word(r, b->nodes[FILE_PATH], target.items[i]), w.words,
                        w.count);
        return value_unknown();
    }
    ps_run_open(r, b->who, eval_word(r, b->nodes[FILE_PATH], target), w.words, w.count);
    return value_unknown();
}

/* The desktop's default action, whatever it is: never a plain child of this process. */
static void open_item(struct ps_bound *b, struct word target)
{
    struct str leaf = name_leaf(target.text);
    if (guard_is_url(target.text) || str_has_char(leaf, GUARD_HOLE) || leaf.n == 0 ||
        leaf.p[0] == '.' || leaf.p[0] == '~') {
        ps_run_open(b->r, b->who, target, NULL, 0);
        return;
    }
    if (target.text.n)
        guard_find(b->r->g, GUARD_LAUNCH_URL, target, b->who, NULL,
                   "call the program by its name, or open the document yourself");
}

struct ps_value cmdlet_invoke_item(struct ps_bound *b)
{
    size_t index = b->present[1] ? 1 : 0;
    if (!b->present[index])
        return value_unknown();
    struct ps_value v = b->values[index];
    if (v.kind != VALUE_LIST)
        open_item(b, bound_word(b, index));
    for (size_t i = 0; v.kind == VALUE_LIST && i < v.count && i < 64; i++)
        open_item(b, eval_word(b->r, b->nodes[index], v.items[i]));
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_set_service(struct ps_bound *b)
{
    enum { STARTUP = 3, STATUS = 4, BINARY = 11 };
    if (b->present[STARTUP] && str_startsi(bound_word(b, STARTUP).text, STR("auto")))
        cmdlet_settings(b);
    if (bound_text_is(b, STATUS, "running") || b->present[BINARY])
        return cmdlet_outside(b);
    return value_unknown();
}

struct ps_value cmdlet_get_help(struct ps_bound *b)
{
    enum { ONLINE = 10 };
    if (bound_switch(b, ONLINE))
        guard_find(b->r->g, GUARD_LAUNCH_TOOL, bound_command(b), b->who, NULL, NULL);
    return value_unknown();
}

struct ps_value cmdlet_show_markdown(struct ps_bound *b)
{
    enum { BROWSER = 3 };
    if (bound_switch(b, BROWSER))
        guard_find(b->r->g, GUARD_LAUNCH_TOOL, bound_command(b), b->who, NULL, NULL);
    return value_unknown();
}

/* ---- running code ---- */

struct ps_value cmdlet_invoke_expression(struct ps_bound *b)
{
    if (b->present[0])
        ps_run_code(b->r, b->nodes[0], b->values[0], b->who);
    return value_unknown();
}

/* Invoke-History and Import-Alias: commands that something else than this text names. */
struct ps_value cmdlet_unread_code(struct ps_bound *b)
{
    if (!b->r->quiet)
        guard_opaque_text(b->r->g, bound_command(b), b->who);
    return value_unknown();
}

static void run_script_value(struct ps_bound *b, size_t index, struct ps_value arguments)
{
    if (!b->present[index])
        return;
    struct ps_value v = b->values[index];
    struct ps_arg few[16];
    size_t count = 0;
    if (arguments.kind == VALUE_LIST)
        for (size_t i = 0; i < arguments.count && count < 16; i++)
            few[count++] = (struct ps_arg){.node = b->at, .value = arguments.items[i]};
    else if (arguments.kind != VALUE_VOID)
        few[count++] = (struct ps_arg){.node = b->at, .value = arguments};
    if (v.kind == VALUE_BLOCK)
        ps_run_block(b->r, v.node, few, count, b->input, true);
    else if (v.kind == VALUE_OBJECT || v.kind == VALUE_STRING || v.kind == VALUE_UNKNOWN)
        ps_run_value(b->r, v.kind == VALUE_STRING ? value_object(&b->r->f, STR("code"), v.text) : v,
                     b->nodes[index], few, count, b->input, false);
}

static void run_script_file(struct ps_bound *b, size_t index)
{
    if (!b->present[index])
        return;
    struct word path = bound_word(b, index);
    struct word words[1] = {path};
    if (!guard_script(b->r->g, path))
        ps_run_program(b->r, words, 1, value_kind(VALUE_VOID));
}

struct ps_value cmdlet_invoke_command(struct ps_bound *b)
{
    enum { BLOCK, COMPUTER, SESSION, VM, VM_ID, CONTAINER, HOST, URI, FILE_PATH, ARGUMENTS };
    bool remote = b->input.kind == VALUE_OBJECT && str_is(b->input.object->type, "session");
    for (size_t i = SESSION; i <= URI; i++)
        remote |= b->present[i];
    if (b->present[COMPUTER] && b->values[COMPUTER].kind == VALUE_BLOCK) {
        /* Invoke-Command server { … } */
        if (value_known(b->values[BLOCK]))
            remote = true;
        else
            ps_run_opaque_command(b->r, bound_command(b));
        b->values[BLOCK] = b->values[COMPUTER];
    } else {
        remote |= b->present[COMPUTER];
    }
    if (remote)
        guard_find(b->r->g, GUARD_LAUNCH_OUTSIDE, bound_command(b), b->who,
                   "runs code through a remote session, outside the sandboxed process tree", NULL);
    run_script_value(b, BLOCK,
                     b->present[ARGUMENTS] ? b->values[ARGUMENTS] : value_kind(VALUE_VOID));
    run_script_file(b, FILE_PATH);
    return value_unknown();
}

struct ps_value cmdlet_get_session(struct ps_bound *b)
{
    return value_object(&b->r->f, STR("session"), STR_NONE);
}

struct ps_value cmdlet_new_session(struct ps_bound *b)
{
    enum { COMPUTER, URI, HOST, CONNECTION };
    for (size_t i = COMPUTER; i <= CONNECTION; i++)
        if (b->present[i]) {
            cmdlet_outside(b);
            break;
        }
    return cmdlet_get_session(b);
}

struct ps_value cmdlet_start_job(struct ps_bound *b)
{
    enum { BLOCK, NAME, INITIALIZATION, ARGUMENTS, INPUT, FILE_PATH };
    struct ps_value arguments =
        b->present[ARGUMENTS] ? b->values[ARGUMENTS] : value_kind(VALUE_VOID);
    run_script_value(b, INITIALIZATION, value_kind(VALUE_VOID));
    run_script_value(b, BLOCK, arguments);
    run_script_file(b, FILE_PATH);
    return value_unknown();
}

struct ps_value cmdlet_new_module(struct ps_bound *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->args[i].value.kind == VALUE_BLOCK)
            ps_run_block(b->r, b->args[i].value.node, NULL, 0, value_kind(VALUE_VOID), false);
        else if (b->args[i].value.kind == VALUE_OBJECT && !b->args[i].name.p)
            ps_run_value(b->r, b->args[i].value, b->at, NULL, 0, value_kind(VALUE_VOID), true);
    if (b->present[0] && b->values[0].kind == VALUE_OBJECT)
        ps_run_value(b->r, b->values[0], b->at, NULL, 0, value_kind(VALUE_VOID), true);
    return value_object(&b->r->f, STR("module"), STR_NONE);
}

struct ps_value cmdlet_import_module(struct ps_bound *b)
{
    if (b->present[0] && word_known(bound_word(b, 0)))
        guard_script(b->r->g, bound_word(b, 0));
    return value_unknown();
}

/* Code in C# or VB is judged by the names in it. */
struct ps_value cmdlet_add_type(struct ps_bound *b)
{
    enum { DEFINITION, MEMBERS };
    static const struct str signs[] = {STR("ShellExecute"), STR("Process.Start"), STR("LaunchUri"),
                                       STR("UseShellExecute")};
    for (size_t i = DEFINITION; i <= MEMBERS; i++) {
        if (!b->present[i])
            continue;
        struct word code = bound_word(b, i);
        if (str_eq(code.text, STR("\xFF")) && !b->r->quiet)
            guard_opaque_text(b->r->g, code, b->who);
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
            if (str_findi(code.text, signs[k], 0) >= code.text.n)
                continue;
            code.text = signs[k];
            guard_find(b->r->g, GUARD_LAUNCH_OUTSIDE, code, b->who,
                       "compiles code that hands things to the desktop's shell",
                       "start the program directly");
            return value_unknown();
        }
    }
    return value_unknown();
}

/* ---- objects ---- */

struct ps_value cmdlet_new_object(struct ps_bound *b)
{
    enum { TYPE, ARGUMENTS, COM, PROPERTY };
    struct ps_run *r = b->r;
    if (b->present[COM])
        return dotnet_com(r, b->nodes[COM], bound_word(b, COM).text);
    if (!b->present[TYPE])
        return value_unknown();
    struct str type = dotnet_type(r, bound_word(b, TYPE).text);
    struct ps_value arguments = b->values[ARGUMENTS];
    struct ps_value object;
    if (!b->present[ARGUMENTS])
        object = dotnet_new(r, b->at, type, NULL, 0);
    else if (arguments.kind == VALUE_LIST)
        object = dotnet_new(r, b->at, type, arguments.items, arguments.count);
    else
        object = dotnet_new(r, b->at, type, &arguments, 1);
    struct ps_value properties = b->values[PROPERTY];
    if (object.kind == VALUE_OBJECT && b->present[PROPERTY] && properties.kind == VALUE_HASH)
        for (size_t i = 0; i < properties.hash->count; i++)
            value_put(&r->f, &object.object->properties,
                      fold_lower(&r->f, properties.hash->pairs[i].key),
                      properties.hash->pairs[i].value);
    return object;
}
