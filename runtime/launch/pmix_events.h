/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_PMIX_EVENTS_H
#define COHORT_RUNTIME_LAUNCH_PMIX_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/pmix_library.h"

struct cohort__pmix_client;

/* A death or a loss of the launcher, as PMIx reports it. */
struct cohort__pmix_event {
    pmix_status_t status;
    bool launcher_lost; /* if false, another process has died */
    uint32_t process;
};

/* Has to stay valid until the client is closed. */
struct cohort__pmix_events {
    const struct cohort__pmix_client *client;
    void (*came)(void *context, const struct cohort__pmix_event *event);
    void *context;
};

/* Registers CAME, which is called in PMIx's thread. To be called once. */
cohort_status cohort__pmix_events_listen(
    struct cohort__pmix_events *events, const struct cohort__pmix_client *client,
    void (*came)(void *context, const struct cohort__pmix_event *event), void *context);

#endif
