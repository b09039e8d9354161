/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_VARIABLE_H
#define COHORT_RUNTIME_BASE_VARIABLE_H

#include "cohort/status.h"

/* Reads the environment variable NAME as a number from MIN to MAX. If it is not set or empty, the
 * value is OTHERWISE. COHORT_ERR_BAD_PARAMETER. */
cohort_status cohort__variable_number(const char *name, unsigned long min, unsigned long max,
                                      unsigned long otherwise, unsigned long *ret_value);

#endif
