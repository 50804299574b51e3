/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/linux/folder.h"

#include <dirent.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As getdents64 fills it. */
struct folder_entry {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    unsigned char type;
    char name[];
};

const char *folder_next(struct folder *f)
{
    for (;;) {
        if (f->at >= f->filled) {
            f->filled = syscall(SYS_getdents64, f->fd, f->entries, sizeof f->entries);
            f->at = 0;
            if (f->filled <= 0)
                return NULL;
        }
        const struct folder_entry *entry = (const void *)(f->entries + f->at);
        f->at += entry->length;
        f->is_link = entry->type == DT_LNK;
        if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
            return entry->name;
    }
}
