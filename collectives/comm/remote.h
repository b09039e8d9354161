/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_REMOTE_H
#define COHORT_COLLECTIVES_COMM_REMOTE_H

#include <stdbool.h>

#include "collectives/comm/group.h"
#include "collectives/comm/message.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"

/* Data to and from sites of other localities, and whether these live. Any thread. */

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

/* Whether the locality of SITE is dead. If so, sets the error message to which one and why. */
bool cohort__remote_check_dead(const struct cohort__group *group, uint32_t site);

/* Whether a locality with sites of GROUP is dead. If so, finds the one that died first, which is
 * the reason of what others did after it. Sets *RET_SITE to its first site, and *RET_DEATH. */
bool cohort__remote_first_death(const struct cohort__group *group, uint32_t *ret_site,
                                struct cohort__death *ret_death);

/* The same in words: sets the error message, for instance to "site 2 is lost: locality 2 was
 * killed". */
bool cohort__remote_is_broken(const struct cohort__group *group);

/* Whether any locality is dead. */
bool cohort__remote_any_dead(const struct cohort__group *group);

#endif
