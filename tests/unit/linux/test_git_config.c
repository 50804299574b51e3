/* SPDX-License-Identifier: Apache-2.0 */
/* Which configs hold nothing that git would run. */
#include "broker/linux/git_config.h"

#include "tap.h"

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
