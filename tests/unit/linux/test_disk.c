/* SPDX-License-Identifier: Apache-2.0 */
/* A folder whose names cannot be read to the end: the error is not taken for the end. The linker
   leads readdir() here, where it fails when it is told to. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/disk.h"
#include "tap.h"
#include "undo/fs.h"

static int left = -1; /* names until it fails; negative: it does not */

struct dirent *__real_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder);

struct dirent *__wrap_readdir(DIR *folder)
{
    if (left == 0) {
        errno = EIO;
        return NULL;
    }
    left -= left > 0;
    return __real_readdir(folder);
}

static void count(void *context, struct str name)
{
    (void)name;
    ++*(size_t *)context;
}

static bool children(const char *path, size_t most, size_t *seen)
{
    auto_arena struct arena arena = {0};
    *seen = 0;
    return disk_children(&arena, str_of(path), most, count, seen);
}

static void test_children(const char *top)
{
    size_t seen;
    char path[600];
    ok(children(top, 100, &seen) && seen == 3, "control: all names are read");
    left = 3;
    ok(!children(top, 100, &seen), "an error is not the end of the folder");
    left = 0;
    ok(!children(top, 100, &seen) && seen == 0, "nor is one at once");
    left = -1;
    ok(!children(top, 4, &seen), "more names than are looked at");
    snprintf(path, sizeof path, "%s/nothing", top);
    ok(children(path, 100, &seen) && seen == 0, "a folder that is not there has no names");
}

static void test_list(const char *top)
{
    auto_arena struct arena arena = {0};
    const char **names;
    size_t n;
    fs_file folder = fs_open_root(top);
    ok(fs_list(folder, &arena, &names, &n) == 0 && n == 3, "control: the journal's own list");
    left = 3;
    ok(fs_list(folder, &arena, &names, &n) == -EIO, "the error is passed on");
    left = -1;
    fs_close(folder);
}

int main(void)
{
    char top[] = "/tmp/cordon-disk-XXXXXX", path[600];
    static const char *const names[] = {"a", "b", "c"};
    if (!mkdtemp(top))
        return 1;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", top, names[i]);
        mkdir(path, 0700);
    }
    test_children(top);
    test_list(top);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", top, names[i]);
        rmdir(path);
    }
    rmdir(top);
    return tap_done();
}
