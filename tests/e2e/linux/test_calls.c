/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls from inside, under the sanitizers: the broker survives them, answers each, and
 * nothing outside changes. CORDON_CALLS says how many (tools/fuzz: two million and more),
 * CORDON_SEED which.
 */
#include "harness.h"

static const struct {
    const char *what, *options;
} rows[] = {{"", ""},
            {" with reads judged", "--deny-read secret"},
            {" in a private temp", "--temp=private --root ."},
            {" with commits and loopback", "--git=commit --net=loopback"}};

enum { ROWS = sizeof rows / sizeof *rows };

static void list(const char *name)
{
    sh(".", "find out -printf '%%p %%m %%s %%T@ %%U %%i %%n\\n' | sort > %s; cat out/file >> %s",
       name, name);
}

int main(void)
{
    const char *given = getenv("CORDON_CALLS"), *seed = getenv("CORDON_SEED");
    unsigned long count = given ? strtoul(given, NULL, 10) / ROWS : 5000u / (unsigned)box_slow();
    if (!box_make("calls-test"))
        return box_done();
    for (size_t i = 0; i < ROWS; i++) {
        sh(".", "chmod -R u+rwx ws; rm -rf ws out; mkdir -p ws out; echo old > out/file; echo s > "
                "ws/secret; ln -s x out/l");
        list("before");
        int code =
            sh("ws",
               "%s'%s' run --quiet %s -- sh -c '%s/" ESCAPE_PROBE " calls %s %lu' > ../said 2>&1",
               "", cordon, rows[i].options, project, seed ? seed : "1", count);
        list("after");
        ok(code == 0 && sh(".", "cmp before after && ! grep -q Sanitizer said") == 0,
           "%lu random calls%s (%d)", count, rows[i].what, code);
    }
    return box_done();
}
