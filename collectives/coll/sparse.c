/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/objects.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/coll/call_start.h"
#include "collectives/exec/sparse_steps.h"

/* For whom object `index` is. */
struct aim {
    uint32_t site;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct aim *left = a, *right = b;
    int order = (left->site > right->site) - (left->site < right->site);
    return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* Whether each object of IN is for a site of NUM_SITES, and has data if it has bytes. */
static cohort_status check_each(const struct cohort__sparse_in *in, uint32_t num_sites,
                                char why[128])
{
    for (size_t i = 0; i < in->num; i++) {
        const cohort_site_object *one = &in->list[i];
        if (one->site >= num_sites)
            snprintf(why, 128, "object %zu is for site %" PRIu32 " of %" PRIu32, i, one->site,
                     num_sites);
        else if (one->object.bytes > 0 && !one->object.data)
            snprintf(why, 128, "object %zu has %zu bytes, but no data", i, one->object.bytes);
        else if (one->object.bytes > PTRDIFF_MAX)
            snprintf(why, 128, "object %zu has %zu bytes, which are more than memory", i,
                     one->object.bytes);
        else
            continue;
        return COHORT_ERR_BAD_PARAMETER;
    }
    return COHORT_OK;
}

/* Whether no two of them are for the same site. One without bytes is none. */
static cohort_status check_twice(const struct cohort__sparse_in *in, char why[128])
{
    cohort_status status = COHORT_OK;
    size_t num = 0;
    struct aim *aims = in->num > 1 ? calloc(in->num, sizeof(*aims)) : NULL;
    if (in->num <= 1)
        return COHORT_OK;
    if (!aims) {
        snprintf(why, 128, "no memory for looking at %zu objects", in->num);
        return COHORT_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < in->num; i++)
        if (in->list[i].object.bytes > 0)
            aims[num++] = (struct aim){in->list[i].site, i};
    qsort(aims, num, sizeof(*aims), compare);
    for (size_t i = 1; !status && i < num; i++) {
        if (aims[i].site != aims[i - 1].site)
            continue;
        snprintf(why, 128, "object %zu is another one for site %" PRIu32, aims[i].index,
                 aims[i].site);
        status = COHORT_ERR_BAD_PARAMETER;
    }
    free(aims);
    return status;
}

cohort_future *cohort_all_to_all_sparse(cohort_comm *comm, const cohort_site_object *to,
                                        size_t num_to, cohort_site_objects *ret_from,
                                        uint64_t generation)
{
    const struct cohort__sparse_in in = {.list = to, .num = num_to};
    struct cohort__call call = {
        .function = "cohort_all_to_all_sparse",
        .collective = COHORT__ALL_TO_ALL,
        .needs_in = true,
        .needs_out = true,
        .of_objects = true,
        .is_sparse = true,
        .comm = comm,
        .in = &in, /* its objects are copied before the call returns */
        .out = ret_from,
        .count = 1,
        .generation = generation,
    };
    char why[128] = "TO is NULL";
    if (!comm)
        return cohort__call_start(&call);
    if (ret_from)
        *ret_from = (cohort_site_objects){0};
    cohort_status status = num_to > 0 && !to ? COHORT_ERR_BAD_PARAMETER : COHORT_OK;
    if (!status)
        status = check_each(&in, cohort_comm_num_sites(comm), why);
    if (!status)
        status = check_twice(&in, why);
    return status ? cohort__call_refuse(&call, status, why) : cohort__call_start(&call);
}
