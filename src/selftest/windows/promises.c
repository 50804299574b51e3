/*
 * The promises that are an attempt and its effect. A denied one must have its effect without the
 * sandbox (the control) and none with it; an allowed one must have it with the options given, and
 * none with those of its control. What needs more is in special.c.
 */
#include <stdio.h>
#include <string.h>

#include "lib/run.h"
#include "selftest/windows/special.h"

enum kind { DENIED, ALLOWED };

struct row {
    unsigned n;
    enum kind kind;
    const char *options, *script, *effect;
    const char *control; /* options of the control; NULL: without the sandbox (DENIED), read-only */
    const char *tool;    /* who does it where it is found; NULL: the probe */
    const char *line;    /* what it does */
};

#define RO "--mode read-only"
#define PWSH(path) "pwsh", "pwsh -NoProfile -Command \"Set-Content -Path " path " -Value x\""
#define NODE "node", "node -e \"require('fs').writeFileSync('new','x')\""

static const struct row rows[] = {
    {1, DENIED, RO, "write new", "exists new", NULL, NULL, NULL},
    {2, ALLOWED, "", "write new", "exists new", NULL, NULL, NULL},
    {3, DENIED, "", "write ..\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {3, DENIED, "", "write ..\\out\\file", "holds ..\\out\\file new", NULL, NULL, NULL},
    {3, DENIED, "", "unlink ..\\out\\file", "absent ..\\out\\file", NULL, NULL, NULL},
    {4, ALLOWED, "--root . --root ..\\extra", "write ..\\extra\\new", "exists ..\\extra\\new", "",
     NULL, NULL},
    {5, DENIED, RO " --root . --root ..\\extra", "write ..\\extra\\new", "exists ..\\extra\\new",
     "--root . --root ..\\extra", NULL, NULL},
    {6, ALLOWED, "", "write %TEMP%\\new SECRET; copy %TEMP%\\new got", "holds got SECRET", NULL,
     NULL, NULL},
    {7, DENIED, RO " --root . --temp=shared", "write %TEMP%\\new", "exists ..\\tmp\\new",
     "--temp=shared", NULL, NULL},
    {8, ALLOWED, "", "append file more", "holds file oldmore", NULL, NULL, NULL},
    {9, DENIED, RO, "append file more", "holds file oldmore", "", NULL, NULL},
    {10, ALLOWED, "", "write new", "exists new", NULL, PWSH("new")},
    {11, DENIED, RO, "write new", "exists new", NULL, PWSH("new")},
    {12, ALLOWED, "", "mkdir d; write d\\new", "exists d\\new", NULL, NULL, NULL},
    {13, ALLOWED, "", "rename file other", "exists other", NULL, NULL, NULL},
    {14, ALLOWED, "", "unlink file", "absent file", NULL, NULL, NULL},
    {15, DENIED, RO, "write new", "exists new", NULL, NODE},
    {16, ALLOWED, "", "write new", "exists new", NULL, NODE},
    {17, DENIED, "", "connect @PORT", "tcp", NULL, "curl", "curl -s -m 2 http://127.0.0.1:@PORT/"},
    {18, DENIED, "", "connect @PORT", "tcp", NULL, "pwsh",
     "pwsh -NoProfile -Command \"Invoke-WebRequest -TimeoutSec 2 http://127.0.0.1:@PORT/\""},
    {19, ALLOWED, "--net=proxy=127.0.0.1:@PORT", "connect @PORT", "tcp", "", NULL, NULL},
    {20, DENIED, "--net=proxy=127.0.0.1:1", "connect @PORT", "tcp", "--net=loopback", NULL, NULL},
    {21, DENIED, RO " --root . --temp=shared", "write %TEMP%\\new", "exists ..\\tmp\\new",
     "--temp=shared", PWSH("$env:TEMP\\new")},
    {23, ALLOWED, "", "bytes new", "exists new", NULL, NULL, NULL},
    {24, DENIED, RO, "bytes new", "exists new", NULL, NULL, NULL},
    {25, ALLOWED, "", "mkdir a\\b\\c\\d\\e\\f; write a\\b\\c\\d\\e\\f\\new",
     "exists a\\b\\c\\d\\e\\f\\new", NULL, NULL, NULL},
    {26, ALLOWED, "", "rename file sub\\file", "exists sub\\file", NULL, NULL, NULL},
    {27, DENIED, RO, "write new", "exists new", NULL, "cmd", "cmd /c echo x> new"},
    {32, DENIED, "", "write new:stream", "exists new:stream", NULL, NULL, NULL},
    {32, DENIED, "", "write file:stream", "exists file:stream", NULL, NULL, NULL},
    {33, DENIED, "", "write \\\\?\\@TOP\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {33, DENIED, "", "write sub\\..\\..\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {33, DENIED, "", "cd ..\\out; write new", "exists ..\\out\\new", NULL, NULL, NULL},
    {34, DENIED, "", "mkdir .GiT; write .GiT\\config", "exists .GiT", NULL, NULL, NULL},
    {34, DENIED, "", "write .GIT", "exists .GIT", NULL, NULL, NULL},
    {34, DENIED, "", "write repo\\.GIT\\config", "holds repo\\.git\\config new", NULL, NULL, NULL},
    {34, DENIED, "", "cd repo\\.git; write config", "holds repo\\.git\\config new", NULL, NULL,
     NULL},
    {35, DENIED, "", "mkdir .codex", "exists .codex", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir sub\\.Claude", "exists sub\\.Claude", NULL, NULL, NULL},
    {35, DENIED, "", "mkdir .cordon", "exists .cordon", NULL, NULL, NULL},
    {36, DENIED, "--audit log", "write log tampered", "holds log tampered", NULL, NULL, NULL},
    {36, DENIED, "--audit log", "write log; rename log other", "exists other", NULL, NULL, NULL},
    {45, DENIED, "", "mkdir .git", "exists .git", NULL, NULL, NULL},
    {45, DENIED, "", "rename sub .git", "exists .git", NULL, NULL, NULL},
    {46, DENIED, "", "write hard", "holds ..\\out\\second new", NULL, NULL, NULL},
    {46, DENIED, "", "link ..\\out\\file l; write l", "holds ..\\out\\file new", NULL, NULL, NULL},
    {47, DENIED, "", "rename ..\\out\\file in-here", "absent ..\\out\\file", NULL, NULL, NULL},
    {47, DENIED, "", "rename file ..\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {47, DENIED, "", "rename sub .vscode", "exists .vscode", NULL, NULL, NULL},
    {48, DENIED, "", "read-only ..\\out\\file", "read-only ..\\out\\file", NULL, NULL, NULL},
    {48, DENIED, "", "times ..\\out\\file", "old ..\\out\\file", NULL, NULL, NULL},
    {49, DENIED, "", "child 3; write ..\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {49, ALLOWED, "", "child 3; write new", "exists new", NULL, NULL, NULL},
    {50, DENIED, "", "child 1 suspended; write ..\\out\\new", "exists ..\\out\\new", NULL, NULL,
     NULL},
    {50, DENIED, "", "child 1 detached; write ..\\out\\new", "exists ..\\out\\new", NULL, NULL,
     NULL},
    {50, DENIED, "", "child 1 console; write ..\\out\\new", "exists ..\\out\\new", NULL, NULL,
     NULL},
    {50, DENIED, "", "child 1 breakaway; write ..\\out\\new", "exists ..\\out\\new", NULL, NULL,
     NULL},
    {52, DENIED, "", "udp @UDP", "udp", NULL, NULL, NULL},
    {55, ALLOWED, "", "mkdir d; crowd d all 25 40", "count d 1000", NULL, NULL, NULL},
    {59, DENIED, "--git=commit", "write repo\\.git\\hooks\\pre-commit",
     "exists repo\\.git\\hooks\\pre-commit", NULL, NULL, NULL},
    {59, DENIED, "--git=commit", "write repo\\.git\\config", "holds repo\\.git\\config new", NULL,
     NULL, NULL},
    {59, ALLOWED, "--git=commit",
     "write repo\\.git\\index.lock; rename repo\\.git\\index.lock repo\\.git\\index",
     "exists repo\\.git\\index", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "copy secret got", "holds got SECRET", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "copy SECRET got map", "holds got SECRET", NULL, NULL, NULL},
    {60, DENIED, "--deny-read secret", "rename secret m; copy m got", "holds got SECRET", NULL,
     NULL, NULL},
    {60, DENIED, "--deny-read keys", "cd keys; copy one ..\\got", "holds got SECRET", NULL, NULL,
     NULL},
    {60, DENIED, "--deny-read ..\\out\\secret --root .", "child 2; copy ..\\out\\secret got",
     "holds got SECRET", NULL, NULL, NULL},
    {61, DENIED, "", "raw write ..\\out\\new", "exists ..\\out\\new", NULL, NULL, NULL},
    {61, DENIED, "", "raw delete ..\\out\\file", "absent ..\\out\\file", NULL, NULL, NULL},
};

static int run_row(const struct selftest_world *w, const struct row *row, const char *options,
                   bool tool, bool *escaped)
{
    if (tool)
        return world_line(w, options, row->line);
    return options ? world_run(w, options, row->script, escaped) : world_run_free(w, row->script);
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
        snprintf(line->why, sizeof line->why, "nothing tries it");
    }
}

const char *selftest_boundary(void)
{
    auto_buf struct buf text = {0};
    run_describe(&text);
    return str_starts(buf_str(&text), STR("kernel")) ? "kernel" : "interposed";
}
