/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CHOICE_H
#define COHORT_COLLECTIVES_COLL_CHOICE_H

#include "cohort/comm.h"
#include "collectives/coll/tuning.h"
#include "collectives/model/select.h"

/* The question which row carries out REQUEST on COMM, with equal blocks. Only COMM's options force
 * a row. Valid as long as COMM and REQUEST exist. */
cohort_status cohort__choice_question(cohort_comm *comm, const struct cohort__request *request,
                                      struct cohort__question *ret_question);

#endif
