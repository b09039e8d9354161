/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_FETCH_H
#define COHORT_RUNTIME_PROC_FETCH_H

#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/net/net.h"

struct cohort__process;

/* Fetches an announced block, piece by piece. The caller fills in the first part, and keeps the
 * struct and the destination until `done` is called. */
struct cohort__fetch {
    uint32_t rank;
    struct cohort__net_token token;
    uint64_t handle; /* of the announcement */
    void *destination;
    size_t bytes;
    /* All accesses have ended, and the announcer has been told. Called from the transport's
     * progress, during cohort__fetch_start or cohort__fetch_stop, or when RANK dies or the job
     * ends. Must not wait. COHORT_ERR_PEER_DIED, COHORT_ERR_NETWORK, COHORT_ERR_CANCELLED. */
    void (*done)(struct cohort__fetch *fetch, cohort_status status);

    /* Private to fetch.c. */
    struct cohort__process *process;
    struct cohort__list waiting;
    size_t requested;
    uint32_t in_flight;
    cohort_status status;
};

void cohort__fetch_start(struct cohort__process *process, struct cohort__fetch *fetch);

/* Asks for no more pieces. `done` follows, with COHORT_ERR_CANCELLED unless all pieces had been
 * requested. */
void cohort__fetch_stop(struct cohort__fetch *fetch);

/* Tells the announcer that its block will not be fetched, or not all of it. */
void cohort__fetch_decline(struct cohort__process *process, uint32_t rank, uint64_t handle);

#endif
