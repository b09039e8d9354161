/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a job that has died, from core files of its localities. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_CORES_H
#define COHORT_TOOLS_COHORTRUN_STATUS_CORES_H

#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/status/model.h"

enum { CORE_PROGRAM_BYTES = 96 };

struct core {
    int memory;                       /* the ledger, as region 0; the caller closes it */
    int signal;                       /* that has ended the process; 0: not known */
    char program[CORE_PROGRAM_BYTES]; /* its command line, maybe cut; "": not known */
};

/* Reads PATH, as the kernel or gdb's generate-core-file has written it. Nothing that is there is
 * trusted. COHORT_ERR_SYSTEM: it can't be read; COHORT_ERR_PROTOCOL: it is no core file of a
 * program of Cohort, or is cut off; COHORT_ERR_NO_MEMORY. Messages name PATH. */
cohort_status core_read(struct core *ret_core, const char *path);

struct status_cores;

/* Reads the NUM core files at PATHS, one or more, which have to stay. Localities of the job that
 * have none are there as ones that can't be read. Errors as for core_read, and
 * COHORT_ERR_BAD_PARAMETER: they are not of one job, or two are of one locality. */
cohort_status status_cores_create(struct status_cores **ret_cores, const char *const *paths,
                                  uint32_t num);

/* NULL is fine. */
void status_cores_destroy(struct status_cores *cores);

/* Stays until CORES is destroyed. */
const struct status_job *status_cores_job(const struct status_cores *cores);

#endif
