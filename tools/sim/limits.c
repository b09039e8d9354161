/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: what is too large to be simulated on this machine. */
#include "tools/sim/limits.h"

#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/sanitizer.h"

/* The bytes for a message: its two steps, its job, and the spare room of lists and tables. */
static const double message_bytes = 256;

/* Most of this machine's memory. */
static uint64_t memory_bytes(void)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return memory - memory / 4;
}

const char *sim_refuses_messages(double messages)
{
    return messages * message_bytes > (double)memory_bytes()
               ? "too many messages to simulate in this machine's memory"
               : NULL;
}

const char *sim_refuses(const struct cohort__algorithm *algorithm,
                        const struct cohort__request *request)
{
    const char *refuses = cohort__algorithm_refuses(algorithm, request);
    if (!refuses && !algorithm->stages)
        refuses = sim_refuses_messages(cohort__algorithm_cost(algorithm, request).messages);
    return refuses;
}

void sim_limit_memory(void)
{
    struct rlimit limit;
    rlim_t memory = memory_bytes();
    if (COHORT__ASAN || COHORT__TSAN) /* they reserve more than there is, on purpose */
        return;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur <= memory)
        return;
    limit.rlim_cur = memory;
    setrlimit(RLIMIT_AS, &limit);
}
