/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs and Wine's prefix for a run, created before the policy is compiled and removed after the
   run. */
#include "lib/linux/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/stubs.h"
#include "undo/store.h"

/* Opened for writing, because only such an open reaches a broker; elsewhere this file does not
   exist. A process without any filter has no broker. */
int prepare_outer_policy(void)
{
    if (prctl(PR_GET_SECCOMP) == 0)
        return -1;
    return open(BROKER_POLICY, O_RDWR | O_CLOEXEC);
}

/* The tree must not change the stubs; a run inside another uses the outer one's. */
static int prepare_stubs(struct settings *s, struct system_prepared *prepared)
{
    char folder[STUBS_LONGEST];
    int outer = prepare_outer_policy();
    if (outer >= 0)
        close(outer);
    prepared->inside = outer >= 0;
    if (outer >= 0 || !stubs_name(folder, sizeof folder))
        return 0;
    prepared->stubs = arena_copy(&s->arena, str_of(folder)).p;
    return prepared->stubs ? settings_protect_final(s, str_of(prepared->stubs)) : CORDON_E_NOMEM;
}

/* A separate run that creates a Wine prefix. Its output helps nobody: Wine's remarks about its own
   folders. */
static int boot_wine(void *context, struct wine_boot *boot)
{
    struct cordon_policy *p = context, *q;
    static const char *const unset[] = {"DISPLAY", "WAYLAND_DISPLAY"};
    const char *argv[] = {"sh", "-c", boot->line, NULL};
    struct run_result result = {0};
    int rc = cordon_policy_new(&q);
    if (rc)
        return rc;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    intptr_t output[] = {nowhere, nowhere};
    struct run_options o = {.argv = argv,
                            .argc = 3,
                            .unset = unset,
                            .unset_count = 2,
                            .set = boot->set,
                            .set_count = boot->set_count,
                            .stdio = nowhere < 0 ? NULL : output,
                            .trusted = true};
    rc = cordon_policy_set(q, "root", boot->wine.prefix);
    if (rc == 0)
        rc = wine_serve(&q->settings, &boot->wine);
    if (rc == 0)
        rc = run_prepare(q, &o);
    if (rc == 0)
        rc = run_confined(q, &o, &result);
    if (rc) {
        buf_reset(&p->settings.error);
        buf_fmt(&p->settings.error, "%s", q->error[0] ? q->error : buf_cstr(&q->settings.error));
    }
    run_finish(q, &result);
    summary_free(&result.summary);
    cordon_policy_free(q);
    if (nowhere >= 0)
        close(nowhere);
    return rc;
}

bool system_is_inside(void)
{
    int outer = prepare_outer_policy();
    if (outer >= 0)
        close(outer);
    return outer >= 0;
}

int system_prepare(struct cordon_policy *p, const struct run_options *o)
{
    p->prepared = ARENA_NEW(&p->settings.arena, struct system_prepared);
    int rc = p->prepared ? prepare_stubs(&p->settings, p->prepared) : CORDON_E_NOMEM;
    if (rc)
        return api_fail(p, rc, cordon_strerror(rc));
    char store[PATH_MAX], why[512];
    if (o->undo && !store_path(true, store, sizeof store, why, sizeof why))
        return api_fail(p, CORDON_E_OPEN, why);
    /* Other runs' journals too, before there are any: whatever stands there is what undo
       restores. */
    if ((o->undo || store_name(store, sizeof store)) &&
        (rc = settings_protect(&p->settings, str_of(store))))
        return api_fail(p, rc, cordon_strerror(rc));
    struct wine_question question = {.argv = o->argv,
                                     .argc = o->argc,
                                     .prefix = o->wine_prefix,
                                     .boot = boot_wine,
                                     .context = p};
    rc = wine_prepare(&p->settings, &p->prepared->wine, &question);
    p->settings.keeps_temp = p->prepared->wine.argv != NULL; /* its server is looked for there */
    return rc ? api_fail(p, rc, buf_cstr(&p->settings.error)) : 0;
}

void system_finish(struct cordon_policy *p)
{
    if (p->prepared)
        wine_finish(&p->prepared->wine);
}
