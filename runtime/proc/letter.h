/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_LETTER_H
#define COHORT_RUNTIME_PROC_LETTER_H

#include "runtime/base/list.h"
#include "runtime/wire/envelope.h"

struct cohort__peer;
struct cohort__process;

/* What name registries write to each other. A letter may be longer than a message of the transport:
 * it is cut into as many as it takes, which may overtake each other, and put together again. In
 * their envelopes `handle` is the letter's number at its sender, `tag` says how many bytes it has,
 * and `generation` where in it the payload belongs. */
enum { COHORT__LETTER_BYTES_MAX = 256 << 20 };

/* Sends a copy of the letter to RANK, another locality, as cohort__send_control does: where it
 * can't be sent, being longer than that, the peer is dead. Any thread. */
void cohort__letter_send(struct cohort__process *process, uint32_t rank, const void *data,
                         size_t bytes);

/* For the router: a message of PEER with a part of a letter, which goes to the registry if that was
 * what it lacked. What makes no sense, or finds no memory, breaks the registry. */
void cohort__letter_arrived(struct cohort__process *process, struct cohort__peer *peer,
                            const struct cohort__envelope *envelope, const unsigned char *payload);

/* Frees the parts of letters in LETTERS, those of a peer. */
void cohort__letters_fini(struct cohort__list *letters);

#endif
