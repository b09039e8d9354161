/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_REMOTE_H
#define COHORT_COLLECTIVES_COMM_REMOTE_H

#include <stdbool.h>

#include "collectives/comm/endpoint.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"

/* Data to and from sites that sit in other localities. */

/* Sends BYTES at PAYLOAD for OPERATION to SITE, under a step's TAG. SEND->done has been set; SEND
 * and the payload are comm's until it is called, from any thread. */
void cohort__remote_send(const struct cohort__operation *operation, uint32_t site, uint32_t tag,
                         const void *payload, size_t bytes, struct cohort__send *send);

/* The same for a message of a channel, with its SEQUENCE number. */
void cohort__remote_send_channel(const struct cohort_comm *comm, uint32_t site, uint64_t tag,
                                 uint32_t sequence, const void *payload, size_t bytes,
                                 struct cohort__send *send);

/* The same if it can go at once: then PAYLOAD is the caller's again, and nothing is left to do.
 * False: nothing has been done. Any thread. */
bool cohort__remote_try_channel(const struct cohort_comm *comm, uint32_t site, uint64_t tag,
                                uint32_t sequence, const void *payload, size_t bytes);

/* Fetches what MESSAGE, which it takes, announces. FETCH->done has been set; FETCH and the
 * destination are comm's until it is called, from any thread. */
void cohort__remote_fetch(struct cohort__message *message, void *destination,
                          struct cohort__fetch *fetch);

/* Whether the locality of SITE is dead; then sets the error message to who and why. */
bool cohort__remote_check_dead(const struct cohort_comm *comm, uint32_t site);

/* Whether a locality with sites of COMM is dead. Then that one which died first, the reason of what
 * others do after it: sets *RET_SITE to its first site, and *RET_DEATH. */
bool cohort__remote_first_death(const struct cohort_comm *comm, uint32_t *ret_site,
                                struct cohort__death *ret_death);

/* The same in words: sets the error message to "site 2 is lost: locality 2 was killed". */
bool cohort__remote_is_broken(const struct cohort_comm *comm);

/* Whether any locality is dead. */
bool cohort__remote_any_dead(const struct cohort_comm *comm);

#endif
