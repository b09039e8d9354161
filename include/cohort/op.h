/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_OP_H
#define COHORT_OP_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/datatype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a reduction combines two elements. */
typedef struct cohort_op cohort_op;

/* The built-in ones. They are commutative. What they work on:
 *
 *   COHORT_BYTE                the bitwise ones
 *   integers                   all but minloc and maxloc
 *   float, double              these without the bitwise ones
 *   float and double complex   sum and product
 *   what is indexed            minloc and maxloc
 *
 * Any other pair is COHORT_ERR_BAD_PARAMETER, with a message that names both: "min can't reduce
 * elements of type double complex". Logical ones give 0 or 1. Integers wrap around. The bits of a
 * floating-point sum or product depend on the order of the sites in the tree, not on timing; if it
 * is a NaN made of several, also on the processor, and on the element's place in the array. Min and
 * max are those of IEEE 754-2019: -0.0 is below 0.0, and a NaN among what is combined is the
 * result, always the same quiet NaN where two sites or more have been combined. The product
 * (a + bi)(c + di) is (ac - bd) + (ad + bc)i. What C's own product does beyond that for infinite
 * parts, which give NaN here, is left out. */
COHORT_API extern const cohort_op *const COHORT_SUM;
COHORT_API extern const cohort_op *const COHORT_PRODUCT;
COHORT_API extern const cohort_op *const COHORT_MIN;
COHORT_API extern const cohort_op *const COHORT_MAX;
COHORT_API extern const cohort_op *const COHORT_LOGICAL_AND;
COHORT_API extern const cohort_op *const COHORT_LOGICAL_OR;
COHORT_API extern const cohort_op *const COHORT_LOGICAL_XOR;
COHORT_API extern const cohort_op *const COHORT_BITWISE_AND;
COHORT_API extern const cohort_op *const COHORT_BITWISE_OR;
COHORT_API extern const cohort_op *const COHORT_BITWISE_XOR;

/* The smallest, or the largest, value with its index (COHORT_DOUBLE_INDEXED and so on). Of equal
 * values, that with the lowest index. A NaN comes before all numbers, also for COHORT_MAXLOC, so it
 * is seen, and where it is. -0.0 is below 0.0. If the indices are equal, too, it is the one whose
 * bits are the lower unsigned number. So the result has the same bits in whatever order sites are
 * combined. */
COHORT_API extern const cohort_op *const COHORT_MINLOC;
COHORT_API extern const cohort_op *const COHORT_MAXLOC;

/* The user's own reduction: for each of COUNT elements, result[i] = left[i] op right[i]. RESULT may
 * be the same address as LEFT or as RIGHT. They are aligned as the elements are if the buffers of
 * all sites are. LEFT comes from lower sites than RIGHT. The reduction has to be associative. It is
 * called on any worker, for several operations at once, and not as a task. So it must not suspend
 * (no await, no cohort_yield), nor wait for anything that needs another task to run. It has no
 * stack of its own and uses its caller's. If it returns another status than COHORT_OK, the
 * collective fails with it. The message is cohort_error_message() if the function has set one
 * (cohort_fail). A child process that it forks ends when it returns. */
typedef cohort_status cohort_op_function(void *result, const void *left, const void *right,
                                         size_t count, cohort_datatype datatype, void *arg);

struct cohort_op_options {
    const char *name; /* the same at all sites (this is checked); copied; not NULL or empty */
    cohort_op_function *function;
    void *arg;        /* only passed on */
    bool commutative; /* the library may combine the sites in another order */
};

/* Creates an operation, with one reference, in *ret_op. COHORT_ERR_BAD_PARAMETER,
 * COHORT_ERR_NO_MEMORY. Any thread; never suspends. _sized: the exported function, for
 * OPTIONS_BYTES of OPTIONS; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_op_create_sized(cohort_op **ret_op,
                                                const struct cohort_op_options *options,
                                                size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status
cohort_op_create(cohort_op **ret_op, const struct cohort_op_options *options)
{
    return cohort_op_create_sized(ret_op, options, sizeof(*options));
}

/* Gives the reference back. Collectives in flight keep their own. NULL is fine. Whoever uses the
 * operation later ends the program, with a line that says where, unless its memory has been used
 * again. */
COHORT_API void cohort_op_unref(cohort_op *op);

#ifdef __cplusplus
}
#endif

#endif
