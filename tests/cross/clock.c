/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/clock.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/base/clock.h"

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

uint64_t clock_time(void)
{
    return now;
}

void clock_turned(bool any)
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
