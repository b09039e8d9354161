/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CREATE_H
#define COHORT_COLLECTIVES_COMM_CREATE_H

#include "cohort/comm.h"
#include "runtime/proc/process.h"

/* What follows for the communicator from its options; comm itself knows no algorithms. */
struct cohort__comm_choice {
    bool is_flat;
    const void *all_to_all; /* the forced algorithm, or NULL */
};
typedef cohort_status cohort__comm_chooser(const char *name, const cohort_comm_options *options,
                                           struct cohort__comm_choice *ret_choice);

/* cohort_comm_create in a given locality; OPTIONS' defaults are filled in for CHOOSE. */
cohort_future *cohort__comm_create_in(struct cohort__process *process, cohort_comm **ret_comm,
                                      const char *name, const cohort_comm_options *options,
                                      cohort__comm_chooser *choose);

#endif
