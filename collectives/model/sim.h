/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_H
#define COHORT_COLLECTIVES_MODEL_SIM_H

#include "collectives/algo/algorithm.h"
#include "collectives/model/network.h"
#include "collectives/model/sim_steps.h"

/* Runs the plans of all sites of one call in simulated time.
 *
 * A message of n bytes takes t_s + t_w n, however many links its route has, and holds for all of
 * that time its sender's port for sending, its receiver's port for receiving and every link of its
 * route (cut-through). It starts as soon as its SEND has nothing to wait for, its RECV is posted,
 * and all of these are free; so no site ever buffers a message. Where several ones could start,
 * that one does which could first, then the one with the lower site and step of the sender. A
 * reduction of n bytes takes t_r n; those of one site go one after the other. All else takes no
 * time. */

struct cohort__sim_costs {
    double startup;  /* t_s, in any unit of time */
    double per_byte; /* t_w */
    double reduce;   /* t_r, for a byte */
    /* t_s and t_w of messages that stay inside a host of NETWORK_HOSTS. */
    double inside_startup;
    double inside_per_byte;
};

struct cohort__sim_phase {
    double start; /* of the first of its messages and reductions */
    double end;   /* of the last one */
    uint64_t messages;
    uint64_t bytes;
};

/* A link over which a message went. */
struct cohort__sim_link {
    uint64_t link;
    uint64_t bytes;
    uint64_t messages;
};

struct cohort__sim_result {
    double time; /* when the last step is over */
    uint64_t messages;
    uint64_t bytes;
    /* Messages that found both ports free, and at least once a link of their route taken. */
    uint64_t delayed;
    /* The most messages that wanted one link at one time, the one on it included: 1 where none was
     * delayed, 0 without messages. */
    uint32_t contenders;
    uint64_t num_links; /* that carried anything; by number, in `links` */
    struct cohort__sim_link *links;
    struct cohort__sim_link busiest; /* has most bytes, the lowest number among equals */
    struct cohort__sim_phase phases[COHORT__LAST_PHASE + 1];
    size_t memory; /* IN, OUT and TMP that the plan of a site touches: the site with most of them */
    uint32_t memory_site;
    size_t tmp_bytes; /* the same with TMP alone */
    uint32_t tmp_site;
};

/* GET_PLAN is called once for each site of NETWORK, in order; the plan is given back at once. The
 * result is the caller's, to be ended by result_fini; untouched on failure. Errors: those of
 * GET_PLAN; BAD_PARAMETER where the plans don't fit together or never end; NO_MEMORY. */
cohort_status cohort__simulate(const struct cohort__network *network,
                               const struct cohort__sim_costs *costs,
                               cohort__sim_get_plan *get_plan, void *argument,
                               struct cohort__sim_result *ret_result);

/* The same for a row of the table and a request without parts; this_site is nobody's. */
cohort_status cohort__simulate_algorithm(const struct cohort__network *network,
                                         const struct cohort__sim_costs *costs,
                                         const struct cohort__algorithm *algorithm,
                                         const struct cohort__request *request,
                                         struct cohort__sim_result *ret_result);

void cohort__sim_result_fini(struct cohort__sim_result *result);

#endif
