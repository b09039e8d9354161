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
    unsigned char *array = test_malloc(bytes), *packed = test_malloc(packed_bytes);
    unsigned char *want = test_malloc(bytes), *want_packed = test_malloc(packed_bytes);
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

    size_t first = cohort__random_below(random, naive->num + 1);
    size_t num = cohort__random_below(random, naive->num - first + 1);
    memset(packed, 0xa5, packed_bytes);
    memset(want_packed, 0xa5, packed_bytes);
    for (size_t i = 0; i < num; i++)
        memcpy(want_packed + 1 + i * element, array + 1 + naive->offsets[first + i] * element,
               element);
    cohort__layout_pack_some(layout, element, first, num, packed + 1, array + 1);
    CHECK(memcmp(packed, want_packed, packed_bytes) == 0);
    for (size_t i = 0; i < packed_bytes; i++)
        packed[i] = (unsigned char)cohort__random_next(random);
    for (size_t i = 0; i < num; i++)
        memcpy(want + 1 + naive->offsets[first + i] * element, packed + 1 + i * element, element);
    cohort__layout_unpack_some(layout, element, first, num, array + 1, packed + 1);
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
    CHECK_OK(cohort_layout_create_vector(&layout, count, block, stride));
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
    CHECK_OK(cohort_layout_create_blocks(&layout, num ? blocks : NULL, num));
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
    CHECK_OK(cohort_layout_create_box(&layout, num_dims, sizes, starts, counts));
    for (size_t x = starts[0]; x < starts[0] + counts[0]; x++)
        for (size_t y = starts[1]; y < starts[1] + counts[1]; y++)
            for (size_t z = starts[2]; z < starts[2] + counts[2]; z++)
                naive_add(naive, (x * sizes[1] + y) * sizes[2] + z);
    return layout;
}

static cohort_layout *draw(struct naive *naive, struct cohort__random *random, unsigned depth);

static cohort_layout *draw_parts(struct naive *naive, struct cohort__random *random, unsigned depth)
{
    cohort_layout_part parts[3];
    cohort_layout *layout;
    size_t num = cohort__random_below(random, 4);
    for (size_t i = 0; i < num; i++) {
        struct naive *inner = test_malloc(sizeof(*inner));
        parts[i].layout = draw(inner, random, depth - 1);
        parts[i].offset = cohort__random_below(random, 200);
        for (size_t k = 0; k < inner->num; k++)
            naive_add(naive, parts[i].offset + inner->offsets[k]);
        if (inner->num == 0)
            parts[i].offset = SIZE_MAX;
        free(inner);
    }
    CHECK_OK(cohort_layout_create_parts(&layout, num ? parts : NULL, num));
    for (size_t i = 0; i < num; i++)
        cohort_layout_unref((cohort_layout *)parts[i].layout);
    return layout;
}

static cohort_layout *draw(struct naive *naive, struct cohort__random *random, unsigned depth)
{
    *naive = (struct naive){0};
    switch (cohort__random_below(random, depth > 0 ? 5 : 3)) {
    case 0:
        return draw_vector(naive, random);
    case 1:
        return draw_blocks(naive, random);
    case 2:
        return draw_box(naive, random);
    case 3:
        return draw_parts(naive, random, depth);
    default: {
        size_t count = cohort__random_below(random, 4), stride = cohort__random_below(random, 60);
        static struct naive inner[3];
        cohort_layout *layout, *inside = draw(&inner[depth], random, depth - 1);
        CHECK_OK(cohort_layout_create_repeat(&layout, count, stride, inside));
        cohort_layout_unref(inside);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < inner[depth].num; k++)
                naive_add(naive, i * stride + inner[depth].offsets[k]);
        return layout;
    }
    }
}

TEST(random)
{
    static const size_t elements[] = {1, 2, 4, 8, 16, 3, 12};
    static struct naive naive;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        cohort_layout *layout = draw(&naive, &random, 2);
        if (naive.num > 0 || seed % 50 == 0)
            check_same(layout, &naive, elements[seed % 7], &random);
        cohort_layout_unref(layout);
    }
}

/* Overlaps ----------------------------------------------------------------------------------- */

enum { PLACES = 8192, LYING = 4 };

/* Who lies at each byte: 1 received, 2 sent, 3 both. False: two lie there of which one is
 * received. */
static bool put_down(unsigned char *places, const struct naive *naive, size_t element,
                     const struct cohort__lying *lying)
{
    bool is_fine = true;
    for (size_t i = 0; i < naive->num * element; i++) {
        size_t at = lying->offset + naive->offsets[i / element] * element + i % element;
        unsigned char *place = &places[at];
        CHECK(at < PLACES);
        is_fine &= lying->is_sent ? !(*place & 1) : *place == 0;
        *place |= lying->is_sent ? 2 : 1;
    }
    return is_fine;
}

/* Whether a run of LYING is where OVERLAP says. */
static bool is_run_of(const struct cohort__lying *lying, size_t element, size_t begin, size_t end)
{
    if (!lying->layout)
        return begin == lying->offset && end == begin + lying->bytes;
    for (size_t i = 0; i < lying->layout->num_strips; i++) {
        const struct cohort__strip *strip = &lying->layout->strips[i];
        for (uint32_t k = 0; k < strip->count; k++) {
            size_t at = lying->offset + (strip->offset + k * strip->stride) * element;
            if (at == begin && at + strip->length * element == end)
                return true;
        }
    }
    return false;
}

/* Looks for overlaps of all of LYING. */
static void search_overlap(const struct cohort__lying *lying, size_t element, bool is_fine,
                           unsigned *num_found)
{
    struct cohort__overlap overlap;
    bool found;
    CHECK_OK(cohort__layout_overlap(lying, LYING, &found, &overlap));
    CHECK_INT(found, !is_fine);
    if (!found)
        return;
    CHECK(overlap.a.site < LYING && overlap.b.site < LYING);
    const struct cohort__lying *a = &lying[overlap.a.site], *b = &lying[overlap.b.site];
    CHECK(a->is_sent == overlap.a.is_sent && b->is_sent == overlap.b.is_sent);
    CHECK(!a->is_sent || !b->is_sent);
    CHECK(is_run_of(a, element, overlap.a.begin, overlap.a.end));
    CHECK(is_run_of(b, element, overlap.b.begin, overlap.b.end));
    CHECK(overlap.a.begin < overlap.b.end && overlap.b.begin < overlap.a.end);
    ++*num_found;
}

static void check_overlap(struct cohort__random *random, unsigned *num_found)
{
    static struct naive naive;
    static unsigned char places[PLACES];
    struct cohort__lying lying[LYING];
    cohort_layout *layouts[LYING] = {NULL};
    size_t element = 1 + cohort__random_below(random, 3);
    bool is_fine = true, found;
    struct cohort__overlap overlap;
    memset(places, 0, sizeof(places));
    for (uint32_t i = 0; i < LYING; i++) {
        layouts[i] = draw(&naive, random, 1);
        lying[i] = (struct cohort__lying){
            .offset = cohort__random_below(random, i * 60 + 1) * element,
            .bytes = naive.num * element,
            .layout = layouts[i],
            .site = i,
            .is_sent = cohort__random_below(random, 3) > 0,
        };
        bool is_itself = false, is_there[SPAN_MAX] = {false};
        for (size_t k = 0; k < naive.num; k++) {
            is_itself |= is_there[naive.offsets[k]];
            is_there[naive.offsets[k]] = true;
        }
        for (int round = 0; round < 2; round++) {
            CHECK_OK(cohort__layout_overlaps_itself(layouts[i], element, &found, &overlap));
            CHECK_INT(found, is_itself);
        }
        if (cohort__layout_is_run(layouts[i]) && naive.num > 0) {
            lying[i].layout = NULL;
            lying[i].offset += naive.offsets[0] * element;
            for (size_t k = naive.num; k-- > 0;)
                naive.offsets[k] -= naive.offsets[0];
        }
        is_fine &= put_down(places, &naive, element, &lying[i]);
    }
    search_overlap(lying, element, is_fine, num_found);
    for (uint32_t i = 0; i < LYING; i++)
        cohort_layout_unref(layouts[i]);
}

/* Strips of many runs, mostly with one stride, each in a slot of its own or nearly so. */
static void check_pattern(struct cohort__random *random, unsigned *num_found)
{
    static struct naive naive;
    static unsigned char places[PLACES];
    struct cohort__lying lying[LYING];
    cohort_layout *layouts[LYING];
    const size_t stride = 4 * (1 + cohort__random_below(random, 4)), slot = stride / LYING;
    const uint32_t one = (uint32_t)cohort__random_below(random, 2 * LYING); /* of another kind */
    bool is_fine = true;
    memset(places, 0, sizeof(places));
    for (uint32_t i = 0; i < LYING; i++) {
        size_t count = 1 + cohort__random_below(random, 30), length = slot, step = stride;
        size_t offset = i * slot + stride * cohort__random_below(random, 12);
        bool is_sent = cohort__random_below(random, 2);
        if (i == one) {
            length += cohort__random_below(random, 2);
            step = cohort__random_below(random, 2) ? stride : 2 * stride;
            offset += cohort__random_below(random, 2);
            count = cohort__random_below(random, 3) ? count : 1;
        }
        if (is_sent && cohort__random_below(random, 8) == 0)
            length = 3 * stride; /* across several of the others */
        CHECK_OK(cohort_layout_create_vector(&layouts[i], count, length, step));
        naive.num = naive.span = 0;
        for (size_t k = 0; k < count * length; k++)
            naive_add(&naive, k / length * step + k % length);
        lying[i] = (struct cohort__lying){.offset = offset,
                                          .bytes = count * length,
                                          .layout = layouts[i],
                                          .site = i,
                                          .is_sent = is_sent};
        is_fine &= put_down(places, &naive, 1, &lying[i]);
    }
    search_overlap(lying, 1, is_fine, num_found);
    for (uint32_t i = 0; i < LYING; i++)
        cohort_layout_unref(layouts[i]);
}

TEST(overlap_of_patterns)
{
    enum { SEEDS = 20000 };
    unsigned num_found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        check_pattern(&random, &num_found);
    }
    CHECK(num_found > SEEDS / 8 && num_found < SEEDS - SEEDS / 8);
}

TEST(overlap)
{
    enum { SEEDS = 4000 };
    unsigned num_found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        check_overlap(&random, &num_found);
    }
    CHECK(num_found > SEEDS / 8 && num_found < SEEDS - SEEDS / 8);
}

/* So many runs that not each of them could be looked at. */
TEST(overlap_of_many)
{
    const size_t many = (size_t)1 << 40;
    cohort_layout *far, *same;
    struct cohort__overlap overlap;
    bool found;
    CHECK_OK(cohort_layout_create_vector(&far, many, 1, 3));
    CHECK_OK(cohort_layout_create_vector(&same, many, 2, 0));
    const struct cohort__lying lying[] = {
        {.offset = 5, .bytes = many, .layout = far},
        {.offset = 5 + 3 * many, .bytes = many, .layout = far, .site = 1},
        {.offset = 2, .bytes = 2 * many, .layout = same, .site = 2, .is_sent = true},
        {.offset = 1, .bytes = 1, .site = 3},
        {.offset = 5 + 6 * many - 3, .bytes = 1, .site = 4},
    };
    CHECK_OK(cohort__layout_overlap(lying, 4, &found, &overlap));
    CHECK(!found);
    CHECK_OK(cohort__layout_overlap(lying, 5, &found, &overlap));
    CHECK(found && overlap.a.site + overlap.b.site == 5);
    CHECK_INT(overlap.a.begin, 5 + 6 * many - 3);
    /* Behind a run that is sent within a longer one. */
    const struct cohort__lying around[] = {
        {.offset = 0, .bytes = 100, .is_sent = true},
        {.offset = 5, .bytes = 1, .site = 1, .is_sent = true},
        {.offset = 50, .bytes = 1, .site = 2},
    };
    CHECK_OK(cohort__layout_overlap(around, 3, &found, &overlap));
    CHECK(found && overlap.a.site == 0 && overlap.b.site == 2);
    CHECK_OK(cohort__layout_overlaps_itself(far, 8, &found, &overlap));
    CHECK(!found);
    CHECK_OK(cohort__layout_overlaps_itself(same, 8, &found, &overlap));
    CHECK(found && overlap.a.begin == 0 && overlap.b.begin == 0 && overlap.b.end == 16);
    /* Those of two strips take turns, until one ends, and somebody else is where the other does. */
    const struct cohort__lying turns[] = {
        {.offset = 0, .bytes = many, .layout = far},
        {.offset = 1, .bytes = many, .layout = far, .site = 1, .is_sent = true},
        {.offset = 3 * many - 5, .bytes = 1, .site = 2},
    };
    CHECK_OK(cohort__layout_overlap(turns, 2, &found, &overlap));
    CHECK(!found);
    CHECK_OK(cohort__layout_overlap(turns, 3, &found, &overlap));
    CHECK(found && overlap.a.site + overlap.b.site == 3);
    CHECK_INT(overlap.a.begin, 3 * many - 5);
    cohort_layout_unref(far);
    cohort_layout_unref(same);
}

/* What is regular takes one strip, however it was described. */
TEST(joined)
{
    static const size_t sizes[] = {6, 7, 8}, starts[] = {1, 0, 1}, counts[] = {4, 7, 1};
    static const cohort_layout_block steps[] = {{0, 2}, {5, 2}, {10, 2}, {15, 2}};
    static const cohort_layout_block row[] = {{3, 2}, {5, 1}, {6, 4}};
    cohort_layout *layout, *inner;
    CHECK_OK(cohort_layout_create_box(&layout, 3, sizes, starts, counts));
    CHECK_INT(layout->num_strips, 1); /* a whole face */
    CHECK_INT(layout->strips[0].count, 28);
    cohort_layout_unref(layout);
    CHECK_OK(cohort_layout_create_blocks(&layout, steps, 4));
    CHECK_INT(layout->num_strips, 1);
    CHECK_INT(layout->strips[0].count, 4);
    cohort_layout_unref(layout);
    CHECK_OK(cohort_layout_create_blocks(&layout, row, 3));
    CHECK(cohort__layout_is_run(layout) && !cohort_layout_is_dense(layout));
    cohort_layout_unref(layout);
    CHECK_OK(cohort_layout_create_vector(&inner, 3, 4, 4));
    CHECK(cohort_layout_is_dense(inner));
    CHECK_OK(cohort_layout_create_repeat(&layout, 5, 12, inner));
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

TEST(refused)
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
    CHECK_OK(cohort_layout_create_vector(&inner, 2, 1, half));
    CHECK_OK(cohort_layout_create_blocks(&two, (cohort_layout_block[]){{0, 1}, {2, 2}}, 2));
    expect(cohort_layout_create_repeat(&layout, 4, half, inner), "beyond");
    expect(cohort_layout_create_repeat(&layout, 3, huge, inner), "beyond");
    expect(cohort_layout_create_repeat(&layout, half, 1, two), "too many");
    expect(cohort_layout_create_parts(&layout, NULL, 1), "no parts");
    expect(cohort_layout_create_parts(NULL, NULL, 0), "no place");
    expect(cohort_layout_create_parts(&layout, (cohort_layout_part[]){{0, two}, {4, NULL}}, 2),
           "no layout in part 1");
    expect(cohort_layout_create_parts(&layout, (cohort_layout_part[]){{huge, two}}, 1), "beyond");
    expect(cohort_layout_create_parts(&layout, (cohort_layout_part[]){{SIZE_MAX, two}}, 1),
           "beyond");
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
    expect(cohort_layout_create_box(&layout, 4, (size_t[]){1, half / 64, 3, 3},
                                    (size_t[]){0, 0, 0, 0}, (size_t[]){1, half / 64, 2, 2}),
           "too many");
    CHECK(!layout);
    cohort_layout_unref(inner);
    cohort_layout_unref(two);
}

/* However many runs there are, what is regular is one strip. */
TEST(many)
{
    const size_t many = (size_t)1 << 33, most = (size_t)1 << 61;
    cohort_layout *layout, *inner;
    CHECK_OK(cohort_layout_create_vector(&layout, most, 1, 2));
    CHECK_INT(cohort_layout_num_elements(layout), most);
    CHECK_INT(cohort_layout_span(layout), 2 * most - 1);
    CHECK_INT(layout->num_strips, 1);
    cohort_layout_unref(layout);
    CHECK_OK(cohort_layout_create_vector(&layout, PTRDIFF_MAX, 1, 0));
    CHECK_INT(layout->num_strips, 1);
    cohort_layout_unref(layout);

    CHECK_OK(cohort_layout_create_vector(&inner, 4, 1, 2));
    CHECK_OK(cohort_layout_create_repeat(&layout, many, 8, inner));
    CHECK_INT(cohort_layout_num_elements(layout), 4 * many);
    CHECK_INT(cohort_layout_span(layout), 8 * many - 1);
    CHECK_INT(layout->num_strips, 1);
    expect(cohort_layout_create_repeat(&layout, most, 8, inner), "beyond");
    expect(cohort_layout_create_repeat(&layout, many, 9, inner), "8589934592 times 1 blocks");
    cohort_layout_unref(inner);
    const cohort_layout_part part = {1, layout};
    CHECK_OK(cohort_layout_create_parts(&inner, &part, 1));
    CHECK_INT(cohort_layout_span(inner), 8 * many);
    CHECK_INT(inner->num_strips, 1);
    cohort_layout_unref(inner);
    cohort_layout_unref(layout);
}

/* What has no elements needs no memory, and may be of anything. */
TEST(empty)
{
    const size_t huge = (size_t)1 << 40;
    cohort_layout *layout, *inner;
    CHECK_OK(cohort_layout_create_vector(&inner, SIZE_MAX, 0, SIZE_MAX));
    CHECK_OK(cohort_layout_create_repeat(&layout, SIZE_MAX, SIZE_MAX, inner));
    CHECK_INT(cohort_layout_num_elements(layout) + cohort_layout_span(layout), 0);
    CHECK(cohort_layout_is_dense(layout));
    cohort_layout_unref(layout);
    cohort_layout_unref(inner);
    for (size_t empty = 0; empty < 4; empty++) {
        size_t sizes[] = {huge, huge, 3, 3}, counts[] = {huge, huge, 2, 2};
        counts[empty] = 0;
        for (int round = 0; round < 2; round++) {
            CHECK_OK(cohort_layout_create_box(&layout, 4, sizes, (size_t[]){0, 0, 0, 0}, counts));
            CHECK_INT(cohort_layout_num_elements(layout) + cohort_layout_span(layout), 0);
            cohort_layout_unref(layout);
            sizes[empty] = 0;
        }
        expect(cohort_layout_create_box(&layout, 4, sizes, (size_t[]){0, 0, 0, 9}, counts),
               "not within");
    }
}
