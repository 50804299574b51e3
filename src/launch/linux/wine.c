/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes, the folders of a wineserver, and command lines for Wine. */
#include "launch/linux/wine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "launch/temp.h"

static int fail(struct settings *s, int code, const char *what, const char *why)
{
    buf_reset(&s->error);
    buf_fmt(&s->error, "%.800s: %s", what, why);
    return code;
}

static const char *keep(struct settings *s, const char *text)
{
    return arena_copy(&s->arena, str_of(text)).p;
}

/* By its name, or by the two letters with which every one begins. */
static bool is_windows_program(const char *program)
{
    char magic[2] = "";
    if (str_endsi(str_of(program), STR(".exe")))
        return true;
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && read(fd, magic, 2) == 2 && magic[0] == 'M' && magic[1] == 'Z';
    if (fd >= 0)
        close(fd);
    return found;
}

static bool find_first(const char *const *names, size_t count, char *out, size_t capacity)
{
    const char *all = getenv("PATH");
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '/') {
            if (access(names[i], X_OK) == 0)
                return snprintf(out, capacity, "%s", names[i]) < (int)capacity;
            continue;
        }
        for (const char *p = all ? all : "/usr/bin:/bin"; *p;) {
            size_t n = strcspn(p, ":");
            if (n && snprintf(out, capacity, "%.*s/%s", (int)n, p, names[i]) < (int)capacity &&
                access(out, X_OK) == 0)
                return true;
            p += n + (p[n] == ':');
        }
    }
    return false;
}

static bool make_folders(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part; (p = strchr(p + 1, '/'));) {
        *p = '\0';
        if (mkdir(part, mode) && errno != EEXIST)
            return false;
        *p = '/';
    }
    return mkdir(part, mode) == 0 || errno == EEXIST;
}

static bool copy_file(int from_dir, int to_dir, const char *name, const struct stat *st)
{
    char piece[65536];
    int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0777);
    bool good = from >= 0 && to >= 0;
    for (ssize_t n; good && (n = read(from, piece, sizeof piece)) > 0;)
        good = write(to, piece, (size_t)n) == n;
    if (to >= 0) {
        const struct timespec times[2] = {st->st_atim, st->st_mtim};
        futimens(to, times);
        close(to);
    }
    if (from >= 0)
        close(from);
    return good;
}

/* Duplicates a tree: links as links, files below "windows" as hard links, others as copies. */
static bool clone_folder(int from, int to, bool linked)
{
    bool good = true;
    int again = dup(from);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; good && names && (entry = readdir(names));) {
        const char *name = entry->d_name;
        struct stat st;
        char target[PATH_MAX];
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "wineserver") == 0 ||
            fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISLNK(st.st_mode)) {
            ssize_t n = readlinkat(from, name, target, sizeof target - 1);
            target[n > 0 ? n : 0] = '\0';
            good = n > 0 && symlinkat(target, to, name) == 0;
        } else if (S_ISDIR(st.st_mode)) {
            int below = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            int made =
                mkdirat(to, name, 0755) ? -1 : openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            good = below >= 0 && made >= 0 &&
                   clone_folder(below, made, linked || strcmp(name, "windows") == 0);
            if (below >= 0)
                close(below);
            if (made >= 0)
                close(made);
        } else if (S_ISREG(st.st_mode)) {
            good =
                (linked && linkat(from, name, to, name, 0) == 0) || copy_file(from, to, name, &st);
        }
    }
    if (names)
        closedir(names);
    else if (again >= 0)
        close(again);
    return good && names;
}

static bool clone_prefix(const char *from, const char *to)
{
    int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = source >= 0 && target >= 0 && clone_folder(source, target, false);
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    return good;
}

/* Adds a place to the rules: it can be written like a root. */
static int allow(struct settings *s, const char *folder)
{
    struct policy_entry entry = {.given = str_of(folder), .from = STR("--wine-prefix")};
    return policy_list_add(&s->arena, &s->extra_roots, entry);
}

/* True if a wineserver outside serves this prefix. */
static bool is_served(const char *folder, const struct stat *prefix)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/server-%lx-%lx/socket", folder,
                     (unsigned long)prefix->st_dev, (unsigned long)prefix->st_ino);
    int fd = n < (int)sizeof address.sun_path ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    bool answered = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    return answered;
}

/*
 * Wine's server has a folder named after the prefix: in /tmp/.wine-UID, or on Debian in a folder of
 * the temp folder whose name is stored in the prefix. It is created here, so that nothing else in
 * /tmp is needed.
 */
int wine_serve(struct settings *s, struct wine_run *wine)
{
    char folder[PATH_MAX], note[PATH_MAX], name[64] = "", common[64];
    struct stat st;
    const char *temp = getenv("TMPDIR");
    if (!temp || temp[0] != '/')
        temp = "/tmp";
    if (stat(wine->prefix, &st))
        return fail(s, CORDON_E_OPEN, wine->prefix, strerror(errno));
    snprintf(common, sizeof common, "/tmp/.wine-%u", (unsigned)geteuid());
    snprintf(note, sizeof note, "%s/wineserver", wine->prefix);
    int fd = open(note, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, name, sizeof name - 1);
        name[n > 0 ? n : 0] = '\0';
        name[strcspn(name, "\n")] = '\0';
        close(fd);
    }
    if (name[0] && !strchr(name, '/') && name[0] != '.') {
        snprintf(folder, sizeof folder, "%s/%s", temp, name);
        mkdir(folder, 0700);
    } else {
        snprintf(folder, sizeof folder, "%s/wine-XXXXXX", temp);
        if (!mkdtemp(folder))
            return fail(s, CORDON_E_OPEN, folder, strerror(errno));
        fd = open(note, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
        bool noted = fd >= 0 && write(fd, strrchr(folder, '/') + 1, 11) == 11;
        if (fd >= 0)
            close(fd);
        if (!noted)
            return fail(s, CORDON_E_WRITE, note, "cannot write it");
    }
    if (is_served(folder, &st) || is_served(common, &st))
        return fail(
            s, CORDON_E_REFUSED, wine->prefix,
            "a wineserver outside already runs on this prefix; end it (wineserver -k) or name "
            "another one");
    mkdir(common, 0700);
    size_t n = strlen(common);
    wine->server = keep(s, folder);
    char server[PATH_MAX];
    snprintf(server, sizeof server, "%.*s/server-%lx-%lx", (int)n, common, (unsigned long)st.st_dev,
             (unsigned long)st.st_ino);
    mkdir(server, 0700);
    wine->other_server = keep(s, server);
    int rc = wine->server && wine->other_server ? allow(s, folder) : CORDON_E_NOMEM;
    return rc == 0 ? allow(s, server) : rc;
}

/* Which programs a cached prefix was made from: another Wine needs another one. */
static bool template_path(const char *wine, char *out, size_t capacity)
{
    char real[PATH_MAX];
    struct stat st;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (!realpath(wine, real) || stat(real, &st) || (!(cache && cache[0] == '/') && !home))
        return false;
    bool own = cache && cache[0] == '/';
    return snprintf(out, capacity, "%s%s/cordon/wine-%llx-%llx", own ? cache : home,
                    own ? "" : "/.cache", (unsigned long long)st.st_mtim.tv_sec,
                    (unsigned long long)st.st_size) < (int)capacity;
}

static const char *const quiet_wine[] = {"WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml="};

/* Has Wine create a prefix, in a run of its own that can change nothing else. */
static int boot(const struct wine_question *q, const char *wine, const char *server,
                const char *folder)
{
    char line[3 * PATH_MAX], variable[PATH_MAX + 16];
    snprintf(variable, sizeof variable, "WINEPREFIX=%s", folder);
    snprintf(line, sizeof line, "'%s' wineboot --init; '%s' -w", wine, server);
    const char *set[] = {variable, quiet_wine[0], quiet_wine[1]};
    struct wine_boot b = {.wine.prefix = folder, .line = line, .set = set, .set_count = 3};
    int rc = q->boot(q->context, &b);
    if (b.wine.server)
        temp_remove(b.wine.server);
    return rc;
}

static int make_template(struct settings *s, const struct wine_question *q, const char *wine,
                         const char *server, const char *path)
{
    char work[PATH_MAX], registry[PATH_MAX + 16];
    if (access(path, F_OK) == 0)
        return 0;
    if (snprintf(work, sizeof work, "%s.XXXXXX", path) >= (int)sizeof work)
        return fail(s, CORDON_E_TOOBIG, path, "too long");
    char *slash = strrchr(work, '/');
    *slash = '\0';
    bool made = make_folders(work, 0700);
    *slash = '/';
    if (!made || !mkdtemp(work))
        return fail(s, CORDON_E_OPEN, work, strerror(errno));
    int rc = boot(q, wine, server, work);
    snprintf(registry, sizeof registry, "%s/system.reg", work);
    if (rc == 0 && access(registry, F_OK))
        rc = fail(s, CORDON_E_CONFINE, "Wine", "it failed to make a prefix");
    if (rc == 0 && rename(work, path) && access(path, F_OK))
        rc = fail(s, CORDON_E_WRITE, path, strerror(errno));
    if (rc || access(work, F_OK) == 0)
        temp_remove(work);
    return rc;
}

/* The prefix of this run: filled from the cached one if it is new. */
static int make_prefix(struct settings *s, struct wine_run *run, const struct wine_question *q,
                       const char *wine, const char *server)
{
    char kept[PATH_MAX], path[PATH_MAX], registry[PATH_MAX + 16];
    if (!template_path(wine, kept, sizeof kept))
        return fail(s, CORDON_E_OPEN, "Wine", "no folder to keep a prefix in; set HOME");
    run->private_prefix = !q->prefix;
    if (q->prefix) {
        if (!make_folders(q->prefix, 0755) || !realpath(q->prefix, path))
            return fail(s, CORDON_E_OPEN, q->prefix, strerror(errno));
    } else {
        int rc = make_template(s, q, wine, server, kept);
        if (rc)
            return rc;
        if (snprintf(path, sizeof path, "%s.run-XXXXXX", kept) >= (int)sizeof path ||
            !mkdtemp(path))
            return fail(s, CORDON_E_OPEN, path, strerror(errno));
    }
    run->prefix = keep(s, path);
    if (!run->prefix)
        return CORDON_E_NOMEM;
    snprintf(registry, sizeof registry, "%s/system.reg", path);
    if (access(registry, F_OK) == 0)
        return 0;
    int rc = make_template(s, q, wine, server, kept);
    if (rc == 0 && !clone_prefix(kept, path))
        rc = fail(s, CORDON_E_WRITE, path, "cannot make the prefix");
    return rc;
}

/* C:\ws is ws below whatever the prefix's drive c: points to. */
static bool map_root(void *context, struct arena *arena, struct str given, struct str *out)
{
    const struct wine_run *wine = context;
    char path[PATH_MAX], real[PATH_MAX];
    if (given.n < 2 || !ascii_is_alpha(given.p[0]) || given.p[1] != ':')
        return true;
    int n = snprintf(path, sizeof path, "%s/dosdevices/%c:%s%.*s", wine->prefix,
                     ascii_lower(given.p[0]),
                     given.n > 2 && given.p[2] != '\\' && given.p[2] != '/' ? "/" : "",
                     STR_ARG(str_from(given, 2)));
    for (char *p = path; n < (int)sizeof path && *p; p++)
        if (*p == '\\')
            *p = '/';
    if (n >= (int)sizeof path || !realpath(path, real))
        return false;
    *out = arena_copy(arena, str_of(real));
    return out->p != NULL;
}

static void quote(struct buf *out, const char *word)
{
    buf_add(out, STR("'"));
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            buf_add(out, STR("'\\''"));
        else
            buf_char(out, *c);
    buf_add(out, STR("' "));
}

/* wine program argument… With a prefix that is kept, the server must exit by itself or registry
   changes would be lost: then a shell waits for both. */
static int make_command(struct settings *s, struct wine_run *run, const struct wine_question *q,
                        const char *wine, const char *server)
{
    struct arena *arena = &s->arena;
    const char **argv = ARENA_ARRAY(arena, q->argc + 4, const char *);
    const char **set = ARENA_ARRAY(arena, 4, const char *);
    auto_buf struct buf line = {0};
    char variable[PATH_MAX + 16];
    size_t count = 0;
    if (!argv || !set)
        return CORDON_E_NOMEM;
    if (run->private_prefix) {
        argv[count++] = keep(s, wine);
        for (size_t i = 0; i < q->argc; i++)
            argv[count++] = q->argv[i];
    } else {
        quote(&line, wine);
        for (size_t i = 0; i < q->argc; i++)
            quote(&line, q->argv[i]);
        buf_add(&line, STR("; c=$?; "));
        quote(&line, server);
        buf_add(&line, STR("-k; exit $c"));
        argv[count++] = "sh";
        argv[count++] = "-c";
        argv[count++] = keep(s, buf_cstr(&line));
    }
    run->argv = argv;
    run->argc = count;
    snprintf(variable, sizeof variable, "WINEPREFIX=%s", run->prefix);
    set[run->set_count++] = keep(s, variable);
    for (size_t i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(quiet_wine[i], "="), quiet_wine[i]);
        if (!getenv(name))
            set[run->set_count++] = quiet_wine[i];
    }
    run->set = set;
    return line.failed || !argv[count - 1] || !set[0] ? CORDON_E_NOMEM : 0;
}

int wine_prepare(struct settings *s, struct wine_run *run, const struct wine_question *q)
{
    static const char *const loaders[] = {"/usr/lib/wine/wine64", "wine64", "wine"};
    static const char *const servers[] = {"/usr/lib/wine/wineserver64", "wineserver64",
                                          "wineserver"};
    char wine[PATH_MAX], server[PATH_MAX];
    if (q->argc == 0 || (!is_windows_program(q->argv[0]) && !q->prefix))
        return 0;
    if (!is_windows_program(q->argv[0]))
        return fail(s, CORDON_E_VALUE, "--wine-prefix", "the command is not a Windows program");
    if (!find_first(loaders, 3, wine, sizeof wine) ||
        !find_first(servers, 3, server, sizeof server))
        return fail(s, CORDON_E_NOTFOUND, q->argv[0],
                    "this is a Windows program, and Wine is not installed (apt-get install wine)");
    int rc = make_prefix(s, run, q, wine, server);
    if (rc == 0)
        rc = wine_serve(s, run);
    if (rc == 0)
        rc = allow(s, run->prefix);
    if (rc == 0 && settings_map_roots(s, map_root, run))
        rc = fail(s, CORDON_E_VALUE, "--root",
                  "there is no such folder on that drive of the prefix");
    if (rc == 0)
        rc = make_command(s, run, q, wine, server);
    return rc == CORDON_E_NOMEM ? fail(s, rc, "Wine", "out of memory") : rc;
}

bool wine_is_harmless(const struct audit_event *event)
{
    const char *home = getenv("HOME");
    char own[PATH_MAX];
    if (event->op == AUDIT_FILE_CREATE && home) {
        static const char *const folders[] = {".config", ".local", ".cache"};
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            int n = snprintf(own, sizeof own, "%s/%s", home, folders[i]);
            if (n < (int)sizeof own && str_eq(event->target, str_of(own)))
                return true;
        }
    }
    /* Its server falls back to another way of writing to a process of the run. */
    if (event->op == AUDIT_FILE_WRITE && str_starts(event->target, STR("/proc/")) &&
        str_ends(event->target, STR("/mem")))
        return true;
    return (event->op == AUDIT_NET_SEND && str_eq(event->target, STR("UDP"))) ||
           (event->op == AUDIT_GUARD && str_endsi(event->target, STR("explorer.exe /desktop")));
}

void wine_finish(struct wine_run *wine)
{
    /* A prefix that is kept stores the name of this folder. */
    if (wine->server && wine->private_prefix)
        temp_remove(wine->server);
    if (wine->other_server)
        temp_remove(wine->other_server);
    if (wine->private_prefix && wine->prefix)
        temp_remove(wine->prefix);
    *wine = (struct wine_run){0};
}
