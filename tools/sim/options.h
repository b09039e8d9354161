/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the command line. */
#ifndef COHORT_TOOLS_SIM_OPTIONS_H
#define COHORT_TOOLS_SIM_OPTIONS_H

#include "collectives/model/sim.h"
#include "collectives/model/sim_machine.h"

/* What `cohort-sim` is to do. */

enum sim_over { SIM_OVER_BYTES, SIM_OVER_SITES, SIM_OVER_HOSTS };

struct sim_options {
    struct cohort__request request;            /* this_site is not set */
    const struct cohort__algorithm *algorithm; /* NULL: all of them */
    const char *network;
    struct cohort__sim_costs costs;     /* in microseconds */
    struct cohort__sim_machine machine; /* in place of a network; no hosts: none. Without prices */
    const char *tune;                   /* the file with its prices; NULL: the library's */
    bool links;                         /* print each one */
    bool json;
    const char *plot; /* a path, or NULL */
    enum sim_over over;
    size_t from; /* the first and the last bytes, sites or hosts of the plot */
    size_t to;
};

/* Reads the command line. Returns -1 and fills RET_OPTIONS, whose strings are those of ARGV. Or it
 * has printed help, version or a message, and returns the status to end with. */
int sim_options_read(int argc, char **argv, struct sim_options *ret_options);

#endif
