/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the journal gave to inodes which had others. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "undo/keep_inside.h"

/* A file in the tree should have no name more than without --undo. Where one of its names is found
   in a root, that is recorded, and the journal's own goes. */
static void find_names(struct keep *k, int folder, char *path, size_t n, int depth, size_t *left)
{
    enum { DEEPEST = 64 };
    struct stat st;
    char entries[4096];
    long filled = 0;
    while (*left && depth < DEEPEST &&
           (filled = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < filled && *left;) {
            /* inode, offset, length, type, name: as the call fills it */
            uint64_t inode;
            unsigned short length;
            memcpy(&inode, entries + at, sizeof inode);
            memcpy(&length, entries + at + 16, sizeof length);
            unsigned char type = (unsigned char)entries[at + 18];
            const char *name = entries + at + 19;
            size_t size = strlen(name);
            at += length;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || n + size + 2 > PATH_MAX)
                continue;
            --*left;
            path[n] = '/';
            memcpy(path + n + 1, name, size + 1);
            struct undo_path below;
            for (size_t i = 0; type != DT_DIR && i < k->handle_count; i++) {
                struct handle *h = &k->handles[i];
                char own[24];
                if (h->st.inode != inode || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
                    st.st_dev != h->st.device || st.st_ino != h->st.inode ||
                    !keep_below_root(k, path, &below))
                    continue;
                struct undo_record record = keep_record(&below, &h->st);
                keep_object_name(h->object, own);
                if (keep_add(k, &record) == 0 && !k->broken &&
                    fs_remove(k->objects, own, false) == 0)
                    *h = k->handles[--k->handle_count];
                break;
            }
            int inner = type == DT_DIR || type == DT_UNKNOWN
                            ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                            : -1;
            if (inner >= 0) {
                find_names(k, inner, path, n + 1 + size, depth + 1, left);
                close(inner);
            }
        }
    path[n] = '\0';
}

void keep_drop_handles(struct keep *k)
{
    struct fs_stat st;
    char name[24], path[PATH_MAX];
    size_t left = 200000;
    for (size_t i = k->handle_count; i-- > 0;) {
        keep_object_name(k->handles[i].object, name);
        if (fs_stat(k->objects, name, &st) == 0 && st.links > 1)
            continue;
        if (fs_is_file(k->handles[i].st.mode))
            fs_shut(k->objects, name); /* no other name is left: this is the content */
        k->handles[i] = k->handles[--k->handle_count];
    }
    for (uint32_t i = 0; k->handle_count && i < k->head.root_count; i++) {
        int folder = open(k->paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(path, sizeof path, "%s", k->paths[i]);
        if (folder >= 0 && strlen(path) > 1)
            find_names(k, folder, path, strlen(path), 0, &left);
        if (folder >= 0)
            close(folder);
    }
}
