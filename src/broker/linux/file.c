/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that create, remove, rename, link and truncate. Opening is in open.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/folder.h"

/* --create-root made the folder that the command would make itself: its first mkdir succeeds. */
static bool takes_made_root(struct broker *b, const struct resolved *where)
{
    const struct policy_list *roots = &policy_settings_of(b->policy)->roots;
    for (size_t i = 0; i < roots->count && where->exists && S_ISDIR(where->st.st_mode); i++)
        if (roots->items[i].made && str_eq(roots->items[i].path, str_of(where->path)) &&
            !id_set_count(&b->taken, broker_id(where)))
            return id_set_add(&b->taken, broker_id(where));
    return false;
}

static void do_mkdir(struct broker *b, struct request *r, int dirfd, uint64_t path, mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    if (grant_covers_argument(b, r, dirfd, path)) {
        request_continue(r);
        return;
    }
    int rc = straight_find(b, r, dirfd, path, &where);
    if (rc == 0 && takes_made_root(b, &where)) {
        request_succeed(r, 0);
        return;
    }
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    struct broker_told told;
    where.folder_wanted = true;
    broker_tell_made(b, r, S_IFDIR | (mode & 07777), &told);
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    rc = record_create(b, r, &where, S_IFDIR);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    request_take_umask(r);
    rc = mkdirat(where.parent, where.leaf, mode & 07777);
    record_after(b, rc ? errno : 0, &where);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    broker_made(b, &where);
    nested_made(b, r, &where);
    request_succeed(r, 0);
}

/* git stash tries to remove a .git that is full: the kernel's own answer, which is no denial. */
static bool is_full_git(const struct resolved *where)
{
    if (!str_eqi(str_of(where->leaf), STR(".git")) || !S_ISDIR(where->st.st_mode))
        return false;
    int fd = openat(where->parent, where->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct folder names = folder_of(fd);
    bool full = fd >= 0 && folder_next(&names);
    if (fd >= 0)
        close(fd);
    return full;
}

static void do_unlink(struct broker *b, struct request *r, int dirfd, uint64_t path, int flags)
{
    auto_resolved struct resolved where = {.parent = -1};
    if (grant_covers_argument(b, r, dirfd, path)) {
        request_continue(r);
        return;
    }
    int rc = flags & ~AT_REMOVEDIR ? -EINVAL : straight_find(b, r, dirfd, path, &where);
    if (rc == 0 && !where.exists && nested_ended(b, &where)) {
        request_succeed(r, 0);
        return;
    }
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    if (rc == 0 && !where.leaf[0])
        rc = flags & AT_REMOVEDIR ? -EINVAL : -EISDIR;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if ((flags & AT_REMOVEDIR) && is_full_git(&where)) {
        request_fail(r, ENOTEMPTY);
        return;
    }
    enum policy_rule rule;
    if (!broker_allows_by(b, r, &where, POLICY_DELETE, AUDIT_FILE_DELETE, &rule))
        return;
    if (!(flags & AT_REMOVEDIR) == S_ISDIR(where.st.st_mode))
        rc = flags & AT_REMOVEDIR ? -ENOTDIR : -EISDIR;
    /* Git tries to remove the folders above a file that it removes; it fails, as it should. */
    else if (rule == RULE_GIT_REMOVED && (flags & AT_REMOVEDIR) && !nested_is_empty(&where))
        rc = -ENOTEMPTY;
    else if (rule == RULE_GIT_REMOVED && !nested_end(b, r, where.path))
        rc = -EACCES;
    else if (rule == RULE_GIT_REMOVED && nested_ended(b, &where)) {
        request_succeed(r, 0); /* HEAD itself */
        return;
    }
    struct file_id id = broker_id(&where);
    if (rc == 0)
        rc = record_remove(b, r, &where);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    rc = unlinkat(where.parent, where.leaf, flags);
    record_after(b, rc ? errno : 0, NULL);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    broker_forget(b, id, &where.st);
    nested_lost_head(b, r, &where);
    if (flags & AT_REMOVEDIR)
        straight_forget(b);
    request_succeed(r, 0);
}

/* config.lock beside config, both regular files: how git writes it. */
static bool is_lock_of(const struct resolved *from, const struct resolved *to)
{
    size_t n = strlen(to->path);
    return str_eq(str_of(to->leaf), STR("config")) && (!to->exists || S_ISREG(to->st.st_mode)) &&
           S_ISREG(from->st.st_mode) && strncmp(from->path, to->path, n) == 0 &&
           strcmp(from->path + n, ".lock") == 0;
}

/* Decides again if the second end is a config or an index, whose content matters. */
static void decide_content(struct broker *b, const struct resolved *from, const struct resolved *to,
                           struct policy_request questions[2], struct policy_answer *answer,
                           struct nested_copy *copy)
{
    struct policy_facts *facts = &questions[1].facts;
    if (!answer->target || !S_ISREG(from->st.st_mode))
        return;
    if (answer->rule == RULE_GIT_COMMANDS && str_eqi(str_of(to->leaf), STR("config")))
        facts->config_judged = nested_copy_judge_config(from, to, copy);
    else if (answer->rule == RULE_GIT_INDEX)
        facts->index_judged = nested_copy_judge_index(b, from, to, facts->created_by_run, copy);
    else if (answer->rule == RULE_PROTECTED_GIT && is_lock_of(from, to))
        facts->config_judged = nested_copy_keeps_config(b, from, to, copy);
    else
        return;
    if (copy->judged) {
        policy_decide_pair(b->policy, &questions[0], &questions[1], answer);
    } else if (copy->compared) {
        answer->config = copy->why;
    } else if (copy->obeyed) {
        answer->rule = RULE_PROTECTED_NAME;
        answer->name = copy->obeyed;
        answer->brings = copy->why;
    } else {
        answer->name = copy->why;
    }
}

/* Judges both ends; false if the call has been answered. copy: set if a config or an index becomes
   a repository's; NULL: nobody is asked about this call. */
static bool allows_pair(struct broker *b, struct request *r, const struct resolved *from,
                        const struct resolved *to, enum policy_access first,
                        enum policy_access second, enum audit_op op, struct nested_copy *copy)
{
    struct policy_request questions[2];
    struct policy_answer answer = {0};
    broker_question(b, from, first, &questions[0]);
    broker_question(b, to, second, &questions[1]);
    questions[1].facts.symlink = questions[0].facts.symlink;
    policy_decide_pair(b->policy, &questions[0], &questions[1], &answer);
    if (copy && answer.verdict != CORDON_ALLOW)
        decide_content(b, from, to, questions, &answer, copy);
    if (answer.verdict == CORDON_ALLOW)
        return true;
    if (copy)
        copy->judged = false;
    /* A second name would stay, and by it the run could go on changing the file. */
    if (!answer.other_device && copy)
        switch (
            broker_ask_pair(b, r, (const struct resolved *const[]){from, to}, questions, &answer)) {
        case BROKER_GRANTS: copy->judged = copy->harmless; return true;
        case BROKER_WAITS: return false;
        case BROKER_DENIES: break;
        }
    if (!answer.other_device)
        broker_report(b, r, &questions[answer.target ? 1 : 0], &answer, op,
                      answer.target ? from->path : to->path);
    request_fail(r, answer.other_device ? EXDEV : EACCES);
    return false;
}

enum { NO_REPLACE = 1, EXCHANGE = 2 }; /* RENAME_NOREPLACE, RENAME_EXCHANGE */

/* Resolves both ends of a rename; 0 or a negative errno. */
static int find_both(struct broker *b, struct request *r, int from_dir, uint64_t from_path,
                     int to_dir, uint64_t to_path, unsigned flags, struct resolved *from,
                     struct resolved *to)
{
    if (flags & ~(unsigned)(NO_REPLACE | EXCHANGE))
        return -EINVAL;
    int rc = straight_find(b, r, from_dir, from_path, from);
    if (rc == 0)
        rc = straight_find(b, r, to_dir, to_path, to);
    if (rc)
        return rc;
    if (!from->exists || ((flags & EXCHANGE) && !to->exists))
        return -ENOENT;
    if (!from->leaf[0] || !to->leaf[0])
        return -EBUSY;
    /* The rules for a folder hold for a name with a slash at its end: nothing else gets it. */
    if ((to->folder_wanted && !S_ISDIR(from->st.st_mode)) ||
        (from->folder_wanted && (flags & EXCHANGE) && !S_ISDIR(to->st.st_mode)))
        return -ENOTDIR;
    return (flags & NO_REPLACE) && to->exists ? -EEXIST : 0;
}

/* Judges moving one object to the other place; false if the call has been answered. */
static bool allows_move(struct broker *b, struct request *r, const struct resolved *from,
                        const struct resolved *to, struct nested_copy *copy)
{
    if (!allows_pair(b, r, from, to, POLICY_RENAME_FROM, POLICY_RENAME_TO, AUDIT_FILE_RENAME, copy))
        return false;
    if (!link_allows_move(b, r, from, to))
        return false;
    int rc = S_ISDIR(from->st.st_mode) ? nested_look(b, r, from) : 0;
    if (rc == 0 && !grant_takes(b, from, to->path))
        rc = -EXDEV;
    if (rc)
        request_fail(r, -rc);
    return rc == 0;
}

static void do_rename(struct broker *b, struct request *r, int from_dir, uint64_t from_path,
                      int to_dir, uint64_t to_path, unsigned flags)
{
    auto_resolved struct resolved from = {.parent = -1}, to = {.parent = -1};
    auto_nested_copy struct nested_copy copy = {0};
    bool exchange = flags & EXCHANGE;
    if (grant_covers_argument(b, r, from_dir, from_path) &&
        grant_covers_argument(b, r, to_dir, to_path)) {
        request_continue(r);
        return;
    }
    int rc = find_both(b, r, from_dir, from_path, to_dir, to_path, flags, &from, &to);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    struct broker_told replaced_file;
    if (to.exists && !exchange)
        broker_tell_replaced(b, r, &to, &replaced_file);
    if (!allows_move(b, r, &from, &to, exchange ? NULL : &copy) ||
        (exchange && !allows_move(b, r, &to, &from, NULL)))
        return;
    if (S_ISLNK(from.st.st_mode))
        grant_mix(b, to.path);
    if (exchange && S_ISLNK(to.st.st_mode))
        grant_mix(b, from.path);
    struct file_id replaced = to.exists ? broker_id(&to) : (struct file_id){0};
    rc = copy.judged ? nested_copy_place(b, r, &from, &copy) : 0;
    if (rc == 0 && r->leaves)
        rc = leave_place(b, r, &from);
    if (rc == 0)
        rc = record_rename(b, r, &from, &to, exchange);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    rc = (int)syscall(SYS_renameat2, from.parent, from.leaf, to.parent, to.leaf, flags);
    record_after(b, rc ? errno : 0, NULL);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    bool same = to.exists && to.st.st_dev == from.st.st_dev && to.st.st_ino == from.st.st_ino;
    if (to.exists && !same && !exchange)
        broker_forget(b, replaced, &to.st);
    own_temp_made(b, &to);
    nested_made(b, r, &to);
    if (exchange)
        own_temp_made(b, &from);
    else
        nested_lost_head(b, r, &from);
    if (S_ISDIR(from.st.st_mode) || S_ISDIR(to.st.st_mode)) {
        nested_moved(b, r, from.path, to.path, exchange);
        straight_forget(b);
    }
    request_succeed(r, 0);
}

/* An unnamed file gets a name: link(/proc/self/fd/N) or an empty path. */
static void link_descriptor(struct broker *b, struct request *r, int copy,
                            const struct resolved *to)
{
    struct stat st;
    char path[64];
    if (copy < 0) {
        request_fail(r, -copy);
        return;
    }
    if (fstat(copy, &st) || st.st_nlink != 0 || !S_ISREG(st.st_mode)) {
        close(copy);
        request_fail(r, EACCES);
        return;
    }
    if (broker_allows(b, r, to, POLICY_CREATE, AUDIT_FILE_CREATE)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
        int rc = record_create(b, r, to, S_IFREG);
        if (rc) {
            errno = -rc;
        } else {
            rc = linkat(AT_FDCWD, path, to->parent, to->leaf, AT_SYMLINK_FOLLOW);
            record_after(b, rc ? errno : 0, to);
        }
        if (rc) {
            request_fail(r, errno);
        } else {
            own_temp_made(b, to);
            nested_made(b, r, to);
            request_succeed(r, 0);
        }
    }
    close(copy);
}

static void do_link(struct broker *b, struct request *r, int from_dir, uint64_t from_path,
                    int to_dir, uint64_t to_path, int flags)
{
    auto_resolved struct resolved from = {.parent = -1}, to = {.parent = -1};
    char path[PATH_MAX];
    ssize_t n = request_peek_string(r, from_path, path, sizeof path);
    int rc = n < 0 ? (int)n : straight_find(b, r, to_dir, to_path, &to);
    if (rc == 0 && to.exists)
        rc = -EEXIST;
    if (rc == 0 && to.folder_wanted)
        rc = -ENOENT;
    if (rc == 0 && n == 0 && (flags & AT_EMPTY_PATH)) {
        link_descriptor(b, r, request_descriptor(r, from_dir), &to);
        return;
    }
    if (rc == 0)
        rc = flags & AT_SYMLINK_FOLLOW ? resolve(r, from_dir, path, true, &from)
                                       : straight_find_path(b, r, from_dir, path, &from);
    if (rc == 0 && from.descriptor && (flags & AT_SYMLINK_FOLLOW)) {
        link_descriptor(b, r, resolved_descriptor(r, &from), &to);
        return;
    }
    if (rc == 0 && !from.exists)
        rc = -ENOENT;
    if (rc == 0 && S_ISDIR(from.st.st_mode))
        rc = -EPERM;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!allows_pair(b, r, &from, &to, POLICY_LINK_FROM, POLICY_LINK_TO, AUDIT_FILE_LINK, NULL) ||
        !link_allows_move(b, r, &from, &to))
        return;
    struct file_id id = broker_id(&from);
    if (grant_holds(b, from.path) != grant_holds(b, to.path)) {
        request_fail(r, EXDEV);
        return;
    }
    rc = record_link(b, r, &from, &to);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    rc = linkat(from.parent, from.leaf, to.parent, to.leaf, 0);
    record_after(b, rc ? errno : 0, NULL);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    /* All its names are known to be inside only if it had one name when this run first linked
       it. */
    if (record_links(b, &from.st) == 1 || id_set_count(&b->linked, id))
        id_set_add(&b->linked, id);
    own_temp_made(b, &to);
    nested_made(b, r, &to);
    request_succeed(r, 0);
}

static void do_symlink(struct broker *b, struct request *r, uint64_t target, int dirfd,
                       uint64_t path)
{
    auto_resolved struct resolved where = {.parent = -1};
    char text[PATH_MAX];
    ssize_t n = request_peek_string(r, target, text, sizeof text);
    int rc = n < 0 ? (int)n : straight_find(b, r, dirfd, path, &where);
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc == 0 && where.folder_wanted)
        rc = -ENOENT;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    /* A link may point anywhere: what is done through it is judged at its target. */
    where.st.st_mode = S_IFLNK;
    where.link_text = text;
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE) ||
        !link_allows(b, r, &where, text))
        return;
    grant_mix(b, where.path);
    rc = record_create(b, r, &where, S_IFLNK);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    rc = symlinkat(text, where.parent, where.leaf);
    record_after(b, rc ? errno : 0, &where);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    own_temp_made(b, &where);
    nested_made(b, r, &where);
    request_succeed(r, 0);
}

static void do_mknod(struct broker *b, struct request *r, int dirfd, uint64_t path, mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = S_ISCHR(mode) || S_ISBLK(mode) ? -EPERM : straight_find(b, r, dirfd, path, &where);
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc == 0 && where.folder_wanted)
        rc = -ENOENT;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    struct broker_told told;
    broker_tell_made(b, r, mode, &told);
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    if (!broker_allows_mode(b, r, str_of(where.path), mode, false))
        return;
    rc = record_create(b, r, &where, mode & S_IFMT ? mode & S_IFMT : S_IFREG);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    request_take_umask(r);
    rc = mknodat(where.parent, where.leaf, mode, 0);
    record_after(b, rc ? errno : 0, &where);
    if (rc) {
        request_fail(r, errno);
        return;
    }
    own_temp_made(b, &where);
    nested_made(b, r, &where);
    request_succeed(r, 0);
}

static void do_truncate(struct broker *b, struct request *r)
{
    auto_resolved struct resolved where = {.parent = -1};
    char size[24];
    struct ask_detail cut = {.key = "size"};
    cut.text =
        (struct str){size, (size_t)snprintf(size, sizeof size, "%lld", (long long)r->args[1])};
    r->detail = &cut;
    int rc = resolve_argument(r, AT_FDCWD, r->args[0], true, &where);
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    /* Opening a pipe would block, and opening a device could have any effect. */
    if (rc == 0 && !S_ISREG(where.st.st_mode))
        rc = S_ISDIR(where.st.st_mode) ? -EISDIR : -EINVAL;
    int fd = -1;
    if (rc == 0) {
        fd = open_object(b, r, &where, O_WRONLY);
        if (r->answered)
            return;
        rc = fd == -EINPROGRESS                 ? -EBUSY
             : fd < 0                           ? fd
             : ftruncate(fd, (off_t)r->args[1]) ? -errno
                                                : 0;
    }
    if (fd >= 0)
        close(fd);
    if (rc)
        request_fail(r, -rc);
    else
        request_succeed(r, 0);
}

void file_mkdir(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_mkdir(b, r, AT_FDCWD, a[0], (mode_t)a[1]);
}

void file_mkdirat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_mkdir(b, r, (int)a[0], a[1], (mode_t)a[2]);
}

void file_rmdir(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_unlink(b, r, AT_FDCWD, a[0], AT_REMOVEDIR);
}

void file_unlink(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_unlink(b, r, AT_FDCWD, a[0], 0);
}

void file_unlinkat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_unlink(b, r, (int)a[0], a[1], (int)a[2]);
}

void file_rename(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_rename(b, r, AT_FDCWD, a[0], AT_FDCWD, a[1], 0);
}

void file_renameat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_rename(b, r, (int)a[0], a[1], (int)a[2], a[3], 0);
}

void file_renameat2(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_rename(b, r, (int)a[0], a[1], (int)a[2], a[3], (unsigned)a[4]);
}

void file_link(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_link(b, r, AT_FDCWD, a[0], AT_FDCWD, a[1], 0);
}

void file_linkat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_link(b, r, (int)a[0], a[1], (int)a[2], a[3], (int)a[4]);
}

void file_symlink(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_symlink(b, r, a[0], AT_FDCWD, a[1]);
}

void file_symlinkat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_symlink(b, r, a[0], (int)a[1], a[2]);
}

void file_mknod(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_mknod(b, r, AT_FDCWD, a[0], (mode_t)a[1]);
}

void file_mknodat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_mknod(b, r, (int)a[0], a[1], (mode_t)a[2]);
}

void file_truncate(struct broker *b, struct request *r)
{
    do_truncate(b, r);
}
