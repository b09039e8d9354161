/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_PAST_H
#define COHORT_COLLECTIVES_COMM_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"

/* Tells the instances that have been known in a locality from those that its creations under way
 * may become. A message may come late for the one, or early for the other: where the map is still
 * on its way. What is late has to be answered at once. Its sender may wait for that before it joins
 * the very creation that is under way.
 *
 * A home numbers its instances one after the other. So what comes out of a creation has a higher
 * number than all of the same home that were known here when the creation began. Of those that were
 * known before the oldest creation under way, the highest number of each home is enough. Those that
 * have become known since are remembered one by one. */
struct cohort__past {
    struct cohort__list order;  /* since the oldest creation under way began, which is the first */
    struct cohort__map recent;  /* the instances in that list */
    struct cohort__map highest; /* of those before, by home */
};

/* A creation under way, or an instance. */
struct cohort__past_item {
    struct cohort__list link;
    struct cohort__map_node node;
    uint64_t instance; /* 0: it is a creation */
};

void cohort__past_init(struct cohort__past *past);
void cohort__past_fini(struct cohort__past *past);

/* A creation has begun: nothing of it has been sent yet. CREATION is the caller's, and stays until
 * it has ended. */
void cohort__past_begin(struct cohort__past *past, struct cohort__past_item *creation);
void cohort__past_end(struct cohort__past *past, struct cohort__past_item *creation);

/* Whether a creation is under way. */
bool cohort__past_is_open(const struct cohort__past *past);

/* INSTANCE is known from now on. Takes ITEM, which comes from cohort__slab_alloc. */
void cohort__past_add(struct cohort__past *past, struct cohort__past_item *item, uint64_t instance);

/* Whether INSTANCE has been known, or no creation under way can become it. */
bool cohort__past_has(const struct cohort__past *past, uint64_t instance);

#endif
