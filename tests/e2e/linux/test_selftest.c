/* cordon selftest: every promise holds here, and every one is called broken by a build that
   confines nothing. */
#include "box.h"

int main(void)
{
    char open_build[1200];
    if (!box_make("selftest-test"))
        return box_done();
    snprintf(open_build, sizeof open_build, "%s/%s", project, CORDON_OPEN);
    int code = sh(".", "'%s' selftest > all", cordon);
    if (!ok(code == 0 && sh(".", "! grep '^not ok' all | grep -qv '# TODO not tried'") == 0,
            "every promise is proven or honestly not tried"))
        sh(".", "cat all >&2");
    ok(sh(".",
          "tail -n 1 all | grep -qE '^[0-9]+ proven, 0 failed, 0 not proven, [0-9]+ not tried$'") ==
           0,
       "the last line counts");
    ok(sh(".", "test $(grep -cE '^(not )?ok ' all) = 75 && test $(grep -c '^ok ' all) -ge 60") == 0,
       "every promise has its line");
    code = sh(".", "'%s' selftest > none", open_build);
    ok(code == 1 && sh(".", "! grep -q '^ok ' none && tail -n 1 none | grep -q '^0 proven, '") == 0,
       "a build that confines nothing proves nothing");
    ok(sh(".", "grep '^not ok' none | grep -v '# TODO' | wc -l | grep -qE '^[6-9][0-9]$'") == 0,
       "and every line of it that was tried is red");
    ok(sh(".",
          "'%s' selftest --json --only 3,34 | grep -q "
          "'\"n\":34.*\"pass\":2,\"fail\":0.*\"boundary\":\"kernel\"'",
          cordon) == 0,
       "--json and --only");
    ok(sh(".", "'%s' selftest --only 999", cordon) == 125 &&
           sh(".", "'%s' selftest --only x", cordon) == 125,
       "a number that is not there: 125");
    ok(sh("temp", "test -z \"$(ls -d cordon-selftest-* 2>/dev/null)\"") == 0, "nothing is left");
    return box_done();
}
