/*
 * The resource is read as data, nothing of the program runs. Its structure is a tree of counted
 * blocks (length, value length, type, key, padding, value); the one block that matters is found by
 * its key, whose value is text behind a padding of at most two units.
 */
#include "launch/windows/version.h"

#include <stdint.h>
#include <windows.h>

#include "launch/windows/wide.h"

enum { MOST_RESOURCE = 65536, MOST_NAME = 260 };

static struct str find_name(struct arena *arena, const wchar_t *text, size_t units)
{
    static const wchar_t key[] = L"OriginalFilename";
    enum { KEY = sizeof key / sizeof *key }; /* with its NUL */
    for (size_t i = 0; i + KEY + 1 < units; i++) {
        if (memcmp(text + i, key, sizeof key) != 0)
            continue;
        size_t at = i + KEY, end;
        while (at < units && text[at] == 0 && at < i + KEY + 2)
            at++;
        for (end = at; end < units && text[end] && end - at < MOST_NAME;)
            end++;
        return wide_narrow(arena, text + at, end - at);
    }
    return STR_NONE;
}

struct str version_original_name(struct arena *arena, struct str path)
{
    struct str name = STR_NONE;
    wchar_t *text = wide_of(arena, path);
    HMODULE file =
        text ? LoadLibraryExW(text, NULL, LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_AS_IMAGE_RESOURCE)
             : NULL;
    HRSRC found = file ? FindResourceW(file, MAKEINTRESOURCEW(1), (LPCWSTR)RT_VERSION) : NULL;
    HGLOBAL block = found ? LoadResource(file, found) : NULL;
    const wchar_t *units = block ? LockResource(block) : NULL;
    DWORD size = units ? SizeofResource(file, found) : 0;
    if (units)
        name = find_name(arena, units, (size < MOST_RESOURCE ? size : MOST_RESOURCE) / 2);
    if (file)
        FreeLibrary(file);
    return name;
}
