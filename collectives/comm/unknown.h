/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_UNKNOWN_H
#define COHORT_COLLECTIVES_COMM_UNKNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/tree.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/membership.h"

/* What has come for instances of which a locality has no group. Its map may be still on its way: a
 * creation under way here becomes that instance. Then it is kept until that is known. Or all of its
 * sites here have left, or will never take part: what comes late has to be answered at once, since
 * its sender may wait for that before it joins the very creation that is under way.
 *
 * A home numbers its instances one after the other, and its maps come in that order. So all up to
 * the highest number that is known of a home are past, and all above are still to come. All zero:
 * nothing has come. */
struct cohort__unknown {
    uint32_t num_creations;                      /* under way */
    uint32_t highest[COHORT__HOME_LAUNCHER + 1]; /* by home */
    struct cohort__tree messages;                /* that are kept, by instance */
};

/* Whether a creation under way may become INSTANCE, which has no group. */
bool cohort__unknown_is_to_come(const struct cohort__unknown *unknown, uint64_t instance);

/* Takes ARRIVAL. False: out of memory; ARRIVAL is still the caller's. */
bool cohort__unknown_keep(struct cohort__unknown *unknown, struct cohort__arrival *arrival);

/* INSTANCE is known from now on. Appends the messages that were kept for it to TAKEN. */
void cohort__unknown_settle(struct cohort__unknown *unknown, uint64_t instance,
                            struct cohort__list *taken);

/* The same with those of all instances, none of which comes any more. */
void cohort__unknown_settle_all(struct cohort__unknown *unknown, struct cohort__list *taken);

/* Removes the first of TAKEN, which is the caller's then. NULL: there is none. */
struct cohort__arrival *cohort__unknown_next(struct cohort__list *taken);

#endif
