/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way, for paths whose text alone says where they lead.
 *
 * The text is judged, and then the kernel opens exactly that text and fails if anything on it is a
 * link. So the object that is opened lies where it was judged to lie, whatever is renamed or
 * exchanged meanwhile, and no folder has to be held in between. An existing file is compared with
 * the one that was judged, because another may have taken its name. Other calls than opens need the
 * folder itself; it is opened the same way and held for the call.
 *
 * Whatever is not plainly allowed here, fails or looks unusual takes the long way (resolve.c),
 * which decides, reports and answers. Nothing is remembered but the texts of folders that have no
 * other spelling, and no decision rests on these: they only make sure that a rule is compared with
 * the spelling that the long way would find.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/linux/broker.h"

#if defined(__aarch64__)
enum { LARGE_FILE = 0400000 };
#else
enum { LARGE_FILE = 0100000 };
#endif

static int open_text(const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
                           .mode = mode,
                           .resolve = RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Every component is a name: none is empty, "." or "..". */
static bool is_plain(const char *path)
{
    for (const char *p = path; *p == '/' || p == path; p += strcspn(p, "/")) {
        p += *p == '/';
        size_t n = strcspn(p, "/");
        if (n == 0 || n > NAME_MAX || (n == 1 && p[0] == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
    }
    return true;
}

/* The absolute text of the caller's path; false if it has none that is plain. */
static bool find_text(const struct request *r, int dirfd, const char *path, char out[PATH_MAX])
{
    size_t n = 0;
    while (path[0] == '.' && path[1] == '/')
        path += 1 + strspn(path + 1, "/");
    if (!is_plain(path))
        return false;
    if (path[0] != '/') {
        if (!resolve_folder_text(r, dirfd, out, PATH_MAX))
            return false;
        n = strlen(out);
        if (n > 1)
            out[n++] = '/';
    }
    size_t more = strlen(path) + 1;
    if (n + more > PATH_MAX)
        return false;
    memcpy(out + n, path, more);
    return !resolve_in_proc(out);
}

/* ---- folders whose text is the only one they have ---- */

void straight_forget(struct broker *b)
{
    for (size_t i = 0; i < BROKER_MOST_FOLDERS; i++)
        b->folders[i][0] = '\0';
    b->noted[0] = '\0';
}

static char *slot_of(struct broker *b, const char *folder)
{
    uint32_t hash = 2166136261u;
    for (const char *p = folder; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return b->folders[hash % BROKER_MOST_FOLDERS];
}

/* Where file systems ignore case a folder has many spellings, and rules know one of them: -1 if
   this is another one. */
static int open_folder(struct broker *b, const char *folder)
{
    char spelling[PATH_MAX], *slot = slot_of(b, folder);
    int fd = open_text(folder, O_PATH | O_DIRECTORY, 0);
    if (fd < 0 || strcmp(slot, folder) == 0)
        return fd;
    if (!resolve_path_of(fd, spelling, sizeof spelling) || strcmp(spelling, folder) != 0) {
        close(fd);
        return -1;
    }
    if (strlen(folder) < BROKER_LONGEST_FOLDER)
        strcpy(slot, folder);
    return fd;
}

static bool knows_folder(struct broker *b, const char *folder)
{
    if (strcmp(slot_of(b, folder), folder) == 0)
        return true;
    int fd = open_folder(b, folder);
    return fd >= 0 && close(fd) == 0;
}

/* ---- names in a folder ---- */

/* Splits the text; false for what lies directly in the root folder. */
static bool split(const char *path, char folder[PATH_MAX], const char **leaf)
{
    size_t n = (size_t)(strrchr(path, '/') - path);
    memcpy(folder, path, n);
    folder[n] = '\0';
    *leaf = path + n + 1;
    return n > 0;
}

static bool find_place(struct broker *b, const struct request *r, int dirfd, const char *path,
                       struct resolved *out)
{
    char folder[PATH_MAX];
    const char *leaf;
    if (b->server.shares_umask || !find_text(r, dirfd, path, out->path) ||
        !split(out->path, folder, &leaf))
        return false;
    out->parent = open_folder(b, folder);
    if (out->parent < 0)
        return false;
    strcpy(out->leaf, leaf);
    out->exists = fstatat(out->parent, leaf, &out->st, AT_SYMLINK_NOFOLLOW) == 0;
    if ((out->exists || errno == ENOENT) && request_alive(r))
        return true;
    resolved_close(out);
    return false;
}

int straight_find_path(struct broker *b, const struct request *r, int dirfd, const char *path,
                       struct resolved *out)
{
    return find_place(b, r, dirfd, path, out) ? 0 : resolve(r, dirfd, path, false, out);
}

int straight_find(struct broker *b, const struct request *r, int dirfd, uint64_t address,
                  struct resolved *out)
{
    char path[PATH_MAX];
    ssize_t n = request_peek_string(r, address, path, sizeof path);
    return n < 0 ? (int)n : straight_find_path(b, r, dirfd, path, out);
}

/* ---- opening ---- */

/* Only what lies in a root, without anything to report or to record. */
static bool allows(struct broker *b, const struct resolved *where, enum policy_access access)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    broker_question(b, where, access, &question);
    policy_decide(b->policy, &question, &answer);
    return answer.verdict == CORDON_ALLOW &&
           (answer.rule == RULE_ROOTS_INSIDE || answer.rule == RULE_GIT_COMMIT ||
            answer.rule == RULE_GIT_CREATED);
}

static int open_new(struct broker *b, const struct request *r, struct resolved *where, int flags,
                    mode_t mode)
{
    where->exists = false;
    if (!allows(b, where, POLICY_CREATE) || (!request_take_umask(r) && !request_alive(r)))
        return -1;
    return open_text(where->path, (flags & ~O_TRUNC) | O_EXCL | O_NOCTTY, mode);
}

/* The journal keeps the times of a folder before the first change in it. The last one is remembered,
   until folders are renamed or removed. */
static bool note_folder(struct broker *b, const char *folder, struct resolved *where)
{
    bool noted = strcmp(b->noted, folder) == 0;
    where->parent = noted ? -1 : open_folder(b, folder);
    return noted || where->parent >= 0;
}

/* The same with a journal. An existing file takes the long way. */
static int open_recorded(struct broker *b, struct request *r, struct resolved *where,
                         const char *folder, const char *leaf, int flags, mode_t mode)
{
    struct stat st;
    int fd = -1;
    if (!(flags & O_CREAT) || (!(flags & O_EXCL) && lstat(where->path, &st) == 0) ||
        !allows(b, where, POLICY_CREATE) || (!request_take_umask(r) && !request_alive(r)) ||
        !note_folder(b, folder, where))
        return -1;
    strcpy(where->leaf, where->parent < 0 ? "" : leaf);
    if (record_create_short(b, r, where) == 0) {
        if (strlen(folder) < sizeof b->noted)
            strcpy(b->noted, folder);
        fd = open_text(where->path, (flags & ~O_TRUNC) | O_EXCL | O_NOCTTY, mode);
        int error = errno;
        resolved_close(where);
        where->parent = fd;
        where->leaf[0] = '\0';
        record_after(b, fd < 0 ? error : 0, where);
        where->parent = -1;
    }
    resolved_close(where);
    return fd;
}

static int open_existing(struct broker *b, const struct request *r, struct resolved *where,
                         int flags)
{
    struct stat st;
    int how = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOCTTY;
    where->exists = true;
    /* A pipe or a device must not even be opened. */
    if (lstat(where->path, &where->st) || !S_ISREG(where->st.st_mode) ||
        !allows(b, where, POLICY_WRITE))
        return -1;
    /* Somebody outside may have a lease on it; the broker must not wait for that. */
    int fd = open_text(where->path, how | O_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    bool good = ((flags & O_NONBLOCK) || fcntl(fd, F_SETFL, how) == 0) && fstat(fd, &st) == 0 &&
                st.st_dev == where->st.st_dev && st.st_ino == where->st.st_ino &&
                st.st_nlink == where->st.st_nlink;
    if (good && (flags & O_TRUNC))
        good = request_alive(r) && ftruncate(fd, 0) == 0;
    if (good)
        return fd;
    close(fd);
    return -1;
}

/* Whether this run and this call can go the short way at all. */
static bool is_usual(const struct broker *b, int flags, mode_t mode)
{
    int usual = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |
                O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | LARGE_FILE;
    bool writes = (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
    return writes && !(flags & ~usual) && !(mode & (S_ISUID | S_ISGID)) && !b->judges_reads &&
           !b->report_grants && !b->server.shares_umask;
}

int straight_open(struct broker *b, struct request *r, int dirfd, const char *path, int flags,
                  mode_t mode)
{
    struct resolved where = {.parent = -1};
    char folder[PATH_MAX];
    const char *leaf;
    if (!(flags & O_CREAT))
        mode = 0;
    if (!is_usual(b, flags, mode) || !find_text(r, dirfd, path, where.path))
        return -1;
    if (!split(where.path, folder, &leaf))
        return -1;
    /* New entries with these names are recorded. */
    bool recorded = str_eqi(str_of(leaf), STR(".git")) || nested_is_part(leaf) ||
                    str_eq(str_of(folder), b->temp.folder);
    if (recorded || grant_holds(b, where.path) || !knows_folder(b, folder))
        return -1;
    if (b->undo)
        return open_recorded(b, r, &where, folder, leaf, flags, mode & 07777);
    int fd = -1;
    if (flags & O_CREAT)
        fd = open_new(b, r, &where, flags, mode & 07777);
    return fd >= 0 || (flags & O_EXCL) ? fd : open_existing(b, r, &where, flags);
}
