/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_BOUNDS_H
#define COHORT_RUNTIME_BASE_BOUNDS_H

/* Limits that several layers check, each for the values that it is given. */
enum {
    COHORT__MAX_WORKERS = 4096, /* in one locality */
    COHORT__MIN_STACK_BYTES = 32 * 1024,
    COHORT__MAX_STACK_BYTES = 1 << 30,
};

#endif
