/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_MAIL_H
#define COHORT_COLLECTIVES_COMM_MAIL_H

#include "collectives/comm/group.h"
#include "collectives/comm/message.h"

/* Any thread: sends MESSAGE, with its source, to SITE of GROUP, in this locality or another one.
 * For small messages: only ERROR, ASK or ANSWER go to another locality. Takes MESSAGE. HANDLE: of
 * the announcement that an ERROR replaces, or 0. */
void cohort__mail_send(struct cohort__group *group, uint32_t site, struct cohort__message *message,
                       uint64_t handle);

#endif
