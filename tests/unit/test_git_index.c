/* SPDX-License-Identifier: Apache-2.0 */
/* Which indexes hold only names that git itself would add. */
#include "broker/git_index.h"

#include <stdio.h>

#include "base/buf.h"
#include "tap.h"

enum { FILE_MODE = 0100644, LINK_MODE = 0120000, FOLDER_MODE = 040000, REPOSITORY_MODE = 0160000 };

/* An index as git writes it. */
struct made {
    struct buf bytes;
    size_t hash;
    uint32_t version, count;
    char before[5000]; /* the name before, for version 4 */
};

static void put(struct buf *b, uint32_t value, size_t size)
{
    while (size--)
        buf_char(b, (char)(value >> 8 * size));
}

static void begin(struct made *m, uint32_t version, size_t hash)
{
    buf_free(&m->bytes);
    *m = (struct made){.hash = hash, .version = version};
    buf_add(&m->bytes, STR("DIRC"));
    put(&m->bytes, version, 4);
    put(&m->bytes, 0, 4);
}

static void put_varint(struct buf *b, size_t value)
{
    char text[16];
    size_t n = sizeof text;
    text[--n] = (char)(value & 127);
    while (value >>= 7)
        text[--n] = (char)(128 | (--value & 127));
    buf_add(b, (struct str){text + n, sizeof text - n});
}

static void add_mode(struct made *m, const char *name, uint32_t mode, uint32_t more)
{
    size_t start = m->bytes.n, length = strlen(name), common = 0;
    uint32_t flags = (uint32_t)(length < 0xFFF ? length : 0xFFF) | (more ? 0x4000 : 0);
    buf_fill(&m->bytes, 1, 24);
    put(&m->bytes, mode, 4);
    buf_fill(&m->bytes, 1, 12 + m->hash);
    put(&m->bytes, flags, 2);
    if (more)
        put(&m->bytes, more, 2);
    if (m->version == 4) {
        while (name[common] && name[common] == m->before[common])
            common++;
        put_varint(&m->bytes, strlen(m->before) - common);
        snprintf(m->before, sizeof m->before, "%s", name);
    }
    buf_add(&m->bytes, str_of(name + common));
    buf_char(&m->bytes, 0);
    while (m->version < 4 && (m->bytes.n - start) % 8)
        buf_char(&m->bytes, 0);
    m->count++;
}

static void add(struct made *m, const char *name)
{
    add_mode(m, name, FILE_MODE, 0);
}

static void extend(struct made *m, const char *name, struct str body)
{
    buf_add(&m->bytes, str_of(name));
    put(&m->bytes, (uint32_t)body.n, 4);
    buf_add(&m->bytes, body);
}

static bool judge_as(struct made *m, enum path_dialect dialect, enum git_hash hash, char *why)
{
    for (int i = 0; i < 4; i++)
        m->bytes.p[8 + i] = (char)(m->count >> (24 - 8 * i));
    size_t n = m->bytes.n;
    buf_fill(&m->bytes, 7, m->hash);
    bool harmless = git_index_is_harmless(dialect, buf_str(&m->bytes), hash, why);
    m->bytes.n = n;
    return harmless;
}

static bool judge(struct made *m)
{
    char why[GIT_INDEX_WHY];
    return judge_as(m, PATH_POSIX, (enum git_hash)m->hash, why);
}

static const char *const good[] = {
    "a",       "a/b",           "a/b/c.txt", ".gitignore", ".github/x",
    "a.git/x", "x/.gitmodules", "git/x",     "...",        "a..b",
    "a/.gi",   ".gitt",         "..a",       "a b",        "\xC3\xA4/\xF0\x9F\x98\x80",
    "git-1",   "GIT",
};
static const char *const posix_only[] = {"a\\b", "\\a", "a:b",          "Foo::Bar.3",
                                         "a./b", "a ",  "x\\x2dy.slice"};
static const char *const bad[] = {
    ".git",
    ".git/hooks/x",
    "a/.git",
    "a/.git/config",
    ".GIT/x",
    ".gIt",
    ".git./x",
    ".git /x",
    ".git . ./x",
    ".git::$INDEX_ALLOCATION/x",
    ".git:x",
    "git~1/x",
    "GIT~1",
    "a/git~1/config",
    "GIT~2",
    "git~1.",
    "/",
    "/a",
    "/etc/passwd",
    "//a",
    "a//b",
    "a/",
    "./a",
    "a/./b",
    ".",
    "..",
    "../a",
    "a/..",
    "a/../b",
    "a/../../b",
    "a\\..\\b",
    "..\\a",
    "a\\.git\\x",
    ".git\\x",
    "\\.git",
    ".g\xE2\x80\x8Cit/x",
    "\xE2\x80\x8D.git/x",
    ".git\xEF\xBB\xBF",
    ".gi\xE2\x81\xAFt/x",
    ".git\xE2\x80\xAE. /x",
    ".g\xC4\xB1t/x",
};

static void test_names(void)
{
    static const uint32_t versions[] = {2, 3, 4};
    static const size_t hashes[] = {GIT_HASH_SHA1, GIT_HASH_SHA256};
    char why[GIT_INDEX_WHY];
    struct made m = {0};
    for (size_t v = 0; v < 6; v++) {
        uint32_t version = versions[v / 2];
        enum git_hash hash = (enum git_hash)hashes[v % 2];
        size_t wrong = 0;
        begin(&m, version, hash);
        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
            add(&m, good[i]);
        ok(judge_as(&m, PATH_POSIX, hash, why) && judge_as(&m, PATH_WINDOWS, hash, why) == false,
           "version %u, %d: good names, but three dots on Windows", version, hash);
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            begin(&m, version, hash);
            add(&m, good[i]);
            bool dots = strcmp(good[i], "...") == 0;
            wrong += !judge_as(&m, PATH_POSIX, hash, why);
            wrong += judge_as(&m, PATH_WINDOWS, hash, why) == dots;
        }
        ok(wrong == 0, "each good name (%zu)", wrong);
        for (size_t i = 0; i < sizeof posix_only / sizeof *posix_only; i++) {
            begin(&m, version, hash);
            add(&m, posix_only[i]);
            wrong += !judge_as(&m, PATH_POSIX, hash, why);
            wrong += judge_as(&m, PATH_WINDOWS, hash, why);
        }
        ok(wrong == 0, "names for Linux alone (%zu)", wrong);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            for (size_t k = 0; k < 3; k++) {
                begin(&m, version, hash);
                if (k != 1)
                    add(&m, ".gia/x");
                add(&m, bad[i]);
                if (k != 2)
                    add(&m, "z");
                bool posix = judge_as(&m, PATH_POSIX, hash, why);
                if (posix || !str_starts(str_of(why), STR("the name ")) ||
                    judge_as(&m, PATH_WINDOWS, hash, why)) {
                    note("not refused: %s (%s)", bad[i], why);
                    wrong++;
                }
            }
        ok(wrong == 0, "each bad name (%zu)", wrong);
    }
    begin(&m, 2, 20);
    add(&m, "../a\x1B]0;x\x07");
    judge_as(&m, PATH_POSIX, GIT_HASH_SHA1, why);
    ok(strcmp(why, "the name ../a?]0;x?, which git itself would not add") == 0, "said: %s", why);
    buf_free(&m.bytes);
}

/* In version 4 a name begins with a part of the one before. */
static void test_prefixes(void)
{
    static const struct {
        const char *first, *second;
        bool good;
    } rows[] = {
        {"a/.gi", "a/.gix", true},   {"a/.gi", "a/.git", false},    {"a/.gix", "a/.git", false},
        {"a/.g", "a/.git/x", false}, {"a/b.", "a/..", false},       {"a/.x", "a/./x", false},
        {"a/x", "a//x", false},      {"aa/.gitx", "a/.gitx", true},
    };
    struct made m = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&m, 4, 20);
        add(&m, rows[i].first);
        add(&m, rows[i].second);
        ok(judge(&m) == rows[i].good, "after %s: %s", rows[i].first, rows[i].second);
    }
    begin(&m, 4, 20);
    add(&m, "a");
    size_t at = m.bytes.n;
    add(&m, "b");
    m.bytes.p[at + 62] = 2;
    ok(!judge(&m), "more is dropped than there was");
    begin(&m, 4, 20);
    add(&m, "a");
    m.bytes.p[12 + 62] = 1;
    ok(!judge(&m), "or before the first");
    buf_free(&m.bytes);
}

static void test_structure(void)
{
    char why[GIT_INDEX_WHY], name[4200];
    struct made m = {0};
    begin(&m, 2, 20);
    ok(judge(&m), "no entries");
    m.bytes.p[7] = 5;
    ok(!judge(&m), "version 5");
    begin(&m, 2, 20);
    add(&m, "abc");
    ok(judge(&m) && !judge_as(&m, PATH_POSIX, GIT_HASH_UNKNOWN, why), "a hash that is not known");
    m.count = 2;
    ok(!judge(&m), "fewer entries than it says");
    m.count = 0;
    ok(!judge(&m), "more entries than it says");
    m.count = 1;
    m.bytes.p[12 + 61] = 2;
    ok(!judge(&m), "a length below the name's");
    m.bytes.p[12 + 61] = 4;
    ok(!judge(&m), "one above it");
    m.bytes.p[12 + 61] = 3;
    m.bytes.p[m.bytes.n - 1] = 'x';
    ok(!judge(&m), "padding that is not empty");
    begin(&m, 2, 20);
    add_mode(&m, "a", FILE_MODE, 0x2000);
    ok(!judge(&m), "more flags in version 2");
    begin(&m, 3, 20);
    add_mode(&m, "a", FILE_MODE, 0x6000);
    ok(judge(&m), "but in version 3");
    begin(&m, 3, 20);
    add_mode(&m, "a", FILE_MODE, 0x8000);
    ok(!judge(&m), "unknown flags");
    begin(&m, 2, 20);
    add_mode(&m, "a", LINK_MODE, 0);
    add_mode(&m, "b", REPOSITORY_MODE, 0);
    ok(judge(&m), "a link and a submodule");
    add_mode(&m, "c", 010644, 0);
    ok(!judge(&m), "a pipe");
    for (size_t n = 4090; n <= 4100; n++) {
        memset(name, 'a', n);
        for (size_t i = 255; i < n; i += 256)
            name[i] = '/';
        name[n] = '\0';
        for (uint32_t version = 2; version <= 4; version++) {
            begin(&m, version, 20);
            add(&m, name);
            if (judge(&m) != (n <= 4096 && name[n - 1] != '/'))
                ok(false, "a name of %zu in version %u", n, version);
        }
    }
    ok(true, "long names");
    memset(name, 'a', 1024);
    name[1024] = '\0';
    begin(&m, 2, 20);
    add(&m, name);
    ok(!judge(&m) && (name[1023] = '\0', begin(&m, 2, 20), add(&m, name), judge(&m)),
       "a long component");
    begin(&m, 2, 20);
    add(&m, "a");
    buf_fill(&m.bytes, 0, 7);
    ok(!judge(&m), "something at the end");
    buf_free(&m.bytes);
}

static void test_extensions(void)
{
    static char hash[64];
    struct made m = {0};
    begin(&m, 2, 20);
    add(&m, "a");
    extend(&m, "TREE", STR("abc"));
    extend(&m, "UNTR", STR(""));
    ok(judge(&m), "optional ones");
    extend(&m, "link", (struct str){hash, 20});
    ok(judge(&m), "a shared index");
    extend(&m, "link", (struct str){hash, 20});
    ok(!judge(&m), "but only one");
    begin(&m, 2, 20);
    add(&m, "a");
    extend(&m, "llnk", STR("x"));
    ok(!judge(&m), "an unknown one that is not optional");
    begin(&m, 2, 20);
    add(&m, "a");
    extend(&m, "TREE", STR("abc"));
    m.bytes.p[m.bytes.n - 4] = 4;
    ok(!judge(&m), "one beyond the end");
    for (uint32_t version = 2; version <= 4; version++) {
        begin(&m, version, 20);
        add(&m, "");
        add(&m, "a");
        ok(!judge(&m), "an entry without a name");
        extend(&m, "link", (struct str){hash, 20});
        ok(judge(&m), "which has it in the shared index");
    }
    begin(&m, 3, 20);
    add_mode(&m, "a/", FOLDER_MODE, 0x4000);
    ok(!judge(&m), "a folder");
    extend(&m, "sdir", STR(""));
    ok(judge(&m), "of a sparse index");
    begin(&m, 3, 20);
    add_mode(&m, "a", FOLDER_MODE, 0x4000);
    extend(&m, "sdir", STR(""));
    ok(!judge(&m), "without its slash");
    begin(&m, 3, 20);
    add_mode(&m, ".git/", FOLDER_MODE, 0x4000);
    extend(&m, "sdir", STR(""));
    ok(!judge(&m), "the git folder");
    begin(&m, 3, 20);
    add_mode(&m, "/", FOLDER_MODE, 0x4000);
    extend(&m, "sdir", STR(""));
    ok(!judge(&m), "the root folder");
    buf_free(&m.bytes);
}

/* Git reads from where these say, if it has several threads. */
static void test_threads(void)
{
    for (uint32_t version = 2; version <= 4; version += 2)
        for (int form = 0; form < 8; form++) {
            struct made m = {0};
            auto_buf struct buf table = {0}, end = {0};
            begin(&m, version, 20);
            add(&m, "a/b");
            add(&m, "a/c");
            size_t second = m.bytes.n;
            if (form != 1)
                memset(m.before, 1, strlen(m.before)); /* nothing in common */
            add(&m, "a/d");
            size_t after = m.bytes.n;
            put(&table, form == 2 ? 2 : 1, 4);
            put(&table, 12, 4);
            put(&table, 2, 4);
            put(&table, (uint32_t)second + (form == 3), 4);
            put(&table, form == 4 ? 2 : 1, 4);
            if (form == 5)
                put(&table, (uint32_t)after, 4);
            extend(&m, "IEOT", buf_str(&table));
            if (form == 6)
                extend(&m, "IEOT", buf_str(&table));
            put(&end, (uint32_t)after + (form == 7), 4);
            buf_fill(&end, 3, 20);
            extend(&m, "EOIE", buf_str(&end));
            bool fine = form == 0 || (form == 1 && version == 2);
            ok(judge(&m) == fine, "tables of offsets: version %u, form %d", version, form);
            buf_free(&m.bytes);
        }
}

static void test_hash(void)
{
    static const struct {
        const char *config;
        enum git_hash hash;
    } rows[] = {
        {"", GIT_HASH_SHA1},
        {"[core]\n\tbare = false\n", GIT_HASH_SHA1},
        {"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
         GIT_HASH_SHA256},
        {"[core]\r\n\tRepositoryFormatVersion=1\r\n[Extensions]\r\n\tobjectFormat=sha256\r\n",
         GIT_HASH_SHA256},
        {"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha1\n",
         GIT_HASH_SHA1},
        {"[core]\n\trepositoryformatversion = 0\n[extensions]\n\tobjectformat = sha256\n",
         GIT_HASH_UNKNOWN},
        {"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha512\n",
         GIT_HASH_UNKNOWN},
        {"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = "
         "sha1\n\tobjectformat "
         "= sha256\n",
         GIT_HASH_UNKNOWN},
        {"[core]\n\trepositoryformatversion = 1\n[extensions] objectformat = sha256\n",
         GIT_HASH_UNKNOWN},
        {"[core]\n\trepositoryformatversion = 1\n[x]\n\tobjectformat = sha256\n", GIT_HASH_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(git_index_hash(str_of(rows[i].config)) == rows[i].hash, "config %zu", i);
    struct str two[2] = {str_of(rows[0].config), str_of(rows[2].config)};
    ok(git_index_hash_of_both(two, (const bool[]){true, true}) == GIT_HASH_UNKNOWN &&
           git_index_hash_of_both(two, (const bool[]){true, false}) == GIT_HASH_SHA1 &&
           git_index_hash_of_both(two, (const bool[]){false, true}) == GIT_HASH_SHA256 &&
           git_index_hash_of_both(two, (const bool[]){false, false}) == GIT_HASH_SHA1,
       "two configs");
}

static bool is_tasks(const void *context, struct str name)
{
    (void)context;
    return str_starts(name, STR(".vscode/"));
}

/* The entries of names that other programs obey, in two indexes. */
static void test_obeyed(void)
{
    static const char *const names[] = {".vscode/a", ".vscode/c", "b", "c"};
    for (uint32_t version = 2; version <= 4; version += 2) {
        struct git_index_obeyed obeyed[2] = {{.is_obeyed = is_tasks}, {.is_obeyed = is_tasks}};
        char why[GIT_INDEX_WHY];
        for (int k = 0; k < 2; k++) {
            struct made m = {0};
            begin(&m, version, 20);
            for (size_t i = 0; i < 4; i++)
                if (k || i != 1)
                    add(&m, names[i]);
            for (int i = 0; i < 4; i++)
                m.bytes.p[8 + i] = (char)(m.count >> (24 - 8 * i));
            buf_fill(&m.bytes, 7, m.hash);
            ok(git_index_read(PATH_POSIX, buf_str(&m.bytes), GIT_HASH_SHA1, &obeyed[k], why),
               "version %u: read", version);
            buf_free(&m.bytes);
        }
        struct git_index_entry entry;
        struct str rest = buf_str(&obeyed[1].entries), old = buf_str(&obeyed[0].entries);
        bool first = git_index_next(&rest, &entry) && str_eq(entry.name, STR(".vscode/a")) &&
                     entry.mode == FILE_MODE && git_index_has(&old, &entry);
        bool second = git_index_next(&rest, &entry) && str_eq(entry.name, STR(".vscode/c")) &&
                      !git_index_has(&old, &entry);
        ok(first && second && !git_index_next(&rest, &entry), "version %u: one of two is new",
           version);
        buf_free(&obeyed[0].entries);
        buf_free(&obeyed[1].entries);
    }
}

int main(void)
{
    test_names();
    test_prefixes();
    test_structure();
    test_extensions();
    test_threads();
    test_hash();
    test_obeyed();
    return tap_done();
}
