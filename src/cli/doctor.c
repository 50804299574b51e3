/* SPDX-License-Identifier: Apache-2.0 */
/* cordon doctor: one screen about this machine, each finding with what to do. */
#include "doctor/doctor.h"
#include "base/json.h"
#include "cli/cli.h"
#include "lib/system.h"

static void print_json(const struct doctor *d, struct buf *out)
{
    const char *const domains[][2] = {
        {"files", d->domains.files},         {"delete", d->domains.delete},
        {"processes", d->domains.processes}, {"input", d->domains.input},
        {"network", d->domains.network},     {"reads", d->domains.reads},
        {"shell", d->domains.shell}};
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put(&w, STR("version"), str_of(cordon_version()));
    json_put(&w, STR("os"), str_of(d->os));
    json_put(&w, STR("boundary"), str_of(d->boundary));
    json_key(&w, STR("domains"));
    json_open(&w, '{');
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        json_put(&w, str_of(domains[i][0]), str_of(domains[i][1]));
    json_close(&w, '}');
    json_key(&w, STR("layers"));
    json_open(&w, '[');
    for (size_t i = 0; i < d->layer_count; i++) {
        json_open(&w, '{');
        json_put(&w, STR("name"), str_of(d->layers[i].name));
        json_put_bool(&w, STR("live"), d->layers[i].live);
        json_put(&w, STR("how"), str_of(d->layers[i].how));
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_key(&w, STR("findings"));
    json_open(&w, '[');
    for (size_t i = 0; i < d->finding_count; i++) {
        const struct doctor_finding *f = &d->findings[i];
        json_open(&w, '{');
        json_put(&w, STR("id"), str_of(f->id));
        json_put(&w, STR("severity"), f->must ? STR("must") : STR("should"));
        json_put(&w, STR("text"), str_of(f->text));
        json_put(&w, STR("fix"), str_of(f->fix));
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_key(&w, STR("kept"));
    json_open(&w, '[');
    for (size_t i = 0; i < d->kept_count; i++) {
        json_open(&w, '{');
        json_put(&w, STR("what"), str_of(d->kept[i].what));
        json_put(&w, STR("path"), str_of(d->kept[i].path));
        json_put(&w, STR("remove"), str_of(d->kept[i].remove));
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_char(out, '\n');
}

static void print_screen(const struct doctor *d)
{
    const struct doctor_domains *of = &d->domains;
    printf("cordon %s on %s\n", cordon_version(), d->os);
    printf("boundary: %s%s%s%s\n", d->boundary, d->boundary_detail[0] ? " (" : "",
           d->boundary_detail, d->boundary_detail[0] ? ")" : "");
    printf("  files %s, delete %s, processes %s, input %s, network %s, reads %s, shell %s\n",
           of->files, of->delete, of->processes, of->input, of->network, of->reads, of->shell);
    printf("\nlayers:\n");
    for (size_t i = 0; i < d->layer_count; i++)
        printf("  %s%-4s%s %-18s %s\n", print_style(d->layers[i].live ? PRINT_GREEN : PRINT_YELLOW),
               d->layers[i].live ? "yes" : "no", print_style(PRINT_PLAIN), d->layers[i].name,
               d->layers[i].how);
    printf("\n%s\n", d->finding_count ? "findings:" : "nothing to do");
    for (int must = 1; must >= 0; must--)
        for (size_t i = 0; i < d->finding_count; i++) {
            const struct doctor_finding *f = &d->findings[i];
            if (f->must == (must == 1))
                printf("  %s%s%s %s: %s\n         %s\n",
                       print_style(f->must ? PRINT_RED : PRINT_YELLOW),
                       f->must ? "must  " : "should", print_style(PRINT_PLAIN), f->id, f->text,
                       f->fix);
        }
    if (d->kept_count)
        printf("\nkept by earlier runs:\n");
    for (size_t i = 0; i < d->kept_count; i++)
        printf("  %s: %s\n         %s\n", d->kept[i].what, d->kept[i].path, d->kept[i].remove);
}

static void print_object(void *context, const struct doctor_object *object)
{
    (void)context;
    printf("%s (%s)\n  %s\n", object->name, object->where,
           object->sddl.n ? buf_cstr((struct buf *)&object->sddl) : object->error);
}

static void add_object(void *context, const struct doctor_object *object)
{
    struct json_writer *w = context;
    json_open(w, '{');
    json_put(w, STR("name"), str_of(object->name));
    json_put(w, STR("where"), str_of(object->where));
    if (object->sddl.n)
        json_put(w, STR("sddl"), buf_str(&object->sddl));
    else
        json_put(w, STR("error"), str_of(object->error));
    json_close(w, '}');
}

static int print_objects(bool json)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    bool any;
    if (json) {
        json_open(&w, '{');
        json_key(&w, STR("objects"));
        json_open(&w, '[');
        any = doctor_objects(add_object, &w);
        json_close(&w, ']');
        json_close(&w, '}');
        buf_char(&out, '\n');
    } else {
        any = doctor_objects(print_object, NULL);
    }
    if (!any)
        return print_failure("--objects works on Windows only");
    return out.failed || !print_out(buf_str(&out)) ? print_failure("cannot write the answer") : 0;
}

static void print_rung(void *context, const struct doctor_rung *rung)
{
    (void)context;
    printf("%-6s  %s%s%s\n", rung->result, *rung->words ? rung->words : "the strongest",
           strcmp(rung->result, "starts") ? ": " : "",
           strcmp(rung->result, "starts") ? rung->said : "");
    fflush(stdout);
}

static void add_rung(void *context, const struct doctor_rung *rung)
{
    struct json_writer *w = context;
    json_open(w, '{');
    json_put(w, STR("weaker"), str_of(rung->words));
    json_put(w, STR("result"), str_of(rung->result));
    json_put(w, STR("said"), str_of(rung->said));
    json_close(w, '}');
}

static int print_ladder(bool json)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    if (!json) {
        printf("ways to start a program here, the strongest first\n");
        return doctor_ladder(print_rung, NULL) ? 0
                                               : print_failure("--ladder works on Windows only");
    }
    json_open(&w, '{');
    json_key(&w, STR("ladder"));
    json_open(&w, '[');
    bool any = doctor_ladder(add_rung, &w);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_char(&out, '\n');
    return !any || out.failed || !print_out(buf_str(&out))
               ? print_failure("the ladder could not be tried")
               : 0;
}

int command_doctor(struct arguments *args)
{
    static struct doctor doctor; /* too large for some stacks */
    bool json = false, objects = false, ladder = false, help = false;
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "objects", .flag = &objects},
                                     {.name = "ladder", .flag = &ladder},
                                     {.name = "help", .flag = &help}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, NULL);
    if (rc)
        return rc;
    if (help)
        return cli_help("doctor");
    if (args->next < args->count)
        return print_failure("doctor takes no words; leave out %s", args->items[args->next]);
    if (objects)
        return print_objects(json);
    if (ladder)
        return print_ladder(json);
    if (system_is_inside())
        return print_failure("this is inside a run of cordon, whose limits would be taken for the "
                             "machine's; start doctor outside");
    doctor_examine(&doctor);
    if (json) {
        auto_buf struct buf out = {0};
        print_json(&doctor, &out);
        if (out.failed || !print_out(buf_str(&out)))
            return print_failure("cannot write the answer");
    } else {
        print_screen(&doctor);
    }
    return doctor_must(&doctor) ? 1 : 0;
}
