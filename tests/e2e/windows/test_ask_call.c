/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a question says about its call, and what a yes gives: exactly that. A file that leaves goes as
 * a copy, folders that an answer allows keep their names, and a call that fails is said to have
 * failed.
 */
#include "person.h"

static void test_details(void)
{
    static const struct {
        const char *what, *line, *says, *effect;
    } rows[] = {
        {"an open that empties the file", "%P% overwrite ..\\out\\secret", "\"size\":0,",
         "=out\\secret|x"},
        {"one that does not", "%P% write ..\\out\\secret", NULL, "=out\\secret|xecret"},
        {"attributes", "%P% read-only ..\\out\\secret", "\"attributes\":\"read-only",
         "!out\\secret"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        struct person p = {.first = ONCE, .others = NO};
        fresh();
        asked(&p, NULL, rows[i].line, &out);
        bool says = rows[i].says ? has(&p.lines, rows[i].says) : !has(&p.lines, "\"size\"");
        if (!ok(p.asked == 1 && says && holds(rows[i].effect), "%s", rows[i].what)) {
            note_output(&out);
            note_output(&p.lines);
        }
        buf_free(&p.lines);
    }
}

/* By what it kept the run changes its own file, never the one that left. */
static void test_leaving(void)
{
    auto_buf struct buf out = {0}, open = {0}, large = {0}, mapped = {0};
    int code;
    struct person once = {.first = ONCE, .others = NO}, run = {.first = FOLDER, .others = NO},
                  none = {.first = ONCE, .others = ONCE}, view = {.first = ONCE, .others = NO};
    fresh();
    asked(&once, NULL, "%P% ask-leave file ..\\out\\left handle", &out);
    if (!ok(once.asked == 1 && has(&once.lines, "file.rename") && has(&out, "left, 1 written") &&
                holds("=out\\left|old"),
            "a handle does not reach a file that left")) {
        note_output(&out);
        note_output(&once.lines);
    }
    ok(!exists("ws\\file"), "and it is where it was no more");
    fresh();
    asked(&run, NULL, "cmd /c \"%P% write ..\\out\\a & %P% ask-leave file ..\\out\\left handle\"",
          &open);
    if (!ok(run.asked == 1 && has(&open, "left, 1 written") && holds("=out\\left|oDd"),
            "control: in a folder that was allowed for the run it is the same file")) {
        note_output(&open);
        note_output(&run.lines);
    }
    fresh();
    code = asked(&view, NULL, "%P% ask-leave file ..\\out\\left view", &mapped);
    if (!ok(view.asked == 1 && code != 0 && !exists("out\\left") && holds("=ws\\file|old"),
            "one that is mapped stays (%d)", code))
        note_output(&mapped);
    buf_free(&view.lines);
    fresh();
    HANDLE file = CreateFileA(path_of("ws\\large"), GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    SetFilePointer(file, 70 << 20, NULL, FILE_BEGIN);
    SetEndOfFile(file);
    CloseHandle(file);
    code = asked(&none, NULL, "%P% ask-leave large ..\\out\\left handle", &large);
    if (!ok(none.asked == 0 && code == ERROR_NOT_SAME_DEVICE && !exists("out\\left") &&
                exists("ws\\large"),
            "one that is too large to copy is on another device for its program (%d)", code))
        note_output(&large);
    buf_free(&once.lines);
    buf_free(&run.lines);
    buf_free(&none.lines);
}

/* Answers go by names: a folder that one allows, and those around it, keep theirs. */
static void test_kept(void)
{
    static const struct {
        const char *what, *line;
        bool moves;
    } rows[] = {
        {"the folder itself",
         "cmd /c \"%P% write ..\\out\\top\\sub\\a & %P% rename "
         "..\\out\\top\\sub ..\\out\\top\\gone\"",
         false},
        {"one around it",
         "cmd /c \"%P% write ..\\out\\top\\sub\\a & %P% rename ..\\out\\top "
         "..\\out\\gone\"",
         false},
        {"control: without such an answer", "%P% rename ..\\out\\top ..\\out\\gone", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        struct person p = {.first = rows[i].moves ? ONCE : FOLDER, .others = ONCE};
        fresh();
        CreateDirectoryA(path_of("out\\top"), NULL);
        CreateDirectoryA(path_of("out\\top\\sub"), NULL);
        asked(&p, NULL, rows[i].line, &out);
        bool moved = exists("out\\gone") || exists("out\\top\\gone");
        if (!ok(moved == rows[i].moves && (rows[i].moves || exists("out\\top\\sub\\a")),
                "renamed after \"this folder\": %s", rows[i].what)) {
            note_output(&out);
            note_output(&p.lines);
        }
        buf_free(&p.lines);
    }
}

static void test_failed(void)
{
    auto_buf struct buf out = {0}, done = {0};
    struct person full = {.first = ONCE, .others = ONCE}, empty = {.first = ONCE, .others = ONCE};
    fresh();
    put("out\\empty\\x", "x");
    asked(&full, NULL, "%P% rmdir ..\\out\\empty", &out);
    if (!ok(exists("out\\empty") && has(&out, "allowed when asked, but it failed: delete") &&
                !has(&out, "without asking") && audit_has("\"choice\":\"failed\"", "status 0xC0"),
            "a yes that led to nothing is no success"))
        note_output(&out);
    fresh();
    asked(&empty, NULL, "%P% rmdir ..\\out\\empty", &done);
    if (!ok(!exists("out\\empty") && has(&done, "allowed when asked: delete") &&
                !has(&done, "failed") && !audit_has("\"choice\":\"failed\"", ""),
            "control: one that led to something is"))
        note_output(&done);
    buf_free(&full.lines);
    buf_free(&empty.lines);
}

int main(void)
{
    harness_make("ask-call");
    test_details();
    test_leaving();
    test_kept();
    test_failed();
    return harness_done();
}
