/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_PARALLEL_H
#define COHORT_PARALLEL_H

#include <stddef.h>

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once for each index of a range, on any worker, for several indices at once. It is in a
 * task, so it may await and spawn. */
typedef cohort_status cohort_range_function(size_t index, void *arg);

struct cohort_range_options {
    /* A worker that is idle is given a part of a range only if more than so many indices are left
     * there. 0 is the same as 1. The library runs as many indices in a row as take some
     * microseconds, so short ones need no larger grain. */
    size_t grain;
};

/* Calls FUNCTION(index, ARG) for each index from BEGIN to END - 1, in any order, and completes when
 * all these calls have returned. Workers that are idle are given parts of the range, halves at
 * first. If a call suspends, the rest of its part goes on without it. Memory is allocated for each
 * part, and for each call that suspends, not for each index.
 *
 * If a call returns an error, the indices that have not begun are left out, and the future holds
 * the first such error in time, with the index in its message. COHORT_ERR_BAD_PARAMETER if FUNCTION
 * is NULL or BEGIN > END. COHORT_ERR_STATE before the start and after the end of the runtime,
 * COHORT_ERR_CANCELLED if the runtime ends before all parts have begun, or COHORT_ERR_NO_MEMORY.
 * OPTIONS may be NULL, and is read before the call returns. ARG is only passed on. Any thread;
 * never suspends. _sized: the exported function, for OPTIONS_BYTES of OPTIONS; see
 * cohort_comm_create_sized.
 *
 * A range is split when a worker is idle, as in Tzannes, Caragea, Barua and Vishkin, "Lazy binary
 * splitting" (PPoPP 2010). */
COHORT_API cohort_future *cohort_parallel_for_sized(size_t begin, size_t end,
                                                    const struct cohort_range_options *options,
                                                    size_t options_bytes,
                                                    cohort_range_function *function,
                                                    void *arg) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_parallel_for(size_t begin, size_t end, const struct cohort_range_options *options,
                    cohort_range_function *function, void *arg)
{
    return cohort_parallel_for_sized(begin, end, options, sizeof(*options), function, arg);
}

#ifdef __cplusplus
}
#endif

#endif
