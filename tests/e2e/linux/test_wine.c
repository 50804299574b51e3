/* SPDX-License-Identifier: Apache-2.0 */
/* Windows programs on Linux: cordon run -- program.exe, under Wine inside the box. */
#include "harness.h"

#include <sys/personality.h>

#define WINE "/usr/lib/wine/wine64"
#define SERVER "/usr/lib/wine/wineserver64"

static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir ws out; echo old > out/file");
}

int main(void)
{
    char home[1100];
    if (!box_make("wine-test"))
        return box_done();
    if (access(WINE, X_OK) || access(SERVER, X_OK)) {
        skip("Windows programs under Wine", "Wine is not installed");
        return box_done();
    }
    snprintf(home, sizeof home, "%s/home", top);
    mkdir(home, 0755);
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("DISPLAY");
    setenv("WINEDEBUG", "-all", 1);
    setenv("WINEDLLOVERRIDES", "mscoree,mshtml=", 1);
    personality(ADDR_NO_RANDOMIZE); /* as in tools/wine: else one of many programs does not start */
    fresh();
    ok(sh("ws", "'%s' run -- cmd.exe /c 'echo x> inside.txt' && test -s inside.txt", cordon) == 0,
       "a Windows program writes in the workspace");
    ok(sh("home", "ls .cache/cordon | grep -q '^wine-'") == 0, "the first run keeps a prefix");
    sh("ws",
       "WINEPREFIX='%s/own' " WINE " cmd.exe /c 'echo y> ..\\out\\new'; WINEPREFIX='%s/own' " SERVER
       " -k",
       top, top);
    bool control = sh("out", "test -s new") == 0;
    fresh();
    sh("ws", "'%s' run --quiet -- cmd.exe /c 'echo y> ..\\out\\new'", cordon);
    ok(control && sh("out", "test ! -e new") == 0, "denied: a Windows program's write outside");
    sh("ws", "'%s' run --quiet -- cmd.exe /c 'mkdir .git'", cordon);
    ok(sh("ws", "test ! -e .git") == 0, "denied: a protected name, by a Windows program");
    ok(sh("ws", "test \"$('%s' run -- cmd.exe /c echo hello | tr -d '\\r')\" = hello", cordon) == 0,
       "its output comes through");
    ok(sh("ws", "'%s' run -- cmd.exe /c exit 7", cordon) == 7, "and its exit code");
    ok(sh("ws", "'%s' run -- cmd.exe /c exit 2>&1 | grep -c denied | grep -qx 0", cordon) == 0,
       "what Wine itself tries at the start is not in the summary");
    if (sh(".", "command -v script") == 0)
        ok(sh("ws",
              "script -qec \"'%s' run -- cmd.exe /c echo hello\" /dev/null > said < /dev/null; "
              "grep "
              "-q hello said && ! grep -q denied said",
              cordon) == 0,
           "on a terminal it has a console");
    else
        skip("a console on a terminal", "script is not installed");
    ok(sh("home", "test $(ls .cache/cordon | wc -l) = 1") == 0, "private prefixes are removed");
    ok(sh(".",
          "! ls -d /tmp/wine-* 2>/dev/null | while read d; do test -O $d && ls $d | grep -q "
          "'^server-' && "
          "test $d -nt home && exit 1; done; ! ps -eo args | grep -q \"[w]ineserver.*%s\"",
          top) == 0,
       "and so are the server's folders");
    sh("home", "find .cache -name cmd.exe | head -n 1 | xargs cksum > ../before");
    sh("ws", "'%s' run --quiet -- cmd.exe /c 'echo z> C:\\windows\\system32\\cmd.exe'", cordon);
    ok(sh("home", "find .cache -name cmd.exe | head -n 1 | xargs cksum | cmp - ../before") == 0,
       "the kept prefix cannot be changed through a private one");
    fresh();
    ok(sh("ws",
          "'%s' run --wine-prefix ../pfx -- cmd.exe /c 'echo x> C:\\stays' && test -s "
          "../pfx/drive_c/stays",
          cordon) == 0,
       "a prefix that was named is made and stays");
    ok(sh("ws",
          "'%s' run --wine-prefix ../pfx -- cmd.exe /c 'reg add HKCU\\Software\\Cordon /v a /d b "
          "/f' && grep -q "
          "'Software.*Cordon' ../pfx/user.reg",
          cordon) == 0,
       "with its registry");
    sh(".", "mkdir -p pfx/drive_c/work");
    ok(sh("ws",
          "'%s' run --wine-prefix ../pfx --root 'C:\\work' -- cmd.exe /c 'echo x> C:\\work\\f & "
          "echo x> Z:%s/ws/no'; "
          "test -s ../pfx/drive_c/work/f -a ! -e no",
          cordon, top) == 0,
       "a Windows path as a root is the prefix's");
    ok(sh("ws", "'%s' run --wine-prefix ../pfx --root 'Q:\\work' -- cmd.exe /c exit", cordon) ==
           125,
       "a drive that is not there: 125");
    sh("ws",
       "(sleep 20 | WINEPREFIX='%s/pfx' " WINE " cmd.exe) & i=0; while ! test -S $TMPDIR/$(cat "
       "../pfx/wineserver)/server-*/socket -o $i = 100; do i=$((i+1)); sleep 0.1; done; sleep 0.5",
       top);
    int code = sh("ws", "'%s' run --wine-prefix ../pfx -- cmd.exe /c exit > ../said 2>&1", cordon);
    if (!ok(code == 125, "a wineserver outside is never talked to: 125"))
        note("code %d", code);
    sh("ws", "WINEPREFIX='%s/pfx' " SERVER " -k; sleep 0.5", top);
    ok(sh("ws", "'%s' run --wine-prefix ../pfx -- true", cordon) == 125,
       "--wine-prefix for another program: 125");
    return box_done();
}
