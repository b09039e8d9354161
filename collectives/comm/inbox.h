/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_INBOX_H
#define COHORT_COLLECTIVES_COMM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/commons.h"
#include "collectives/comm/group.h"
#include "runtime/base/list.h"
#include "runtime/base/tree.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/membership.h"
#include "runtime/proc/process.h"

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

/* Removes the first of TAKEN, which is the caller's then. NULL: there is none. */
struct cohort__arrival *cohort__unknown_next(struct cohort__list *taken);

/* Where a locality's messages for communicators arrive. Finds the group by its instance, and the
 * endpoint by its site. There is one for each process. */
struct cohort__inbox;

/* PROCESS's inbox, made by the first call. It ends with the process. What is still in flight then
 * ends with COHORT_ERR_CANCELLED. */
cohort_status cohort__inbox_get(struct cohort__process *process, struct cohort__inbox **ret_inbox);

/* What its groups share with it; and back. */
struct cohort__commons *cohort__inbox_commons(struct cohort__inbox *inbox);
struct cohort__inbox *cohort__inbox_of(struct cohort__commons *commons);

/* A creation begins in this locality, or has ended. While there is one, messages for instances that
 * are still to come are kept. */
void cohort__inbox_creation_begin(struct cohort__inbox *inbox);
void cohort__inbox_creation_end(struct cohort__inbox *inbox);

/* The group of MEMBERSHIP's instance. It is made if this is the first site in this locality. Takes
 * MEMBERSHIP. */
cohort_status cohort__inbox_group(struct cohort__inbox *inbox, const char *name,
                                  struct cohort__membership *membership,
                                  struct cohort__group **ret_group);

/* SITE of this locality has revoked MEMBERSHIP's instance, since it has no memory for its endpoint;
 * or it could not do that either, and the instance is revoked here only. What the instance has is
 * given back, unless there is a group that does it later. */
void cohort__inbox_give_up(struct cohort__inbox *inbox, struct cohort__membership *membership,
                           uint32_t site);

/* Adds COMM to the list for ticks and news of deaths. */
void cohort__inbox_add(struct cohort__inbox *inbox, struct cohort_comm *comm);

/* Makes COMM, which has been added, the latest endpoint of its site under its name. Not for one
 * that was made out of another one: it has a name for messages only. */
void cohort__inbox_set_latest(struct cohort__inbox *inbox, struct cohort_comm *comm);

/* Looks for SITE's latest endpoint under NAME in this locality. *RET_LEFT_INSTANCE is its instance
 * if it has left, else 0. True: there is one that has not left. */
bool cohort__inbox_has_site(struct cohort__inbox *inbox, const char *name, uint32_t site,
                            uint64_t *ret_left_instance);

#endif
