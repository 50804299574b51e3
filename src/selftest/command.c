/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which promises are wanted and prints each line as it comes: TAP or JSON. */
#include "selftest/command.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

enum { MOST_NUMBERS = 128 };

struct output {
    bool json, progress;
    struct json_writer writer;
};

static void print(const struct buf *text)
{
    fwrite(text->p, 1, text->n, stdout);
    fflush(stdout);
}

static void begin(void *context, unsigned n, const char *name)
{
    const struct output *out = context;
    if (out->progress)
        fprintf(stderr, "\r\033[K%u %s", n, name);
}

static void line(void *context, const struct selftest_line *l)
{
    struct output *out = context;
    auto_buf struct buf text = {0};
    if (out->progress)
        fputs("\r\033[K", stderr);
    if (!out->json) {
        selftest_tap(l, &text);
        print(&text);
        return;
    }
    struct json_writer *w = &out->writer;
    json_open(w, '{');
    json_put_number(w, STR("n"), l->n);
    json_put(w, STR("name"), str_of(l->name));
    json_put(w, STR("result"), str_of(selftest_result_name(l->result)));
    json_put(w, STR("enforced_by"), str_of(l->enforced_by));
    json_put(w, STR("by"), str_of(l->by));
    json_put(w, STR("why"), str_of(l->why));
    json_put(w, STR("attempt"), str_of(l->attempt));
    json_put(w, STR("control"), str_of(l->control));
    json_close(w, '}');
}

/* "3,17": numbers from 1; false if it is something else. */
static bool read_numbers(const char *text, unsigned *numbers, size_t *count)
{
    for (const char *p = text;; p++) {
        char *end;
        unsigned long number = strtoul(p, &end, 10);
        if (end == p || number == 0 || number > 9999 || *count == MOST_NUMBERS ||
            (*end && *end != ','))
            return false;
        numbers[(*count)++] = (unsigned)number;
        if (!*end)
            return true;
        p = end;
    }
}

static void end_json(struct json_writer *w, const struct selftest_counts *counts,
                     const char *boundary)
{
    json_close(w, ']');
    json_put_number(w, STR("pass"), counts->pass);
    json_put_number(w, STR("fail"), counts->fail);
    json_put_number(w, STR("not_proven"), counts->not_proven);
    json_put_number(w, STR("not_tried"), counts->not_tried);
    json_put(w, STR("boundary"), str_of(boundary));
    json_close(w, '}');
    buf_char(w->out, '\n');
}

int selftest_command(const struct selftest_request *request, struct buf *error)
{
    auto_buf struct buf text = {0};
    unsigned numbers[MOST_NUMBERS];
    struct output out = {request->json, request->progress, {.out = &text}};
    struct selftest_options o = {.program = request->program,
                                 .boundary = request->boundary,
                                 .only = numbers,
                                 .keep = request->keep,
                                 .line = line,
                                 .begin = begin,
                                 .context = &out};
    struct selftest_counts counts;
    if (request->only && !read_numbers(request->only, numbers, &o.only_count)) {
        buf_fmt(error, "--only takes numbers, for example --only 3,34");
        return -1;
    }
    if (out.json) {
        json_open(&out.writer, '{');
        json_key(&out.writer, STR("promises"));
        json_open(&out.writer, '[');
    }
    if (selftest_run(&o, &counts, error))
        return -1;
    if (out.json)
        end_json(&out.writer, &counts, o.boundary);
    else
        selftest_tap_end(&counts, &text);
    print(&text);
    return counts.fail || counts.not_proven ? 1 : 0;
}
