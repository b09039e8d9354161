/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/coll/call_start.h"

/* Puts the NUM objects of TO into IN, which has one for each site. False: WHY says why not. */
static bool spread(const cohort_site_object *to, size_t num, cohort_object *in, uint32_t num_sites,
                   char why[128])
{
    for (size_t i = 0; i < num; i++) {
        const cohort_site_object *one = &to[i];
        if (one->site >= num_sites) {
            snprintf(why, 128, "object %zu is for site %" PRIu32 " of %" PRIu32, i, one->site,
                     num_sites);
            return false;
        }
        if (in[one->site].bytes > 0) {
            snprintf(why, 128, "object %zu is another one for site %" PRIu32, i, one->site);
            return false;
        }
        if (one->object.bytes > 0 && !one->object.data) {
            snprintf(why, 128, "object %zu has %zu bytes, but no data", i, one->object.bytes);
            return false;
        }
        in[one->site] = one->object;
    }
    return true;
}

cohort_future *cohort_all_to_all_sparse(cohort_comm *comm, const cohort_site_object *to,
                                        size_t num_to, cohort_site_objects *ret_from,
                                        uint64_t generation)
{
    struct cohort__call call = {
        .function = "cohort_all_to_all_sparse",
        .collective = COHORT__ALL_TO_ALL,
        .needs_in = true,
        .needs_out = true,
        .of_objects = true,
        .is_sparse = true,
        .comm = comm,
        .out = ret_from,
        .count = 1,
        .generation = generation,
    };
    char why[128] = "no memory for a table of its objects";
    if (!comm)
        return cohort__call_start(&call);
    if (ret_from)
        *ret_from = (cohort_site_objects){0};
    if (num_to > 0 && !to)
        return cohort__call_refuse(&call, COHORT_ERR_BAD_PARAMETER, "TO is NULL");
    uint32_t num_sites = cohort_comm_num_sites(comm);
    cohort_object *in = calloc(num_sites, sizeof(*in));
    call.in = in;
    cohort_future *future =
        !in ? cohort__call_refuse(&call, COHORT_ERR_NO_MEMORY, why)
        : !spread(to, num_to, in, num_sites, why)
            ? cohort__call_refuse(&call, COHORT_ERR_BAD_PARAMETER, why)
            : cohort__call_start(&call); /* copies the objects before it returns */
    free(in);
    return future;
}
