/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads .case files: blocks of three lines, a blank line between them.
 *   # what is shown
 *   kind| question
 *   expected answer
 * Lines that begin with "##" are headings for the reader.
 */
#ifndef CORDON_TESTS_CASES_H
#define CORDON_TESTS_CASES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "tap.h"

struct test_case {
    const char *file;
    unsigned line;
    struct str title, kind, question, expected;
};

static bool cases_read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(out, (struct str){chunk, n});
    fclose(f);
    return !out->failed;
}

static struct str cases_next_line(struct str text, size_t *pos)
{
    size_t end = str_find_char(text, '\n', *pos);
    struct str line = str_slice(text, *pos, end);
    *pos = end + 1;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* Calls run for every case of a file; a block of another shape is a failed test. */
static size_t cases_run_file(const char *path, void (*run)(const struct test_case *))
{
    auto_buf struct buf text = {0};
    size_t count = 0, pos = 0;
    unsigned line_number = 0;
    if (!cases_read_file(path, &text)) {
        ok(false, "%s can be read", path);
        return 0;
    }
    struct str all = buf_str(&text);
    while (pos < all.n) {
        struct str line = cases_next_line(all, &pos);
        line_number++;
        if (line.n == 0 || str_starts(line, STR("##")))
            continue;
        struct test_case c = {
            .file = path, .line = line_number, .title = str_trim(str_from(line, 1))};
        struct str question = cases_next_line(all, &pos);
        c.expected = str_trim(cases_next_line(all, &pos));
        line_number += 2;
        size_t bar = str_find_char(question, '|', 0);
        if (line.p[0] != '#' || bar == question.n || c.expected.n == 0) {
            ok(false, "%s:%u is a case of three lines", path, c.line);
            continue;
        }
        c.kind = str_trim(str_slice(question, 0, bar));
        c.question = str_from(question, bar + 1);
        if (c.question.n && c.question.p[0] == ' ')
            c.question = str_from(c.question, 1);
        run(&c);
        count++;
    }
    return count;
}

/* All .case files of a folder; returns how many cases there were. */
__attribute__((unused)) static size_t cases_run(const char *folder,
                                                void (*run)(const struct test_case *))
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        ok(false, "%s can be listed", folder);
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!str_ends(str_of(entry->d_name), STR(".case")))
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        size_t failed = (size_t)tap_failed, here = cases_run_file(path, run);
        count += here;
        ok((size_t)tap_failed == failed && here > 0, "%s: %u cases", path, (unsigned)here);
    }
    closedir(dir);
    return count;
}

#endif
