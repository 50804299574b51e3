/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic links that a run makes. What is done through one is judged at its target, so it may lead
 * anywhere but to one kind of place: from where the names of editors and agents are protected to
 * where they are ordinary. Through it a .vscode among packages would be one of the project.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "policy/names.h"

/* True if this name could be made in this folder, and stay there. */
static bool is_ordinary(struct broker *b, const char *folder, enum protected_name name)
{
    struct resolved inside = {.parent = -1, .folder_wanted = true};
    struct policy_request question;
    struct policy_answer answer = {0};
    if (snprintf(inside.path, sizeof inside.path, "%s/%s", folder, protected_spelled(name)) >=
        (int)sizeof inside.path)
        return false;
    broker_question(b, &inside, POLICY_CREATE, &question);
    policy_decide(b->policy, &question, &answer);
    bool ends = answer.rule == RULE_TEMP_INSIDE &&
                policy_settings_of(b->policy)->temp == POLICY_TEMP_PRIVATE;
    return answer.verdict == CORDON_ALLOW && !ends;
}

/* Where a link in this folder leads; of what does not exist the part that does, and the rest as it
   is spelled. False if there is no telling, and for a file: it has no names in it. */
static bool find_target(int folder, const char *text, char out[PATH_MAX])
{
    char path[PATH_MAX];
    struct stat st;
    size_t n = strlen(text), end = n;
    int fd = -1;
    if (n >= sizeof path)
        return false;
    memcpy(path, text, n + 1);
    while (end && (fd = openat(folder, path, O_PATH | O_CLOEXEC)) < 0) {
        while (end && path[end - 1] == '/')
            end--;
        while (end && path[end - 1] != '/')
            end--;
        path[end] = '\0';
    }
    if (fd < 0)
        fd = openat(folder, ".", O_PATH | O_CLOEXEC);
    bool file = end == n && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool found = fd >= 0 && !file && resolve_path_of(fd, out, PATH_MAX);
    if (fd >= 0)
        close(fd);
    size_t have = found ? strlen(out) : 0;
    return found &&
           snprintf(out + have, PATH_MAX - have, "/%s", text + end) < (int)(PATH_MAX - have);
}

bool link_allows(struct broker *b, struct request *r, const struct resolved *where,
                 const char *text)
{
    char target[PATH_MAX] = "";
    /* They are all alike, unless --unprotect names some. */
    int last =
        policy_settings_of(b->policy)->unprotect.count ? PROTECTED_COUNT - 1 : PROTECTED_CORDON + 1;
    for (int name = PROTECTED_CORDON + 1; name <= last; name++) {
        if (is_ordinary(b, where->path, (enum protected_name)name))
            continue;
        if (!target[0] && !find_target(where->parent, text, target))
            return true; /* nothing is below it */
        if (!is_ordinary(b, target, (enum protected_name)name))
            continue;
        broker_report_text(b, r, AUDIT_FILE_CREATE, str_of(where->path), AUDIT_DENY,
                           str_of(policy_rule_id(RULE_LINK_PACKAGES)),
                           STR("it leads among packages or the like, and what is made there would "
                               "be obeyed by editors and agents under this name"),
                           STR(POLICY_NO_REMEDY "; copy what is there, or make the link outside"));
        request_fail(r, EACCES);
        return false;
    }
    return true;
}

bool link_allows_move(struct broker *b, struct request *r, const struct resolved *from,
                      const struct resolved *to)
{
    char text[PATH_MAX];
    if (!S_ISLNK(from->st.st_mode))
        return true;
    ssize_t n = readlinkat(from->parent, from->leaf, text, sizeof text - 1);
    if (n < 0) {
        request_fail(r, errno);
        return false;
    }
    text[n] = '\0';
    return link_allows(b, r, to, text);
}
