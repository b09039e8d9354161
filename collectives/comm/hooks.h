/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_HOOKS_H
#define COHORT_COLLECTIVES_COMM_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/hooks.h"

/* The user's functions for the begin and the end of each call. Where there are none, looking for
 * them takes two instructions at the begin of a call, and two at its end. That they are set is also
 * unusual (task/fork.h). */

extern const cohort_hooks *_Atomic cohort__hooks __attribute__((visibility("hidden")));

static inline bool cohort__hooks_are_set(void)
{
    return __builtin_expect(atomic_load_explicit(&cohort__hooks, memory_order_acquire) != NULL, 0);
}

/* How much a call gives and gets. */
struct cohort__hook_bytes {
    bool are_known; /* the call has found hooks when it was made */
    uint64_t in, out;
};

/* What an operation keeps of its begin for its end. */
struct cohort__hooked {
    struct cohort__hook_bytes bytes; /* known: it has begun with hooks */
    uint64_t begun;                  /* the user's */
};

/* If they are set. _begin returns what _end is to get as BEGUN. */
uint64_t cohort__hooks_begin(const cohort_hook_call *call);
void cohort__hooks_end(const cohort_hook_call *call, cohort_status status, uint64_t begun);

#endif
