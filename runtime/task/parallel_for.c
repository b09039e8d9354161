/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/parallel.h"

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/range.h"

struct parallel_for {
    struct cohort__range_body body;
    cohort_range_function *function;
    void *arg;
};

static struct parallel_for *of(struct cohort__range_body *body)
{
    return COHORT_CONTAINER_OF(body, struct parallel_for, body);
}

static cohort_status run(struct cohort__range_body *body, struct cohort__range_part *part,
                         size_t count)
{
    cohort_range_function *function = of(body)->function;
    void *arg = of(body)->arg;
    for (; count > 0 && part->next < part->end; count--) {
        cohort_status status = function(part->next++, arg);
        if (status != COHORT_OK)
            return status;
    }
    return COHORT_OK;
}

static cohort_status over(struct cohort__range_body *body, cohort_status status)
{
    cohort__slab_free(of(body));
    return status;
}

cohort_future *cohort_parallel_for_sized(size_t begin, size_t end,
                                         const cohort_range_options *options, size_t options_bytes,
                                         cohort_range_function *function, void *arg)
{
    const char *name = "cohort_parallel_for";
    cohort_range_options read;
    cohort_future *refused =
        cohort__range_check(name, begin, end, function != NULL, options, options_bytes, &read);
    if (refused)
        return refused;
    if (begin == end)
        return cohort_future_of_value(NULL);
    struct parallel_for *call = cohort__slab_alloc(sizeof(*call));
    if (!call)
        return cohort__future_no_memory();
    *call = (struct parallel_for){
        .body = {.name = name,
                 .shown = (cohort__any_function *)function,
                 .grain = read.grain,
                 .run = run,
                 .over = over},
        .function = function,
        .arg = arg,
    };
    return cohort__range_start(&call->body, begin, end, NULL);
}
