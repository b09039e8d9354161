/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_TUNING_SOURCE_H
#define COHORT_COLLECTIVES_COLL_TUNING_SOURCE_H

#include "collectives/model/parameters.h"

/* Where a locality gets its parameters from. The file that COHORT_TUNE names. Else
 * $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, if there is one. Else the defaults, scaled
 * by how long copies and small steps take on this machine. Cores and workers are those of this job,
 * but a file may give another number of cores. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_SYSTEM. */
cohort_status cohort__tuning_source_read(struct cohort__parameters *ret_parameters);

#endif
