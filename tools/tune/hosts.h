/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: which hosts the job is on, and how many of them share cores. */
#ifndef COHORT_TOOLS_TUNE_HOSTS_H
#define COHORT_TOOLS_TUNE_HOSTS_H

#include <cohort/cohort.h>

struct tune_hosts {
    uint32_t num;
    uint32_t sharing; /* as in struct cohort__placement */
};

/* To be called in every locality of the job, within a task. COHORT_ERR_BAD_PARAMETER, everywhere:
 * there are several hosts, and one of them has several localities. */
cohort_status tune_hosts_find(struct tune_hosts *ret_hosts);

#endif
