/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/gate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cohort__gate_init(struct cohort__gate *gate)
{
    gate->last = 0;
}

cohort_status cohort__gate_pass(struct cohort__gate *gate, uint64_t generation)
{
    if (generation == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "generation 0: generations begin with 1");
    if (generation > COHORT__GENERATION_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "generation %" PRIu64 " is too large",
                           generation);
    if (generation <= gate->last)
        return cohort_fail(COHORT_ERR_GENERATION,
                           "generation %" PRIu64 " is not above the last one, %" PRIu64, generation,
                           gate->last);
    gate->last = generation;
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
    if (history->capacity < 2 * COHORT__HISTORY_RANGES) {
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
    uint32_t num_kept = history->num_skipped / 2;
    memmove(history->skipped, history->skipped + history->num_skipped - num_kept,
            num_kept * sizeof(*history->skipped));
    history->num_skipped = num_kept;
    return true;
}

static void skip(struct cohort__history *history, uint64_t first, uint64_t last)
{
    if (make_room(history))
        history->skipped[history->num_skipped++] = (struct cohort__skipped){first, last};
}

void cohort__history_call(struct cohort__history *history, uint64_t generation)
{
    uint64_t expected = history->last + 1;
    history->last = generation;
    if (generation != expected)
        skip(history, expected, generation - 1);
}

void cohort__history_leave_out(struct cohort__history *history, uint64_t generation)
{
    uint64_t expected = history->last + 1;
    history->last = generation;
    skip(history, expected, generation);
}

bool cohort__history_skipped(const struct cohort__history *history, uint64_t generation)
{
    uint32_t first = 0, end = history->num_skipped;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (history->skipped[middle].first <= generation)
            first = middle + 1;
        else
            end = middle;
    }
    return first > 0 && generation <= history->skipped[first - 1].last;
}
