/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/linux/caller.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "audit/jsonl.h"

enum { SHOWN_CMDLINE = 2048 };

struct str caller_image(pid_t pid, char *out, size_t capacity)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, out, capacity);
    return n > 0 ? (struct str){out, (size_t)n} : STR_NONE;
}

void caller_cmdline(pid_t pid, struct buf *out)
{
    char path[64], text[SHOWN_CMDLINE];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    if (n > 0)
        audit_mask(out, (struct str){text, (size_t)n});
}
