/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

/* Uses an endpoint that it has given back, in the way that the argument names; with "late" in front
 * of it, when the endpoint has gone. Or calls the function that the argument names for any other
 * object that it has given back. */

static cohort_status use(cohort_comm *comm, const char *how)
{
    double in = 1, out;
    if (strcmp(how, "all_reduce") == 0)
        return cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 2));
    if (strcmp(how, "set") == 0)
        return cohort_await(cohort_channel_set(comm, 0, 1, &in, sizeof(in)));
    if (strcmp(how, "get") == 0)
        return cohort_await(cohort_channel_get(comm, 0, 1, &in, sizeof(in), NULL));
    if (strcmp(how, "dup") == 0)
        return cohort_await(cohort_comm_dup(&comm, comm, 3));
    if (strcmp(how, "idle") == 0)
        return cohort_await(cohort_comm_idle(comm));
    if (strcmp(how, "num_sites") == 0)
        printf("%u\n", cohort_comm_num_sites(comm));
    if (strcmp(how, "unref") == 0)
        cohort_comm_unref(comm);
    return COHORT_OK;
}

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

static cohort_status called(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return nothing(context);
}

static void told(cohort_status status, void *value, void *arg)
{
}

static cohort_status reduce(void *result, const void *left, const void *right, size_t count,
                            cohort_datatype datatype, void *arg)
{
    return nothing(arg);
}

static cohort_status value(size_t index, void *ret_value, void *arg)
{
    return nothing(arg);
}

/* One of each. */
static cohort_scope *scope;
static cohort_mutex *mutex;
static cohort_condition *condition;
static cohort_semaphore *semaphore;
static cohort_latch *latch;
static cohort_local_barrier *barrier;
static cohort_queue *queue;
static cohort_task_local *key;
static cohort_callbacks *callbacks;
static cohort_op *op;
static cohort_layout *layout;
static cohort_comm *comm_of_one;
static cohort_file *file;
static cohort_tcp_listener *listener;
static cohort_tcp *tcp, *accepted;

static cohort_status create_all(void)
{
    const struct cohort_op_options options = {.function = reduce, .name = "own"};
    if (cohort_scope_create(NULL, &scope) || cohort_mutex_create(&mutex) ||
        cohort_condition_create(&condition) || cohort_semaphore_create(1, &semaphore) ||
        cohort_latch_create(1, &latch) || cohort_local_barrier_create(2, &barrier) ||
        cohort_queue_create(1, &queue) || cohort_task_local_create(NULL, &key) ||
        cohort_await(
            cohort_comm_create(&comm_of_one, "others", &(cohort_comm_options){.num_sites = 1})) ||
        cohort_op_create(&op, &options) || cohort_layout_create_vector(&layout, 2, 1, 2) ||
        cohort_await(cohort_file_open("/dev/null", 0, 0, &file)) ||
        cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener)) ||
        cohort_await(cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(listener), &tcp)) ||
        cohort_await(cohort_tcp_accept(listener, &accepted)))
        return COHORT_ERR_FAILED;
    return COHORT_OK;
}

/* What is open is closed first: its memory is free at once then. */
static cohort_status give_all_back(void)
{
    cohort_status status = cohort_await(cohort_file_close(file));
    if (!status)
        status = cohort_await(cohort_tcp_close(tcp));
    if (!status)
        status = cohort_await(cohort_tcp_close(accepted));
    if (!status)
        status = cohort_await(cohort_tcp_listener_close(listener));
    cohort_mutex_unref(mutex);
    cohort_condition_unref(condition);
    cohort_semaphore_unref(semaphore);
    cohort_latch_unref(latch);
    cohort_local_barrier_unref(barrier);
    cohort_queue_unref(queue);
    cohort_task_local_unref(key);
    cohort_op_unref(op);
    cohort_layout_unref(layout);
    cohort_file_unref(file);
    cohort_tcp_unref(tcp);
    cohort_tcp_unref(accepted);
    cohort_tcp_listener_unref(listener);
    return status ? status : cohort_scope_await(scope);
}

#define USE(function, ...)                                                                         \
    if (strcmp(name, #function) == 0)                                                              \
    (void)function(__VA_ARGS__)
#define USE_FUTURE(function, ...)                                                                  \
    if (strcmp(name, #function) == 0)                                                              \
    (void)!cohort_await(function(__VA_ARGS__))
#define USE_STATUS(function, ...)                                                                  \
    if (strcmp(name, #function) == 0)                                                              \
    (void)!function(__VA_ARGS__)

static void use_other(const char *name)
{
    static char memory[8];
    cohort_layout *another;
    size_t num;
    void *item;
    USE_STATUS(cohort_scope_async, scope, nothing, NULL);
    USE_STATUS(cohort_scope_async_at, scope, 0, "called", NULL);
    USE(cohort_scope_cancel, scope);
    USE(cohort_scope_fail, scope, COHORT_ERR_FAILED, "late");
    USE_STATUS(cohort_scope_await, scope);
    USE(cohort_mutex_ref, mutex);
    USE(cohort_mutex_unref, mutex);
    USE_STATUS(cohort_mutex_lock, mutex, COHORT_NO_LIMIT);
    USE_STATUS(cohort_mutex_unlock, mutex);
    USE(cohort_condition_ref, condition);
    USE(cohort_condition_unref, condition);
    USE_STATUS(cohort_condition_wait, condition, mutex, COHORT_NO_LIMIT);
    USE(cohort_condition_signal, condition);
    USE(cohort_condition_broadcast, condition);
    USE(cohort_semaphore_ref, semaphore);
    USE(cohort_semaphore_unref, semaphore);
    USE_STATUS(cohort_semaphore_acquire, semaphore, COHORT_NO_LIMIT);
    USE_STATUS(cohort_semaphore_release, semaphore, 1);
    USE(cohort_latch_ref, latch);
    USE(cohort_latch_unref, latch);
    USE_STATUS(cohort_latch_count_down, latch, 1);
    USE_STATUS(cohort_latch_wait, latch, COHORT_NO_LIMIT);
    USE(cohort_local_barrier_ref, barrier);
    USE(cohort_local_barrier_unref, barrier);
    USE_STATUS(cohort_local_barrier_wait, barrier, COHORT_NO_LIMIT, NULL);
    USE(cohort_queue_ref, queue);
    USE(cohort_queue_unref, queue);
    USE_STATUS(cohort_queue_put, queue, memory, COHORT_NO_LIMIT);
    USE_STATUS(cohort_queue_get, queue, &item, COHORT_NO_LIMIT);
    USE(cohort_queue_close, queue);
    USE(cohort_task_local_unref, key);
    USE(cohort_task_local_get, key);
    USE_STATUS(cohort_task_local_set, key, memory);
    USE(cohort_op_unref, op);
    USE_FUTURE(cohort_all_reduce, comm_of_one, memory, memory + 4, 1, COHORT_FLOAT, op, 1);
    USE_FUTURE(cohort_parallel_reduce, 0, 1, NULL, value, NULL, memory, 1, COHORT_DOUBLE, op);
    USE(cohort_layout_ref, layout);
    USE(cohort_layout_unref, layout);
    USE(cohort_layout_num_elements, layout);
    USE(cohort_layout_span, layout);
    USE(cohort_layout_is_dense, layout);
    USE_STATUS(cohort_layout_create_repeat, &another, 2, 4, layout);
    USE_STATUS(cohort_layout_create_parts, &another, &(cohort_layout_part){0, layout}, 1);
    USE_STATUS(cohort_layout_pack, layout, COHORT_INT8, memory, memory + 4);
    USE_STATUS(cohort_layout_unpack, layout, COHORT_INT8, memory, memory + 4);
    USE_FUTURE(cohort_channel_set_layout, comm_of_one, 0, 1, memory, layout, COHORT_INT8);
    USE_FUTURE(cohort_channel_get_layout, comm_of_one, 0, 1, memory, layout, COHORT_INT8, NULL);
    USE_FUTURE(cohort_exchange_layouts, comm_of_one, memory,
               &(cohort_layout_neighbour){0, 0, layout}, 1, memory, NULL, 0, COHORT_INT8, 1);
    if (strcmp(name, "cohort_broadcast_to") == 0 &&
        cohort_comm_next_call(comm_of_one, &(cohort_call_options){.in_layout = layout}))
        return;
    USE_FUTURE(cohort_broadcast_to, comm_of_one, memory, 2, COHORT_INT8, 1);
    USE(cohort_file_ref, file);
    USE(cohort_file_unref, file);
    USE_FUTURE(cohort_file_close, file);
    USE_FUTURE(cohort_file_read, file, 0, memory, sizeof(memory), &num);
    USE_FUTURE(cohort_file_write, file, 0, memory, sizeof(memory));
    USE_FUTURE(cohort_file_sync, file);
    USE_FUTURE(cohort_file_size, file, &(uint64_t){0});
    USE(cohort_tcp_ref, tcp);
    USE(cohort_tcp_unref, tcp);
    USE(cohort_tcp_peer, tcp);
    USE_FUTURE(cohort_tcp_close, tcp);
    USE_FUTURE(cohort_tcp_read, tcp, memory, sizeof(memory), &num);
    USE_FUTURE(cohort_tcp_write, tcp, memory, sizeof(memory));
    USE_FUTURE(cohort_tcp_shutdown, tcp);
    USE(cohort_tcp_listener_ref, listener);
    USE(cohort_tcp_listener_unref, listener);
    USE(cohort_tcp_listener_address, listener);
    USE(cohort_tcp_listener_port, listener);
    USE_FUTURE(cohort_tcp_listener_close, listener);
    USE_FUTURE(cohort_tcp_accept, listener, &accepted);
}

static cohort_status use_others(void *name)
{
    cohort_status status = create_all();
    if (!status)
        status = give_all_back();
    if (!status)
        use_other(name);
    return status;
}

/* Outside of tasks. */
static int use_callbacks(const char *name)
{
    if (cohort_callbacks_create(&callbacks) || cohort_callbacks_destroy(callbacks))
        return 1;
    USE_STATUS(cohort_callbacks_add, callbacks, cohort_future_of_value(NULL), told, NULL);
    USE(cohort_callbacks_fd, callbacks);
    USE_STATUS(cohort_callbacks_run, callbacks, 0, NULL);
    USE_STATUS(cohort_callbacks_destroy, callbacks);
    return 0;
}

/* A communicator with the same name can be made again when the endpoint of before has gone. */
static cohort_status program(void *arg)
{
    const char *how = arg;
    cohort_comm_options options = {.num_sites = 1};
    cohort_comm *comm, *next;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "gone", &options));
    if (status)
        return status;
    cohort_comm_unref(comm);
    if (strncmp(how, "late ", 5) != 0)
        return use(comm, how);
    for (int i = 0; !status && i < 3; i++) {
        status = cohort_await(cohort_comm_create(&next, "gone", &options));
        cohort_comm_unref(status ? NULL : next);
    }
    return status ? status : use(comm, how + 5);
}

int main(int argc, char **argv)
{
    char *how = argc > 1 ? argv[1] : "";
    if (cohort_remote_register("called", called, NULL))
        return 1;
    if (strncmp(how, "cohort_callbacks_", 17) == 0)
        return use_callbacks(how);
    return cohort_main(argc, argv, strncmp(how, "cohort_", 7) ? program : use_others, how);
}
