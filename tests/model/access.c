/* SPDX-License-Identifier: Apache-2.0 */
/* The access check itself, and the part of SDDL that descriptors of real objects use. */
#include "access.h"

#include <stdlib.h>

const char *const model_words[] = {"granted", "refused by integrity", "refused by the DACL",
                                   "refused by the restricting SIDs"};

/* Generic read, write, execute and all, as the kernel's types declare them. */
static const struct {
    uint32_t read, write, execute, all;
} mappings[] = {
    [MODEL_FILE] = {0x120089, 0x120116, 0x1200A0, 0x1F01FF},
    [MODEL_KEY] = {0x20019, 0x20006, 0x20039, 0xF003F},
    [MODEL_PROCESS] = {0x20410, 0x20BEA, 0x121001, 0x1FFFFF},
    [MODEL_THREAD] = {0x20048, 0x20437, 0x121800, 0x1FFFFF},
    [MODEL_TOKEN] = {0x2001A, 0x201E0, 0x20005, 0xF01FF},
    [MODEL_SECTION] = {0x20005, 0x20002, 0x20008, 0xF001F},
    [MODEL_EVENT] = {0x20001, 0x20002, 0x120000, 0x1F0003},
    [MODEL_DIRECTORY] = {0x20003, 0x2000C, 0x20003, 0xF000F},
    [MODEL_DESKTOP] = {0x20041, 0x200BE, 0x20100, 0xF01FF},
    [MODEL_STATION] = {0x20303, 0x2001C, 0x20060, 0xF037F},
};

static uint32_t map(enum model_type type, uint32_t mask)
{
    uint32_t out = mask & 0x01FFFFFF;
    if (mask & RIGHT_GENERIC_READ)
        out |= mappings[type].read;
    if (mask & RIGHT_GENERIC_WRITE)
        out |= mappings[type].write;
    if (mask & RIGHT_GENERIC_EXECUTE)
        out |= mappings[type].execute;
    if (mask & RIGHT_GENERIC_ALL)
        out |= mappings[type].all;
    return out;
}

/* ---- SDDL ---- */

static const struct {
    char code[3];
    const char *sid;
} aliases[] = {
    {"WD", "S-1-1-0"},      {"OW", "S-1-3-4"},      {"IU", "S-1-5-4"},     {"AU", "S-1-5-11"},
    {"RC", "S-1-5-12"},     {"SY", "S-1-5-18"},     {"AN", "S-1-5-7"},     {"BA", "S-1-5-32-544"},
    {"BU", "S-1-5-32-545"}, {"AC", "S-1-15-2-1"},   {"LW", "S-1-16-4096"}, {"ME", "S-1-16-8192"},
    {"HI", "S-1-16-12288"}, {"SI", "S-1-16-16384"}, {"WR", "S-1-5-33"},
};

static const struct {
    char code[3];
    uint32_t mask;
} rights[] = {
    {"GA", RIGHT_GENERIC_ALL},
    {"GR", RIGHT_GENERIC_READ},
    {"GW", RIGHT_GENERIC_WRITE},
    {"GX", RIGHT_GENERIC_EXECUTE},
    {"RC", RIGHT_READ_CONTROL},
    {"SD", RIGHT_DELETE},
    {"WD", RIGHT_WRITE_DAC},
    {"WO", RIGHT_WRITE_OWNER},
    {"FA", 0x1F01FF},
    {"FR", 0x120089},
    {"FW", 0x120116},
    {"FX", 0x1200A0},
    {"KA", 0xF003F},
    {"KR", 0x20019},
    {"KW", 0x20006},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct reader {
    struct arena *arena;
    const char *p;
};

static bool read_sid(struct reader *r, struct str *sid)
{
    if (strncmp(r->p, "S-", 2) == 0) {
        size_t n = 2 + strspn(r->p + 2, "0123456789-");
        *sid = arena_copy(r->arena, (struct str){r->p, n});
        r->p += n;
        return sid->p != NULL;
    }
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (strncmp(r->p, aliases[i].code, 2) == 0) {
            *sid = str_of(aliases[i].sid);
            r->p += 2;
            return true;
        }
    return false;
}

static bool read_rights(struct reader *r, uint32_t *mask)
{
    *mask = 0;
    if (strncmp(r->p, "0x", 2) == 0) {
        char *end;
        *mask = (uint32_t)strtoul(r->p, &end, 16);
        r->p = end;
        return true;
    }
    while (*r->p && *r->p != ';') {
        size_t i = 0;
        while (i < COUNT(rights) && strncmp(r->p, rights[i].code, 2) != 0)
            i++;
        if (i == COUNT(rights))
            return false;
        *mask |= rights[i].mask;
        r->p += 2;
    }
    return true;
}

static bool expect(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    bool there = strncmp(r->p, text, n) == 0;
    r->p += there ? n : 0;
    return there;
}

/* (A;OICIIO;FA;;;WD) */
static bool read_ace(struct reader *r, enum model_type type, struct model_ace *ace)
{
    bool allow = expect(r, "(A;");
    if (!allow && !expect(r, "(D;"))
        return false;
    ace->deny = !allow;
    for (; *r->p && *r->p != ';'; r->p += 2) {
        if (!r->p[1])
            return false;
        ace->inherit_only |= r->p[0] == 'I' && r->p[1] == 'O';
    }
    if (!expect(r, ";") || !read_rights(r, &ace->mask) || !expect(r, ";;;") ||
        !read_sid(r, &ace->sid))
        return false;
    ace->mask = map(type, ace->mask);
    return expect(r, ")");
}

/* (ML;;NWNR;;;LW) */
static bool read_label(struct reader *r, struct model_object *o)
{
    struct str sid;
    if (!expect(r, "(ML;"))
        return false;
    r->p += strcspn(r->p, ";");
    if (!expect(r, ";"))
        return false;
    o->no_write_up = false;
    for (;;) {
        if (expect(r, "NW"))
            o->no_write_up = true;
        else if (expect(r, "NR"))
            o->no_read_up = true;
        else if (expect(r, "NX"))
            o->no_execute_up = true;
        else
            break;
    }
    if (!expect(r, ";;;") || !read_sid(r, &sid) || !str_starts(sid, STR("S-1-16-")))
        return false;
    o->level = (unsigned)atoi(sid.p + 7);
    return expect(r, ")");
}

static bool read_dacl(struct reader *r, struct model_object *o)
{
    size_t capacity = 0;
    o->no_dacl = false;
    r->p += strspn(r->p, "PAIR"); /* protected, auto-inherited */
    while (*r->p == '(') {
        if (o->count == capacity) {
            void *grown = arena_grow(r->arena, o->aces, &capacity, sizeof *o->aces);
            if (!grown)
                return false;
            o->aces = grown;
        }
        o->aces[o->count] = (struct model_ace){0};
        if (!read_ace(r, o->type, &o->aces[o->count++]))
            return false;
    }
    return true;
}

bool model_read(struct arena *arena, enum model_type type, const char *sddl,
                struct model_object *out, const char **where)
{
    struct reader r = {arena, sddl};
    struct str group;
    struct model_object o = {
        .type = type, .no_dacl = true, .level = MODEL_MEDIUM, .no_write_up = true};
    bool good = true;
    while (good && *r.p) {
        if (expect(&r, "O:"))
            good = read_sid(&r, &o.owner);
        else if (expect(&r, "G:"))
            good = read_sid(&r, &group);
        else if (expect(&r, "D:"))
            good = read_dacl(&r, &o);
        else
            good = expect(&r, "S:") && read_label(&r, &o);
    }
    *where = r.p;
    if (good)
        *out = o;
    return good;
}

/* ---- the check ---- */

static bool holds(const char *const *sids, struct str sid)
{
    for (size_t i = 0; sids && sids[i]; i++)
        if (str_eq(str_of(sids[i]), sid))
            return true;
    return false;
}

/* The rights that a label leaves to a token below it: reading and executing, unless it forbids
   those. */
static uint32_t allowed_by_label(const struct model_token *t, const struct model_object *o)
{
    uint32_t read = mappings[o->type].read, execute = mappings[o->type].execute, kept;
    uint32_t allowed = read | execute | RIGHT_READ_CONTROL | RIGHT_SYNCHRONIZE;
    if (t->level >= o->level)
        return 0xFFFFFFFF;
    if (!o->no_write_up)
        allowed |= mappings[o->type].write;
    if (o->no_read_up) {
        kept = o->no_execute_up ? 0 : (execute & ~read) | RIGHT_SYNCHRONIZE;
        allowed &= ~(~kept & RIGHT_READ_CONTROL) & ~(read & ~kept);
    }
    if (o->no_execute_up) {
        kept = o->no_read_up ? 0 : read | RIGHT_READ_CONTROL;
        allowed &= ~(~kept & RIGHT_SYNCHRONIZE) & ~(execute & ~read & ~kept);
    }
    return allowed;
}

/* One reading of the DACL. The first entry that names a right decides it. */
static bool dacl_grants(const struct model_object *o, const char *const *sids,
                        const char *const *deny_only, uint32_t desired)
{
    uint32_t granted = 0, denied = 0;
    bool owner_rights = false;
    if (o->no_dacl)
        return true;
    for (size_t i = 0; i < o->count; i++)
        owner_rights |= !o->aces[i].inherit_only && str_eq(o->aces[i].sid, STR("S-1-3-4"));
    bool owner = holds(sids, o->owner);
    if (owner && !owner_rights)
        granted = RIGHT_READ_CONTROL | RIGHT_WRITE_DAC;
    for (size_t i = 0; i < o->count; i++) {
        const struct model_ace *ace = &o->aces[i];
        bool as_owner = owner && str_eq(ace->sid, STR("S-1-3-4"));
        if (ace->inherit_only)
            continue;
        if (ace->deny && (as_owner || holds(sids, ace->sid) || holds(deny_only, ace->sid)))
            denied |= ace->mask & ~granted;
        else if (!ace->deny && (as_owner || holds(sids, ace->sid)))
            granted |= ace->mask & ~denied;
    }
    return (desired & ~granted) == 0;
}

enum model_answer model_check(const struct model_token *t, const struct model_object *o,
                              uint32_t desired)
{
    uint32_t mask = map(o->type, desired);
    uint32_t second = 0xFFFFFFFF;
    if (t->write_restricted)
        second = (mappings[o->type].write & ~(mappings[o->type].read | mappings[o->type].execute)) |
                 RIGHT_DELETE | RIGHT_WRITE_DAC | RIGHT_WRITE_OWNER | RIGHT_SYSTEM_SECURITY;
    if (mask & ~allowed_by_label(t, o))
        return MODEL_BY_INTEGRITY;
    if (!dacl_grants(o, t->sids, t->deny_only, mask))
        return MODEL_BY_DACL;
    /* The owner's implicit rights, too, only if the owner is one of the restricting SIDs. */
    if (t->restricting && !dacl_grants(o, t->restricting, NULL, mask & second))
        return MODEL_BY_RESTRICTING;
    return MODEL_GRANTED;
}

enum model_answer model_check_delete(const struct model_token *t, const struct model_object *file,
                                     const struct model_object *folder)
{
    enum { DELETE_CHILD = 0x40 };
    enum model_answer by_file = model_check(t, file, RIGHT_DELETE);
    if (by_file == MODEL_GRANTED || model_check(t, folder, DELETE_CHILD) == MODEL_GRANTED)
        return MODEL_GRANTED;
    return by_file;
}
