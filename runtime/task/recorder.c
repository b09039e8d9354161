/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/recorder.h"

#include <stdlib.h>

#include "runtime/base/error.h"

cohort_status cohort__recorder_init(struct cohort__recorder *recorder)
{
    struct cohort__record *records = calloc(COHORT__NUM_RECORDS, sizeof(*records));
    if (!records)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "recorder: no memory for %d records",
                           COHORT__NUM_RECORDS);
    *recorder = (struct cohort__recorder){
        .records = records,
        .next = records,
        .end = records + COHORT__NUM_RECORDS,
    };
    return COHORT_OK;
}

void cohort__recorder_fini(struct cohort__recorder *recorder)
{
    free(recorder->records);
    recorder->records = NULL;
}
