/* SPDX-License-Identifier: Apache-2.0 */
/* From options to policy: what a person asked for (options, a policy file), resolved once on this
   machine's disk and compiled. Used by every command that needs a policy. */
#ifndef CORDON_LAUNCH_SETTINGS_H
#define CORDON_LAUNCH_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "policy/rules.h"

struct settings_option;

struct settings {
    struct arena arena;
    struct policy_settings policy;
    struct str cwd;   /* normalized; --cwd, or the current directory; empty if unknown */
    bool cwd_is_link; /* it was given as a link: not accepted as a root */
    bool unseen;      /* set by the caller: the folders are not on this disk */
    bool foreign;     /* unseen, or the paths are of another system: the disk is not consulted */
    struct buf error; /* one sentence after a failure */

    /* Creates a temp folder of the run's own below the shared one; NULL: none is created (why,
       check). */
    int (*make_temp)(struct settings *s, struct str shared, struct str *out);
    bool keeps_temp;    /* TMPDIR stays the caller's with --temp=own */
    intptr_t temp_hold; /* of make_temp: keeps other runs from removing it; 0: nothing is held */

    /* Inside a run: fills the policy with the one in force, and no option counts; NULL: none. */
    int (*in_force)(struct settings *s);
    struct str outline; /* of in_force */

    bool codex;        /* read-only unless a pair says more; the current directory is a root too */
    struct str *pairs; /* KEY=VALUE of Codex */
    size_t pair_count, pair_capacity;

    bool with_hosts;                /* --for named hosts */
    struct policy_list tools;       /* of --for */
    struct policy_list variables;   /* of those tools: NAME=VALUE, NAME+=VALUE */
    struct policy_list extra_roots; /* writable besides the roots, without counting as one */

    struct policy_list
        made; /* folders that were created for --for; given: the one that was there */

    struct settings_option *options; /* as set, applied by settings_compile */
    size_t count, capacity;
};

void settings_free(struct settings *s);
#define auto_settings __attribute__((cleanup(settings_free)))

/* All options, for parsing, help and completion. */
struct settings_info {
    struct str name;  /* without dashes: "root" */
    struct str value; /* how help shows the value: "DIR"; "" for a switch */
    struct str help;
    bool repeats; /* may be given more than once */
};
extern const struct settings_info settings_infos[];
extern const size_t settings_info_count;

/* NULL if there is none of that name. */
const struct settings_info *settings_find(struct str name);

/* Takes an option; from is how it was written ("--root"). CORDON_E_UNKNOWN, or CORDON_E_CONFLICT
   for a single-valued option given twice. The value is checked when compiling. */
int settings_set(struct settings *s, struct str name, struct str value, struct str from);

/* At the end of a run: removes the folders that were created for --for and are empty. */
void settings_unmake(struct settings *s);

/* Takes a KEY=VALUE of Codex; checked when compiling. CORDON_E_NOMEM. */
int settings_pair(struct settings *s, struct str pair);

/* Copies the options and pairs of another policy except those named. CORDON_E_NOMEM. */
int settings_copy(const struct settings *from, struct settings *to, const struct str *without,
                  size_t count);

/* The value of an option that was given and can be given once; empty: it was not. */
struct str settings_value(const struct settings *s, struct str name);

/* True if the option has been given. */
bool settings_has(const struct settings *s, struct str name);

/* Translates roots written for another system: map gives the path here, or false if there is none.
   Roots it leaves alone are kept. CORDON_E_VALUE. */
int settings_map_roots(struct settings *s,
                       bool (*map)(void *context, struct arena *arena, struct str given,
                                   struct str *out),
                       void *context);

/* Protects a file of Cordon's own from the run, even inside a root. */
int settings_protect(struct settings *s, struct str path);

/* The same for a path without links, normalized, which is not looked up again. */
int settings_protect_final(struct settings *s, struct str path);

/* Decides whether paths are Windows' or POSIX: by --paths, else by the first root, else by hint,
   else this machine's. Then reads the policy file, resolves and compiles. */
int settings_compile(struct settings *s, struct str hint, struct policy **out);

/* The policy that was compiled with git_later, and what it left out: for policy_find_later(). A code, and a
   sentence in the error. */
int settings_complete(struct settings *s, struct policy **out);

/* Normalizes a path as a person wrote it: relative to the cwd, "~" is not expanded. */
int settings_path(struct settings *s, struct str given, struct path *out);

#endif
