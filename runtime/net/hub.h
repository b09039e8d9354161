/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_HUB_H
#define COHORT_RUNTIME_NET_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

/* What the localities of one host share: memory without a name, and a doorbell (an eventfd) for
 * each. Whoever starts them, or else one of them (runtime/launch/hub_share.h), makes it and hands
 * the descriptors on, so nothing of it is in the file system, and nothing is left whoever is killed
 * when. What the memory holds is the transport's, see runtime/net/shm_memory.h.
 *
 * The descriptors have consecutive numbers where they are inherited: the memory's, then those of
 * the doorbells by slot. A locality's slot is its place among those of its host. */
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

/* Takes descriptors that were inherited or received: MEMORY and the SIZE of DOORBELLS are the hub's
 * from now on, also on failure. COHORT_ERR_PROTOCOL where they are no hub of that size. */
cohort_status cohort__hub_adopt(struct cohort__hub **ret_hub, int memory, const int *doorbells,
                                uint32_t size);

/* What COHORT__HUB_VARIABLE says; *ret_hub is NULL where it isn't set. The variable is taken out of
 * the environment. No other thread may use the environment meanwhile. */
cohort_status cohort__hub_inherit(struct cohort__hub **ret_hub);

/* Closes the descriptors. NULL is fine. */
void cohort__hub_destroy(struct cohort__hub *hub);

#endif
