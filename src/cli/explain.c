/* SPDX-License-Identifier: Apache-2.0 */
/* cordon explain: what a rule is for, with an example on each side, from the rule tables. */
#include "base/json.h"
#include "cli/cli.h"
#include "guard/guard.h"
#include "policy/rules.h"

/* A rule of the policy or of the guard, as people see it. */
struct rule {
    const char *id, *verdict, *summary, *about, *fix, *denied, *allowed;
};

enum { RULES = POLICY_RULE_COUNT - 1 + GUARD_RULE_COUNT };

static struct rule rule_at(size_t index)
{
    if (index < GUARD_RULE_COUNT) {
        static const char *const verdicts[] = {"deny", "ask", "allow"};
        const struct guard_rule_info *g = &guard_rules[index];
        return (struct rule){g->id.p, verdicts[g->verdict], g->why,        g->about,
                             g->fix,  g->examples[0],       g->examples[1]};
    }
    struct policy_rule_info p = policy_rule_info((enum policy_rule)(index - GUARD_RULE_COUNT + 1));
    return (struct rule){p.id,     p.denies ? "deny" : "allow", p.text, NULL, p.fix, p.denied,
                         p.allowed};
}

static void write_rule(struct json_writer *w, const struct rule *r)
{
    json_open(w, '{');
    json_put(w, STR("rule"), str_of(r->id));
    json_put(w, STR("verdict"), str_of(r->verdict));
    json_put(w, STR("about"), str_of(r->about ? r->about : r->summary));
    json_put(w, STR("fix"), str_of(r->fix));
    json_put(w, STR("denied"), str_of(r->denied));
    json_put(w, STR("allowed"), str_of(r->allowed));
    json_close(w, '}');
}

static int print_json(const struct rule *one)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    if (one)
        write_rule(&w, one);
    else
        json_open(&w, '[');
    for (size_t i = 0; !one && i < RULES; i++) {
        struct rule r = rule_at(i);
        write_rule(&w, &r);
    }
    if (!one)
        json_close(&w, ']');
    buf_char(&out, '\n');
    return !out.failed && print_out(buf_str(&out)) ? 0 : print_failure("cannot write the answer");
}

static void print_rule(const struct rule *r)
{
    if (r->about)
        printf("%s (%s): a command that %s.\n\n%s\n", r->id, r->verdict, r->summary, r->about);
    else
        printf("%s (%s): %s.\n", r->id, r->verdict, r->summary);
    putchar('\n');
    if (*r->denied)
        printf("%-9s %s\n", strcmp(r->verdict, "ask") == 0 ? "asked:" : "denied:", r->denied);
    printf("%-9s %s\n", "allowed:", r->allowed);
    if (*r->fix)
        printf("%-9s %s\n", r->about ? "instead:" : "remedy:", r->fix);
}

int explain_list(bool json)
{
    if (json)
        return print_json(NULL);
    for (size_t i = 0; i < RULES; i++) {
        struct rule r = rule_at(i);
        printf("%-22s %-5s  %s%s\n", r.id, r.verdict, r.about ? "a command that " : "", r.summary);
    }
    return 0;
}

int explain_rule(const char *id, bool json)
{
    const char *names[RULES];
    for (size_t i = 0; i < RULES; i++) {
        struct rule r = rule_at(i);
        names[i] = r.id;
        if (strcmp(r.id, id) != 0)
            continue;
        if (json)
            return print_json(&r);
        print_rule(&r);
        return 0;
    }
    const char *nearest = print_nearest(id, names, RULES);
    return print_failure("unknown rule \"%s\"; %s%s%s", id, nearest ? "did you mean " : "see",
                         nearest ? nearest : " cordon explain --list", nearest ? "?" : "");
}

int command_explain(struct arguments *args)
{
    bool json = false, list = false, help = false;
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "list", .flag = &list},
                                     {.name = "help", .flag = &help}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, NULL);
    if (rc)
        return rc;
    if (help)
        return cli_help("explain");
    const char *id = args->next < args->count ? args->items[args->next++] : NULL;
    rc = id ? options_take(args, own, sizeof own / sizeof *own, NULL, NULL) : 0;
    if (rc)
        return rc;
    if (list == (id != NULL) || args->next < args->count)
        return print_failure(
            "name one rule, as a denial does: cordon explain roots.outside; or list "
            "all: cordon explain --list");
    return list ? explain_list(json) : explain_rule(id, json);
}
