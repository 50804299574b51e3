/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command that can change only the current directory, shows what it writes and what was
   denied. */
#include <cordon.h>
#include <stdio.h>

static void on_output(void *context, int stream, const char *bytes, size_t count)
{
    (void)context;
    fprintf(stream == 1 ? stdout : stderr, "%d> %.*s", stream, (int)count, bytes);
}

static void on_event(void *context, const char *json)
{
    (void)context;
    printf("event: %s\n", json);
}

int main(int argc, char **argv)
{
    struct cordon_policy *policy;
    struct cordon_run_options *options;
    struct cordon_result *result;
    if (cordon_policy_new(&policy) != 0 || cordon_run_options_new(&options) != 0)
        return 125;
    cordon_policy_set(policy, "root", ".");
    cordon_policy_set(policy, "net", "off");
    cordon_run_options_output(options, on_output, NULL);
    cordon_run_options_event(options, on_event, NULL);
    if (cordon_run(policy, options, (size_t)argc - 1, (const char **)argv + 1, &result) != 0)
        return fprintf(stderr, "%s\n", cordon_policy_error(policy)), 125;
    printf("%s with %u, %llu denied\n", cordon_result_reason(result), cordon_result_exit(result),
           cordon_result_denied(result));
    int code = (int)cordon_result_exit(result);
    cordon_result_free(result);
    cordon_run_options_free(options);
    cordon_policy_free(policy);
    return code;
}
