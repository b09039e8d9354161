/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/drain.h"

enum { EAGER_ROUNDS = 4, MAX_DOUBLINGS = 6 };

void cohort__drain_init(struct cohort__drain *drain, uint32_t size)
{
    *drain = (struct cohort__drain){.size = size};
}

void cohort__drain_restart(struct cohort__drain *drain, uint32_t size)
{
    *drain = (struct cohort__drain){.size = size, .round = drain->round};
}

uint64_t cohort__drain_begin(struct cohort__drain *drain)
{
    drain->num_missing = drain->size;
    drain->sent = 0;
    drain->received = 0;
    drain->busy = false;
    return ++drain->round;
}

enum cohort__drain_next cohort__drain_answer(struct cohort__drain *drain, uint64_t round,
                                             uint64_t sent, uint64_t received, bool busy)
{
    if (round != drain->round || drain->num_missing == 0)
        return COHORT__DRAIN_WAIT;
    drain->sent += sent;
    drain->received += received;
    drain->busy |= busy;
    if (--drain->num_missing > 0)
        return COHORT__DRAIN_WAIT;
    bool quiet = !drain->busy && drain->sent == drain->received;
    bool done = quiet && drain->was_quiet && drain->sent == drain->last_sent;
    drain->was_quiet = quiet;
    drain->last_sent = drain->sent;
    return done ? COHORT__DRAIN_DONE : COHORT__DRAIN_AGAIN;
}

uint64_t cohort__drain_pause_ns(const struct cohort__drain *drain)
{
    if (drain->round < EAGER_ROUNDS)
        return 0;
    uint64_t doublings = drain->round - EAGER_ROUNDS;
    return 1000000ull << (doublings < MAX_DOUBLINGS ? doublings : MAX_DOUBLINGS);
}
