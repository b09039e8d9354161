/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_SPIN_H
#define COHORT_RUNTIME_TASK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether an idle worker goes on looking for work, or lets others have its core. Looking pays where
 * what is waited for comes while it looks, and harms where it can't come because somebody else
 * needs this core for it; who that is may be in another job, session or container, and can't be
 * seen. So a worker watches itself: when its searches end with nothing too often, or when it is
 * preempted while it looks, it pauses spinning, and tries again later: soon at first, then after
 * twice as long each time.
 *
 * Times are ticks (cohort__clock_ticks). One thread. */
struct cohort__spin {
    uint64_t budget;  /* of one search, from the last thing that it found; 0: never spin */
    uint64_t start;   /* of what is used of it; 0: no look was fruitless yet */
    uint64_t last;    /* look */
    uint64_t pause;   /* how long the last one was */
    uint64_t resume;  /* when it ends, or ended */
    uint64_t checked; /* when num_preemptions was read */
    uint64_t num_preemptions;
    unsigned credit; /* grows with what spinning brings; 0: a pause */
};

/* How often the calling thread has lost its core while it wanted it. A system call. */
uint64_t cohort__spin_preemptions(void);

enum { COHORT__SPIN_MAX_NS = 1000000000 };

/* By the thread that will spin; BUDGET_NS is at most COHORT__SPIN_MAX_NS. */
void cohort__spin_init(struct cohort__spin *spin, uint64_t budget_ns);

/* A search begins, or something was found and it goes on. */
void cohort__spin_begin(struct cohort__spin *spin);

/* A look at NOW found nothing: whether to look again at once. */
bool cohort__spin_again(struct cohort__spin *spin, uint64_t now);

/* A look found something. */
void cohort__spin_found(struct cohort__spin *spin);

#endif
