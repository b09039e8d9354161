/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdint.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/test.h"

/* x -> factor * x + term. To do one after the other is associative, but the order matters. */
struct map {
    uint64_t factor, term;
};
enum { NUM_MAPS = 3 }; /* of each index */

static cohort_status compose(void *result, const void *left, const void *right, size_t count,
                             cohort_datatype datatype, void *arg)
{
    const struct map *first = left, *second = right;
    CHECK(cohort_datatype_size(datatype) == sizeof(struct map) && !arg);
    for (size_t i = 0; i < count; i++)
        ((struct map *)result)[i] = (struct map){second[i].factor * first[i].factor,
                                                 second[i].factor * first[i].term + second[i].term};
    return COHORT_OK;
}

static void value(size_t index, struct map *maps)
{
    for (uint64_t i = 0; i < NUM_MAPS; i++) {
        uint64_t mixed = (index * NUM_MAPS + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        maps[i] = (struct map){mixed | 1, mixed ^ (mixed >> 31)};
    }
}

/* Some of the calls suspend. */
static cohort_status write_value(size_t index, void *maps, void *arg)
{
    CHECK((uintptr_t)maps % 16 == 0 && !arg);
    if (index % 37 == 5)
        cohort_yield();
    value(index, maps);
    if (index % 91 == 7)
        return cohort_await(cohort_sleep(1000));
    return COHORT_OK;
}

TEST(order_is_kept)
{
    const struct cohort_op_options options = {.name = "compose", .function = compose};
    const cohort_datatype type = cohort_datatype_of_bytes(sizeof(struct map));
    cohort_op *op;
    CHECK_OK(cohort_op_create(&op, &options));
    struct map start[NUM_MAPS], want[NUM_MAPS], next[NUM_MAPS], got[NUM_MAPS];
    value(12345, start);
    memcpy(want, start, sizeof(want));
    for (size_t end = 0; end <= 3000; end++) {
        if (end < 40 || end % 500 == 0) {
            memcpy(got, start, sizeof(got));
            cohort_future *future =
                cohort_parallel_reduce(0, end, NULL, write_value, NULL, got, NUM_MAPS, type, op);
            CHECK_OK(cohort_await(future));
            CHECK(memcmp(got, want, sizeof(got)) == 0);
        }
        value(end, next);
        compose(want, want, next, NUM_MAPS, type, NULL);
    }
    cohort_op_unref(op);
}

static cohort_status square(size_t index, void *value, void *arg)
{
    *(uint64_t *)value = (uint64_t)index * index;
    return arg && index == 777 ? cohort_fail(COHORT_ERR_GONE, "no square") : COHORT_OK;
}

TEST(built_in)
{
    uint64_t sum = 1, most = 1;
    cohort_future *future =
        cohort_parallel_reduce(10, 100000, NULL, square, NULL, &sum, 1, COHORT_UINT64, COHORT_SUM);
    CHECK_OK(cohort_await(future));
    CHECK(sum == UINT64_C(333328333350000) - 285 + 1);
    future =
        cohort_parallel_reduce(0, 1000, NULL, square, NULL, &most, 1, COHORT_UINT64, COHORT_MAX);
    CHECK_OK(cohort_await(future));
    CHECK(most == 999 * 999);
}

static cohort_status turn(size_t index, void *value, void *arg)
{
    memcpy(value, index % 1000 == 0 ? (float[]){0, 1} : (float[]){1, 0}, 2 * sizeof(float));
    return COHORT_OK;
}

/* i to the power of 6 is -1. */
TEST(complex)
{
    float product[2] = {3, 2};
    cohort_future *future = cohort_parallel_reduce(0, 5500, NULL, turn, NULL, product, 1,
                                                   COHORT_FLOAT_COMPLEX, COHORT_PRODUCT);
    CHECK_OK(cohort_await(future));
    CHECK(product[0] == -3 && product[1] == -2);
    future = cohort_parallel_reduce(0, 1, NULL, turn, NULL, product, 1, COHORT_FLOAT_COMPLEX,
                                    COHORT_MIN);
    CHECK_FAILS(cohort_await(future), COHORT_ERR_BAD_PARAMETER,
                "min can't reduce elements of type float complex");
}

static cohort_status fail_to_combine(void *result, const void *left, const void *right,
                                     size_t count, cohort_datatype datatype, void *arg)
{
    return cohort_fail(COHORT_ERR_FAILED, "can't combine");
}

TEST(errors)
{
    uint64_t sum = 3;
    cohort_future *future =
        cohort_parallel_reduce(0, 1000, NULL, square, &sum, &sum, 1, COHORT_UINT64, COHORT_SUM);
    CHECK_INT(cohort_await(future), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "cohort_parallel_reduce: index 777: no square");
    CHECK(sum == 3);
    const struct cohort_op_options options = {.name = "fails", .function = fail_to_combine};
    cohort_op *op;
    CHECK_OK(cohort_op_create(&op, &options));
    for (size_t end = 1; end < 1000; end += 333) {
        future = cohort_parallel_reduce(0, end, NULL, square, NULL, &sum, 1, COHORT_UINT64, op);
        CHECK_FAILS(cohort_await(future), COHORT_ERR_FAILED, "can't combine");
    }
    cohort_op_unref(op);
}

static void check_refused(cohort_future *future, const char *why)
{
    CHECK_FAILS(cohort_await(future), COHORT_ERR_BAD_PARAMETER, why);
}

TEST(mistakes)
{
    uint64_t sum = 0;
    float rest = 0;
    check_refused(
        cohort_parallel_reduce(0, 1, NULL, NULL, NULL, &sum, 1, COHORT_UINT64, COHORT_SUM),
        "function is NULL");
    check_refused(
        cohort_parallel_reduce(3, 1, NULL, square, NULL, &sum, 1, COHORT_UINT64, COHORT_SUM),
        "begin 3 is beyond end 1");
    check_refused(
        cohort_parallel_reduce(0, 1, NULL, square, NULL, NULL, 1, COHORT_UINT64, COHORT_SUM),
        "result is NULL");
    check_refused(
        cohort_parallel_reduce(0, 1, NULL, square, NULL, &sum, 0, COHORT_UINT64, COHORT_SUM),
        "count is 0");
    check_refused(cohort_parallel_reduce(0, 1, NULL, square, NULL, &sum, 1, COHORT_UINT64, NULL),
                  "no operation");
    check_refused(cohort_parallel_reduce(0, 1, NULL, square, NULL, &rest, 1, COHORT_FLOAT,
                                         COHORT_BITWISE_XOR),
                  "can't reduce");
    check_refused(cohort_parallel_reduce(0, 1, NULL, square, NULL, &sum, SIZE_MAX / 8,
                                         COHORT_UINT64, COHORT_SUM),
                  "more than memory can hold");
    const struct cohort_op_options options = {.name = "compose", .function = compose};
    cohort_op *op;
    CHECK_OK(cohort_op_create(&op, &options));
    check_refused(cohort_parallel_reduce(0, 1, NULL, square, NULL, &sum, 1, 0, op), "no datatype");
    cohort_op_unref(op);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
