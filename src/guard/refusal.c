/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/refusal.h"
#include "guard/effects.h"
#include "policy/rules.h"

enum { SHOWN = 160 };

static void add_cut(struct buf *out, struct str s)
{
    struct str shown = str_cut(s, SHOWN);
    buf_add(out, shown);
    if (shown.n < s.n)
        buf_add(out, STR("\xE2\x80\xA6"));
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
}

/* example.com of https://example.com:8443/page; "" of anything less plain. */
static struct str host_of(struct str url)
{
    size_t start = str_startsi(url, STR("https://")) ? 8 : str_startsi(url, STR("http://")) ? 7 : 0;
    size_t end = start;
    while (start && end < url.n && is_of_name(url.p[end]))
        end++;
    bool plain = end == url.n || url.p[end] == '/' || url.p[end] == ':' || url.p[end] == '?';
    return plain ? str_slice(url, start, end) : STR_NONE;
}

const struct guard_finding *guard_refusal(const struct guard_answer *answer,
                                          const struct policy *policy, struct buf *target,
                                          struct buf *fix)
{
    const struct guard_finding *f = NULL;
    for (size_t i = 0; !f && i < answer->finding_count; i++)
        if (answer->findings[i].verdict == answer->verdict)
            f = &answer->findings[i];
    if (!f)
        return NULL;
    add_cut(target, answer->text);
    if (f->resolved.n &&
        str_find(buf_str(target), str_cut(f->resolved, SHOWN / 4), 0) >= target->n) {
        buf_add(target, STR(", which is: "));
        add_cut(target, f->resolved);
    }
    struct str host = f->rule == GUARD_LAUNCH_URL ? host_of(f->resolved) : STR_NONE;
    if (host.n && policy_settings_of(policy)->net == POLICY_NET_OFF)
        buf_fmt(fix, "open it yourself, or fetch it with curl and --net=allow=%.*s", (int)host.n,
                host.p);
    else
        buf_add(fix, f->fix);
    return f;
}
