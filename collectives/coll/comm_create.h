/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_COMM_CREATE_H
#define COHORT_COLLECTIVES_COLL_COMM_CREATE_H

#include "cohort/comm.h"

struct cohort__process;

/* cohort_comm_create in a given locality. Tests have several localities in one process. */
cohort_future *cohort__comm_create_for(struct cohort__process *process, cohort_comm **ret_comm,
                                       const char *name, const cohort_comm_options *options);

#endif
