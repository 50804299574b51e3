/* SPDX-License-Identifier: Apache-2.0 */
/* The output of --learn at the end of a run, printed and written. */
#include "learn/learn.h"
#include "cli/cli.h"

/* The options that would have allowed it, and the denials that none of them allows. wide: the run
   was let do some of it. False if the file could not be written. */
bool cli_learned(struct cordon_policy *p, struct learn *l, const char *out, bool wide, bool failed,
                 bool quiet)
{
    enum { SHOWN = 5 };
    auto_buf struct buf options = {0}, policy = {0};
    char why[256];
    size_t not_helped = 0;
    bool written = false;
    if (learn_finish(l, p, &options, &policy)) {
        print_error("--learn: %s", cordon_policy_error(p));
        return false;
    }
    if (out && cli_is_link(out))
        print_error("--output %s: a link leads elsewhere; name the file that it leads to", out);
    else if (out && !cli_replace_file(out, buf_str(&policy), why, sizeof why))
        print_error("--output %s: %s", out, why);
    else
        written = true;
    if (quiet)
        return written;
    if (out && written)
        print_error("%s: written; use it with --policy %s", out, out);
    if (options.n)
        print_error("to allow %s: %s", wide ? "what it did and tried" : "what was denied",
                    buf_cstr(&options));
    else
        print_error("%s", l->count ? "--learn has no option for what was denied"
                                   : "nothing was denied, so there is nothing to allow");
    for (size_t i = 0; i < l->count; i++) {
        const struct learn_denial *d = &l->denials[i];
        not_helped += !d->helped;
        bool option = str_starts(d->fix, STR("--"));
        if (!d->helped && not_helped <= SHOWN)
            print_error("still denied: %s %.*s (rule %.*s)%s%.*s", audit_op_name(d->op),
                        STR_ARG(d->target), STR_ARG(d->rule),
                        option ? "; not learned, because it opens more than this: " : "",
                        STR_ARG(option ? d->fix : STR_NONE));
    }
    if (not_helped > SHOWN)
        print_error("still denied: \xE2\x80\xA6 and %u more", (unsigned)(not_helped - SHOWN));
    if (failed && options.n)
        print_error(
            "the command failed, perhaps before it needed all: run it with %s --learn again",
            out ? "this policy and" : "these options and");
    return written;
}
