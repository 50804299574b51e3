/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups version 2 have one tree for everything; version 1 has one for each controller. */
#include "launch/linux/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cordon.h"

enum { MOST_LEVELS = 64 };

/* "cpu,memory" contains memory, "memory_x" does not. */
static bool holds_word(const char *list, const char *word, const char *separators)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, separators);
        if (n == strlen(word) && memcmp(p, word, n) == 0)
            return true;
        p += n;
        p += strspn(p, separators);
    }
    return false;
}

/* The path of the caller's group in a controller's tree; NULL: in version 2's single tree. */
static bool read_own_group(const char *file, const char *controller, char *out, size_t capacity)
{
    char line[PATH_MAX + 256];
    bool found = false;
    FILE *f = fopen(file, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *list++ = '\0';
        *path++ = '\0';
        found = controller ? holds_word(list, controller, ",")
                           : strcmp(line, "0") == 0 && *list == '\0';
        if (found)
            found = snprintf(out, capacity, "%s", path) < (int)capacity;
    }
    if (f)
        fclose(f);
    return found;
}

/* The caller's group as a folder. */
static bool find_own_folder(const struct limits_source *source, const char *controller, char *out,
                            char *top)
{
    char line[2 * PATH_MAX], group[PATH_MAX];
    bool found = false;
    if (!read_own_group(source->own_group, controller, group, sizeof group))
        return false;
    FILE *f = fopen(source->mounts, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char root[PATH_MAX], place[PATH_MAX], kind[64], options[512];
        char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, place) != 2 ||
            sscanf(rest + 3, "%63s %*s %511s", kind, options) != 2)
            continue;
        if (controller ? strcmp(kind, "cgroup") != 0 || !holds_word(options, controller, ",")
                       : strcmp(kind, "cgroup2") != 0)
            continue;
        size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(group, root, n) != 0)
            continue;
        const char *below = strcmp(group + n, "/") == 0 ? "" : group + n;
        found = snprintf(out, PATH_MAX, "%s%s", place, below) < PATH_MAX;
        snprintf(top, PATH_MAX, "%s", place);
    }
    if (f)
        fclose(f);
    return found;
}

static bool put(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

static bool get(const char *folder, const char *name, char *out, size_t capacity)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, capacity - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static bool put_number(const char *folder, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return put(folder, name, text);
}

/*
 * In version 2 a group with processes can have no groups with limits below it, except the root
 * group, which has no type. The kernel would accept a process limit there, and then let no process
 * in.
 */
static bool may_hold_groups(const char *folder)
{
    char text[64];
    return !get(folder, "cgroup.type", text, sizeof text) ||
           !get(folder, "cgroup.procs", text, sizeof text) || text[0] == '\0';
}

static bool takes_processes(const char *group)
{
    char type[64];
    return get(group, "cgroup.type", type, sizeof type) && strcmp(type, "domain\n") == 0;
}

/* Creates a group with the limits in this folder; on failure returns false and leaves nothing. */
static bool make_group(const char *folder, const struct policy_limits *wanted,
                       struct limits_group *group)
{
    uint32_t number = 0;
    char members[PATH_MAX + 64], controllers[512];
    if (group->unified && !may_hold_groups(folder))
        return false;
    if (getrandom(&number, sizeof number, 0) != sizeof number ||
        snprintf(group->path, sizeof group->path, "%s/cordon-%08x", folder, number) >=
            (int)sizeof group->path)
        return false;
    if (group->unified && get(folder, "cgroup.subtree_control", controllers, sizeof controllers)) {
        if (group->processes && !holds_word(controllers, "pids", " \n"))
            put(folder, "cgroup.subtree_control", "+pids");
        if (group->memory && !holds_word(controllers, "memory", " \n"))
            put(folder, "cgroup.subtree_control", "+memory");
    }
    if (mkdir(group->path, 0755))
        return false;
    bool good = !group->unified || takes_processes(group->path);
    if (good && group->processes)
        good = put_number(group->path, "pids.max", wanted->processes);
    if (good && group->memory)
        good = put_number(group->path, group->unified ? "memory.max" : "memory.limit_in_bytes",
                          wanted->memory);
    /* Memory that can be swapped out would be no limit; not every kernel counts swap. */
    if (good && group->memory && group->unified)
        put(group->path, "memory.swap.max", "0");
    if (good && group->memory && !group->unified)
        put_number(group->path, "memory.memsw.limit_in_bytes", wanted->memory);
    snprintf(members, sizeof members, "%s/cgroup.procs", group->path);
    group->members = good ? open(members, O_WRONLY | O_CLOEXEC) : -1;
    if (group->members >= 0)
        return true;
    rmdir(group->path);
    return false;
}

/* Beside the caller's own group, or further up, where this user has been allowed to create
   groups. */
static bool make_unified(const struct policy_limits *wanted, const struct limits_source *source,
                         struct limits_group *group)
{
    char folder[PATH_MAX], top[PATH_MAX];
    if (!find_own_folder(source, NULL, folder, top))
        return false;
    for (int level = 0; level < MOST_LEVELS; level++) {
        if (make_group(folder, wanted, group))
            return true;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(top) || !slash)
            return false;
        *slash = '\0';
    }
    return false;
}

static bool make_single(const struct policy_limits *wanted, const struct limits_source *source,
                        struct limits_group *group)
{
    char folder[PATH_MAX], top[PATH_MAX];
    return find_own_folder(source, group->memory ? "memory" : "pids", folder, top) &&
           make_group(folder, wanted, group);
}

int limits_open(const struct policy_limits *wanted, const struct limits_source *source,
                struct limits *out, char *message, size_t capacity)
{
    struct limits l = {0};
    bool both[2] = {wanted->processes > 0, wanted->memory > 0};
    struct limits_group *group = &l.groups[0];
    if (!both[0] && !both[1]) {
        *out = l;
        return 0;
    }
    *group = (struct limits_group){.unified = true, .processes = both[0], .memory = both[1]};
    bool good = make_unified(wanted, source, group);
    l.count = good;
    for (int i = 0; i < 2 && !good; i++) {
        if (!both[i])
            continue;
        group = &l.groups[l.count];
        *group = (struct limits_group){.processes = i == 0, .memory = i == 1};
        if (!make_single(wanted, source, group))
            break;
        l.count++;
        good = l.count == (size_t)both[0] + both[1];
    }
    if (!good) {
        struct limits_reached ignored;
        limits_close(&l, &ignored);
        snprintf(message, capacity,
                 "%s: this user has no control group to set a limit in; as an ordinary user start "
                 "cordon with systemd-run --user --scope -p Delegate=yes",
                 both[0] && both[1] ? "--max-procs, --max-memory"
                 : both[0]          ? "--max-procs"
                                    : "--max-memory");
        return CORDON_E_CONFINE;
    }
    *out = l;
    return 0;
}

int limits_join(const struct limits *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (write(l->groups[i].members, "0", 1) != 1)
            return errno ? -errno : -EIO;
    return 0;
}

/* The number after a word of a small file. */
static bool has_counted(const char *folder, const char *name, const char *word)
{
    char text[512];
    get(folder, name, text, sizeof text);
    const char *at = strstr(text, word);
    return at && atoll(at + strlen(word)) > 0;
}

void limits_close(struct limits *l, struct limits_reached *reached)
{
    *reached = (struct limits_reached){0};
    for (size_t i = 0; i < l->count; i++) {
        struct limits_group *group = &l->groups[i];
        if (group->processes)
            reached->processes = has_counted(group->path, "pids.events", "max ");
        if (group->memory)
            reached->memory = has_counted(
                group->path, group->unified ? "memory.events" : "memory.oom_control", "oom_kill ");
        close(group->members);
        /* The last process is still counted for a moment after it was waited for. */
        for (int tries = 0; rmdir(group->path) && errno == EBUSY && tries < 500; tries++)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    l->count = 0;
}
