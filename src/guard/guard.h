/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard: reads a command line or a script and says what it would do, without running it.
 * Portable, bounded, linear; it never touches the disk itself (script files come from a callback).
 */
#ifndef CORDON_GUARD_GUARD_H
#define CORDON_GUARD_GUARD_H

#include "base/arena.h"
#include "base/buf.h"
#include "cordon.h"

struct policy;

enum {
    GUARD_MAX_INPUT = 1024 * 1024,         /* bytes of text, argv or script file */
    GUARD_MAX_DEPTH = 16,                  /* code inside code */
    GUARD_MAX_COMMANDS = 20 * 1000,        /* commands read, all levels together */
    GUARD_MAX_UNREAD = 16,                 /* scripts named in an answer */
    GUARD_MAX_FINDINGS = 64,               /* kept; a worse verdict is never lost */
    GUARD_MAX_EXPANSION = 4 * 1024 * 1024, /* bytes of text made by folding and expansion */
    GUARD_MAX_MEMORY = 256 * 1024 * 1024
};

enum guard_shell { GUARD_NO_SHELL = 0, GUARD_CMD, GUARD_POWERSHELL, GUARD_BASH };

enum guard_rule {
#define RULE(name, id, verdict, why, fix, about, example1, example2) GUARD_##name,
#include "guard/tables/rules.def"
#undef RULE
    GUARD_RULE_COUNT
};

struct guard_rule_info {
    struct str id;
    enum cordon_verdict verdict;
    const char *why; /* predicate; the subject is the command: "… hands this URL to the shell" */
    const char *fix;
    const char *about;
    const char *examples[2];
};
extern const struct guard_rule_info guard_rules[GUARD_RULE_COUNT];

struct guard_finding {
    enum guard_rule rule;
    struct str id; /* the rule's, or that of the tool the policy refuses */
    enum cordon_verdict verdict;
    size_t start, end;   /* bytes of the outermost text */
    struct str resolved; /* the decoded text of the span; "" if unknown */
    struct str why;
    struct str fix;
};

/* A decoded word of a command line. Bytes GUARD_HOLE stand for stretches that cannot be known. */
#define GUARD_HOLE '\xFF'
struct word {
    struct str text;
    uint32_t start, end; /* where it stands in the text that is being read */
    bool quoted;         /* some of it stood in quotes */
};

/* A command that the readers found, for --show. */
struct guard_read {
    enum guard_shell shell;
    struct word name;
    const struct word *args;
    size_t count;
    unsigned depth; /* from 1 */
    size_t start, end;
};

/* Exactly one of argv, cmdline and text is given. */
struct guard_question {
    const struct str *argv;
    size_t argc;
    struct str cmdline; /* raw Windows command line */
    enum guard_shell shell;
    struct str text;             /* of a script in shell */
    bool script_file;            /* text is a file's content: batch rules for cmd */
    const struct policy *policy; /* roots and protected names; NULL: no roots are known */
    struct str cwd;              /* "" if unknown */
    /* The policy of a run that names no other: scripts inside its roots are read. NULL: none, but for
       scripts inside policy's roots. */
    const struct policy *defaults;
    const struct str *settings; /* folders of agents' settings that variables name */
    size_t setting_count;
    struct str program;         /* Cordon's own, which a hook starts; "" if unknown */
    const struct policy *tools; /* refuses programs by name; NULL: none are refused */
    /* Content of a script inside the roots: 0, or a code if it is absent or too large. */
    int (*read_file)(void *context, struct str path, struct buf *out);
    void *context;
    bool show; /* fill reads */
    /* It runs in the sandbox anyway, which refuses a redirection to the outside by itself and says so;
       the rest of the command goes on. */
    bool confined;
};

struct guard_answer {
    enum cordon_verdict verdict;
    struct str text; /* the outermost text; for argv the Windows command line */
    const struct guard_finding *findings;
    size_t finding_count;
    const struct guard_read *reads;
    size_t read_count;
    const struct str *unread; /* scripts that would run and were not read */
    size_t unread_count;
};

/* The shell that runs a script file of this name; GUARD_NO_SHELL: none that the guard reads. */
enum guard_shell guard_script_shell(struct str name);

struct guard;
int guard_new(struct guard **out);
void guard_free(struct guard *g);

/* The answer lives in the guard until the next check. Fails only without memory; then the caller
   must treat it as a denial. */
int guard_check(struct guard *g, const struct guard_question *question,
                struct guard_answer *answer);

#endif
