/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders inside a root that contain protected names. If such a folder were moved away, one without
 * them could take its place; so it must stay. A nested repository can be removed, but only as a
 * whole: its parts may go once it is disabled, that is, once it has no HEAD. A folder that is a
 * repository without a .git is recognized by its form.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/secrets.h"
#include "policy/names.h"

enum { MOST_ENTRIES = 20000, DEEPEST = 64 };

/* Where the outermost root ends in this path; SIZE_MAX: it is in none. */
static size_t root_end(const struct broker *b, struct str path)
{
    const struct policy_settings *s = policy_settings_of(b->policy);
    size_t end = SIZE_MAX;
    for (size_t i = 0; i < s->roots.count; i++)
        if (path_is_below(PATH_POSIX, s->roots.items[i].path, path) &&
            s->roots.items[i].path.n < end)
            end = s->roots.items[i].path.n;
    return end;
}

/* The same for the outermost writable folder. */
static size_t place_end(const struct broker *b, struct str path)
{
    const struct policy_settings *s = policy_settings_of(b->policy);
    size_t end = root_end(b, path);
    if (end == SIZE_MAX && s->temp_path.n && path_is_below(PATH_POSIX, s->temp_path, path))
        end = s->temp_path.n;
    return end;
}

static bool stands(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- the form of a repository ---- */

/* To git a folder is a repository with a HEAD and either objects and refs or the name of a folder
   that holds them. */
static const char *const parts[] = {"HEAD", "objects", "refs", "commondir"};

bool nested_is_part(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_eqi(str_of(name), str_of(parts[i])))
            return true;
    return false;
}

/* without: a part that is taken as missing; NULL: none. */
static bool is_repository(int folder, const char *without)
{
    bool found[4];
    for (size_t i = 0; i < 4; i++) {
        found[i] = !(without && strcmp(without, parts[i]) == 0) && stands(folder, parts[i]);
        if (i == 0 && !found[0])
            return false;
    }
    return found[3] || (found[1] && found[2]);
}

/* True if a .git is on the path: that one is named itself, or was there. */
static bool lies_in_git(struct str path)
{
    struct path_cursor cursor = {.dialect = PATH_POSIX, .path = path};
    struct str component;
    while (path_next(&cursor, &component))
        if (str_eqi(component, STR(".git")))
            return true;
    return false;
}

void nested_made(struct broker *b, const struct request *r, const struct resolved *where)
{
    int folder = where->parent;
    struct resolved made = {.parent = folder};
    if (where->exists || !nested_is_part(where->leaf) || lies_in_git(str_of(where->path)))
        return;
    if (!is_repository(folder, NULL) || is_repository(folder, where->leaf))
        return;
    if (fstat(folder, &made.st) == 0)
        id_set_add(&b->repositories, broker_id(&made)); /* out of memory: closed like any other */
    broker_report_repository(b, r, path_parent(PATH_POSIX, str_of(where->path)));
}

/* The component that ends at end. Objects and refs themselves are about the form, what lies in them
   is data, but for objects/info and refs/replace. */
static bool is_telling(struct str path, struct str name, size_t end)
{
    if (!str_eq(name, STR("objects")) && !str_eq(name, STR("refs")))
        return git_tells(name);
    return end == path.n || str_starts(str_from(path, end), STR("/info/")) ||
           path_is_below(PATH_POSIX, STR("/replace"), str_from(path, end));
}

/* The folder that ends there. One whose HEAD went in this run stays closed: with another HEAD git
   would obey what was put into it meanwhile. */
static bool is_found(const struct broker *b, const char *path, size_t end)
{
    char folder[PATH_MAX];
    struct resolved git = {.parent = -1};
    memcpy(folder, path, end);
    folder[end] = '\0';
    git.parent = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool found =
        git.parent >= 0 && fstat(git.parent, &git.st) == 0 &&
        (id_set_count(&b->ended, broker_id(&git)) ||
         (is_repository(git.parent, NULL) && !id_set_count(&b->repositories, broker_id(&git))));
    resolved_close(&git);
    return found;
}

size_t nested_found(const struct broker *b, const char *text)
{
    struct str path = str_of(text);
    size_t start = root_end(b, path);
    if (start == 1) /* the root is / */
        start = 0;
    for (size_t end, at = start; at < path.n; at = end) {
        end = str_find_char(path, '/', at + 1);
        if (is_telling(path, str_slice(path, at + 1, end), end) && at && at < PATH_MAX &&
            is_found(b, text, at))
            return at;
    }
    return 0;
}

struct str nested_bare(struct str path)
{
    char folder[PATH_MAX];
    struct str above = lies_in_git(path) ? STR_NONE : path_parent(PATH_POSIX, path);
    for (; above.n > 1; above = path_parent(PATH_POSIX, above)) {
        snprintf(folder, sizeof folder, "%.*s", STR_ARG(above));
        int fd = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool found = fd >= 0 && is_repository(fd, NULL);
        if (fd >= 0)
            close(fd);
        if (found)
            return above;
    }
    return STR_NONE;
}

bool nested_end(struct broker *b, struct request *r, const char *text)
{
    struct str path = str_of(text);
    char folder[PATH_MAX];
    struct resolved git = {.parent = -1};
    size_t end = 0, at = place_end(b, path);
    bool found = false;
    for (; at < path.n && !found; at = end) {
        end = str_find_char(path, '/', at + 1);
        found = str_eqi(str_slice(path, at + 1, end), STR(".git"));
    }
    if (!found)
        end = nested_found(b, text);
    if (!end || snprintf(folder, sizeof folder, "%.*s", (int)end, path.p) >= (int)sizeof folder)
        return false;
    git.parent = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ended = git.parent >= 0 && fstat(git.parent, &git.st) == 0;
    if (ended && stands(git.parent, "worktrees")) {
        broker_report_text(
            b, r, AUDIT_FILE_DELETE, path, AUDIT_DENY, str_of(policy_rule_id(RULE_PROTECTED_GIT)),
            STR("worktrees lead to this repository, and would obey another one in its place"),
            STR("remove the worktrees yourself, outside the run: git worktree remove PATH"));
        resolved_close(&git);
        return false;
    }
    struct resolved head = {.parent = git.parent, .leaf = "HEAD"};
    head.exists = ended && fstatat(git.parent, "HEAD", &head.st, AT_SYMLINK_NOFOLLOW) == 0;
    if (head.exists &&
        snprintf(head.path, sizeof head.path, "%s/HEAD", folder) >= (int)sizeof head.path)
        ended = false;
    if (head.exists && ended && record_remove(b, r, &head)) {
        resolved_close(&git); /* reported there */
        return false;
    }
    int rc = ended ? unlinkat(git.parent, "HEAD", 0) : -1;
    if (head.exists && ended)
        record_after(b, rc ? errno : 0, NULL);
    if (ended && rc == 0) {
        id_set_add(&b->ended, broker_id(&git)); /* out of memory: HEAD is simply not there */
        broker_report_headless(b, r, str_of(folder));
    } else {
        ended = ended && errno == ENOENT;
    }
    if (!ended)
        broker_report_text(b, r, AUDIT_FILE_DELETE, path, AUDIT_DENY,
                           str_of(policy_rule_id(RULE_PROTECTED_GIT)),
                           STR("a repository's HEAD must be deleted first, and that failed"),
                           STR("this cannot be overridden"));
    resolved_close(&git);
    return ended;
}

void nested_lost_head(struct broker *b, const struct request *r, const struct resolved *gone)
{
    struct str folder = path_parent(PATH_POSIX, str_of(gone->path));
    if (strcmp(gone->leaf, "HEAD") == 0 && str_eqi(path_leaf(PATH_POSIX, folder), STR(".git")))
        broker_report_headless(b, r, folder);
}

void nested_remember(struct broker *b, struct str folder)
{
    for (size_t i = 0; i < b->made_count; i++)
        if (str_eq(str_of(b->made[i]), folder))
            return;
    char *copy = b->made_count < BROKER_MADE ? strndup(folder.p, folder.n) : NULL;
    if (copy)
        b->made[b->made_count++] = copy;
}

void nested_moved(struct broker *b, const struct request *r, const char *from, const char *to,
                  bool exchange)
{
    for (size_t i = 0; i < b->made_count; i++) {
        struct str path = str_of(b->made[i]), old = str_of(from), new = str_of(to);
        if (exchange && path_is_below(PATH_POSIX, new, path)) {
            new = str_of(from);
            old = str_of(to);
        }
        char *moved;
        if (!path_is_below(PATH_POSIX, old, path) ||
            asprintf(&moved, "%.*s%s", STR_ARG(new), path.p + old.n) < 0)
            continue;
        free(b->made[i]);
        b->made[i] = moved;
        broker_report_repository(b, r, str_of(moved));
    }
}

bool nested_is_empty(const struct resolved *folder)
{
    int fd = openat(folder->parent, folder->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    if (!names) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    size_t count = 0;
    while (count < 3 && readdir(names)) /* with . and .. */
        count++;
    closedir(names);
    return count < 3;
}

bool nested_ended(const struct broker *b, const struct resolved *where)
{
    struct resolved git = {.parent = where->parent};
    return b->ended.used && strcmp(where->leaf, "HEAD") == 0 && fstat(git.parent, &git.st) == 0 &&
           id_set_count(&b->ended, broker_id(&git));
}

struct look {
    struct broker *b;
    struct request *r;
    size_t left;
};

/* A protected name is judged as if it were to be renamed itself. */
static int look_at(struct look *l, const struct resolved *entry)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    broker_question(l->b, entry, POLICY_RENAME_FROM, &question);
    policy_decide(l->b->policy, &question, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return 0;
    broker_report(l->b, l->r, &question, &answer, AUDIT_FILE_RENAME, NULL);
    return -EACCES;
}

/* Owns the folder. */
static int look_below(struct look *l, int folder, const char *path, int depth)
{
    DIR *names = folder < 0 ? NULL : fdopendir(folder);
    int rc = 0;
    if (!names) {
        if (folder >= 0)
            close(folder);
        return -EACCES; /* a folder that cannot be read may contain anything */
    }
    struct dirent *entry;
    while (rc == 0 && (errno = 0, entry = readdir(names))) {
        struct resolved below = {.parent = dirfd(names), .exists = true};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (l->left-- == 0 || depth == DEEPEST ||
            snprintf(below.path, sizeof below.path, "%s/%s", path, entry->d_name) >=
                (int)sizeof below.path) {
            rc = -EXDEV;
            break;
        }
        bool form = strcmp(entry->d_name, "HEAD") == 0 && is_repository(dirfd(names), NULL);
        bool named = form || protected_find(PATH_POSIX, str_of(entry->d_name)) != PROTECTED_NONE;
        if (!named && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
            continue;
        snprintf(below.leaf, sizeof below.leaf, "%s", entry->d_name);
        if (fstatat(below.parent, below.leaf, &below.st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (named)
            rc = look_at(l, &below);
        else if (S_ISDIR(below.st.st_mode))
            rc = look_below(
                l,
                openat(below.parent, below.leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                below.path, depth + 1);
    }
    if (rc == 0 && errno)
        rc = -EACCES;
    closedir(names);
    return rc;
}

int nested_look(struct broker *b, struct request *r, const struct resolved *folder)
{
    struct look l = {b, r, MOST_ENTRIES};
    if (grant_holds(b, folder->path))
        return 0; /* no program obeys what is in there, and Landlock allows it anyway */
    return look_below(
        &l, openat(folder->parent, folder->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        folder->path, 0);
}
