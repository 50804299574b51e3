/* SPDX-License-Identifier: Apache-2.0 */
/* The original name in a version resource, from images that are made here byte by byte. */
#include "launch/version.h"
#include "tap.h"

enum { NT = 64, OPTIONAL = NT + 24, SECTIONS = OPTIONAL + 240, RAW = 512, SIZE = 2048 };

struct file {
    unsigned char bytes[SIZE];
    size_t size;
};

static bool read_at(void *context, uint64_t at, void *out, size_t count)
{
    const struct file *f = context;
    if (at > f->size || count > f->size - at)
        return false;
    memcpy(out, f->bytes + at, count);
    return true;
}

static void put(struct file *f, size_t at, uint32_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        f->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void put_folder(struct file *f, size_t at, uint32_t id, uint32_t value)
{
    put(f, RAW + at + 14, 1, 2);
    put(f, RAW + at + 16, id, 4);
    put(f, RAW + at + 20, value, 4);
}

/* A program for x64 with one section, the resources, at address 0x1000. */
static struct file image(const char *name)
{
    struct file f = {.size = SIZE};
    static const char key[] = "OriginalFilename";
    put(&f, 0, 0x5A4D, 2);
    put(&f, 60, NT, 4);
    put(&f, NT, 0x4550, 4);
    put(&f, NT + 6, 1, 2);
    put(&f, NT + 20, 240, 2);
    put(&f, OPTIONAL, 0x20B, 2);
    put(&f, OPTIONAL + 108, 16, 4);
    put(&f, OPTIONAL + 128, 0x1000, 4);
    put(&f, SECTIONS + 8, SIZE - RAW, 4);
    put(&f, SECTIONS + 12, 0x1000, 4);
    put(&f, SECTIONS + 16, SIZE - RAW, 4);
    put(&f, SECTIONS + 20, RAW, 4);
    put_folder(&f, 0, 16, 0x80000018);
    put_folder(&f, 0x18, 1, 0x80000030);
    put_folder(&f, 0x30, 1033, 0x48);
    put(&f, RAW + 0x48, 0x1060, 4);
    put(&f, RAW + 0x4C, 400, 4);
    for (size_t i = 0; i < sizeof key; i++)
        put(&f, RAW + 0x60 + 20 + 2 * i, (unsigned char)key[i], 2);
    for (size_t i = 0; name[i]; i++)
        put(&f, RAW + 0x60 + 20 + 2 * sizeof key + 2 + 2 * i, (unsigned char)name[i], 2);
    return f;
}

static struct str find(struct arena *arena, struct file *f)
{
    return version_find(arena, read_at, f);
}

int main(void)
{
    auto_arena struct arena arena = {0};
    struct file f = image("ssh.exe");
    ok(str_eq(find(&arena, &f), STR("ssh.exe")), "the name is found");
    static const struct {
        const char *what;
        size_t at;
        uint32_t value;
        size_t width;
    } broken[] = {{"no program", 0, 0, 2},
                  {"headers beyond the end", 60, 0x7FFFFFFF, 4},
                  {"no PE", NT, 0, 4},
                  {"more sections than there can be", NT + 6, 0xFFFF, 2},
                  {"an unknown kind", OPTIONAL, 0x107, 2},
                  {"no resources", OPTIONAL + 128, 0, 4},
                  {"resources nowhere", OPTIONAL + 128, 0xFFFFF000, 4},
                  {"another type of resource", RAW + 16, 17, 4},
                  {"a folder that is a file", RAW + 20, 0x18, 4},
                  {"a folder in itself", RAW + 0x30 + 20, 0x80000030, 4},
                  {"data beyond its section", RAW + 0x4C, 0xFFFF, 4},
                  {"data nowhere", RAW + 0x48, 0xFFFFFFFF, 4}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        f = image("ssh.exe");
        put(&f, broken[i].at, broken[i].value, broken[i].width);
        ok(find(&arena, &f).n == 0, "none: %s", broken[i].what);
    }
    for (f.size = 0; f.size < SIZE; f.size++) {
        size_t size = f.size;
        f = image("ssh.exe");
        f.size = size;
        if (find(&arena, &f).n > 7)
            break;
    }
    ok(f.size == SIZE, "a file cut anywhere gives nothing more");
    return tap_done();
}
