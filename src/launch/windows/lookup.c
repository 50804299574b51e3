/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up programs along PATH as Windows and cmd do, but not in the current directory. */
#include "launch/windows/lookup.h"

#include "cordon.h"
#include "launch/cmdline.h"
#include "launch/windows/wide.h"

enum { LONGEST_PATH = 32768 };

#ifndef IO_REPARSE_TAG_APPEXECLINK
#define IO_REPARSE_TAG_APPEXECLINK 0x8000001BL
#endif

struct lookup_search {
    struct arena *arena;
    struct str cwd, pathext;
    struct str alias; /* an app execution alias found on the way; empty: none */
};

static struct str glue(struct arena *arena, struct str a, struct str b, struct str c)
{
    auto_buf struct buf text = {0};
    buf_add(&text, a);
    buf_add(&text, b);
    buf_add(&text, c);
    return text.failed ? STR_NONE : arena_copy(arena, buf_str(&text));
}

/* True for a file; *path then spells its last component as the disk does. Aliases are remembered
   and skipped: a real program may follow on PATH. */
static bool take_found(struct lookup_search *s, const WIN32_FIND_DATAW *data, struct str *path)
{
    if (data->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        return false;
    if ((data->dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
        data->dwReserved0 == (DWORD)IO_REPARSE_TAG_APPEXECLINK) {
        if (s->alias.n == 0)
            s->alias = *path;
        return false;
    }
    struct str leaf = wide_narrow(s->arena, data->cFileName, wcslen(data->cFileName));
    struct str folder = str_slice(*path, 0, path->n - cmdline_name(*path).n);
    struct str spelled = leaf.p ? glue(s->arena, folder, leaf, STR_NONE) : STR_NONE;
    if (spelled.p)
        *path = spelled;
    return spelled.p != NULL;
}

static bool is_usable(struct lookup_search *s, struct str *path)
{
    WIN32_FIND_DATAW data;
    wchar_t *text = wide_of(s->arena, *path);
    if (!text || wcspbrk(text + (wcsncmp(text, L"\\\\?\\", 4) == 0 ? 4 : 0), L"*?"))
        return false;
    HANDLE find = FindFirstFileW(text, &data);
    if (find == INVALID_HANDLE_VALUE)
        return false;
    FindClose(find);
    return take_found(s, &data, path);
}

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* C:\… or \\server\share: nothing that depends on a current directory. */
static bool is_absolute(struct str path)
{
    if (path.n >= 3 && ascii_is_alpha(path.p[0]) && path.p[1] == ':')
        return is_separator(path.p[2]);
    return path.n >= 2 && is_separator(path.p[0]) && is_separator(path.p[1]);
}

static bool listed(struct str pathext, struct str extension)
{
    struct str one;
    for (size_t at = 0; cmdline_next_extension(pathext, &at, &one);)
        if (str_eqi(one, extension))
            return true;
    return false;
}

/* A file whose name is the path's last component and one of the first 64 extensions of PATHEXT. */
struct found_extension {
    uint64_t there; /* which of them exist, by index */
    unsigned first;
    WIN32_FIND_DATAW data; /* of the first */
};

/* One folder lookup instead of one for each. */
static void find_extensions(struct lookup_search *s, struct str path, struct found_extension *out)
{
    WIN32_FIND_DATAW data;
    out->there = 0;
    out->first = 64;
    struct str pattern = glue(s->arena, path, STR(".*"), STR_NONE);
    wchar_t *text = pattern.p ? wide_of(s->arena, pattern) : NULL;
    if (!text || str_has_char(path, '*') || str_has_char(path, '?'))
        return;
    HANDLE find = FindFirstFileW(text, &data);
    if (find == INVALID_HANDLE_VALUE)
        return;
    struct str stem = cmdline_name(path);
    do {
        struct str leaf = wide_narrow(s->arena, data.cFileName, wcslen(data.cFileName)), one;
        unsigned number = 0;
        for (size_t at = 0; cmdline_next_extension(s->pathext, &at, &one) && number < 64;
             number++) {
            if (!str_endsi(leaf, one))
                continue;
            out->there |= 1ull << number;
            if (number < out->first && leaf.n == stem.n + one.n && str_startsi(leaf, stem)) {
                out->first = number;
                out->data = data;
            }
        }
    } while (FindNextFileW(find, &data));
    FindClose(find);
}

/* As it is if its extension says that it can run, then with each extension of PATHEXT. */
static struct str with_extensions(struct lookup_search *s, struct str path)
{
    struct str one, extension = cmdline_extension(path);
    struct found_extension found;
    bool known =
        extension.n && (cmdline_kind_of(path) != CMDLINE_OTHER || listed(s->pathext, extension));
    if (known && is_usable(s, &path))
        return path;
    find_extensions(s, path, &found);
    unsigned number = 0;
    for (size_t at = 0; found.there && cmdline_next_extension(s->pathext, &at, &one); number++) {
        if (number < 64 && !(found.there >> number & 1))
            continue;
        struct str longer = glue(s->arena, path, one, STR_NONE);
        if (longer.p &&
            (number == found.first ? take_found(s, &found.data, &longer) : is_usable(s, &longer)))
            return longer;
    }
    return STR_NONE;
}

/* \x is on cwd's drive; x and .\x are below cwd; C:x is taken as below it if it exists there. */
static struct str absolute(struct lookup_search *s, struct str name)
{
    if (is_absolute(name))
        return name;
    if (name.n >= 2 && name.p[1] == ':') {
        bool same = s->cwd.n >= 2 && str_eqi(str_slice(s->cwd, 0, 2), str_slice(name, 0, 2));
        return same ? absolute(s, str_from(name, 2)) : STR_NONE;
    }
    if (name.n && is_separator(name.p[0]))
        return glue(s->arena, str_slice(s->cwd, 0, 2), name, STR_NONE);
    bool ends = s->cwd.n && is_separator(s->cwd.p[s->cwd.n - 1]);
    return glue(s->arena, s->cwd, ends ? STR("") : STR("\\"), name);
}

static struct str find_path(struct lookup_search *s, struct str name)
{
    struct str path = absolute(s, name);
    if (!path.p)
        return STR_NONE;
    struct str found = with_extensions(s, path);
    return found.p || !is_usable(s, &path) ? found : path;
}

static struct str find_name(struct lookup_search *s, struct str name, struct str list)
{
    for (size_t at = 0; at < list.n;) {
        /* An entry may be quoted and may then contain a semicolon. */
        bool quoted = list.p[at] == '"';
        size_t begin = at + quoted;
        size_t end = str_find_char(list, quoted ? '"' : ';', begin);
        struct str folder = str_trim(str_slice(list, begin, end));
        at = str_find_char(list, ';', end) + 1;
        if (!is_absolute(folder))
            continue;
        bool ends = is_separator(folder.p[folder.n - 1]);
        struct str path = glue(s->arena, folder, ends ? STR("") : STR("\\"), name);
        struct str found = path.p ? with_extensions(s, path) : STR_NONE;
        if (found.p)
            return found;
    }
    return STR_NONE;
}

static struct str system_folder(struct arena *arena)
{
    wchar_t folder[MAX_PATH];
    UINT n = GetSystemDirectoryW(folder, MAX_PATH);
    return n && n < MAX_PATH ? wide_narrow(arena, folder, n) : STR_NONE;
}

static const struct {
    struct str name, instead;
} aliases[] = {
    {STR("python"), STR("install Python from python.org for this user")},
    {STR("python3"), STR("install Python from python.org for this user")},
    {STR("pip"), STR("install Python from python.org for this user")},
    {STR("pwsh"), STR("install PowerShell by its MSI, or use powershell")},
    {STR("winget"), STR("run it outside the sandbox")},
    {STR("wt"), STR("use cmd or powershell")},
    {STR("bash"), STR("install Git for Windows and use its bash.exe by full path")},
};

static int explain_alias(struct lookup_search *s, struct str name, struct buf *error)
{
    struct str base = cmdline_name(name);
    base = str_slice(base, 0, base.n - cmdline_extension(base).n);
    struct str instead =
        STR("install it without the Microsoft Store, or name another by full path");
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_eqi(aliases[i].name, base))
            instead = aliases[i].instead;
    buf_fmt(error,
            "%.*s is only an app execution alias of the Microsoft Store (%.*s), which Windows does "
            "not start in a sandbox; %.*s",
            STR_ARG(name), STR_ARG(s->alias), STR_ARG(instead));
    return CORDON_E_NOTFOUND;
}

static int not_found(struct lookup_search *s, struct str name, bool bare, struct buf *error)
{
    if (s->alias.n)
        return explain_alias(s, name, error);
    buf_fmt(error, "%.*s: program not found", STR_ARG(name));
    struct str here = bare ? absolute(s, name) : STR_NONE;
    struct str found = here.p ? with_extensions(s, here) : STR_NONE;
    if (found.p)
        buf_fmt(error, " on PATH; for the one in the current folder type .\\%.*s",
                STR_ARG(cmdline_name(found)));
    return CORDON_E_NOTFOUND;
}

/* Programs may have any name; their first two bytes say what they are. */
static bool is_image(struct lookup_search *s, struct str path)
{
    char head[2] = "";
    DWORD n = 0;
    wchar_t *text = wide_of(s->arena, path);
    HANDLE file = text ? CreateFileW(text, GENERIC_READ,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                     OPEN_EXISTING, 0, NULL)
                       : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool got = ReadFile(file, head, sizeof head, &n, NULL) && n == 2;
    CloseHandle(file);
    return got && memcmp(head, "MZ", 2) == 0;
}

/* Links followed, 8.3 names expanded; left as found if the result is not a path that programs
   accept. */
static wchar_t *final_image(struct arena *arena, struct str path)
{
    wchar_t *text = wide_of(arena, path), *out = NULL;
    HANDLE file = text ? CreateFileW(text, FILE_READ_ATTRIBUTES,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                     OPEN_EXISTING, 0, NULL)
                       : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return text;
    out = ARENA_ARRAY(arena, LONGEST_PATH, wchar_t);
    DWORD n = out ? GetFinalPathNameByHandleW(file, out, LONGEST_PATH, FILE_NAME_NORMALIZED) : 0;
    if (n == 0 || n >= LONGEST_PATH)
        out = NULL;
    CloseHandle(file);
    if (!out || wcsncmp(out, L"\\\\?\\", 4) != 0)
        return text;
    if (_wcsnicmp(out + 4, L"UNC\\", 4) == 0) {
        out[6] = L'\\';
        return out + 6;
    }
    return iswalpha(out[4]) && out[5] == L':' ? out + 4 : text;
}

/* Absolute and plain, so that cmd needs no current directory to find it. */
static wchar_t *full_path(struct arena *arena, struct str path)
{
    wchar_t *text = wide_of(arena, path);
    DWORD room = text ? GetFullPathNameW(text, 0, NULL, NULL) : 0;
    wchar_t *out = room && room < LONGEST_PATH ? ARENA_ARRAY(arena, room + 1, wchar_t) : NULL;
    return out && GetFullPathNameW(text, room + 1, out, NULL) <= room ? out : NULL;
}

static int prepare_batch(struct arena *arena, const char *const *argv, size_t argc,
                         struct str script, struct lookup *out, struct buf *line, struct buf *error)
{
    struct str folder = system_folder(arena);
    struct str cmd = folder.p ? glue(arena, folder, STR("\\cmd.exe"), STR_NONE) : STR_NONE;
    out->script = full_path(arena, script);
    struct str full = out->script ? wide_narrow(arena, out->script, wcslen(out->script)) : STR_NONE;
    if (!cmd.p || !full.p)
        return CORDON_E_NOMEM;
    out->through_cmd = true;
    out->image = final_image(arena, cmd);
    return cmdline_join_batch(line, cmd, full, argv + 1, argc - 1, error);
}

static int choose(struct lookup_search *s, struct str found, const char *const *argv, size_t argc,
                  struct str raw_tail, struct lookup *out, struct buf *line, struct buf *error)
{
    enum cmdline_kind kind = cmdline_kind_of(found);
    if (kind == CMDLINE_BATCH)
        return prepare_batch(s->arena, argv, argc, found, out, line, error);
    if (kind == CMDLINE_SCRIPT) {
        cmdline_advise(error, found);
        return CORDON_E_VALUE;
    }
    if (kind == CMDLINE_OTHER && !is_image(s, found)) {
        buf_fmt(error, "%.*s is not a program: Windows would hand it to the shell", STR_ARG(found));
        return CORDON_E_VALUE;
    }
    out->image = final_image(s->arena, found);
    if (raw_tail.n && cmdline_reads_as(raw_tail, argv, argc)) {
        buf_add(line, raw_tail);
        return 0;
    }
    /* By the image: a copy of cmd under another name is treated as cmd. */
    return cmdline_is_cmd(found) ? cmdline_join_cmd(line, argv, argc, error)
                                 : cmdline_join(line, argv, argc, error);
}

int lookup_program(struct arena *arena, const char *const *argv, size_t argc, struct str raw_tail,
                   struct str cwd, const char *path, const char *pathext, struct lookup *out,
                   struct buf *error)
{
    struct lookup_search s = {.arena = arena, .cwd = cwd, .pathext = str_of(pathext)};
    struct lookup made = {0};
    auto_buf struct buf line = {0};
    if (argc == 0 || argv[0][0] == '\0') {
        buf_add(error, STR("there is no program to start"));
        return CORDON_E_NOTFOUND;
    }
    struct str name = str_of(argv[0]);
    bool bare = cmdline_name(name).n == name.n;
    struct str found = bare ? find_name(&s, name, str_of(path)) : find_path(&s, name);
    if (!found.p && bare) /* Windows' own programs are found there whatever PATH says */
        found = find_name(&s, name, system_folder(arena));
    if (!found.p)
        return not_found(&s, name, bare, error);
    int rc = choose(&s, found, argv, argc, raw_tail, &made, &line, error);
    if (rc)
        return rc;
    made.cmdline = line.failed ? NULL : wide_of(arena, buf_str(&line));
    if (!made.image || !made.cmdline)
        return CORDON_E_NOMEM;
    *out = made;
    return 0;
}
