/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_FAULT_H
#define COHORT_RUNTIME_BASE_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

/* Faults that a user orders for tests of a program, by COHORT_FAULT:
 *
 *   seed:4711,delay:1%:5ms,drop:2-5@1000,kill:any@<5000,alloc:3@200
 *
 * What is drawn (`any`, `@<N`, which messages are delayed) depends on the seed, the text and the
 * size of the job alone, so all localities draw the same. Messages are counted, not time, so a job
 * whose localities send the same messages each time has the same faults each time. */
enum cohort__fault_kind {
    COHORT__FAULT_KILL,  /* the locality kills itself instead of sending its message NUMBER */
    COHORT__FAULT_DROP,  /* it can't reach OTHER any more, from its message NUMBER to it on */
    COHORT__FAULT_ALLOC, /* its allocation NUMBER fails */
};

struct cohort__fault_rule {
    enum cohort__fault_kind kind;
    bool is_any; /* locality and other are drawn */
    uint32_t locality;
    uint32_t other;  /* of a drop */
    bool is_below;   /* the number is drawn, from 1 to below NUMBER */
    uint64_t number; /* counts from 1 */
};

enum { COHORT__FAULT_RULES = 16 };

/* What COHORT_FAULT says. */
struct cohort__fault_plan {
    uint64_t seed; /* 0 unless the text has one */
    double share;  /* of the messages are delayed, 0 to 1; 0: none */
    uint64_t delay_ns;
    uint32_t num_rules;
    struct cohort__fault_rule rules[COHORT__FAULT_RULES];
};

/* An empty text is a plan without faults. COHORT_ERR_BAD_PARAMETER, with a message that says what
 * is wrong, and at which byte. */
cohort_status cohort__fault_plan_read(const char *text, struct cohort__fault_plan *ret_plan);

/* Whether PLAN has any fault. */
bool cohort__fault_plan_is_empty(const struct cohort__fault_plan *plan);

/* Draws what PLAN leaves open, for a job of SIZE localities. COHORT_ERR_BAD_PARAMETER: a rule names
 * a locality that there is not, or wants two where there is one. PLAN stays as it was then. */
cohort_status cohort__fault_plan_draw(struct cohort__fault_plan *plan, uint32_t size);

/* The faults of locality RANK, from a plan that is drawn; nothing here changes afterwards. */
struct cohort__fault {
    uint32_t rank;
    struct cohort__fault_plan plan;
};

/* Before this locality's message to OTHER: the message is number OF_ALL of all that it sends, and
 * number OF_LINK of those to OTHER, both counted from 1. Doesn't return if the locality is to die
 * now. False: the connection to OTHER is to be dropped. Any thread. */
bool cohort__fault_lets_send(const struct cohort__fault *fault, uint32_t other, uint64_t of_all,
                             uint64_t of_link);

/* Whether message NUMBER of the link from SOURCE to this locality, counted from 1, is to be
 * delayed. Any thread. */
bool cohort__fault_delays(const struct cohort__fault *fault, uint32_t source, uint32_t number);

/* --- allocations --- */

/* Allocations that fail since COHORT_FAULT says so. libcohort.so is linked in such a way that its
 * calls of malloc, calloc, realloc and aligned_alloc go through fault_wrap.c, which asks here.
 * libcohort.a is not. The slab goes to malloc for each object meanwhile, so all that it hands out
 * counts. Not counted are what other libraries and the program allocate, and what comes from mmap
 * (the stacks of tasks, memory that is shared) or posix_memalign. */

/* Whether the library is linked so. */
extern bool cohort__alloc_can_fail;

/* Whether allocations are counted now. */
extern atomic_bool cohort__alloc_is_counted;

/* Whether FAULT has such a rule for its locality. */
bool cohort__alloc_fault_is_wanted(const struct cohort__fault *fault);

/* Counts from now on, until all rules of FAULT for its locality have acted. FAULT stays until
 * cohort__alloc_fault_end. Once. */
void cohort__alloc_fault_begin(const struct cohort__fault *fault);

/* To be called when only one thread is left. Also if it has not begun. */
void cohort__alloc_fault_end(void);

/* Counts one more allocation; errno is ENOMEM if it has to fail. Any thread. */
bool cohort__alloc_fails(void);

#endif
