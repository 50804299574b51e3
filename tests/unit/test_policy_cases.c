/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the .case files of tests/cases/policy. A case is three lines; `with` stays in force for the
 * next cases:
 *
 *   with --root C:\ws --git=commit        options as on the command line, and the test's own
 *   ask  write C:\ws\.GiT\config +exists  an access, a path and facts; rename and link: A -> B
 *   is   deny protected.git               verdict and rule, then optionally | and the remedy
 *
 * Facts: +seen +exists +dir +created +links=N +inside +target=P +link +strange +existing=P
 * Words with blanks stand in "quotes". The test's own options are read in read_option().
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/load.h"
#include "tap.h"

enum { MAX_WORDS = 64, MAX_LINE = 4096 };

struct words {
    struct str items[MAX_WORDS];
    size_t count;
};

struct world {
    struct arena arena;
    struct policy_settings settings;
    struct policy *policy;
    struct buf error; /* of compiling */
    int compiled;
};

static const char folder[] = "tests/cases/policy";
static int cases;

static void split(struct arena *arena, struct str line, struct words *out)
{
    out->count = 0;
    for (size_t i = 0; i < line.n && out->count < MAX_WORDS;) {
        while (i < line.n && line.p[i] == ' ')
            i++;
        if (i >= line.n)
            break;
        char *p = arena_alloc(arena, line.n + 1);
        size_t n = 0;
        bool quoted = false;
        for (; i < line.n && (quoted || line.p[i] != ' '); i++) {
            if (line.p[i] == '"')
                quoted = !quoted;
            else
                p[n++] = line.p[i];
        }
        out->items[out->count++] = (struct str){p, n};
    }
}

static bool add(struct world *w, struct policy_list *list, struct str text)
{
    struct policy_entry entry = {.given = text, .from = STR("test")};
    return policy_list_add(&w->arena, list, entry) == 0;
}

/* "--name=" or "--name" with the value in the next word. */
static bool read_option(struct world *w, struct str name, struct str value)
{
    struct policy_settings *s = &w->settings;
    struct {
        const char *name;
        struct policy_list *list;
    } lists[] = {
        {"--root", &s->roots},           {"--deny-write", &s->deny_write},
        {"--deny-read", &s->deny_read},  {"--allow-read", &s->allow_read},
        {"--unprotect", &s->unprotect},  {"--allow-tool", &s->allow_tools},
        {"--deny-tool", &s->deny_tools}, {"--self", &s->self},
        {"--git-dir", &s->git_dirs},     {"--git-obeys", &s->git_obeys},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (str_eq(name, str_of(lists[i].name)))
            return add(w, lists[i].list, value);
    struct {
        const char *name;
        struct str *text;
    } texts[] = {
        {"--cwd", &s->paths.cwd},
        {"--temp-path", &s->temp_path},
        {"--home", &s->machine.home},
        {"--windows", &s->machine.windows},
        {"--programs", &s->machine.program_files},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_eq(name, str_of(texts[i].name))) {
            *texts[i].text = value;
            return true;
        }
    if (str_eq(name, STR("--root-link"))) {
        bool added = add(w, &s->roots, value);
        s->roots.items[s->roots.count - 1].link = true;
        return added;
    }
    if (str_eq(name, STR("--mode")))
        return policy_read_mode(value, &s->mode) == 0;
    if (str_eq(name, STR("--temp")))
        return policy_read_temp(&w->arena, value, s) == 0;
    if (str_eq(name, STR("--user"))) {
        s->machine.user = (uint32_t)strtoul(value.p, NULL, 10);
        return true;
    }
    if (str_eq(name, STR("--git")))
        return policy_read_git(value, &s->git) == 0;
    if (str_eq(name, STR("--net")))
        return policy_read_net(&w->arena, value, STR("test"), s) == 0;
    if (str_eq(name, STR("--unix-drive"))) {
        s->paths.unix_drive = value.p[0];
        return true;
    }
    return false;
}

static void start_world(struct world *w)
{
    policy_free(w->policy);
    arena_reset(&w->arena);
    buf_reset(&w->error);
    static const struct path_map maps[] = {{{"\\Device\\HarddiskVolume3", 23}, {"C:", 2}},
                                           {{"\\\\?\\Volume{0-1}", 15}, {"C:", 2}}};
    w->policy = NULL;
    w->settings = (struct policy_settings){.mode = POLICY_WORKSPACE_WRITE};
    w->settings.paths.cwd = STR("C:\\ws");
    w->settings.paths.maps = maps;
    w->settings.paths.map_count = 2;
    w->settings.machine.home = STR("C:\\Users\\u");
    w->settings.machine.windows = STR("C:\\Windows");
    w->settings.machine.program_files = STR("C:\\Program Files");
}

static bool read_world(struct world *w, struct str line)
{
    struct words words;
    start_world(w);
    split(&w->arena, line, &words);
    for (size_t i = 0; i < words.count; i++) {
        struct str word = words.items[i];
        size_t equals = str_find_char(word, '=', 0);
        if (str_eq(word, STR("--posix"))) {
            w->settings.paths = (struct path_context){.dialect = PATH_POSIX, .cwd = STR("/ws")};
            w->settings.machine = (struct policy_machine){.home = STR("/home/u")};
        } else if (str_eq(word, STR("--allow-broad-root"))) {
            w->settings.allow_broad_root = true;
        } else if (str_eq(word, STR("--no-temp"))) {
            w->settings.no_temp = true;
        } else if (equals < word.n) {
            if (!read_option(w, str_slice(word, 0, equals), str_from(word, equals + 1)))
                return false;
        } else {
            if (++i >= words.count || !read_option(w, word, words.items[i]))
                return false;
        }
    }
    w->compiled = policy_compile(&w->settings, &w->policy, &w->error);
    return true;
}

static bool normalize(struct world *w, struct str given, struct path *path)
{
    char *room = arena_alloc(&w->arena, given.n + 1024);
    return path_normalize(&w->settings.paths, given, room, given.n + 1024, path) == 0;
}

static bool read_fact(struct world *w, struct str fact, struct policy_facts *facts)
{
    if (str_eq(fact, STR("+seen")))
        facts->seen = true;
    else if (str_eq(fact, STR("+exists")))
        facts->exists = true;
    else if (str_eq(fact, STR("+dir")))
        facts->directory = true;
    else if (str_eq(fact, STR("+created")))
        facts->created_by_run = true;
    else if (str_eq(fact, STR("+judged")))
        facts->index_judged = true;
    else if (str_eq(fact, STR("+inside")))
        facts->links_inside = true;
    else if (str_eq(fact, STR("+strange")))
        facts->reparse = POLICY_STRANGE;
    else if (str_eq(fact, STR("+link")))
        facts->reparse = POLICY_LINK;
    else if (str_starts(fact, STR("+links=")))
        facts->links = (uint32_t)(fact.p[7] - '0');
    else if (str_starts(fact, STR("+existing=")))
        facts->existing = str_from(fact, 10);
    else if (str_starts(fact, STR("+target=")))
        return normalize(w, str_from(fact, 8), &facts->target);
    else
        return false;
    return true;
}

static const struct {
    const char *word;
    enum policy_access access, second;
} accesses[] = {
    {"read", POLICY_READ, 0},
    {"write", POLICY_WRITE, 0},
    {"create", POLICY_CREATE, 0},
    {"delete", POLICY_DELETE, 0},
    {"rename", POLICY_RENAME_FROM, POLICY_RENAME_TO},
    {"link", POLICY_LINK_FROM, POLICY_LINK_TO},
    {"attributes", POLICY_ATTRIBUTES, 0},
    {"security", POLICY_SECURITY, 0},
    {"reparse", POLICY_REPARSE, 0},
    {"rename-from", POLICY_RENAME_FROM, 0},
    {"rename-to", POLICY_RENAME_TO, 0},
    {"link-to", POLICY_LINK_TO, 0},
};

/* Answers into answer and fix; false if the question is not understood. */
static bool ask_file(struct world *w, const struct words *words, struct policy_answer *answer,
                     struct buf *fix)
{
    struct policy_request requests[2] = {{.access = 0}, {.access = 0}};
    size_t side = 0;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        if (str_eq(words->items[0], str_of(accesses[i].word))) {
            requests[0].access = accesses[i].access;
            requests[1].access = accesses[i].second;
        }
    if (!requests[0].access || words->count < 2 ||
        !normalize(w, words->items[1], &requests[0].path))
        return false;
    for (size_t i = 2; i < words->count; i++) {
        if (str_eq(words->items[i], STR("->")) && i + 1 < words->count) {
            side = 1;
            if (!normalize(w, words->items[++i], &requests[1].path))
                return false;
        } else if (!read_fact(w, words->items[i], &requests[side].facts)) {
            return false;
        }
    }
    auto_buf struct buf why = {0};
    if (side)
        policy_decide_pair(w->policy, &requests[0], &requests[1], answer);
    else
        policy_decide(w->policy, &requests[0], answer);
    policy_explain(w->policy, &requests[answer->target], answer, &why, fix);
    return why.n > 0 && (answer->verdict == CORDON_ALLOW) == (fix->n == 0) &&
           answer->other_device == (answer->rule == RULE_LINK_PLACE);
}

static bool ask(struct world *w, const struct words *words, struct policy_answer *answer,
                struct buf *fix)
{
    auto_buf struct buf why = {0};
    if (str_eq(words->items[0], STR("connect"))) {
        struct policy_peer peer = {0};
        policy_parse_peer(words->items[1], &peer);
        peer.in_run = words->count > 2 && str_eq(words->items[2], STR("+run"));
        policy_net_decide(w->policy, &peer, answer);
        policy_net_explain(w->policy, &peer, answer, &why, fix);
        return why.n > 0;
    }
    if (str_eq(words->items[0], STR("run"))) {
        struct policy_program program = {.name = words->items[1]};
        if (str_has_char(program.name, '\\') && !normalize(w, program.name, &program.path))
            return false;
        for (size_t i = 2; i < words->count; i++)
            if (str_starts(words->items[i], STR("+original=")))
                program.original = str_from(words->items[i], 10);
        policy_tool_decide(w->policy, &program, answer);
        policy_tool_explain(w->policy, &program, answer, &why, fix);
        return why.n > 0;
    }
    return ask_file(w, words, answer, fix);
}

static void judge(struct world *w, const char *file, unsigned line, struct str question,
                  struct str expected)
{
    auto_buf struct buf got = {0}, fix = {0};
    struct words words;
    struct policy_answer answer = {0};
    size_t bar = str_find(expected, STR(" | "), 0);
    bool understood = true;
    cases++;
    split(&w->arena, question, &words);
    if (words.count && str_eq(words.items[0], STR("compile"))) {
        buf_fmt(&got, "%s", w->compiled ? "error" : "fine");
        buf_add(&fix, buf_str(&w->error));
    } else if (w->compiled) {
        buf_fmt(&got, "does not compile: %s", buf_cstr(&w->error));
    } else {
        understood = words.count > 1 && ask(w, &words, &answer, &fix);
        buf_fmt(&got, "%s %s", answer.verdict == CORDON_ALLOW ? "allow" : "deny",
                policy_rule_id(answer.rule));
    }
    struct str remedy = bar < expected.n ? str_from(expected, bar + 3) : STR_NONE;
    bool right = understood && str_eq(buf_str(&got), str_slice(expected, 0, bar)) &&
                 (remedy.n == 0 || str_find(buf_str(&fix), remedy, 0) < fix.n);
    if (!ok(right, "%s:%u %.*s", file, line, STR_ARG(question)))
        note("%s: %s | %s; expected %.*s", understood ? "got" : "not understood", buf_cstr(&got),
             buf_cstr(&fix), STR_ARG(expected));
}

static void run_file(const char *name)
{
    char path[512], line[MAX_LINE], question[MAX_LINE] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!ok(file != NULL, "%s opens", name))
        return;
    struct world world = {.policy = NULL};
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        struct str text = str_trim(str_of(line));
        struct str rest = str_trim(str_from(text, 4));
        if (text.n == 0 || text.p[0] == '#')
            continue;
        if (str_starts(text, STR("with"))) {
            if (!read_world(&world, rest))
                ok(false, "%s:%u understood", name, number);
        } else if (str_starts(text, STR("ask"))) {
            snprintf(question, sizeof question, "%.*s", STR_ARG(rest));
        } else if (str_starts(text, STR("is"))) {
            judge(&world, name, number, str_of(question), str_trim(str_from(text, 2)));
        } else {
            ok(false, "%s:%u understood", name, number);
        }
    }
    fclose(file);
    policy_free(world.policy);
    arena_free(&world.arena);
    buf_free(&world.error);
}

int main(void)
{
    DIR *directory = opendir(folder);
    if (!ok(directory != NULL, "%s opens", folder))
        return tap_done();
    for (struct dirent *entry; (entry = readdir(directory));)
        if (str_ends(str_of(entry->d_name), STR(".case")))
            run_file(entry->d_name);
    closedir(directory);
    ok(cases >= 400, "at least 400 cases (%d)", cases);
    return tap_done();
}
