/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The temp folder shared with others. An entry directly in it is identified by device, inode and
 * birth time, never by name, so that an entry that takes another's place is judged again. Whatever
 * lies below an entry belongs to the entry's owner.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/folder.h"
#include "launch/temp.h"

/* The name of the temp folder's entry that contains the path; false if the path lies elsewhere. */
static bool entry_name(const struct broker *b, const char *path, char name[NAME_MAX + 1],
                       bool *itself)
{
    size_t n = b->temp.folder.n;
    if (!n || strncmp(path, b->temp.folder.p, n) != 0 || path[n] != '/')
        return false;
    size_t length = strcspn(path + n + 1, "/");
    if (length == 0 || length > NAME_MAX)
        return false;
    memcpy(name, path + n + 1, length);
    name[length] = '\0';
    *itself = path[n + 1 + length] == '\0';
    return true;
}

enum policy_temp_entry own_temp_entry(const struct broker *b, const struct resolved *where)
{
    char name[NAME_MAX + 1], path[PATH_MAX];
    bool itself;
    if (policy_is_semaphore(str_of(where->path)))
        return !where->exists                                  ? POLICY_ENTRY_NEW
               : id_set_count(&b->temp.made, broker_id(where)) ? POLICY_ENTRY_OWN
                                                               : POLICY_ENTRY_FOREIGN;
    if (!entry_name(b, where->path, name, &itself))
        return POLICY_ENTRY_FOREIGN;
    if (itself && !where->exists)
        return POLICY_ENTRY_NEW;
    if (itself)
        return id_set_count(&b->temp.made, broker_id(where)) ? POLICY_ENTRY_OWN
                                                             : POLICY_ENTRY_FOREIGN;
    struct file_id entry;
    bool own = snprintf(path, sizeof path, "%s/%s", b->temp.folder.p, name) < (int)sizeof path &&
               broker_id_at(path, &entry) && id_set_count(&b->temp.made, entry);
    return own ? POLICY_ENTRY_OWN : POLICY_ENTRY_FOREIGN;
}

void own_temp_made(struct broker *b, const struct resolved *where)
{
    char name[NAME_MAX + 1], line[64];
    bool itself;
    struct resolved made = *where;
    bool semaphore = policy_is_semaphore(str_of(where->path));
    if ((!semaphore && (!entry_name(b, where->path, name, &itself) || !itself)) ||
        fstatat(where->parent, where->leaf, &made.st, AT_SYMLINK_NOFOLLOW))
        return;
    b->temp.semaphores = b->temp.semaphores || semaphore;
    struct file_id id = broker_id(&made);
    /* Out of memory: treated as if somebody else had created it. */
    if (id_set_count(&b->temp.made, id) || !id_set_add(&b->temp.made, id) || !id.birth ||
        b->temp.record < 0)
        return;
    int n = snprintf(line, sizeof line, "%llx %llx %llx\n", (unsigned long long)id.volume,
                     (unsigned long long)id.id, (unsigned long long)id.birth);
    (void)!write(b->temp.record, line, (size_t)n);
}

static void read_record(struct broker *b)
{
    char text[65536];
    size_t kept = 0;
    off_t at = 0;
    for (ssize_t n; (n = pread(b->temp.record, text + kept, sizeof text - 1 - kept, at)) > 0;) {
        at += n;
        text[kept + (size_t)n] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            unsigned long long volume, number, birth;
            if (sscanf(line, "%llx %llx %llx", &volume, &number, &birth) == 3 && birth)
                id_set_add(&b->temp.made, (struct file_id){volume, number, birth});
        }
        kept = strlen(line);
        if (kept >= 128)
            return; /* no line of ours */
        memmove(text, line, kept);
    }
}

/* Programs that were ended could not remove theirs. Those of a session may be in use. */
static void remove_semaphores(struct broker *b)
{
    int folder = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct folder names = folder_of(folder);
    char path[PATH_MAX];
    struct file_id id;
    for (const char *name; folder >= 0 && (name = folder_next(&names));)
        if (snprintf(path, sizeof path, "/dev/shm/%s", name) < (int)sizeof path &&
            policy_is_semaphore(str_of(path)) && broker_id_at(path, &id) &&
            id_set_count(&b->temp.made, id))
            unlink(path);
    if (folder >= 0)
        close(folder);
}

void own_temp_end(struct broker *b)
{
    char path[PATH_MAX];
    struct file_id id;
    if (b->temp.semaphores && b->temp.record < 0)
        remove_semaphores(b);
    for (enum temp_cache i = 0; b->temp.folder.n && b->temp.made.used && i < TEMP_CODE_END; i++)
        if (temp_cache(i, b->temp.folder, path, sizeof path) && broker_id_at(path, &id) &&
            id_set_count(&b->temp.made, id) && unlink(path))
            temp_remove(path);
}

void own_temp_begin(struct broker *b)
{
    struct file_id own;
    if (b->temp.own.n && broker_id_at(b->temp.own.p, &own))
        id_set_add(&b->temp.made, own);
    if (b->temp.record >= 0)
        read_record(b);
}
