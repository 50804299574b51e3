/* SPDX-License-Identifier: Apache-2.0 */
/* Events as lines, repeats as counts, secrets masked, reading back, the summary. */
#include "audit/audit.h"
#include "audit/jsonl.h"
#include "report/summary.h"
#include "tap.h"

struct sink {
    struct buf text;
    unsigned lines;
    int fail_after; /* -1: never */
};

static int take_line(void *context, struct str line)
{
    struct sink *s = context;
    if (s->fail_after >= 0 && s->lines >= (unsigned)s->fail_after)
        return CORDON_E_WRITE;
    s->lines++;
    buf_add(&s->text, line);
    return 0;
}

static struct audit_event denial(const char *target, uint64_t time)
{
    return (struct audit_event){.type = AUDIT_DENY,
                                .op = AUDIT_FILE_WRITE,
                                .time = time,
                                .pid = 7,
                                .target = str_of(target),
                                .rule = STR("roots.outside"),
                                .why = STR("outside"),
                                .fix = STR("--root . --root D:\\data")};
}

static struct audit *new_audit(struct sink *sink, bool all)
{
    struct audit *a = NULL;
    struct audit_options options = {take_line, sink, STR("r1"), all, false};
    return audit_new(&options, &a) ? NULL : a;
}

static size_t count_of(struct sink *sink, const char *text)
{
    size_t n = 0;
    struct str all = buf_str(&sink->text);
    for (size_t at = str_find(all, str_of(text), 0); at < all.n;
         at = str_find(all, str_of(text), at + 1))
        n++;
    return n;
}

static void test_repeats(void)
{
    struct sink sink = {.fail_after = -1};
    struct audit *a = new_audit(&sink, false);
    for (unsigned i = 0; i < 10000; i++) {
        struct audit_event e = denial("D:\\data\\x", 1000 + i / 10);
        audit_add(a, &e);
    }
    ok(sink.lines == 1, "10,000 equal denials within a second are one line (%u)", sink.lines);
    struct audit_event other = denial("D:\\data\\y", 2500);
    audit_add(a, &other);
    audit_tick(a, 2500);
    ok(sink.lines == 3 && count_of(&sink, "\"count\":9999,\"first\":1") == 1,
       "then one line with the count and the first's number");
    struct audit_event end = {.type = AUDIT_END, .time = 3000, .code = 5, .duration_ms = 2000};
    audit_add(a, &other);
    audit_end(a, &end);
    ok(count_of(&sink, "\"count\":1,\"first\":2") == 1, "the end writes what is pending");
    ok(count_of(&sink, "\"exit\":5,\"duration_ms\":2000,\"denied\":10002") == 1, "and the totals");
    ok(count_of(&sink, "\"seq\":5,") == 1 && count_of(&sink, "\"seq\":6,") == 0,
       "numbers have no gaps");
    audit_free(a);
    buf_free(&sink.text);
}

static void test_many(void)
{
    struct sink sink = {.fail_after = -1};
    struct audit *a = new_audit(&sink, false);
    char target[64];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 5000; i++) {
            snprintf(target, sizeof target, "D:\\data\\%u", i);
            struct audit_event e = denial(target, 1000);
            audit_add(a, &e);
        }
    ok(audit_totals_of(a).denied == 10000, "all are counted");
    ok(sink.lines == 10000, "more different denials than are remembered are all written (%u)",
       sink.lines);
    for (unsigned i = 4990; i < 5000; i++) {
        snprintf(target, sizeof target, "D:\\data\\%u", i);
        struct audit_event e = denial(target, 1001);
        audit_add(a, &e);
    }
    ok(sink.lines == 10000, "and the newest are still known");
    audit_free(a);
    buf_free(&sink.text);
}

static void test_failure(void)
{
    struct sink sink = {.fail_after = 2};
    struct audit *a = new_audit(&sink, true);
    for (unsigned i = 0; i < 5; i++) {
        struct audit_event e = {.type = AUDIT_ALLOW, .op = AUDIT_FILE_READ, .target = STR("x")};
        audit_add(a, &e);
    }
    ok(audit_failure(a) == CORDON_E_WRITE && sink.lines == 2, "a full disk is remembered");
    audit_free(a);
    buf_free(&sink.text);
    struct sink quiet = {.fail_after = -1};
    a = new_audit(&quiet, false);
    struct audit_event e = {.type = AUDIT_ALLOW, .op = AUDIT_FILE_READ, .target = STR("x")};
    audit_add(a, &e);
    ok(quiet.lines == 0 && audit_totals_of(a).allowed == 1, "allows are counted, not written");
    audit_free(a);
    audit_add(NULL, &e);
    audit_tick(NULL, 5000);
    audit_end(NULL, &e);
    ok(audit_failure(NULL) == 0, "without a reader events go nowhere");
    buf_free(&quiet.text);
}

static void test_spelling(void)
{
    auto_buf struct buf out = {0};
    static const struct {
        uint64_t ms;
        const char *text;
    } times[] = {{0, "1970-01-01T00:00:00.000Z"},
                 {951782399999u, "2000-02-28T23:59:59.999Z"},
                 {951782400000u, "2000-02-29T00:00:00.000Z"},
                 {1709251200000u, "2024-03-01T00:00:00.000Z"},
                 {4102444799001u, "2099-12-31T23:59:59.001Z"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        buf_reset(&out);
        audit_spell_time(&out, times[i].ms);
        ok(str_eq(buf_str(&out), str_of(times[i].text)), "time %s", times[i].text);
    }
    struct str roots[] = {STR("C:\\ws")};
    struct audit_event e = {.type = AUDIT_START,
                            .version = STR("1"),
                            .mode = STR("workspace-write"),
                            .roots = roots,
                            .root_count = 1,
                            .net = STR("off"),
                            .boundary = STR("kernel")};
    buf_reset(&out);
    audit_spell(&out, &(struct audit_line){.event = &e, .run = STR("r"), .sequence = 1});
    ok(str_eq(buf_str(&out),
              STR("{\"v\":1,\"run\":\"r\",\"type\":\"start\",\"time\":\"1970-01-01T00:00:00.000Z\","
                  "\"seq\":1,\"version\":\"1\",\"mode\":\"workspace-write\","
                  "\"roots\":[\"C:\\\\ws\"],\"net\":\"off\",\"boundary\":\"kernel\"}\n")),
       "start");
    struct audit_event odd = denial("a\nb\xed\xa0\x80\xff", 0);
    buf_reset(&out);
    audit_spell(&out, &(struct audit_line){.event = &odd, .run = STR("r"), .sequence = 2});
    ok(str_find(buf_str(&out), STR("\"target\":\"a\\nb\\ud800\\udcff\""), 0) < out.n,
       "names that are not Unicode survive, and a line stays a line");
}

static void test_mask(void)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"git push https://me:hunter2@example.com/x", "git push https://me:***@example.com/x"},
        {"curl -H \"Authorization: Bearer abc.def\" u", "curl -H \"Authorization: Bearer ***\" u"},
        {"tool --password=hunter2 --x", "tool --password=*** --x"},
        {"tool --password hunter2 --x", "tool --password *** --x"},
        {"tool \"--password=two words\" --x", "tool \"--password=***\" --x"},
        {"sh -c \"tool --password=one; rm x\"", "sh -c \"tool --password=***; rm x\""},
        {"tool --token \"a b\" y", "tool --token *** y"},
        {"set API_TOKEN=abc&&x", "set API_TOKEN=***&&x"},
        {"gh auth ghp_0123456789abcdefghijABCDEFGHIJ012345", "gh auth ***"},
        {"aws AKIAABCDEFGHIJKLMNOP", "aws ***"},
        {"docker login -u me --password-stdin", "docker login -u me --password-stdin"},
        {"git commit -m \"token rotation\"", "git commit -m \"token rotation\""},
        {"node server.js http://localhost:3000/", "node server.js http://localhost:3000/"},
        {"npm run ask-me", "npm run ask-me"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_buf struct buf out = {0};
        audit_mask(&out, str_of(cases[i].from));
        if (!ok(str_eq(buf_str(&out), str_of(cases[i].to)), "mask: %s", cases[i].to))
            note("got %s", buf_cstr(&out));
    }
}

static void test_reader(void)
{
    struct str text =
        STR("{\"type\":\"start\"}\n\n{\"type\":\n{\"type\":\"end\"}\n[1]\n{\"type\":\"de");
    struct audit_reader reader = {.text = text};
    auto_arena struct arena arena = {0};
    struct json_value event;
    struct json_error error;
    ok(audit_read(&reader, &arena, &event, &error) == 1 && reader.line == 1, "first line");
    ok(audit_read(&reader, &arena, &event, &error) < 0 && error.place.line == 3,
       "a malformed line is named");
    ok(audit_read(&reader, &arena, &event, &error) == 1 && reader.line == 4, "and reading goes on");
    ok(audit_read(&reader, &arena, &event, &error) < 0, "a line that is no object is refused");
    ok(audit_read(&reader, &arena, &event, &error) == 0 && reader.cut,
       "a cut last line is no error");
}

static void test_summary(void)
{
    static struct summary s;
    auto_buf struct buf out = {0};
    char target[64];
    struct audit_event cache = denial("C:\\cache", 0);
    cache.minor = true;
    cache.fix = STR("--root C:\\");
    summary_add(&s, &cache);
    for (unsigned i = 0; i < 8; i++) {
        char fix[64];
        snprintf(target, sizeof target, "D:\\data\\%u", i);
        snprintf(fix, sizeof fix, "--root . --root D:\\data%u", i < 2 ? 0 : i);
        struct audit_event e = denial(target, 0);
        e.fix = str_of(fix);
        e.named = i == 7;
        summary_add(&s, &e);
        summary_add(&s, &e);
    }
    struct audit_event quiet = denial("C:\\noise", 0);
    quiet.quiet = true;
    summary_add(&s, &quiet);
    summary_lines(&s, STR("run.jsonl"), true, &out);
    ok(str_starts(buf_str(&out),
                  STR("cordon: sandbox denied: write D:\\data\\7 (rule roots.outside); "
                      "allow with --root . --root D:\\data7\n"
                      "cordon: sandbox denied: write D:\\data\\0 and 1 more (rule roots.outside); "
                      "allow with --root . --root D:\\data0\n")),
       "first what the command names, then one line for each remedy");
    ok(str_ends(buf_str(&out), STR("cordon: \xE2\x80\xA6 and 2 more, see --audit run.jsonl\n")),
       "five lines and one for the rest");
    ok(str_find(buf_str(&out), STR("noise"), 0) == out.n, "quiet ones take no line");
    buf_reset(&out);
    summary_lines(&s, STR("run.jsonl"), false, &out);
    ok(str_ends(buf_str(&out), STR("cordon: \xE2\x80\xA6 and 2 more, see --audit run.jsonl\n")),
       "a minor one counts only if the command failed");
    buf_reset(&out);
    summary_json(&s, &(struct summary_end){STR("exited"), STR("kernel"), 3, 12, STR_NONE, NULL},
                 &out);
    ok(str_starts(buf_str(&out),
                  STR("{\"type\":\"summary\",\"reason\":\"exited\",\"exit\":3,"
                      "\"boundary\":\"kernel\",\"duration_ms\":12,\"denied\":17,"
                      "\"denials\":[{\"op\":\"file.write\",\"target\":\"C:\\\\cache\"")),
       "the same as JSON");
    struct audit_event made = {.type = AUDIT_ALLOW,
                               .op = AUDIT_FILE_CREATE,
                               .target = STR("/w/n\n/.git"),
                               .notable = true};
    summary_add(&s, &made);
    summary_add(&s, &made);
    buf_reset(&out);
    summary_lines(&s, STR_NONE, true, &out);
    ok(str_ends(buf_str(&out),
                STR("cordon: the run made a git repository: /w/n\\n/.git (rule git.new); "
                    "git and editors run what its config says\n")) &&
           s.made.count == 1,
       "a repository that was made is named, once and in one line");
    buf_reset(&out);
    summary_json(&s, &(struct summary_end){STR("exited"), STR("kernel"), 3, 12, STR_NONE, NULL},
                 &out);
    ok(str_ends(buf_str(&out), STR("\"repositories\":[\"/w/n\\n/.git\"]}\n")), "in JSON, too");
    struct audit_event part = {.type = AUDIT_ALLOW,
                               .op = AUDIT_FILE_DELETE,
                               .target = STR("/w/a b/.git"),
                               .notable = true};
    summary_add(&s, &part);
    buf_reset(&out);
    summary_lines(&s, STR_NONE, false, &out);
    ok(str_ends(buf_str(&out),
                STR("its HEAD with it: /w/a b/.git (rule git.removed); look at its hooks and "
                    "config, then repair it with: git init '/w/a b'\n")),
       "a repository that lost its HEAD is named, with a remedy");
    s.headless.gone = 1;
    buf_reset(&out);
    summary_lines(&s, STR_NONE, false, &out);
    ok(str_find(buf_str(&out), STR("HEAD"), 0) == out.n, "one that was removed whole is not");
    summary_free(&s);
}

/* The usual attempts of Windows' own programs at their start get no line; the same attempts by
   other programs, and others by the same, do. */
static void test_noise(void)
{
    static const struct {
        enum audit_op op;
        const char *image, *target;
        bool quiet;
    } rows[] = {
        {AUDIT_REGISTRY_WRITE, "C:\\p\\pwsh.exe",
         "\\REGISTRY\\User\\S-1-5-21\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"
         "Shell Folders",
         true},
        {AUDIT_REGISTRY_WRITE, "C:\\p\\pwsh.exe",
         "\\REGISTRY\\User\\S-1-5-21\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"
         "User Shell Folders",
         false},
        {AUDIT_DEVICE_OPEN, "C:\\p\\pwsh.exe", "\\\\.\\MountPointManager", true},
        {AUDIT_DEVICE_OPEN, "C:\\p\\pwsh.exe", "\\\\.\\C:", true},
        {AUDIT_DEVICE_OPEN, "C:\\p\\other.exe", "\\\\.\\C:", false},
        {AUDIT_DEVICE_OPEN, "C:\\p\\pwsh.exe", "\\\\.\\PhysicalDrive0", false},
        {AUDIT_NET_CONNECT, "C:\\p\\net.exe", "a local socket of the AF_UNIX family", true},
        {AUDIT_NET_CONNECT, "C:\\p\\net.exe", "a raw socket", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct audit_event e = {.type = AUDIT_DENY,
                                .op = rows[i].op,
                                .image = str_of(rows[i].image),
                                .target = str_of(rows[i].target)};
        ok(audit_is_quiet(&e) == rows[i].quiet, "%s %s", rows[i].target,
           rows[i].quiet ? "gets no line" : "gets a line");
    }
}

int main(void)
{
    test_repeats();
    test_many();
    test_failure();
    test_spelling();
    test_mask();
    test_reader();
    test_summary();
    test_noise();
    return tap_done();
}
