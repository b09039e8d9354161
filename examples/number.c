/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/number.h"

#include <stdlib.h>

bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return false;
    }
    if (number < min || number > max)
        return false;
    *ret_number = number;
    return true;
}

cohort_status number_give(uint64_t number, cohort_object *ret_out)
{
    uint64_t *data = malloc(sizeof(*data));
    if (!data)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a number");
    *data = number;
    *ret_out = (cohort_object){data, sizeof(*data)};
    return COHORT_OK;
}
