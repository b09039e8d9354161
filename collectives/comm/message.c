/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/message.h"

#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/proc/process.h"
#include "runtime/proc/fetch.h"
#include "runtime/wire/pack.h"

static void init(struct cohort__message *message, enum cohort__kind kind, uint32_t source_site,
                 uint64_t generation, uint64_t fingerprint, uint32_t tag)
{
    cohort__list_init(&message->parked);
    cohort__list_init(&message->of_tag);
    message->kind = kind;
    message->source_site = source_site;
    message->tag = tag;
    message->generation = generation;
    message->fingerprint = fingerprint;
    message->last_called = 0;
    message->bytes = 0;
    message->error = (struct cohort__error){0};
    message->arrival = NULL;
    message->taken_up = false;
    message->loan = NULL;
    message->attachment = NULL;
}

struct cohort__message *cohort__message_create(enum cohort__kind kind, uint32_t source_site,
                                               uint64_t generation, uint64_t fingerprint,
                                               uint32_t tag)
{
    struct cohort__message *message = cohort__slab_alloc(sizeof(*message));
    if (!message) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a message");
        return NULL;
    }
    init(message, kind, source_site, generation, fingerprint, tag);
    return message;
}

/* A question about a channel carries no text. */
static bool carries_error(enum cohort__kind kind, uint32_t tag, uint64_t generation)
{
    return kind == COHORT__KIND_ERROR || (kind == COHORT__KIND_ASK && generation != 0) ||
           (kind == COHORT__KIND_ANSWER &&
            (tag == COHORT__ANSWER_FAILED || tag == COHORT__ANSWER_MISMATCH));
}

bool cohort__message_carries_death(const struct cohort__message *message)
{
    return message->kind == COHORT__KIND_ANSWER && message->tag == COHORT__ANSWER_GONE;
}

cohort_status cohort__message_unpack_error(const void *data, size_t n, struct cohort__error *error)
{
    struct cohort__unpacked *unpacked;
    cohort_status wrong = cohort__unpack(&unpacked, data, n, "error of a peer");
    if (wrong)
        return wrong;
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    int64_t status;
    const char *text;
    size_t bytes;
    wrong = cohort__get_signed(unpacked, map, "status", &status);
    if (!wrong)
        wrong = cohort__get_text(unpacked, map, "text", &text, &bytes);
    if (!wrong && (status >= 0 || status < COHORT_ERR_REVOKED))
        wrong = cohort_fail(COHORT_ERR_PROTOCOL, "error of a peer: status %d", (int)status);
    if (!wrong)
        cohort__error_set(error, (cohort_status)status, "%.*s", (int)bytes, text);
    cohort__unpacked_destroy(unpacked);
    return wrong;
}

/* Without memory for its words an error comes without them. */
static cohort_status read_error(struct cohort__message *message, const void *data, size_t bytes)
{
    if (bytes > 0)
        return cohort__message_unpack_error(data, bytes, &message->error);
    cohort__error_set(&message->error, COHORT_ERR_NO_MEMORY,
                      "site %u tells of an error, and has no memory for its words",
                      message->source_site);
    return COHORT_OK;
}

struct cohort__message *cohort__message_from_arrival(struct cohort__arrival *arrival)
{
    struct cohort__arrival *kept = cohort__arrival_keep(arrival);
    if (!kept) {
        cohort__arrival_release(arrival);
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to keep a message");
        return NULL;
    }
    arrival = kept;
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct cohort__message *message =
        cohort__message_create(envelope->kind, envelope->source_site, envelope->generation,
                               envelope->fingerprint, envelope->tag);
    if (!message) {
        cohort__arrival_release(arrival);
        return NULL;
    }
    message->arrival = arrival;
    if (envelope->kind == COHORT__KIND_ANSWER)
        message->last_called = envelope->handle;
    else if (envelope->kind == COHORT__KIND_ANNOUNCE)
        message->bytes = envelope->total_bytes;
    else
        message->bytes = envelope->payload_bytes;
    /* The answer has overtaken other messages, so data that the site has sent may still be on its
     * way. Then the site is asked again. */
    if (message->kind == COHORT__KIND_ANSWER && message->tag == COHORT__ANSWER_COMPLETED &&
        arrival->is_ahead)
        message->tag = COHORT__ANSWER_IN_FLIGHT;
    if (carries_error(message->kind, message->tag, message->generation) &&
        read_error(message, arrival->data, envelope->payload_bytes)) {
        cohort__message_release(message);
        return NULL;
    }
    /* Who has gone because of a death that is not known here yet has not gone by itself. */
    if (cohort__message_carries_death(message) &&
        cohort__death_receive(arrival->process, arrival->data, envelope->payload_bytes)) {
        message->tag = COHORT__ANSWER_IN_FLIGHT;
        message->last_called = 0;
    }
    return message;
}

static void give_back(struct cohort__message *message)
{
    if (message->loan)
        cohort__actor_post(message->loan->owner, &message->loan->returned);
    if (message->attachment)
        message->attachment->release(message->attachment);
    if (message->arrival && message->kind == COHORT__KIND_ANNOUNCE && !message->taken_up)
        cohort__fetch_decline(message->arrival->process, message->arrival->envelope.source_locality,
                              message->arrival->envelope.handle);
    cohort__arrival_release(message->arrival);
    cohort__error_fini(&message->error);
}

void cohort__message_release(struct cohort__message *message)
{
    if (!message)
        return;
    give_back(message);
    cohort__slab_free(message);
}

void cohort__message_answer(struct cohort__message *message, uint32_t site, uint64_t number,
                            enum cohort__answer answer)
{
    const uint64_t generation = message->generation;
    give_back(message);
    init(message, COHORT__KIND_ANSWER, site, generation, number, answer);
}

void cohort__message_pack_error(struct cohort__packer *packer, const struct cohort__error *error)
{
    cohort__pack_map(packer, 2);
    cohort__pack_field_signed(packer, "status", error->status);
    cohort__pack_field_text(packer, "text", cohort__error_message(error));
}

void cohort__message_pack(const struct cohort__message *message, const struct cohort__death *death,
                          struct cohort__packer *packer)
{
    if (carries_error(message->kind, message->tag, message->generation))
        cohort__message_pack_error(packer, &message->error);
    else if (death && cohort__message_carries_death(message))
        cohort__death_pack(packer, death);
}
