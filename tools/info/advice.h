/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: what will not work well, and what to do about it. */
#ifndef COHORT_TOOLS_INFO_ADVICE_H
#define COHORT_TOOLS_INFO_ADVICE_H

#include <stdint.h>

struct facts;

/* Calls FUNCTION with what is wrong and what to do about it, two sentences without full stops, once
 * for each thing that will not work well with FACTS and the variables of ENVIRONMENT. Returns how
 * often. */
uint32_t advice_find(const struct facts *facts, char *const *environment,
                     void (*function)(void *context, const char *wrong, const char *remedy),
                     void *context);

#endif
