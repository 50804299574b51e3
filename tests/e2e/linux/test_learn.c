/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --learn end to end: what a run was denied becomes options and a policy file; a second run with
 * that file does what the first was denied, and nothing beside it.
 */
#include "base/json.h"
#include "e2e/program.h"

static char cordon[1200], top[1100];

static int sh(const char *folder, const char *line, struct buf *out)
{
    char command[12000], chunk[4096];
    snprintf(command, sizeof command, "cd '%s/%s' && { %s; } 2>&1", top, folder, line);
    buf_reset(out);
    FILE *pipe = popen(command, "r");
    for (size_t n; pipe && (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
        buf_add(out, (struct str){chunk, n});
    int status = pipe ? pclose(pipe) : -1;
    return EXIT_OF(status);
}

static void fresh(struct buf *out)
{
    sh(".", "rm -rf ws data other tmp p.json; mkdir -p ws data/sub 'other/a $b' tmp", out);
}

static int learn(const char *options, const char *script, struct buf *out)
{
    char line[8000];
    fresh(out);
    snprintf(line, sizeof line,
             "TMPDIR=%s/tmp; export TMPDIR; '%s' run --learn -o ../p.json %s -- sh -c '%s'", top,
             cordon, options, script);
    return sh("ws", line, out);
}

static int again(const char *script, struct buf *out)
{
    char line[8000];
    snprintf(line, sizeof line,
             "TMPDIR=%s/tmp; export TMPDIR; '%s' run --policy ../p.json -- sh -c '%s'", top, cordon,
             script);
    return sh("ws", line, out);
}

/* A policy that could not be written is no success. */
static void test_output(void)
{
    auto_buf struct buf out = {0};
    char line[2000];
    fresh(&out);
    snprintf(line, sizeof line, "'%s' run --learn -o ../data -- true", cordon);
    ok(sh("ws", line, &out) == 125 && says(&out, "--output ../data"), "a folder as the output");
    snprintf(line, sizeof line, "'%s' run --learn -o ../p.json -- true", cordon);
    ok(sh("ws", line, &out) == 0, "control: a file");
    snprintf(line, sizeof line, "'%s' explain --list 2>err | head -n 1; ! test -s err", cordon);
    ok(sh("ws", line, &out) == 0, "a reader that leaves is no failure");
}

static void test_roots(void)
{
    static const char script[] = "echo x > in; echo x > ../data/a; echo x > ../data/sub/b";
    auto_buf struct buf out = {0};
    learn("", script, &out);
    char wanted[1300];
    snprintf(wanted, sizeof wanted, "to allow what was denied: --root . --root %s/data\n", top);
    if (!ok(says(&out, wanted), "one folder above the other is enough"))
        note("%s", buf_cstr(&out));
    ok(!says(&out, "sandbox denied"), "the denials are not told a second time");
    int code = again(script, &out);
    ok(code == 0 && !says(&out, "denied"), "the file allows what was denied");
    ok(sh(".", "test -e data/a && test -e data/sub/b && test -e ws/in", &out) == 0,
       "and it happened");
    code = again("echo x > ../other/no", &out);
    ok(code != 0 && says(&out, "roots.outside") && sh(".", "test -e other/no", &out) != 0,
       "what was not asked for stays denied");
}

static void test_never(void)
{
    auto_buf struct buf out = {0}, file = {0};
    char path[2100];
    learn("",
          "mkdir .claude; echo x > .mcp.json; "
          "mkdir -p ../data/.vscode; echo x > ../data/fine",
          &out);
    ok(says(&out, "still denied") && says(&out, "protected.name") &&
           !says(&out, "what was denied: --unprotect") && says(&out, "--root . --root "),
       "protected names are never among the options");
    ok(says(&out, "not learned, because it opens more than this: --unprotect .claude"),
       "and the line says which option it would take");
    snprintf(path, sizeof path, "%s/p.json", top);
    ok(read_back(path, &file) && !says(&file, "unprotect") && says(&file, "\"git\": \"protect\""),
       "nor in the file");
    again("mkdir .git; mkdir .claude; mkdir ../data/.vscode; echo x > ../data/fine", &out);
    ok(sh(".",
          "test -e data/fine && ! test -e ws/.git && ! test -e ws/.claude && "
          "! test -e data/.vscode",
          &out) == 0,
       "they stay closed with it");
    learn("", "echo x > /learn-no; echo x > /usr/learn-no", &out);
    ok(!says(&out, "--root /\n") && !says(&out, "--root / ") && !says(&out, "--allow-broad-root"),
       "no drive and no broad folder");
    /* A name that reads like options must stay a name. */
    learn("", "echo x > \"../data/x\\\" --net=on --root \\\"y\"", &out);
    ok(!says(&out, "denied: --net") && says(&out, "/data\n"), "a name is not read as options");
    read_back(path, &file);
    ok(says(&file, "\"mode\": \"off\""), "the network stays off");
}

static void test_kinds(void)
{
    auto_buf struct buf out = {0}, file = {0};
    char path[2100];
    snprintf(path, sizeof path, "%s/p.json", top);
    learn("--mode read-only", "echo x > in; echo x > ../data/a", &out);
    ok(says(&out, "--mode workspace-write --root . --root "), "read-only");
    ok(again("echo x > in && echo x > ../data/a", &out) == 0, "and its file");
    learn("--net=on", "ssh -V; true", &out);
    read_back(path, &file);
    ok(says(&out, "--allow-tool ssh") && says(&file, "\"allowTools\": [\"ssh\"]"), "a tool");
    learn("", "ssh -V; true", &out);
    ok(says(&out, "still denied: process.start") &&
           says(&out, "not learned, because it opens more than this: --allow-tool ssh --net=on"),
       "one that needs the whole network: said");
    ok(!says(&out, "to allow what was denied"), "and not half opened");
    learn("", "echo x > \"../other/a \\$b/c\"", &out);
    ok(again("echo x > \"../other/a \\$b/c\"", &out) == 0, "blanks and $ in a folder's name");
    learn("--deny-read @credentials --deny-read sub", "true", &out);
    read_back(path, &file);
    ok(says(&file, "\"denyRead\": [\"@credentials\", \"/"), "a list of ours stays one word");
    learn("", "getent hosts lookup.test; true", &out);
    ok(says(&out, "to allow what was denied: --net=allow=lookup.test\n") &&
           !says(&out, "still denied"),
       "a name that was looked up");
    learn("--timeout 50 --deny-write sub", "true", &out);
    read_back(path, &file);
    ok(says(&out, "nothing was denied") && says(&file, "\"timeout\": 50") &&
           says(&file, "\"denyWrite\""),
       "what was given stays in the file");
    ok(again("mkdir sub; true", &out) == 0 && says(&out, "write.denied"), "and holds");
}

static void learn_hook(struct buf *out, char *line, size_t capacity)
{
    snprintf(line, capacity,
             "'%s' run --learn -o ../p.json -- sh -c 'echo x > .git/hooks/pre-commit'", cordon);
    sh("ws", line, out);
}

/* What a commit needs, a worktree, and a folder that is not there yet. */
static void test_git(void)
{
    static const char identity[] =
        "git init -q; git config user.name a; git config user.email a@b; "
        "git commit -q --allow-empty -m first";
    static const char commit[] = "git commit -q --allow-empty -m second";
    auto_buf struct buf out = {0}, file = {0};
    char path[2100], line[8000];
    snprintf(path, sizeof path, "%s/p.json", top);
    fresh(&out);
    sh("ws", identity, &out);
    snprintf(line, sizeof line, "'%s' run --learn -o ../p.json -- %s", cordon, commit);
    ok(sh("ws", line, &out) != 0 && says(&out, "to allow what was denied: --git=commit\n") &&
           !says(&out, "still denied"),
       "a commit");
    ok(says(&out, "perhaps before it needed all"), "it failed: there may be more to learn");
    ok(again(commit, &out) == 0 && !says(&out, "denied"), "the file lets it commit");
    learn_hook(&out, line, sizeof line);
    read_back(path, &file);
    ok(says(&out, "still denied: file.create") && says(&file, "\"git\": \"protect\""),
       "hooks are never learned, and git does not help them");
    snprintf(line, sizeof line, "'%s' run --learn -o ../p.json -- mkdir ../new", cordon);
    ok(sh("ws", line, &out) != 0 && says(&out, "--create-root ") && !says(&out, "still denied"),
       "a folder that is not there yet");
    read_back(path, &file);
    ok(says(&file, "\"createRoots\": [\""), "in the file");
    ok(again("mkdir ../new && echo x > ../new/y", &out) == 0 &&
           sh(".", "test -e new/y && rm -r new", &out) == 0,
       "the file lets it be made");
    ok(again("mkdir ../newer", &out) != 0, "control: another one is not");
    ok(again("mkdir ../new && mkdir ../new", &out) != 0, "nor the same one twice");
    snprintf(line, sizeof line, "rm -rf ../new; '%s' run --create-root ../new -- mkdir ../new",
             cordon);
    ok(sh("ws", line, &out) == 0, "--create-root: the command may make it itself");
    sh(".", "rm -rf new", &out);
}

static void test_file(void)
{
    auto_buf struct buf out = {0}, file = {0};
    char path[2100];
    fresh(&out);
    char line[8000];
    snprintf(line, sizeof line, "'%s' run -o x.json -- true", cordon);
    ok(sh("ws", line, &out) == 125 && says(&out, "add --learn"), "-o needs --learn");
    /* The run tries to turn the file into a link to something else. */
    snprintf(line, sizeof line,
             "echo keep > ../other/victim; '%s' run --learn -o p.json -- sh -c "
             "'ln -s ../other/victim p.json; echo x > ../data/a'",
             cordon);
    sh("ws", line, &out);
    snprintf(path, sizeof path, "%s/other/victim", top);
    read_back(path, &file);
    ok(strcmp(buf_cstr(&file), "keep\n") == 0 && sh("ws", "test -f p.json", &out) == 0,
       "the file is the launcher's own");
    snprintf(line, sizeof line,
             "'%s' run --learn --json -- sh -c 'echo x > ../data/a' 2>&1 >/dev/null | tail -n 1",
             cordon);
    sh("ws", line, &out);
    ok(str_starts(buf_str(&out), STR("{\"type\":\"summary\"")), "the summary stays the last line");
}

static int learn_allow(const char *options, const char *script, struct buf *out)
{
    char line[8000];
    fresh(out);
    sh(".", "rm -rf home; mkdir -p home/data home/.config", out);
    snprintf(line, sizeof line,
             "export TMPDIR=%s/tmp HOME=%s/home; '%s' run %s -o ../p.json -- sh -c '%s'", top, top,
             cordon, options, script);
    return sh("ws", line, out);
}

/* With =allow files below the home folder change while it learns; the control is plain --learn. */
static void test_allow(void)
{
    static const char script[] =
        "echo x > ~/data/a; mkdir -p ~/.tool/deep && echo x > ~/.tool/deep/b; echo x > ../data/c; "
        "echo x > ~/.bashrc; mkdir ~/.ssh; mkdir ~/.config/autostart; mv ~/.config ~/moved; "
        "ln -s ~/.config ~/data/way; mkdir ~/data/way/systemd; mkdir ~/.claude; "
        "mkdir ~/data/.git; echo x > ../p.json; ssh -V; true";
    static const char opened[] = "test -e home/data/a && test -e home/.tool/deep/b";
    static const char closed[] =
        "! test -e home/.bashrc && ! test -e home/.ssh && test -d home/.config && "
        "! test -e home/.config/autostart && ! test -e home/.config/systemd && "
        "! test -e home/moved && ! test -e home/.claude && ! test -e home/data/.git && "
        "! test -e data/c && ! grep -q x$ p.json";
    auto_buf struct buf out = {0}, file = {0};
    char path[2100], line[8000];
    snprintf(path, sizeof path, "%s/p.json", top);
    learn_allow("--learn", script, &out);
    ok(sh(".", "! test -e home/data/a && ! test -e home/.tool", &out) == 0,
       "control: --learn alone opens nothing");
    learn_allow("--learn=allow --quiet", script, &out);
    if (!ok(says(&out, "THIS RUN IS NOT CONFINED"), "--learn=allow says what it is, always"))
        note("%s", buf_cstr(&out));
    ok(says(&out, "with --undo you could take back what it changes inside its roots, not outside"),
       "and that --undo helps inside the roots only");
    ok(sh(".", opened, &out) == 0, "files below the home folder change");
    if (!ok(sh(".", closed, &out) == 0, "names that others obey, keys and the rest stay closed"))
        note("%s", buf_cstr(&out));
    read_back(path, &file);
    snprintf(line, sizeof line,
             "\"roots\": [\"%s/ws\", \"%s/home/data\", \"%s/home/.tool\", \"%s/data\"]", top, top,
             top, top);
    if (!ok(says(&file, line) && says(&file, "\"mode\": \"off\""),
            "the file names the folders that were needed"))
        note("%s", buf_cstr(&file));
    snprintf(
        line, sizeof line,
        "rm home/data/a; export TMPDIR=%s/tmp HOME=%s/home; cd ws; '%s' run --policy ../p.json "
        "-- sh -c 'echo x > ~/data/a && mkdir -p ~/.tool/deep && echo x > ~/.tool/deep/b'",
        top, top, cordon);
    int code = sh(".", line, &out);
    if (!ok(code == 0 && !says(&out, "denied"), "and the next run works with it, confined"))
        note("%s", buf_cstr(&out));
    learn_allow("--learn=allow",
                "mkdir ~/a && echo x > ~/a/b && rm -r ~/a && ln -s ~/.config ~/a; ln -s ../.config "
                "~/data/x; echo x > ~/data/y",
                &out);
    read_back(path, &file);
    ok(!says(&file, ".config") && says(&file, "home/data\""), "a link does not choose a folder");
    snprintf(line, sizeof line, "%s/state", top);
    setenv("XDG_STATE_HOME", line, 1);
    learn_allow("--learn=allow --undo", "echo x > ~/data/a; echo x > b", &out);
    ok(says(&out, "--undo keeps what it changes inside its roots, not outside"),
       "with --undo: what is kept");
    char undo[2200];
    snprintf(undo, sizeof undo, "'%s' undo", cordon);
    ok(sh("ws", undo, &out) == 0 && sh(".", "! test -e ws/b && test -e home/data/a", &out) == 0,
       "and undo takes back that, and nothing else");
    unsetenv("XDG_STATE_HOME");
    code = learn_allow("--learn=all", "true", &out);
    ok(code == 125 && says(&out, "--learn=allow"), "another word is refused");
    code = learn_allow("--learn=allow --mode full-access", "true", &out);
    ok(code == 125 && says(&out, "contradict"), "full access has nothing to learn");
    snprintf(line, sizeof line, "'%s' sandbox --learn=allow -- true", cordon);
    ok(sh("ws", line, &out) == 125, "not for cordon sandbox");
    snprintf(line, sizeof line, "echo '{}' | '%s' hook claude --wrap --learn=allow", cordon);
    code = sh("ws", line, &out);
    ok(code == 2 && says(&out, "unknown option --learn"), "not for the hook");
}

int main(void)
{
    auto_buf struct buf out = {0};
    char cwd[1000] = "";
    FILE *pwd = popen("pwd", "r");
    if (!pwd || !fgets(cwd, sizeof cwd, pwd))
        return 1;
    pclose(pwd);
    cwd[strcspn(cwd, "\n")] = '\0';
    snprintf(cordon, sizeof cordon, "%s/%s", cwd, CORDON_EXE);
    snprintf(top, sizeof top, "%s/build/e2e-learn", cwd);
    if (system("rm -rf build/e2e-learn && mkdir -p build/e2e-learn"))
        return 1;
    if (program_run("run --quiet -- true", NULL, &out) != 0) {
        skip("--learn", "this machine cannot confine");
        return tap_done();
    }
    test_output();
    test_roots();
    test_never();
    test_kinds();
    test_git();
    test_file();
    test_allow();
    return system("rm -rf build/e2e-learn") || tap_done();
}
