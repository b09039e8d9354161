/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_H
#define COHORT_COLLECTIVES_MODEL_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/algo/algorithm.h"
#include "collectives/model/network.h"
#include "collectives/model/sim_steps.h"

/* A link that has carried at least one message. */
struct cohort__sim_link {
    uint64_t link;
    uint64_t bytes;
    uint64_t messages;
};

/* Runs the plans of all sites of one call in simulated time.
 *
 * A message of n bytes takes t_s + t_w n, however many links its route has. For all of that time it
 * occupies its sender's port for sending, its receiver's port for receiving and every link of its
 * route (cut-through). It starts as soon as its SEND has nothing to wait for, its RECV is posted,
 * and all of these resources are free. So no site ever buffers a message. If several messages could
 * start, the one that was ready first starts, and of those the one with the lower site and step of
 * the sender. A reduction of n bytes takes t_r n. The reductions of one site run one after the
 * other. Everything else takes no time. */

struct cohort__sim_costs {
    double startup;  /* t_s, in any unit of time */
    double per_byte; /* t_w */
    double reduce;   /* t_r, for one byte */
    /* t_s and t_w of messages inside a host of NETWORK_HOSTS. */
    double inside_startup;
    double inside_per_byte;
};

struct cohort__sim_phase {
    double start; /* of its first message or reduction */
    double end;   /* of the last one */
    uint64_t messages;
    uint64_t bytes;
};

struct cohort__sim_result {
    double time; /* when the last step ends */
    uint64_t messages;
    uint64_t bytes;
    /* Messages that found both ports free, but at least once a link of their route occupied. */
    uint64_t delayed;
    /* The most messages that wanted the same link at the same time, including the one that was
     * using it. 1 if no message was delayed, 0 without messages. */
    uint32_t contenders;
    uint64_t num_links; /* how many have carried anything; they are in `links`, by number */
    struct cohort__sim_link *links;
    struct cohort__sim_link busiest; /* the one with most bytes; of equal ones the lowest number */
    struct cohort__sim_phase phases[COHORT__LAST_PHASE + 1];
    size_t memory; /* bytes of IN, OUT and TMP that the plan of a site touches: of the site with
                    * most */
    uint32_t memory_site;
    size_t tmp_bytes; /* the same for TMP only */
    uint32_t tmp_site;
};

/* GET_PLAN is called once for each site of NETWORK, in order. Its plan is given back at once. The
 * result belongs to the caller, who ends it with cohort__sim_result_fini. It is untouched on
 * failure. Errors: those of GET_PLAN; BAD_PARAMETER where the plans don't fit together or never
 * end; NO_MEMORY. */
cohort_status cohort__simulate(const struct cohort__network *network,
                               const struct cohort__sim_costs *costs,
                               cohort__sim_get_plan *get_plan, void *argument,
                               struct cohort__sim_result *ret_result);

/* The same for a row of the table and a request without parts. The request's this_site is
 * ignored. */
cohort_status cohort__simulate_algorithm(const struct cohort__network *network,
                                         const struct cohort__sim_costs *costs,
                                         const struct cohort__algorithm *algorithm,
                                         const struct cohort__request *request,
                                         struct cohort__sim_result *ret_result);

void cohort__sim_result_fini(struct cohort__sim_result *result);

#endif
