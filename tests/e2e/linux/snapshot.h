/* SPDX-License-Identifier: Apache-2.0 */
/* A folder as text: every name with type, mode, owner, time, content, attributes and which names
   are one file. Two folders are the same if their texts are. */
#ifndef CORDON_TESTS_SNAPSHOT_H
#define CORDON_TESTS_SNAPSHOT_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/xattr.h>

#include "base/arena.h"
#include "base/buf.h"
#include "harness.h"
#include "undo/format.h"

struct snapshot {
    struct buf text;
    struct {
        ino_t inode;
        char path[300];
    } linked[4096];
    size_t linked_count;
};

static int snapshot_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void snapshot_attributes(struct snapshot *s, const char *path)
{
    char names[1024], value[1024], *list[64];
    ssize_t n = llistxattr(path, names, sizeof names);
    size_t count = 0;
    for (char *name = names; n > 0 && name < names + n && count < 64; name += strlen(name) + 1)
        list[count++] = name;
    /* The file system lists them in no order. */
    qsort(list, count, sizeof *list, snapshot_compare);
    for (size_t i = 0; i < count; i++) {
        ssize_t size = lgetxattr(path, list[i], value, sizeof value);
        if (strncmp(list[i], "user.", 5) == 0 && size >= 0)
            buf_fmt(&s->text, " %s=%.*s", list[i], (int)size, value);
    }
}

static void snapshot_content(struct snapshot *s, const char *path, const struct stat *st)
{
    char target[4096];
    if (S_ISLNK(st->st_mode)) {
        ssize_t n = readlink(path, target, sizeof target);
        buf_fmt(&s->text, " -> %.*s", (int)(n > 0 ? n : 0), target);
    }
    if (!S_ISREG(st->st_mode))
        return;
    char *bytes = malloc((size_t)st->st_size + 1);
    int fd = open(path, O_RDONLY | O_NOATIME);
    if (fd < 0)
        fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, (size_t)st->st_size + 1);
    if (fd >= 0)
        close(fd);
    buf_fmt(&s->text, " %lld %llx", (long long)n,
            (unsigned long long)undo_hash((struct str){bytes, n > 0 ? (size_t)n : 0}));
    free(bytes);
    for (size_t i = 0; st->st_nlink > 1 && i < s->linked_count; i++)
        if (s->linked[i].inode == st->st_ino) {
            buf_fmt(&s->text, " = %s", s->linked[i].path);
            return;
        }
    if (st->st_nlink > 1 && s->linked_count < 4096) {
        s->linked[s->linked_count].inode = st->st_ino;
        snprintf(s->linked[s->linked_count++].path, 300, "%.299s", path);
    }
}

static void snapshot_below(struct snapshot *s, const char *path, int depth)
{
    struct stat st;
    char *names[4096], below[2048];
    size_t count = 0;
    if (lstat(path, &st))
        return;
    buf_fmt(&s->text, "%s %o %u:%u %lld.%09ld links %lu", path, st.st_mode, st.st_uid, st.st_gid,
            (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
            S_ISDIR(st.st_mode) ? 0 : (unsigned long)st.st_nlink);
    snapshot_content(s, path, &st);
    snapshot_attributes(s, path);
    buf_char(&s->text, '\n');
    DIR *list = S_ISDIR(st.st_mode) && depth < 40 ? opendir(path) : NULL;
    for (struct dirent *e; list && count < 4096 && (e = readdir(list));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            names[count++] = strdup(e->d_name);
    if (list)
        closedir(list);
    qsort(names, count, sizeof *names, snapshot_compare);
    for (size_t i = 0; i < count; i++) {
        snprintf(below, sizeof below, "%.1700s/%.300s", path, names[i]);
        snapshot_below(s, below, depth + 1);
        free(names[i]);
    }
}

/* The folder, relative to top. */
static char *snapshot_of(const char *folder)
{
    struct snapshot *s = calloc(1, sizeof *s);
    char here[1200], path[2400];
    if (!getcwd(here, sizeof here))
        return NULL;
    snprintf(path, sizeof path, "%s/%s", top, folder);
    if (chdir(path) == 0)
        snapshot_below(s, ".", 0);
    char *text = strdup(buf_cstr(&s->text));
    buf_free(&s->text);
    free(s);
    return chdir(here) == 0 ? text : NULL;
}

/* Says the first lines in which two snapshots differ. */
__attribute__((unused)) static void snapshot_differ(const char *wanted, const char *got)
{
    int said = 0;
    while (*wanted && *got && said < 6) {
        size_t n = strcspn(wanted, "\n"), m = strcspn(got, "\n");
        size_t name_n = strcspn(wanted, " "), name_m = strcspn(got, " ");
        if (n == m && memcmp(wanted, got, n) == 0) {
            wanted += n + 1;
            got += m + 1;
            continue;
        }
        int order = name_n == name_m ? memcmp(wanted, got, name_n) : 2;
        said++;
        note("- %.*s", (int)n, wanted);
        note("+ %.*s", (int)m, got);
        wanted += n + 1;
        got += m + 1;
        if (order)
            break;
    }
}

#endif
