/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_HASH_H
#define COHORT_RUNTIME_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hashes are the same on every machine, so they may be sent to others. They don't protect
 * against an attacker. */

/* FNV-1a with 64 bits. */
static inline uint64_t cohort__hash_bytes(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The finalizer of MurmurHash3: a bijection in which every input bit affects every output bit. */
static inline uint64_t cohort__hash_u64(uint64_t value)
{
    value = (value ^ (value >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ (value >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ (value >> 33);
}

/* HASH, continued with VALUE; the order matters. */
static inline uint64_t cohort__hash_mix(uint64_t hash, uint64_t value)
{
    return cohort__hash_u64((hash ^ cohort__hash_u64(value)) + UINT64_C(0x9e3779b97f4a7c15));
}

#endif
