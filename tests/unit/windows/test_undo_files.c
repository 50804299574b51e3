/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a journal on Windows: copies of files that change meanwhile, and lists of streams. */
#include "undo/windows/fs_inside.h"

#include <stdio.h>

#include "tap.h"

/* ---- streams ---- */

static size_t add_stream(unsigned char *list, size_t at, const wchar_t *name, bool last)
{
    ULONG length = (ULONG)(wcslen(name) * sizeof *name), size = (24 + length + 7) / 8 * 8;
    ULONG next = last ? 0 : size;
    memset(list + at, 0, size);
    memcpy(list + at, &next, sizeof next);
    memcpy(list + at + 4, &length, sizeof length);
    memcpy(list + at + 24, name, length);
    return at + size;
}

static void test_streams(void)
{
    static const struct {
        const wchar_t *names[3];
        bool any, lost;
    } cases[] = {
        {{L"::$DATA"}, false, false},
        {{L"::$DATA", L":Zone.Identifier:$DATA"}, true, false},
        {{L"::$DATA", L":zone.identifier:$DATA"}, true, false},
        {{L":Zone.Identifier:$DATA", L"::$DATA"}, true, false},
        {{L"::$DATA", L":extra:$DATA"}, true, true},
        {{L"::$DATA", L":Zone.Identifier2:$DATA"}, true, true},
        {{L"::$DATA", L":Zone.Identifier:$DATA", L":extra:$DATA"}, true, true},
        {{L"::$DATA", L":extra:$DATA", L":Zone.Identifier:$DATA"}, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char list[512];
        size_t n = 0;
        for (size_t k = 0; k < 3 && cases[i].names[k]; k++)
            n = add_stream(list, n, cases[i].names[k], k == 2 || !cases[i].names[k + 1]);
        ok(fs_lists_streams(list, n, true) == cases[i].any &&
               fs_lists_streams(list, n, false) == cases[i].lost,
           "streams %zu: %s", i,
           cases[i].lost  ? "lost with the file"
           : cases[i].any ? "only the mark of a download"
                          : "none but the content");
    }
    unsigned char list[64];
    size_t n = add_stream(list, 0, L"::$DATA", true);
    ok(!fs_lists_streams(list, 0, true) && fs_lists_streams(list, n - 4, true),
       "an empty list has none, and a name that is cut off counts as one");
}

/* ---- copies ---- */

enum { LARGE = 256 << 20 };

static fs_file folder;

/* Cuts the source off as soon as the copy has begun. */
static DWORD WINAPI cut(void *unused)
{
    struct fs_stat st;
    (void)unused;
    while (fs_stat(folder, "to", &st) || st.size == 0)
        ;
    fs_file from = fs_open_file(folder, "from", FS_CHANGE);
    fs_truncate(from, 100);
    fs_close(from);
    return 0;
}

static int copy(bool cut_off, uint64_t *size)
{
    struct fs_stat st = {0};
    fs_remove(folder, "from", false);
    fs_remove(folder, "to", false);
    fs_file from = fs_open_file(folder, "from", FS_CREATE);
    fs_file to = fs_open_file(folder, "to", FS_CREATE);
    int rc = from < 0 || to < 0 ? -EBADF : fs_truncate(from, LARGE);
    HANDLE thread = cut_off ? CreateThread(NULL, 0, cut, NULL, 0, NULL) : NULL;
    if (rc == 0)
        rc = fs_copy(from, to, NULL);
    if (thread) {
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
    }
    fs_stat(to, "", &st);
    *size = st.size;
    fs_close(from);
    fs_close(to);
    return rc;
}

static void test_copy(void)
{
    uint64_t size;
    int rc = copy(false, &size);
    ok(rc == 0 && size == LARGE, "control: a file that stays is copied (%d)", rc);
    rc = copy(true, &size);
    ok(rc == -EAGAIN, "a file that is cut off meanwhile is not (%d)", rc);
}

int main(void)
{
    char path[MAX_PATH];
    DWORD n = GetTempPathA(sizeof path - 40, path);
    snprintf(path + n, sizeof path - n, "cordon-undo-%lu", GetCurrentProcessId());
    CreateDirectoryA(path, NULL);
    fs_use_slashes(path);
    folder = fs_open_root(path);
    ok(folder >= 0, "a folder to work in");
    test_streams();
    test_copy();
    fs_remove(folder, "from", false);
    fs_remove(folder, "to", false);
    fs_close(folder);
    RemoveDirectoryA(path);
    return tap_done();
}
