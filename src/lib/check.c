/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_check: the guard's answer as cordon.h and contracts for JSON know it. */
#include "lib/check.h"
#include "launch/disk.h"
#include "launch/machine.h"
#include "lib/api.h"

/* A script named relative to the cwd. That it lies inside the roots was checked before. */
int check_read_script(void *context, struct str path, struct buf *out)
{
    struct settings *s = context;
    struct path normal = {0};
    if (s->foreign || settings_path(s, path, &normal) || normal.class != PATH_FILE)
        return CORDON_E_OPEN;
    return disk_read(normal.text, GUARD_MAX_INPUT, out);
}

static void write_words(struct json_writer *w, const struct guard_read *r)
{
    json_key(w, STR("args"));
    json_open(w, '[');
    for (size_t i = 0; i < r->count; i++)
        if (str_has_char(r->args[i].text, GUARD_HOLE))
            json_null(w);
        else
            json_string(w, r->args[i].text);
    json_close(w, ']');
}

static void write_reads(struct json_writer *w, const struct guard_answer *a)
{
    static const char *const shells[] = {"argv", "cmd", "powershell", "bash"};
    json_key(w, STR("read"));
    json_open(w, '[');
    for (size_t i = 0; i < a->read_count; i++) {
        const struct guard_read *r = &a->reads[i];
        json_open(w, '{');
        json_put(w, STR("shell"), str_of(shells[r->shell]));
        json_key(w, STR("name"));
        if (str_has_char(r->name.text, GUARD_HOLE))
            json_null(w);
        else
            json_string(w, r->name.text);
        write_words(w, r);
        json_put_number(w, STR("depth"), r->depth);
        json_put_number(w, STR("start"), (long long)r->start);
        json_put_number(w, STR("end"), (long long)r->end);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void write_findings(struct json_writer *w, const struct guard_answer *a)
{
    json_key(w, STR("findings"));
    json_open(w, '[');
    for (size_t i = 0; i < a->finding_count; i++) {
        const struct guard_finding *f = &a->findings[i];
        json_open(w, '{');
        json_put(w, STR("rule"), f->id);
        json_put(w, STR("verdict"), str_of(verdict_name(f->verdict)));
        json_put_number(w, STR("start"), (long long)f->start);
        json_put_number(w, STR("end"), (long long)f->end);
        json_put(w, STR("text"), str_slice(a->text, f->start, f->end));
        json_put(w, STR("resolved"), f->resolved);
        json_put(w, STR("why"), f->why);
        json_put(w, STR("fix"), f->fix);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void check_write(struct json_writer *w, const struct guard_answer *a, bool is_argv, bool show)
{
    json_put(w, STR("verdict"), str_of(verdict_name(a->verdict)));
    if (is_argv)
        json_put(w, STR("cmdline"), a->text);
    write_findings(w, a);
    if (a->unread_count) {
        json_key(w, STR("unread"));
        json_open(w, '[');
        for (size_t i = 0; i < a->unread_count; i++)
            json_string(w, a->unread[i]);
        json_close(w, ']');
    }
    if (show)
        write_reads(w, a);
}

/* Programs are refused wherever the command stands, be it a folder that is no root for a run. */
static int find_tools(struct cordon_policy *p, const struct policy **out)
{
    int rc = 0;
    if (!p->policy && !p->tools) {
        struct cordon_policy *own = NULL;
        rc = cordon_policy_new(&own);
        if (rc == 0)
            rc = settings_copy(&p->settings, &own->settings, NULL, 0);
        if (rc == 0 && !api_has(own, "allow-broad-root"))
            rc = cordon_policy_set(own, "allow-broad-root", NULL);
        if (rc == 0)
            rc = api_prepare(own, STR_NONE);
        if (rc == 0) {
            p->tools = own;
        } else {
            api_fail(p, rc, own ? own->error : cordon_strerror(rc));
            cordon_policy_free(own);
        }
    }
    if (rc == 0)
        *out = p->policy ? p->policy : p->tools->policy;
    return rc;
}

/* The folder as the guard spells the paths that it compares with it. */
static int spell_folder(const struct policy *policy, struct arena *arena, struct str *folder)
{
    const struct path_context *context = &policy_settings_of(policy)->paths;
    size_t room = folder->n + context->cwd.n + 16;
    char *out = arena_alloc(arena, room);
    struct path path;
    if (!out)
        return CORDON_E_NOMEM;
    if (path_normalize(context, *folder, out, room, &path) == 0)
        *folder = path.text;
    return 0;
}

static int find_obeyed(struct cordon_policy *p, const struct policy *policy)
{
    static const struct {
        struct str variable;
        const char *below;
    } all[] = {{STR("CLAUDE_CONFIG_DIR"), ""},
               {STR("CODEX_HOME"), ""},
               {STR("XDG_CONFIG_HOME"), "/opencode"}};
    struct arena *arena = &p->settings.arena;
    struct api_obeyed found = {.known = true, .program = STR("")};
    auto_buf struct buf text = {0};
    if (p->obeyed.known)
        return 0;
    if (machine_own_path(&text))
        found.program = arena_copy(arena, buf_str(&text));
    for (size_t i = 0; i < sizeof all / sizeof *all && found.program.p; i++) {
        struct str value;
        buf_reset(&text);
        if (!disk_variable(arena, all[i].variable, &value) || value.n == 0)
            continue;
        buf_fmt(&text, "%.*s%s", STR_ARG(value), all[i].below);
        struct str folder = arena_copy(arena, buf_str(&text));
        if (text.failed || !folder.p || spell_folder(policy, arena, &folder))
            return CORDON_E_NOMEM;
        found.settings[found.setting_count++] = folder;
    }
    if (text.failed || !found.program.p)
        return CORDON_E_NOMEM;
    p->obeyed = found;
    return 0;
}

int check_ask_alone(struct cordon_policy *p, struct guard_question *q, struct guard_answer *answer)
{
    int rc = p->has_roots ? api_prepare(p, STR_NONE) : api_guard(p);
    if (rc == 0)
        rc = find_tools(p, &q->tools);
    rc = rc ? rc : find_obeyed(p, q->tools);
    if (rc)
        return rc;
    if (p->has_roots) {
        q->policy = p->policy;
        q->cwd = p->settings.cwd;
        q->defaults = p->policy;
    }
    q->settings = p->obeyed.settings;
    q->setting_count = p->obeyed.setting_count;
    q->program = p->obeyed.program;
    q->read_file = check_read_script;
    q->context = &p->settings;
    rc = guard_check(p->guard, q, answer);
    return rc ? api_fail(p, rc, cordon_strerror(rc)) : 0;
}

int check_ask(struct cordon_policy *p, struct guard_question *q, struct guard_answer *answer)
{
    /* Without roots nothing is known to be the command's own to delete; the programs that a run in
       this folder would refuse, and the scripts it would read, are the same. */
    if (!p->has_roots && api_prepare(p, STR_NONE) == 0) {
        q->defaults = p->policy;
        q->cwd = p->settings.cwd;
    }
    return check_ask_alone(p, q, answer);
}

/* As for run, the current directory is a root if none was set; NULL where it cannot be one. Kept,
   for streams of questions. */
static struct cordon_policy *with_current_root(struct cordon_policy *p)
{
    struct cordon_policy *own = NULL;
    if (p->has_roots || p->here || p->no_here || cordon_policy_new(&own))
        return p->here;
    if (settings_copy(&p->settings, &own->settings, NULL, 0) == 0 &&
        cordon_policy_set(own, "root", ".") == 0 && api_prepare(own, STR_NONE) == 0) {
        p->here = own;
        return own;
    }
    cordon_policy_free(own);
    p->no_here = true;
    return NULL;
}

static int check(struct cordon_policy *p, struct guard_question *q, unsigned flags,
                 struct cordon_answer **out)
{
    struct guard_answer found;
    struct cordon_policy *here = flags & CORDON_HERE ? with_current_root(p) : NULL;
    struct cordon_policy *asked = here ? here : p;
    q->show = flags & CORDON_SHOW;
    int rc =
        flags & CORDON_ANYWHERE ? check_ask_alone(asked, q, &found) : check_ask(asked, q, &found);
    if (rc)
        return here ? api_fail(p, rc, here->error) : rc;
    struct cordon_answer *a = answer_new(found.finding_count);
    if (!a)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    a->verdict = found.verdict;
    for (int verdict = CORDON_DENY; verdict <= CORDON_ALLOW; verdict++)
        for (size_t i = 0; i < found.finding_count; i++) {
            const struct guard_finding *f = &found.findings[i];
            if (f->verdict != (enum cordon_verdict)verdict)
                continue;
            a->reasons[a->count++] = (struct answer_reason){
                f->id.p, arena_copy(&a->arena, f->why).p, arena_copy(&a->arena, f->fix).p};
        }
    struct json_writer w = {.out = &a->json};
    json_open(&w, '{');
    check_write(&w, &found, q->argv != NULL, q->show);
    json_close(&w, '}');
    return answer_finish(a, out);
}

int cordon_check(struct cordon_policy *p, size_t argc, const char *const *argv, unsigned flags,
                 struct cordon_answer **out)
{
    auto_arena struct arena arena = {0};
    struct str *words = ARENA_ARRAY(&arena, argc, struct str);
    if (argc == 0)
        return api_fail(p, CORDON_E_VALUE, "no command given");
    if (!words)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < argc; i++)
        words[i] = str_of(argv[i]);
    struct guard_question q = {.argv = words, .argc = argc};
    return check(p, &q, flags, out);
}

/* By enum guard_shell. */
static const char *const shells[] = {"cmdline", "cmd", "powershell", "bash"};

const char *check_shell_name(enum guard_shell shell)
{
    return shells[shell];
}

bool check_shell(struct str name, enum guard_shell *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (str_eqi(name, str_of(shells[i]))) {
            *shell = (enum guard_shell)i;
            return true;
        }
    if (!str_eqi(name, STR("pwsh")) && !str_eqi(name, STR("sh")))
        return false;
    *shell = str_eqi(name, STR("sh")) ? GUARD_BASH : GUARD_POWERSHELL;
    return true;
}

int cordon_check_text(struct cordon_policy *p, const char *shell, const char *text, size_t length,
                      unsigned flags, struct cordon_answer **out)
{
    struct guard_question q = {
        .text = {text, length}, .cmdline = {text, length}, .script_file = flags & CORDON_SCRIPT};
    if (!check_shell(str_of(shell), &q.shell))
        return api_fail(p, CORDON_E_UNKNOWN,
                        "the shell is not one of powershell, cmd, bash and cmdline");
    return check(p, &q, flags, out);
}
