/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/stall.h"

#include <stdarg.h>

#include "runtime/base/text.h"

static const char *words_of(enum cohort__answer answer)
{
    switch (answer) {
    case COHORT__ANSWER_NOT_CALLED:
        return "not called yet";
    case COHORT__ANSWER_IN_FLIGHT:
        return "called there and not over";
    case COHORT__ANSWER_COMPLETED:
        return "completed there";
    default:
        return "no answer yet";
    }
}

size_t cohort__describe_append(char *text, size_t used, size_t capacity, const char *format, ...)
{
    struct cohort__text all = {.bytes = text, .used = used, .capacity = capacity};
    va_list args;
    va_start(args, format);
    cohort__text_append_args(&all, format, args);
    va_end(args);
    return all.used;
}

size_t cohort__describe_awaited(const struct cohort__operation *operation, char *text, size_t used,
                                size_t capacity, uint32_t site, uint8_t answer)
{
    const uint32_t *locality_of = operation->comm->group->membership->locality_of;
    used = cohort__describe_append(text, used, capacity, " waits for site %u (locality %u), %s",
                                   site, locality_of[site], words_of((enum cohort__answer)answer));
    uint32_t absent = operation->absent - 1;
    if (operation->absent && operation->absent_by == site && absent != site)
        used = cohort__describe_append(text, used, capacity,
                                       ", where site %u (locality %u) is waited for", absent,
                                       locality_of[absent]);
    return cohort__describe_append(text, used, capacity, ";");
}

void cohort__fail_forgotten(struct cohort__operation *operation, uint32_t site)
{
    cohort__operation_fail_with(operation, COHORT_ERR_MISMATCH, COHORT__FORGOTTEN, site,
                                operation->comm->group->membership->locality_of[site]);
}
