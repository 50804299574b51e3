/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE headers, then the resource directory: a tree of three levels (type, name, language) of which
 * the first entry of the type "version" is used. The resource is itself a tree of counted blocks;
 * the block that matters is found by its key, and its value is text after at most two units of
 * padding. Every number in the file is treated as hostile.
 */
#include "launch/version.h"

#include "base/buf.h"
#include "base/utf.h"

enum {
    MOST_SECTIONS = 96,
    MOST_ENTRIES = 4096,
    MOST_RESOURCE = 65536,
    MOST_NAME = 260,
    RT_VERSION_ID = 16,
    SUBFOLDER = 1 << 31
};

struct pe {
    version_read *read;
    void *context;
    uint32_t resources; /* address */
    uint16_t section_count;
    struct {
        uint32_t size, address, raw_size, raw_at;
    } sections[MOST_SECTIONS];
};

static uint16_t u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const unsigned char *p)
{
    return u16(p) | (uint32_t)u16(p + 2) << 16;
}

static bool read_headers(struct pe *pe)
{
    enum { NARROW = 0x10B, WIDE = 0x20B, MOST_START = 1 << 20 };
    unsigned char dos[64], nt[24], optional[240], section[40];
    if (!pe->read(pe->context, 0, dos, sizeof dos) || u16(dos) != 0x5A4D)
        return false;
    uint64_t at = u32(dos + 60);
    if (at > MOST_START || !pe->read(pe->context, at, nt, sizeof nt) || u32(nt) != 0x4550)
        return false;
    pe->section_count = u16(nt + 6);
    uint16_t size = u16(nt + 20);
    size_t wanted = size < sizeof optional ? size : sizeof optional;
    at += sizeof nt;
    if (pe->section_count > MOST_SECTIONS || wanted < 2 ||
        !pe->read(pe->context, at, optional, wanted))
        return false;
    /* The directories follow their count; resources are the third. */
    size_t directories = u16(optional) == NARROW ? 96 : u16(optional) == WIDE ? 112 : 0;
    if (!directories || wanted < directories + 24 || u32(optional + directories - 4) < 3)
        return false;
    pe->resources = u32(optional + directories + 16);
    for (uint16_t i = 0; i < pe->section_count; i++) {
        if (!pe->read(pe->context, at + size + i * sizeof section, section, sizeof section))
            return false;
        pe->sections[i].size = u32(section + 8);
        pe->sections[i].address = u32(section + 12);
        pe->sections[i].raw_size = u32(section + 16);
        pe->sections[i].raw_at = u32(section + 20);
    }
    return pe->resources != 0;
}

/* Bytes of the image at an address, all within one section. */
static bool read_image(const struct pe *pe, uint32_t address, void *out, size_t count)
{
    for (uint16_t i = 0; i < pe->section_count; i++) {
        uint32_t inside = address - pe->sections[i].address;
        uint32_t size = pe->sections[i].raw_size;
        if (address < pe->sections[i].address || inside >= size || count > size - inside)
            continue;
        return pe->read(pe->context, (uint64_t)pe->sections[i].raw_at + inside, out, count);
    }
    return false;
}

/* The entry of a directory with this id, or the first if id is 0; false if there is none. */
static bool find_entry(const struct pe *pe, uint32_t folder, uint32_t id, uint32_t *out)
{
    unsigned char head[16], entry[8];
    if (!read_image(pe, folder, head, sizeof head))
        return false;
    uint32_t count = (uint32_t)u16(head + 12) + u16(head + 14);
    for (uint32_t i = 0; i < count && i < MOST_ENTRIES; i++) {
        if (!read_image(pe, folder + 16 + 8 * i, entry, sizeof entry))
            return false;
        if (id == 0 || u32(entry) == id) {
            *out = u32(entry + 4);
            return true;
        }
    }
    return false;
}

static struct str find_name(struct arena *arena, const uint16_t *text, size_t units)
{
    static const char key[] = "OriginalFilename";
    for (size_t i = 0; i + sizeof key + 1 < units; i++) {
        size_t k = 0;
        while (k < sizeof key && text[i + k] == (unsigned char)key[k])
            k++;
        if (k < sizeof key)
            continue;
        size_t at = i + sizeof key, end;
        while (at < units && text[at] == 0 && at < i + sizeof key + 2)
            at++;
        for (end = at; end < units && text[end] && end - at < MOST_NAME;)
            end++;
        auto_buf struct buf name = {0};
        utf_from16(&name, text + at, end - at);
        return name.failed ? STR_NONE : arena_copy(arena, buf_str(&name));
    }
    return STR_NONE;
}

struct str version_find(struct arena *arena, version_read *read, void *context)
{
    struct pe pe = {.read = read, .context = context};
    unsigned char data[16];
    uint32_t at = 0;
    if (!read_headers(&pe))
        return STR_NONE;
    uint32_t ids[] = {RT_VERSION_ID, 0, 0};
    for (size_t level = 0; level < 3; level++) {
        uint32_t folder = level ? at & ~(uint32_t)SUBFOLDER : 0;
        if ((level && !(at & (uint32_t)SUBFOLDER)) ||
            !find_entry(&pe, pe.resources + folder, ids[level], &at))
            return STR_NONE;
    }
    if (at & (uint32_t)SUBFOLDER || !read_image(&pe, pe.resources + at, data, sizeof data))
        return STR_NONE;
    size_t size = u32(data + 4) < MOST_RESOURCE ? u32(data + 4) : MOST_RESOURCE;
    uint16_t *text = arena_alloc(arena, size + 2);
    if (!text || !read_image(&pe, u32(data), text, size))
        return STR_NONE;
    return find_name(arena, text, size / 2);
}
