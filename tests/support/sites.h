/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_SITES_H
#define COHORT_TESTS_SUPPORT_SITES_H

#include <cohort/cohort.h>

/* Runs the sites of one communicator as tasks and waits for all of them. */
struct sites {
    const char *name;
    cohort_comm_options options; /* this_site is filled in here */
    /* Whether SITE is started here. NULL: all sites are. */
    bool (*is_here)(void *context, uint32_t site);
    /* Makes an endpoint. NULL: cohort_comm_create does. */
    cohort_future *(*create)(void *context, cohort_comm **ret_comm, const char *name,
                             const cohort_comm_options *options);
    void *context;
    /* What each site does with its endpoint, which is released afterwards. */
    cohort_status (*run)(cohort_comm *comm, void *arg);
    void *arg;
};

/* Call it in a task. Returns the first error in the order of the sites. */
cohort_status sites_run(const struct sites *sites);

#endif
