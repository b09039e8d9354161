/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_KERNELS_H
#define COHORT_COLLECTIVES_EXEC_KERNELS_H

#include <stddef.h>

#include "cohort/datatype.h"
#include "collectives/exec/kernel_variants.h"

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
