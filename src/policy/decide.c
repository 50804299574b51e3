/* SPDX-License-Identifier: Apache-2.0 */
/* The decision about a file. Zero is deny; nothing is allowed except by an explicit rule. */
#include "policy/decide_inside.h"

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

static bool read_is_denied(const struct policy_question *q)
{
    if (image_is_obscure(&q->request->path))
        return q->policy->settings.deny_read.count > 0;
    return q->match.hit[IMAGE_DENY_READ] &&
           (!q->match.hit[IMAGE_ALLOW_READ] ||
            q->match.end[IMAGE_DENY_READ] >= q->match.end[IMAGE_ALLOW_READ]);
}

/* Devices. */

enum device_rule { DEVICE_PASSES = 0, DEVICE_REFUSED, DEVICE_WRITES };

static const struct {
    const char *name;
    enum device_rule refused;
} devices[] = {
#define POLICY_DEVICE(name, refused) {name, refused},
#include "policy/devices.def"
#undef POLICY_DEVICE
};

static bool device_is(struct str name, const char *pattern)
{
    struct str p = str_of(pattern);
    size_t hash = str_find_char(p, '#', 0);
    if (hash == p.n)
        return str_eqi(name, p);
    if (!str_startsi(name, str_slice(p, 0, hash)))
        return false;
    size_t end = hash;
    /* COM\xB2 and its like are digits to Windows. */
    while (end < name.n && (ascii_is_digit(name.p[end]) || (unsigned char)name.p[end] >= 0x80))
        end++;
    return end > hash && str_eqi(str_from(name, end), str_from(p, hash + 1));
}

static enum cordon_verdict decide_device(struct policy_question *q)
{
    struct str text = q->request->path.text, name;
    struct str prefixes[] = {STR("\\\\.\\"), STR("\\Device\\"), STR("\\")};
    size_t skip = 0;
    while (skip < 2 && !str_startsi(text, prefixes[skip]))
        skip++;
    name = str_from(text, prefixes[skip].n);
    size_t end = str_find_char(name, '\\', 0);
    bool alone = end == name.n && !q->request->path.folder;
    name.n = end;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!device_is(name, devices[i].name))
            continue;
        if (devices[i].refused == DEVICE_PASSES)
            return allow(q, RULE_DEVICE_BROKERED, ZONE_OTHER, 0);
        if (devices[i].refused == DEVICE_WRITES && q->request->access == POLICY_READ &&
            (alone || !read_is_denied(q)))
            return allow(q, RULE_DEVICE_OTHER, ZONE_OTHER, 0);
        return deny_name(q, RULE_PATH_DEVICE, devices[i].name);
    }
    /* A drive letter followed by something, or a file on an unknown device. */
    if (str_has_char(name, ':') || (!alone && q->request->access != POLICY_READ) ||
        read_is_denied(q))
        return deny(q, RULE_PATH_DEVICE, 0);
    return allow(q, RULE_DEVICE_OTHER, ZONE_OTHER, 0);
}

static enum cordon_verdict decide_pipe(struct policy_question *q)
{
    /* The pipe root directory, where unnamed pipes are created. */
    if (q->request->path.text.n == sizeof "\\\\.\\pipe" - 1)
        return allow(q, RULE_PIPE_CREATE, ZONE_OTHER, 0);
    switch (q->request->access) {
    case POLICY_CREATE: return allow(q, RULE_PIPE_CREATE, ZONE_OTHER, 0);
    case POLICY_READ:
    case POLICY_WRITE:
    case POLICY_ATTRIBUTES:
        if (q->request->facts.created_by_run)
            return allow(q, RULE_PIPE_INSIDE, ZONE_OTHER, 0);
        return deny(q, RULE_PIPE_OUTSIDE, 0);
    default: return deny(q, RULE_PIPE_OUTSIDE, 0);
    }
}

static bool is_plain_open(enum policy_access access)
{
    return access == POLICY_READ || access == POLICY_WRITE || access == POLICY_CREATE;
}

/* Reading. */

static bool is_remote(const struct path *path)
{
    return path->class == PATH_UNC || path->class == PATH_WSL ||
           str_startsi(path->text, STR("\\\\?\\UNC\\")) ||
           (path->class != PATH_TRAILING && str_starts(path->text, STR("\\\\")));
}

static enum cordon_verdict decide_read(struct policy_question *q)
{
    const struct path *path = &q->request->path;
    if (path->class == PATH_RESERVED)
        return deny(q, RULE_PATH_RESERVED, 0);
    if (path->class == PATH_UNIX)
        return deny(q, RULE_PATH_UNIX, 0);
    if (read_is_denied(q))
        return path->class == PATH_TRAILING
                   ? deny(q, RULE_PATH_TRAILING, 0)
                   : deny(q, RULE_READ_DENIED, q->match.hit[IMAGE_DENY_READ]);
    if (is_remote(path) && !q->match.hit[IMAGE_ROOT] && q->policy->settings.net != POLICY_NET_ON)
        return deny(q, path->class == PATH_WSL ? RULE_PATH_WSL : RULE_PATH_UNC, 0);
    if (q->request->facts.reparse == POLICY_STRANGE && q->request->facts.seen)
        return deny(q, RULE_LINK_REPARSE, 0);
    return allow(q, RULE_READ_ALLOWED, ZONE_NONE, q->match.hit[IMAGE_ALLOW_READ]);
}

/* Changing. */

/* Access that makes the name itself appear, disappear or change its meaning. */
static bool is_name_change(enum policy_access access)
{
    return access == POLICY_RENAME_FROM || access == POLICY_RENAME_TO || access == POLICY_REPARSE ||
           access == POLICY_LINK_TO;
}

/* __PSScriptPolicyTest_xxxxxxxx.xxx.ps1 and .psm1, directly in temp. */
static bool is_powershell_probe(const struct policy_question *q)
{
    const struct policy_request *r = q->request;
    struct str leaf = str_from(r->path.text, q->match.end[IMAGE_TEMP] + 1);
    struct str head = STR("__PSScriptPolicyTest_");
    if (!q->match.hit[IMAGE_TEMP] || r->path.class != PATH_FILE || r->facts.directory ||
        !str_startsi(leaf, head))
        return false;
    leaf = str_from(leaf, head.n);
    if (leaf.n < 16 || leaf.p[8] != '.' || leaf.p[12] != '.')
        return false;
    for (size_t i = 0; i < 12; i++)
        if (i != 8 && !ascii_is_alnum(leaf.p[i]))
            return false;
    struct str end = str_from(leaf, 12);
    if (!str_eqi(end, STR(".ps1")) && !str_eqi(end, STR(".psm1")))
        return false;
    if (r->access == POLICY_CREATE)
        return !r->facts.exists || r->facts.created_by_run;
    return r->facts.created_by_run && (r->access == POLICY_WRITE || r->access == POLICY_DELETE ||
                                       r->access == POLICY_ATTRIBUTES);
}

/* A rule that changing this name would carry away or undermine: one at this path or, if the name
   itself changes, below it. */
static enum cordon_verdict decide_denied(struct policy_question *q)
{
    enum policy_access access = q->request->access;
    /* A link in the place of a missing folder leads its names elsewhere. */
    bool link = access == POLICY_CREATE && q->request->facts.symlink;
    uint32_t below = link || is_name_change(access) ? q->match.below : 0;
    if (q->match.hit[IMAGE_SELF] || below >> IMAGE_SELF & 1)
        return deny(q, RULE_PROTECTED_SELF, q->match.hit[IMAGE_SELF]);
    if (q->match.hit[IMAGE_GIT_OBEYS] || below >> IMAGE_GIT_OBEYS & 1)
        return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
    if (q->match.hit[IMAGE_DENY_WRITE] || below >> IMAGE_DENY_WRITE & 1)
        return deny(q, RULE_WRITE_DENIED, q->match.hit[IMAGE_DENY_WRITE]);
    /* Under another name the file could be read. */
    bool moves = access == POLICY_LINK_FROM || is_name_change(access);
    if (moves && (read_is_denied(q) || below >> IMAGE_DENY_READ & 1))
        return deny(q, RULE_READ_DENIED, q->match.hit[IMAGE_DENY_READ]);
    uint32_t places = 1u << IMAGE_ROOT | 1u << IMAGE_TEMP | 1u << IMAGE_GIT_DIR;
    if ((below & places) && (q->match.hit[IMAGE_ROOT] || q->match.hit[IMAGE_TEMP]))
        return deny(q, RULE_ROOTS_ITSELF, 0);
    return CORDON_ALLOW;
}

static bool is_root_end(const struct image_match *match, size_t end)
{
    if (match->root_count > IMAGE_MAX_NESTED)
        return true;
    for (size_t i = 0; i < match->root_count; i++)
        if (match->root_ends[i] == end)
            return true;
    return false;
}

/* True if a folder above this place keeps packages, whatever is a root in it. */
static bool is_cache(enum path_dialect dialect, struct str place)
{
    struct path_cursor cursor = {.dialect = dialect, .path = place};
    struct str component;
    while (path_next(&cursor, &component))
        if (packages_find(dialect, component) == PACKAGES_ABOVE)
            return true;
    return false;
}

/* True for a repository that the run itself has made. */
static bool is_new_git(const struct policy_question *q, bool top)
{
    return q->request->facts.created_by_run && (!top || q->policy->settings.git == POLICY_GIT_FULL);
}

/* A .git that was there before. */
static enum cordon_verdict decide_old_git(struct policy_question *q, struct str component,
                                          struct str below, bool top)
{
    /* An alias denotes the folder only as long as nothing else has that name. */
    bool alias = component.p[0] != '.';
    if (alias || (top && q->policy->settings.git == POLICY_GIT_PROTECT))
        return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
    return decide_commit(q, below, top);
}

/* Nothing on the way is protected. zone: place, or a repository of the run's own. */
static enum cordon_verdict allow_inside(struct policy_question *q, enum zone place, enum zone zone,
                                        bool packages)
{
    size_t root = q->match.hit[IMAGE_ROOT];
    /* Other rules hold there, so a folder does not leave in one step. */
    if (packages && zone == place)
        return place == ZONE_TEMP ? allow(q, RULE_TEMP_INSIDE, ZONE_TEMP_PACKAGES, 0)
                                  : allow(q, RULE_ROOTS_INSIDE, ZONE_PACKAGES, root);
    if (zone == ZONE_TEMP)
        return allow(q, RULE_TEMP_INSIDE, zone, 0);
    return allow(q, zone == ZONE_ROOT ? RULE_ROOTS_INSIDE : RULE_GIT_CREATED, zone, root);
}

/* Inspects every component below start: the end of the outermost root, or of the temp folder. */
static enum cordon_verdict decide_protected(struct policy_question *q, size_t start,
                                            enum zone place)
{
    const struct policy *policy = q->policy;
    struct path_cursor cursor = {.dialect = policy->settings.paths.dialect,
                                 .path = q->request->path.text,
                                 .pos = start,
                                 .started = true};
    struct str component;
    enum zone zone = place;
    q->guarded = place == ZONE_ROOT && q->request->facts.guards_new;
    bool packages =
        place == ZONE_ROOT && is_cache(cursor.dialect, str_slice(cursor.path, 0, start));
    for (size_t before = cursor.pos; path_next(&cursor, &component); before = cursor.pos) {
        enum protected_name name = protected_find(cursor.dialect, component);
        if (before != start && is_root_end(&q->match, before))
            packages = false; /* somebody works on that package */
        if (place == ZONE_ROOT && is_root_end(&q->match, before) &&
            decide_makes_bare(q, component, cursor.pos >= cursor.path.n))
            return deny_name(q, RULE_PROTECTED_GIT, "HEAD");
        if (name == PROTECTED_NONE || policy->unprotected[name]) {
            packages = packages || packages_find(cursor.dialect, component) != PACKAGES_NONE;
            continue;
        }
        /* Nothing obeys these there; .git and Cordon's own name are judged as ever. */
        if (packages && name != PROTECTED_GIT && name != PROTECTED_CORDON)
            continue;
        if (name != PROTECTED_GIT)
            return deny_name(q, RULE_PROTECTED_NAME, protected_spelled(name));
        bool top = is_root_end(&q->match, before) || (place == ZONE_TEMP && before == start);
        if (!is_new_git(q, top))
            return decide_old_git(q, component, str_from(cursor.path, cursor.pos + 1), top);
        if (q->guarded && decide_new(q, str_from(cursor.path, cursor.pos + 1)) != CORDON_ALLOW)
            return CORDON_DENY;
        zone = ZONE_GIT_FREE;
    }
    if (place == ZONE_ROOT && zone == place && q->request->facts.revives_git)
        return deny_name(q, RULE_PROTECTED_GIT, "HEAD");
    if (place == ZONE_ROOT && zone == place && q->request->facts.git_end)
        return decide_found(q, str_from(cursor.path, q->request->facts.git_end + 1));
    return allow_inside(q, place, zone, packages);
}

/* Folders that programs name after the caller's uid are removed when the run ends. */
static const char *find_trusted(const struct policy *policy, struct str entry)
{
    const char *name = trusted_find(entry);
    if (!name && policy->settings.paths.dialect == PATH_POSIX)
        name = trusted_of_others(entry, policy->settings.machine.user);
    return name;
}

/* The temp folder that ends at end. If none of it outlives the run, no other program obeys what is
   there. */
static enum cordon_verdict decide_temp(struct policy_question *q, size_t end)
{
    const struct policy_request *r = q->request;
    struct str entry = str_from(r->path.text, end + 1);
    switch (q->policy->settings.temp) {
    case POLICY_TEMP_PRIVATE: return allow(q, RULE_TEMP_INSIDE, ZONE_TEMP, 0);
    case POLICY_TEMP_SHARED:
    case POLICY_TEMP_SESSION:
    case POLICY_TEMP_OWN: break;
    }
    entry.n = str_find_char(entry, path_separator(q->policy->settings.paths.dialect), 0);
    if (entry.n == 0) /* the folder itself */
        return r->access == POLICY_ATTRIBUTES || r->access == POLICY_SECURITY
                   ? deny(q, RULE_ROOTS_ITSELF, 0)
                   : allow(q, RULE_TEMP_INSIDE, ZONE_TEMP, 0);
    /* The lists of what sessions made: a run of one would believe them. */
    if (q->policy->settings.temp == POLICY_TEMP_SHARED && str_starts(entry, STR("cordon-own-")))
        return deny(q, RULE_PROTECTED_SELF, 0);
    if (q->policy->settings.temp == POLICY_TEMP_OWN) {
        struct str own = str_from(q->policy->settings.temp_own, end + 1);
        bool ours = own.n && str_eq(entry, own);
        const char *trusted = ours ? NULL : find_trusted(q->policy, entry);
        if (trusted)
            return deny_name(q, RULE_TEMP_TRUSTED, trusted);
        /* The next run of the session expects it as it is. */
        if (ours && r->path.text.n == end + 1 + own.n && r->access != POLICY_WRITE &&
            r->access != POLICY_CREATE)
            return deny(q, RULE_ROOTS_ITSELF, 0);
        if (r->facts.seen && r->facts.entry == POLICY_ENTRY_FOREIGN)
            return deny(q, RULE_TEMP_FOREIGN, 0);
    }
    return decide_protected(q, end, ZONE_TEMP);
}

/* True if the path is the place whose spelling ends at end; in C:\ the separator follows it. */
static bool is_place(const struct path *path, size_t end)
{
    return path->text.n == end || (path->text.n == end + 1 && is_separator(path->text.p[end]));
}

/* True if this git folder is a worktree's own: the list has the one that it lies in. */
static bool is_own_git(const struct policy *policy, uint32_t entry)
{
    const struct policy_list *list = &policy->settings.git_dirs;
    enum path_dialect dialect = policy->settings.paths.dialect;
    struct str parent = path_parent(dialect, list->items[entry - 1].path);
    struct str shared = path_parent(dialect, parent);
    bool found = false;
    for (size_t i = 0; i < list->count && !found; i++)
        found = str_eq(list->items[i].path, shared);
    return found && str_eq(path_leaf(dialect, parent), STR("worktrees"));
}

/* In the git folder of a root that is a worktree, which ends at end. What the main checkout and
   other worktrees go by is closed, unless the folder is in a root itself. */
static enum cordon_verdict decide_worktree(struct policy_question *q, size_t end)
{
    enum path_dialect dialect = q->policy->settings.paths.dialect;
    struct str path = q->request->path.text, folder = str_slice(path, 0, end);
    bool own = is_own_git(q->policy, q->match.hit[IMAGE_GIT_DIR]);
    if (own)
        folder = path_parent(dialect, path_parent(dialect, folder));
    struct str below = str_from(path, folder.n + 1);
    if (q->policy->settings.git == POLICY_GIT_PROTECT ||
        (!own && !q->match.hit[IMAGE_ROOT] && !git_shared_writes(dialect, below)))
        return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
    return decide_commit(q, below, true);
}

/* A root can be a repository itself, with worktrees and other files in it. */
static bool is_gits_own(const struct policy_question *q, size_t end)
{
    struct str below = str_from(q->request->path.text, end + 1);
    return below.n && git_knows(q->policy->settings.paths.dialect, below);
}

bool policy_is_semaphore(struct str path)
{
    const struct str head = STR("/dev/shm/sem.");
    return str_starts(path, head) && path.n > head.n && !str_has_char(str_from(path, head.n), '/');
}

/* A semaphore of the C library, which programs like Python's multiprocessing share with their
   children: the run's own, under the rules of a temp folder. It holds a count and nothing else. */
static bool is_own_semaphore(const struct policy_question *q)
{
    const struct policy_settings *s = &q->policy->settings;
    const struct policy_request *r = q->request;
    bool used = r->access == POLICY_CREATE || r->access == POLICY_WRITE ||
                r->access == POLICY_DELETE || r->access == POLICY_LINK_FROM ||
                r->access == POLICY_LINK_TO;
    return s->paths.dialect == PATH_POSIX && !s->no_temp && used && r->facts.seen &&
           r->facts.entry != POLICY_ENTRY_FOREIGN && !r->facts.symlink && !r->facts.directory &&
           !r->path.folder && policy_is_semaphore(r->path.text);
}

/* Which writable place contains it, and that place's rules. */
static enum cordon_verdict decide_place(struct policy_question *q)
{
    const struct image_match *m = &q->match;
    const struct policy_request *r = q->request;
    size_t root = m->hit[IMAGE_ROOT] ? m->end[IMAGE_ROOT] + 1 : 0;
    size_t temp = m->hit[IMAGE_TEMP] && !q->policy->settings.no_temp ? m->end[IMAGE_TEMP] + 1 : 0;
    size_t git = m->hit[IMAGE_GIT_DIR] ? m->end[IMAGE_GIT_DIR] + 1 : 0;
    /* If a root contains the shared temp folder, the root's rules apply. */
    if (root && temp &&
        (q->policy->settings.temp == POLICY_TEMP_OWN ||
         q->policy->settings.temp == POLICY_TEMP_SHARED))
        temp = 0;
    size_t deepest = root > temp ? root : temp;
    bool itself = deepest && is_place(&r->path, deepest - 1);
    bool stays = r->access == POLICY_WRITE || r->access == POLICY_CREATE ||
                 r->access == POLICY_ATTRIBUTES || r->access == POLICY_SECURITY;
    if (git && git >= deepest && (git > deepest || is_gits_own(q, git - 1)))
        return decide_worktree(q, git - 1);
    if (!deepest && is_own_semaphore(q))
        return allow(q, RULE_TEMP_INSIDE, ZONE_TEMP, 0);
    if (!deepest) {
        if (r->path.class == PATH_UNC)
            return deny(q, RULE_PATH_UNC, 0);
        if (r->path.class == PATH_WSL)
            return deny(q, RULE_PATH_WSL, 0);
        return deny(q, RULE_ROOTS_OUTSIDE, 0);
    }
    if (itself && !stays)
        return deny(q, RULE_ROOTS_ITSELF, temp > root ? 0 : m->hit[IMAGE_ROOT]);
    return temp > root ? decide_temp(q, temp - 1) : decide_protected(q, m->root_ends[0], ZONE_ROOT);
}

static enum cordon_verdict decide_write(struct policy_question *q);

/* A link may only lead to where the same write would be allowed. */
static bool target_is_inside(const struct policy_question *q)
{
    struct policy_answer ignored = {0};
    struct policy_request request = {.path = q->request->facts.target,
                                     .access = POLICY_WRITE,
                                     .facts = {.seen = q->request->facts.seen, .exists = true}};
    struct policy_question inner = {.policy = q->policy, .request = &request, .answer = &ignored};
    image_search(&q->policy->image, request.path.base, request.facts.seen, &inner.match);
    /* A rule about reading compares names first: no further name for what may not be read. */
    if (q->request->access == POLICY_REPARSE && read_is_denied(&inner))
        return false;
    return decide_write(&inner) == CORDON_ALLOW || ignored.rule == RULE_MODE_READ_ONLY;
}

static enum cordon_verdict decide_links(struct policy_question *q)
{
    const struct policy_facts *facts = &q->request->facts;
    enum policy_access access = q->request->access;
    bool changes_object = access == POLICY_WRITE || access == POLICY_CREATE ||
                          access == POLICY_ATTRIBUTES || access == POLICY_SECURITY;
    if ((changes_object || access == POLICY_LINK_FROM) && !facts->directory && facts->links > 1 &&
        !facts->links_inside)
        return deny(q, RULE_LINK_HARD, 0);
    if (access == POLICY_REPARSE && !target_is_inside(q))
        return deny(q, RULE_LINK_REPARSE, 0);
    if (changes_object && facts->reparse == POLICY_STRANGE)
        return deny(q, RULE_LINK_REPARSE, 0);
    if (changes_object && facts->reparse == POLICY_LINK && facts->target.text.n &&
        !target_is_inside(q))
        return deny(q, RULE_LINK_REPARSE, 0);
    return CORDON_ALLOW;
}

/* Records where a download came from: copying a file copies this too. Judged as its file. */
static enum cordon_verdict decide_zone(struct policy_question *q)
{
    struct policy_request request = *q->request;
    struct policy_question inner = {.policy = q->policy, .request = &request, .answer = q->answer};
    switch (request.access) {
    case POLICY_WRITE:
    case POLICY_CREATE:
    case POLICY_ATTRIBUTES:
    case POLICY_DELETE: break;
    default: return deny(q, RULE_PATH_STREAM, 0);
    }
    request.path =
        (struct path){.class = PATH_FILE, .text = request.path.base, .base = request.path.base};
    if (request.access == POLICY_DELETE)
        request.access = POLICY_WRITE;
    inner.match = q->match;
    return decide_write(&inner);
}

static enum cordon_verdict decide_write(struct policy_question *q)
{
    switch (q->request->path.class) {
    case PATH_FILE:
    case PATH_UNC:
    case PATH_WSL: break;
    case PATH_STREAM:
        return path_is_zone(&q->request->path) ? decide_zone(q) : deny(q, RULE_PATH_STREAM, 0);
    case PATH_TRAILING: return deny(q, RULE_PATH_TRAILING, 0);
    case PATH_RESERVED: return deny(q, RULE_PATH_RESERVED, 0);
    case PATH_UNIX: return deny(q, RULE_PATH_UNIX, 0);
    default: return deny(q, RULE_PATH_MALFORMED, 0);
    }
    if (decide_denied(q) != CORDON_ALLOW)
        return CORDON_DENY;
    bool without_temp = q->policy->settings.mode == POLICY_READ_ONLY || q->policy->settings.no_temp;
    if (without_temp && is_powershell_probe(q))
        return allow(q, RULE_TEMP_PROBE, ZONE_TEMP, 0);
    if (decide_place(q) != CORDON_ALLOW)
        return CORDON_DENY;
    if (decide_links(q) != CORDON_ALLOW)
        return CORDON_DENY;
    /* Checked last, so that no remedy about the mode is given where it would not help. */
    if (q->policy->settings.mode != POLICY_WORKSPACE_WRITE)
        return deny(q, RULE_MODE_READ_ONLY, 0);
    return CORDON_ALLOW;
}

static void decide(struct policy_question *q)
{
    const struct policy_request *r = q->request;
    *q->answer = (struct policy_answer){.verdict = CORDON_DENY, .rule = RULE_PATH_MALFORMED};
    if (r->access <= POLICY_NO_ACCESS || r->access > POLICY_REPARSE)
        return;
    if (q->policy->settings.mode == POLICY_FULL_ACCESS) {
        allow(q, RULE_MODE_FULL, ZONE_ROOT, 0);
        return;
    }
    switch (r->path.class) {
    case PATH_MALFORMED: return;
    case PATH_NUL:
    case PATH_CONSOLE:
        if (!is_plain_open(r->access))
            deny(q, RULE_PATH_DEVICE, 0);
        else
            allow(q, r->path.class == PATH_NUL ? RULE_DEVICE_NUL : RULE_DEVICE_CONSOLE, ZONE_OTHER,
                  0);
        return;
    case PATH_PIPE: decide_pipe(q); return;
    case PATH_MAILSLOT: deny(q, RULE_PATH_MAILSLOT, 0); return;
    case PATH_VOLUME: deny(q, RULE_PATH_DEVICE, 0); return;
    case PATH_DEVICE: decide_device(q); return;
    default: break;
    }
    const struct policy *whole = whole_policy(q->policy, r->access);
    if (!whole) {
        deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
        return;
    }
    q->policy = whole;
    image_search(&q->policy->image, r->path.base, r->facts.seen, &q->match);
    if (r->access == POLICY_READ)
        decide_read(q);
    else
        decide_write(q);
}

const char *policy_protects(const struct policy *policy, struct str name)
{
    enum path_dialect dialect = policy->settings.paths.dialect;
    bool packages = false;
    for (size_t at = 0, end; at < name.n; at = end + 1) {
        end = str_find_char(name, '/', at);
        struct str component = str_slice(name, at, end);
        enum protected_name found = protected_find(dialect, component);
        if (found != PROTECTED_NONE && !policy->unprotected[found] &&
            (!packages || found == PROTECTED_CORDON))
            return protected_spelled(found);
        packages = packages || packages_find(dialect, component) != PACKAGES_NONE;
    }
    return NULL;
}

void policy_decide(const struct policy *policy, const struct policy_request *request,
                   struct policy_answer *answer)
{
    struct policy_question q = {.policy = policy, .request = request, .answer = answer};
    decide(&q);
}

void policy_decide_pair(const struct policy *policy, const struct policy_request *from,
                        const struct policy_request *to, struct policy_answer *answer)
{
    struct policy_answer first, second;
    struct policy_question a = {.policy = policy, .request = from, .answer = &first};
    struct policy_question b = {.policy = policy, .request = to, .answer = &second};
    bool rename = from->access == POLICY_RENAME_FROM && to->access == POLICY_RENAME_TO;
    bool link = from->access == POLICY_LINK_FROM && to->access == POLICY_LINK_TO;
    *answer = (struct policy_answer){.verdict = CORDON_DENY, .rule = RULE_PATH_MALFORMED};
    if (!rename && !link)
        return;
    decide(&a);
    if (first.verdict != CORDON_ALLOW) {
        *answer = first;
        return;
    }
    decide(&b);
    if (second.verdict != CORDON_ALLOW) {
        *answer = second;
        answer->target = true;
        return;
    }
    *answer = second;
    bool folder = from->facts.directory || to->facts.directory;
    /* Cargo makes its folder beside the place where it belongs. */
    bool enters = (a.zone == ZONE_ROOT && b.zone == ZONE_PACKAGES) ||
                  (a.zone == ZONE_TEMP && b.zone == ZONE_TEMP_PACKAGES);
    /* Each name in a git folder has rules of its own: what was written as an object would be obeyed
       as a submodule's folder, and a worktree's folder would make room for one that leads
       elsewhere. Git itself renames files only. */
    bool guarded = a.zone == ZONE_GIT_FREE && (a.guarded || b.guarded);
    bool differs = a.zone != b.zone || ((a.zone == ZONE_GIT || guarded) && folder);
    if (differs && !enters && (folder || a.zone == ZONE_OTHER || b.zone == ZONE_OTHER)) {
        *answer =
            (struct policy_answer){.rule = RULE_LINK_PLACE, .other_device = true, .target = true};
    }
}
