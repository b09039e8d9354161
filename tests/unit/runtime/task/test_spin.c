/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/spin.h"

#include <string.h>
#include <sys/resource.h>

#include "runtime/base/clock.h"
#include "tests/support/test.h"

/* The time is simulated: this is the current time, in cycles. */
static uint64_t now;

/* And so is the kernel's count of preemptions, since other programs run here, too. */
static long num_preemptions;

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    CHECK_INT(who, RUSAGE_THREAD);
    memset(usage, 0, sizeof(*usage));
    usage->ru_nivcsw = num_preemptions;
    return 0;
}

static uint64_t us(uint64_t microseconds)
{
    return cohort__clock_cycles_of(microseconds * 1000);
}

static void begin(struct cohort__spin *spin, uint64_t budget_us)
{
    now = us(1000000);
    cohort__spin_init(spin, budget_us * 1000);
    cohort__spin_again(spin, now, false); /* counts preemptions from now on */
    cohort__spin_begin(spin);
}

/* A search that finds nothing, with looks of one microsecond each. Returns how long it takes until
 * spinning ends. */
static uint64_t search(struct cohort__spin *spin)
{
    uint64_t start = now;
    cohort__spin_begin(spin);
    while (cohort__spin_again(spin, now, false))
        now += us(1);
    return (now - start) / us(1);
}

/* The first look finds nothing, and the second one finds something. */
static void find(struct cohort__spin *spin)
{
    cohort__spin_begin(spin);
    cohort__spin_again(spin, now += us(1), false);
    cohort__spin_found(spin);
}

/* Fails until spinning is paused. */
static void fail(struct cohort__spin *spin)
{
    for (int i = 0; search(spin) > 0; i++)
        CHECK(i < 100);
}

/* How long spinning is paused now. */
static uint64_t pause_us(struct cohort__spin *spin)
{
    uint64_t start = now;
    for (cohort__spin_begin(spin); !cohort__spin_again(spin, now, false); now += us(10))
        CHECK((now - start) / us(1) < 1000000);
    return (now - start) / us(1);
}

TEST(time_and_not_polls)
{
    struct cohort__spin spin;
    begin(&spin, 100);
    CHECK_INT((long long)search(&spin), 100);
    begin(&spin, 0);
    CHECK_INT((long long)search(&spin), 0);
    begin(&spin, 100);
    uint64_t start = now;
    for (int i = 0; i < 90; i++, now += us(1))
        CHECK(cohort__spin_again(&spin, now, false));
    cohort__spin_found(&spin); /* from now on it has the whole time again */
    for (int i = 0; i < 90; i++, now += us(1))
        CHECK(cohort__spin_again(&spin, now, false));
    CHECK_INT((long long)((now - start) / us(1)), 180);
}

TEST(what_brings_nothing_ends)
{
    struct cohort__spin spin;
    begin(&spin, 100);
    fail(&spin);
    CHECK((now - us(1000000)) / us(1) <= 1000); /* that took at most ten searches */
    uint64_t pause = pause_us(&spin);
    CHECK(pause > 0);
    for (int i = 0; i < 3; i++) { /* a single search tries it again, and the pause doubles */
        CHECK_INT((long long)search(&spin), 100);
        CHECK_INT((long long)search(&spin), 0);
        uint64_t next = pause_us(&spin);
        CHECK(next > pause + pause / 2);
        pause = next;
    }
    for (int i = 0; i < 20; i++) {
        search(&spin);
        CHECK(pause_us(&spin) <= 200000); /* it is always tried again */
    }
}

TEST(what_brings_something_stays)
{
    struct cohort__spin spin;
    begin(&spin, 100);
    for (int i = 0; i < 1000; i++) { /* most finds are early, some late */
        CHECK_INT((long long)search(&spin), 100);
        find(&spin);
        find(&spin);
    }
    for (int i = 0; i < 1000; i++) /* found by the first look, so spinning gained nothing */
        cohort__spin_found(&spin);
    fail(&spin);
    pause_us(&spin);
    for (int i = 0; i < 40; i++) {
        find(&spin);
        now += us(10000);
    }
    CHECK_INT((long long)search(&spin), 100);
    fail(&spin);
    CHECK(pause_us(&spin) <= 1010); /* short again after a success */
}

/* The thread wants its core but does not have it for a while. */
static void lose_core(void)
{
    num_preemptions++;
}

TEST(preempted)
{
    struct cohort__spin spin;
    begin(&spin, 10000);
    lose_core();
    /* No preemption while it looks, as far as it can tell. */
    for (int i = 0; i < 100; i++, now += us(5))
        CHECK(cohort__spin_again(&spin, now, false));
    now += us(1000);
    CHECK(!cohort__spin_again(&spin, now, false)); /* noticed late, which does no harm */
    CHECK(pause_us(&spin) > 0);
    lose_core();
    now += us(1000);
    CHECK(!cohort__spin_again(&spin, now, false));
    CHECK_INT((long long)search(&spin), 0);
    uint64_t pause = pause_us(&spin);
    lose_core();
    now += us(1000);
    CHECK(!cohort__spin_again(&spin, now, false));
    CHECK(pause_us(&spin) > pause + pause / 2);
}

/* Preempted again and again, even if only for a moment each time. */
TEST(preempted_often)
{
    struct cohort__spin spin;
    begin(&spin, 1000000);
    for (int i = 0; i < 20; i++)
        lose_core();
    int num = 0;
    while (cohort__spin_again(&spin, now += us(5), false))
        CHECK(num++ < 300);
    CHECK(pause_us(&spin) > 0);
}

/* A look that takes long because of an interrupt, or because there was much to do. */
TEST(gap_without_preemption)
{
    struct cohort__spin spin;
    int gaps = 0;
    begin(&spin, 1000000);
    for (int i = 0; i < 100; i++, now += us(1000)) {
        uint64_t before = spin.num_preemptions;
        bool again = cohort__spin_again(&spin, now, false);
        CHECK(again == (spin.num_preemptions == before)); /* other processes may run here, too */
        if (!again)
            pause_us(&spin);
        gaps += again;
    }
    CHECK(gaps > 0);
}

/* It looks on while something is expected, which costs no credit. But not if it never spins. */
TEST(expects)
{
    struct cohort__spin spin;
    begin(&spin, 10);
    for (int i = 0; i < 400; i++)
        CHECK(cohort__spin_again(&spin, now += us(1), true));
    CHECK(!cohort__spin_again(&spin, now, false));
    CHECK_INT((long long)search(&spin), 10);
    begin(&spin, 0);
    CHECK(!cohort__spin_again(&spin, now, true));
}

/* Searches of 20 us with one yield each, of LONG_US where one is tried, for MS milliseconds.
 * Returns how many were. */
static int yields_in(struct cohort__spin *spin, uint64_t ms, uint64_t long_us)
{
    const uint64_t end = now + us(1000 * ms);
    int num = 0;
    for (; now < end; now += us(20)) {
        if (!cohort__spin_may_yield(spin, now))
            continue;
        const uint64_t before = now;
        now += us(long_us);
        CHECK(cohort__spin_yielded(spin, before, now) == (long_us < 1000));
        num++;
    }
    return num;
}

/* A long one in many is what others have a right to. */
TEST(many_short_yields)
{
    struct cohort__spin spin;
    begin(&spin, 0);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(yields_in(&spin, 2, 5), 80);
        CHECK_INT(yields_in(&spin, 1, 3000), 1);
    }
}

/* Where a yield lasts for slices of others, few are tried, and all again when the others are gone.
 */
TEST(long_yields)
{
    struct cohort__spin spin;
    begin(&spin, 0);
    CHECK_INT(yields_in(&spin, 100, 5), 4000);
    CHECK_INT(yields_in(&spin, 10000, 3000), 84); /* pauses of 0, 1, 2, 4, ... 128, 128 ms */
    yields_in(&spin, 130, 5);
    CHECK_INT(yields_in(&spin, 2000, 5), 80000);
    CHECK_INT(yields_in(&spin, 10, 3000), 3); /* pauses of 0, 1 and 2 ms */
}
