/* SPDX-License-Identifier: Apache-2.0 */
/* Where the folder of journals is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "undo/store.h"

const char store_variable[] = "XDG_STATE_HOME";

static bool make_all(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *p = '/';
            if (!made)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The name's length, as snprintf says it; 0 if there is no place. */
static int name_store(char *out, size_t capacity)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return snprintf(out, capacity, "%s/cordon/runs", state);
    if (home && home[0] == '/')
        return snprintf(out, capacity, "%s/.local/state/cordon/runs", home);
    return 0;
}

bool store_name(char *out, size_t capacity)
{
    int n = name_store(out, capacity);
    return n > 0 && n < (int)capacity;
}

bool store_path(bool make, char *out, size_t capacity, char *why, size_t why_capacity)
{
    char path[3072], *final;
    int n = name_store(path, sizeof path);
    if (n == 0) {
        snprintf(why, why_capacity, "no place for journals: set XDG_STATE_HOME or HOME");
        return false;
    }
    if (n >= (int)sizeof path || (make && !make_all(path)) || !(final = realpath(path, NULL))) {
        snprintf(why, why_capacity, "cannot open the folder of journals %.200s: %s", path,
                 n >= (int)sizeof path ? "too long" : strerror(errno));
        return false;
    }
    bool fits = snprintf(out, capacity, "%s", final) < (int)capacity;
    free(final);
    return fits;
}

fs_file store_open(bool make, char *why, size_t capacity)
{
    char path[4096];
    struct stat st;
    if (!store_path(make, path, sizeof path, why, capacity))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        ((st.st_mode & 077) == 0 || fchmod(fd, 0700) == 0))
        return fd;
    snprintf(why, capacity, "the folder of journals %.200s is not yours alone", path);
    if (fd >= 0)
        close(fd);
    return -1;
}
