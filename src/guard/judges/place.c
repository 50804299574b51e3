/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a path by the policy, and the findings for deleting or writing it. */
#include "base/glob.h"
#include "guard/names.h"
#include "guard/searched.h"
#include "guard/state.h"
#include "policy/rules.h"

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* .gi?, .g[i]t: a pattern with the dot, which shells ask for, that finds .git. */
static bool is_git_pattern(struct str part)
{
    if (part.n < 3 || part.n > 16 || part.p[0] != '.' || ascii_is_in(part.p[1], ".*"))
        return false;
    bool wild = str_has_char(part, '?') || str_has_char(part, '*') || str_has_char(part, '[');
    return wild && glob_match(GLOB_BASH, part, STR(".git"));
}

/* True if some component of the path is .git, in any case, with trailing dots and blanks. */
static bool names_git(struct str path)
{
    for (size_t i = 0; i < path.n;) {
        size_t end = i;
        while (end < path.n && !is_separator(path.p[end]))
            end++;
        struct str part = str_slice(path, i, end);
        while (part.n && (part.p[part.n - 1] == ' ' || part.p[part.n - 1] == '.'))
            part.n--;
        if (str_eqi(part, STR(".git")) || is_git_pattern(part))
            return true;
        i = end + 1;
    }
    return false;
}

/* The path with a plain name for the first component with a wildcard and what follows it: a file
   that the wildcard may find. */
static struct str without_wildcard(struct guard *g, struct str path)
{
    size_t star = path.n;
    for (size_t i = 0; i < path.n && star == path.n; i++)
        if (path.p[i] == '*' || path.p[i] == '?')
            star = i;
    /* The ? of \\?\ is not a wildcard. */
    if (star == path.n || (str_starts(path, STR("\\\\?\\")) && star == 2))
        return path;
    while (star > 0 && !is_separator(path.p[star - 1]))
        star--;
    char *p = arena_alloc(&g->arena, star + 1);
    if (!p)
        return STR_NONE;
    if (star)
        memcpy(p, path.p, star);
    p[star] = 'x';
    return (struct str){p, star + 1};
}

/* A drive or a share: nothing that Linux knows. */
static bool is_windows_path(struct str path)
{
    bool drive = path.n > 1 && path.p[1] == ':' && ascii_is_alpha(path.p[0]);
    return (drive && (path.n == 2 || is_separator(path.p[2]))) || str_starts(path, STR("\\\\"));
}

/* cmd and PowerShell take both slashes, on every system. */
static struct str with_slashes(struct guard *g, struct str path)
{
    struct str copy = str_has_char(path, '\\') ? arena_copy(&g->arena, path) : path;
    for (size_t i = 0; copy.p != path.p && i < copy.n; i++)
        if (copy.p[i] == '\\')
            ((char *)copy.p)[i] = '/';
    return copy;
}

/* /c/ws of Git Bash and /mnt/c/ws of WSL are C:\ws. */
static struct str from_msys(struct guard *g, struct str path)
{
    struct str rest = str_starts(path, STR("/mnt/")) ? str_from(path, 4) : path;
    if (rest.n < 2 || rest.p[0] != '/' || !ascii_is_alpha(rest.p[1]) ||
        (rest.n > 2 && rest.p[2] != '/'))
        return path;
    struct str below = str_from(rest, 3);
    char *p = arena_alloc(&g->arena, below.n + 3);
    if (!p)
        return path;
    p[0] = rest.p[1];
    p[1] = ':';
    p[2] = '\\';
    if (below.n)
        memcpy(p + 3, below.p, below.n);
    return (struct str){p, below.n + 3};
}

struct path guard_normal_path(struct guard *g, const struct policy *policy, struct str path)
{
    struct path_context context = policy_settings_of(policy)->paths;
    struct path normal = {0};
    if (g->question.cwd.n)
        context.cwd = g->question.cwd;
    if (context.dialect == PATH_WINDOWS)
        path = from_msys(g, path);
    else if (g->shell == GUARD_CMD || g->shell == GUARD_POWERSHELL)
        path = with_slashes(g, path);
    size_t room = path.n + context.cwd.n + 16;
    char *out = arena_alloc(&g->arena, room);
    if (!out || path_normalize(&context, path, out, room, &normal) != 0)
        return (struct path){0};
    return normal;
}

/* ~, ~/x, ~name and ~name/x: somebody's home. */
static bool is_home(struct str path)
{
    if (path.n == 0 || path.p[0] != '~')
        return false;
    for (size_t i = 1; i < path.n && !is_separator(path.p[i]); i++)
        if (!ascii_is_alnum(path.p[i]) && path.p[i] != '-' && path.p[i] != '_')
            return false;
    return true;
}

enum guard_place guard_place_of(struct guard *g, struct str path)
{
    return guard_place_in(g, g->question.policy, path);
}

enum guard_place guard_place_in(struct guard *g, const struct policy *policy, struct str path)
{
    if (is_home(path))
        return names_git(path) ? GUARD_PLACE_GIT : GUARD_PLACE_UNKNOWN;
    path = guard_from_start(g, path);
    if (policy && str_ends(path, STR("\\\xFF")) && is_windows_path(path) &&
        str_find_char(path, GUARD_HOLE, 0) == path.n - 1) { /* what forfiles finds */
        struct str found = arena_copy(&g->arena, path);
        if (found.p)
            ((char *)found.p)[found.n - 1] = 'x';
        return found.p && guard_place_in(g, policy, found) == GUARD_PLACE_OUTSIDE
                   ? GUARD_PLACE_OUTSIDE
                   : GUARD_PLACE_UNKNOWN;
    }
    if (!policy || path.n == 0 || str_has_char(path, GUARD_HOLE))
        return names_git(path) ? GUARD_PLACE_GIT : GUARD_PLACE_UNKNOWN;
    if (policy_settings_of(policy)->paths.dialect != PATH_WINDOWS && is_windows_path(path))
        return GUARD_PLACE_OUTSIDE;
    struct policy_answer answer = {0};
    struct policy_request request = {.access = POLICY_DELETE,
                                     .path =
                                         guard_normal_path(g, policy, without_wildcard(g, path)),
                                     .facts = {.exists = true, .links = 1}};
    if (request.path.text.n)
        policy_decide(policy, &request, &answer);
    bool dot_files = g->dot_glob && str_eq(name_leaf(path), STR("*"));
    if (answer.verdict == CORDON_ALLOW)
        return dot_files || names_git(path) ? GUARD_PLACE_GIT : GUARD_PLACE_INSIDE;
    switch (answer.rule) {
    case RULE_ROOTS_ITSELF: return GUARD_PLACE_ROOT;
    case RULE_PROTECTED_GIT: return GUARD_PLACE_GIT;
    case RULE_PROTECTED_NAME:
    case RULE_PROTECTED_SELF: return GUARD_PLACE_PROTECTED;
    default: return GUARD_PLACE_OUTSIDE;
    }
}

/* C:\Users\x\*, ~/x*, $HOME/ *: every file there goes, and nothing asks before. */
static bool is_broad(const struct guard *g, struct word target)
{
    struct str path = str_trim(target.text), leaf = name_leaf(path);
    bool whole = str_eq(path, STR("/")) || str_eq(path, STR("~")) || str_eq(path, STR("~/"));
    if (whole || !str_has_char(leaf, '*') || path.n == leaf.n)
        return whole;
    if (path.p[0] != GUARD_HOLE)
        return is_windows_path(path) || is_home(path) || is_separator(path.p[0]);
    struct str written = str_slice(g->text, target.start, target.end);
    return str_findi(written, STR("home"), 0) < written.n ||
           str_findi(written, STR("userprofile"), 0) < written.n;
}

/* A wildcard right below a root that finds .git in it. */
static bool finds_git(struct guard *g, struct str path)
{
    struct str leaf = name_leaf(path);
    struct str folder = str_slice(path, 0, path.n - leaf.n);
    bool all = str_eq(leaf, STR("*")) || str_eq(leaf, STR("*.*"));
    if (!all && !(str_has_char(leaf, '*') && glob_match(GLOB_POWERSHELL, leaf, STR(".git"))))
        return false;
    return guard_place_of(g, folder.n ? folder : STR(".")) == GUARD_PLACE_ROOT;
}

/* "$env:TEMP\name", %TEMP%\name: a name of one's own in the folder for such files. */
static bool is_in_temp(const struct guard *g, struct word target)
{
    static const struct str starts[] = {STR("$env:TEMP\\"), STR("$env:TMP\\"), STR("$env:TEMP/"),
                                        STR("$env:TMP/"),   STR("%TEMP%\\"),   STR("%TMP%\\")};
    struct str rest = str_from(target.text, 2);
    if (!g->question.policy || target.text.n < 3 || target.text.p[0] != GUARD_HOLE ||
        !is_separator(target.text.p[1]) || is_separator(rest.p[0]) ||
        str_has_char(rest, GUARD_HOLE) || str_has_char(rest, '*') || str_has_char(rest, '?') ||
        str_find(rest, STR(".."), 0) < rest.n)
        return false;
    struct str written = str_slice(g->text, target.start, target.end);
    if (written.n && written.p[0] == '"')
        written = str_from(written, 1);
    for (size_t i = 0; i < NAME_ROWS(starts); i++)
        if (str_startsi(written, starts[i]))
            return true;
    return false;
}

void guard_delete(struct guard *g, struct str who, struct word target, unsigned flags)
{
    if (!(flags & GUARD_REGISTRY) && guard_protects(g, who, target, true))
        return;
    if (!(flags & (GUARD_RECURSE | GUARD_FORCE | GUARD_QUIET)) && !is_broad(g, target))
        return;
    if (flags & GUARD_REGISTRY) {
        guard_find(g, GUARD_DESTROY_OUTSIDE, target, who, "deletes a part of the registry",
                   "do this yourself; the sandbox denies registry writes");
        return;
    }
    struct str path = guard_through_link(g, str_trim(target.text));
    if (path.n == 0 || guard_is_temporary(path) || is_in_temp(g, target))
        return;
    switch (guard_place_of(g, path)) {
    case GUARD_PLACE_INSIDE:
        if ((flags & GUARD_HIDDEN) && finds_git(g, path))
            guard_find(g, GUARD_DESTROY_GIT, target, who, NULL, NULL);
        return;
    case GUARD_PLACE_ROOT: guard_find(g, GUARD_DESTROY_ROOT, target, who, NULL, NULL); return;
    case GUARD_PLACE_GIT: guard_find(g, GUARD_DESTROY_GIT, target, who, NULL, NULL); return;
    case GUARD_PLACE_PROTECTED:
        if (g->question.confined || !guard_own_work(g, target))
            guard_find(g, GUARD_DESTROY_OUTSIDE, target, who, NULL, NULL);
        return;
    case GUARD_PLACE_UNKNOWN:
        if (flags & (GUARD_RECURSE | GUARD_FORCE) || is_broad(g, target))
            guard_find(g, GUARD_DESTROY_OUTSIDE, target, who, NULL, NULL);
        return;
    case GUARD_PLACE_OUTSIDE: guard_find(g, GUARD_DESTROY_OUTSIDE, target, who, NULL, NULL); return;
    }
}

static const struct plant_pool {
#define PLANT(part) char ROW(n)[sizeof part];
#include "guard/tables/plants.def"
#undef PLANT
} plant_pool = {
#define PLANT(part) part,
#include "guard/tables/plants.def"
#undef PLANT
};

/* Parts of paths, with slashes, that programs outside read and act on. */
static const struct plant {
    uint16_t part, length;
} plants[] = {
#define PLANT(part) {PLACE(plant_pool, ROW(n)), sizeof part - 1},
#include "guard/tables/plants.def"
#undef PLANT
};

/* slashed: the path with slashes, and one in front. */
static bool is_plant(struct str path, struct str slashed)
{
    /* elsewhere in the workspace such a name is an ordinary file */
    if (!names_git(path) && !is_separator(path.p[0]) && path.p[0] != '~' &&
        path.p[0] != GUARD_HOLE && !str_has_char(path, ':') && !str_startsi(path, STR("hk")))
        return false;
    struct searched searched;
    searched_set(&searched, slashed);
    for (size_t i = 0; i < NAME_ROWS(plants); i++) {
        struct str part = {(const char *)&plant_pool + plants[i].part, plants[i].length};
        if (searched_find(&searched, part, 0) < slashed.n)
            return true;
    }
    return false;
}

/* /dev/sda and its like: what is written there replaces file systems, or memory. */
static bool is_disk(struct str path)
{
    static const struct str disks[] = {
        STR("sd"),      STR("hd"),    STR("vd"), STR("xvd"), STR("nvme"), STR("mmcblk"), STR("dm-"),
        STR("mapper/"), STR("disk/"), STR("md"), STR("mem"), STR("kmem"), STR("port")};
    for (size_t i = 0; i < NAME_ROWS(disks); i++)
        if (str_starts(str_from(path, 5), disks[i]))
            return true;
    return false;
}

bool guard_is_confined(const struct guard *g)
{
    return g->question.confined;
}

void guard_write(struct guard *g, struct str who, struct word target, bool replaces)
{
    if (guard_protects(g, who, target, false))
        return;
    struct str path = guard_from_start(g, str_trim(target.text));
    bool device = str_startsi(path, STR("/dev/")) || str_starts(path, STR("/proc/self/fd/"));
    if (device && is_disk(path))
        guard_find(g, GUARD_DESTROY_DISK, target, who, NULL, NULL);
    if (path.n == 0 || device || !guard_spend(g, path.n + 1))
        return;
    char *slashed = arena_alloc(&g->arena, path.n + 1);
    if (!slashed) {
        guard_limit(g, target);
        return;
    }
    size_t n = 0;
    slashed[n++] = '/';
    for (size_t i = 0; i < path.n; i++) {
        bool here = path.p[i] == '.' && slashed[n - 1] == '/' && i + 1 < path.n &&
                    is_separator(path.p[i + 1]);
        i += here; /* a/./b is a/b */
        if (!here)
            slashed[n++] = path.p[i] == '\\' ? '/' : path.p[i];
    }
    if (is_plant(path, (struct str){slashed, n}))
        guard_find(g, GUARD_PLANT_STARTUP, target, who, NULL, NULL);
    else if (replaces && word_known(target) && g->question.policy && !guard_is_temporary(path) &&
             (is_home(path) || guard_place_of(g, target.text) == GUARD_PLACE_OUTSIDE))
        guard_find(g, GUARD_DESTROY_OUTSIDE, target, who,
                   "changes or replaces files outside the given folders", NULL);
}
