/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the localities of this host have counted with COHORT_STATS. */
#ifndef COHORT_TOOLS_COHORTRUN_TALLY_H
#define COHORT_TOOLS_COHORTRUN_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/counters.h"
#include "runtime/wire/schema.h"

struct cohort__loop;

/* It reads the counters in a ledger, about each second. So nobody has to send anything, and of a
 * locality that was killed it finds the numbers of its last tick. */
struct tally;

struct tally_options {
    struct cohort__loop *loop;
    int ledger;          /* stays the caller's; -1: there is none, so nothing is counted */
    uint32_t first, num; /* the localities of this host */
    void *context;
    /* A locality has counted anew. */
    void (*counted)(void *context, const struct cohort__counters *counters);
};

/* Whether COHORT_STATS is SETTING, and wants counters. NULL: it is not set. */
bool tally_is_wanted(const char *setting);

/* NULL: no memory. */
struct tally *tally_create(const struct tally_options *options);

/* Looks at locality RANK of this host now, since it has ended. A NULL TALLY is fine. */
void tally_look(struct tally *tally, uint32_t rank);

/* Before the loop is destroyed, and after that. NULL is fine. */
void tally_close(struct tally *tally);
void tally_destroy(struct tally *tally);

/* How a daemon sends what has been counted. */
extern const struct cohort__schema tally_schema; /* of struct cohort__counters */

#endif
