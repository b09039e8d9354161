/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/datatype.h"
#include "runtime/base/hash.h"

enum {
    COLLECTIVE_SHIFT = 0,
    ALGORITHM_SHIFT = 4,
    DATATYPE_SHIFT = 12,
    OP_SHIFT = 20,
    COUNT_SHIFT = 28,
};

static const struct cohort__fingerprint_names *_Atomic names;

/* VALUE, or its hash with the top bit set, in BITS bits. */
static uint64_t squeeze(uint64_t value, uint64_t hashed, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    return value < top ? value : top | (cohort__hash_u64(hashed) & (top - 1));
}

uint64_t cohort__fingerprint(const struct cohort__fingerprint_parts *parts)
{
    return (uint64_t)(parts->collective & 15) << COLLECTIVE_SHIFT |
           (uint64_t)(parts->algorithm & 255) << ALGORITHM_SHIFT |
           squeeze(parts->datatype, parts->datatype, 8) << DATATYPE_SHIFT |
           squeeze(parts->op, parts->op_hash, 8) << OP_SHIFT |
           squeeze(parts->count, parts->count, 36) << COUNT_SHIFT;
}

void cohort__fingerprint_set_names(const struct cohort__fingerprint_names *to)
{
    atomic_store(&names, to);
}

void cohort__fingerprint_describe(uint64_t fingerprint, char *text, size_t bytes)
{
    const struct cohort__fingerprint_names *lookup = atomic_load(&names);
    uint32_t collective = fingerprint >> COLLECTIVE_SHIFT & 15;
    uint32_t algorithm = fingerprint >> ALGORITHM_SHIFT & 255;
    uint32_t datatype = fingerprint >> DATATYPE_SHIFT & 255;
    uint32_t op = fingerprint >> OP_SHIFT & 255;
    uint64_t count = fingerprint >> COUNT_SHIFT;
    const char *type = datatype >= 128 ? "user-typed element(s)" : cohort_datatype_name(datatype);
    char amount[32] = "very many";
    if (count < UINT64_C(1) << 35)
        snprintf(amount, sizeof(amount), "%" PRIu64, count);
    int used = snprintf(text, bytes, "%s (%s)", lookup ? lookup->collective(collective) : "?",
                        lookup ? lookup->algorithm(algorithm) : "?");
    if (datatype != 0 && used > 0 && (size_t)used < bytes)
        used += snprintf(text + used, bytes - (size_t)used, " of %s %s", amount, type);
    if (op != 0 && used > 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, " with %s",
                 op >= 128 ? "a user's operation"
                 : lookup  ? lookup->op(op)
                           : "?");
}
