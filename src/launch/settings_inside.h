/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of settings.h. */
#ifndef CORDON_LAUNCH_SETTINGS_INSIDE_H
#define CORDON_LAUNCH_SETTINGS_INSIDE_H

#include "launch/settings.h"

enum option_id {
#define OPTION(id, name, value, repeats, help) OPTION_##id,
#include "launch/options.def"
#undef OPTION
};

struct settings_option {
    enum option_id id;
    struct str value, from;
};

/* Writes the sentence of a failure and returns its code. */
PRINTF_LIKE(3, 4) int settings_fail(struct settings *s, int code, const char *format, ...);
int settings_bad_value(struct settings *s, const struct settings_option *o, const char *expected);

/* The first of this name; NULL: it was not given. */
const struct settings_option *settings_option_of(const struct settings *s, enum option_id id);
int settings_add(struct settings *s, struct policy_list *list, struct str given, struct str from);

/* Puts one option into the policy (settings_apply.c). */
int settings_apply(struct settings *s, const struct settings_option *o);

/* --for: the hosts at once, folders and caches when the project, the first root, is known
   (settings_tools.c). */
int settings_add_tools(struct settings *s, const struct settings_option *o);
int settings_open_caches(struct settings *s, struct str project);

/* The folders of the policy, looked up on the disk (settings_folders.c). */
int settings_choose_cwd(struct settings *s);
int settings_resolve(struct settings *s);

#endif
