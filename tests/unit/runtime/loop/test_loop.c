/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/loop.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

static struct cohort__loop *create(void)
{
    struct cohort__loop *loop = NULL;
    CHECK_OK(cohort__loop_create(&loop));
    return loop;
}

struct counted {
    struct cohort__loop_request request;
    unsigned *count;
};

static void count_up(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    struct counted *counted = COHORT_CONTAINER_OF(request, struct counted, request);
    ++*counted->count;
    free(counted);
}

static struct counted *counted_create(unsigned *count)
{
    struct counted *counted = test_malloc(sizeof(*counted));
    *counted = (struct counted){{.run = count_up}, count};
    return counted;
}

static void create_with(rlim_t num_descriptors)
{
    struct cohort__loop *loop = NULL;
    struct rlimit limit = {.rlim_cur = num_descriptors, .rlim_max = num_descriptors};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cohort_status status = cohort__loop_create(&loop);
    if (status) {
        CHECK_FAILS(status, COHORT_ERR_NO_MEMORY, "too many open files");
    }
    cohort__loop_destroy(loop);
    _exit(status ? 1 : 0);
}

/* First: with few descriptors, each time in a new process, in which libuv has not started yet. */
TEST(few_descriptors)
{
    int status = 1;
    for (rlim_t num = STDERR_FILENO + 1; status; num++) {
        CHECK(num < 64);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            create_with(num);
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    }
}

#define TEST_LOOP(name)                                                                            \
    TEST_WITH(name, struct cohort__loop *, loop, create(), cohort__loop_destroy(loop))

TEST_LOOP(create_destroy)
{
    cohort__loop_destroy(NULL);
    cohort__loop_poll(loop);
}

TEST_LOOP(wake_before_park)
{
    for (int i = 0; i < 100; i++) {
        cohort__loop_wake(loop);
        cohort__loop_park(loop);
    }
}

/* Requests of several threads. Those of one thread stay in order. */
struct sequenced {
    struct cohort__loop_request request;
    unsigned thread;
    unsigned number;
};

enum { NUM_THREADS = 4, NUM_REQUESTS = 20000 };
static unsigned next_number[NUM_THREADS];
static unsigned num_arrived;

static void check_sequence(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    struct sequenced *sequenced = COHORT_CONTAINER_OF(request, struct sequenced, request);
    CHECK_INT(sequenced->number, next_number[sequenced->thread]);
    next_number[sequenced->thread]++;
    num_arrived++;
    free(sequenced);
}

struct sender {
    struct cohort__loop *loop;
    unsigned thread;
};

static void *send_requests(void *arg)
{
    struct sender *sender = arg;
    for (unsigned i = 0; i < NUM_REQUESTS; i++) {
        struct sequenced *sequenced = test_malloc(sizeof(*sequenced));
        *sequenced = (struct sequenced){{.run = check_sequence}, sender->thread, i};
        cohort__loop_request(sender->loop, &sequenced->request);
    }
    return NULL;
}

/* The loop only parks. Every request has to wake it, or this test hangs. */
TEST_LOOP(requests_from_threads)
{
    pthread_t threads[NUM_THREADS];
    struct sender senders[NUM_THREADS];
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        senders[i] = (struct sender){loop, i};
        threads[i] = new_thread(send_requests, &senders[i]);
    }
    PARK_WHILE(loop, num_arrived < NUM_THREADS * NUM_REQUESTS);
    for (unsigned i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
}

/* One request at a time, each sent only after the previous one has run. So the loop blocks nearly
 * every time. */
enum { NUM_TURNS = 20000 };
static _Atomic unsigned turn;

static void take_turn(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    atomic_fetch_add(&turn, 1);
}

static void *request_in_turn(void *arg)
{
    struct cohort__loop_request request = {.run = take_turn};
    for (unsigned i = 0; i < NUM_TURNS; i++) {
        cohort__loop_request(arg, &request);
        while (atomic_load(&turn) == i)
            sched_yield();
    }
    return NULL;
}

TEST_LOOP(wake_up_not_lost)
{
    pthread_t thread = new_thread(request_in_turn, loop);
    PARK_WHILE(loop, atomic_load(&turn) < NUM_TURNS);
    end_thread(thread);
}

/* The same with wake alone. What the loop has to see is a variable, as in the scheduler. */
static _Atomic unsigned published, seen;

static void *publish(void *arg)
{
    for (unsigned i = 1; i <= NUM_TURNS; i++) {
        atomic_store(&published, i);
        cohort__loop_wake(arg);
        while (atomic_load(&seen) < i)
            sched_yield();
    }
    return NULL;
}

TEST_LOOP(wake_not_lost)
{
    pthread_t thread = new_thread(publish, loop);
    while (atomic_load(&seen) < NUM_TURNS) {
        if (atomic_load(&published) == atomic_load(&seen))
            cohort__loop_park(loop);
        else
            atomic_store(&seen, atomic_load(&published));
    }
    end_thread(thread);
}

/* A transport: a counter that other threads increment, with a doorbell. */
struct bell {
    struct cohort__poller poller;
    _Atomic unsigned raised;
    _Atomic int sleeping;
    unsigned handled;
    unsigned num_armed;
    unsigned num_refused;
    bool armed;
    bool refuse;
};

static bool bell_progress(void *context)
{
    struct bell *bell = context;
    unsigned raised = atomic_load(&bell->raised);
    bool any = raised != bell->handled;
    bell->handled = raised;
    return any;
}

static bool bell_arm(void *context)
{
    struct bell *bell = context;
    CHECK(!bell->armed);
    if (bell->refuse) {
        bell->num_refused++;
        return false;
    }
    atomic_store(&bell->sleeping, 1);
    if (atomic_load(&bell->raised) != bell->handled) {
        atomic_store(&bell->sleeping, 0);
        return false;
    }
    bell->armed = true;
    bell->num_armed++;
    return true;
}

static void bell_disarm(void *context)
{
    struct bell *bell = context;
    uint64_t value;
    CHECK(bell->armed);
    bell->armed = false;
    atomic_store(&bell->sleeping, 0);
    (void)!read(bell->poller.fd, &value, sizeof(value));
}

static void bell_ring(struct bell *bell)
{
    uint64_t one = 1;
    atomic_fetch_add(&bell->raised, 1);
    if (atomic_exchange(&bell->sleeping, 0))
        CHECK(write(bell->poller.fd, &one, sizeof(one)) == sizeof(one));
}

static void bell_init(struct bell *bell)
{
    *bell = (struct bell){.poller = {.context = bell,
                                     .progress = bell_progress,
                                     .arm = bell_arm,
                                     .disarm = bell_disarm,
                                     .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}};
    CHECK(bell->poller.fd >= 0);
}

static void *ring_in_turn(void *arg)
{
    struct bell *bell = arg;
    for (unsigned i = 0; i < NUM_TURNS; i++) {
        bell_ring(bell);
        while (atomic_load(&seen) == i)
            sched_yield();
    }
    return NULL;
}

TEST(poller_wakes)
{
    struct cohort__loop *loop = create();
    struct bell bell;
    bell_init(&bell);
    atomic_store(&seen, 0);
    CHECK_OK(cohort__loop_add_poller(loop, &bell.poller));
    pthread_t thread = new_thread(ring_in_turn, &bell);
    while (atomic_load(&seen) < NUM_TURNS) {
        cohort__loop_park(loop);
        CHECK(!bell.armed);
        atomic_store(&seen, bell.handled);
    }
    end_thread(thread);
    CHECK(bell.num_armed > 0);
    cohort__loop_remove_poller(loop, &bell.poller);
    cohort__loop_destroy(loop);
    close(bell.poller.fd);
}

/* If one poller refuses, the loop does not block, and the pollers before it are disarmed again. */
TEST(poller_refuses)
{
    struct cohort__loop *loop = create();
    struct bell first, second;
    bell_init(&first);
    bell_init(&second);
    second.refuse = true;
    CHECK_OK(cohort__loop_add_poller(loop, &first.poller));
    CHECK_OK(cohort__loop_add_poller(loop, &second.poller));
    cohort__loop_park(loop);
    CHECK_INT(first.num_armed, 1);
    CHECK(!first.armed);
    CHECK_INT(second.num_refused, 1);
    bell_ring(&second);
    CHECK(cohort__loop_poll(loop));
    CHECK_INT(second.handled, 1);
    CHECK(!cohort__loop_poll(loop));
    cohort__loop_remove_poller(loop, &second.poller);
    cohort__loop_wake(loop);
    cohort__loop_park(loop);
    CHECK_INT(first.num_armed, 2);
    cohort__loop_remove_poller(loop, &first.poller);
    cohort__loop_destroy(loop);
    close(first.poller.fd);
    close(second.poller.fd);
}

/* A poller without a descriptor: the loop never blocks. */
TEST_LOOP(poller_without_descriptor)
{
    struct bell bell;
    bell_init(&bell);
    close(bell.poller.fd);
    bell.poller.fd = -1;
    CHECK_OK(cohort__loop_add_poller(loop, &bell.poller));
    cohort__loop_park(loop);
    CHECK_INT(bell.num_armed, 0);
    cohort__loop_remove_poller(loop, &bell.poller);
}

TEST_LOOP(poll_runs_requests)
{
    unsigned count = 0;
    struct counted *counted = counted_create(&count);
    CHECK(!cohort__loop_poll(loop));
    cohort__loop_request(loop, &counted->request);
    CHECK(cohort__loop_poll(loop));
    CHECK_INT(count, 1);
}

/* While it is not armed, its descriptor says nothing. libuv has its turn in some of these polls. */
TEST(poll_does_not_believe_descriptors)
{
    struct cohort__loop *loop = create();
    struct bell bell;
    uint64_t one = 1, end = cohort__clock_after(2000000);
    bell_init(&bell);
    CHECK_OK(cohort__loop_add_poller(loop, &bell.poller));
    CHECK(write(bell.poller.fd, &one, sizeof(one)) == sizeof(one));
    while (cohort__clock_now() < end)
        CHECK(!cohort__loop_poll(loop));
    bell_ring(&bell);
    CHECK(cohort__loop_poll(loop));
    cohort__loop_remove_poller(loop, &bell.poller);
    cohort__loop_destroy(loop);
    close(bell.poller.fd);
}

static void tick(void *context)
{
    ++*(unsigned *)context;
}

TEST_LOOP(every)
{
    unsigned ticks = 0;
    CHECK_OK(cohort__loop_every(loop, 1, tick, &ticks));
    cohort__loop_run(loop); /* nothing that could keep it running */
    uint64_t start = cohort__clock_now();
    PARK_WHILE(loop, ticks < 5);
    CHECK(cohort__clock_now() - start >= 3000000);
    while (ticks < 8)
        cohort__loop_poll(loop);
}

/* If only ticks happen, this is noticed, and ticks become rarer until something else happens. */
TEST_LOOP(quiet)
{
    enum { TICK = 2000000 };
    unsigned ticks = 0, count = 0;
    struct counted *counted = counted_create(&count);
    uint64_t start = cohort__clock_now();
    CHECK_OK(cohort__loop_every(loop, TICK, tick, &ticks));
    while (ticks < 6)
        CHECK(!cohort__loop_park(loop));
    CHECK(cohort__clock_now() - start >= (1 + 2 + 4 + 8 + 8) * TICK);
    uint64_t shortest = UINT64_MAX;
    for (unsigned round = 0; round < 1000 && shortest >= 4 * TICK; round++) {
        cohort__loop_poll(loop); /* a worker is busy; a busy machine may still delay us */
        start = cohort__clock_now();
        CHECK(!cohort__loop_park(loop));
        uint64_t time = cohort__clock_now() - start;
        shortest = time < shortest ? time : shortest;
    }
    CHECK(shortest < 4 * TICK);
    cohort__loop_wake(loop);
    CHECK(cohort__loop_park(loop));
    cohort__loop_request(loop, &counted->request);
    CHECK(cohort__loop_park(loop));
    CHECK_INT(count, 1);
}

static void stop_loop(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    cohort__loop_stop(loop);
}

struct stopper {
    struct cohort__timer timer;
    struct cohort__loop *loop;
};

static void expire_and_stop(struct cohort__timer *timer)
{
    cohort__loop_stop(COHORT_CONTAINER_OF(timer, struct stopper, timer)->loop);
}

TEST_LOOP(run_and_stop)
{
    struct cohort__loop_request request = {.run = stop_loop};
    cohort__loop_run(loop); /* nothing to do, so it returns */
    cohort__loop_stop(loop);
    struct stopper later = {{.expired = expire_and_stop}, loop};
    cohort__loop_timer(loop, &later.timer, cohort__clock_now());
    cohort__loop_run(loop); /* stopped before it began */
    cohort__loop_run(loop); /* until the timer */
    cohort__loop_request(loop, &request);
    cohort__loop_run(loop);
}
