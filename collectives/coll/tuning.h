/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_TUNING_H
#define COHORT_COLLECTIVES_COLL_TUNING_H

#include "cohort/comm.h"
#include "collectives/model/predict.h"

/* What selection depends on in one instance of a communicator. It is the same at all of its sites:
 * the parameters are those of site 0's locality. */
struct cohort__tuning {
    struct cohort__parameters parameters;
    struct cohort__placement placement;
};

/* The parameters of this locality, encoded, for the settings of site 0. They come from the file
 * that COHORT_TUNE names, else from the user's own file, else they are the defaults, scaled by a
 * probe of this machine that takes less than a millisecond. They are read once and kept. After a
 * failure, whose message names file and line, they are read again. Any thread. */
cohort_status cohort__tuning_local(const void **ret_data, size_t *ret_bytes);

/* The tuning of COMM. Valid as long as COMM's group exists. */
cohort_status cohort__tuning_get(cohort_comm *comm, const struct cohort__tuning **ret_tuning);

#endif
