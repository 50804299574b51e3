/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same on every system: the lists, the folder that would be the root, the boundary. */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/system.h"

void doctor_layer(struct doctor *d, const char *name, bool live, const char *how, ...)
{
    struct doctor_layer layer = {.name = name, .live = live};
    va_list args;
    va_start(args, how);
    vsnprintf(layer.how, sizeof layer.how, how, args);
    va_end(args);
    if (d->layer_count < DOCTOR_LAYERS)
        d->layers[d->layer_count++] = layer;
}

void doctor_finding(struct doctor *d, const char *id, bool must, const char *text, const char *fix)
{
    if (d->finding_count == DOCTOR_FINDINGS)
        return;
    struct doctor_finding *f = &d->findings[d->finding_count++];
    f->id = id;
    f->must = must;
    snprintf(f->text, sizeof f->text, "%s", text);
    snprintf(f->fix, sizeof f->fix, "%s", fix);
}

void doctor_boundary(struct doctor *d)
{
    d->boundary = system_boundary(NULL, d->boundary_detail, sizeof d->boundary_detail);
}

/* What a plain `cordon run` would take as its root. */
static void examine_root(struct doctor *d)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return;
    if (api_prepare(p, STR_NONE)) {
        char text[480];
        snprintf(text, sizeof text, "the current directory cannot be a root: %.400s",
                 cordon_policy_error(p));
        doctor_finding(d, "root.current", false, text,
                       "go to the folder of your project, or name it: cordon run --root DIR");
    }
    cordon_policy_free(p);
}

void doctor_try(struct doctor *d, size_t argc, const char *const *argv, const char *how,
                const char *fix)
{
    struct cordon_policy *p;
    struct cordon_result *result = NULL;
    if (doctor_must(d) || cordon_policy_new(&p))
        return;
    bool ran = cordon_policy_set(p, "mode", "read-only") == 0 &&
               cordon_policy_set(p, "allow-broad-root", NULL) == 0 &&
               cordon_run(p, NULL, argc, argv, &result) == 0 && cordon_result_exit(result) == 0;
    doctor_layer(d, "run", ran, "%s", how);
    if (!ran) {
        char text[480];
        snprintf(text, sizeof text, "a command that does nothing does not run: %.400s",
                 result ? cordon_result_reason(result) : cordon_policy_error(p));
        doctor_finding(d, "run.fails", true, text, fix);
    }
    cordon_result_free(result);
    cordon_policy_free(p);
}

bool doctor_must(const struct doctor *d)
{
    for (size_t i = 0; i < d->finding_count; i++)
        if (d->findings[i].must)
            return true;
    return false;
}

void doctor_examine(struct doctor *d)
{
    *d = (struct doctor){.boundary = "interposed",
                         .domains = {"none", "none", "none", "none", "none", "none", "none"}};
    doctor_boundary(d);
    doctor_system(d);
    examine_root(d);
}
