/* SPDX-License-Identifier: Apache-2.0 */
/* Where a path leads, against the kernel's own answer, in a small tree full of links. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/linux/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The caller is this process and lives; these stand in the place of request.c's. */
bool request_alive(const struct request *r)
{
    (void)r;
    return true;
}

ssize_t request_read_string(const struct request *r, uint64_t address, char *out, size_t capacity)
{
    (void)r;
    return snprintf(out, capacity, "%s", (const char *)(uintptr_t)address);
}

bool request_status(const struct request *r, struct request_status *out)
{
    *out = (struct request_status){r->pid, getppid(), 022};
    return true;
}

int request_descriptor(const struct request *r, int fd)
{
    (void)r;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? -errno : copy;
}

static const char *const names[] = {"a",   "b",    "f",     "..",   ".",     "",    "l",    "up",
                                    "abs", "loop", "gone",  "ff",   "a/b/c", "/",   "x/",   "chain",
                                    "a/f", "//",   "../..", "deep", "l/..",  "l/f", "up/a", "root"};

static int tree, folder;

static void make_tree(void)
{
    char top[512], target[600];
    const char *temp = getenv("TMPDIR");
    snprintf(top, sizeof top, "%s/cordon-fuzz-XXXXXX", temp ? temp : "/tmp");
    int before = open(".", O_PATH | O_DIRECTORY);
    if (before < 0 || !mkdtemp(top) || chdir(top))
        abort();
    snprintf(target, sizeof target, "%s/a", top);
    bool made = mkdir("a", 0755) == 0 && mkdir("a/b", 0755) == 0 && mkdir("a/b/c", 0755) == 0 &&
                close(open("f", O_CREAT | O_WRONLY, 0644)) == 0 &&
                close(open("a/f", O_CREAT | O_WRONLY, 0644)) == 0 && symlink("a/b", "l") == 0 &&
                symlink("..", "a/up") == 0 && symlink(target, "abs") == 0 &&
                symlink("loop", "loop") == 0 && symlink("nothing/there", "gone") == 0 &&
                symlink("a/f", "ff") == 0 && symlink("l/../up/ff", "chain") == 0 &&
                symlink("a/up/a/up/abs/b/", "deep") == 0 && symlink("/", "root") == 0;
    folder = open("a", O_RDONLY | O_DIRECTORY);
    tree = open(".", O_RDONLY | O_DIRECTORY);
    /* The fuzzer names its corpus from where it was started. */
    if (!made || folder < 0 || tree < 0 || fchdir(before) || close(before))
        abort();
}

static void check(int dirfd, const char *path, bool follow)
{
    const struct request r = {.listener = -1, .pid = getpid()};
    struct resolved got = {.parent = -1};
    struct stat st;
    char real[PATH_MAX];
    int rc = resolve(&r, dirfd, path, follow, &got);
    int fd = openat(dirfd, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    /* The kernel counts the links of a whole path, the broker those behind its last folder. */
    bool many_links = fd < 0 && errno == ELOOP;
    bool exists = fd >= 0 && fstat(fd, &st) == 0;
    if (rc == 0) {
        if (strchr(got.leaf, '/') || strcmp(got.leaf, ".") == 0 || strcmp(got.leaf, "..") == 0)
            abort();
        /* A folder was wanted and something else is there: the handlers answer that. */
        bool wrong_kind = got.exists && got.folder_wanted && !S_ISDIR(got.st.st_mode);
        if (got.exists != exists && !wrong_kind && !many_links)
            abort();
        if (exists && (got.st.st_dev != st.st_dev || got.st.st_ino != st.st_ino))
            abort();
        if (exists && (!resolve_path_of(fd, real, sizeof real) || strcmp(real, got.path) != 0))
            abort();
        resolved_close(&got);
    } else if (exists) {
        abort();
    }
    if (fd >= 0)
        close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[1024] = "";
    size_t n = 0;
    if (folder == 0)
        make_tree();
    if (size < 2)
        return 0;
    for (size_t i = 1; i < size && n + 16 < sizeof path; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, "%s%s", i > 1 && data[i] < 200 ? "/" : "",
                              names[data[i] % (sizeof names / sizeof *names)]);
    check(data[0] & 1 ? folder : tree, path, data[0] & 2);
    return 0;
}
