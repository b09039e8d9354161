/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: when to say that nothing moves. */
#include "tools/cohortrun/stall.h"

enum { LOOKS = 5 }; /* so many within the patience at first */
static const uint64_t least_ns = 20000000;

void stall_init(struct stall *stall, uint64_t patience_ns)
{
    const uint64_t interval = patience_ns / LOOKS;
    *stall = (struct stall){.patience = patience_ns,
                            .interval = interval > least_ns ? interval : least_ns};
}

void stall_moved(struct stall *stall)
{
    if (stall->is_said && stall->patience < UINT64_MAX / 4)
        stall->patience *= 2;
    stall->is_said = false;
    stall->quiet = 0;
}

bool stall_still(struct stall *stall, uint64_t elapsed)
{
    stall->quiet += elapsed < 2 * stall->interval ? elapsed : 2 * stall->interval;
    if (stall->is_said || stall->quiet < stall->patience)
        return false;
    stall->is_said = true;
    return true;
}
