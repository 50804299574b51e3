/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tricks and what they share. */
#include "escape.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool put(int fd)
{
    return fd >= 0 && write(fd, "x", 1) == 1;
}

int rounds(int usual)
{
    const char *slow = getenv("CORDON_TEST_SLOW"), *soak = getenv("CORDON_SOAK");
    int factor = slow ? atoi(slow) : 1;
    /* Without a broker the usual number is over in milliseconds, before a busy machine has let the
     * turner run once; a control ends as soon as it succeeds. */
    if (getenv("CORDON_TEST_CONTROL"))
        return usual * 1000;
    if (soak)
        return usual * 20;
    return factor > 1 ? usual / factor + 1 : usual;
}

void *shared_page(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

pid_t turner_start(void (*turn)(void *context), void *context)
{
    pid_t turner = fork();
    if (turner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            turn(context);
    }
    return turner;
}

void turner_stop(pid_t turner)
{
    kill(turner, SIGKILL);
    waitpid(turner, NULL, 0);
}

void dwell(void)
{
    for (volatile int i = 0; i < 500; i++)
        ;
}

int main(int argc, char **argv)
{
    static const struct trick *const lists[] = {file_tricks, race_tricks, socket_tricks,
                                                process_tricks, call_tricks};
    const char *words[8] = {"", "", "", "", "", "", "", ""};
    for (int i = 2; i < argc && i < 10; i++)
        words[i - 2] = argv[i];
    for (size_t i = 0; argc > 1 && i < sizeof lists / sizeof *lists; i++)
        for (const struct trick *t = lists[i]; t->name; t++)
            if (strcmp(argv[1], t->name) == 0)
                return t->run(words) ? 0 : 1;
    fprintf(stderr, "there is no such trick\n");
    return 2;
}
