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

/* 4 bits collective, 8 algorithm, 8 datatype, 8 operation, 36 count. */
static void test_fields(void)
{
    CHECK(cohort__fingerprint(&ten_doubles) ==
          (6 | 13 << 4 | (uint64_t)COHORT_DOUBLE << 12 | 1 << 20 | UINT64_C(10) << 28));
    struct cohort__fingerprint_parts parts = {.collective = 15, .algorithm = 255};
    CHECK(cohort__fingerprint(&parts) == 0xfff);
    parts = (struct cohort__fingerprint_parts){.count = (UINT64_C(1) << 35) - 1};
    CHECK(cohort__fingerprint(&parts) == ((UINT64_C(1) << 35) - 1) << 28);
    parts = (struct cohort__fingerprint_parts){.op = 127, .op_hash = 77};
    CHECK(cohort__fingerprint(&parts) == 127u << 20); /* a built-in one needs no hash */
}

/* Each field alone makes a difference. */
static void test_differs(void)
{
    struct cohort__fingerprint_parts others[5];
    for (int i = 0; i < 5; i++)
        others[i] = ten_doubles;
    others[0].collective++;
    others[1].algorithm++;
    others[2].datatype++;
    others[3].op++;
    others[4].count++;
    for (int i = 0; i < 5; i++)
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
        struct cohort__fingerprint_parts count = {.count = UINT64_C(1) << 35 |
                                                           cohort__random_next(&random)};
        check_wide(type, 12, 8);
        check_wide(op, 20, 8);
        check_wide(count, 28, 36);
        seen_types |= UINT64_C(1) << (cohort__fingerprint(&type) >> 12 & 63);
        seen_ops |= UINT64_C(1) << (cohort__fingerprint(&op) >> 20 & 63);
    }
    /* The hashes go all over the field. */
    CHECK(__builtin_popcountll(seen_types) > 50);
    CHECK(__builtin_popcountll(seen_ops) > 50);
}

static void test_wide_counts_differ(void)
{
    struct cohort__fingerprint_parts parts = {.count = UINT64_C(1) << 35};
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

static void check_described(const struct cohort__fingerprint_parts *parts, const char *want)
{
    char text[96];
    cohort__fingerprint_describe(cohort__fingerprint(parts), text, sizeof(text));
    CHECK_TEXT(text, want);
}

static void test_describe(void)
{
    check_described(&ten_doubles, "? (?) of 10 double with ?"); /* nobody has set the names */
    static const struct cohort__fingerprint_names names = {
        .collective = collective_name, .algorithm = algorithm_name, .op = op_name};
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

static const struct test_case cases[] = {
    {"fields", test_fields},           {"differs", test_differs},
    {"wide_values", test_wide_values}, {"wide_counts_differ", test_wide_counts_differ},
    {"describe", test_describe},       {"describe_anything", test_describe_anything},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
