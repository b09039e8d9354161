/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/random.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

struct cohort__random cohort__random_seeded(uint64_t seed)
{
    struct cohort__random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = splitmix(&seed);
    return random;
}

uint64_t cohort__random_next(struct cohort__random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t cohort__random_below(struct cohort__random *random, uint64_t limit)
{
    /* The lowest 2^64 mod LIMIT numbers are not used: they would make some results more likely. */
    uint64_t unfair = -limit % limit;
    uint64_t number = cohort__random_next(random);
    while (number < unfair)
        number = cohort__random_next(random);
    return number % limit;
}
