/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "cohort/datatype.h"
#include "runtime/base/hash.h"
#include "runtime/base/text.h"

enum { COLLECTIVE_BITS = 5, VARIANT_BITS = 3, EARLY_BITS = 9 };
static const uint64_t early_mask = (UINT64_C(1) << EARLY_BITS) - 1;

static const struct cohort__signature_names *_Atomic names;

uint64_t cohort__fingerprint(const struct cohort__signature *signature)
{
    /* Every field has its own bits, so different signatures give different words. */
    const uint64_t words[] = {
        signature->datatype,
        signature->count,
        signature->op,
        signature->place | (uint64_t)signature->algorithm << 32 | (uint64_t)signature->inner << 40 |
            (uint64_t)signature->count_is_hash << 48 | (uint64_t)signature->purpose << 49,
    };
    uint64_t early = (uint64_t)signature->collective |
                     (uint64_t)signature->variant << COLLECTIVE_BITS |
                     (uint64_t)signature->checked << (COLLECTIVE_BITS + VARIANT_BITS);
    uint64_t hash = early;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        hash = cohort__hash_mix(hash, words[i]);
    return hash << EARLY_BITS | early;
}

bool cohort__fingerprint_fits(uint64_t mine, uint64_t theirs, unsigned phase)
{
    uint64_t differing = mine ^ theirs;
    return differing == 0 || (phase == 0 && (differing & early_mask) == 0);
}

void cohort__signature_set_names(const struct cohort__signature_names *to)
{
    atomic_store(&names, to);
}

static bool is_users_type(uint64_t datatype)
{
    return datatype >> 63;
}

static void append_elements(struct cohort__text *text, const struct cohort__signature *signature)
{
    if (signature->datatype == 0)
        return;
    cohort__text_append(text, " of ");
    if (signature->variant == COHORT__VARIANT_EQUAL)
        cohort__text_append(text, "%" PRIu64 " ", signature->count);
    cohort__text_append(text, "%s", cohort_datatype_name(signature->datatype));
    if (is_users_type(signature->datatype))
        cohort__text_append(text, " of %zu bytes", cohort_datatype_size(signature->datatype));
    if (signature->count_is_hash)
        cohort__text_append(text, ", counts #%" PRIx64, signature->count);
}

/* What the library has called the collective for. */
static const char *const purposes[COHORT__NUM_PURPOSES] = {
    [COHORT__PURPOSE_NONE] = "",
    [COHORT__PURPOSE_SPLIT] = "split: ",
    [COHORT__PURPOSE_DUP] = "dup: ",
    [COHORT__PURPOSE_LOCALITY] = "split by localities: ",
    [COHORT__PURPOSE_DOMAIN] = "split by domains: ",
    [COHORT__PURPOSE_HOST] = "split by hosts: ",
    [COHORT__PURPOSE_NAMED] = "split by named level 1: ",
    [COHORT__PURPOSE_NAMED + 1] = "split by named level 2: ",
    [COHORT__PURPOSE_NAMED + 2] = "split by named level 3: ",
    [COHORT__PURPOSE_NAMED + 3] = "split by named level 4: ",
};

static void append_name(struct cohort__text *text, const struct cohort__signature *signature)
{
    const struct cohort__signature_names *lookup = atomic_load(&names);
    uint32_t collective = signature->collective;
    cohort__text_append(
        text, "%s%s%s", purposes[signature->purpose], lookup ? lookup->collective(collective) : "?",
        lookup ? lookup->suffix(collective, (enum cohort__variant)signature->variant) : "");
}

void cohort__signature_name(const struct cohort__signature *signature, char *bytes, size_t capacity)
{
    struct cohort__text text = {.bytes = bytes, .capacity = capacity};
    append_name(&text, signature);
}

bool cohort__signature_may_end_alone(const struct cohort__signature *signature)
{
    const struct cohort__signature_names *lookup = atomic_load(&names);
    return !lookup || lookup->may_end_alone(signature->collective);
}

void cohort__signature_describe(const struct cohort__signature *signature, char *bytes,
                                size_t capacity)
{
    const struct cohort__signature_names *lookup = atomic_load(&names);
    struct cohort__text text = {.bytes = bytes, .capacity = capacity};
    uint32_t collective = signature->collective;
    const char *place = lookup ? lookup->place(collective) : NULL;
    append_name(&text, signature);
    cohort__text_append(&text, " (%s", lookup ? lookup->algorithm(signature->algorithm) : "?");
    if (signature->inner > 0)
        cohort__text_append(&text, "(%s)", lookup ? lookup->algorithm(signature->inner - 1U) : "?");
    cohort__text_append(&text, ")");
    append_elements(&text, signature);
    if (signature->op >> 63)
        cohort__text_append(&text, " with a user's operation #%08" PRIx32, (uint32_t)signature->op);
    else if (signature->op != 0)
        cohort__text_append(&text, " with %s", lookup ? lookup->op((uint32_t)signature->op) : "?");
    if (place)
        cohort__text_append(&text, ", %s %" PRIu32, place, signature->place);
    if (signature->checked)
        cohort__text_append(&text, ", checked");
}
