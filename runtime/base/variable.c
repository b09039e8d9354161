/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/variable.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "runtime/base/error.h"

cohort_status cohort__variable_number(const char *name, unsigned long min, unsigned long max,
                                      unsigned long otherwise, unsigned long *ret_value)
{
    const char *text = getenv(name);
    if (!text || !*text) {
        *ret_value = otherwise;
        return COHORT_OK;
    }
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || !isdigit((unsigned char)*text) || value < min || value > max)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable %s is \"%.40s\", not a number from %lu to %lu",
                           name, text, min, max);
    *ret_value = value;
    return COHORT_OK;
}
