/*
 * The promises that are an attempt and its effect. A denied one must have its effect without the
 * sandbox (the control) and none with it; an allowed one must have it with the options given, and
 * none with those of its control. What needs more is in special.c.
 */
#include <stdio.h>
#include <string.h>

#include "lib/run.h"
#include "selftest/linux/special.h"
#include "selftest/linux/world.h"

enum kind { DENIED, ALLOWED };

struct row {
    unsigned n;
    enum kind kind;
    const char *options, *script, *effect;
    const char *control; /* options of the control; NULL: without the sandbox (DENIED), read-only */
    const char *tool;    /* who does it where it is found; NULL: the probe */
    const char *line;    /* what it does, for sh */
};

#define RO "--mode read-only"
#define PWSH "pwsh", "pwsh -NoProfile -Command \"Set-Content -Path new -Value x\""
#define PYTHON "python3", "python3 -c \"open('new','w').write('x')\""
#define NODE "node", "node -e \"require('fs').writeFileSync('new','x')\""

static const struct row rows[] = {
    {1, DENIED, RO, "write new", "exists new", NULL, NULL, NULL},
    {2, ALLOWED, "", "write new", "exists new", NULL, NULL, NULL},
    {3, DENIED, "", "write ../out/new", "exists ../out/new", NULL, NULL, NULL},
    {3, DENIED, "", "write ../out/file", "holds ../out/file new", NULL, NULL, NULL},
    {4, ALLOWED, "--root . --root ../extra", "write ../extra/new", "exists ../extra/new", "", NULL,
     NULL},
    {5, DENIED, RO " --root . --root ../extra", "write ../extra/new", "exists ../extra/new",
     "--root . --root ../extra", NULL, NULL},
    {6, ALLOWED, "", "write ../tmp/new", "exists ../tmp/new", NULL, NULL, NULL},
    {7, DENIED, RO, "write ../tmp/new", "exists ../tmp/new", "", NULL, NULL},
    {8, ALLOWED, "", "append file more", "holds file oldmore", NULL, NULL, NULL},
    {9, DENIED, RO, "append file more", "holds file oldmore", "", NULL, NULL},
    {10, ALLOWED, "", "write new", "exists new", NULL, PWSH},
    {11, DENIED, RO, "write new", "exists new", NULL, PWSH},
    {12, ALLOWED, "", "mkdir d; write d/new", "exists d/new", NULL, NULL, NULL},
    {13, ALLOWED, "", "rename file other", "exists other", NULL, NULL, NULL},
    {14, ALLOWED, "", "unlink file", "absent file", NULL, NULL, NULL},
    {15, DENIED, RO, "write new", "exists new", NULL, PYTHON},
    {15, DENIED, RO, "write new", "exists new", NULL, NODE},
    {16, ALLOWED, "", "write new", "exists new", NULL, PYTHON},
    {16, ALLOWED, "", "write new", "exists new", NULL, NODE},
    {17, DENIED, "", "connect @PORT", "tcp", NULL, "curl", "curl -s -m 2 http://127.0.0.1:@PORT/"},
    {18, DENIED, "", "connect @PORT", "tcp", NULL, "pwsh",
     "pwsh -NoProfile -Command \"Invoke-WebRequest -TimeoutSec 2 http://127.0.0.1:@PORT/\""},
    {19, ALLOWED, "--net=proxy=127.0.0.1:@PORT", "connect @PORT", "tcp", "", NULL, NULL},
    {20, DENIED, "--net=proxy=127.0.0.1:1", "connect @PORT", "tcp", "--net=loopback", NULL, NULL},
    {21, DENIED, RO, "write ../tmp/new", "exists ../tmp/new", "", "pwsh",
     "pwsh -NoProfile -Command \"Set-Content -Path ../tmp/new -Value x\""},
    {23, ALLOWED, "", "bytes new", "exists new", NULL, NULL, NULL},
    {24, DENIED, RO, "bytes new", "exists new", NULL, NULL, NULL},
    {25, ALLOWED, "", "mkdirs a/b/c/d/e/f; write a/b/c/d/e/f/new", "exists a/b/c/d/e/f/new", NULL,
     NULL, NULL},
    {26, ALLOWED, "", "rename file sub/file", "exists sub/file", NULL, NULL, NULL},
    {27, DENIED, RO, "write new", "exists new", NULL, "sh", "echo x > new"},
    {29, DENIED, "", "write away/new", "exists ../out/new", NULL, NULL, NULL},
    {29, DENIED, "", "write absolute/new", "exists ../out/new", NULL, NULL, NULL},
    {29, DENIED, "", "symlink ../out planted; write planted/new", "exists ../out/new", NULL, NULL,
     NULL},
    {29, DENIED, "", "write file-away", "holds ../out/file new", NULL, NULL, NULL},
    {33, DENIED, "", "write sub/../../out/new", "exists ../out/new", NULL, NULL, NULL},
    {33, DENIED, "", "write /proc/self/cwd/../out/new", "exists ../out/new", NULL, NULL, NULL},
    {33, DENIED, "", "cd ../out; write new", "exists ../out/new", NULL, NULL, NULL},
    {34, DENIED, "", "mkdir .GiT; write .GiT/config", "exists .GiT", NULL, NULL, NULL},
    {34, DENIED, "", "write .GIT", "exists .GIT", NULL, NULL, NULL},
    {34, DENIED, "", "write repo/.git/config", "holds repo/.git/config new", NULL, NULL, NULL},
    {34, DENIED, "", "write sub/../repo/.git/config", "holds repo/.git/config new", NULL, NULL,
     NULL},
    {34, DENIED, "", "cd repo/.git; write config", "holds repo/.git/config new", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir .codex", "exists .codex", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir .claude", "exists .claude", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir .cordon", "exists .cordon", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir sub/.Claude", "exists sub/.Claude", NULL, NULL, NULL},
    {36, DENIED, "--audit log", "append log tampered", "holds log tampered", NULL, NULL, NULL},
    {36, DENIED, "--audit log", "unlink log", "absent log", NULL, NULL, NULL},
    {39, DENIED, "", "write deep/a/b/new", "exists ../out/dir/new", NULL, NULL, NULL},
    {45, DENIED, "", "mkdir .git", "exists .git", NULL, NULL, NULL},
    {45, DENIED, "", "write .git", "exists .git", NULL, NULL, NULL},
    {45, DENIED, "", "rename sub .git", "exists .git", NULL, NULL, NULL},
    {46, DENIED, "", "write hard", "holds ../out/second new", NULL, NULL, NULL},
    {46, DENIED, "", "link ../out/file l; write l", "holds ../out/file new", NULL, NULL, NULL},
    {47, DENIED, "", "rename ../out/file in-here", "absent ../out/file", NULL, NULL, NULL},
    {47, DENIED, "", "rename file ../out/new", "exists ../out/new", NULL, NULL, NULL},
    {47, DENIED, "", "rename sub .vscode", "exists .vscode", NULL, NULL, NULL},
    {47, DENIED, "", "rename repo/.git repo/moved", "exists repo/moved", NULL, NULL, NULL},
    {48, DENIED, "", "mode ../out/file 600", "mode ../out/file 600", NULL, NULL, NULL},
    {48, DENIED, "", "fd-mode ../out/file", "mode ../out/file 600", NULL, NULL, NULL},
    {48, DENIED, "", "times ../out/file", "times ../out/file", NULL, NULL, NULL},
    {49, DENIED, "", "child 3; write ../out/new", "exists ../out/new", NULL, NULL, NULL},
    {49, ALLOWED, "", "child 3; write new", "exists new", NULL, NULL, NULL},
    {52, DENIED, "", "udp @UDP", "udp", NULL, NULL, NULL},
    {52, DENIED, "", "udp @UDP 6", "udp", NULL, NULL, NULL},
    {54, ALLOWED, "", "garbage new", "exists new", NULL, NULL, NULL},
    {55, ALLOWED, "", "mkdir d; crowd d", "count d 1000", NULL, NULL, NULL},
    {59, DENIED, "--git=commit", "write repo/.git/hooks/pre-commit",
     "exists repo/.git/hooks/pre-commit", NULL, NULL, NULL},
    {59, DENIED, "--git=commit", "write repo/.git/config", "holds repo/.git/config new", NULL, NULL,
     NULL},
    {59, ALLOWED, "--git=commit",
     "write repo/.git/index.lock; rename repo/.git/index.lock repo/.git/index",
     "exists repo/.git/index", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "copy secret got", "holds got SECRET", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "copy secret got map", "holds got SECRET", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "copy secret got path", "holds got SECRET", NULL, NULL,
     NULL},
    {60, DENIED, "--deny-read secret", "link secret l; copy l got", "holds got SECRET", NULL, NULL,
     NULL},
    {60, DENIED, "--deny-read secret", "rename secret m; copy m got", "holds got SECRET", NULL,
     NULL, NULL},
    {60, DENIED, "--deny-read secret", "child 2; copy secret got", "holds got SECRET", NULL, NULL,
     NULL},
    {60, DENIED, "--deny-read keys", "cd keys; copy one ../got", "holds got SECRET", NULL, NULL,
     NULL},
    {60, DENIED, "--deny-read ../out/secret --root .", "copy ../out/secret got", "holds got SECRET",
     NULL, NULL, NULL},
    {61, DENIED, "", "raw-write ../out/new", "exists ../out/new", NULL, NULL, NULL},
    {61, DENIED, "", "raw-unlink ../out/file", "absent ../out/file", NULL, NULL, NULL},
    {64, DENIED, "", "reopen ../out/file", "holds ../out/file new", NULL, NULL, NULL},
    {64, DENIED, "", "fd-mode ../out/file", "mode ../out/file 600", NULL, NULL, NULL},
    {67, DENIED, "", "flip inside ../out/new", "exists ../out/new", NULL, NULL, NULL},
    {68, DENIED, "", "memory-program; write new", "exists new", NULL, NULL, NULL},
    {74, DENIED, "", "mode file 4755", "mode file 4755", NULL, NULL, NULL},
};

static int run_row(const struct selftest_world *w, const struct row *row, const char *options,
                   bool tool, bool *escaped)
{
    if (options)
        return tool ? world_sh(w, options, row->line, escaped)
                    : world_run(w, options, row->script, escaped);
    return tool ? world_sh_free(w, row->line) : world_run_free(w, row->script);
}

static void try_row(const struct selftest_world *w, const struct row *row, bool tool,
                    struct selftest_line *line)
{
    const char *control = row->control ? row->control : row->kind == ALLOWED ? RO : NULL;
    bool escaped = false, free_escape = false;
    const char *words = tool ? row->line : row->script;
    world_fresh(w);
    world_check(w, "tcp");
    world_check(w, "udp");
    bool before = world_check(w, row->effect);
    run_row(w, row, control, tool, row->kind == ALLOWED ? &escaped : &free_escape);
    bool controlled = world_check(w, row->effect) == (row->kind == DENIED);
    world_fresh(w);
    run_row(w, row, row->options, tool, &escaped);
    bool effect = world_check(w, row->effect);
    snprintf(line->attempt, sizeof line->attempt, "%s: %s", row->options[0] ? row->options : "run",
             words);
    snprintf(line->control, sizeof line->control, "%s: %s",
             control ? control[0] ? control : "run" : "without", words);
    if (escaped || free_escape) {
        line->result = SELFTEST_FAIL;
        snprintf(line->why, sizeof line->why, "the run was not confined: it could write outside");
    } else if (before || !controlled) {
        line->result = SELFTEST_NOT_PROVEN;
        snprintf(line->why, sizeof line->why, "control failed: %.300s", line->control);
    } else if (effect != (row->kind == ALLOWED) ||
               (row->kind == DENIED && !world_outside_unchanged(w))) {
        line->result = SELFTEST_FAIL;
        snprintf(line->why, sizeof line->why, "%.300s: %s", line->attempt,
                 row->kind == ALLOWED ? "it had no effect" : "it had its effect");
    } else {
        line->result = SELFTEST_PASS;
    }
}

void selftest_try(struct selftest_world *w, unsigned n, struct selftest_line *line)
{
    if (special_try(w, n, line))
        return;
    bool tried = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].n != n)
            continue;
        struct selftest_line one = *line;
        bool tool = rows[i].tool && world_has_tool(rows[i].tool);
        /* Two tools for one promise: a missing one leaves it to the other. */
        if (tried && rows[i].tool && !tool)
            continue;
        try_row(w, &rows[i], tool, &one);
        if (one.result != SELFTEST_PASS || !tried)
            *line = one;
        if (tool)
            snprintf(line->by, sizeof line->by, "%s", rows[i].tool);
        else if (!tried || one.result != SELFTEST_PASS)
            snprintf(line->by, sizeof line->by, rows[i].tool ? "probe: no %s" : "probe",
                     rows[i].tool ? rows[i].tool : "");
        tried = true;
        if (one.result != SELFTEST_PASS)
            return;
    }
    if (!tried) {
        line->result = SELFTEST_NOT_TRIED;
        snprintf(line->why, sizeof line->why, "not built yet");
    }
}

const char *selftest_boundary(void)
{
    auto_buf struct buf text = {0};
    run_describe(&text);
    return str_starts(buf_str(&text), STR("kernel")) ? "kernel" : "interposed";
}
