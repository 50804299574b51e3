/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that git obeys, and writes by renaming a lock file: the config of a repository that the run
 * makes, with --git=commit the sections of branches in one that was there before, and every index. That is the only way in. What is judged is a copy, and the copy is what
 * gets the name: the run may hold the lock file open for writing, or know it by another name.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/git_index.h"
#include "broker/linux/broker.h"
#include "policy/names.h"

/* Reads a file whole; false if it holds more than most, or grows meanwhile. */
static bool read_all(int fd, const struct stat *st, size_t most, struct buf *out)
{
    size_t size = (size_t)st->st_size;
    ssize_t n = 1;
    if (!S_ISREG(st->st_mode) || st->st_size < 0 || size > most || !buf_reserve(out, size + 1))
        return false;
    while (n > 0 && out->n <= size) {
        n = read(fd, out->p + out->n, size + 1 - out->n);
        out->n += n > 0 ? (size_t)n : 0;
    }
    return n == 0;
}

/* The file that was resolved; false if it is another one by now. */
static bool read_lock(const struct resolved *file, size_t most, struct nested_copy *out)
{
    struct stat st = {0};
    int fd = openat(file->parent, file->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && st.st_dev == file->st.st_dev &&
                st.st_ino == file->st.st_ino && read_all(fd, &st, most, &out->text);
    close(fd);
    out->times[0] = st.st_atim;
    out->times[1] = st.st_mtim;
    return good;
}

bool nested_read(int folder, const char *name, size_t most, struct buf *out)
{
    struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
    struct stat st;
    int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && read_all(fd, &st, most, out);
    close(fd);
    return good;
}

void nested_copy_free(struct nested_copy *copy)
{
    buf_free(&copy->text);
}

/* ---- what it may hold ---- */

static bool stands(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* By another hash, other names would be found in an index that was judged before. */
static bool keeps_hash(const struct resolved *to, struct str text)
{
    return git_index_hash(text) == GIT_HASH_SHA1 ||
           (!stands(to->parent, "index") && !stands(to->parent, "worktrees"));
}

bool nested_copy_judge_config(const struct resolved *from, const struct resolved *to,
                              struct nested_copy *out)
{
    char key[GIT_CONFIG_KEY] = "a file that cannot be judged";
    out->judged = read_lock(from, GIT_CONFIG_MOST, out) &&
                  git_config_is_harmless(buf_str(&out->text), NULL, key);
    if (out->judged && !keeps_hash(to, buf_str(&out->text))) {
        out->judged = false;
        strcpy(key, "another object format");
    }
    memcpy(out->why, key, sizeof key);
    return out->judged;
}

/* A submodule's files are in a root, where the run could write them itself. */
static bool tree_is_inside(const struct broker *b, const struct resolved *config, struct str tree)
{
    char text[PATH_MAX + GIT_CONFIG_MOST / 8];
    struct path_context here = {.dialect = PATH_POSIX,
                                .cwd = path_parent(PATH_POSIX, str_of(config->path))};
    struct policy_request question = {.access = POLICY_CREATE,
                                      .facts = {.seen = true, .directory = true}};
    struct policy_answer answer = {0};
    if (tree.n + here.cwd.n + 16 > sizeof text ||
        path_normalize(&here, tree, text, sizeof text, &question.path))
        return false;
    policy_decide(b->policy, &question, &answer);
    return answer.verdict == CORDON_ALLOW && answer.rule == RULE_ROOTS_INSIDE;
}

/* What stands between this config and --git=full. */
static void say_refused(bool adds, const char *key, char why[GIT_CONFIG_KEY])
{
    if (adds)
        why[0] = 0;
    else if (!*key)
        snprintf(why, GIT_CONFIG_KEY, "a run can add to this file, not change it");
    else
        snprintf(why, GIT_CONFIG_KEY,
                 strchr(key, ' ') ? "it adds %.100s" : "a run cannot set %.100s", key);
}

bool nested_copy_keeps_config(const struct broker *b, const struct resolved *from,
                              const struct resolved *to, struct nested_copy *out)
{
    struct nested_copy old = {0};
    struct str tree = STR_NONE;
    char key[GIT_CONFIG_KEY];
    bool full = policy_settings_of(b->policy)->git == POLICY_GIT_FULL;
    bool module = strstr(to->path, "/modules/");
    snprintf(out->why, sizeof out->why, "%s", protected_spelled(PROTECTED_GIT));
    if (!read_lock(from, GIT_CONFIG_MOST, out) ||
        (to->exists ? !read_lock(to, GIT_CONFIG_MOST, &old) : !full)) {
        nested_copy_free(&old);
        return false;
    }
    struct str before = buf_str(&old.text), after = buf_str(&out->text);
    out->judged = to->exists && git_config_keeps_all_but_branches(before, after);
    if (!out->judged) {
        bool adds = git_config_only_adds(before, after, module ? &tree : NULL, key);
        if (adds && git_index_hash(before) != git_index_hash(after))
            adds = false, strcpy(key, "extensions.objectformat");
        if (adds && tree.n && !tree_is_inside(b, to, tree))
            adds = false, strcpy(key, "core.worktree");
        if (!adds && !git_config_keeps_lines(before, after))
            key[0] = 0;
        out->judged = adds && full;
        out->compared = true;
        say_refused(adds, key, out->why);
    }
    nested_copy_free(&old);
    return out->judged;
}

/* False if there is a config that cannot be read. */
static bool read_config(int folder, const char *path, struct buf *out, bool *present)
{
    struct stat st;
    int fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *present = fd >= 0;
    if (fd < 0)
        return errno == ENOENT;
    bool good = fstat(fd, &st) == 0 && read_all(fd, &st, GIT_INDEX_CONFIG_MOST, out);
    close(fd);
    return good;
}

/* The hash of the repository to which this index belongs. A worktree has none of its own. */
static enum git_hash hash_at(const struct resolved *index)
{
    auto_buf struct buf own = {0}, shared = {0};
    bool present[2] = {false, false};
    struct str above = path_parent(PATH_POSIX, path_parent(PATH_POSIX, str_of(index->path)));
    bool worktree = str_eq(path_leaf(PATH_POSIX, above), STR("worktrees"));
    if (!read_config(index->parent, "config", &own, &present[0]) ||
        (worktree && !read_config(index->parent, "../../config", &shared, &present[1])))
        return GIT_HASH_UNKNOWN;
    struct str texts[2] = {buf_str(&own), buf_str(&shared)};
    return git_index_hash_of_both(texts, present);
}

bool nested_copy_judge_index(const struct broker *b, const struct resolved *from,
                             const struct resolved *to, bool made, struct nested_copy *out)
{
    enum git_hash hash = hash_at(to);
    if (from->st.st_size > GIT_INDEX_MOST)
        snprintf(out->why, sizeof out->why, "more than 256 MiB");
    else if (made && hash != GIT_HASH_SHA1) /* its config can change, or go */
        snprintf(out->why, sizeof out->why,
                 "SHA-256 names, which are only judged in a repository that was there before");
    else if (!read_lock(from, GIT_INDEX_MOST, out))
        snprintf(out->why, sizeof out->why, "something that cannot be read");
    else
        out->judged = nested_index_keeps(b, to, hash, out);
    return out->judged;
}

/* ---- the copy ---- */

/* With the times of the lock file: by the time of an index git tells which files may have changed
   since. */
static int write_copy(const struct resolved *file, const struct nested_copy *copy)
{
    int fd = openat(file->parent, file->leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0)
        return -errno;
    int rc = 0;
    for (size_t at = 0; at < copy->text.n && rc == 0;) {
        ssize_t n = write(fd, copy->text.p + at, copy->text.n - at);
        rc = n < 0 ? -errno : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    if (rc == 0 && (fchmod(fd, file->st.st_mode & 0777) || futimens(fd, copy->times)))
        rc = -errno;
    close(fd);
    return rc;
}

int nested_copy_place(struct broker *b, struct request *r, struct resolved *file,
                      const struct nested_copy *copy)
{
    struct file_id id = broker_id(file);
    if (grant_holds(b, file->path))
        return -EXDEV; /* there the run could open the copy without the broker */
    int rc = record_remove(b, r, file);
    if (rc)
        return rc;
    rc = unlinkat(file->parent, file->leaf, 0) ? -errno : 0;
    record_after(b, -rc, NULL);
    if (rc)
        return rc;
    broker_forget(b, id, &file->st);
    struct resolved made = *file;
    made.exists = false;
    rc = record_create(b, r, &made, S_IFREG);
    if (rc)
        return rc;
    rc = write_copy(file, copy);
    if (rc)
        unlinkat(file->parent, file->leaf, 0);
    record_after(b, -rc, &made);
    if (rc == 0 && fstatat(file->parent, file->leaf, &file->st, AT_SYMLINK_NOFOLLOW))
        rc = -errno;
    return rc;
}
