/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copy.h"

#include <stdint.h>
#include <string.h>

void cohort__copy(void *to, const void *from, size_t bytes)
{
    typedef uint64_t part __attribute__((vector_size(16), aligned(1), may_alias));
    enum { PARTS = 4 };
    size_t at;
    for (at = 0; bytes - at >= PARTS * sizeof(part); at += PARTS * sizeof(part)) {
        const part *source = (const part *)(const void *)((const char *)from + at);
        part *target = (part *)(void *)((char *)to + at);
        part a = source[0], b = source[1], c = source[2], d = source[3];
        target[0] = a;
        target[1] = b;
        target[2] = c;
        target[3] = d;
    }
    memcpy((char *)to + at, (const char *)from + at, bytes - at);
}
