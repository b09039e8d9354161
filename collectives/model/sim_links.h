/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_LINKS_H
#define COHORT_COLLECTIVES_MODEL_SIM_LINKS_H

#include "collectives/model/sim.h"

/* Counts what goes over each link, which does not depend on time. It sets num_links, links and
 * busiest of RESULT. The caller frees `links`, also after a failure. Error: NO_MEMORY. */
cohort_status cohort__sim_links_count(const struct cohort__network *network,
                                      const struct cohort__sim_steps *steps,
                                      struct cohort__sim_result *result);

#endif
