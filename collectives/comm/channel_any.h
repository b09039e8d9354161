/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_ANY_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_ANY_H

#include "collectives/comm/channels.h"
#include "collectives/comm/message.h"

/* What gets from any site need: for one tag, those gets, and messages of all sites that no get has
 * asked for, in the order in which they came. It is there while one of the two is. A message that
 * comes is not sorted by its tag alone, since most are never asked for so: it is put at the end of
 * `unsorted`. A get from any site sorts from there on until it has found one with its tag, so each
 * message is sorted once at most. In the endpoint's turn. */
struct cohort__channel_any {
    struct cohort__map_node node; /* by tag; the hash is the key */
    uint64_t tag;
    struct cohort__list messages; /* linked by `of_tag` */
    struct cohort__list gets;
};

/* The one of TAG, or NULL. */
struct cohort__channel_any *cohort__channel_any_find(const struct cohort__channels *channels,
                                                     uint64_t tag);

/* The same, but makes it if there is none. NULL: out of memory. */
struct cohort__channel_any *cohort__channel_any_need(struct cohort__channels *channels,
                                                     uint64_t tag);

/* Sets *RET_MESSAGE to the first message with TAG, which stays where it is, or to NULL. False: out
 * of memory. */
bool cohort__channel_any_first(struct cohort__channels *channels, uint64_t tag,
                               struct cohort__message **ret_message);

/* Frees it if it is empty. */
void cohort__channel_any_tidy(struct cohort__channels *channels, struct cohort__channel_any *any);

void cohort__channel_any_fini(struct cohort__channels *channels);

#endif
