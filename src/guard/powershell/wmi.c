/* SPDX-License-Identifier: Apache-2.0 */
/* WMI and CIM: classes whose methods and instances act outside the process tree. */
#include "base/glob.h"
#include "guard/names.h"
#include "guard/powershell/cmdlets.h"
#include "guard/powershell/dotnet.h"

static const struct {
    const char *class, *methods;
} rows[] = {
#define WMI(class, methods) {class, methods},
#include "guard/tables/ps_wmi.def"
#undef WMI
};

static bool fits_one_of(struct str name, struct str patterns)
{
    for (size_t end; patterns.n; patterns = str_from(patterns, end + 1)) {
        end = str_find_char(patterns, '|', 0);
        if (glob_match(GLOB_POWERSHELL, str_slice(patterns, 0, end), name))
            return true;
    }
    return false;
}

static bool acts_outside(struct str class, struct str method)
{
    bool nameless = str_has_char(method, GUARD_HOLE);
    for (size_t i = 0; i < NAME_ROWS(rows); i++)
        if (glob_match(GLOB_POWERSHELL, str_of(rows[i].class), class) &&
            (nameless || fits_one_of(method, str_of(rows[i].methods))))
            return true;
    return false;
}

/* The class in "select … from CLASS where …"; of other queries it is not known. */
static struct str class_of_query(struct str query)
{
    size_t from = str_findi(query, STR(" from "), 0);
    if (from == query.n)
        return STR("\xFF");
    struct str class = str_trim(str_from(query, from + 6));
    return str_slice(class, 0, str_find_char(class, ' ', 0));
}

/* \\host\space:CLASS.key='value' */
static struct str class_of_path(struct str path)
{
    path = str_slice(path, 0, str_find_char(path, '=', 0));
    for (size_t i = path.n; i-- > 0;)
        if (ascii_is_in(path.p[i], ":\\/")) {
            path = str_from(path, i + 1);
            break;
        }
    return str_trim(str_slice(path, 0, str_find_char(path, '.', 0)));
}

static bool is_query(struct str text)
{
    static const struct str verbs[] = {STR("select "), STR("associators "), STR("references ")};
    for (size_t i = 0; i < NAME_ROWS(verbs); i++)
        if (str_startsi(str_trim(text), verbs[i]))
            return true;
    return false;
}

void dotnet_wmi(struct ps_run *r, struct ps_node *at, struct str class, struct str method,
                struct str who)
{
    class = is_query(class) ? class_of_query(class) : class_of_path(class);
    if (str_eqi(class, STR("meta_class"))) /* any of all classes */
        class = STR("\xFF");
    bool unknown = str_has_char(class, GUARD_HOLE), nameless = str_has_char(method, GUARD_HOLE);
    if (unknown && nameless)
        ps_run_opaque_command(r, word_unknown(at->start, at->end));
    /* methods that only such classes have */
    bool telling = unknown && name_is_one_of(method, STR("create|startservice|resumeservice|"
                                                         "registerbyxml|registerbyobject|"
                                                         "win32shutdown|setstringvalue|"
                                                         "setexpandedstringvalue"));
    if ((telling || (!unknown && acts_outside(class, method))) && !(r->quiet && unknown))
        guard_find(r->g, GUARD_LAUNCH_OUTSIDE,
                   (struct word){.text = class, .start = at->start, .end = at->end}, who,
                   "lets a service act, outside the sandboxed process tree", NULL);
}

struct ps_value wmi_call(struct ps_call *c)
{
    struct str class = str_from(c->type, 4), method = c->member;
    if (str_is(method, "invoke") && c->object.object->text.p)
        method = c->object.object->text; /* object.Name.Invoke(…) */
    else if (str_is(method, "invokemethod") && c->count)
        method = value_text(&c->r->f, c->args[0]);
    if (str_is(method, "delete") && str_find(class, STR("shadowcopy"), 0) < class.n && !c->r->quiet)
        guard_find(c->r->g, GUARD_DESTROY_DISK,
                   (struct word){.text = class, .start = c->node->start, .end = c->node->end},
                   STR("Delete"), NULL, NULL);
    dotnet_wmi(c->r, c->node, class.n ? class : STR("\xFF"),
               str_is(method, "put") ? STR("new") : method, method);
    call_blocks(c, c->object);
    return name_is_one_of(method, STR("get|put|createinstance|clone")) ? c->object
                                                                       : value_unknown();
}

/* ---- cmdlets ---- */

static struct ps_value wmi_object(struct ps_bound *b, struct str class)
{
    struct ps_fold *f = &b->r->f;
    return value_object(f, fold_concat(f, STR("wmi/"), fold_lower(f, class)), STR_NONE);
}

struct ps_value cmdlet_get_wmi(struct ps_bound *b)
{
    enum { CLASS, QUERY };
    struct str class = STR("");
    if (b->present[CLASS] && word_known(bound_word(b, CLASS)))
        class = str_trim(bound_word(b, CLASS).text);
    else if (b->present[QUERY] && is_query(bound_word(b, QUERY).text))
        class = class_of_query(bound_word(b, QUERY).text);
    return wmi_object(b, class);
}

static struct ps_value judge_method(struct ps_bound *b, struct str class, struct str method,
                                    bool remote)
{
    if (remote)
        return cmdlet_outside(b);
    dotnet_wmi(b->r, b->at, class, method, b->who);
    return value_unknown();
}

struct ps_value cmdlet_cim_method(struct ps_bound *b)
{
    enum { CLASS, METHOD, ARGUMENTS, CIM_CLASS, INPUT, QUERY, COMPUTER = 9, SESSION };
    size_t text = !b->present[CLASS] && b->present[QUERY] ? QUERY : CLASS;
    struct str class = bound_class(b, text, b->present[CIM_CLASS] ? CIM_CLASS : INPUT);
    bool named = b->present[METHOD] && b->values[METHOD].kind == VALUE_STRING;
    return judge_method(b, class, named ? bound_word(b, METHOD).text : STR("\xFF"),
                        b->present[COMPUTER] || b->present[SESSION]);
}

struct ps_value cmdlet_wmi_method(struct ps_bound *b)
{
    enum { CLASS, METHOD, ARGUMENTS, PATH, INPUT, SPACE, COMPUTER };
    struct str class = bound_class(b, b->present[PATH] ? PATH : CLASS, INPUT);
    if (b->present[PATH] && b->present[CLASS]) /* then the first word is the method's name */
        dotnet_wmi(b->r, b->at, class, bound_word(b, CLASS).text, b->who);
    return judge_method(b, class, b->present[METHOD] ? bound_word(b, METHOD).text : STR("\xFF"),
                        b->present[COMPUTER]);
}

struct ps_value cmdlet_wmi_instance(struct ps_bound *b)
{
    enum { CLASS, OBJECT, PATH, CLIENT_ONLY };
    struct str class = bound_class(b, b->present[CLASS] ? CLASS : PATH, OBJECT);
    bool kept = str_eq(b->who, STR("New-CimInstance")) && bound_switch(b, CLIENT_ONLY);
    if (!kept && word_known((struct word){.text = class}))
        dotnet_wmi(b->r, b->at, class, STR("new"), b->who);
    else if (!kept)
        ps_run_opaque_command(b->r, bound_command(b));
    return wmi_object(b, class);
}
