/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git's index on Windows: a forged one does not get its name in a repository that was there before,
 * each attempt with its control outside; git's own way with it works. No git is needed: an index is
 * made here.
 */
#include "harness.h"

/* An index with one entry, padded by the cache of a tree so that all have the same length. */
static void put_index(const char *file, const char *name)
{
    auto_buf struct buf b = {0};
    size_t n = strlen(name), start = 12;
    buf_add(&b, (struct str){"DIRC\0\0\0\2\0\0\0\1", 12});
    buf_fill(&b, 0, 24);
    buf_add(&b, (struct str){"\0\0\x81\xA4", 4});
    buf_fill(&b, 1, 32);
    buf_char(&b, 0);
    buf_char(&b, (char)n);
    buf_add(&b, str_of(name));
    do
        buf_char(&b, 0);
    while ((b.n - start) % 8);
    buf_add(&b, (struct str){"TREE\0\0\0", 7});
    buf_char(&b, (char)(200 - b.n - 1));
    buf_fill(&b, 'x', 200 - b.n);
    buf_fill(&b, 7, 20);
    FILE *f = fopen(path_of(file), "wb");
    if (!f || fwrite(b.p, 1, b.n, f) != b.n)
        note("%s cannot be written", file);
    if (f)
        fclose(f);
}

static bool same_files(const char *a, const char *b)
{
    char one[8192], other[8192];
    FILE *f = fopen(path_of(a), "rb"), *g = fopen(path_of(b), "rb");
    size_t n = f ? fread(one, 1, sizeof one, f) : 0, m = g ? fread(other, 1, sizeof other, g) : 0;
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    /* A mapping makes it longer. */
    return n && m && memcmp(one, other, n < m ? n : m) == 0;
}

static void set_up(void)
{
    fresh();
    CreateDirectoryA(path_of("ws\\.git"), NULL);
    CreateDirectoryA(path_of("ws\\repo\\.git\\worktrees"), NULL);
    CreateDirectoryA(path_of("ws\\repo\\.git\\worktrees\\w"), NULL);
    put("ws\\.git\\config", "[core]\n\tbare = false\n");
    put("ws\\repo\\.git\\config", "[core]\n\tbare = false\n");
    put_index("ws\\evil", ".git/hooks/post-checkout");
    put_index("ws\\good", "story.txt");
    put_index("ws\\.git\\index", "old.txt");
    put_index("ws\\repo\\.git\\index", "old.txt");
    put_index("ws\\repo\\.git\\worktrees\\w\\index", "old.txt");
}

#define NESTED "repo\\.git\\"
#define LOCK(from, folder)                                                                        \
    "cmd /c \"%P% copy " from " " folder "index.lock && %P% replace " folder "index.lock " folder \
    "index\""

static const struct {
    const char *what, *options, *line, *place;
} forged[] = {
    {"renamed from index.lock", NULL, LOCK("evil", NESTED), "ws\\repo\\.git\\index"},
    {"at the top, with --git=commit", "--git=commit", LOCK("evil", ".git\\"), "ws\\.git\\index"},
    {"at the top, with --git=full", "--git=full", LOCK("evil", ".git\\"), "ws\\.git\\index"},
    {"of a worktree", NULL, LOCK("evil", NESTED "worktrees\\w\\"),
     "ws\\repo\\.git\\worktrees\\w\\index"},
    {"a shared one", NULL,
     "cmd /c \"%P% copy evil repo\\.git\\sharedindex_abcdef && %P% rename "
     "repo\\.git\\sharedindex_abcdef repo\\.git\\sharedindex.0123\"",
     "ws\\repo\\.git\\sharedindex.0123"},
    {"copied", NULL, "%P% copy evil repo\\.git\\index", "ws\\repo\\.git\\index"},
    {"copied to another spelling", NULL, "%P% copy evil repo\\.git\\INDEX",
     "ws\\repo\\.git\\index"},
    {"made anew", NULL, "cmd /c \"del repo\\.git\\index && %P% copy evil repo\\.git\\index\"",
     "ws\\repo\\.git\\index"},
    {"moved there", NULL, "cmd /c \"%P% copy evil e && %P% replace e repo\\.git\\index\"",
     "ws\\repo\\.git\\index"},
    {"by a second name", NULL,
     "cmd /c \"del repo\\.git\\index && %P% link repo\\.git\\index evil\"",
     "ws\\repo\\.git\\index"},
    {"by a second name of the old one", NULL,
     "cmd /c \"%P% link l repo\\.git\\index && %P% copy evil l\"", "ws\\repo\\.git\\index"},
    {"by a second name of index.lock", NULL,
     "cmd /c \"%P% copy good repo\\.git\\index.lock && %P% link l repo\\.git\\index.lock && %P% "
     "replace repo\\.git\\index.lock repo\\.git\\index && %P% copy evil l\"",
     "ws\\repo\\.git\\index"},
    {"by a handle and a mapping of index.lock", NULL,
     "cmd /c \"%P% copy good repo\\.git\\index.lock && %P% replace-and-write "
     "repo\\.git\\index.lock repo\\.git\\index evil\"",
     "ws\\repo\\.git\\index"},
};

static void test_forged(void)
{
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        auto_buf struct buf out = {0};
        set_up();
        confined(forged[i].options, forged[i].line, &out);
        bool got = same_files(forged[i].place, "ws\\evil");
        set_up();
        run(forged[i].line, NULL);
        bool control = same_files(forged[i].place, "ws\\evil");
        if (!ok(!got && control, "a forged index is refused: %s (%d %d)", forged[i].what, got,
                control))
            note_output(&out);
    }
    auto_buf struct buf out = {0};
    set_up();
    confined(NULL, LOCK("evil", NESTED), &out);
    if (!ok(has(&out, "git.index"), "the rule is said"))
        note_output(&out);
}

static FILETIME written(const char *name)
{
    WIN32_FILE_ATTRIBUTE_DATA data = {0};
    GetFileAttributesExA(path_of(name), GetFileExInfoStandard, &data);
    return data.ftLastWriteTime;
}

static void test_works(void)
{
    static const struct {
        const char *what, *options, *line, *place;
    } rows[] = {
        {"in a nested repository", NULL, LOCK("good", NESTED), "ws\\repo\\.git\\index"},
        {"at the top", "--git=commit", LOCK("good", ".git\\"), "ws\\.git\\index"},
        {"of a worktree", NULL, LOCK("good", NESTED "worktrees\\w\\"),
         "ws\\repo\\.git\\worktrees\\w\\index"},
        {"a shared one", NULL,
         "cmd /c \"%P% copy good repo\\.git\\sharedindex_abcdef && %P% rename "
         "repo\\.git\\sharedindex_abcdef repo\\.git\\sharedindex.0123\"",
         "ws\\repo\\.git\\sharedindex.0123"},
        {"in a repository of the run's own", NULL,
         "cmd /c \"mkdir n\\.git && %P% copy good n\\.git\\index\"", "ws\\n\\.git\\index"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        set_up();
        bool before = same_files(rows[i].place, "ws\\good");
        int code = confined(rows[i].options, rows[i].line, &out);
        if (!ok(code == 0 && !before && same_files(rows[i].place, "ws\\good") &&
                    !exists("ws\\repo\\.git\\index.lock") && !exists("ws\\.git\\index.lock"),
                "an index is renamed: %s (%d)", rows[i].what, code))
            note_output(&out);
    }
    auto_buf struct buf out = {0}, names = {0};
    set_up();
    int code = confined(NULL,
                        "cmd /c \"%P% copy good repo\\.git\\index.lock && %P% times "
                        "repo\\.git\\index.lock && %P% replace repo\\.git\\index.lock "
                        "repo\\.git\\index\"",
                        &out);
    FILETIME now = written("ws\\repo\\.git\\index");
    ok(code == 0 && now.dwHighDateTime == 0x01C295C4, "its time is that of the lock file (%lx)",
       (unsigned long)now.dwHighDateTime);
    list_tree(path_of("ws\\repo"), "", &names);
    ok(!has(&names, "cordon-"), "nothing is left beside it");
}

static void test_undo(void)
{
    auto_buf struct buf out = {0}, before = {0}, after = {0};
    set_up();
    list_tree(path_of("ws"), "", &before);
    int code = confined("--undo", LOCK("good", NESTED), &out);
    bool done = same_files("ws\\repo\\.git\\index", "ws\\good");
    int undone = run("%C% undo", &out);
    list_tree(path_of("ws"), "", &after);
    if (!ok(code == 0 && done && undone == 0 && str_eq(buf_str(&before), buf_str(&after)),
            "it is taken back (%d %d %d)", code, done, undone))
        note_output(&out);
}

int main(void)
{
    harness_make("git-index");
    test_forged();
    test_works();
    test_undo();
    return harness_done();
}
