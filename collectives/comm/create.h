/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CREATE_H
#define COHORT_COLLECTIVES_COMM_CREATE_H

#include "cohort/comm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/settings.h"
#include "runtime/proc/process.h"

enum { COHORT__ALGORITHMS_BYTES = 768 };

/* What follows from a communicator's options. The folder comm itself knows no algorithms. */
struct cohort__comm_choice {
    bool is_flat;
    bool is_tree_forced;
    uint8_t forced[COHORT__FORCED_MAX];        /* as in struct cohort_comm */
    char algorithms[COHORT__ALGORITHMS_BYTES]; /* in words; equal for equal choices */
    struct cohort__comm_settings settings;     /* this site's; all sites use those of site 0 */
};
typedef cohort_status cohort__comm_chooser(const char *name, const cohort_comm_options *options,
                                           struct cohort__comm_choice *ret_choice);
/* Adds to the settings what follows from the surroundings of this process. */
typedef cohort_status cohort__comm_surveyor(uint32_t this_site,
                                            struct cohort__comm_settings *settings);

/* cohort_comm_create in a given locality. When CHOOSE is called, the defaults of OPTIONS are filled
 * in. If SURVEY fails, the caller could do nothing about it, so all sites are told. */
cohort_future *cohort__comm_create_in(struct cohort__process *process, cohort_comm **ret_comm,
                                      const char *name, const cohort_comm_options *options,
                                      cohort__comm_chooser *choose, cohort__comm_surveyor *survey);

#endif
