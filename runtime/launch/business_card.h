/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_BUSINESS_CARD_H
#define COHORT_RUNTIME_LAUNCH_BUSINESS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/launch/place.h"
#include "runtime/wire/schema.h"

/* The data that the localities of a job show each other through a launcher other than cohortrun,
 * and their schemas. */

/* What each locality shows first, to introduce itself. */
struct cohort__business_card {
    uint64_t key;         /* random; the key of process 0 becomes the job's */
    uint64_t listener_id; /* where the others of its host find it; see hub_share.h */
    char host[COHORT__PLACE_HOST_BYTES];
    char name[256]; /* the name of the host, for other hosts */
};

enum { COHORT__BUSINESS_CARD_VERSION = 3 };

extern const struct cohort__schema cohort__business_card_schema;

/* Shown at the end, once in each round of the drain. */
struct cohort__pmix_counts {
    uint64_t sent;
    uint64_t received;
    bool busy;
};

extern const struct cohort__schema cohort__pmix_counts_schema;

#endif
