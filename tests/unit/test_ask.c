/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of a run: what can be asked, which answers are offered, and how far they reach. */
#include "ask/ask.h"
#include "base/json.h"
#include "tap.h"

static const struct ask_subject file = {.kind = ASK_CHANGE,
                                        .op = AUDIT_FILE_CREATE,
                                        .target = {"/data/sub/a", 11},
                                        .folder = {"/data/sub", 9},
                                        .rule = {"roots.outside", 13}};

static struct ask_subject other(enum audit_op op, const char *target)
{
    struct ask_subject s = file;
    s.op = op;
    s.target = str_of(target);
    return s;
}

/* Asks, shows and answers; the decision. */
static struct ask_decision answer(struct ask *a, const struct ask_subject *s, enum ask_answer word,
                                  enum ask_scope scope)
{
    uint64_t id = 0;
    bool first;
    ask_join(a, s, &id);
    ask_next(a, 0);
    int rc = ask_answer(a, id, word, scope, ASK_BY_FD);
    const struct ask_question *q = ask_take(a, id, &first);
    struct ask_decision d = q ? q->decision : (struct ask_decision){.by = ASK_BY_CLOSED};
    if (rc || !q)
        note("answer %d, question %p", rc, (const void *)q);
    ask_leave(a, id);
    return d;
}

static void test_choices(void)
{
    struct ask_choice c[ASK_MOST_CHOICES];
    size_t n = ask_choices(&file, c);
    ok(n == 5 && c[0].answer == ASK_ONCE && c[0].scope == ASK_CALL && c[1].scope == ASK_PATH &&
           c[2].scope == ASK_FOLDER && c[3].answer == ASK_NO && c[4].answer == ASK_NEVER,
       "a file: the call, the path, the folder, no, never");
    struct ask_subject bare = file;
    bare.folder = STR_NONE;
    n = ask_choices(&bare, c);
    ok(n == 4 && c[1].scope == ASK_PATH && c[2].answer == ASK_NO, "no folder that is too broad");
    n = ask_choices(&(struct ask_subject){.kind = ASK_READ, .folder = STR("/x")}, c);
    ok(n == 4 && c[1].scope == ASK_PATH, "a read: never a folder");
    n = ask_choices(&(struct ask_subject){.kind = ASK_CONNECT, .host = STR("h")}, c);
    ok(n == 5 && c[1].scope == ASK_ADDRESS && c[2].scope == ASK_HOST, "a connection");
    n = ask_choices(&(struct ask_subject){.kind = ASK_TOOL}, c);
    ok(n == 4 && c[1].scope == ASK_PROGRAM && c[3].scope == ASK_PROGRAM, "a tool");
    n = ask_choices(&(struct ask_subject){.kind = ASK_COMMAND}, c);
    ok(n == 4 && c[1].scope == ASK_WORDS, "a command");
    ok(ask_choices(&(struct ask_subject){0}, c) == 0, "nothing: no answers");
}

static void test_lift(void)
{
    unsigned liftable = 0;
    for (int rule = 0; rule < POLICY_RULE_COUNT; rule++)
        for (int kind = 0; kind <= ASK_COMMAND; kind++)
            liftable += ask_can_lift((enum ask_kind)kind, (enum policy_rule)rule) &&
                        !policy_rule_info((enum policy_rule)rule).denies;
    ok(liftable == 0, "what is allowed is not asked about");
    static const enum policy_rule never[] = {
        RULE_PROTECTED_GIT, RULE_PROTECTED_NAME, RULE_PROTECTED_SELF,  RULE_PATH_STREAM,
        RULE_PATH_DEVICE,   RULE_WRITE_DENIED,   RULE_ROOTS_ITSELF,    RULE_LINK_HARD,
        RULE_TEMP_TRUSTED,  RULE_NET_DENIED,     RULE_NET_PROXY,       RULE_TOOL_DENIED,
        RULE_TOOL_UNNAMED,  RULE_FILE_SETUID,    RULE_PROCESS_OUTSIDE, RULE_PROCESS_SYSTEM};
    bool any = false;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        for (int kind = 0; kind <= ASK_COMMAND; kind++)
            any = any || ask_can_lift((enum ask_kind)kind, never[i]);
    ok(!any, "what no option allows is never asked about");
    ok(ask_can_lift(ASK_CHANGE, RULE_ROOTS_OUTSIDE) && ask_can_lift(ASK_READ, RULE_READ_DENIED) &&
           ask_can_lift(ASK_CONNECT, RULE_NET_OFF) && ask_can_lift(ASK_CONNECT, RULE_NET_PRIVATE) &&
           ask_can_lift(ASK_TOOL, RULE_TOOL_SSH) && ask_can_lift(ASK_SOCKET, RULE_PIPE_OUTSIDE) &&
           ask_can_lift(ASK_CHANGE, RULE_MODE_READ_ONLY),
       "what an option allows is");
}

static void test_places(void)
{
    struct policy_entry root = {.given = STR("/ws"), .path = STR("/ws")};
    struct policy_entry self = {.given = STR("/data/audit"), .path = STR("/data/audit")};
    struct policy_entry kept = {.given = STR("/data/kept"), .path = STR("/data/kept")};
    struct policy_settings s = {.paths = {.dialect = PATH_POSIX},
                                .mode = POLICY_WORKSPACE_WRITE,
                                .machine = {.home = STR("/home/u")},
                                .roots = {&root, 1, 1},
                                .self = {&self, 1, 1},
                                .deny_write = {&kept, 1, 1}};
    static const struct {
        const char *path;
        enum policy_access access;
        uint32_t links;
        bool asked;
    } rows[] = {
        {"/data/a", POLICY_WRITE, 1, true},
        {"/data/a", POLICY_CREATE, 1, true},
        {"/data/a", POLICY_DELETE, 1, true},
        {"/data/a", POLICY_RENAME_FROM, 1, true},
        {"/data/a", POLICY_ATTRIBUTES, 1, true},
        {"/home/u/.bashrc", POLICY_WRITE, 1, true},
        {"/data/a", POLICY_WRITE, 2, false},
        {"/data/.git/hooks/pre-commit", POLICY_CREATE, 1, false},
        {"/data/.git/config", POLICY_WRITE, 1, false},
        {"/data/.git/index", POLICY_WRITE, 1, false},
        {"/data/.git", POLICY_CREATE, 1, false},
        {"/data/.claude/settings.json", POLICY_WRITE, 1, false},
        {"/data/.cordon/x", POLICY_WRITE, 1, false},
        {"/data/audit", POLICY_WRITE, 1, false},
        {"/data/kept/x", POLICY_WRITE, 1, false},
        {"/ws/.git/config", POLICY_WRITE, 1, false},
        {"/proc/1/comm", POLICY_WRITE, 1, false},
        {"/sys/power/state", POLICY_WRITE, 1, false},
        {"/dev/sda", POLICY_WRITE, 1, false},
        {"/device", POLICY_CREATE, 1, true},
        {"/ws/a", POLICY_WRITE, 1, false}, /* allowed */
    };
    struct policy *policy = NULL, *wide = NULL;
    auto_buf struct buf error = {0};
    if (policy_compile(&s, &policy, &error) || ask_wide_policy(policy, &wide)) {
        ok(false, "%s", buf_cstr(&error));
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str path = str_of(rows[i].path);
        struct policy_request r = {.path = {.class = PATH_FILE, .text = path, .base = path},
                                   .access = rows[i].access,
                                   .facts = {.seen = true,
                                             .exists = rows[i].access != POLICY_CREATE,
                                             .links = rows[i].links}};
        struct policy_answer a = {0};
        policy_decide(policy, &r, &a);
        ok(ask_can_change(wide, a.rule, &r) == rows[i].asked, "%s: access %d of %s, %u links",
           rows[i].asked ? "asked" : "not asked", (int)rows[i].access, rows[i].path, rows[i].links);
    }
    ok(str_eq(ask_folder_of(policy, STR("/data/sub/a")), STR("/data/sub")), "a folder is offered");
    ok(ask_folder_of(policy, STR("/home/u/a")).n == 0 && ask_folder_of(policy, STR("/a")).n == 0 &&
           ask_folder_of(policy, STR("/home/x")).n == 0,
       "not one that would be refused as a root");
    policy_free(wide);
    policy_free(policy);
}

static void test_scopes(void)
{
    struct ask *a = ask_new(false, 1000);
    struct ask_subject same = file, write = other(AUDIT_FILE_WRITE, "/data/sub/a"),
                       beside = other(AUDIT_FILE_CREATE, "/data/sub/b"),
                       below = other(AUDIT_FILE_DELETE, "/data/sub/x/y"),
                       like = other(AUDIT_FILE_CREATE, "/data/subway"),
                       itself = other(AUDIT_FILE_DELETE, "/data/sub");
    ok(answer(a, &file, ASK_ONCE, ASK_CALL).allowed && ask_remembered(a, &same) == ASK_NO,
       "once: nothing is remembered");
    ok(!answer(a, &file, ASK_NO, ASK_CALL).allowed && ask_remembered(a, &same) == ASK_NO,
       "no: asked again next time");
    ok(answer(a, &file, ASK_RUN, ASK_PATH).allowed && ask_remembered(a, &write) == ASK_RUN &&
           ask_remembered(a, &beside) == ASK_NO,
       "a path for the run: every change of it, nothing beside it");
    answer(a, &beside, ASK_RUN, ASK_FOLDER);
    ok(ask_remembered(a, &below) == ASK_RUN && ask_remembered(a, &like) == ASK_NO &&
           ask_remembered(a, &itself) == ASK_NO,
       "a folder: all below it, not the folder itself, no longer name");
    struct ask_subject read = {.kind = ASK_READ, .op = AUDIT_FILE_READ, .target = below.target};
    ok(ask_remembered(a, &read) == ASK_NO, "to change is not to read");
    ok(!answer(a, &like, ASK_NEVER, ASK_PATH).allowed && ask_remembered(a, &like) == ASK_NEVER,
       "never is remembered");
    struct ask_subject one = {.kind = ASK_CONNECT,
                              .op = AUDIT_NET_CONNECT,
                              .target = STR("h.test:443"),
                              .host = STR("h.test")},
                       two = one;
    two.target = STR("h.test:80");
    answer(a, &one, ASK_RUN, ASK_ADDRESS);
    ok(ask_remembered(a, &one) == ASK_RUN && ask_remembered(a, &two) == ASK_NO, "one port");
    answer(a, &two, ASK_RUN, ASK_HOST);
    two.target = STR("h.test:22");
    ok(ask_remembered(a, &two) == ASK_RUN, "a host, any port");
    ask_free(a);
}

static void test_equal(void)
{
    struct ask *a = ask_new(false, 1000);
    struct ask_subject write = other(AUDIT_FILE_WRITE, "/data/sub/a");
    uint64_t one = 0, two = 0, three = 0;
    bool first = false, second = true;
    ask_join(a, &file, &one);
    ask_join(a, &file, &two);
    ask_join(a, &write, &three);
    ok(one == two && three != one, "equal questions are one");
    ok(ask_next(a, 0)->id == one && ask_next(a, 0)->id == three && !ask_next(a, 0),
       "each is shown once");
    ok(ask_answer(a, one, ASK_RUN, ASK_HOST, ASK_BY_FD) == CORDON_E_VALUE && ask_shown(a, one),
       "an answer that is not offered: it stays open");
    ok(ask_answer(a, 99, ASK_ONCE, ASK_CALL, ASK_BY_FD) == CORDON_E_UNKNOWN, "a wrong number");
    ask_answer(a, one, ASK_ONCE, ASK_CALL, ASK_BY_FD);
    ok(ask_answer(a, one, ASK_NO, ASK_CALL, ASK_BY_FD) == CORDON_E_UNKNOWN, "answered once only");
    const struct ask_question *q = ask_take(a, one, &first);
    ask_take(a, one, &second);
    ok(q && q->decision.allowed && first && !second, "both calls get it, one reports it");
    ask_join(a, &file, &two);
    ok(two != one, "a later call asks anew");
    ask_leave(a, one);
    ask_leave(a, one);
    ok(!ask_take(a, one, &first), "the last one takes it away");
    struct ask_closed closed;
    ask_next(a, 0);
    ask_leave(a, two);
    ok(ask_next_closed(a, &closed) && closed.id == two && !closed.timed_out &&
           !ask_next_closed(a, &closed),
       "a caller that is gone closes its question");
    ask_leave(a, three);
    ask_free(a);
}

static void test_covered(void)
{
    struct ask *a = ask_new(false, 1000);
    struct ask_subject beside = other(AUDIT_FILE_CREATE, "/data/sub/b"),
                       elsewhere = other(AUDIT_FILE_CREATE, "/data/c");
    uint64_t one, two, three;
    bool first;
    ask_join(a, &file, &one);
    ask_join(a, &beside, &two);
    ask_join(a, &elsewhere, &three);
    while (ask_next(a, 0))
        ;
    ask_answer(a, one, ASK_RUN, ASK_FOLDER, ASK_BY_FD);
    const struct ask_question *q = ask_take(a, two, &first);
    ok(q && q->decision.allowed && !ask_take(a, three, &first),
       "an answer for a folder answers those waiting in it");
    ask_free(a);
}

/* A name that an answer allows stays with its object: what is around it is not renamed. */
static void test_kept(void)
{
    static const struct {
        const char *path;
        bool kept;
    } rows[] = {{"/data/sub", true},    {"/data", true},       {"/data/sub/a", false},
                {"/data/su", false},    {"/data/sub2", false}, {"/other", false},
                {"/path/to/it", false}, {"/path/to", true},    {"/path", true}};
    struct ask *a = ask_new(false, 1000);
    struct ask_subject path = other(AUDIT_FILE_WRITE, "/path/to/it"),
                       never = other(AUDIT_FILE_WRITE, "/other/x");
    ok(!ask_holds_allowed(a, STR("/data")), "nothing is allowed yet");
    answer(a, &file, ASK_RUN, ASK_FOLDER);
    answer(a, &path, ASK_RUN, ASK_PATH);
    answer(a, &never, ASK_NEVER, ASK_PATH);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(ask_holds_allowed(a, str_of(rows[i].path)) == rows[i].kept, "%s %s its name",
           rows[i].path, rows[i].kept ? "keeps" : "may lose");
    ask_free(a);
}

static void test_time(void)
{
    struct ask *a = ask_new(false, 1000);
    struct ask_subject second = other(AUDIT_FILE_CREATE, "/data/sub/b");
    uint64_t one, two;
    bool first;
    ask_join(a, &file, &one);
    ask_next(a, 100);
    ask_join(a, &second, &two);
    ask_next(a, 500);
    ok(ask_deadline(a) == 1100, "the clock runs from when it was shown");
    ask_expire(a, 1099);
    ok(!ask_is_decided(a, one), "not before its time");
    ask_expire(a, 1100);
    const struct ask_question *q = ask_take(a, one, &first);
    ok(q && !q->decision.allowed && q->decision.by == ASK_BY_NOBODY && !ask_is_decided(a, two),
       "then it is no; others have their own time");
    ask_free(a);

    a = ask_new(true, 1000);
    ask_join(a, &file, &one);
    ask_join(a, &second, &two);
    ask_next(a, 0);
    ok(!ask_next(a, 0), "one after the other");
    ask_expire(a, 1000);
    ok(ask_is_decided(a, one) && ask_is_decided(a, two), "nobody there: no to those behind it");
    ask_join(a, &file, &one);
    ok(ask_next(a, 2000) && ask_deadline(a) == 3000, "and the next one is asked");
    ask_close(a);
    q = ask_take(a, one, &first);
    ok(q && !q->decision.allowed && q->decision.by == ASK_BY_CLOSED &&
           ask_join(a, &second, &two) == CORDON_E_REFUSED,
       "closed: no, now and from then on");
    ask_free(a);
}

static void test_many(void)
{
    struct ask *a = ask_new(false, 1000);
    uint64_t id, last = 0;
    unsigned joined = 0;
    char path[64];
    for (unsigned i = 0; i < ASK_MOST_WAITING + 5; i++) {
        snprintf(path, sizeof path, "/data/%u", i);
        struct ask_subject s = other(AUDIT_FILE_CREATE, path);
        joined += ask_join(a, &s, &id) == 0;
        last = id;
    }
    ok(joined == ASK_MOST_WAITING && ask_join(a, &file, &id) == CORDON_E_TOOBIG,
       "1,000 wait and no more");
    ask_leave(a, last);
    ok(ask_join(a, &file, &id) == 0, "one leaves, one comes");
    ask_free(a);

    a = ask_new(false, 1000);
    for (unsigned i = 0; i < ASK_MOST_REMEMBERED + 5; i++) {
        snprintf(path, sizeof path, "/data/%u", i);
        struct ask_subject s = other(AUDIT_FILE_CREATE, path);
        answer(a, &s, ASK_RUN, ASK_PATH);
    }
    struct ask_subject kept = other(AUDIT_FILE_CREATE, "/data/4095"),
                       lost = other(AUDIT_FILE_CREATE, "/data/4096");
    ok(ask_remembered(a, &kept) == ASK_RUN && ask_remembered(a, &lost) == ASK_NO,
       "what does not fit is asked again");
    ask_free(a);
}

static void test_lines(void)
{
    static const struct {
        const char *line, *why; /* NULL: taken */
    } rows[] = {
        {"", "not a JSON object"},
        {"[1]", "not a JSON object"},
        {"{\"id\":1", "not a JSON object"},
        {"{\"id\":1,\"id\":1,\"answer\":\"once\"}", "not a JSON object"},
        {"{}", "\"id\""},
        {"{\"id\":\"1\",\"answer\":\"once\"}", "\"id\""},
        {"{\"id\":-1,\"answer\":\"once\"}", "\"id\""},
        {"{\"id\":1.5,\"answer\":\"once\"}", "\"id\""},
        {"{\"id\":18446744073709551617,\"answer\":\"once\"}", "\"id\""},
        {"{\"id\":2,\"answer\":\"once\"}", "no such question"},
        {"{\"id\":1}", "\"answer\""},
        {"{\"id\":1,\"answer\":true}", "\"answer\""},
        {"{\"id\":1,\"answer\":\"yes\"}", "\"answer\""},
        {"{\"id\":1,\"answer\":\"run\",\"scope\":\"host\"}", "\"scope\""},
        {"{\"id\":1,\"answer\":\"run\",\"scope\":7}", "\"scope\""},
        {"{\"id\":1,\"answer\":\"once\",\"scope\":\"folder\"}", "\"scope\""},
        {"{\"id\":1,\"answer\":\"run\",\"scope\":\"folder\",\"more\":[]}", NULL},
        {"{\"id\":1,\"answer\":\"run\",\"scope\":\"folder\"}", "no such question"},
    };
    struct ask *a = ask_new(false, 1000);
    auto_buf struct buf text = {0};
    uint64_t id;
    ask_join(a, &file, &id);
    ask_spell(ask_next(a, 0), &text);
    ok(str_starts(buf_str(&text),
                  STR("{\"id\":1,\"op\":\"file.create\",\"target\":\"/data/sub/a\",")) &&
           strstr(buf_cstr(&text),
                  "{\"answer\":\"run\",\"scope\":\"folder\",\"folder\":\"/data/sub\"}") &&
           text.p[text.n - 1] == '\n',
       "a question is one line");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *why = NULL;
        int rc = ask_take_line(a, str_of(rows[i].line), ASK_BY_FD, &id, &why);
        ok(rows[i].why ? rc < 0 && strstr(why, rows[i].why) : rc == 0, "%s: %s", rows[i].line,
           rows[i].why ? rows[i].why : "taken");
        if (rows[i].why && i + 1 < sizeof rows / sizeof *rows && !ask_shown(a, 1))
            ok(false, "the question stays open");
    }
    buf_reset(&text);
    struct ask_subject odd = other(AUDIT_FILE_CREATE, "/data/\n\x1b[2J\xe2\x80\xae\xff\"");
    ask_join(a, &odd, &id);
    ask_spell(ask_next(a, 0), &text);
    size_t lines = 0;
    bool raw = false;
    for (size_t i = 0; i < text.n; i++) {
        lines += text.p[i] == '\n';
        raw = raw || text.p[i] == '\x1b' || text.p[i] == '\xff';
    }
    ok(lines == 1 && !raw, "a strange name stays in its line");
    ask_free(a);
}

int main(void)
{
    test_choices();
    test_lift();
    test_places();
    test_scopes();
    test_equal();
    test_covered();
    test_kept();
    test_time();
    test_many();
    test_lines();
    return tap_done();
}
