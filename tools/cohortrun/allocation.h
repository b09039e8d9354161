/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the hosts that a batch system has given to this job. */
#ifndef COHORT_TOOLS_COHORTRUN_ALLOCATION_H
#define COHORT_TOOLS_COHORTRUN_ALLOCATION_H

#include "cohort/status.h"
#include "tools/share/host_list.h"

struct allocation {
    const char *source;     /* the variable that named them; NULL: there is no allocation */
    const char *agent;      /* what reaches them; NULL: as without an allocation */
    struct host_list hosts; /* and their slots */
};

/* Finds them in the environment: of Slurm, of PBS and its descendants, or of LSF. */
cohort_status allocation_find(struct allocation *ret_allocation);

#endif
