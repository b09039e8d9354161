/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_CHECK_VALUES_H
#define COHORT_COLLECTIVES_EXEC_CHECK_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/datatype.h"

/* The four values that a site contributes to an agreement. All sites reduce each of them with MIN,
 * so that the result tells what all have said. For types, and for kinds of memory, the sites agree
 * if the minimum is the negation of the minimum of negations. What can't be agreed on is a pair
 * whose second number is not the negation of the first. The numbers are such that no minimum with
 * such a pair looks like an agreement:
 *
 *   a predefined type  number, -number   (0: the call has no type, as a barrier)
 *   a user's type      32765, -32766
 *   a wrong call       32765, -32767
 *
 * So the smallest type is the smallest predefined one, if there is any. The largest one tells the
 * worst that has been said. */
struct cohort__check_values {
    int16_t smallest_type;
    int16_t largest_type_negated;
    int16_t smallest_kind;
    int16_t largest_kind_negated;
};

/* The values of a site that gives DATATYPE, and those of a site whose arguments are wrong. */
struct cohort__check_values cohort__check_values_of(cohort_datatype datatype);
struct cohort__check_values cohort__check_values_of_wrong_call(void);

/* The outcome. It is the same at all sites, since all have the same MINIMA. The worst that has been
 * said counts: COHORT_ERR_BAD_PARAMETER if a call is wrong, else COHORT_ERR_NOT_SUPPORTED if there
 * is a user's type, else COHORT_ERR_BAD_PARAMETER if types or kinds differ. */
cohort_status cohort__check_values_judge(const struct cohort__check_values *minima);

/* Says in words what MINIMA are, and that this site gave DATATYPE. */
void cohort__check_values_describe(const struct cohort__check_values *minima,
                                   cohort_datatype datatype, char *text, size_t bytes);

#endif
