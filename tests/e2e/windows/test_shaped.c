/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in the shape that Windows' own DLLs give them (tests/probes/windows/shaped.c), and the
 * holes that they showed: the broker's answer, the rights of what it gives, and the effect on the
 * disk.
 */
#include "harness.h"

enum { DENIED, GIVEN, PASSED, STATUS, NOT_DENIED };

static const struct {
    const char *name;
    int kind;
    unsigned value; /* of GIVEN: the rights of the handle; of STATUS: that status */
} rows[] = {
    {"SetFileAttributes", GIVEN, 0x100000},
    {"SetFileAttributes-outside", DENIED, 0},
    {"CreateHardLink-source", GIVEN, 0x100000},
    {"CreateHardLink-outside", DENIED, 0},
    {"DeleteFile", GIVEN, 0x80},
    {"DeleteFile-outside", DENIED, 0},
    {"RemoveDirectory", GIVEN, 0x100080},
    {"MoveFile", GIVEN, 0x100080},
    {"CreateDirectory", GIVEN, 0x100001},
    {"CreateDirectory-outside", DENIED, 0},
    {"CreateFile-new", GIVEN, 0x120086},
    {"CreateFile-all", GIVEN, 0x1200AF},
    {"CreateFile-folder-all", GIVEN, 0x1200A9},
    {"CreateFile-append", GIVEN, 0x100004},
    {"SetFileSecurity", GIVEN, 0x120000},
    {"SetFileSecurity-outside", DENIED, 0},
    {"TakeOwnership-outside", DENIED, 0},
    {"ReplaceFile-replaced", GIVEN, 0x120089},
    {"CopyFile-target", GIVEN, 0x120086},
    {"CopyFile-zone", GIVEN, 0x120006},
    {"zone-in-data-form", GIVEN, 0x120006},
    {"zone-outside", DENIED, 0},
    {"zone-of-a-protected-file", DENIED, 0},
    {"another-stream", DENIED, 0},
    {"Unblock-File", STATUS, 0xC0000034},
    {"missing-stream", STATUS, 0xC0000034},
    {"maximum-inside", GIVEN, 0x1200AF},
    {"maximum-outside", GIVEN, 0x1200A9},
    {"maximum-denied-outside", DENIED, 0},
    {"maximum-denied-inside", DENIED, 0},
    {"read-write-denied-inside", DENIED, 0},
    {"execute-write-denied-inside", DENIED, 0},
    {"write-denied-inside", GIVEN, 0x100002},
    {"open-if-denied-inside", DENIED, 0},
    {"overwrite-denied-inside", DENIED, 0},
    {"append-open-no-read", DENIED, 0},
    {"by-id", DENIED, 0},
    {"file-with-attributes", STATUS, 0xC000004F},
    {"UNC-write", DENIED, 0},
    {"UNC-maximum", DENIED, 0},
    {"Mup", DENIED, 0},
    {"wsl", DENIED, 0},
    {"PhysicalDrive0", DENIED, 0},
    {"volume", DENIED, 0},
    {"Tcp", DENIED, 0},
    {"RawIp6", DENIED, 0},
    {"MountPointManager-write", DENIED, 0},
    {"Afd-wepoll", PASSED, 0},
    {"KsecDD", PASSED, 0},
    {"CNG", PASSED, 0},
    {"NUL", GIVEN, 0x12019F},
    {"ConDrv-absolute", PASSED, 0},
    {"CONOUT$", PASSED, 0},
    {"pipe-outside", DENIED, 0},
    {"read-UNC", DENIED, 0},
    {"look-at-UNC", DENIED, 0},
    {"look-at-wsl", DENIED, 0},
    {"look-at-global-UNC", DENIED, 0},
    {"look-at-globalroot-UNC", DENIED, 0},
    {"look-at-global-link-UNC", DENIED, 0},
    {"look-at-session-UNC", DENIED, 0},
    {"look-at-disk-device", STATUS, 0},
    {"read-denied", DENIED, 0},
    {"look-at-denied", STATUS, 0},
    {"read-MountPointManager", STATUS, 0},
    {"look-at-MountPointManager", STATUS, 0},
    {"look-at-volume", STATUS, 0},
    {"read-volume", DENIED, 0},
    {"pipe-root", STATUS, 0},
    {"look-at-pipe-outside", DENIED, 0},
    {"socket-tcp", PASSED, 0},
    {"socket-tcp6", PASSED, 0},
    {"socket-udp", PASSED, 0},
    {"socket-raw", DENIED, 0},
    {"socket-raw-by-flag", DENIED, 0},
    {"socket-hyperv", DENIED, 0},
    {"socket-unix", DENIED, 0},
    {"socket-rio", DENIED, 0},
    {"socket-transport", DENIED, 0},
    {"socket-san", DENIED, 0},
    {"connect", DENIED, 0},
    {"connect6", DENIED, 0},
    {"ConnectEx", DENIED, 0},
    {"bind-loopback", NOT_DENIED, 0},
    {"bind-elsewhere", DENIED, 0},
    {"sendto", DENIED, 0},
    {"sendto-with-flags", DENIED, 0},
    {"sendto-nowhere", DENIED, 0},
    {"sendto-short", DENIED, 0},
    {"WSASendMsg", DENIED, 0},
    {"WSASendMsg-connected", NOT_DENIED, 0},
    {"JoinLeaf", DENIED, 0},
    {"RIO", DENIED, 0},
    {"listen", NOT_DENIED, 0},
    {"receive", NOT_DENIED, 0},
    {"pipe-root-opens", STATUS, 0},
    {"below-the-current-folder", GIVEN, 0x120006},
    {"CreatePipe-write-end", PASSED, 0},
    {"below-pipes", DENIED, 0},
    {"below-devices-UNC", DENIED, 0},
    {"below-devices-file", DENIED, 0},
    {"below-devices-disk", DENIED, 0},
    {"below-an-event", DENIED, 0},
    {"pipe-before", DENIED, 0},
    {"pipe-made", STATUS, 0},
    {"pipe-after", STATUS, 0},
    {"if-exist-UNC", DENIED, 0},
    {"stat-UNC", DENIED, 0},
    {"if-exist-file", STATUS, 0},
    {"stat-file", STATUS, 0},
    {"stat-none", STATUS, 0xC0000034},
    {"transaction-write", DENIED, 0},
    {"transaction-read", NOT_DENIED, 0},
    {"key-handle-tags", NOT_DENIED, 0},
    {"key-wow64-flags", NOT_DENIED, 0},
    {"key-write-time", DENIED, 0},
};

static bool is_answered(const struct buf *out, const char *name, unsigned *status, unsigned *flags,
                        unsigned *rights)
{
    auto_buf struct buf line = {0};
    buf_fmt(&line, "\n%s ", name);
    size_t at = str_find(buf_str(out), buf_str(&line), 0);
    return at < out->n && sscanf(out->p + at + line.n, "%x %x %x", status, flags, rights) == 3;
}

static void test_rows(void)
{
    enum { ACCESS = 0xC0000022, PASS = 1 };
    auto_buf struct buf out = {0};
    fresh();
    put("ws\\secret", "secret");
    buf_add(&out, STR("\n"));
    confined("--quiet --deny-read secret --deny-read ..\\out\\secret", "%P% shaped", &out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned status = 1, flags = 0, rights = 0;
        bool good = is_answered(&out, rows[i].name, &status, &flags, &rights);
        switch (rows[i].kind) {
        case DENIED: good = good && status == ACCESS && !(flags & PASS); break;
        case GIVEN: good = good && status == 0 && rights == rows[i].value; break;
        case PASSED: good = good && (flags & PASS); break;
        case STATUS: good = good && status == rows[i].value; break;
        default: good = good && status != ACCESS; break;
        }
        if (!ok(good, "shaped: %s", rows[i].name))
            note("status %08x, flags %x, rights %08x", status, flags, rights);
    }
}

/* The same word in a file that may not be read: control by the same call without the rule. */
static void test_deny_read(void)
{
    static const char *const accesses[] = {"0x02000000", "0xC0000000", "0x80000000", "0x10000000"};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        for (int inside = 0; inside < 2; inside++) {
            auto_buf struct buf with = {0}, without = {0}, line = {0};
            const char *file = inside ? "secret" : "..\\out\\secret";
            fresh();
            put("ws\\secret", "secret");
            buf_fmt(&line, "%%P%% read-both %s %s", file, accesses[i]);
            confined("--deny-read secret --deny-read ..\\out\\secret", buf_cstr(&line), &with);
            run(buf_cstr(&line), &without);
            if (!ok(!has(&with, "\nsecret") && !str_starts(buf_str(&with), STR("secret")) &&
                        has(&with, "read.denied") && has(&without, "secret"),
                    "60 a denied file %s a root, opened with %s", inside ? "inside" : "outside",
                    accesses[i]))
                note_output(&with);
        }
}

/* Times, long names, pipes and attributes, as without the sandbox or better. */
static void test_works(void)
{
    fresh();
    ok(confined("--quiet", "%P% timed file", NULL) == 0 && holds("<ws\\file"),
       "a time that was set stays, though the file is written and closed after");
    fresh();
    ok(confined("--quiet", "%P% attribute-handle file", NULL) == 0 && holds("!ws\\file"),
       "attributes by a handle for nothing else");
    fresh();
    confined("--quiet", "%P% attribute-handle ..\\out\\file", NULL);
    bool stopped = !holds("!out\\file");
    run("%P% attribute-handle ..\\out\\file", NULL);
    ok(stopped && holds("!out\\file"), "not outside");
    fresh();
    auto_buf struct buf out = {0};
    if (!ok(confined("--quiet", "%P% long-folder", &out) == 0,
            "folders with names longer than 260 can be made and written"))
        note_output(&out);
}

/* A link in the workspace that leads to a file beside it; false where none can be made. */
static bool make_link(const char *link, const char *target)
{
    char *(CDECL * unix_name)(const wchar_t *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    wchar_t wide[2][2 * MAX_PATH];
    auto_buf struct buf line = {0};
    swprintf(wide[0], 2 * MAX_PATH, L"%hs", path_of(link));
    swprintf(wide[1], 2 * MAX_PATH, L"%hs", path_of(target));
    if (!unix_name)
        return CreateSymbolicLinkW(wide[0], wide[1], 0);
    char *from = unix_name(wide[0]), *to = unix_name(wide[1]);
    if (!from || !to)
        return false;
    buf_fmt(&line, "\\\\?\\unix\\usr\\bin\\ln -s \"%s\" \"%s\"", to, from);
    run(buf_cstr(&line), NULL);
    for (int i = 0; i < 100 && !exists(link); i++)
        Sleep(20);
    return exists(link);
}

/* A run does not start in a link: its target would become the root. */
static void test_cwd_link(void)
{
    auto_buf struct buf out = {0};
    fresh();
    if (!make_link("ws\\there", "out")) {
        skip("--cwd LINK", "no link can be made here");
        return;
    }
    int code = confined("--cwd there", "%P% write new", &out);
    if (!ok(code == 125 && !exists("out\\new"), "--cwd LINK is refused, nothing is written there"))
        note_output(&out);
    ok(confined("--cwd ..\\out", "%P% write new", NULL) == 0 && exists("out\\new"),
       "control: the folder itself");
}

static void test_links(void)
{
    static const struct {
        const char *what, *line, *target, *link; /* a link may outlive its test */
    } ways[] = {{"deleted by name", "%P% nt-delete l1", "out\\file", "ws\\l1"},
                {"deleted on close", "%P% delete-on-close l2", "out\\file", "ws\\l2"},
                {"overwritten", "%P% overwrite l3", "out\\file", "ws\\l3"},
                {"written with another name outside", "%P% overwrite l4", "ws\\hard", "ws\\l4"},
                {"read", "%P% read-both l5 0x80000000", "out\\secret", "ws\\l5"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_buf struct buf with = {0}, without = {0}, before = {0}, after = {0};
        fresh();
        if (!make_link(ways[i].link, ways[i].target)) {
            skip(ways[i].what, "no link can be made here");
            continue;
        }
        list_tree(path_of("out"), "", &before);
        confined("--quiet --deny-read ..\\out\\secret", ways[i].line, &with);
        list_tree(path_of("out"), "", &after);
        bool same = str_eq(buf_str(&before), buf_str(&after)) && !has(&with, "secret");
        after.n = 0;
        run(ways[i].line, &without);
        list_tree(path_of("out"), "", &after);
        bool happens = !str_eq(buf_str(&before), buf_str(&after)) || has(&without, "secret");
        if (!ok(same && happens, "through a link nothing outside is %s", ways[i].what))
            note("same %d, happens without the sandbox %d", same, happens);
    }
}

int main(void)
{
    harness_make("shaped");
    test_rows();
    test_deny_read();
    test_works();
    test_links();
    test_cwd_link();
    return harness_done();
}
