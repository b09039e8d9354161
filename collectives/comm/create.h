/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CREATE_H
#define COHORT_COLLECTIVES_COMM_CREATE_H

#include "cohort/comm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/settings.h"
#include "runtime/proc/process.h"

enum { COHORT__ALGORITHMS_BYTES = 768 };

/* How a site joins a communicator, and gets its endpoint. Any thread. */

/* What follows from a communicator's options. The folder comm itself knows no algorithms. */
struct cohort__comm_choice {
    bool is_flat;
    bool is_tree_forced;
    struct cohort__forced forced[COHORT__FORCED_MAX]; /* as in struct cohort_comm */
    char algorithms[COHORT__ALGORITHMS_BYTES];        /* in words; equal for equal choices */
    struct cohort__comm_settings settings; /* this site's; all sites use those of site 0 */
};
typedef cohort_status cohort__comm_chooser(const char *name, const cohort_comm_options *options,
                                           struct cohort__comm_choice *ret_choice);
/* Adds to the settings what follows from the surroundings of this process. */
typedef cohort_status cohort__comm_surveyor(uint32_t this_site,
                                            struct cohort__comm_settings *settings);

/* cohort_comm_create in a given locality. When CHOOSE is called, the defaults of OPTIONS are filled
 * in. If SURVEY fails, the caller could do nothing about it, so all sites are told. */
cohort_future *cohort__comm_create_in(struct cohort__process *process, cohort_comm **ret_comm,
                                      const char *name, const cohort_comm_options *options,
                                      cohort__comm_chooser *choose, cohort__comm_surveyor *survey);

/* What a communicator that is made out of another one has of its own. */
struct cohort__comm_child {
    const char *name;    /* for messages: 1 to COHORT__NAME_BYTES_MAX bytes, need not be unique */
    uint64_t generation; /* of the parent's call that makes it; with NAME, unique in the parent */
    uint32_t num_sites;
    uint32_t this_site;
    uint32_t root_site;
    uint32_t home; /* the locality of its site 0 */
    bool is_flat;
    bool is_whole; /* all of its sites are in one locality */
    /* Its sites are those of the parent that live; NUM_DEAD others don't (cohort/survivors.h). */
    bool is_of_living;
    uint32_t num_dead;
    struct cohort_scope *scope;   /* that ends the wait when it is cancelled; NULL: none */
    const cohort_future *awaited; /* that the site has got for it; NULL: the one that completes */
};

/* Joins CHILD, which takes over from PARENT all that is not in CHILD. Gives back a reference to
 * PARENT, before anybody can see FUTURE complete. When all of its sites have joined, *RET_COMM gets
 * the endpoint, and FUTURE is completed. On failure FUTURE is completed with
 * the error. Then no site of CHILD waits for this one for ever: no communicator can be made in this
 * job any more. */
void cohort__comm_create_child(struct cohort_comm *parent, const struct cohort__comm_child *child,
                               cohort_comm **ret_comm, cohort_future *future);

#endif
