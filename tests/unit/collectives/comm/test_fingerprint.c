/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/fingerprint.h"

#include <string.h>

#include "cohort/datatype.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

static const struct cohort__fingerprint_parts ten_doubles = {
    .collective = 6,
    .algorithm = 13,
    .datatype = COHORT_DOUBLE,
    .op = 1,
    .count = 10,
};

/* 5 bits collective, 8 algorithm, 8 datatype, 7 operation, 7 place, 2 variant, 1 checked, 26 count.
 */
static void test_fields(void)
{
    CHECK(cohort__fingerprint(&ten_doubles) ==
          (6 | 13 << 5 | (uint64_t)COHORT_DOUBLE << 13 | 1 << 21 | UINT64_C(10) << 38));
    struct cohort__fingerprint_parts parts = {.collective = 31, .algorithm = 255};
    CHECK(cohort__fingerprint(&parts) == 0x1fff);
    parts = (struct cohort__fingerprint_parts){.count = (UINT64_C(1) << 25) - 1};
    CHECK(cohort__fingerprint(&parts) == ((UINT64_C(1) << 25) - 1) << 38);
    parts = (struct cohort__fingerprint_parts){.place = 63, .variant = 3, .checked = true};
    CHECK(cohort__fingerprint(&parts) == (UINT64_C(63) << 28 | UINT64_C(7) << 35));
    parts = (struct cohort__fingerprint_parts){.op = 63, .op_hash = 77};
    CHECK(cohort__fingerprint(&parts) == 63u << 21); /* a built-in one needs no hash */
}

/* Each field alone makes a difference. */
static void test_differs(void)
{
    struct cohort__fingerprint_parts others[9];
    for (int i = 0; i < 9; i++)
        others[i] = ten_doubles;
    others[0].collective++;
    others[1].algorithm++;
    others[2].datatype++;
    others[3].op++;
    others[4].count++;
    others[5].place++;
    others[6].variant++;
    others[7].checked = true;
    others[8].count_is_hash = true;
    for (int i = 0; i < 9; i++)
        CHECK(cohort__fingerprint(&others[i]) != cohort__fingerprint(&ten_doubles));
    struct cohort__fingerprint_parts same = ten_doubles;
    CHECK(cohort__fingerprint(&same) == cohort__fingerprint(&ten_doubles));
}

/* What is too wide for its field sets the field's top bit, and nothing outside of the field. */
static void check_wide(struct cohort__fingerprint_parts parts, unsigned shift, unsigned bits)
{
    uint64_t field = (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) << shift;
    uint64_t fingerprint = cohort__fingerprint(&parts);
    CHECK(fingerprint & UINT64_C(1) << (shift + bits - 1));
    CHECK((fingerprint & ~field) == 0);
}

static void test_wide_values(void)
{
    struct cohort__random random;
    cohort__random_init(&random, 1);
    uint64_t seen_types = 0, seen_ops = 0;
    for (int i = 0; i < 200; i++) {
        size_t bytes = 1 + cohort__random_below(&random, 1000000);
        struct cohort__fingerprint_parts type = {.datatype = cohort_datatype_of_bytes(bytes)};
        struct cohort__fingerprint_parts op = {.op = UINT32_MAX,
                                               .op_hash = cohort__random_next(&random)};
        struct cohort__fingerprint_parts count = {.count = UINT64_C(1) << 25 |
                                                           cohort__random_next(&random)};
        check_wide(type, 13, 8);
        check_wide(op, 21, 7);
        check_wide(count, 38, 26);
        seen_types |= UINT64_C(1) << (cohort__fingerprint(&type) >> 13 & 63);
        seen_ops |= UINT64_C(1) << (cohort__fingerprint(&op) >> 21 & 63);
    }
    /* The hashes go all over the field. */
    CHECK(__builtin_popcountll(seen_types) > 50);
    CHECK(__builtin_popcountll(seen_ops) > 50);
}

static void test_wide_counts_differ(void)
{
    struct cohort__fingerprint_parts parts = {.count = UINT64_C(1) << 25};
    uint64_t last = cohort__fingerprint(&parts);
    for (int i = 0; i < 1000; i++) {
        parts.count++;
        uint64_t next = cohort__fingerprint(&parts);
        CHECK(next != last);
        last = next;
    }
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
    (void)collective;
    return variant == COHORT__VARIANT_COUNTS ? "v" : "";
}

static void check_described(const struct cohort__fingerprint_parts *parts, const char *want)
{
    char text[COHORT__FINGERPRINT_TEXT];
    cohort__fingerprint_describe(cohort__fingerprint(parts), text, sizeof(text));
    CHECK_TEXT(text, want);
}

static void test_describe(void)
{
    check_described(&ten_doubles, "? (?) of 10 double with ?"); /* nobody has set the names */
    static const struct cohort__fingerprint_names names = {.collective = collective_name,
                                                           .algorithm = algorithm_name,
                                                           .op = op_name,
                                                           .place = place_name,
                                                           .suffix = suffix};
    cohort__fingerprint_set_names(&names);
    check_described(&ten_doubles, "all_reduce (linear) of 10 double with sum");
    struct cohort__fingerprint_parts parts = ten_doubles;
    parts.op = 0;
    check_described(&parts, "all_reduce (linear) of 10 double");
    parts.datatype = 0;
    check_described(&parts, "all_reduce (linear)");
    parts = ten_doubles;
    parts.op = UINT32_MAX;
    parts.op_hash = 12345;
    parts.count = UINT64_C(1) << 40;
    parts.datatype = cohort_datatype_of_bytes(24);
    check_described(
        &parts, "all_reduce (linear) of very many user-typed element(s) with a user's operation");
    parts = (struct cohort__fingerprint_parts){.collective = 3,
                                               .algorithm = 13,
                                               .datatype = COHORT_INT32,
                                               .place = 5,
                                               .variant = COHORT__VARIANT_COUNTS,
                                               .checked = true};
    check_described(&parts, "?v (linear) of int32, root 5, checked");
    parts.count = 99;
    parts.count_is_hash = true;
    parts.place = 64;
    char text[COHORT__FINGERPRINT_TEXT];
    cohort__fingerprint_describe(cohort__fingerprint(&parts), text, sizeof(text));
    CHECK_CONTAINS(text, "?v (linear) of int32, counts #");
    CHECK_CONTAINS(text, ", root 64 or more, checked");
}

/* Whatever the wire brings can be put into words, and none too many. */
static void test_describe_anything(void)
{
    struct cohort__random random;
    cohort__random_init(&random, 2);
    for (int i = 0; i < 10000; i++) {
        char text[100];
        memset(text, 'x', sizeof(text));
        size_t bytes = 1 + cohort__random_below(&random, 96);
        cohort__fingerprint_describe(cohort__random_next(&random), text, bytes);
        CHECK(memchr(text, 0, bytes) != NULL);
        CHECK(text[bytes] == 'x');
    }
}

/* In phase 0 sites understand each other that differ in what they have yet to agree on. */
static void test_fits(void)
{
    struct cohort__fingerprint_parts parts = ten_doubles;
    parts.checked = true;
    uint64_t mine = cohort__fingerprint(&parts);
    parts = (struct cohort__fingerprint_parts){.collective = parts.collective,
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
    struct cohort__fingerprint_parts others[3] = {parts, parts, parts};
    others[0].collective++;
    others[1].variant = COHORT__VARIANT_COUNTS;
    others[2].checked = false;
    for (int i = 0; i < 3; i++)
        CHECK(!cohort__fingerprint_fits(mine, cohort__fingerprint(&others[i]), 0));
}

static const struct test_case cases[] = {
    {"fields", test_fields},
    {"differs", test_differs},
    {"wide_values", test_wide_values},
    {"wide_counts_differ", test_wide_counts_differ},
    {"fits", test_fits},
    {"describe", test_describe},
    {"describe_anything", test_describe_anything},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
