/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/layout_overlap.h"

#include <stdlib.h>

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
