/* SPDX-License-Identifier: Apache-2.0 */
/* How long a decision and a long path take. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "policy/rules.h"

struct decisions {
    struct policy *policy;
    struct policy_request requests[8];
};

static void check(int rc)
{
    if (rc) {
        fprintf(stderr, "bench: %s\n", cordon_strerror(rc));
        exit(1);
    }
}

/* Half of them roots, half deny-write rules inside them. */
static struct policy *make_policy(unsigned rules)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf error = {0};
    struct policy_settings settings = {.mode = POLICY_WORKSPACE_WRITE};
    struct policy *policy = NULL;
    settings.temp_path = STR("C:\\Users\\u\\AppData\\Local\\Temp\\cordon-1");
    for (unsigned i = 0; i < rules; i++) {
        char path[96];
        snprintf(path, sizeof path, i % 2 ? "C:\\work\\p%u\\generated" : "C:\\work\\p%u", i / 2);
        struct policy_entry entry = {.given = str_of(path)};
        check(policy_list_add(&arena, i % 2 ? &settings.deny_write : &settings.roots, entry));
    }
    check(policy_compile(&settings, &policy, &error));
    return policy;
}

static void decide(void *context, unsigned times)
{
    struct decisions *d = context;
    static volatile unsigned sum __attribute__((unused)); /* so that nothing is optimised away */
    for (unsigned i = 0; i < times; i++) {
        struct policy_answer answer;
        policy_decide(d->policy, &d->requests[i % 8], &answer);
        sum += answer.rule;
    }
}

static void bench_decide(struct bench *bench, unsigned rules, const char *name, const char *how)
{
    static const char *const paths[8] = {
        "C:\\work\\p3\\src\\components\\button\\index.ts",
        "C:\\work\\p0\\node_modules\\left-pad\\package.json",
        "C:\\work\\p5\\.git\\config",
        "C:\\work\\p7\\generated\\api\\client.ts",
        "C:\\Users\\u\\Documents\\letter.docx",
        "C:\\work\\p2\\packages\\core\\.claude\\settings.json",
        "C:\\Users\\u\\AppData\\Local\\Temp\\cordon-1\\npm-1234\\x",
        "C:\\work\\p9\\build\\obj\\main.obj",
    };
    struct decisions d = {.policy = make_policy(rules)};
    for (size_t i = 0; i < 8; i++) {
        struct str path = str_of(paths[i]);
        d.requests[i].path = (struct path){PATH_FILE, path, path, false};
        d.requests[i].access = i % 2 ? POLICY_WRITE : POLICY_CREATE;
        d.requests[i].facts.seen = true;
    }
    bench_time_us(bench, name, how, 101, 8000, decide, &d);
    policy_free(d.policy);
}

struct long_path {
    char *given, *out;
    size_t n;
};

static void normalize(void *context, unsigned times)
{
    struct long_path *l = context;
    struct path_context here = {.cwd = STR("C:\\ws")};
    for (unsigned i = 0; i < times; i++) {
        struct path path;
        check(path_normalize(&here, (struct str){l->given, l->n}, l->out, PATH_MAX_BYTES, &path));
        if (path.class != PATH_FILE)
            abort();
    }
}

static void bench_normalize(struct bench *bench, struct str piece, size_t piece_units,
                            const char *name, const char *how)
{
    struct long_path l = {malloc(PATH_MAX_BYTES), malloc(PATH_MAX_BYTES), 2};
    if (!l.given || !l.out)
        abort();
    memcpy(l.given, "C:", 2);
    for (size_t units = 2; units + piece_units <= PATH_MAX_UNITS; units += piece_units) {
        memcpy(l.given + l.n, piece.p, piece.n);
        l.n += piece.n;
    }
    bench_time_us(bench, name, how, 101, 10, normalize, &l);
    free(l.given);
    free(l.out);
}

void bench_policy(struct bench *bench)
{
    bench_decide(bench, 20, "policy.decide_us", "20 rules, 8 paths in turn, min of 101 x 8,000");
    bench_decide(bench, 2000, "policy.decide_1000_rules_us",
                 "1,000 roots and 1,000 rules, 8 paths in turn, min of 101 x 8,000");
    bench_normalize(bench, STR("\\folder.name"), 12, "policy.normalize_32k_us",
                    "a path of 32,767 units, min of 101 x 10");
    bench_normalize(bench, STR("\\a\\..\\b. \\."), 11, "policy.normalize_32k_dots_us",
                    "32,767 units full of dots, min of 101 x 10");
    bench_normalize(bench, STR("\\\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"), 4,
                    "policy.normalize_32k_wide_us",
                    "32,767 units, most of three bytes, min of 101 x 10");
}
