/* SPDX-License-Identifier: Apache-2.0 */
/* The work that is measured with and without the sandbox, done by one program. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

static int make_files(const char *below, unsigned count)
{
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/f-XXXXXX", below);
    if (!mkdtemp(folder))
        return 1;
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%u", folder, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (fd < 0 || write(fd, "x", 1) != 1 || close(fd))
            return 1;
    }
    return 0;
}

/* Existing files, written anew. */
static int rewrite_files(unsigned count)
{
    char path[64], text[2000];
    memset(text, 'x', sizeof text);
    mkdir("build/bench-ws/u", 0755);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "build/bench-ws/u/%u", i);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, text, sizeof text) != sizeof text || close(fd))
            return 1;
    }
    return 0;
}

static int open_again(unsigned count)
{
    static const char path[] = "build/bench-ws/again";
    close(open(path, O_WRONLY | O_CREAT, 0644));
    for (unsigned i = 0; i < count; i++) {
        int fd = open(path, O_WRONLY);
        if (fd < 0 || close(fd))
            return 1;
    }
    return 0;
}

static int read_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    static char piece[65536];
    (void)st, (void)where;
    int fd = kind == FTW_F ? open(path, O_RDONLY) : -1;
    while (fd >= 0 && read(fd, piece, sizeof piece) > 0)
        ;
    if (fd >= 0)
        close(fd);
    return 0;
}

int bench_work(const char *what, const char *how)
{
    if (strcmp(what, "files") == 0)
        return make_files("build/bench-ws", (unsigned)atoi(how));
    if (strcmp(what, "temp-files") == 0)
        return make_files(getenv("TMPDIR"), (unsigned)atoi(how));
    if (strcmp(what, "rewrite") == 0)
        return rewrite_files((unsigned)atoi(how));
    if (strcmp(what, "opens") == 0)
        return open_again((unsigned)atoi(how));
    if (strcmp(what, "read") == 0)
        return nftw(how, read_one, 32, FTW_PHYS) ? 1 : 0;
    return 2;
}
