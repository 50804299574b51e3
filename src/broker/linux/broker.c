/* Questions to the policy and reports of its answers. */
#include "broker/linux/broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void broker_free(struct broker *b)
{
    free(b->linked.items);
    free(b->sockets.items);
    arena_free(&b->arena);
}

static struct inode_entry *inode_find(const struct inode_set *set, const struct stat *st)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].device == st->st_dev && set->items[i].inode == st->st_ino)
            return &set->items[i];
    return NULL;
}

uint32_t inode_count(const struct inode_set *set, const struct stat *st)
{
    const struct inode_entry *entry = inode_find(set, st);
    return entry ? entry->count : 0;
}

uint32_t inode_add(struct inode_set *set, const struct stat *st)
{
    struct inode_entry *entry = inode_find(set, st);
    if (entry)
        return ++entry->count;
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 64;
        void *items = realloc(set->items, capacity * sizeof *set->items);
        if (!items)
            return 0;
        set->items = items;
        set->capacity = capacity;
    }
    set->items[set->count++] = (struct inode_entry){st->st_dev, st->st_ino, 1};
    return 1;
}

/* True if the path lies in a repository that this run made. */
static bool in_own_repository(const struct broker *b, struct str path)
{
    for (size_t i = 0; i < b->repository_count; i++) {
        struct str repository = b->repositories[i];
        if (str_starts(path, repository) && (path.n == repository.n || path.p[repository.n] == '/'))
            return true;
    }
    return false;
}

void broker_question(struct broker *b, const struct resolved *where, enum policy_access access,
                     struct policy_request *question)
{
    struct str path = str_of(where->path);
    *question = (struct policy_request){
        .path = {.class = PATH_FILE, .text = path, .base = path, .folder = where->folder_wanted},
        .access = access};
    struct policy_facts *facts = &question->facts;
    facts->seen = true;
    facts->exists = where->exists;
    facts->created_by_run = in_own_repository(b, path);
    facts->existing = path_parent(PATH_POSIX, path);
    if (!where->exists)
        return;
    facts->directory = S_ISDIR(where->st.st_mode);
    facts->links = facts->directory ? 1 : (uint32_t)where->st.st_nlink;
    facts->links_inside = inode_count(&b->linked, &where->st) + 1 == facts->links;
}

struct str broker_image(const struct request *r, char *out, size_t capacity)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)r->pid);
    ssize_t n = readlink(link, out, capacity);
    return n > 0 ? (struct str){out, (size_t)n} : STR_NONE;
}

void broker_report_text(struct broker *b, const struct request *r, enum audit_op op,
                        struct str target, enum audit_type type, struct str rule, struct str why,
                        struct str fix)
{
    char image[PATH_MAX];
    b->event(b->context,
             &(struct audit_event){.type = type,
                                   .op = op,
                                   .time = b->now(),
                                   .pid = (uint32_t)r->pid,
                                   .image = broker_image(r, image, sizeof image),
                                   .target = target,
                                   .verdict = type == AUDIT_ASK ? CORDON_ASK : CORDON_DENY,
                                   .rule = rule,
                                   .why = why,
                                   .fix = fix});
}

void broker_report(struct broker *b, const struct request *r, const struct policy_request *question,
                   const struct policy_answer *answer, enum audit_op op, const char *target2)
{
    auto_buf struct buf why = {0}, fix = {0};
    char image[PATH_MAX];
    policy_explain(b->policy, question, answer, &why, &fix);
    b->event(b->context, &(struct audit_event){.type = AUDIT_DENY,
                                               .op = op,
                                               .time = b->now(),
                                               .pid = (uint32_t)r->pid,
                                               .image = broker_image(r, image, sizeof image),
                                               .target = question->path.text,
                                               .target2 = str_of(target2),
                                               .verdict = CORDON_DENY,
                                               .rule = str_of(policy_rule_id(answer->rule)),
                                               .why = buf_str(&why),
                                               .fix = buf_str(&fix)});
}

bool broker_allows(struct broker *b, struct request *r, const struct resolved *where,
                   enum policy_access access, enum audit_op op)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    broker_question(b, where, access, &question);
    policy_decide(b->policy, &question, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return true;
    broker_report(b, r, &question, &answer, op, NULL);
    request_fail(r, EACCES);
    return false;
}
