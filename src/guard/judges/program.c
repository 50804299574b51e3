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

/* Programs that Windows does not have stay out of the program for it. */
#ifdef _WIN32
#define PROGRAM_UNIX(name, condition, reason, fix)
#define HANDLER_UNIX(name, judge)
#define WRAPPER_UNIX(name, options, skip, flags)
#else
#define PROGRAM_UNIX(name, condition, reason, fix) PROGRAM(name, condition, reason, fix)
#define HANDLER_UNIX(name, judge) HANDLER(name, judge)
#define WRAPPER_UNIX(name, options, skip, flags) WRAPPER(name, options, skip, flags)
#endif

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

static const struct program {
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

enum { WRAP_ASSIGNS = 1, WRAP_SHELL = 2, WRAP_VERB = 4 };

static const struct wrapper_pool {
#define WRAPPER(name, options, skip, flags) char ROW(n)[sizeof name], ROW(o)[sizeof options];
#include "guard/tables/wrappers.def"
#undef WRAPPER
} wrapper_pool = {
#define WRAPPER(name, options, skip, flags) name, options,
#include "guard/tables/wrappers.def"
#undef WRAPPER
};

static const struct wrapper {
    uint16_t name, value_options;
    uint8_t skip, flags;
} wrappers[] = {
#define WRAPPER(name, options, skip, flags) \
    {PLACE(wrapper_pool, ROW(n)), PLACE(wrapper_pool, ROW(o)), skip, flags},
#include "guard/tables/wrappers.def"
#undef WRAPPER
};

static const struct browser_pool {
#define BROWSER(name) char ROW(n)[sizeof name];
#include "guard/tables/browsers.def"
#undef BROWSER
} browser_pool = {
#define BROWSER(name) name,
#include "guard/tables/browsers.def"
#undef BROWSER
};

static const uint16_t browsers[] = {
#define BROWSER(name) PLACE(browser_pool, ROW(n)),
#include "guard/tables/browsers.def"
#undef BROWSER
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

bool guard_is_browser(struct str name)
{
    return NAME_KNOWN(browser_pool, browsers, name);
}

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

/* A browser, or a program that opens or starts things whatever its arguments are. */
static bool opens_things(struct str name)
{
    if (guard_is_browser(name))
        return true;
    size_t handler = NAME_ROW(handler_pool, handlers, name);
    if (handler < NAME_ROWS(handlers))
        return handlers[handler].judge == INDEX_OF_judge_opener ||
               handlers[handler].judge == INDEX_OF_judge_explorer;
    size_t row = NAME_ROW(program_pool, programs, name);
    if (row == NAME_ROWS(programs))
        return false;
    enum guard_rule rule = (enum guard_rule)reasons[programs[row].reason].rule;
    bool always = name_at(&program_pool, programs[row].condition).n == 0;
    return always && (rule == GUARD_LAUNCH_URL || rule == GUARD_LAUNCH_BROWSER ||
                      rule == GUARD_LAUNCH_OUTSIDE);
}

bool guard_is_launcher(struct str word)
{
    enum { LONGEST = 40 };
    struct str name = without_bundle(name_program(word));
    return name.n >= 2 && name.n <= LONGEST && opens_things(name) && !is_everyday(name);
}

static bool is_local_page(struct str url)
{
    static const struct str local[] = {
        STR("http://localhost"),  STR("https://localhost"), STR("http://127.0.0.1"),
        STR("https://127.0.0.1"), STR("http://[::1]"),      STR("https://[::1]"),
        STR("file:///"),          STR("about:blank"),       STR("data:")};
    for (size_t i = 0; i < NAME_ROWS(local); i++) {
        if (!str_startsi(url, local[i]))
            continue;
        /* localhost.example.com and localhost@example.com are not local. */
        struct str rest = str_from(url, local[i].n);
        if (i >= 6 || rest.n == 0 || rest.p[0] == '/' || rest.p[0] == '?' || rest.p[0] == '#' ||
            (rest.p[0] == ':' && !str_has_char(rest, '@')))
            return true;
    }
    return false;
}

/* Headless, and every page it is given is local; or it only prints its version. */
static bool browser_is_harmless(const struct guard_call *call)
{
    bool headless = false, page = false;
    if (call->count == 2 &&
        name_is_one_of(call->words[1].text, STR("--version|-version|-v|--help|--product-version")))
        return true;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (!word_known(call->words[i]) || str_findi(arg, STR("launcher"), 0) < arg.n ||
            str_findi(arg, STR("cmd-prefix"), 0) < arg.n)
            return false;
        if (name_is_one_of(arg, STR("--headless|-headless"))) {
            headless = true;
        } else if (arg.n && arg.p[0] != '-') {
            page = true;
            if (guard_is_url(arg) && !is_local_page(arg))
                return false;
        } else {
            /* A URL inside an option: --app=https://… */
            struct str value = str_from(arg, str_find_char(arg, '=', 0) + 1);
            if (str_find(value, STR("://"), 0) < value.n && !is_local_page(value))
                return false;
        }
    }
    return headless && page;
}

static void judge_browser(struct guard *g, const struct guard_call *call)
{
    if (browser_is_harmless(call))
        return;
    struct word at = call->words[0];
    for (size_t i = 1; i < call->count; i++)
        if (guard_is_url(call->words[i].text))
            at = call->words[i];
    guard_find(g, GUARD_LAUNCH_BROWSER, at, name_program(call->words[0].text), NULL, NULL);
}

size_t wrapped_program(const struct guard_call *call, size_t from, struct str value_options)
{
    size_t i = from;
    for (; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n < 2 || (arg.p[0] != '-' && arg.p[0] != '+'))
            return i;
        if (name_is_one_of(arg, value_options) && !str_has_char(arg, '='))
            i++;
    }
    return i;
}

void judge_rest(struct guard *g, const struct guard_call *call, size_t from)
{
    if (from >= call->count)
        return;
    struct guard_call inner = {.from = call->from,
                               .words = call->words + from,
                               .count = call->count - from,
                               .input = call->input};
    guard_program(g, &inner);
}

/* null: only a zero ends an item, not blanks and lines. */
static bool xargs_ends(char c, bool null)
{
    return c == 0 || (!null && (c == ' ' || c == '\t' || c == '\n'));
}

static bool xargs_by_null(const struct guard_call *call, size_t program)
{
    for (size_t i = 1; i < program; i++)
        if (name_is_one_of(call->words[i].text, STR("-0|--null|-d|--delimiter")) ||
            str_starts(call->words[i].text, STR("-d")) ||
            str_starts(call->words[i].text, STR("-0")))
            return true;
    return false;
}

/* The text that xargs -I replaces by what it reads; "" without that option. */
static struct str xargs_mark(const struct guard_call *call, size_t program)
{
    for (size_t i = 1; i < program; i++) {
        struct str arg = call->words[i].text;
        if (str_eq(arg, STR("-I")) || str_eq(arg, STR("--replace")))
            return i + 1 < program ? call->words[i + 1].text : STR("{}");
        if (str_eq(arg, STR("-i")))
            return STR("{}");
        if (str_starts(arg, STR("-I")))
            return str_from(arg, 2);
    }
    return STR("");
}

/* xargs appends what it reads: the program is judged with its input as the last arguments. */
static void judge_xargs(struct guard *g, const struct guard_call *call, size_t program)
{
    enum { MOST_ITEMS = 64 };
    if (program >= call->count)
        return;
    struct word item = word_unknown(call->words[0].start, call->words[0].end);
    if (call->input.text.p) {
        item = call->input;
        item.text = str_trim(call->input.text);
    }
    size_t count = call->count - program, own = count;
    struct word *words = ARENA_ARRAY(guard_arena(g), count + MOST_ITEMS, struct word);
    if (!words) {
        guard_limit(g, call->words[0]);
        return;
    }
    memcpy(words, call->words + program, count * sizeof *words);
    struct str mark = xargs_mark(call, program);
    for (size_t j = 0; mark.n && j < own; j++)
        if (str_eq(words[j].text, mark))
            words[j] = item;
    bool null = xargs_by_null(call, program);
    for (size_t from = 0, end; from < item.text.n && count < own + MOST_ITEMS; from = end + 1) {
        for (end = from; end < item.text.n && !xargs_ends(item.text.p[end], null); end++)
            ;
        words[count] = item;
        words[count].text = str_slice(item.text, from, end);
        count += end > from;
    }
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
}

/* NAME=value in front of the program, from i on; where they end. */
static size_t judge_assignments(struct guard *g, const struct guard_call *call, size_t i)
{
    for (; i < call->count && str_has_char(call->words[i].text, '='); i++) {
        struct word value = call->words[i];
        size_t equals = str_find_char(value.text, '=', 0);
        value.text = str_from(value.text, equals + 1);
        guard_variable(g, str_slice(call->words[i].text, 0, equals), value);
    }
    return i;
}

/* strace -o '|command': output that goes into a pipe. */
static void judge_output_pipe(struct guard *g, const struct guard_call *call, size_t program)
{
    for (size_t k = 1; k < program && k < call->count; k++) {
        struct word command = call->words[k];
        if (str_starts(command.text, STR("-o")))
            command.text = str_from(command.text, 2);
        else if (str_starts(command.text, STR("--output=")))
            command.text = str_from(command.text, 9);
        bool output = command.text.n < call->words[k].text.n ||
                      name_is_one_of(call->words[k - 1].text, STR("-o|--output"));
        if (!output || command.text.n == 0 || !ascii_is_in(command.text.p[0], "|!"))
            continue;
        command.text = str_from(command.text, 1);
        guard_nested(g, GUARD_BASH, command);
    }
}

/* The program of a wrapper, in the folder that the wrapper's options name. */
static void judge_wrapped(struct guard *g, const struct guard_call *call,
                          const struct wrapper *wrapper, size_t program)
{
    struct str folder = guard_folder(g);
    bool changes = !str_eqi(name_at(&wrapper_pool, wrapper->name), STR("doas"));
    for (size_t k = 1; changes && k + 1 < program && k + 1 < call->count; k++)
        if (name_is_one_of(call->words[k].text, STR("-C|--chdir|-D")))
            guard_change_folder(g, call->words[k + 1].text);
    if ((wrapper->flags & WRAP_SHELL) && program < call->count &&
        str_has_char(call->words[program].text, ' '))
        guard_nested(g, GUARD_BASH, call->words[program]);
    else
        judge_rest(g, call, program);
    guard_set_folder(g, folder);
}

static void judge_wrapper(struct guard *g, const struct guard_call *call,
                          const struct wrapper *wrapper)
{
    struct str options = name_at(&wrapper_pool, wrapper->value_options);
    size_t i = wrapped_program(call, 1, options);
    if (wrapper->flags & WRAP_ASSIGNS)
        i = judge_assignments(g, call, i);
    if ((wrapper->flags & WRAP_VERB) &&
        !(i < call->count &&
          name_is_one_of(call->words[i].text, STR("run|exec|x|tool|shell|enter"))))
        return;
    for (unsigned skip = wrapper->skip; skip > 0 && i < call->count; skip--)
        i = wrapped_program(call, i + 1, options);
    judge_output_pipe(g, call, i);
    if (str_eqi(name_at(&wrapper_pool, wrapper->name), STR("xargs")))
        judge_xargs(g, call, i);
    else
        judge_wrapped(g, call, wrapper, i);
}

void judge_carried(struct guard *g, const struct guard_call *call, size_t from)
{
    for (size_t i = from; i < call->count && !guard_stopped(g); i++)
        if (i + 1 < call->count && guard_is_opening(call->words[i].text, call->words[i + 1].text))
            judge_rest(g, call, i);
        else
            guard_carried(g, call->words[i]);
}

/* Options and settings with such a part in their name hold a command. */
static bool names_command(struct str option)
{
    static const char parts[] =
        "cmd|command|exec|program|editor|pager|shell|rsh|ssh|viewer|launcher|"
        "wrapper|runner|askpass|hook|invoke|helper|opener|handler|terminal|"
        "emulator|compiler|tunnel|action|spawn";
    struct str rest = STR(parts);
    for (size_t end; rest.n; rest = str_from(rest, end + 1)) {
        end = str_find_char(rest, '|', 0);
        if (str_findi(option, str_slice(rest, 0, end), 0) < option.n)
            return true;
    }
    return false;
}

bool guard_starts_launcher(struct str value)
{
    while (value.n && (value.p[0] == '"' || value.p[0] == '\''))
        value = str_from(value, 1);
    size_t end = 0;
    while (end < value.n && !ascii_is_in(value.p[end], " \"',"))
        end++;
    return end > 1 && guard_is_launcher(str_slice(value, 0, end));
}

/* --rsh=firefox, --diff-cmd firefox, core.editor=firefox. */
static void judge_option(struct guard *g, const struct guard_call *call, struct str option,
                         struct word value)
{
    if (names_command(option)) {
        guard_commands(g, value);
        return;
    }
    if (str_findi(option, STR("browser"), 0) == option.n)
        return;
    bool hidden =
        name_is_one_of(name_program(call->words[0].text), STR("playwright|pytest|cypress"));
    for (size_t i = 1; i < call->count; i++) {
        if (str_findi(call->words[i].text, STR("headless"), 0) < call->words[i].text.n)
            return;
        hidden &= str_findi(call->words[i].text, STR("headed"), 0) == call->words[i].text.n;
    }
    if (hidden)
        return; /* they show no window unless they are told to */
    guard_find(g, GUARD_OPAQUE_COMMAND, value, name_program(call->words[0].text),
               "starts a browser that its arguments name, perhaps with a window",
               "give --headless, if it knows that option");
}

static void judge_options(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++) {
        struct word word = call->words[i], next = {.text = STR("")};
        size_t equals = str_find_char(word.text, '=', 0);
        if (equals == word.text.n)
            equals = str_find_char(word.text, ' ', 0); /* -o 'ProxyCommand firefox' */
        struct str option = str_slice(word.text, 0, equals);
        if (equals < word.text.n) {
            next = word;
            next.text = str_from(word.text, equals + 1);
            size_t inner = str_find_char(next.text, '=', 0); /* --action=exec=firefox */
            if (inner + 1 < next.text.n && !guard_starts_launcher(next.text)) {
                option = str_slice(word.text, 0, equals + 1 + inner);
                next.text = str_from(next.text, inner + 1);
            }
        } else if (word.text.n > 2 && word.text.p[0] == '-' && i + 1 < call->count) {
            next = call->words[i + 1];
        }
        if (next.text.n > 1 && guard_starts_launcher(next.text))
            judge_option(g, call, option, next);
        else if (str_has_char(next.text, ' ') && word.text.p[0] == '-' && names_command(option))
            guard_commands(g, next);
    }
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
           NAME_KNOWN(wrapper_pool, wrappers, name) || guard_is_browser(name);
}

/* Shells, interpreters and find: their judges know which option holds code or a command. */
static bool reads_own_options(size_t handler)
{
    if (handler == NAME_ROWS(handlers))
        return false;
    unsigned judge = handlers[handler].judge;
    return judge == INDEX_OF_judge_find || judge == INDEX_OF_bash_program ||
           judge == INDEX_OF_cmd_program || judge == INDEX_OF_powershell_program ||
           judge == INDEX_OF_judge_interpreter;
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
    const struct program *p = programs + NAME_ROW(program_pool, programs, name);
    for (; p < programs + NAME_ROWS(programs) && str_eqi(name_at(&program_pool, p->name), name);
         p++)
        if (condition_holds(name_at(&program_pool, p->condition), args, call->count - 1)) {
            const struct reason *reason = &reasons[p->reason];
            struct str fix = name_at(&program_pool, p->fix);
            guard_find(g, (enum guard_rule)reason->rule, call->words[0], name, reason->why,
                       fix.n ? fix.p : reason->fix);
        }
    size_t handler = NAME_ROW(handler_pool, handlers, name);
    size_t wrapper = NAME_ROW(wrapper_pool, wrappers, name);
    if (handler < NAME_ROWS(handlers))
        judges[handlers[handler].judge](g, call);
    if (wrapper < NAME_ROWS(wrappers))
        judge_wrapper(g, call, &wrappers[wrapper]);
    if (NAME_KNOWN(browser_pool, browsers, name))
        judge_browser(g, call);
    else
        judge_lolbas(g, call, name);
    /* Many programs start what their arguments say. For one that no table knows, an opener with its
       address is enough. */
    if (NAME_KNOWN(texts_pool, texts, name))
        return;
    if (handler == NAME_ROWS(handlers) && wrapper == NAME_ROWS(wrappers))
        judge_carried(g, call, 1);
    if (wrapper == NAME_ROWS(wrappers) && !reads_own_options(handler))
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
