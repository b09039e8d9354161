/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a long block through a composed row, in segments. */
#include "collectives/algo/pattern/cut.h"
#include "collectives/algo/pattern/levels.h"

enum { SEGMENT_BYTES = 128 * 1024 }; /* shorter ones would only be more messages */

/* Two meetings for each segment, and two of an agreement in front. */
_Static_assert(2 * COHORT__LEVELS_SEGMENTS + 2 <= COHORT__PLAN_MEETINGS, "room for all meetings");

uint32_t cohort__levels_num_segments(const struct cohort__request *request)
{
    const size_t element = cohort__request_element(request);
    const size_t least = element > SEGMENT_BYTES ? element : SEGMENT_BYTES;
    const size_t num = request->bytes / least;
    return num < 1 ? 1 : num < COHORT__LEVELS_SEGMENTS ? (uint32_t)num : COHORT__LEVELS_SEGMENTS;
}

struct cohort__request cohort__levels_longest_segment(const struct cohort__request *request)
{
    struct cohort__request segment = *request;
    segment.bytes = cohort__cut_bytes(request->bytes, request->element,
                                      cohort__levels_num_segments(request), 0, 1);
    return segment;
}

cohort_status cohort__levels_build_segments(const struct cohort__request *request, const char *name,
                                            cohort__levels_segment *append,
                                            struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    cohort_status status = cohort__levels_init(&levels, request, name);
    if (status)
        return status;
    const size_t bytes = request->bytes, element = request->element;
    const uint32_t num = cohort__levels_num_segments(request);
    struct cohort__request segment = *request;
    levels.request = &segment;
    for (uint32_t i = 0, after = COHORT__NO_STEP; i < num; i++) {
        const size_t begin = cohort__cut(bytes, element, num, i);
        segment.bytes = cohort__cut(bytes, element, num, i + 1) - begin;
        levels.segment = num > 1 ? i + 1 : 0;
        after = append(&levels, begin, after);
    }
    return cohort__plan_finish(levels.builder, ret_plan);
}
