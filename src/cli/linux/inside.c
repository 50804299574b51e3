/* SPDX-License-Identifier: Apache-2.0 */
/* Questions inside a run: its broker gives the policy in force, and they are decided here, with the
   caller's own rights. */
#include "broker/linux/broker.h"
#include "cli/cli.h"
#include "lib/api.h"
#include "policy/narrow.h"

enum { LONGEST_OUTLINE = 16 * 1024 * 1024 };

static int read_outline(struct settings *s)
{
    return policy_read_outline(&s->arena, s->outline, &s->policy);
}

void cli_end_why(void)
{
}

void cli_begin_why(struct cordon_policy *p, bool own)
{
    auto_buf struct buf text = {0};
    char piece[4096];
    /* No file has this name: only a broker opens it, and sees opens for writing alone. */
    FILE *f = own ? NULL : fopen(BROKER_POLICY, "r+be");
    if (!f)
        return;
    for (size_t n; text.n < LONGEST_OUTLINE && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(&text, (struct str){piece, n});
    fclose(f);
    p->settings.outline = arena_copy(&p->settings.arena, buf_str(&text));
    p->settings.in_force = read_outline;
}
