/* Stand-ins until the readers and the policy are merged; deleted then. */
#include "guard/effects.h"
#include "policy/rules.h"
#define WEAK __attribute__((weak))
WEAK void cmd_read(struct guard *g, struct str t, unsigned f) { (void)g; (void)t; (void)f; }
WEAK void powershell_read(struct guard *g, struct str t) { (void)g; (void)t; }
WEAK void bash_read(struct guard *g, struct str t) { (void)g; (void)t; }
WEAK void cmd_program(struct guard *g, const struct guard_call *c) { (void)g; (void)c; }
WEAK void powershell_program(struct guard *g, const struct guard_call *c) { (void)g; (void)c; }
WEAK void bash_program(struct guard *g, const struct guard_call *c) { (void)g; (void)c; }
WEAK struct word *winargv_split(struct arena *a, struct str l, size_t *n) { (void)a; (void)l; *n = 0; return NULL; }
WEAK void winargv_quote(struct buf *b, struct str s) { buf_char(b, '"'); buf_add(b, s); buf_char(b, '"'); }
WEAK int path_normalize(const struct path_context *c, struct str s, char *o, size_t n, struct path *p) { (void)c; (void)s; (void)o; (void)n; (void)p; return -1; }
WEAK void policy_decide(const struct policy *p, const struct policy_request *r, struct policy_answer *a) { (void)p; (void)r; (void)a; }
WEAK const struct policy_settings *policy_settings_of(const struct policy *p) { (void)p; return NULL; }
