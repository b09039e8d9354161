/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/plan/strided.h"
#include "runtime/base/slab.h"

/* So many strips at most come from repeating a layout. */
#define MAX_STRIPS ((size_t)1 << 28)

/* A layout that grows. */
struct builder {
    const char *function; /* for messages */
    cohort_layout *layout;
    size_t capacity;
    cohort_status status; /* the first failure */
};

static void fail_beyond(struct builder *builder)
{
    builder->status =
        cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: the elements end beyond what memory can hold",
                    builder->function);
}

static void fail_for_memory(struct builder *builder, size_t num)
{
    builder->status =
        cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu blocks", builder->function, num);
}

static void reserve(struct builder *builder, size_t num)
{
    if (builder->status || (builder->layout && num <= builder->capacity))
        return;
    size_t capacity = num > 2 * builder->capacity ? num : 2 * builder->capacity;
    cohort_layout *layout =
        realloc(builder->layout, sizeof(*layout) + capacity * sizeof(layout->strips[0]));
    if (!layout) {
        fail_for_memory(builder, num);
        return;
    }
    if (!builder->layout)
        memset(layout, 0, sizeof(*layout));
    builder->layout = layout;
    builder->capacity = capacity;
}

static struct builder begin(const char *function, cohort_layout **ret_layout, size_t num)
{
    struct builder builder = {.function = function};
    if (!ret_layout)
        builder.status =
            cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no place for the result", function);
    reserve(&builder, num);
    return builder;
}

static cohort_status finish(struct builder *builder, cohort_layout **ret_layout)
{
    static _Atomic uint64_t last_number;
    if (builder->status) {
        free(builder->layout);
        return builder->status;
    }
    size_t bytes =
        sizeof(cohort_layout) + builder->layout->num_strips * sizeof(struct cohort__strip);
    cohort_layout *layout = cohort__slab_alloc(bytes); /* see misuse.h */
    if (!layout) {
        fail_for_memory(builder, builder->layout->num_strips);
        free(builder->layout);
        return builder->status;
    }
    memcpy(layout, builder->layout, bytes);
    free(builder->layout);
    size_t first = 0;
    for (size_t i = 0; i < layout->num_strips; i++) {
        struct cohort__strip *strip = &layout->strips[i];
        strip->first = first;
        first += strip->length * strip->count;
    }
    layout->refs = 1;
    layout->number = ++last_number;
    *ret_layout = layout;
    return COHORT_OK;
}

/* Appending ---------------------------------------------------------------------------------- */

/* Whether STRIP goes on where LAST ends, as one run or in the same step. */
static bool try_to_join(struct cohort__strip *last, const struct cohort__strip *strip)
{
    bool are_runs = last->count == 1 && strip->count == 1;
    if (are_runs && strip->offset == last->offset + last->length) {
        last->length += strip->length;
        return true;
    }
    if (last->length != strip->length || strip->offset <= last->offset)
        return false;
    size_t stride = last->count > 1    ? last->stride
                    : strip->count > 1 ? strip->stride
                                       : strip->offset - last->offset;
    if ((strip->count > 1 && strip->stride != stride) ||
        (strip->offset - last->offset) / last->count != stride ||
        (strip->offset - last->offset) % last->count != 0)
        return false;
    last->stride = stride;
    last->count += strip->count;
    return true;
}

static void append_strip(struct builder *builder, const struct cohort__strip *strip)
{
    size_t num = builder->layout->num_strips;
    if (num > 0 && try_to_join(&builder->layout->strips[num - 1], strip))
        return;
    reserve(builder, num + 1);
    if (builder->status)
        return;
    builder->layout->strips[num] = *strip;
    builder->layout->num_strips++;
}

/* COUNT runs of LENGTH from OFFSET on. */
static void append(struct builder *builder, size_t offset, size_t length, size_t stride,
                   size_t count)
{
    size_t last, end, num;
    if (builder->status || length == 0 || count == 0)
        return;
    if (__builtin_mul_overflow(count - 1, stride, &last) ||
        __builtin_add_overflow(last, offset, &last) || __builtin_add_overflow(last, length, &end) ||
        end > PTRDIFF_MAX || __builtin_mul_overflow(count, length, &num) ||
        __builtin_add_overflow(num, builder->layout->num_elements, &num) || num > PTRDIFF_MAX) {
        fail_beyond(builder);
        return;
    }
    builder->layout->num_elements = num;
    if (end > builder->layout->span)
        builder->layout->span = end;
    if (count > 1 && stride == length) {
        length *= count;
        count = 1;
    }
    append_strip(builder, &(struct cohort__strip){.offset = offset,
                                                  .length = length,
                                                  .stride = count > 1 ? stride : 0,
                                                  .count = count});
}

/* The constructors --------------------------------------------------------------------------- */

cohort_status cohort_layout_create_vector(cohort_layout **ret_layout, size_t count, size_t block,
                                          size_t stride)
{
    struct builder builder = begin("cohort_layout_create_vector", ret_layout, 1);
    append(&builder, 0, block, stride, count);
    return finish(&builder, ret_layout);
}

cohort_status cohort_layout_create_blocks(cohort_layout **ret_layout,
                                          const cohort_layout_block *blocks, size_t num)
{
    static const char function[] = "cohort_layout_create_blocks";
    if (num > 0 && !blocks)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no blocks", function);
    struct builder builder = begin(function, ret_layout, 1);
    for (size_t i = 0; i < num && !builder.status; i++)
        append(&builder, blocks[i].offset, blocks[i].count, 0, 1);
    return finish(&builder, ret_layout);
}

/* Whether one strip is INNER, and also COUNT times INNER. */
static bool stays_strip(const cohort_layout *inner, size_t count, size_t stride, size_t *ret_runs)
{
    const struct cohort__strip *strip = inner->strips;
    size_t all;
    return inner->num_strips == 1 && !__builtin_mul_overflow(strip->count, strip->stride, &all) &&
           all == stride && !__builtin_mul_overflow(strip->count, count, ret_runs);
}

static void append_repeated(struct builder *builder, size_t count, size_t stride,
                            const cohort_layout *inner, size_t shift)
{
    const struct cohort__strip *first = inner->strips;
    size_t num_runs;
    if (cohort__layout_is_run(inner) && inner->num_elements > 0) {
        append(builder, shift + first->offset, first->length, stride, count);
        return;
    }
    if (stays_strip(inner, count, stride, &num_runs)) {
        append(builder, shift + first->offset, first->length, first->stride, num_runs);
        return;
    }
    if (inner->num_strips > 0 && count > MAX_STRIPS / inner->num_strips) {
        builder->status =
            cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %zu times %zu blocks are too many",
                        builder->function, count, inner->num_strips);
        return;
    }
    for (size_t i = 0; inner->num_strips > 0 && i < count && !builder->status; i++) {
        size_t at;
        if (__builtin_mul_overflow(i, stride, &at) || __builtin_add_overflow(at, shift, &at) ||
            at > PTRDIFF_MAX) {
            fail_beyond(builder);
            return;
        }
        for (size_t k = 0; k < inner->num_strips; k++) {
            const struct cohort__strip *strip = &inner->strips[k];
            append(builder, at + strip->offset, strip->length, strip->stride, strip->count);
        }
    }
}

static cohort_status repeat(const char *function, cohort_layout **ret_layout, size_t count,
                            size_t stride, const cohort_layout *inner, size_t shift)
{
    if (!inner)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no inner layout", function);
    struct builder builder = begin(function, ret_layout, 1);
    if (!builder.status)
        append_repeated(&builder, count, stride, inner, shift);
    return finish(&builder, ret_layout);
}

cohort_status cohort_layout_create_repeat(cohort_layout **ret_layout, size_t count, size_t stride,
                                          const cohort_layout *inner)
{
    cohort__layout_check(inner, "cohort_layout_create_repeat");
    return repeat("cohort_layout_create_repeat", ret_layout, count, stride, inner, 0);
}

static void append_part(struct builder *builder, const cohort_layout_part *part, size_t index)
{
    const cohort_layout *layout = part->layout;
    if (!layout) {
        builder->status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no layout in part %zu",
                                      builder->function, index);
        return;
    }
    if (part->offset > PTRDIFF_MAX && layout->num_elements > 0) {
        fail_beyond(builder);
        return;
    }
    if (layout->num_strips > MAX_STRIPS - builder->layout->num_strips) {
        builder->status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: more than %zu blocks",
                                      builder->function, MAX_STRIPS);
        return;
    }
    append_repeated(builder, 1, 0, layout, part->offset);
}

cohort_status cohort_layout_create_parts(cohort_layout **ret_layout,
                                         const cohort_layout_part *parts, size_t num)
{
    static const char function[] = "cohort_layout_create_parts";
    if (num > 0 && !parts)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no parts", function);
    struct builder builder = begin(function, ret_layout, 1);
    for (size_t i = 0; i < num; i++)
        cohort__layout_check(parts[i].layout, function);
    for (size_t i = 0; i < num && !builder.status; i++)
        append_part(&builder, &parts[i], i);
    return finish(&builder, ret_layout);
}

static bool is_empty(size_t num_dims, const size_t *counts)
{
    for (size_t dim = 0; dim < num_dims; dim++)
        if (counts[dim] == 0)
            return true;
    return false;
}

/* Whether the box is within the array, which memory can hold if the box has elements. */
static cohort_status check_box(const char *function, size_t num_dims, const size_t *sizes,
                               const size_t *starts, const size_t *counts)
{
    size_t all = 1;
    if (num_dims == 0 || !sizes || !starts || !counts)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no %s", function,
                           num_dims == 0 ? "dimensions"
                           : !sizes      ? "sizes"
                           : !starts     ? "starts"
                                         : "counts");
    const bool has_elements = !is_empty(num_dims, counts);
    for (size_t dim = 0; dim < num_dims; dim++) {
        if (starts[dim] > sizes[dim] || counts[dim] > sizes[dim] - starts[dim])
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%s: dimension %zu: %zu indices from %zu on are not within %zu",
                               function, dim, counts[dim], starts[dim], sizes[dim]);
        if (has_elements && (__builtin_mul_overflow(all, sizes[dim], &all) || all > PTRDIFF_MAX))
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%s: the array is larger than what memory can hold", function);
    }
    return COHORT_OK;
}

cohort_status cohort_layout_create_box(cohort_layout **ret_layout, size_t num_dims,
                                       const size_t *sizes, const size_t *starts,
                                       const size_t *counts)
{
    static const char function[] = "cohort_layout_create_box";
    cohort_layout *layout = NULL;
    cohort_status status = check_box(function, num_dims, sizes, starts, counts);
    if (!status && !ret_layout)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no place for the result", function);
    if (!status && is_empty(num_dims, counts))
        return cohort_layout_create_vector(ret_layout, 0, 0, 0);
    if (!status)
        status = cohort_layout_create_vector(&layout, 1, 1, 1);
    size_t stride = 1;
    for (size_t dim = num_dims; !status && dim-- > 0;) {
        cohort_layout *inner = layout;
        status = repeat(function, &layout, counts[dim], stride, inner, starts[dim] * stride);
        if (!status)
            cohort_layout_unref(inner);
        stride *= sizes[dim];
    }
    if (status)
        cohort_layout_unref(layout);
    else
        *ret_layout = layout;
    return status;
}

/* Life and queries --------------------------------------------------------------------------- */

cohort_layout *cohort_layout_ref(cohort_layout *layout)
{
    cohort__layout_check(layout, "cohort_layout_ref");
    if (layout)
        layout->refs++;
    return layout;
}

void cohort_layout_unref(cohort_layout *layout)
{
    cohort__layout_check(layout, "cohort_layout_unref");
    if (layout && --layout->refs == 0)
        cohort__slab_free(layout);
}

size_t cohort_layout_num_elements(const cohort_layout *layout)
{
    cohort__layout_check(layout, "cohort_layout_num_elements");
    return layout->num_elements;
}

size_t cohort_layout_span(const cohort_layout *layout)
{
    cohort__layout_check(layout, "cohort_layout_span");
    return layout->span;
}

bool cohort_layout_is_dense(const cohort_layout *layout)
{
    cohort__layout_check(layout, "cohort_layout_is_dense");
    return cohort__layout_is_run(layout) && layout->span == layout->num_elements;
}

bool cohort__layout_is_run(const cohort_layout *layout)
{
    return layout->num_strips == 0 || (layout->num_strips == 1 && layout->strips[0].count == 1);
}

/* The strip of element number FIRST, which there is. */
static const struct cohort__strip *strip_of(const cohort_layout *layout, size_t first)
{
    size_t low = 0, high = layout->num_strips;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (layout->strips[middle].first <= first)
            low = middle;
        else
            high = middle;
    }
    return &layout->strips[low];
}

/* One of the two is the array, and the other one has the elements one behind the other. */
struct sides {
    unsigned char *array;
    unsigned char *packed;
    size_t element;
    bool packs;
};

/* COUNT pieces of NUM elements, the first of which is element number AT of the array. */
static void move(struct sides *sides, size_t at, size_t num, size_t stride, size_t count)
{
    size_t bytes = num * sides->element;
    unsigned char *array = sides->array + at * sides->element;
    if (sides->packs)
        cohort__strided_copy(sides->packed, bytes, array, stride * sides->element, bytes, count);
    else
        cohort__strided_copy(array, stride * sides->element, sides->packed, bytes, bytes, count);
    sides->packed += bytes * count;
}

/* The elements BEGIN to END of STRIP, counted from its first one: the rest of a run, whole runs,
 * and the beginning of a run. */
static void move_strip(struct sides *sides, const struct cohort__strip *strip, size_t begin,
                       size_t end)
{
    size_t skipped = begin % strip->length, left = strip->length - skipped;
    if (skipped > 0) {
        size_t num = left < end - begin ? left : end - begin;
        move(sides, strip->offset + begin / strip->length * strip->stride + skipped, num, 0, 1);
        begin += num;
    }
    size_t at = strip->offset + begin / strip->length * strip->stride;
    size_t count = (end - begin) / strip->length, rest = (end - begin) % strip->length;
    if (count > 0)
        move(sides, at, strip->length, strip->stride, count);
    if (rest > 0)
        move(sides, at + count * strip->stride, rest, 0, 1);
}

static void move_some(const cohort_layout *layout, size_t first, size_t num, struct sides *sides)
{
    const size_t end = first + num;
    const struct cohort__strip *strip = num > 0 ? strip_of(layout, first) : NULL;
    while (first < end) {
        size_t strip_end = strip->first + strip->length * strip->count;
        size_t until = strip_end < end ? strip_end : end;
        move_strip(sides, strip, first - strip->first, until - strip->first);
        first = until;
        strip++;
    }
}

void cohort__layout_pack_some(const cohort_layout *layout, size_t element, size_t first, size_t num,
                              void *to, const void *from)
{
    move_some(layout, first, num,
              &(struct sides){(unsigned char *)from, to, element, .packs = true});
}

void cohort__layout_unpack_some(const cohort_layout *layout, size_t element, size_t first,
                                size_t num, void *to, const void *from)
{
    move_some(layout, first, num,
              &(struct sides){to, (unsigned char *)from, element, .packs = false});
}

void cohort__layout_pack(const cohort_layout *layout, size_t element, void *to, const void *from)
{
    cohort__layout_pack_some(layout, element, 0, layout->num_elements, to, from);
}

void cohort__layout_unpack(const cohort_layout *layout, size_t element, void *to, const void *from)
{
    cohort__layout_unpack_some(layout, element, 0, layout->num_elements, to, from);
}
