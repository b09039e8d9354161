/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PMIX_EVENTS_H
#define COHORT_RUNTIME_PROC_PMIX_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/pmix_library.h"

struct cohort__pmix_client;

/* What a PMIx launcher tells of the job's end. */
struct cohort__pmix_event {
    pmix_status_t status;
    bool launcher_lost; /* else another process has died: */
    uint32_t process;
};

/* Has to stay until the client is closed. */
struct cohort__pmix_events {
    const struct cohort__pmix_client *client;
    void (*came)(void *context, const struct cohort__pmix_event *event);
    void *context;
};

/* CAME is called in PMIx's thread. Once. */
cohort_status cohort__pmix_events_listen(
    struct cohort__pmix_events *events, const struct cohort__pmix_client *client,
    void (*came)(void *context, const struct cohort__pmix_event *event), void *context);

#endif
