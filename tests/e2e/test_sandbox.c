/* SPDX-License-Identifier: Apache-2.0 */
/* cordon sandbox: what Codex users type, what it means, and what a mistake is answered with. */
#include "e2e/program.h"

#define ROOTS "sandbox_workspace_write.writable_roots="

static void test_messages(void)
{
    expect("no command", "sandbox", NULL, 125, "cordon sandbox -- PROGRAM");
    expect("forgotten dashes", "sandbox --full-auto git status", NULL, 125,
           "cordon sandbox -- git");
    expect("-c without a pair", "sandbox -c -- git status", NULL, 125, "-c needs KEY=VALUE");
    expect("-c without =", "sandbox -c nonsense -- git status", NULL, 125, "expected KEY=VALUE");
    expect("a key that is not known", "sandbox -c sandbox_mod=x -- git status", NULL, 125,
           "did you mean \"sandbox_mode\"?");
    expect("a mode that is not known", "sandbox -c sandbox_mode=writable -- git status", NULL, 125,
           "workspace-write");
    expect("a backslash in double quotes", "sandbox -c \"" ROOTS "[\\\"C:\\ws\\\"]\" -- git status",
           NULL, 125, "write 'C:\\ws' or C:/ws");
    expect("quotes lost", "sandbox -c \"" ROOTS "[C:\\ws]\" -- git status", NULL, 125,
           "the shell took them");
    expect("a network that is no truth",
           "sandbox -c sandbox_workspace_write.network_access=maybe "
           "-- git status",
           NULL, 125, "network_access");
    expect("another system", "sandbox macos -- git status", NULL, 125, "leave out macos");
    expect("help", "sandbox --help", NULL, 0, "--full-auto");
}

#ifndef _WIN32
struct attempt {
    const char *what, *options, *script;
    bool works;
};

static const struct attempt attempts[] = {
    {"read-only is the default", "", "echo x > in", false},
    {"linux is this system", "linux", "echo x > in", false},
    {"--full-auto writes here", "--full-auto", "echo x > in", true},
    {"and not there", "--full-auto", "echo x > ../out/in", false},
    {"workspace-write", "-c 'sandbox_mode=\"workspace-write\"'", "echo x > in", true},
    {"without the quotes", "-c sandbox_mode=workspace-write", "echo x > in", true},
    {"--config", "--config sandbox_mode=workspace-write", "echo x > in", true},
    {"joined", "--config=sandbox_mode=workspace-write", "echo x > in", true},
    {"a root beside the current directory", "--full-auto -c \"" ROOTS "['../out']\"",
     "echo x > ../out/in && cp ../out/in in", true},
    {"a root that read-only makes nothing of", "-c \"" ROOTS "['../out']\"", "echo x > ../out/in",
     false},
    {"temp can be written", "--full-auto", "echo x > \"$TMPDIR/in\" && cp \"$TMPDIR/in\" in", true},
    {"and need not", "--full-auto -c sandbox_workspace_write.exclude_tmpdir_env_var=true",
     "echo x > \"$TMPDIR/in\"", false},
    {"protected names stay", "--full-auto", "mkdir .git && touch in", false},
};

static int sh(const char *line)
{
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_effects(void)
{
    auto_buf struct buf out = {0};
    if (program_run("run --quiet -- true", NULL, &out) != 0) {
        skip("what the settings do", "this machine cannot confine");
        return;
    }
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct attempt *a = &attempts[i];
        char line[2048];
        sh("rm -rf build/e2e-sb && mkdir -p build/e2e-sb/ws build/e2e-sb/out build/e2e-sb/tmp");
        snprintf(line, sizeof line,
                 "P=$PWD/" CORDON_EXE "; cd build/e2e-sb/ws && TMPDIR=$PWD/../tmp; export TMPDIR; "
                 "$P sandbox --quiet %s -- sh -c '%s' >/dev/null 2>&1",
                 a->options, a->script);
        int code = sh(line);
        bool there = sh("test -e build/e2e-sb/ws/in || test -e build/e2e-sb/out/in || "
                        "test -e build/e2e-sb/tmp/in") == 0;
        ok(a->works ? code == 0 && there : code != 0 && !there, "%s", a->what);
    }
    sh("rm -rf build/e2e-sb");
}
#endif

int main(void)
{
    test_messages();
#ifndef _WIN32
    test_effects();
#endif
    return tap_done();
}
