/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <string.h>

#include "cohort/datatype.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

static const struct cohort__signature ten_doubles = {
    .collective = 6,
    .algorithm = 13,
    .datatype = COHORT_DOUBLE,
    .op = 1,
    .count = 10,
};

/* Phase 0 compares the low bits: 5 bits for the collective, 3 for the variant, 1 for checked. */
TEST(early_bits)
{
    CHECK_INT((long long)(cohort__fingerprint(&ten_doubles) & 0x1ff), 6);
    struct cohort__signature signature = {
        .collective = 31, .variant = 7, .checked = true, .place = 63};
    CHECK_INT((long long)(cohort__fingerprint(&signature) & 0x1ff), 0x1ff);
}

/* Gives one field, chosen by RANDOM, another value. Most values are small, as in programs. */
static void change_one(struct cohort__signature *signature, struct cohort__random *random)
{
    unsigned bits = 1 + (unsigned)cohort__random_below(random, 63);
    uint64_t by = 1 + cohort__random_next(random) % ((UINT64_C(1) << bits) - 1);
    switch (cohort__random_below(random, 11)) {
    case 0:
        signature->datatype ^= by;
        break;
    case 1:
        signature->count ^= by;
        break;
    case 2:
        signature->op ^= by;
        break;
    case 3:
        signature->place ^= (uint32_t)(1 + by % UINT32_MAX);
        break;
    case 4:
        signature->algorithm ^= (uint8_t)(1 + by % 255);
        break;
    case 5:
        signature->inner ^= (uint8_t)(1 + by % 255);
        break;
    case 6:
        signature->count_is_hash = !signature->count_is_hash;
        break;
    case 7:
        signature->collective ^= 1 + by % 31;
        break;
    case 8:
        signature->variant ^= 1 + by % 7;
        break;
    case 9:
        signature->purpose = (uint8_t)((signature->purpose + 1 + by % (COHORT__NUM_PURPOSES - 1)) %
                                       COHORT__NUM_PURPOSES);
        break;
    default:
        signature->checked ^= 1;
    }
}

/* Signatures that differ in one field have different fingerprints. Equal signatures have the same
 * fingerprint. */
TEST(differs)
{
    struct cohort__random random = cohort__random_seeded(1);
    struct cohort__signature one = ten_doubles;
    for (int i = 0; i < 200000; i++) {
        struct cohort__signature other = one, same = one;
        change_one(&other, &random);
        CHECK(cohort__fingerprint(&one) == cohort__fingerprint(&same));
        if (cohort__fingerprint(&one) == cohort__fingerprint(&other))
            FAIL("pair %d has one fingerprint", i);
        if (cohort__random_below(&random, 2))
            one = other;
    }
}

/* Any number of users' operations and datatypes, roots, shifts and counts. */
TEST(many_differ)
{
    enum { NUM = 1000 };
    static uint64_t seen[5 * NUM];
    for (uint32_t i = 0; i < NUM; i++) {
        struct cohort__signature of[5];
        for (int k = 0; k < 5; k++)
            of[k] = ten_doubles;
        of[0].op = cohort__signature_of_users_op(cohort__hash_u64(i));
        of[1].datatype = cohort_datatype_of_bytes(i + 1);
        of[2].place = i + 1;
        of[3].count = 100 + i;
        of[4].count = (UINT64_C(1) << 40) + i;
        for (int k = 0; k < 5; k++)
            seen[5 * i + k] = cohort__fingerprint(&of[k]);
    }
    for (int i = 0; i < 5 * NUM; i++)
        for (int k = 0; k < i; k++)
            CHECK(seen[i] != seen[k]);
}

static const char *collective_name(uint32_t collective)
{
    return collective == 6 ? "all_reduce" : "?";
}

static const char *algorithm_name(uint32_t row)
{
    return row == 13 ? "linear" : "?";
}

static const char *op_name(uint32_t op)
{
    return op == 1 ? "sum" : "?";
}

static const char *place_name(uint32_t collective)
{
    return collective == 6 ? NULL : "root";
}

static const char *suffix(uint32_t collective, enum cohort__variant variant)
{
    return variant == COHORT__VARIANT_COUNTS ? "v" : "";
}

static void check_described(const struct cohort__signature *parts, const char *want)
{
    char text[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(parts, text, sizeof(text));
    CHECK_TEXT(text, want);
}

TEST(describe)
{
    check_described(&ten_doubles, "? (?) of 10 double with ?"); /* the names are not set yet */
    static const struct cohort__signature_names names = {.collective = collective_name,
                                                         .algorithm = algorithm_name,
                                                         .op = op_name,
                                                         .place = place_name,
                                                         .suffix = suffix};
    cohort__signature_set_names(&names);
    check_described(&ten_doubles, "all_reduce (linear) of 10 double with sum");
    struct cohort__signature composed = ten_doubles;
    composed.inner = (uint8_t)(composed.algorithm + 1);
    check_described(&composed, "all_reduce (linear(linear)) of 10 double with sum");
    struct cohort__signature split = ten_doubles;
    split.purpose = COHORT__PURPOSE_HOST;
    check_described(&split, "split by hosts: all_reduce (linear) of 10 double with sum");
    struct cohort__signature parts = ten_doubles;
    parts.op = 0;
    check_described(&parts, "all_reduce (linear) of 10 double");
    parts.datatype = 0;
    check_described(&parts, "all_reduce (linear)");
    parts = ten_doubles;
    parts.op = cohort__signature_of_users_op(0x12345);
    parts.count = UINT64_C(1) << 40;
    parts.datatype = cohort_datatype_of_bytes(24);
    check_described(&parts, "all_reduce (linear) of 1099511627776 user type of 24 bytes with a "
                            "user's operation #00012345");
    parts = (struct cohort__signature){.collective = 3,
                                       .algorithm = 13,
                                       .datatype = COHORT_INT32,
                                       .place = 5,
                                       .variant = COHORT__VARIANT_COUNTS,
                                       .checked = true};
    check_described(&parts, "?v (linear) of int32, root 5, checked");
    parts.count = 99;
    parts.count_is_hash = true;
    parts.place = 64;
    char text[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&parts, text, sizeof(text));
    CHECK_CONTAINS(text, "?v (linear) of int32, counts #");
    CHECK_CONTAINS(text, ", root 64, checked");
}

/* Any signature can be described, and the text is never too long. */
TEST(describe_anything)
{
    struct cohort__random random = cohort__random_seeded(2);
    struct cohort__signature any = ten_doubles;
    for (int i = 0; i < 10000; i++) {
        char text[100];
        memset(text, 'x', sizeof(text));
        size_t bytes = 1 + cohort__random_below(&random, 96);
        change_one(&any, &random);
        cohort__signature_describe(&any, text, bytes);
        CHECK(memchr(text, 0, bytes) != NULL);
        CHECK(text[bytes] == 'x');
    }
}

/* In phase 0 sites accept each other's messages if they differ only in what they still have to
 * agree on. */
TEST(fits)
{
    struct cohort__signature parts = ten_doubles;
    parts.checked = true;
    uint64_t mine = cohort__fingerprint(&parts);
    parts = (struct cohort__signature){.collective = parts.collective,
                                       .algorithm = 77,
                                       .datatype = cohort_datatype_of_bytes(5),
                                       .op = 5,
                                       .place = 70,
                                       .checked = true,
                                       .count = 1 << 30};
    uint64_t other = cohort__fingerprint(&parts);
    CHECK(cohort__fingerprint_fits(mine, other, 0));
    for (unsigned phase = 1; phase <= 3; phase++) {
        CHECK(!cohort__fingerprint_fits(mine, other, phase));
        CHECK(cohort__fingerprint_fits(mine, mine, phase));
    }
    struct cohort__signature others[3] = {parts, parts, parts};
    others[0].collective++;
    others[1].variant = COHORT__VARIANT_COUNTS;
    others[2].checked = false;
    for (int i = 0; i < 3; i++)
        CHECK(!cohort__fingerprint_fits(mine, cohort__fingerprint(&others[i]), 0));
}
