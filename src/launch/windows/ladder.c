/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the success of the top rung is remembered, for this boot, user and version; a weaker rung is
 * determined again for every run.
 */
#include "wire/windows/nt.h"

#include "launch/windows/ladder.h"

#include <stdio.h>

#include "cordon.h"
#include "launch/windows/boundary.h"
#include "launch/windows/token.h"

/* ---- what is remembered ---- */

static bool memory_path(wchar_t *out, size_t room)
{
    wchar_t local[MAX_PATH + 1];
    DWORD n = GetEnvironmentVariableW(L"LOCALAPPDATA", local, MAX_PATH);
    return n > 0 && n < MAX_PATH && swprintf(out, room, L"%ls\\cordon-ladder.txt", local) > 0;
}

/* This boot, this program, this Windows. */
static void memory_text(char *out, size_t room)
{
    enum { BOOT_ID = 0x7FFE02C4 }; /* KUSER_SHARED_DATA.BootId */
    snprintf(out, room, "top %s %lu %s\n", cordon_version(),
             (unsigned long)*(volatile ULONG *)BOOT_ID, "1");
}

static bool is_remembered(void)
{
    wchar_t path[MAX_PATH + 40];
    char wanted[80], found[80] = "";
    DWORD n = 0;
    memory_text(wanted, sizeof wanted);
    HANDLE file =
        memory_path(path, MAX_PATH + 40)
            ? CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL)
            : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool read = ReadFile(file, found, sizeof found - 1, &n, NULL);
    CloseHandle(file);
    found[n] = 0;
    return read && strcmp(found, wanted) == 0;
}

static void remember(void)
{
    wchar_t path[MAX_PATH + 40];
    char text[80];
    DWORD n;
    memory_text(text, sizeof text);
    HANDLE file = memory_path(path, MAX_PATH + 40)
                      ? CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL)
                      : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return;
    WriteFile(file, text, (DWORD)strlen(text), &n, NULL);
    CloseHandle(file);
}

/* ---- choosing ---- */

/* Where the token enforces nothing, nothing can fail because of it. */
static bool token_matters(void)
{
    struct token_run who;
    struct launch_failure failure;
    struct boundary tried = {0};
    HANDLE token;
    if (token_run_sid(&who, &failure) ||
        token_make(&who, &(struct token_options){0}, &token, &failure))
        return true;
    boundary_try(token, &tried);
    CloseHandle(token);
    return tried.files || tried.deletes || tried.processes;
}

bool ladder_settle(ladder_trial *trial, void *context, struct ladder_rung *out)
{
    struct ladder_rung rung = {{0}};
    bool known = is_remembered();
    if (!known && token_matters() && !ladder_find(trial, context, &rung))
        return false;
    if (!known && ladder_is_top(&rung))
        remember();
    *out = rung;
    return true;
}
