/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_EXPLAIN_H
#define COHORT_COLLECTIVES_MODEL_EXPLAIN_H

#include "collectives/model/select.h"

/* The answer to QUESTION as text, as include/cohort/explain.h describes it, on MACHINE, whose
 * leaders TURN chooses (cohort__machine_leader). The caller frees it. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__explain(const struct cohort__question *question,
                              const struct cohort__machine *machine, uint64_t turn,
                              char **ret_text);

#endif
