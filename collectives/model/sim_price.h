/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_PRICE_H
#define COHORT_COLLECTIVES_MODEL_SIM_PRICE_H

#include "collectives/model/parameters.h"
#include "collectives/model/sim_steps.h"

/* Hosts with localities with tasks, and what a step takes there, in nanoseconds. */

struct cohort__sim_machine {
    uint32_t hosts;
    uint32_t localities; /* of each host */
    uint32_t domains;    /* of each host: a level between localities and hosts; 0: there is none */
    uint32_t tasks;      /* of each of these: sites, in the order of their numbers */
    uint32_t cores;      /* of each host, or, with is_shared, of all hosts together */
    bool is_shared;      /* and no wire is between the hosts, which are namespaces of one machine:
                          * what would be the wire's is work of the two ends */
    double turn;         /* nanoseconds, as are all times here */
    const struct cohort__parameters *parameters;
};

/* How far it is from one site to another. */
enum cohort__scope cohort__sim_scope(const struct cohort__sim_machine *machine, uint32_t from,
                                     uint32_t to);

/* Between the SEND and the RECV of a message: once, and for each byte. */
double cohort__sim_startup(const struct cohort__sim_machine *machine, enum cohort__scope scope);
double cohort__sim_per_byte(const struct cohort__sim_machine *machine, enum cohort__scope scope);

/* The work of STEP at its site: a SEND, RECV, REDUCE or MEET; 0 for others. */
double cohort__sim_work(const struct cohort__sim_machine *machine,
                        const struct cohort__sim_step *step);

/* What is to be done when all are there of a meeting, of which STEP is one's MEET. */
double cohort__sim_movement(const struct cohort__sim_machine *machine,
                            const struct cohort__sim_step *step);

#endif
