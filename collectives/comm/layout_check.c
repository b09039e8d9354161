/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel_private.h"
#include "collectives/plan/layout.h"

const char *cohort__layout_refuses(const cohort_layout *layout, cohort_datatype datatype,
                                   const void *array)
{
    size_t element = cohort_datatype_size(datatype), bytes;
    if (!layout || element == 0)
        return layout ? "no datatype" : "no layout";
    size_t most = layout->span > layout->num_elements ? layout->span : layout->num_elements;
    if (__builtin_mul_overflow(most, element, &bytes) || bytes > PTRDIFF_MAX)
        return "its elements are more than memory";
    return bytes > 0 && !array ? "there is no buffer" : NULL;
}

/* Whether elements of DATATYPE can be moved between TO and FROM. */
static cohort_status check(const char *function, const cohort_layout *layout,
                           cohort_datatype datatype, const void *to, const void *from)
{
    const char *why = cohort__layout_refuses(layout, datatype, layout);
    if (!why && layout->num_elements > 0 && (!to || !from))
        why = to ? "no buffer FROM" : "no buffer TO";
    return why ? cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", function, why) : COHORT_OK;
}

cohort_status cohort_layout_pack(const cohort_layout *layout, cohort_datatype datatype, void *to,
                                 const void *from)
{
    cohort__layout_check(layout, "cohort_layout_pack");
    cohort_status status = check("cohort_layout_pack", layout, datatype, to, from);
    if (!status)
        cohort__layout_pack(layout, cohort_datatype_size(datatype), to, from);
    return status;
}

cohort_status cohort_layout_unpack(const cohort_layout *layout, cohort_datatype datatype, void *to,
                                   const void *from)
{
    cohort__layout_check(layout, "cohort_layout_unpack");
    cohort_status status = check("cohort_layout_unpack", layout, datatype, to, from);
    if (!status)
        cohort__layout_unpack(layout, cohort_datatype_size(datatype), to, from);
    return status;
}
