/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_REMOTE_H
#define COHORT_COLLECTIVES_COMM_REMOTE_H

#include <stdbool.h>

#include "collectives/comm/group.h"
#include "collectives/comm/message.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"

/* Data to and from sites of other localities, and why calls with these fail.
 * Any thread. */

/* Sends SEND->payload from FROM, a site of this locality, to TO. The payload, `done`, and the
 * envelope's generation, fingerprint and tag must be set. SEND and the payload must stay until
 * `done` is called, which happens on any thread. */
void cohort__remote_send(const struct cohort__group *group, uint32_t from, uint32_t to,
                         struct cohort__send *send);

/* The same if the message can be sent at once. Then PAYLOAD is the caller's again, and nothing is
 * left to do. False: nothing has been done. */
bool cohort__remote_try(const struct cohort__group *group, uint32_t from, uint32_t to,
                        struct cohort__envelope *envelope, const void *payload, size_t bytes);

/* Fetches what MESSAGE announces. Takes MESSAGE. FETCH->done must be set. FETCH and the destination
 * must stay until it is called, which happens on any thread. */
void cohort__remote_fetch(struct cohort__message *message, void *destination,
                          struct cohort__fetch *fetch);

/* Whether GROUP is revoked. */
static inline bool cohort__remote_is_revoked(const struct cohort__group *group)
{
    return atomic_load_explicit(&group->standing, memory_order_acquire) == COHORT__STANDING_REVOKED;
}

/* Whether calls of GROUP may have to fail: it is revoked, or any locality of the job is dead. This
 * is all that a call looks at as long as all is well. */
static inline bool cohort__remote_may_be_lost(const struct cohort__group *group)
{
    uint8_t standing = atomic_load_explicit(&group->standing, memory_order_acquire);
    return standing != COHORT__STANDING_WHOLE &&
           (standing == COHORT__STANDING_REVOKED ||
            cohort__process_any_dead(group->commons->process));
}

/* Why nothing comes from SITE any more, with a message: COHORT_ERR_REVOKED, or its locality is
 * dead. */
cohort_status cohort__remote_lost(const struct cohort__group *group, uint32_t site);

/* Whether a locality with sites of GROUP is dead. If so, finds the one that died first, which is
 * the reason of what others did after it. Sets *RET_SITE to its first site, and *RET_DEATH. */
bool cohort__remote_first_death(const struct cohort__group *group, uint32_t *ret_site,
                                struct cohort__death *ret_death);

/* Why all calls of GROUP fail, with a message: COHORT_ERR_REVOKED, for instance "site 1 (locality
 * 0) has revoked the communicator"; or the first death, COHORT_ERR_PEER_DIED, for instance "site 2
 * is lost: locality 2 was killed". COHORT_OK: they don't. */
cohort_status cohort__remote_broken(const struct cohort__group *group);

/* The same, but only deaths behind that with the order AFTER count. */
cohort_status cohort__remote_broken_after(const struct cohort__group *group, uint32_t after);

/* Any thread: sends MESSAGE, with its source, to SITE of GROUP, in this locality or another one.
 * For small messages: only ERROR, ASK or ANSWER go to another locality. Takes MESSAGE. HANDLE: of
 * the announcement that an ERROR replaces, or 0. */
void cohort__mail_send(struct cohort__group *group, uint32_t site, struct cohort__message *message,
                       uint64_t handle);

#endif
