/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_POSITIONS_H
#define COHORT_RUNTIME_PROC_POSITIONS_H

#include <stdint.h>

#include "cohort/status.h"

struct cohort__process;

/* Where the localities of a job are. Until it is said, all of them are on one host, in one
 * domain. */

struct cohort__position {
    uint32_t host;
    uint32_t domain; /* any number; it stands for a domain of that host */
};

/* Says it, with a position for each locality, before there are communicators.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__positions_set(struct cohort__process *process,
                                    const struct cohort__position *positions);

/* By locality: a locality of its host, and of its domain. For localities that are together it is
 * the same one. */
const uint32_t *cohort__positions_hosts(const struct cohort__process *process);
const uint32_t *cohort__positions_domains(const struct cohort__process *process);

#endif
