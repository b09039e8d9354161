/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the events of all parts, by time. */
#include "tools/trace/merge.h"

#include <stdlib.h>

#include "runtime/base/error.h"

/* Equal times in an order that is always the same. */
static bool is_before(const struct source *left, const struct source *right)
{
    const struct event *a = &left->event, *b = &right->event;
    if (a->at != b->at)
        return a->at < b->at;
    return a->rank != b->rank ? a->rank < b->rank : a->thread < b->thread;
}

static void sink(struct merge *merge, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < merge->num; child++)
            if (is_before(merge->heap[child], merge->heap[least]))
                least = child;
        if (least == i)
            return;
        struct source *source = merge->heap[i];
        merge->heap[i] = merge->heap[least];
        merge->heap[least] = source;
        i = least;
    }
}

/* The first one's next event; without one it goes. */
static void advance(struct merge *merge)
{
    struct source *source = merge->heap[0];
    if (!stream_next(&source->stream, &source->event)) {
        free(source);
        merge->heap[0] = merge->heap[--merge->num];
    }
    sink(merge, 0);
}

static size_t count_threads(const struct part *part)
{
    size_t num = 0;
    for (size_t i = 0; i < part->num_blocks; i++)
        num += i == 0 || part->blocks[i].thread != part->blocks[i - 1].thread;
    return num;
}

/* False: no memory. */
static bool add_part(struct merge *merge, const struct part *part)
{
    size_t end;
    for (size_t block = 0; block < part->num_blocks; block = end) {
        struct source *source = malloc(sizeof(*source));
        if (!source)
            return false;
        stream_init(&source->stream, part, block);
        end = source->stream.end;
        if (stream_next(&source->stream, &source->event))
            merge->heap[merge->num++] = source;
        else
            free(source);
    }
    return true;
}

cohort_status merge_init(struct merge *merge, const struct part *parts, uint32_t num_parts)
{
    size_t num = 1;
    for (uint32_t i = 0; i < num_parts; i++)
        num += count_threads(&parts[i]);
    *merge = (struct merge){.heap = malloc(num * sizeof(*merge->heap))};
    bool fits = merge->heap != NULL;
    for (uint32_t i = 0; i < num_parts && fits; i++)
        fits = add_part(merge, &parts[i]);
    if (!fits) {
        merge_fini(merge);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "trace: no memory to read its parts");
    }
    for (size_t i = merge->num / 2; i-- > 0;)
        sink(merge, i);
    return COHORT_OK;
}

void merge_fini(struct merge *merge)
{
    for (size_t i = 0; i < merge->num; i++)
        free(merge->heap[i]);
    free(merge->heap);
    *merge = (struct merge){0};
}

/* Its text is valid until the next call, so it moves on only then. */
bool merge_next(struct merge *merge, struct event *ret_event)
{
    if (merge->handed_out)
        advance(merge);
    merge->handed_out = merge->num > 0 ? merge->heap[0] : NULL;
    if (!merge->handed_out)
        return false;
    *ret_event = merge->handed_out->event;
    return true;
}
