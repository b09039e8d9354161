/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_SITES_H
#define COHORT_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator over all localities, with a task for each of its sites: what most programs begin
 * with. The same by hand are cohort_comm_create (cohort/comm.h) in tasks of a scope
 * (cohort/scope.h). */

/* The work of one site, as a task. COMM is its endpoint: cohort_comm_this_site and
 * cohort_comm_num_sites say which of how many it is. It is the library's, which gives it back when
 * the function has returned. So the function awaits what it has called, and splits or dups of COMM
 * are its own to give back. ARG is the caller's; the sites of a locality share it. */
typedef cohort_status cohort_site_function(cohort_comm *comm, void *arg);

/* All localities give the same ones. 0 in all fields is one site in each locality. */
typedef struct cohort_sites_options {
    /* So many sites in each locality: site s is in locality s / sites_per_locality. 0: 1. */
    uint32_t sites_per_locality;
    /* So many sites in the whole job, at most 2^31 - 1, of which the localities have equal shares,
     * the first ones one more if they must; neighbours stay together. There may be localities
     * without. 0: sites_per_locality decides; otherwise that is 0. */
    uint32_t num_sites;
    /* What else the communicator is created with; its num_sites and this_site are 0. NULL: the
     * defaults. It is read before the call returns, and so is what it points to. */
    const cohort_comm_options *comm;
} cohort_sites_options;

/* Runs FUNCTION(endpoint, ARG) at each site of the communicator NAME (1 to 255 bytes; copied), as a
 * task of the locality where the site is. All localities of the job call it. The future completes
 * when those of this locality have ended, and have given their endpoints back. ARG has to live
 * until then. OPTIONS may be NULL, and is read before the call returns.
 *
 * The sites of a locality are in a scope of their own, with all that they start. If FUNCTION fails
 * at one of them, or its endpoint can't be created, the scope is cancelled, and the future holds
 * this error, the first one in time; its message names the site, unless it begins with one. The
 * calls of other localities' sites then fail with COHORT_ERR_CANCELLED or COHORT_ERR_GONE. If a
 * task in a scope calls this, all of that is inside its scope, and is cancelled with it; unless
 * all sites have joined by then, FUNCTION is called at none of them, in no locality. Results of
 * sites go where ARG says, for instance into an array by cohort_comm_this_site.
 *
 * Takes memory for a task and a stack for each site. COHORT_ERR_BAD_PARAMETER (no NAME or one of
 * another length, no FUNCTION, or the options are wrong), COHORT_ERR_STATE before the start and
 * after the end of the runtime, COHORT_ERR_NO_MEMORY: FUNCTION is called at no site, and the others
 * wait for those of this locality until it ends, or until create_deadline. Any thread; never
 * suspends. _sized: the exported function, for OPTIONS_BYTES of OPTIONS, and COMM_BYTES of what its
 * comm points to; see cohort_comm_create_sized. */
COHORT_API cohort_future *cohort_sites_sized(const char *name, const cohort_sites_options *options,
                                             size_t options_bytes, size_t comm_bytes,
                                             cohort_site_function *function,
                                             void *arg) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *cohort_sites(const char *name,
                                                          const cohort_sites_options *options,
                                                          cohort_site_function *function, void *arg)
{
    return cohort_sites_sized(name, options, sizeof(*options), sizeof(cohort_comm_options),
                              function, arg);
}

#ifdef __cplusplus
}
#endif

#endif
