/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_LETTER_H
#define COHORT_RUNTIME_PROC_LETTER_H

#include "runtime/base/list.h"
#include "runtime/wire/envelope.h"

struct cohort__peer;
struct cohort__process;

/* Letters are the messages between name registries. A letter may be longer than a message of the
 * transport. So it is split into as many messages as necessary, and put together again. These may
 * overtake each other, but the letters are read in the order in which they were sent. In their
 * envelopes `handle` is the letter's number among those to this peer, from 0, `tag` is the letter's
 * length in bytes, and `generation` is the offset of the payload in the letter. */
enum { COHORT__LETTER_BYTES_MAX = 256 << 20 };

/* Sends a copy of the letter to RANK, another locality, as cohort__send_control does. If it can't
 * be sent, or is longer than COHORT__LETTER_BYTES_MAX, the peer counts as dead. Any thread. */
void cohort__letter_send(struct cohort__process *process, uint32_t rank, const void *data,
                         size_t bytes);

/* For the router: takes a message of PEER with a part of a letter. When its last missing part has
 * come, and all letters before it, the letter goes to the registry. If a part makes no sense, or
 * there is no memory for it, the registry becomes broken, and order is of no use any more. */
void cohort__letter_arrived(struct cohort__process *process, struct cohort__peer *peer,
                            const struct cohort__envelope *envelope, const unsigned char *payload);

/* Frees the letters in LETTERS, the list of a peer. */
void cohort__letters_fini(struct cohort__list *letters);

#endif
