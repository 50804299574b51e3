/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run: its records, a strict reader, and what the model makes of them. */
#include "base/siphash.h"
#include "cordon.h"
#include "tap.h"
#include "undo/model.h"

static struct undo_path at(const char *path)
{
    return (struct undo_path){0, str_of(path)};
}

static struct undo_ident inode(uint64_t number, uint32_t links, uint32_t mode)
{
    return (struct undo_ident){1, number, links, mode, {100, 5}};
}

enum { FILE_MODE = 0100644, FOLDER_MODE = 0040755 };

static void head(struct buf *log)
{
    struct undo_head h = {.run = STR("r1"),
                          .session = STR("s"),
                          .command = STR("make clean"),
                          .time = 7,
                          .root_count = 1,
                          .roots = {{STR("/ws"), 1, 2}}};
    undo_put_head(log, &h);
}

static void keep(struct buf *log, const char *path, struct undo_ident ident, enum undo_how how)
{
    undo_put(log, &(struct undo_record){
                      .type = UNDO_KEEP, .path = at(path), .ident = ident, .how = how, .size = 3});
}

static void create(struct buf *log, const char *path, uint32_t mode)
{
    undo_put(log,
             &(struct undo_record){.type = UNDO_CREATE, .path = at(path), .ident = {.mode = mode}});
}

static void gone(struct buf *log, const char *path, struct undo_ident ident)
{
    undo_put(log, &(struct undo_record){.type = UNDO_REMOVE, .path = at(path), .ident = ident});
}

static void pair(struct buf *log, enum undo_type type, const char *from, struct undo_ident ident,
                 const char *to, struct undo_ident replaced)
{
    undo_put(
        log,
        &(struct undo_record){
            .type = type, .path = at(from), .ident = ident, .to = at(to), .replaced = replaced});
}

static void failed(struct buf *log)
{
    undo_put(log, &(struct undo_record){.type = UNDO_FAILED});
}

/* The changes as one text: "created a; renamed b <- c; ". */
static const char *changes_of(const struct buf *log, struct buf *out)
{
    auto_undo_model struct undo_model m = {0};
    struct undo_change *list;
    size_t count;
    buf_reset(out);
    int rc = undo_model_read(&m, buf_str(log));
    if (rc == 0)
        rc = undo_model_replay(&m);
    if (rc == 0)
        rc = undo_model_changes(&m, &list, &count);
    if (rc) {
        buf_fmt(out, "error %d", rc);
        return buf_cstr(out);
    }
    for (size_t i = 0; i < count; i++) {
        buf_fmt(out, "%s%s %.*s", i ? "; " : "", undo_kind_word(list[i].kind),
                STR_ARG(list[i].path));
        if (list[i].from.n)
            buf_fmt(out, " <- %.*s", STR_ARG(list[i].from));
    }
    return buf_cstr(out);
}

static void expect(const struct buf *log, const char *wanted, const char *what)
{
    auto_buf struct buf out = {0};
    const char *got = changes_of(log, &out);
    if (!ok(strcmp(got, wanted) == 0, "%s", what))
        note("wanted \"%s\", got \"%s\"", wanted, got);
}

/* An object becomes another one under its name, in one record: if that fails, nothing of it stays. */
static void test_replaced(void)
{
    auto_buf struct buf log = {0};
    head(&log);
    keep(&log, "a", inode(9, 1, FOLDER_MODE), UNDO_META);
    create(&log, "a", FILE_MODE);
    expect(&log, "created a; deleted a", "replaced: both are changes");
    failed(&log);
    expect(&log, "modified a", "it failed: only that it was looked at, for the disk to say");
    keep(&log, "a/b", inode(10, 1, FILE_MODE), UNDO_PACK);
    gone(&log, "a/b", inode(10, 1, FILE_MODE));
    expect(&log, "modified a; deleted a/b", "and it is still the folder that it was");
}

/* A part of an object that goes and is not kept. */
static void test_partial(void)
{
    auto_buf struct buf log = {0};
    auto_undo_model struct undo_model m = {0};
    head(&log);
    undo_put(&log, &(struct undo_record){.type = UNDO_KEEP,
                                         .path = at("a"),
                                         .ident = inode(9, 1, FILE_MODE),
                                         .how = UNDO_META,
                                         .text = STR("a part")});
    keep(&log, "a", inode(9, 1, FILE_MODE), UNDO_PACK);
    gone(&log, "a", inode(9, 1, FILE_MODE));
    bool good = undo_model_read(&m, buf_str(&log)) == 0 && undo_model_replay(&m) == 0 &&
                m.object_count == 3;
    ok(good && m.objects[2].partial == 1 && m.objects[2].meta == 2 && m.objects[2].data == 2,
       "it is noted, and how the object was is taken from its own record");
}

static void test_changes(void)
{
    auto_buf struct buf log = {0};
    const struct undo_ident none = {0};

    head(&log);
    expect(&log, "", "no record, no change");

    create(&log, "a", FILE_MODE);
    create(&log, "d", FOLDER_MODE);
    create(&log, "d/b", FILE_MODE);
    expect(&log, "created a; created d; created d/b", "new names");
    gone(&log, "d/b", inode(9, 1, FILE_MODE));
    gone(&log, "d", inode(8, 2, FOLDER_MODE));
    expect(&log, "created a", "what was made and removed again is no change");

    buf_reset(&log);
    head(&log);
    keep(&log, "x", inode(5, 1, FILE_MODE), UNDO_PACK);
    expect(&log, "modified x", "a file opened for writing");
    gone(&log, "x", inode(5, 1, FILE_MODE));
    expect(&log, "deleted x", "and deleted");
    create(&log, "x", FILE_MODE);
    expect(&log, "modified x", "a new file in its place is the file, modified");

    buf_reset(&log);
    head(&log);
    pair(&log, UNDO_RENAME, "dir/f", inode(5, 1, FILE_MODE), "g", none);
    pair(&log, UNDO_RENAME, "dir", inode(6, 2, FOLDER_MODE), "moved", none);
    create(&log, "moved/h", FILE_MODE);
    pair(&log, UNDO_RENAME, "g", inode(5, 1, FILE_MODE), "moved/k", none);
    expect(&log, "renamed moved <- dir; created moved/h; renamed moved/k <- dir/f",
           "names move with their folder");
    pair(&log, UNDO_RENAME, "moved/k", inode(5, 1, FILE_MODE), "moved/f", none);
    gone(&log, "moved/h", inode(7, 1, FILE_MODE));
    pair(&log, UNDO_RENAME, "moved", inode(6, 2, FOLDER_MODE), "dir", none);
    expect(&log, "", "and back: nothing changed");

    buf_reset(&log);
    head(&log);
    pair(&log, UNDO_EXCHANGE, "a", inode(5, 1, FILE_MODE), "b", inode(6, 1, FILE_MODE));
    expect(&log, "renamed a <- b; renamed b <- a", "an exchange");
    failed(&log);
    expect(&log, "", "which failed");

    buf_reset(&log);
    head(&log);
    keep(&log, "t", inode(5, 1, FILE_MODE), UNDO_LINKED);
    pair(&log, UNDO_RENAME, "n", inode(6, 1, FILE_MODE), "t", inode(5, 1, FILE_MODE));
    expect(&log, "deleted t; renamed t <- n", "a rename over a file");

    buf_reset(&log);
    head(&log);
    keep(&log, "one", inode(5, 2, FILE_MODE), UNDO_HANDLE);
    gone(&log, "one", inode(5, 2, FILE_MODE));
    keep(&log, "two", inode(5, 1, FILE_MODE), UNDO_PACK);
    expect(&log, "deleted one; modified two", "two names of one file");

    buf_reset(&log);
    head(&log);
    pair(&log, UNDO_LINK, "one", inode(5, 1, FILE_MODE), "two", none);
    expect(&log, "created two", "a new name of a file");
}

static void test_reader(void)
{
    auto_buf struct buf log = {0};
    struct undo_head h;
    struct undo_record r;
    size_t begin = 0;
    head(&log);
    size_t head_end = log.n;
    keep(&log, "some/file", inode(5, 1, FILE_MODE), UNDO_PACK);
    ok(undo_read(buf_str(&log), &begin, &h, &r) == 1 && h.root_count == 1 &&
           str_eq(h.roots[0].path, STR("/ws")) && str_eq(h.command, STR("make clean")),
       "the head is read as written");
    ok(undo_read(buf_str(&log), &begin, &h, &r) == 1 && r.type == UNDO_KEEP &&
           str_eq(r.path.text, STR("some/file")) && r.ident.inode == 5 && r.how == UNDO_PACK &&
           r.ident.changed.seconds == 100,
       "and so is a record");
    ok(undo_read(buf_str(&log), &begin, &h, &r) == 0, "then comes the end");

    bool torn = true;
    for (size_t n = head_end; n < log.n; n++) {
        size_t from = head_end;
        torn = torn && undo_read((struct str){log.p, n}, &from, &h, &r) == 0;
    }
    ok(torn, "a record that is cut off anywhere was not written");

    unsigned accepted = 0;
    for (size_t i = 0; i < log.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            auto_undo_model struct undo_model m = {0};
            log.p[i] = (char)(log.p[i] ^ (1 << bit));
            int rc = undo_model_read(&m, buf_str(&log));
            /* A larger length makes the last record one that is cut off. */
            accepted += rc == 0 && !(i >= head_end && i < head_end + 4);
            log.p[i] = (char)(log.p[i] ^ (1 << bit));
        }
    ok(accepted == 0, "no flipped bit is accepted (%u were)", accepted);

    static const char *const bad[] = {"..", "a/../b", "/etc", "a//b", "a/", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        auto_undo_model struct undo_model m = {0};
        buf_reset(&log);
        head(&log);
        create(&log, bad[i], FILE_MODE);
        ok(undo_model_read(&m, buf_str(&log)) == CORDON_E_SYNTAX, "the path %s is refused", bad[i]);
    }
    buf_reset(&log);
    head(&log);
    undo_put(&log, &(struct undo_record){.type = UNDO_CREATE, .path = {3, STR("x")}});
    auto_undo_model struct undo_model m = {0};
    ok(undo_model_read(&m, buf_str(&log)) == CORDON_E_SYNTAX, "so is a root that does not exist");
}

/* The example of the paper on SipHash: the key 00 … 0f and the text 00 … 0e. */
static void test_hash(void)
{
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u}, other[2] = {1, 2};
    char text[15];
    for (int i = 0; i < 15; i++)
        text[i] = (char)i;
    struct str s = {text, sizeof text};
    ok(siphash(key, s) == 0xa129ca6149be45e5u, "the keyed hash of a known text");
    ok(siphash(other, s) != siphash(key, s) && siphash(key, str_slice(s, 0, 14)) != siphash(key, s),
       "another key or text has another one");
}

int main(void)
{
    test_hash();
    test_reader();
    test_changes();
    test_replaced();
    test_partial();
    return tap_done();
}
