/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is asked on Windows yet. */
#include "report/answers.h"

void answers_add(struct summary *s, const struct audit_event *event)
{
    (void)s;
    (void)event;
}

void answers_lines(const struct summary *s, struct buf *out)
{
    (void)s;
    (void)out;
}

void answers_summary(const struct summary *s, struct json_writer *w)
{
    (void)s;
    (void)w;
}

void answers_take(struct report *r, const struct json_value *event)
{
    (void)r;
    (void)event;
}

void answers_text(const struct report *r, struct buf *out)
{
    (void)r;
    (void)out;
}

void answers_json(const struct report *r, struct json_writer *w)
{
    (void)r;
    (void)w;
}

void answers_html(const struct report *r, struct buf *out)
{
    (void)r;
    (void)out;
}
