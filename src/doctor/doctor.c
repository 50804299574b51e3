/* SPDX-License-Identifier: Apache-2.0 */
/* The part that is the same on every system: the lists, the folder that would be the root, the
   boundary, the hook of Codex. */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "hook/hook.h"
#include "launch/disk.h"
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

/* The default root of `cordon run`. */
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

enum { MOST_CONFIG = 4 * 1024 * 1024 };

/* Whether Codex runs the hook of this hooks.json; config is Codex's own file. */
static void examine_codex_hook(struct doctor *d, struct str file, struct str config)
{
    static const char *const words[] = {[HOOK_UNTRUSTED] = "is not trusted",
                                        [HOOK_CHANGED] = "was changed since it was trusted",
                                        [HOOK_OFF] = "is switched off",
                                        [HOOK_TRUSTED] = "is trusted"};
    auto_buf struct buf hooks = {0};
    char text[480];
    if (disk_read(file, MOST_CONFIG, &hooks))
        return;
    enum hook_trust trust = hook_codex_trust(file, buf_str(&hooks), config);
    if (trust == HOOK_NOT_THERE)
        return;
    doctor_layer(d, "hook codex", trust == HOOK_TRUSTED, "the hook in %.120s %s", file.p,
                 words[trust]);
    if (trust == HOOK_TRUSTED)
        return;
    snprintf(text, sizeof text, "the hook in %.300s %s: Codex skips it", file.p, words[trust]);
    doctor_finding(d, "hook.codex", false, text, "start codex, type /hooks, and trust it");
}

/* Codex says nothing where it skips a hook. */
static void examine_hooks(struct doctor *d)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf config = {0}, file = {0}, own = {0}, project = {0};
    struct str home, cwd = disk_cwd(&arena);
    bool windows = disk_dialect() == PATH_WINDOWS;
    const char *slash = windows ? "\\" : "/";
    if (disk_variable(&arena, STR("CODEX_HOME"), &home) && home.n) {
        buf_add(&file, home);
    } else if (disk_variable(&arena, windows ? STR("USERPROFILE") : STR("HOME"), &home)) {
        buf_add(&file, home);
        buf_fmt(&file, "%s.codex", slash);
    } else {
        return;
    }
    buf_add(&own, buf_str(&file));
    buf_fmt(&own, "%shooks.json", slash);
    buf_fmt(&file, "%sconfig.toml", slash);
    buf_add(&project, cwd);
    buf_fmt(&project, "%s.codex%shooks.json", slash, slash);
    if (file.failed || own.failed || project.failed)
        return;
    if (disk_read(buf_str(&file), MOST_CONFIG, &config))
        buf_reset(&config);
    buf_cstr(&own);
    buf_cstr(&project);
    examine_codex_hook(d, buf_str(&own), buf_str(&config));
    if (cwd.n)
        examine_codex_hook(d, buf_str(&project), buf_str(&config));
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
    examine_hooks(d);
    doctor_keep(d);
}
