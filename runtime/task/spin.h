/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_SPIN_H
#define COHORT_RUNTIME_TASK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* Of what has done harm; in cycles. */
struct cohort__spin_pause {
    uint64_t length; /* of the last one */
    uint64_t end;    /* when the last one ends or ended */
};

/* Decides whether an idle worker spins, that is, goes on looking for work, or leaves its core to
 * others, and whether it yields or sleeps then. Spinning pays if the work arrives while the worker
 * looks. It does harm if the work can't arrive because another thread needs this core to produce
 * it. That thread may be in another job, session or container, where it can't be seen. So a worker
 * watches itself. If its searches fail too often, or if it is preempted while it looks, it pauses
 * spinning and tries again later. The first pause is short, and each further one is twice as long.
 *
 * To yield is the cheaper way to leave the core to those that wait, too. But where another thread
 * computes, a yield lasts until that one's slice is over, and one that wakes up goes before it. So
 * there it pauses yielding likewise.
 *
 * Times are cycles (cohort__clock_cycles). One thread. */
struct cohort__spin {
    uint64_t budget;  /* for one search, counted from the last thing that it found; 0: never spin */
    uint64_t start;   /* when the use of the budget began; 0: no look was fruitless yet */
    uint64_t last;    /* the last look */
    uint64_t checked; /* when num_preemptions was read */
    uint64_t num_preemptions;
    unsigned credit; /* grows when spinning finds something; 0: in a pause */
    struct cohort__spin_pause pause;
    struct cohort__spin_pause no_yields;
    unsigned num_short;  /* yields since the last long one */
    unsigned num_yields; /* for cohort__core_yield */
};

enum { COHORT__SPIN_MAX_NS = 1000000000 };

/* To be called by the thread that will spin. BUDGET_NS is at most COHORT__SPIN_MAX_NS. */
void cohort__spin_init(struct cohort__spin *spin, uint64_t budget_ns);

/* To be called when a search begins, or goes on after something was found. */
void cohort__spin_begin(struct cohort__spin *spin);

/* To be called when a look at the time NOW has found nothing. Returns whether to look again at
 * once. EXPECTS: something is likely to come within a moment, so the budget is no limit. */
bool cohort__spin_again(struct cohort__spin *spin, uint64_t now, bool expects);

/* To be called when a look has found something. */
void cohort__spin_found(struct cohort__spin *spin);

/* Whether to yield at the time NOW; otherwise to sleep. */
bool cohort__spin_may_yield(const struct cohort__spin *spin, uint64_t now);

/* To be called when a yield has lasted from BEFORE until NOW. Returns whether to look again;
 * otherwise another thread has computed meanwhile, and it is better to sleep. */
bool cohort__spin_yielded(struct cohort__spin *spin, uint64_t before, uint64_t now);

#endif
