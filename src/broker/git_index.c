/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git checks the names of an index when they are added, not when it reads them: it writes to, and
 * reads from, whatever a forged one names. So each name is checked here as git would when adding
 * it.
 *
 * Everything that could make git read other entries than those checked is refused: lengths that do
 * not agree with the names, tables of offsets that lead elsewhere, unknown parts.
 */
#include "broker/git_index.h"

#include <stdio.h>

#include "policy/names.h"

enum {
    HEADER = 12,
    STAT = 40, /* times, numbers, mode and size of a file, before its hash */
    MODE = 24, /* in there */
    SHORT_NAME = 0xFFF,
    EXTENDED = 0x4000,       /* flags: two more bytes follow */
    EXTENDED_KNOWN = 0x6000, /* in those: to be added, not in the working tree */
    LONGEST_NAME = 4096,
    LONGEST_COMPONENT = 1023
};

enum {
    MODE_TYPE = 0170000,
    MODE_FILE = 0100000,
    MODE_LINK = 0120000,
    MODE_FOLDER = 0040000,
    MODE_REPOSITORY = 0160000
};

struct index_reader {
    enum path_dialect dialect;
    struct str bytes; /* without the checksum at the end */
    size_t hash;
    uint32_t version, count;
    char *why;
    size_t entries_end;
    bool nameless;               /* an entry whose name is in the shared index */
    bool folders;                /* an entry that stands for a folder */
    bool linked, sparse, blocks; /* extensions that were found */
    char name[LONGEST_NAME + 1];
    size_t length; /* of the name */
    uint32_t mode, stage;
    size_t object_at;
    struct git_index_obeyed *obeyed; /* NULL: not asked for */
};

static bool refuse(struct index_reader *r, const char *what)
{
    snprintf(r->why, GIT_INDEX_WHY, "%s", what);
    return false;
}

static bool refuse_structure(struct index_reader *r)
{
    return refuse(r, "something other than git writes into one");
}

/* Names come from the run: only printable characters are repeated. */
static bool refuse_name(struct index_reader *r)
{
    char shown[64];
    size_t n = 0;
    for (; n < r->length && n + 1 < sizeof shown; n++)
        shown[n] = r->name[n] >= ' ' && r->name[n] < 127 ? r->name[n] : '?';
    shown[n] = '\0';
    snprintf(r->why, GIT_INDEX_WHY, "the name %s%s, which git itself would not add", shown,
             n < r->length ? "..." : "");
    return false;
}

static uint32_t number(struct str s, size_t at, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | (unsigned char)s.p[at + i];
    return value;
}

/* ---- names ---- */

/* HFS+ ignores these in a name: three bytes in UTF-8. */
static bool is_ignored(struct str s, size_t at)
{
    const unsigned char *p = (const unsigned char *)s.p + at;
    if (s.n - at < 3)
        return false;
    if (p[0] == 0xE2 && p[1] == 0x80)
        return (p[2] >= 0x8C && p[2] <= 0x8F) || (p[2] >= 0xAA && p[2] <= 0xAE);
    if (p[0] == 0xE2 && p[1] == 0x81)
        return p[2] >= 0xAA && p[2] <= 0xAF;
    return p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF;
}

/* Any spelling of .git that some file system would take for it. */
static bool is_git(struct str piece)
{
    char plain[LONGEST_COMPONENT];
    size_t n = 0;
    if (!piece.n || piece.n > sizeof plain ||
        (piece.p[0] != '.' && (unsigned char)piece.p[0] < 0x80 && !str_has_char(piece, '~')))
        return false;
    for (size_t at = 0; at < piece.n && piece.p[at] != ':';) {
        if (is_ignored(piece, at))
            at += 3;
        else
            plain[n++] = piece.p[at++];
    }
    while (n && (plain[n - 1] == '.' || plain[n - 1] == ' '))
        n--;
    return protected_find(PATH_WINDOWS, (struct str){plain, n}) == PROTECTED_GIT;
}

/* Between two slashes. A backslash is an ordinary character on Linux, but a repository may be
   used from Windows too. */
static bool component_is_harmless(enum path_dialect dialect, struct str component)
{
    bool windows = dialect == PATH_WINDOWS;
    if (!component.n || component.n > LONGEST_COMPONENT || str_eq(component, STR(".")))
        return false;
    if (windows && (str_has_char(component, '\\') || str_has_char(component, ':') ||
                    str_ends(component, STR(".")) || str_ends(component, STR(" "))))
        return false;
    for (size_t at = 0, end; at <= component.n; at = end + 1) {
        end = str_find_char(component, '\\', at);
        struct str piece = str_slice(component, at, end);
        if (str_eq(piece, STR("..")) || is_git(piece))
            return false;
    }
    return true;
}

/* The part of the name before kept was checked with the name before it; only the component in
   which that part ends is checked again. */
static bool check_name(struct index_reader *r, size_t kept, bool folder)
{
    struct str name = {r->name, r->length};
    while (kept && name.p[kept - 1] != '/')
        kept--;
    if (folder && !str_ends(name, STR("/")))
        return refuse_structure(r);
    if (folder)
        name.n--;
    if (!name.n)
        return refuse_name(r);
    for (size_t at = kept, end; at <= name.n; at = end + 1) {
        end = str_find_char(name, '/', at);
        if (!component_is_harmless(r->dialect, str_slice(name, at, end)))
            return refuse_name(r);
    }
    return true;
}

/* ---- entries ---- */

/* Reads how much of the name before is dropped, in git's own form of a number. */
static bool read_dropped(struct index_reader *r, size_t *at, size_t *dropped)
{
    uint64_t value = 0;
    for (unsigned more = 0x80, first = 1; more; first = 0) {
        if (*at >= r->bytes.n || value > LONGEST_NAME)
            return false;
        unsigned char c = (unsigned char)r->bytes.p[(*at)++];
        value = first ? c & 0x7F : ((value + 1) << 7) + (c & 0x7F);
        more = c & 0x80;
    }
    *dropped = (size_t)value;
    return value <= r->length;
}

/* The name that starts at *at; moves *at past its NUL. */
static bool read_name(struct index_reader *r, size_t *at, size_t flags, size_t *kept)
{
    size_t dropped = r->length;
    if (r->version == 4 && !read_dropped(r, at, &dropped))
        return false;
    *kept = r->length - dropped;
    size_t most = r->bytes.n - *at, room = LONGEST_NAME - *kept, n = 0;
    const char *from = r->bytes.p + *at;
    while (n < most && n <= room && from[n])
        n++;
    if (n >= most || n > room)
        return false;
    memcpy(r->name + *kept, from, n);
    r->length = *kept + n;
    *at += n + 1;
    return (flags & SHORT_NAME) == (r->length < SHORT_NAME ? r->length : SHORT_NAME);
}

/* Entries are padded to eight bytes, with one NUL at least, but not in version 4. */
static bool skip_padding(const struct index_reader *r, size_t start, size_t *at)
{
    if (r->version == 4)
        return true;
    size_t end = start + ((*at - 1 - start + 8) & ~(size_t)7);
    if (end > r->bytes.n)
        return false;
    for (; *at < end; ++*at)
        if (r->bytes.p[*at])
            return false;
    return true;
}

static bool check_mode(struct index_reader *r, uint32_t mode)
{
    switch (mode & MODE_TYPE) {
    case MODE_FOLDER: r->folders = true; return true;
    case MODE_FILE:
    case MODE_LINK:
    case MODE_REPOSITORY: return true;
    default: return false;
    }
}

/* One entry at *at. *kept: how much of its name is that of the entry before. */
static bool read_entry(struct index_reader *r, size_t *at, size_t *kept)
{
    size_t start = *at, flags_at = start + STAT + r->hash;
    if (start > r->bytes.n || r->bytes.n - start < STAT + r->hash + 4)
        return refuse_structure(r);
    uint32_t mode = number(r->bytes, start + MODE, 4);
    uint32_t flags = number(r->bytes, flags_at, 2);
    *at = flags_at + 2;
    r->mode = mode;
    r->stage = flags >> 12 & 3;
    r->object_at = start + STAT;
    if (flags & EXTENDED) {
        if (r->version < 3 || (number(r->bytes, *at, 2) & ~(uint32_t)EXTENDED_KNOWN))
            return refuse_structure(r);
        *at += 2;
    }
    if (!read_name(r, at, flags, kept) || !skip_padding(r, start, at) || !check_mode(r, mode))
        return refuse_structure(r);
    if (r->length == 0) {
        r->nameless = true;
        return true;
    }
    return check_name(r, *kept, (mode & MODE_TYPE) == MODE_FOLDER);
}

/* Size of the name, mode, stage, size of the object's name, that name, the name. */
enum { OBEYED_HEAD = 4 * sizeof(uint32_t) };

static void collect(struct index_reader *r)
{
    struct str name = {r->name, r->length};
    uint32_t head[4] = {(uint32_t)name.n, r->mode, r->stage, (uint32_t)r->hash};
    struct buf *out = &r->obeyed->entries;
    /* A folder of a sparse index stands for whatever names its tree holds. */
    if ((r->mode & MODE_TYPE) != MODE_FOLDER && !r->obeyed->is_obeyed(r->obeyed->context, name))
        return;
    buf_add(out, (struct str){(const char *)head, sizeof head});
    buf_add(out, str_slice(r->bytes, r->object_at, r->object_at + r->hash));
    buf_add(out, name);
}

bool git_index_next(struct str *rest, struct git_index_entry *out)
{
    uint32_t head[4];
    if (rest->n < OBEYED_HEAD)
        return false;
    memcpy(head, rest->p, sizeof head);
    size_t names = OBEYED_HEAD + head[3], end = names + head[0];
    *out = (struct git_index_entry){str_slice(*rest, names, end), head[1],
                                    str_slice(*rest, OBEYED_HEAD, names), str_slice(*rest, 0, end)};
    *rest = str_from(*rest, end);
    return true;
}

bool git_index_has(struct str *rest, const struct git_index_entry *entry)
{
    struct git_index_entry other;
    for (struct str after = *rest; git_index_next(&after, &other); *rest = after) {
        if (str_eq(other.whole, entry->whole))
            return true;
        if (str_cmp(other.name, entry->name) > 0)
            return false;
    }
    return false;
}

static bool read_entries(struct index_reader *r)
{
    size_t at = HEADER, kept;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!read_entry(r, &at, &kept))
            return false;
        if (r->obeyed && r->length)
            collect(r);
    }
    r->entries_end = at;
    return true;
}

/* ---- what follows the entries ---- */

/* The table by which several threads read: each block must begin where an entry does, with a whole
   name, and all of them together hold all entries. */
static bool blocks_agree(struct index_reader *r, struct str table)
{
    size_t at = HEADER, kept = 0;
    uint32_t left = 0;
    if (table.n < 12 || table.n % 8 != 4 || number(table, 0, 4) != 1)
        return false;
    r->length = 0;
    size_t next = 4;
    for (uint32_t i = 0; i < r->count; i++) {
        bool starts = left == 0;
        if (starts && (next >= table.n || number(table, next, 4) != at))
            return false;
        if (starts) {
            left = number(table, next + 4, 4);
            next += 8;
        }
        if (left == 0 || !read_entry(r, &at, &kept) || (starts && kept))
            return false;
        left--;
    }
    return left == 0 && next == table.n;
}

static bool read_extension(struct index_reader *r, struct str name, struct str body)
{
    bool *once = NULL;
    if (str_eq(name, STR("link")))
        once = &r->linked;
    else if (str_eq(name, STR("sdir")))
        once = &r->sparse;
    else if (str_eq(name, STR("IEOT")))
        once = &r->blocks;
    else
        return name.p[0] >= 'A' && name.p[0] <= 'Z'; /* others are not optional */
    if (*once)
        return false;
    *once = true;
    if (once == &r->linked) {
        for (size_t i = 0; r->obeyed && i < r->hash && i < body.n; i++)
            snprintf(r->obeyed->shared + 2 * i, 3, "%02x", (unsigned char)body.p[i]);
        return body.n >= r->hash;
    }
    return once != &r->blocks || blocks_agree(r, body);
}

/* Git may look for the end of the entries here, at the end of the file. */
static bool end_agrees(const struct index_reader *r)
{
    size_t size = 4 + r->hash;
    if (r->bytes.n < size + 8)
        return true;
    struct str end = str_from(r->bytes, r->bytes.n - size - 8);
    return !str_eq(str_slice(end, 0, 4), STR("EOIE")) || number(end, 8, 4) == r->entries_end;
}

static bool read_extensions(struct index_reader *r)
{
    size_t at = r->entries_end;
    while (at < r->bytes.n) {
        if (r->bytes.n - at < 8)
            return false;
        struct str name = str_slice(r->bytes, at, at + 4);
        size_t size = number(r->bytes, at + 4, 4);
        at += 8;
        if (size > r->bytes.n - at || !read_extension(r, name, str_slice(r->bytes, at, at + size)))
            return false;
        at += size;
    }
    return end_agrees(r) && (r->linked || !r->nameless) && (r->sparse || !r->folders);
}

bool git_index_is_harmless(enum path_dialect dialect, struct str index, enum git_hash hash,
                           char why[GIT_INDEX_WHY])
{
    return git_index_read(dialect, index, hash, NULL, why);
}

bool git_index_read(enum path_dialect dialect, struct str index, enum git_hash hash,
                    struct git_index_obeyed *obeyed, char why[GIT_INDEX_WHY])
{
    struct index_reader r = {
        .dialect = dialect, .bytes = index, .hash = (size_t)hash, .why = why, .obeyed = obeyed};
    if (hash == GIT_HASH_UNKNOWN)
        return refuse(&r, "names of a length that the repository's config does not tell plainly");
    if (index.n > GIT_INDEX_MOST)
        return refuse(&r, "more than 256 MiB");
    if (index.n < HEADER + r.hash || !str_starts(index, STR("DIRC")))
        return refuse_structure(&r);
    r.bytes.n -= r.hash;
    r.version = number(index, 4, 4);
    r.count = number(index, 8, 4);
    if (r.version < 2 || r.version > 4)
        return refuse_structure(&r);
    if (!read_entries(&r))
        return false;
    if (!read_extensions(&r))
        return refuse_structure(&r);
    if (obeyed)
        obeyed->replaces = r.nameless;
    return !obeyed || !obeyed->entries.failed || refuse(&r, "too much");
}

/* ---- which hash ---- */

static struct str value_of(struct str line, struct str key)
{
    line = str_trim(line);
    if (!str_startsi(line, key))
        return STR_NONE;
    line = str_trim(str_from(line, key.n));
    return line.n && line.p[0] == '=' ? str_trim(str_from(line, 1)) : STR_NONE;
}

/* Git reads this key in the repository's own config only, and knows no other spelling of it than by
   case. Anything but the plain lines that git writes is not understood. */
enum git_hash git_index_hash(struct str config)
{
    struct str key = STR("objectformat"), section = STR_NONE;
    enum git_hash hash = GIT_HASH_UNKNOWN;
    bool first = false;
    size_t at = str_findi(config, key, 0);
    if (at >= config.n)
        return GIT_HASH_SHA1;
    if (str_findi(config, key, at + 1) < config.n)
        return GIT_HASH_UNKNOWN;
    for (size_t from = 0, end; from < config.n; from = end + 1) {
        end = str_find_char(config, '\n', from);
        struct str line = str_trim(str_slice(config, from, end));
        if (line.n && line.p[0] == '[')
            section = line;
        if (str_eqi(section, STR("[core]")) &&
            str_eq(value_of(line, STR("repositoryformatversion")), STR("1")))
            first = true;
        struct str value = str_eqi(section, STR("[extensions]")) ? value_of(line, key) : STR_NONE;
        if (str_eq(value, STR("sha1")))
            hash = GIT_HASH_SHA1;
        if (str_eq(value, STR("sha256")))
            hash = GIT_HASH_SHA256;
    }
    return first ? hash : GIT_HASH_UNKNOWN;
}

enum git_hash git_index_hash_of_both(const struct str config[2], const bool present[2])
{
    enum git_hash hash[2];
    for (size_t i = 0; i < 2; i++)
        hash[i] = git_index_hash(config[i]);
    if (present[0] && present[1])
        return hash[0] == hash[1] ? hash[0] : GIT_HASH_UNKNOWN;
    return present[0] ? hash[0] : present[1] ? hash[1] : GIT_HASH_SHA1;
}
