/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_SITES_H
#define COHORT_COLLECTIVES_COLL_SITES_H

#include "cohort/sites.h"

struct cohort__process;

/* cohort_sites for PROCESS, one locality of several in a test; NULL: the runtime is not up. */
cohort_future *cohort__sites_for(struct cohort__process *process, const char *name,
                                 const cohort_sites_options *options, size_t options_bytes,
                                 size_t comm_bytes, cohort_site_function *function, void *arg);

#endif
