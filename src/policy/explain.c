/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in words: one sentence for people, and the remedy as options to type. A remedy lists all
   the roots it needs and never one that Cordon would refuse. */
#include "policy/decide_inside.h"

#include "policy/net.h"

static const char no_option[] = POLICY_NO_REMEDY;

static const char *const actions[] = {
    [POLICY_NO_ACCESS] = "use",
    [POLICY_READ] = "read",
    [POLICY_WRITE] = "write",
    [POLICY_CREATE] = "create",
    [POLICY_DELETE] = "delete",
    [POLICY_RENAME_FROM] = "rename",
    [POLICY_RENAME_TO] = "rename to",
    [POLICY_LINK_FROM] = "link to",
    [POLICY_LINK_TO] = "create the link",
    [POLICY_ATTRIBUTES] = "change the attributes of",
    [POLICY_SECURITY] = "change the permissions of",
    [POLICY_REPARSE] = "create the link",
};

/* True if a shell takes it as it is. */
static bool is_plain(enum path_dialect dialect, struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!ascii_is_alnum(word.p[i]) && !ascii_is_in(word.p[i], "/:._-+@~,=") &&
            !(dialect == PATH_WINDOWS && word.p[i] == '\\') && (unsigned char)word.p[i] < 0x80)
            return false;
    return word.n > 0;
}

void policy_add_word(struct buf *out, enum path_dialect dialect, struct str word)
{
    bool plain = is_plain(dialect, word);
    char quote = dialect == PATH_WINDOWS ? '"' : '\'';
    if (!plain)
        buf_char(out, quote);
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'' && quote == '\'')
            buf_add(out, STR("'\\''"));
        else
            buf_char(out, word.p[i]);
    if (!plain)
        buf_char(out, quote);
}

static void add_option(struct buf *out, enum path_dialect dialect, const char *option,
                       struct str value)
{
    if (out->n)
        buf_char(out, ' ');
    buf_add(out, str_of(option));
    if (value.n) {
        buf_char(out, ' ');
        policy_add_word(out, dialect, value);
    }
}

static void add_roots(const struct policy_settings *s, struct buf *fix)
{
    if (s->mode == POLICY_READ_ONLY)
        add_option(fix, PATH_POSIX, "--mode", STR("workspace-write"));
    for (size_t i = 0; i < s->roots.count; i++) {
        const struct policy_entry *root = &s->roots.items[i];
        /* Wine's own folders and those of --for are not roots that anybody typed. */
        if (!str_eq(root->from, STR("--wine-prefix")) && !str_starts(root->from, STR("--for")))
            add_option(fix, s->paths.dialect, "--root", root->given.n ? root->given : root->path);
    }
}

/* In read-only mode another option alone would not help. */
static void add_mode(const struct policy_settings *s, struct buf *fix)
{
    if (s->mode == POLICY_READ_ONLY)
        add_roots(s, fix);
}

static bool is_in(const struct policy_settings *s, struct str folder, struct str path)
{
    return folder.n && policy_is_below(s->paths.dialect, folder, path);
}

/* No root helps: what lies there is Windows' own, or a protected name is in the way. */
static bool is_hopeless(const struct policy_settings *s, struct str path)
{
    const struct policy_machine *m = &s->machine;
    if (is_in(s, m->windows, path) || is_in(s, m->program_files, path) ||
        is_in(s, m->program_files_x86, path))
        return true;
    struct path_cursor cursor = {.dialect = s->paths.dialect, .path = path};
    struct str component;
    while (path_next(&cursor, &component))
        if (protected_find(s->paths.dialect, component))
            return true;
    return false;
}

/* The folder to suggest as a further root, or an empty string if Cordon would refuse all of
   them. */
static struct str root_for(const struct policy *policy, const struct policy_request *request)
{
    const struct policy_settings *s = &policy->settings;
    enum path_dialect dialect = s->paths.dialect;
    struct str path = request->path.text, folder;
    folder = request->facts.existing.n ? request->facts.existing : path_parent(dialect, path);
    if (folder.n == 0 || policy_broad_root(dialect, &s->machine, folder) || is_hopeless(s, path))
        return STR_NONE;
    return folder;
}

/* For a part of REPO/.git outside the roots: REPO and the rest of the path; likewise for one of a
   repository that is its own git folder. False if REPO is no root that could be offered. */
static bool find_repository(const struct policy *policy, const struct policy_request *r,
                            struct str *repository, struct str *rest)
{
    const struct policy_settings *s = &policy->settings;
    struct path_cursor cursor = {.dialect = s->paths.dialect, .path = r->path.text};
    enum protected_name name = PROTECTED_NONE;
    struct str component = STR_NONE, below, folder = r->facts.bare;
    while (name == PROTECTED_NONE && path_next(&cursor, &component))
        name = protected_find(cursor.dialect, component);
    if ((name != PROTECTED_GIT || component.p[0] != '.') && (name || !folder.n))
        return false;
    if (name)
        folder = path_parent(cursor.dialect, str_slice(cursor.path, 0, cursor.pos));
    below = str_from(cursor.path, (name ? cursor.pos : folder.n) + 1);
    if (below.n == 0 || folder.n == 0 || r->access == POLICY_REPARSE ||
        r->access == POLICY_SECURITY || r->facts.symlink ||
        policy_broad_root(cursor.dialect, &s->machine, folder))
        return false;
    *repository = folder;
    *rest = below;
    return true;
}

/* How much of git lets this part of a git folder through. */
static enum policy_git git_for(const struct policy_settings *s, const struct policy_request *r,
                               struct str below)
{
    enum path_dialect dialect = s->paths.dialect;
    if (git_is_index(dialect, below) && r->access != POLICY_RENAME_TO)
        return POLICY_GIT_PROTECT; /* no option opens it */
    if (s->git != POLICY_GIT_FULL && git_commit_writes(dialect, below))
        return POLICY_GIT_COMMIT;
    return git_full_writes(dialect, below, r->facts.exists) ? POLICY_GIT_FULL : POLICY_GIT_PROTECT;
}

static void add_git(enum policy_git git, struct buf *fix)
{
    add_option(fix, PATH_POSIX, git == POLICY_GIT_FULL ? "--git=full" : "--git=commit", STR_NONE);
}

/* A config is judged when git puts the finished one in its place; before that nobody knows whether
   the options are enough. */
static void say_config(struct str options, struct buf *fix)
{
    buf_fmt(fix,
            "with %.*s git can add remotes, branches and plain settings; the rest of the config "
            "cannot be overridden",
            STR_ARG(options));
}

/* Where every root that would help is refused as too broad, the line says so; the folders of the
   kernel are no roots at all. */
static void fix_broad(const struct policy *policy, const struct policy_request *r, struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    enum path_dialect dialect = s->paths.dialect;
    struct str path = r->path.text;
    struct str folder = r->facts.existing.n ? r->facts.existing : path_parent(dialect, path);
    const char *broad = folder.n ? policy_broad_root(dialect, &s->machine, folder) : NULL;
    if (!broad || is_hopeless(s, path) || policy_is_kernels(dialect, folder)) {
        buf_add(fix, str_of(no_option));
        return;
    }
    buf_add(fix, STR("no option opens this alone; "));
    policy_add_word(fix, dialect, folder);
    buf_fmt(fix, " is refused as a root: %s", broad);
}

/* A folder that is to be made can be a root itself: offered where the folder around it is too much,
   because it is broad or holds a root. */
static bool can_be_created(const struct policy *policy, const struct policy_request *r)
{
    const struct policy_settings *s = &policy->settings;
    enum path_dialect dialect = s->paths.dialect;
    struct str path = r->path.text, parent = path_parent(dialect, path);
    if (!r->path.folder || r->facts.exists || parent.n == 0 || is_hopeless(s, path) ||
        policy_broad_root(dialect, &s->machine, path))
        return false;
    bool wide = policy_broad_root(dialect, &s->machine, parent);
    for (size_t i = 0; i < s->roots.count && !wide; i++)
        wide = policy_is_below(dialect, parent, s->roots.items[i].path);
    return wide;
}

/* A part of a repository outside the roots; false if no option opens it. */
static bool fix_repository(const struct policy *policy, const struct policy_request *r,
                           struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    struct str repository, below;
    if (!find_repository(policy, r, &repository, &below))
        return false;
    bool config = r->facts.guards_new && str_eq(below, STR("config.lock"));
    enum policy_git git = config ? POLICY_GIT_FULL : git_for(s, r, below);
    if (git == POLICY_GIT_PROTECT)
        return false;
    auto_buf struct buf options = {0};
    add_git(git, &options);
    add_roots(s, &options);
    add_option(&options, s->paths.dialect, "--root", repository);
    if (config)
        say_config(buf_str(&options), fix);
    else
        buf_add(fix, buf_str(&options));
    return true;
}

static void fix_outside(const struct policy *policy, const struct policy_request *request,
                        struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    struct str folder = root_for(policy, request), path = request->path.text;
    bool in_home = s->machine.home.n &&
                   str_eq(path_parent(s->paths.dialect, path), s->machine.home) &&
                   !is_hopeless(s, path);
    if (fix_repository(policy, request, fix))
        return;
    if (can_be_created(policy, request)) {
        add_roots(s, fix);
        add_option(fix, s->paths.dialect, "--create-root", path);
        return;
    }
    if (folder.n == 0 && in_home) {
        buf_add(fix, STR("no option opens single files of the home folder; use a folder below it "
                         "and name that with --root"));
        return;
    }
    if (folder.n == 0) {
        fix_broad(policy, request, fix);
        return;
    }
    add_roots(&policy->settings, fix);
    add_option(fix, s->paths.dialect, "--root", folder);
}

/* True if this much of git would let it through. */
static bool git_helps(const struct policy *policy, const struct policy_request *request,
                      enum policy_git git)
{
    const struct policy *whole = whole_policy(policy, request->access);
    struct policy other = whole ? *whole : *policy;
    struct policy_request judged = *request;
    struct policy_answer answer;
    other.settings.git = git;
    judged.facts.index_judged = true; /* whichever this one is, git's own would be harmless */
    policy_decide(&other, &judged, &answer);
    return answer.verdict == CORDON_ALLOW || answer.rule == RULE_MODE_READ_ONLY;
}

static struct str entry_text(const struct policy_list *list, uint32_t entry)
{
    if (entry == 0 || entry > list->count)
        return STR_NONE;
    const struct policy_entry *e = &list->items[entry - 1];
    return e->given.n ? e->given : e->path;
}

static struct str entry_from(const struct policy_list *list, uint32_t entry)
{
    return entry == 0 || entry > list->count ? STR_NONE : list->items[entry - 1].from;
}

/* No option lifts it; but the person who wrote the rule can remove it. */
static void fix_own_rule(const struct policy_list *list, uint32_t entry, const char *option,
                         struct buf *fix)
{
    struct str text = entry_text(list, entry), from = entry_from(list, entry);
    buf_add(fix, str_of(no_option));
    if (text.n == 0)
        return;
    buf_fmt(fix, "; it is closed by %s ", option);
    policy_add_word(fix, PATH_WINDOWS, text);
    if (from.n && !str_eq(from, str_of(option)))
        buf_fmt(fix, " (%.*s)", STR_ARG(from));
}

static void explain_allowed(const struct policy_request *r, const struct policy_answer *answer,
                            struct buf *why)
{
    buf_fmt(why, "allowed: %s", policy_rule_text(answer->rule));
    buf_fmt(why, " (%.*s)", STR_ARG(r->path.text));
}

/* Why a rule denies; what stands in rest follows the name that the rule found. */
struct reason {
    enum policy_rule rule;
    const char *text, *rest;
};

static const struct reason *reason_of(enum policy_rule rule)
{
    static const struct reason reasons[] = {
        {RULE_ROOTS_OUTSIDE, "it lies outside the folders that can be changed", NULL},
        {RULE_ROOTS_ITSELF, "the root itself cannot be moved or deleted", NULL},
        {RULE_TEMP_FOREIGN, "neither this run nor its session made it", NULL},
        {RULE_TEMP_TRUSTED, "other programs trust the name ", " in the temp folder"},
        {RULE_MODE_READ_ONLY, "in read-only mode nothing can be changed", NULL},
        {RULE_PROTECTED_GIT, "git runs what this folder says, so it is protected", NULL},
        {RULE_GIT_COMMANDS, "git would obey ", " in a repository that this run made"},
        {RULE_GIT_INDEX, "git's index is only replaced by renaming a finished index.lock", NULL},
        {RULE_PROTECTED_NAME, "other programs obey ", ", so it is protected"},
        {RULE_PROTECTED_SELF, "it belongs to Cordon itself", NULL},
        {RULE_WRITE_DENIED, "a deny-write rule covers it", NULL},
        {RULE_READ_DENIED, "a deny-read rule covers it", NULL},
        {RULE_PATH_STREAM, "it is an alternate data stream, hidden inside another file", NULL},
        {RULE_PATH_TRAILING, "a name that ends in a dot or a space is not what it seems", NULL},
        {RULE_PATH_RESERVED, "it is a reserved DOS device name", NULL},
        {RULE_PATH_UNC, "it lies on the network", NULL},
        {RULE_PATH_WSL, "it belongs to a WSL distribution", NULL},
        {RULE_PATH_DEVICE, "it is a device or a raw volume", NULL},
        {RULE_PATH_MAILSLOT, "it is a mailslot", NULL},
        {RULE_PATH_UNIX, "it is a way around Windows paths", NULL},
        {RULE_PIPE_OUTSIDE, "its server runs outside the sandbox", NULL},
        {RULE_LINK_HARD, "the same file has another name (a hard link)", NULL},
        {RULE_LINK_REPARSE,
         "the link leads out of the folders that can be changed, or is of an unknown kind", NULL},
        {RULE_LINK_PLACE, "other rules hold there, so a folder is not moved in one step", NULL},
    };
    static const struct reason unknown = {RULE_NONE, "this is not a path that can be judged", NULL};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].rule == rule)
            return &reasons[i];
    return &unknown;
}

static void explain_denied(const struct policy *policy, const struct policy_request *r,
                           const struct policy_answer *answer, struct buf *why)
{
    const struct reason *reason = reason_of(answer->rule);
    const char *action = answer->rule == RULE_PIPE_OUTSIDE ? "connect to" : actions[r->access];
    buf_fmt(why, "cannot %s %.*s: ", action, STR_ARG(r->path.text));
    if (answer->rule == RULE_GIT_INDEX && answer->name) {
        buf_fmt(why, "this index holds %s", answer->name);
        return;
    }
    if (answer->brings)
        buf_fmt(why, "this index would bring %s: ", answer->brings);
    buf_add(why, str_of(reason->text));
    if (reason->rest)
        buf_fmt(why, "%s%s", answer->name, reason->rest);
    /* Windows lists a file's names, Linux only counts them. */
    if (answer->rule == RULE_LINK_HARD)
        buf_add(why, policy->settings.paths.dialect == PATH_WINDOWS
                         ? STR(" where nothing can be changed")
                         : STR(", and Linux does not say where: it may lie outside"));
}

static void fix_config(const struct policy *policy, const struct policy_request *r,
                       const struct policy_answer *answer, struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    bool lock = str_ends(r->path.text, STR(".lock"));
    if (answer->config && !*answer->config) {
        add_git(POLICY_GIT_FULL, fix);
        return;
    }
    if (!answer->config && lock && r->facts.guards_new && s->git != POLICY_GIT_FULL) {
        say_config(STR("--git=full"), fix);
        return;
    }
    buf_add(fix, str_of(no_option));
    if (answer->config)
        buf_fmt(fix, "; %s", answer->config);
}

static void fix_git(const struct policy *policy, const struct policy_request *r,
                    const struct policy_answer *answer, struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    /* A lock file that may be written does not mean that the config may. */
    struct str leaf = path_leaf(s->paths.dialect, r->path.text);
    bool config = (str_eq(leaf, STR("config.lock")) || str_eq(leaf, STR("config"))) &&
                  str_find(r->path.text, STR("/refs/"), 0) == r->path.text.n;
    if (config) {
        fix_config(policy, r, answer, fix);
        return;
    }
    for (int git = (int)s->git + 1; git <= POLICY_GIT_FULL; git++)
        if (git_helps(policy, r, (enum policy_git)git)) {
            add_mode(s, fix);
            add_git((enum policy_git)git, fix);
            return;
        }
    buf_add(fix, str_of(no_option));
}

static void fix_commands(const struct policy *policy, const struct policy_request *r,
                         struct buf *fix)
{
    if (policy->settings.git != POLICY_GIT_FULL && git_helps(policy, r, POLICY_GIT_FULL))
        add_git(POLICY_GIT_FULL, fix);
    else
        buf_fmt(fix, "%s; make the repository in the temp folder, or do this outside", no_option);
}

static void fix_read(const struct policy_settings *s, const struct policy_request *r,
                     uint32_t entry, struct buf *fix)
{
    size_t closed = entry ? s->deny_read.items[entry - 1].path.n : 0;
    if (str_eq(entry_from(&s->deny_read, entry), STR("cordon"))) /* journals of --undo */
        buf_add(fix, str_of(no_option));
    else if (r->access == POLICY_READ && r->path.class == PATH_FILE && r->path.text.n > closed)
        add_option(fix, s->paths.dialect, "--allow-read", r->path.text);
    else
        fix_own_rule(&s->deny_read, entry, "--deny-read", fix);
}

static void fix_denied(const struct policy *policy, const struct policy_request *r,
                       const struct policy_answer *answer, struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    switch (answer->rule) {
    case RULE_ROOTS_OUTSIDE: fix_outside(policy, r, fix); return;
    case RULE_TEMP_FOREIGN:
    case RULE_TEMP_TRUSTED: add_option(fix, PATH_POSIX, "--temp=shared", STR_NONE); return;
    case RULE_MODE_READ_ONLY: add_roots(s, fix); return;
    case RULE_PROTECTED_GIT: fix_git(policy, r, answer, fix); return;
    case RULE_GIT_COMMANDS: fix_commands(policy, r, fix); return;
    case RULE_GIT_INDEX:
        buf_fmt(fix, "%s; let git write the index, or do this outside", no_option);
        return;
    case RULE_PROTECTED_NAME:
        add_mode(s, fix);
        add_option(fix, PATH_POSIX, "--unprotect", str_of(answer->name));
        return;
    case RULE_WRITE_DENIED:
        fix_own_rule(&s->deny_write, answer->entry, "--deny-write", fix);
        return;
    case RULE_READ_DENIED: fix_read(s, r, answer->entry, fix); return;
    case RULE_PATH_UNC:
        if (r->access == POLICY_READ)
            add_option(fix, PATH_POSIX, "--net=on", STR_NONE);
        else
            fix_outside(policy, r, fix);
        return;
    case RULE_LINK_HARD:
        buf_fmt(fix, "%s; copy the file and rename the copy to its name", no_option);
        return;
    case RULE_LINK_PLACE:
        buf_fmt(fix, "%s; copy the folder, then delete the old one", no_option);
        return;
    default: buf_add(fix, str_of(no_option)); return;
    }
}

/* False if a shell would obey a part of it whatever the quotes, or a terminal a character. */
static bool is_typeable(enum path_dialect dialect, struct str fix)
{
    for (size_t i = 0; i < fix.n; i++)
        if ((unsigned char)fix.p[i] < ' ' || fix.p[i] == 0x7f ||
            (dialect == PATH_WINDOWS && ascii_is_in(fix.p[i], "$`%")))
            return false;
    return true;
}

void policy_explain(const struct policy *policy, const struct policy_request *request,
                    const struct policy_answer *answer, struct buf *why, struct buf *fix)
{
    if (answer->verdict == CORDON_ALLOW) {
        explain_allowed(request, answer, why);
    } else {
        explain_denied(policy, request, answer, why);
        fix_denied(policy, request, answer, fix);
        if (!is_typeable(policy->settings.paths.dialect, buf_str(fix))) {
            buf_reset(fix);
            buf_add(fix, STR("no option can be typed for this name; a policy file can hold it"));
        }
    }
}

/* The whole list with one more name, and the private network that it leads to. */
static void fix_host(const struct policy_settings *s, struct str name, struct str range,
                     struct buf *fix)
{
    bool refuses = false;
    bool listed = s->net == POLICY_NET_ALLOW;
    for (size_t i = 0; listed && i < s->net_allow.count; i++)
        refuses = refuses || str_starts(s->net_allow.items[i].given, STR("!"));
    buf_add(fix, refuses ? STR("--net=\"allow=") : STR("--net=allow="));
    for (size_t i = 0; listed && i < s->net_allow.count; i++)
        if (!str_starts(s->net_allow.items[i].given, STR("!")))
            buf_fmt(fix, "%.*s,", STR_ARG(s->net_allow.items[i].given));
    buf_add(fix, name);
    if (range.n)
        buf_fmt(fix, "@%.*s", STR_ARG(range));
    bool first = true;
    for (size_t i = 0; refuses && i < s->net_allow.count; i++) {
        struct str given = s->net_allow.items[i].given;
        if (!str_starts(given, STR("!")))
            continue;
        buf_fmt(fix, "%s%.*s", first ? ";deny=" : ",", STR_ARG(str_from(given, 1)));
        first = false;
    }
    if (refuses)
        buf_char(fix, '"');
}

void policy_net_explain(const struct policy *policy, const struct policy_peer *peer,
                        const struct policy_answer *answer, struct buf *why, struct buf *fix)
{
    const struct policy_settings *s = &policy->settings;
    struct net_host host = net_read_host(peer->host);
    if (answer->verdict == CORDON_ALLOW) {
        buf_fmt(why, "allowed: %s (%.*s:%u)", policy_rule_text(answer->rule), STR_ARG(peer->host),
                peer->port);
        return;
    }
    buf_fmt(why, "cannot connect to %.*s:%u: ", STR_ARG(peer->host), peer->port);
    switch (answer->rule) {
    case RULE_NET_OFF: buf_add(why, STR("the network is off")); break;
    case RULE_NET_LOOPBACK: buf_add(why, STR("only this machine can be reached")); break;
    case RULE_NET_PROXY:
        buf_fmt(why, "only the proxy %.*s can be reached", STR_ARG(s->proxy));
        break;
    case RULE_NET_PRIVATE: {
        struct net_host found = net_read_host(peer->found);
        struct str range = net_private_range(&found);
        buf_add(why, STR("the name leads to this machine or to a private network"));
        if (range.n)
            fix_host(s, host.name, range, fix);
        else
            buf_add(fix, net_is_loopback(&host) ? STR("--net=loopback") : STR("--net=on"));
        return;
    }
    case RULE_NET_DENIED:
        buf_add(why, STR("a deny rule of the network names it"));
        fix_own_rule(&s->net_allow, answer->entry, "--net", fix);
        return;
    case RULE_NET_ALLOW: buf_add(why, STR("it is not among the names that are allowed")); break;
    default:
        buf_add(why, STR("this is not a host and a port"));
        buf_add(fix, str_of(no_option));
        return;
    }
    auto_buf struct buf address = {0};
    if (answer->rule == RULE_NET_OFF && net_is_loopback(&host)) {
        buf_add(fix, STR("--net=loopback"));
    } else if (net_is_loopback(&host) || s->net == POLICY_NET_PROXY) {
        buf_add(fix, STR("--net=on"));
    } else if (host.kind == NET_NAME) {
        fix_host(s, host.name, STR_NONE, fix);
    } else if (s->paths.dialect == PATH_POSIX &&
               (net_may_dial(&host, true) || net_private_range(&host).n)) {
        buf_fmt(&address, str_has_char(peer->host, ':') ? "[%.*s]:%u" : "%.*s:%u",
                STR_ARG(peer->host), peer->port);
        fix_host(s, buf_str(&address),
                 net_may_dial(&host, true) ? STR_NONE : net_private_range(&host), fix);
    } else {
        buf_add(fix, STR("--net=on"));
    }
}

bool policy_tool_logs_in(struct str name)
{
    static const char *const names[] = {"ssh", "scp", "sftp", "plink", "pscp", "psftp", "putty"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eqi(name, str_of(names[i])))
            return true;
    return false;
}

void policy_tool_explain(const struct policy *policy, const struct policy_program *program,
                         const struct policy_answer *answer, struct buf *why, struct buf *fix)
{
    if (answer->verdict == CORDON_ALLOW) {
        buf_fmt(why, "allowed: %s (%.*s)", policy_rule_text(answer->rule), STR_ARG(program->name));
        return;
    }
    if (answer->rule == RULE_TOOL_DENIED) {
        buf_fmt(why, "%.*s is blocked in the sandbox: a deny-tool rule names it",
                STR_ARG(program->name));
        fix_own_rule(&policy->settings.deny_tools, answer->entry, "--deny-tool", fix);
        return;
    }
    buf_fmt(why, "%.*s is blocked in the sandbox: it %s", STR_ARG(program->name),
            policy_rule_text(answer->rule));
    add_option(fix, PATH_POSIX, "--allow-tool", str_of(answer->name));
    if (policy_tool_logs_in(str_of(answer->name)) && policy->settings.net != POLICY_NET_ON)
        add_option(fix, PATH_POSIX, "--net=on", STR_NONE);
}
