/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: a machine, its prices, and how the library's algorithms do there. */
#ifndef COHORT_TOOLS_SIM_WORLD_H
#define COHORT_TOOLS_SIM_WORLD_H

#include "collectives/model/select.h"
#include "tools/sim/options.h"

/* The machine of --machine, and what the library would know of it. */
struct sim_world {
    struct cohort__sim_machine machine;
    struct cohort__parameters parameters;
    struct cohort__machine *levels;
    struct cohort__placement placement;
};

/* With so many HOSTS. Errors: BAD_PARAMETER, SYSTEM: the file of --tune; NO_MEMORY. */
cohort_status sim_world_create(struct sim_world **ret_world, const struct sim_options *options,
                               uint32_t hosts);
void sim_world_destroy(struct sim_world *world); /* NULL is fine */

/* What one row does. */
struct sim_row {
    struct cohort__candidate candidate; /* as the library's selection sees it */
    const char *refuses;                /* why it can't be simulated; NULL: it can */
    bool is_chosen;                     /* the library would take it by itself */
    struct cohort__sim_account account;
};

/* The rows for REQUEST, whose place in WORLD this sets, or only the one that OPTIONS ask for. Those
 * that the library likes best come first. Simulates nothing. Returns how many there are. */
uint32_t sim_world_rows(const struct sim_world *world, const struct sim_options *options,
                        struct cohort__request *request,
                        struct sim_row ret_rows[COHORT__MAX_CANDIDATES]);

/* Sets the account of ROW, which must not refuse. */
cohort_status sim_world_simulate(const struct sim_world *world,
                                 const struct cohort__request *request, struct sim_row *row);

#endif
