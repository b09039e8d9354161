/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_SITES_H
#define COHORT_TESTS_SUPPORT_SITES_H

#include <cohort/cohort.h>

/* Runs the sites of one communicator as tasks and waits for all of them. */
struct sites {
    const char *name;
    cohort_comm_options options; /* this_site is filled in */
    /* Whether SITE is started here; NULL: all are. */
    bool (*is_here)(void *context, uint32_t site);
    /* How an endpoint is made; NULL: cohort_comm_create. */
    cohort_future *(*create)(void *context, cohort_comm **ret_comm, const char *name,
                             const cohort_comm_options *options);
    void *context;
    /* What each site does with its endpoint, which is given back afterwards. */
    cohort_status (*run)(cohort_comm *comm, void *arg);
    void *arg;
};

/* In a task. The first error, in the order of the sites. */
cohort_status sites_run(const struct sites *sites);

#endif
