/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by dotnet.c and members.c: a call of a member, and the handlers of the known ones. */
#ifndef CORDON_GUARD_POWERSHELL_DOTNET_H
#define CORDON_GUARD_POWERSHELL_DOTNET_H

#include "guard/powershell/run.h"

struct ps_call {
    struct ps_run *r;
    struct ps_node *node;
    struct ps_value object; /* not for static members */
    struct str type, member;
    struct ps_value *args;
    size_t count;
};

/* Static and instance members that are known by type and name. False: none of them. */
bool members_static(struct ps_call *c, struct ps_value *out);
bool members_instance(struct ps_call *c, struct ps_value *out);

/* A call on an unknown receiver: some member names are enough to decide. */
struct ps_value members_unknown(struct ps_call *c, bool is_static);

/* The n-th argument with its place in the text; one that cannot be known if there is none. */
struct word call_word(struct ps_call *c, size_t n);
struct ps_node *call_place(struct ps_node *node, size_t n);
void call_blocks(struct ps_call *c, struct ps_value on);

/* The property of an object or a table; VALUE_VOID if it has none. */
struct ps_value property_of(struct ps_value v, const char *name);

/* com.c: a member of a COM object */
struct ps_value com_call(struct ps_call *c);

/* wmi.c: a member of a WMI object */
struct ps_value wmi_call(struct ps_call *c);

/* netfile.c: files and folders */
struct ps_value net_delete_folder(struct ps_call *c);
struct ps_value net_delete_file(struct ps_call *c);
struct ps_value net_delete_anything(struct ps_call *c);
struct ps_value net_set_folder(struct ps_call *c);
struct ps_value net_delete_object(struct ps_call *c);
struct ps_value net_write_file(struct ps_call *c);
struct ps_value net_copy_file(struct ps_call *c);
struct ps_value net_link_file(struct ps_call *c);
struct ps_value net_open_writer(struct ps_call *c);
struct ps_value net_writer_write(struct ps_call *c);
struct ps_value net_download_file(struct ps_call *c);

/* registry.c: Registry.SetValue, RegistryKey.OpenBaseKey, and the members of a key */
struct ps_value registry_set(struct ps_call *c);
struct ps_value key_base(struct ps_call *c);
struct ps_value key_open(struct ps_call *c);
struct ps_value key_create(struct ps_call *c);
struct ps_value key_set(struct ps_call *c);
struct ps_value key_delete(struct ps_call *c);
/* [Microsoft.Win32.Registry]::CurrentUser */
struct ps_value key_of_hive(struct ps_run *r, struct str hive);
/* The path of a key that Get-Item found as such an object; other values as they are. */
struct ps_value key_of_path(struct ps_run *r, struct ps_value v);

/* type.InvokeMember(name, flags, binder, target, arguments). */
struct ps_value call_by_name(struct ps_call *c, struct ps_value name, struct ps_value target,
                             struct ps_value arguments);

/* The files that a path with wildcards or holes stands for are deleted. */
struct ps_value members_delete_found(struct ps_call *c);

#endif
