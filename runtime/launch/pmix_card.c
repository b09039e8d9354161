/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/pmix_card.h"

#include <string.h>

#include "runtime/wire/pack.h"

void cohort__pmix_card_pack(struct cohort__packer *packer, const struct cohort__pmix_card *card)
{
    cohort__pack_map(packer, 5);
    cohort__pack_field_unsigned(packer, "version", COHORT__PMIX_CARD_VERSION);
    cohort__pack_field_unsigned(packer, "key", card->key);
    cohort__pack_field_unsigned(packer, "listener_id", card->listener_id);
    cohort__pack_field_text(packer, "host", card->host);
    cohort__pack_field_text(packer, "name", card->name);
}

static cohort_status read_text(const struct cohort__unpacked *unpacked, const char *key,
                               const char *what, char *ret_text, size_t capacity)
{
    const char *text;
    size_t bytes;
    cohort_status status =
        cohort__get_text(unpacked, cohort__unpacked_root(unpacked), key, &text, &bytes);
    if (status)
        return status;
    if (bytes >= capacity)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: %s has %zu bytes", what, key, bytes);
    memcpy(ret_text, text, bytes);
    ret_text[bytes] = 0;
    return COHORT_OK;
}

static cohort_status read_card(const struct cohort__unpacked *unpacked, const char *what,
                               struct cohort__pmix_card *card)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t version = 0;
    cohort_status status = cohort__get_unsigned(unpacked, map, "version", UINT32_MAX, &version);
    if (!status && version != COHORT__PMIX_CARD_VERSION)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s has version %u, this program's is %d", what,
                             (unsigned)version, COHORT__PMIX_CARD_VERSION);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "key", UINT64_MAX, &card->key);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "listener_id", UINT64_MAX, &card->listener_id);
    if (!status)
        status = read_text(unpacked, "host", what, card->host, sizeof(card->host));
    if (!status)
        status = read_text(unpacked, "name", what, card->name, sizeof(card->name));
    return status;
}

cohort_status cohort__pmix_card_read(const void *data, size_t bytes, const char *what,
                                     struct cohort__pmix_card *ret_card)
{
    struct cohort__unpacked *unpacked;
    struct cohort__pmix_card card;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    status = read_card(unpacked, what, &card);
    cohort__unpacked_destroy(unpacked);
    if (!status)
        *ret_card = card;
    return status;
}

void cohort__pmix_counts_pack(struct cohort__packer *packer,
                              const struct cohort__pmix_counts *counts)
{
    cohort__pack_map(packer, 3);
    cohort__pack_field_unsigned(packer, "sent", counts->sent);
    cohort__pack_field_unsigned(packer, "received", counts->received);
    cohort__pack_field_bool(packer, "busy", counts->busy);
}

cohort_status cohort__pmix_counts_read(const void *data, size_t bytes, const char *what,
                                       struct cohort__pmix_counts *ret_counts)
{
    struct cohort__unpacked *unpacked;
    struct cohort__pmix_counts counts;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    status = cohort__get_unsigned(unpacked, map, "sent", UINT64_MAX, &counts.sent);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "received", UINT64_MAX, &counts.received);
    if (!status)
        status = cohort__get_bool(unpacked, map, "busy", &counts.busy);
    cohort__unpacked_destroy(unpacked);
    if (!status)
        *ret_counts = counts;
    return status;
}
