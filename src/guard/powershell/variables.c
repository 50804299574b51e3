/* SPDX-License-Identifier: Apache-2.0 */
/* Cmdlets that set and give variables and aliases. */
#include "base/glob.h"
#include "guard/names.h"
#include "guard/powershell/cmdlets.h"

/* -Scope Script, -Scope 1: not that of the function. */
static bool is_outer(struct ps_bound *b, size_t index)
{
    return b->present[index] && !name_is_one_of(bound_word(b, index).text, STR("Local|Private|0"));
}

struct ps_value cmdlet_set_variable(struct ps_bound *b)
{
    struct word name = bound_word(b, 0);
    enum { OPTION = 2, SCOPE };
    struct ps_value value = b->present[1] ? b->values[1] : value_kind(VALUE_NULL);
    if (!b->present[0] || !word_known(name))
        return value_kind(VALUE_VOID);
    if (is_outer(b, SCOPE)) {
        enum ps_space space = variable_space(&name.text);
        scope_set_outer(b->r, space, name.text, value);
    } else {
        variable_set(b->r, name.text, value);
    }
    struct str option = b->present[OPTION] ? bound_word(b, OPTION).text : STR("");
    if (str_findi(option, STR("only"), 0) < option.n ||
        str_findi(option, STR("const"), 0) < option.n || str_has_char(option, GUARD_HOLE))
        scope_fix(b->r, name.text);
    return value_kind(VALUE_VOID);
}

struct ps_value cmdlet_get_variable(struct ps_bound *b)
{
    struct word name = bound_word(b, 0);
    if (!b->present[0] || !word_known(name))
        return value_unknown();
    if (str_has_char(name.text, '*') || str_has_char(name.text, '?')) {
        static const char *const names[] = {
            "MaximumDriveCount", "VerbosePreference", "PSHOME",
            "ShellId",           "ExecutionContext",  "MaximumErrorCount"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (glob_match(GLOB_POWERSHELL, name.text, str_of(names[i]))) {
                name.text = str_of(names[i]);
                break;
            }
        }
    }
    bool set;
    struct ps_value v = variable_get(b->r, name.text, &set);
    if (bound_switch(b, 1))
        return v;
    struct ps_value object = value_object(&b->r->f, STR("variable"), name.text);
    if (object.kind == VALUE_OBJECT) {
        value_put(&b->r->f, &object.object->properties, STR("value"), v);
        value_put(&b->r->f, &object.object->properties, STR("name"), value_string(name.text));
    }
    return object;
}

struct ps_value cmdlet_set_alias(struct ps_bound *b)
{
    struct word name = bound_word(b, 0);
    if (!b->present[0] || !b->present[1])
        return value_kind(VALUE_VOID);
    enum { SCOPE = 5 };
    struct ps_value value = value_string(bound_word(b, 1).text);
    if (word_known(name) && is_outer(b, SCOPE))
        scope_set_outer(b->r, SPACE_ALIAS, name.text, value);
    else if (word_known(name))
        scope_set(b->r, SPACE_ALIAS, name.text, value);
    else
        ps_run_opaque_command(b->r, name);
    return value_kind(VALUE_VOID);
}
