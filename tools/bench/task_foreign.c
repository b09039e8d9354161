/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: promises that a thread of the program fulfils: foreign, wake. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/bench/cores.h"
#include "tools/bench/task_works.h"

/* The worker is on the first of the cores, and the thread on the last one. */
struct foreign {
    cohort_promise **promises; /* that the thread fulfils, in this order */
    cohort_future **futures;
    uint64_t num;
    uint64_t *fulfilled_ns; /* when it fulfilled each; NULL: all of them follow the first */
    uint64_t start_ns, end_ns;
    sem_t turn; /* it may go on, with the first one or the next one */
    cpu_set_t cores;
};

static void *fulfil_all(void *arg)
{
    struct foreign *foreign = arg;
    bench_cores_bind(&foreign->cores, (unsigned)CPU_COUNT(&foreign->cores) - 1, 1);
    sem_wait(&foreign->turn);
    foreign->start_ns = bench_now();
    for (uint64_t i = 0; i < foreign->num; i++)
        cohort_promise_fulfil(foreign->promises[i], NULL);
    return NULL;
}

static void *fulfil_one_by_one(void *arg)
{
    struct foreign *foreign = arg;
    bench_cores_bind(&foreign->cores, (unsigned)CPU_COUNT(&foreign->cores) - 1, 1);
    for (uint64_t i = 0; i < foreign->num; i++) {
        sem_wait(&foreign->turn);
        nanosleep(&(struct timespec){.tv_nsec = PROBLEM_IDLE_NS}, NULL);
        foreign->fulfilled_ns[i] = bench_now();
        cohort_promise_fulfil(foreign->promises[i], NULL);
    }
    return NULL;
}

static void foreign_fini(struct foreign *foreign)
{
    sem_destroy(&foreign->turn);
    free(foreign->promises);
    free(foreign->futures);
    free(foreign->fulfilled_ns);
}

static cohort_status foreign_init(struct foreign *foreign, uint64_t num)
{
    cohort_status status = COHORT_OK;
    *foreign = (struct foreign){.promises = calloc(num, sizeof(cohort_promise *)),
                                .futures = calloc(num, sizeof(cohort_future *)),
                                .fulfilled_ns = calloc(num, sizeof(uint64_t)),
                                .num = num,
                                .cores = bench_cores()};
    sem_init(&foreign->turn, 0, 0);
    if (!foreign->promises || !foreign->futures || !foreign->fulfilled_ns)
        status = task_no_memory(num, "promises");
    for (uint64_t i = 0; status == COHORT_OK && i < num; i++)
        status = cohort_promise_create(&foreign->promises[i], &foreign->futures[i]);
    if (status != COHORT_OK)
        foreign_fini(foreign);
    return status;
}

/* Runs AWAIT_ALL in this task while FULFIL runs in a thread. */
static cohort_status foreign_run(struct foreign *foreign, void *(*fulfil)(void *),
                                 cohort_status (*await_all)(struct foreign *foreign))
{
    pthread_t thread;
    bench_cores_bind(&foreign->cores, 0, 1);
    int error = pthread_create(&thread, NULL, fulfil, foreign);
    cohort_status status = error ? cohort_fail(COHORT_ERR_SYSTEM, "a thread: %s", strerror(error))
                                 : await_all(foreign);
    if (!error)
        pthread_join(thread, NULL);
    bench_cores_bind(&foreign->cores, 0, (unsigned)CPU_COUNT(&foreign->cores));
    return status;
}

static cohort_status await_in_order(struct foreign *foreign)
{
    cohort_status status = COHORT_OK;
    sem_post(&foreign->turn);
    for (uint64_t i = 0; i < foreign->num; i++) {
        cohort_status one = cohort_await(foreign->futures[i]);
        status = status != COHORT_OK ? status : one;
    }
    foreign->end_ns = bench_now();
    return status;
}

/* Timed from the first promise that is fulfilled to the end of the last await. */
cohort_status task_foreign(const struct problem *problem, struct problem_time *ret_time)
{
    struct foreign foreign;
    cohort_status status = foreign_init(&foreign, problem->size);
    if (status != COHORT_OK)
        return status;
    status = foreign_run(&foreign, fulfil_all, await_in_order);
    *ret_time = (struct problem_time){foreign.end_ns - foreign.start_ns, problem->size};
    foreign_fini(&foreign);
    return status;
}

/* Replaces the time at which each promise was fulfilled by how long it took the task to go on. */
static cohort_status await_one_by_one(struct foreign *foreign)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < foreign->num; i++) {
        sem_post(&foreign->turn);
        cohort_status one = cohort_await(foreign->futures[i]);
        foreign->fulfilled_ns[i] = bench_now() - foreign->fulfilled_ns[i];
        status = status != COHORT_OK ? status : one;
    }
    return status;
}

cohort_status task_wake(const struct problem *problem, struct problem_time *ret_time)
{
    struct foreign foreign;
    cohort_status status = foreign_init(&foreign, problem->size);
    if (status != COHORT_OK)
        return status;
    status = foreign_run(&foreign, fulfil_one_by_one, await_one_by_one);
    uint64_t median = problem_median(foreign.fulfilled_ns, problem->size);
    *ret_time = (struct problem_time){median * problem->size, problem->size};
    foreign_fini(&foreign);
    return status;
}
