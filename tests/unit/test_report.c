/* SPDX-License-Identifier: Apache-2.0 */
/* The report: what is counted, what is bounded, and that text of others stays text. */
#include "base/sha256.h"
#include "report/collect.h"
#include "tap.h"

#include <stdlib.h>

static struct report *fresh(void)
{
    struct report *r = NULL;
    if (report_new(&r))
        abort();
    return r;
}

static void feed(struct report *r, const char *line)
{
    report_line(r, str_of(line), false);
}

static bool has(const struct buf *text, const char *words)
{
    return str_find(buf_str(text), str_of(words), 0) < text->n;
}

/* Whether the page holds one script, whose hash its policy names. */
static bool is_own_script(const struct buf *page)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct str s = buf_str(page);
    size_t from = str_find(s, STR("<script>"), 0), to = str_find(s, STR("</script>"), 0);
    unsigned char sum[SHA256_SIZE + 1] = {0};
    char allowed[80] = "script-src 'sha256-";
    if (to == s.n || str_find(s, STR("<script"), from + 1) < s.n)
        return false;
    sha256(str_slice(s, from + 8, to), sum);
    char *out = allowed + strlen(allowed);
    for (size_t i = 0; i < SHA256_SIZE; i += 3) {
        unsigned bits = sum[i] << 16 | (i + 1 < SHA256_SIZE ? sum[i + 1] << 8 : 0) |
                        (i + 2 < SHA256_SIZE ? sum[i + 2] : 0);
        for (int shift = 18; shift >= 0; shift -= 6)
            *out++ = letters[bits >> shift & 63];
    }
    memcpy(out - 1, "='", 3);
    return has(page, allowed);
}

#define HEAD(type, ms)                                                                 \
    "{\"v\":1,\"run\":\"r1\",\"type\":\"" type "\",\"time\":\"2026-01-31T08:05:09." ms \
    "Z\",\"seq\":1,"

/* Whether the page offers the whole network for a datagram that was refused. */
static bool offers_network(bool named)
{
    struct report *r = fresh();
    auto_buf struct buf page = {0};
    feed(r,
         HEAD("deny", "010") "\"op\":\"net.send\",\"target\":\"UDP\",\"rule\":\"net.off\",\"fix\":"
                             "\"--net=on\"}");
    if (named)
        feed(r, HEAD("deny", "011") "\"op\":\"net.resolve\",\"target\":\"a.test\",\"rule\":"
                                    "\"net.off\",\"fix\":\"--net=allow=a.test\"}");
    report_finish(r);
    report_page(r, STR("a.jsonl"), &page);
    report_free(r);
    ok(has(&page, "--net=allow=a.test") == named, "the name that was asked for has its remedy");
    return has(&page, "--net=on");
}

static void test_resolver(void)
{
    ok(!offers_network(true), "a resolver's socket needs no more than the name");
    ok(offers_network(false), "control: a datagram without a name needs the network");
}

static void test_counts(void)
{
    struct report *r = fresh();
    auto_buf struct buf page = {0}, text = {0}, json = {0};
    feed(r, HEAD("start", "000") "\"mode\":\"workspace-write\",\"roots\":[\"/a\",\"/b\"],"
                                 "\"net\":\"off\",\"boundary\":\"kernel\"}");
    feed(r, HEAD("spawn", "010") "\"pid\":5,\"image\":\"/bin/sh\",\"cmdline\":\"sh -c x\"}");
    feed(r, HEAD("spawn", "020") "\"pid\":6,\"ppid\":5,\"image\":\"/bin/ls\"}");
    feed(r, HEAD("deny", "030") "\"pid\":6,\"op\":\"file.write\",\"target\":\"/x\",\"rule\":"
                                "\"roots.outside\",\"fix\":\"--root . --root /\"}");
    feed(r, HEAD("deny", "900") "\"pid\":6,\"op\":\"file.write\",\"target\":\"/x\",\"rule\":"
                                "\"roots.outside\",\"count\":41,\"first\":3}");
    feed(r, HEAD("ask", "040") "\"pid\":5,\"op\":\"guard\",\"target\":\"rm\",\"rule\":"
                               "\"destroy.outside\"}");
    feed(r, HEAD("allow", "050") "\"pid\":5,\"op\":\"file.create\",\"target\":\"/a/new\"}");
    feed(r, HEAD("allow", "050") "\"pid\":5,\"op\":\"file.read\",\"target\":\"/a/read\"}");
    feed(r, HEAD("exit", "100") "\"pid\":6,\"code\":2}");
    feed(r, HEAD("spawn", "200") "\"pid\":6,\"ppid\":5,\"image\":\"/bin/again\"}");
    feed(r, HEAD("exit", "300") "\"pid\":6,\"code\":0}");
    feed(r, HEAD("deny", "310") "\"pid\":6,\"op\":\"registry.write\",\"target\":\"HKCU\",\"rule\":"
                                "\"registry.write\",\"quiet\":true,\"count\":5}");
    feed(r, "not json");
    feed(r, "[]");
    feed(r, "");
    feed(r, HEAD("end", "950") "\"exit\":7,\"duration_ms\":950,\"denied\":42}");
    report_line(r, STR("{\"v\":1,\"ru"), true);
    report_finish(r);
    ok(r->totals[REPORT_DENY] == 42, "a count counts");
    ok(r->quiet == 5, "known harmless writes are counted apart");
    ok(r->totals[REPORT_ASK] == 1 && r->totals[REPORT_ALLOW] == 2, "asked and allowed");
    ok(r->malformed == 2 && r->cut, "malformed lines and a cut one");
    ok(r->process_count == 3 && r->processes[1].parent == 1 && r->processes[2].parent == 1 &&
           r->processes[1].code == 2 && r->processes[2].code == 0 && r->processes[1].end == 100,
       "processes, one number used twice");
    ok(r->processes[1].denied == 42, "denials belong to a process");
    ok(r->rules.count == 2 && str_eq(r->rules.items[0].rule, STR("roots.outside")),
       "rules, the most frequent first");
    ok(r->files.count == 1 && str_eq(r->files.items[0].target, STR("/a/new")),
       "files that were changed, not those that were read");
    ok(r->runs[0].exit == 7 && r->runs[0].duration_ms == 950 && r->run_count == 1, "the run");
    uint64_t seen = 0;
    for (size_t i = 0; i < REPORT_BINS; i++)
        seen += r->bins[i].count[REPORT_DENY];
    ok(seen == 42 && r->longest == 900, "the time line holds everything");
    report_page(r, STR("a.jsonl"), &page);
    report_text(r, STR("a.jsonl"), &text);
    report_json(r, STR("a.jsonl"), &json);
    ok(has(&page, ">--root . --root /</code>"), "the remedy is there to copy");
    ok(has(&page, "exit code 7 after 950 ms") && has(&text, "exit code 7 after 950 ms"), "the end");
    ok(has(&page, "pid 6, from 20 ms, for 80 ms, exit code 2"), "times of a process");
    ok(has(&json, "\"rules\":[{\"rule\":\"roots.outside\",\"count\":42"), "JSON");
    ok(is_own_script(&page), "one script, the one that the page allows");
    ok(has(&page, "<h1><code>sh -c x</code></h1>\n<p class=\"dim\">exit code 7 after 950 ms"),
       "the heading: what ran and how it ended");
    feed(r, HEAD("start", "000") "\"cmdline\":\"npm <test>\"}");
    report_page(r, STR("a.jsonl"), &page);
    ok(has(&page, "<h1><code>npm &lt;test&gt;</code></h1>"),
       "the command as it was typed, if known");
    ok(has(&page, "For a person to look at") && has(&text, "For a person to look at"),
       "what a person should look at stands under its own title");
    ok(has(&page, "<details open><summary class=\"row\"><span class=\"who\"><strong>sh") &&
           has(&page, "<b style=\"left:3."),
       "programs: folded with those that they started, denials marked");
    ok(!has(&page, "http:") && !has(&page, "https:") && !has(&page, "url("), "nothing to load");
    report_free(r);
}

/* Markup, control characters and strange Unicode in every member, also where a number belongs. */
static void test_hostile(void)
{
    static const char *const members[] = {
        "v",       "run",   "type",     "time",        "seq",   "pid",     "ppid",
        "image",   "op",    "target",   "rule",        "why",   "target2", "cmdline",
        "fix",     "quiet", "verdict",  "mode",        "roots", "count",   "first",
        "version", "net",   "boundary", "git",         "code",  "exit",    "boundary_detail",
        "denied",  "asked", "allowed",  "duration_ms", "undo"};
    static const char *const types[] = {"start", "spawn", "deny", "ask",
                                        "allow", "exit",  "end",  "change"};
    static const char value[] =
        "<script>alert(1)</script><img src=x onerror=y>\\\"'&\\u001b[2J\\u202e\\ud800\\u0000";
    struct report *r = fresh();
    auto_buf struct buf page = {0}, text = {0}, json = {0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            auto_buf struct buf line = {0};
            buf_fmt(&line, "{\"type\":\"%s\",\"run\":\"r\",\"pid\":1", types[t]);
            if (strcmp(members[m], "type") && strcmp(members[m], "run") &&
                strcmp(members[m], "pid"))
                buf_fmt(&line, ",\"%s\":\"%s\"", members[m], value);
            buf_char(&line, '}');
            report_line(r, buf_str(&line), false);
            buf_reset(&line);
            buf_fmt(&line, "{\"type\":\"%s\"", types[t]);
            for (size_t other = 0; other < sizeof members / sizeof *members; other++)
                if (strcmp(members[other], "type"))
                    buf_fmt(&line,
                            strcmp(members[other], "roots") ? ",\"%s\":\"%s\"" : ",\"%s\":[\"%s\"]",
                            members[other], value);
            buf_char(&line, '}');
            report_line(r, buf_str(&line), false);
        }
    report_finish(r);
    ok(r->malformed == 0 && r->events == 2 * 8 * 33, "every line was taken");
    report_page(r, STR("<script>\"'"), &page);
    report_text(r, STR("a\x1b[2J"), &text);
    report_json(r, STR("a"), &json);
    ok(has(&page, "&lt;script&gt;alert(1)"), "the control: the text is there");
    ok(is_own_script(&page) && !has(&page, "<img") && !has(&page, "onerror=y>"),
       "and is text, not markup");
    bool plain = true, page_plain = true;
    for (size_t i = 0; i < text.n; i++)
        plain = plain && ((unsigned char)text.p[i] >= 0x20 || text.p[i] == '\n');
    for (size_t i = 0; i < page.n; i++)
        page_plain = page_plain && ((unsigned char)page.p[i] >= 0x20 || page.p[i] == '\n');
    ok(plain && page_plain, "no control character reaches the terminal or the page");
    ok(!has(&page, "\xE2\x80\xAE") && !has(&text, "\xE2\x80\xAE"), "no turned direction");
    auto_arena struct arena arena = {0};
    struct json_value v;
    struct json_error error;
    ok(json_read(&arena, buf_str(&json), &v, &error) == 0, "the JSON can be read");
    report_free(r);
}

#define CHANGE(op, target) HEAD("change", "020") "\"op\":\"file." op "\",\"target\":\"" target "\"}"

/* One path that two runs changed is neither a folder nor shown once. */
static void test_tree_again(void)
{
    struct report *r = fresh();
    auto_buf struct buf page = {0};
    feed(r, CHANGE("write", "/w/a"));
    feed(r, CHANGE("delete", "/w/d"));
    feed(r, CHANGE("create", "/w/a"));
    feed(r, CHANGE("create", "/w/d"));
    feed(r, CHANGE("create", "/w/d/x"));
    feed(r, CHANGE("write", "/w/a.c"));
    report_finish(r);
    report_page(r, STR("a"), &page);
    ok(has(&page, "<ul class=\"tree\">\n"
                  "<li><span class=\"allow\">created</span> <code>a</code></li>\n"
                  "<li><span class=\"process\">modified</span> <code>a</code></li>\n"
                  "<li><span class=\"process\">modified</span> <code>a.c</code></li>\n"),
       "a file that was changed twice: each change, no folder");
    ok(has(&page,
           "<code>d/</code> <span class=\"dim\">2 created, 1 deleted; the folder itself: "
           "created, deleted</span></summary>\n<ul>\n<li><span class=\"allow\">created</span> "
           "<code>x</code></li>\n</ul>"),
       "a folder that was changed twice, with what is in it");
    report_free(r);
}

/* The changes of --undo: folders with their counts, whatever the order of the lines. */
static void test_tree(void)
{
    struct report *r = fresh();
    auto_buf struct buf page = {0}, none = {0}, deep = {0}, line = {0};
    report_page(r, STR("a"), &none);
    feed(r, CHANGE("write", "/w/src/b"));
    feed(r, CHANGE("create", "/w/src-old"));
    feed(r, CHANGE("delete", "/w/src/a/x"));
    feed(r, CHANGE("create", "/w/src"));
    feed(r,
         HEAD("end", "030") "\"undo\":\"20260131-1\",\"created\":7,\"modified\":1,\"deleted\":1}");
    report_finish(r);
    report_page(r, STR("a"), &page);
    ok(has(&page, "7 created, 1 modified, 1 deleted in <code>/w/</code>") &&
           has(&page, "cordon undo 20260131-1"),
       "the counts of the run, the folder and the way back");
    ok(has(&page,
           "<details open><summary><code>src/</code> <span class=\"dim\">1 created, 1 modified, "
           "1 deleted; the folder itself: created</span></summary>\n<ul>\n<li><span "
           "class=\"deny\">deleted</span> <code>a/x</code></li>\n<li><span "
           "class=\"process\">modified</span> <code>b</code></li>\n</ul>"),
       "a folder with what is in it");
    ok(has(&page, "</details></li>\n<li><span class=\"allow\">created</span> "
                  "<code>src-old</code>"),
       "its neighbour beside it");
    ok(has(&page, "and 5 more changes"), "changes that are not named are counted");
    ok(!has(&none, "id=\"changes\""), "control: without --undo the part is left out");
    report_free(r);
    test_tree_again();
    r = fresh();
    for (int i = 0; i < 2; i++) {
        buf_reset(&line);
        buf_add(&line, STR(HEAD("change", "020") "\"op\":\"file.create\",\"target\":\""));
        for (int n = 0; n < 250; n++)
            buf_add(&line, STR("/d"));
        buf_fmt(&line, "%d\"}", i);
        report_line(r, buf_str(&line), false);
        buf_reset(&line);
        buf_fmt(&line, CHANGE("create", "/%d"), i);
        report_line(r, buf_str(&line), false);
    }
    report_finish(r);
    report_page(r, STR("a"), &deep);
    ok(has(&deep, "/d/d0</code>") && !deep.failed, "a path of 250 folders is shown");
    report_free(r);
}

/* A million events with ever new targets, programs, rules and runs: the memory stays. */
static void test_million(void)
{
    struct report *r = fresh();
    auto_buf struct buf page = {0}, line = {0};
    size_t after_some = 0;
    enum { EVENTS = 1000000 };
    for (unsigned i = 0; i < EVENTS; i++) {
        static const char *const types[] = {"deny", "allow", "spawn", "exit"};
        buf_reset(&line);
        buf_fmt(&line,
                "{\"run\":\"r%u\",\"type\":\"%s\",\"time\":\"2026-01-31T%02u:%02u:%02u.000Z\","
                "\"pid\":%u,\"op\":\"file.write\",\"target\":\"/t/%u\",\"rule\":\"a.%u\"}",
                i / 5000, types[i % 4], i / 3600 % 24, i / 60 % 60, i % 60, i % 30000, i, i / 4000);
        report_line(r, buf_str(&line), false);
        if (i == 600000)
            after_some = r->arena.used;
    }
    report_finish(r);
    report_page(r, STR("a"), &page);
    ok(r->events == EVENTS && r->malformed == 0, "a million events");
    ok(r->totals[REPORT_DENY] == EVENTS / 4 && r->totals[REPORT_ALLOW] == EVENTS / 4,
       "none is lost from the totals");
    ok(r->arena.used == after_some && r->arena.used < 4u << 20, "the memory does not grow: %u KiB",
       (unsigned)(r->arena.used >> 10));
    ok(page.n < 2u << 20, "the page stays small: %u KiB", (unsigned)(page.n >> 10));
    report_free(r);
}

static void test_words(void)
{
    auto_buf struct buf out = {0};
    static const struct {
        uint64_t n;
        const char *text;
    } numbers[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        buf_reset(&out);
        report_number(&out, numbers[i].n);
        ok(strcmp(buf_cstr(&out), numbers[i].text) == 0, "%s", numbers[i].text);
    }
    buf_reset(&out);
    report_clean(&out, STR("a\nb\x01\xFF\xE2\x80\xAE\xC3\xA4"));
    ok(strcmp(buf_cstr(&out), "a\\nb\\u{1}\\xff\\u{202e}\xC3\xA4") == 0, "strange characters");
    buf_reset(&out);
    report_clean(&out, STR("e\xCC\x81 a\xCC\x82\xCC\x81 \xE0\xB8\x81\xE0\xB8\xB4\xE0\xB9\x88"));
    ok(strcmp(buf_cstr(&out), "e\xCC\x81 a\xCC\x82\xCC\x81 \xE0\xB8\x81\xE0\xB8\xB4\xE0\xB9\x88") ==
           0,
       "accents, and the vowels of other scripts, stay");
    buf_reset(&out);
    report_clean(&out, STR("/\xCC\xB7x\xCC\xB8\"\xCC\x81o\xCC\x81\xCC\x81\xCC\x81\xE2\x83\xA0"));
    ok(strcmp(buf_cstr(&out), "/\\u{337}x\\u{338}\"\\u{301}o\xCC\x81\xCC\x81\\u{301}\\u{20e0}") ==
           0,
       "marks that hide a character are spelled out");
    buf_reset(&out);
    /* Syriac, Ethiopic, Cyrillic and musical marks; and marks where they belong. */
    report_clean(&out, STR("/\xDC\xB0.\xE1\x8D\x9F a/\xE2\xB7\xA0 /\xF0\x9D\x85\xA5\xEF\xBF\xB9"));
    ok(strcmp(buf_cstr(&out), "/\\u{730}.\\u{135f} a/\\u{2de0} /\\u{1d165}\\u{fff9}") == 0,
       "marks of other scripts");
    buf_reset(&out);
    static const char own[] =
        "\xDC\x90\xDC\xB0 \xE0\xA4\x95\xE0\xA4\xBF\xE0\xA4\x82 \xD8\xA8\xD9\x8E /\xD8\xA8";
    report_clean(&out, str_of(own));
    ok(strcmp(buf_cstr(&out), own) == 0, "control: on letters of their own");
    buf_reset(&out);
    report_clean_lines(&out, STR("a\n\tb\x1B[2K\xC2\x9B"));
    ok(strcmp(buf_cstr(&out), "a\n\tb\\u{1b}[2K\\u{9b}") == 0, "strange characters among lines");
}

int main(void)
{
    test_counts();
    test_resolver();
    test_hostile();
    test_tree();
    test_words();
    test_million();
    return tap_done();
}
