/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/linux/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool process_stat(pid_t pid, const int *fields, size_t count, uint64_t *values)
{
    enum { NAME = 2 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The name is in parentheses and may itself contain some. */
    const char *at = strrchr(text, ')');
    size_t found = 0;
    for (int field = NAME + 1; found < count; field++) {
        at = at ? strchr(at + 1, ' ') : NULL;
        if (!at)
            return false;
        if (field == fields[found])
            values[found++] = strtoull(at, NULL, 10);
    }
    return true;
}
