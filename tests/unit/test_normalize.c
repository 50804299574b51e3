/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to spell a path, and case folding. */
#include <stdlib.h>

#include "base/utf.h"
#include "policy/casefold.h"
#include "tap.h"

static const struct path_map maps[] = {
    {{"\\Device\\HarddiskVolume3", 23}, {"d:", 2}},
    {{"\\\\?\\Volume{ab-1}", 16}, {"E:", 2}},
};

static const struct path_context here = {
    .cwd = {"C:\\w\\d", 6}, .maps = maps, .map_count = 2, .unix_drive = 'z'};
static const struct path_context kernel = {.maps = maps, .map_count = 2, .nt = true};
static const struct path_context share = {.cwd = {"\\\\h\\s\\d", 7}};
static const struct path_context linux_share = {.cwd = {"\\\\wsl$\\d", 8}};
static const struct path_context nowhere = {.unix_drive = 0};
static const struct path_context nowhere_posix = {.dialect = PATH_POSIX, .cwd = {"w", 1}};
static const struct path_context posix = {.dialect = PATH_POSIX, .cwd = {"/w/d", 4}};

static const struct row {
    const struct path_context *context;
    const char *given;
    const char *text; /* NULL: as given */
    enum path_class class;
} rows[] = {
    /* Separators, dots, relatives. */
    {&here, "C:\\a\\b", "C:\\a\\b", PATH_FILE},
    {&here, "c:/a//b/", "C:\\a\\b", PATH_FILE},
    {&here, "C:\\", "C:\\", PATH_FILE},
    {&here, "C:/", "C:\\", PATH_FILE},
    {&here, "C:\\..\\..\\a", "C:\\a", PATH_FILE},
    {&here, "C:\\a\\..", "C:\\", PATH_FILE},
    {&here, "C:\\a\\.\\.\\b\\..\\c", "C:\\a\\c", PATH_FILE},
    {&here, "a", "C:\\w\\d\\a", PATH_FILE},
    {&here, ".", "C:\\w\\d", PATH_FILE},
    {&here, "..\\x", "C:\\w\\x", PATH_FILE},
    {&here, "..\\..\\..\\x", "C:\\x", PATH_FILE},
    {&here, "\\a", "C:\\a", PATH_FILE},
    {&here, "/a/b", "C:\\a\\b", PATH_FILE},
    {&here, "C:a", "C:\\w\\d\\a", PATH_FILE},
    {&here, "c:", "C:\\w\\d", PATH_FILE},
    {&here, "D:a", "D:\\a", PATH_FILE},
    {&here, "D:", "D:\\", PATH_FILE},
    {&here, "C:..\\a", "C:\\w\\a", PATH_FILE},
    {&nowhere, "a", NULL, PATH_MALFORMED},
    {&nowhere, "\\a", NULL, PATH_MALFORMED},
    {&nowhere, "C:\\a", "C:\\a", PATH_FILE},
    {&share, "a\\..\\b", "\\\\h\\s\\d\\b", PATH_UNC},
    {&share, "\\a", "\\\\h\\s\\a", PATH_UNC},
    {&share, "..\\..\\..\\a", "\\\\h\\s\\a", PATH_UNC},
    {&kernel, "a", NULL, PATH_MALFORMED},
    {&kernel, "\\a", "\\a", PATH_DEVICE},
    {&kernel, "\\DosDevices\\C:\\a", "C:\\a", PATH_FILE},
    {&kernel, "\\DosDevices", "\\DosDevices", PATH_DEVICE},
    {&kernel, "\\DosDevices\\", "\\DosDevices\\", PATH_DEVICE},
    {&kernel, "\\Device", "\\Device", PATH_DEVICE},
    {&kernel, "\\Device\\", "\\Device\\", PATH_DEVICE},
    {&kernel, "\\SystemRoot\\x", "\\SystemRoot\\x", PATH_DEVICE},
    {&kernel, "\\??\\C:\\a", "C:\\a", PATH_FILE},
    {&kernel, "C:a", NULL, PATH_MALFORMED},

    /* Trailing dots and spaces. */
    {&here, "C:\\a.\\b ", "C:\\a\\b", PATH_FILE},
    {&here, "C:\\a. . .", "C:\\a", PATH_FILE},
    {&here, "C:\\a\\...", NULL, PATH_MALFORMED},
    {&here, "C:\\a\\ ", NULL, PATH_MALFORMED},
    {&here, "C:\\a\\.. ", NULL, PATH_MALFORMED},
    {&here, "C:\\.a.b", "C:\\.a.b", PATH_FILE},
    {&here, "\\\\?\\C:\\a.", "\\\\?\\C:\\a.", PATH_TRAILING},
    {&here, "\\\\?\\c:\\a \\b", "\\\\?\\C:\\a \\b", PATH_TRAILING},
    {&here, "\\\\?\\C:\\a\\..\\b", "\\\\?\\C:\\a\\..\\b", PATH_TRAILING},
    {&here, "\\??\\C:\\a\\.", "\\\\?\\C:\\a\\.", PATH_TRAILING},
    {&here, "\\\\?\\UNC\\h\\s\\a.", "\\\\?\\UNC\\h\\s\\a.", PATH_TRAILING},

    /* Prefixes. */
    {&here, "\\\\?\\C:\\a\\b", "C:\\a\\b", PATH_FILE},
    {&here, "\\\\.\\C:\\a\\b", "C:\\a\\b", PATH_FILE},
    {&here, "//?/C:/a/../b", "C:\\b", PATH_FILE},
    {&here, "//./c:/a", "C:\\a", PATH_FILE},
    {&here, "\\\\.\\C:\\a\\..\\b.", "C:\\b", PATH_FILE},
    {&here, "\\\\.\\C:\\..\\D:\\x", NULL, PATH_MALFORMED},
    {&here, "\\\\.\\C:\\", "C:\\", PATH_FILE},
    {&here, "\\\\?\\C:\\a\\", "C:\\a", PATH_FILE},
    {&here, "\\\\?\\C:\\a/b", NULL, PATH_MALFORMED},
    {&here, "\\\\?\\C:\\a\\\\b", NULL, PATH_MALFORMED},
    {&here, "\\\\.\\C:", "\\\\.\\C:", PATH_VOLUME},
    {&here, "\\\\?\\c:", "\\\\.\\C:", PATH_VOLUME},
    {&here, "\\\\.\\C:a", "\\\\.\\C:a", PATH_DEVICE},
    {&here, "\\\\.\\", NULL, PATH_MALFORMED},
    {&here, "\\\\?", NULL, PATH_MALFORMED},
    {&here, "\\\\.\\PhysicalDrive0", "\\\\.\\PhysicalDrive0", PATH_DEVICE},
    {&here, "\\\\?\\GLOBALROOT\\Device\\X", "\\\\.\\GLOBALROOT\\Device\\X", PATH_DEVICE},
    {&here, "\\\\.\\pipe\\x", "\\\\.\\pipe\\x", PATH_PIPE},
    {&here, "\\\\?\\PIPE\\x\\y", "\\\\.\\pipe\\x\\y", PATH_PIPE},
    {&here, "//./pipe/x", "\\\\.\\pipe\\x", PATH_PIPE},
    {&here, "\\Device\\NamedPipe\\x", "\\\\.\\pipe\\x", PATH_PIPE},
    {&here, "\\\\.\\mailslot\\x", "\\\\.\\mailslot\\x", PATH_MAILSLOT},
    {&here, "\\Device\\Mailslot\\x", "\\\\.\\mailslot\\x", PATH_MAILSLOT},
    {&here, "\\Device\\HarddiskVolume3\\a", "D:\\a", PATH_FILE},
    {&here, "\\device\\harddiskvolume3\\a", "D:\\a", PATH_FILE},
    {&here, "\\Device\\HarddiskVolume3\\", "D:\\", PATH_FILE},
    {&here, "\\Device\\HarddiskVolume3", "\\\\.\\D:", PATH_VOLUME},
    {&here, "\\Device\\HarddiskVolume3\\a.", "\\\\?\\D:\\a.", PATH_TRAILING},
    {&here, "\\Device\\HarddiskVolume33\\a", "\\Device\\HarddiskVolume33\\a", PATH_DEVICE},
    {&here, "\\\\?\\Volume{ab-1}\\a", "E:\\a", PATH_FILE},
    {&here, "\\\\?\\Volume{AB-1}", "\\\\.\\E:", PATH_VOLUME},
    {&here, "\\\\?\\Volume{ab-2}\\a", "\\\\.\\Volume{ab-2}\\a", PATH_VOLUME},
    {&here, "\\\\?\\unix\\etc\\x", "\\\\?\\unix\\etc\\x", PATH_UNIX},
    {&here, "\\??\\unix\\etc", "\\\\?\\unix\\etc", PATH_UNIX},
    {&here, "\\\\.\\unix", "\\\\?\\unix", PATH_UNIX},
    {&here, "\\\\?\\UNIX\\", "\\\\?\\unix", PATH_UNIX},
    {&here, "z:\\etc", "Z:\\etc", PATH_UNIX},
    {&nowhere, "Z:\\etc", "Z:\\etc", PATH_FILE},

    /* The network. */
    {&here, "\\\\h\\s\\a\\..\\b", "\\\\h\\s\\b", PATH_UNC},
    {&here, "//h/s/a", "\\\\h\\s\\a", PATH_UNC},
    {&here, "\\\\h\\s\\..\\..\\x", "\\\\h\\s\\x", PATH_UNC},
    {&here, "\\\\h", "\\\\h", PATH_UNC},
    {&here, "\\\\", NULL, PATH_MALFORMED},
    {&here, "//", NULL, PATH_MALFORMED},
    {&here, "\\\\h\\", "\\\\h", PATH_UNC},
    {&here, "\\\\h\\s\\", "\\\\h\\s", PATH_UNC},
    {&here, "\\\\.\\UNC", "\\\\.\\UNC", PATH_DEVICE},
    {&here, "\\\\.\\a.\\", "\\\\.\\a", PATH_DEVICE},
    {&here, "\\Device\\Mup\\h", "\\\\h", PATH_UNC},
    {&here, "\\\\?\\UNC\\h\\s\\a", "\\\\h\\s\\a", PATH_UNC},
    {&here, "\\\\.\\UNC\\h\\s\\a", "\\\\h\\s\\a", PATH_UNC},
    {&here, "\\??\\unc\\h\\s\\a", "\\\\h\\s\\a", PATH_UNC},
    {&here, "\\Device\\Mup\\h\\s\\a", "\\\\h\\s\\a", PATH_UNC},
    {&here, "\\\\h@SSL\\dav\\a", "\\\\h@SSL\\dav\\a", PATH_UNC},
    {&here, "\\\\h@SSL@8443\\dav\\a", "\\\\h@SSL@8443\\dav\\a", PATH_UNC},
    {&here, "\\\\h\\\\s", NULL, PATH_MALFORMED},
    {&here, "\\\\h\\..\\x", NULL, PATH_MALFORMED},
    {&here, "\\\\wsl$\\Debian\\x", "\\\\wsl$\\Debian\\x", PATH_WSL},
    {&here, "\\\\WSL.localhost\\Debian\\x", "\\\\WSL.localhost\\Debian\\x", PATH_WSL},
    {&linux_share, "x", "\\\\wsl$\\d\\x", PATH_WSL},
    {&linux_share, "\\x", "\\\\wsl$\\d\\x", PATH_WSL},
    {&here, "\\\\?\\UNC\\wsl$\\Debian\\x", "\\\\wsl$\\Debian\\x", PATH_WSL},

    /* Streams. */
    {&here, "C:\\a:b", "C:\\a:b", PATH_STREAM},
    {&here, "C:\\a:b:$DATA", "C:\\a:b", PATH_STREAM},
    {&here, "C:\\a::$DATA", "C:\\a", PATH_FILE},
    {&here, "C:\\a::$data.", "C:\\a", PATH_FILE},
    {&here, "C:\\a::$INDEX_ALLOCATION", "C:\\a", PATH_FILE},
    {&here, "C:\\a:$I30:$INDEX_ALLOCATION\\b", "C:\\a\\b", PATH_FILE},
    {&here, "C:\\a:$i30:$index_allocation", "C:\\a", PATH_FILE},
    {&here, "C:\\a:x:$INDEX_ALLOCATION", "C:\\a:x:$INDEX_ALLOCATION", PATH_STREAM},
    {&here, "C:\\a::$DATA\\b", "C:\\a::$DATA\\b", PATH_STREAM},
    {&here, "C:\\a::$DATA\\", NULL, PATH_MALFORMED},
    {&here, "C:\\a:", "C:\\a:", PATH_STREAM},
    {&here, "C:\\:x", "C:\\:x", PATH_STREAM},
    {&here, "C:\\a.::$DATA", "\\\\?\\C:\\a.", PATH_TRAILING},
    {&here, "C:\\..::$INDEX_ALLOCATION", NULL, PATH_MALFORMED},
    {&here, "\\\\?\\C:\\a::$DATA", "C:\\a", PATH_FILE},
    {&here, "\\\\h\\s\\a:b", "\\\\h\\s\\a:b", PATH_STREAM},
    {&here, "C:\\x:y\\..\\a", "C:\\a", PATH_FILE},

    /* DOS names. */
    {&here, "nul", "\\\\.\\NUL", PATH_NUL},
    {&here, "C:\\a\\NUL", "\\\\.\\NUL", PATH_NUL},
    {&here, "nul:", "\\\\.\\NUL", PATH_NUL},
    {&here, "\\\\.\\nul", "\\\\.\\NUL", PATH_NUL},
    {&here, "\\Device\\Null", "\\\\.\\NUL", PATH_NUL},
    {&here, "C:\\a\\nul.txt", "C:\\a\\nul.txt", PATH_RESERVED},
    {&here, "\\\\?\\C:\\nul", "\\\\?\\C:\\nul", PATH_RESERVED},
    {&here, "con", "\\\\.\\CON", PATH_CONSOLE},
    {&here, "conin$", "\\\\.\\CONIN$", PATH_CONSOLE},
    {&here, "\\\\.\\con", "\\\\.\\CON", PATH_CONSOLE},
    {&here, "C:\\a\\con", "C:\\a\\con", PATH_RESERVED},
    {&here, "a\\con", "C:\\w\\d\\a\\con", PATH_RESERVED},
    {&here, "C:\\CONOUT$", "C:\\CONOUT$", PATH_RESERVED},
    {&here, "COM1", "C:\\w\\d\\COM1", PATH_RESERVED},
    {&here, "C:\\lpt\xC2\xB3.x.y", "C:\\lpt\xC2\xB3.x.y", PATH_RESERVED},
    {&here, "C:\\com\xC2\xB9", "C:\\com\xC2\xB9", PATH_RESERVED},
    {&here, "C:\\aux .c", "C:\\aux .c", PATH_RESERVED},
    {&here, "C:\\aux\\b", "C:\\aux\\b", PATH_RESERVED},
    {&here, "C:\\aux\\..\\b", "C:\\b", PATH_FILE},
    {&here, "C:\\com", "C:\\com", PATH_FILE},
    {&here, "C:\\com12", "C:\\com12", PATH_FILE},
    {&here, "C:\\xcon", "C:\\xcon", PATH_FILE},

    /* Characters. */
    {&here, "", NULL, PATH_MALFORMED},
    {&here, "C:\\a\tb", NULL, PATH_MALFORMED},
    {&here, "C:\\a?b", NULL, PATH_MALFORMED},
    {&here, "C:\\a\"b", NULL, PATH_MALFORMED},
    {&here, "C:\\a<b", NULL, PATH_MALFORMED},
    {&here, "C:\\\xFF", NULL, PATH_MALFORMED},
    {&here, "C:\\\x80", NULL, PATH_MALFORMED},
    {&here, "C:\\\xED\xA0\x80\xED\xB0\x80", NULL, PATH_MALFORMED},
    {&here, "C:\\\xE2\x82", NULL, PATH_MALFORMED},
    {&here, "C:\\\xE2\x82z", NULL, PATH_MALFORMED},
    {&here, "C:\\\xE2z\x82", NULL, PATH_MALFORMED},
    {&here, "C:\\\xE0\x80\x80", NULL, PATH_MALFORMED},
    {&here, "C:\\a b", "C:\\a b", PATH_FILE},
    {&here, "\\\\.\\NUL.", "\\\\.\\NUL", PATH_NUL},
    {&here, "\\\\?\\NUL.", NULL, PATH_MALFORMED},
    {&nowhere_posix, "a", NULL, PATH_MALFORMED},
    {&here, "C:\\\xED\xA0\x80", "C:\\\xED\xA0\x80", PATH_FILE},
    {&here, "C:\\\xF0\x9F\x98\x80", "C:\\\xF0\x9F\x98\x80", PATH_FILE},
    {&here, "C:\\PROGRA~1", "C:\\PROGRA~1", PATH_FILE},

    /* The other dialect. */
    {&posix, "/a/b", "/a/b", PATH_FILE},
    {&posix, "//a//./b/../c/", "/a/c", PATH_FILE},
    {&posix, "a", "/w/d/a", PATH_FILE},
    {&posix, "../../..", "/", PATH_FILE},
    {&posix, "/", "/", PATH_FILE},
    {&posix, "/a:b/aux. ", "/a:b/aux. ", PATH_FILE},
    {&posix, "/\xFF", "/\xFF", PATH_FILE},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[512], again[512];
        struct path path, second;
        struct str given = str_of(rows[i].given);
        struct str text = rows[i].text ? str_of(rows[i].text) : given;
        int rc = path_normalize(rows[i].context, given, out, sizeof out, &path);
        bool right = rc == 0 && path.class == rows[i].class && str_eq(path.text, text);
        right = right &&
                path_normalize(rows[i].context, path.text, again, sizeof again, &second) == 0 &&
                second.class == path.class && str_eq(second.text, path.text);
        if (!ok(right, "%s", rows[i].given))
            note("%d, %.*s, %s", rc, STR_ARG(path.text), path_class_name(path.class));
        /* Exactly as much room as it takes suffices for nothing less. */
        for (size_t room = 0; room < path.text.n; room++)
            if (path_normalize(rows[i].context, given, again, room, &second) == 0)
                ok(false, "%s in %u bytes", rows[i].given, (unsigned)room);
    }
}

static void test_parts(void)
{
    char out[64];
    struct path path;
    path_normalize(&here, STR("C:\\a\\b:c"), out, sizeof out, &path);
    ok(str_eq(path.base, STR("C:\\a\\b")), "the base of a stream is its file");
    path_normalize(&here, STR("C:\\a\\"), out, sizeof out, &path);
    ok(path.folder, "a separator at the end says folder");
    ok(path_normalize(&here, STR("C:\\a\0b"), out, sizeof out, &path) == 0 &&
           path.class == PATH_MALFORMED,
       "NUL inside is malformed");
    ok(path_normalize(&posix, STR("/a\0b"), out, sizeof out, &path) == 0 &&
           path.class == PATH_MALFORMED,
       "NUL inside is malformed in posix too");
    ok(str_eq(path_parent(PATH_WINDOWS, STR("C:\\a\\b")), STR("C:\\a")) &&
           str_eq(path_parent(PATH_WINDOWS, STR("C:\\a")), STR("C:\\")) &&
           path_parent(PATH_WINDOWS, STR("C:\\")).n == 0 &&
           path_parent(PATH_WINDOWS, STR("\\\\h\\s")).n == 0 &&
           str_eq(path_parent(PATH_WINDOWS, STR("\\\\h\\s\\a")), STR("\\\\h\\s")) &&
           str_eq(path_parent(PATH_POSIX, STR("/a")), STR("/")) &&
           path_parent(PATH_POSIX, STR("/")).n == 0 && path_parent(PATH_POSIX, STR("a")).n == 0,
       "parents");
    ok(str_eq(path_leaf(PATH_WINDOWS, STR("C:\\a\\b")), STR("b")) &&
           path_leaf(PATH_WINDOWS, STR("C:\\")).n == 0 &&
           str_eq(path_leaf(PATH_POSIX, STR("/a")), STR("a")),
       "leaves");
    char *relative = malloc(1);
    *relative = 'a';
    ok(path_leaf(PATH_POSIX, (struct str){relative, 1}).n == 0, "only a whole path has a leaf");
    free(relative);
}

/* In buffers of exactly their size, as in test_room(). */
static void test_walk(void)
{
    static const struct {
        enum path_dialect dialect;
        const char *path;
        size_t root, components;
    } walks[] = {{PATH_WINDOWS, "C:", 2, 1},          {PATH_WINDOWS, "\\Device\\x", 0, 3},
                 {PATH_WINDOWS, "C:\\", 2, 1},        {PATH_WINDOWS, "C:\\a\\bc", 2, 3},
                 {PATH_WINDOWS, "\\\\h", 3, 1},       {PATH_WINDOWS, "\\\\h\\s", 5, 1},
                 {PATH_WINDOWS, "\\\\h\\s\\a", 5, 2}, {PATH_POSIX, "/", 0, 1},
                 {PATH_POSIX, "/a/bc", 0, 3}};
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        size_t n = strlen(walks[i].path), components = 0;
        char *copy = malloc(n);
        memcpy(copy, walks[i].path, n);
        struct path_cursor cursor = {.dialect = walks[i].dialect, .path = {copy, n}};
        struct str component;
        while (path_next(&cursor, &component))
            components++;
        ok(path_root_length(walks[i].dialect, cursor.path) == walks[i].root &&
               components == walks[i].components,
           "%u steps through %s", (unsigned)walks[i].components, walks[i].path);
        free(copy);
    }
}

static void test_long(void)
{
    char *given = malloc(PATH_MAX_BYTES + 1), *out = malloc(PATH_MAX_BYTES + 1);
    struct path path;
    memset(given, 'x', PATH_MAX_BYTES + 1);
    memcpy(given, "C:\\", 3);
    ok(path_normalize(&here, (struct str){given, 32767}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE && path.text.n == 32767,
       "32,767 units");
    ok(path_normalize(&here, (struct str){given + 3, 32767 - 7}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE && path.text.n == 32767 &&
           path_normalize(&here, (struct str){given + 3, 32767 - 6}, out, PATH_MAX_BYTES, &path) ==
               0 &&
           path.class == PATH_MALFORMED,
       "with the current directory in front they count, too");
    ok(path_normalize(&here, (struct str){given, 32768}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_MALFORMED,
       "32,768 units are malformed");
    ok(path_normalize(&here, (struct str){given, PATH_MAX_BYTES}, out, PATH_MAX_BYTES, &path) ==
               0 &&
           path.class == PATH_MALFORMED && path.text.n == PATH_MAX_BYTES,
       "the longest is malformed and copied");
    ok(path_normalize(&here, (struct str){given, PATH_MAX_BYTES + 1}, out, PATH_MAX_BYTES, &path) ==
               0 &&
           path.class == PATH_MALFORMED && path.text.n == 0,
       "more is malformed without a copy");
    /* /w/d/ comes in front. */
    ok(path_normalize(&posix, (struct str){given + 3, PATH_MAX_BYTES - 5}, out, PATH_MAX_BYTES + 1,
                      &path) == 0 &&
           path.class == PATH_FILE && path.text.n == PATH_MAX_BYTES &&
           path_normalize(&posix, (struct str){given + 3, PATH_MAX_BYTES - 4}, out,
                          PATH_MAX_BYTES + 1, &path) == 0 &&
           path.class == PATH_MALFORMED,
       "as many bytes as there may be, with the current directory in front");
    for (size_t i = 3; i + 3 <= 3 + 3 * 32764; i += 3)
        memcpy(given + i, "\xE2\x82\xAC", 3);
    ok(path_normalize(&here, (struct str){given, 3 + 3 * 32764}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE,
       "32,767 units of three bytes");
    ok(path_normalize(&here, (struct str){given + 3, 3 * 32760}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE &&
           path_normalize(&here, (struct str){given + 3, 3 * 32761}, out, PATH_MAX_BYTES, &path) ==
               0 &&
           path.class == PATH_MALFORMED,
       "and with the current directory in front");
    for (size_t i = 3; i + 3 <= 3 + 3 * 32764; i += 3)
        memcpy(given + i, "\xEF\xBF\xBF", 3);
    ok(path_normalize(&here, (struct str){given, 3 + 3 * 32764}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE,
       "the last of the first plane is one unit");
    for (size_t i = 3; i + 4 <= 3 + 4 * 16383; i += 4)
        memcpy(given + i, "\xF0\x9F\x98\x80", 4);
    ok(path_normalize(&here, (struct str){given, 3 + 4 * 16382}, out, PATH_MAX_BYTES, &path) == 0 &&
           path.class == PATH_FILE &&
           path_normalize(&here, (struct str){given, 3 + 4 * 16383}, out, PATH_MAX_BYTES, &path) ==
               0 &&
           path.class == PATH_MALFORMED,
       "a character beyond the first plane is two units");
    free(given);
    free(out);
}

/* In buffers of exactly their size: a sanitizer sees the first byte too many, read or written. */
static void test_room(void)
{
    unsigned bad = 0, small = 0;
    char out[1024];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct path whole, path;
        size_t n = strlen(rows[i].given);
        if (path_normalize(rows[i].context, str_of(rows[i].given), out, sizeof out, &whole))
            continue;
        for (size_t cut = 0; cut <= n; cut++) {
            char *given = malloc(cut ? cut : 1), *room = malloc(cut + 64);
            memcpy(given, rows[i].given, cut);
            bad += path_normalize(rows[i].context, (struct str){given, cut}, room, cut + 64, &path);
            free(given);
            free(room);
        }
        for (size_t capacity = 0; capacity <= whole.text.n; capacity++) {
            char *room = malloc(capacity ? capacity : 1);
            int rc = path_normalize(rows[i].context, str_of(rows[i].given), room, capacity, &path);
            small += rc == 0 && !str_eq(path.text, whole.text);
            free(room);
        }
    }
    ok(bad == 0, "any beginning of a path is read to its end and no further");
    ok(small == 0, "too little room is said, or it was enough");
}

/* Pieces that make paths interesting, put together at random: twice is once. */
static void test_random(void)
{
    static const char *const pieces[] = {
        "C:",
        "\\",
        "/",
        ".",
        "..",
        " ",
        ":",
        "a",
        "\\\\?\\",
        "\\\\.\\",
        "\\??\\",
        "UNC",
        "\\\\",
        "nul",
        "con",
        "$DATA",
        "::$DATA",
        "$I30",
        ":$INDEX_ALLOCATION",
        "GLOBALROOT",
        "\\Device\\",
        "HarddiskVolume3",
        "Volume{ab-1}",
        "pipe",
        "Mup",
        "unix",
        "Z:",
        "~1",
        "\xC2\xB9",
        "COM1",
        "?",
        "\xE2\x84\xAA",
        "\xED\xA0\x80",
        "wsl$",
        "h",
        ";",
    };
    static const struct path_context *const contexts[] = {&here, &kernel, &share, &nowhere, &posix};
    uint64_t seed = 42;
    unsigned bad = 0;
    for (int i = 0; i < 200000; i++) {
        char given[256], out[512], again[512];
        size_t n = 0;
        struct path one, two;
        for (int k = 0; k < 12; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const char *piece = pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)];
            memcpy(given + n, piece, strlen(piece));
            n += strlen(piece);
            if ((seed >> 60) == 0)
                break;
        }
        const struct path_context *context = contexts[(unsigned)i % 5];
        if (path_normalize(context, (struct str){given, n}, out, sizeof out, &one) ||
            path_normalize(context, one.text, again, sizeof again, &two) ||
            one.class != two.class || !str_eq(one.text, two.text)) {
            if (bad++ < 3)
                note("%.*s", (int)n, given);
        }
    }
    ok(bad == 0, "normalising twice is normalising once, 200,000 times");
}

static void test_fold(void)
{
    ok(fold_unit('a', FOLD_NARROW) == 'A' && fold_unit(0xE4, FOLD_NARROW) == 0xC4 &&
           fold_unit(0xFF, FOLD_NARROW) == 0x178 && fold_unit(0xDF, FOLD_NARROW) == 0xDF,
       "letters fold to upper case");
    ok(fold_unit(0x131, FOLD_NARROW) == 0x131 && fold_unit(0x17F, FOLD_NARROW) == 0x17F &&
           fold_unit(0x212A, FOLD_NARROW) == 0x212A,
       "narrowly nothing turns into ASCII");
    ok(fold_unit(0x131, FOLD_WIDE) == 'I' && fold_unit(0x130, FOLD_WIDE) == 'I' &&
           fold_unit(0x17F, FOLD_WIDE) == 'S' && fold_unit(0x212A, FOLD_WIDE) == 'K',
       "widely every reading counts");
    unsigned unstable = 0, finer = 0;
    for (uint32_t c = 0; c < 0x10000; c++) {
        for (int fold = 0; fold < 2; fold++) {
            uint16_t once = fold_unit((uint16_t)c, (enum casefold)fold);
            unstable += fold_unit(once, (enum casefold)fold) != once;
        }
        finer += fold_unit(fold_unit((uint16_t)c, FOLD_NARROW), FOLD_WIDE) !=
                 fold_unit((uint16_t)c, FOLD_WIDE);
    }
    ok(unstable == 0, "folding twice is folding once");
    ok(finer == 0, "what is equal narrowly is equal widely");
    ok(fold_equal(PATH_WINDOWS, FOLD_NARROW, STR("\xC3\xA4x"), STR("\xC3\x84X")) &&
           !fold_equal(PATH_POSIX, FOLD_WIDE, STR("a"), STR("A")) &&
           !fold_equal(PATH_WINDOWS, FOLD_WIDE, STR("a"), STR("ab")),
       "equality");
    char out[4];
    ok(fold_text(PATH_WINDOWS, FOLD_WIDE, STR("abcde"), out, sizeof out) == SIZE_MAX &&
           fold_text(PATH_WINDOWS, FOLD_WIDE, STR("a\xC9\x90"), out, sizeof out) == 4,
       "a folded letter can be longer");
}

int main(void)
{
    test_rows();
    test_parts();
    test_walk();
    test_long();
    test_room();
    test_random();
    test_fold();
    return tap_done();
}
