/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's speed: on ordinary command lines, and on 1 MiB of what readers like least. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "bench.h"
#include "guard/guard.h"

enum { MOST_ROWS = 20000, ROUNDS = 5, MEBIBYTE = 1024 * 1024 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds for one question, the best of some rounds. */
static double time_of(struct guard *g, const struct guard_question *q, unsigned rounds)
{
    double best = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        struct guard_answer answer;
        double start = bench_now();
        if (guard_check(g, q, &answer))
            exit(1);
        double spent = bench_now() - start;
        best = spent < best ? spent : best;
    }
    return best;
}

/* The rows of a corpus file, each as argv. */
static size_t time_corpus(struct guard *g, const char *path, double *times, size_t count)
{
    static char line[4 * MEBIBYTE];
    FILE *f = fopen(path, "rb");
    while (f && count < MOST_ROWS && fgets(line, sizeof line, f)) {
        auto_arena struct arena arena = {0};
        struct json_value row;
        struct json_error error;
        if (json_read(&arena, str_of(line), &row, &error))
            continue;
        const struct json_value *argv = json_get(&row, STR("argv"));
        if (!argv || argv->type != JSON_ARRAY)
            continue;
        struct str *words = ARENA_ARRAY(&arena, argv->count, struct str);
        for (size_t i = 0; i < argv->count; i++)
            words[i] = argv->items[i].text;
        struct guard_question q = {.argv = words, .argc = argv->count};
        times[count++] = time_of(g, &q, ROUNDS);
    }
    if (f)
        fclose(f);
    return count;
}

/* Where there is no corpus: command lines that agents write all day. */
static size_t time_examples(struct guard *g, double *times)
{
    static const char *const examples[] = {
        "git status --short",
        "npm run build -- --mode production",
        "node scripts/check.js --url http://localhost:3000",
        "powershell -NoProfile -Command \"Get-ChildItem -Recurse | Select-String TODO\"",
        "cmd /c \"cd src && npm test\"",
        "bash -c \"for f in *.txt; do wc -l \\\"$f\\\"; done\"",
        "dotnet test --no-build --logger trx",
        "rg -n pattern src"};
    size_t count = 0;
    for (unsigned i = 0; i < 100; i++) {
        const char *text = examples[i % (sizeof examples / sizeof *examples)];
        struct guard_question q = {.cmdline = str_of(text)};
        times[count++] = time_of(g, &q, ROUNDS);
    }
    return count;
}

static void bench_ordinary(struct bench *bench, struct guard *g)
{
    static double times[MOST_ROWS];
    static const char *const files[] = {"../shared/corpus/guard/hostile.jsonl",
                                        "../shared/corpus/guard/benign.jsonl",
                                        "../shared/corpus/guard/bash.jsonl"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        count = time_corpus(g, files[i], times, count);
    const char *how = "the corpus of command lines, each the best of 5";
    if (count == 0) {
        count = time_examples(g, times);
        how = "eight typical command lines (no corpus here), each the best of 5";
    }
    qsort(times, count, sizeof *times, by_size);
    double median = times[count / 2] * 1e6, p99 = times[count * 99 / 100] * 1e6;
    bench_add(bench, "guard.median_us", median, median, "us", how);
    bench_add(bench, "guard.p99_us", p99, p99, "us", how);
}

/* Constructs that could slow a reader down, repeated to fill the input. */
static const char *const pieces[] = {" ",           "\"",
                                     "'",           "^",
                                     "`",           "(",
                                     "{",           "$(",
                                     "%",           "&",
                                     "<<",          "|",
                                     "!",           "${",
                                     "@\"\n",       "<#",
                                     "[",           "@(",
                                     "@{",          ";",
                                     "$x=",         "a,",
                                     "%a%",         "!a!",
                                     "-f",          "..",
                                     "a b\n",       "\\",
                                     "/",           "::",
                                     "<<E\n",       "if (",
                                     "for %i in (", "powershell -enc JAB4AA== ",
                                     "x=$(",        "1+"};

static void fill(char *text, size_t n, const char *piece, unsigned seed)
{
    size_t length = strlen(piece);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = length ? piece[i % length] : (char)(seed >> 16);
    }
}

/* Processor seconds for one question: one of many milliseconds does not fit between the other work
   of a busy machine. */
static double processor_time(struct guard *g, struct guard_question q, struct str text)
{
    struct guard_answer answer;
    q.text = q.cmdline = text;
    clock_t start = clock();
    if (guard_check(g, &q, &answer))
        exit(1);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static double new_guard_time(struct guard_question q, struct str text)
{
    struct guard *g;
    if (guard_new(&g))
        exit(1);
    double spent = processor_time(g, q, text);
    guard_free(g);
    return spent;
}

struct worst_times {
    double used;       /* of a guard that is in use */
    double full, half; /* of new ones: a used one keeps memory that is enough for the half only */
};

static struct worst_times time_worst(struct guard *g, struct guard_question q, struct str text)
{
    struct worst_times best = {1e9, 1e9, 1e9};
    for (unsigned i = 0; i < ROUNDS; i++) {
        double used = processor_time(g, q, text);
        best.used = used < best.used ? used : best.used;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        double full = new_guard_time(q, text),
               half = new_guard_time(q, str_slice(text, 0, text.n / 2));
        best.full = full < best.full ? full : best.full;
        best.half = half < best.half ? half : best.half;
    }
    return best;
}

static void bench_worst(struct bench *bench, struct guard *g)
{
    static char text[MEBIBYTE], how[160];
    static const char *const shells[] = {"cmdline", "cmd", "powershell", "bash"};
    double worst = 0, worst_ratio = 0;
    for (size_t i = 0; i <= sizeof pieces / sizeof *pieces; i++) {
        const char *piece = i < sizeof pieces / sizeof *pieces ? pieces[i] : "";
        fill(text, sizeof text, piece, 7);
        for (int shell = GUARD_NO_SHELL; shell <= GUARD_BASH; shell++) {
            struct worst_times times =
                time_worst(g, (struct guard_question){.shell = (enum guard_shell)shell},
                           (struct str){text, sizeof text});
            if (times.full > 0.002 && times.full / times.half > worst_ratio)
                worst_ratio = times.full / times.half;
            if (getenv("CORDON_BENCH_VERBOSE"))
                fprintf(stderr, "%-10s %-12.12s %8.2f ms, new %8.2f ms, half %8.2f ms\n",
                        shells[shell], piece[0] ? piece : "random", times.used * 1e3,
                        times.full * 1e3, times.half * 1e3);
            if (times.used > worst) {
                worst = times.used;
                snprintf(how, sizeof how,
                         "processor time, the worst of %u inputs of 1 MiB in 4 readers: %s in %s",
                         (unsigned)(sizeof pieces / sizeof *pieces) + 1,
                         piece[0] ? piece : "random bytes", shells[shell]);
                for (char *p = how; *p; p++)
                    *p = *p == '\n' ? ' ' : *p;
            }
        }
    }
    bench_add(bench, "guard.1mib_ms", worst * 1e3, worst * 1e3, "ms", how);
    bench_add(bench, "guard.doubling_ratio", worst_ratio, worst_ratio, "x",
              "the same for 1 MiB against half of it, each by a new guard, the worst above 2 ms");
}

void bench_guard(struct bench *bench)
{
    struct guard *g;
    if (guard_new(&g))
        exit(1);
    bench_ordinary(bench, g);
    bench_worst(bench, g);
    guard_free(g);
}
