/* Stand-ins until the readers and the policy are merged; deleted then. */
#include "guard/effects.h"
#include "policy/rules.h"
#define WEAK __attribute__((weak))
WEAK void cmd_read(struct guard *g, struct str t, unsigned f)
{
    (void)g;
    (void)t;
    (void)f;
}
WEAK void powershell_read(struct guard *g, struct str t)
{
    (void)g;
    (void)t;
}
WEAK void bash_read(struct guard *g, struct str t)
{
    (void)g;
    (void)t;
}
WEAK void cmd_program(struct guard *g, const struct guard_call *c)
{
    (void)g;
    (void)c;
}
WEAK void powershell_program(struct guard *g, const struct guard_call *c)
{
    (void)g;
    (void)c;
}
WEAK void bash_program(struct guard *g, const struct guard_call *c)
{
    (void)g;
    (void)c;
}
WEAK struct word *winargv_split(struct arena *a, struct str l, size_t *n)
{
    (void)a;
    (void)l;
    *n = 0;
    return NULL;
}
WEAK void winargv_quote(struct buf *b, struct str s)
{
    buf_char(b, '"');
    buf_add(b, s);
    buf_char(b, '"');
}
WEAK int path_normalize(const struct path_context *c, struct str s, char *o, size_t n,
                        struct path *p)
{
    (void)c;
    (void)s;
    (void)o;
    (void)n;
    (void)p;
    return -1;
}
WEAK void policy_decide(const struct policy *p, const struct policy_request *r,
                        struct policy_answer *a)
{
    (void)p;
    (void)r;
    (void)a;
}
WEAK const struct policy_settings *policy_settings_of(const struct policy *p)
{
    (void)p;
    return NULL;
}
WEAK int policy_compile(const struct policy_settings *s, struct policy **o, struct buf *e) { (void)s; (void)o; (void)e; return -1; }
WEAK void policy_free(struct policy *p) { (void)p; }
WEAK int policy_list_add(struct arena *a, struct policy_list *l, struct policy_entry e) { (void)a; (void)l; (void)e; return -1; }
WEAK int policy_parse_peer(struct str t, struct policy_peer *o) { (void)t; (void)o; return -1; }
WEAK void policy_net_decide(const struct policy *p, const struct policy_peer *q, struct policy_answer *a) { (void)p; (void)q; (void)a; }
WEAK void policy_net_explain(const struct policy *p, const struct policy_peer *q, const struct policy_answer *a, struct buf *w, struct buf *f) { (void)p; (void)q; (void)a; (void)w; (void)f; }
WEAK void policy_tool_decide(const struct policy *p, const struct policy_program *q, struct policy_answer *a) { (void)p; (void)q; (void)a; }
WEAK void policy_tool_explain(const struct policy *p, const struct policy_program *q, const struct policy_answer *a, struct buf *w, struct buf *f) { (void)p; (void)q; (void)a; (void)w; (void)f; }
WEAK void policy_explain(const struct policy *p, const struct policy_request *q, const struct policy_answer *a, struct buf *w, struct buf *f) { (void)p; (void)q; (void)a; (void)w; (void)f; }
WEAK void policy_decide_pair(const struct policy *p, const struct policy_request *f, const struct policy_request *t, struct policy_answer *a) { (void)p; (void)f; (void)t; (void)a; }
WEAK const char *policy_rule_id(enum policy_rule r) { (void)r; return ""; }
WEAK int policy_list_rules(const struct policy *p, struct arena *a, struct policy_line **l, size_t *n) { (void)p; (void)a; (void)l; (void)n; return -1; }
WEAK struct str path_parent(enum path_dialect d, struct str s) { (void)d; (void)s; return STR_NONE; }
WEAK struct str path_leaf(enum path_dialect d, struct str s) { (void)d; (void)s; return STR_NONE; }
WEAK size_t path_root_length(enum path_dialect d, struct str s) { (void)d; (void)s; return 0; }
