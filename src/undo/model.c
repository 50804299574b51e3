/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a journal: which object had which name before the run, and which it has after it. */
#include "undo/model.h"

#include <stdlib.h>

#include "cordon.h"

enum { FIRST_TABLE = 1024, DEEPEST = UNDO_LONGEST_PATH };

void undo_model_free(struct undo_model *m)
{
    arena_free(&m->arena);
    free(m->records);
    free(m->objects);
    free(m->entries);
    free(m->table);
    free(m->inodes);
    *m = (struct undo_model){0};
}

static bool grow(void *array, size_t *capacity, size_t count, size_t size)
{
    void **place = array;
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 256;
    void *bigger = more < UINT32_MAX ? realloc(*place, more * size) : NULL;
    if (!bigger)
        return false;
    *place = bigger;
    *capacity = more;
    return true;
}

const struct undo_record *undo_model_record(const struct undo_model *m, uint32_t number)
{
    return number ? &m->records[number - 1] : NULL;
}

static bool is_change(enum undo_type type)
{
    return type == UNDO_CREATE || type == UNDO_REMOVE || type == UNDO_RENAME ||
           type == UNDO_EXCHANGE || type == UNDO_LINK;
}

static int add_record(struct undo_model *m, const struct undo_record *record)
{
    if (record->type == UNDO_END) {
        m->ended = true;
        m->end = record->end;
        return 0;
    }
    if (record->type == UNDO_FAILED) {
        undo_model_drop_last(m);
        return 0;
    }
    if (record->path.root >= m->head.root_count || record->to.root >= m->head.root_count)
        return CORDON_E_SYNTAX;
    if (!grow(&m->records, &m->record_capacity, m->record_count, sizeof *m->records))
        return CORDON_E_NOMEM;
    m->records[m->record_count++] = *record;
    if (is_change(record->type))
        m->last = (uint32_t)m->record_count;
    return 0;
}

void undo_model_drop_last(struct undo_model *m)
{
    if (m->last) {
        m->records[m->last - 1].type = UNDO_NONE;
        /* An inode that was kept for it still has its name in the tree: only its state then is
           known. */
        struct undo_record *kept = m->last > 1 ? &m->records[m->last - 2] : NULL;
        if (kept && kept->type == UNDO_KEEP && kept->how == UNDO_LINKED)
            kept->place = UINT64_MAX;
    }
    m->last = 0;
}

int undo_model_read(struct undo_model *m, struct str log)
{
    struct undo_record record;
    size_t at = 0;
    int rc = undo_read(log, &at, &m->head, &record);
    if (rc == 0)
        return CORDON_E_SYNTAX; /* not even a head */
    while (rc == 1 && (rc = undo_read(log, &at, &m->head, &record)) == 1) {
        int added = add_record(m, &record);
        if (added)
            return added;
    }
    return rc;
}

/* ---- objects and names ---- */

static uint32_t new_object(struct undo_model *m, struct undo_object object)
{
    if (!grow(&m->objects, &m->object_capacity, m->object_count, sizeof *m->objects))
        return 0;
    m->objects[m->object_count] = object;
    return (uint32_t)m->object_count++;
}

static size_t hash_of(uint32_t folder, struct str name)
{
    return (size_t)(undo_hash(name) ^ folder * 0x9e3779b97f4a7c15u);
}

static bool rehash(struct undo_model *m)
{
    size_t size = m->table_size ? m->table_size * 2 : FIRST_TABLE;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 1; i < m->entry_count; i++) {
        struct undo_entry *e = &m->entries[i];
        uint32_t *place = &table[hash_of(e->folder, e->name) & (size - 1)];
        e->next = *place;
        *place = i;
    }
    free(m->table);
    m->table = table;
    m->table_size = size;
    return true;
}

uint32_t undo_model_entry(const struct undo_model *m, uint32_t folder, struct str name)
{
    uint32_t i = m->table[hash_of(folder, name) & (m->table_size - 1)];
    while (i && (m->entries[i].folder != folder || !str_eq(m->entries[i].name, name)))
        i = m->entries[i].next;
    return i;
}

static uint32_t *find_inode(const struct undo_model *m, const struct undo_ident *ident)
{
    size_t mask = m->inodes_size - 1;
    size_t i = (size_t)((ident->inode * 0x9e3779b97f4a7c15u) ^ ident->device) & mask;
    for (;; i = (i + 1) & mask) {
        uint32_t object = m->inodes[i];
        const struct undo_object *o = &m->objects[object];
        if (!object ||
            (!o->dead && o->ident.inode == ident->inode && o->ident.device == ident->device))
            return &m->inodes[i];
    }
}

static bool know_inode(struct undo_model *m, uint32_t object)
{
    if (m->inodes_used * 2 >= m->inodes_size) {
        size_t size = m->inodes_size ? m->inodes_size * 2 : FIRST_TABLE, old = m->inodes_size;
        uint32_t *before = m->inodes, *table = calloc(size, sizeof *table);
        if (!table)
            return false;
        m->inodes = table;
        m->inodes_size = size;
        for (size_t i = 0; i < old; i++)
            if (before[i] && !m->objects[before[i]].dead)
                *find_inode(m, &m->objects[before[i]].ident) = before[i];
        free(before);
    }
    uint32_t *place = find_inode(m, &m->objects[object].ident);
    m->inodes_used += *place == 0;
    *place = object;
    return true;
}

/* Makes an object the entry's present one; 0: none. */
static void set_after(struct undo_model *m, uint32_t entry, uint32_t object)
{
    struct undo_entry *e = &m->entries[entry];
    if (e->after) {
        uint32_t *place = &m->objects[e->after].after;
        while (*place && *place != entry)
            place = &m->entries[*place].next_after;
        if (*place)
            *place = e->next_after;
    }
    e->after = object;
    e->next_after = 0;
    if (object) {
        e->next_after = m->objects[object].after;
        m->objects[object].after = entry;
    }
}

void undo_model_disown(struct undo_model *m, uint32_t entry)
{
    struct undo_entry *e = &m->entries[entry];
    uint32_t object = e->after;
    set_after(m, entry, 0);
    if (!object || e->before != object)
        return;
    uint32_t *place = &m->objects[object].before;
    while (*place && *place != entry)
        place = &m->entries[*place].next_before;
    if (*place)
        *place = e->next_before;
    e->before = e->next_before = 0;
}

/* An object that the journal did not mention yet, found under this name. In a folder of the run's
   own only somebody else can have put it. */
static uint32_t discover(struct undo_model *m, uint32_t entry, const struct undo_ident *ident,
                         bool folder)
{
    bool foreign = m->objects[m->entries[entry].folder].made ||
                   m->objects[m->entries[entry].folder].foreign || m->entries[entry].before;
    uint32_t object = 0;
    if (ident && !folder && m->inodes_size)
        object = *find_inode(m, ident); /* another name of it was mentioned */
    if (!object) {
        object = new_object(m, (struct undo_object){.foreign = foreign, .folder = folder});
        if (object && ident) {
            m->objects[object].ident = *ident;
            if (!know_inode(m, object))
                return 0;
        }
    }
    if (!object)
        return 0;
    if (!foreign && !m->objects[object].made && !m->objects[object].foreign) {
        m->entries[entry].before = object;
        m->entries[entry].next_before = m->objects[object].before;
        m->objects[object].before = entry;
    }
    set_after(m, entry, object);
    return object;
}

/* The entry of a path as names are now; the folders above it exist. 0: memory, or a root. */
static uint32_t entry_at(struct undo_model *m, const struct undo_path *path)
{
    uint32_t folder = path->root + 1;
    for (size_t at = 0;;) {
        size_t end = str_find_char(path->text, '/', at);
        struct str name = str_slice(path->text, at, end);
        uint32_t i = undo_model_entry(m, folder, name);
        bool last = end >= path->text.n;
        if (!i) {
            if (!grow(&m->entries, &m->entry_capacity, m->entry_count, sizeof *m->entries))
                return 0;
            if (m->entry_count >= m->table_size && !rehash(m))
                return 0;
            i = (uint32_t)m->entry_count++;
            uint32_t *place = &m->table[hash_of(folder, name) & (m->table_size - 1)];
            m->entries[i] = (struct undo_entry){.folder = folder, .name = name, .next = *place};
            *place = i;
            if (!last && !discover(m, i, NULL, true))
                return 0;
        }
        if (last)
            return i;
        if (!m->entries[i].after && !discover(m, i, NULL, true))
            return 0;
        folder = m->entries[i].after;
        at = end + 1;
    }
}

/* The object that has this name now, according to the record. */
static uint32_t object_at(struct undo_model *m, uint32_t entry, const struct undo_ident *ident)
{
    uint32_t object = m->entries[entry].after;
    if (!object)
        return discover(m, entry, ident, (ident->mode & 0170000) == 0040000);
    struct undo_object *o = &m->objects[object];
    if (!o->ident.links) {
        o->ident = *ident;
        o->folder = o->folder || (ident->mode & 0170000) == 0040000;
        return know_inode(m, object) ? object : 0;
    }
    return object;
}

static int replay_keep(struct undo_model *m, uint32_t number, const struct undo_record *r)
{
    uint32_t object = r->path.root + 1;
    if (r->path.text.n) {
        uint32_t entry = entry_at(m, &r->path);
        object = entry ? object_at(m, entry, &r->ident) : 0;
    }
    if (!object)
        return CORDON_E_NOMEM;
    struct undo_object *o = &m->objects[object];
    if (r->how == UNDO_LINKED && r->place == UINT64_MAX)
        return 0;
    if (r->how == UNDO_META && r->text.n) {
        o->partial = number;
        return 0;
    }
    if (!o->meta)
        o->meta = number;
    if (r->how == UNDO_HANDLE)
        o->handle = number;
    else if (r->how != UNDO_META && !o->data)
        o->data = number;
    return 0;
}

/* A name is gone. The last one takes the inode's number with it: the next file may get it. */
static void forget(struct undo_model *m, uint32_t object, const struct undo_ident *ident)
{
    if (ident->links > 1 && (ident->mode & 0170000) != 0040000)
        return;
    m->objects[object].dead = true;
}

static int replay_change(struct undo_model *m, const struct undo_record *r)
{
    uint32_t from = entry_at(m, &r->path), to = 0, object = 0, other = 0;
    bool pair = r->type != UNDO_CREATE && r->type != UNDO_REMOVE;
    if (!from)
        return CORDON_E_NOMEM;
    if (r->type == UNDO_CREATE) {
        object = new_object(
            m, (struct undo_object){.made = true, .folder = (r->ident.mode & 0170000) == 0040000});
        if (!object)
            return CORDON_E_NOMEM;
        if (m->entries[from].after)
            forget(m, m->entries[from].after, &m->objects[m->entries[from].after].ident);
        set_after(m, from, object);
        return 0;
    }
    object = object_at(m, from, &r->ident);
    if (pair)
        to = entry_at(m, &r->to);
    if (!object || (pair && !to))
        return CORDON_E_NOMEM;
    if (pair && r->replaced.links && !(other = object_at(m, to, &r->replaced)))
        return CORDON_E_NOMEM;
    switch (r->type) {
    case UNDO_REMOVE:
        set_after(m, from, 0);
        forget(m, object, &r->ident);
        break;
    case UNDO_RENAME:
        set_after(m, from, 0);
        set_after(m, to, object);
        if (other)
            forget(m, other, &r->replaced);
        break;
    case UNDO_EXCHANGE:
        if (!other)
            return CORDON_E_SYNTAX;
        set_after(m, from, other);
        set_after(m, to, object);
        break;
    case UNDO_LINK: set_after(m, to, object); break;
    default: return CORDON_E_SYNTAX;
    }
    return 0;
}

int undo_model_replay(struct undo_model *m)
{
    int rc = 0;
    new_object(m, (struct undo_object){0});
    for (uint32_t i = 0; i < m->head.root_count; i++)
        new_object(m, (struct undo_object){.root = true, .folder = true});
    if (m->object_count != m->head.root_count + 1u || !rehash(m) ||
        !grow(&m->entries, &m->entry_capacity, 0, sizeof *m->entries))
        return CORDON_E_NOMEM;
    m->entries[0] = (struct undo_entry){0};
    m->entry_count = 1;
    for (size_t i = 0; i < m->record_count && rc == 0; i++) {
        const struct undo_record *r = &m->records[i];
        if (r->type == UNDO_KEEP)
            rc = replay_keep(m, (uint32_t)i + 1, r);
        else if (r->type != UNDO_NONE)
            rc = replay_change(m, r);
    }
    /* Every path must end at a root: a damaged journal could make circles. */
    for (uint32_t i = 1; i < m->entry_count && rc == 0; i++)
        if ((m->entries[i].before && !undo_model_depth(m, i, true)) ||
            undo_model_depth(m, i, false) > DEEPEST)
            rc = CORDON_E_SYNTAX;
    return rc;
}

unsigned undo_model_depth(const struct undo_model *m, uint32_t entry, bool before)
{
    unsigned depth = 0;
    while (entry) {
        const struct undo_object *o = &m->objects[m->entries[entry].folder];
        if (++depth > DEEPEST)
            return depth;
        if (o->root)
            return depth;
        entry = before ? o->before : o->after;
    }
    return 0;
}

int undo_model_path(const struct undo_model *m, uint32_t entry, bool before, struct buf *out)
{
    uint32_t chain[DEEPEST];
    size_t count = 0;
    for (uint32_t at = entry; at;) {
        uint32_t folder = m->entries[at].folder;
        if (count == DEEPEST)
            return -1;
        chain[count++] = at;
        if (!m->objects[folder].root) {
            at = before ? m->objects[folder].before : m->objects[folder].after;
            continue;
        }
        while (count-- > 0) {
            buf_add(out, m->entries[chain[count]].name);
            if (count)
                buf_char(out, '/');
        }
        return (int)folder - 1;
    }
    return -1;
}

/* ---- what changed ---- */

const char *undo_kind_word(enum undo_kind kind)
{
    static const char *const words[UNDO_KINDS] = {"same", "created", "modified", "deleted",
                                                  "renamed"};
    return words[kind];
}

/* A file in place of a file is a change of that file, whatever became of the inodes. */
static bool replaces(const struct undo_model *m, const struct undo_entry *e)
{
    const struct undo_object *was = &m->objects[e->before], *is = &m->objects[e->after];
    return e->before && e->after && !was->after && is->made && was->folder == is->folder;
}

uint32_t undo_new_name(const struct undo_model *m, uint32_t object)
{
    uint32_t i = m->objects[object].after;
    while (i && m->entries[i].before == object)
        i = m->entries[i].next_after;
    return i;
}

uint32_t undo_lost_name(const struct undo_model *m, uint32_t object)
{
    uint32_t i = m->objects[object].before;
    while (i && m->entries[i].after == object)
        i = m->entries[i].next_before;
    return i;
}

static struct undo_change judge_entry(const struct undo_model *m, uint32_t number)
{
    const struct undo_entry *e = &m->entries[number];
    struct undo_change c = {.was = e->before, .is = e->after};
    const struct undo_object *was = &m->objects[e->before], *is = &m->objects[e->after];
    if (e->before && e->before == e->after) {
        c.before = c.after = number;
        c.in_doubt = true;
        c.kind = was->meta ? UNDO_MODIFIED : UNDO_SAME;
    } else if (replaces(m, e)) {
        c.before = c.after = number;
        c.in_doubt = was->folder;
        c.kind = UNDO_MODIFIED;
    } else if (e->after && !is->foreign) {
        uint32_t old = is->made ? 0 : undo_lost_name(m, e->after);
        c.after = number;
        c.kind = old ? UNDO_RENAMED : UNDO_CREATED;
        c.before = old;
        c.was = old ? e->after : 0;
    }
    return c;
}

static int compare(const void *a, const void *b)
{
    const struct undo_change *left = a, *right = b;
    if (left->root != right->root)
        return left->root < right->root ? -1 : 1;
    int order = str_cmp(left->path, right->path);
    return order ? order : (int)left->kind - (int)right->kind;
}

static bool name_change(struct undo_model *m, struct undo_change *c)
{
    auto_buf struct buf path = {0}, from = {0};
    int root = undo_model_path(m, c->after ? c->after : c->before, !c->after, &path);
    if (root < 0)
        return false; /* in a folder that is gone: nothing is left of it */
    if (c->kind == UNDO_RENAMED)
        undo_model_path(m, c->before, true, &from);
    c->root = (uint32_t)root;
    c->path = arena_copy(&m->arena, buf_str(&path));
    c->from = arena_copy(&m->arena, buf_str(&from));
    return true;
}

int undo_model_changes(struct undo_model *m, struct undo_change **out, size_t *count)
{
    struct undo_change *list = ARENA_ARRAY(&m->arena, m->entry_count * 2, struct undo_change);
    size_t n = 0;
    if (!list)
        return CORDON_E_NOMEM;
    for (uint32_t i = 1; i < m->entry_count; i++) {
        const struct undo_entry *e = &m->entries[i];
        struct undo_change c = judge_entry(m, i);
        if (c.kind != UNDO_SAME && name_change(m, &c))
            list[n++] = c;
        /* A name that is gone, unless its object was renamed: then the new name says so. */
        c = (struct undo_change){.kind = UNDO_DELETED, .before = i, .was = e->before};
        if (e->before && e->before != e->after && !replaces(m, e) && !undo_new_name(m, e->before) &&
            name_change(m, &c))
            list[n++] = c;
    }
    for (size_t i = 0; i < n; i++)
        if (!list[i].path.p || !list[i].from.p)
            return CORDON_E_NOMEM;
    qsort(list, n, sizeof *list, compare);
    *out = list;
    *count = n;
    return 0;
}
