/* SPDX-License-Identifier: Apache-2.0 */
/* cordon sandbox: what Codex users type, what it means, and what a mistake is answered with. */
#include "e2e/program.h"

#define ROOTS "sandbox_workspace_write.writable_roots="

/* Programs that are there on each system. Under Wine the tests lie on Z:, where nothing runs. */
#ifdef _WIN32
#define HERE "-C %TEMP% "
#define TESTS "%TEMP%"
#define SAYS "cmd /c echo git version"
#define SAYS_OPTIONS "cmd /c echo -c git version"
#define SAYS_FOLDER "cmd /c cd"
#define IN_TESTS "emp"
#else
#define HERE
#define TESTS "tests"
#define SAYS "git --version"
#define SAYS_OPTIONS "git -c core.abbrev=7 --version"
#define SAYS_FOLDER "git rev-parse --show-prefix"
#define IN_TESTS "tests/"
#endif

static void test_messages(void)
{
    expect("no command", "sandbox", NULL, 125, "cordon sandbox -- PROGRAM");
    expect("dashes are not needed", "sandbox " HERE "--mode read-only " SAYS, NULL, 0,
           "git version");
    expect("what follows the command is its own", "sandbox " HERE SAYS_OPTIONS, NULL, 0,
           "git version");
    expect("a profile of Codex", "sandbox " HERE "-P :read-only -- " SAYS, NULL, 0, "git version");
    expect("a profile that is not built in", "sandbox -P mine -- git --version", NULL, 125,
           "does not read the profiles");
    expect("a configuration profile", "sandbox -p mine -- git --version", NULL, 125,
           "name its settings with -c");
    expect("a feature of Codex", "sandbox " HERE "--enable x --disable=y -- " SAYS, NULL, 0,
           "git version");
    expect("a key of something else", "sandbox " HERE "-c model=x -- " SAYS, NULL, 0,
           "git version");
    expect("a key that would change more", "sandbox -c shell_environment_policy.inherit=all -- git",
           NULL, 125, "no such setting");
    expect("the state of Codex", "sandbox --sandbox-state-disable-network -- git", NULL, 125,
           "sandbox state");
    expect("a folder", "sandbox -C " TESTS " -- " SAYS_FOLDER, NULL, 0, IN_TESTS);
    expect("an option without its value", "sandbox -C", NULL, 125, "-C needs a value");
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
    {"nor the one named /tmp", "--full-auto -c sandbox_workspace_write.exclude_slash_tmp=true",
     "echo x > \"$TMPDIR/in\"", false},
    {"either key is enough",
     "--full-auto -c sandbox_workspace_write.exclude_slash_tmp=true -c "
     "sandbox_workspace_write.exclude_tmpdir_env_var=false",
     "echo x > \"$TMPDIR/in\"", false},
    {"protected names stay", "--full-auto", "mkdir .git && touch in", false},
};

static int sh(const char *line)
{
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A proxy on this machine that the environment names is the one address that can be reached. */
static void test_proxy(void)
{
    static const char script[] =
        "P=$PWD/" CORDON_EXE "; python3 - \"$P\" <<'EOF'\n"
        "import os, socket, subprocess, sys\n"
        "servers = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]\n"
        "ports = [s.getsockname()[1] for s in servers]\n"
        "def go(port, **env):\n"
        "    clean = {k: v for k, v in os.environ.items() if 'proxy' not in k.lower()}\n"
        "    code = f'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'\n"
        "    return subprocess.run([sys.argv[1], 'sandbox', '--quiet', 'python3', '-c', code],\n"
        "                          env=dict(clean, **env), capture_output=True).returncode == 0\n"
        "for name in ('HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'):\n"
        "    there = {name: f'http://127.0.0.1:{ports[0]}'}\n"
        "    assert go(ports[0], **there), name\n"
        "    assert not go(ports[1], **there), name + ' opens more'\n"
        "assert not go(ports[0]), 'without a proxy'\n"
        "assert not go(ports[0], HTTP_PROXY=f'http://192.0.2.1:{ports[0]}'), 'not on this "
        "machine'\n"
        "EOF";
    auto_buf struct buf out = {0};
    if (program_run("run --quiet -- true", NULL, &out) != 0) {
        skip("a proxy on this machine", "this machine cannot confine");
        return;
    }
    ok(system(script) == 0, "a proxy on this machine is the one address that can be reached");
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
    test_proxy();
#endif
    return tap_done();
}
