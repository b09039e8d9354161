/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what it tells of its job to whoever asks how that is. */
#include "tools/cohortrun/status/card.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/launch/control.h"
#include "runtime/wire/schema.h"

void card_name(uint32_t user, int pid, char ret_name[CARD_NAME_BYTES])
{
    snprintf(ret_name, CARD_NAME_BYTES, CARD_NAME_FORMAT, (unsigned)user, pid);
}

static const struct cohort__field locality[] = {
    COHORT__FIELD(struct card_locality, pid, INT_MAX),
    COHORT__FIELD(struct card_locality, host, CARD_MAX_BYTES),
    COHORT__FIELD(struct card_locality, end, CARD_MAX_BYTES),
};
static const struct cohort__schema locality_schema =
    COHORT__SCHEMA(struct card_locality, locality, 0);

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct card, pid, INT_MAX),
    COHORT__FIELD(struct card, first, COHORT__CONTROL_MAX_LOCALITIES),
    COHORT__FIELD(struct card, num, COHORT__CONTROL_MAX_LOCALITIES),
    COHORT__FIELD(struct card, program, CARD_MAX_BYTES),
    COHORT__LIST(0, struct card, localities, size, COHORT__CONTROL_MAX_LOCALITIES,
                 &locality_schema),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct card, fields, CARD_VERSION);

void card_pack(struct cohort__packer *packer, const struct card *card)
{
    cohort__schema_pack(packer, &schema, card);
}

cohort_status card_read(struct card **ret_card, const void *message, size_t bytes)
{
    void *block;
    cohort_status status =
        cohort__schema_unpack_block(&schema, message, bytes, "the answer of cohortrun", &block);
    if (status)
        return status;
    struct card *card = block;
    if ((uint64_t)card->first + card->num > card->size) {
        status = cohort_fail(COHORT_ERR_PROTOCOL,
                             "the answer of cohortrun: %u localities from locality %u on, of %u",
                             (unsigned)card->num, (unsigned)card->first, (unsigned)card->size);
        free(card);
        return status;
    }
    *ret_card = card;
    return COHORT_OK;
}
