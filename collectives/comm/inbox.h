/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_INBOX_H
#define COHORT_COLLECTIVES_COMM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/commons.h"
#include "collectives/comm/group.h"
#include "runtime/proc/process.h"

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
