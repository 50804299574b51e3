/* SPDX-License-Identifier: Apache-2.0 */
/* From denials to options. Names come from the confined tree: they are used as values and never
   parsed as options. */
#include "learn/learn.h"

#include <stdlib.h>

#include "launch/disk.h"
#include "policy/names.h"
#include "policy/net.h"

enum { BUCKETS = 2 * LEARN_MOST };

int learn_new(struct learn **out)
{
    struct learn *l = calloc(1, sizeof *l);
    if (l) {
        l->denials = calloc(LEARN_MOST, sizeof *l->denials);
        l->buckets = calloc(BUCKETS, sizeof *l->buckets);
    }
    if (!l || !l->denials || !l->buckets) {
        learn_free(l);
        return CORDON_E_NOMEM;
    }
    *out = l;
    return 0;
}

void learn_free(struct learn *l)
{
    if (!l)
        return;
    arena_free(&l->arena);
    free(l->denials);
    free(l->buckets);
    free(l);
}

static uint64_t hash_add(uint64_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 1099511628211u;
    return (hash ^ 0xFF) * 1099511628211u;
}

void learn_add(void *context, const struct audit_event *e)
{
    struct learn *l = context;
    bool answered = e->type == AUDIT_ANSWER && e->verdict == CORDON_ALLOW;
    /* A command that was asked about starts anyway where nobody is asked. */
    if ((e->type != AUDIT_DENY && !answered) || e->quiet || (answered && e->op == AUDIT_GUARD))
        return;
    uint64_t hash = 14695981039346656037u ^ (uint64_t)e->op;
    hash = hash_add(hash_add(hash_add(hash, e->target), e->target2), e->rule);
    size_t at = (size_t)(hash % BUCKETS);
    for (; l->buckets[at]; at = (at + 1) % BUCKETS) {
        const struct learn_denial *d = &l->denials[l->buckets[at] - 1];
        if (d->op == e->op && str_eq(d->target, e->target) && str_eq(d->target2, e->target2) &&
            str_eq(d->rule, e->rule))
            return;
    }
    struct learn_denial d = {.op = e->op,
                             .answered = answered,
                             .target = arena_copy(&l->arena, e->target),
                             .target2 = arena_copy(&l->arena, e->target2),
                             .rule = arena_copy(&l->arena, e->rule),
                             .fix = arena_copy(&l->arena, e->fix)};
    if (l->count == LEARN_MOST || !d.target.p || !d.target2.p || !d.rule.p || !d.fix.p) {
        l->left_out++;
        return;
    }
    l->denials[l->count++] = d;
    l->buckets[at] = (uint16_t)l->count;
}

/* ---- what would help ---- */

struct learn_wish {
    struct arena arena;
    struct str *roots, *hosts, *tools, *reads, *creates;
    size_t root_count, host_count, tool_count, read_count, create_count;
    size_t root_capacity, host_capacity, tool_capacity, read_capacity, create_capacity;
    bool git;      /* more of git than before */
    bool write;    /* another mode than read-only */
    bool loopback; /* a listener on this machine */
    bool failed;
};

static void wish_add(struct learn_wish *w, struct str **list, size_t *count, size_t *capacity,
                     struct str value)
{
    for (size_t i = 0; i < *count; i++)
        if (str_eq((*list)[i], value))
            return;
    if (*count == *capacity) {
        void *grown = arena_grow(&w->arena, *list, capacity, sizeof **list);
        if (!grown) {
            w->failed = true;
            return;
        }
        *list = grown;
    }
    (*list)[(*count)++] = arena_copy(&w->arena, value);
}

/* A name that no policy file can spell, or that is protected everywhere. */
static bool is_strange(enum path_dialect dialect, struct str path)
{
    struct path_cursor cursor = {.dialect = dialect, .path = path};
    struct str component;
    while (path_next(&cursor, &component))
        if (protected_find(dialect, component))
            return true;
    return str_has_char(path, '*') || str_has_char(path, '\n') || str_has_char(path, '"') ||
           (dialect == PATH_WINDOWS && str_has_char(path, '?'));
}

/* The folder that contains the path; empty if naming it would be refused or would not help. */
static struct str folder_of(struct cordon_policy *base, struct str path)
{
    const struct policy_settings *s = policy_settings_of(base->policy);
    enum path_dialect dialect = s->paths.dialect;
    struct disk_facts facts;
    if (path.n == 0 || is_strange(dialect, path) ||
        disk_look(&base->settings.arena, path, &facts) || facts.existing.n == 0)
        return STR_NONE;
    struct str folder = facts.link                         ? path_parent(dialect, path)
                        : facts.exists && !facts.directory ? path_parent(dialect, facts.final)
                                                           : facts.existing;
    /* The path was final: a link on its way was made later, and leads elsewhere. */
    if (dialect == PATH_POSIX && !path_is_below(dialect, folder, path))
        return STR_NONE;
    if (folder.n == 0 || is_strange(dialect, folder) ||
        policy_broad_root(dialect, &s->machine, folder))
        return STR_NONE;
    return folder;
}

/* The folder around a .git, if git itself writes the path in there; empty: it does not. */
static struct str repository_of(const struct policy_settings *s, struct str path)
{
    struct path_cursor cursor = {.dialect = s->paths.dialect, .path = path};
    struct str component = STR_NONE;
    enum protected_name name = PROTECTED_NONE;
    while (name == PROTECTED_NONE && path_next(&cursor, &component))
        name = protected_find(cursor.dialect, component);
    if (name != PROTECTED_GIT || component.p[0] != '.' || cursor.pos >= path.n)
        return STR_NONE;
    struct str below = str_from(path, cursor.pos + 1);
    struct str folder = path_parent(cursor.dialect, str_slice(path, 0, cursor.pos));
    bool written =
        git_commit_writes(cursor.dialect, below) || git_full_writes(cursor.dialect, below, true);
    return below.n && written && !is_strange(cursor.dialect, folder) &&
                   !policy_broad_root(cursor.dialect, &s->machine, folder)
               ? folder
               : STR_NONE;
}

/* create: a folder that was to be made, and that can be a root itself. */
static void wish_file(struct learn_wish *w, struct cordon_policy *base, struct str path,
                      bool create)
{
    const struct policy_settings *s = policy_settings_of(base->policy);
    w->write = w->write || s->mode == POLICY_READ_ONLY;
    for (size_t i = 0; i < s->roots.count; i++)
        if (path_is_below(s->paths.dialect, s->roots.items[i].path, path))
            return;
    struct str repository = repository_of(s, path);
    if (repository.n) {
        w->git = true;
        wish_add(w, &w->roots, &w->root_count, &w->root_capacity, repository);
        return;
    }
    struct disk_facts facts;
    if (create && !is_strange(s->paths.dialect, path) &&
        disk_look(&base->settings.arena, path, &facts) == 0 && !facts.exists && !facts.link) {
        wish_add(w, &w->creates, &w->create_count, &w->create_capacity, path);
        return;
    }
    struct str folder = folder_of(base, path);
    if (folder.n)
        wish_add(w, &w->roots, &w->root_count, &w->root_capacity, folder);
}

static void wish_peer(struct learn_wish *w, struct str target)
{
    struct policy_peer peer;
    if (policy_parse_peer(target, &peer))
        return;
    struct net_host host = net_read_host(peer.host);
    w->loopback = w->loopback || net_is_loopback(&host);
    if (net_is_pattern(peer.host))
        wish_add(w, &w->hosts, &w->host_count, &w->host_capacity, peer.host);
}

static void wish_tool(struct learn_wish *w, struct str rule)
{
    struct str name = str_from(rule, strlen("tool."));
    if (!str_eq(name, STR("denied")) && !str_eq(name, STR("unnamed")))
        wish_add(w, &w->tools, &w->tool_count, &w->tool_capacity, name);
}

static bool has_option(struct str fix, const char *option)
{
    size_t at = str_find(fix, str_of(option), 0);
    return at < fix.n && (at == 0 || fix.p[at - 1] == ' ');
}

static void make_wishes(struct learn_wish *w, const struct learn *l, struct cordon_policy *base)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct learn_denial *d = &l->denials[i];
        if (!d->answered && path_is_below(PATH_POSIX, l->closed, d->target))
            continue;
        /* The whole network is never learned, and nothing less helps here. */
        if (has_option(d->fix, "--net=on"))
            continue;
        bool outside =
            str_eq(d->rule, STR("roots.outside")) || str_eq(d->rule, STR("mode.read-only"));
        bool git = str_eq(d->rule, STR("protected.git")) || str_eq(d->rule, STR("git.commands"));
        if (outside && d->op >= AUDIT_FILE_WRITE && d->op < AUDIT_FILE_READ) {
            bool create = d->op == AUDIT_FILE_CREATE && has_option(d->fix, "--create-root");
            wish_file(w, base, d->target, create);
            if (d->target2.n)
                wish_file(w, base, d->target2, false);
        } else if (git) {
            w->git = true;
        } else if (str_starts(d->rule, STR("net.")) && d->op == AUDIT_NET_CONNECT) {
            wish_peer(w, d->target);
        } else if (str_starts(d->rule, STR("net.")) && d->op == AUDIT_NET_RESOLVE) {
            if (net_is_pattern(d->target))
                wish_add(w, &w->hosts, &w->host_count, &w->host_capacity, d->target);
        } else if (str_starts(d->rule, STR("tool.")) && d->op == AUDIT_PROCESS_START) {
            wish_tool(w, d->rule);
        } else if (str_eq(d->rule, STR("read.denied")) && d->op == AUDIT_FILE_READ) {
            if (!is_strange(policy_settings_of(base->policy)->paths.dialect, d->target))
                wish_add(w, &w->reads, &w->read_count, &w->read_capacity, d->target);
        }
    }
}

/* True if a shorter path of the list contains it, or the same one of another list. */
static bool is_nested(enum path_dialect dialect, const struct str *list, size_t count,
                      struct str path)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].n < path.n && path_is_below(dialect, list[i], path))
            return true;
    return false;
}

/* A folder below another one adds nothing. */
static void drop_nested(struct learn_wish *w, enum path_dialect dialect)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->root_count; i++)
        if (!is_nested(dialect, w->roots, w->root_count, w->roots[i]))
            w->roots[kept++] = w->roots[i];
    w->root_count = kept;
    kept = 0;
    for (size_t i = 0; i < w->create_count; i++)
        if (!is_nested(dialect, w->roots, w->root_count, w->creates[i]) &&
            !is_nested(dialect, w->creates, w->create_count, w->creates[i]))
            w->creates[kept++] = w->creates[i];
    w->create_count = kept;
}

/* ---- the policy that the options make ---- */

static void add_word(struct buf *out, const char *option, struct str value)
{
    if (out->n)
        buf_char(out, ' ');
    buf_add(out, str_of(option));
    policy_add_word(out, disk_dialect(), value);
}

static int set(struct cordon_policy *p, const char *option, struct str value)
{
    auto_buf struct buf text = {0};
    buf_add(&text, value);
    return text.failed ? CORDON_E_NOMEM : cordon_policy_set(p, option, buf_cstr(&text));
}

/* allow= with the old names and the new ones; loopback; or as it was. */
static void choose_net(const struct learn_wish *w, const struct policy_settings *s, struct buf *out)
{
    if (w->host_count == 0 || s->net == POLICY_NET_PROXY)
        return;
    if (w->loopback && w->host_count == 1 && s->net == POLICY_NET_OFF) {
        buf_add(out, STR("loopback"));
        return;
    }
    buf_add(out, STR("allow="));
    for (size_t i = 0; s->net == POLICY_NET_ALLOW && i < s->net_allow.count; i++) {
        buf_add(out, s->net_allow.items[i].given);
        buf_char(out, ',');
    }
    for (size_t i = 0; i < w->host_count; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        buf_add(out, w->hosts[i]);
    }
}

static int make_policy(const struct learn_wish *w, struct cordon_policy *base, enum policy_git git,
                       struct cordon_policy *p, struct buf *options)
{
    const struct policy_settings *s = policy_settings_of(base->policy);
    auto_buf struct buf net = {0};
    choose_net(w, s, &net);
    struct str skipped[4];
    size_t skip_count = 0;
    if (net.n)
        skipped[skip_count++] = STR("net");
    if (w->write)
        skipped[skip_count++] = STR("mode");
    if (git != s->git)
        skipped[skip_count++] = STR("git");
    skipped[skip_count++] = STR("temp"); /* nothing is made for a question */
    int rc = settings_copy(&base->settings, &p->settings, skipped, skip_count);
    p->settings.unseen = base->settings.unseen;
    if (rc == 0 && w->write) {
        rc = set(p, "mode", STR("workspace-write"));
        add_word(options, "--mode ", STR("workspace-write"));
    }
    if (rc == 0 && git != s->git) {
        rc = set(p, "git", str_of(policy_git_word(git)));
        add_word(options, "--git=", str_of(policy_git_word(git)));
    }
    /* A list of roots replaces the default, so the old roots are named too. */
    size_t added = w->root_count + w->create_count;
    for (size_t i = 0; i < s->roots.count && added && rc == 0; i++) {
        struct str given = s->roots.items[i].given;
        add_word(options, "--root ", given.n ? given : s->roots.items[i].path);
        if (!settings_has(&base->settings, STR("root")))
            rc = set(p, "root", s->roots.items[i].path);
    }
    for (size_t i = 0; i < w->root_count && rc == 0; i++) {
        add_word(options, "--root ", w->roots[i]);
        rc = set(p, "root", w->roots[i]);
    }
    for (size_t i = 0; i < w->create_count && rc == 0; i++) {
        add_word(options, "--create-root ", w->creates[i]);
        rc = set(p, "create-root", w->creates[i]);
    }
    for (size_t i = 0; i < w->read_count && rc == 0; i++) {
        add_word(options, "--allow-read ", w->reads[i]);
        rc = set(p, "allow-read", w->reads[i]);
    }
    for (size_t i = 0; i < w->tool_count && rc == 0; i++) {
        add_word(options, "--allow-tool ", w->tools[i]);
        rc = set(p, "allow-tool", w->tools[i]);
    }
    if (rc == 0 && net.n) {
        add_word(options, "--net=", buf_str(&net));
        rc = set(p, "net", buf_str(&net));
    }
    p->has_roots = true;
    return rc ? rc : api_prepare(p, STR_NONE);
}

/* ---- what the options allow ---- */

/* True if the denial was about making a folder that is a root now. */
static bool is_made_root(const struct cordon_policy *p, const struct learn_denial *d)
{
    const struct policy_list *roots = &policy_settings_of(p->policy)->roots;
    for (size_t i = 0; d->op == AUDIT_FILE_CREATE && i < roots->count; i++)
        if (str_eq(roots->items[i].path, d->target))
            return true;
    return false;
}

/* A name is looked up by the proxy if its host is allowed, however the command tried. */
static bool is_host_allowed(struct cordon_policy *p, struct str host)
{
    const struct policy_peer peer = {.host = host, .port = 443};
    struct policy_answer answer = {0};
    policy_net_decide(p->policy, &peer, &answer);
    return answer.verdict == CORDON_ALLOW;
}

static bool is_allowed(struct cordon_policy *p, const struct learn_denial *d)
{
    if (is_made_root(p, d))
        return true;
    /* A tool that needs the whole network is not helped by being allowed to start. */
    if (has_option(d->fix, "--net=on") && policy_settings_of(p->policy)->net != POLICY_NET_ON)
        return false;
    if (d->op == AUDIT_NET_RESOLVE)
        return is_host_allowed(p, d->target);
    static const struct {
        enum audit_op op;
        const char *action;
        size_t count;
    } questions[] = {{AUDIT_FILE_WRITE, "write", 1},    {AUDIT_FILE_CREATE, "create", 1},
                     {AUDIT_FILE_DELETE, "delete", 1},  {AUDIT_FILE_RENAME, "rename", 2},
                     {AUDIT_FILE_LINK, "link", 2},      {AUDIT_FILE_ATTRIBUTES, "write", 1},
                     {AUDIT_FILE_SECURITY, "write", 1}, {AUDIT_FILE_READ, "read", 1},
                     {AUDIT_PROCESS_START, "run", 1},   {AUDIT_NET_CONNECT, "connect", 1}};
    const char *words[] = {d->target.p, d->target2.p};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct cordon_answer *a = NULL;
        if (questions[i].op != d->op)
            continue;
        bool two = questions[i].count == 2 && d->target2.n;
        const char *action = questions[i].count == 2 && !two ? "delete" : questions[i].action;
        if (cordon_why(p, action, two ? 2 : 1, words, &a))
            return false;
        bool allowed = a->verdict != CORDON_DENY;
        cordon_answer_free(a);
        return allowed;
    }
    return false;
}

/* Each denial, and the resolver's socket together with the name that it asked for. The number of
   those that are allowed. */
static size_t mark_helped(struct learn *l, struct cordon_policy *p)
{
    bool resolved = false;
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        l->denials[i].helped = is_allowed(p, &l->denials[i]);
        resolved = resolved || (l->denials[i].helped && l->denials[i].op == AUDIT_NET_RESOLVE);
    }
    for (size_t i = 0; i < l->count && resolved; i++)
        if (l->denials[i].op == AUDIT_NET_SEND && str_eq(l->denials[i].target, STR("UDP")))
            l->denials[i].helped = true;
    for (size_t i = 0; i < l->count; i++)
        count += l->denials[i].helped;
    return count;
}

/* ---- the policy file ---- */

/* "$" and, on Windows, "%" begin a variable in a policy file; twice they stand for themselves. */
static void put_path(struct json_writer *w, enum path_dialect dialect, struct str path)
{
    auto_buf struct buf text = {0};
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] == '$' || (path.p[i] == '%' && dialect == PATH_WINDOWS))
            buf_char(&text, path.p[i]);
        buf_char(&text, path.p[i]);
    }
    w->out->failed = w->out->failed || text.failed;
    json_string(w, buf_str(&text));
}

static bool is_to_create(const struct policy_entry *e)
{
    return e->create || str_eq(e->from, STR("--create-root"));
}

/* The roots of one kind: those that exist, or those that a run creates. */
static void put_roots(struct json_writer *w, const struct policy_settings *s, bool create)
{
    bool any = false;
    for (size_t i = 0; i < s->roots.count; i++) {
        const struct policy_entry *e = &s->roots.items[i];
        if (is_to_create(e) != create)
            continue;
        if (!any) {
            json_key(w, create ? STR("createRoots") : STR("roots"));
            json_open(w, '[');
        }
        any = true;
        put_path(w, s->paths.dialect, e->path);
    }
    if (any)
        json_close(w, ']');
}

static void put_list(struct json_writer *w, const struct policy_settings *s, const char *key,
                     const struct policy_list *list, bool paths)
{
    if (list->count == 0)
        return;
    json_key(w, str_of(key));
    json_open(w, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct policy_entry *e = &list->items[i];
        if (paths && e->path.n)
            put_path(w, s->paths.dialect, e->path);
        else
            json_string(w, e->given);
    }
    json_close(w, ']');
}

static void put_net(struct json_writer *w, const struct policy_settings *s)
{
    static const char *const modes[] = {"off", "loopback", "", "allow", "on"};
    json_key(w, STR("network"));
    json_open(w, '{');
    if (s->net == POLICY_NET_PROXY) {
        auto_buf struct buf proxy = {0};
        buf_fmt(&proxy, "proxy=%.*s", STR_ARG(s->proxy));
        json_put(w, STR("mode"), buf_str(&proxy));
    } else {
        json_put(w, STR("mode"), str_of(modes[s->net]));
    }
    if (s->net == POLICY_NET_ALLOW)
        put_list(w, s, "allow", &s->net_allow, false);
    json_close(w, '}');
}

static void put_limits(struct json_writer *w, const struct policy_limits *limits)
{
    if (!limits->timeout_ms && !limits->processes && !limits->memory)
        return;
    json_key(w, STR("limits"));
    json_open(w, '{');
    if (limits->timeout_ms)
        json_put_number(w, STR("timeout"), (long long)(limits->timeout_ms / 1000));
    if (limits->processes)
        json_put_number(w, STR("processes"), (long long)limits->processes);
    if (limits->memory)
        json_put_number(w, STR("memory"), (long long)limits->memory);
    json_close(w, '}');
}

/* One member per line, as a person would write it. */
static void lay_out(struct buf *out, struct str compact)
{
    bool quoted = false;
    unsigned depth = 0;
    for (size_t i = 0; i < compact.n; i++) {
        char c = compact.p[i];
        if (quoted && c == '\\' && i + 1 < compact.n) {
            buf_char(out, c);
            buf_char(out, compact.p[++i]);
            continue;
        }
        quoted = quoted != (c == '"');
        bool opens = !quoted && (c == '{' || c == '['), closes = !quoted && (c == '}' || c == ']');
        depth += opens;
        depth -= closes;
        if (closes && depth == 0)
            buf_char(out, '\n');
        buf_char(out, c);
        if ((opens && depth == 1) || (!quoted && c == ',' && depth == 1))
            buf_add(out, STR("\n    "));
        else if (!quoted && (c == ':' || c == ','))
            buf_char(out, ' ');
    }
    buf_char(out, '\n');
}

/* given is s before compiling, where @credentials is still one word. */
static void write_policy(const struct policy_settings *s, const struct policy_settings *given,
                         enum policy_temp temp, struct str session, struct buf *out)
{
    static const char *const modes[] = {"read-only", "workspace-write", "full-access"};
    auto_buf struct buf compact = {0}, id = {0};
    struct json_writer w = {.out = &compact};
    buf_fmt(&id, "session=%.*s", STR_ARG(session));
    json_open(&w, '{');
    json_put(&w, STR("mode"), str_of(modes[s->mode]));
    put_roots(&w, s, false);
    put_roots(&w, s, true);
    put_list(&w, s, "denyWrite", &s->deny_write, true);
    put_list(&w, s, "denyRead", &given->deny_read, true);
    put_list(&w, s, "allowRead", &s->allow_read, true);
    put_list(&w, s, "allowSockets", &s->sockets, true);
    json_put(&w, STR("git"), str_of(policy_git_word(s->git)));
    put_list(&w, s, "unprotect", &s->unprotect, false);
    static const char *const temps[] = {[POLICY_TEMP_PRIVATE] = "private",
                                        [POLICY_TEMP_SHARED] = "shared",
                                        [POLICY_TEMP_OWN] = "own"};
    json_put(&w, STR("temp"), temp == POLICY_TEMP_SESSION ? buf_str(&id) : str_of(temps[temp]));
    put_net(&w, s);
    put_list(&w, s, "allowTools", &s->allow_tools, false);
    put_list(&w, s, "denyTools", &s->deny_tools, false);
    if (s->strict)
        json_put_bool(&w, STR("strict"), true);
    put_limits(&w, &s->limits);
    json_close(&w, '}');
    lay_out(out, buf_str(&compact));
    out->failed = out->failed || compact.failed || id.failed;
}

/* The policy with this much of git; *helped is how much of what was denied it allows. */
static int try_git(struct learn *l, const struct learn_wish *w, struct cordon_policy *base,
                   enum policy_git git, struct cordon_policy **p, struct buf *options,
                   size_t *helped)
{
    cordon_policy_free(*p);
    *p = NULL;
    buf_reset(options);
    if (cordon_policy_new(p))
        return api_fail(base, CORDON_E_NOMEM, "out of memory");
    int rc = make_policy(w, base, git, *p, options);
    if (rc)
        return api_fail(base, rc, cordon_policy_error(*p));
    *helped = mark_helped(l, *p);
    return 0;
}

int learn_finish(struct learn *l, struct cordon_policy *base, struct buf *options,
                 struct buf *policy)
{
    struct learn_wish w = {0};
    struct cordon_policy *p = NULL;
    const struct policy_settings *s = policy_settings_of(base->policy);
    make_wishes(&w, l, base);
    drop_nested(&w, s->paths.dialect);
    size_t helped = 0, most = 0;
    enum policy_git git = s->git, best = s->git;
    int rc = w.failed ? api_fail(base, CORDON_E_NOMEM, "out of memory") : 0;
    /* As little of git as allows the most. */
    for (; rc == 0 && git <= POLICY_GIT_FULL && (w.git || git == s->git); git++) {
        rc = try_git(l, &w, base, git, &p, options, &helped);
        best = helped > most ? git : best;
        most = helped > most ? helped : most;
    }
    if (rc == 0 && best + 1 != git)
        rc = try_git(l, &w, base, best, &p, options, &helped);
    if (rc == 0)
        write_policy(policy_settings_of(p->policy), &p->settings.policy, s->temp, s->session,
                     policy);
    cordon_policy_free(p);
    arena_free(&w.arena);
    if (rc == 0 && (options->failed || policy->failed))
        rc = api_fail(base, CORDON_E_NOMEM, "out of memory");
    return rc;
}
