/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_FAILING_H
#define COHORT_COLLECTIVES_EXEC_FAILING_H

#include "collectives/comm/operation.h"

/* A handler of struct cohort__operation_handlers, for executions: the operation fails. */
void cohort__execution_failing(struct cohort__operation *operation);

#endif
