/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_TAG_H
#define COHORT_COLLECTIVES_PLAN_TAG_H

/* The bits of a step's tag. A message has it and its phase, 0 to 3, in 32 bits. */
enum { COHORT__TAG_BITS = 28 };

#endif
