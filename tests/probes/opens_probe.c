/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens for writing, again and again.
 *   opens_probe new N PATH       N new files, PATH and a number, which must not exist
 *   opens_probe make N PATH      the same, and they may exist
 *   opens_probe again N PATH     one existing file
 *   opens_probe try N PATH       PATH and PATH with a number, written with "x"; some of it may fail
 *   opens_probe exchange A B C   exchanges A and B until there is a file "stop", an even number of
 *                                times, which is written to C
 *   opens_probe flags PATH       the flags of a descriptor are those that were asked for
 *   opens_probe gone             in a folder that was removed no file can be made
 * Exit code 0: as it should be; of "try": at least one was written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_many(const char *path, int count, int flags, bool numbered)
{
    char name[1024];
    int opened = 0;
    for (int i = 0; i < count; i++) {
        if (numbered)
            snprintf(name, sizeof name, "%s%d", path, i);
        else
            snprintf(name, sizeof name, "%s", path);
        int fd = open(name, flags, 0644);
        opened += fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    return opened == count ? 0 : 1;
}

static bool write_one(const char *path, int flags)
{
    int fd = open(path, flags, 0644);
    if (fd < 0)
        return false;
    bool written = write(fd, "x", 1) == 1;
    close(fd);
    return written;
}

static int try_many(const char *path, int count)
{
    char name[1024];
    int written = 0;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%d", path, i);
        written += write_one(path, O_WRONLY | O_CREAT | O_TRUNC);
        written += write_one(path, O_WRONLY | O_APPEND);
        written += write_one(name, O_WRONLY | O_CREAT | O_EXCL);
    }
    return written ? 0 : 1;
}

static int exchange(const char *a, const char *b, const char *result)
{
    enum { EXCHANGE = 2 };
    unsigned done = 0;
    while (access("stop", F_OK) || done % 2)
        done += syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
    FILE *f = fopen(result, "we");
    return f && fprintf(f, "%u\n", done) > 0 && fclose(f) == 0 ? 0 : 1;
}

static int same_flags(const char *path)
{
    static const int wanted[] = {0, O_APPEND, O_NONBLOCK, O_APPEND | O_NONBLOCK, O_SYNC, O_DSYNC};
    int status = O_APPEND | O_NONBLOCK | O_SYNC | O_ACCMODE;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        for (int again = 0; again < 2; again++) {
            int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | wanted[i], 0644);
            int inherited = open(path, O_WRONLY | wanted[i]);
            if (fd < 0 || (fcntl(fd, F_GETFL) & status) != (O_RDWR | wanted[i]) ||
                fcntl(fd, F_GETFD) != FD_CLOEXEC || inherited < 0 ||
                (fcntl(inherited, F_GETFL) & status) != (O_WRONLY | wanted[i]) ||
                fcntl(inherited, F_GETFD) != 0)
                return 1;
            close(fd);
            close(inherited);
            if (again && unlink(path))
                return 1;
        }
    return 0;
}

static int gone(void)
{
    return open("new", O_WRONLY | O_CREAT, 0644) < 0 && errno == ENOENT ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "gone") == 0)
        return gone();
    if (strcmp(what, "flags") == 0 && argc > 2)
        return same_flags(argv[2]);
    if (strcmp(what, "exchange") == 0 && argc > 4)
        return exchange(argv[2], argv[3], argv[4]);
    if (argc < 4)
        return 2;
    int count = atoi(argv[2]);
    if (strcmp(what, "new") == 0)
        return open_many(argv[3], count, O_WRONLY | O_CREAT | O_EXCL, true);
    if (strcmp(what, "make") == 0)
        return open_many(argv[3], count, O_WRONLY | O_CREAT | O_TRUNC, true);
    if (strcmp(what, "again") == 0)
        return open_many(argv[3], count, O_WRONLY, false);
    if (strcmp(what, "try") == 0)
        return try_many(argv[3], count);
    return 2;
}
