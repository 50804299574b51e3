/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of the decision about a file. */
#ifndef CORDON_POLICY_DECIDE_INSIDE_H
#define CORDON_POLICY_DECIDE_INSIDE_H

#include "policy/build.h"

/* Places with rules of their own: moving a folder from one to another changes its rules. */
enum zone {
    ZONE_NONE = 0,
    ZONE_ROOT,
    ZONE_TEMP,
    ZONE_PACKAGES, /* other people's packages, where the names of editors and agents are ordinary */
    ZONE_TEMP_PACKAGES,
    ZONE_GIT,      /* a git folder under the rules of a commit */
    ZONE_GIT_FREE, /* made by this run */
    ZONE_GIT_NEW,  /* being created: nothing leaves it, so everything moved in is copied */
    ZONE_OTHER     /* devices and pipes: not moved */
};

struct policy_question {
    const struct policy *policy;
    const struct policy_request *request;
    struct policy_answer *answer;
    struct image_match match;
    enum zone zone;
    bool guarded; /* what a run makes under the name .git there is to hold no commands */
};

static inline enum cordon_verdict deny(struct policy_question *q, enum policy_rule rule,
                                       uint32_t entry)
{
    q->answer->verdict = CORDON_DENY;
    q->answer->rule = rule;
    q->answer->entry = entry;
    return CORDON_DENY;
}

static inline enum cordon_verdict deny_name(struct policy_question *q, enum policy_rule rule,
                                            const char *name)
{
    q->answer->name = name;
    return deny(q, rule, 0);
}

static inline enum cordon_verdict allow(struct policy_question *q, enum policy_rule rule,
                                        enum zone zone, uint32_t entry)
{
    q->answer->verdict = CORDON_ALLOW;
    q->answer->rule = rule;
    q->answer->entry = entry;
    q->zone = zone;
    return CORDON_ALLOW;
}

/* The policy that knows all that such a question is judged by; NULL: it cannot be had. */
static inline const struct policy *whole_policy(const struct policy *policy,
                                                enum policy_access access)
{
    if (!policy->settings.git_later || access == POLICY_READ)
        return policy;
    return policy->whole ? policy->whole(policy->whole_context) : NULL;
}

/* ---- decide_git.c ---- */

/* With a HEAD in it the root itself becomes a bare repository to git, which runs the commands in
   its config. */
bool decide_makes_bare(const struct policy_question *q, struct str component, bool last);
/* Below a git folder under the rules of a commit; below is empty for the folder itself. */
enum cordon_verdict decide_commit(struct policy_question *q, struct str below, bool top);
/* In a folder that git takes for a repository by its form, under whatever name. */
enum cordon_verdict decide_found(struct policy_question *q, struct str below);
/* In a repository that this run made: git enters it if the one around it lists it, and runs what
   its config and its hooks say. */
enum cordon_verdict decide_new(struct policy_question *q, struct str below);

#endif
