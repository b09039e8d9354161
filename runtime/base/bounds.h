/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_BOUNDS_H
#define COHORT_RUNTIME_BASE_BOUNDS_H

/* What several layers check, each where it comes in. */
enum {
    COHORT__MAX_WORKERS = 4096, /* of a locality */
};

#endif
