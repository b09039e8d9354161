/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/schedule.h"

#include "runtime/base/random.h"
#include "runtime/task/worker.h"

/* What a task does next, and what comes of a message, is decided by when they run. Any worker may
 * take any work, at any time: so whatever order is drawn here may come about with several. */

enum { MOST_HELD = 8, HOLD_ONE_IN = 3, POLL_ONE_IN = 4 };

static struct cohort__random random;
static struct cohort__work *held[MOST_HELD];
static uint32_t num_held;
static bool is_on;

struct cohort__work *__wrap_cohort__worker_next(struct cohort__worker *worker);
struct cohort__work *__real_cohort__worker_next(struct cohort__worker *worker);
struct cohort__work *__wrap_cohort__worker_next_if(struct cohort__worker *worker,
                                                   void (*run)(struct cohort__work *work));
struct cohort__work *__real_cohort__worker_next_if(struct cohort__worker *worker,
                                                   void (*run)(struct cohort__work *work));

void schedule_begin(uint64_t seed)
{
    is_on = seed > 0;
    cohort__random_init(&random, seed);
}

static struct cohort__work *take_held(void)
{
    uint32_t at = (uint32_t)cohort__random_below(&random, num_held);
    struct cohort__work *work = held[at];
    held[at] = held[--num_held];
    return work;
}

struct cohort__work *__wrap_cohort__worker_next(struct cohort__worker *worker)
{
    if (is_on && cohort__random_below(&random, POLL_ONE_IN) == 0)
        cohort__scheduler_poll_next();
    for (;;) {
        struct cohort__work *work = __real_cohort__worker_next(worker);
        if (!is_on || (!work && num_held == 0))
            return work;
        if (!work || num_held == MOST_HELD) {
            struct cohort__work *other = take_held();
            if (work)
                held[num_held++] = work;
            return other;
        }
        if (cohort__random_below(&random, HOLD_ONE_IN) > 0)
            return work;
        held[num_held++] = work;
    }
}

/* What is ready is taken by the loop, too, and so may be held back. */
struct cohort__work *__wrap_cohort__worker_next_if(struct cohort__worker *worker,
                                                   void (*run)(struct cohort__work *work))
{
    return is_on && cohort__random_below(&random, 2) ? NULL
                                                     : __real_cohort__worker_next_if(worker, run);
}
