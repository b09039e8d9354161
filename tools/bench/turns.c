/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks`: two tasks that hand over to each other. */
#include "tools/bench/turns.h"

#include <stdatomic.h>

#include "tools/bench/series.h"

/* One of the two; it waits for its promise. */
struct side {
    cohort_promise *promise;
    cohort_future *future;
    struct side *other; /* is waiting, or about to, whenever this side runs */
    uint64_t turns;
    atomic_bool has_started;
};

static cohort_status hand_over(struct side *side)
{
    cohort_status status = cohort_promise_create(&side->promise, &side->future);
    if (status != COHORT_OK) {
        cohort_promise_fail(side->other->promise, status, "%s", cohort_error_message());
        return status;
    }
    cohort_promise_fulfil(side->other->promise, NULL);
    return cohort_await(side->future);
}

static cohort_status second_side(void *arg)
{
    struct side *side = arg;
    atomic_store(&side->has_started, true);
    cohort_status status = cohort_await(side->future);
    for (uint64_t i = 1; status == COHORT_OK && i < side->turns; i++)
        status = hand_over(side);
    if (status == COHORT_OK)
        cohort_promise_fulfil(side->other->promise, NULL);
    return status;
}

cohort_status turns_take(uint64_t turns, bool are_apart, uint64_t *ret_ns)
{
    struct side sides[2] = {{.other = &sides[1], .turns = turns},
                            {.other = &sides[0], .turns = turns}};
    cohort_status status = cohort_promise_create(&sides[1].promise, &sides[1].future);
    if (status != COHORT_OK)
        return status;
    cohort_future *second = cohort_async(second_side, &sides[1]);
    while (are_apart && !atomic_load(&sides[1].has_started))
        ; /* this worker does not suspend, so it is another one that starts the second */
    uint64_t start = bench_now();
    for (uint64_t i = 0; status == COHORT_OK && i < turns; i++)
        status = hand_over(&sides[0]);
    cohort_status second_status = cohort_await(second);
    *ret_ns = bench_now() - start;
    return status != COHORT_OK ? status : second_status;
}
