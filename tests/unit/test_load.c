/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files, Codex pairs and TOML values. */
#include "policy/load.h"
#include "policy/toml.h"
#include "tap.h"

static bool lookup(void *context, struct str name, struct str *value)
{
    (void)context;
    *value = STR("C:\\work");
    return str_eq(name, STR("WORK")) || str_eq(name, STR("ProgramFiles(x86)"));
}

static const struct policy_source source = {
    .name = {"p.json", 6}, .folder = {"C:\\conf", 7}, .lookup = lookup};

struct loaded {
    struct arena arena;
    struct policy_settings settings;
    struct buf error;
    int rc;
};

static void load(struct loaded *l, const char *text)
{
    *l = (struct loaded){.rc = 0};
    l->settings.machine.home = STR("C:\\Users\\u");
    l->rc = policy_load(&l->arena, &source, str_of(text), &l->settings, &l->error);
}

static void pair(struct loaded *l, const char *text)
{
    struct policy_source c = {.name = STR("-c"), .folder = STR("C:\\cwd")};
    *l = (struct loaded){.rc = 0};
    l->rc = policy_load_pair(&l->arena, &c, str_of(text), &l->settings, &l->error);
}

static void drop(struct loaded *l)
{
    arena_free(&l->arena);
    buf_free(&l->error);
}

static bool has(const struct policy_list *list, size_t at, const char *path)
{
    return at < list->count &&
           str_eq(list->items[at].path.n ? list->items[at].path : list->items[at].given,
                  str_of(path));
}

static void test_keys(void)
{
    struct loaded l;
    load(&l,
         "{\"$schema\":\"x\",\"mode\":\"workspace-write\",\"roots\":[\".\",\"sub\\\\x\",\"D:/d\","
         "\"~/p\",\"%WORK%\\\\q\",\"$WORK/r\",\"${WORK}s\"],\n \"denyWrite\":[\"a\"],"
         "\"denyRead\":[\"@credentials\",\"b\"],\"allowRead\":[\"c\"],\"git\":\"commit\","
         "\"unprotect\":[\".vscode\"],\"temp\":\"session=a-1\",\"network\":{\"mode\":\"allow\","
         "\"allow\":[\"*.x.org\"]},\"allowTools\":[\"ssh\"],\"denyTools\":[\"y\"],"
         "\"strict\":true,\"limits\":{\"timeout\":1.5,\"processes\":9,\"memory\":\"2G\"}}");
    const struct policy_settings *s = &l.settings;
    if (!ok(l.rc == 0, "every key of ours"))
        note("%s", buf_cstr(&l.error));
    ok(s->mode == POLICY_WORKSPACE_WRITE && s->git == POLICY_GIT_COMMIT && s->strict &&
           s->temp == POLICY_TEMP_SESSION && str_eq(s->session, STR("a-1")) &&
           s->net == POLICY_NET_ALLOW,
       "words");
    ok(has(&s->roots, 0, "C:\\conf") && has(&s->roots, 1, "C:\\conf\\sub\\x") &&
           has(&s->roots, 2, "D:\\d") && has(&s->roots, 3, "C:\\Users\\u\\p") &&
           has(&s->roots, 4, "C:\\work\\q") && has(&s->roots, 5, "C:\\work\\r") &&
           has(&s->roots, 6, "C:\\works"),
       "relative to the file, ~ and variables");
    ok(has(&s->deny_write, 0, "C:\\conf\\a") && has(&s->deny_read, 0, "@credentials") &&
           has(&s->deny_read, 1, "C:\\conf\\b") && has(&s->allow_read, 0, "C:\\conf\\c") &&
           has(&s->unprotect, 0, ".vscode") && has(&s->net_allow, 0, "*.x.org") &&
           has(&s->allow_tools, 0, "ssh") && has(&s->deny_tools, 0, "y"),
       "lists");
    ok(s->limits.timeout_ms == 1500 && s->limits.processes == 9 &&
           s->limits.memory == (uint64_t)2 << 30,
       "limits");
    ok(str_eq(s->deny_write.items[0].from, STR("p.json:2:15")) &&
           str_eq(s->mode_from, STR("p.json:1:23")),
       "each knows where it stands");
    drop(&l);
}

static void test_synonyms(void)
{
    struct loaded l;
    load(&l, "{\"filesystem\":{\"allowWrite\":[\"a\"],\"denyWrite\":[\"b\"],\"denyRead\":[\"c\"],"
             "\"allowRead\":[\"d\"]},\"network\":{\"allowedDomains\":[\"x.org\"]},"
             "\"credentials\":{\"files\":[\"~/.k\"]}}");
    ok(l.rc == 0 && has(&l.settings.roots, 0, "C:\\conf\\a") &&
           has(&l.settings.deny_write, 0, "C:\\conf\\b") &&
           has(&l.settings.deny_read, 0, "C:\\conf\\c") &&
           has(&l.settings.allow_read, 0, "C:\\conf\\d") && l.settings.net == POLICY_NET_ALLOW &&
           has(&l.settings.deny_read, 1, "C:\\Users\\u\\.k"),
       "srt's keys");
    drop(&l);
    load(&l, "{\"filesystem\":{\"readwritePaths\":[\"a\"],\"readonlyPaths\":[\"b\"],"
             "\"deniedPaths\":[\"c\"]}}");
    ok(l.rc == 0 && has(&l.settings.roots, 0, "C:\\conf\\a") &&
           has(&l.settings.deny_write, 0, "C:\\conf\\b") &&
           has(&l.settings.deny_write, 1, "C:\\conf\\c") &&
           has(&l.settings.deny_read, 0, "C:\\conf\\c"),
       "MXC's keys");
    drop(&l);
    load(&l,
         "{\"sandbox_mode\":\"danger-full-access\",\"sandbox_workspace_write\":{"
         "\"writable_roots\":[\"a\"],\"network_access\":true,\"exclude_tmpdir_env_var\":true}}");
    ok(l.rc == 0 && l.settings.mode == POLICY_FULL_ACCESS && l.settings.net == POLICY_NET_ON &&
           has(&l.settings.roots, 0, "C:\\conf\\a") && l.settings.no_temp,
       "Codex's keys");
    drop(&l);
    load(&l, "\xEF\xBB\xBF{}");
    ok(l.rc == 0, "a byte order mark is skipped");
    drop(&l);
}

static void test_errors(void)
{
    static const struct {
        const char *text, *message;
        int code;
    } rows[] = {
        {"{\n  \"rots\": []\n}", "p.json:2:3: unknown key \"rots\"; did you mean \"roots\"?",
         CORDON_E_UNKNOWN},
        {"{\"denywrite\":[]}", "did you mean \"denyWrite\"?", CORDON_E_UNKNOWN},
        {"{\"network\":{\"mod\":\"off\"}}",
         "p.json:1:13: unknown key \"network.mod\"; did you mean "
         "\"network.mode\"?",
         CORDON_E_UNKNOWN},
        {"{\"net\":\"off\"}", "did you mean \"network.mode\"?", CORDON_E_UNKNOWN},
        {"{\"allowWrite\":[]}", "did you mean \"filesystem.allowWrite\"?", CORDON_E_UNKNOWN},
        {"{\"qqqqqqqqqqqq\":1}", "unknown key \"qqqqqqqqqqqq\"", CORDON_E_UNKNOWN},
        {"{\"roots\":\"a\"}", "p.json:1:10: \"roots\" must be a list of strings", CORDON_E_VALUE},
        {"{\"roots\":[1]}", "p.json:1:11: \"roots\" must be a list of strings", CORDON_E_VALUE},
        {"{\"roots\":[\"\"]}", "an empty path", CORDON_E_VALUE},
        {"{\"roots\":[\"src/*\"]}", "wildcards are not supported", CORDON_E_VALUE},
        {"{\"roots\":[\"a?b\"]}", "wildcards are not supported", CORDON_E_VALUE},
        {"{\"roots\":[\"%NOPE%\"]}", "the variable NOPE is not set", CORDON_E_VALUE},
        {"{\"roots\":[\"$NOPE\"]}", "the variable NOPE is not set", CORDON_E_VALUE},
        {"{\"roots\":[\"$\"]}", "is not set", CORDON_E_VALUE},
        {"{\"roots\":[\"%WORK\"]}", "a variable that does not end", CORDON_E_VALUE},
        {"{\"roots\":[\"aa:b\"]}", "not a plain path", CORDON_E_VALUE},
        {"{\"roots\":[\"\\\\\\\\.\\\\C:\"]}", "not a plain path (volume)", CORDON_E_VALUE},
        {"{\"roots\":[\"C:\\ws\"]}", "p.json:1:15: unknown escape; a backslash is written \\\\",
         CORDON_E_SYNTAX},
        {"{\"mode\":\"rw\"}", "must be read-only, workspace-write or full-access", CORDON_E_VALUE},
        {"{\"mode\":1}", "must be a string", CORDON_E_VALUE},
        {"{\"git\":\"on\"}", "must be protect, commit or full", CORDON_E_VALUE},
        {"{\"temp\":\"session=../x\"}", "must be private, own, shared or session=ID",
         CORDON_E_VALUE},
        {"{\"strict\":1}", "must be true or false", CORDON_E_VALUE},
        {"{\"network\":\"off\"}", "must be an object", CORDON_E_VALUE},
        {"{\"network\":{\"mode\":\"some\"}}", "must be off, loopback", CORDON_E_VALUE},
        {"{\"network\":{\"mode\":\"off\",\"allow\":[\"x\"]}}", "says otherwise", CORDON_E_CONFLICT},
        {"{\"mode\":\"read-only\",\"sandbox_mode\":\"read-only\"}", "says again",
         CORDON_E_CONFLICT},
        {"{\"network\":{\"mode\":\"off\"},\"sandbox_workspace_write\":{\"network_access\":true}}",
         "says again", CORDON_E_CONFLICT},
        {"{\"limits\":{\"timeout\":0}}", "a number of seconds", CORDON_E_VALUE},
        {"{\"limits\":{\"timeout\":-1}}", "a number of seconds", CORDON_E_VALUE},
        {"{\"limits\":{\"processes\":1.5}}", "a whole number", CORDON_E_VALUE},
        {"{\"limits\":{\"memory\":\"lots\"}}", "512M", CORDON_E_VALUE},
        {"{\"limits\":{\"memory\":\"99999999999G\"}}", "512M", CORDON_E_VALUE},
        {"{\"mode\":\"read-only\",\n\"mode\":\"read-only\"}", "p.json:2:1: ", CORDON_E_SYNTAX},
        {"[]", "a policy is an object", CORDON_E_VALUE},
        {"", "p.json:1:1: ", CORDON_E_SYNTAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        load(&l, rows[i].text);
        bool said = str_find(buf_str(&l.error), str_of(rows[i].message), 0) < l.error.n;
        if (!ok(l.rc == rows[i].code && said && l.settings.roots.count == 0, "refused: %s",
                rows[i].text))
            note("%d %s", l.rc, buf_cstr(&l.error));
        drop(&l);
    }
}

static void test_posix(void)
{
    struct loaded l = {.rc = 0};
    struct policy_source posix = {.name = STR("p"), .folder = STR("/conf"), .lookup = lookup};
    l.settings.paths.dialect = PATH_POSIX;
    l.settings.machine.home = STR("/home/u");
    l.rc =
        policy_load(&l.arena, &posix, STR("{\"roots\":[\"a\",\"~/b\",\"/c/../d\",\"%x%\",\"$$\"]}"),
                    &l.settings, &l.error);
    ok(l.rc == 0 && has(&l.settings.roots, 0, "/conf/a") &&
           has(&l.settings.roots, 1, "/home/u/b") && has(&l.settings.roots, 2, "/d") &&
           has(&l.settings.roots, 3, "/conf/%x%") && has(&l.settings.roots, 4, "/conf/$"),
       "the other dialect");
    drop(&l);
}

static void test_pairs(void)
{
    struct loaded l;
    pair(&l, "sandbox_mode=\"workspace-write\"");
    ok(l.rc == 0 && l.settings.mode == POLICY_WORKSPACE_WRITE, "a mode in quotes");
    drop(&l);
    pair(&l, "sandbox_mode=workspace-write");
    ok(l.rc == 0 && l.settings.mode == POLICY_WORKSPACE_WRITE, "a mode without quotes");
    drop(&l);
    pair(&l, "sandbox_workspace_write.writable_roots=['C:\\ws', \"C:\\\\x\", \"C:/y\", 'rel',]");
    ok(l.rc == 0 && has(&l.settings.roots, 0, "C:\\ws") && has(&l.settings.roots, 1, "C:\\x") &&
           has(&l.settings.roots, 2, "C:\\y") && has(&l.settings.roots, 3, "C:\\cwd\\rel"),
       "a list of roots");
    drop(&l);
    pair(&l, "sandbox_workspace_write.network_access=true");
    ok(l.rc == 0 && l.settings.net == POLICY_NET_ON, "a boolean");
    drop(&l);
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"sandbox_workspace_write.writable_roots=[\"C:\\ws\"]", "write 'C:\\ws' or C:/ws"},
        {"sandbox_workspace_write.writable_roots=C:\\ws", "must be a list such as"},
        {"sandbox_workspace_write.writable_roots=[C:\\ws]", "the shell took them"},
        {"sandbox_workspace_write.network_access=yes", "must be true or false"},
        {"sandbox_mode=true", "must be a string"},
        {"sandbox_mode=\"x\"", "must be read-only"},
        {"sandbox_mod=x", "did you mean \"sandbox_mode\"?"},
        {"roots=['a']", "unknown key \"roots\""},
        {"sandbox_mode", "KEY=VALUE"},
        {"sandbox_workspace_write.writable_roots=['C:\\*']", "wildcards"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pair(&l, rows[i].text);
        bool said = str_find(buf_str(&l.error), str_of(rows[i].message), 0) < l.error.n;
        if (!ok(l.rc != 0 && said, "refused: %s", rows[i].text))
            note("%d %s", l.rc, buf_cstr(&l.error));
        drop(&l);
    }
}

static void test_words(void)
{
    static const struct {
        const char *word;
        uint64_t bytes; /* 0: refused */
    } memory[] = {{"512", 512},
                  {"512K", 512 << 10},
                  {"512k", 512 << 10},
                  {"3M", 3 << 20},
                  {"2g", (uint64_t)2 << 30},
                  {"", 0},
                  {"K", 0},
                  {"0", 0},
                  {"-1", 0},
                  {"1T", 0},
                  {"1 M", 0},
                  {"99999999999999999999", 0},
                  {"999999999999G", 0}};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        uint64_t bytes = 0;
        int rc = policy_read_memory((struct str){memory[i].word, strlen(memory[i].word)}, &bytes);
        ok((rc == 0) == (memory[i].bytes != 0) && bytes == memory[i].bytes, "memory \"%s\"",
           memory[i].word);
    }
    auto_arena struct arena arena = {0};
    struct policy_settings s = {0};
    ok(policy_read_temp(&arena, STR("shared"), &s) == 0 && s.temp == POLICY_TEMP_SHARED, "shared");
    ok(policy_read_temp(&arena, STR("private"), &s) == 0 && s.temp == POLICY_TEMP_PRIVATE,
       "private");
    ok(policy_read_temp(&arena, STR("own"), &s) == 0 && s.temp == POLICY_TEMP_OWN, "own");
    static const char *const temps[] = {
        "", "session", "session=", "sessions=a", "session=a/b", "SHARED", "session=.."};
    for (size_t i = 0; i < sizeof temps / sizeof *temps; i++)
        ok(policy_read_temp(&arena, (struct str){temps[i], strlen(temps[i])}, &s) == CORDON_E_VALUE,
           "temp \"%s\" is refused", temps[i]);
    static const char *const nets[] = {"",       "offf",       "proxy=",   "proxy=x", "proxy=x:0",
                                       "allow=", "allow=a,,b", "allow=a,", "ON"};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        ok(policy_read_net(&arena, (struct str){nets[i], strlen(nets[i])}, STR("x"), &s) ==
                   CORDON_E_VALUE &&
               s.net == POLICY_NET_OFF && s.net_allow.count == 0,
           "net \"%s\" is refused", nets[i]);
    ok(policy_read_net(&arena, STR("allow=a.org, b.org"), STR("x"), &s) == 0 &&
           s.net == POLICY_NET_ALLOW && has(&s.net_allow, 0, "a.org") &&
           has(&s.net_allow, 1, "b.org") && s.net_allow.count == 2,
       "names with commas");
}

static void test_toml(void)
{
    static const char *const bad[] = {
        "",
        "tru",
        "\"a",
        "'a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "[\"a\"",
        "[\"a\" \"b\"]",
        "[1]",
        "[,]",
        "\"a\" b",
        "'a\nb'",
        "1.5",
        "[[]]",
        "\"\\U00110000\"",
        "]",
    };
    auto_arena struct arena arena = {0};
    struct toml_value v;
    struct toml_error e;
    ok(toml_read(&arena, STR(" \"a\\tb\\u00e4\\U0001F600\\\\\" # c"), &v, &e) == 0 &&
           v.type == TOML_STRING && str_eq(v.text, STR("a\tb\xC3\xA4\xF0\x9F\x98\x80\\")),
       "a basic string");
    ok(toml_read(&arena, STR("'C:\\x\"'"), &v, &e) == 0 && str_eq(v.text, STR("C:\\x\"")),
       "a literal string");
    ok(toml_read(&arena, STR("[ 'a' , # one\n \"b\",\n]"), &v, &e) == 0 && v.type == TOML_LIST &&
           v.count == 2 && str_eq(v.items[1], STR("b")),
       "a list over lines");
    ok(toml_read(&arena, STR("[]"), &v, &e) == 0 && v.type == TOML_LIST && v.count == 0,
       "an empty list");
    ok(toml_read(&arena, STR("false"), &v, &e) == 0 && v.type == TOML_BOOL && !v.truth, "false");
    ok(toml_read(&arena, STR("-12"), &v, &e) == 0 && v.type == TOML_NUMBER, "an integer");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(toml_read(&arena, str_of(bad[i]), &v, &e) == CORDON_E_SYNTAX && e.what, "not TOML: %s",
           bad[i]);
    ok(toml_read(&arena, STR("\"C:\\ws\""), &v, &e) != 0 && e.escape,
       "a bad escape is known as one");
}

int main(void)
{
    test_keys();
    test_synonyms();
    test_errors();
    test_posix();
    test_pairs();
    test_words();
    test_toml();
    return tap_done();
}
