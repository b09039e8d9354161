/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_SPARSE_STEPS_H
#define COHORT_COLLECTIVES_EXEC_SPARSE_STEPS_H

#include "collectives/exec/execution.h"

/* Runs plans of a sparse exchange (algo/sparse.h): as in object_steps.h each byte of IN, OUT and
 * TMP stands for a slot, but what is in it is a bundle: any number of objects, each with the site
 * that it is from and the one that it is for. ROUTE steps sort them. So what a call takes depends
 * on how many objects there are, and not on how many there could be. */
extern const struct cohort__step_mode cohort__sparse_mode;

/* IN of such a call: what the site has for others, at most one object for each of them. */
struct cohort__sparse_in {
    const cohort_site_object *list;
    size_t num;
};

#endif
