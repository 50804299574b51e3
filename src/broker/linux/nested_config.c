/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config of a repository that the run makes. Git writes config.lock and renames it; that is the
 * only way in. What is judged is a copy, and the copy is what gets the name: the run may hold the
 * lock file open for writing, or know it by another name.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "broker/linux/broker.h"

/* At most GIT_CONFIG_MOST bytes; false if it holds more, or is another file by now. */
static bool read_file(const struct resolved *file, struct buf *out)
{
    struct stat st;
    int fd = openat(file->parent, file->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool same = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == file->st.st_dev &&
                st.st_ino == file->st.st_ino && buf_reserve(out, GIT_CONFIG_MOST + 1);
    ssize_t n = 1;
    while (same && n > 0 && out->n <= GIT_CONFIG_MOST) {
        n = read(fd, out->p + out->n, GIT_CONFIG_MOST + 1 - out->n);
        out->n += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return same && n == 0;
}

void nested_config_free(struct nested_config *config)
{
    buf_free(&config->text);
}

bool nested_config_judge(const struct resolved *file, struct nested_config *out)
{
    strcpy(out->key, "a file that cannot be judged");
    out->judged =
        read_file(file, &out->text) && git_config_is_harmless(buf_str(&out->text), out->key);
    return out->judged;
}

static int write_copy(const struct resolved *file, const struct buf *text)
{
    int fd = openat(file->parent, file->leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0)
        return -errno;
    int rc = 0;
    for (size_t at = 0; at < text->n && rc == 0;) {
        ssize_t n = write(fd, text->p + at, text->n - at);
        rc = n < 0 ? -errno : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    if (rc == 0 && fchmod(fd, file->st.st_mode & 0777))
        rc = -errno;
    close(fd);
    return rc;
}

int nested_config_place(struct broker *b, struct request *r, struct resolved *file,
                        const struct nested_config *config)
{
    struct file_id id = broker_id(file);
    int rc = undo_remove(b, r, file);
    if (rc)
        return rc;
    rc = unlinkat(file->parent, file->leaf, 0) ? -errno : 0;
    undo_after(b, -rc, NULL);
    if (rc)
        return rc;
    broker_forget(b, id, &file->st);
    struct resolved copy = *file;
    copy.exists = false;
    rc = undo_create(b, r, &copy, S_IFREG);
    if (rc)
        return rc;
    rc = write_copy(file, &config->text);
    undo_after(b, -rc, &copy);
    if (rc == 0 && fstatat(file->parent, file->leaf, &file->st, AT_SYMLINK_NOFOLLOW))
        rc = -errno;
    return rc;
}
