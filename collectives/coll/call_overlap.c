/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_overlap.h"

#include <stdlib.h>

#include "collectives/plan/layout_overlap.h"

static void add_parts(struct cohort__lying *lying, const struct cohort__part *parts, uint32_t num,
                      const cohort_layout *const *layouts, bool is_sent)
{
    for (uint32_t i = 0; i < num; i++)
        lying[i] = (struct cohort__lying){.offset = parts[i].offset,
                                          .bytes = parts[i].bytes,
                                          .layout = layouts ? layouts[i] : NULL,
                                          .site = parts[i].site,
                                          .is_sent = is_sent};
}

static cohort_status report(const struct cohort__call *call, const struct cohort__overlap *overlap)
{
    const char *first = overlap->a.is_sent ? "for" : "from";
    const char *second = overlap->a.is_sent == overlap->b.is_sent ? ""
                         : overlap->b.is_sent                     ? "for "
                                                                  : "from ";
    return cohort__call_wrong(
        call, COHORT_ERR_BAD_PARAMETER,
        "the blocks in OUT %s site %u (bytes %zu to %zu) and %ssite %u (%zu to %zu) overlap", first,
        overlap->a.site, overlap->a.begin, overlap->a.end, second, overlap->b.site,
        overlap->b.begin, overlap->b.end);
}

/* The parts of OUT, and if it is the same array as IN also those of IN. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape)
{
    const struct cohort__request *request = &shape->request;
    bool is_one_array = shape->key.flags & COHORT__PLAN_ONE_ARRAY;
    uint32_t num_out = request->out_parts ? request->num_out_parts : 0;
    uint32_t num_in = is_one_array && request->in_parts ? request->num_in_parts : 0;
    size_t num = (size_t)num_out + num_in;
    if (num == 0)
        return COHORT_OK;
    struct cohort__overlap overlap;
    bool found = false;
    struct cohort__lying *lying = malloc(num * sizeof(*lying));
    if (!lying)
        return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY, "no memory for sorting the blocks");
    add_parts(lying, request->out_parts, num_out, request->out_layouts, false);
    add_parts(lying + num_out, request->in_parts, num_in, request->in_layouts, true);
    cohort_status status = cohort__layout_overlap(lying, num, &found, &overlap);
    free(lying);
    if (status)
        return cohort__call_wrong(call, status, "%s", cohort_error_message());
    return found ? report(call, &overlap) : COHORT_OK;
}
