/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PMIX_ROSTER_H
#define COHORT_RUNTIME_PROC_PMIX_ROSTER_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/control.h"
#include "runtime/launch/place.h"

struct cohort__pmix_client;

/* Who is who in a job that another launcher has started. */
struct cohort__pmix_roster {
    uint64_t key;         /* random, the same everywhere */
    uint64_t listener_id; /* of the first locality of this host */
    struct cohort__place place;
    uint32_t *processes; /* PMIx's rank of each locality */
    char host_address[COHORT__CONTROL_MAX_HOST_ADDRESS];
};

/* Everybody shows a card, with its LISTENER_ID, and looks at all others; waits for them. Once. */
cohort_status cohort__pmix_roster_make(struct cohort__pmix_client *client, uint64_t listener_id,
                                       struct cohort__pmix_roster *ret_roster);

void cohort__pmix_roster_fini(struct cohort__pmix_roster *roster);

#endif
