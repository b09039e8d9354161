/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/check_values.h"

#include <stdio.h>

#include "collectives/comm/datatype.h"

enum {
    NO_PREDEFINED = INT16_MAX - 2, /* larger than the number of any type */
    USERS_TYPE = INT16_MAX - 1,
    WRONG_CALL = INT16_MAX,
};

/* The kinds 0 and 2 and above are reserved. */
enum { KIND_HOST = 1 };

static struct cohort__check_values values_of(int16_t smallest, int16_t largest)
{
    return (struct cohort__check_values){smallest, (int16_t)-largest, KIND_HOST, -KIND_HOST};
}

struct cohort__check_values cohort__check_values_of(cohort_datatype datatype)
{
    int16_t number = (int16_t)cohort__datatype_number(datatype);
    return datatype != 0 && number == 0 ? values_of(NO_PREDEFINED, USERS_TYPE)
                                        : values_of(number, number);
}

struct cohort__check_values cohort__check_values_of_wrong_call(void)
{
    return values_of(NO_PREDEFINED, WRONG_CALL);
}

static int largest_type(const struct cohort__check_values *minima)
{
    return -minima->largest_type_negated;
}

cohort_status cohort__check_values_judge(const struct cohort__check_values *minima)
{
    if (largest_type(minima) == WRONG_CALL)
        return COHORT_ERR_BAD_PARAMETER;
    if (largest_type(minima) == USERS_TYPE)
        return COHORT_ERR_NOT_SUPPORTED;
    if (minima->smallest_type != largest_type(minima) ||
        minima->smallest_kind != -minima->largest_kind_negated)
        return COHORT_ERR_BAD_PARAMETER;
    return COHORT_OK;
}

static const char *type_name(int type)
{
    return type == NO_PREDEFINED ? "no predefined type"
           : type == USERS_TYPE  ? "a user type"
           : type == WRONG_CALL  ? "a wrong call"
                                 : cohort_datatype_name(COHORT_DATATYPE_BUILT_IN(type));
}

static const char *reason(const struct cohort__check_values *minima)
{
    if (largest_type(minima) == WRONG_CALL)
        return "the call of a site is wrong, as its own error says";
    if (largest_type(minima) == USERS_TYPE)
        return "user types can't be compared";
    if (minima->smallest_type != largest_type(minima))
        return "the sites gave different types";
    return "the sites gave different kinds of memory";
}

void cohort__check_values_describe(const struct cohort__check_values *minima,
                                   cohort_datatype datatype, char *text, size_t bytes)
{
    snprintf(text, bytes, "no agreement: %s: from %s to %s, this site %s", reason(minima),
             type_name(minima->smallest_type), type_name(largest_type(minima)),
             cohort_datatype_name(datatype));
}
