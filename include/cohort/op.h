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

/* The built-in ones: commutative; on all built-in datatypes, but: bitwise ones not on float and
 * double, and COHORT_BYTE takes only the bitwise ones. Logical ones give 0 or 1. Integers wrap
 * around. The bits of a floating-point result depend on the order of the sites in the tree, not on
 * timing. */
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

/* A reduction of the user's: for each of COUNT elements, result[i] = left[i] op right[i], where
 * result may be the same address as left or as right. LEFT comes from lower sites than RIGHT. It
 * has to be associative. It is called on any worker, for several operations at once, not as a task:
 * it may not suspend (no await, no cohort_yield), nor wait for what needs another task to run, and
 * it has no stack of its own but its caller's. A status other than COHORT_OK fails the collective,
 * with cohort_error_message() as its message where it set one (cohort_fail). */
typedef cohort_status cohort_op_function(void *result, const void *left, const void *right,
                                         size_t count, cohort_datatype datatype, void *arg);

struct cohort_op_options {
    const char *name; /* the same at all sites, which is checked; copied; not NULL or empty */
    cohort_op_function *function;
    void *arg;        /* only handed on */
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

/* Gives the reference back; collectives under way keep their own. NULL is fine. */
COHORT_API void cohort_op_unref(cohort_op *op);

#ifdef __cplusplus
}
#endif

#endif
