/* SPDX-License-Identifier: Apache-2.0 */
/* Valid messages with seeded mutations. If a message is accepted, encoding the result has to give
 * the same bytes. If it is refused, the result must be untouched and there must be an error
 * message. */
#include "runtime/wire/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { ROUNDS = 1000000, MAX_PAYLOAD = 64 };

static size_t valid_message(struct cohort__random *random, unsigned char *bytes)
{
    enum cohort__kind kind =
        (enum cohort__kind)(1 + cohort__random_below(random, COHORT__KIND_END - 1));
    struct cohort__envelope e = {
        .kind = kind,
        .source_locality = (uint32_t)cohort__random_next(random),
        .job_key = cohort__random_next(random),
        .credit = (uint32_t)cohort__random_below(random, COHORT__ENVELOPE_MAX_CREDIT + 1),
        .drained = (uint32_t)cohort__random_below(random, COHORT__ENVELOPE_MAX_DRAINED + 1),
        .generation = cohort__random_next(random),
        .handle = cohort__random_next(random),
        .number = (uint32_t)cohort__random_next(random),
        .segment = (uint32_t)cohort__random_next(random),
        .incarnation = (uint32_t)cohort__random_next(random),
    };
    if (kind == COHORT__KIND_ANNOUNCE) {
        e.payload_bytes = COHORT__ENVELOPE_TOKEN_BYTES;
        e.total_bytes = 1 + cohort__random_below(random, 1 << 20);
    } else if (kind == COHORT__KIND_DATA || kind == COHORT__KIND_ERROR) {
        e.payload_bytes = 1 + (uint32_t)cohort__random_below(random, MAX_PAYLOAD);
    } else if (kind == COHORT__KIND_REGISTRY) {
        e.payload_bytes = 1;
    } else if (kind == COHORT__KIND_FRAGMENT) {
        e.payload_bytes = 1 + (uint32_t)cohort__random_below(random, MAX_PAYLOAD);
        e.offset = (uint32_t)cohort__random_below(random, 1000);
        e.total_bytes = e.offset + e.payload_bytes + 1 + cohort__random_below(random, 1000);
    }
    cohort__envelope_encode(&e, bytes);
    return COHORT__ENVELOPE_BYTES + e.payload_bytes;
}

static size_t mutate(struct cohort__random *random, unsigned char *bytes, size_t n)
{
    for (uint64_t i = cohort__random_below(random, 4); i > 0; i--) {
        size_t at = cohort__random_below(random, COHORT__ENVELOPE_BYTES);
        if (cohort__random_below(random, 2))
            bytes[at] = (unsigned char)cohort__random_next(random);
        else
            bytes[at] ^= (unsigned char)(1u << cohort__random_below(random, 8));
    }
    if (cohort__random_below(random, 8) == 0)
        n = cohort__random_below(random, COHORT__ENVELOPE_BYTES + MAX_PAYLOAD + 1);
    return n;
}

/* Decodes from memory of exactly N bytes, so that the address sanitizer detects reads beyond the
 * end. */
static bool decode_exactly(const unsigned char *bytes, size_t n)
{
    unsigned char *copy = malloc(n > 0 ? n : 1);
    CHECK(copy != NULL);
    memcpy(copy, bytes, n);
    struct cohort__envelope e;
    memset(&e, 0x5a, sizeof e);
    struct cohort__envelope before = e;
    cohort_status st = cohort__envelope_decode(copy, n, &e);
    if (st == COHORT_OK) {
        unsigned char again[COHORT__ENVELOPE_BYTES];
        cohort__envelope_encode(&e, again);
        CHECK(memcmp(again, copy, sizeof again) == 0);
        CHECK(e.payload_bytes == n - COHORT__ENVELOPE_BYTES);
        bool has_total = e.kind == COHORT__KIND_ANNOUNCE || e.kind == COHORT__KIND_FRAGMENT;
        CHECK(has_total || e.total_bytes == 0);
    } else {
        CHECK_INT(st, COHORT_ERR_PROTOCOL);
        CHECK(cohort_error_message()[0] != '\0');
        CHECK(memcmp(&e, &before, sizeof e) == 0);
    }
    free(copy);
    return st == COHORT_OK;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    size_t num_accepted = 0;
    struct cohort__random random = cohort__random_seeded(seed);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char bytes[COHORT__ENVELOPE_BYTES + MAX_PAYLOAD] = {0};
        size_t n = valid_message(&random, bytes);
        num_accepted += decode_exactly(bytes, mutate(&random, bytes, n));
    }
    fprintf(stderr, "seed %llu: %zu of %d accepted\n", (unsigned long long)seed, num_accepted,
            ROUNDS);
    CHECK(num_accepted > ROUNDS / 4 && num_accepted < ROUNDS);
    return 0;
}
