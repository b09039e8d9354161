/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/simulation.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/task/worker.h"
#include "tests/support/scarce.h"

/* The clock ---------------------------------------------------------------------------------- */

enum {
    LOOK_NANOSECONDS = 20,
    IDLE_TURNS = 4,           /* so long time goes on by looks only */
    MOST_IDLE_DOUBLINGS = 10, /* of a microsecond: then a millisecond a turn */
};

/* Later than any time that is 0 for "never yet". */
static uint64_t now = UINT64_C(1000000000);
static uint32_t num_idle;

uint64_t __wrap_cohort__clock_now(void);
uint64_t __wrap_cohort__clock_ticks(void);
uint64_t __wrap_cohort__clock_after(uint64_t nanoseconds);

uint64_t simulation_time(void)
{
    return now;
}

void simulation_turned(bool any)
{
    num_idle = any ? 0 : num_idle + 1;
    if (num_idle <= IDLE_TURNS)
        return;
    uint32_t doublings = num_idle - IDLE_TURNS;
    now += UINT64_C(1000) << (doublings < MOST_IDLE_DOUBLINGS ? doublings : MOST_IDLE_DOUBLINGS);
}

uint64_t __wrap_cohort__clock_now(void)
{
    return now += LOOK_NANOSECONDS;
}

uint64_t __wrap_cohort__clock_ticks(void)
{
    return cohort__clock_ticks_of(__wrap_cohort__clock_now());
}

uint64_t __wrap_cohort__clock_after(uint64_t nanoseconds)
{
    uint64_t begin = __wrap_cohort__clock_now();
    return nanoseconds > UINT64_MAX - begin ? UINT64_MAX : begin + nanoseconds;
}

/* For libuv, and for whoever else asks. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000),
                              .tv_nsec = (long)(now % 1000000000)};
    return 0;
}

/* Whether the kernel lets others run has nothing to do with this clock, and there is nobody to wait
 * for. */
int sched_yield(void)
{
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    (void)who;
    memset(usage, 0, sizeof(*usage));
    return 0;
}

/* Memory ------------------------------------------------------------------------------------- */

static const uint32_t *gaps;
static uint32_t num_gaps, num_begun;

static void begin_next_gap(void)
{
    if (num_begun < num_gaps && (num_begun == 0 || scarce_has_failed()))
        scarce_begin(gaps[num_begun++]);
}

void simulation_memory(const uint32_t *numbers, uint32_t num)
{
    gaps = numbers;
    num_gaps = num;
    num_begun = 0;
    (void)scarce_end();
    begin_next_gap();
}

bool simulation_has_lacked_memory(void)
{
    return num_begun > 1 || (num_begun == 1 && scarce_has_failed());
}

/* The order ---------------------------------------------------------------------------------- */

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

void simulation_order(uint64_t seed)
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
    begin_next_gap();
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
