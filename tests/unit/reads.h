/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the readers: what --show would print for a text, as name|word|word;name|… */
#ifndef CORDON_TESTS_READS_H
#define CORDON_TESTS_READS_H

#include "guard/guard.h"
#include "tap.h"

struct reads_test {
    const char *text, *reads; /* ? stands for what cannot be known */
};

static void reads_put(struct buf *out, struct str text)
{
    if (!text.p || str_has_char(text, GUARD_HOLE))
        buf_char(out, '?');
    else
        buf_add(out, text);
}

static void reads_check(struct guard *g, const struct guard_question *q, const char *expected)
{
    auto_buf struct buf got = {0};
    struct guard_answer a;
    if (!ok(guard_check(g, q, &a) == 0, "checked"))
        return;
    for (size_t i = 0; i < a.read_count; i++) {
        if (i)
            buf_char(&got, ';');
        reads_put(&got, a.reads[i].name.text);
        for (size_t k = 0; k < a.reads[i].count; k++) {
            buf_char(&got, '|');
            reads_put(&got, a.reads[i].args[k].text);
        }
    }
    if (!ok(str_eq(buf_str(&got), str_of(expected)), "%.*s", STR_ARG(q->text)))
        note("expected %s, got %s", expected, buf_cstr(&got));
}

#endif
