/* SPDX-License-Identifier: Apache-2.0 */
/* Which configs hold nothing that git would run. */
#include "policy/git_config.h"

#include "tap.h"

#define CORE "[core]\n\tbare = false\n\tsshCommand = x\n"
#define A "[branch \"a\"]\n\tremote = o\n\tmerge = refs/heads/a\n"
#define B "[branch \"b\"]\n\tremote = p\n"

/* What git branch -d and -m make of a config, and what is more than that. */
static const struct {
    const char *old, *new;
    bool kept;
} branches[] = {
    {CORE A B, CORE A B, true},
    {CORE A B, CORE A, true},
    {CORE A B, CORE B, true},
    {CORE A B, CORE, true},
    {A CORE B, CORE B, true},
    {CORE A "[x]\n\ty = z\n" B, CORE "[x]\n\ty = z\n", true},
    {CORE A B, CORE "[branch \"c\"]\n\tremote = o\n\tmerge = refs/heads/a\n" B, true},
    {CORE A B, CORE "[branch \"c\"]\n\tremote = p\n", true},
    {"", "", true},
    {CORE, "", false},
    {"", A, false},
    {CORE A, CORE A B, false},
    {CORE A, CORE A A, false},
    {CORE A, CORE B, false},
    {CORE A, CORE A "[core]\n", false},
    {CORE A, "[core]\n\tbare = false\n" A, false},
    {CORE A, "[core]\n\tbare = false\n\tsshCommand = y\n" A, false},
    {CORE A, A CORE, false},
    {CORE A, CORE "[branch \"a\"]\n\tremote = o\n\tmerge = refs/heads/b\n", false},
    {CORE A, CORE "[branch \"a\"]\n\tremote = o\n\tmerge = refs/heads/a\n\tx = y\n", false},
    {CORE A, CORE "[branch \"a\"] [core] fsmonitor = x\n\tremote = o\n", false},
    {CORE A, CORE "[branch \"a\"] [core \"b\"]\n\tremote = o\n\tmerge = refs/heads/a\n", false},
    {CORE A, CORE "[branch \"a\\\"]\n\tremote = o\n\tmerge = refs/heads/a\n", false},
    {CORE "[branch]\n\tautosetuprebase = always\n", CORE, false},
    {CORE "[branch \"a\"] remote = o\n", CORE, false},
    {"[alias]\n\tx = \\\n" A CORE, "[alias]\n\tx = \\\n" CORE, false},
    {"[alias]\n\tx = \\\n" A CORE, "[alias]\n\tx = \\\n" A CORE, true},
    {"[alias]\n\tx = \\\r\n" A CORE, "[alias]\n\tx = \\\r\n" CORE, false},
    {A, "[branch \"a\"]\n\tremote = o\n\tmerge = refs/heads/a", false},
};

static const char *const harmless[] = {
    "",
    "\n",
    "# a comment\n; another\n",
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
    "[CORE]\r\n\tBare\r\n",
    "[core]\nbare",
    "[remote \"origin\"]\n\turl = ../one\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
    "[remote \"a\\\"b\"]\n\turl = git@host:x/y\n",
    "[branch \"main\"] ; followed\n\tremote = origin\n\tmerge = refs/heads/main\n",
    "[user]\n\tname = \"A # B\"\n\temail = a@b\n",
    "[commit]\n\tgpgsign = false\n[core]\n\tfsmonitor = false\n",
};

static const struct {
    const char *text, *key;
} refused[] = {
    {"[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"},
    {"[core]\n\tfsmonitor\n", "core.fsmonitor"},
    {"[core]\n\tfsmonitor = false x\n", "core.fsmonitor"},
    {"[Core]\n\thooksPath = x\n", "Core.hooksPath"},
    {"[core]\n\tsshCommand = x\n", "core.sshCommand"},
    {"[core]\n\teditor = x\n", "core.editor"},
    {"[core]\n\tpager = x\n", "core.pager"},
    {"[core]\n\taskPass = x\n", "core.askPass"},
    {"[core]\n\tgitProxy = x\n", "core.gitProxy"},
    {"[core]\n\tworktree = /\n", "core.worktree"},
    {"[core]\n\tattributesFile = x\n", "core.attributesFile"},
    {"[core]\n\talternateRefsCommand = x\n", "core.alternateRefsCommand"},
    {"[include]\n\tpath = x\n", "include.path"},
    {"[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeIf.*.path"},
    {"[filter \"f\"]\n\tclean = x\n", "filter.*.clean"},
    {"[diff \"f\"]\n\ttextconv = x\n", "diff.*.textconv"},
    {"[diff]\n\texternal = x\n", "diff.external"},
    {"[merge \"m\"]\n\tdriver = x\n", "merge.*.driver"},
    {"[alias]\n\tst = !x\n", "alias.st"},
    {"[credential]\n\thelper = x\n", "credential.helper"},
    {"[gpg]\n\tprogram = x\n", "gpg.program"},
    {"[commit]\n\tgpgsign = true\n", "commit.gpgsign"},
    {"[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeConfig"},
    {"[extensions]\n\tpartialClone = o\n", "extensions.partialClone"},
    {"[remote \"o\"]\n\turl = ext::sh -c x\n", "remote.*.url"},
    {"[remote \"o\"]\n\turl = \"ext:\":x\n", "remote.*.url"},
    {"[remote \"o\"]\n\turl = --upload-pack=x\n", "remote.*.url"},
    {"[remote \"o\"]\n\tuploadpack = x\n", "remote.*.uploadpack"},
    {"[remote \"o\"]\n\treceivepack = x\n", "remote.*.receivepack"},
    {"[remote \"o\"]\n\tvcs = x\n", "remote.*.vcs"},
    {"[remote \"o\"]\n\tproxy = x\n", "remote.*.proxy"},
    {"[remote \"o\"]\n\tpromisor = true\n", "remote.*.promisor"},
    {"[submodule \"o\"]\n\tupdate = !x\n", "submodule.*.update"},
    {"[core \"x\"]\n\tbare = true\n", "core.*.bare"},
    {"[remote]\n\turl = x\n", "remote.url"},
    {"bare = true\n", "a line that cannot be judged"},
    {"[core] fsmonitor = x\n", "a line that cannot be judged"},
    {"[core.x]\n\tbare = true\n", "a line that cannot be judged"},
    {"[core\n]\n", "a line that cannot be judged"},
    {"[core \"x]\n", "a line that cannot be judged"},
    {"[core \"x\" ]\n", "a line that cannot be judged"},
    {"[core]\n\tbare = a\\\n\tfsmonitor = x\n", "a line that cannot be judged"},
    {"[core]\n\tbare = a\\\r\n\tfsmonitor = x\n", "a line that cannot be judged"},
    {"[core]\n\tbare = a\rfsmonitor = x\n", "a line that cannot be judged"},
    {"[core]\n\tbare x = a\n", "a line that cannot be judged"},
    {"[core]\n\t1bare = a\n", "a line that cannot be judged"},
    {"\xef\xbb\xbf[core]\n\tbare = a\n", "a line that cannot be judged"},
};

#define ORIGIN "[remote \"origin\"]\n\turl = /a\n"
#define OTHER "[remote \"o\"]\n\turl = /b\n\tfetch = +refs/heads/*:refs/remotes/o/*\n"

/* What git remote add and the like make of a config, and what is more than that. */
static const struct {
    const char *old, *new;
    bool added;
} additions[] = {
    {CORE ORIGIN, CORE ORIGIN, true},
    {CORE ORIGIN, CORE ORIGIN OTHER, true},
    {CORE ORIGIN, OTHER CORE ORIGIN, true},
    {CORE ORIGIN, CORE ORIGIN "\tfetch = x\n", true},
    {CORE, CORE "\tfilemode = true\n" A, true},
    {CORE, CORE "[user]\n\tname = n\n", true},
    {CORE ORIGIN, CORE, false},
    {CORE ORIGIN, CORE "[remote \"origin\"]\n\turl = /c\n", false},
    {CORE ORIGIN, CORE ORIGIN "\tpushurl = /c\n", false},
    {CORE ORIGIN, CORE ORIGIN "[remote \"origin\"]\n\tpushurl = /c\n", false},
    {CORE ORIGIN, CORE ORIGIN "[remote \"ori\\gin\"]\n\tpushurl = /c\n", false},
    {CORE "[remote.origin]\n", CORE "[remote.origin]\n" OTHER, false},
    {CORE, CORE "[remote \"o\"]\n\turl = ext::x\n", false},
    {CORE, CORE "\tfsmonitor = x\n", false},
    {CORE, CORE "[alias]\n\tx = !y\n", false},
    {CORE, "[alias]\n" CORE, true},
    {"[a]\n\tx = !y\n", "[a]\n[alias]\n\tx = !y\n", false},
    {CORE, "[core]\n\tbare = false\n[ssh]\n\tsshCommand = x\n", false},
    {CORE, CORE "[core] fsmonitor = x\n", false},
    {CORE, CORE "[user]\n\tname = n\\\n[core]\n\tfsmonitor = x\n", false},
    {CORE, CORE "\tworktree = /\n", false},
};

static struct str named[4];
static size_t named_count;

static void take_name(void *context, enum git_config_named kind, struct str path)
{
    static char texts[4][64];
    (void)context;
    if (named_count == 4)
        return;
    snprintf(texts[named_count], sizeof texts[0], "%d %.*s", (int)kind, STR_ARG(path));
    named[named_count] = str_of(texts[named_count]);
    named_count++;
}

static void test_names(void)
{
    static const struct {
        const char *config, *first;
    } rows[] = {
        {"[core]\n\thooksPath = .husky/_\n", "0 .husky/_"},
        {"[CORE] HOOKSPATH=a b # c\n", "0 a b"},
        {"\xef\xbb\xbf[core]\nhookspath = \"a;b\" ; c\r\n", "0 a;b"},
        {"[core]\n\tfsmonitor = ./watch --x\n", "1 ./watch"},
        {"[core]\n\tfsmonitor = true\n", NULL},
        {"[core]\n\tfsmonitor = \"sh -x tools/fs.sh\"\n", "1 tools/fs.sh"},
        {"[include]\n\tpath = ../more\n", "2 ../more"},
        {"[includeIf \"gitdir:[x]/\"]\n\tpath = c:\\\\a\n", "2 c:\\a"},
        {"[other]\n\thooksPath = x\n\tpath = y\n", NULL},
        {"[core]\n# hooksPath = x\n\thooksPath\n", NULL},
        {"[core]\n\thooksPath = a\\\nb\n", "0 ab"},
        {"[core]\r\n\thooksPath = a\\\r\nb\r\n", "0 ab"},
        {"[core]\n\thooksPath = \\\n  \\\n/a\n", "0 /a"},
        {"[core]\n\teditor = x\\\n# y\n\thooksPath = a\n", "0 a"},
        {"[core]\n\teditor = x # y\\\n\thooksPath = a\n", "0 a"},
        {"[core]\n# y\\\n\thooksPath = a\n", "0 a"},
        {"[core] # ]\nhooksPath = a\n", "0 a"},
        {"[core] [include]\npath = a\n", "2 a"},
        {"[a][b \"c\"] [core]hooksPath = a\n", "0 a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        named_count = 0;
        git_config_names(str_of(rows[i].config), &(struct git_config_use){.named = take_name});
        ok(rows[i].first ? named_count == 1 && str_eq(named[0], str_of(rows[i].first))
                         : named_count == 0,
           "names, row %zu", i);
    }
    named_count = 0;
    git_config_name(STR("includeIf.gitdir:/a.b/.path"), STR("x"),
                    &(struct git_config_use){.named = take_name});
    ok(named_count == 1 && str_eq(named[0], STR("2 x")), "a key with a subsection");
}

int main(void)
{
    test_names();
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        char why[GIT_CONFIG_KEY];
        ok(git_config_only_adds(str_of(additions[i].old), str_of(additions[i].new), NULL, why) ==
               additions[i].added,
           "additions, row %zu: %s", i, additions[i].added ? "taken" : "refused");
    }
    struct str tree = STR_NONE;
    char reason[GIT_CONFIG_KEY];
    ok(git_config_only_adds(str_of(CORE), str_of(CORE "\tworktree = ../m\n"), &tree, reason) &&
           str_eq(tree, STR("../m")),
       "a working tree is told");
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        ok(git_config_keeps_all_but_branches(str_of(branches[i].old), str_of(branches[i].new)) ==
               branches[i].kept,
           "branches, row %u: %s", (unsigned)i, branches[i].kept ? "kept" : "refused");
    char key[GIT_CONFIG_KEY];
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        ok(git_config_is_harmless(str_of(harmless[i]), NULL, key), "harmless: %zu", i);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        bool passes = git_config_is_harmless(str_of(refused[i].text), NULL, key);
        ok(!passes && strcmp(key, refused[i].key) == 0, "refused: %s (%s)", refused[i].key,
           passes ? "passes" : key);
    }
    ok(!git_config_is_harmless((struct str){"[core]\n\tbare = \0\n", 18}, NULL, key), "a NUL");
    return tap_done();
}
