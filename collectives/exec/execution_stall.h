/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_EXECUTION_STALL_H
#define COHORT_COLLECTIVES_EXEC_EXECUTION_STALL_H

#include <stddef.h>

#include "collectives/comm/operation.h"

/* What an execution waits for: asks for it, keeps the answers, and describes it. These are handlers
 * of struct cohort__operation_handlers. */

void cohort__execution_stalled(struct cohort__operation *operation);
void cohort__execution_answer(struct cohort__operation *operation, uint32_t site,
                              enum cohort__answer answer);
uint32_t cohort__execution_find_absent(const struct cohort__operation *operation);
uint32_t cohort__execution_num_sends(struct cohort__operation *operation, uint32_t site);
void cohort__execution_peer_died(struct cohort__operation *operation);
size_t cohort__execution_describe(const struct cohort__operation *operation, char *text,
                                  size_t used, size_t capacity);

#endif
