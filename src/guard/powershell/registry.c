/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the registry as objects of .NET: followed from the hive to the value that is written. */
#include "guard/names.h"
#include "guard/powershell/dotnet.h"

static struct ps_value key_object(struct ps_run *r, struct str path)
{
    return value_object(&r->f, STR("registrykey"), path);
}

struct ps_value key_of_hive(struct ps_run *r, struct str hive)
{
    static const struct {
        const char *hive, *short_name;
    } hives[] = {{"currentuser", "HKCU"},
                 {"localmachine", "HKLM"},
                 {"classesroot", "HKCR\\Software\\Classes"},
                 {"users", "HKU"}};
    for (size_t i = 0; i < NAME_ROWS(hives); i++)
        if (str_eqi(hive, str_of(hives[i].hive)))
            return key_object(r, str_of(hives[i].short_name));
    return key_object(r, STR("HK\xFF"));
}

struct ps_value key_of_path(struct ps_run *r, struct ps_value v)
{
    static const struct str starts[] = {STR("hkcu:"), STR("hklm:"), STR("hkcr:"), STR("hku:"),
                                        STR("registry::")};
    for (size_t i = 0; v.kind == VALUE_STRING && i < NAME_ROWS(starts); i++)
        if (str_startsi(v.text, starts[i]))
            return key_object(r, v.text);
    return v;
}

/* RegistryKey.OpenBaseKey(hive, view): the hive by its name, or as [RegistryHive]::Name. */
struct ps_value key_base(struct ps_call *c)
{
    if (!c->count)
        return value_unknown();
    struct ps_value hive = c->args[0];
    return key_of_hive(c->r,
                       hive.kind == VALUE_METHOD ? hive.object->text : value_text(&c->r->f, hive));
}

/* The key or value below the object that the first argument names. */
static struct word below(struct ps_call *c)
{
    struct ps_fold *f = &c->r->f;
    struct str path = fold_concat(f, c->object.object->text, STR("\\"));
    return (struct word){.text = fold_concat(f, path, call_word(c, 0).text),
                         .start = c->node->start,
                         .end = c->node->end};
}

struct ps_value key_open(struct ps_call *c)
{
    return key_object(c->r, below(c).text);
}

struct ps_value key_create(struct ps_call *c)
{
    if (!c->r->quiet)
        guard_write(c->r->g, c->member, below(c), false);
    return key_open(c);
}

struct ps_value key_set(struct ps_call *c)
{
    if (!c->r->quiet)
        guard_write(c->r->g, c->member, below(c), false);
    return value_kind(VALUE_VOID);
}

struct ps_value key_delete(struct ps_call *c)
{
    ps_run_delete(c->r, c->member, below(c), GUARD_REGISTRY | GUARD_RECURSE);
    return value_kind(VALUE_VOID);
}

/* [Microsoft.Win32.Registry]::SetValue(key, name, value) */
struct ps_value registry_set(struct ps_call *c)
{
    if (!c->r->quiet)
        guard_write(c->r->g, c->member, call_word(c, 0), false);
    return value_kind(VALUE_VOID);
}
