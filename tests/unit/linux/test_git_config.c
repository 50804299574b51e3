/* SPDX-License-Identifier: Apache-2.0 */
/* Which configs hold nothing that git would run. */
#include "broker/linux/git_config.h"

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

int main(void)
{
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        ok(git_config_keeps_all_but_branches(str_of(branches[i].old), str_of(branches[i].new)) ==
               branches[i].kept,
           "branches, row %u: %s", (unsigned)i, branches[i].kept ? "kept" : "refused");
    char key[GIT_CONFIG_KEY];
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        ok(git_config_is_harmless(str_of(harmless[i]), key), "harmless: %zu", i);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        bool passes = git_config_is_harmless(str_of(refused[i].text), key);
        ok(!passes && strcmp(key, refused[i].key) == 0, "refused: %s (%s)", refused[i].key,
           passes ? "passes" : key);
    }
    ok(!git_config_is_harmless((struct str){"[core]\n\tbare = \0\n", 18}, key), "a NUL");
    return tap_done();
}
