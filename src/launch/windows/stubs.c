/* SPDX-License-Identifier: Apache-2.0 */
/* Created at the start of a run, removed at its end; see stubs.h. */
#include "wire/windows/nt.h"

#include "launch/windows/stubs.h"

#include <ntsecapi.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/utf.h"
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
    HANDLE into;    /* the same, held open; NULL: it cannot be */
    HANDLE image;   /* the first one; the others are links to it */
    wchar_t *first; /* its path */
};

static wchar_t *path_of(struct filling *f, struct str name)
{
    auto_buf struct buf path = {0};
    buf_fmt(&path, "%.*s\\%.*s.exe", STR_ARG(f->folder), STR_ARG(name));
    return path.failed ? NULL : wide_of(f->arena, buf_str(&path));
}

/* By the open image and folder: each path would be looked up again for every link. */
static bool add_link(struct filling *f, struct str name)
{
    enum { MOST = 64 };
    union {
        struct nt_rename info;
        unsigned char bytes[sizeof(struct nt_rename) + 2 * MOST];
    } link = {{0}};
    IO_STATUS_BLOCK io;
    auto_buf struct buf leaf = {0};
    size_t n;
    buf_fmt(&leaf, "%.*s.exe", STR_ARG(name));
    if (!f->into || leaf.failed || utf_to16(buf_str(&leaf), link.info.name, MOST, &n))
        return false;
    link.info.root = f->into;
    link.info.length = (ULONG)(2 * n);
    return NtSetInformationFile(f->image, &io, &link, sizeof link,
                                (FILE_INFORMATION_CLASS)NT_LINK) >= 0;
}

static void add_stub(void *context, struct str name)
{
    struct filling *f = context;
    wchar_t *path = path_of(f, name);
    DWORD n;
    if (!path)
        return;
    if (f->first) {
        if (!add_link(f, name))
            CopyFileW(f->first, path, TRUE); /* a file system without links */
        return;
    }
    f->image = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_NEW,
                           FILE_ATTRIBUTE_NORMAL, NULL);
    if (f->image == INVALID_HANDLE_VALUE) {
        f->image = NULL;
    } else if (WriteFile(f->image, stub_image_begin, (DWORD)(stub_image_end - stub_image_begin), &n,
                         NULL)) {
        f->first = path;
    } else {
        CloseHandle(f->image);
        f->image = NULL;
    }
}

static DWORD WINAPI fill(void *context)
{
    struct stubs *s = context;
    auto_arena struct arena arena = {0};
    struct filling f = {.arena = &arena, .folder = s->folder};
    wchar_t *folder = wide_of(&arena, s->folder);
    f.into = folder ? CreateFileW(folder, FILE_ADD_FILE | FILE_TRAVERSE | SYNCHRONIZE,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, NULL)
                    : INVALID_HANDLE_VALUE;
    f.into = f.into == INVALID_HANDLE_VALUE ? NULL : f.into;
    add_stub(&f, STR(STUBS_NEUTRAL));
    policy_tool_names(s->policy, add_stub, &f);
    if (f.image)
        CloseHandle(f.image);
    if (f.into)
        CloseHandle(f.into);
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

static void remove_stub(void *context, struct str name)
{
    wchar_t *path = path_of(context, name);
    if (path)
        DeleteFileW(path);
}

void stubs_remove(struct stubs *s)
{
    auto_arena struct arena arena = {0};
    struct filling f = {.arena = &arena, .folder = s->folder};
    if (s->maker) {
        WaitForSingleObject(s->maker, INFINITE);
        CloseHandle(s->maker);
        s->maker = NULL;
    }
    if (!s->folder.p)
        return;
    remove_stub(&f, STR(STUBS_NEUTRAL));
    policy_tool_names(s->policy, remove_stub, &f);
    wchar_t *folder = wide_of(&arena, s->folder);
    if (folder)
        RemoveDirectoryW(folder);
    s->folder = STR_NONE;
}
