/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/coll/random_layout.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { BESIDE = 0xed }; /* what is no element */

static size_t below(struct cohort__random *random, size_t limit)
{
    return cohort__random_below(random, limit);
}

/* Where NUM runs of LENGTH begin, in a random order. */
static cohort_layout_block *draw_runs(struct cohort__random *random, size_t num, size_t length)
{
    cohort_layout_block *runs = test_calloc(num + 1, sizeof(*runs));
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
    CHECK_OK(cohort_layout_create_blocks(&layout, runs, runs_for(num, length)));
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
        ret_places[i] = test_calloc(num[i] + 1, sizeof(*ret_places[i]));
        ret_layouts[i] = lay_runs(runs + (i ? first : 0), length, num[i], ret_places[i]);
    }
    free(runs);
}

/* MAIN, which the caller gives up, of NUM elements, and in front of it the REST, as a last part. */
static cohort_layout *add_rest(cohort_layout *main, size_t num, size_t rest, size_t *places)
{
    cohort_layout *last, *layout;
    CHECK_OK(cohort_layout_create_vector(&last, rest, 1, 2));
    size_t begin = cohort_layout_span(last);
    const cohort_layout_part parts[] = {{begin, main}, {0, last}};
    CHECK_OK(cohort_layout_create_parts(&layout, parts, 2));
    for (size_t i = 0; i < num; i++)
        places[i] += begin;
    for (size_t i = 0; i < rest; i++)
        places[num + i] = 2 * i;
    cohort_layout_unref(main);
    cohort_layout_unref(last);
    return layout;
}

/* Vectors in vectors. */
static cohort_layout *draw_nested(struct cohort__random *random, size_t num, size_t *places)
{
    size_t inner = 1 + below(random, 5), outer = num / inner;
    size_t stride = 1 + below(random, 3), far = inner * stride + below(random, 3);
    cohort_layout *vector, *repeated;
    CHECK_OK(cohort_layout_create_vector(&vector, inner, 1, stride));
    CHECK_OK(cohort_layout_create_repeat(&repeated, outer, far, vector));
    for (size_t i = 0; i < outer * inner; i++)
        places[i] = i / inner * far + i % inner * stride;
    cohort_layout_unref(vector);
    return add_rest(repeated, outer * inner, num - outer * inner, places);
}

/* A box of three dimensions. */
static cohort_layout *draw_box(struct cohort__random *random, size_t num, size_t *places)
{
    size_t sizes[3], starts[3], counts[3] = {0, 1 + below(random, 4), 1 + below(random, 5)};
    cohort_layout *box;
    counts[0] = num / (counts[1] * counts[2]);
    for (int d = 0; d < 3; d++) {
        starts[d] = below(random, 3);
        sizes[d] = starts[d] + counts[d] + below(random, 3);
    }
    CHECK_OK(cohort_layout_create_box(&box, 3, sizes, starts, counts));
    size_t in_box = counts[0] * counts[1] * counts[2];
    for (size_t i = 0; i < in_box; i++)
        places[i] = ((starts[0] + i / (counts[1] * counts[2])) * sizes[1] + starts[1] +
                     i / counts[2] % counts[1]) *
                        sizes[2] +
                    starts[2] + i % counts[2];
    return add_rest(box, in_box, num - in_box, places);
}

/* One run, which begins anywhere. */
static cohort_layout *draw_run(struct cohort__random *random, size_t num, size_t *places)
{
    const cohort_layout_block run = {below(random, 4), num};
    cohort_layout *layout;
    CHECK_OK(cohort_layout_create_blocks(&layout, &run, 1));
    for (size_t i = 0; i < num; i++)
        places[i] = run.offset + i;
    return layout;
}

static cohort_layout *draw_layout(struct cohort__random *random, size_t num, size_t *places)
{
    switch (below(random, 6)) {
    case 0:
        return draw_run(random, num, places);
    case 1:
    case 2:
        return draw_list(random, num, places);
    case 3:
        return draw_box(random, num, places);
    default:
        return draw_nested(random, num, places);
    }
}

/* What it says of itself. */
static void check_layout(const cohort_layout *layout, size_t num, const size_t *places)
{
    size_t span = 0;
    bool is_dense = true;
    for (size_t i = 0; i < num; i++) {
        span = places[i] >= span ? places[i] + 1 : span;
        is_dense &= places[i] == i;
    }
    CHECK_INT(cohort_layout_num_elements(layout), num);
    CHECK_INT(cohort_layout_span(layout), span);
    CHECK_INT(cohort_layout_is_dense(layout), is_dense);
}

cohort_layout *random_layout(struct cohort__random *random, size_t num, size_t **ret_places)
{
    *ret_places = calloc(num + 1, sizeof(**ret_places));
    CHECK(*ret_places);
    cohort_layout *layout = draw_layout(random, num, *ret_places);
    check_layout(layout, num, *ret_places);
    return layout;
}

/* Elements that lie so --------------------------------------------------------------------- */

static void make_array(struct random_lying *lying, size_t span, size_t element)
{
    lying->span = span;
    lying->element = element;
    lying->array = malloc(span * element); /* no larger: sanitizers see accesses beyond */
    CHECK(lying->array || span * element == 0);
    if (span > 0)
        memset(lying->array, BESIDE, span * element);
}

void random_lying_make_array(struct random_lying *lying, size_t element)
{
    make_array(lying, cohort_layout_span(lying->layout), element);
}

void random_lying_share_array(struct random_lying *lying, struct random_lying *other,
                              size_t element)
{
    size_t span = cohort_layout_span(lying->layout), others = cohort_layout_span(other->layout);
    make_array(lying, span > others ? span : others, element);
    other->array = lying->array;
    other->span = lying->span;
    other->element = element;
}

static unsigned char *place_of(const struct random_lying *lying, size_t i)
{
    return lying->array + lying->places[i] * lying->element;
}

/* ELEMENTS are where they belong, and come from there. */
static void check_packing(const struct random_lying *lying, const unsigned char *elements)
{
    const size_t element = lying->element;
    unsigned char *packed = test_malloc(lying->num * element + 1);
    CHECK_OK(
        cohort_layout_pack(lying->layout, cohort_datatype_of_bytes(element), packed, lying->array));
    CHECK(memcmp(packed, elements, lying->num * element) == 0);
    for (size_t i = 0; i < lying->num; i++)
        CHECK(memcmp(place_of(lying, i), elements + i * element, element) == 0);
    free(packed);
}

void random_lying_put(const struct random_lying *lying, const unsigned char *elements, size_t num)
{
    const size_t element = lying->element;
    for (size_t i = 0; num < lying->num && i < num; i++)
        memcpy(place_of(lying, i), elements + i * element, element);
    if (num < lying->num || num == 0)
        return;
    CHECK_OK(cohort_layout_unpack(lying->layout, cohort_datatype_of_bytes(element), lying->array,
                                  elements));
    check_packing(lying, elements);
}

void random_lying_take(const struct random_lying *lying, unsigned char *elements, size_t first,
                       size_t num)
{
    for (size_t i = first; i < first + num; i++)
        memcpy(elements + i * lying->element, place_of(lying, i), lying->element);
}

bool random_lying_is_kept(const struct random_lying *lying, size_t num,
                          const struct random_lying *other, const unsigned char *other_elements,
                          size_t other_num)
{
    const size_t element = lying->element;
    bool *is_there = calloc(lying->span + 1, sizeof(*is_there)), is_kept = true;
    CHECK(is_there);
    for (size_t i = 0; i < num; i++)
        is_there[lying->places[i]] = true;
    for (size_t i = 0; other && i < other_num; i++) {
        is_there[other->places[i]] = true;
        is_kept &= !memcmp(place_of(other, i), other_elements + i * element, element);
    }
    for (size_t i = 0; i < lying->span; i++)
        for (size_t b = 0; b < element && !is_there[i]; b++)
            is_kept &= lying->array[i * element + b] == BESIDE;
    free(is_there);
    return is_kept;
}

void random_lying_fini(struct random_lying *lying)
{
    cohort_layout_unref(lying->layout);
    free(lying->places);
}
