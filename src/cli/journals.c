/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/journals.h"

int cli_take_words(struct arguments *args, const struct cli_option *own, size_t own_count,
                   struct cli_words *words)
{
    bool dashes = false;
    while (args->next < args->count) {
        int rc = dashes ? 0 : options_take(args, own, own_count, NULL, &dashes);
        if (rc)
            return rc;
        if (args->next < args->count) {
            if (words->count == CLI_MOST_WORDS)
                return print_failure("more than %d words", CLI_MOST_WORDS);
            words->items[words->count++] = args->items[args->next++];
        }
    }
    return 0;
}

fs_file cli_open_store(int *code)
{
    char why[512];
    fs_file store = changes_open_store(why, sizeof why);
    if (store < 0)
        *code = print_failure("%s", why);
    return store;
}

bool cli_choose_run(fs_file store, struct arena *arena, struct cli_words *words, bool shows,
                    struct changes_choice *choice, int *code)
{
    char why[512];
    const char *wanted = NULL;
    if (words->count && store_is_id(words->items[0])) {
        wanted = words->items[0];
        memmove(words->items, words->items + 1, --words->count * sizeof *words->items);
    }
    if (changes_choose(store, wanted, NULL, shows, choice, why, sizeof why)) {
        *code = print_failure("%s", why);
        return false;
    }
    words->paths = changes_paths(arena, choice->folder, words->items, words->count);
    if (!words->paths)
        *code = print_failure("out of memory");
    return words->paths != NULL;
}

void cli_tell_cut_off(const char *id, bool cut_off)
{
    if (!cut_off)
        return;
    fflush(stdout);
    print_error("run %s did not finish: cordon was killed", id);
}
