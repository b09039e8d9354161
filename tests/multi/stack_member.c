/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cohort/cohort.h"

/* A task waits. Another one, whose stack is not the lowest of its slab, grows beyond its end, and
 * says when it has come back from there. Before that the program says how many mappings are guards.
 * With the argument "crash" a task of locality 1 accesses what is not there instead, and those of
 * the others wait for its site. */

enum { NUM_WAITING = 1, FRAME_BYTES = 1024, DEPTH = 344 }; /* of 256 KiB, and the guard's 64 */

struct program {
    cohort_future *gate;
    int num_waiting;
};

/* The compiler can't know what the asm does with the frame, so each call has its own. */
__attribute__((noinline)) static int descend(int depth)
{
    char frame[FRAME_BYTES];
    memset(frame, depth, sizeof(frame));
    int below = depth > 0 ? descend(depth - 1) : 0;
    __asm__ volatile("" : : "r"(frame) : "memory");
    return below + frame[depth % FRAME_BYTES];
}

static cohort_status wait_task(void *arg)
{
    struct program *program = arg;
    program->num_waiting++;
    return cohort_await(cohort_future_ref(program->gate));
}

static cohort_status deep_task(void *arg)
{
    int sum = descend(DEPTH);
    printf("back, %d\n", sum);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static int num_guard_mappings(void)
{
    char line[512];
    int num = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    while (file && fgets(line, sizeof(line), file))
        num += strstr(line, " ---p 00000000 00:00 0") != NULL;
    if (file)
        fclose(file);
    return num;
}

static cohort_status run(void *arg)
{
    struct program *program = arg;
    cohort_promise *promise;
    cohort_future *waiting[NUM_WAITING];
    cohort_status status = cohort_promise_create(&promise, &program->gate);
    if (status)
        return status;
    for (int i = 0; i < NUM_WAITING; i++) {
        waiting[i] = cohort_async(wait_task, program);
        while (program->num_waiting <= i)
            cohort_yield();
    }
    printf("guards: %d\n", num_guard_mappings());
    cohort_future *deep = cohort_async(deep_task, NULL);
    while (!cohort_future_ready(deep)) /* an await would call it on this task's stack */
        cohort_yield();
    status = cohort_await(deep);
    cohort_promise_fulfil(promise, NULL);
    (void)!cohort_await(cohort_when_all(waiting, NUM_WAITING));
    cohort_future_unref(program->gate);
    return status;
}

__attribute__((noinline)) static void touch(volatile int *number)
{
    (*number)++;
}

static cohort_status crash_task(void *arg)
{
    touch(arg);
    return COHORT_OK;
}

static cohort_status crash(void *arg)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "all", &options));
    if (!status && cohort_locality() == 1)
        status = cohort_await(
            cohort_async(crash_task, (void *)(uintptr_t)(0x100 + options.this_site - 1)));
    if (!status)
        status = cohort_await(cohort_barrier(comm, 1));
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        return cohort_main(argc, argv, crash, NULL);
    return cohort_main(argc, argv, run, &program);
}
