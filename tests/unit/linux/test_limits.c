/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of a pretended machine: which folder is chosen, what is written, what is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/linux/limits.h"
#include "tap.h"

static char top[512];

__attribute__((format(printf, 1, 2))) static int sh(const char *format, ...)
{
    char line[2048], command[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd '%s' && { %s; } >/dev/null 2>&1", top, line);
    return system(command);
}

/* A plain folder has none of the files that the kernel would make: so there a limit cannot be
   set. */
static int open_limits(const char *mounts, const char *own, uint64_t processes, uint64_t memory,
                       struct limits *l, char *message)
{
    char mount_file[600], own_file[600];
    struct policy_limits wanted = {.processes = processes, .memory = memory};
    snprintf(mount_file, sizeof mount_file, "%s/mounts", top);
    snprintf(own_file, sizeof own_file, "%s/own", top);
    FILE *f = fopen(mount_file, "w");
    fprintf(f, mounts, top, top);
    fclose(f);
    f = fopen(own_file, "w");
    fputs(own, f);
    fclose(f);
    struct limits_source source = {mount_file, own_file};
    return limits_open(&wanted, &source, l, message, 256);
}

int main(void)
{
    static const char unified[] = "30 20 0:26 / %s/cg rw - cgroup2 cgroup rw\n";
    static const char single[] = "30 20 0:26 / %s/p rw - cgroup cgroup rw,pids\n"
                                 "31 20 0:27 / %s/m rw - cgroup cgroup rw,memory\n";
    struct limits l;
    struct limits_reached reached;
    char message[256] = "", here[300];
    if (!getcwd(here, sizeof here))
        return 1;
    snprintf(top, sizeof top, "%s/build/limits-test-%d", here, (int)getpid());
    mkdir(top, 0755);
    sh("mkdir -p cg/a/b p m");

    ok(open_limits(unified, "0::/a/b\n", 0, 0, &l, message) == 0 && l.count == 0,
       "nothing asked for, nothing made");
    int rc = open_limits(unified, "0::/a/b\n", 5, 0, &l, message);
    ok(rc == CORDON_E_CONFINE && strstr(message, "--max-procs: "),
       "no group takes the limit: refused");
    ok(sh("test -z \"$(find . -name 'cordon-*')\"") == 0, "and nothing is left");
    sh("touch cg/a/b/cgroup.subtree_control cg/a/cgroup.subtree_control cg/a/cgroup.procs; echo "
       "domain | tee cg/a/cgroup.type > cg/a/b/cgroup.type; echo 1 > cg/a/b/cgroup.procs");
    open_limits(unified, "1:name=x:/other\n0::/a/b\n", 5, 0, &l, message);
    ok(sh("grep -qx +pids cg/a/cgroup.subtree_control") == 0,
       "the group above its own is asked, in the one tree");
    ok(sh("test ! -s cg/a/b/cgroup.subtree_control") == 0, "its own, with processes in it, is not");
    rc = open_limits(single, "5:pids:/\n6:memory:/x\n", 5, 1 << 20, &l, message);
    ok(rc == CORDON_E_CONFINE && strstr(message, "--max-memory"),
       "the same with one tree for each");
    ok(sh("test -z \"$(find . -name 'cordon-*')\"") == 0, "and nothing is left either");
    ok(open_limits("", "", 5, 0, &l, message) == CORDON_E_CONFINE, "no groups at all: refused");
    l = (struct limits){0};
    limits_close(&l, &reached);
    ok(!reached.processes && !reached.memory, "closing nothing says nothing");

    /* The real ones, where this user may. */
    struct policy_limits wanted = {.processes = 50};
    struct limits_source source = {"/proc/self/mountinfo", "/proc/self/cgroup"};
    if (limits_open(&wanted, &source, &l, message, sizeof message)) {
        skip("a real group", "this user has no control group with a limit of processes");
    } else {
        char text[64] = "", path[PATH_MAX + 16];
        snprintf(path, sizeof path, "%s/pids.max", l.groups[0].path);
        FILE *f = fopen(path, "r");
        ok(f && fgets(text, sizeof text, f) && atoi(text) == 50, "a real group has the limit");
        if (f)
            fclose(f);
        snprintf(path, sizeof path, "%s", l.groups[0].path);
        limits_close(&l, &reached);
        ok(access(path, F_OK) != 0 && !reached.processes, "and is removed");
    }
    sh("rm -rf '%s'", top);
    return tap_done();
}
