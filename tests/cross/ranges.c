/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/tasks.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

/* Ranges whose indices suspend, fail, and start other ranges, in a scope that is cancelled. */

enum { MOST_INDICES = 48, MOST_ELEMENTS = 3, NONE_FAILS = MOST_INDICES };

struct range {
    struct part *part;
    uint32_t num;
    uint32_t every;   /* such a one suspends */
    uint32_t nesting; /* indices of a range within it; 0: it only yields */
    uint32_t failing; /* the first index that fails, and all after it do; or NONE_FAILS */
    _Atomic uint32_t num_running;
    bool was_cancelled; /* the scope, before */
    atomic_bool has_failed;
    _Atomic unsigned char num_visits[MOST_INDICES];
};

static void draw_range(struct range *range, struct part *part)
{
    memset(range, 0, sizeof(*range));
    range->part = part;
    range->was_cancelled = cohort_cancelled();
    range->num = part_draw(part, MOST_INDICES + 1);
    range->every = 1 + part_draw(part, 8);
    range->nesting = part_draw(part, 3);
    range->failing = part_draw(part, 2) ? NONE_FAILS : part_draw(part, MOST_INDICES);
}

static cohort_range_options draw_options(struct part *part)
{
    return (cohort_range_options){.grain = part_draw(part, 4)};
}

static cohort_status visit_within(size_t index, void *arg)
{
    ((struct range *)arg)->num_running++;
    cohort_yield();
    ((struct range *)arg)->num_running--;
    return COHORT_OK;
}

static void suspend(struct range *range)
{
    if (range->nesting == 0)
        cohort_yield();
    else
        check_end(cohort_await(cohort_parallel_for(0, range->nesting, NULL, visit_within, range)));
}

static cohort_status visit(size_t index, void *arg)
{
    struct range *range = arg;
    CHECK(index < range->num && !range->was_cancelled);
    CHECK_INT(range->num_visits[index]++, 0);
    range->num_running++;
    part_check(range->part);
    if (index % range->every == 0)
        suspend(range);
    range->num_running--;
    if (index < range->failing)
        return COHORT_OK;
    range->has_failed = true;
    return cohort_fail(COHORT_ERR_FAILED, "on purpose");
}

/* What RANGE has come to. If two have failed, only the library knows which one was first. */
static void check_range(const struct range *range, cohort_status status)
{
    CHECK_INT(range->num_running, 0);
    CHECK(status != COHORT_OK ||
          (!range->has_failed && (range->num == 0 || !range->was_cancelled)));
    for (uint32_t i = 0; i < range->num && status == COHORT_OK; i++)
        CHECK_INT(range->num_visits[i], 1);
    if (status != COHORT_ERR_FAILED) {
        check_end(status);
        return;
    }
    CHECK(range->has_failed);
    if (scarce_has_failed())
        return;
    unsigned index = MOST_INDICES;
    CHECK_CONTAINS(cohort_error_message(), "on purpose");
    CHECK_INT(sscanf(strstr(cohort_error_message(), "index"), "index %u", &index), 1);
    CHECK(index >= range->failing && index < range->num && range->num_visits[index] == 1);
}

void use_range(struct part *part)
{
    struct range range;
    draw_range(&range, part);
    cohort_range_options options = draw_options(part);
    check_range(&range, cohort_await(cohort_parallel_for(0, range.num, &options, visit, &range)));
}

/* Reductions --------------------------------------------------------------------------------- */

/* A map x -> a x + b, of two numbers of 32 bits: to apply one map after the other is associative,
 * and depends on the order. */
static uint64_t compose(uint64_t left, uint64_t right)
{
    uint32_t a = (uint32_t)(left >> 32), b = (uint32_t)left;
    uint32_t c = (uint32_t)(right >> 32), d = (uint32_t)right;
    return (uint64_t)(a * c) << 32 | (uint32_t)(c * b + d);
}

static cohort_status compose_all(void *result, const void *left, const void *right, size_t count,
                                 cohort_datatype datatype, void *arg)
{
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] =
            compose(((const uint64_t *)left)[i], ((const uint64_t *)right)[i]);
    return COHORT_OK;
}

static uint64_t map_of(size_t index, size_t element)
{
    return UINT64_C(0x9E3779B97F4A7C15) * (index * MOST_ELEMENTS + element + 1);
}

/* Elements, of which there are as many as the range has within its own. */
static size_t num_elements(const struct range *range)
{
    return 1 + range->nesting;
}

static cohort_status map(size_t index, void *value, void *arg)
{
    for (size_t i = 0; i < num_elements(arg); i++)
        ((uint64_t *)value)[i] = map_of(index, i);
    return visit(index, arg);
}

static void check_result(const struct range *range, const uint64_t *result, cohort_status status)
{
    for (size_t i = 0; i < num_elements(range); i++) {
        uint64_t want = map_of(MOST_INDICES, i);
        for (uint32_t index = 0; index < range->num && status == COHORT_OK; index++)
            want = compose(want, map_of(index, i));
        CHECK(result[i] == want);
    }
}

void use_reduction(struct part *part)
{
    struct range range;
    struct cohort_op_options about = {.name = "compose", .function = compose_all};
    uint64_t result[MOST_ELEMENTS];
    cohort_op *op;
    cohort_status status = cohort_op_create(&op, &about);
    check_end(status);
    if (status)
        return;
    draw_range(&range, part);
    for (size_t i = 0; i < num_elements(&range); i++)
        result[i] = map_of(MOST_INDICES, i);
    cohort_range_options options = draw_options(part);
    cohort_future *done = cohort_parallel_reduce(0, range.num, &options, map, &range, result,
                                                 num_elements(&range), COHORT_UINT64, op);
    cohort_op_unref(op);
    status = cohort_await(done);
    check_range(&range, status);
    check_result(&range, result, status);
}
