/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that agents, editors and Cordon obey: a command that plainly writes, replaces or removes one
 * is refused as `why write` refuses it, wherever the file lies. In a run the broker does so.
 */
#include "base/glob.h"
#include "guard/judges/condition.h"
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"
#include "policy/names.h"
#include "policy/rules.h"

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* What agents keep for their own work below a protected name; settings in there stay closed. */
static const struct own_work {
    struct str name, folder;
} own_works[] = {
    {STR(".claude"), STR("worktrees")}, {STR(".claude"), STR("plans")},
    {STR(".claude"), STR("projects")},  {STR(".claude"), STR("tmp")},
    {STR(".gemini"), STR("tmp")},       {STR(".qwen"), STR("tmp")},
};

static bool is_own_work(struct str name, struct str folder)
{
    for (size_t i = 0; i < NAME_ROWS(own_works); i++)
        if (str_eqi(own_works[i].name, name) && str_eqi(own_works[i].folder, folder))
            return true;
    return false;
}

/* True if the pattern finds the name in one of the shells: only bash knows [!a]. */
static bool finds(struct str pattern, struct str name)
{
    return glob_match(GLOB_POWERSHELL, pattern, name) || glob_match(GLOB_BASH, pattern, name);
}

static bool is_closed(const struct guard *g, enum protected_name name)
{
    const struct policy *policy = g->question.policy;
    return name != PROTECTED_NONE && name != PROTECTED_GIT &&
           (!policy || policy_protects(policy, str_of(protected_spelled(name))));
}

/* A wildcard in the place of a whole name stands for all that is there: that is judged elsewhere.
   bash's wildcards find no dot at the beginning, and *.json is not meant for .mcp.json. */
static const char *find_by_pattern(const struct guard *g, struct str part)
{
    enum { FEWEST = 3 };
    size_t letters = 0;
    for (size_t i = 0; i < part.n; i++)
        letters += !ascii_is_in(part.p[i], "*?[]");
    bool dot = part.p[0] == '.';
    if (letters < (dot ? 1 : FEWEST) || (!dot && g->shell == GUARD_BASH))
        return NULL;
    for (int i = 1; i < PROTECTED_COUNT; i++)
        if (is_closed(g, (enum protected_name)i) &&
            (dot ||
             name_extension(str_from(str_of(protected_spelled((enum protected_name)i)), 1)).n ==
                 0) &&
            finds(part, str_of(protected_spelled((enum protected_name)i))))
            return protected_spelled((enum protected_name)i);
    return NULL;
}

/* The protected name that a component is; NULL: none. before is the component in front of it. */
static const char *name_of(const struct guard *g, struct str part, struct str before)
{
    const struct policy *policy = g->question.policy;
    bool windows = g->shell == GUARD_CMD || g->shell == GUARD_POWERSHELL ||
                   (policy && policy_settings_of(policy)->paths.dialect == PATH_WINDOWS);
    size_t colon = str_find_char(part, ':', 0); /* a stream */
    part = colon > 1 ? str_slice(part, 0, colon) : part;
    while (part.n > 1 && (part.p[part.n - 1] == ' ' || part.p[part.n - 1] == '.'))
        part.n--;
    if (part.n < 2 || str_has_char(part, GUARD_HOLE))
        return NULL;
    if (str_has_char(part, '*') || str_has_char(part, '?') || str_has_char(part, '['))
        return find_by_pattern(g, part);
    if (str_eqi(part, STR(".claude.json"))) /* in the home folder */
        return ".claude.json";
    if (str_eqi(part, STR("opencode")) && str_eqi(before, STR(".config")))
        return "opencode";
    enum protected_name name = protected_find(windows ? PATH_WINDOWS : PATH_POSIX, part);
    return is_closed(g, name) ? protected_spelled(name) : NULL;
}

/* What a path is to those who obey it. */
struct obeyed {
    const char *name; /* NULL: nothing */
    bool pattern;     /* a wildcard may find it, which no policy knows */
    bool own;         /* an agent's own work below such a name */
};

/* The first protected name on the way that does not lead to an agent's own work. */
static struct obeyed find_name(const struct guard *g, struct str path)
{
    bool plain = str_find(path, STR(".."), 0) == path.n;
    struct str before = STR_NONE;
    struct obeyed found = {.name = NULL};
    for (size_t i = 0, end; i < path.n; i = end + 1) {
        for (end = i; end < path.n && !is_separator(path.p[end]); end++)
            ;
        struct str part = str_slice(path, i, end);
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (found.name && !(plain && is_own_work(before, part)))
            return found;
        found.own |= found.name != NULL;
        found.name = found.name ? NULL : name_of(g, part, before);
        found.pattern = found.name && (str_has_char(part, '*') || str_has_char(part, '?') ||
                                       str_has_char(part, '['));
        before = part;
    }
    return found;
}

static const char in_settings[] = "it is in an agent's settings folder (CLAUDE_CONFIG_DIR)";

/* A folder of an agent's settings that a variable of the environment names. full: the path as the
   policy spells it; empty if there is none. */
static bool is_settings(struct guard *g, struct str path, struct str full)
{
    const struct guard_question *q = &g->question;
    const struct policy *policy = q->policy ? q->policy : q->tools;
    if (q->setting_count == 0 || !policy || path.p[0] == '~' || str_has_char(path, GUARD_HOLE))
        return false;
    if (full.n == 0 && guard_spend(g, path.n + q->cwd.n + 16)) {
        struct path normal = guard_normal_path(g, policy, path);
        full = normal.base.n ? normal.base : normal.text;
    }
    bool windows = policy_settings_of(policy)->paths.dialect == PATH_WINDOWS;
    for (size_t i = 0; i < q->setting_count; i++) {
        struct str folder = q->settings[i];
        if (folder.n < 2 || !(windows ? str_startsi(full, folder) : str_starts(full, folder)) ||
            (full.n > folder.n && !is_separator(full.p[folder.n])))
            continue;
        struct str rest = str_from(full, folder.n + 1);
        size_t end = 0;
        while (end < rest.n && !is_separator(rest.p[end]))
            end++;
        if (!is_own_work(STR(".claude"), str_slice(rest, 0, end)))
            return true;
    }
    return false;
}

/* The program that hooks start: another one in its place would be silent, which lets all pass. */
static bool is_program(const struct guard *g, struct str path, bool inside)
{
    struct str own = g->question.program, leaf = name_leaf(path);
    struct str folder = str_slice(path, 0, path.n > leaf.n ? path.n - leaf.n - 1 : 0);
    bool named = name_is_one_of(leaf, STR("cordon|cordon.exe")) &&
                 name_is_one_of(name_leaf(folder), STR("bin|.bin|sbin|shims"));
    return (own.n && str_eqi(own, path)) || (named && !inside);
}

/* The policy's own answer, for a path that it can place; verdict deny and RULE_NONE: it cannot. */
static void ask_policy(struct guard *g, struct policy_request *request,
                       struct policy_answer *answer, struct str path)
{
    const struct policy *policy = g->question.policy;
    *answer = (struct policy_answer){.rule = RULE_NONE};
    if (!policy || path.p[0] == '~' || str_has_char(path, GUARD_HOLE))
        return;
    if (guard_spend(g, path.n + g->question.cwd.n + 16))
        request->path = guard_normal_path(g, policy, path);
    if (request->path.text.n)
        policy_decide(policy, request, answer);
}

static void report(struct guard *g, struct word target, struct str who,
                   const struct policy_request *request, const struct policy_answer *answer,
                   const char *name)
{
    bool known = answer->rule == RULE_PROTECTED_NAME || answer->rule == RULE_PROTECTED_SELF;
    bool closed = known && request->path.text.n > 0;
    enum policy_rule rule = known ? answer->rule : RULE_PROTECTED_NAME;
    struct guard_finding f = {
        .rule = GUARD_PLANT_STARTUP, .id = str_of(policy_rule_id(rule)), .verdict = CORDON_DENY};
    guard_outer_span(g, target, &f.start, &f.end);
    f.resolved = guard_without_holes(g, target.text);
    struct guard_finding *kept = guard_keep(g, &f);
    if (!kept)
        return;
    auto_buf struct buf why = {0}, fix = {0};
    buf_add(&why, who.n ? who : STR("this"));
    buf_add(&why, STR(" "));
    if (closed) {
        policy_explain(g->question.policy, request, answer, &why, &fix);
    } else {
        buf_fmt(&why, "cannot change %.*s: ", STR_ARG(f.resolved));
        if (str_eq(str_of(name), str_of(in_settings)))
            buf_add(&why, str_of(in_settings));
        else
            buf_fmt(&why, "agents and editors obey %s, so it is protected", name);
        buf_add(&fix, STR("ask the owner of these settings to change it"));
    }
    kept->why = arena_copy(&g->arena, guard_without_holes(g, buf_str(&why)));
    kept->fix = arena_copy(&g->arena, buf_str(&fix));
}

/* Where no root is known, the folder of the command still tells what a relative path is. */
static struct str from_folder(struct guard *g, struct str path)
{
    struct str cwd = g->question.cwd;
    bool whole = is_separator(path.p[0]) || path.p[0] == '~' || path.p[0] == GUARD_HOLE ||
                 (path.n > 1 && path.p[1] == ':');
    if (g->question.policy || cwd.n == 0 || whole || !guard_spend(g, cwd.n + path.n))
        return path;
    char *p = arena_alloc(&g->arena, cwd.n + path.n + 1);
    if (!p)
        return path;
    memcpy(p, cwd.p, cwd.n);
    p[cwd.n] = '/';
    memcpy(p + cwd.n + 1, path.p, path.n);
    return (struct str){p, cwd.n + 1 + path.n};
}

/* A finding that only asks: whether the program changes the file is not known. */
static void ask_about(struct guard *g, struct word target, struct str who, const char *what,
                      struct str name)
{
    struct guard_finding f = {.rule = GUARD_PLANT_STARTUP,
                              .id = str_of(policy_rule_id(RULE_PROTECTED_NAME)),
                              .verdict = CORDON_ASK};
    guard_outer_span(g, target, &f.start, &f.end);
    f.resolved = guard_without_holes(g, target.text);
    struct guard_finding *kept = guard_keep(g, &f);
    auto_buf struct buf why = {0};
    if (!kept)
        return;
    buf_fmt(&why, "%.*s %s %.*s, which agents and editors obey", STR_ARG(who), what, STR_ARG(name));
    kept->why = arena_copy(&g->arena, guard_without_holes(g, buf_str(&why)));
    kept->fix = STR("only read it (cat, grep), or ask the owner of these settings to change it");
}

/* What the target is to those who obey it. */
static struct obeyed find_protected(struct guard *g, struct word target,
                                    struct policy_request *request, struct policy_answer *answer)
{
    struct obeyed found = {.name = NULL};
    struct str path = guard_through_link(g, guard_from_start(g, str_trim(target.text)));
    if (g->stopped || g->question.confined || path.n == 0 || guard_is_temporary(path))
        return found;
    path = from_folder(g, path);
    ask_policy(g, request, answer, path);
    struct str full = request->path.base.n ? request->path.base : request->path.text;
    found = find_name(g, full.n ? full : path);
    if (!found.name && is_settings(g, path, full))
        found.name = in_settings;
    if (!found.name && is_program(g, full.n ? full : path, answer->verdict == CORDON_ALLOW)) {
        *answer = (struct policy_answer){.rule = RULE_PROTECTED_SELF};
        found.name = "it, as Cordon's hook starts it";
    }
    bool self = answer->rule == RULE_PROTECTED_SELF;
    if (!self && found.name && answer->verdict == CORDON_ALLOW && !found.pattern)
        found.name = NULL;
    if (self && !found.name)
        found.name = "it";
    return found;
}

static struct obeyed look_at(struct guard *g, struct word target)
{
    struct policy_request request = {.access = POLICY_WRITE, .facts = {.exists = true, .links = 1}};
    struct policy_answer answer = {.rule = RULE_NONE};
    return find_protected(g, target, &request, &answer);
}

bool guard_obeyed(struct guard *g, struct word target)
{
    return look_at(g, target).name != NULL;
}

bool guard_own_work(struct guard *g, struct word target)
{
    struct obeyed found = look_at(g, target);
    return !found.name && found.own;
}

/* A protected name that the text spells somewhere, for targets that cannot be known: those of
   `find .claude -type f | xargs rm`. Looked for once in a text. */
static struct str spelled_anywhere(struct guard *g)
{
    if (g->text.n == 0 || g->spelled_in == g->text.p)
        return g->text.n ? g->spelled : STR_NONE;
    g->spelled_in = g->text.p;
    g->spelled = STR_NONE;
    for (size_t at = 0, end; (at = str_find_char(g->text, '.', at)) < g->text.n; at = end) {
        for (end = at + 1; end < g->text.n &&
                           (ascii_is_alnum(g->text.p[end]) || ascii_is_in(g->text.p[end], "._-"));
             end++)
            ;
        struct str part = str_slice(g->text, at, end);
        if (at && (ascii_is_alnum(g->text.p[at - 1]) || g->text.p[at - 1] == '*'))
            continue;
        while (part.n > 1 && part.p[part.n - 1] == '.')
            part.n--;
        if (is_closed(g, protected_find(PATH_POSIX, part))) {
            g->spelled = part;
            break;
        }
    }
    return g->spelled;
}

bool guard_protects(struct guard *g, struct str who, struct word target, bool deletes)
{
    struct policy_request request = {.access = deletes ? POLICY_DELETE : POLICY_WRITE,
                                     .facts = {.exists = true, .links = 1}};
    struct policy_answer answer = {.rule = RULE_NONE};
    const char *name = find_protected(g, target, &request, &answer).name;
    if (name) {
        report(g, target, who, &request, &answer, name);
        return true;
    }
    bool lost = target.text.n > 0 && target.text.p[0] == GUARD_HOLE;
    if (lost && !g->question.confined && spelled_anywhere(g).n)
        ask_about(g, target, who,
                  "changes files that cannot be known here, in a command that names",
                  spelled_anywhere(g));
    return false;
}

/* The folder in which the command runs, a root, or a path that is spelled as a folder. */
static bool is_folder(struct guard *g, struct str path)
{
    struct str leaf = name_leaf(path);
    if (path.n == 0 || str_has_char(path, GUARD_HOLE))
        return false;
    return leaf.n == 0 || str_eq(leaf, STR(".")) || str_eq(leaf, STR("..")) ||
           str_eq(path, STR("~")) || str_eq(path, guard_current(g)) ||
           guard_place_of(g, path) == GUARD_PLACE_ROOT;
}

void guard_brings(struct guard *g, struct str who, struct word source, struct str folder)
{
    struct str name = str_trim(source.text);
    while (name.n > 1 && is_separator(name.p[name.n - 1]))
        name.n--;
    name = name_leaf(name);
    if (g->question.confined || !find_name(g, name).name || !is_folder(g, folder))
        return;
    char *p =
        guard_spend(g, folder.n + name.n) ? arena_alloc(&g->arena, folder.n + name.n + 1) : NULL;
    if (!p)
        return;
    memcpy(p, folder.p, folder.n);
    p[folder.n] = '/';
    memcpy(p + folder.n + 1, name.p, name.n);
    source.text = (struct str){p, folder.n + 1 + name.n};
    guard_protects(g, who, source, false);
}

/* ---- programs whose arguments name what they change ---- */

static const struct changer_pool {
#define CHANGER(name, condition) char ROW(n)[sizeof name], ROW(c)[sizeof condition];
#include "guard/tables/changers.def"
#undef CHANGER
} changer_pool = {
#define CHANGER(name, condition) name, condition,
#include "guard/tables/changers.def"
#undef CHANGER
};

static const struct changer {
    uint16_t name, condition;
} changers[] = {
#define CHANGER(name, condition) {PLACE(changer_pool, ROW(n)), PLACE(changer_pool, ROW(c))},
#include "guard/tables/changers.def"
#undef CHANGER
};

size_t changer_row(struct str name)
{
    return NAME_ROW(changer_pool, changers, name);
}

/* -e SCRIPT, -pe SCRIPT, --expression SCRIPT */
static bool takes_script(struct str option)
{
    bool letters = option.n > 1 && option.p[0] == '-' && option.p[1] != '-';
    return (letters && ascii_is_in(option.p[option.n - 1], "ef")) ||
           name_is_one_of(option, STR("--expression|--file"));
}

/* The first word that names a file: sed, perl and their kind take a script before it, unless an option
   brings one. */
static size_t first_file(const struct guard_call *call, struct str name)
{
    bool scripted = !name_is_one_of(name, STR("perl|prename|rename|ruby|sd|sed"));
    size_t first = 1;
    for (size_t i = 1; i < call->count; i++)
        scripted |= takes_script(call->words[i].text);
    while (!scripted && first < call->count && str_starts(call->words[first].text, STR("-")))
        first++;
    return first + !scripted;
}

void judge_changer(struct guard *g, const struct guard_call *call, struct str name, size_t row)
{
    bool holds = false, scripts = name_is_one_of(name, STR("perl|ruby|sed"));
    if (g->question.confined)
        return;
    for (const struct changer *c = changers + row; !holds && c < changers + NAME_ROWS(changers) &&
                                                   str_eqi(name_at(&changer_pool, c->name), name);
         c++)
        holds =
            condition_holds(name_at(&changer_pool, c->condition), call->words + 1, call->count - 1);
    for (size_t i = holds ? first_file(call, name) : call->count; i < call->count; i++) {
        struct word word = call->words[i];
        if (scripts && i > 1 && takes_script(call->words[i - 1].text))
            continue;
        size_t equals = str_find_char(word.text, '=', 0);
        if (str_starts(word.text, STR("--")))
            word.text = str_from(word.text, equals + 1);
        else if (str_starts(word.text, STR("-")))
            word.text = str_from(word.text, 2); /* -oFILE */
        guard_protects(g, name, word, false);
    }
}

/* ---- all other programs ---- */

/* They read what their arguments name, and change nothing. */
static const char readers[] =
    "[|[[|ack|actionlint|ag|alias|base64|basename|bat|batcat|cat|cd|cksum|cloc|cmp|colordiff|"
    "column|comm|comp|cut|declare|diff|dir|dirname|du|echo|egrep|exa|exit|export|eza|fc|fgrep|"
    "file|findstr|fold|grep|hadolint|head|hexdump|jq|jsonlint|less|local|logger|ls|md5sum|more|"
    "nl|notify-send|od|paste|popd|printf|pushd|readlink|readonly|realpath|rem|return|rg|say|scc|"
    "select-string|set|sha1sum|sha256sum|sha512sum|shasum|shellcheck|source|stat|strings|tac|tail|"
    "test|title|tokei|tree|type|wc|where|which|write-host|write-output|yamllint|zip|zipinfo";

void judge_mention(struct guard *g, const struct guard_call *call, struct str name, size_t row)
{
    if (g->question.confined || row < NAME_ROWS(changers))
        return;
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        size_t equals = str_find_char(word.text, '=', 0);
        if (str_starts(word.text, STR("-")))
            word.text = str_from(word.text, equals < word.text.n ? equals + 1 : 2);
        if (!guard_obeyed(g, word))
            continue;
        if (!name_is_one_of(name, str_of(readers)))
            ask_about(g, word, name, "may change", word.text);
        return;
    }
}
