/* SPDX-License-Identifier: Apache-2.0 */
/* The files that --learn=allow opens: those below the home folder that an option could open, and
   nothing that programs outside run or obey. */
#include "learn/linux/allow.h"
#include "tap.h"

struct row {
    const char *op, *target, *rule, *fix;
    bool allowed;
};

#define ROOT "--root . --root /x"

static const struct row rows[] = {
    {"file.create", "/home/u/.npm", "roots.outside", "--create-root /home/u/.npm", true},
    {"file.write", "/home/u/data/a", "roots.outside", ROOT, true},
    {"file.delete", "/home/u/data/a", "roots.outside", ROOT, true},
    {"file.rename", "/home/u/data/a", "roots.outside", ROOT, true},
    {"file.attributes", "/home/u/data/a", "roots.outside", ROOT, true},
    {"file.write", "/home/u/data/a", "mode.read-only", "--mode workspace-write", true},
    {"file.create", "/home/u/.config/tool/x", "roots.outside", ROOT, true},
    {"file.create", "/home/u/.config", "roots.outside", ROOT, true},
    {"file.create", "/home/u/.sshx/y", "roots.outside", ROOT, true},
    {"guard", "sh -c x", "opaque.command", "", true},

    {"file.rename", "/home/u/.config", "roots.outside", ROOT, false},
    {"file.delete", "/home/u/.local", "roots.outside", ROOT, false},
    {"file.create", "/home/u/.bashrc", "roots.outside", "no option opens it", false},
    {"file.create", "/home/u/.ssh", "roots.outside", "--create-root /home/u/.ssh", false},
    {"file.write", "/home/u/.ssh/authorized_keys", "roots.outside", ROOT, false},
    {"file.create", "/home/u/.config/autostart/x", "roots.outside", ROOT, false},
    {"file.create", "/home/u/.config/systemd", "roots.outside", ROOT, false},
    {"file.write", "/home/u/.config/gh/hosts.yml", "roots.outside", ROOT, false},
    {"file.create", "/home/u/.local/bin/ls", "roots.outside", ROOT, false},
    {"file.write", "/home/u/.cargo/credentials.toml", "roots.outside", ROOT, false},
    {"file.write", "/home/u", "roots.outside", ROOT, false},
    {"file.write", "/home/user/data/a", "roots.outside", ROOT, false},
    {"file.write", "/etc/passwd", "roots.outside", ROOT, false},
    {"file.write", "/home/u/data/.git", "protected.git", "--git=commit", false},
    {"file.write", "/home/u/data/.vscode", "protected.name", "--unprotect .vscode", false},
    {"file.write", "/home/u/p.json", "protected.self", "", false},
    {"file.read", "/home/u/data/a", "read.denied", "--allow-read x", false},
    {"net.connect", "example.com:443", "net.off", "--net=allow=example.com", false},
    {"process.start", "/usr/bin/ssh", "tool.ssh", "--allow-tool ssh", false},
    {"", "", "", "", false},
};

static bool allows(const struct learn_allow *a, const struct row *r)
{
    return learn_allows(a, &(struct learn_question){str_of(r->op), str_of(r->target),
                                                    str_of(r->rule), str_of(r->fix)});
}

int main(void)
{
    struct learn_allow a = {.home = STR("/home/u")}, strict = a, nowhere = {0};
    struct learn_allow top = {.home = STR("/")};
    strict.strict = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(allows(&a, &rows[i]) == rows[i].allowed, "%s %s (%s) %s", rows[i].op, rows[i].target,
           rows[i].rule, rows[i].allowed ? "is let through" : "stays closed");
    ok(!allows(&strict, &rows[9]) && allows(&strict, &rows[0]),
       "with --strict a command that the guard asks about stays closed");
    ok(!allows(&nowhere, &rows[1]) && !allows(&top, &rows[1]),
       "without a home folder nothing opens");
    return tap_done();
}
