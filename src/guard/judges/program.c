/* SPDX-License-Identifier: Apache-2.0 */
/* A program with its arguments: looked up by name in the tables, then judged. */
#include "guard/judges/condition.h"
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static const struct reason {
    uint8_t rule;
    const char *why, *fix;
} reasons[] = {
#define REASON(name, rule, why, fix) {rule, why, fix},
#include "guard/tables/reasons.def"
#undef REASON
};

enum {
#define REASON(name, rule, why, fix) REASON_##name,
#include "guard/tables/reasons.def"
#undef REASON
};

#define PROGRAM_UNIX(name, condition, reason, fix) UNIX_ROW(PROGRAM(name, condition, reason, fix))
#define HANDLER_UNIX(name, judge) UNIX_ROW(HANDLER(name, judge))

static const struct program_pool {
#define PROGRAM(name, condition, reason, fix) \
    char ROW(n)[sizeof name], ROW(c)[sizeof condition], ROW(f)[sizeof fix];
#include "guard/tables/programs.def"
#undef PROGRAM
} program_pool = {
#define PROGRAM(name, condition, reason, fix) name, condition, fix,
#include "guard/tables/programs.def"
#undef PROGRAM
};

static const struct program_entry {
    uint16_t name, condition, fix;
    uint8_t reason;
} programs[] = {
#define PROGRAM(name, condition, reason, fix)                                               \
    {PLACE(program_pool, ROW(n)), PLACE(program_pool, ROW(c)), PLACE(program_pool, ROW(f)), \
     REASON_##reason},
#include "guard/tables/programs.def"
#undef PROGRAM
};

static void (*const judges[])(struct guard *g, const struct guard_call *call) = {
#define JUDGE(function) function,
#include "guard/tables/judges.def"
#undef JUDGE
};

enum {
#define JUDGE(function) INDEX_OF_##function,
#include "guard/tables/judges.def"
#undef JUDGE
};

static const struct handler_pool {
#define HANDLER(name, judge) char ROW(n)[sizeof name];
#include "guard/tables/handlers.def"
#undef HANDLER
} handler_pool = {
#define HANDLER(name, judge) name,
#include "guard/tables/handlers.def"
#undef HANDLER
};

static const struct handler {
    uint16_t name;
    uint8_t judge;
} handlers[] = {
#define HANDLER(name, judge) {PLACE(handler_pool, ROW(n)), INDEX_OF_##judge},
#include "guard/tables/handlers.def"
#undef HANDLER
};

static const struct texts_pool {
#define TEXTS(name) char ROW(n)[sizeof name];
#include "guard/tables/texts.def"
#undef TEXTS
} texts_pool = {
#define TEXTS(name) name,
#include "guard/tables/texts.def"
#undef TEXTS
};

static const uint16_t texts[] = {
#define TEXTS(name) PLACE(texts_pool, ROW(n)),
#include "guard/tables/texts.def"
#undef TEXTS
};

/* Names of browsers that are words of every day, too. */
static bool is_everyday(struct str name)
{
    return name_is_one_of(
        name,
        STR("arc|at|basilisk|batch|beaker|code|comet|control|dia|ephemeral|floorp|format|hh|"
            "helium|iridium|open|opener|opn|orion|polarity|safari|sc|see|sidekick|sputnik|su|surf|"
            "thorium|tungsten|uran|whale|wsl|wt|yandex|zen|dex|control|mmc|batch|start"));
}

/* firefox of firefox.desktop and of org.mozilla.firefox. */
static struct str without_bundle(struct str name)
{
    static const struct str prefixes[] = {STR("org."), STR("com."), STR("net."), STR("io.")};
    if (str_endsi(name, STR(".desktop")))
        name.n -= 8;
    for (size_t i = 0; i < NAME_ROWS(prefixes); i++)
        if (str_startsi(name, prefixes[i]) && name_extension(name).n)
            name = name_extension(name);
    return name;
}

static bool handler_opens(size_t row)
{
    return handlers[row].judge == INDEX_OF_judge_opener ||
           handlers[row].judge == INDEX_OF_judge_explorer;
}

static bool program_opens(size_t row)
{
    enum guard_rule rule = (enum guard_rule)reasons[programs[row].reason].rule;
    bool always = name_at(&program_pool, programs[row].condition).n == 0;
    return always && (rule == GUARD_LAUNCH_URL || rule == GUARD_LAUNCH_BROWSER ||
                      rule == GUARD_LAUNCH_OUTSIDE);
}

/* A browser, or a program that opens or starts things whatever its arguments are. */
static bool opens_things(struct str name)
{
    if (guard_is_browser(name))
        return true;
    size_t handler = NAME_ROW(handler_pool, handlers, name);
    if (handler < NAME_ROWS(handlers))
        return handler_opens(handler);
    size_t row = NAME_ROW(program_pool, programs, name);
    return row < NAME_ROWS(programs) && program_opens(row);
}

/* A place in the filter: of names with these two first letters, this last one and this length. */
static unsigned filter_place(struct str name)
{
    uint32_t ends = (uint32_t)(unsigned char)ascii_lower(name.p[0]) |
                    (uint32_t)(unsigned char)ascii_lower(name.p[1]) << 8 |
                    (uint32_t)(unsigned char)ascii_lower(name.p[name.n - 1]) << 16 |
                    (uint32_t)name.n << 24;
    return ends * 2654435769u >> 20;
}

static void filter_add(struct launcher_filter *filter, struct str name)
{
    if (name.n >= 2)
        filter->bits[filter_place(name) / 64] |= (uint64_t)1 << filter_place(name) % 64;
}

/* Most words are no launchers: the tables are searched for those that the filter lets through. */
static bool may_launch(struct launcher_filter *filter, struct str name)
{
    if (!filter->filled) {
        filter->filled = true;
        for (size_t i = 0; i < guard_browser_count(); i++)
            filter_add(filter, guard_browser_at(i));
        for (size_t i = 0; i < NAME_ROWS(handlers); i++)
            if (handler_opens(i))
                filter_add(filter, name_at(&handler_pool, handlers[i].name));
        for (size_t i = 0; i < NAME_ROWS(programs); i++)
            if (program_opens(i))
                filter_add(filter, name_at(&program_pool, programs[i].name));
    }
    return filter->bits[filter_place(name) / 64] >> filter_place(name) % 64 & 1;
}

bool guard_is_launcher(struct guard *g, struct str word)
{
    enum { LONGEST = 40 };
    if (word.n < 2 || word.p[0] == '-' || word.p[word.n - 1] == GUARD_HOLE)
        return false;
    struct str name = without_bundle(name_program(word));
    return name.n >= 2 && name.n <= LONGEST && may_launch(&g->launchers, name) &&
           opens_things(name) && !is_everyday(name);
}

void judge_rest(struct guard *g, const struct guard_call *call, size_t from)
{
    if (from >= call->count)
        return;
    struct guard_call inner = {.from = call->from,
                               .words = call->words + from,
                               .count = call->count - from,
                               .input = call->input};
    bool script = call->from == GUARD_BASH && str_has_char(inner.words[0].text, '/') &&
                  guard_script_as(g, inner.words[0], GUARD_BASH);
    if (!script)
        guard_program(g, &inner);
}

void judge_carried(struct guard *g, const struct guard_call *call, size_t from)
{
    enum { SHORTEST = 2 }; /* no opener has a shorter name, no address one of this length */
    for (size_t i = from; i < call->count && !guard_stopped(g); i++) {
        if (call->words[i].text.n < SHORTEST)
            continue;
        if (i + 1 < call->count && call->words[i + 1].text.n > SHORTEST &&
            guard_is_opening(g, call->words[i].text, call->words[i + 1].text))
            judge_rest(g, call, i);
        else
            guard_carried(g, call->words[i]);
    }
}

bool guard_starts_launcher(struct guard *g, struct str value)
{
    while (value.n && (value.p[0] == '"' || value.p[0] == '\''))
        value = str_from(value, 1);
    size_t end = 0;
    while (end < value.n && !ascii_is_in(value.p[end], " \"',"))
        end++;
    return end > 1 && guard_is_launcher(g, str_slice(value, 0, end));
}

/* python3.12, gcc-13, lua5.4: the name without its version; the name itself if it has none. */
static struct str without_version(struct str name)
{
    size_t n = name.n;
    while (n > 1 && (ascii_is_digit(name.p[n - 1]) || name.p[n - 1] == '.'))
        n--;
    if (n < name.n && n > 1 && name.p[n - 1] == '-')
        n--;
    return str_slice(name, 0, n);
}

static bool is_listed(struct str name)
{
    return NAME_KNOWN(program_pool, programs, name) || NAME_KNOWN(handler_pool, handlers, name) ||
           is_wrapper(name) || guard_is_browser(name);
}

static void look_up(struct known_name *known, struct str name)
{
    known->program = (uint16_t)NAME_ROW(program_pool, programs, name);
    known->handler = (uint16_t)NAME_ROW(handler_pool, handlers, name);
    known->lolbas = (uint16_t)lolbas_row(name);
    known->changer = (uint16_t)changer_row(name);
    known->wraps = is_wrapper(name);
    known->browser = guard_is_browser(name);
    known->texts = NAME_KNOWN(texts_pool, texts, name);
}

/* The name's rows: remembered, or put into own if the name is too long for that. */
static const struct known_name *known_name_of(struct guard *g, struct str name,
                                              struct known_name *own)
{
    unsigned hash = 0;
    if (name.n == 0 || name.n > KNOWN_LENGTH) {
        look_up(own, name);
        return own;
    }
    for (size_t i = 0; i < name.n; i++)
        hash = hash * 31 + (unsigned char)name.p[i];
    struct known_name *known = &g->names[hash % KNOWN_NAMES];
    if (known->length != name.n || memcmp(known->name, name.p, name.n) != 0) {
        look_up(known, name);
        memcpy(known->name, name.p, name.n);
        known->length = (uint8_t)name.n;
    }
    return known;
}

/* Shells, interpreters and find have judges that read the options with code or commands. */
static bool reads_own_options(size_t handler)
{
    if (handler == NAME_ROWS(handlers))
        return false;
    unsigned judge = handlers[handler].judge;
    return judge == INDEX_OF_judge_find || judge == INDEX_OF_bash_program ||
           judge == INDEX_OF_cmd_program || judge == INDEX_OF_powershell_program ||
           judge == INDEX_OF_judge_interpreter;
}

/* Options with a value in the next word that stand in front of the subcommand: gh -R x/y browse. */
static size_t general_options(const struct guard_call *call, struct str name)
{
    static const struct {
        struct str name, options;
    } general[] = {
        {STR("aws"), STR("--profile|--region|--output|--endpoint-url|--query")},
        {STR("az"), STR("--subscription|--output|-o|--query")},
        {STR("cargo"), STR("-C|-Z|--config|--color|--manifest-path|--target-dir")},
        {STR("docker"), STR("-c|-H|-l|--config|--context|--host|--log-level")},
        {STR("gh"), STR("-R|--repo|--hostname")},
        {STR("git"), STR("-C|-c|--git-dir|--work-tree|--namespace|--config-env")},
        {STR("kubectl"), STR("-n|--namespace|--context|--kubeconfig|--cluster|--user")},
        {STR("npm"), STR("-C|-w|--prefix|--workspace|--registry|--userconfig|--cache")},
        {STR("pnpm"), STR("-C|-F|--dir|--filter")},
        {STR("yarn"), STR("--cwd")},
    };
    for (size_t i = 0; i < NAME_ROWS(general); i++)
        if (str_eqi(general[i].name, name)) {
            size_t at = wrapped_program(call, 1, general[i].options);
            return at < call->count ? at - 1 : 0;
        }
    return 0;
}

static void judge_by_name(struct guard *g, const struct guard_call *call, struct str name)
{
    struct str path = call->words[0].text;
    if (str_starts(name, STR("="))) /* zsh looks the program up */
        name = str_from(name, 1);
    if (str_starts(path, STR("/etc/init.d/")) || str_starts(path, STR("/etc/rc.d/")))
        guard_find(g, GUARD_LAUNCH_OUTSIDE, call->words[0], name, reasons[REASON_SERVICE].why,
                   NULL);
    if (str_has_char(name, '.') && !guard_is_browser(name))
        name = without_bundle(name);
    if (name.n && ascii_is_digit(name.p[name.n - 1]) && !is_listed(name))
        name = without_version(name);
    const struct word *args = call->words + 1;
    struct known_name own, known = *known_name_of(g, name, &own); /* judging looks up others */
    const struct program_entry *p = programs + known.program;
    const struct program_entry *end = programs + NAME_ROWS(programs);
    size_t skipped = p < end ? general_options(call, name) : 0;
    for (; p < end && str_eqi(name_at(&program_pool, p->name), name); p++) {
        struct str condition = name_at(&program_pool, p->condition);
        if (condition_holds(condition, args, call->count - 1) ||
            (skipped && condition_holds(condition, args + skipped, call->count - 1 - skipped))) {
            const struct reason *reason = &reasons[p->reason];
            struct str fix = name_at(&program_pool, p->fix);
            guard_find(g, (enum guard_rule)reason->rule, call->words[0], name, reason->why,
                       fix.n ? fix.p : reason->fix);
        }
    }
    judge_changer(g, call, name, known.changer);
    if (call->count > 2 && str_eq(call->words[1].text, STR("hook")))
        judge_hook(g, call);
    size_t handler = known.handler;
    if (handler < NAME_ROWS(handlers))
        judges[handlers[handler].judge](g, call);
    if (known.wraps)
        judge_wrapper(g, call, name);
    if (known.browser)
        judge_browser(g, call);
    else
        judge_lolbas(g, call, name, known.lolbas);
    /* Many programs start what their arguments name. For one that is in no table, an opener with
       its address is enough. */
    if (known.texts)
        return;
    if (handler == NAME_ROWS(handlers) && !known.wraps) {
        judge_carried(g, call, 1);
        judge_mention(g, call, name, known.changer);
    }
    if (!known.wraps && !reads_own_options(handler))
        judge_options(g, call);
}

/* cmd and PowerShell hand a document that stands as a command to the shell. */
static bool opens_documents(enum guard_shell shell)
{
    return shell == GUARD_CMD || shell == GUARD_POWERSHELL;
}

/* cp /usr/bin/firefox x; ./x: judged as the program that it was. */
static void judge_original(struct guard *g, const struct guard_call *call)
{
    struct guard_call original = *call;
    struct word *words = ARENA_ARRAY(guard_arena(g), call->count, struct word);
    if (!words) {
        guard_limit(g, call->words[0]);
        return;
    }
    memcpy(words, call->words, call->count * sizeof *words);
    words[0] = guard_original(g, words[0]);
    original.words = words;
    judge_by_name(g, &original, name_program(words[0].text));
    guard_tool(g, words[0]);
}

static void judge_program(struct guard *g, const struct guard_call *call)
{
    struct word program = call->words[0];
    /* bash takes a URL as the name of a file that is not there */
    if ((call->from != GUARD_BASH && guard_is_url(program.text)) ||
        (opens_documents(call->from) && name_is_document(program.text))) {
        struct str who = call->from == GUARD_CMD ? STR("cmd") : STR("the command");
        guard_open(g, who, program, NULL, 0, call->from);
        return;
    }
    struct str name = name_program(program.text);
    size_t at = str_find_char(name, '@', 1); /* npx turbo@1.2 */
    if (at < name.n && at > 0)
        name = str_slice(name, 0, at);
    if (str_has_char(name, GUARD_HOLE)) {
        guard_opaque_command(g, program, STR_NONE);
        return;
    }
    if (opens_documents(call->from) && guard_script(g, program))
        return;
    if (!g->files.newest) {
        judge_by_name(g, call, name);
        guard_tool(g, program);
        return;
    }
    judge_original(g, call);
}

void guard_program(struct guard *g, const struct guard_call *call)
{
    if (guard_stopped(g) || call->count == 0)
        return;
    if (g->program_depth >= GUARD_MAX_DEPTH) {
        guard_limit(g, call->words[0]);
        return;
    }
    g->program_depth++;
    judge_program(g, call);
    g->program_depth--;
}
