/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run --undo, changes, undo and runs on Windows, end to end. Each change is made by a run,
 * seen on the disk (the control), and taken back: the folder is compared with what it was, names
 * with their case, contents, attributes and times. Journals lie in a folder of the test's own.
 * CORDON_SOAK has 1,000 random sequences; CORDON_UNDO_SEED=N or N-M runs those alone, and
 * CORDON_UNDO_TEST=NAME one test of the table at the end.
 */
#include "harness.h"

#include "launch/windows/wine.h"

static void list_all(const wchar_t *path, const wchar_t *below, struct buf *out)
{
    enum { MOST = 256 };
    static WIN32_FIND_DATAW pool[16][MOST];
    static int depth;
    WIN32_FIND_DATAW *found = pool[depth++];
    wchar_t name[2 * MAX_PATH];
    size_t count = 0;
    swprintf(name, 2 * MAX_PATH, L"%ls\\*", path);
    HANDLE find = FindFirstFileW(name, &found[0]);
    if (find != INVALID_HANDLE_VALUE) {
        do
            count += wcscmp(found[count].cFileName, L".") != 0 &&
                     wcscmp(found[count].cFileName, L"..") != 0;
        while (count < MOST && FindNextFileW(find, &found[count]));
        FindClose(find);
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && wcscmp(found[k - 1].cFileName, found[k].cFileName) > 0; k--) {
            WIN32_FIND_DATAW other = found[k];
            found[k] = found[k - 1];
            found[k - 1] = other;
        }
    for (size_t i = 0; i < count; i++) {
        const WIN32_FIND_DATAW *f = &found[i];
        bool folder = f->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
        uint64_t hash = 14695981039346656037u;
        swprintf(name, 2 * MAX_PATH, L"%ls\\%ls", path, f->cFileName);
        HANDLE file =
            folder ? INVALID_HANDLE_VALUE
                   : CreateFileW(name, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
        unsigned char chunk[4096];
        for (DWORD n; file != INVALID_HANDLE_VALUE &&
                      ReadFile(file, chunk, sizeof chunk, &n, NULL) && n > 0;)
            for (DWORD k = 0; k < n; k++)
                hash = (hash ^ chunk[k]) * 1099511628211u;
        if (file != INVALID_HANDLE_VALUE)
            CloseHandle(file);
        char line[1200];
        snprintf(line, sizeof line, "%ls%ls attributes %lx size %lu hash %llx written %lx:%lx\n",
                 below, f->cFileName, (unsigned long)f->dwFileAttributes,
                 folder ? 0 : (unsigned long)f->nFileSizeLow, (unsigned long long)hash,
                 (unsigned long)f->ftLastWriteTime.dwHighDateTime,
                 (unsigned long)f->ftLastWriteTime.dwLowDateTime);
        buf_add(out, str_of(line));
        if (folder && depth < 16) {
            wchar_t inner[2 * MAX_PATH];
            swprintf(inner, 2 * MAX_PATH, L"%ls%ls\\", below, f->cFileName);
            list_all(name, inner, out);
        }
    }
    depth--;
}

static void snapshot(struct buf *out)
{
    wchar_t path[MAX_PATH];
    buf_reset(out);
    swprintf(path, MAX_PATH, L"%hs", path_of("ws"));
    list_all(path, L"", out);
}

/* The lines that differ, as a note. */
static void note_difference(const struct buf *before, const struct buf *after)
{
    for (int side = 0; side < 2; side++) {
        struct str text = buf_str(side ? after : before), other = buf_str(side ? before : after);
        for (size_t at = 0, end; at < text.n; at = end + 1) {
            end = str_find_char(text, '\n', at);
            struct str line = str_slice(text, at, end);
            if (str_find(other, line, 0) >= other.n)
                note("%s %.*s", side ? "now" : "was", STR_ARG(line));
        }
    }
}

static bool same(const struct buf *before, const struct buf *after)
{
    return str_eq(buf_str(before), buf_str(after));
}

/* ws with files of known times, so that one that is set anew differs. */
static void set_up(void)
{
    static const char *const folders[] = {"ws", "ws\\Sub", "ws\\Sub\\deep", "ws\\empty"};
    static const char *const files[] = {"ws\\File.txt", "ws\\other", "ws\\Sub\\in",
                                        "ws\\Sub\\deep\\x"};
    remove_tree(path_of("ws"));
    for (size_t i = 0; i < 4; i++)
        CreateDirectoryA(path_of(folders[i]), NULL);
    for (size_t i = 0; i < 4; i++)
        put(files[i], i ? "old\n" : "one\ntwo\n");
    for (int i = 7; i >= 0; i--) {
        HANDLE file = CreateFileA(path_of(i < 4 ? folders[i] : files[i - 4]), FILE_WRITE_ATTRIBUTES,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, NULL);
        FILETIME time = {1234567u * 10u, 0x01D00000u + (DWORD)i};
        SetFileTime(file, NULL, &time, &time);
        CloseHandle(file);
    }
}

/* ---- one change each ---- */

static void test_changes(void)
{
    static const struct {
        const char *what, *line;
        const char *effect; /* as holds() takes it */
        const char *said;   /* by changes; NULL: no line */
    } cases[] = {
        {"a new file", "cmd /c echo x> new", "+ws\\new", "created   new +1 -0"},
        {"appended", "%P% append File.txt", "=ws\\File.txt|x", "modified  File.txt +1 -"},
        {"truncated", "%P% truncate File.txt", "=ws\\File.txt|", "modified  File.txt"},
        {"overwritten", "%P% overwrite File.txt", "=ws\\File.txt|x", "modified  File.txt"},
        {"overwritten under another case", "%P% overwrite FILE.TXT", "=ws\\File.txt|x",
         "modified  File.txt"},
        {"deleted", "%P% delete File.txt", "-ws\\File.txt", "deleted   File.txt +0 -2"},
        {"deleted on close", "%P% delete-on-close File.txt", "-ws\\File.txt", "deleted   File.txt"},
        {"deleted by name", "%P% nt-delete File.txt", "-ws\\File.txt", "deleted   File.txt"},
        {"renamed", "%P% rename File.txt moved", "+ws\\moved", "renamed   moved (was File.txt)"},
        {"moved to a folder", "%P% rename File.txt empty\\File.txt", "+ws\\empty\\File.txt",
         "renamed   empty/File.txt (was File.txt)"},
        {"renamed over", "%P% replace File.txt other", "-ws\\File.txt", "renamed   other"},
        {"a folder renamed", "%P% rename Sub Dir2", "+ws\\Dir2\\deep\\x", "renamed   Dir2/"},
        {"read-only", "%P% read-only File.txt", "!ws\\File.txt", "modified  File.txt"},
        {"times", "%P% times File.txt", "<ws\\File.txt", "modified  File.txt"},
        {"a hard link", "%P% link second File.txt", "+ws\\second", "created   second"},
        {"a folder made", "cmd /c \"mkdir a\\b\\c & echo x> a\\b\\c\\d\"", "+ws\\a\\b\\c\\d",
         "created   a/b/c/d"},
        {"an empty folder removed", "%P% rmdir empty", "-ws\\empty", "deleted   empty/"},
        {"a whole tree removed", "cmd /c rmdir /s /q Sub", "-ws\\Sub", "deleted   Sub/deep/x"},
        {"removed and made again", "cmd /c \"rmdir /s /q Sub & mkdir Sub & echo n> Sub\\in\"",
         "=ws\\Sub\\in|n", "deleted   Sub/deep/"},
        {"a file replaced by a folder", "cmd /c \"del other & mkdir other & echo n> other\\n\"",
         "+ws\\other\\n", "created   other/n"},
        {"a read-only file deleted", "cmd /c \"attrib +r File.txt & del /f File.txt\"",
         "-ws\\File.txt", "deleted   File.txt"},
        {"names exchanged", "cmd /c \"ren File.txt t & ren other File.txt & ren t other\"",
         "=ws\\other|one", "renamed   other (was File.txt)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_buf struct buf before = {0}, after = {0}, out = {0}, listed = {0};
        set_up();
        snapshot(&before);
        confined("--undo", cases[i].line, &out);
        bool happened = holds(cases[i].effect);
        run("%C% changes", &listed);
        bool told = !cases[i].said || has(&listed, cases[i].said);
        int code = run("%C% undo", &out);
        snapshot(&after);
        if (!ok(happened && told && code == 0 && same(&before, &after), "%s, and taken back",
                cases[i].what)) {
            note("happened %d, told %d, undo %d", happened, told, code);
            note_output(&listed);
            note_output(&out);
            note_difference(&before, &after);
        }
    }
}

/* A rename that changes case alone is seen in the names of the folder. */
static void test_case(void)
{
    auto_buf struct buf before = {0}, between = {0}, after = {0}, out = {0};
    set_up();
    run("cmd /c ren File.txt FILE.txt", NULL);
    snapshot(&before);
    if (!has(&before, "FILE.txt ")) {
        skip("names that changed in case alone", "a rename cannot change case alone here");
        return;
    }
    set_up();
    snapshot(&before);
    confined("--undo", "cmd /c \"ren File.txt FILE.txt & ren Sub SUB\"", &out);
    snapshot(&between);
    bool renamed =
        has(&between, "FILE.txt ") && has(&between, "SUB ") && !has(&between, "File.txt");
    int code = run("%C% undo", &out);
    snapshot(&after);
    if (!ok(renamed && code == 0 && same(&before, &after), "names that changed in case alone")) {
        note_output(&out);
        note_difference(&before, &after);
    }
}

/* ---- conflicts ---- */

static void test_conflicts(void)
{
    auto_buf struct buf before = {0}, after = {0}, out = {0};
    set_up();
    snapshot(&before);
    confined("--undo", "cmd /c \"echo run> File.txt & echo run> other & echo run> new\"", &out);
    Sleep(30);
    put("ws\\File.txt", "mine");
    buf_reset(&out);
    int dry = run("%C% undo --dry-run", &out);
    ok(dry == 1 && has(&out, "would leave alone: File.txt: it was changed after the run") &&
           has(&out, "would restore other") && has(&out, "would remove new") &&
           is_text("ws\\File.txt", "mine") && exists("ws\\new"),
       "a dry run names the conflict and changes nothing");
    buf_reset(&out);
    int code = run("%C% undo", &out);
    if (!ok(code == 1 && has(&out, "left alone: File.txt: it was changed after the run") &&
                is_text("ws\\File.txt", "mine") && is_text("ws\\other", "old\n") &&
                !exists("ws\\new"),
            "a file that was changed after the run is left alone, the others are restored"))
        note_output(&out);
    buf_reset(&out);
    code = run("%C% undo --force", &out);
    snapshot(&after);
    if (!ok(code == 0 && same(&before, &after), "--force restores it too")) {
        note_output(&out);
        note_difference(&before, &after);
    }
    buf_reset(&out);
    char line[200];
    run("%C% runs", &out);
    snprintf(line, sizeof line, "%%C%% undo %.20s", buf_cstr(&out));
    code = run(line, &after);
    ok(code == 0 && is_text("ws\\File.txt", "mine"), "an undo can be taken back itself");
}

static void test_words(void)
{
    auto_buf struct buf out = {0};
    set_up();
    run("%C% runs --drop all", NULL);
    confined("--undo", "cmd /c \"echo run> File.txt & echo run> Sub\\in & echo run> Sub\\new\"",
             &out);
    int code = run("%C% undo Sub\\in", &out);
    ok(code == 0 && is_text("ws\\Sub\\in", "old\n") && exists("ws\\Sub\\new") &&
           !is_text("ws\\File.txt", "one\ntwo\n"),
       "only the file that was named is restored");
    ok(run("%C% undo nothing-such", &out) == 125, "a name that the run did not change");
    code = run("%C% undo", &out);
    if (!ok(code == 0 && is_text("ws\\File.txt", "one\ntwo\n") && !exists("ws\\Sub\\new"),
            "then the rest"))
        note_output(&out);
    ok(run("%C% undo 20200101-000000-0000", &out) == 125 && run("%C% undo", &out) == 125,
       "no such run, and none left");
}

static void test_sessions(void)
{
    auto_buf struct buf before = {0}, after = {0}, out = {0};
    set_up();
    snapshot(&before);
    confined("--undo --session s1", "cmd /c echo 1>> File.txt", &out);
    confined("--undo --session s1", "%P% rename File.txt two", &out);
    confined("--undo --session s1", "cmd /c echo 3>> two", &out);
    bool ran = exists("ws\\two") && !exists("ws\\File.txt");
    int code = run("%C% undo --session s1", &out);
    snapshot(&after);
    if (!ok(ran && code == 0 && same(&before, &after), "three runs of a session, newest first")) {
        note_output(&out);
        note_difference(&before, &after);
    }
}

/* ---- journals ---- */

static void test_store(void)
{
    auto_buf struct buf out = {0}, list = {0};
    char line[3 * MAX_PATH];
    set_up();
    run("%C% runs --drop all", NULL);
    confined("--undo", "cmd /c echo x> File.txt", &out);
    run("%C% runs", &list);
    ok(list.n > 20 && has(&list, "echo x"), "the run is listed");
    snprintf(line, sizeof line, "%%P%% read %s\\local\\cordon\\runs\\%.20s\\log", top,
             buf_cstr(&list));
    ok(run(line, &out) == 0, "control: its owner can read the journal");
    ok(confined(NULL, line, &out) != 0, "a confined command cannot");
    snprintf(line, sizeof line, "%%P%% write %s\\local\\cordon\\runs\\%.20s\\new", top,
             buf_cstr(&list));
    ok(confined("--root . --root %T%\\out", line, &out) != 0, "nor write beside it");
    snprintf(line, sizeof line, "local\\cordon\\runs\\%.20s\\new", buf_cstr(&list));
    ok(!exists(line), "and nothing was written");
    buf_reset(&out);
    confined(NULL, "%C% undo", &out);
    ok(!is_text("ws\\File.txt", "one\ntwo\n"), "an undo inside a run is refused");
    ok(confined("--undo --root %T%", "cmd /c exit 0", &out) == 125,
       "a root that holds the folder of journals is refused");
    snprintf(line, sizeof line, "%%C%% runs --drop %.20s", buf_cstr(&list));
    buf_reset(&out);
    int dropped = run(line, &out);
    run("%C% runs", &out);
    ok(dropped == 0 && has(&out, "no runs with --undo are kept"), "a run is dropped");
    confined("--undo", "cmd /c exit 0", &out);
    buf_reset(&out);
    run("%C% runs", &out);
    ok(has(&out, "no runs with --undo are kept"), "a run that changed nothing leaves no journal");
}

/* While a run lasts, nothing of its folder is taken back. */
static void test_live(void)
{
    auto_buf struct buf out = {0};
    set_up();
    confined("--undo", "cmd /c echo first> File.txt", &out);
    struct command c = confined_start("--undo", "cmd /c \"echo x> new & %P% sleep 3000\"");
    Sleep(1500);
    buf_reset(&out);
    int code = run("%C% undo", &out);
    bool refused = code == 125 && !is_text("ws\\File.txt", "one\ntwo\n");
    command_end(&c, 30000, NULL);
    int later = run("%C% undo", &out) || run("%C% undo", &out);
    if (!ok(refused && later == 0 && is_text("ws\\File.txt", "one\ntwo\n"),
            "an undo waits for the end of a run in the same folder"))
        note_output(&out);
}

static void test_limit(void)
{
    auto_buf struct buf out = {0};
    char *large = malloc(300001);
    memset(large, 'x', 300000);
    large[300000] = '\0';
    set_up();
    put("ws\\large", large);
    confined("--undo --undo-limit 100K", "%P% truncate large", &out);
    ok(has(&out, "over --undo-limit"), "what is over the limit is said");
    buf_reset(&out);
    ok(run("%C% undo", &out) == 1 && has(&out, "it was not kept"), "and named by the undo");
    put("ws\\large", large);
    int code = confined("--undo=strict --undo-limit 100K", "%P% truncate large", &out);
    WIN32_FILE_ATTRIBUTE_DATA data = {0};
    GetFileAttributesExA(path_of("ws\\large"), GetFileExInfoStandard, &data);
    ok(code != 0 && data.nFileSizeLow == 300000, "--undo=strict refuses such a change");
    buf_reset(&out);
    code = confined("--undo=strict", "%P% truncate large", &out);
    GetFileAttributesExA(path_of("ws\\large"), GetFileExInfoStandard, &data);
    ok(data.nFileSizeLow < 300000 && run("%C% undo", &out) == 0, "control: within the limit");
    GetFileAttributesExA(path_of("ws\\large"), GetFileExInfoStandard, &data);
    ok(data.nFileSizeLow == 300000, "a large file is restored");
    free(large);
}

/* The tree prepares a folder that leads elsewhere: an undo does not follow it. */
static void test_links(void)
{
    auto_buf struct buf out = {0};
    char line[3 * MAX_PATH];
    set_up();
    CreateDirectoryA(path_of("out"), NULL);
    put("out\\in", "outside");
    confined("--undo", "cmd /c \"echo run> Sub\\in & rmdir /s /q Sub\\deep\"", &out);
    remove_tree(path_of("ws\\Sub"));
    snprintf(line, sizeof line, "cmd /c mklink /j Sub %s\\out", top);
    if (run(line, &out) != 0 || !exists("ws\\Sub\\in")) {
        skip("a folder replaced by a junction", "no junctions can be made here");
        return;
    }
    int code = run("%C% undo --force", &out);
    ok(code == 1 && is_text("out\\in", "outside") && !exists("out\\deep"),
       "a folder replaced by a junction is not followed");
}

/* A change that fails leaves nothing in the journal: no folder with names in it becomes a junction. */
static void test_failed(void)
{
    auto_buf struct buf before = {0}, after = {0}, out = {0};
    set_up();
    snapshot(&before);
    confined("--undo", "cmd /c \"%P% junction Sub empty & echo run> Sub\\in & del Sub\\deep\\x\"",
             &out);
    bool changed = !is_text("ws\\Sub\\in", "old\n") && !exists("ws\\Sub\\deep\\x");
    int code = run("%C% changes", &out);
    bool good = changed && code == 0 && has(&out, "modified  Sub/in") &&
                has(&out, "deleted   Sub/deep/x") && !has(&out, "created   Sub");
    if (!ok(good, "a junction that could not be made is no change"))
        note("%d %s", changed, buf_cstr(&out));
    code = run("%C% undo", &out);
    snapshot(&after);
    if (!ok(code == 0 && same(&before, &after), "and what came after it is taken back (%d)", code))
        note_difference(&before, &after);
}

/* A file keeps its streams where it stays, and where it goes that is said. */
static void test_streams(void)
{
    static const char stream[] = "ws\\File.txt:extra";
    auto_buf struct buf out = {0};
    set_up();
    HANDLE file = CreateFileA(path_of(stream), GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        skip("alternate streams", "there are none here");
        return;
    }
    CloseHandle(file);
    snapshot(&out);
    if (has(&out, "File.txt:extra")) {
        skip("alternate streams", "here they are files of their own");
        return;
    }
    confined("--undo", "%P% overwrite File.txt", &out);
    ok(run("%C% undo", &out) == 0 && is_text("ws\\File.txt", "one\ntwo\n") && exists(stream),
       "a file that was written to keeps its streams");
    confined("--undo", "%P% delete File.txt", &out);
    run("%C% changes", &out);
    ok(has(&out, "(cannot be taken back: its alternate streams are not kept)"),
       "of one that is deleted they are named");
    ok(run("%C% undo", &out) == 0 && is_text("ws\\File.txt", "one\ntwo\n") && !exists(stream) &&
           has(&out, "restored File.txt (its alternate streams are not kept)"),
       "and it comes back without them");
}

/* The program dies, and its tree with it: what the journal does not know of is named. */
static void test_killed(void)
{
    unsigned rounds = harness_soak() ? 50 : 3;
    unsigned restored = 0, named = 0;
    for (unsigned i = 0; i < rounds; i++) {
        auto_buf struct buf before = {0}, after = {0}, out = {0};
        set_up();
        snapshot(&before);
        struct command c = confined_start(
            "--undo", "cmd /c \"echo run> File.txt & del other & ren Sub\\in in2 & echo n> new & "
                      "%P% sleep 20000\"");
        for (int waited = 0; waited < 1000 && !exists("ws\\new"); waited++)
            Sleep(10);
        bool changed = exists("ws\\new") && exists("ws\\Sub\\in2") && !exists("ws\\other");
        Sleep(20 * i);
        TerminateProcess(c.process, 1);
        command_end(&c, 10000, NULL);
        gone_within("probe-undo.exe", 5000);
        int code = run("%C% undo", &out);
        bool back = is_text("ws\\other", "old\n") && is_text("ws\\Sub\\in", "old\n") &&
                    !exists("ws\\Sub\\in2");
        named += has(&out, "left alone: new") || !exists("ws\\new");
        if (code == 1)
            code = run("%C% undo --force", &out);
        snapshot(&after);
        restored += changed && back && code == 0 && is_text("ws\\File.txt", "one\ntwo\n") &&
                    !exists("ws\\new");
        if (restored <= i) {
            note_output(&out);
            note_difference(&before, &after);
        }
    }
    ok(restored == rounds && named == rounds,
       "cordon killed %u times: undo restores it or names what not", rounds);
}

/* ---- undos that are killed ---- */

static bool interrupted_one(unsigned seed, unsigned *between)
{
    auto_buf struct buf before = {0}, changed = {0}, now = {0}, out = {0}, listed = {0};
    char line[200], faults[MAX_PATH], call[16];
    remove_tree(path_of("ws"));
    CreateDirectoryA(path_of("ws"), NULL);
    snprintf(line, sizeof line, "%%P%% change-random %u 60 make", seed + 2000000);
    run(line, NULL);
    snapshot(&before);
    snprintf(line, sizeof line, "%%P%% change-random %u %u", seed + 3000000, 20 + seed % 40);
    confined("--undo --quiet", line, &out);
    snapshot(&changed);
    GetFullPathNameA(CORDON_FAULTS, sizeof faults, faults, NULL);
    snprintf(line, sizeof line, "\"%.180s\" undo", faults);
    int code = 137;
    for (unsigned i = 0, at = seed; i < 2 && code == 137; i++) {
        at = at * 1103515245u + 12345u;
        snprintf(call, sizeof call, "%u", 300 + (at >> 16) % 1500);
        SetEnvironmentVariableA("CORDON_FAULT_KILL", call);
        code = run(line, &out);
        SetEnvironmentVariableA("CORDON_FAULT_KILL", NULL);
        snapshot(&now);
        *between += code == 137 && !same(&before, &now) && !same(&changed, &now);
    }
    buf_reset(&out);
    code = code == 137 ? run("%C% undo", &out) : code;
    snapshot(&now);
    run("%C% runs", &listed);
    if ((code == 0 || (code == 125 && has(&out, "left to take back"))) && same(&before, &now) &&
        !has(&listed, "interrupted"))
        return true;
    note("seed %u: undo %d", seed, code);
    note_output(&out);
    note_output(&listed);
    note_difference(&before, &now);
    return false;
}

static void test_interrupted(void)
{
    unsigned rounds = harness_soak() ? 50 : 6, bad = 0, between = 0;
    for (unsigned seed = 1; seed <= rounds && bad < 3; seed++) {
        bad += !interrupted_one(seed, &between);
        run("%C% runs --drop all", NULL);
    }
    ok(bad == 0, "%u undos killed up to twice: the next one restores everything", rounds);
    ok(between > 0, "control: %u of them were killed half-way", between);
}

/* ---- random changes ---- */

static bool random_one(unsigned seed)
{
    auto_buf struct buf before = {0}, after = {0}, out = {0}, again = {0};
    char line[200];
    remove_tree(path_of("ws"));
    CreateDirectoryA(path_of("ws"), NULL);
    snprintf(line, sizeof line, "%%P%% change-random %u 60 make", seed);
    run(line, NULL);
    snapshot(&before);
    snprintf(line, sizeof line, "%%P%% change-random %u %u", seed + 1000000, 5 + seed % 40);
    int ran = confined("--undo --quiet", line, &out);
    snapshot(&again);
    int code = same(&before, &again) ? 0 : run("%C% undo", &out);
    snapshot(&after);
    if (ran == 0 && code == 0 && same(&before, &after))
        return true;
    note("seed %u: run %d, undo %d", seed, ran, code);
    note_output(&out);
    note_difference(&before, &after);
    return false;
}

static void test_random(void)
{
    const char *only = getenv("CORDON_UNDO_SEED");
    unsigned first = 0, last = harness_soak() ? 999 : 5, bad = 0, done = 0;
    if (only && sscanf(only, "%u-%u", &first, &last) == 1)
        last = first;
    for (unsigned seed = first; seed <= last && bad < 5; seed++) {
        bad += !random_one(seed);
        if (++done % 50 == 0) {
            run("%C% runs --drop all", NULL);
            note("%u sequences", done);
            fflush(stdout);
        }
    }
    ok(bad == 0, "%u random sequences, each taken back: the folder is the same", done);
}

#define TEST(name)         \
    {                      \
#name, test_##name \
    }
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {TEST(changes), TEST(case),   TEST(conflicts),   TEST(words),  TEST(sessions),
             TEST(store),   TEST(live),   TEST(limit),       TEST(failed), TEST(streams),
             TEST(links),   TEST(killed), TEST(interrupted), TEST(random)};
#undef TEST

int main(void)
{
    char local[MAX_PATH];
    harness_make("undo");
    snprintf(local, sizeof local, "%s", path_of("local"));
    CreateDirectoryA(local, NULL);
    CreateDirectoryA(path_of("ws"), NULL);
    SetEnvironmentVariableA("LOCALAPPDATA", local);
    const char *only = getenv("CORDON_UNDO_SEED") ? "random" : getenv("CORDON_UNDO_TEST");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (!only || strcmp(only, tests[i].name) == 0)
            tests[i].run();
    return harness_done();
}
