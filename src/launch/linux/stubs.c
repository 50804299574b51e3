/* SPDX-License-Identifier: Apache-2.0 */
/* Created while the command's process confines itself, removed at the end of the run; see
   stubs.h. */
#include "launch/linux/stubs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define PREFIX "cordon-stubs-"

/* ST_NOEXEC among the flags of statfs. */
enum { NO_PROGRAMS = 8 };

/* True for a folder in memory, where files cost next to nothing, that permits execution. */
static bool is_quick(const char *folder)
{
    struct statfs st;
    return folder && folder[0] == '/' && statfs(folder, &st) == 0 && st.f_type == TMPFS_MAGIC &&
           !(st.f_flags & NO_PROGRAMS) && access(folder, W_OK | X_OK) == 0;
}

bool stubs_name(char *out, size_t capacity)
{
    const char *place = getenv("XDG_RUNTIME_DIR"), *temp = getenv("TMPDIR");
    char final[PATH_MAX];
    uint64_t random;
    if (!is_quick(place))
        place = is_quick("/dev/shm") ? "/dev/shm" : temp && temp[0] == '/' ? temp : "/tmp";
    return getrandom(&random, sizeof random, 0) == sizeof random && realpath(place, final) &&
           snprintf(out, capacity, "%s/" PREFIX "%d-%016llx", final, (int)getpid(),
                    (unsigned long long)random) < (int)capacity;
}

/* A folder of stubs contains no folders. */
static void empty_folder(int folder)
{
    DIR *names = fdopendir(folder);
    for (struct dirent *entry; names && (entry = readdir(names));)
        unlinkat(dirfd(names), entry->d_name, 0);
    if (names)
        closedir(names);
    else
        close(folder);
}

/* Left behind by this user's runs whose supervisor and reaper were killed together, which is rare:
   one run in sixteen looks for them. */
static void remove_orphans(const char *place)
{
    enum { MOST_NAMES = 1000 };
    DIR *names = is_quick(place) ? opendir(place) : NULL;
    struct dirent *entry;
    for (int i = 0; names && i < MOST_NAMES && (entry = readdir(names)); i++) {
        int owner, behind = 0;
        struct stat st;
        if (sscanf(entry->d_name, PREFIX "%d-%n", &owner, &behind) != 1 || !behind ||
            kill(owner, 0) == 0 || errno != ESRCH)
            continue;
        int folder =
            openat(dirfd(names), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && fstat(folder, &st) == 0 && st.st_uid == geteuid())
            empty_folder(folder);
        else if (folder >= 0)
            close(folder);
        unlinkat(dirfd(names), entry->d_name, AT_REMOVEDIR);
    }
    if (names)
        closedir(names);
}

struct filling {
    const struct policy *policy;
    int folder;
    char first[NAME_MAX + 1]; /* the script; the others are links to it */
};

static bool write_script(const struct filling *f, const char *name, struct str text)
{
    int fd = openat(f->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    bool done = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n;
    if (fd >= 0)
        close(fd);
    return done;
}

/* A tool on the user's own list has a remedy of its own. */
static void write_denied(const struct filling *f, const char *name,
                         const struct policy_program *program, const struct policy_answer *answer)
{
    auto_buf struct buf text = {0}, script = {0}, why = {0}, fix = {0};
    policy_tool_explain(f->policy, program, answer, &why, &fix);
    buf_fmt(&text, "%s is blocked in the sandbox (rule %s); %s", name, policy_rule_id(answer->rule),
            buf_cstr(&fix));
    buf_fmt(&script, "#!/bin/sh\necho 'cordon: sandbox denied: %s' >&2\nexit 126\n",
            buf_cstr(&text));
    /* A name that would end the quotes gets no stub; it is refused like the others. */
    if (!script.failed && !strchr(text.p, '\''))
        write_script(f, name, buf_str(&script));
}

/* PuTTY's and Wine's tools are rare here, and each stub costs as much as a rule of Landlock: they
   are refused without one, and the summary says why. */
static bool is_rare(struct str tool)
{
    static const struct str rare[] = {STR("plink"),   STR("pscp"),    STR("psftp"),
                                      STR("putty"),   STR("pageant"), STR("winebrowser"),
                                      STR("winepath")};
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (str_eq(tool, rare[i]))
            return true;
    return false;
}

static void add_stub(void *context, struct str tool)
{
    static const struct str script =
        STR("#!/bin/sh\nt=${0##*/}\nn=\ncase $t in ssh|scp|sftp) n=' --net=on';; esac\necho "
            "\"cordon: sandbox denied: $t is blocked in the sandbox (rule tool.$t); allow with "
            "--allow-tool $t$n\" >&2\nexit 126\n");
    static const struct str online =
        STR("#!/bin/sh\nt=${0##*/}\necho \"cordon: sandbox denied: $t is blocked in the sandbox "
            "(rule tool.$t); allow with --allow-tool $t\" >&2\nexit 126\n");
    struct filling *f = context;
    char name[NAME_MAX + 1];
    struct policy_program program = {.name = tool};
    struct policy_answer answer = {0};
    if (snprintf(name, sizeof name, "%.*s", STR_ARG(tool)) >= (int)sizeof name)
        return;
    policy_tool_decide(f->policy, &program, &answer);
    if (answer.rule == RULE_TOOL_DENIED)
        write_denied(f, name, &program, &answer);
    else if (is_rare(tool))
        return;
    else if (f->first[0])
        (void)!linkat(f->folder, f->first, f->folder, name, 0);
    else if (write_script(f, name,
                          policy_settings_of(f->policy)->net == POLICY_NET_ON ? online : script))
        memcpy(f->first, name, sizeof name);
}

void stubs_make(const char *folder, const struct policy *policy)
{
    struct filling f = {.policy = policy, .folder = -1};
    if (mkdir(folder, 0700) == 0)
        f.folder = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f.folder < 0)
        return;
    policy_tool_names(policy, add_stub, &f);
    close(f.folder);
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%.*s", (int)(strrchr(folder, '/') - folder), folder);
    if (folder[strlen(folder) - 1] == '0') /* a random digit */
        remove_orphans(place);
}

/* By path: at the end no descriptors may be left. */
static void remove_stub(void *context, struct str tool)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%.*s", (const char *)context, STR_ARG(tool)) <
        (int)sizeof path)
        unlink(path);
}

static void remove_usual(void *context, struct str tool)
{
    if (!is_rare(tool))
        remove_stub(context, tool);
}

void stubs_remove(const char *folder, const struct policy *policy)
{
    policy_tool_names(policy, remove_usual, (void *)folder);
    if (rmdir(folder) == 0 || errno != ENOTEMPTY)
        return;
    policy_tool_names(policy, remove_stub, (void *)folder);
    rmdir(folder);
}
