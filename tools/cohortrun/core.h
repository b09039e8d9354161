/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the ledger of a process that has died, out of its core file. */
#ifndef COHORT_TOOLS_COHORTRUN_CORE_H
#define COHORT_TOOLS_COHORTRUN_CORE_H

#include "cohort/status.h"

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

#endif
