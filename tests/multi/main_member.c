/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "cohort/uv.h"

/* What cohort_main does around a program: it writes the output, and waits for tasks that are left
 * over. */

static cohort_status print_and_die(void *arg)
{
    for (int i = 0; i < 3; i++)
        printf("line %d\n", i);
    if (strcmp(arg, "kill") == 0)
        raise(SIGKILL);
    abort();
}

/* The last line has no newline. */
static cohort_status print_half(void *arg)
{
    printf("line\nhalf a line");
    return COHORT_OK;
}

/* Asks the other localities, each of which is the home of some names, long after all programs have
 * returned. Before that no message is under way. */
static cohort_status create_late(void *arg)
{
    enum { NUM_NAMES = 16, FIFTH_OF_A_SECOND = 200000000 };
    cohort_status status = cohort_await(cohort_sleep(FIFTH_OF_A_SECOND));
    for (int i = 0; !status && i < NUM_NAMES; i++) {
        char name[16];
        cohort_comm *comm = NULL;
        cohort_comm_options options = {.num_sites = 1};
        snprintf(name, sizeof(name), "late %d", i);
        status = cohort_await(cohort_comm_create(&comm, name, &options));
        cohort_comm_unref(comm);
    }
    printf("late: %s\n", status ? cohort_error_message() : "done");
    return status;
}

static cohort_status leave_task(void *arg)
{
    if (cohort_locality() == 0)
        cohort_future_unref(cohort_async(create_late, NULL));
    return COHORT_OK;
}

static cohort_status read_to_end(void *arg)
{
    char bytes[64];
    printf("lingers\n");
    fflush(stdout);
    while (read(STDIN_FILENO, bytes, sizeof(bytes)) > 0)
        ;
    return COHORT_OK;
}

static cohort_status call_read(void *arg)
{
    return cohort_blocking(read_to_end, arg);
}

static cohort_status linger(void *arg)
{
    cohort_future_unref(cohort_async(call_read, arg));
    return COHORT_OK;
}

/* The program's memory of what it leaves open is there until the end, and beyond. */
static cohort_tcp_listener *listener;
static cohort_tcp *never;

static cohort_status leave_open(void *arg)
{
    cohort_status status = cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener));
    if (!status)
        cohort_future_unref(cohort_tcp_accept(listener, &never));
    return status;
}

/* A thread of libuv's ends its work when the runtime has ended. What the loop then calls knows
 * where it is, and is refused what needs the runtime. */
static uv_work_t work;
static cohort_future *ended;

static void wait_for_end(uv_work_t *request)
{
    while (!cohort_future_ready(ended))
        sched_yield();
}

static void speak_last(uv_work_t *request, int error)
{
    cohort_comm *comm;
    const cohort_comm_options options = {.num_sites = 1};
    cohort_status remote = cohort_await(cohort_async_everywhere("none", NULL, NULL));
    cohort_status create = cohort_await(cohort_comm_create(&comm, "last", &options));
    printf("last words of %u of %u: %d %s %s\n", cohort_locality(), cohort_num_localities(), error,
           cohort_status_name(remote), cohort_status_name(create));
}

static cohort_status start_work(uv_loop_t *loop, void *arg)
{
    return uv_queue_work(loop, &work, wait_for_end, speak_last) ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status leave_work(void *arg)
{
    cohort_status status = cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener));
    if (!status)
        ended = cohort_tcp_accept(listener, &never);
    return status ? status : cohort_await(cohort_run_on_loop(start_work, NULL));
}

/* Locality 1 aborts the job: in its only worker, while no other thread could turn the loop; in a
 * thread outside, while that worker computes for ever; on the loop; before cohort_main or after it.
 * The other localities wait for ever. */
static const char reason[] = "the disk\nis full";

static void *abort_in_thread(void *arg)
{
    cohort_abort(7, reason);
}

static cohort_status abort_on_loop(uv_loop_t *loop, void *arg)
{
    cohort_abort(7, reason);
}

static cohort_status abort_job(void *arg)
{
    pthread_t thread;
    volatile bool for_ever = true;
    if (cohort_num_localities() > 1 && cohort_locality() != 1)
        return cohort_await(cohort_sleep(UINT64_C(3600000000000)));
    printf("half a line");
    if (strcmp(arg, "abort-zero") == 0)
        cohort_abort(256, NULL);
    if (strcmp(arg, "abort-loop") == 0)
        return cohort_await(cohort_run_on_loop(abort_on_loop, NULL));
    if (strcmp(arg, "abort-thread") == 0 && !pthread_create(&thread, NULL, abort_in_thread, NULL))
        while (for_ever)
            ;
    cohort_abort(7, reason);
}

/* Locality 1 ends without having left, long after the others have returned. No message was ever
 * under way. */
static cohort_status vanish(void *arg)
{
    if (cohort_locality() != 1)
        return COHORT_OK;
    cohort_status status = cohort_await(cohort_sleep(UINT64_C(2000000000)));
    if (!status)
        _exit(0);
    return status;
}

int main(int argc, char **argv)
{
    char *mode = argc > 1 ? argv[1] : "";
    cohort_task_function *program = strcmp(mode, "half") == 0         ? print_half
                                    : strcmp(mode, "leave") == 0      ? leave_task
                                    : strcmp(mode, "linger") == 0     ? linger
                                    : strcmp(mode, "open") == 0       ? leave_open
                                    : strcmp(mode, "vanish") == 0     ? vanish
                                    : strcmp(mode, "work") == 0       ? leave_work
                                    : strncmp(mode, "abort-", 6) == 0 ? abort_job
                                                                      : print_and_die;
    printf("before");
    if (strcmp(mode, "kill") == 0)
        fflush(stdout);
    if (strcmp(mode, "abort-before") == 0)
        cohort_abort(7, reason);
    return cohort_main(argc, argv, program, mode);
}
