/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/datatype.h"
#include "runtime/base/hash.h"

struct field {
    unsigned shift;
    unsigned bits;
};
static const struct field collective_field = {0, 5};
static const struct field algorithm_field = {5, 8};
static const struct field datatype_field = {13, 8};
static const struct field op_field = {21, 7};
static const struct field place_field = {28, 7};
static const struct field variant_field = {35, 2};
static const struct field checked_field = {37, 1};
static const struct field count_field = {38, 26};

static const struct cohort__fingerprint_names *_Atomic names;

static uint64_t top_of(struct field field)
{
    return UINT64_C(1) << (field.bits - 1);
}

static uint64_t put(struct field field, uint64_t value)
{
    return (value & (2 * top_of(field) - 1)) << field.shift;
}

static uint64_t put_hash(struct field field, uint64_t hashed)
{
    return put(field, top_of(field) | cohort__hash_u64(hashed));
}

/* VALUE, or its hash with the top bit set. */
static uint64_t squeeze(struct field field, uint64_t value, uint64_t hashed)
{
    return value < top_of(field) ? put(field, value) : put_hash(field, hashed);
}

static uint64_t get(struct field field, uint64_t fingerprint)
{
    return fingerprint >> field.shift & (2 * top_of(field) - 1);
}

static bool is_hash(struct field field, uint64_t fingerprint)
{
    return get(field, fingerprint) >= top_of(field);
}

uint64_t cohort__fingerprint(const struct cohort__fingerprint_parts *parts)
{
    return put(collective_field, parts->collective) | put(algorithm_field, parts->algorithm) |
           squeeze(datatype_field, parts->datatype, parts->datatype) |
           squeeze(op_field, parts->op, parts->op_hash) |
           squeeze(place_field, parts->place, parts->place) | put(variant_field, parts->variant) |
           put(checked_field, parts->checked) |
           (parts->count_is_hash ? put_hash(count_field, parts->count)
                                 : squeeze(count_field, parts->count, parts->count));
}

bool cohort__fingerprint_fits(uint64_t mine, uint64_t theirs, unsigned phase)
{
    uint64_t differing = mine ^ theirs;
    if (phase > 0 || differing == 0)
        return differing == 0;
    return get(collective_field, differing) == 0 && get(variant_field, differing) == 0 &&
           get(checked_field, differing) == 0;
}

void cohort__fingerprint_set_names(const struct cohort__fingerprint_names *to)
{
    atomic_store(&names, to);
}

/* A text that is cut where it is full. */
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

static void append_elements(struct text *text, uint64_t fingerprint)
{
    uint64_t datatype = get(datatype_field, fingerprint);
    bool equal = get(variant_field, fingerprint) == COHORT__VARIANT_EQUAL;
    if (datatype == 0)
        return;
    append(text, " of ");
    if (equal && is_hash(count_field, fingerprint))
        append(text, "very many ");
    else if (equal)
        append(text, "%" PRIu64 " ", get(count_field, fingerprint));
    append(text, "%s",
           is_hash(datatype_field, fingerprint) ? "user-typed element(s)"
                                                : cohort_datatype_name(datatype));
    if (!equal && is_hash(count_field, fingerprint))
        append(text, ", counts #%" PRIx64, get(count_field, fingerprint));
}

void cohort__fingerprint_describe(uint64_t fingerprint, char *bytes, size_t capacity)
{
    const struct cohort__fingerprint_names *lookup = atomic_load(&names);
    struct text text = {.bytes = bytes, .capacity = capacity};
    uint32_t collective = (uint32_t)get(collective_field, fingerprint);
    uint32_t op = (uint32_t)get(op_field, fingerprint);
    enum cohort__variant variant = (enum cohort__variant)get(variant_field, fingerprint);
    const char *place = lookup ? lookup->place(collective) : NULL;
    append(&text, "%s%s (%s)", lookup ? lookup->collective(collective) : "?",
           lookup ? lookup->suffix(collective, variant) : "",
           lookup ? lookup->algorithm((uint32_t)get(algorithm_field, fingerprint)) : "?");
    append_elements(&text, fingerprint);
    if (op != 0)
        append(&text, " with %s",
               is_hash(op_field, fingerprint) ? "a user's operation"
               : lookup                       ? lookup->op(op)
                                              : "?");
    if (place && is_hash(place_field, fingerprint))
        append(&text, ", %s %" PRIu64 " or more", place, top_of(place_field));
    else if (place)
        append(&text, ", %s %" PRIu64, place, get(place_field, fingerprint));
    if (get(checked_field, fingerprint))
        append(&text, ", checked");
}
