/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about runs with --undo share. */
#ifndef CORDON_CLI_JOURNALS_H
#define CORDON_CLI_JOURNALS_H

#include "cli/cli.h"
#include "lib/changes.h"

enum { CLI_MOST_WORDS = 1024 };

struct cli_words {
    const char *items[CLI_MOST_WORDS];
    const char **paths; /* the same, absolute */
    size_t count;
};

/* Options and words in any order. */
int cli_take_words(struct arguments *args, const struct cli_option *own, size_t own_count,
                   struct cli_words *words);

/* Opens the store; negative after a message. */
fs_file cli_open_store(int *code);

/* Takes the run's id out of the words, if it comes first, finds the run that is meant, and makes
   the other words absolute. */
bool cli_choose_run(fs_file store, struct arena *arena, struct cli_words *words, bool shows,
                    struct changes_choice *choice, int *code);

/* The run was killed. */
void cli_tell_cut_off(const char *id, bool cut_off);

#endif
