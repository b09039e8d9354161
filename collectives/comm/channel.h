/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/channels.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"

/* What is set and got by the channels of an endpoint. */

void cohort__channels_init(struct cohort__channels *channels);
void cohort__channels_fini(struct cohort__channels *channels);

/* All of the following in the endpoint's turn. A message with generation 0 has come in. Takes
 * it. */
void cohort__channels_receive(struct cohort_comm *comm, struct cohort__message *message);

/* The same for a message from another locality, if a get waits for it, and can read it directly
 * from ARRIVAL. False: ARRIVAL is still the caller's. */
bool cohort__channels_take(struct cohort_comm *comm, struct cohort__arrival *arrival);

/* More gets than may fail in a turn had nothing to wait for: some more of them fail. */
void cohort__channels_go_on(struct cohort_comm *comm);

/* Asks the sites that gets have waited for a long time whether they have left. */
void cohort__channels_tick(struct cohort_comm *comm, uint64_t now);

/* A locality has died: ends what waits for its sites. Or the communicator is revoked: ends all
 * gets that wait, and all sets. This site has left: ends everything. */
void cohort__channels_peer_died(struct cohort_comm *comm);
void cohort__channels_leave(struct cohort_comm *comm);

/* Calls VISIT for each get, until that returns false; those that wait come first. It gets the tag,
 * and the site whose message the get waits for, or COHORT_ANY_SITE; HAS_COME: that is being read.
 * Returns false if VISIT has. */
bool cohort__channels_each_get(const struct cohort_comm *comm,
                               bool (*visit)(void *context, const cohort_future *future,
                                             uint64_t tag, uint32_t site, bool has_come),
                               void *context);

/* The same for each set, with the site that is to get it. NEEDS_GET: it does not end before. */
bool cohort__channels_each_set(const struct cohort_comm *comm,
                               bool (*visit)(void *context, const cohort_future *future,
                                             uint64_t tag, uint32_t site, bool needs_get),
                               void *context);

/* Appends to TEXT, of CAPACITY bytes, at USED, what is not over. Returns the new length. */
size_t cohort__channels_describe(const struct cohort_comm *comm, char *text, size_t used,
                                 size_t capacity);

#endif
