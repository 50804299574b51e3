/* SPDX-License-Identifier: Apache-2.0 */
/* A root that is a worktree of git: a commit may write where its repository really lies. */
#include "e2e/program.h"

#ifdef _WIN32
#include <direct.h>
#define make_folder(path) _mkdir(path)
#define HERE "TEMP"
#else
#include <sys/stat.h>
#include <unistd.h>
#define make_folder(path) mkdir(path, 0755)
#define HERE "PWD"
#endif

static char top[900];

/* A path below top, with the separators of paths that git writes on both systems. */
static const char *place(const char *name)
{
    static char path[4][1200];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s%s%s", top, name[0] ? "/" : "", name);
    return out;
}

static bool put(const char *name, const char *format, const char *path)
{
    char text[1400];
    snprintf(text, sizeof text, format, path);
    return write_file(place(name), str_of(text));
}

/* Whether a write there is allowed from the worktree. */
static bool allowed(const char *name, const char *options)
{
    auto_buf struct buf out = {0};
    char arguments[3000];
    snprintf(arguments, sizeof arguments, "why write \"%s\" --root \"%s\" %s", place(name),
             place("tree"), options);
    int code = program_run(arguments, NULL, &out);
    if (code != 0 && code != 126)
        note("%s", buf_cstr(&out));
    return code == 0;
}

static bool commits(void)
{
    return allowed("repo/.git/objects/ab", "--git=commit") &&
           allowed("repo/.git/worktrees/tree/index.lock", "--git=commit");
}

/* A git folder in the root that is not called .git, and hooks that its config names. */
static void test_other_names(void)
{
    static const char *const folders[] = {"tree/store", "tree/store/objects", "tree/store/refs",
                                          "tree/tools"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(place(folders[i]));
    put("tree/store/HEAD", "ref: refs/heads/%s\n", "main");
    ok(allowed("tree/tools/pre-commit", "") &&
           allowed("tree/store/x", "--git=commit") == (strchr(top, ':') == NULL),
       "control: a folder that no .git leads to, and a folder of tools");
    put("tree/store/config", "[core]\n\thooksPath = %s\n", "tools");
    put("tree/.git", "gitdir: %s\n", "store");
    ok(!allowed("tree/store/hooks/pre-commit", "--git=full") &&
           !allowed("tree/store/config", "--git=commit") && !allowed("tree/store/objects/ab", "") &&
           allowed("tree/store/objects/ab", "--git=commit"),
       "a git folder under another name is like .git");
    ok(!allowed("tree/tools/pre-commit", "--git=full") && allowed("tree/tool", ""),
       "and the hooks that its config names are closed");
    remove(place("tree/.git"));
    remove(place("tree/store/HEAD"));
    remove(place("tree/store/config"));
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        rmdir(place(folders[i]));
}

int main(void)
{
    static const char *const folders[] = {"",
                                          "repo",
                                          "repo/.git",
                                          "repo/.git/worktrees",
                                          "repo/.git/worktrees/tree",
                                          "repo/.git/objects",
                                          "tree"};
    const char *here = getenv(HERE);
#ifdef _WIN32
    snprintf(top, sizeof top, "%s/cordon-worktree", here ? here : ".");
    for (char *p = top; *p; p++)
        *p = *p == '\\' ? '/' : *p;
#else
    char cwd[800];
    (void)here;
    snprintf(top, sizeof top, "%s/build/e2e-worktree", getcwd(cwd, sizeof cwd));
#endif
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(place(folders[i]));
    put("tree/.git", "gitdir: %s\n", place("repo/.git/worktrees/tree"));
    put("repo/.git/worktrees/tree/gitdir", "%s\n", place("tree/.git"));
    ok(commits(), "a commit in a worktree reaches its repository");
    ok(!allowed("repo/.git/objects/ab", "") && !allowed("repo/.git/objects/ab", "--mode read-only"),
       "without --git=commit nothing does");
    ok(!allowed("repo/.git/config", "--git=commit") &&
           !allowed("repo/.git/hooks/post-commit", "--git=commit") &&
           !allowed("repo/.git/worktrees/tree/gitdir", "--git=commit") &&
           !allowed("repo/.git/worktrees/tree/commondir", "--git=commit") &&
           !allowed("tree/.git", "--git=commit") && !allowed("repo/a", "--git=commit"),
       "what git obeys or runs stays closed, and so does the rest of the repository");
    put("tree/.git", "gitdir: %s\r\n", "../repo/.git/worktrees/tree");
    put("repo/.git/worktrees/tree/gitdir", "%s\n", "../../../../tree/.git");
    ok(commits(), "both files may name the other by a relative path");
    /* A workspace cannot open a folder by itself. */
    put("repo/.git/worktrees/tree/gitdir", "%s\n", place("repo/.git"));
    ok(!commits(), "a repository that names another worktree stays closed");
    remove(place("repo/.git/worktrees/tree/gitdir"));
    ok(!commits(), "and so does one that names none");
    put("repo/.git/worktrees/tree/gitdir", "%s\n", place("tree/.git"));
    put("tree/.git", "gitdir: %s\n", place("repo/.git"));
    ok(!commits(), "and a folder that is no worktree's");
    put("tree/.git", "gitdir:%s\n", "");
    ok(!commits(), "and an empty name");
    put("tree/.git", "gitdir: %s\n", place("repo/.git/worktrees/tree"));
    ok(commits(), "control: as at the beginning it works again");
    remove(place("tree/.git"));
    remove(place("repo/.git/worktrees/tree/gitdir"));
    test_other_names();
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        rmdir(place(folders[i]));
    return tap_done();
}
