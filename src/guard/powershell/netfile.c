/* SPDX-License-Identifier: Apache-2.0 */
/* Members of .NET that delete, write, copy and link files. */
#include "guard/names.h"
#include "guard/powershell/dotnet.h"

/* ---- deletion ---- */

/* .NET's paths start from the folder of the process, which Set-Location leaves alone. */
static struct ps_value delete_from(struct ps_call *c, struct str who, unsigned flags)
{
    struct str location = guard_folder(c->r->g);
    if (!c->count)
        return value_kind(VALUE_VOID);
    guard_set_folder(c->r->g, c->r->process_folder);
    ps_run_delete(c->r, who, call_word(c, 0), flags);
    guard_set_folder(c->r->g, location);
    return value_kind(VALUE_VOID);
}

struct ps_value net_delete_folder(struct ps_call *c)
{
    bool all = c->count > 1 && fold_truth(c->args[1]) != 0;
    return delete_from(c, STR("Directory.Delete"), all ? GUARD_RECURSE : 0);
}

struct ps_value net_delete_file(struct ps_call *c)
{
    return delete_from(c, STR("File.Delete"), GUARD_FORCE);
}

struct ps_value net_delete_anything(struct ps_call *c)
{
    return delete_from(c, STR("FileSystem.Delete"), GUARD_FORCE | GUARD_RECURSE);
}

/* [IO.Directory]::SetCurrentDirectory(path) */
struct ps_value net_set_folder(struct ps_call *c)
{
    if (c->count)
        dotnet_set_folder(c->r, c->args[0]);
    return value_kind(VALUE_VOID);
}

struct ps_value net_delete_object(struct ps_call *c)
{
    struct ps_value path = property_of(c->object, "fullname");
    if (path.kind != VALUE_VOID)
        ps_run_delete(c->r, STR("Delete"), eval_word(c->r, c->node, path),
                      c->count && fold_truth(c->args[0]) != 0 ? GUARD_RECURSE : 0);
    return value_kind(VALUE_VOID);
}

struct ps_value members_delete_found(struct ps_call *c)
{
    struct word target = eval_word(c->r, c->node, c->object);
    size_t hole = str_find_char(target.text, GUARD_HOLE, 0);
    if (hole && hole < target.text.n)
        target.text = fold_concat(&c->r->f, str_slice(target.text, 0, hole), STR("*"));
    ps_run_delete(c->r, STR("Delete"), target, GUARD_RECURSE);
    return value_kind(VALUE_VOID);
}

/* ---- files ---- */

struct ps_value net_write_file(struct ps_call *c)
{
    if (c->count > 1)
        ps_run_write(c->r, call_word(c, 0), c->args[1], str_startsi(c->member, STR("append")));
    return value_kind(VALUE_VOID);
}

/* [IO.File]::Copy(from, to), Move, Replace; [IO.Compression.ZipFile]::ExtractToDirectory(from,
   to) */
struct ps_value net_copy_file(struct ps_call *c)
{
    if (c->count > 1 && !c->r->quiet) {
        guard_copied(c->r->g, call_word(c, 0).text, call_word(c, 1).text);
        if (str_startsi(c->member, STR("move")) || str_startsi(c->member, STR("replace")))
            guard_protects(c->r->g, c->member, call_word(c, 0), true);
        guard_write(c->r->g, c->member, call_word(c, 1), true);
    }
    return value_kind(VALUE_VOID);
}

/* [IO.File]::CreateSymbolicLink(link, target) */
struct ps_value net_link_file(struct ps_call *c)
{
    if (c->count > 1 && !c->r->quiet) {
        guard_write(c->r->g, c->member, call_word(c, 0), false);
        guard_protects(c->r->g, c->member, call_word(c, 1), false);
        guard_linked(c->r->g, call_word(c, 1).text, call_word(c, 0).text);
    }
    return value_kind(VALUE_VOID);
}

/* The file behind a writer or a stream; VALUE_VOID if it is none. */
static struct ps_value file_of(struct ps_value v)
{
    return v.kind == VALUE_OBJECT ? property_of(v, "fullname") : v;
}

/* [IO.File]::CreateText(file), AppendText(file), OpenWrite(file), Create(file) */
struct ps_value net_open_writer(struct ps_call *c)
{
    struct ps_value writer = value_object(&c->r->f, STR("io.streamwriter"), STR_NONE);
    if (!c->count || writer.kind != VALUE_OBJECT)
        return value_unknown();
    value_put(&c->r->f, &writer.object->properties, STR("fullname"), c->args[0]);
    return writer;
}

/* writer.Write(text), writer.WriteLine(text): added to what the text wrote into that file. */
struct ps_value net_writer_write(struct ps_call *c)
{
    struct ps_value file = file_of(file_of(c->object));
    if (c->count && file.kind == VALUE_STRING)
        ps_run_write(c->r, eval_word(c->r, c->node, file), c->args[0], true);
    return value_kind(VALUE_VOID);
}

/* client.DownloadFile(url, file) */
struct ps_value net_download_file(struct ps_call *c)
{
    if (c->count > 1 && !c->r->quiet) {
        guard_write(c->r->g, c->member, call_word(c, 1), true);
        guard_wrote_unknown(c->r->g, call_word(c, 1).text);
    }
    return value_kind(VALUE_VOID);
}
