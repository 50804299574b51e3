/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes a program under another name. A copy is identified by its build id, which the linker
 * stored in a note, so that appended bytes change nothing. A tool built anew is not stopped here;
 * what it could reach is confined all the same.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/secrets.h"

enum { MOST_HEADERS = 64, LONGEST_NOTES = 4096 };

/* The build id note, within the bytes of a program. */
static bool find_note(const unsigned char *notes, size_t n, unsigned char *id)
{
    for (size_t at = 0; n - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        size_t body = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name > n - at || body > n - at - name)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + at, "GNU", 4) == 0 && head.n_descsz == BROKER_BUILD_ID) {
            memcpy(id, notes + at + name, BROKER_BUILD_ID);
            return true;
        }
        at += name + body;
    }
    return false;
}

static bool build_id(const char *path, unsigned char *id)
{
    unsigned char notes[LONGEST_NOTES];
    Elf64_Ehdr head;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool program = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                   memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                   head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr);
    for (int i = 0; program && !found && i < head.e_phnum && i < MOST_HEADERS; i++) {
        Elf64_Phdr part;
        off_t at = (off_t)(head.e_phoff + (uint64_t)i * sizeof part);
        if (pread(fd, &part, sizeof part, at) != (ssize_t)sizeof part)
            break;
        if (part.p_type != PT_NOTE)
            continue;
        size_t size = part.p_filesz < sizeof notes ? (size_t)part.p_filesz : sizeof notes;
        ssize_t n = pread(fd, notes, size, (off_t)part.p_offset);
        found = n > 0 && find_note(notes, (size_t)n, id);
    }
    close(fd);
    return found;
}

static void know(struct broker_tools *t, const char *path, struct str name)
{
    struct broker_tool *tool = &t->items[t->count];
    if (t->count < BROKER_MOST_TOOLS && name.n < sizeof tool->name && build_id(path, tool->id)) {
        memcpy(tool->name, name.p, name.n);
        tool->name[name.n] = '\0';
        t->count++;
    }
}

static void know_tool(void *context, struct str name)
{
    static const char *const places[] = {"/usr/bin", "/usr/local/bin", "/usr/sbin", "/bin"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%.*s", places[i], (int)(name.n < 256 ? name.n : 0), name.p);
        know(context, path, name);
    }
}

static bool can_be_written(const struct policy_settings *s, struct str path)
{
    for (size_t i = 0; i < s->roots.count; i++)
        if (path_is_below(PATH_POSIX, s->roots.items[i].path, path))
            return true;
    return s->temp_path.n && path_is_below(PATH_POSIX, s->temp_path, path);
}

struct str tool_original(struct broker *b, const char *path)
{
    static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2",
                                          "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1"};
    struct broker_tools *t = &b->tools;
    unsigned char id[BROKER_BUILD_ID];
    /* Elsewhere the name decides. */
    if (!can_be_written(policy_settings_of(b->policy), str_of(path)) || !build_id(path, id))
        return STR_NONE;
    if (!t->known) {
        for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
            know(t, loaders[i], STR(BROKER_LOADER));
        policy_tool_names(b->policy, know_tool, t);
        t->known = true;
    }
    for (size_t i = 0; i < t->count; i++)
        if (memcmp(t->items[i].id, id, sizeof id) == 0)
            return str_of(t->items[i].name);
    return STR_NONE;
}
