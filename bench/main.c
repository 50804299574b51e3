/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every measurement, prints a table and writes JSON (default build/bench.json). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "bench.h"

void bench_add(struct bench *bench, const char *name, double value, double median, const char *unit,
               const char *how)
{
    if (bench->count == BENCH_MAX_RESULTS) {
        fprintf(stderr, "more than %d results\n", BENCH_MAX_RESULTS);
        exit(1);
    }
    bench->results[bench->count++] = (struct bench_result){name, value, median, unit, how};
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_time_us(struct bench *bench, const char *name, const char *how, unsigned rounds,
                   unsigned times, void (*work)(void *context, unsigned times), void *context)
{
    double spent[BENCH_MAX_ROUNDS];
    if (rounds > BENCH_MAX_ROUNDS)
        rounds = BENCH_MAX_ROUNDS;
    work(context, times); /* warm */
    for (unsigned i = 0; i < rounds; i++) {
        double start = bench_now();
        work(context, times);
        spent[i] = (bench_now() - start) * 1e6 / times;
    }
    qsort(spent, rounds, sizeof *spent, compare);
    bench_add(bench, name, spent[0], spent[rounds / 2], "us", how);
}

static void print_table(const struct bench *bench)
{
    printf("%-32s %12s %12s  %-5s %s\n", "name", "minimum", "median", "unit", "how");
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *r = &bench->results[i];
        printf("%-32s %12.3f %12.3f  %-5s %s\n", r->name, r->value, r->median, r->unit, r->how);
    }
}

static void put_figure(struct json_writer *w, struct str key, double figure)
{
    json_key(w, key);
    buf_fmt(w->out, "%.6g", figure);
    w->after_key = false;
    w->comma[w->depth] = true;
}

static int write_json(const struct bench *bench, const char *path)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_key(&w, STR("results"));
    json_open(&w, '[');
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *r = &bench->results[i];
        json_open(&w, '{');
        json_put(&w, STR("name"), str_of(r->name));
        put_figure(&w, STR("value"), r->value);
        put_figure(&w, STR("median"), r->median);
        json_put(&w, STR("unit"), str_of(r->unit));
        json_put(&w, STR("how"), str_of(r->how));
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_char(&out, '\n');
    FILE *file = out.failed ? NULL : fopen(path, "wb");
    bool written = file && fwrite(out.p, 1, out.n, file) == out.n;
    if (file && fclose(file))
        written = false;
    if (!written)
        fprintf(stderr, "cannot write %s\n", path);
    return written ? 0 : 1;
}

static const struct {
    const char *name;
    void (*measure)(struct bench *bench);
} groups[] = {
    {"policy", bench_policy},
    {"guard", bench_guard},
    {"hook", bench_hook},
    {"system", bench_system},
};

/* cordon-bench [OUT.json [GROUP]] */
int main(int argc, char **argv)
{
    static struct bench bench;
    if (argc == 4 && strcmp(argv[1], "--work") == 0)
        return bench_work(argv[2], argv[3]);
    const char *only = argc > 2 ? argv[2] : NULL;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!only || strcmp(only, groups[i].name) == 0)
            groups[i].measure(&bench);
    print_table(&bench);
    return write_json(&bench, argc > 1 ? argv[1] : "build/bench.json");
}
