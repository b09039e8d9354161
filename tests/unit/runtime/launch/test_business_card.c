/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/business_card.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/wire/pack.h"
#include "tests/support/test.h"

TEST(card)
{
    struct cohort__business_card card = {
        .key = UINT64_MAX, .listener_id = UINT64_MAX - 1, .host = "kernel/1", .name = "a.example"};
    struct cohort__business_card read = {0};
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, &cohort__business_card_schema, &card);
    CHECK_OK(cohort__schema_unpack(&cohort__business_card_schema, packer.data, packer.bytes, "card",
                                   &read));
    CHECK(read.key == UINT64_MAX);
    CHECK(read.listener_id == UINT64_MAX - 1);
    CHECK_TEXT(read.host, "kernel/1");
    CHECK_TEXT(read.name, "a.example");
    cohort__packer_fini(&packer);
}

TEST(counts)
{
    struct cohort__pmix_counts counts = {1ull << 63, 5, true}, read = {0};
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, &cohort__pmix_counts_schema, &counts);
    CHECK_OK(cohort__schema_unpack(&cohort__pmix_counts_schema, packer.data, packer.bytes, "counts",
                                   &read));
    CHECK(read.sent == 1ull << 63 && read.received == 5 && read.busy);
    cohort__packer_fini(&packer);
}

static void check_refused(struct cohort__packer *packer, const char *text)
{
    struct cohort__business_card card;
    CHECK_INT(cohort__schema_unpack(&cohort__business_card_schema, packer->data, packer->bytes,
                                    "the card of process 4", &card),
              COHORT_ERR_PROTOCOL);
    CHECK(strstr(cohort_error_message(), "the card of process 4"));
    CHECK(strstr(cohort_error_message(), text));
    cohort__packer_fini(packer);
}

static void pack(struct cohort__packer *packer, unsigned version, const char *host)
{
    cohort__pack_map(packer, 5);
    cohort__pack_field_unsigned(packer, "version", version);
    cohort__pack_field_unsigned(packer, "key", 1);
    cohort__pack_field_unsigned(packer, "listener_id", 2);
    cohort__pack_field_bytes(packer, "host", host, strlen(host));
    cohort__pack_field_bytes(packer, "name", "name", 4);
}

TEST(bad_cards)
{
    struct cohort__packer packer = {0};
    char host[COHORT__PLACE_HOST_BYTES + 1];
    memset(host, 'h', sizeof(host) - 1);
    host[sizeof(host) - 1] = 0;
    pack(&packer, COHORT__BUSINESS_CARD_VERSION + 1, "host");
    check_refused(&packer, "version 4");
    pack(&packer, COHORT__BUSINESS_CARD_VERSION, host);
    check_refused(&packer, "80 bytes");
    cohort__pack_map(&packer, 0);
    check_refused(&packer, "version");
    pack(&packer, COHORT__BUSINESS_CARD_VERSION, "host");
    packer.bytes--;
    check_refused(&packer, "");
}

/* No prefix of a card or of counts is valid. */
TEST(cut)
{
    struct cohort__business_card card = {.host = "h", .name = "n"};
    struct cohort__pmix_counts counts = {1, 2, false};
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, &cohort__business_card_schema, &card);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(
            cohort__schema_unpack(&cohort__business_card_schema, packer.data, bytes, "card", &card),
            COHORT_ERR_PROTOCOL);
    cohort__packer_reset(&packer);
    cohort__schema_pack(&packer, &cohort__pmix_counts_schema, &counts);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(cohort__schema_unpack(&cohort__pmix_counts_schema, packer.data, bytes, "counts",
                                        &counts),
                  COHORT_ERR_PROTOCOL);
    cohort__packer_fini(&packer);
}
