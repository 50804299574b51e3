/* SPDX-License-Identifier: Apache-2.0 */
/* Created at the start of a run, removed at its end; see stubs.h. */
#include "launch/windows/stubs.h"

#include <ntsecapi.h>
#include <stdio.h>

#include "base/buf.h"
#include "launch/windows/token.h"
#include "launch/windows/wide.h"

/* The program of src/stub, as it was linked. */
extern const unsigned char stub_image_begin[], stub_image_end[];
__asm__(".section .rdata,\"dr\"\n"
        ".balign 16\n"
        ".globl stub_image_begin, stub_image_end\n"
        "stub_image_begin:\n"
        ".incbin \"" CORDON_STUB_IMAGE "\"\n"
        "stub_image_end:\n"
        ".byte 0\n"
        ".text\n");

struct filling {
    struct arena *arena;
    struct str folder;
    wchar_t *first; /* the image; the others are links to it */
};

static wchar_t *path_of(struct filling *f, struct str name)
{
    auto_buf struct buf path = {0};
    buf_fmt(&path, "%.*s\\%.*s.exe", STR_ARG(f->folder), STR_ARG(name));
    return path.failed ? NULL : wide_of(f->arena, buf_str(&path));
}

static void add_stub(void *context, struct str name)
{
    struct filling *f = context;
    wchar_t *path = path_of(f, name);
    DWORD n;
    if (!path)
        return;
    if (f->first) {
        if (!CreateHardLinkW(path, f->first, NULL))
            CopyFileW(f->first, path, TRUE); /* a file system without links */
        return;
    }
    HANDLE file =
        CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return;
    if (WriteFile(file, stub_image_begin, (DWORD)(stub_image_end - stub_image_begin), &n, NULL))
        f->first = path;
    CloseHandle(file);
}

static DWORD WINAPI fill(void *context)
{
    struct stubs *s = context;
    auto_arena struct arena arena = {0};
    struct filling f = {.arena = &arena, .folder = s->folder};
    add_stub(&f, STR(STUBS_NEUTRAL));
    policy_tool_names(s->policy, add_stub, &f);
    return 0;
}

void stubs_make(struct stubs *s, struct arena *arena, const struct policy *policy)
{
    wchar_t temp[MAX_PATH + 1], name[MAX_PATH + 60];
    ULONG random[2];
    struct token_descriptor own;
    struct launch_failure failure;
    DWORD n = GetTempPathW(MAX_PATH, temp);
    *s = (struct stubs){.policy = policy};
    if (n == 0 || n > MAX_PATH || !RtlGenRandom(random, sizeof random))
        return;
    /* Named like the temp folders of runs: the next run removes what a killed one left. */
    swprintf(name, MAX_PATH + 60, L"%lscordon-run-%lu-stubs%08lx%08lx", temp, GetCurrentProcessId(),
             random[0], random[1]);
    if (token_describe_own(FILE_ALL_ACCESS, &own, &failure) ||
        !CreateDirectoryW(name, &own.attributes))
        return;
    s->folder = wide_narrow(arena, name, wcslen(name));
    s->maker = s->folder.p ? CreateThread(NULL, 0, fill, s, 0, NULL) : NULL;
}

void stubs_remove(struct stubs *s)
{
    auto_arena struct arena arena = {0};
    struct filling f = {.arena = &arena, .folder = s->folder};
    WIN32_FIND_DATAW found;
    if (s->maker) {
        WaitForSingleObject(s->maker, INFINITE);
        CloseHandle(s->maker);
        s->maker = NULL;
    }
    if (!s->folder.p)
        return;
    wchar_t *all = path_of(&f, STR("*"));
    HANDLE find = all ? FindFirstFileW(all, &found) : INVALID_HANDLE_VALUE;
    while (find != INVALID_HANDLE_VALUE) {
        struct str name = wide_narrow(&arena, found.cFileName, wcslen(found.cFileName));
        wchar_t *path = name.n > 4 ? path_of(&f, str_slice(name, 0, name.n - 4)) : NULL;
        if (path)
            DeleteFileW(path);
        if (!FindNextFileW(find, &found)) {
            FindClose(find);
            break;
        }
    }
    wchar_t *folder = wide_of(&arena, s->folder);
    if (folder)
        RemoveDirectoryW(folder);
    s->folder = STR_NONE;
}
