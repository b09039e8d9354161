/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution.h"

#include "runtime/task/future.h"

void cohort__execution_row_done(struct cohort__execution *execution, uint32_t row)
{
    if (row >= execution->num_rows || !execution->rows[row])
        return; /* the caller has none, or there was no memory for it */
    cohort__future_fulfil(execution->rows[row], NULL);
    execution->rows[row] = NULL;
}
