/* SPDX-License-Identifier: Apache-2.0 */
/* The drive letters as they were at the start of the run: the tree could change the mapping later,
   and a letter can stand for another machine. */
#include <stdio.h>

#include "base/utf.h"
#include "broker/windows/broker.h"
#include "launch/windows/wine.h"

enum { LONGEST = 260 };

/* True if the kernel's name of a volume opens that drive's root folder. */
static bool opens_by_device(const wchar_t *device, wchar_t letter)
{
    wchar_t text[LONGEST + 2], top[] = {L'\\', L'\\', L'?', L'\\', letter, L':', L'\\', 0};
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE folder;
    swprintf(text, LONGEST + 2, L"%ls\\", device);
    RtlInitUnicodeString(&name, text);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    if (NtOpenFile(&folder, FILE_TRAVERSE | SYNCHRONIZE, &object, &io, SHARE_ALL,
                   FILE_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT) < 0)
        return false;
    DWORD n = GetFinalPathNameByHandleW(folder, text, LONGEST, 0);
    NtClose(folder);
    return n > 0 && n < LONGEST && wcscmp(text, top) == 0;
}

static enum drive_kind kind_of(const wchar_t *target, const wchar_t *drive)
{
    static const wchar_t *const volumes[] = {L"\\Device\\HarddiskVolume", L"\\Device\\CdRom",
                                             L"\\Device\\Floppy"};
    if (wcsncmp(target, L"\\??\\UNC\\", 8) == 0)
        return DRIVE_SHARE;
    if (wcsncmp(target, L"\\??\\", 4) == 0)
        return DRIVE_FOLDER;
    for (size_t i = 0; i < sizeof volumes / sizeof *volumes; i++)
        if (wcsncmp(target, volumes[i], wcslen(volumes[i])) == 0)
            return DRIVE_LOCAL;
    /* Any other device: a disk with its own driver, or a redirector; queried without touching
       it. */
    wchar_t top[] = {drive[0], L':', L'\\', 0};
    UINT type = GetDriveTypeW(top);
    return type == DRIVE_FIXED || type == DRIVE_REMOVABLE || type == DRIVE_RAMDISK ||
                   type == DRIVE_CDROM
               ? DRIVE_LOCAL
               : DRIVE_SHARE;
}

static void read_drive(struct broker *b, wchar_t letter)
{
    wchar_t name[] = {letter, L':', 0}, target[LONGEST];
    auto_buf struct buf text = {0};
    struct drive *d = &b->drives[letter - L'A'];
    DWORD n = QueryDosDeviceW(name, target, LONGEST);
    if (n == 0 || n >= LONGEST)
        return;
    enum drive_kind kind = kind_of(target, name);
    bool opens =
        kind == DRIVE_LOCAL && !wine_lacks_device_paths() && opens_by_device(target, letter);
    utf_from16(&text, (const uint16_t *)target, wcslen(target));
    d->name[0] = (char)letter;
    d->name[1] = ':';
    if (text.failed || text.n >= sizeof d->text)
        return;
    if (kind == DRIVE_LOCAL) {
        struct path_map *map = &b->maps[b->map_count++];
        snprintf(d->text, sizeof d->text, "%.*s", (int)text.n, text.p);
        map->prefix = str_of(d->text);
        map->drive = (struct str){d->name, 2};
    }
    d->opens = opens;
    d->kind = kind;
    /* A folder under its own name: \\??\\C:\\x is C:\\x, whatever the letter becomes later. */
    if (kind == DRIVE_FOLDER)
        snprintf(d->text, sizeof d->text, "%.*s", (int)text.n - 4, text.p + 4);
}

/* The volumes that the agent judges by itself; it asks about those beyond its capacity. */
static void tell_agent(struct broker *b)
{
    size_t count = 0;
    for (size_t i = 0; i < 26; i++)
        b->inject.local_drives |= b->drives[i].kind == DRIVE_LOCAL ? 1u << i : 0;
    for (size_t i = 0; i < b->map_count && count < WIRE_DRIVES; i++) {
        struct wire_drive *d = &b->inject.drives[count];
        if (b->maps[i].prefix.n >= sizeof d->prefix)
            continue;
        d->prefix_size = (uint32_t)b->maps[i].prefix.n;
        memcpy(d->prefix, b->maps[i].prefix.p, d->prefix_size);
        memcpy(d->name, b->maps[i].drive.p, 2);
        count++;
    }
}

void drives_read(struct broker *b)
{
    DWORD there = GetLogicalDrives();
    for (wchar_t letter = L'A'; letter <= L'Z'; letter++)
        if (there >> (letter - L'A') & 1)
            read_drive(b, letter);
    tell_agent(b);
}

const struct drive *drives_of(const struct broker *b, struct str path)
{
    bool has = path.n >= 2 && path.p[1] == ':' && ascii_is_alpha(path.p[0]);
    return has ? &b->drives[ascii_lower(path.p[0]) - 'a'] : NULL;
}
