/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_overlap.h"

#include <stdlib.h>

#include "collectives/plan/layout.h"

/* Bytes of a buffer that lie one behind the other. */
struct run {
    size_t begin;
    size_t end;
    uint32_t site;
    bool is_sent;
};

/* The runs of some parts. Without a list, they are only counted. */
struct runs {
    struct run *list;
    size_t num;
};

static void add(struct runs *runs, const struct cohort__part *part, size_t begin, size_t bytes,
                bool is_sent)
{
    if (runs->list)
        runs->list[runs->num] = (struct run){begin, begin + bytes, part->site, is_sent};
    runs->num++;
}

static void add_layout(struct runs *runs, const struct cohort__part *part,
                       const cohort_layout *layout, bool is_sent)
{
    size_t element = part->bytes / layout->num_elements;
    if (!runs->list) {
        runs->num += cohort__layout_num_runs(layout);
        return;
    }
    for (size_t i = 0; i < layout->num_strips; i++) {
        const struct cohort__strip *strip = &layout->strips[i];
        for (uint32_t k = 0; k < strip->count; k++)
            add(runs, part, part->offset + (strip->offset + k * strip->stride) * element,
                strip->length * element, is_sent);
    }
}

static void add_parts(struct runs *runs, const struct cohort__part *parts, uint32_t num,
                      const cohort_layout *const *layouts, bool is_sent)
{
    for (uint32_t i = 0; i < num; i++) {
        if (parts[i].bytes > 0 && layouts && layouts[i])
            add_layout(runs, &parts[i], layouts[i], is_sent);
        else if (parts[i].bytes > 0)
            add(runs, &parts[i], parts[i].offset, parts[i].bytes, is_sent);
    }
}

/* Those of OUT, and if it is the same array as IN also those of IN. */
static void add_all(struct runs *runs, const struct cohort__request *request, bool is_one_array)
{
    if (request->out_parts)
        add_parts(runs, request->out_parts, request->num_out_parts, request->out_layouts, false);
    if (is_one_array && request->in_parts)
        add_parts(runs, request->in_parts, request->num_in_parts, request->in_layouts, true);
}

static int compare(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->begin == b->begin)
        return a->is_sent - b->is_sent;
    return a->begin > b->begin ? 1 : -1;
}

static cohort_status report(const struct cohort__call *call, const struct run *a,
                            const struct run *b)
{
    const char *first = a->is_sent ? "for" : "from";
    const char *second = a->is_sent == b->is_sent ? "" : b->is_sent ? "for " : "from ";
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "the blocks in OUT %s site %u (bytes %zu to %zu) and %ssite %u (%zu "
                              "to %zu) overlap",
                              first, a->site, a->begin, a->end, second, b->site, b->begin, b->end);
}

/* RUNS are in the order of where they begin. What is sent may overlap. */
static cohort_status search(const struct cohort__call *call, const struct runs *runs)
{
    const struct run *received = NULL, *sent = NULL; /* those so far that end last */
    for (size_t i = 0; i < runs->num; i++) {
        const struct run *run = &runs->list[i];
        if (received && received->end > run->begin)
            return report(call, received, run);
        if (!run->is_sent && sent && sent->end > run->begin)
            return report(call, sent, run);
        if (run->is_sent && (!sent || run->end > sent->end))
            sent = run;
        else if (!run->is_sent)
            received = run;
    }
    return COHORT_OK;
}

cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape)
{
    bool is_one_array = shape->key.flags & COHORT__PLAN_ONE_ARRAY;
    struct runs runs = {0};
    add_all(&runs, &shape->request, is_one_array);
    if (runs.num == 0)
        return COHORT_OK;
    if (runs.num <= PTRDIFF_MAX / sizeof(*runs.list))
        runs.list = malloc(runs.num * sizeof(*runs.list));
    if (!runs.list)
        return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY, "no memory for sorting the blocks");
    runs.num = 0;
    add_all(&runs, &shape->request, is_one_array);
    qsort(runs.list, runs.num, sizeof(*runs.list), compare);
    cohort_status status = search(call, &runs);
    free(runs.list);
    return status;
}
