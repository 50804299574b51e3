/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command under a policy: one implementation for each system, in linux/ and windows/. */
#ifndef CORDON_LIB_RUN_H
#define CORDON_LIB_RUN_H

#include "audit/event.h"
#include "lib/api.h"
#include "report/summary.h"

struct run_options {
    const char *const *argv; /* NULL at the end */
    size_t argc;
    const char *raw;   /* the command as typed, if known (Windows); NULL: unknown */
    const char *audit; /* file to append events to; NULL: none */
    bool audit_all, audit_raw;
    bool require_kernel;                   /* refuse to run where the kernel does not confine */
    bool medium_integrity, allow_elevated; /* Windows: weakenings that were asked for */
    const char *undo;                      /* "" or "strict"; NULL: the run keeps no journal */
    uint64_t undo_limit;                   /* bytes; 0: the default */
    const char *wine_prefix; /* Linux: the prefix of a Windows program; NULL: a private one */
    bool own_process;        /* the process is Cordon's, not a host's */
    bool probes;             /* this program can be started as the ladder's probe */
    bool tells_policy;       /* all of the policy must be known before the command starts */
    bool trusted;            /* a command of Cordon's own: what it starts is not judged */
    const char *const *set;  /* NAME=VALUE, for the environment */
    size_t set_count;
    const char *const *unset; /* names of environment variables; * matches any text; @secrets */
    size_t unset_count;
    const intptr_t
        *stdio; /* descriptors or handles for its stdout and stderr; NULL: those of this process */
    cordon_event *event; /* receives every line of the audit; NULL: none */
    void *event_context;
    cordon_ask *ask; /* answers while the command runs; NULL: none */
    void *ask_context;
    const int *ask_fds;      /* Linux: IN and OUT of --ask-fd; NULL: none */
    const char *ask_pipe;    /* Windows: of --ask-pipe; NULL: none */
    bool ask_terminal;       /* a person is asked on the terminal of this process */
    uint64_t ask_timeout_ms; /* 0: the default */
    void (*observe)(void *context, const struct audit_event *event); /* gets each event; or NULL */
    void *observe_context;
};

struct run_result {
    const char *reason;  /* exited, signal, timeout, refused, failed */
    uint32_t exit;       /* what cordon should exit with */
    const char *told_by; /* the signal that ended cordon and so the run; NULL: none */
    const char *boundary;
    char boundary_detail[128];
    bool elsewhere;   /* another process of Cordon did all of the run and told of it */
    const char *note; /* why the program could not start; NULL: nothing to say */
    const char *lost; /* a layer missing in this run; NULL: none */
    uint64_t duration_ms;
    bool temp_had_files;            /* the private temp folder was not empty when it was removed */
    int audit_failure;              /* 0, or why events are missing from the file */
    struct summary_changes changes; /* of --undo */
    struct summary summary;
};

/* What all journals may take, and one run if it is not told otherwise: 2 GiB. */
#define RUN_UNDO_LIMIT ((uint64_t)2 << 30)

/* "5,6": two descriptors, none below 3. Seconds, at least 1. CORDON_E_VALUE. */
int run_read_ask_fds(const char *text, int out[2]);
int run_read_ask_timeout(const char *text, uint64_t *out_ms);

/* Adds what the run itself brings to the policy (own files, temp) and compiles it; call it before
   any question. */
int run_prepare(struct cordon_policy *p, const struct run_options *o);

/* Returns 0 if the command ran or was refused (result says which); otherwise a code with a sentence
   in the policy's error, and nothing has run. The caller frees the summary. */
int run_confined(struct cordon_policy *p, const struct run_options *o, struct run_result *result);

/* Removes what run_prepare or compiling created; after run_confined(), or instead of it, or instead
   of it. */
void run_finish(struct cordon_policy *p, struct run_result *result);

/* The folder of --temp=own, if it is the run's alone; once the tree is gone. run_finish does it if
   this was not called. */
void run_remove_own_temp(struct cordon_policy *p);

/* Describes what confines here, for --verbose: "kernel (Landlock ABI 7)". */
void run_describe(struct buf *out);

#endif
