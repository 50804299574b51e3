/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an outer policy allows no more than an inner one asks for. */
#include <stdlib.h>

#include "policy/narrow.h"
#include "tap.h"

static struct policy *compile(struct policy_settings *s)
{
    auto_buf struct buf error = {0};
    struct policy *policy = NULL;
    s->paths.dialect = PATH_POSIX;
    s->paths.cwd = STR("/w");
    if (policy_compile(s, &policy, &error))
        note("%s", buf_cstr(&error));
    return policy;
}

static struct policy_entry entry(const char *path)
{
    return (struct policy_entry){.given = str_of(path), .path = str_of(path), .from = STR("test")};
}

static bool narrow(struct policy_settings outer, struct policy_settings inner)
{
    auto_buf struct buf outline = {0}, why = {0};
    struct policy *a = compile(&outer), *b = compile(&inner);
    policy_outline(a, &outline);
    bool result = policy_is_narrow(buf_str(&outline), b, &why);
    if (result != (why.n == 0))
        note("the reason does not fit: %s", buf_cstr(&why));
    policy_free(a);
    policy_free(b);
    return result;
}

/* The outline is the same when it is read back. */
static bool survives(struct policy_settings s)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf outline = {0}, again = {0};
    struct policy_settings read = {.allow_broad_root = true};
    struct policy *first = compile(&s), *second = NULL;
    policy_outline(first, &outline);
    int rc = policy_read_outline(&arena, buf_str(&outline), &read);
    if (rc == 0 && (second = compile(&read)))
        policy_outline(second, &again);
    bool same = second && str_eq(buf_str(&outline), buf_str(&again));
    if (!same)
        note("%d: %s became %s", rc, buf_cstr(&outline), buf_cstr(&again));
    policy_free(first);
    policy_free(second);
    return same;
}

static void test_read_back(struct policy_list roots, struct policy_list odd)
{
    static const char *const broken[] = {"",           "mode 3\n", "mode x\n",  "mode 1",
                                         "colour 1\n", "net 9\n",  "root %zz\n"};
    struct policy_entry name = {.given = STR("example.com"), .from = STR("test")};
    struct policy_entry tool = {.given = STR("ssh"), .from = STR("test")};
    struct policy_settings s = {.mode = POLICY_WORKSPACE_WRITE,
                                .roots = roots,
                                .deny_read = odd,
                                .deny_write = odd,
                                .self = odd,
                                .net = POLICY_NET_ALLOW,
                                .net_allow = {&name, 1, 1},
                                .allow_tools = {&tool, 1, 1},
                                .git = POLICY_GIT_COMMIT,
                                .strict = true,
                                .temp_path = STR("/t")};
    for (int temp = POLICY_TEMP_PRIVATE; temp <= POLICY_TEMP_OWN; temp++) {
        s.temp = (enum policy_temp)temp;
        ok(survives(s), "a policy survives its outline, temp %d", temp);
    }
    s.mode = POLICY_READ_ONLY;
    s.net = POLICY_NET_OFF;
    ok(survives(s), "read-only survives it");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        auto_arena struct arena arena = {0};
        struct policy_settings read = {0};
        ok(policy_read_outline(&arena, str_of(broken[i]), &read) == CORDON_E_VALUE,
           "not an outline: %zu", i);
    }
}

int main(void)
{
    struct policy_entry w = entry("/w"), sub = entry("/w/sub"), odd = entry("/w/a\n\x10% b"),
                        beside = entry("/wide");
    struct policy_list list_w = {&w, 1, 1}, list_sub = {&sub, 1, 1}, list_odd = {&odd, 1, 1},
                       list_beside = {&beside, 1, 1};
    struct policy_settings base = {.mode = POLICY_WORKSPACE_WRITE, .roots = list_w}, s, more;
    ok(narrow(base, base), "the same policy");
    test_read_back(list_w, list_odd);
    s = base, s.mode = POLICY_READ_ONLY;
    ok(narrow(s, base) && !narrow(base, s), "read-only is narrower");
    s = base, s.roots = list_sub;
    ok(narrow(s, base) && !narrow(base, s), "a smaller root is narrower");
    s = base, s.roots = list_beside;
    ok(!narrow(s, base) && !narrow(base, s), "another root with the same beginning is not");
    s = base, s.roots = list_odd;
    ok(narrow(s, s) && narrow(s, base), "names with line breaks survive");
    struct policy_entry all = entry("/");
    struct policy_list list_all = {&all, 1, 1};
    s = base, s.deny_read = list_all;
    more = base, more.deny_read = list_sub;
    ok(narrow(s, more) && !narrow(more, s), "what denies everything denies a part");
    s = base, s.net = POLICY_NET_ON;
    ok(narrow(base, s) && !narrow(s, base), "the network off is narrower");
    s = base, s.git = POLICY_GIT_COMMIT;
    ok(narrow(base, s) && !narrow(s, base), "--git=protect is narrower");
    more = s, more.git_dirs = list_beside;
    ok(narrow(s, more) && narrow(more, more) && !narrow(more, s),
       "no git folder elsewhere is narrower");
    s = base, s.deny_write = list_sub;
    ok(narrow(s, base) && !narrow(base, s), "deny-write is narrower");
    ok(narrow(s, s), "the same deny-write");
    s = base, s.deny_write = list_beside;
    ok(narrow(base, s), "deny-write of what cannot be written anyway changes nothing");
    s = base, s.deny_read = list_sub;
    ok(narrow(s, base) && !narrow(base, s), "deny-read is narrower");
    ok(narrow(s, s), "the same deny-read");
    more = s;
    more.allow_read = list_sub;
    s.deny_read = list_w, more.deny_read = list_w;
    ok(narrow(s, more) && !narrow(more, s) && narrow(more, more), "without allow-read is narrower");
    s = base, s.self = list_sub;
    ok(narrow(s, base) && !narrow(base, s), "Cordon's own files count");
    s = base, s.temp_path = STR("/tmp"), s.temp = POLICY_TEMP_SHARED;
    ok(narrow(base, s) && !narrow(s, base), "no temp folder is narrower");
    struct policy_entry vscode = entry(".vscode");
    struct policy_list list_vscode = {&vscode, 1, 1};
    s = base, s.unprotect = list_vscode;
    ok(narrow(base, s) && !narrow(s, base) && narrow(s, s), "what is protected is narrower");
    s = base, s.strict = true;
    ok(narrow(s, base) && !narrow(base, s), "strict is narrower");

    struct policy_entry ssh = entry("ssh"), curl = entry("curl"), a = entry("a.test"),
                        b = entry("b.test");
    struct policy_entry both[] = {a, b};
    struct policy_list list_ssh = {&ssh, 1, 1}, list_curl = {&curl, 1, 1}, list_a = {&a, 1, 1},
                       list_both = {both, 2, 2};
    s = base, s.deny_tools = list_ssh, more = base, more.deny_tools = list_curl;
    ok(narrow(s, base) && !narrow(base, s) && narrow(s, s) && !narrow(s, more), "denied tools");
    s = base, s.allow_tools = list_ssh, more = base, more.allow_tools = list_curl;
    ok(narrow(base, s) && !narrow(s, base) && narrow(s, s) && !narrow(s, more), "allowed tools");
    s = base, s.net = POLICY_NET_ALLOW, s.net_allow = list_a;
    more = s, more.net_allow = list_both;
    ok(narrow(s, more) && !narrow(more, s) && narrow(more, more), "fewer hosts are narrower");
    s = base, s.net = POLICY_NET_PROXY, s.proxy = STR("127.0.0.1:1");
    more = s, more.proxy = STR("127.0.0.1:2");
    ok(narrow(s, s) && !narrow(s, more), "the same proxy");

    struct policy *policy = compile(&base);
    static const char *const bad[] = {"mode 10\ngit 0\nnet 0\nstrict 0\n",
                                      "",
                                      "mode 1\n",
                                      "mode x\n",
                                      "what 1\n",
                                      "mode 1",
                                      "root %zz\n",
                                      "root %\n",
                                      "mode 1\ngit 0\nnet 0\nstrict 0\nroot /w/%2\n",
                                      "mode 1\ngit 0\nnet 0\nstrict 0\nnew 1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        /* In a buffer of exactly its size. */
        auto_buf struct buf why = {0};
        size_t n = strlen(bad[i]);
        char *copy = malloc(n ? n : 1);
        memcpy(copy, bad[i], n);
        ok(!policy_is_narrow((struct str){copy, n}, policy, &why) && why.n,
           "what is not understood, %zu", i);
        free(copy);
    }
    auto_buf struct buf long_one = {0}, why = {0};
    buf_add(&long_one, STR("mode 1\ngit 0\nnet 0\nstrict 0\n"));
    for (int i = 4; i < 4096; i++)
        buf_add(&long_one, STR("root /w\n"));
    ok(policy_is_narrow(buf_str(&long_one), policy, &why), "as many lines as there may be");
    ok(!policy_is_narrow(str_slice(buf_str(&long_one), 0, long_one.n - 1), policy, &why),
       "a last line that is cut");
    buf_add(&long_one, STR("root /w\n"));
    ok(!policy_is_narrow(buf_str(&long_one), policy, &why), "one line more");
    policy_free(policy);
    return tap_done();
}
