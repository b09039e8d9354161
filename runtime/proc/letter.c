/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/letter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/send.h"

/* A letter of which a part is missing, or that is before its turn. */
struct letter {
    struct cohort__list link; /* in its peer's `letters` */
    uint64_t number;
    size_t bytes;
    size_t arrived;
    unsigned char data[];
};

void cohort__letter_send(struct cohort__process *process, uint32_t rank, const void *data,
                         size_t bytes)
{
    if (bytes > COHORT__LETTER_BYTES_MAX) {
        char why[120];
        snprintf(why, sizeof(why), "can't be told: a letter of %zu bytes; %d are possible", bytes,
                 COHORT__LETTER_BYTES_MAX);
        cohort__process_give_up(process, rank, why);
        return;
    }
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    if (!peer) {
        cohort__process_give_up(process, rank, "can't be told: out of memory here");
        return;
    }
    size_t most = cohort__peer_max_payload(process, peer);
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_REGISTRY,
        .handle = atomic_fetch_add(&peer->num_letters, 1),
        .tag = (uint32_t)bytes,
    };
    for (size_t done = 0; done < bytes; done += most) {
        size_t rest = bytes - done;
        envelope.generation = done;
        cohort__send_control(process, rank, &envelope, (const unsigned char *)data + done,
                             rest < most ? rest : most);
    }
}

/* The letter that ENVELOPE belongs to. It is created for its first part. NULL with the error
 * set. */
static struct letter *find(struct cohort__list *letters, const struct cohort__envelope *envelope)
{
    struct letter *letter;
    for (struct cohort__list *link = letters->next; link != letters; link = link->next) {
        letter = COHORT_CONTAINER_OF(link, struct letter, link);
        if (letter->number == envelope->handle)
            return letter;
    }
    letter = calloc(1, sizeof(*letter) + envelope->tag);
    if (!letter) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a letter of %u bytes", envelope->tag);
        return NULL;
    }
    letter->number = envelope->handle;
    letter->bytes = envelope->tag;
    cohort__list_push_back(letters, &letter->link);
    return letter;
}

static cohort_status collect(struct cohort__peer *peer, const struct cohort__envelope *envelope,
                             const unsigned char *payload)
{
    size_t bytes = envelope->payload_bytes;
    if (envelope->tag > COHORT__LETTER_BYTES_MAX || envelope->generation > envelope->tag ||
        bytes > envelope->tag - envelope->generation)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%zu bytes from byte %llu on of a letter of %u bytes", bytes,
                           (unsigned long long)envelope->generation, envelope->tag);
    if (envelope->handle < peer->next_letter && !peer->has_lost_letters)
        return cohort_fail(COHORT_ERR_PROTOCOL, "letter %llu a second time",
                           (unsigned long long)envelope->handle);
    struct letter *letter = find(&peer->letters, envelope);
    if (!letter)
        return COHORT_ERR_NO_MEMORY;
    if (letter->bytes != envelope->tag || bytes > letter->bytes - letter->arrived)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a letter of %zu bytes that has more",
                           letter->bytes);
    memcpy(letter->data + envelope->generation, payload, bytes);
    letter->arrived += bytes;
    return COHORT_OK;
}

/* Takes out a letter of PEER that is whole and whose turn it is. NULL: there is none. */
static struct letter *take_next(struct cohort__peer *peer)
{
    for (struct cohort__list *link = peer->letters.next; link != &peer->letters;
         link = link->next) {
        struct letter *letter = COHORT_CONTAINER_OF(link, struct letter, link);
        if (letter->arrived == letter->bytes &&
            (letter->number == peer->next_letter || peer->has_lost_letters)) {
            cohort__list_remove(link);
            return letter;
        }
    }
    return NULL;
}

void cohort__letter_arrived(struct cohort__process *process, struct cohort__peer *peer,
                            const struct cohort__envelope *envelope, const unsigned char *payload)
{
    struct letter *next;
    if (envelope->handle == peer->next_letter && envelope->generation == 0 &&
        envelope->payload_bytes == envelope->tag) {
        peer->next_letter++;
        cohort__registry_message(process->registry, peer->rank, payload, envelope->tag);
    } else {
        cohort_status status = collect(peer, envelope, payload);
        peer->has_lost_letters |= status != COHORT_OK;
        if (status)
            cohort__registry_lost(process->registry, peer->rank, status);
    }
    while ((next = take_next(peer))) {
        peer->next_letter++;
        cohort__registry_message(process->registry, peer->rank, next->data, next->bytes);
        free(next);
    }
}

void cohort__letters_fini(struct cohort__list *letters)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(letters)))
        free(COHORT_CONTAINER_OF(link, struct letter, link));
}
