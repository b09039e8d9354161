/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_TUNING_H
#define COHORT_COLLECTIVES_COLL_TUNING_H

#include "cohort/comm.h"
#include "collectives/model/predict.h"

/* What selection goes by in one instance of a communicator, the same at all of its sites: the
 * parameters are those of site 0's locality. */
struct cohort__tuning {
    struct cohort__parameters parameters;
    struct cohort__placement placement;
};

/* The parameters of this locality, encoded, for the settings of site 0: those of COHORT_TUNE, else
 * of the user's own file, else the defaults scaled by a look at this machine, which takes less than
 * a millisecond. They are read once and stay; a failure, which says file and line, does not. Any
 * thread. */
cohort_status cohort__tuning_local(const void **ret_data, size_t *ret_bytes);

/* That of COMM; it lives as long as COMM's group. */
cohort_status cohort__tuning_get(cohort_comm *comm, const struct cohort__tuning **ret_tuning);

#endif
