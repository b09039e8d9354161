/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_INBOX_H
#define COHORT_COLLECTIVES_COMM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "runtime/proc/process.h"

/* Where a locality's messages for communicators arrive: finds the group by its instance, and the
 * endpoint by its site. One for each process. */
struct cohort__inbox;

/* PROCESS's inbox; the first call makes it. It ends with the process: what still is in flight then
 * ends with COHORT_ERR_CANCELLED. */
cohort_status cohort__inbox_get(struct cohort__process *process, struct cohort__inbox **ret_inbox);

struct cohort__process *cohort__inbox_process(const struct cohort__inbox *inbox);

/* Something that may still send has been given to a worker (1), or is done (-1). */
void cohort__inbox_count_work(struct cohort__inbox *inbox, int change);

/* A creation has begun or ended here: while one is pending, messages for instances that are not
 * known yet are kept. */
void cohort__inbox_creation_begin(struct cohort__inbox *inbox);
void cohort__inbox_creation_end(struct cohort__inbox *inbox);

/* The group of MEMBERSHIP's instance, made if it is the first site's here. Takes MEMBERSHIP. */
cohort_status cohort__inbox_group(struct cohort__inbox *inbox, const char *name,
                                  struct cohort__membership *membership,
                                  struct cohort__group **ret_group);

/* Lists COMM for ticks and news of deaths, and as the latest endpoint of its site. */
void cohort__inbox_add(struct cohort__inbox *inbox, struct cohort_comm *comm);

/* Has MEETINGS look at the group's board, which it has, whenever others may have written there;
 * until that is taken back, by the loop's holder or when no other thread is left. */
void cohort__inbox_watch(struct cohort__inbox *inbox, const struct cohort__group *group,
                         struct cohort__meetings *meetings);
void cohort__inbox_unwatch(struct cohort__inbox *inbox, const struct cohort__group *group);

/* What SITE's latest endpoint under NAME here is: *ret_left_instance its instance if it has left,
 * else 0. True: there is one that has not left. */
bool cohort__inbox_has_site(struct cohort__inbox *inbox, const char *name, uint32_t site,
                            uint64_t *ret_left_instance);

#endif
