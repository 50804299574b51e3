/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that every fuzz target of the guard makes on an answer. */
#ifndef CORDON_TESTS_GUARD_FUZZ_H
#define CORDON_TESTS_GUARD_FUZZ_H

#include <stdlib.h>

#include "base/buf.h"
#include "guard/guard.h"

/* Asks, and aborts where the answer breaks a promise: spans inside the text, verdict is the worst
   finding, the same question has the same answer. */
static enum cordon_verdict guard_fuzz_ask(struct guard *g, const struct guard_question *q,
                                          bool *syntax_error)
{
    struct guard_answer first, again;
    if (guard_check(g, q, &first))
        abort();
    enum cordon_verdict worst = CORDON_ALLOW;
    *syntax_error = false;
    for (size_t i = 0; i < first.finding_count; i++) {
        const struct guard_finding *f = &first.findings[i];
        if (f->start > f->end || f->end > first.text.n || f->why.n == 0 || f->fix.n == 0)
            abort();
        if (f->verdict < worst)
            worst = f->verdict;
        if (f->rule == GUARD_OPAQUE_SYNTAX)
            *syntax_error = true;
    }
    if (worst != first.verdict)
        abort();
    for (size_t i = 0; i < first.read_count; i++)
        if (first.reads[i].start > first.reads[i].end || first.reads[i].end > first.text.n)
            abort();
    size_t count = first.finding_count;
    if (guard_check(g, q, &again) || again.verdict != worst || again.finding_count != count)
        abort();
    return worst;
}

/* Aborts if the question with a launch appended to its text is allowed. */
__attribute__((unused)) static void
guard_fuzz_append(struct guard *g, const struct guard_question *q, struct str launch)
{
    auto_buf struct buf longer = {0};
    struct guard_question appended = *q;
    bool syntax_error;
    buf_add(&longer, q->text);
    buf_add(&longer, launch);
    if (longer.failed)
        return;
    appended.text = buf_str(&longer);
    if (guard_fuzz_ask(g, &appended, &syntax_error) == CORDON_ALLOW)
        abort();
}

#endif
