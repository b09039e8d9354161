/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_POSITION_H
#define COHORT_RUNTIME_JOB_POSITION_H

#include "runtime/job/settings.h"
#include "runtime/launch/bootstrap.h"
#include "runtime/proc/positions.h"

/* Where this locality is: where it was started, or where TOPOLOGY, if it is set, says.
 * COHORT_ERR_BAD_PARAMETER: the topology has too few places for the job, or takes localities of
 * different hosts for those of one. */
cohort_status cohort__position_find(const struct cohort__bootstrap *bootstrap,
                                    const struct cohort__topology *topology,
                                    struct cohort__position *ret_position);

#endif
