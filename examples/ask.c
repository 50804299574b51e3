/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command confined and asks on the terminal before something is denied. The answer comes
 * from a thread of its own: the library goes on meanwhile.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cordon.h"

static pthread_mutex_t terminal = PTHREAD_MUTEX_INITIALIZER;

static void *answer(void *context)
{
    struct cordon_question *question = context;
    char word[32];
    pthread_mutex_lock(&terminal);
    do {
        printf("%s\nonce, run, no or never? ", cordon_question_json(question));
        fflush(stdout);
        if (!fgets(word, sizeof word, stdin))
            strcpy(word, "no");
        word[strcspn(word, "\n")] = '\0';
        /* NULL: the narrowest scope. The question is freed unless the word was none of these. */
    } while (cordon_question_answer(question, word, NULL) == CORDON_E_VALUE);
    pthread_mutex_unlock(&terminal);
    return NULL;
}

static void on_ask(void *context, struct cordon_question *question)
{
    pthread_t thread;
    (void)context;
    if (pthread_create(&thread, NULL, answer, question))
        cordon_question_answer(question, "no", NULL);
    else
        pthread_detach(thread);
}

int main(int argc, char **argv)
{
    struct cordon_policy *policy;
    struct cordon_run_options *options;
    struct cordon_result *result;
    if (argc < 2)
        return fprintf(stderr, "usage: %s PROGRAM ARG...\n", argv[0]), 125;
    if (cordon_policy_new(&policy) || cordon_run_options_new(&options))
        return fprintf(stderr, "out of memory\n"), 125;
    cordon_policy_set(policy, "root", ".");
    cordon_run_options_ask(options, on_ask, NULL);
    if (cordon_run(policy, options, (size_t)argc - 1, (const char **)argv + 1, &result) != 0)
        return fprintf(stderr, "%s\n", cordon_policy_error(policy)), 125;
    printf("%s\n", cordon_result_json(result));
    int code = (int)cordon_result_exit(result);
    cordon_result_free(result);
    cordon_run_options_free(options);
    cordon_policy_free(policy);
    return code;
}
