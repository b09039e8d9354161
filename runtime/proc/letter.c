/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/letter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/send.h"

/* A letter of which a part is missing. */
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
    size_t most = cohort__net_max_message(process->net, rank) - COHORT__ENVELOPE_BYTES;
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_REGISTRY,
        .handle = atomic_fetch_add(&process->next_handle, 1),
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

/* *RET_WHOLE is the letter if no part is missing any more. It then belongs to the caller. Otherwise
 * NULL. */
static cohort_status collect(struct cohort__list *letters, const struct cohort__envelope *envelope,
                             const unsigned char *payload, struct letter **ret_whole)
{
    size_t bytes = envelope->payload_bytes;
    *ret_whole = NULL;
    if (envelope->tag > COHORT__LETTER_BYTES_MAX || envelope->generation > envelope->tag ||
        bytes > envelope->tag - envelope->generation)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%zu bytes from byte %llu on of a letter of %u bytes", bytes,
                           (unsigned long long)envelope->generation, envelope->tag);
    struct letter *letter = find(letters, envelope);
    if (!letter)
        return COHORT_ERR_NO_MEMORY;
    if (letter->bytes != envelope->tag || bytes > letter->bytes - letter->arrived)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a letter of %zu bytes that has more",
                           letter->bytes);
    memcpy(letter->data + envelope->generation, payload, bytes);
    letter->arrived += bytes;
    if (letter->arrived == letter->bytes) {
        cohort__list_remove(&letter->link);
        *ret_whole = letter;
    }
    return COHORT_OK;
}

void cohort__letter_arrived(struct cohort__process *process, struct cohort__peer *peer,
                            const struct cohort__envelope *envelope, const unsigned char *payload)
{
    struct letter *whole = NULL;
    if (envelope->generation == 0 && envelope->payload_bytes == envelope->tag) {
        cohort__registry_message(process->registry, peer->rank, payload, envelope->tag);
        return;
    }
    cohort_status status = collect(&peer->letters, envelope, payload, &whole);
    if (status)
        cohort__registry_lost(process->registry, peer->rank, status);
    if (whole)
        cohort__registry_message(process->registry, peer->rank, whole->data, whole->bytes);
    free(whole);
}

void cohort__letters_fini(struct cohort__list *letters)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(letters)))
        free(COHORT_CONTAINER_OF(link, struct letter, link));
}
