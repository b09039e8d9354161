/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_MACHINE_H
#define COHORT_COLLECTIVES_MODEL_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Runs the plans of all sites of one call on hosts with localities with tasks, in simulated time,
 * by the prices of the model (parameters.h) for how far things go.
 *
 * A site's start takes `site`, after `call`, of the farthest reach of its own messages. A SEND and
 * its RECV take half of `message`, and of `moved` for each byte, each. Between the two there are
 * `startup`, and `byte` for each byte; from host to host, messages take these one after the other,
 * on the link up from one and on the link down to the other. A REDUCE takes `combined` and
 * `reduced` for each byte. A MEET takes `message` for each who comes; the last one moves the data,
 * for what the collective's row "shared" costs.
 *
 * All but what is between SEND and RECV is work of the site's locality. A locality has one worker,
 * which does one work at a time. Localities may share cores (sim_cores.h); when a core goes over
 * from one to another, it takes `turn`. Copies, and whatever else takes no message, are free.
 * Messages are buffered: a SEND is over when its work is. */

struct cohort__sim_reach {
    double work; /* of the critical path, where the messages go so far */
    double wire; /* what the critical path waits for between SEND and RECV */
    uint64_t messages;
    uint64_t bytes;
};

struct cohort__sim_account {
    double time; /* when the last step ends: the sum of the path's parts */
    struct cohort__sim_reach reaches[COHORT__NUM_DISTANCES];
    double calls; /* the path's other parts: `call`, and turns */
    double turns;
    double busy;   /* time that cores had something to do, of all cores */
    size_t memory; /* bytes of IN, OUT and TMP of the site with most */
    size_t tmp_bytes;
};

uint32_t cohort__sim_machine_sites(const struct cohort__sim_machine *machine);

/* GET_PLAN is called once for each site, in order. Its plan is given back at once. MEET steps are
 * those of all sites of a locality. Errors: those of GET_PLAN; BAD_PARAMETER where the plans don't
 * fit together or never end; NO_MEMORY. */
cohort_status cohort__simulate_machine(const struct cohort__sim_machine *machine,
                                       cohort__sim_get_plan *get_plan, void *argument,
                                       struct cohort__sim_account *ret_account);

#endif
