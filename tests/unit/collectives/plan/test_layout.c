/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

/* Layouts of all kinds, compared with a plain list of the offsets of all their elements. */

enum { ELEMENTS_MAX = 4096, SPAN_MAX = 1024 };

struct naive {
    size_t offsets[ELEMENTS_MAX];
    size_t num;
    size_t span;
};

static void naive_add(struct naive *naive, size_t offset)
{
    CHECK(naive->num < ELEMENTS_MAX && offset < SPAN_MAX);
    naive->offsets[naive->num++] = offset;
    if (offset >= naive->span)
        naive->span = offset + 1;
}

static void check_same(const cohort_layout *layout, const struct naive *naive, size_t element,
                       struct cohort__random *random)
{
    /* Not aligned to elements. */
    size_t bytes = SPAN_MAX * element + 1, packed_bytes = naive->num * element + 2;
    unsigned char *array = malloc(bytes), *packed = malloc(packed_bytes);
    unsigned char *want = malloc(bytes), *want_packed = malloc(packed_bytes);
    CHECK(array && packed && want && want_packed);
    bool is_dense = naive->span == naive->num;
    for (size_t i = 0; i < naive->num; i++)
        is_dense &= naive->offsets[i] == i;
    CHECK_INT(cohort_layout_num_elements(layout), naive->num);
    CHECK_INT(cohort_layout_span(layout), naive->span);
    CHECK_INT(cohort_layout_is_dense(layout), is_dense);

    for (size_t i = 0; i < bytes; i++)
        want[i] = array[i] = (unsigned char)cohort__random_next(random);
    memset(packed, 0xa5, packed_bytes);
    memset(want_packed, 0xa5, packed_bytes);
    for (size_t i = 0; i < naive->num; i++)
        memcpy(want_packed + 1 + i * element, array + 1 + naive->offsets[i] * element, element);
    cohort__layout_pack(layout, element, packed + 1, array + 1);
    CHECK(memcmp(packed, want_packed, packed_bytes) == 0);

    for (size_t i = 0; i < packed_bytes; i++)
        packed[i] = (unsigned char)cohort__random_next(random);
    for (size_t i = 0; i < naive->num; i++)
        memcpy(want + 1 + naive->offsets[i] * element, packed + 1 + i * element, element);
    cohort__layout_unpack(layout, element, array + 1, packed + 1);
    CHECK(memcmp(array, want, bytes) == 0);
    free(array);
    free(packed);
    free(want);
    free(want_packed);
}

static cohort_layout *draw_vector(struct naive *naive, struct cohort__random *random)
{
    size_t count = cohort__random_below(random, 6), block = cohort__random_below(random, 4);
    size_t stride = cohort__random_below(random, 7);
    cohort_layout *layout;
    CHECK_INT(cohort_layout_create_vector(&layout, count, block, stride), COHORT_OK);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < block; k++)
            naive_add(naive, i * stride + k);
    return layout;
}

static cohort_layout *draw_blocks(struct naive *naive, struct cohort__random *random)
{
    cohort_layout_block blocks[8];
    size_t num = cohort__random_below(random, 9), next = 0;
    cohort_layout *layout;
    for (size_t i = 0; i < num; i++) {
        /* Often the next one in a row, or in a step. */
        size_t offset = cohort__random_below(random, 3) ? next : cohort__random_below(random, 40);
        blocks[i] = (cohort_layout_block){offset, cohort__random_below(random, 3)};
        next = offset + cohort__random_below(random, 3) + (i > 0 ? blocks[i - 1].count : 1);
        for (size_t k = 0; k < blocks[i].count; k++)
            naive_add(naive, offset + k);
    }
    CHECK_INT(cohort_layout_create_blocks(&layout, num ? blocks : NULL, num), COHORT_OK);
    return layout;
}

static cohort_layout *draw_box(struct naive *naive, struct cohort__random *random)
{
    size_t sizes[3], starts[3], counts[3], num_dims = 1 + cohort__random_below(random, 3);
    cohort_layout *layout;
    for (size_t dim = 0; dim < 3; dim++) {
        sizes[dim] = dim < num_dims ? 1 + cohort__random_below(random, 6) : 1;
        starts[dim] = cohort__random_below(random, sizes[dim] + 1);
        counts[dim] = cohort__random_below(random, sizes[dim] - starts[dim] + 1);
        if (dim >= num_dims)
            starts[dim] = 0, counts[dim] = 1;
    }
    CHECK_INT(cohort_layout_create_box(&layout, num_dims, sizes, starts, counts), COHORT_OK);
    for (size_t x = starts[0]; x < starts[0] + counts[0]; x++)
        for (size_t y = starts[1]; y < starts[1] + counts[1]; y++)
            for (size_t z = starts[2]; z < starts[2] + counts[2]; z++)
                naive_add(naive, (x * sizes[1] + y) * sizes[2] + z);
    return layout;
}

static cohort_layout *draw(struct naive *naive, struct cohort__random *random, unsigned depth)
{
    *naive = (struct naive){0};
    switch (cohort__random_below(random, depth > 0 ? 4 : 3)) {
    case 0:
        return draw_vector(naive, random);
    case 1:
        return draw_blocks(naive, random);
    case 2:
        return draw_box(naive, random);
    default: {
        size_t count = cohort__random_below(random, 4), stride = cohort__random_below(random, 60);
        static struct naive inner[3];
        cohort_layout *layout, *inside = draw(&inner[depth], random, depth - 1);
        CHECK_INT(cohort_layout_create_repeat(&layout, count, stride, inside), COHORT_OK);
        cohort_layout_unref(inside);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < inner[depth].num; k++)
                naive_add(naive, i * stride + inner[depth].offsets[k]);
        return layout;
    }
    }
}

static void test_random(void)
{
    static const size_t elements[] = {1, 2, 4, 8, 16, 3, 12};
    static struct naive naive;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct cohort__random random;
        cohort__random_init(&random, seed);
        cohort_layout *layout = draw(&naive, &random, 2);
        if (naive.num > 0 || seed % 50 == 0)
            check_same(layout, &naive, elements[seed % 7], &random);
        cohort_layout_unref(layout);
    }
}

/* What is regular takes one strip, however it was described. */
static void test_joined(void)
{
    static const size_t sizes[] = {6, 7, 8}, starts[] = {1, 0, 1}, counts[] = {4, 7, 1};
    static const cohort_layout_block steps[] = {{0, 2}, {5, 2}, {10, 2}, {15, 2}};
    static const cohort_layout_block row[] = {{3, 2}, {5, 1}, {6, 4}};
    cohort_layout *layout, *inner;
    CHECK_INT(cohort_layout_create_box(&layout, 3, sizes, starts, counts), COHORT_OK);
    CHECK_INT(layout->num_strips, 1); /* a whole face */
    CHECK_INT(layout->strips[0].count, 28);
    cohort_layout_unref(layout);
    CHECK_INT(cohort_layout_create_blocks(&layout, steps, 4), COHORT_OK);
    CHECK_INT(layout->num_strips, 1);
    CHECK_INT(cohort__layout_num_runs(layout), 4);
    cohort_layout_unref(layout);
    CHECK_INT(cohort_layout_create_blocks(&layout, row, 3), COHORT_OK);
    CHECK(cohort__layout_is_run(layout) && !cohort_layout_is_dense(layout));
    cohort_layout_unref(layout);
    CHECK_INT(cohort_layout_create_vector(&inner, 3, 4, 4), COHORT_OK);
    CHECK(cohort_layout_is_dense(inner));
    CHECK_INT(cohort_layout_create_repeat(&layout, 5, 12, inner), COHORT_OK);
    CHECK(cohort_layout_is_dense(layout));
    CHECK(layout->number != inner->number);
    cohort_layout_unref(inner);
    CHECK(cohort_layout_ref(layout) == layout);
    cohort_layout_unref(layout);
    CHECK_INT(cohort_layout_span(layout), 60);
    cohort_layout_unref(layout);
    cohort_layout_unref(NULL);
    CHECK(!cohort_layout_ref(NULL));
}

static void expect(cohort_status status, const char *text)
{
    CHECK_INT(status, COHORT_ERR_BAD_PARAMETER);
    CHECK(strstr(cohort_error_message(), text));
}

/* Huge numbers are refused, or need no memory. */
static void test_refused(void)
{
    const size_t huge = SIZE_MAX / 2, half = SIZE_MAX / 4;
    const cohort_layout_block far[] = {{huge, 1}}, wraps[] = {{SIZE_MAX, 2}};
    const cohort_layout_block much[] = {{0, huge}, {0, 1}};
    cohort_layout *layout = NULL, *inner, *two;
    expect(cohort_layout_create_vector(NULL, 1, 1, 1), "no place");
    expect(cohort_layout_create_vector(&layout, huge, 1, 3), "beyond");
    expect(cohort_layout_create_vector(&layout, huge, 4, 0), "beyond");
    expect(cohort_layout_create_vector(&layout, 2, huge, 1), "beyond");
    expect(cohort_layout_create_blocks(&layout, NULL, 1), "no blocks");
    expect(cohort_layout_create_blocks(&layout, far, 1), "beyond");
    expect(cohort_layout_create_blocks(&layout, wraps, 1), "beyond");
    expect(cohort_layout_create_blocks(&layout, much, 2), "beyond");
    expect(cohort_layout_create_repeat(&layout, 1, 1, NULL), "no inner");
    CHECK_INT(cohort_layout_create_vector(&inner, 2, 1, half), COHORT_OK);
    CHECK_INT(cohort_layout_create_blocks(&two, (cohort_layout_block[]){{0, 1}, {2, 2}}, 2),
              COHORT_OK);
    expect(cohort_layout_create_repeat(&layout, 4, half, inner), "beyond");
    expect(cohort_layout_create_repeat(&layout, 3, huge, inner), "beyond");
    expect(cohort_layout_create_repeat(&layout, half, 1, two), "too many");
    expect(cohort_layout_create_box(&layout, 0, &huge, &huge, &huge), "no dimensions");
    expect(cohort_layout_create_box(&layout, 1, &huge, NULL, &huge), "no starts");
    expect(
        cohort_layout_create_box(&layout, 2, (size_t[]){4, 5}, (size_t[]){0, 3}, (size_t[]){1, 3}),
        "dimension 1: 3 indices from 3 on are not within 5");
    expect(cohort_layout_create_box(&layout, 1, (size_t[]){4}, (size_t[]){SIZE_MAX}, (size_t[]){2}),
           "not within");
    expect(cohort_layout_create_box(&layout, 2, (size_t[]){half, 3}, (size_t[]){0, 0},
                                    (size_t[]){1, 1}),
           "larger than");
    expect(cohort_layout_create_box(NULL, 1, (size_t[]){4}, (size_t[]){0}, (size_t[]){2}),
           "no place");
    CHECK(!layout);
    cohort_layout_unref(inner);
    cohort_layout_unref(two);
    CHECK_INT(cohort_layout_create_vector(&layout, (size_t)1 << 33, 1, 2), COHORT_OK);
    CHECK_INT(cohort_layout_num_elements(layout), (size_t)1 << 33);
    CHECK_INT(cohort_layout_span(layout), ((size_t)1 << 34) - 1);
    CHECK_INT(layout->num_strips, 3);
    CHECK_INT(cohort__layout_num_runs(layout), (size_t)1 << 33);
    cohort_layout_unref(layout);
}

static const struct test_case cases[] = {
    {"random", test_random},
    {"joined", test_joined},
    {"refused", test_refused},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
