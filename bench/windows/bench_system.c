/* cordon run is not built yet for Windows: there is nothing to measure. */
#include "bench.h"

void bench_system(struct bench *bench)
{
    (void)bench;
}
