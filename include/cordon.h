/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon.h - the whole public interface of Cordon.
 *
 * Strings are NUL-terminated UTF-8 (WTF-8 where a Windows name is not valid Unicode). Functions
 * that can fail return 0 or a negative code from CORDON_ERRORS and leave their outputs untouched on
 * failure. Strings that the library is given are copied before the call returns; strings that it
 * returns belong to the handle they came from and last as long as that, unless said otherwise.
 *
 * The library never prints and never exits. A handle may be used by one thread at a time, different
 * handles by different threads, runs included. Nothing is kept between calls except what a process
 * has only once: while a command runs, the library owns the process's dispositions of SIGTERM,
 * SIGHUP, SIGINT and SIGQUIT (Linux) or a console handler (Windows); the last run to end puts them
 * back. On Windows the first run closes the process and its threads to other programs of the user,
 * for good.
 */
#ifndef CORDON_H
#define CORDON_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(CORDON_SHARED)
#define CORDON_API __declspec(dllimport)
#elif defined(__GNUC__)
#define CORDON_API __attribute__((visibility("default")))
#else
#define CORDON_API
#endif

/* Numbers are ABI: append, never renumber. */
#define CORDON_ERRORS(X)                                          \
    X(CORDON_E_NOMEM, -1, "out of memory")                        \
    X(CORDON_E_OPEN, -2, "cannot open file")                      \
    X(CORDON_E_TOOBIG, -3, "input over its limit")                \
    X(CORDON_E_SYNTAX, -4, "malformed input")                     \
    X(CORDON_E_ENCODING, -5, "text is not valid UTF-8 or UTF-16") \
    X(CORDON_E_VALUE, -6, "value not accepted here")              \
    X(CORDON_E_UNKNOWN, -7, "unknown name")                       \
    X(CORDON_E_CONFLICT, -8, "settings contradict each other")    \
    X(CORDON_E_IMAGE, -9, "policy image is damaged")              \
    X(CORDON_E_READ, -10, "cannot read file")                     \
    X(CORDON_E_WRITE, -11, "cannot write file")                   \
    X(CORDON_E_CONFINE, -12, "cannot confine the command")        \
    X(CORDON_E_REFUSED, -13, "refused")                           \
    X(CORDON_E_NOTFOUND, -14, "program not found")

enum cordon_error {
    CORDON_OK = 0,
#define CORDON_ERROR_ENUM(name, value, text) name = value,
    CORDON_ERRORS(CORDON_ERROR_ENUM)
#undef CORDON_ERROR_ENUM
};

/* Zero is the safe answer, so a forgotten initialiser denies. */
enum cordon_verdict { CORDON_DENY = 0, CORDON_ASK, CORDON_ALLOW };

/* One English phrase for a code; never NULL, lasts for ever. Any thread. */
CORDON_API const char *cordon_strerror(int error);

/* The version of the library, for example "0.1.0"; lasts for ever. Any thread. */
CORDON_API const char *cordon_version(void);

/*
 * A policy: what a run may change, reach and start. Options are those of the command line without
 * their dashes ("root", "net"); switches take NULL. A fresh policy is workspace-write with the
 * current directory as its root and no network.
 */
struct cordon_policy;

/* A policy of the caller's, to be freed by cordon_policy_free(). CORDON_E_NOMEM. */
CORDON_API int cordon_policy_new(struct cordon_policy **out);

/* Answers and results of the policy stay valid. NULL is fine. */
CORDON_API void cordon_policy_free(struct cordon_policy *policy);

/*
 * CORDON_E_UNKNOWN for an unknown option, CORDON_E_CONFLICT for a single value given
 * twice or a policy that has answered or run. The value itself is judged at the first question or
 * run, which then fails.
 */
CORDON_API int cordon_policy_set(struct cordon_policy *policy, const char *option,
                                 const char *value);

/* One sentence about the last failure with this policy, until the next call with it; "" if there
   was none. */
CORDON_API const char *cordon_policy_error(const struct cordon_policy *policy);

/* An answer: a verdict and its reasons, worst first. It never changes, so several threads may
   read it. */
struct cordon_answer;

/* Frees it and the strings it gave. NULL is fine. */
CORDON_API void cordon_answer_free(struct cordon_answer *answer);

/* The verdict, the number of reasons, and of each reason the rule's id, why, and what allows it; ""
   where there is no such reason. */
CORDON_API enum cordon_verdict cordon_answer_verdict(const struct cordon_answer *answer);
CORDON_API size_t cordon_answer_count(const struct cordon_answer *answer);
CORDON_API const char *cordon_answer_rule(const struct cordon_answer *answer, size_t index);
CORDON_API const char *cordon_answer_why(const struct cordon_answer *answer, size_t index);
CORDON_API const char *cordon_answer_fix(const struct cordon_answer *answer, size_t index);

/* The same as one JSON object, as `cordon check --json` and `cordon why --json` print it. */
CORDON_API const char *cordon_answer_json(const struct cordon_answer *answer);

/*
 * Judges a command without running anything. Deletions and scripts are judged against the policy's
 * roots only if a root was set. The answer is the caller's to free. Errors are those of the policy's
 * values (a root that is missing, a policy file that does not parse, …) and CORDON_E_VALUE for no
 * words, with a sentence in cordon_policy_error(). Flags:
 *
 *   CORDON_SHOW      adds every command that was found to the JSON
 *   CORDON_HERE      as a run would: if no root was set, the current directory (option "cwd") is one,
 *                    provided that it can be
 *   CORDON_ANYWHERE  ignores the current directory; only roots that were set count
 *   CORDON_SCRIPT    of cordon_check_text(): the text is that of a script file
 */
enum { CORDON_SHOW = 1, CORDON_HERE = 16, CORDON_ANYWHERE = 32, CORDON_SCRIPT = 64 };
CORDON_API int cordon_check(struct cordon_policy *policy, size_t argc, const char *const *argv,
                            unsigned flags, struct cordon_answer **out);

/* The same for text in a shell: "powershell", "cmd", "bash", or "cmdline" for a command line.
   CORDON_E_UNKNOWN for another shell. */
CORDON_API int cordon_check_text(struct cordon_policy *policy, const char *shell, const char *text,
                                 size_t length, unsigned flags, struct cordon_answer **out);

/*
 * Would `cordon run` allow this? action is "read", "write", "create", "delete", "rename", "link",
 * "run" or "connect"; words are a path (two for rename and link), a command line, or HOST:PORT. The
 * answer is the caller's to free. CORDON_E_UNKNOWN for another action, CORDON_E_VALUE for words
 * that are none of these, and the errors of cordon_check().
 */
CORDON_API int cordon_why(struct cordon_policy *policy, const char *action, size_t count,
                          const char *const *words, struct cordon_answer **out);

/*
 * Running a command under a policy, as `cordon run` does. A policy serves one run, and none that
 * has answered a question. Options are those of `cordon run` that are not a policy's: "audit" FILE,
 * "audit-all", "audit-raw", "unset" NAME (up to 256 times), "require-kernel", "wine-prefix" DIR,
 * "undo" (NULL or "strict") and "undo-limit" SIZE, "ask-timeout" SECONDS, "ask-fd" IN,OUT (Linux),
 * "ask-pipe" NAME, "integrity" low or medium and "allow-elevated" (Windows). What it prints has
 * functions here instead: cordon_result_json(), events and output.
 */
struct cordon_run_options;

/* Options of the caller's, to be freed by cordon_run_options_free(). CORDON_E_NOMEM. */
CORDON_API int cordon_run_options_new(struct cordon_run_options **out);

/* Not while a run uses them. NULL is fine. */
CORDON_API void cordon_run_options_free(struct cordon_run_options *options);

/* CORDON_E_UNKNOWN for an unknown option, CORDON_E_VALUE for a switch with a value or a
   value that is missing or wrong, CORDON_E_TOOBIG, CORDON_E_NOMEM. */
CORDON_API int cordon_run_options_set(struct cordon_run_options *options, const char *option,
                                      const char *value);

/*
 * Receives the command's output: stream 1 is stdout, 2 is stderr. Without it both are the caller's
 * own. Calls come from a thread of the library, one at a time and in the order of each stream, the
 * last before cordon_run() returns. The bytes are the library's and last for the call. The command
 * waits while the function runs. The function must not call cordon_run() with the same options.
 */
typedef void cordon_output(void *context, int stream, const char *bytes, size_t count);
CORDON_API void cordon_run_options_output(struct cordon_run_options *options, cordon_output *output,
                                          void *context);

/*
 * Every event as one JSON object (docs/audit-format.md), while the command runs; from threads of
 * the library or, on Windows, also from the calling thread; one at a time, but perhaps at the same
 * time as output. The string lasts for the call. All signals are blocked in these threads.
 */
typedef void cordon_event(void *context, const char *json);
CORDON_API void cordon_run_options_event(struct cordon_run_options *options, cordon_event *event,
                                         void *context);

/*
 * Asks while the command runs: what an option could allow is not denied at once; the call waits,
 * alone, until it is answered. The function gets the question, which is its own from then on: it
 * answers it now or later, from any thread, also after cordon_run() has returned. Calls come from
 * one thread of the library, in which all signals are blocked, one at a time; while the function
 * runs, no other question is shown, but nothing else waits. It must not call cordon_run() with the
 * same options. Without an answer the question is denied after the option "ask-timeout" (seconds,
 * 60), when its caller dies, and at the end of the run. The command cannot reach or see any of
 * this.
 */
struct cordon_question;
typedef void cordon_ask(void *context, struct cordon_question *question);
CORDON_API void cordon_run_options_ask(struct cordon_run_options *options, cordon_ask *ask,
                                       void *context);

/* The question as one JSON object (docs/embedding.md); lasts until it is answered. Any thread. */
CORDON_API const char *cordon_question_json(const struct cordon_question *question);

/*
 * Answers "once", "run", "no" or "never"; scope is one that the question offers with it, or NULL
 * for the narrowest. 0, and the question is freed. CORDON_E_CONFLICT if it is over already: freed,
 * too. CORDON_E_VALUE for an answer that is not offered: it stays open and the caller's. Any
 * thread, but one at a time for each question. Each question must be answered once, or its memory
 * stays.
 */
CORDON_API int cordon_question_answer(struct cordon_question *question, const char *answer,
                                      const char *scope);

/* How it ended. It never changes, so several threads may read it. */
struct cordon_result;

/* Frees it and the strings it gave. NULL is fine. */
CORDON_API void cordon_result_free(struct cordon_result *result);
/* "exited", "signal", "timeout" or "refused"; with "refused" nothing was started. */
CORDON_API const char *cordon_result_reason(const struct cordon_result *result);
/* The command's exit code, 128 + N for a signal on Linux, 124 for a time-out, 126 for refused. */
CORDON_API unsigned cordon_result_exit(const struct cordon_result *result);
CORDON_API unsigned long long cordon_result_denied(const struct cordon_result *result);
/* The summary that `cordon run --json` prints. */
CORDON_API const char *cordon_result_json(const struct cordon_result *result);

/*
 * Runs the command to its end; the rest of its tree is ended then. options may be NULL. The result
 * is the caller's to free. A failure means that nothing has run, and cordon_policy_error() says
 * why: CORDON_E_CONFLICT for a policy that was used before, CORDON_E_NOTFOUND for a program that
 * was not found, CORDON_E_VALUE for one that is not executable, CORDON_E_CONFINE where the command
 * cannot be confined, CORDON_E_REFUSED for a root or a console that Cordon does not accept,
 * CORDON_E_OPEN for the audit file, and the errors of the policy's values. A command that a rule
 * refuses is no failure: its reason is "refused".
 *
 * Any number of runs may go on at the same time, each with a policy of its own. On Linux SIGTERM
 * and SIGHUP end all of them and SIGINT and SIGQUIT are left to the commands; the command inherits
 * the signal mask of the calling thread and the dispositions that the process had before. The
 * calling thread waits; a child process and threads of the library are gone when it returns, except
 * for a thread that still asks for the address of a host (--net=allow), which ends by itself. A
 * program that waits for any child (waitpid(-1)) would take the library's away.
 */
CORDON_API int cordon_run(struct cordon_policy *policy, const struct cordon_run_options *options,
                          size_t argc, const char *const *argv, struct cordon_result **out);

/*
 * Runs with the option "undo": what they changed, and taking them back, as `cordon changes`, `undo`
 * and `runs` do (docs/undo.md).
 *
 * run is an id, as cordon_runs() and the result's JSON ("undo": {"run"}) give it; NULL is the
 * newest run whose root holds folder and that was not taken back, even if it changed nothing: then
 * there is nothing to show or to take back. folder NULL is the current directory; relative paths
 * are relative to folder. each gets one JSON object per item, in the
 * calling thread, before the function returns; the string lasts for the call; NULL is fine. It must
 * not call these functions for the same run. A failure leaves a sentence in why, cut to capacity
 * bytes with its NUL; NULL is fine. Any thread, several at a time; two that change the same folder
 * exclude each other (CORDON_E_CONFLICT).
 *
 * Errors: CORDON_E_UNKNOWN for an unknown run, or of another version; CORDON_E_OPEN for a root that
 * is gone, a store that cannot be opened, or inside a run of Cordon; CORDON_E_SYNTAX for a damaged
 * journal; CORDON_E_CONFLICT while a run can change the same folders; CORDON_E_WRITE if the undo's
 * own journal cannot be written, or the run's to mark it as undone (why says which);
 * CORDON_E_NOMEM. Only after that mark's failure and after CORDON_E_NOMEM something was changed; but
 * an undo in these folders that was interrupted is reverted first, whatever the paths, and a later
 * failure does not restore it.
 */

/* {"kind", "path", "folder", "size_before", "size", "added", "removed", …} for every name that was
   created, modified, deleted or renamed, in order of path. CORDON_DIFF adds the lines that differ
   as "diff". */
enum { CORDON_DIFF = 2, CORDON_DRY_RUN = 4, CORDON_FORCE = 8 };
CORDON_API int cordon_changes(const char *run, const char *folder, unsigned flags,
                              cordon_event *each, void *context, char *why, size_t capacity);

/* Takes the run back, or of it only these paths and what lies below them: {"result", "path",
   "from", "why"} for every object, result "restored", "removed", "moved", "conflict" or "failed".
   CORDON_DRY_RUN changes nothing and adds "dry": true; CORDON_FORCE restores over what was changed
   since. Returns 0, or 1 if something was left alone, which each was told. */
CORDON_API int cordon_undo(const char *run, const char *folder, size_t count,
                           const char *const *paths, unsigned flags, cordon_event *each,
                           void *context, char *why, size_t capacity);

/* {"run", "time", "bytes", "command", "session", "undone", "live", "roots", …} for every run that
   is kept, newest first. */
CORDON_API int cordon_runs(cordon_event *each, void *context, char *why, size_t capacity);

/* Removes the journal of a run. CORDON_E_UNKNOWN also if the run has not ended. */
CORDON_API int cordon_runs_drop(const char *run, char *why, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
