/* SPDX-License-Identifier: Apache-2.0 */
/* The file system and environment on Linux. */
#include "launch/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cordon.h"
#include "policy/rules.h"

enum path_dialect disk_dialect(void)
{
    return PATH_POSIX;
}

struct str disk_cwd(struct arena *arena)
{
    char path[PATH_MAX];
    return getcwd(path, sizeof path) ? arena_copy(arena, str_of(path)) : STR_NONE;
}

bool disk_variable(struct arena *arena, struct str name, struct str *value)
{
    struct str copy = arena_copy(arena, name);
    const char *found = copy.p ? getenv(copy.p) : NULL;
    if (!found)
        return false;
    *value = arena_copy(arena, str_of(found));
    return value->p != NULL;
}

/* No empty component, "." or "..", and no slash at the end. */
static bool is_normal(struct str path)
{
    if (path.n < 2 || path.p[0] != '/')
        return false;
    for (size_t at = 1, end; at <= path.n; at = end + 1) {
        end = str_find_char(path, '/', at);
        struct str name = str_slice(path, at, end);
        if (name.n == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
            return false;
    }
    return true;
}

/* Most paths contain no link, and one call says so: then the path is final itself. */
static bool look_straight(struct arena *arena, struct str path, struct disk_facts *facts)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    struct disk_facts f = {0};
    struct stat st;
    f.final = arena_copy(arena, path);
    int fd = f.final.p && is_normal(path)
                 ? (int)syscall(SYS_openat2, AT_FDCWD, f.final.p, &how, sizeof how)
                 : -1;
    f.exists = fd >= 0 && fstat(fd, &st) == 0;
    if (fd >= 0)
        close(fd);
    if (!f.exists)
        return false;
    f.directory = S_ISDIR(st.st_mode);
    f.links = f.directory ? 1 : (uint32_t)st.st_nlink;
    f.existing = f.directory ? f.final : path_parent(disk_dialect(), f.final);
    *facts = f;
    return true;
}

/* The final path of the existing part of path, with the rest appended. */
static int resolve(struct arena *arena, struct str path, struct disk_facts *facts)
{
    struct str copy = arena_copy(arena, path);
    char final[PATH_MAX];
    if (!copy.p)
        return CORDON_E_NOMEM;
    char *text = (char *)copy.p;
    size_t end = copy.n;
    while (!realpath(text, final)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return CORDON_E_OPEN;
        while (end > 1 && text[end - 1] == '/')
            end--;
        while (end > 0 && text[end - 1] != '/')
            end--;
        if (end == 0)
            return CORDON_E_OPEN;
        text[end == 1 ? 1 : end - 1] = '\0';
    }
    auto_buf struct buf out = {0};
    buf_add(&out, str_of(final));
    facts->existing = arena_copy(arena, buf_str(&out));
    struct str rest = str_from(path, strlen(text));
    while (rest.n && rest.p[0] == '/')
        rest = str_from(rest, 1);
    if (rest.n) {
        if (out.n > 1)
            buf_char(&out, '/');
        buf_add(&out, rest);
    }
    facts->final = arena_copy(arena, buf_str(&out));
    return facts->final.p && facts->existing.p ? 0 : CORDON_E_NOMEM;
}

int disk_look(struct arena *arena, struct str path, struct disk_facts *facts)
{
    struct disk_facts f = {0};
    struct stat st;
    struct str copy = arena_copy(arena, path);
    if (!copy.p)
        return CORDON_E_NOMEM;
    if (strlen(copy.p) != copy.n)
        return CORDON_E_OPEN;
    if (look_straight(arena, path, facts))
        return 0;
    int rc = resolve(arena, path, &f);
    if (rc)
        return rc;
    f.link = lstat(copy.p, &st) == 0 && S_ISLNK(st.st_mode);
    f.exists = stat(copy.p, &st) == 0;
    if (f.exists) {
        f.directory = S_ISDIR(st.st_mode);
        f.links = f.directory ? 1 : (uint32_t)st.st_nlink;
    }
    if (f.exists && !f.directory)
        f.existing = path_parent(disk_dialect(), f.existing);
    *facts = f;
    return 0;
}

bool disk_link(struct arena *arena, struct str path, struct str *target)
{
    char text[PATH_MAX];
    struct str copy = arena_copy(arena, path);
    ssize_t n = copy.p ? readlink(copy.p, text, sizeof text) : -1;
    if (n <= 0 || n == (ssize_t)sizeof text)
        return false;
    *target = arena_copy(arena, (struct str){text, (size_t)n});
    return target->p != NULL;
}

bool disk_cwd_is_link(void)
{
    const char *entered = getenv("PWD"); /* as shells keep it */
    struct stat named, followed, here;
    return entered && entered[0] == '/' && lstat(entered, &named) == 0 && S_ISLNK(named.st_mode) &&
           stat(entered, &followed) == 0 && stat(".", &here) == 0 &&
           followed.st_dev == here.st_dev && followed.st_ino == here.st_ino;
}

bool disk_names(struct arena *arena, struct str path, bool (*each)(void *context, struct str name),
                void *context)
{
    (void)arena, (void)path, (void)each, (void)context;
    return false;
}

bool disk_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool disk_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool disk_is_trusted_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           (st.st_uid == 0 || st.st_uid == geteuid());
}

bool disk_children(struct arena *arena, struct str path, size_t most,
                   void (*each)(void *context, struct str name), void *context)
{
    struct str copy = arena_copy(arena, path);
    DIR *names = copy.p ? opendir(copy.p) : NULL;
    struct dirent *entry = NULL;
    /* Closed to the caller, it is closed to the command. */
    if (!names)
        return copy.p && (errno == ENOENT || errno == ENOTDIR || errno == EACCES);
    for (size_t seen = 0; (errno = 0, entry = readdir(names)) && seen < most; seen++) {
        if (entry->d_type != DT_REG && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            each(context, str_of(entry->d_name));
    }
    bool whole = !entry && errno == 0;
    closedir(names);
    return whole;
}

int disk_read(struct str path, size_t limit, struct buf *out)
{
    char name[PATH_MAX];
    struct stat st;
    if (path.n >= sizeof name)
        return CORDON_E_OPEN;
    str_copy(name, path);
    name[path.n] = '\0';
    int fd = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return CORDON_E_OPEN;
    int rc = fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) ? CORDON_E_OPEN : 0;
    /* Most are small, and memory that is touched costs more than reading. */
    size_t most = rc == 0 && st.st_size > 0 && st.st_size < 16384 ? (size_t)st.st_size + 1 : 16384;
    while (rc == 0) {
        if (!buf_reserve(out, most)) {
            rc = CORDON_E_NOMEM;
            break;
        }
        ssize_t n = read(fd, out->p + out->n, most);
        if (n < 0)
            rc = CORDON_E_READ;
        if (n <= 0)
            break;
        out->n += (size_t)n;
        if (out->n > limit)
            rc = CORDON_E_TOOBIG;
    }
    close(fd);
    return rc;
}

bool disk_make(struct arena *arena, struct str path)
{
    struct str copy = arena_copy(arena, path);
    if (!copy.p || strlen(copy.p) != copy.n)
        return false;
    char *name = (char *)copy.p;
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && *(name += strspn(name, "/"))) {
        size_t n = strcspn(name, "/");
        bool last = name[n] == '\0';
        name[n] = '\0';
        mkdirat(at, name, 0777);
        int next = openat(at, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
        name += last ? n : n + 1;
    }
    if (at >= 0)
        close(at);
    return at >= 0;
}

void disk_unmake(struct arena *arena, struct str path, struct str above)
{
    struct str copy = arena_copy(arena, path);
    if (!copy.p || !path_is_below(PATH_POSIX, above, path))
        return;
    char *text = (char *)copy.p;
    while (strlen(text) > above.n && rmdir(text) == 0) {
        char *end = strrchr(text, '/');
        if (!end)
            return;
        *end = '\0';
    }
}

void disk_machine(struct arena *arena, struct policy_machine *machine)
{
    struct disk_facts facts;
    struct str home;
    if (disk_variable(arena, STR("HOME"), &home) && disk_look(arena, home, &facts) == 0)
        machine->home = facts.final;
    machine->user = (uint32_t)geteuid();
}
