/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_HUB_H
#define COHORT_RUNTIME_NET_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

/* What the localities of one host share: memory without a name, and a doorbell (an eventfd) for
 * each locality. The process that starts the localities makes the hub and passes the descriptors
 * on; without such a process, one of the localities does (runtime/launch/hub_share.h). So nothing
 * of the hub is in the file system, and nothing is left over, whichever process is killed at
 * whatever time. The transport decides what the memory holds, see runtime/net/shm_memory.h.
 *
 * Inherited descriptors have consecutive numbers: the memory's first, then those of the doorbells
 * by slot. A locality's slot is its index among the localities of its host. */
struct cohort__hub {
    uint32_t size; /* slots */
    int memory;
    bool is_row; /* the descriptors have consecutive numbers, the memory's first */
    int doorbells[];
};

enum { COHORT__HUB_MAX_SLOTS = 4096 };

/* In the environment of a locality: "FIRST-DESCRIPTOR SIZE". */
#define COHORT__HUB_VARIABLE "COHORT_HUB"

/* A hub for SIZE localities, with the descriptors closed on exec. COHORT_ERR_BAD_PARAMETER,
 * COHORT_ERR_NO_MEMORY (descriptors as well), COHORT_ERR_SYSTEM. */
cohort_status cohort__hub_create(struct cohort__hub **ret_hub, uint32_t size);

/* Takes over descriptors that were inherited or received. MEMORY and the SIZE DOORBELLS belong to
 * the hub from now on, also on failure. COHORT_ERR_PROTOCOL if they are not a hub of that size. */
cohort_status cohort__hub_adopt(struct cohort__hub **ret_hub, int memory, const int *doorbells,
                                uint32_t size);

/* Takes over the hub that COHORT__HUB_VARIABLE describes. *ret_hub is NULL where the variable isn't
 * set. The variable is removed from the environment. No other thread may use the environment during
 * the call. */
cohort_status cohort__hub_inherit(struct cohort__hub **ret_hub);

/* Closes the descriptors. NULL is fine. */
void cohort__hub_destroy(struct cohort__hub *hub);

#endif
