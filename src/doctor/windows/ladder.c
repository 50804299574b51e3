/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to start a program on this Windows, tried one by one, for `cordon doctor --ladder`. */
#include "wire/windows/nt.h"

#include "doctor/doctor.h"
#include "lib/windows/launch.h"

bool doctor_ladder(void (*each)(void *context, const struct doctor_rung *rung), void *context)
{
    static const char *const results[] = {
        [LADDER_STARTS] = "starts", [LADDER_FAILS] = "fails", [LADDER_HANGS] = "hangs"};
    struct cordon_policy *p = launch_probe_policy();
    struct run_options options = {.probes = true};
    struct run_result result = {0};
    struct run run = {.options = &options, .result = &result};
    struct ladder_rung rung;
    if (!p)
        return false;
    run.policy = p;
    for (unsigned i = 0; ladder_rung_at(i, &rung); i++) {
        auto_buf struct buf words = {0}, said = {0};
        ladder_words(&rung, &words);
        enum ladder_result tried = launch_try(&run, &rung, &said);
        each(context, &(struct doctor_rung){buf_cstr(&words), results[tried], buf_cstr(&said)});
    }
    cordon_policy_free(p);
    return true;
}
