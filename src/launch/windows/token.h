/* SPDX-License-Identifier: Apache-2.0 */
/* The token of a run: WRITE_RESTRICTED, Low integrity, INTERACTIVE deny-only. It removes every
   write and delete; the broker hands individual handles back. */
#ifndef CORDON_LAUNCH_WINDOWS_TOKEN_H
#define CORDON_LAUNCH_WINDOWS_TOKEN_H

#include <stdbool.h>
#include <windows.h>

#include "launch/windows/failure.h"

/* The identities of one run. */
struct token_run {
    BYTE sid[SECURITY_MAX_SID_SIZE];   /* the run SID: random, in no ACL but those of this run */
    BYTE user[SECURITY_MAX_SID_SIZE];  /* of the launcher */
    BYTE logon[SECURITY_MAX_SID_SIZE]; /* of the launcher's logon session */
};

/* Generates a run SID and looks up the other two. */
int token_run_sid(struct token_run *r, struct launch_failure *f);

/* Weakenings; zero is the strongest token. */
struct token_options {
    bool medium;      /* the documented one: the level is kept, at most Medium */
    bool everyone;    /* Everyone is one of the restricting SIDs */
    bool interactive; /* INTERACTIVE stays enabled */
};

/* Creates the primary token for the first process; the caller closes it. Its default DACL names the
   user, the run and SYSTEM: what the tree creates, the tree can use and no other run can. */
int token_make(const struct token_run *r, const struct token_options *how, HANDLE *out,
               struct launch_failure *f);

/* True if the launcher has an administrator's full token. */
bool token_is_elevated(void);

/* True if the kernel keeps the restricting SIDs of a token. */
bool token_is_restricted(HANDLE token);

/* A security descriptor with its parts; it points into itself, so it must not be moved. */
struct token_descriptor {
    SECURITY_ATTRIBUTES attributes; /* handles are not inherited unless the caller says so */
    SECURITY_DESCRIPTOR descriptor;
    union { /* room for one entry more than token_describe writes */
        ACL acl;
        BYTE bytes[sizeof(ACL) + 4 * (sizeof(ACCESS_ALLOWED_ACE) + SECURITY_MAX_SID_SIZE)];
    } dacl;
    union {
        ACL acl;
        BYTE bytes[sizeof(ACL) + sizeof(SYSTEM_MANDATORY_LABEL_ACE) + SECURITY_MAX_SID_SIZE];
    } sacl;
};

/* For objects that the tree must use (desktop, window station, its first process and threads, its
   token): access for the user, the run and SYSTEM, protected, labelled Low. */
int token_describe(const struct token_run *r, DWORD access, struct token_descriptor *out,
                   struct launch_failure *f);

/*
 * For objects that only the launcher may use: the user gets user_access, SYSTEM everything.
 * Unlabelled, so the launcher's own level applies. Where the user cannot write the DACL, being the
 * owner does not help either.
 */
int token_describe_own(DWORD user_access, struct token_descriptor *out, struct launch_failure *f);

/* Gives the token object of a process of the tree the descriptor of token_describe: msys and others
   open their own token for TOKEN_ADJUST_DEFAULT. The process handle needs query rights. */
int token_open_up(const struct token_run *r, HANDLE process, struct launch_failure *f);

/*
 * Closes the launcher's own process and its current threads: other programs of the same user may
 * query and wait, nothing else. For threads started later: CreateThread with token_describe_own's
 * attributes and THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE.
 */
int token_protect_self(struct launch_failure *f);

#endif
