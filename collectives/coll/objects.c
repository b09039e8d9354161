/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/objects.h"

#include "collectives/coll/call.h"
#include "collectives/coll/call_check.h"
#include "collectives/coll/call_start.h"

/* What the collectives of objects have in common. A block is one object. The objects of OUT are
 * empty until the future completes. */
static cohort_future *start(const char *function, enum cohort__collective collective,
                            enum cohort__role role, cohort_comm *comm, const cohort_object *in,
                            cohort_object *out, uint64_t generation)
{
    struct cohort__call call = {
        .function = function,
        .collective = collective,
        .role = role,
        .of_objects = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = 1,
        .generation = generation,
    };
    cohort__call_take_form(&call);
    size_t num_out = comm && out ? cohort__call_array_bytes(&call, true) / sizeof(*out) : 0;
    /* IN, if that is the same array, stays for who is told so. */
    bool is_apart = !in || num_out == 0 ||
                    cohort__are_apart((uintptr_t)in, cohort__call_array_bytes(&call, false),
                                      (uintptr_t)out, num_out * sizeof(*out));
    for (size_t i = 0; is_apart && i < num_out; i++)
        out[i] = (cohort_object){0};
    return cohort__call_start(&call);
}

cohort_future *cohort_gather_objects_here(cohort_comm *comm, const cohort_object *in,
                                          cohort_object *out, uint64_t generation)
{
    return start("cohort_gather_objects_here", COHORT__GATHER, COHORT__ROLE_ROOT, comm, in, out,
                 generation);
}

cohort_future *cohort_gather_objects_there(cohort_comm *comm, const cohort_object *in,
                                           uint64_t generation)
{
    return start("cohort_gather_objects_there", COHORT__GATHER, COHORT__ROLE_NON_ROOT, comm, in,
                 NULL, generation);
}

cohort_future *cohort_scatter_objects_to(cohort_comm *comm, const cohort_object *in,
                                         cohort_object *out, uint64_t generation)
{
    return start("cohort_scatter_objects_to", COHORT__SCATTER, COHORT__ROLE_ROOT, comm, in, out,
                 generation);
}

cohort_future *cohort_scatter_objects_from(cohort_comm *comm, cohort_object *out,
                                           uint64_t generation)
{
    return start("cohort_scatter_objects_from", COHORT__SCATTER, COHORT__ROLE_NON_ROOT, comm, NULL,
                 out, generation);
}

cohort_future *cohort_broadcast_object_to(cohort_comm *comm, const cohort_object *in,
                                          uint64_t generation)
{
    return start("cohort_broadcast_object_to", COHORT__BROADCAST, COHORT__ROLE_ROOT, comm, in, NULL,
                 generation);
}

cohort_future *cohort_broadcast_object_from(cohort_comm *comm, cohort_object *out,
                                            uint64_t generation)
{
    return start("cohort_broadcast_object_from", COHORT__BROADCAST, COHORT__ROLE_NON_ROOT, comm,
                 NULL, out, generation);
}

cohort_future *cohort_all_gather_objects(cohort_comm *comm, const cohort_object *in,
                                         cohort_object *out, uint64_t generation)
{
    return start("cohort_all_gather_objects", COHORT__ALL_GATHER, COHORT__ROLE_ANY, comm, in, out,
                 generation);
}

cohort_future *cohort_all_to_all_objects(cohort_comm *comm, const cohort_object *in,
                                         cohort_object *out, uint64_t generation)
{
    return start("cohort_all_to_all_objects", COHORT__ALL_TO_ALL, COHORT__ROLE_ANY, comm, in, out,
                 generation);
}
