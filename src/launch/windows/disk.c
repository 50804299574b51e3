/* SPDX-License-Identifier: Apache-2.0 */
/* The file system and environment on Windows. */
#include "launch/disk.h"

#include <windows.h>

#include "base/utf.h"
#include "cordon.h"
#include "launch/windows/wide.h"
#include "launch/windows/wine.h"
#include "policy/rules.h"

enum path_dialect disk_dialect(void)
{
    return PATH_WINDOWS;
}

struct str disk_cwd(struct arena *arena)
{
    wchar_t text[PATH_MAX_UNITS];
    DWORD n = GetCurrentDirectoryW(PATH_MAX_UNITS, text);
    return n > 0 && n < PATH_MAX_UNITS ? wide_narrow(arena, text, n) : STR_NONE;
}

bool disk_variable(struct arena *arena, struct str name, struct str *value)
{
    wchar_t *wide_name = wide_of(arena, name);
    if (!wide_name)
        return false;
    SetLastError(0);
    DWORD n = GetEnvironmentVariableW(wide_name, NULL, 0);
    if (n == 0)
        return false;
    wchar_t *text = ARENA_ARRAY(arena, n, wchar_t);
    if (!text)
        return false;
    n = GetEnvironmentVariableW(wide_name, text, n);
    *value = wide_narrow(arena, text, n);
    return value->p != NULL;
}

/* Opens without any right, so that only existence matters; links are followed or not. */
static HANDLE open_to_look(struct arena *arena, struct str path, bool follow)
{
    wchar_t *text = wide_of(arena, path);
    if (!text)
        return INVALID_HANDLE_VALUE;
    DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    return CreateFileW(text, FILE_READ_ATTRIBUTES,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       flags, NULL);
}

/* \\?\C:\a is C:\a, \\?\UNC\h\s is \\h\s. */
static struct str final_path(struct arena *arena, HANDLE file)
{
    wchar_t text[PATH_MAX_UNITS];
    DWORD n = GetFinalPathNameByHandleW(file, text, PATH_MAX_UNITS, FILE_NAME_NORMALIZED);
    if (n == 0 || n >= PATH_MAX_UNITS)
        return STR_NONE;
    struct str path = wide_narrow(arena, text, n);
    if (str_startsi(path, STR("\\\\?\\UNC\\"))) {
        char *p = (char *)path.p + 6;
        *p = '\\';
        return str_from(path, 6);
    }
    return str_starts(path, STR("\\\\?\\")) ? str_from(path, 4) : path;
}

/* Inspects what is there; its deepest existing part stays open in *file for further queries. */
static int resolve(struct arena *arena, struct str path, struct disk_facts *facts, HANDLE *file)
{
    struct str part = path;
    while ((*file = open_to_look(arena, part, true)) == INVALID_HANDLE_VALUE) {
        part = path_parent(PATH_WINDOWS, part);
        if (part.n == 0)
            return CORDON_E_OPEN;
    }
    facts->exists = part.n == path.n;
    facts->existing = final_path(arena, *file);
    if (!facts->existing.p)
        return CORDON_E_OPEN;
    auto_buf struct buf out = {0};
    buf_add(&out, facts->existing);
    struct str rest = str_from(path, part.n);
    while (rest.n && rest.p[0] == '\\')
        rest = str_from(rest, 1);
    if (rest.n) {
        if (out.n && out.p[out.n - 1] != '\\')
            buf_char(&out, '\\');
        buf_add(&out, rest);
    }
    facts->final = arena_copy(arena, buf_str(&out));
    return facts->final.p ? 0 : CORDON_E_NOMEM;
}

/* Name-surrogate tags (bit 29) are links; Microsoft's other tags are ordinary files. Under Wine a
   Unix symlink shows only in the attributes of its name. */
static void look_at_reparse(struct arena *arena, struct str path, struct disk_facts *facts)
{
    enum { APP_EXECUTION_LINK = 0x8000001B };
    FILE_ATTRIBUTE_TAG_INFO tag = {0};
    wchar_t *text = wide_of(arena, path);
    DWORD attributes = text ? GetFileAttributesW(text) : INVALID_FILE_ATTRIBUTES;
    if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return;
    HANDLE file = open_to_look(arena, path, false);
    if (file == INVALID_HANDLE_VALUE ||
        !GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag))
        tag.ReparseTag = 0;
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    bool surrogate = tag.ReparseTag == 0 || IsReparseTagNameSurrogate(tag.ReparseTag);
    facts->link = surrogate;
    facts->strange = !surrogate && (!IsReparseTagMicrosoft(tag.ReparseTag) ||
                                    tag.ReparseTag == APP_EXECUTION_LINK);
}

int disk_look(struct arena *arena, struct str path, struct disk_facts *facts)
{
    struct disk_facts f = {0};
    FILE_STANDARD_INFO info;
    HANDLE file;
    int rc = resolve(arena, path, &f, &file);
    if (rc == 0 && f.exists &&
        GetFileInformationByHandleEx(file, FileStandardInfo, &info, sizeof info)) {
        f.directory = info.Directory;
        f.links = f.directory ? 1 : info.NumberOfLinks;
    }
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    if (rc)
        return rc;
    look_at_reparse(arena, path, &f);
    if (f.exists && !f.directory)
        f.existing = path_parent(disk_dialect(), f.existing);
    *facts = f;
    return 0;
}

/* All the steps at once. */
bool disk_link(struct arena *arena, struct str path, struct str *target)
{
    struct disk_facts facts;
    if (disk_look(arena, path, &facts) || !facts.link)
        return false;
    *target = facts.final;
    return true;
}

bool disk_cwd_is_link(void)
{
    return false; /* its path is the link's */
}

bool disk_names(struct arena *arena, struct str path, bool (*each)(void *context, struct str name),
                void *context)
{
    wchar_t name[PATH_MAX_UNITS];
    DWORD n = PATH_MAX_UNITS;
    wchar_t *text = wide_of(arena, path);
    if (wine_lacks_link_names())
        return false;
    HANDLE find = text ? FindFirstFileNameW(text, 0, &n, name) : INVALID_HANDLE_VALUE;
    if (find == INVALID_HANDLE_VALUE)
        return false;
    bool more = true;
    while (more) {
        /* Names come without the drive: \a\b. */
        auto_buf struct buf full = {0};
        buf_add(&full, str_slice(path, 0, path_root_length(PATH_WINDOWS, path)));
        utf_from16(&full, (const uint16_t *)name, n ? n - 1 : 0);
        if (full.failed || !each(context, buf_str(&full)))
            break;
        n = PATH_MAX_UNITS;
        more = FindNextFileNameW(find, &n, name);
    }
    FindClose(find);
    return true;
}

bool disk_is_file(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *text = wide_of(&arena, str_of(path));
    DWORD attributes = text ? GetFileAttributesW(text) : INVALID_FILE_ATTRIBUTES;
    return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

bool disk_is_trusted_folder(const char *path)
{
    (void)path;
    return false;
}

bool disk_there(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *text = wide_of(&arena, str_of(path));
    return text && GetFileAttributesW(text) != INVALID_FILE_ATTRIBUTES;
}

bool disk_children(struct arena *arena, struct str path, size_t most,
                   void (*each)(void *context, struct str name), void *context)
{
    auto_buf struct buf pattern = {0};
    WIN32_FIND_DATAW found;
    buf_fmt(&pattern, "%.*s\\*", STR_ARG(path));
    wchar_t *text = pattern.failed ? NULL : wide_of(arena, buf_str(&pattern));
    HANDLE find = text ? FindFirstFileExW(text, FindExInfoBasic, &found, FindExSearchNameMatch,
                                          NULL, FIND_FIRST_EX_LARGE_FETCH)
                       : INVALID_HANDLE_VALUE;
    bool more = find != INVALID_HANDLE_VALUE;
    DWORD error = more ? 0 : text ? GetLastError() : ERROR_NOT_ENOUGH_MEMORY;
    /* Closed to the caller, it is closed to the command. */
    bool whole = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ||
                 error == ERROR_DIRECTORY || error == ERROR_ACCESS_DENIED;
    for (size_t seen = 0; more && seen < most; seen++) {
        if (found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) {
            struct str name = wide_narrow(arena, found.cFileName, wcslen(found.cFileName));
            if (!str_eq(name, STR(".")) && !str_eq(name, STR("..")))
                each(context, name);
        }
        more = FindNextFileW(find, &found);
        whole = !more && GetLastError() == ERROR_NO_MORE_FILES;
    }
    if (find != INVALID_HANDLE_VALUE)
        FindClose(find);
    return whole;
}

int disk_read(struct str path, size_t limit, struct buf *out)
{
    auto_arena struct arena arena = {0};
    wchar_t *text = wide_of(&arena, path);
    if (!text)
        return CORDON_E_OPEN;
    HANDLE file = CreateFileW(text, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return CORDON_E_OPEN;
    int rc = GetFileType(file) == FILE_TYPE_DISK ? 0 : CORDON_E_OPEN;
    while (rc == 0) {
        DWORD n = 0;
        if (!buf_reserve(out, 16384)) {
            rc = CORDON_E_NOMEM;
            break;
        }
        if (!ReadFile(file, out->p + out->n, 16384, &n, NULL))
            rc = CORDON_E_READ;
        if (n == 0)
            break;
        out->n += n;
        if (out->n > limit)
            rc = CORDON_E_TOOBIG;
    }
    CloseHandle(file);
    return rc;
}

static struct str folder_of(struct arena *arena, struct str variable)
{
    struct str value;
    struct disk_facts facts = {0};
    HANDLE file = INVALID_HANDLE_VALUE;
    if (!disk_variable(arena, variable, &value))
        return STR_NONE;
    int rc = resolve(arena, value, &facts, &file);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return rc ? STR_NONE : facts.final;
}

bool disk_make(struct arena *arena, struct str path)
{
    wchar_t *text = wide_of(arena, path);
    if (!text)
        return false;
    for (size_t i = 3; text[i]; i++) {
        if (text[i] != L'\\')
            continue;
        text[i] = L'\0';
        CreateDirectoryW(text, NULL);
        text[i] = L'\\';
    }
    CreateDirectoryW(text, NULL);
    DWORD attributes = GetFileAttributesW(text);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

void disk_unmake(struct arena *arena, struct str path, struct str above)
{
    wchar_t *text = wide_of(arena, path), *stop = wide_of(arena, above);
    if (!text || !stop || !path_is_below(PATH_WINDOWS, above, path))
        return;
    while (wcslen(text) > wcslen(stop) && RemoveDirectoryW(text)) {
        wchar_t *end = wcsrchr(text, L'\\');
        if (!end)
            return;
        *end = L'\0';
    }
}

void disk_machine(struct arena *arena, struct policy_machine *machine)
{
    machine->home = folder_of(arena, STR("USERPROFILE"));
    machine->windows = folder_of(arena, STR("SystemRoot"));
    machine->program_files = folder_of(arena, STR("ProgramFiles"));
    machine->program_files_x86 = folder_of(arena, STR("ProgramFiles(x86)"));
    machine->program_data = folder_of(arena, STR("ProgramData"));
}
