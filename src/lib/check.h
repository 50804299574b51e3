/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the command line needs beyond cordon.h: streams of questions, spans for people. */
#ifndef CORDON_LIB_CHECK_H
#define CORDON_LIB_CHECK_H

#include "lib/api.h"

/* False if there is no such shell; "cmdline" is GUARD_NO_SHELL. */
bool check_shell(struct str name, enum guard_shell *shell);

/* The name that check_shell() takes for it. */
const char *check_shell_name(enum guard_shell shell);

/* A script inside the roots, for guard_question's read_file; context: the policy's settings. */
int check_read_script(void *context, struct str path, struct buf *out);

/* Asks the guard with the policy's roots, if there are any, and as a run in this folder would: tools
   are refused, scripts are read. */
int check_ask(struct cordon_policy *p, struct guard_question *q, struct guard_answer *answer);
/* The same without roots of its own: the command alone, as if nothing were known of a folder. Tools
   are refused as ever. */
int check_ask_alone(struct cordon_policy *p, struct guard_question *q, struct guard_answer *answer);

/* The members of the answer's object, after what the caller has written. */
void check_write(struct json_writer *w, const struct guard_answer *a, bool is_argv, bool show);

#endif
