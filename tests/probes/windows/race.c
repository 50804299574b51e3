/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes through a name that somebody else turns around meanwhile: race FOLDER MS. Creates that
 * are never removed, overwrites, deletes, renames, attributes, folders; several threads. What was
 * granted and what was not is counted, so that the test knows that both happened.
 */
#include "wire/windows/nt.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

enum { THREADS = 4, SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static volatile LONG granted, refused;
static uint64_t until;

static void count(BOOL good)
{
    InterlockedIncrement(good ? &granted : &refused);
}

static void write_to(const wchar_t *path, DWORD disposition, DWORD flags)
{
    DWORD n;
    HANDLE file = CreateFileW(path, GENERIC_WRITE, SHARE, NULL, disposition, flags, NULL);
    count(file != INVALID_HANDLE_VALUE);
    if (file == INVALID_HANDLE_VALUE)
        return;
    WriteFile(file, "x", 1, &n, NULL);
    CloseHandle(file);
}

/* Opened through the link, renamed and removed by its handle a moment later. */
static void by_handle(const wchar_t *path, const wchar_t *target, int what)
{
    union {
        FILE_RENAME_INFO info;
        unsigned char room[2000];
    } rename = {0};
    FILE_DISPOSITION_INFO gone = {TRUE};
    FILE_BASIC_INFO basic = {.FileAttributes = FILE_ATTRIBUTE_READONLY};
    HANDLE file = CreateFileW(path, DELETE | FILE_WRITE_ATTRIBUTES, SHARE, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS, NULL);
    count(file != INVALID_HANDLE_VALUE);
    if (file == INVALID_HANDLE_VALUE)
        return;
    rename.info.FileNameLength = 2 * (DWORD)wcslen(target);
    memcpy(rename.info.FileName, target, rename.info.FileNameLength);
    if (what == 0)
        count(SetFileInformationByHandle(file, FileRenameInfo, &rename, sizeof rename));
    else if (what == 1)
        count(SetFileInformationByHandle(file, FileDispositionInfo, &gone, sizeof gone));
    else
        count(SetFileInformationByHandle(file, FileBasicInfo, &basic, sizeof basic));
    CloseHandle(file);
}

static DWORD WINAPI work(void *context)
{
    int thread = (int)(intptr_t)context;
    const wchar_t *folder = word(0);
    for (int n = 0; GetTickCount64() < until; n++) {
        wchar_t path[600], other[600], full[600];
        int victim = (n / 9 * THREADS + thread) % 40;
        swprintf(path, 600, L"%ls\\new-%d-%d", folder, thread, n);
        swprintf(other, 600, L"%ls\\victim-%d", folder, victim);
        switch (n % 9) {
        case 0: write_to(path, CREATE_NEW, 0); break;
        case 1: write_to(path, CREATE_ALWAYS, 0); break;
        case 2:
            swprintf(path, 600, L"%ls\\keep", folder);
            write_to(path, thread % 2 ? CREATE_ALWAYS : OPEN_EXISTING, 0);
            break;
        case 3: count(DeleteFileW(other)); break;
        case 4: count(MoveFileExW(other, path, MOVEFILE_REPLACE_EXISTING)); break;
        case 5: count(CreateDirectoryW(path, NULL)); break;
        case 6:
            GetFullPathNameW(path, 600, full, NULL);
            by_handle(other, full, thread % 3);
            break;
        case 7: /* a file from inside, moved through the link */
            swprintf(other, 600, L"sub\\from-%d", thread);
            write_to(other, CREATE_ALWAYS, 0);
            count(MoveFileExW(other, path, 0));
            break;
        default:
            swprintf(other, 600, L"sub\\link-%d", thread);
            write_to(other, OPEN_ALWAYS, 0);
            count(CreateHardLinkW(path, other, NULL));
        }
    }
    return 0;
}

int do_race(void)
{
    HANDLE threads[THREADS];
    until = GetTickCount64() + (uint64_t)_wtoi(word(1));
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, work, (void *)(intptr_t)i, 0, NULL);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    printf("granted %ld, refused %ld\n", (long)granted, (long)refused);
    return 0;
}

/* ---- work to be killed in ---- */

static DWORD WINAPI churn(void *context)
{
    int thread = (int)(intptr_t)context;
    for (int n = 0; GetTickCount64() < until; n = (n + 1) % 20) {
        wchar_t first[600], second[600];
        char text[40];
        DWORD done;
        swprintf(first, 600, L"%ls\\a-%d-%d", word(0), thread, n);
        swprintf(second, 600, L"%ls\\b-%d-%d", word(0), thread, n);
        int size = snprintf(text, sizeof text, "%d-%d", thread, n);
        HANDLE file = CreateFileW(first, GENERIC_WRITE, SHARE, NULL, CREATE_ALWAYS, 0, NULL);
        WriteFile(file, text, (DWORD)size, &done, NULL);
        CloseHandle(file);
        MoveFileExW(first, second, MOVEFILE_REPLACE_EXISTING);
        if (n % 3 == 0)
            DeleteFileW(second);
    }
    return 0;
}

/* Files made, renamed over each other and deleted by four threads: churn FOLDER MS. */
int do_churn(void)
{
    HANDLE threads[THREADS];
    until = GetTickCount64() + (uint64_t)_wtoi(word(1));
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, churn, (void *)(intptr_t)i, 0, NULL);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    return 0;
}

/* Starts churn and kills it so many milliseconds later: killer FOLDER MS N. If N is even the time
 * begins with its first finished file, so that half of them die at work however slow the machine
 * is, and half of them perhaps while they start. */
int do_killer(void)
{
    wchar_t self[600], line[1400], first[600];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    DWORD code = 0;
    GetModuleFileNameW(NULL, self, 600);
    swprintf(line, 1400, L"\"%ls\" churn %ls 60000", self, word(0));
    swprintf(first, 600, L"%ls\\b-0-1", word(0));
    DeleteFileW(first);
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
        return last_error();
    for (int waited = 0; _wtoi(word(2)) % 2 == 0 && waited < 1000; waited++) {
        if (GetFileAttributesW(first) != INVALID_FILE_ATTRIBUTES)
            break;
        Sleep(10);
    }
    Sleep(30 + (DWORD)_wtoi(word(1)));
    TerminateProcess(child.hProcess, 77);
    WaitForSingleObject(child.hProcess, 10000);
    GetExitCodeProcess(child.hProcess, &code);
    printf(code == 77 ? "killed\n" : "ended by %lu\n", (unsigned long)code);
    return code == 77 ? 0 : 1;
}

/* ---- exchanged during one call ---- */

enum { TRIES = 1000 };

static UNICODE_STRING exchanged;
static wchar_t inside[700], outside[700];
static volatile LONG racing = 1;

static void full_name(const wchar_t *path, wchar_t *out)
{
    wchar_t full[600];
    GetFullPathNameW(path, 600, full, NULL);
    swprintf(out, 700, L"\\??\\%ls", full);
}

static DWORD WINAPI exchange(void *context)
{
    (void)context;
    while (racing) {
        exchanged.Buffer = inside;
        for (volatile int i = 0; i < 50; i++)
            ;
        exchanged.Buffer = outside;
        for (volatile int i = 0; i < 50; i++)
            ;
    }
    return 0;
}

/* race-name OUTSIDE INSIDE: another thread exchanges the buffer of the name. */
int do_race_name(void)
{
    full_name(word(0), outside);
    full_name(word(1), inside);
    exchanged = (UNICODE_STRING){(USHORT)(2 * wcslen(outside)), 1400, outside};
    /* Both of one length, so that only the buffer changes. */
    while (wcslen(inside) < wcslen(outside))
        wcscat(inside, L"x");
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    InitializeObjectAttributes(&object, &exchanged, OBJ_CASE_INSENSITIVE, NULL, NULL);
    HANDLE thread = CreateThread(NULL, 0, exchange, NULL, 0, NULL);
    for (int i = 0; i < TRIES; i++) {
        HANDLE file;
        if (NtCreateFile(&file, GENERIC_WRITE | SYNCHRONIZE, &object, &io, NULL, 0, SHARE,
                         FILE_OPEN_IF, FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0) >= 0)
            CloseHandle(file);
    }
    racing = 0;
    WaitForSingleObject(thread, INFINITE);
    return 0;
}

static const wchar_t *folder_outside;

static DWORD WINAPI change_folder(void *context)
{
    const wchar_t *home = context;
    while (racing) {
        SetCurrentDirectoryW(folder_outside);
        SetCurrentDirectoryW(home);
    }
    return 0;
}

/* race-folder OUTSIDE NAME: a relative name while the current folder changes. */
int do_race_folder(void)
{
    wchar_t home[600], there[600];
    GetCurrentDirectoryW(600, home);
    GetFullPathNameW(word(0), 600, there, NULL);
    folder_outside = there;
    HANDLE thread = CreateThread(NULL, 0, change_folder, home, 0, NULL);
    for (int i = 0; i < TRIES; i++)
        write_to(word(1), OPEN_ALWAYS, 0);
    racing = 0;
    WaitForSingleObject(thread, INFINITE);
    return 0;
}
