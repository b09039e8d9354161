/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the byte order of numbers in these messages. */
#ifndef COHORT_TOOLS_COHORTRUN_BYTES_H
#define COHORT_TOOLS_COHORTRUN_BYTES_H

#include <stdint.h>

/* Numbers on a node_link: little-endian. */
static inline void bytes_put_u32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint32_t bytes_get_u32(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline void bytes_put_u64(unsigned char *to, uint64_t value)
{
    bytes_put_u32(to, (uint32_t)value);
    bytes_put_u32(to + 4, (uint32_t)(value >> 32));
}

static inline uint64_t bytes_get_u64(const unsigned char *from)
{
    return bytes_get_u32(from) | (uint64_t)bytes_get_u32(from + 4) << 32;
}

#endif
