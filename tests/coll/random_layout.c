/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/coll/random_layout.h"

#include <stdlib.h>

#include "tests/support/test.h"

static size_t below(struct cohort__random *random, size_t limit)
{
    return cohort__random_below(random, limit);
}

/* Where NUM runs of LENGTH begin, in a random order. */
static cohort_layout_block *draw_runs(struct cohort__random *random, size_t num, size_t length)
{
    cohort_layout_block *runs = calloc(num + 1, sizeof(*runs));
    CHECK(runs);
    for (size_t k = 0; k < num; k++) {
        size_t other = below(random, k + 1);
        runs[k].offset = runs[other].offset;
        runs[other].offset = k * (length + 1);
    }
    return runs;
}

static size_t runs_for(size_t num, size_t length)
{
    return (num + length - 1) / length;
}

/* NUM elements in RUNS of LENGTH, of which the last one may be shorter. */
static cohort_layout *lay_runs(cohort_layout_block *runs, size_t length, size_t num, size_t *places)
{
    size_t i = 0;
    cohort_layout *layout;
    for (size_t k = 0; k < runs_for(num, length); k++) {
        runs[k].count = num - i < length ? num - i : length;
        for (size_t e = 0; e < runs[k].count; e++)
            places[i++] = runs[k].offset + e;
    }
    CHECK_INT(cohort_layout_create_blocks(&layout, runs, runs_for(num, length)), COHORT_OK);
    return layout;
}

static cohort_layout *draw_list(struct cohort__random *random, size_t num, size_t *places)
{
    size_t length = 1 + below(random, 4);
    cohort_layout_block *runs = draw_runs(random, runs_for(num, length), length);
    cohort_layout *layout = lay_runs(runs, length, num, places);
    free(runs);
    return layout;
}

void random_layouts_of_one(struct cohort__random *random, const size_t num[2],
                           cohort_layout *ret_layouts[2], size_t *ret_places[2])
{
    size_t length = 1 + below(random, 4), first = runs_for(num[0], length);
    cohort_layout_block *runs = draw_runs(random, first + runs_for(num[1], length), length);
    for (int i = 0; i < 2; i++) {
        ret_places[i] = calloc(num[i] + 1, sizeof(*ret_places[i]));
        CHECK(ret_places[i]);
        ret_layouts[i] = lay_runs(runs + (i ? first : 0), length, num[i], ret_places[i]);
    }
    free(runs);
}

/* Vectors in vectors, and a last part with the rest, in front of them. */
static cohort_layout *draw_nested(struct cohort__random *random, size_t num, size_t *places)
{
    size_t inner = 1 + below(random, 5), outer = num / inner, rest = num % inner;
    size_t stride = 1 + below(random, 3), far = inner * stride + below(random, 3), i = 0;
    cohort_layout *vector, *repeated, *last, *layout;
    CHECK_INT(cohort_layout_create_vector(&vector, inner, 1, stride), COHORT_OK);
    CHECK_INT(cohort_layout_create_repeat(&repeated, outer, far, vector), COHORT_OK);
    CHECK_INT(cohort_layout_create_vector(&last, rest, 1, 2), COHORT_OK);
    size_t begin = cohort_layout_span(last);
    const cohort_layout_part parts[] = {{begin, repeated}, {0, last}};
    CHECK_INT(cohort_layout_create_parts(&layout, parts, 2), COHORT_OK);
    for (size_t k = 0; k < outer; k++)
        for (size_t e = 0; e < inner; e++)
            places[i++] = begin + k * far + e * stride;
    for (size_t e = 0; e < rest; e++)
        places[i++] = 2 * e;
    cohort_layout_unref(vector);
    cohort_layout_unref(repeated);
    cohort_layout_unref(last);
    return layout;
}

/* One run, which begins anywhere. */
static cohort_layout *draw_run(struct cohort__random *random, size_t num, size_t *places)
{
    const cohort_layout_block run = {below(random, 4), num};
    cohort_layout *layout;
    CHECK_INT(cohort_layout_create_blocks(&layout, &run, 1), COHORT_OK);
    for (size_t i = 0; i < num; i++)
        places[i] = run.offset + i;
    return layout;
}

cohort_layout *random_layout(struct cohort__random *random, size_t num, size_t **ret_places)
{
    *ret_places = calloc(num + 1, sizeof(**ret_places));
    CHECK(*ret_places);
    switch (below(random, 5)) {
    case 0:
        return draw_run(random, num, *ret_places);
    case 1:
    case 2:
        return draw_list(random, num, *ret_places);
    default:
        return draw_nested(random, num, *ret_places);
    }
}
