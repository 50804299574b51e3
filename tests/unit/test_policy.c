/* SPDX-License-Identifier: Apache-2.0 */
/* The policy as a whole: every spelling of protected names, random paths, images, lists, sizes. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/alias.h"
#include "policy/casefold.h"
#include "policy/image.h"
#include "policy/names.h"
#include "policy/net.h"
#include "policy/rules.h"
#include "tap.h"

static uint64_t seed = 7;

static unsigned roll(unsigned sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % sides;
}

static struct policy *compile(struct policy_settings *settings)
{
    auto_buf struct buf error = {0};
    struct policy *policy = NULL;
    if (policy_compile(settings, &policy, &error))
        note("%s", buf_cstr(&error));
    return policy;
}

static void add(struct arena *arena, struct policy_list *list, const char *path)
{
    struct policy_entry entry = {.given = str_of(path), .from = STR("test")};
    policy_list_add(arena, list, entry);
}

static const struct path_map maps[] = {{{"\\Device\\HarddiskVolume3", 23}, {"C:", 2}}};

static struct policy_settings workspace(struct arena *arena)
{
    struct policy_settings s = {.mode = POLICY_WORKSPACE_WRITE};
    s.paths = (struct path_context){.cwd = STR("C:\\ws"), .maps = maps, .map_count = 1};
    s.machine.home = STR("C:\\Users\\u");
    add(arena, &s.roots, "C:\\ws");
    return s;
}

/* Spells a protected name in one of very many ways. */
static void spell(struct buf *out, const char *name)
{
    static const char *const prefixes[] = {"C:\\ws\\",
                                           "c:/ws/",
                                           "",
                                           ".\\",
                                           "\\ws\\",
                                           "\\\\?\\C:\\ws\\",
                                           "\\\\.\\C:\\ws\\",
                                           "\\??\\C:\\WS\\",
                                           "//?/c:/Ws/",
                                           "\\Device\\HarddiskVolume3\\ws\\",
                                           "C:\\x\\..\\ws\\\\.\\",
                                           "C:",
                                           "C:\\ws\\a\\..\\",
                                           "C:\\ws\\aux\\..\\",
                                           "C:\\ws::$INDEX_ALLOCATION\\",
                                           "..\\ws\\b:c\\..\\",
                                           "\\\\.\\c:\\ws\\deep\\..\\"};
    static const char *const tails[] = {"",
                                        ".",
                                        " ",
                                        ". .",
                                        "\\",
                                        "/",
                                        "::$INDEX_ALLOCATION",
                                        ":$I30:$INDEX_ALLOCATION",
                                        "::$index_allocation",
                                        "::$DATA",
                                        ":x",
                                        "\\config",
                                        "/x/../config",
                                        "\\.",
                                        "\\x\\..",
                                        ".\\hooks\\pre-commit",
                                        " . \\config"};
    buf_add(out, str_of(prefixes[roll(sizeof prefixes / sizeof *prefixes)]));
    if (roll(6) == 0) {
        /* An 8.3 alias: the name without its dot, cut to six, and a number. */
        size_t length = 0;
        for (const char *p = name + (name[0] == '.'); *p && *p != '.' && length < 6; p++, length++)
            buf_char(out, roll(2) ? *p : (char)(ascii_is_alpha(*p) ? *p - 32 : *p));
        buf_fmt(out, "~%u", 1 + roll(9));
    } else {
        for (const char *p = name; *p; p++) {
            if (*p == 'i' && roll(8) == 0)
                buf_add(out, roll(2) ? STR("\xC4\xB1") : STR("\xC4\xB0"));
            else if (*p == 's' && roll(8) == 0)
                buf_add(out, STR("\xC5\xBF"));
            else if (*p == 'k' && roll(8) == 0)
                buf_add(out, STR("\xE2\x84\xAA"));
            else
                buf_char(out, ascii_is_alpha(*p) && roll(2) ? (char)(*p - 32) : *p);
        }
    }
    buf_add(out, str_of(tails[roll(sizeof tails / sizeof *tails)]));
}

static void test_spellings(void)
{
    enum { TRIES = 12000 };
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    struct policy *policy = compile(&settings);
    static const enum policy_access all[] = {
        POLICY_WRITE,   POLICY_CREATE,     POLICY_DELETE,   POLICY_RENAME_FROM, POLICY_RENAME_TO,
        POLICY_LINK_TO, POLICY_ATTRIBUTES, POLICY_SECURITY, POLICY_LINK_FROM,   POLICY_REPARSE};
    for (int name = 1; name < PROTECTED_COUNT; name++) {
        unsigned allowed = 0, reached = 0;
        for (int i = 0; i < TRIES; i++) {
            auto_buf struct buf given = {0};
            char room[512];
            spell(&given, protected_spelled((enum protected_name)name));
            struct policy_request request = {.access = all[roll(10)]};
            struct policy_answer answer;
            path_normalize(&settings.paths, buf_str(&given), room, sizeof room, &request.path);
            request.facts.exists = roll(2);
            request.facts.directory = roll(2);
            policy_decide(policy, &request, &answer);
            reached += answer.rule == RULE_PROTECTED_GIT || answer.rule == RULE_PROTECTED_NAME;
            if (answer.verdict == CORDON_ALLOW && allowed++ < 3)
                note("allowed by %s: %s", policy_rule_id(answer.rule), buf_cstr(&given));
        }
        ok(allowed == 0, "%s in %d spellings: none allowed",
           protected_spelled((enum protected_name)name), TRIES);
        ok(reached > TRIES / 2, "%s: the name itself was the reason %u times",
           protected_spelled((enum protected_name)name), reached);
    }
    policy_free(policy);
}

/* Random paths near the root: a grant means that the normal form lies in the root. */
static void test_outside(void)
{
    static const char *const pieces[] = {"\\",      "..",      "ws",      "C:",     "/",  "a",
                                         ".",       "\\\\?\\", "WS",      " ",      "D:", ":",
                                         "\\\\.\\", "ws2",     "::$DATA", "\\??\\", "Ws"};
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    struct policy *policy = compile(&settings);
    unsigned wrong = 0, allowed = 0;
    for (int i = 0; i < 300000; i++) {
        char given[128], room[512];
        size_t n = 0;
        if (roll(2)) {
            memcpy(given, "C:\\ws\\", 6);
            n = 6;
        }
        for (unsigned k = roll(8); k > 0; k--) {
            const char *piece = pieces[roll(sizeof pieces / sizeof *pieces)];
            memcpy(given + n, piece, strlen(piece));
            n += strlen(piece);
        }
        struct policy_request request = {.access = POLICY_WRITE};
        struct policy_answer answer;
        path_normalize(&settings.paths, (struct str){given, n}, room, sizeof room, &request.path);
        request.facts.seen = roll(2);
        policy_decide(policy, &request, &answer);
        /* Devices that no rule names pass to the token; they are not paths of files. */
        if (answer.verdict != CORDON_ALLOW || answer.rule == RULE_DEVICE_OTHER)
            continue;
        allowed++;
        struct str text = request.path.text, root = STR("C:\\ws");
        bool inside = request.path.class == PATH_FILE && text.n >= root.n &&
                      (request.facts.seen ? str_starts(text, root) : str_startsi(text, root)) &&
                      (text.n == root.n || text.p[root.n] == '\\');
        if (!inside && wrong++ < 3)
            note("%.*s", (int)n, given);
    }
    ok(wrong == 0 && allowed > 1000, "what is allowed lies inside (%u of 300,000 allowed)",
       allowed);
    policy_free(policy);
}

static void test_many(void)
{
    enum { MANY = 1000 };
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    for (int i = 0; i < MANY; i++) {
        char path[64];
        snprintf(path, sizeof path, "D:\\roots\\r%d", i);
        add(&arena, &settings.roots, path);
        snprintf(path, sizeof path, "D:\\roots\\r%d\\no\\n%d", i, i);
        add(&arena, &settings.deny_write, path);
    }
    struct policy *policy = compile(&settings);
    unsigned right = 0;
    for (int i = 0; i < MANY; i++) {
        char path[64];
        struct policy_answer answer;
        struct policy_request request = {.access = POLICY_WRITE};
        request.path.class = PATH_FILE;
        snprintf(path, sizeof path, "D:\\roots\\r%d\\a", i);
        request.path.text = request.path.base = str_of(path);
        policy_decide(policy, &request, &answer);
        right += answer.verdict == CORDON_ALLOW && answer.entry == (unsigned)i + 2;
        snprintf(path, sizeof path, "D:\\roots\\r%d\\NO\\n%d\\x", i, i);
        request.path.text = request.path.base = str_of(path);
        policy_decide(policy, &request, &answer);
        right += answer.rule == RULE_WRITE_DENIED && answer.entry == (unsigned)i + 1;
    }
    ok(right == 2 * MANY, "1,000 roots and 1,000 rules, each found");
    policy_free(policy);
}

static enum policy_rule ask(const struct policy *policy, enum policy_access access,
                            const char *path)
{
    struct policy_request request = {.access = access};
    struct policy_answer answer;
    request.path = (struct path){PATH_FILE, str_of(path), str_of(path), false};
    policy_decide(policy, &request, &answer);
    return answer.rule;
}

/* More of something than a search remembers: what could be denied is. */
static void test_limits(void)
{
    {
        auto_arena struct arena arena = {0};
        struct policy_settings settings = workspace(&arena);
        struct policy *policy = compile(&settings);
        char path[2 * IMAGE_MAX_KEY] = "C:\\ws\\";
        memset(path + 6, 'x', sizeof path - 7);
        ok(ask(policy, POLICY_WRITE, path) == RULE_ROOTS_INSIDE, "a name longer than any rule's");
        path[3] = 'x';
        ok(ask(policy, POLICY_WRITE, path) == RULE_ROOTS_OUTSIDE, "and outside");
        policy_free(policy);
    }
    for (unsigned count = 3; count <= 40; count += 37) {
        auto_arena struct arena arena = {0};
        struct policy_settings settings = workspace(&arena);
        for (unsigned i = 0; i < count; i++) {
            char path[64];
            snprintf(path, sizeof path, "C:\\d\\secret-folder-%u\\k", i);
            add(&arena, &settings.deny_read, path);
        }
        struct policy *policy = compile(&settings);
        ok(ask(policy, POLICY_READ, "C:\\d\\SECRET~1\\k") == RULE_READ_DENIED,
           "a short name of one of %u", count);
        ok(ask(policy, POLICY_READ, "C:\\d\\SECRET~1\\x") ==
               (count > IMAGE_MAX_ALIASES ? RULE_READ_DENIED : RULE_READ_ALLOWED),
           "and of what lies beside it");
        ok(ask(policy, POLICY_WRITE, "C:\\d\\SECRET~1\\x") == RULE_ROOTS_OUTSIDE,
           "nothing is allowed by a guess");
        policy_free(policy);
    }
    for (unsigned depth = 2; depth <= IMAGE_MAX_NESTED + 2; depth++) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf path = {0};
        struct policy_settings settings = workspace(&arena);
        buf_add(&path, STR("C:\\ws"));
        for (unsigned i = 1; i < depth; i++) {
            buf_add(&path, STR("\\r"));
            add(&arena, &settings.roots, buf_cstr(&path));
        }
        struct policy *policy = compile(&settings);
        buf_add(&path, STR("\\x\\.git\\index.lock"));
        ok(ask(policy, POLICY_WRITE, buf_cstr(&path)) ==
               (depth > IMAGE_MAX_NESTED ? RULE_PROTECTED_GIT : RULE_GIT_COMMIT),
           "%u roots, one in the other", depth);
        policy_free(policy);
    }
}

/* A folder that is root and temp in one keeps the rules of a root. */
static void test_root_is_temp(void)
{
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    settings.temp = POLICY_TEMP_SHARED;
    settings.temp_path = STR("C:\\ws");
    struct policy *policy = compile(&settings);
    struct str root = STR("C:\\ws");
    struct policy_request request = {.access = POLICY_DELETE,
                                     .path = {PATH_FILE, root, root, true}};
    struct policy_answer answer;
    ok(ask(policy, POLICY_WRITE, "C:\\ws\\a") == RULE_ROOTS_INSIDE, "root and temp: a file");
    ok(ask(policy, POLICY_WRITE, "C:\\ws\\.vscode\\a") == RULE_PROTECTED_NAME,
       "root and temp: a protected name");
    policy_decide(policy, &request, &answer);
    ok(answer.rule == RULE_ROOTS_ITSELF && answer.entry == 1, "root and temp: the folder itself");
    policy_free(policy);
}

/* A tool that is called by another name is known by its path. */
static void test_tool_path(void)
{
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    struct policy *policy = compile(&settings);
    struct str path = STR("C:\\x\\ssh.exe");
    struct policy_program program = {.name = STR("other"), .path = {PATH_FILE, path, path, false}};
    struct policy_answer answer;
    policy_tool_decide(policy, &program, &answer);
    ok(answer.verdict == CORDON_DENY && answer.rule == RULE_TOOL_SSH, "ssh under another name");
    program.path.text = program.path.base = STR("C:\\x\\other.exe");
    policy_tool_decide(policy, &program, &answer);
    ok(answer.verdict == CORDON_ALLOW, "another program");
    policy_free(policy);
}

static void look_for(void *context, struct str name)
{
    unsigned *found = context;
    *found |= str_eq(name, STR("ssh")) | str_eq(name, STR("schtasks")) << 1 |
              str_eq(name, STR("mine")) << 2;
}

static void test_tool_names(void)
{
    for (int allowed = 0; allowed < 2; allowed++) {
        auto_arena struct arena arena = {0};
        struct policy_settings windows = workspace(&arena), posix = {0};
        posix.paths = (struct path_context){.dialect = PATH_POSIX, .cwd = STR("/w")};
        add(&arena, &windows.deny_tools, "mine.exe");
        add(&arena, &posix.deny_tools, "mine");
        if (allowed) {
            add(&arena, &windows.allow_tools, "ssh");
            add(&arena, &posix.allow_tools, "ssh");
        }
        struct policy *a = compile(&windows), *b = compile(&posix);
        unsigned on_windows = 0, on_linux = 0;
        policy_tool_names(a, look_for, &on_windows);
        policy_tool_names(b, look_for, &on_linux);
        /* On Windows a stub has the name of a remote login or none. */
        ok(on_windows == (allowed ? 0 : 1) && on_linux == (allowed ? 4 : 5),
           "the stubs of each system%s", allowed ? ", ssh allowed" : "");
        policy_free(a);
        policy_free(b);
    }
}

/* A name ends where its length says, whatever follows it. */
static void test_counted(void)
{
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    struct policy *policy = compile(&settings);
    struct str text = STR("\\\\.\\COM1");
    struct policy_request request = {.access = POLICY_READ,
                                     .path = {PATH_DEVICE, text, text, false}};
    struct policy_answer answer;
    policy_decide(policy, &request, &answer);
    ok(answer.rule == RULE_PATH_DEVICE, "COM1 is a device that is refused");
    request.path.text.n--;
    policy_decide(policy, &request, &answer);
    ok(answer.rule == RULE_DEVICE_OTHER, "COM is none of them");
    struct str alias = STR("CLAUDE~1");
    ok(alias_could_be(alias, STR(".claude")), "CLAUDE~1 is .claude");
    struct str seven = STR("1:2:3:4:5:6:7::");
    ok(net_read_host(seven).kind == NET_V6, "seven groups and a gap");
    seven.n--;
    ok(net_read_host(seven).kind == NET_BAD, "seven groups and one that is missing");
    alias.n--;
    ok(!alias_could_be(alias, STR(".claude")), "CLAUDE~ is not");
    policy_free(policy);
}

static void test_zero(void)
{
    struct policy_settings settings = {0};
    struct policy *policy = compile(&settings);
    struct policy_request request = {{0}, 0, {0}};
    struct policy_answer answer = {.verdict = CORDON_ALLOW};
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_DENY, "a request that was not filled in is denied");
    request.path = (struct path){PATH_FILE, STR("C:\\a"), STR("C:\\a"), false};
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_DENY, "no access is denied");
    request.access = POLICY_WRITE;
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_DENY, "empty settings allow no write");
    request.access = (enum policy_access)99;
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_DENY, "an unknown access is denied");
    request.access = POLICY_RENAME_FROM;
    struct policy_request other = request;
    policy_decide_pair(policy, &request, &other, &answer);
    ok(answer.verdict == CORDON_DENY, "a pair of two froms is denied");
    policy_free(policy);
    settings.mode = POLICY_FULL_ACCESS;
    policy = compile(&settings);
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_ALLOW, "full access allows a rename");
    policy_decide_pair(policy, &request, &other, &answer);
    ok(answer.verdict == CORDON_DENY, "but no pair of two froms");
    other.access = POLICY_RENAME_TO;
    policy_decide_pair(policy, &request, &other, &answer);
    ok(answer.verdict == CORDON_ALLOW, "a pair of from and to");
    request.access = POLICY_NO_ACCESS;
    policy_decide(policy, &request, &answer);
    ok(answer.verdict == CORDON_DENY, "nothing that was not said is allowed");
    ok(policy_rule_id((enum policy_rule)9999)[0] == 0 && policy_rule_id(RULE_NONE)[0] == 0,
       "no rule has no id");
    policy_free(policy);
}

static void test_rules(void)
{
    unsigned bad = 0;
    for (int i = 1; i < POLICY_RULE_COUNT; i++) {
        struct str id = str_of(policy_rule_id((enum policy_rule)i));
        if (!str_has_char(id, '.') || policy_rule_text((enum policy_rule)i)[0] == 0)
            bad++;
        for (int k = 1; k < i; k++)
            if (str_eq(id, str_of(policy_rule_id((enum policy_rule)k))))
                bad++;
    }
    ok(bad == 0, "every rule has its own id and a sentence");
}

/* The image. */

static struct policy *with_secrets(struct arena *arena)
{
    struct policy_settings settings = workspace(arena);
    add(arena, &settings.deny_read, "C:\\secret");
    add(arena, &settings.deny_read, "C:\\ws\\\xC3\xA4");
    add(arena, &settings.allow_read, "C:\\secret\\public");
    return compile(&settings);
}

static void test_image(void)
{
    auto_arena struct arena arena = {0};
    struct policy *policy = with_secrets(&arena);
    struct str block = policy_image(policy);
    static const struct {
        const char *given;
        bool denied;
    } rows[] = {{"C:\\secret\\a", true},
                {"c:\\SECRET", true},
                {"C:\\secret:stream", true},
                {"C:\\secret\\public\\x", false},
                {"C:\\secret2", false},
                {"C:\\ws\\\xC3\x84\\x", true},
                {"C:\\ws\\a", false},
                {"\\\\?\\C:\\x.", true},
                {"\\\\.\\C:\\secret", true},
                {"C:\\\xC5\xBF"
                 "ecret",
                 true},
                {"\\\\.\\pipe\\x", false},
                {"nul", false},
                {"\\\\.\\other\\secret", true},
                {"\\\\?\\Volume{9}\\secret", true},
                {"\\\\?\\unix\\x", true},
                {"\\Device\\harddiskvolume7\\secret", true},
                {"\\Device\\Afd", false},
                {"\\Device\\Mup\\;x\\h\\s", true},
                {"C:\\secret\\\\..\\ws\\a", false},
                {"\\\\?\\C:\\secret\\\\a", true}};
    struct path_context context = {.cwd = STR("C:\\ws")};
    /* Moved to another place it means the same. */
    void *moved = malloc(block.n);
    memcpy(moved, block.p, block.n);
    struct image image;
    ok(image_open(moved, block.n, &image) == 0, "a moved image opens");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char room[128];
        struct path path;
        struct str given = {rows[i].given, strlen(rows[i].given)};
        path_normalize(&context, given, room, sizeof room, &path);
        ok(image_denies_read(&image, &path) == rows[i].denied, "image: %s", rows[i].given);
    }
    unsigned survived = 0;
    for (size_t i = 0; i < block.n; i++) {
        ((char *)moved)[i] ^= 0x40;
        survived += image_open(moved, block.n, &image) == 0;
        ((char *)moved)[i] ^= 0x40;
    }
    ok(survived == 0, "each of %u single changed bytes is noticed", (unsigned)block.n);
    ok(image_open(moved, block.n - 1, &image) == CORDON_E_IMAGE &&
           image_open(moved, 0, &image) == CORDON_E_IMAGE &&
           image_open(NULL, 0, &image) == CORDON_E_IMAGE,
       "a cut image is refused");
    char *odd = malloc(block.n + 1);
    memcpy(odd + 1, block.p, block.n);
    ok(image_open(odd + 1, block.n, &image) == CORDON_E_IMAGE, "a misaligned image is refused");
    free(odd);
    free(moved);
    policy_free(policy);
}

/* A block with one wrong number and the right checksum. */
static bool survives(const struct str sound, size_t word, uint32_t number)
{
    struct image image;
    uint32_t *block = malloc(sound.n + 4);
    memcpy(block, sound.p, sound.n);
    block[word] = number;
    size_t head = offsetof(struct image_header, dialect);
    if (word >= head / 4)
        block[3] = image_checksum((char *)block + head, sound.n - head);
    bool opened = image_open(block, sound.n, &image) == 0;
    if (opened) {
        struct path path = {PATH_FILE, STR("C:\\ws\\a"), STR("C:\\ws\\a"), false};
        image_denies_read(&image, &path);
    }
    free(block);
    return opened;
}

static void test_crafted(void)
{
    auto_arena struct arena arena = {0};
    struct policy *policy = with_secrets(&arena);
    struct str block = policy_image(policy);
    struct image_header h;
    memcpy(&h, block.p, sizeof h);
    unsigned opened = 0, entries = 0;
    for (size_t word = 0; word < h.entry_at / 4; word++)
        opened += survives(block, word, 0xFFFFFFFF);
    for (uint32_t i = 0; i < h.entry_count; i++)
        for (size_t field = 0; field < 5; field++)
            entries += field != 1 && survives(block, h.entry_at / 4 + i * 5 + field, 0xFFFFFFFF);
    ok(opened == 0, "a number out of its range is refused in header, nodes and slots");
    ok(entries == 0, "and in entries");
    size_t first_node = h.node_at / 4, second_entry = h.entry_at / 4 + 5;
    ok(!survives(block, first_node + 6, 1), "a node is not its own parent");
    ok(!survives(block, second_entry + 4, 1), "a chain does not turn back");
    ok(!survives(block, second_entry + 4, 2), "or in place");
    ok(!survives(block, second_entry, IMAGE_KINDS), "there are so many kinds and no more");
    ok(!survives(block, second_entry + 1, 0), "an entry has a number");
    unsigned doubled = 0, beyond = 0;
    for (size_t i = 0; i < h.slot_count; i++) {
        uint32_t node;
        memcpy(&node, block.p + h.slot_at + 4 * i, 4);
        doubled += node != 1 && survives(block, h.slot_at / 4 + i, 1);
        beyond += survives(block, h.slot_at / 4 + i, h.node_count);
    }
    ok(doubled == 0, "every node stands in one slot");
    ok(beyond == 0, "no slot holds one more than there are nodes");
    unsigned lost = 0;
    for (uint32_t i = 0; i < h.node_count; i++) {
        struct image_node node;
        memcpy(&node, block.p + h.node_at + i * sizeof node, sizeof node);
        lost += node.first_entry && survives(block, first_node + i * 6 + 4, 0);
        lost += node.below && survives(block, first_node + i * 6 + 5, 0);
    }
    ok(lost == 0, "no rule is lost");
    ok(!survives(block, first_node + 6 + 1, 12345), "a node's hash is its own");
    policy_free(policy);
}

static void test_list(void)
{
    auto_arena struct arena arena = {0};
    struct policy *policy = with_secrets(&arena);
    struct policy_line *lines;
    size_t count;
    ok(policy_list_rules(policy, &arena, &lines, &count) == 0 && count > 30, "the list has lines");
    size_t secret = 0, root = 0, outside = 0;
    bool ordered = true;
    for (size_t i = 0; i < count; i++) {
        ordered = ordered && lines[i].order == i + 1 && lines[i].from.n && lines[i].what.n;
        if (lines[i].rule == RULE_READ_DENIED && !secret)
            secret = i;
        if (lines[i].rule == RULE_ROOTS_INSIDE)
            root = i;
        if (lines[i].rule == RULE_ROOTS_OUTSIDE)
            outside = i;
    }
    ok(ordered, "numbered, each with its origin");
    ok(secret && root > secret && outside > root, "deny before allow, the rest last");
    ok(str_eq(lines[secret].what, STR("C:\\secret")) && str_eq(lines[secret].from, STR("test")) &&
           strcmp(lines[secret].effect, "deny") == 0,
       "a line says what and from where");
    policy_free(policy);
}

/* An address from the broker is in binary form, not text. */
static void test_peers(void)
{
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena);
    settings.net = POLICY_NET_ON;
    struct policy *policy = compile(&settings);
    static const struct {
        const char *host;
        uint16_t port;
        enum cordon_verdict verdict;
    } rows[] = {{"127.0.0.1", 80, CORDON_ALLOW},
                {"127.0.0.1", 0, CORDON_DENY},
                {"", 80, CORDON_DENY},
                {"a b", 80, CORDON_DENY},
                {"a.test", 65535, CORDON_ALLOW}};
    static const struct {
        const char *pattern, *host;
        bool covers;
    } covered[] = {{"a.test", "a.test", true},      {"a.test.", "A.test", true},
                   {"*.a.test", "b.a.test", true},  {"*.a.test.", "b.a.test", true},
                   {"*.a.test", "a.test", false},   {"*.a.test", "ba.test", false},
                   {"*.x.t.t", "b.x.t.t", true},    {"10.0.0.1", "10.0.0.1", true},
                   {"10.0.0.1", "10.0.0.2", false}, {"*.0.0.1", "10.0.0.1", false},
                   {"0.0.0.0", "a.test", false},    {"a.test", "0.0.0.0", false},
                   {"::", "a.test", false},         {"::", "0.0.0.0", false}};
    /* In buffers of exactly their size. */
    static const char *const incomplete[] = {"[::1]", "[::1", "a", "", "[", "a:", "[]:1", "a:1x"};
    for (size_t i = 0; i < sizeof incomplete / sizeof *incomplete; i++) {
        size_t n = strlen(incomplete[i]);
        char *copy = malloc(n ? n : 1);
        struct policy_peer peer;
        memcpy(copy, incomplete[i], n);
        ok(policy_parse_peer((struct str){copy, n}, &peer) != 0, "no peer: \"%s\"", incomplete[i]);
        free(copy);
    }
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        struct net_host host = net_read_host(str_of(covered[i].host));
        ok(net_covers(str_of(covered[i].pattern), &host) == covered[i].covers, "pair %u of hosts",
           (unsigned)i);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_answer answer = {0};
        policy_net_decide(policy,
                          &(struct policy_peer){.host = str_of(rows[i].host), .port = rows[i].port},
                          &answer);
        ok(answer.verdict == rows[i].verdict, "a peer \"%s\", port %u", rows[i].host, rows[i].port);
    }
    policy_free(policy);
    settings.net = POLICY_NET_ALLOW;
    add(&arena, &settings.net_allow, "a.test");
    add(&arena, &settings.net_allow, "b.test");
    policy = compile(&settings);
    struct policy_answer answer = {0};
    policy_net_decide(policy, &(struct policy_peer){.host = STR("b.test"), .port = 1}, &answer);
    ok(answer.verdict == CORDON_ALLOW && answer.entry == 2, "the entry that allows it is named");
    policy_free(policy);
}

struct finding {
    const struct policy *whole;
    unsigned asked;
};

static const struct policy *find(void *context)
{
    struct finding *f = context;
    f->asked++;
    return f->whole;
}

static enum cordon_verdict decide_at(const struct policy *policy, const char *path,
                                     enum policy_access access)
{
    struct path place = {.class = PATH_FILE, .text = str_of(path), .base = str_of(path)};
    struct policy_request request = {.path = place, .access = access, .facts = {.exists = true}};
    struct policy_answer answer = {0};
    policy_decide(policy, &request, &answer);
    return answer.verdict;
}

/* What git obeys is found when a change is judged, and without it no change is allowed. */
static void test_later(void)
{
    auto_arena struct arena arena = {0};
    struct policy_settings settings = workspace(&arena), known = workspace(&arena);
    struct finding finding = {0};
    settings.git_later = true;
    add(&arena, &known.git_obeys, "C:\\ws\\hooks");
    struct policy *policy = compile(&settings), *whole = compile(&known);
    ok(decide_at(policy, "C:\\ws\\a", POLICY_READ) == CORDON_ALLOW &&
           decide_at(policy, "C:\\ws\\a", POLICY_WRITE) == CORDON_DENY,
       "without a way to find what git obeys, files are read and not changed");
    policy_find_later(policy, find, &finding);
    ok(decide_at(policy, "C:\\ws\\a", POLICY_READ) == CORDON_ALLOW && finding.asked == 0,
       "to read, nothing is looked for");
    ok(decide_at(policy, "C:\\ws\\a", POLICY_WRITE) == CORDON_DENY && finding.asked == 1,
       "if it cannot be found, the change is refused");
    finding.whole = whole;
    ok(decide_at(policy, "C:\\ws\\hooks\\a", POLICY_CREATE) == CORDON_DENY &&
           decide_at(policy, "C:\\ws\\a", POLICY_WRITE) == CORDON_ALLOW,
       "what was found counts");
    policy_free(policy);
    policy_free(whole);
}

int main(void)
{
    test_spellings();
    test_outside();
    test_many();
    test_limits();
    test_root_is_temp();
    test_tool_path();
    test_tool_names();
    test_counted();
    test_zero();
    test_rules();
    test_image();
    test_crafted();
    test_list();
    test_peers();
    test_later();
    return tap_done();
}
