/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/deque.h"

#include <stdlib.h>

enum { NEAR = 16 }; /* so many of the newest items are looked at for one to be taken */

struct cohort__deque_array {
    int64_t mask;
    struct cohort__deque_array *outgrown; /* the smaller one before; freed with this */
    void *_Atomic items[];
};

static struct cohort__deque_array *array_create(size_t capacity)
{
    struct cohort__deque_array *array = malloc(sizeof(*array) + capacity * sizeof(array->items[0]));
    if (!array)
        return NULL;
    array->mask = (int64_t)capacity - 1;
    array->outgrown = NULL;
    for (size_t i = 0; i < capacity; i++)
        atomic_init(&array->items[i], NULL);
    return array;
}

static void *array_get(const struct cohort__deque_array *array, int64_t index)
{
    return atomic_load_explicit(&array->items[index & array->mask], memory_order_relaxed);
}

static void array_set(struct cohort__deque_array *array, int64_t index, void *item)
{
    atomic_store_explicit(&array->items[index & array->mask], item, memory_order_relaxed);
}

cohort_status cohort__deque_init(struct cohort__deque *deque, size_t capacity, bool is_shared)
{
    size_t rounded = 2;
    while (rounded < capacity)
        rounded *= 2;
    struct cohort__deque_array *array = array_create(rounded);
    if (!array)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "deque: no memory for %zu items", rounded);
    atomic_init(&deque->top, 0);
    atomic_init(&deque->bottom, 0);
    atomic_init(&deque->array, array);
    deque->is_shared = is_shared;
    return COHORT_OK;
}

void cohort__deque_fini(struct cohort__deque *deque)
{
    if (!deque)
        return;
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    while (array) {
        struct cohort__deque_array *outgrown = array->outgrown;
        free(array);
        array = outgrown;
    }
    atomic_store_explicit(&deque->array, NULL, memory_order_relaxed);
}

bool cohort__deque_push(struct cohort__deque *deque, void *item)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    if (bottom - top > array->mask)
        return false;
    array_set(array, bottom, item);
    if (deque->is_shared)
        atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_seq_cst);
    else
        atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
    return true;
}

/* If the item is the last one, thieves may try to take it at the same time. */
static void *pop_shared(struct cohort__deque *deque, struct cohort__deque_array *array,
                        int64_t bottom)
{
    atomic_store_explicit(&deque->bottom, bottom, memory_order_seq_cst);
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    void *item = NULL;
    if (top <= bottom)
        item = array_get(array, bottom);
    if (top < bottom)
        return item;
    if (top == bottom &&
        !atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        item = NULL;
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
    return item;
}

void *cohort__deque_pop(struct cohort__deque *deque)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    /* The top only grows. So if the deque looks empty here, it is empty. */
    if (atomic_load_explicit(&deque->top, memory_order_relaxed) > bottom)
        return NULL;
    if (deque->is_shared)
        return pop_shared(deque, array, bottom);
    atomic_store_explicit(&deque->bottom, bottom, memory_order_relaxed);
    return array_get(array, bottom);
}

static bool take_oldest(struct cohort__deque *deque, int64_t top)
{
    if (deque->is_shared)
        return atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1,
                                                       memory_order_seq_cst, memory_order_relaxed);
    atomic_store_explicit(&deque->top, top + 1, memory_order_relaxed);
    return true;
}

/* Those that are newer than ITEM move up. */
static bool take_near_bottom(struct cohort__deque *deque, struct cohort__deque_array *array,
                             const void *item, int64_t top, int64_t bottom)
{
    int64_t index = bottom - 1, end = bottom - NEAR > top ? bottom - NEAR : top;
    while (index >= end && array_get(array, index) != item)
        index--;
    if (index < end)
        return false;
    for (; index < bottom - 1; index++)
        array_set(array, index, array_get(array, index + 1));
    atomic_store_explicit(&deque->bottom, bottom - 1, memory_order_relaxed);
    return true;
}

/* Rare, so that the other way needs no frame for it. */
__attribute__((noinline)) static bool take_older(struct cohort__deque *deque, const void *item,
                                                 int64_t top, int64_t bottom)
{
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    if (array_get(array, top) == item)
        return take_oldest(deque, top);
    return !deque->is_shared && take_near_bottom(deque, array, item, top, bottom);
}

bool cohort__deque_take(struct cohort__deque *deque, const void *item)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&deque->top, memory_order_relaxed);
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    if (top >= bottom)
        return false;
    if (array_get(array, bottom - 1) != item)
        return take_older(deque, item, top, bottom);
    if (deque->is_shared)
        return pop_shared(deque, array, bottom - 1) == item;
    atomic_store_explicit(&deque->bottom, bottom - 1, memory_order_relaxed);
    return true;
}

bool cohort__deque_grow(struct cohort__deque *deque)
{
    struct cohort__deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    struct cohort__deque_array *larger = array_create(2 * ((size_t)array->mask + 1));
    if (!larger)
        return false;
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
    for (int64_t i = top; i < bottom; i++)
        array_set(larger, i, array_get(array, i));
    larger->outgrown = array;
    atomic_store_explicit(&deque->array, larger, memory_order_release);
    return true;
}

void *cohort__deque_steal(struct cohort__deque *deque, bool *ret_again)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
    if (top >= bottom)
        return NULL;
    /* Read the item before taking it by the exchange: after that, the owner may overwrite it. */
    void *item = array_get(atomic_load_explicit(&deque->array, memory_order_acquire), top);
    if (atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                                memory_order_relaxed))
        return item;
    if (ret_again)
        *ret_again = true;
    return NULL;
}

size_t cohort__deque_length(struct cohort__deque *deque)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
    return bottom > top ? (size_t)(bottom - top) : 0;
}

bool cohort__deque_is_empty(struct cohort__deque *deque)
{
    return cohort__deque_length(deque) == 0;
}
