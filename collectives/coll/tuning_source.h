/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_TUNING_SOURCE_H
#define COHORT_COLLECTIVES_COLL_TUNING_SOURCE_H

#include "collectives/model/parameters.h"

/* Where a locality has its parameters from: the file that COHORT_TUNE names; else
 * $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, if there is one; else the defaults, scaled
 * by what copying and small steps take on this machine. Cores and workers are this job's, but that
 * a file may say how many cores. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_SYSTEM. */
cohort_status cohort__tuning_source_read(struct cohort__parameters *ret_parameters);

#endif
