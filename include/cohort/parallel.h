/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_PARALLEL_H
#define COHORT_PARALLEL_H

#include <stddef.h>

#include "cohort/future.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once for each index of a range, on any worker, for several indices at once. It is in a
 * task, so it may await and spawn. */
typedef cohort_status cohort_range_function(size_t index, void *arg);

typedef struct cohort_range_options {
    /* A worker that is idle is given a chunk of a range only if more than so many indices are left
     * there. 0 is the same as 1. The library runs as many indices in a row as take some
     * microseconds, so short ones need no larger grain. */
    size_t grain;
} cohort_range_options;

/* Calls FUNCTION(index, ARG) for each index from BEGIN to END - 1, in any order, and completes when
 * all these calls have returned. Workers that are idle are given chunks of the range, halves at
 * first. If a call suspends, the rest of its chunk goes on without it. Memory is allocated for each
 * chunk, and for each call that suspends, not for each index.
 *
 * If a call returns an error, the indices that have not begun are left out, and the future holds
 * the first such error in time, with the index in its message. COHORT_ERR_BAD_PARAMETER if FUNCTION
 * is NULL or BEGIN > END. COHORT_ERR_STATE before the start and after the end of the runtime,
 * COHORT_ERR_CANCELLED if the runtime ends before all chunks have begun, or COHORT_ERR_NO_MEMORY.
 * OPTIONS may be NULL, and is read before the call returns. ARG is only passed on. Any thread;
 * never suspends. _sized: the exported function, for OPTIONS_BYTES of OPTIONS; see
 * cohort_comm_create_sized.
 *
 * A range is split when a worker is idle, as in Tzannes, Caragea, Barua and Vishkin, "Lazy binary
 * splitting" (PPoPP 2010). */
COHORT_API cohort_future *cohort_parallel_for_sized(size_t begin, size_t end,
                                                    const cohort_range_options *options,
                                                    size_t options_bytes,
                                                    cohort_range_function *function,
                                                    void *arg) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_parallel_for(size_t begin, size_t end, const cohort_range_options *options,
                    cohort_range_function *function, void *arg)
{
    return cohort_parallel_for_sized(begin, end, options, sizeof(*options), function, arg);
}

/* Writes the value of an index, COUNT elements of the datatype, to VALUE, which is aligned like
 * memory of malloc. Otherwise like a cohort_range_function. */
typedef cohort_status cohort_range_value_function(size_t index, void *value, void *arg);

/* Reduces the values of all indices by OP: *RESULT becomes RESULT op value(BEGIN) op value(BEGIN +
 * 1) and so on, for each of the COUNT elements. So RESULT holds the first operand when this is
 * called, and stays as it is if BEGIN == END. The order of the operands is kept, but not which of
 * them are combined first: OP has to be associative, and the last bits of floating-point results
 * may differ from one call to the next.
 *
 * RESULT has to stay valid until the future is complete. If it holds an error, RESULT is as it was,
 * unless OP itself has failed in the end. COHORT_ERR_BAD_PARAMETER if RESULT or OP is NULL, COUNT
 * is 0, or OP can't reduce DATATYPE. OP is kept alive. It is called as in a collective (see op.h),
 * also between two calls of FUNCTION in the same task. Everything else as cohort_parallel_for. */
COHORT_API cohort_future *
cohort_parallel_reduce_sized(size_t begin, size_t end, const cohort_range_options *options,
                             size_t options_bytes, cohort_range_value_function *function, void *arg,
                             void *result, size_t count, cohort_datatype datatype,
                             const cohort_op *op) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_parallel_reduce(size_t begin, size_t end, const cohort_range_options *options,
                       cohort_range_value_function *function, void *arg, void *result, size_t count,
                       cohort_datatype datatype, const cohort_op *op)
{
    return cohort_parallel_reduce_sized(begin, end, options, sizeof(*options), function, arg,
                                        result, count, datatype, op);
}

#ifdef __cplusplus
}
#endif

#endif
