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

#ifdef __cplusplus
}
#endif

#endif
