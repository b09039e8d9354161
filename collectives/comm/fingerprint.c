/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/datatype.h"
#include "runtime/base/hash.h"

enum { COLLECTIVE_BITS = 5, VARIANT_BITS = 2, EARLY_BITS = 8 };
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

/* A text that is cut off when it is full. */
struct text {
    char *bytes;
    size_t used;
    size_t capacity;
};

static void append(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->bytes + text->used, text->capacity - text->used, format, args);
    va_end(args);
    text->used += length > 0 ? (size_t)length : 0;
    if (text->used >= text->capacity)
        text->used = text->capacity - 1;
}

static void append_elements(struct text *text, const struct cohort__signature *signature)
{
    if (signature->datatype == 0)
        return;
    append(text, " of ");
    if (signature->variant == COHORT__VARIANT_EQUAL)
        append(text, "%" PRIu64 " ", signature->count);
    append(text, "%s", cohort_datatype_name(signature->datatype));
    if (signature->datatype > COHORT_DOUBLE)
        append(text, " of %zu bytes", cohort_datatype_size(signature->datatype));
    if (signature->count_is_hash)
        append(text, ", counts #%" PRIx64, signature->count);
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

static void append_name(struct text *text, const struct cohort__signature *signature)
{
    const struct cohort__signature_names *lookup = atomic_load(&names);
    uint32_t collective = signature->collective;
    append(text, "%s%s%s", purposes[signature->purpose],
           lookup ? lookup->collective(collective) : "?",
           lookup ? lookup->suffix(collective, (enum cohort__variant)signature->variant) : "");
}

void cohort__signature_name(const struct cohort__signature *signature, char *bytes, size_t capacity)
{
    struct text text = {.bytes = bytes, .capacity = capacity};
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
    struct text text = {.bytes = bytes, .capacity = capacity};
    uint32_t collective = signature->collective;
    const char *place = lookup ? lookup->place(collective) : NULL;
    append_name(&text, signature);
    append(&text, " (%s", lookup ? lookup->algorithm(signature->algorithm) : "?");
    if (signature->inner > 0)
        append(&text, "(%s)", lookup ? lookup->algorithm(signature->inner - 1U) : "?");
    append(&text, ")");
    append_elements(&text, signature);
    if (signature->op >> 63)
        append(&text, " with a user's operation #%08" PRIx32, (uint32_t)signature->op);
    else if (signature->op != 0)
        append(&text, " with %s", lookup ? lookup->op((uint32_t)signature->op) : "?");
    if (place)
        append(&text, ", %s %" PRIu32, place, signature->place);
    if (signature->checked)
        append(&text, ", checked");
}
