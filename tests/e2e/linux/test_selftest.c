/* SPDX-License-Identifier: Apache-2.0 */
/* cordon selftest: every promise holds here, each line can fail, and nothing stays behind. */
#include "harness.h"

#include <signal.h>

#include "../selftest_output.h"
#include "base/buf.h"

static void read_lines(const char *file, struct promise_lines *out)
{
    char path[2200], chunk[4096];
    auto_buf struct buf text = {0};
    snprintf(path, sizeof path, "%s/%s", top, file);
    FILE *f = fopen(path, "re");
    for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(&text, (struct str){chunk, n});
    if (f)
        fclose(f);
    promise_read(buf_str(&text), out);
}

static void check_each_can_fail(const struct promise_lines *real, const char *open_build)
{
    struct promise_lines open, shut;
    int code = sh(".", "'%s' selftest > open", open_build);
    int other =
        sh(".", "CORDON_TEST_RUN=shut '%s' selftest --only " PROMISE_SHUT " > shut", open_build);
    read_lines("open", &open);
    read_lines("shut", &shut);
    ok(code == 1 && other == 1, "a program that keeps no promise fails");
    promise_compare(real, &open, &shut);
    ok(promise_allowed(&shut), "what must be possible is missed where nothing is");
    ok(sh(".",
          "CORDON_TEST_CANARY=1 '%s' selftest --only 2,56,58 > canary; "
          "test $(grep -c 'could write outside' canary) = 3",
          open_build) == 0,
       "an attempt that was not confined breaks every promise");
    const char *mark = "this program confines nothing";
    ok(sh(".", "grep -q '%s' '%s' && ! grep -q '%s' '%s'", mark, open_build, mark, cordon) == 0 &&
           sh(".", "CORDON_TEST_RUN=open '%s' run --root . -- sh -c 'echo x > ../escaped'",
              cordon) != 0 &&
           sh(".", "test -e ../escaped") != 0 && sh(".", "sh -c 'echo x > ../escaped'") == 0,
       "the program that is shipped has no such switch");
    sh(".", "rm -f ../escaped");
}

/* Killed at some moment, with a run under way: after a while nothing of it is there. */
static void check_killed(int milliseconds)
{
    ok(sh(".",
          "'%s' selftest >/dev/null 2>&1 & pid=$!; sleep %d.%03d; "
          "ls -d temp/cordon-selftest-* || exit 2; kill -9 $pid; wait $pid; "
          "i=0; while [ $i -lt 100 ] && ls -d temp/cordon-selftest-*; do sleep 0.1; i=$((i+1)); "
          "done; ! ls -d temp/cordon-selftest-* && ! ls -d /dev/shm/cordon-selftest-*",
          cordon, milliseconds / 1000, milliseconds % 1000) == 0,
       "killed after %d ms: it leaves nothing", milliseconds);
}

static void show_failures(void)
{
    char path[2200], line[512];
    snprintf(path, sizeof path, "%s/all", top);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "ok", 2) != 0 && !strstr(line, "not tried"))
            note("%s", line);
    if (f)
        fclose(f);
}

int main(void)
{
    char open_build[1200];
    struct promise_lines real;
    if (!box_make("selftest-test"))
        return box_done();
    snprintf(open_build, sizeof open_build, "%s/%s", project, CORDON_OPEN);
    int code = sh(".", "'%s' selftest > all", cordon);
    read_lines("all", &real);
    if (!ok(code == 0 && real.not_ok == 0, "selftest: %u proven, %u not, %u not tried", real.ok,
            real.not_ok, real.not_tried))
        show_failures();
    ok(sh(".",
          "tail -n 1 all | grep -qE '^[0-9]+ proven, 0 failed, 0 not proven, [0-9]+ not tried$'") ==
           0,
       "the last line counts");
    ok(real.ok + real.not_tried == 75 && real.ok >= 60, "every promise has its line");
    check_each_can_fail(&real, open_build);
    ok(sh(".",
          "'%s' selftest --json --only 3,34 | grep -q "
          "'\"n\":34.*\"pass\":2,\"fail\":0.*\"boundary\":\"kernel\"'",
          cordon) == 0,
       "--json and --only");
    ok(sh(".", "'%s' selftest --only 999", cordon) == 125 &&
           sh(".", "'%s' selftest --only x", cordon) == 125,
       "a number that is not there: 125");
    ok(sh("temp", "test -z \"$(ls -d cordon-selftest-* 2>/dev/null)\"") == 0, "nothing is left");
    check_killed(150);
    check_killed(2000);
    return box_done();
}
