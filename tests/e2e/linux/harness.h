/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for one test program, and lines of sh that run in it. */
#ifndef CORDON_TESTS_HARNESS_H
#define CORDON_TESTS_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static char top[1024], cordon[1200], probe[1200], project[700];

/* Goes on with this program; with the one that CORDON_EXE names (as tools/test does for the one
   that is shipped) whatever is asked for: then false. */
__attribute__((unused)) static bool use_program(const char *program)
{
    const char *given = getenv("CORDON_EXE");
    snprintf(cordon, sizeof cordon, "%s/%s", project, given ? given : program);
    return !given;
}

/* A line of sh in a folder below top; its exit code. */
__attribute__((format(printf, 2, 3), unused)) static int sh(const char *folder, const char *format,
                                                            ...)
{
    char line[6144], command[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd '%s/%s' && { %s; } >/dev/null 2>&1", top, folder, line);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* How much slower than usual the machine is (CORDON_TEST_SLOW, 1 if it is not said): waits are that
   much longer, repetitions that much fewer. */
__attribute__((unused)) static int box_slow(void)
{
    const char *given = getenv("CORDON_TEST_SLOW");
    int factor = given ? atoi(given) : 1;
    return factor > 1 ? factor : 1;
}

/* False after a skip: cordon run does not work on this machine. */
__attribute__((unused)) static bool box_make(const char *what)
{
    char temp[1100];
    if (!getcwd(project, sizeof project))
        return false;
    const char *given = getenv("CORDON_TEST_TOP"); /* by as_user */
    snprintf(top, sizeof top, "%s%s/%s-%d", given ? given : project, given ? "" : "/build", what,
             (int)getpid());
    use_program(CORDON_EXE);
    snprintf(probe, sizeof probe, "%s/%s", project, CORDON_PROBE);
    mkdir(top, 0755);
    /* The shared temp folder can be changed, and the project may lie in the usual one. */
    snprintf(temp, sizeof temp, "%s/temp", top);
    mkdir(temp, 0755);
    setenv("TMPDIR", temp, 1);
    if (sh(".", "'%s' run --root . -- true", cordon) == 0)
        return true;
    skip("cordon run on Linux", "the kernel or the container lacks Landlock or the listener");
    return false;
}

#ifdef CORDON_ABI2
/* From here on the program that is capped at Landlock ABI 2; false where the kernel itself has no
   more, so that the plain program shows it, or where another was named. */
__attribute__((unused)) static bool box_cap(void)
{
    if (sh(".", "'%s' run --verbose --root . -- true 2>&1 | grep -q 'Landlock ABI 2'", cordon) == 0)
        return false;
    return use_program(CORDON_ABI2);
}
#endif

__attribute__((unused)) static int box_done(void)
{
    sh(".", "rm -rf '%s'", top);
    return tap_done();
}

#endif
