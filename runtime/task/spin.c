/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/spin.h"

#include <sys/resource.h>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"

/* Measured: docs/measurements.md, "Cores that others want, too". There a worker that is in nobody's
 * way is preempted at most 700 times a second, and one that is, 35,000 times; 200 us lie between.
 * The pauses balance what others lose to a trial, at most a search in 128 ms, against how late we
 * notice that they are gone. So do those after long yields: "Beside programs that compute". */
enum {
    GAP_NS = 50000,        /* between two looks; longer than one look takes */
    CHECK_NS = 1000000,    /* without a gap, preemptions are counted once in this time, */
    TOLERATED_NS = 200000, /* and more than one for each such time is too many */
    MIN_PAUSE_NS = 1000000,
    MAX_PAUSE_NS = 128000000,
    GOOD_PAUSES = 8, /* if spinning goes well for so many times the last pause, the next is short */
    MAX_CREDIT = 16,
    TRIAL_CREDIT = 2,        /* after a pause */
    FAILURE = 2,             /* credit that a search without result costs */
    LONG_YIELD_NS = 1000000, /* a slice is 1 ms or more, a look at the loop takes some us */
    SHORT_YIELDS = 64,       /* gain as much as a long one costs */
};

/* How often the calling thread was preempted. A system call. */
static uint64_t preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nivcsw;
}

void cohort__spin_init(struct cohort__spin *spin, uint64_t budget_ns)
{
    *spin = (struct cohort__spin){
        .budget = cohort__clock_cycles_of(budget_ns),
        .num_preemptions = preemptions(),
        .credit = MAX_CREDIT,
    };
}

static void begin_pause(struct cohort__spin_pause *pause, uint64_t now)
{
    const uint64_t min = cohort__clock_cycles_of(MIN_PAUSE_NS);
    const uint64_t max = cohort__clock_cycles_of(MAX_PAUSE_NS);
    bool was_good = now - pause->end > GOOD_PAUSES * pause->length;
    pause->length = was_good ? min : 2 * pause->length;
    if (pause->length > max)
        pause->length = max;
    pause->end = now + pause->length;
}

static void pause_spinning(struct cohort__spin *spin, uint64_t now, const char *why)
{
    begin_pause(&spin->pause, now);
    spin->credit = 0;
    cohort__log(COHORT__LOG_DEBUG, "scheduler: an idle worker pauses spinning: %s", why);
}

/* The number of preemptions since the last count. */
static uint64_t count_preemptions(struct cohort__spin *spin, uint64_t now)
{
    uint64_t before = spin->num_preemptions;
    spin->num_preemptions = preemptions();
    spin->checked = now;
    return spin->num_preemptions - before;
}

static bool may_spin(struct cohort__spin *spin, uint64_t now)
{
    if (spin->credit > 0)
        return true;
    if (now < spin->pause.end)
        return false;
    spin->pause.end = now;
    spin->credit = TRIAL_CREDIT;
    count_preemptions(spin, now);
    return true;
}

/* A gap alone is not enough: it may be an interrupt, or a look that took long. On the other hand, a
 * thread that takes the core only for a moment makes no gap. But if that thread and this worker
 * wait for each other, it takes the core often. So preemptions without a gap are counted, too. */
static bool was_preempted(struct cohort__spin *spin, uint64_t now)
{
    bool is_gap = now - spin->last >= cohort__clock_cycles_of(GAP_NS);
    uint64_t elapsed = now - spin->checked;
    if (!is_gap && elapsed < cohort__clock_cycles_of(CHECK_NS))
        return false;
    uint64_t num = count_preemptions(spin, now);
    return is_gap ? num > 0 : num > elapsed / cohort__clock_cycles_of(TOLERATED_NS);
}

void cohort__spin_begin(struct cohort__spin *spin)
{
    spin->start = 0;
}

bool cohort__spin_again(struct cohort__spin *spin, uint64_t now, bool expects)
{
    if (spin->budget == 0 || !may_spin(spin, now))
        return false;
    if (spin->start == 0)
        spin->start = spin->last = now;
    if (was_preempted(spin, now)) {
        pause_spinning(spin, now, "it was preempted");
        return false;
    }
    spin->last = now;
    if (now - spin->start < spin->budget || expects)
        return true;
    spin->credit -= spin->credit < FAILURE ? spin->credit : FAILURE;
    if (spin->credit == 0)
        pause_spinning(spin, now, "it brings nothing");
    return false;
}

/* Earns credit only if there was a fruitless look before: what the first look finds would have been
 * found without spinning, too. */
void cohort__spin_found(struct cohort__spin *spin)
{
    if (spin->start != 0 && spin->credit > 0 && spin->credit < MAX_CREDIT)
        spin->credit++;
    cohort__spin_begin(spin);
}

bool cohort__spin_may_yield(const struct cohort__spin *spin, uint64_t now)
{
    return now >= spin->no_yields.end;
}

bool cohort__spin_yielded(struct cohort__spin *spin, uint64_t before, uint64_t now)
{
    if (now - before < cohort__clock_cycles_of(LONG_YIELD_NS)) {
        spin->num_short++;
        return true;
    }
    if (spin->num_short < SHORT_YIELDS)
        begin_pause(&spin->no_yields, now);
    spin->num_short = 0;
    return false;
}
