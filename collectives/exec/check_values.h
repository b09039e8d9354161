/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_CHECK_VALUES_H
#define COHORT_COLLECTIVES_EXEC_CHECK_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/datatype.h"

/* What a site says in an agreement and, once each of the four has been reduced with MIN over all
 * sites, what all have said: the sites agree if a minimum is the negation of the minimum of
 * negations, for types and for kinds of memory. What can't be agreed on is said by pairs that are
 * no negations of each other, in such a way that no minimum with them is:
 *
 *   a predefined type  number, -number   (0: the call has no type, as a barrier)
 *   a user's type      32765, -32766
 *   a wrong call       32765, -32767
 *
 * So the smallest type is the smallest predefined one, if there is any, and the largest one tells
 * the worst that has been said. */
struct cohort__check_values {
    int16_t smallest_type;
    int16_t largest_type_negated;
    int16_t smallest_kind;
    int16_t largest_kind_negated;
};

/* What a site says that gives DATATYPE; and one whose arguments are wrong. */
struct cohort__check_values cohort__check_values_of(cohort_datatype datatype);
struct cohort__check_values cohort__check_values_of_wrong_call(void);

/* The same at all sites, since all have the same MINIMA. The worst that has been said counts:
 * COHORT_ERR_BAD_PARAMETER if a call is wrong, else COHORT_ERR_NOT_SUPPORTED if there is a user's
 * type, else COHORT_ERR_BAD_PARAMETER if types or kinds differ. */
cohort_status cohort__check_values_judge(const struct cohort__check_values *minima);

/* In words: what was met, and that this site gave DATATYPE. */
void cohort__check_values_describe(const struct cohort__check_values *minima,
                                   cohort_datatype datatype, char *text, size_t bytes);

#endif
