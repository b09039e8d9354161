/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_SPLIT_H
#define COHORT_SPLIT_H

#include <stdint.h>

#include "cohort/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Communicators out of a communicator, the parent. Each of these is a collective of the parent with
 * a generation, and the rules and errors of cohort/collectives.h hold: all sites call the same one
 * under the same generation, it passes the gate and counts in the window, and others may be in
 * flight beside it. The options of the next call (cohort/call.h) hold for the collective that it is
 * made of, which is an all_gather for cohort_comm_split, and a barrier for the others.
 *
 * The new communicator takes over the parent's arity, flat_fallback_threshold, auto_generation,
 * stall_after, algorithms, reproducible, check_asymmetric, memory_budget, deadline and tuning.
 * Algorithms that the parent forces are forced for it, too, also where they can't carry out a call
 * of so many sites. It is independent of the parent: its generations begin at 1, and the parent may
 * be given back first. It has a name for messages, that of the parent with an addition
 * ("world/split 3 color 1"), of at most 255 bytes: the parent's part is cut off where it is longer.
 * No name that is given to cohort_comm_create gets in its way.
 *
 * When the future completes, *ret_comm holds the endpoint with one reference, which the caller
 * gives back with cohort_comm_unref. On failure it is untouched. ret_comm has to stay valid until
 * the future completes. If the future is dropped, the endpoint is still made. The endpoint of the
 * parent may be given back before that: it then leaves as soon as its part of the call is over, and
 * only then end other calls that are in flight there.
 *
 * If ret_comm is NULL, or an argument is wrong, the calls of all sites in that generation fail with
 * COHORT_ERR_BAD_PARAMETER, which names the site. Besides the errors of a collective, the future
 * may hold those of cohort_comm_create: COHORT_ERR_PEER_DIED once any locality of the job has died
 * (if the job goes on without the dead, only if that had a site of the parent),
 * COHORT_ERR_NO_MEMORY. If a site runs out of memory, no communicator can be made in this job any
 * more, and all that wait for one get that error. Any task or thread; never suspends. */

/* The color of a site that gets no communicator. */
#define COHORT_COLOR_NONE INT32_MIN

/* Makes one communicator of all sites that give the same COLOR. In it the sites are in the order of
 * their KEYs, and those with equal keys in the order that they have in the parent. Site 0 is the
 * root. With COHORT_COLOR_NONE the future completes with COHORT_OK, and *ret_comm is NULL. Until
 * then each site takes 8 bytes for each site of the parent. */
COHORT_API cohort_future *cohort_comm_split(cohort_comm **ret_comm, cohort_comm *comm,
                                            int32_t color, int32_t key,
                                            uint64_t generation) COHORT_MUST_USE;

/* The levels of the machine that every job has, as cohort_comm_describe shows them. */
typedef enum cohort_level {
    COHORT_LEVEL_LOCALITY = 0,
    COHORT_LEVEL_DOMAIN = 1, /* a last-level cache or a NUMA node */
    COHORT_LEVEL_HOST = 2,
} cohort_level;

/* Makes one communicator of the sites of each subgroup at LEVEL, in the order that they have in the
 * parent. Site 0 is the root. All sites give the same LEVEL. */
COHORT_API cohort_future *cohort_comm_split_level(cohort_comm **ret_comm, cohort_comm *comm,
                                                  cohort_level level,
                                                  uint64_t generation) COHORT_MUST_USE;

/* cohort_comm_split_level by the name of a level, as cohort_comm_describe and
 * cohort_comm_level_name show it: "locality", "domain", "host", or one that the user has named
 * (COHORT_LEVELS in job.h), "switch" for instance. NAME is only read during the call. All sites
 * give the same one. If there is no such level, or NAME is NULL, the calls of all sites in that
 * generation fail with COHORT_ERR_BAD_PARAMETER, with a message that has the names of all levels.
 */
COHORT_API cohort_future *cohort_comm_split_named_level(cohort_comm **ret_comm, cohort_comm *comm,
                                                        const char *name,
                                                        uint64_t generation) COHORT_MUST_USE;

/* Makes a communicator of the same sites, in the same order, with the same root. Its calls have
 * nothing to do with those of the parent. */
COHORT_API cohort_future *cohort_comm_dup(cohort_comm **ret_comm, cohort_comm *comm,
                                          uint64_t generation) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
