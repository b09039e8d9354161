/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_PMIX_ROSTER_H
#define COHORT_RUNTIME_LAUNCH_PMIX_ROSTER_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/control.h"
#include "runtime/launch/place.h"

struct cohort__pmix_client;

/* The localities of a job that a launcher other than cohortrun has started. */
struct cohort__pmix_roster {
    uint64_t key;         /* random, the same in all localities */
    uint64_t listener_id; /* the listener of this host's first locality */
    struct cohort__place place;
    uint32_t *processes; /* PMIx's rank of each locality */
    char host_address[COHORT__CONTROL_MAX_HOST_ADDRESS];
};

/* Shows this locality's card, which contains LISTENER_ID, waits for the cards of all others, and
 * reads them. Once. */
cohort_status cohort__pmix_roster_make(struct cohort__pmix_client *client, uint64_t listener_id,
                                       struct cohort__pmix_roster *ret_roster);

void cohort__pmix_roster_fini(struct cohort__pmix_roster *roster);

#endif
