/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The granted folder: a temp folder of the run's own, where Landlock itself allows everything.
 * Calls that stay in it continue in the kernel, which saves most of their cost; what a caller
 * could change meanwhile leads nowhere that Landlock does not allow.
 *
 * It holds no second name of a file from elsewhere and no socket of somebody else, so nobody
 * outside relies on what is written there. A link could lead to a place where the policy, but not
 * Landlock, allows more: once one comes in through the broker, calls are judged here as everywhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/linux/broker.h"

static bool lies_inside(struct str folder, const char *path)
{
    return strncmp(path, folder.p, folder.n) == 0 && path[folder.n] == '/';
}

/* No "..", so that the text alone says where the path ends. */
static bool is_straight(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2)
        if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

bool grant_covers(const struct broker *b, const struct request *r, int dirfd, const char *path)
{
    if (!b->granted.n || b->granted_mixed || !is_straight(path))
        return false;
    if (path[0] == '/')
        return lies_inside(b->granted, path);
    char base[PATH_MAX];
    return path[0] && resolve_folder_text(r, dirfd, base, sizeof base) &&
           (strcmp(base, b->granted.p) == 0 || lies_inside(b->granted, base));
}

bool grant_covers_argument(const struct broker *b, const struct request *r, int dirfd,
                           uint64_t address)
{
    char path[PATH_MAX];
    return b->granted.n && !b->granted_mixed &&
           request_read_string(r, address, path, sizeof path) > 0 &&
           grant_covers(b, r, dirfd, path);
}

bool grant_holds(const struct broker *b, const char *path)
{
    return b->granted.n && lies_inside(b->granted, path);
}

bool grant_takes(const struct broker *b, const struct resolved *from, const char *to)
{
    bool plain = S_ISDIR(from->st.st_mode) || S_ISLNK(from->st.st_mode) ||
                 (S_ISREG(from->st.st_mode) && from->st.st_nlink == 1);
    return plain || grant_holds(b, from->path) == grant_holds(b, to);
}

void grant_mix(struct broker *b, const char *path)
{
    if (grant_holds(b, path))
        b->granted_mixed = true;
}
