/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options to policy: what a person asked for (options, a policy file), resolved once on this
 * machine's disk and compiled. Used by every command that needs a policy.
 */
#ifndef CORDON_LAUNCH_SETTINGS_H
#define CORDON_LAUNCH_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "policy/rules.h"

struct settings_option;

struct settings {
    struct arena arena;
    struct policy_settings policy;
    struct str cwd;   /* normal; --cwd, or the current directory; empty if unknown */
    bool cwd_is_link; /* it was named by a link: no root then */
    bool unseen;      /* set by the caller: the folders are not on this disk */
    bool foreign;     /* unseen, or the paths are of another system: the disk is not asked */
    struct buf error; /* one sentence after a failure */

    /* Makes a temp folder of the run's own below the shared one; NULL: none is made (why,
       check). */
    int (*make_temp)(struct settings *s, struct str shared, struct str *out);
    intptr_t temp_hold; /* of make_temp: keeps other runs from removing it; 0: nothing is held */

    bool codex;        /* read-only unless a pair says more; the current directory is a root too */
    struct str *pairs; /* KEY=VALUE of Codex */
    size_t pair_count, pair_capacity;

    struct policy_list extra_roots; /* can be changed beside the roots; do not count as one */

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

/* Takes an option; from is where it was written ("--root"). CORDON_E_UNKNOWN, CORDON_E_CONFLICT for
   a single value given twice. The value is judged when compiling. */
int settings_set(struct settings *s, struct str name, struct str value, struct str from);

/* Takes a KEY=VALUE of Codex; judged when compiling. CORDON_E_NOMEM. */
int settings_pair(struct settings *s, struct str pair);

/* The options and pairs of another policy, without those named. CORDON_E_NOMEM. */
int settings_copy(const struct settings *from, struct settings *to, const struct str *without,
                  size_t count);

/* True if the option was taken. */
bool settings_has(const struct settings *s, struct str name);

/* Roots that were written for another system: map gives the path here, or false if there is none.
   What it leaves alone stays. CORDON_E_VALUE. */
int settings_map_roots(struct settings *s,
                       bool (*map)(void *context, struct arena *arena, struct str given,
                                   struct str *out),
                       void *context);

/* Keeps a file of Cordon's own from being changed by the run, even inside a root. */
int settings_protect(struct settings *s, struct str path);

/* Whether the paths are Windows' or posix: by --paths, else by the first root, else by hint, else
   this machine's. Then reads the policy file, resolves and compiles. */
int settings_compile(struct settings *s, struct str hint, struct policy **out);

/* A path as a person wrote it: relative to the cwd, "~" is not expanded. Normal spelling. */
int settings_path(struct settings *s, struct str given, struct path *out);

#endif
