/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the command line writes, on Linux. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "launch/linux/output.h"

bool cli_is_link(const char *path)
{
    struct stat st;
    int fd = output_open(path, O_PATH | O_CLOEXEC, 0), error = errno;
    if (fd < 0)
        return error == ELOOP;
    bool link = fstat(fd, &st) || S_ISLNK(st.st_mode);
    close(fd);
    return link;
}

FILE *system_fopen(const char *path, const char *mode)
{
    return fopen(path, mode);
}

bool cli_remove_file(const char *path)
{
    return unlink(path) == 0;
}

/* The folders above the file. */
static bool make_parents(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool write_all(int fd, struct str content)
{
    for (size_t done = 0; done < content.n;) {
        ssize_t n = write(fd, content.p + done, content.n - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return fsync(fd) == 0;
}

bool cli_replace_file(const char *path, struct str content, char *why, size_t capacity)
{
    auto_buf struct buf name = {0}, temp = {0};
    struct stat old;
    char *final = realpath(path, NULL); /* a link stays a link */
    buf_add(&name, str_of(final ? final : path));
    free(final);
    buf_add(&temp, buf_str(&name));
    buf_add(&temp, STR(".cordon-new"));
    bool is_old = stat(buf_cstr(&name), &old) == 0;
    int fd = -1;
    if (temp.n && make_parents((char *)buf_cstr(&name)))
        fd = open(buf_cstr(&temp), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool done = fd >= 0 && write_all(fd, content) &&
                (!is_old || fchmod(fd, old.st_mode & 07777) == 0) &&
                rename(buf_cstr(&temp), buf_cstr(&name)) == 0;
    if (!done)
        snprintf(why, capacity, "%s", strerror(errno));
    if (!done && fd >= 0)
        unlink(buf_cstr(&temp));
    if (fd >= 0)
        close(fd);
    return done;
}
