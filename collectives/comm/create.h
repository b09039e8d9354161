/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CREATE_H
#define COHORT_COLLECTIVES_COMM_CREATE_H

#include "cohort/comm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/settings.h"
#include "runtime/proc/process.h"

enum { COHORT__ALGORITHMS_BYTES = 768 };

/* What follows for the communicator from its options; comm itself knows no algorithms. */
struct cohort__comm_choice {
    bool is_flat;
    bool is_tree_forced;
    uint8_t forced[COHORT__FORCED_MAX];        /* as in struct cohort_comm */
    char algorithms[COHORT__ALGORITHMS_BYTES]; /* in words, the same for the same choice */
    struct cohort__comm_settings settings;     /* this site's; those of site 0 hold for all */
};
typedef cohort_status cohort__comm_chooser(const char *name, const cohort_comm_options *options,
                                           struct cohort__comm_choice *ret_choice);
/* The rest of the settings, from what surrounds this process. */
typedef cohort_status cohort__comm_surveyor(uint32_t this_site,
                                            struct cohort__comm_settings *settings);

/* cohort_comm_create in a given locality; OPTIONS' defaults are filled in for CHOOSE. Where SURVEY
 * fails, the caller could do nothing better, so all sites are told. */
cohort_future *cohort__comm_create_in(struct cohort__process *process, cohort_comm **ret_comm,
                                      const char *name, const cohort_comm_options *options,
                                      cohort__comm_chooser *choose, cohort__comm_surveyor *survey);

#endif
