/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: the facts and the variables as text, and what will not work well. */
#ifndef COHORT_TOOLS_INFO_REPORT_H
#define COHORT_TOOLS_INFO_REPORT_H

#include <stdint.h>

struct facts;

void report_print(const struct facts *facts);

/* Calls FUNCTION with what is wrong and what to do about it, two sentences without full stops, once
 * for each thing that will not work well with FACTS and the variables of ENVIRONMENT. Returns how
 * often. */
uint32_t advice_find(const struct facts *facts, char *const *environment,
                     void (*function)(void *context, const char *wrong, const char *remedy),
                     void *context);

#endif
