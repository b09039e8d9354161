/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_KERNELS_H
#define COHORT_COLLECTIVES_EXEC_KERNELS_H

#include <stddef.h>

#include "cohort/datatype.h"
#include "collectives/comm/datatype.h"

/* The loops of the built-in reductions (kernel_loops.c): the same ones, compiled for different
 * machines. All give the same bits. The exception: of the sum or product of two NaNs, the variants
 * may differ in which one is the result. */

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
    COHORT__KERNEL_MINLOC,
    COHORT__KERNEL_MAXLOC,
    COHORT__KERNEL_END,
};

/* result[i] = left[i] op right[i]. Any alignment. */
typedef void cohort__kernel_function(void *result, const void *left, const void *right,
                                     size_t count);

struct cohort__kernel_functions {
    cohort__kernel_function *plain;    /* RESULT may be LEFT or RIGHT, else must not overlap them */
    cohort__kernel_function *streamed; /* writes past the caches; RESULT overlaps neither */
};

typedef const struct cohort__kernel_functions cohort__kernel_row[COHORT__KERNEL_END];

struct cohort__kernel_variant {
    const char *name;
    cohort__kernel_row *rows;
};

extern cohort__kernel_row cohort__kernels_baseline[COHORT__NUM_DATATYPES];
extern cohort__kernel_row cohort__kernels_avx2[COHORT__NUM_DATATYPES]; /* on x86-64 only */

/* The built-in reductions, in the way that this machine does fastest. Any thread. */

/* The fastest functions that this machine can run. NULL if DATATYPE does not allow this
 * reduction. */
const struct cohort__kernel_functions *cohort__kernel_find(enum cohort__kernel kernel,
                                                           cohort_datatype datatype);

/* result[i] = left[i] op right[i], in the way that suits so many elements. DATATYPE must allow this
 * reduction. RESULT may be LEFT or RIGHT, else must not overlap them. */
void cohort__kernel_apply(enum cohort__kernel kernel, cohort_datatype datatype, void *result,
                          const void *left, const void *right, size_t count);

enum { COHORT__MAX_KERNEL_VARIANTS = 2 };

/* Fills in the variants that this machine can run, and returns their number. The last one is in
 * use. */
size_t
cohort__kernel_variants(struct cohort__kernel_variant ret_variants[COHORT__MAX_KERNEL_VARIANTS]);

/* Like cohort__kernel_find, but in VARIANT. */
const struct cohort__kernel_functions *
cohort__kernel_find_in(const struct cohort__kernel_variant *variant, enum cohort__kernel kernel,
                       cohort_datatype datatype);

#endif
