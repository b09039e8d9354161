/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_EXPLAIN_H
#define COHORT_COLLECTIVES_MODEL_EXPLAIN_H

#include "collectives/model/select.h"

/* The answer to QUESTION as text, as include/cohort/explain.h describes it. The caller frees it.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__explain(const struct cohort__question *question, char **ret_text);

#endif
