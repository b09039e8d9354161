/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_KERNEL_VARIANTS_H
#define COHORT_COLLECTIVES_EXEC_KERNEL_VARIANTS_H

#include "collectives/exec/kernels.h"

/* The same loops, compiled for different machines. All give the same bits. The exception: of two
 * NaN operands, the variants may differ in which one is the result. */
enum { COHORT__NUM_KERNEL_ROWS = COHORT_DOUBLE + 1 }; /* by datatype */
typedef const struct cohort__kernel_functions cohort__kernel_row[COHORT__KERNEL_END];

struct cohort__kernel_variant {
    const char *name;
    cohort__kernel_row *rows;
};

extern cohort__kernel_row cohort__kernels_baseline[COHORT__NUM_KERNEL_ROWS];
extern cohort__kernel_row cohort__kernels_avx2[COHORT__NUM_KERNEL_ROWS]; /* on x86-64 only */

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
