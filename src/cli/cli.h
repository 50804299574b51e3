/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: argv in, exit code out. The subcommands, what they share, and their access to
   the operating system. */
#ifndef CORDON_CLI_CLI_H
#define CORDON_CLI_CLI_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cordon.h"

enum {
    EXIT_ASK = 3,
    EXIT_TIMEOUT = 124,
    EXIT_FAILED = 125,
    EXIT_REFUSED = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_UNREAD = 141 /* as of a program that SIGPIPE ended */
};

/* Arguments of a subcommand, without its name; NUL-terminated. */
struct arguments {
    const char **items;
    size_t count;
    size_t next;     /* not yet taken */
    const char *raw; /* the whole command line as typed, on Windows; else NULL */
};

int cli_main(struct arguments *args);

int command_check(struct arguments *args);
int command_why(struct arguments *args);
int command_run(struct arguments *args);
int command_sandbox(struct arguments *args);
int command_hook(struct arguments *args);
int command_report(struct arguments *args);
int command_doctor(struct arguments *args);
int command_completion(struct arguments *args);
int command_selftest(struct arguments *args);
int command_denials(struct arguments *args);
int command_changes(struct arguments *args);
int command_undo(struct arguments *args);
int command_runs(struct arguments *args);
int command_explain(struct arguments *args);
int command_help(struct arguments *args);

/* The help on one command; 0. */
int cli_help(const char *topic);

/* ---- options.c ---- */

/* A switch or option of one subcommand. */
struct cli_option {
    const char *name;   /* without dashes */
    char letter;        /* -o for --output; 0: none */
    const char **value; /* set to the value; NULL: a switch */
    bool *flag;         /* set to true; NULL: an option with a value; with value: it is optional */
    size_t *count;      /* value is an array, and this many are in it; NULL: only one value */
    size_t most;        /* that fit in the array */
};

/*
 * Takes options up to the first other word or past "--" (then *dashes is set). Options not in the
 * list go to the policy, if there is one. Prints what is wrong and returns EXIT_FAILED, otherwise
 * 0.
 */
int options_take(struct arguments *args, const struct cli_option *own, size_t own_count,
                 struct cordon_policy *policy, bool *dashes);

/* ---- run.c ---- */

/* Options and a command, run under the policy: the exit code. name is the subcommand, for
   messages. */
int cli_run(struct cordon_policy *p, struct arguments *args, const char *name);

/* ---- mistakes.c ---- */

/* The command was found where an option was expected: says where "--" belongs, or that a value with
   blanks needs quotes. EXIT_FAILED. */
int mistake_dashes(const struct arguments *args, const char *name);

/* A suggestion for a program that was not found; "" if there is none. */
const char *mistake_program(const char *program);

/* ---- explain.c ---- */

/* Explains one rule, or lists all of them in a line each. Returns an exit code. */
int explain_rule(const char *id, bool json);
int explain_list(bool json);

/* ---- learn.c ---- */

/* Prints the options that would have allowed what was denied, and writes them as a policy file if
   out names one. */
struct learn;
bool cli_learned(struct cordon_policy *p, struct learn *l, const char *out, bool wide, bool failed,
                 bool quiet);

/* ---- print.c ---- */

/* "cordon: …" on stderr. */
PRINTF_LIKE(1, 2) void print_error(const char *format, ...);
/* The same, and returns EXIT_FAILED. */
PRINTF_LIKE(1, 2) int print_failure(const char *format, ...);

/* The sentence that was printed last, without "cordon: ". */
const char *print_last(void);

enum print_style { PRINT_PLAIN = 0, PRINT_BOLD, PRINT_RED, PRINT_YELLOW, PRINT_GREEN, PRINT_DIM };
/* The escape that begins a style on stdout, or "" where colours are not wanted. */
const char *print_style(enum print_style style);
enum print_style print_verdict_style(enum cordon_verdict verdict);

/* The line of text around a span with carets under it; control characters are shown as spaces. */
void print_span(struct str text, size_t start, size_t end);

/* Text of others between words of Cordon's own; a terminal must not obey it. */
void print_row(const char *before, struct str foreign, const char *after);

/* Writes bytes to stdout; false if that failed. */
bool print_out(struct str s);
/* Whether print_out was called: the answer, or a part of it, has gone out. */
bool print_answered(void);

/* The nearest of names to a mistyped word, or NULL if none is near. */
const char *print_nearest(const char *word, const char *const *names, size_t count);

/* ---- windows/ and linux/ ---- */

bool cli_is_terminal(FILE *file);

/* Signals that would end this program while it writes; restored for a command that it starts. */
void cli_ignore_signals(void);
void cli_restore_signals(void);

/* On Windows: what real programs do at their start, for the ladder. The exit code, 0 if all of it
   works; with "child": only that it was started; with "try": a probe is started, and the code is an
   enum ladder_result. */
int cli_start_probe(const struct arguments *args);

/* On Windows: this process does what another one of Cordon was told to do. */
bool cli_is_second(void);

/* Tries the promises in this program or in the one beside it, prints, and returns the exit code;
   `program` of the request is filled in. */
struct selftest_request;
int cli_selftest(struct selftest_request *request);
/* Linux: the calls of one attempt. */
int cli_selftest_probe(const char *script);

/* Before questions. Inside a run on Linux, unless the policy has options of its own, they are about
   the one in force. */
void cli_begin_why(struct cordon_policy *p, bool own);
/* With an answer: under Wine it says where run would refuse. */
void cli_end_why(void);

/* --learn=allow, on Linux: says so, and lets the run change files below the home folder. An exit
   code. */
struct run_options;
struct learn;
int cli_learn_allow(struct cordon_policy *p, struct run_options *o, struct learn *l);

/* Whether a link that a run may have planted redirects a file that is to be written. */
bool cli_is_link(const char *path);

/* fopen for a name in WTF-8. */
FILE *system_fopen(const char *path, const char *mode);

/* False if it is still there. */
bool cli_remove_file(const char *path);

/* Replaces a file atomically, or creates it and its folder; an existing file keeps its permissions.
   Returns false with a sentence. */
bool cli_replace_file(const char *path, struct str content, char *why, size_t capacity);

/* The options about questions; a failure is printed. */
struct run_options;
int cli_ask(struct run_options *o, const char *fds, const char *pipe, const char *timeout);

#endif
