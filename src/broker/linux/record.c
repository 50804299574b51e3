/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the journal of --undo of each change before it is made. Without --undo nothing happens. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "broker/linux/broker.h"
#include "undo/keep.h"
#include "undo/linux/fs.h"

/* A name as the journal wants it. */
struct told {
    struct keep_place place;
    struct fs_stat st;
};

static const struct keep_place *place_of(const struct resolved *where, struct told *out)
{
    if (where->exists)
        out->st = fs_stat_of(&where->st);
    out->place = (struct keep_place){where->parent, where->leaf, where->path,
                                     where->exists ? &out->st : NULL};
    return &out->place;
}

/* Said at once: from here on it is too late to stop. */
static void report_lost(struct broker *b, struct request *r, const char *path, const char *reason)
{
    char image[PATH_MAX];
    b->event(b->context, &(struct audit_event){.type = AUDIT_ALLOW,
                                               .op = AUDIT_FILE_WRITE,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = str_of(path),
                                               .verdict = CORDON_ALLOW,
                                               .rule = str_of(policy_rule_id(RULE_UNDO_LOST)),
                                               .why = str_of(reason),
                                               .notable = true});
}

/* Passes on 0 and an errno. What could not be kept is reported, and what --undo=strict refuses. */
static int answer(struct broker *b, struct request *r, const char *path, int rc)
{
    uint64_t count;
    char why[160];
    const char *reason = keep_lost(b->undo, &count);
    if (count != b->undo_lost) {
        b->undo_lost = count;
        report_lost(b, r, path, reason);
    }
    if (rc != -ENOSPC)
        return rc;
    snprintf(why, sizeof why, "it could not be taken back: %s", reason ? reason : "not kept");
    broker_report_text(b, r, AUDIT_FILE_WRITE, str_of(path), AUDIT_DENY,
                       str_of(policy_rule_id(RULE_UNDO_STRICT)), str_of(why),
                       STR("--undo instead of --undo=strict, or a higher --undo-limit"));
    return rc;
}

int record_write(struct broker *b, struct request *r, const struct resolved *where)
{
    if (!b->undo)
        return 0;
    struct told told;
    int rc;
    do
        rc = keep_write(b->undo, place_of(where, &told));
    while (rc == -EALREADY && !copies_wait(b, r));
    return answer(b, r, where->path, rc);
}

int record_attributes(struct broker *b, struct request *r, const struct resolved *where)
{
    if (!b->undo)
        return 0;
    struct told told;
    int rc;
    do
        rc = keep_attributes(b->undo, place_of(where, &told));
    while (rc == -EALREADY && !copies_wait(b, r));
    return answer(b, r, where->path, rc == -EAGAIN ? -EBUSY : rc);
}

int record_create(struct broker *b, struct request *r, const struct resolved *where, mode_t type)
{
    if (!b->undo)
        return 0;
    struct told told;
    return answer(b, r, where->path, keep_create(b->undo, place_of(where, &told), type));
}

int record_create_short(struct broker *b, struct request *r, const struct resolved *where)
{
    struct told told;
    int rc = keep_create(b->undo, place_of(where, &told), S_IFREG);
    return rc ? rc : answer(b, r, where->path, 0);
}

int record_remove(struct broker *b, struct request *r, const struct resolved *where)
{
    if (!b->undo)
        return 0;
    struct told told;
    int rc;
    do
        rc = keep_remove(b->undo, place_of(where, &told));
    while (rc == -EALREADY && !copies_wait(b, r));
    return answer(b, r, where->path, rc == -EAGAIN ? -EBUSY : rc);
}

int record_rename(struct broker *b, struct request *r, const struct resolved *from,
                  const struct resolved *to, bool exchange)
{
    if (!b->undo)
        return 0;
    struct told first, second;
    int rc;
    do
        rc = keep_rename(b->undo, place_of(from, &first), place_of(to, &second), exchange);
    while (rc == -EALREADY && !copies_wait(b, r));
    return answer(b, r, from->path, rc == -EAGAIN ? -EBUSY : rc);
}

int record_link(struct broker *b, struct request *r, const struct resolved *from,
                const struct resolved *to)
{
    if (!b->undo)
        return 0;
    struct told first, second;
    int rc;
    do
        rc = keep_link(b->undo, place_of(from, &first), place_of(to, &second));
    while (rc == -EALREADY && !copies_wait(b, r));
    return answer(b, r, to->path, rc);
}

void record_after(struct broker *b, int error, const struct resolved *made)
{
    if (!b->undo)
        return;
    int before = errno;
    struct told told;
    keep_after(b->undo, error, made ? place_of(made, &told) : NULL);
    errno = before;
}

uint32_t record_links(const struct broker *b, const struct stat *st)
{
    uint32_t links = (uint32_t)st->st_nlink;
    struct fs_stat same = fs_stat_of(st);
    return b->undo && links > 1 ? links - keep_handles(b->undo, &same) : links;
}
