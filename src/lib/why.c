/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_why: the decision that a run would make, with its reason and remedy. */
#include "launch/disk.h"
#include "lib/api.h"
#include "lib/check.h"

/* A question about one path, with what the disk says about it. */
struct file_question {
    struct str given;
    struct policy_request request;
};

struct link_count {
    const struct policy *policy;
    bool inside;
};

/* Every name of a file with several must be writable by itself. */
static bool name_is_inside(void *context, struct str name)
{
    struct link_count *count = context;
    char normal[PATH_MAX_BYTES];
    struct policy_request r = {.access = POLICY_WRITE,
                               .facts = {.seen = true, .exists = true, .links = 1}};
    struct policy_answer answer = {0};
    struct path_context paths = policy_settings_of(count->policy)->paths;
    if (path_normalize(&paths, name, normal, sizeof normal, &r.path) == 0)
        policy_decide(count->policy, &r, &answer);
    count->inside = count->inside && answer.verdict == CORDON_ALLOW;
    return count->inside;
}

/* True for access to the name itself rather than to a link's target. */
static bool acts_on_name(enum policy_access access)
{
    return access == POLICY_DELETE || access == POLICY_RENAME_FROM || access == POLICY_RENAME_TO ||
           access == POLICY_LINK_FROM || access == POLICY_LINK_TO;
}

/* The final path: of the whole, or of the parent with the last component unresolved. */
/* The owner of the entry of the temp folder that contains it; a run that has not started has
   created nothing. */
static enum policy_temp_entry entry_of(struct settings *s, struct str path)
{
    struct str temp = s->policy.temp_path;
    struct disk_facts facts;
    if (s->policy.paths.dialect == PATH_POSIX && policy_is_semaphore(path))
        return disk_look(&s->arena, path, &facts) || facts.exists || facts.link
                   ? POLICY_ENTRY_FOREIGN
                   : POLICY_ENTRY_NEW;
    if (s->policy.temp != POLICY_TEMP_OWN || !temp.n || !str_starts(path, temp) ||
        path.n <= temp.n + 1)
        return POLICY_ENTRY_FOREIGN;
    char separator = path_separator(s->policy.paths.dialect);
    struct str entry = str_slice(path, 0, str_find_char(path, separator, temp.n + 1));
    bool there = disk_look(&s->arena, entry, &facts) || facts.exists || facts.link;
    return there ? POLICY_ENTRY_FOREIGN : POLICY_ENTRY_NEW;
}

static int look(struct cordon_policy *p, struct file_question *q)
{
    struct settings *s = &p->settings;
    enum path_dialect dialect = s->policy.paths.dialect;
    struct path *path = &q->request.path;
    struct policy_facts *facts = &q->request.facts;
    struct disk_facts disk, parent;
    if (disk_look(&s->arena, path->text, &disk))
        return 0;
    struct str final = disk.final;
    struct str above = path_parent(dialect, path->text);
    if (disk.link && acts_on_name(q->request.access) && above.n &&
        disk_look(&s->arena, above, &parent) == 0) {
        auto_buf struct buf joined = {0};
        buf_add(&joined, parent.final);
        if (joined.n && joined.p[joined.n - 1] != path_separator(dialect))
            buf_char(&joined, path_separator(dialect));
        buf_add(&joined, path_leaf(dialect, path->text));
        final = arena_copy(&s->arena, buf_str(&joined));
    }
    if (!final.p)
        return CORDON_E_NOMEM;
    *facts = (struct policy_facts){.seen = true,
                                   .exists = disk.exists,
                                   .directory = disk.directory,
                                   .links = disk.links,
                                   .existing = disk.existing,
                                   .entry = entry_of(s, final),
                                   .takes_head = dialect == PATH_POSIX,
                                   .guards_new = dialect == PATH_POSIX,
                                   .index_judged = true, /* if it is harmless */
                                   .reparse = disk.strange ? POLICY_STRANGE : POLICY_NOT_REPARSE};
    if (disk.links > 1) {
        struct link_count count = {p->policy, true};
        facts->links_inside =
            disk_names(&s->arena, path->text, name_is_inside, &count) && count.inside;
    }
    return settings_path(s, final, path);
}

static int ask_disk(struct cordon_policy *p, struct file_question *q)
{
    struct settings *s = &p->settings;
    int rc = settings_path(s, q->given, &q->request.path);
    if (rc)
        return api_fail(p, rc, "the path is too long");
    q->request.facts.exists = true;
    if (!s->foreign && q->request.path.class == PATH_FILE)
        rc = look(p, q);
    if (q->request.access == POLICY_WRITE && q->request.facts.seen && !q->request.facts.exists)
        q->request.access = POLICY_CREATE;
    return rc ? api_fail(p, rc, cordon_strerror(rc)) : 0;
}

/* One reason, and the object around it; body writes what is specific to the question. */
static int finish(struct cordon_policy *p, enum cordon_verdict verdict, const char *rule,
                  const struct buf *why, const struct buf *fix, struct json_writer *w,
                  struct cordon_answer *a, struct cordon_answer **out)
{
    a->verdict = verdict;
    a->count = 1;
    a->reasons[0] = (struct answer_reason){rule, arena_copy(&a->arena, buf_str(why)).p,
                                           arena_copy(&a->arena, buf_str(fix)).p};
    json_put(w, STR("why"), buf_str(why));
    if (fix->n)
        json_put(w, STR("fix"), buf_str(fix));
    json_close(w, '}');
    int rc = answer_finish(a, out);
    return rc ? api_fail(p, rc, cordon_strerror(rc)) : 0;
}

static struct json_writer begin(struct cordon_answer *a, enum cordon_verdict verdict,
                                const char *rule)
{
    struct json_writer w = {.out = &a->json};
    json_open(&w, '{');
    json_put(&w, STR("verdict"), str_of(verdict_name(verdict)));
    json_put(&w, STR("rule"), str_of(rule));
    return w;
}

static int why_file(struct cordon_policy *p, enum policy_access access, const char *const *words,
                    size_t count, struct cordon_answer **out)
{
    struct file_question q[2] = {{.given = str_of(words[0]), .request.access = access}};
    if (count == 2)
        q[1] = (struct file_question){
            .given = str_of(words[1]),
            .request.access = access == POLICY_RENAME_FROM ? POLICY_RENAME_TO : POLICY_LINK_TO};
    for (size_t i = 0; i < count; i++) {
        int rc = ask_disk(p, &q[i]);
        if (rc)
            return rc;
    }
    struct policy_answer answer = {0};
    if (count == 2)
        policy_decide_pair(p->policy, &q[0].request, &q[1].request, &answer);
    else
        policy_decide(p->policy, &q[0].request, &answer);
    auto_buf struct buf why = {0}, fix = {0};
    policy_explain(p->policy, &q[answer.target ? 1 : 0].request, &answer, &why, &fix);
    struct cordon_answer *a = answer_new(1);
    if (!a)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    struct json_writer w = begin(a, answer.verdict, policy_rule_id(answer.rule));
    json_put(&w, STR("path"), q[0].request.path.text);
    json_put(&w, STR("given"), q[0].given);
    if (count == 2)
        json_put(&w, STR("target"), q[1].request.path.text);
    bool seen = q[0].request.facts.seen && (count == 1 || q[1].request.facts.seen);
    json_put(&w, STR("facts"), seen ? STR("seen") : STR("assumed"));
    return finish(p, answer.verdict, policy_rule_id(answer.rule), &why, &fix, &w, a, out);
}

static int why_connect(struct cordon_policy *p, const char *word, struct cordon_answer **out)
{
    struct policy_peer peer = {0};
    struct policy_answer answer = {0};
    if (policy_parse_peer(str_of(word), &peer))
        return api_fail(p, CORDON_E_VALUE,
                        "connect takes HOST:PORT, for example example.com:443 or [::1]:80");
    policy_net_decide(p->policy, &peer, &answer);
    auto_buf struct buf why = {0}, fix = {0};
    policy_net_explain(p->policy, &peer, &answer, &why, &fix);
    struct cordon_answer *a = answer_new(1);
    if (!a)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    struct json_writer w = begin(a, answer.verdict, policy_rule_id(answer.rule));
    json_put(&w, STR("host"), peer.host);
    json_put_number(&w, STR("port"), peer.port);
    return finish(p, answer.verdict, policy_rule_id(answer.rule), &why, &fix, &w, a, out);
}

/* The guard decides first, as in a run; then the list of tools. */
static int why_run(struct cordon_policy *p, size_t count, const char *const *words,
                   struct cordon_answer **out)
{
    struct cordon_answer *judged = NULL;
    bool had_roots = p->has_roots;
    p->has_roots = true;
    int rc = cordon_check(p, count, words, 0, &judged);
    p->has_roots = had_roots;
    if (rc || judged->verdict == CORDON_DENY) {
        if (!rc)
            *out = judged;
        return rc;
    }
    struct policy_program program = {.name = str_of(words[0])};
    struct policy_answer answer = {0};
    if (str_has_char(program.name, '/') || str_has_char(program.name, '\\'))
        settings_path(&p->settings, program.name, &program.path);
    policy_tool_decide(p->policy, &program, &answer);
    if (answer.verdict != CORDON_DENY && judged->verdict == CORDON_ASK) {
        *out = judged;
        return 0;
    }
    cordon_answer_free(judged);
    auto_buf struct buf why = {0}, fix = {0};
    policy_tool_explain(p->policy, &program, &answer, &why, &fix);
    struct cordon_answer *a = answer_new(1);
    if (!a)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    struct json_writer w = begin(a, answer.verdict, policy_rule_id(answer.rule));
    json_put(&w, STR("program"), program.name);
    return finish(p, answer.verdict, policy_rule_id(answer.rule), &why, &fix, &w, a, out);
}

int cordon_why(struct cordon_policy *p, const char *action, size_t count, const char *const *words,
               struct cordon_answer **out)
{
    static const struct {
        struct str action;
        enum policy_access access;
        size_t count;
    } files[] = {{STR("read"), POLICY_READ, 1},          {STR("write"), POLICY_WRITE, 1},
                 {STR("create"), POLICY_CREATE, 1},      {STR("delete"), POLICY_DELETE, 1},
                 {STR("rename"), POLICY_RENAME_FROM, 2}, {STR("link"), POLICY_LINK_FROM, 2}};
    struct str name = str_of(action);
    if (count == 0)
        return api_fail(p, CORDON_E_VALUE, "name a path, a command or HOST:PORT");
    bool is_path = !str_eq(name, STR("run")) && !str_eq(name, STR("connect"));
    int rc = api_prepare(p, is_path ? str_of(words[0]) : STR_NONE);
    if (rc)
        return rc;
    if (str_eq(name, STR("run")))
        return why_run(p, count, words, out);
    if (str_eq(name, STR("connect")))
        return count == 1 ? why_connect(p, words[0], out)
                          : api_fail(p, CORDON_E_VALUE, "connect takes one HOST:PORT");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!str_eq(name, files[i].action))
            continue;
        if (count != files[i].count)
            return api_fail(p, CORDON_E_VALUE,
                            files[i].count == 2 ? "this takes two paths: from and to"
                                                : "this takes one path");
        return why_file(p, files[i].access, words, count, out);
    }
    return api_fail(p, CORDON_E_UNKNOWN,
                    "the question is one of read, write, create, delete, rename, link, run and "
                    "connect");
}
