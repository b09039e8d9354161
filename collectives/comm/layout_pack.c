/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout.h"

/* Whether elements of DATATYPE can be moved between TO and FROM. */
static cohort_status check(const char *function, const cohort_layout *layout,
                           cohort_datatype datatype, const void *to, const void *from)
{
    size_t element = cohort_datatype_size(datatype), bytes;
    if (!layout || element == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no %s", function,
                           layout ? "datatype" : "layout");
    size_t most = layout->span > layout->num_elements ? layout->span : layout->num_elements;
    if (__builtin_mul_overflow(most, element, &bytes) || bytes > PTRDIFF_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: %zu elements of %zu bytes are more than memory", function, most,
                           element);
    if (bytes > 0 && (!to || !from))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no buffer %s", function,
                           to ? "FROM" : "TO");
    return COHORT_OK;
}

cohort_status cohort_layout_pack(const cohort_layout *layout, cohort_datatype datatype, void *to,
                                 const void *from)
{
    cohort_status status = check("cohort_layout_pack", layout, datatype, to, from);
    if (!status)
        cohort__layout_pack(layout, cohort_datatype_size(datatype), to, from);
    return status;
}

cohort_status cohort_layout_unpack(const cohort_layout *layout, cohort_datatype datatype, void *to,
                                   const void *from)
{
    cohort_status status = check("cohort_layout_unpack", layout, datatype, to, from);
    if (!status)
        cohort__layout_unpack(layout, cohort_datatype_size(datatype), to, from);
    return status;
}
