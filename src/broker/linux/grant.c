/*
 * The granted folder: a temp folder of the run's own, where Landlock itself allows everything.
 * Calls that stay in it may go on by themselves, which saves most of their price; what a caller
 * could change meanwhile leads nowhere that Landlock does not allow.
 *
 * It holds only what was made in it: no links (they could lead to a place where the policy, but not
 * Landlock, allows more) and no second names of files from elsewhere. Once something of that kind
 * comes in through the broker, calls are judged here as everywhere.
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

/* No "..", so that the text alone says where it ends. */
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
    char link[64], base[PATH_MAX];
    if (dirfd == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)r->pid);
    else
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)r->pid, dirfd);
    ssize_t n = readlink(link, base, sizeof base - 1);
    if (n <= 0)
        return false;
    base[n] = '\0';
    return path[0] && (strcmp(base, b->granted.p) == 0 || lies_inside(b->granted, base));
}

bool grant_covers_argument(const struct broker *b, const struct request *r, int dirfd,
                           uint64_t address)
{
    char path[PATH_MAX];
    return b->granted.n && !b->granted_mixed &&
           request_read_string(r, address, path, sizeof path) > 0 &&
           grant_covers(b, r, dirfd, path);
}

void grant_mix(struct broker *b, const char *path)
{
    if (b->granted.n && lies_inside(b->granted, path))
        b->granted_mixed = true;
}
