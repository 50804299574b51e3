/* SPDX-License-Identifier: Apache-2.0 */
/* cordon selftest: proves every promise on this machine, one line each. */
#include "selftest/selftest.h"

#include <stdlib.h>

#include "base/json.h"
#include "cli/cli.h"

enum { MOST_NUMBERS = 128 };

struct output {
    bool json, progress;
    struct json_writer writer;
};

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
        print_out(buf_str(&text));
        fflush(stdout);
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

int command_selftest(struct arguments *args)
{
    auto_buf struct buf error = {0}, text = {0};
    const char *only = NULL, *probe = NULL;
    unsigned numbers[MOST_NUMBERS];
    bool keep = false, help = false, dashes = false;
    struct output out = {.writer = {.out = &text}};
    struct selftest_options o = {.only = numbers, .line = line, .begin = begin, .context = &out};
    struct selftest_counts counts;
    const struct option own[] = {{.name = "json", .flag = &out.json},
                                 {.name = "keep", .flag = &keep},
                                 {.name = "help", .flag = &help},
                                 {.name = "only", .value = &only},
                                 {.name = "probe", .value = &probe}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, &dashes);
    if (rc)
        return rc;
    if (help)
        return command_help(&(struct arguments){.items = (const char *[]){"selftest"}, .count = 1});
    if (probe)
        return selftest_probe(probe);
    if (args->next < args->count)
        return print_failure("selftest takes options only, not %s", args->items[args->next]);
    if (only && !read_numbers(only, numbers, &o.only_count))
        return print_failure("--only takes numbers, for example --only 3,34");
    o.keep = keep;
    out.progress = system_is_terminal(stderr) && !out.json;
    if (out.json) {
        json_open(&out.writer, '{');
        json_key(&out.writer, STR("promises"));
        json_open(&out.writer, '[');
    }
    if (selftest_run(&o, &counts, &error))
        return print_failure("%s", buf_cstr(&error));
    if (out.json) {
        struct json_writer *w = &out.writer;
        json_close(w, ']');
        json_put_number(w, STR("pass"), counts.pass);
        json_put_number(w, STR("fail"), counts.fail);
        json_put_number(w, STR("not_proven"), counts.not_proven);
        json_put_number(w, STR("not_tried"), counts.not_tried);
        json_put(w, STR("boundary"), str_of(selftest_boundary()));
        json_close(w, '}');
        buf_char(&text, '\n');
    } else {
        selftest_tap_end(&counts, &text);
    }
    print_out(buf_str(&text));
    return counts.fail || counts.not_proven ? 1 : 0;
}
