/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the program as an agent's hook: start, read the event, judge, answer. */
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static const char event[] =
    "{\"session_id\":\"5f0c1f2e\",\"transcript_path\":\"/tmp/t.jsonl\",\"cwd\":\"/usr/include\","
    "\"permission_mode\":\"default\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
    "\"tool_input\":{\"command\":\"cd src && npm run build -- --mode production && for f in "
    "dist/*.js; do wc -c \\\"$f\\\"; done | sort -n\",\"description\":\"Build\"},"
    "\"tool_use_id\":\"toolu_01\"}";

/* Seconds; negative if the answer was not the expected one: nothing, and 0. */
static double call(void)
{
    char *const argv[] = {"build/native/cordon", "hook", "claude", NULL};
    posix_spawn_file_actions_t files;
    int in[2], out[2], status;
    char answer[64];
    pid_t pid;
    if (pipe(in) || pipe(out))
        return -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_addclose(&files, in[1]);
    posix_spawn_file_actions_addclose(&files, out[0]);
    double start = bench_now();
    int rc = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    close(in[0]);
    close(out[1]);
    bool sent = rc == 0 && write(in[1], event, sizeof event - 1) == (ssize_t)sizeof event - 1;
    close(in[1]);
    ssize_t said = sent ? read(out[0], answer, sizeof answer) : -1;
    close(out[0]);
    bool ended = rc == 0 && waitpid(pid, &status, 0) == pid && status == 0;
    posix_spawn_file_actions_destroy(&files);
    return ended && said == 0 ? bench_now() - start : -1;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_hook(struct bench *bench)
{
    enum { CALLS = 201 };
    double spent[CALLS];
    for (unsigned i = 0; i < CALLS; i++) {
        spent[i] = call() * 1e6;
        if (spent[i] < 0) {
            fprintf(stderr, "bench: cordon hook did not answer as expected\n");
            return;
        }
    }
    qsort(spent, CALLS, sizeof *spent, by_size);
    bench_add(bench, "hook.median_us", spent[0], spent[CALLS / 2], "us",
              "cordon hook claude with one Bash event, start of the program included, 201 calls");
}
