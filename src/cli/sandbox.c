/* SPDX-License-Identifier: Apache-2.0 */
/* cordon sandbox: the command line that Codex users know, in front of run. */
#include <stdlib.h>

#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/api.h"

/* "windows" and "linux" name the system this is; another one cannot be had. */
static int take_system(struct arguments *args)
{
    static const char *const systems[] = {"windows", "linux", "macos"};
    const char *own = disk_dialect() == PATH_WINDOWS ? "windows" : "linux";
    const char *word = args->next < args->count ? args->items[args->next] : "";
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strcmp(word, systems[i]) == 0) {
            args->next++;
            return strcmp(word, own) == 0
                       ? 0
                       : print_failure("this is %s; leave out %s, or write %s", own, word, own);
        }
    return 0;
}

/* Takes -c and --full-auto out of the words in front of "--"; the rest is for run. */
static int take_pairs(struct cordon_policy *p, struct arguments *args, struct arguments *rest)
{
    bool dashes = false;
    for (; args->next < args->count; args->next++) {
        const char *word = args->items[args->next];
        struct str text = str_of(word), joined = STR("--config=");
        const char *pair = NULL;
        dashes = dashes || strcmp(word, "--") == 0;
        if (!dashes && (strcmp(word, "-c") == 0 || strcmp(word, "--config") == 0)) {
            if (args->next + 1 >= args->count || strcmp(args->items[args->next + 1], "--") == 0)
                return print_failure("%s needs KEY=VALUE, for example %s "
                                     "sandbox_mode=workspace-write",
                                     word, word);
            pair = args->items[++args->next];
        } else if (!dashes && str_starts(text, joined)) {
            pair = word + joined.n;
        } else if (!dashes && strcmp(word, "--full-auto") == 0) {
            pair = "sandbox_mode=workspace-write";
        } else {
            rest->items[rest->count++] = word;
            continue;
        }
        if (settings_pair(&p->settings, str_of(pair)))
            return print_failure("out of memory");
    }
    return 0;
}

int command_sandbox(struct arguments *args)
{
    struct cordon_policy *p;
    struct arguments rest = {calloc(args->count + 1, sizeof *rest.items), 0, 0, args->raw};
    if (!rest.items || cordon_policy_new(&p)) {
        free(rest.items);
        return print_failure("out of memory");
    }
    p->settings.codex = true;
    int code = take_system(args);
    if (code == 0)
        code = take_pairs(p, args, &rest);
    if (code == 0)
        code = cli_run(p, &rest, "sandbox");
    cordon_policy_free(p);
    free(rest.items);
    return code;
}
