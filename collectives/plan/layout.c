/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/plan/strided.h"

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

static void reserve(struct builder *builder, size_t num)
{
    if (builder->status || (builder->layout && num <= builder->capacity))
        return;
    size_t capacity = num > 2 * builder->capacity ? num : 2 * builder->capacity;
    cohort_layout *layout =
        realloc(builder->layout, sizeof(*layout) + capacity * sizeof(layout->strips[0]));
    if (!layout) {
        builder->status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu blocks",
                                      builder->function, num);
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
    builder->layout->refs = 1;
    builder->layout->number = ++last_number;
    *ret_layout = builder->layout;
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
    if (last->length != strip->length || strip->offset <= last->offset ||
        (uint64_t)last->count + strip->count > UINT32_MAX)
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
    while (count > 0 && !builder->status) {
        uint32_t now = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        append_strip(builder, &(struct cohort__strip){.offset = offset,
                                                      .length = length,
                                                      .stride = now > 1 ? stride : 0,
                                                      .count = now});
        offset += now * stride;
        count -= now;
    }
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

static void append_repeated(struct builder *builder, size_t count, size_t stride,
                            const cohort_layout *inner, size_t shift)
{
    if (cohort__layout_is_run(inner) && inner->num_elements > 0) {
        append(builder, shift + inner->strips[0].offset, inner->num_elements, stride, count);
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
    return repeat("cohort_layout_create_repeat", ret_layout, count, stride, inner, 0);
}

/* Whether the box is within the array, which memory can hold. */
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
    for (size_t dim = 0; dim < num_dims; dim++) {
        if (starts[dim] > sizes[dim] || counts[dim] > sizes[dim] - starts[dim])
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%s: dimension %zu: %zu indices from %zu on are not within %zu",
                               function, dim, counts[dim], starts[dim], sizes[dim]);
        if (__builtin_mul_overflow(all, sizes[dim], &all) || all > PTRDIFF_MAX)
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
    if (layout)
        layout->refs++;
    return layout;
}

void cohort_layout_unref(cohort_layout *layout)
{
    if (layout && --layout->refs == 0)
        free(layout);
}

size_t cohort_layout_num_elements(const cohort_layout *layout)
{
    return layout->num_elements;
}

size_t cohort_layout_span(const cohort_layout *layout)
{
    return layout->span;
}

bool cohort_layout_is_dense(const cohort_layout *layout)
{
    return cohort__layout_is_run(layout) && layout->span == layout->num_elements;
}

bool cohort__layout_is_run(const cohort_layout *layout)
{
    return layout->num_strips == 0 || (layout->num_strips == 1 && layout->strips[0].count == 1);
}

size_t cohort__layout_num_runs(const cohort_layout *layout)
{
    size_t num = 0;
    for (size_t i = 0; i < layout->num_strips; i++)
        num += layout->strips[i].count;
    return num;
}

void cohort__layout_pack(const cohort_layout *layout, size_t element, void *to, const void *from)
{
    unsigned char *next = to;
    for (size_t i = 0; i < layout->num_strips; i++) {
        const struct cohort__strip *strip = &layout->strips[i];
        size_t bytes = strip->length * element;
        cohort__strided_copy(next, bytes, (const unsigned char *)from + strip->offset * element,
                             strip->stride * element, bytes, strip->count);
        next += bytes * strip->count;
    }
}

void cohort__layout_unpack(const cohort_layout *layout, size_t element, void *to, const void *from)
{
    const unsigned char *next = from;
    for (size_t i = 0; i < layout->num_strips; i++) {
        const struct cohort__strip *strip = &layout->strips[i];
        size_t bytes = strip->length * element;
        cohort__strided_copy((unsigned char *)to + strip->offset * element, strip->stride * element,
                             next, bytes, bytes, strip->count);
        next += bytes * strip->count;
    }
}
