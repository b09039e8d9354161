/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_KERNELS_H
#define COHORT_COLLECTIVES_EXEC_KERNELS_H

#include <stddef.h>

#include "cohort/datatype.h"

/* The built-in reductions, in the order of their numbers. */
enum cohort__kernel {
    COHORT__KERNEL_SUM = 1,
    COHORT__KERNEL_PRODUCT,
    COHORT__KERNEL_MIN,
    COHORT__KERNEL_MAX,
    COHORT__KERNEL_LOGICAL_AND,
    COHORT__KERNEL_LOGICAL_OR,
    COHORT__KERNEL_LOGICAL_XOR,
    COHORT__KERNEL_BITWISE_AND,
    COHORT__KERNEL_BITWISE_OR,
    COHORT__KERNEL_BITWISE_XOR,
    COHORT__KERNEL_END,
};

/* result[i] = left[i] op right[i]. Any alignment. */
typedef void cohort__kernel_function(void *result, const void *left, const void *right,
                                     size_t count);

struct cohort__kernel_functions {
    cohort__kernel_function *plain;    /* RESULT may be LEFT or RIGHT, else must not overlap them */
    cohort__kernel_function *streamed; /* writes past the caches; RESULT overlaps neither */
};

/* The fastest functions that this machine can run. NULL if DATATYPE does not allow this
 * reduction. */
const struct cohort__kernel_functions *cohort__kernel_find(enum cohort__kernel kernel,
                                                           cohort_datatype datatype);

/* result[i] = left[i] op right[i], in the way that suits so many elements. DATATYPE must allow this
 * reduction. RESULT may be LEFT or RIGHT, else must not overlap them. */
void cohort__kernel_apply(enum cohort__kernel kernel, cohort_datatype datatype, void *result,
                          const void *left, const void *right, size_t count);

#endif
