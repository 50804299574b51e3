/* SPDX-License-Identifier: Apache-2.0 */
/* The objects behind cordon.h. */
#ifndef CORDON_LIB_API_H
#define CORDON_LIB_API_H

#include "base/json.h"
#include "guard/guard.h"
#include "launch/settings.h"

struct system_prepared;

/* What a hook and the agent around it obey on this machine. */
struct api_obeyed {
    bool known;             /* looked up, at the first question */
    struct str settings[3]; /* folders that agents' own variables name */
    size_t setting_count;
    struct str program; /* Cordon's own; "" if unknown */
};

struct cordon_policy {
    struct settings settings;
    struct policy *policy;            /* compiled at the first question */
    struct policy *whole;             /* with git_later: after the first change was judged */
    int whole_failed;                 /* why there is none; the sentence is in the settings */
    struct guard *guard;              /* created at the first question */
    struct cordon_policy *tools;      /* the same for any folder, for programs that are refused */
    bool has_roots;                   /* a root or a policy file was set */
    bool no_here;                     /* the current directory cannot be a root */
    struct cordon_policy *here;       /* the same with the current directory as a root; or NULL */
    struct system_prepared *prepared; /* the system's own part of a run; NULL before it */
    struct api_obeyed obeyed;
    char error[1024];
};

struct answer_reason {
    const char *rule, *why, *fix;
};

struct cordon_answer {
    struct arena arena;
    enum cordon_verdict verdict;
    struct answer_reason *reasons;
    size_t count;
    struct buf json;
};

/* True if the option was set on the policy. */
bool api_has(const struct cordon_policy *p, const char *option);

/* True if something was judged by it, so that it can no longer change. */
bool api_has_answered(const struct cordon_policy *p);

/* Creates the guard if that has not been done yet. */
int api_guard(struct cordon_policy *p);

/* The same, and compiles the policy. */
int api_prepare(struct cordon_policy *p, struct str hint);

/* Stores the sentence for cordon_policy_error() and returns the code. */
int api_fail(struct cordon_policy *p, int code, const char *text);

/* An empty answer with room for count reasons; NULL if memory runs out. */
struct cordon_answer *answer_new(size_t count);

/* Hands out the answer if everything in it could be stored; otherwise frees it: CORDON_E_NOMEM. */
int answer_finish(struct cordon_answer *answer, struct cordon_answer **out);

const char *verdict_name(enum cordon_verdict verdict);

#endif
