/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/misuse.h"
#include "runtime/task/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/task/blocking.h"
#include "runtime/task/fork.h"
#include "runtime/task/uncaught.h"
#include "runtime/task/worker.h"

/* Each entry of a table holds a reference to its key, so that the key outlives the values. */
struct cohort_task_local {
    void (*destroy)(void *value);
    _Atomic uint32_t refs;
};

struct entry {
    cohort_task_local *key;
    void *value;
};

struct cohort__task_locals {
    size_t num;
    size_t capacity;
    bool is_ending; /* the values are being destroyed */
    struct entry entries[];
};

enum { FIRST_CAPACITY = 3 };

/* Of a thread outside of tasks. */
static _Thread_local struct cohort__task_locals *own __attribute__((tls_model("initial-exec")));

static pthread_key_t thread_end_key;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;
static bool thread_end_key_exists;

cohort_status cohort_task_local_create(void (*destroy)(void *value), cohort_task_local **ret_key)
{
    const char *name = "cohort_task_local_create";
    if (!ret_key)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_key is NULL", name);
    cohort_task_local *key = cohort__slab_alloc(sizeof(*key));
    if (!key)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for a key", name);
    atomic_init(&key->refs, 1);
    key->destroy = destroy;
    *ret_key = key;
    return COHORT_OK;
}

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void check(const cohort_task_local *key,
                                                        const char *function)
{
    cohort__misuse_check(&key->refs, "key of task-local values", key, COHORT__MISUSE_UNREF,
                         function);
}

static void unref(cohort_task_local *key)
{
    if (atomic_fetch_sub_explicit(&key->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(key);
}

void cohort_task_local_unref(cohort_task_local *key)
{
    if (!key)
        return;
    check(key, "cohort_task_local_unref");
    unref(key);
}

/* The context whose table the caller uses. NULL: the thread's own. */
static struct cohort__task_context *current_context(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    if (cohort__fork_is_child())
        return NULL;
    return worker ? worker->context : cohort__blocking_context();
}

static struct entry *find(struct cohort__task_locals *locals, const cohort_task_local *key)
{
    for (size_t i = 0; locals && i < locals->num; i++)
        if (locals->entries[i].key == key)
            return &locals->entries[i];
    return NULL;
}

static struct cohort__task_locals *current_table(void)
{
    struct cohort__task_context *context = current_context();
    return context ? context->locals : own;
}

void *cohort_task_local_get(const cohort_task_local *key)
{
    if (key)
        check(key, "cohort_task_local_get");
    const struct entry *entry = find(current_table(), key);
    return entry ? entry->value : NULL;
}

/* --- the end --- */

/* Its destructor may suspend. */
static void destroy_last(struct cohort__task_locals *locals)
{
    struct entry entry = locals->entries[--locals->num];
    if (entry.value && entry.key->destroy)
        entry.key->destroy(entry.value);
    COHORT__STOPS_EXCEPTIONS; /* at the end of a thread */
    unref(entry.key);
}

static void destroy_all(struct cohort__task_locals *locals)
{
    locals->is_ending = true;
    while (locals->num > 0)
        destroy_last(locals);
    cohort__slab_free(locals);
}

/* What destructors fail with has a slot of its own. */
COHORT__IN_THREAD_OF_NOW static void use_slot(struct cohort__error *slot)
{
    cohort__error_slot_set(slot);
}

void cohort__task_locals_end(struct cohort__task_context *context)
{
    struct cohort__error error = {0};
    if (!context->locals)
        return;
    use_slot(&error);
    destroy_all(context->locals);
    context->locals = NULL;
    use_slot(&context->error);
    cohort__error_fini(&error);
}

static void thread_end(void *table)
{
    struct cohort__error error = {0}, *slot = cohort__error_slot_set(&error);
    destroy_all(table);
    own = NULL;
    cohort__error_slot_set(slot);
    cohort__error_fini(&error);
}

static void thread_end_init(void)
{
    thread_end_key_exists = pthread_key_create(&thread_end_key, thread_end) == 0;
}

/* --- setting --- */

/* Makes LOCALS, which may have moved, the table of CONTEXT, or of the thread. */
static bool keep(struct cohort__task_context *context, struct cohort__task_locals *locals)
{
    if (context) {
        context->locals = locals;
        context->is_special = true;
        return true;
    }
    pthread_once(&thread_end_once, thread_end_init);
    if (!thread_end_key_exists || pthread_setspecific(thread_end_key, locals) != 0)
        return false;
    own = locals;
    return true;
}

/* A table with room for one more entry. NULL: there is no memory. */
static struct cohort__task_locals *with_room(struct cohort__task_context *context,
                                             struct cohort__task_locals *locals)
{
    if (locals && locals->num < locals->capacity)
        return locals;
    size_t capacity = locals ? 2 * locals->capacity + 1 : FIRST_CAPACITY;
    struct cohort__task_locals *larger =
        cohort__slab_alloc(sizeof(*larger) + capacity * sizeof(larger->entries[0]));
    if (!larger)
        return NULL;
    larger->num = locals ? locals->num : 0;
    larger->capacity = capacity;
    larger->is_ending = false;
    if (locals)
        memcpy(larger->entries, locals->entries, locals->num * sizeof(locals->entries[0]));
    if (!keep(context, larger)) {
        cohort__slab_free(larger);
        return NULL;
    }
    cohort__slab_free(locals);
    return larger;
}

static cohort_status add(cohort_task_local *key, void *value)
{
    struct cohort__task_context *context = current_context();
    struct cohort__task_locals *locals = with_room(context, context ? context->locals : own);
    if (!locals)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_task_local_set: no memory for a value");
    atomic_fetch_add_explicit(&key->refs, 1, memory_order_relaxed);
    locals->entries[locals->num++] = (struct entry){key, value};
    return COHORT_OK;
}

cohort_status cohort_task_local_set(cohort_task_local *key, void *value)
{
    const char *name = "cohort_task_local_set";
    if (!key)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: key is NULL", name);
    check(key, name);
    struct cohort__task_locals *locals = current_table();
    struct entry *entry = find(locals, key);
    if (value && locals && locals->is_ending)
        return cohort_fail(COHORT_ERR_STATE, "%s: the values of the %s are being destroyed", name,
                           current_context() ? "task" : "thread");
    if (!entry)
        return value ? add(key, value) : COHORT_OK;
    entry->value = value;
    return COHORT_OK;
}
