/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"

/* Inlined with each size that is a number's: the compiler turns the memcpy into a move. */
static inline __attribute__((always_inline)) void copy_pieces(unsigned char *to, size_t to_stride,
                                                              const unsigned char *from,
                                                              size_t from_stride, size_t bytes,
                                                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

void cohort__strided_copy(unsigned char *to, size_t to_stride, const unsigned char *from,
                          size_t from_stride, size_t bytes, size_t count)
{
    switch (count > 0 ? bytes : 0) {
    case 0:
        return;
    case 1:
        copy_pieces(to, to_stride, from, from_stride, 1, count);
        return;
    case 2:
        copy_pieces(to, to_stride, from, from_stride, 2, count);
        return;
    case 4:
        copy_pieces(to, to_stride, from, from_stride, 4, count);
        return;
    case 8:
        copy_pieces(to, to_stride, from, from_stride, 8, count);
        return;
    case 16:
        copy_pieces(to, to_stride, from, from_stride, 16, count);
        return;
    default:
        copy_pieces(to, to_stride, from, from_stride, bytes, count);
    }
}

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

/* A strip that is walked through, run by run, each of which begins behind the one before, or where
 * that does. In bytes. */
struct cursor {
    size_t begin; /* of the run that is next */
    size_t length;
    size_t stride;
    size_t left; /* runs, that one included */
    uint32_t site;
    bool is_sent;
};

/* The cursors are a heap: the first one has the run that begins first. */
struct heap {
    struct cursor *cursors;
    size_t num;
};

/* Where two begin at the same byte, what is received comes first. */
static bool is_before(const struct cursor *a, const struct cursor *b)
{
    return a->begin < b->begin || (a->begin == b->begin && !a->is_sent && b->is_sent);
}

static void sift_down(struct heap *heap, size_t at)
{
    struct cursor *cursors = heap->cursors;
    const struct cursor moving = cursors[at];
    for (size_t child; (child = 2 * at + 1) < heap->num; at = child) {
        if (child + 1 < heap->num && is_before(&cursors[child + 1], &cursors[child]))
            child++;
        if (!is_before(&cursors[child], &moving))
            break;
        cursors[at] = cursors[child];
    }
    cursors[at] = moving;
}

static size_t count_strips(const struct cohort__lying *lying, size_t num)
{
    size_t num_strips = 0;
    for (size_t i = 0; i < num; i++)
        if (lying[i].bytes > 0)
            num_strips += lying[i].layout ? lying[i].layout->num_strips : 1;
    return num_strips;
}

static void add(struct heap *heap, const struct cohort__lying *what)
{
    const cohort_layout *layout = what->layout;
    if (!layout) {
        heap->cursors[heap->num++] = (struct cursor){
            what->offset, what->bytes, 0, .left = 1, .site = what->site, .is_sent = what->is_sent};
        return;
    }
    size_t element = what->bytes / layout->num_elements;
    for (size_t i = 0; i < layout->num_strips; i++) {
        const struct cohort__strip *strip = &layout->strips[i];
        bool is_one_place = strip->count > 2 && strip->stride == 0;
        heap->cursors[heap->num++] = (struct cursor){what->offset + strip->offset * element,
                                                     strip->length * element,
                                                     strip->stride * element,
                                                     is_one_place ? 2 : strip->count,
                                                     what->site,
                                                     what->is_sent};
    }
}

/* A run that has been met. */
struct run {
    size_t begin;
    size_t end; /* 0: none has been */
    uint32_t site;
};

/* Those so far that end last. */
struct search {
    struct run received;
    struct run sent;
};

static struct run run_of(const struct cursor *cursor)
{
    return (struct run){cursor->begin, cursor->begin + cursor->length, cursor->site};
}

static void report(const struct run *a, bool a_is_sent, const struct cursor *cursor,
                   struct cohort__overlap *ret_overlap)
{
    const struct run b = run_of(cursor);
    *ret_overlap = (struct cohort__overlap){
        .a = {a->begin, a->end, a->site, a_is_sent},
        .b = {b.begin, b.end, b.site, cursor->is_sent},
    };
}

/* Meets the next run of CURSOR. True: it overlaps with one before. */
static bool meet(struct search *search, const struct cursor *cursor,
                 struct cohort__overlap *ret_overlap)
{
    struct run run = run_of(cursor);
    if (search->received.end > run.begin) {
        report(&search->received, false, cursor, ret_overlap);
        return true;
    }
    if (!cursor->is_sent && search->sent.end > run.begin) {
        report(&search->sent, true, cursor, ret_overlap);
        return true;
    }
    if (!cursor->is_sent)
        search->received = run;
    else if (run.end > search->sent.end)
        search->sent = run;
    return false;
}

/* Where the first cursor's next one in the order is. */
static size_t second_begin(const struct heap *heap)
{
    size_t left = heap->num > 1 ? heap->cursors[1].begin : SIZE_MAX;
    size_t right = heap->num > 2 ? heap->cursors[2].begin : SIZE_MAX;
    return left < right ? left : right;
}

/* Goes to the next run of CURSOR. Where nobody else begins before OTHER, and its runs may not be in
 * the way of each other, goes to the last one that begins no later: those in between need no
 * look. */
static void advance(struct cursor *cursor, size_t other)
{
    bool are_apart = cursor->is_sent || cursor->stride >= cursor->length;
    size_t num = are_apart && cursor->stride > 0 ? (other - cursor->begin) / cursor->stride : 1;
    size_t most = cursor->left - 1;
    size_t steps = num == 0 ? 1 : num < most ? num : most;
    cursor->begin += steps * cursor->stride;
    cursor->left -= steps;
}

/* Strips with one stride, such as two fields of an array of structs, take turns: the same pattern
 * comes again and again. Where two of them are fine, next to each other, all are. */
struct pattern {
    size_t steps;   /* until two have been met. 0: there is no pattern */
    size_t repeats; /* that need no look then */
};

/* Cursors that begin within one stride of the first one. They are the top of the heap, since those
 * below a cursor begin no earlier. */
struct window {
    struct heap *heap;
    size_t begin, stride;
    size_t num;
    size_t num_looks;
    size_t repeats;     /* until one of them is over, or another one begins */
    bool is_one_stride; /* all have that one */
};

static bool is_within(const struct window *window, size_t index)
{
    return window->heap->cursors[index].begin - window->begin < window->stride;
}

static void look_from(struct window *window, size_t index)
{
    if (index >= window->heap->num || !window->is_one_stride)
        return;
    const struct cursor *cursor = &window->heap->cursors[index];
    const bool is_in = is_within(window, index);
    size_t most = is_in ? cursor->left : (cursor->begin - window->begin) / window->stride;
    window->repeats = most < window->repeats ? most : window->repeats;
    window->num_looks++;
    if (!is_in)
        return;
    window->num++;
    window->is_one_stride = cursor->stride == window->stride;
    look_from(window, 2 * index + 1);
    look_from(window, 2 * index + 2);
}

/* If there is one, two of it are met at first. These, those without a look, and one more must be
 * over before anybody else begins. */
static struct pattern find_pattern(struct heap *heap, size_t *ret_num_looks)
{
    struct window window = {.heap = heap,
                            .begin = heap->cursors[0].begin,
                            .stride = heap->cursors[0].stride,
                            .repeats = SIZE_MAX,
                            .is_one_stride = heap->cursors[0].stride > 0};
    look_from(&window, 0);
    *ret_num_looks = window.num_looks;
    /* What one strip does alone, `advance` knows. */
    return window.is_one_stride && window.num > 1 && window.repeats > 3
               ? (struct pattern){2 * window.num, window.repeats - 3}
               : (struct pattern){0};
}

static void leave_out_from(const struct window *window, size_t index)
{
    if (index >= window->heap->num || !is_within(window, index))
        return;
    struct cursor *cursor = &window->heap->cursors[index];
    cursor->begin += window->repeats * window->stride;
    cursor->left -= window->repeats;
    leave_out_from(window, 2 * index + 1);
    leave_out_from(window, 2 * index + 2);
}

/* The order of the cursors stays as it is. */
static void leave_out(struct heap *heap, size_t repeats)
{
    leave_out_from(&(const struct window){.heap = heap,
                                          .begin = heap->cursors[0].begin,
                                          .stride = heap->cursors[0].stride,
                                          .repeats = repeats},
                   0);
}

static bool search_all(struct heap *heap, struct cohort__overlap *ret_overlap)
{
    struct search search = {0};
    struct pattern pattern = {0};
    size_t until_look = 0; /* as many steps as one look takes */
    while (heap->num > 0) {
        struct cursor *first = heap->cursors;
        if (pattern.steps == 0 && until_look-- == 0)
            pattern = find_pattern(heap, &until_look);
        if (meet(&search, first, ret_overlap))
            return true;
        if (first->left > 1)
            advance(first, second_begin(heap));
        else
            *first = heap->cursors[--heap->num];
        sift_down(heap, 0);
        if (pattern.steps > 0 && --pattern.steps == 0)
            leave_out(heap, pattern.repeats);
    }
    return false;
}

cohort_status cohort__layout_overlap(const struct cohort__lying *lying, size_t num, bool *ret_found,
                                     struct cohort__overlap *ret_overlap)
{
    size_t num_strips = count_strips(lying, num);
    struct heap heap = {0};
    if (num_strips <= PTRDIFF_MAX / sizeof(*heap.cursors))
        heap.cursors = malloc((num_strips + 1) * sizeof(*heap.cursors));
    if (!heap.cursors)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for sorting %zu blocks", num_strips);
    for (size_t i = 0; i < num; i++)
        if (lying[i].bytes > 0)
            add(&heap, &lying[i]);
    for (size_t i = heap.num / 2; i-- > 0;)
        sift_down(&heap, i);
    *ret_found = search_all(&heap, ret_overlap);
    free(heap.cursors);
    return COHORT_OK;
}

cohort_status cohort__layout_overlaps_itself(cohort_layout *layout, size_t element, bool *ret_found,
                                             struct cohort__overlap *ret_overlap)
{
    const struct cohort__lying all = {.bytes = layout->num_elements * element, .layout = layout};
    if (layout->is_disjoint) {
        *ret_found = false;
        return COHORT_OK;
    }
    bool found = false;
    cohort_status status = cohort__layout_overlap(&all, 1, &found, ret_overlap);
    if (status)
        return status;
    layout->is_disjoint = !found;
    *ret_found = found;
    return COHORT_OK;
}
