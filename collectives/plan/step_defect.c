/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/step_defect.h"

#include <stdarg.h>
#include <stdio.h>

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {"JOIN",  "SEND", "RECV", "COPY", "REDUCE", "ZERO",
                                        "GUARD", "DONE", "MEET", "POST", "READ"};
    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown kind";
}

cohort_status cohort__step_defect_fail(const struct cohort__plan *plan, uint32_t step,
                                       const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    const struct cohort__step *at = &plan->steps[step];
    const char *kind = kind_name(at->kind);
    if (at->kind == COHORT__STEP_SEND || at->kind == COHORT__STEP_RECV)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "plan %s, site %u, step %u (%s, phase %u, peer %u, tag %u): %s",
                           plan->name, plan->this_site, step, kind, at->phase, at->peer, at->tag,
                           what);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "plan %s, site %u, step %u (%s, phase %u): %s",
                       plan->name, plan->this_site, step, kind, at->phase, what);
}
