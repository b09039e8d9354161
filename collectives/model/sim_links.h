/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_LINKS_H
#define COHORT_COLLECTIVES_MODEL_SIM_LINKS_H

#include "collectives/model/network.h"
#include "collectives/model/sim_steps.h"

/* What goes over each link, which does not depend on time. */

/* A link that has carried at least one message. */
struct cohort__sim_link {
    uint64_t link;
    uint64_t bytes;
    uint64_t messages;
};

struct cohort__sim_links {
    uint64_t num;                    /* of those that have carried anything */
    struct cohort__sim_link *links;  /* by number */
    struct cohort__sim_link busiest; /* the one with most bytes; of equal ones the lowest number */
};

/* Counts it. The caller frees `links`. It is untouched on failure. Error: NO_MEMORY. */
cohort_status cohort__sim_links_count(const struct cohort__network *network,
                                      const struct cohort__sim_steps *steps,
                                      struct cohort__sim_links *ret_links);

#endif
