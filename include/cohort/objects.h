/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_OBJECTS_H
#define COHORT_OBJECTS_H

#include "cohort/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a length that only their owner knows. */
typedef struct cohort_object {
    void *data; /* may be NULL if bytes is 0 */
    size_t bytes;
} cohort_object;

/* Frees the data, which must have come from the library or from malloc, and empties the object, so
 * that a second call does nothing. NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_object_fini(cohort_object *object);

/* The same for COUNT objects one after the other, not for the array itself. */
COHORT_API void cohort_objects_fini(cohort_object *objects, size_t count);

/* Collectives whose blocks are objects: gather, scatter, broadcast, all_gather and all_to_all, by
 * the same algorithms, with the rules and errors of cohort/collectives.h and the options of
 * cohort/call.h (but ret_rows). Nobody has to know how large the objects of others are; they may
 * all differ.
 *
 * IN, the array and the data, is the caller's, who may free it once the future completes. OUT, the
 * array, is the caller's too, and has to live until then; it is emptied by the call. With success
 * each object in it has data of its own, which the caller may write to and gives back with
 * cohort_object_fini; on failure they stay empty. Nothing is done in place. Besides the other
 * errors: COHORT_ERR_PROTOCOL, which names the sender, for a message that makes no sense. */

/* The root gets num_sites objects, in site order, in OUT. */
COHORT_API cohort_future *cohort_gather_objects_here(cohort_comm *comm, const cohort_object *in,
                                                     cohort_object *out,
                                                     uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_gather_objects_there(cohort_comm *comm, const cohort_object *in,
                                                      uint64_t generation) COHORT_MUST_USE;

/* The root gives num_sites objects; everybody gets its own in *OUT. */
COHORT_API cohort_future *cohort_scatter_objects_to(cohort_comm *comm, const cohort_object *in,
                                                    cohort_object *out,
                                                    uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_scatter_objects_from(cohort_comm *comm, cohort_object *out,
                                                      uint64_t generation) COHORT_MUST_USE;

/* Everybody but the root gets the root's object in *OUT. */
COHORT_API cohort_future *cohort_broadcast_object_to(cohort_comm *comm, const cohort_object *in,
                                                     uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_broadcast_object_from(cohort_comm *comm, cohort_object *out,
                                                       uint64_t generation) COHORT_MUST_USE;

/* Everybody gets num_sites objects, in site order, in OUT. */
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
