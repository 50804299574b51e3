/* SPDX-License-Identifier: Apache-2.0 */
/* The hook is measured natively. */
#include "bench.h"

void bench_hook(struct bench *bench)
{
    (void)bench;
}
