/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: computing whose work is given, not its time. */
#include "tools/bench/computing.h"

#include "tools/bench/series.h"

/* Each step waits for the one before, so nothing but the core's frequency counts. Nobody needs the
 * result, which the compiler is not to know. */
static void take_steps(uint64_t num)
{
    volatile uint64_t result;
    uint64_t state = num;
    for (; num > 0; num--)
        state = state * 6364136223846793005 + 1442695040888963407;
    result = state;
    (void)result;
}

/* The least of several times: in the others something else had the core. */
void computing_init(struct computing *computing)
{
    enum { NUM_TRIES = 20, NUM_STEPS = 300 * 1000 };
    computing->ns_per_step = 0;
    for (int i = 0; i < NUM_TRIES; i++) {
        uint64_t start = bench_now();
        take_steps(NUM_STEPS);
        double ns_per_step = (double)(bench_now() - start) / NUM_STEPS;
        if (i == 0 || ns_per_step < computing->ns_per_step)
            computing->ns_per_step = ns_per_step;
    }
}

void computing_run(const struct computing *computing, double ns)
{
    take_steps((uint64_t)(ns / computing->ns_per_step));
}
