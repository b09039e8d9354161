/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the localities of this host have counted with COHORT_STATS. */
#ifndef COHORT_TOOLS_COHORTRUN_STATS_WATCH_H
#define COHORT_TOOLS_COHORTRUN_STATS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/counters.h"
#include "runtime/wire/schema.h"

struct cohort__loop;

/* It reads the counters in a ledger, about each second. So nobody has to send anything, and of a
 * locality that was killed it finds the numbers of its last tick. */
struct stats_watch;

struct stats_watch_options {
    struct cohort__loop *loop;
    int ledger;          /* stays the caller's; -1: there is none, so nothing is counted */
    uint32_t first, num; /* the localities of this host */
    void *context;
    /* A locality has counted anew. */
    void (*counted)(void *context, const struct cohort__counters *counters);
};

/* Whether COHORT_STATS is SETTING, and wants counters. NULL: it is not set. */
bool stats_watch_is_wanted(const char *setting);

/* NULL: no memory. */
struct stats_watch *stats_watch_create(const struct stats_watch_options *options);

/* Looks at locality RANK of this host now, since it has ended. A NULL WATCH is fine. */
void stats_watch_look(struct stats_watch *watch, uint32_t rank);

/* Before the loop is destroyed, and after that. NULL is fine. */
void stats_watch_close(struct stats_watch *watch);
void stats_watch_destroy(struct stats_watch *watch);

/* How a daemon sends what has been counted. */
extern const struct cohort__schema stats_schema; /* of struct cohort__counters */

#endif
