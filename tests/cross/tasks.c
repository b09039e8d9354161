/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/play.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cohort/cohort.h>
#include <cohort/file.h>

#include "runtime/base/random.h"
#include "tests/cross/simulation.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* What tasks do without a communicator: a scope with tasks that wait in each way for what does not
 * come before the scope is cancelled and has ended; and combinators over combinators. */

enum wait {
    WAIT_LIMITED, /* cohort_wait */
    WAIT_THEN,    /* awaits what follows */
    WAIT_THEN_DROPPED,
    WAIT_DATAFLOW,
    WAIT_DATAFLOW_DROPPED,
    WAIT_SLEEP,
    WAIT_BLOCKING, /* a blocking function that starts a task */
    WAIT_NESTED,   /* the same in a scope within */
    WAIT_FILE,     /* for two writes at once, and for what is read then */
    NUM_WAITS
};

enum { MOST_TASKS = 6, MOST_NESTED = 3, FEW_LEVELS = 40, MANY_LEVELS = 12000 };
static const uint64_t LONG = UINT64_C(100000000000), SOON = UINT64_C(10000000000);

struct scene {
    cohort_future *input;         /* pending until the scope has ended */
    _Atomic uint32_t num_running; /* functions of tasks in the scope */
};

/* One task's. */
struct part {
    struct scene *scene;
    uint32_t form;
    uint32_t depth;
};

/* In the scope anything may end as cancelled. */
static void check_end(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED ||
          (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()));
}

static cohort_status follow(cohort_future *future, void *arg)
{
    (void)arg;
    cohort_future_unref(future);
    return COHORT_OK;
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    (void)values;
    (void)count;
    (void)arg;
    *ret_value = NULL;
    return COHORT_OK;
}

static cohort_future *start_following(const struct scene *scene, bool flows)
{
    cohort_future *input = cohort_future_ref(scene->input);
    return flows ? cohort_dataflow(&input, 1, flow, NULL) : cohort_then(input, follow, NULL);
}

static cohort_status follow_in_task(void *arg)
{
    struct scene *scene = arg;
    scene->num_running++;
    check_end(cohort_await(start_following(scene, false)));
    scene->num_running--;
    return COHORT_OK;
}

/* Whatever it starts is in the scope, too. */
static cohort_status block(void *arg)
{
    if (cohort_cancelled())
        return COHORT_ERR_CANCELLED;
    cohort_future_unref(cohort_async(follow_in_task, arg));
    return COHORT_OK;
}

static cohort_status run_part(void *arg);

static void nest(const struct part *part)
{
    struct part inner = {part->scene, part->form / NUM_WAITS, part->depth + 1};
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    check_end(status);
    if (status)
        return;
    check_end(cohort_scope_async(scope, run_part, &inner));
    check_end(cohort_scope_await(scope));
}

static void wait_limited(const struct part *part)
{
    enum cohort_wait_end end;
    cohort_status status = cohort_wait(part->scene->input, LONG, &end);
    check_end(status);
    CHECK(status || end == COHORT_WAIT_CANCELLED || scarce_has_failed());
}

/* A call whose thread has begun goes on to its end, and one that waits for a thread is cancelled;
 * each of them is awaited, since the buffer is its. */
static cohort_status await_both(cohort_future *first, cohort_future *second)
{
    cohort_future *both[] = {cohort_future_ref(first), cohort_future_ref(second)};
    check_end(cohort_await(cohort_when_all(both, 2)));
    cohort_status status = cohort_await(first), other = cohort_await(second);
    check_end(status);
    check_end(other);
    return status ? status : other;
}

static void use_file(const struct part *part)
{
    enum { HALF = 300 };
    unsigned char out[2 * HALF], in[2 * HALF];
    char path[40];
    cohort_file *file;
    size_t bytes = 0;
    int fd = memfd_create("cross", MFD_CLOEXEC);
    CHECK(fd >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cohort_status status = cohort_await(cohort_file_open(path, O_RDWR, 0, &file));
    close(fd);
    check_end(status);
    if (status)
        return;
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = oracle_byte(part->form, i);
    status = await_both(cohort_file_write(file, HALF, out + HALF, HALF),
                        cohort_file_write(file, 0, out, HALF));
    cohort_status got = cohort_await(cohort_file_read(file, 0, in, sizeof(in), &bytes));
    check_end(got);
    if (!status && !got) {
        CHECK_INT(bytes, sizeof(in));
        CHECK(memcmp(in, out, sizeof(in)) == 0);
    }
    check_end(cohort_await(cohort_file_close(file)));
    cohort_file_unref(file);
}

static cohort_status run_part(void *arg)
{
    const struct part *part = arg;
    struct scene *scene = part->scene;
    enum wait wait = (enum wait)(part->form % NUM_WAITS);
    scene->num_running++;
    switch (wait) {
    case WAIT_LIMITED:
        wait_limited(part);
        break;
    case WAIT_THEN:
    case WAIT_DATAFLOW:
        check_end(cohort_await(start_following(scene, wait == WAIT_DATAFLOW)));
        break;
    case WAIT_THEN_DROPPED:
    case WAIT_DATAFLOW_DROPPED:
        cohort_future_unref(start_following(scene, wait == WAIT_DATAFLOW_DROPPED));
        break;
    case WAIT_SLEEP:
        check_end(cohort_await(cohort_sleep(LONG)));
        break;
    case WAIT_BLOCKING:
        check_end(cohort_blocking(block, scene));
        break;
    case WAIT_FILE:
        use_file(part);
        break;
    default:
        if (part->depth < MOST_NESTED)
            nest(part);
        break;
    }
    scene->num_running--;
    return COHORT_OK;
}

static void play_scope(struct scene *scene, struct cohort__random *random)
{
    struct part parts[MOST_TASKS];
    uint32_t num = 1 + (uint32_t)cohort__random_below(random, MOST_TASKS);
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    check_end(status);
    if (status)
        return;
    for (uint32_t i = 0; i < num; i++) {
        parts[i] = (struct part){scene, (uint32_t)cohort__random_below(random, 1 << 16), 0};
        check_end(cohort_scope_async(scope, run_part, &parts[i]));
    }
    for (uint64_t i = cohort__random_below(random, 20); i > 0; i--)
        cohort_yield();
    cohort_scope_cancel(scope);
    uint64_t begin = simulation_time();
    check_end(cohort_scope_await(scope));
    CHECK(simulation_time() - begin < SOON);
    CHECK_INT(scene->num_running, 0);
}

/* What is complete with INNER, and not before. */
static cohort_future *combine(cohort_future *inner, uint64_t how)
{
    cohort_future *both[] = {inner, NULL}, *each[2];
    if (how == 0)
        return cohort_when_any(both, 1, NULL);
    both[1] = cohort_future_of_value(NULL);
    if (how == 1)
        return cohort_when_all(both, 2);
    if (how == 2)
        return cohort_when_some(both, 2, 2, NULL);
    if (cohort_when_each(both, 2, each, NULL))
        return cohort_future_of_value(NULL);
    cohort_future_unref(each[0]);
    return each[1];
}

static cohort_future *pile_up(const struct scene *scene, struct cohort__random *random)
{
    cohort_future *top = cohort_future_ref(scene->input);
    uint64_t how = cohort__random_below(random, 4);
    uint64_t num = cohort__random_below(random, 4) ? FEW_LEVELS : MANY_LEVELS;
    for (uint64_t i = cohort__random_below(random, num); i > 0; i--)
        top = combine(top, how);
    return top;
}

void tasks_play(uint32_t form)
{
    struct scene scene = {.input = NULL};
    struct cohort__random random;
    cohort_promise *promise;
    cohort_status status = cohort_promise_create(&promise, &scene.input);
    check_end(status);
    if (status)
        return;
    cohort__random_init(&random, form);
    cohort_future *top =
        scarce_has_failed() ? cohort_future_ref(scene.input) : pile_up(&scene, &random);
    play_scope(&scene, &random);
    cohort_promise_fulfil(promise, NULL);
    check_end(cohort_await(top));
    cohort_future_unref(scene.input);
}
