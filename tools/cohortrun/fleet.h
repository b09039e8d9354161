/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: all other hosts of a job: starts their daemons, and lets them connect. */
#ifndef COHORT_TOOLS_COHORTRUN_FLEET_H
#define COHORT_TOOLS_COHORTRUN_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/locality.h"

struct options;
struct host;
struct host_message;
struct output;

/* All other hosts of a job. First their daemons are gathered: agents start them, and they connect
 * to cohortrun. It listens at those of its addresses from which the hosts are reached, until the
 * last daemon has connected. Then the daemons are told what to start. */
struct fleet;

struct fleet_handlers {
    void *context;
    /* All daemons have connected. */
    void (*ready)(void *context);
    /* Not all daemons will connect, and TEXT says why. Called at most once. */
    void (*failed)(void *context, const char *text);
    /* One of the hosts may be gone. */
    void (*changed)(void *context);
    /* HOST's daemon says what neither the host nor the fleet handles; see host.h. */
    bool (*message)(void *context, struct host *host, const struct host_message *message);
    /* A line for the user. */
    void (*said)(void *context, const char *text);
};

struct fleet_options {
    struct cohort__loop *loop;
    const struct options *options;
    struct locality *localities; /* of the whole job */
    struct output *output;
    int null;
    uint64_t descriptors;
};

/* Begins to start the agents, a few in each turn of the loop. OPTIONS' contents have to stay valid.
 * What fails later is told by handlers->failed. After a failure here, fleet_close and
 * fleet_destroy free what has been set up. */
cohort_status fleet_create(struct fleet **ret_fleet, const struct fleet_options *options,
                           const struct fleet_handlers *handlers);

/* The address, in digits, at which the others reach host INDEX of the options' list. */
const char *fleet_address(const struct fleet *fleet, uint32_t index);

/* Tells the daemons to start all localities of the fleet's hosts. Passes standard input on if
 * locality 0 is among them. */
void fleet_order(struct fleet *fleet, const struct locality_handlers *handlers);

/* Names of the hosts whose daemons have not connected: "b, c". */
void fleet_list_awaited(const struct fleet *fleet, char *text, size_t bytes);

/* Host I of those, 0 and so on; NULL: there are no more. */
struct host *fleet_host(struct fleet *fleet, uint32_t i);

/* Whether a daemon says that nothing moves in programs that it knows. */
bool fleet_is_still(const struct fleet *fleet);

/* Tells the daemons to end. Ends the agents of daemons that have not connected. */
void fleet_dismiss(struct fleet *fleet);
bool fleet_is_gone(const struct fleet *fleet);

/* fleet_close: before the loop is destroyed. fleet_destroy: after that. NULL is fine. */
void fleet_close(struct fleet *fleet);
void fleet_destroy(struct fleet *fleet);

#endif
