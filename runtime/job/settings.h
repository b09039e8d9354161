/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_SETTINGS_H
#define COHORT_RUNTIME_JOB_SETTINGS_H

#include <stddef.h>

#include "cohort/status.h"

/* What the user says in the environment; see cohort_main. */
struct cohort__settings {
    unsigned workers; /* 0: not said */
    size_t stack;
    size_t eager_budget; /* 0: the default */
};

/* COHORT_ERR_BAD_PARAMETER names the variable and what is wrong with it. */
cohort_status cohort__settings_read(struct cohort__settings *ret_settings);

#endif
