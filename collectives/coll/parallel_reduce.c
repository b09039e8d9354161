/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/parallel.h"

#include <pthread.h>
#include <string.h>

#include "collectives/exec/op.h"
#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/range.h"

/* Each chunk of the range sums up its own indices. The partial sums are in a list in the order of
 * the indices. One whose chunk is over is merged with its neighbours that are over, too. So there
 * are hardly more of them than chunks that have not come to their end, and the order is kept. */
struct parallel_reduce {
    struct cohort__range_body body;
    cohort_range_value_function *function;
    void *arg;
    void *result;
    size_t count;
    size_t bytes; /* of COUNT elements */
    cohort_datatype datatype;
    const cohort_op *op;
    pthread_mutex_t lock;
    struct cohort__list partials;
    cohort_status status; /* of the merges */
    struct cohort__error error;
};

struct partial {
    struct cohort__list link;
    bool has_sum;
    bool is_over;
    /* The sum, and then the value of one index. */
    unsigned char elements[] __attribute__((aligned(16)));
};

static struct parallel_reduce *of(struct cohort__range_body *body)
{
    return COHORT_CONTAINER_OF(body, struct parallel_reduce, body);
}

static struct partial *partial_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct partial, link);
}

static struct partial *partial_create(const struct parallel_reduce *call)
{
    size_t bytes = sizeof(struct partial) + 2 * call->bytes;
    struct partial *partial = cohort__slab_alloc(bytes);
    if (partial)
        memset(partial, 0, sizeof(*partial));
    return partial;
}

/* SUM becomes SUM op VALUE. */
static cohort_status add(const struct parallel_reduce *call, void *sum, const void *value)
{
    return cohort__op_apply(call->op, sum, sum, value, call->count, call->datatype);
}

static cohort_status run(struct cohort__range_body *body, struct cohort__range_chunk *chunk,
                         size_t count)
{
    const struct parallel_reduce *call = of(body);
    struct partial *partial = chunk->data;
    for (; count > 0 && chunk->next < chunk->end; count--) {
        void *value = partial->elements + (partial->has_sum ? call->bytes : 0);
        cohort_status status = call->function(chunk->next++, value, call->arg);
        if (status == COHORT_OK && partial->has_sum)
            status = add(call, partial->elements, value);
        if (status != COHORT_OK)
            return status;
        partial->has_sum = true;
    }
    return COHORT_OK;
}

static bool split(struct cohort__range_body *body, struct cohort__range_chunk *chunk,
                  struct cohort__range_chunk *new_chunk)
{
    struct parallel_reduce *call = of(body);
    struct partial *left = chunk->data, *partial = partial_create(call);
    if (!partial)
        return false;
    pthread_mutex_lock(&call->lock);
    cohort__list_insert_after(&left->link, &partial->link);
    pthread_mutex_unlock(&call->lock);
    new_chunk->data = partial;
    return true;
}

/* RIGHT is the next partial sum after LEFT, and both are over. */
static void merge(struct parallel_reduce *call, struct partial *left, struct partial *right)
{
    if (right->has_sum && left->has_sum && call->status == COHORT_OK) {
        call->status = add(call, left->elements, right->elements);
        if (call->status != COHORT_OK)
            cohort__error_copy(&call->error, cohort__error_slot());
    } else if (right->has_sum) {
        memcpy(left->elements, right->elements, call->bytes);
        left->has_sum = true;
    }
    cohort__list_remove(&right->link);
    cohort__slab_free(right);
}

static void chunk_over(struct cohort__range_body *body, struct cohort__range_chunk *chunk)
{
    struct parallel_reduce *call = of(body);
    struct partial *partial = chunk->data;
    pthread_mutex_lock(&call->lock);
    partial->is_over = true;
    if (partial->link.next != &call->partials && partial_of(partial->link.next)->is_over)
        merge(call, partial, partial_of(partial->link.next));
    if (partial->link.prev != &call->partials && partial_of(partial->link.prev)->is_over)
        merge(call, partial_of(partial->link.prev), partial);
    pthread_mutex_unlock(&call->lock);
}

static void destroy(struct parallel_reduce *call)
{
    for (struct cohort__list *link; (link = cohort__list_pop_front(&call->partials));)
        cohort__slab_free(partial_of(link));
    cohort__op_unref(call->op);
    cohort__error_fini(&call->error);
    pthread_mutex_destroy(&call->lock);
    cohort__slab_free(call);
}

/* One partial sum is left, of all indices. */
static cohort_status over(struct cohort__range_body *body, cohort_status status)
{
    struct parallel_reduce *call = of(body);
    if (status == COHORT_OK && call->status != COHORT_OK) {
        cohort__error_copy(cohort__error_slot(), &call->error);
        status = call->status;
    }
    if (status == COHORT_OK)
        status = add(call, call->result, partial_of(call->partials.next)->elements);
    destroy(call);
    return status;
}

static cohort_future *check(const char *name, const void *result, size_t count,
                            cohort_datatype datatype, const cohort_op *op)
{
    cohort_status status = cohort__op_check(op, datatype, name);
    if (status != COHORT_OK)
        return cohort_future_of_error(status, "%s: %s", name, cohort_error_message());
    if (!result || count == 0)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: %s", name,
                                      result ? "count is 0" : "result is NULL");
    size_t bytes = cohort_datatype_size(datatype);
    if (bytes == 0)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: 0x%llx is no datatype", name,
                                      (unsigned long long)datatype);
    if (count > SIZE_MAX / 4 / bytes)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "%s: %zu elements are more than memory can hold", name,
                                      count);
    return NULL;
}

static struct parallel_reduce *create(const char *name, size_t grain,
                                      cohort_range_value_function *function, void *arg,
                                      void *result, size_t count, cohort_datatype datatype,
                                      const cohort_op *op)
{
    struct parallel_reduce *call = cohort__slab_alloc_zero(sizeof(*call));
    if (!call)
        return NULL;
    call->body = (struct cohort__range_body){.name = name,
                                             .shown = (cohort__any_function *)function,
                                             .grain = grain,
                                             .run = run,
                                             .split = split,
                                             .chunk_over = chunk_over,
                                             .over = over};
    call->function = function;
    call->arg = arg;
    call->result = result;
    call->count = count;
    call->bytes = count * cohort_datatype_size(datatype);
    call->datatype = datatype;
    call->op = op;
    cohort__op_ref(op);
    pthread_mutex_init(&call->lock, NULL);
    cohort__list_init(&call->partials);
    return call;
}

cohort_future *cohort_parallel_reduce_sized(size_t begin, size_t end,
                                            const cohort_range_options *options,
                                            size_t options_bytes,
                                            cohort_range_value_function *function, void *arg,
                                            void *result, size_t count, cohort_datatype datatype,
                                            const cohort_op *op)
{
    const char *name = "cohort_parallel_reduce";
    cohort_range_options read;
    cohort_future *refused =
        cohort__range_check(name, begin, end, function != NULL, options, options_bytes, &read);
    if (!refused)
        refused = check(name, result, count, datatype, op);
    if (refused)
        return refused;
    if (begin == end)
        return cohort_future_of_value(NULL);
    struct parallel_reduce *call =
        create(name, read.grain, function, arg, result, count, datatype, op);
    struct partial *partial = call ? partial_create(call) : NULL;
    if (!partial) {
        if (call)
            destroy(call);
        return cohort__future_no_memory();
    }
    cohort__list_push_front(&call->partials, &partial->link);
    return cohort__range_start(&call->body, begin, end, partial);
}
