/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the journal: writing them, and a strict reader. */
#include "undo/format.h"

#include "cordon.h"

enum { FRAME = 8 };

uint64_t undo_hash(struct str bytes)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t hash = bytes.n * factor;
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= bytes.n; i += sizeof word) {
        memcpy(&word, bytes.p + i, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    for (; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * factor;
    hash ^= hash >> 32;
    return hash * factor ^ hash >> 29;
}

int undo_time_compare(struct undo_time a, struct undo_time b)
{
    if (a.seconds != b.seconds)
        return a.seconds < b.seconds ? -1 : 1;
    return a.nanoseconds < b.nanoseconds ? -1 : a.nanoseconds > b.nanoseconds;
}

/* ---- writing ---- */

static void put(struct buf *out, uint64_t number, size_t bytes)
{
    char text[8];
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)(number >> (8 * i));
    buf_add(out, (struct str){text, bytes});
}

static void put_text(struct buf *out, struct str text)
{
    put(out, text.n, 4);
    buf_add(out, text);
}

static void put_path(struct buf *out, const struct undo_path *path)
{
    put(out, path->root, 1);
    put_text(out, path->text);
}

static void put_time(struct buf *out, struct undo_time time)
{
    put(out, (uint64_t)time.seconds, 8);
    put(out, time.nanoseconds, 4);
}

static void put_ident(struct buf *out, const struct undo_ident *ident)
{
    put(out, ident->links, 4);
    if (!ident->links)
        return;
    put(out, ident->device, 8);
    put(out, ident->inode, 8);
    put(out, ident->mode, 4);
    put_time(out, ident->changed);
}

static size_t begin(struct buf *out)
{
    size_t at = out->n;
    buf_fill(out, '\0', FRAME);
    return at;
}

static void finish(struct buf *out, size_t at)
{
    if (out->failed)
        return;
    struct str payload = {out->p + at + FRAME, out->n - at - FRAME};
    uint64_t check = undo_hash(payload);
    for (size_t i = 0; i < 4; i++) {
        out->p[at + i] = (char)(payload.n >> (8 * i));
        out->p[at + 4 + i] = (char)(check >> (8 * i));
    }
}

void undo_put_head(struct buf *out, const struct undo_head *head)
{
    size_t at = begin(out);
    put(out, UNDO_HEAD, 1);
    put(out, UNDO_VERSION, 4);
    put_text(out, head->run);
    put_text(out, head->session);
    put_text(out, head->command);
    put_text(out, head->undoes);
    put(out, head->time, 8);
    put(out, head->root_count, 4);
    for (uint32_t i = 0; i < head->root_count; i++) {
        put_text(out, head->roots[i].path);
        put(out, head->roots[i].device, 8);
        put(out, head->roots[i].inode, 8);
    }
    finish(out, at);
}

void undo_put(struct buf *out, const struct undo_record *r)
{
    size_t at = begin(out);
    put(out, r->type, 1);
    if (r->type == UNDO_END)
        put_time(out, r->end);
    if (r->type == UNDO_END || r->type == UNDO_FAILED) {
        finish(out, at);
        return;
    }
    put_path(out, &r->path);
    if (r->type == UNDO_CREATE) {
        put(out, r->ident.mode, 4);
        finish(out, at);
        return;
    }
    put_ident(out, &r->ident);
    if (r->type == UNDO_RENAME || r->type == UNDO_EXCHANGE || r->type == UNDO_LINK) {
        put_path(out, &r->to);
        put_ident(out, &r->replaced);
    }
    if (r->type == UNDO_KEEP) {
        put(out, r->how, 1);
        put(out, r->place, 8);
        put(out, r->size, 8);
        put(out, r->hash, 8);
        put(out, r->user, 4);
        put(out, r->group, 4);
        put_time(out, r->modified);
        put_time(out, r->accessed);
        put_text(out, r->text);
        put_text(out, r->attributes);
    }
    finish(out, at);
}

/* ---- reading ---- */

struct undo_reader {
    struct str rest;
    bool bad;
};

static uint64_t take(struct undo_reader *r, size_t bytes)
{
    uint64_t number = 0;
    if (r->rest.n < bytes) {
        r->bad = true;
        r->rest.n = 0;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)(unsigned char)r->rest.p[i] << (8 * i);
    r->rest = str_from(r->rest, bytes);
    return number;
}

static struct str take_text(struct undo_reader *r, size_t longest)
{
    uint64_t n = take(r, 4);
    if (n > longest || n > r->rest.n) {
        r->bad = true;
        return STR_NONE;
    }
    struct str text = str_slice(r->rest, 0, (size_t)n);
    r->rest = str_from(r->rest, (size_t)n);
    return text;
}

/* Names only: nothing in it leads out of the root. */
static bool is_plain(struct str path)
{
    for (size_t at = 0, end; path.n && at <= path.n; at = end + 1) {
        end = str_find_char(path, '/', at);
        struct str name = str_slice(path, at, end);
        if (name.n == 0 || name.n > UNDO_LONGEST_NAME || str_eq(name, STR(".")) ||
            str_eq(name, STR("..")) || str_has_char(name, '\0'))
            return false;
    }
    return true;
}

static void take_path(struct undo_reader *r, struct undo_path *out)
{
    out->root = (uint32_t)take(r, 1);
    out->text = take_text(r, UNDO_LONGEST_PATH);
    r->bad = r->bad || out->root >= UNDO_MOST_ROOTS || !is_plain(out->text);
}

static struct undo_time take_time(struct undo_reader *r)
{
    struct undo_time time;
    time.seconds = (int64_t)take(r, 8);
    time.nanoseconds = (uint32_t)take(r, 4);
    r->bad = r->bad || time.nanoseconds > 999999999;
    return time;
}

static void take_ident(struct undo_reader *r, struct undo_ident *out)
{
    out->links = (uint32_t)take(r, 4);
    if (!out->links)
        return;
    out->device = take(r, 8);
    out->inode = take(r, 8);
    out->mode = (uint32_t)take(r, 4);
    out->changed = take_time(r);
}

/* "/a" or "C:/a". */
static bool is_absolute(struct str path)
{
    size_t drive = path.n > 2 && path.p[1] == ':' ? 2 : 0;
    return path.n > drive && path.p[drive] == '/';
}

static int read_head(struct undo_reader *r, struct undo_head *out)
{
    struct undo_head head = {.version = (uint32_t)take(r, 4)};
    if (!r->bad && head.version != UNDO_VERSION)
        return CORDON_E_UNKNOWN;
    head.run = take_text(r, UNDO_LONGEST_NAME);
    head.session = take_text(r, UNDO_LONGEST_NAME);
    head.command = take_text(r, UNDO_LONGEST_TEXT);
    head.undoes = take_text(r, UNDO_LONGEST_NAME);
    head.time = take(r, 8);
    head.root_count = (uint32_t)take(r, 4);
    if (head.root_count == 0 || head.root_count > UNDO_MOST_ROOTS)
        return CORDON_E_SYNTAX;
    for (uint32_t i = 0; i < head.root_count; i++) {
        struct undo_root *root = &head.roots[i];
        root->path = take_text(r, UNDO_LONGEST_PATH);
        root->device = take(r, 8);
        root->inode = take(r, 8);
        if (!is_absolute(root->path) || str_has_char(root->path, '\0'))
            return CORDON_E_SYNTAX;
    }
    if (r->bad || r->rest.n)
        return CORDON_E_SYNTAX;
    *out = head;
    return 0;
}

static int read_record(struct undo_reader *r, enum undo_type type, struct undo_record *out)
{
    struct undo_record record = {.type = type};
    if (type == UNDO_END)
        record.end = take_time(r);
    if (type != UNDO_END && type != UNDO_FAILED)
        take_path(r, &record.path);
    switch (type) {
    case UNDO_NONE:
    case UNDO_HEAD:
    case UNDO_TYPES: return CORDON_E_SYNTAX;
    case UNDO_END:
    case UNDO_FAILED: break;
    case UNDO_CREATE:
        record.ident.mode = (uint32_t)take(r, 4);
        r->bad = r->bad || record.path.text.n == 0;
        break;
    case UNDO_REMOVE:
        take_ident(r, &record.ident);
        r->bad = r->bad || record.ident.links == 0 || record.path.text.n == 0;
        break;
    case UNDO_RENAME:
    case UNDO_EXCHANGE:
    case UNDO_LINK:
        take_ident(r, &record.ident);
        take_path(r, &record.to);
        take_ident(r, &record.replaced);
        r->bad =
            r->bad || record.ident.links == 0 || record.path.text.n == 0 || record.to.text.n == 0;
        break;
    case UNDO_KEEP: {
        take_ident(r, &record.ident);
        uint64_t how = take(r, 1);
        record.place = take(r, 8);
        record.size = take(r, 8);
        record.hash = take(r, 8);
        record.user = (uint32_t)take(r, 4);
        record.group = (uint32_t)take(r, 4);
        record.modified = take_time(r);
        record.accessed = take_time(r);
        record.text = take_text(r, UNDO_LONGEST_TEXT);
        record.attributes = take_text(r, UNDO_LONGEST_ATTRIBUTES);
        r->bad = r->bad || how >= UNDO_HOWS || record.ident.links == 0 ||
                 str_has_char(record.text, '\0') || (how == UNDO_PACK && record.size >= UNDO_SMALL);
        record.how = (enum undo_how)how;
        break;
    }
    }
    if (r->bad || r->rest.n)
        return CORDON_E_SYNTAX;
    *out = record;
    return 1;
}

int undo_read(struct str log, size_t *at, struct undo_head *head, struct undo_record *record)
{
    struct undo_reader frame = {str_from(log, *at), false};
    if (frame.rest.n < FRAME)
        return 0;
    uint64_t n = take(&frame, 4), check = take(&frame, 4);
    if (n == 0 || n > UNDO_LONGEST_RECORD)
        return CORDON_E_SYNTAX;
    if (n > frame.rest.n)
        return 0;
    struct undo_reader r = {str_slice(frame.rest, 0, (size_t)n), false};
    if ((undo_hash(r.rest) & 0xffffffffu) != check)
        return CORDON_E_SYNTAX;
    uint64_t type = take(&r, 1);
    /* The first record is the head, and no other is. */
    if (type >= UNDO_TYPES || (type == UNDO_HEAD) != (*at == 0))
        return CORDON_E_SYNTAX;
    int rc =
        type == UNDO_HEAD ? read_head(&r, head) : read_record(&r, (enum undo_type)type, record);
    if (rc < 0)
        return rc;
    if (type == UNDO_HEAD)
        record->type = UNDO_HEAD;
    *at += FRAME + (size_t)n;
    return 1;
}
