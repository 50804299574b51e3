/* SPDX-License-Identifier: Apache-2.0 */
/* cordon report: what an audit file tells, as a page, for a terminal or as JSON. */
#include "cli/cli.h"
#include "report/collect.h"

struct report_options {
    bool text, json, help;
    const char *out;
};

/* The share that was read, on a terminal, at most a few times a second. */
static void show_progress(uint64_t done, uint64_t size, unsigned *shown)
{
    unsigned percent = size ? (unsigned)(done * 100 / size) : 0;
    if (percent == *shown || !cli_is_terminal(stderr))
        return;
    *shown = percent;
    fprintf(stderr, "\rcordon: reading, %u %%", percent);
    fflush(stderr);
}

static uint64_t size_of(FILE *f)
{
    if (fseek(f, 0, SEEK_END))
        return 0;
    long size = ftell(f);
    rewind(f);
    return size > 0 ? (uint64_t)size : 0;
}

/* Feeds lines; one that is too long is cut and so malformed. */
static void read_lines(FILE *f, struct report *r, struct buf *line)
{
    static char chunk[1 << 18];
    uint64_t done = 0, size = f == stdin ? 0 : size_of(f);
    unsigned shown = 0;
    bool big = size > 16u << 20;
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0; done += n) {
        struct str rest = {chunk, n};
        while (rest.n) {
            size_t end = str_find_char(rest, '\n', 0);
            if (line->n <= REPORT_MAX_LINE)
                buf_add(line, str_slice(rest, 0, end));
            if (end == rest.n)
                break;
            report_line(r, buf_str(line), false);
            buf_reset(line);
            rest = str_from(rest, end + 1);
        }
        if (big)
            show_progress(done + n, size, &shown);
    }
    report_line(r, buf_str(line), true);
    if (shown)
        fputs("\r                          \r", stderr);
}

static int write_out(const struct report_options *o, struct buf *text)
{
    if (text->failed)
        return print_failure("out of memory");
    if (!o->out)
        return print_out(buf_str(text)) && fflush(stdout) == 0
                   ? 0
                   : print_failure("cannot write the report");
    if (cli_is_link(o->out))
        return print_failure("%s: a link leads elsewhere; name the file that it leads to", o->out);
    FILE *f = system_fopen(o->out, "wb");
    bool done = f && fwrite(text->p, 1, text->n, f) == text->n;
    if (f && fclose(f))
        done = false;
    if (!done)
        return print_failure("%s: %s", o->out, cordon_strerror(CORDON_E_WRITE));
    print_error("%s: written", o->out);
    return 0;
}

static int report(const struct report_options *o, const char *name, struct report *r)
{
    auto_buf struct buf line = {0}, text = {0};
    bool standard = strcmp(name, "-") == 0;
    FILE *f = standard ? stdin : system_fopen(name, "rb");
    if (!f)
        return print_failure("%s: %s", name, cordon_strerror(CORDON_E_OPEN));
    read_lines(f, r, &line);
    bool broken = ferror(f);
    if (!standard)
        fclose(f);
    if (broken)
        return print_failure("%s: %s", name, cordon_strerror(CORDON_E_READ));
    if (r->failed || line.failed)
        return print_failure("out of memory");
    if (r->events == r->malformed)
        return print_failure("%s: no events found; cordon run --audit FILE writes them", name);
    report_finish(r);
    struct str source = standard ? STR("stdin") : str_of(name);
    if (o->json)
        report_json(r, source, &text);
    else if (o->text || (!o->out && cli_is_terminal(stdout)))
        report_text(r, source, &text);
    else
        report_page(r, source, &text);
    int code = write_out(o, &text);
    if (code == 0 && r->malformed)
        print_error("%s: %llu %s could not be read, the first is event %llu", name,
                    (unsigned long long)r->malformed, r->malformed == 1 ? "line" : "lines",
                    (unsigned long long)r->first_malformed);
    return code;
}

int command_report(struct arguments *args)
{
    struct report_options o = {0};
    struct report *r;
    const struct cli_option own[] = {{.name = "text", .flag = &o.text},
                                     {.name = "json", .flag = &o.json},
                                     {.name = "help", .flag = &o.help},
                                     {.name = "output", .letter = 'o', .value = &o.out}};
    const size_t count = sizeof own / sizeof *own;
    int rc = options_take(args, own, count, NULL, NULL);
    const char *name = rc == 0 && args->next < args->count ? args->items[args->next++] : NULL;
    if (rc == 0)
        rc = options_take(args, own, count, NULL, NULL);
    if (rc)
        return rc;
    if (o.help)
        return cli_help("report");
    if (!name || args->next < args->count)
        return print_failure("type: cordon report AUDIT.jsonl -o page.html");
    if (o.text && o.json)
        return print_failure("--text and --json cannot be combined");
    if (report_new(&r))
        return print_failure("out of memory");
    int code = report(&o, name, r);
    report_free(r);
    return code;
}
