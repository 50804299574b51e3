/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of protected names that come by way of an index: git writes them into the working tree
 * later, outside. An index that replaces another one brings none, except for those that are in the
 * working tree already: a person put them there, because a run cannot. Nor does it bring another
 * tree for a folder of a sparse index, which may hold such names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/sha1.h"
#include "base/sha256.h"
#include "broker/git_index.h"
#include "broker/linux/broker.h"

enum { MOST_FILES = 256, LARGEST_FILE = 4 << 20, MOST_GITDIR = 4096, REGULAR = 0100000 };

static bool is_obeyed(const void *policy, struct str name)
{
    return policy_protects(policy, name) != NULL;
}

/* An index and the one that it shares with others. */
struct both {
    struct git_index_obeyed own, shared;
};

static void both_free(struct both *both)
{
    buf_free(&both->own.entries);
    buf_free(&both->shared.entries);
}

static bool read_shared(int folder, enum git_hash hash, struct both *both, char why[GIT_INDEX_WHY])
{
    auto_buf struct buf text = {0};
    char name[sizeof "sharedindex." + sizeof both->own.shared];
    if (!both->own.shared[0])
        return true;
    snprintf(name, sizeof name, "sharedindex.%s", both->own.shared);
    return nested_read(folder, name, GIT_INDEX_MOST, &text) &&
           git_index_read(PATH_POSIX, buf_str(&text), hash, &both->shared, why);
}

/* ---- the working tree ---- */

/* The working tree of the repository whose index this is; empty: not known. */
static struct str tree_of(const struct resolved *index, char out[PATH_MAX])
{
    auto_buf struct buf text = {0};
    struct str folder = path_parent(PATH_POSIX, str_of(index->path)), tree = STR_NONE;
    if (str_eq(path_leaf(PATH_POSIX, folder), STR(".git")))
        tree = path_parent(PATH_POSIX, folder);
    else if (nested_read(index->parent, "gitdir", MOST_GITDIR, &text))
        tree = path_parent(PATH_POSIX, str_trim(buf_str(&text)));
    if (!tree.n || tree.p[0] != '/' || tree.n >= PATH_MAX)
        return STR_NONE;
    str_copy(out, tree);
    out[tree.n] = '\0';
    return (struct str){out, tree.n};
}

/* True if only a person can have written that file: the policy closes it. */
static bool is_closed(const struct broker *b, struct str tree, struct str name)
{
    char path[PATH_MAX];
    struct policy_answer answer = {0};
    if (snprintf(path, sizeof path, "%.*s/%.*s", STR_ARG(tree), STR_ARG(name)) >= (int)sizeof path)
        return false;
    struct policy_request question = {
        .path = {.class = PATH_FILE, .text = str_of(path), .base = str_of(path)},
        .access = POLICY_WRITE,
        .facts = {.seen = true, .exists = true}};
    policy_decide(b->policy, &question, &answer);
    return answer.verdict != CORDON_ALLOW && answer.rule == RULE_PROTECTED_NAME;
}

/* The name that git gives to a file's content. */
static bool has_object_name(struct str content, struct str object)
{
    auto_buf struct buf blob = {0};
    unsigned char name[SHA256_SIZE];
    buf_fmt(&blob, "blob %zu", content.n);
    buf_char(&blob, '\0');
    buf_add(&blob, content);
    if (blob.failed)
        return false;
    if (object.n == SHA1_SIZE)
        sha1(buf_str(&blob), name);
    else
        sha256(buf_str(&blob), name);
    return memcmp(name, object.p, object.n) == 0;
}

static bool is_in_tree(const struct broker *b, int folder, struct str tree,
                       const struct git_index_entry *entry)
{
    auto_buf struct buf content = {0};
    char name[PATH_MAX];
    if ((entry->mode & S_IFMT) != REGULAR || !is_closed(b, tree, entry->name) ||
        snprintf(name, sizeof name, "%.*s", STR_ARG(entry->name)) >= (int)sizeof name)
        return false;
    return nested_read(folder, name, LARGEST_FILE, &content) &&
           has_object_name(buf_str(&content), entry->object);
}

/* ---- the comparison ---- */

struct index_comparison {
    const struct broker *b;
    struct str tree;
    int folder; /* of the tree; -1: not known */
    size_t left;
    struct both old;
};

/* The first entry that is neither in the old index nor in the working tree; false: none. */
static bool find_new(struct index_comparison *c, const struct buf *entries,
                     struct git_index_entry *out)
{
    struct str rest = buf_str(entries);
    struct str own = buf_str(&c->old.own.entries), shared = buf_str(&c->old.shared.entries);
    while (git_index_next(&rest, out)) {
        if (git_index_has(&own, out) || git_index_has(&shared, out))
            continue;
        if (c->folder < 0 || !c->left || !is_in_tree(c->b, c->folder, c->tree, out))
            return true;
        c->left--;
    }
    return false;
}

/* The index that the repository has now: what cannot be read of it counts as new. */
static void read_old(struct index_comparison *c, int folder, enum git_hash hash)
{
    auto_buf struct buf text = {0};
    char why[GIT_INDEX_WHY];
    if (nested_read(folder, "index", GIT_INDEX_MOST, &text) &&
        git_index_read(PATH_POSIX, buf_str(&text), hash, &c->old.own, why))
        read_shared(folder, hash, &c->old, why);
}

static bool keeps(struct index_comparison *c, const struct resolved *to, enum git_hash hash,
                  const struct both *fresh, struct nested_copy *out)
{
    struct git_index_entry entry;
    char room[PATH_MAX];
    if (!fresh->own.entries.n && !fresh->shared.entries.n)
        return true;
    c->tree = tree_of(to, room);
    c->folder = c->tree.n ? open(room, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    read_old(c, to->parent, hash);
    bool found =
        find_new(c, &fresh->own.entries, &entry) || find_new(c, &fresh->shared.entries, &entry);
    if (!found && fresh->own.replaces && fresh->shared.entries.n) {
        struct str rest = buf_str(&fresh->shared.entries);
        found = git_index_next(&rest, &entry); /* it may be the one that changes */
    }
    if (c->folder >= 0)
        close(c->folder);
    if (found) {
        out->obeyed = policy_protects(c->b->policy, entry.name);
        snprintf(out->why, sizeof out->why, "%s%.*s",
                 out->obeyed ? "" : "another tree for the folder ",
                 STR_ARG(str_cut(entry.name, 90)));
    }
    return !found;
}

bool nested_index_keeps(const struct broker *b, const struct resolved *to, enum git_hash hash,
                        struct nested_copy *out)
{
    struct git_index_obeyed empty = {.is_obeyed = is_obeyed, .context = b->policy};
    struct both fresh = {empty, empty};
    struct index_comparison c = {.b = b, .folder = -1, .left = MOST_FILES, .old = {empty, empty}};
    out->harmless = git_index_read(PATH_POSIX, buf_str(&out->text), hash, &fresh.own, out->why);
    if (out->harmless && !read_shared(to->parent, hash, &fresh, out->why)) {
        snprintf(out->why, sizeof out->why, "the name of a shared index that cannot be read");
        out->harmless = false;
    }
    bool good = out->harmless && keeps(&c, to, hash, &fresh, out);
    both_free(&fresh);
    both_free(&c.old);
    return good;
}
