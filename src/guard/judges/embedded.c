/* SPDX-License-Identifier: Apache-2.0 */
/* Code inside an argument, in a language that no reader knows: judged by its words and strings. */
#include "guard/names.h"
#include "guard/searched.h"
#include "guard/state.h"

/*
 * Words that mean something in code of any language: it starts a program; it runs text, or loads
 * what is named, where the text or name may be computed, and words that compute one; it deletes, by
 * a function that may have another name here; it deletes what its first argument names (with this
 * case); it writes.
 */
#define STARTING_WORDS                                                                           \
    "exec|spawn|system|popen|subprocess|child_process|passthru|do shell script|deno.command|"    \
    "open3|qx|%x|getline|process.start|run-program|command::new|os:cmd|sys.process|sys.command|" \
    "/shell|:shell|shell(|program '|sh \"|run_process|bun.$|winexec|process.run|%pipe%|"         \
    "call-process|start-process|make-process|shell-command"
#define COMPUTING_CALLS                                                                  \
    "eval(|execute(|executeglobal(|createobject(|activexobject(|getobject(|__import__(|" \
    "import_module(|require(|exec(|system(|popen(|execsync(|system $|exec $|eval $|"     \
    "system |exec |eval "
#define DECODING_WORDS "pack|unpack|decode_base64|join|reverse|chr|sprintf|lc|uc|map"
#define DELETING_WORDS                                                                           \
    "rmsync|rmdir|unlink|rmtree|rm_rf|remove_tree|.rm(|removesync|deno.remove|rimraf|removeall|" \
    "remove_dir_all|remove_all|directory.delete|deletedirectory|delete_tree|os.walk|"            \
    "file.delete|.rm_r|delete-directory|call delete("
#define DELETING_CALLS                                                                        \
    "rmtree(|os.remove(|os.unlink(|rmSync(|rmdirSync(|unlinkSync(|rm_rf(|rm_r(|unlink glob |" \
    "rm_rf |unlink |rmtree |unlink("
/* A home folder, an argument or another current folder: what is deleted is not known. */
#define PLACE_WORDS                                                                          \
    "path.home(|homedir(|env.home|environ[\"home|environ['home|env[\"home|env['home|{home}|" \
    "dir.home|chdir|sys.argv|process.argv"
#define WRITING_WORDS "write|append"
#define DRAWING_WORDS "plotly|altair|bokeh|folium|graphviz|from pil |import pil|pil import"

bool guard_is_opener(struct str word)
{
    struct str name = name_program(word);
    if (name.n < 2 || name.n > 32)
        return false;
    return guard_is_browser(name) ||
           name_is_one_of(name, STR("cmd|start|powershell|pwsh|explorer|xdg-open|open|rundll32|sh|"
                                    "bash|wslview|mshta|sensible-browser|x-www-browser|gio|"
                                    "schtasks|systemd-run|rm|env|sudo|nohup|setsid"));
}

/* The characters that end a word in a language without a reader. */
static bool ends_word(char c)
{
    switch (c) {
    case ' ':
    case '\t':
    case '\n':
    case '\'':
    case '"':
    case '`':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ';':
    case '|':
    case '&':
    case '!':
    case '=':
    case '<':
    case '>': return true;
    default: return false;
    }
}

/* qx{…}, qw(…) of Perl and %x{…}, %w[…] of Ruby: how many characters stand in front of the text and
   its bracket; 0 if no such quote begins at i. */
static size_t named_quote(struct str code, size_t i)
{
    static const struct str names[] = {STR("qx"), STR("qw"), STR("qq"), STR("%x"),
                                       STR("%w"), STR("%W"), STR("%q"), STR("%Q")};
    bool inside = i && (ascii_is_alnum(code.p[i - 1]) || code.p[i - 1] == '_');
    for (size_t k = 0; k < NAME_ROWS(names); k++)
        if (str_starts(str_from(code, i), names[k]) && !(inside && code.p[i] == 'q') &&
            i + 2 < code.n && str_has_char(STR("{([</|!"), code.p[i + 2]))
            return names[k].n;
    return 0;
}

/* The end of the quoted text that starts at i; i itself if none starts there. */
static size_t quoted_end(struct str code, size_t *i)
{
    char quote = code.p[*i];
    size_t name = quote == 'q' || quote == '%' ? named_quote(code, *i) : 0;
    if (name) {
        *i += name;
        quote = code.p[*i];
        quote = quote == '{'   ? '}'
                : quote == '(' ? ')'
                : quote == '[' ? ']'
                : quote == '<' ? '>'
                               : quote;
    } else if (quote != '\'' && quote != '"' && quote != '`') {
        return *i;
    }
    size_t end = *i + 1;
    while (end < code.n && code.p[end] != quote)
        end += code.p[end] == '\\' ? 2 : 1;
    return end < code.n ? end : code.n;
}

/* The strings of a call that starts programs begin with one that is worth a look. */
static bool begins_command(struct str word)
{
    return guard_is_opener(word) ||
           name_is_one_of(name_program(word),
                          STR("at|claude|codex|copilot|cordon|crontab|emacsclient|gemini|"
                              "launchctl|opencode|qwen|scp|sftp|ssh|systemctl|tmux"));
}

/* The strings of a one-line program from the first that begins with such a word, joined by blanks:
   spawn('cmd', ['/c', 'start', url]). */
static struct str joined_strings(struct guard *g, struct str code)
{
    char *out = arena_alloc(guard_arena(g), code.n + 1);
    size_t n = 0;
    bool found = false;
    if (!out)
        return STR_NONE;
    for (size_t i = 0; i < code.n; i++) {
        size_t end = quoted_end(code, &i);
        if (end == i)
            continue;
        size_t from = n;
        if (n)
            out[n++] = ' ';
        for (size_t j = i + 1; j < end; j++)
            if (code.p[j] != '\\' || (j + 1 < end && code.p[j + 1] == '\\'))
                out[n++] = code.p[j];
        struct str own = str_trim((struct str){out + from, n - from});
        if (!found && begins_command(str_slice(own, 0, str_find_char(own, ' ', 0)))) {
            found = true;
            memmove(out, own.p, own.n);
            n = own.n;
        } else if (!found) {
            n = 0;
        }
        i = end;
    }
    return found ? (struct str){out, n} : STR_NONE;
}

/* print x | "command" and |& "command" of awk: the bar at i. */
static bool feeds_command(struct str text, size_t i)
{
    i += 1 + (i + 1 < text.n && text.p[i + 1] == '&');
    i += i < text.n && text.p[i] == ' ';
    return i < text.n && text.p[i] == '"';
}

static bool starts_programs(struct str who, const struct searched *code)
{
    if (searched_has(code, STR(STARTING_WORDS)))
        return true;
    struct str text = code->text;
    for (size_t i = str_find_char(text, '|', 0); i < text.n; i = str_find_char(text, '|', i + 1))
        if (feeds_command(text, i))
            return true;
    return str_has_char(code->text, '`') &&
           (name_is_one_of(who, STR("perl|ruby|php|crystal")) ||
            name_is_one_of(name_extension(who), STR("pl|rb|php|cr")));
}

/* The word names an opener, and is no everyday word. */
static bool is_rare_opener(struct guard *g, struct str word)
{
    return guard_is_launcher(g, word) ||
           (guard_is_opener(word) &&
            !name_is_one_of(
                name_program(word),
                STR("open|start|env|rm|sh|bash|sudo|cmd|gio|nohup|setsid|powershell|pwsh")));
}

void guard_commands(struct guard *g, struct word text)
{
    struct str code = text.text;
    for (size_t i = 0, end; i < code.n && !guard_stopped(g); i = end + 1) {
        for (end = i; end < code.n && !ends_word(code.p[end]) && !ascii_is_in(code.p[end], ":%");
             end++)
            ;
        if (end == i || !guard_is_launcher(g, str_slice(code, i, end)))
            continue;
        size_t stop = end;
        while (stop < code.n && code.p[end] == ' ' && !str_has_char(STR("'\"`)\n"), code.p[stop]))
            stop++;
        struct word command = text;
        command.text = str_slice(code, i, stop);
        guard_callback(g, command);
        return;
    }
}

void guard_carried(struct guard *g, struct word text)
{
    enum { LONGEST_SCHEME = 64 };
    struct str code = text.text;
    if (str_find(code, STR("://"), 0) == code.n)
        return;
    for (size_t i = 0, end; i < code.n && !guard_stopped(g); i = end + 1) {
        for (end = i; end < code.n && !ends_word(code.p[end]); end++)
            ;
        struct str rest = str_slice(code, end + 1, end + 1 + LONGEST_SCHEME);
        if (end == i || end >= code.n || !ascii_is_in(code.p[end], " ,") || !guard_is_url(rest) ||
            !is_rare_opener(g, str_slice(code, i, end)))
            continue;
        struct word command = text;
        size_t stop = end + 1;
        while (stop < code.n && !str_has_char(STR(" '\"`)\n;"), code.p[stop]))
            stop++;
        command.text = str_slice(code, i, stop);
        guard_nested(g, GUARD_BASH, command);
        return;
    }
}

bool guard_is_opening(struct guard *g, struct str word, struct str next)
{
    return guard_is_url(next) && is_rare_opener(g, word);
}

/* !command, \\! command, .shell command, .sy command, %(command), :! where a line or a string
   begins. */
static bool has_shell_escape(struct str code)
{
    static const struct str escapes[] = {STR("!"),    STR("\\!"), STR(".shell "), STR(".system "),
                                         STR(".sy "), STR("%("),  STR("\\copy "), STR("esyscmd")};
    for (size_t i = 0; i < code.n; i = str_find_char(code, '\n', i) + 1)
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (str_starts(str_from(code, i), escapes[k]))
                return true;
    /* +!command, :!command, silent !command of editors and pagers; edit(text, command) of
       sqlite3 */
    for (size_t i = str_find_char(code, '!', 1); i < code.n; i = str_find_char(code, '!', i + 1))
        if (ascii_is_in(code.p[i - 1], "+: |"))
            return true;
    return str_findi(code, STR("edit("), 0) < code.n;
}

/* True after a single quoted text that is the whole argument. */
static bool is_literal(struct str code, size_t at)
{
    while (at < code.n && (code.p[at] == ' ' || code.p[at] == '\\'))
        at++;
    char quote = at < code.n ? code.p[at] : 0;
    if (quote != '"' && quote != '\'' && quote != '`')
        return false;
    size_t end = str_find_char(code, quote, at + 1) + 1;
    while (end < code.n && code.p[end] == ' ')
        end++;
    return end >= code.n || code.p[end] == ')' || code.p[end] == ',';
}

/* system pack(…), eval join '', …: what follows a call without brackets computes its argument. */
static bool is_decoded(struct str code, size_t at)
{
    size_t end = at;
    if (at < code.n && code.p[at] == '[')
        return true;
    while (end < code.n && (ascii_is_alnum(code.p[end]) || code.p[end] == '_'))
        end++;
    return end > at && end < code.n &&
           name_is_one_of(str_slice(code, at, end), STR(DECODING_WORDS));
}

/* Code, a class or a module whose name is computed: eval(…), CreateObject("a" & "b"). */
static bool computes_code(const struct searched *searched)
{
    struct str code = searched->text;
    struct str calls = STR(COMPUTING_CALLS);
    for (size_t bar; calls.n; calls = str_from(calls, bar + 1)) {
        bar = str_find_char(calls, '|', 0);
        struct str call = str_slice(calls, 0, bar);
        for (size_t at = searched_find(searched, call, 0); at < code.n;
             at = searched_find(searched, call, at + 1)) {
            char before = at ? code.p[at - 1] : ' ';
            /* expression.exec(text) is a pattern's */
            bool part = ascii_is_alnum(before) || before == '_' ||
                        (before == '.' && str_eq(call, STR("exec(")));
            bool bare = call.p[call.n - 1] == ' ';
            if (!part && (bare ? is_decoded(code, at + call.n) : !is_literal(code, at + call.n)))
                return true;
        }
    }
    return false;
}

/* Code that deletes, by a function that may have another name here. */
static bool names_deletion(const struct searched *code)
{
    return searched_has(code, STR(DELETING_WORDS));
}

/* Every text in quotes that is a path from the root, from a home or upwards. */
static void judge_named_paths(struct guard *g, struct str who, struct word code)
{
    for (size_t i = 0; i < code.text.n && !guard_stopped(g); i++) {
        size_t end = quoted_end(code.text, &i);
        if (end == i)
            continue;
        struct word target = code;
        target.text = str_slice(code.text, i + 1, end);
        bool drive =
            target.text.n > 2 && target.text.p[1] == ':' && ascii_is_alpha(target.text.p[0]);
        if ((target.text.n && ascii_is_in(target.text.p[0], "/~")) || drive ||
            str_starts(target.text, STR("..")))
            guard_delete(g, who, target, GUARD_RECURSE);
        i = end;
    }
}

/* shutil.rmtree("…"), fs.rmSync('…'), open(".git/hooks/x", "w"): files named in strings. */
static void judge_code_files(struct guard *g, struct str who, struct word code,
                             const struct searched *searched)
{
    struct str text = code.text;
    bool deletes = names_deletion(searched);
    if (deletes && searched_has(searched, STR(PLACE_WORDS))) {
        struct word place = code;
        place.text = STR("\xFF");
        guard_delete(g, who, place, GUARD_RECURSE);
        return;
    }
    struct str calls = STR(DELETING_CALLS);
    for (size_t bar; calls.n; calls = str_from(calls, bar + 1)) {
        bar = str_find_char(calls, '|', 0);
        struct str call = str_slice(calls, 0, bar);
        size_t at = searched_may_have(searched, call) ? str_find(text, call, 0) : text.n;
        size_t i = at + call.n, end = i < text.n ? quoted_end(text, &i) : i;
        if (at == text.n || end == i)
            continue;
        struct word target = code;
        target.text = str_slice(text, i + 1, end);
        guard_delete(g, who, target, GUARD_RECURSE);
        deletes = false;
    }
    if (deletes)
        judge_named_paths(g, who, code);
    if (!searched_has(searched, STR(WRITING_WORDS)))
        return;
    for (size_t i = 0; i < text.n; i++) {
        size_t end = quoted_end(text, &i);
        if (end == i)
            continue;
        struct word target = code;
        target.text = str_slice(text, i + 1, end);
        if (str_has_char(target.text, '/') && !str_has_char(target.text, '\n'))
            guard_write(g, who, target, false);
        i = end;
    }
}

/* Python's module for the registry, where it changes something. */
#define REGISTRY_WORDS "winreg.setvalue|winreg.createkey|winreg.deletekey|winreg.loadkey"

enum code_reason { PAGE, SHELL, DESKTOP, STARTS, SERVES, WINDOW };

static const struct code_pool {
#define CODE(word, why) char ROW(n)[sizeof word];
#include "guard/tables/code.def"
#undef CODE
} code_pool = {
#define CODE(word, why) word,
#include "guard/tables/code.def"
#undef CODE
};

static const struct code_row {
    uint16_t word;
    uint8_t why;
} code_rows[] = {
#define CODE(word, why) {PLACE(code_pool, ROW(n)), why},
#include "guard/tables/code.def"
#undef CODE
};

/* Four characters, roughly without case, as one of CODE_INDEX_BITS numbers. */
static unsigned four_of(const char *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return ((four | 0x20202020u) * 2654435769u) >> 16;
}

static void index_word(struct code_index *index, struct str word)
{
    if (word.n >= 4)
        index->starts[four_of(word.p) / 64] |= (uint64_t)1 << four_of(word.p) % 64;
}

static void index_words(struct code_index *index, struct str words)
{
    for (size_t bar; words.n; words = str_from(words, bar + 1)) {
        bar = str_find_char(words, '|', 0);
        index_word(index, str_slice(words, 0, bar));
    }
}

static void fill_index(struct code_index *index)
{
    index_words(index, STR(STARTING_WORDS));
    index_words(index, STR(COMPUTING_CALLS));
    index_words(index, STR(DELETING_WORDS));
    index_words(index, STR(DELETING_CALLS));
    index_words(index, STR(WRITING_WORDS));
    index_words(index, STR(PLACE_WORDS));
    index_words(index, STR(DRAWING_WORDS));
    index_words(index, STR(REGISTRY_WORDS));
    for (size_t i = 0; i < NAME_ROWS(code_rows); i++)
        index_word(index, name_at(&code_pool, code_rows[i].word));
    index->filled = true;
}

/* False: none of the words that judge_code looks for stands in the text. The words of fewer than
   four characters are qx and %x; a pipe into a text and a backtick count as such. */
static bool may_be_code(struct guard *g, struct str text)
{
    if (str_eq(text, STR("\xFF")))
        return true;
    struct code_index *index = &g->code_index;
    if (!index->filled)
        fill_index(index);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '`' || (c == '|' && feeds_command(text, i)) ||
            (i && ascii_lower(c) == 'x' && ascii_is_in(ascii_lower(text.p[i - 1]), "q%")))
            return true;
        if (i + 4 <= text.n &&
            index->starts[four_of(text.p + i) / 64] >> four_of(text.p + i) % 64 & 1)
            return true;
    }
    return false;
}

/* The first row whose word stands in the text, NULL if none does. */
static const struct code_row *find_code(const struct searched *searched)
{
    /* by first character: the rows from there on that may stand in the text */
    uint8_t first[256] = {0}, after[256] = {0};
    bool any = false;
    for (size_t i = 0; i < NAME_ROWS(code_rows); i++) {
        struct str word = name_at(&code_pool, code_rows[i].word);
        if (!searched_may_have(searched, word))
            continue;
        unsigned char c = (unsigned char)word.p[0];
        first[c] = after[c] ? first[c] : (uint8_t)i;
        after[c] = (uint8_t)(i + 1);
        any = true;
    }
    struct str text = searched->text;
    for (size_t i = 0; any && i < text.n; i++) {
        unsigned char c = (unsigned char)ascii_lower(text.p[i]);
        for (size_t k = first[c]; k < after[c]; k++)
            if (str_startsi(str_from(text, i), name_at(&code_pool, code_rows[k].word)))
                return &code_rows[k];
    }
    return NULL;
}

/* 'rm' + 'tree' is 'rmtree': the text with joined strings written as one. */
static struct str without_joints(struct guard *g, struct str text)
{
    if (str_find_char(text, '+', 0) == text.n || !guard_spend(g, text.n))
        return text;
    char *out = arena_alloc(guard_arena(g), text.n + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < text.n; i++) {
        size_t j = i + 1;
        while (j < text.n && text.p[j] == ' ')
            j++;
        bool joint = (text.p[i] == '\'' || text.p[i] == '"') && j < text.n && text.p[j] == '+';
        for (j++; joint && j < text.n && text.p[j] == ' ';)
            j++;
        if (joint && j < text.n && text.p[j] == text.p[i])
            i = j;
        else
            out[n++] = text.p[i];
    }
    return out ? (struct str){out, n} : text;
}

static const char *const code_reasons[] = {
    [PAGE] = "opens the page in a browser",
    [SHELL] = "hands this to the shell",
    [DESKTOP] = "asks the desktop to open something",
    [STARTS] = "starts programs through a service or an object",
    [SERVES] = "hands a shell to whoever connects",
    [WINDOW] = "shows a browser's window",
};

/* Libraries that show what they draw in a browser or with the desktop's viewer. */
static bool shows_drawing(const struct searched *code)
{
    return searched_has(code, STR(DRAWING_WORDS)) &&
           searched_has(code, STR(".show(|show(figure|.view(|view=true|.plot("));
}

static void judge_code(struct guard *g, struct str who, struct word code,
                       const struct searched *searched)
{
    const struct code_row *row = find_code(searched);
    if (!row && shows_drawing(searched)) {
        guard_find(g, GUARD_LAUNCH_URL, code, who, code_reasons[PAGE], NULL);
        return;
    }
    if (row) {
        guard_find(g, GUARD_LAUNCH_URL, code, who, code_reasons[row->why], NULL);
        return;
    }
    if (computes_code(searched) || searched_has(searched, STR("(eval)")) ||
        str_eq(code.text, STR("\xFF")))
        guard_opaque_text(g, code, who);
    judge_code_files(g, who, code, searched);
    if (searched_has(searched, STR(REGISTRY_WORDS)))
        guard_find(g, GUARD_PLANT_STARTUP, code, who, "changes the registry", NULL);
    if (!starts_programs(who, searched))
        return;
    struct str command = joined_strings(g, code.text);
    if (command.n) {
        struct str folder = guard_folder(g);
        if (searched_has(searched, STR("chdir")))
            guard_set_folder(g, STR("\xFF"));
        code.text = command;
        guard_nested(g, GUARD_CMD, code);
        guard_set_folder(g, folder);
    } else if (searched_find(searched, STR("base64"), 0) < code.text.n) {
        guard_opaque_text(g, code, who);
    }
}

void guard_code(struct guard *g, struct str who, struct word code)
{
    struct searched searched;
    code.text = without_joints(g, code.text);
    if (!may_be_code(g, code.text))
        return;
    searched_set(&searched, code.text);
    judge_code(g, who, code, &searched);
}

bool guard_source_opens(struct guard *g, struct word code)
{
    struct searched searched;
    if (!may_be_code(g, code.text))
        return false;
    searched_set(&searched, code.text);
    return find_code(&searched) ||
           (starts_programs(STR(""), &searched) && joined_strings(g, code.text).n);
}

/* !rm, x=rm, \! rm, .shell rm of sqlite3, shell rm of gdb, the recipe after x:; or a tab. */
static bool begins_line(struct str code, size_t i)
{
    static const struct str verbs[] = {STR("shell "), STR(".system "), STR("! ")};
    struct str before = str_slice(code, 0, i);
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        if (str_endsi(before, verbs[k]))
            return true;
    return i && ascii_is_in(code.p[i - 1], "!=;\t");
}

void guard_embedded(struct guard *g, struct str who, struct word text)
{
    struct str code = text.text;
    if (str_eq(code, STR("\xFF")))
        return;
    for (size_t i = 0, end; i < code.n && !guard_stopped(g); i = end + 1) {
        for (end = i; end < code.n && !ends_word(code.p[end]) && code.p[end] != ':'; end++)
            ;
        /* alone it may be anything: a file, a word of a sentence */
        bool alone = end == code.n || (code.p[end] != ' ' && code.p[end] != ',');
        if (alone || end == i || !guard_is_opener(str_slice(code, i, end)))
            continue;
        struct word command = text;
        command.text = str_from(code, i);
        size_t stop = 0;
        while (stop < command.text.n && !str_has_char(STR("'\"`)\n"), command.text.p[stop]))
            stop++;
        command.text = str_slice(command.text, 0, stop);
        /* these are ordinary words, too: only with an address, or where a command begins */
        if (name_is_one_of(name_program(str_slice(code, i, end)),
                           STR("open|start|env|rm|sh|bash|sudo|cmd|gio")) &&
            str_find(command.text, STR("://"), 0) == command.text.n && !begins_line(code, i))
            continue;
        guard_nested(g, GUARD_BASH, command);
        return;
    }
    struct searched searched;
    struct word joined = text;
    joined.text = without_joints(g, code);
    bool starts = false;
    if (may_be_code(g, joined.text)) {
        searched_set(&searched, joined.text);
        judge_code(g, who, joined, &searched);
        starts = starts_programs(who, &searched);
    }
    if (starts || has_shell_escape(code))
        guard_commands(g, text);
}
