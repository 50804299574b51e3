/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One spelling for every path: the prefix says what kind of path it is, components.c does the rest.
 *
 *   given                                  spelled                class
 *   C:\a\.\b\..\c.  c:/a//c                C:\a\c                 file
 *   a   \a   C:a   (cwd C:\w)              C:\w\a C:\a C:\w\a     file
 *   \\?\C:\a  \\.\C:\a  \??\C:\a           C:\a                   file
 *   \Device\HarddiskVolume3\a (mapped)     C:\a                   file
 *   a::$DATA  a::$INDEX_ALLOCATION         C:\w\a                 file
 *   a:b:$DATA                              C:\w\a:b               stream
 *   \\?\C:\a.  a.::$DATA                   \\?\C:\a.              trailing
 *   \\h\s\a  \\?\UNC\h\s\a                 \\h\s\a                unc
 *   \\.\C:  \\?\Volume{...}                \\.\C: \\.\Volume{...} volume
 *   C:\a\nul  nul:  \Device\Null           \\.\NUL                nul
 */
#include "policy/spelling.h"

#include "cordon.h"

static const struct {
    enum path_class class;
    const char *name;
} class_names[] = {
    {PATH_MALFORMED, "malformed"},
    {PATH_FILE, "file"},
    {PATH_STREAM, "stream"},
    {PATH_TRAILING, "trailing"},
    {PATH_RESERVED, "reserved"},
    {PATH_UNC, "unc"},
    {PATH_WSL, "wsl"},
    {PATH_NUL, "nul"},
    {PATH_CONSOLE, "console"},
    {PATH_PIPE, "pipe"},
    {PATH_MAILSLOT, "mailslot"},
    {PATH_VOLUME, "volume"},
    {PATH_DEVICE, "device"},
    {PATH_UNIX, "unix"},
};

const char *path_class_name(enum path_class class)
{
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
        if (class_names[i].class == class)
            return class_names[i].name;
    return "malformed";
}

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

static bool is_drive(struct str s)
{
    return s.n >= 2 && ascii_is_alpha(s.p[0]) && s.p[1] == ':';
}

static enum path_class finish_drive(struct spelling *j, size_t *base)
{
    bool unix_door =
        j->context->unix_drive && ascii_upper(j->context->unix_drive) == ascii_upper(j->out[0]);
    j->out[0] = ascii_upper(j->out[0]);
    enum path_class class = spelling_finish(j, 2, PATH_FILE, base);
    if (class == PATH_FILE && j->n == 2)
        spelling_put(j, STR("\\"));
    if (unix_door && class != PATH_MALFORMED && class != PATH_NUL && class != PATH_CONSOLE &&
        class != PATH_TRAILING) {
        *base = SIZE_MAX;
        return PATH_UNIX;
    }
    return class;
}

static bool is_wsl(struct str unc)
{
    struct str server = str_slice(unc, 2, str_find_char(unc, '\\', 2));
    return str_eqi(server, STR("wsl$")) || str_eqi(server, STR("wsl.localhost"));
}

/* rest is SERVER\SHARE\... */
static enum path_class read_unc(struct spelling *j, struct str rest, size_t *base)
{
    size_t at[2] = {rest.n, rest.n};
    size_t found = 0;
    for (size_t i = 0; i < rest.n && found < 2; i++)
        if (rest.p[i] == '\\' || (!j->verbatim && rest.p[i] == '/'))
            at[found++] = i;
    struct str server = str_slice(rest, 0, at[0]), share = str_slice(rest, at[0] + 1, at[1]);
    struct str both[] = {server, share};
    for (size_t i = 0; i < 2; i++)
        if (spelling_marks(both[i]) || str_has_char(both[i], '/') ||
            spelling_trimmed(both[i]) != both[i].n)
            return PATH_MALFORMED;
    if (server.n == 0 || (share.n == 0 && at[1] < rest.n))
        return PATH_MALFORMED;
    j->n = 0;
    spelling_put(j, STR("\\\\"));
    spelling_put(j, server);
    if (share.n) {
        spelling_put(j, STR("\\"));
        spelling_put(j, share);
    }
    j->floor = j->n;
    j->clamp = true;
    size_t start = j->n;
    spelling_collapse(j, str_from(rest, at[1] + 1), '\\');
    enum path_class class = spelling_finish(j, start, PATH_UNC, base);
    if (class != PATH_MALFORMED && class != PATH_TRAILING && is_wsl((struct str){j->out, j->n})) {
        *base = SIZE_MAX;
        return PATH_WSL;
    }
    return class;
}

/* The rest after prefix if s starts with it and a separator or the end comes next. */
static bool under(struct str s, struct str prefix, struct str *rest)
{
    if (!str_startsi(s, prefix) || (s.n > prefix.n && s.p[prefix.n] != '\\'))
        return false;
    *rest = str_from(s, prefix.n);
    return true;
}

/* Replaces the first cut bytes of the buffer by prefix. */
static void replace_front(struct spelling *j, size_t cut, struct str prefix)
{
    if (j->full || (prefix.n > cut && prefix.n - cut > j->capacity - j->n)) {
        j->full = true;
        return;
    }
    memmove(j->out + prefix.n, j->out + cut, j->n - cut);
    memcpy(j->out, prefix.p, prefix.n);
    j->n = j->n - cut + prefix.n;
}

/* The buffer holds a name that may be in the caller's table of volumes; drive paths are returned
   verbatim. */
static bool read_mapped(struct spelling *j, enum path_class *class, size_t *base)
{
    struct str text = {j->out, j->n}, rest;
    for (size_t i = 0; i < j->context->map_count; i++) {
        const struct path_map *map = &j->context->maps[i];
        struct str prefix = map->prefix;
        bool volume = str_starts(prefix, STR("\\\\?\\"));
        if (!is_drive(map->drive) ||
            !under(volume ? str_from(text, 4) : text, volume ? str_from(prefix, 4) : prefix, &rest))
            continue;
        bool raw = rest.n == 0 && !j->folder;
        replace_front(j, j->n - rest.n, str_slice(map->drive, 0, 2));
        if (raw) {
            j->out[0] = ascii_upper(j->out[0]);
            replace_front(j, 0, STR("\\\\.\\"));
            *class = PATH_VOLUME;
        } else {
            *class = finish_drive(j, base);
        }
        return true;
    }
    return false;
}

/* \Device\NAME\... */
static enum path_class read_device(struct spelling *j, struct str rest, size_t *base)
{
    static const struct {
        struct str name;
        enum path_class class;
    } known[] = {
        {{"\\Device\\NamedPipe", 17}, PATH_PIPE},
        {{"\\Device\\Mailslot", 16}, PATH_MAILSLOT},
        {{"\\Device\\Null", 12}, PATH_NUL},
        {{"\\Device\\ConDrv", 14}, PATH_CONSOLE},
        {{"\\Device\\Mup", 11}, PATH_UNC},
        {{"\\Device\\LanmanRedirector", 24}, PATH_UNC},
        {{"\\Device\\WebDavRedirector", 24}, PATH_UNC},
    };
    j->n = 0;
    j->verbatim = true;
    spelling_put(j, STR("\\Device"));
    spelling_collapse(j, rest, '\\');
    if (j->malformed || j->full || j->n == 7)
        return PATH_MALFORMED;
    enum path_class class;
    if (read_mapped(j, &class, base))
        return class;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct str below;
        if (!under((struct str){j->out, j->n}, known[i].name, &below))
            continue;
        switch (known[i].class) {
        case PATH_PIPE: replace_front(j, j->n - below.n, STR("\\\\.\\pipe")); break;
        case PATH_MAILSLOT: replace_front(j, j->n - below.n, STR("\\\\.\\mailslot")); break;
        case PATH_NUL:
            j->n = 0;
            spelling_put(j, STR("\\\\.\\NUL"));
            break;
        case PATH_UNC:
            /* \Device\Mup\;LanmanRedirector\;Z:0\h\s: anything but a plain \h\s remains a
               device. */
            if (below.n < 2 || below.p[1] == ';')
                return PATH_UNC;
            return read_unc(j, str_from(below, 1), base);
        default: break;
        }
        return known[i].class;
    }
    return PATH_DEVICE;
}

/* The rest after \\?\, \\.\ or \??\. */
static enum path_class read_namespace(struct spelling *j, struct str rest, size_t *base)
{
    j->n = 0;
    spelling_put(j, STR("\\\\."));
    struct str first = {rest.p, 0};
    while (first.n < rest.n && rest.p[first.n] != '\\' && (j->verbatim || rest.p[first.n] != '/'))
        first.n++;
    if (str_eqi(first, STR("UNC")) && first.n < rest.n)
        return read_unc(j, str_from(rest, first.n + 1), base);
    spelling_put(j, STR("\\"));
    spelling_put(j, first);
    /* To Win32 \\.\x\..\C:\y is \\.\C:\y: nothing may climb above the first component. */
    j->floor = j->n;
    j->clamp = false;
    spelling_collapse(j, str_from(rest, first.n + 1), '\\');
    if (rest.n == first.n + 1)
        j->folder = true;
    if (!j->verbatim && first.n + 1 >= rest.n && !is_drive(first)) {
        size_t trimmed = spelling_trimmed(first);
        j->n -= first.n - trimmed;
        first.n = trimmed;
    }
    struct str text = {j->out, j->n};
    if (j->malformed || j->full || first.n == 0 || spelling_trimmed(first) != first.n ||
        str_has_char(first, '/'))
        return PATH_MALFORMED;
    if (is_drive(first) && first.n == 2) {
        if (j->n == 6 && !j->folder) {
            j->out[4] = ascii_upper(j->out[4]);
            return PATH_VOLUME;
        }
        replace_front(j, 4, STR(""));
        return finish_drive(j, base);
    }
    if (str_eqi(first, STR("unix"))) {
        replace_front(j, 8, STR("\\\\?\\unix"));
        /* Verbatim, so that the next reading leaves it as it is. */
        return PATH_UNIX;
    }
    /* A trailing dot would be lost when \\.\ is read again. */
    if (j->verbatim)
        for (size_t i = 4; i <= text.n; i++)
            if ((i == text.n || text.p[i] == '\\') &&
                (text.p[i - 1] == '.' || text.p[i - 1] == ' '))
                return PATH_MALFORMED;
    enum path_class class;
    if (str_startsi(first, STR("Volume{")))
        return read_mapped(j, &class, base) ? class : PATH_VOLUME;
    if (str_eqi(first, STR("pipe"))) {
        memcpy(j->out + 4, "pipe", 4);
        return PATH_PIPE;
    }
    if (str_eqi(first, STR("mailslot"))) {
        memcpy(j->out + 4, "mailslot", 8);
        return PATH_MAILSLOT;
    }
    bool alone = j->n == 4 + first.n;
    if (alone && str_eqi(first, STR("NUL"))) {
        memcpy(j->out + 4, "NUL", 3);
        return PATH_NUL;
    }
    if (alone && (str_eqi(first, STR("CON")) || str_eqi(first, STR("CONIN$")) ||
                  str_eqi(first, STR("CONOUT$")))) {
        for (size_t i = 4; i < j->n; i++)
            j->out[i] = ascii_upper(j->out[i]);
        return PATH_CONSOLE;
    }
    return PATH_DEVICE;
}

/* C:a, \a and a: the current directory comes first. */
static enum path_class read_relative(struct spelling *j, struct str given, size_t *base)
{
    struct str cwd = j->context->cwd;
    size_t root = path_root_length(PATH_WINDOWS, cwd);
    if (j->context->nt)
        return PATH_MALFORMED;
    j->relative = true;
    j->clamp = true;
    if (is_drive(given)) {
        /* The current directory of another drive is unknown: cmd starts at its top. */
        if (is_drive(cwd) && ascii_upper(cwd.p[0]) == ascii_upper(given.p[0]))
            spelling_put(j, str_eq(str_from(cwd, 2), STR("\\")) ? str_slice(cwd, 0, 2) : cwd);
        else
            spelling_put(j, str_slice(given, 0, 2));
        j->floor = 2;
        spelling_collapse(j, str_from(given, 2), '\\');
        return finish_drive(j, base);
    }
    if (root == 0)
        return PATH_MALFORMED;
    bool rooted = is_separator(given.p[0]);
    spelling_put(j, rooted || cwd.n == root + 1 ? str_slice(cwd, 0, root) : cwd);
    j->floor = root;
    j->bare = !rooted;
    spelling_collapse(j, given, '\\');
    if (is_drive(cwd))
        return finish_drive(j, base);
    enum path_class class = spelling_finish(j, root, PATH_UNC, base);
    if (class == PATH_UNC && is_wsl((struct str){j->out, j->n}))
        return PATH_WSL;
    return class;
}

static enum path_class read_windows(struct spelling *j, struct str given, size_t *base)
{
    struct str rest;
    if (spelling_units(given) > PATH_MAX_UNITS)
        return PATH_MALFORMED;
    if (str_starts(given, STR("\\\\?\\")) || str_starts(given, STR("\\??\\"))) {
        j->verbatim = true;
        return read_namespace(j, str_from(given, 4), base);
    }
    if (j->context->nt && under(given, STR("\\DosDevices"), &rest) && rest.n > 1) {
        j->verbatim = true;
        return read_namespace(j, str_from(rest, 1), base);
    }
    if (given.n >= 2 && is_separator(given.p[0]) && is_separator(given.p[1])) {
        bool space =
            given.n > 3 && (given.p[2] == '?' || given.p[2] == '.') && is_separator(given.p[3]);
        return space ? read_namespace(j, str_from(given, 4), base)
                     : read_unc(j, str_from(given, 2), base);
    }
    if (under(given, STR("\\Device"), &rest) && rest.n > 1)
        return read_device(j, str_from(rest, 1), base);
    if (given.p[0] == '\\' && (j->context->nt || under(given, STR("\\GLOBAL\?\?"), &rest))) {
        spelling_put(j, given);
        return PATH_DEVICE;
    }
    if (is_drive(given) && given.n > 2 && is_separator(given.p[2])) {
        spelling_put(j, str_slice(given, 0, 2));
        j->floor = 2;
        j->clamp = true;
        spelling_collapse(j, str_from(given, 3), '\\');
        return finish_drive(j, base);
    }
    return read_relative(j, given, base);
}

static enum path_class read_posix(struct spelling *j, struct str given)
{
    struct str cwd = j->context->cwd;
    if (str_has_char(given, '\0'))
        return PATH_MALFORMED;
    if (given.p[0] != '/') {
        if (cwd.n == 0 || cwd.p[0] != '/')
            return PATH_MALFORMED;
        spelling_put(j, cwd.n == 1 ? STR_NONE : cwd);
    }
    j->clamp = true;
    spelling_collapse(j, given, '/');
    if (j->n == 0)
        spelling_put(j, STR("/"));
    return j->full ? PATH_MALFORMED : PATH_FILE;
}

int path_normalize(const struct path_context *context, struct str given, char *out, size_t capacity,
                   struct path *path)
{
    struct spelling j = {.context = context, .out = out, .capacity = capacity};
    size_t base = SIZE_MAX;
    enum path_class class = PATH_MALFORMED;
    if (given.n > 0 && given.n <= PATH_MAX_BYTES)
        class =
            context->dialect == PATH_POSIX ? read_posix(&j, given) : read_windows(&j, given, &base);
    if (j.full)
        return CORDON_E_TOOBIG;
    struct str text = {out, j.n};
    /* A text longer than given has not been checked yet; a whole path only loses units. */
    bool longer = j.relative || text.n > given.n;
    if (class != PATH_MALFORMED && longer &&
        (text.n > PATH_MAX_BYTES || (context->dialect == PATH_WINDOWS && text.n > PATH_MAX_UNITS &&
                                     spelling_units(text) > PATH_MAX_UNITS)))
        class = PATH_MALFORMED;
    if (class == PATH_MALFORMED) {
        text.n = given.n <= PATH_MAX_BYTES ? given.n : 0;
        if (text.n > capacity)
            return CORDON_E_TOOBIG;
        if (text.n)
            memmove(out, given.p, text.n);
    }
    *path = (struct path){.class = class, .text = text, .base = text, .folder = j.folder};
    if (class == PATH_STREAM && base < text.n)
        path->base.n = base;
    return 0;
}
