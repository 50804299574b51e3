/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals that the tree created for itself. Landlock lets the tree write to the terminal it was
 * started on and to no other; its own ones are opened here. The kernel tells whose a terminal is: a
 * process of the run holds the master.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker/linux/broker.h"

/* The number of the terminal whose master this descriptor is; -1 if it is not one. */
static int master_of(pid_t process, const char *fd)
{
    char path[64], text[256];
    int index = -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%.16s", (int)process, fd);
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    if (strcmp(text, "/dev/ptmx") != 0 && strcmp(text, "/dev/pts/ptmx") != 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.16s", (int)process, fd);
    FILE *f = fopen(path, "re");
    while (f && fgets(text, sizeof text, f))
        if (sscanf(text, "tty-index: %d", &index) == 1)
            break;
    if (f)
        fclose(f);
    return index;
}

static bool holds_master(pid_t process, int index)
{
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *names = opendir(path);
    for (struct dirent *entry; names && !found && (entry = readdir(names));)
        found = entry->d_name[0] != '.' && master_of(process, entry->d_name) == index;
    if (names)
        closedir(names);
    return found;
}

bool terminal_is_own(struct broker *b, const struct request *r, const char *path)
{
    int index, n = 0;
    struct request_status status;
    if (sscanf(path, "/dev/pts/%d%n", &index, &n) != 1 || path[n] != '\0')
        return false;
    if (!request_status(r, &status))
        return false;
    if (holds_master(status.process, index))
        return true;
    bool found = false;
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && !found && (entry = readdir(all));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        found = pid > 0 && broker_in_run(b, pid) && holds_master(pid, index);
    }
    if (all)
        closedir(all);
    return found;
}

bool terminal_is_given(const struct broker *b, dev_t device)
{
    if (b->terminal)
        return b->terminal == device;
    struct stat st;
    unsigned own;
    for (int i = 0; i < 3; i++)
        if (isatty(i) && fstat(i, &st) == 0 && st.st_rdev == device)
            return true;
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool found = fd >= 0 && ioctl(fd, TIOCGDEV, &own) == 0 && major(own) == major(device) &&
                 minor(own) == minor(device);
    if (fd >= 0)
        close(fd);
    return found;
}
