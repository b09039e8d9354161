/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/business_card.h"

#include "runtime/wire/schema.h"

static const struct cohort__field card_fields[] = {
    COHORT__FIELD(struct cohort__business_card, key, UINT64_MAX),
    COHORT__FIELD(struct cohort__business_card, listener_id, UINT64_MAX),
    COHORT__CHARS(struct cohort__business_card, host),
    COHORT__CHARS(struct cohort__business_card, name),
};
const struct cohort__schema cohort__business_card_schema =
    COHORT__SCHEMA(struct cohort__business_card, card_fields, COHORT__BUSINESS_CARD_VERSION);

static const struct cohort__field counts_fields[] = {
    COHORT__FIELD(struct cohort__pmix_counts, sent, UINT64_MAX),
    COHORT__FIELD(struct cohort__pmix_counts, received, UINT64_MAX),
    COHORT__FIELD(struct cohort__pmix_counts, busy, 1),
};
const struct cohort__schema cohort__pmix_counts_schema =
    COHORT__SCHEMA(struct cohort__pmix_counts, counts_fields, 0);
