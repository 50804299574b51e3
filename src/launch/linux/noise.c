/* SPDX-License-Identifier: Apache-2.0 */
/* Which refusals are worth a line. */
#include "launch/linux/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "policy/rules.h"

static const struct {
    bool minor;
    enum audit_op op;
    const char *program, *target;
} known[] = {
#define QUIET(op, program, target, reason) {false, op, program, target},
#define MINOR(op, program, target, reason) {true, op, program, target},
#include "launch/linux/noise.def"
#undef QUIET
#undef MINOR
};

static bool is_change(enum audit_op op)
{
    return op == AUDIT_FILE_WRITE || op == AUDIT_FILE_CREATE || op == AUDIT_FILE_DELETE ||
           op == AUDIT_FILE_RENAME || op == AUDIT_FILE_ATTRIBUTES || op == AUDIT_FILE_SECURITY;
}

/* True if the rights of the file or of its folder would have refused it without Cordon. */
static bool is_closed_anyway(const struct audit_event *event)
{
    char path[PATH_MAX];
    struct stat st;
    if (!is_change(event->op) || !str_eq(event->rule, str_of(policy_rule_id(RULE_ROOTS_OUTSIDE))) ||
        snprintf(path, sizeof path, "%.*s", STR_ARG(event->target)) >= (int)sizeof path)
        return false;
    bool exists = lstat(path, &st) == 0;
    if (exists && (event->op == AUDIT_FILE_ATTRIBUTES || event->op == AUDIT_FILE_SECURITY))
        return geteuid() != 0 && st.st_uid != geteuid();
    if (exists && (event->op == AUDIT_FILE_WRITE || event->op == AUDIT_FILE_CREATE))
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0;
    /* A name appears in a folder or goes away from it. */
    do {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            return faccessat(AT_FDCWD, "/", W_OK, AT_EACCESS) != 0;
        *slash = '\0';
    } while (stat(path, &st) && errno == ENOENT);
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0;
}

/* Commands of git that refresh the index where they can, and do their work all the same. */
static const char *const refreshing[] = {"status", "diff", "describe", "clone",
                                         "log",    "show", "grep"};

/* True if git was told to do something that fails without its index. */
static bool needs_index(const struct audit_event *event)
{
    char path[64], text[1024];
    if (!str_ends(event->target, STR("/index.lock")) || !event->pid)
        return false;
    snprintf(path, sizeof path, "/proc/%u/cmdline", event->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = text + (n > 0 ? n : 0), *word = text + strlen(text) + 1;
    while (word < end && word[0] == '-')
        for (int words = strcmp(word, "-C") == 0 || strcmp(word, "-c") == 0 ? 2 : 1;
             words > 0 && word < end; words--)
            word += strlen(word) + 1;
    for (size_t i = 0; word < end && i < sizeof refreshing / sizeof *refreshing; i++)
        if (strcmp(word, refreshing[i]) == 0)
            return false;
    return word < end;
}

void noise_mark(struct audit_event *event)
{
    if (event->type != AUDIT_DENY || event->quiet)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if ((known[i].op != AUDIT_NO_OP && known[i].op != event->op) ||
            (known[i].program[0] &&
             !glob_match(GLOB_STARS, str_of(known[i].program), event->image)) ||
            !glob_match(GLOB_STARS, str_of(known[i].target), event->target))
            continue;
        event->quiet = !known[i].minor;
        event->minor = known[i].minor && !needs_index(event);
        break;
    }
    /* A folder that cannot go in one step is copied by whoever moves it. */
    if (str_eq(event->rule, str_of(policy_rule_id(RULE_LINK_PLACE))))
        event->minor = true;
    if (!event->quiet && is_closed_anyway(event))
        event->quiet = true;
}
