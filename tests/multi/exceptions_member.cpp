/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in C++ that throw. The first argument says what happens. */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include <pthread.h>

#include <cohort/cohort.h>
#include <cohort/uv.h>

namespace
{

enum { NUM = 24, ROUNDS = 20 };

/* Fills a frame, so that the address sanitizer marks what is around its arrays. */
template <int Bytes> __attribute__((noinline)) int fill(int number, void (*end)(int))
{
    char first[Bytes], second[Bytes];
    std::memset(first, number, sizeof(first));
    std::memset(second, number, sizeof(second));
    __asm__ volatile("" : : "r"(first), "r"(second) : "memory");
    if (end)
        end(number);
    __asm__ volatile("" : : "r"(first), "r"(second) : "memory");
    return first[number % Bytes] - second[Bytes - 1];
}

void throw_number(int number)
{
    throw std::runtime_error("of task " + std::to_string(number) + ", too long for a short string");
}

cohort_status check(bool is_right, const char *what)
{
    return is_right ? COHORT_OK : cohort_fail(COHORT_ERR_FAILED, "%s", what);
}

/* Waits in a catch block, also for tasks that throw, and throws again. */
cohort_status throw_and_wait(void *arg)
{
    int number = *static_cast<int *>(arg);
    std::string text;
    try {
        try {
            fill<400>(number, throw_number);
        } catch (const std::exception &error) {
            cohort_status status =
                cohort_await(cohort_sleep(static_cast<uint64_t>(NUM - number) * 100000));
            text = error.what();
            if (status)
                return status;
            cohort_yield();
            throw;
        }
    } catch (const std::exception &error) {
        cohort_status status = check(text == error.what(), "another task's exception");
        if (status)
            return status;
    }
    std::string wanted = "of task " + std::to_string(number) + ", too long for a short string";
    fill<24>(number, nullptr);
    fill<1000>(number, nullptr);
    return check(text == wanted && !std::current_exception(), text.c_str());
}

struct waits_at_its_end {
    int *ret_before, *ret_after;
    ~waits_at_its_end()
    {
        *ret_before = std::uncaught_exceptions();
        if (cohort_await(cohort_sleep(2000000)))
            std::abort();
        *ret_after = std::uncaught_exceptions();
    }
};

/* Waits while an exception is on its way. */
cohort_status wait_in_destructor(void *)
{
    int before = -1, after = -1;
    try {
        waits_at_its_end guard{&before, &after};
        throw 7;
    } catch (int number) {
        return check(number == 7 && before == 1 && after == 1, "the destructor sees 1 exception");
    }
}

cohort_status see_none(void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (std::uncaught_exceptions() || std::current_exception())
            return check(false, "a task sees another one's exception");
        cohort_status status = cohort_await(cohort_sleep(200000));
        if (status)
            return status;
    }
    return COHORT_OK;
}

std::jmp_buf where[NUM];

void jump(int number)
{
    std::longjmp(where[number], 1);
}

cohort_status jump_out(void *arg)
{
    int number = *static_cast<int *>(arg);
    if (setjmp(where[number]) == 0)
        fill<400>(number, jump);
    fill<24>(number, nullptr);
    fill<1000>(number, nullptr);
    return cohort_await(cohort_sleep(1000));
}

cohort_status each_its_own(void *)
{
    static int numbers[NUM];
    for (int round = 0; round < ROUNDS; round++) {
        cohort_future *futures[2 * NUM + 2];
        for (int i = 0; i < NUM; i++) {
            numbers[i] = i;
            futures[2 * i] = cohort_async(throw_and_wait, &numbers[i]);
            futures[2 * i + 1] = cohort_async(jump_out, &numbers[i]);
        }
        futures[2 * NUM] = cohort_async(wait_in_destructor, nullptr);
        futures[2 * NUM + 1] = cohort_async(see_none, nullptr);
        cohort_status status = cohort_await(cohort_when_all(futures, 2 * NUM + 2));
        if (status)
            return status;
    }
    std::printf("each its own\n");
    return COHORT_OK;
}

cohort_status throws(void *)
{
    throw std::runtime_error("nobody catches this");
}

cohort_status throws_later(void *arg)
{
    cohort_status status = cohort_await(cohort_sleep(1000000));
    return status ? status : throws(arg);
}

/* Each awaits in a try block a task that throws. */
cohort_status try_await(cohort_future *future)
{
    try {
        return cohort_await(future);
    } catch (...) {
        std::printf("the awaiting task has caught it\n");
    }
    return COHORT_OK;
}

cohort_status in_place(void *)
{
    return try_await(cohort_async(throws, nullptr));
}

cohort_status on_its_stack(void *)
{
    cohort_future *future = cohort_async(throws_later, nullptr);
    cohort_yield();
    return try_await(future);
}

cohort_status on_sized(void *)
{
    cohort_task_options options = {};
    options.stack_bytes = 1 << 20;
    return try_await(cohort_async_with(throws, nullptr, &options));
}

cohort_status on_blocking(void *)
{
    try {
        return cohort_blocking(throws, nullptr);
    } catch (...) {
        std::printf("the awaiting task has caught it\n");
    }
    return COHORT_OK;
}

void throws_back(cohort_status, void *, void *)
{
    throw std::runtime_error("nobody catches this");
}

int in_callback()
{
    cohort_callbacks *callbacks;
    if (cohort_start(nullptr) || cohort_callbacks_create(&callbacks) ||
        cohort_callbacks_add(callbacks, cohort_sleep(0), throws_back, nullptr))
        return 1;
    try {
        while (!cohort_callbacks_run(callbacks, 0, nullptr))
            ;
    } catch (...) {
        std::printf("the loop has caught it\n");
    }
    return 0;
}

/* In these nothing of the program's is below the function that throws. */
cohort_status throws_on_loop(uv_loop_t *, void *)
{
    throw std::runtime_error("nobody catches this");
}

cohort_status on_loop(void *)
{
    return cohort_await(cohort_run_on_loop(throws_on_loop, nullptr));
}

void throws_in_time(uv_timer_t *)
{
    if (fill<400>(1, [](int) { throw std::runtime_error("nobody catches this"); }) > 1)
        std::abort(); /* so that this is no tail call, which has no frame */
}

cohort_status start_timer(uv_loop_t *loop, void *)
{
    static uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, throws_in_time, 0, 0);
    return COHORT_OK;
}

cohort_status in_timer(void *)
{
    cohort_status status = cohort_await(cohort_run_on_loop(start_timer, nullptr));
    return status ? status : cohort_await(cohort_sleep(60000000000));
}

void throws_at_close(uv_handle_t *)
{
    throw std::runtime_error("nobody catches this");
}

cohort_status start_close(uv_loop_t *loop, void *)
{
    static uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_close(reinterpret_cast<uv_handle_t *>(&timer), throws_at_close);
    return COHORT_OK;
}

cohort_status in_close(void *)
{
    cohort_status status = cohort_await(cohort_run_on_loop(start_close, nullptr));
    return status ? status : cohort_await(cohort_sleep(60000000000));
}

cohort_status throws_in_operation(void *, const void *, const void *, size_t, cohort_datatype,
                                  void *)
{
    throw std::runtime_error("nobody catches this");
}

cohort_status reduce_at_site(cohort_comm *comm, void *)
{
    double in = 1, out;
    cohort_op *op;
    cohort_op_options options = {};
    options.function = throws_in_operation;
    options.name = "throws";
    cohort_status status = cohort_op_create(&op, &options);
    return status ? status
                  : cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, op, 1));
}

cohort_status in_operation(void *)
{
    cohort_sites_options options = {};
    options.num_sites = 2;
    return cohort_await(cohort_sites("throws", &options, reduce_at_site, nullptr));
}

cohort_task_local *key;

void throws_at_end(void *)
{
    throw std::runtime_error("nobody catches this");
}

void *keep_value(void *value)
{
    if (cohort_task_local_create(throws_at_end, &key) || cohort_task_local_set(key, value))
        std::abort();
    return nullptr;
}

int at_end_of_thread()
{
    pthread_t thread;
    return pthread_create(&thread, nullptr, keep_value, &key) || pthread_join(thread, nullptr);
}

} // namespace

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        cohort_task_function *program;
    } cases[] = {
        {"each-its-own", each_its_own}, {"in-place", in_place}, {"on-its-stack", on_its_stack},
        {"on-sized", on_sized},         {"program", throws},    {"blocking", on_blocking},
        {"on-loop", on_loop},           {"timer", in_timer},    {"close", in_close},
        {"operation", in_operation},
    };
    if (argc > 1 && !std::strcmp(argv[1], "callback"))
        return in_callback();
    if (argc > 1 && !std::strcmp(argv[1], "thread-end"))
        return at_end_of_thread();
    for (const auto &one : cases)
        if (argc > 1 && !std::strcmp(argv[1], one.name)) {
            try {
                return cohort_main(argc, argv, one.program, nullptr);
            } catch (...) {
                std::printf("main has caught it\n");
                return 0;
            }
        }
    return 2;
}
