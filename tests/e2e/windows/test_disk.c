/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon why` on a real disk, under Wine or on Windows: final paths, hard links, 8.3 names,
   case. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "base/buf.h"
#include "tap.h"

static char top[MAX_PATH];

static bool make_file(const char *name)
{
    char path[2 * MAX_PATH];
    snprintf(path, sizeof path, "%s\\%s", top, name);
    FILE *f = fopen(path, "wb");
    return f && fputs("x", f) >= 0 && fclose(f) == 0;
}

/* The exit code; the output goes into out. */
static int ask(struct buf *out, const char *question, const char *name, const char *options)
{
    char command[4 * MAX_PATH];
    snprintf(command, sizeof command, "%s why %s \"%s\\%s\" --json %s 2>&1", CORDON_EXE, question,
             top, name, options);
    buf_reset(out);
    FILE *pipe = _popen(command, "rb");
    char chunk[512];
    for (size_t n; pipe && (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
        buf_add(out, (struct str){chunk, n});
    return pipe ? _pclose(pipe) : -1;
}

static bool says(const struct buf *out, const char *text)
{
    return str_find(buf_str(out), str_of(text), 0) < out->n;
}

int main(void)
{
    auto_buf struct buf out = {0};
    char root[2 * MAX_PATH], link[2 * MAX_PATH], outside[2 * MAX_PATH], temp[MAX_PATH];
    GetTempPathA(sizeof temp, temp);
    snprintf(top, sizeof top, "%.200scordon-test-%lu", temp, GetCurrentProcessId());
    snprintf(root, sizeof root, "%s\\workspace", top);
    snprintf(outside, sizeof outside, "%s\\outside.txt", top);
    snprintf(link, sizeof link, "%s\\workspace\\linked.txt", top);
    CreateDirectoryA(top, NULL);
    CreateDirectoryA(root, NULL);
    if (!make_file("workspace\\inside.txt") || !make_file("outside.txt") ||
        !CreateHardLinkA(link, outside, NULL)) {
        skip("a real disk", "the test folder could not be made");
        return tap_done();
    }
    char options[3 * MAX_PATH];
    snprintf(options, sizeof options, "--root \"%s\"", root);

    ok(ask(&out, "write", "workspace\\inside.txt", options) == 0 &&
           says(&out, "\"facts\":\"seen\""),
       "a file inside is seen and allowed");
    ok(ask(&out, "write", "workspace\\new.txt", options) == 0, "a new file inside is allowed");
    ok(ask(&out, "write", "outside.txt", options) == 126 && says(&out, "roots.outside"),
       "a file outside is denied");
    ok(ask(&out, "write", "workspace\\..\\outside.txt", options) == 126 &&
           says(&out, "roots.outside"),
       "also by ..");
    ok(ask(&out, "write", "WORKSPACE\\INSIDE.TXT", options) == 0, "another case is the same file");
    ok(ask(&out, "write", "workspace\\linked.txt", options) == 126 && says(&out, "link.hard"),
       "a hard link to a file outside is denied");
    ok(ask(&out, "write", "workspace\\a.txt:stream", options) == 126 && says(&out, "path.stream"),
       "a stream is denied");
    ok(ask(&out, "write", "workspace\\.git\\config", options) == 126 && says(&out, "protected.git"),
       "a repository that does not exist is protected");
    ok(ask(&out, "write", "x", "--root \"C:\\\\\"") == 125 && says(&out, "whole drive"),
       "a drive as a root is refused");
    ok(ask(&out, "write", "x", "--root \"C:\\windows\"") == 125, "so is the system folder");

    DeleteFileA(link);
    DeleteFileA(outside);
    snprintf(link, sizeof link, "%s\\inside.txt", root);
    DeleteFileA(link);
    RemoveDirectoryA(root);
    ok(RemoveDirectoryA(top), "nothing is left of the test");
    return tap_done();
}
