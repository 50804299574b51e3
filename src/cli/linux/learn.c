/* SPDX-License-Identifier: Apache-2.0 */
/* --learn=allow: a run that answers its own questions. */
#include "learn/learn.h"
#include "cli/cli.h"
#include "launch/disk.h"
#include "learn/linux/allow.h"
#include "lib/run.h"

int cli_learn_allow(struct cordon_policy *p, struct run_options *o, struct learn *l)
{
    const struct policy_settings *s = policy_settings_of(p->policy);
    struct disk_facts home = {0};
    struct learn_allow *a = ARENA_NEW(&p->settings.arena, struct learn_allow);
    if (!a)
        return print_failure("out of memory");
    if (s->mode == POLICY_FULL_ACCESS)
        return print_failure("--learn=allow and --mode full-access contradict each other");
    if (s->machine.home.n < 2 || disk_look(&p->settings.arena, s->machine.home, &home) ||
        !home.directory || home.final.n < 2)
        return print_failure("--learn=allow: the home folder is not known; set HOME");
    a->home = l->closed = home.final;
    a->strict = s->strict;
    o->ask = learn_answer;
    o->ask_context = a;
    /* Also with --quiet: nothing else says that this run is wider. */
    print_error(
        "--learn=allow: THIS RUN IS NOT CONFINED to its folders: it can change files below %.*s, "
        "but for protected names, keys and what runs at login",
        STR_ARG(a->home));
    print_error(o->undo
                    ? "--learn=allow: --undo keeps what it changes inside its roots, not outside"
                    : "--learn=allow: with --undo you could take back what it changes inside "
                      "its roots, not outside");
    return 0;
}
