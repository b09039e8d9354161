/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_INBOX_H
#define COHORT_COLLECTIVES_COMM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "runtime/proc/process.h"

/* Where a locality's messages for communicators arrive. Finds the group by its instance, and the
 * endpoint by its site. There is one for each process. */
struct cohort__inbox;

/* PROCESS's inbox, made by the first call. It ends with the process. What is still in flight then
 * ends with COHORT_ERR_CANCELLED. */
cohort_status cohort__inbox_get(struct cohort__process *process, struct cohort__inbox **ret_inbox);

struct cohort__process *cohort__inbox_process(const struct cohort__inbox *inbox);

/* CHANGE 1: something that may still send has been given to a worker. CHANGE -1: it is done. */
void cohort__inbox_count_work(struct cohort__inbox *inbox, int change);

/* A creation has begun, or has ended, in this locality. While there is one, messages for instances
 * that are not known yet are kept. */
void cohort__inbox_creation_begin(struct cohort__inbox *inbox);
void cohort__inbox_creation_end(struct cohort__inbox *inbox);

/* The group of MEMBERSHIP's instance. It is made if this is the first site in this locality. Takes
 * MEMBERSHIP. */
cohort_status cohort__inbox_group(struct cohort__inbox *inbox, const char *name,
                                  struct cohort__membership *membership,
                                  struct cohort__group **ret_group);

/* Adds COMM to the list for ticks and news of deaths. Makes it the latest endpoint of its site. */
void cohort__inbox_add(struct cohort__inbox *inbox, struct cohort_comm *comm);

/* Has MEETINGS look at the board of GROUP, which must have one, whenever others may have written to
 * it. Ends with unwatch, which is called by the thread that turns the event loop, or when no other
 * thread is left. */
void cohort__inbox_watch(struct cohort__inbox *inbox, const struct cohort__group *group,
                         struct cohort__meetings *meetings);
void cohort__inbox_unwatch(struct cohort__inbox *inbox, const struct cohort__group *group);

/* Looks for SITE's latest endpoint under NAME in this locality. *RET_LEFT_INSTANCE is its instance
 * if it has left, else 0. True: there is one that has not left. */
bool cohort__inbox_has_site(struct cohort__inbox *inbox, const char *name, uint32_t site,
                            uint64_t *ret_left_instance);

#endif
