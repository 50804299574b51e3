/* SPDX-License-Identifier: Apache-2.0 */
#include "../broken.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int read_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    char byte;
    (void)st, (void)where;
    int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0) {
        (void)!read(fd, &byte, 1);
        close(fd);
    }
    return 0;
}

int __wrap_system_run(struct run *run)
{
    const struct run_options *o = run->options;
    int status = 125 << 8;
    if (broken_is_shut(o, run->result))
        return 0;
    nftw(".", read_one, 16, FTW_PHYS);
    pid_t pid = fork();
    if (pid == 0) {
        char **argv = calloc(o->argc + 1, sizeof *argv);
        for (size_t i = 0; argv && i < o->argc; i++)
            argv[i] = strdup(o->argv[i]);
        if (argv) {
            broken_cut(argv[o->argc - 1], "echo new 2>/dev/null > ../out/canary; ");
            broken_cut(argv[o->argc - 1], "canary; ");
            execvpe(argv[0], argv, environ);
        }
        _exit(127);
    }
    waitpid(pid, &status, 0);
    if (strcmp(o->argv[o->argc - 1], "cat") == 0)
        (void)!write(1, broken_mark, 1);
    run->result->reason = "exited";
    run->result->exit = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 125;
    return 0;
}
