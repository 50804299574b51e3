/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/linux/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of the path below the current folder; NULL if it lies elsewhere. */
static const char *below_here(const char *path)
{
    char here[PATH_MAX];
    if (path[0] != '/')
        return path;
    if (!getcwd(here, sizeof here))
        return NULL;
    size_t n = strlen(here);
    return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

int output_open(const char *path, int flags, mode_t mode)
{
    const char *rest = below_here(path);
    bool given = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    if (given)
        return open(path, flags, mode);
    if (rest && *rest) {
        struct open_how how = {.flags = (uint64_t)flags,
                               .mode = flags & O_CREAT ? mode : 0,
                               .resolve = RESOLVE_NO_SYMLINKS};
        int fd = (int)syscall(SYS_openat2, AT_FDCWD, rest, &how, sizeof how);
        if (fd >= 0 || errno != ENOSYS)
            return fd;
    }
    return open(path, flags | O_NOFOLLOW, mode);
}
