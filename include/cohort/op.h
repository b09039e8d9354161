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
 * has to be associative. Runs as a task, on any worker, for several operations at once; a status
 * other than COHORT_OK fails the collective. */
typedef cohort_status cohort_op_function(void *result, const void *left, const void *right,
                                         size_t count, cohort_datatype datatype, void *arg);

struct cohort_op_options {
    const char *name; /* the same at all sites, which is checked; copied; not NULL or empty */
    cohort_op_function *function;
    void *arg;        /* only handed on */
    bool commutative; /* the library may combine the sites in another order */
};

/* Creates an operation, with one reference, in *ret_op. COHORT_ERR_BAD_PARAMETER,
 * COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_status cohort_op_create(cohort_op **ret_op,
                                          const struct cohort_op_options *options) COHORT_MUST_USE;

/* Gives the reference back; collectives under way keep their own. NULL is fine. */
COHORT_API void cohort_op_unref(cohort_op *op);

#ifdef __cplusplus
}
#endif

#endif
