/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: all other hosts of a job: has their daemons started, and lets them connect. */
#ifndef COHORT_TOOLS_COHORTRUN_FLEET_H
#define COHORT_TOOLS_COHORTRUN_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/locality.h"

struct options;
struct output;

/* All other hosts of a job. First their daemons are gathered: agents start them, and they connect
 * to where cohortrun listens, which it does until the last one has come, at those of its addresses
 * from which the hosts are reached. Then they are told what to start. */
struct fleet;

struct fleet_handlers {
    void *context;
    /* All daemons have come. */
    void (*ready)(void *context);
    /* Not all will; TEXT says why. Once. */
    void (*failed)(void *context, const char *text);
    /* One of the hosts may be gone. */
    void (*changed)(void *context);
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

/* OPTIONS' contents have to stay. Starts the agents. What it has set up where it fails is for
 * fleet_close and fleet_destroy. */
cohort_status fleet_create(struct fleet **ret_fleet, const struct fleet_options *options,
                           const struct fleet_handlers *handlers);

/* Where the others reach host INDEX of the options' list, in digits. */
const char *fleet_address(const struct fleet *fleet, uint32_t index);

/* Has all localities of the fleet's hosts started, and hands standard input on if locality 0 is
 * among them. */
void fleet_order(struct fleet *fleet, const struct locality_handlers *handlers);

/* Names of the hosts whose daemons have not come: "b, c". */
void fleet_list_awaited(const struct fleet *fleet, char *text, size_t bytes);

/* Sends the daemons away, or ends the agents of those that have not come. */
void fleet_dismiss(struct fleet *fleet);
bool fleet_is_gone(const struct fleet *fleet);

/* Before the loop is destroyed, and after that. NULL is fine. */
void fleet_close(struct fleet *fleet);
void fleet_destroy(struct fleet *fleet);

#endif
