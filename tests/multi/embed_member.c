/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/multi/embed_member.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cohort/cohort.h"

/* usage: embed_LOOP_member MODE
 *   sum    collectives and tasks, one callback after the other, then a stop from another thread,
 *          while the loop goes on
 *   twice  the same, two times
 *   fail   locality 1 stops with an error, the others without one
 *   exit   locality 1 exits without a stop
 *   refuse locality 1's start fails, and so does another one; then it waits for its end */

enum { NUM_ROUNDS = 20 };

static struct {
    const char *mode;
    pthread_t thread; /* the loop's */
    pthread_t stopper;
    cohort_callbacks *callbacks;
    cohort_comm *comm;
    cohort_promise *promise; /* of a future that nobody completes */
    uint64_t generation;
    int64_t mine, sum;
    unsigned num_ticks;
    bool is_over;
    cohort_status stop_status;
} own;

static _Noreturn void give_up(const char *what)
{
    printf("%s: %s: %s\n", embed_loop_name, what, cohort_error_message());
    fflush(stdout);
    _Exit(1);
}

static void check(bool is_good, const char *what)
{
    if (!is_good)
        give_up(what);
}

static void call_back(cohort_future *future, cohort_callback_function *function)
{
    check(!cohort_callbacks_add(own.callbacks, future, function, NULL), "add");
}

static void check_thread(void)
{
    check(pthread_equal(own.thread, pthread_self()), "a callback in another thread");
}

/* --- the end --- */

static void *stop(void *arg)
{
    own.stop_status = cohort_stop(COHORT_OK);
    return arg;
}

/* The future was pending. The loop has gone on all the time. */
static void cancelled(cohort_status status, void *value, void *arg)
{
    check_thread();
    check(status == COHORT_ERR_CANCELLED, "the last callback");
    check(!own.is_over, "two last callbacks");
    own.is_over = true;
}

static void begin_stop(void)
{
    if (strcmp(own.mode, "twice") != 0)
        cohort_comm_unref(own.comm);
    check(pthread_create(&own.stopper, NULL, stop, NULL) == 0, "pthread_create");
}

/* --- rounds of a collective, and a task --- */

static void begin_round(void);

static cohort_status sleep_briefly(void *arg)
{
    return cohort_await(cohort_sleep(1000000));
}

static void slept(cohort_status status, void *value, void *arg)
{
    check_thread();
    check(!status, "sleep");
    if (own.generation < NUM_ROUNDS)
        begin_round();
    else
        begin_stop();
}

static void summed(cohort_status status, void *value, void *arg)
{
    int64_t n = cohort_num_localities();
    check_thread();
    check(!status, "all_reduce");
    check(own.sum == n * (n + 1) / 2 + n * (int64_t)own.generation, "the sum");
    call_back(cohort_async(sleep_briefly, NULL), slept);
}

static void begin_round(void)
{
    own.generation++;
    own.mine = (int64_t)(cohort_locality() + 1 + own.generation);
    call_back(cohort_all_reduce(own.comm, &own.mine, &own.sum, 1, COHORT_INT64, COHORT_SUM,
                                own.generation),
              summed);
}

/* --- failures --- */

static void failed(cohort_status status, void *value, void *arg)
{
    check(status != COHORT_OK, "a collective without locality 1");
    printf("locality %u: %s\n", (unsigned)cohort_locality(), cohort_error_message());
    own.stop_status = cohort_stop(status);
    check(own.stop_status == status, "stop");
    own.is_over = true;
}

static void go_wrong(void)
{
    bool exits = strcmp(own.mode, "exit") == 0;
    if (cohort_locality() == 1 && exits)
        exit(0);
    if (exits) {
        call_back(cohort_barrier(own.comm, 1), failed);
        return;
    }
    cohort_comm_unref(own.comm);
    bool is_bad = cohort_locality() == 1;
    own.stop_status = cohort_stop(is_bad ? cohort_fail(COHORT_ERR_FAILED, "out of paper") : 0);
    check(own.stop_status == (is_bad ? COHORT_ERR_FAILED : COHORT_OK), "stop");
    check(!is_bad || strcmp(cohort_error_message(), "out of paper") == 0, "its message");
    own.is_over = true;
}

/* --- the program --- */

static void joined(cohort_status status, void *value, void *arg)
{
    check_thread();
    bool exits = strcmp(own.mode, "exit") == 0;
    check(!status || exits, "create");
    if (status) /* locality 1 was sooner */
        failed(status, NULL, NULL);
    else if (exits || strcmp(own.mode, "fail") == 0)
        go_wrong();
    else
        begin_round();
}

static bool readable(void)
{
    check(!cohort_callbacks_run(own.callbacks, 0, NULL), "run");
    return !own.is_over;
}

static bool tick(void)
{
    own.num_ticks++;
    return !own.is_over;
}

static bool is_locality_1(void)
{
    const char *rank = getenv("COHORT_LOCALITY");
    return rank && strcmp(rank, "1") == 0;
}

static bool has_connection(void)
{
    enum { MOST = 1000 };
    struct stat stat;
    for (int fd = STDERR_FILENO + 1; fd < MOST; fd++)
        if (fstat(fd, &stat) == 0 && S_ISSOCK(stat.st_mode))
            return true;
    return false;
}

/* Without the wrong setting it might have joined. */
static _Noreturn void fail_to_start(void)
{
    setenv("COHORT_SPIN", "-5", 1);
    check(has_connection(), "no connection to cohortrun");
    check(cohort_start(NULL) == COHORT_ERR_BAD_PARAMETER, "a start with a wrong setting");
    check(!has_connection(), "a connection to cohortrun");
    unsetenv("COHORT_SPIN");
    check(cohort_start(NULL) == COHORT_ERR_STATE, "a start after it");
    printf("%s\n", cohort_error_message());
    fflush(stdout);
    for (;;)
        pause();
}

static void run(void)
{
    cohort_future *never;
    own.is_over = false;
    own.generation = 0;
    if (strcmp(own.mode, "refuse") == 0 && is_locality_1())
        fail_to_start();
    check(!cohort_start(NULL), "start");
    check(!cohort_callbacks_create(&own.callbacks), "create callbacks");
    check(!cohort_promise_create(&own.promise, &never), "create a promise");
    bool will_stop = strcmp(own.mode, "sum") == 0 || strcmp(own.mode, "twice") == 0;
    if (will_stop)
        call_back(never, cancelled);
    else
        cohort_future_unref(never);
    call_back(cohort_comm_create(&own.comm, "embed",
                                 &(cohort_comm_options){.num_sites = cohort_num_localities(),
                                                        .this_site = cohort_locality()}),
              joined);
    embed_loop_run(cohort_callbacks_fd(own.callbacks), readable, tick);
    if (will_stop)
        check(pthread_join(own.stopper, NULL) == 0 && !own.stop_status, "stop");
    if (strcmp(own.mode, "twice") == 0)
        cohort_comm_unref(own.comm); /* it has ended by itself */
    cohort_promise_fulfil(own.promise, NULL);
    check(!cohort_callbacks_destroy(own.callbacks), "destroy");
    if (!will_stop)
        return;
    check(own.num_ticks >= NUM_ROUNDS / 2, "the loop's other work");
    printf("%s: locality %u of %u: sum %" PRId64 "\n", embed_loop_name, (unsigned)cohort_locality(),
           (unsigned)cohort_num_localities(), own.sum);
}

int main(int argc, char **argv)
{
    own.mode = argc > 1 ? argv[1] : "sum";
    own.thread = pthread_self();
    run();
    if (strcmp(own.mode, "twice") == 0)
        run();
    return own.stop_status ? 1 : 0;
}
