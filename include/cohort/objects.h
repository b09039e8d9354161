/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_OBJECTS_H
#define COHORT_OBJECTS_H

#include "cohort/comm.h"
#include "cohort/object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collectives whose blocks are objects: gather, scatter, broadcast, all_gather and all_to_all, by
 * the same algorithms, with the rules and errors of cohort/collectives.h and the options of
 * cohort/call.h (except ret_rows). A site need not know how large the objects of others are. All
 * sizes may differ.
 *
 * IN, the array and the data, belongs to the caller, who may free it once the future completes. The
 * array OUT belongs to the caller too, and has to live until then. The call empties its objects. On
 * success each object in it has data of its own, which the caller may write to and gives back with
 * cohort_object_fini. On failure the objects stay empty. There is no in-place variant. Besides the
 * other errors: COHORT_ERR_PROTOCOL, which names the sender, for a message that makes no sense. */

/* The root gets num_sites objects, in site order, in OUT. */
COHORT_API cohort_future *cohort_gather_objects_here(cohort_comm *comm, const cohort_object *in,
                                                     cohort_object *out,
                                                     uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_gather_objects_there(cohort_comm *comm, const cohort_object *in,
                                                      uint64_t generation) COHORT_MUST_USE;

/* The root gives num_sites objects in IN. Every site gets its own one in *OUT. */
COHORT_API cohort_future *cohort_scatter_objects_to(cohort_comm *comm, const cohort_object *in,
                                                    cohort_object *out,
                                                    uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_scatter_objects_from(cohort_comm *comm, cohort_object *out,
                                                      uint64_t generation) COHORT_MUST_USE;

/* Every site except the root gets the root's object in *OUT. */
COHORT_API cohort_future *cohort_broadcast_object_to(cohort_comm *comm, const cohort_object *in,
                                                     uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_broadcast_object_from(cohort_comm *comm, cohort_object *out,
                                                       uint64_t generation) COHORT_MUST_USE;

/* Every site gets num_sites objects, in site order, in OUT. */
COHORT_API cohort_future *cohort_all_gather_objects(cohort_comm *comm, const cohort_object *in,
                                                    cohort_object *out,
                                                    uint64_t generation) COHORT_MUST_USE;

/* Object j of site i's IN becomes object i of site j's OUT. */
COHORT_API cohort_future *cohort_all_to_all_objects(cohort_comm *comm, const cohort_object *in,
                                                    cohort_object *out,
                                                    uint64_t generation) COHORT_MUST_USE;

/* Sparse exchange: each site has objects for a few others, which do not know of them. TO are
 * NUM_TO objects, at most one with bytes for each site (this one, too), in any order. *RET_FROM is
 * then the list of what has come, by rising site; the caller gives it back with
 * cohort_site_objects_fini. An object of no bytes does not arrive. All sites have to call it, also
 * those without objects (NULL, 0).
 *
 * TO and the data may be changed or freed as soon as the call returns. *RET_FROM is emptied by the
 * call, has to live until the future completes, and stays empty on failure.
 * COHORT_ERR_BAD_PARAMETER at all sites: a site that does not exist, two objects for one site,
 * bytes without data, no RET_FROM.
 *
 * The sites of a locality, or of a host, bring their objects to one of them, which sorts them;
 * these leaders do an all_to_all of bundles, by the algorithm that is forced as
 * "all_to_all=levels(bruck)", or the model's; and each hands on what came for its sites. No counts
 * are exchanged first. So it takes the rounds of a small all_to_all among the leaders; and a site
 * takes time and memory for its objects, a leader for those of its sites and for each other leader.
 * Where all sites are leaders, and bundles that go the same way are combined ("all_to_all=bruck"),
 * it is the crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988). A
 * memory_budget does not count the objects, nor choose an algorithm. */
COHORT_API cohort_future *cohort_all_to_all_sparse(cohort_comm *comm, const cohort_site_object *to,
                                                   size_t num_to, cohort_site_objects *ret_from,
                                                   uint64_t generation) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
