/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/gate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cohort__gate_init(struct cohort__gate *gate)
{
    gate->next = 1;
}

uint64_t cohort__gate_last(const struct cohort__gate *gate)
{
    return gate->next / 3;
}

cohort_status cohort__gate_pass(struct cohort__gate *gate, uint64_t generation)
{
    if (generation == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "generation 0: generations begin with 1");
    if (generation > COHORT__GENERATION_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "generation %" PRIu64 " is too large",
                           generation);
    if (3 * generation - 2 < gate->next)
        return cohort_fail(COHORT_ERR_GENERATION,
                           "generation %" PRIu64 " is not above the last one, %" PRIu64, generation,
                           cohort__gate_last(gate));
    gate->next = 3 * generation + 1;
    return COHORT_OK;
}

void cohort__history_init(struct cohort__history *history)
{
    *history = (struct cohort__history){0};
}

void cohort__history_fini(struct cohort__history *history)
{
    free(history->skipped);
}

static bool make_room(struct cohort__history *history)
{
    if (history->num_skipped < history->capacity)
        return true;
    if (history->capacity < COHORT__HISTORY_RANGES) {
        uint32_t capacity = history->capacity ? 2 * history->capacity : 16;
        void *grown = realloc(history->skipped, capacity * sizeof(*history->skipped));
        if (grown) {
            history->skipped = grown;
            history->capacity = capacity;
            return true;
        }
    }
    if (history->num_skipped == 0)
        return false;
    history->num_skipped--;
    memmove(history->skipped, history->skipped + 1,
            history->num_skipped * sizeof(*history->skipped));
    return true;
}

void cohort__history_call(struct cohort__history *history, uint64_t generation)
{
    uint64_t expected = history->last + 1;
    history->last = generation;
    if (generation == expected || !make_room(history))
        return;
    history->skipped[history->num_skipped++] = (struct cohort__skipped){expected, generation - 1};
}

bool cohort__history_skipped(const struct cohort__history *history, uint64_t generation)
{
    for (uint32_t i = history->num_skipped; i > 0; i--) {
        const struct cohort__skipped *range = &history->skipped[i - 1];
        if (generation > range->last)
            return false;
        if (generation >= range->first)
            return true;
    }
    return false;
}
