/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_POSITIONS_H
#define COHORT_RUNTIME_PROC_POSITIONS_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/named_levels.h"

struct cohort__process;

/* Where the localities of a job are. Until it is said, all of them are on one host, in one
 * domain. */

struct cohort__position {
    uint32_t host;
    uint32_t domain; /* any number; it stands for a domain of that host */
    uint64_t cores;  /* stands for the cores that it may use (cohort__cores_identify); 0: unknown */
};

/* Says it, with a position for each locality, before there are communicators.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__positions_set(struct cohort__process *process,
                                    const struct cohort__position *positions);

/* Names further levels, above the hosts: TEXTS has what each locality says, as
 * cohort__named_levels_read takes it. They must be valid there, and are only read during the call.
 * Once, after the positions, before there are communicators. COHORT_ERR_BAD_PARAMETER, with the
 * same message whichever locality asks: not all say the same names, or what is together in one
 * level, or on one host, is apart in the next. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__positions_name_levels(struct cohort__process *process,
                                            const struct cohort__word *texts);

/* How many named levels there are; the name of one, which stays as long as the process; and, by
 * locality, a locality of its group there, the same one for all of them. The finest is 0. */
uint32_t cohort__positions_num_levels(const struct cohort__process *process);
const char *cohort__positions_level_name(const struct cohort__process *process, uint32_t level);
const uint32_t *cohort__positions_level(const struct cohort__process *process, uint32_t level);

/* By locality: a locality of its host, and of its domain. For localities that are together it is
 * the same one. */
const uint32_t *cohort__positions_hosts(const struct cohort__process *process);
const uint32_t *cohort__positions_domains(const struct cohort__process *process);

/* By locality: a locality of a host that has the same cores as its own host. For hosts that share
 * cores, as containers of one machine do, it is the same one. What counts is where the lowest
 * locality of each host may run. */
const uint32_t *cohort__positions_cores(const struct cohort__process *process);

#endif
