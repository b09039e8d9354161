/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "tests/cross/simulation.h"
#include "tests/support/scarce.h"

const struct means simulation_means = {.has_places = true, .has_threads = true, .has_deaths = true};

uint64_t simulation_time(void)
{
    return cohort__clock_now();
}

void simulation_turned(bool any)
{
}

void simulation_begin(uint64_t seed)
{
}

void simulation_end(void)
{
}

/* Nothing is scarce. */
void scarce_init(void)
{
}

void scarce_begin_gaps(const uint32_t *lengths, uint32_t num)
{
}

bool scarce_has_failed(void)
{
    return false;
}

void scarce_pause(void)
{
}

void scarce_go_on(void)
{
}
