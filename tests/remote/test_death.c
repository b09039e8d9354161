/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/remote/private.h"
#include "tests/support/cluster.h"

/* A locality dies during calls. Those that it has not answered end with COHORT_ERR_PEER_DIED, and
 * say who it was. All others go on. */

static struct cluster *cluster;
static cohort_promise *gate_promise;
static cohort_future *gate;
static atomic_uint num_run;

static cohort_future *call(uint32_t from, uint32_t to, const char *name, const cohort_object *in,
                           cohort_object *ret_out)
{
    return cohort__async_at_from(cluster_process(cluster, from), to, name, in, ret_out);
}

static void open_gate(void)
{
    cohort_promise_fulfil(gate_promise, NULL);
}

/* Nothing runs in LOCALITY for the others, and nothing waits there to run. */
static bool is_idle(uint32_t locality)
{
    struct cohort__remote_served *all =
        &cohort__remote_tasks_of(cluster_process(cluster, locality))->served;
    pthread_mutex_lock(&all->lock);
    bool is_idle = all->num_admitted == 0 && all->num_waiting == 0;
    pthread_mutex_unlock(&all->lock);
    return is_idle;
}

/* The gate is open. VICTIM, which is dead, learns that all others are, so that what it runs and
 * calls ends. */
static void end(uint32_t num_localities, uint32_t victim)
{
    for (uint32_t i = 0; i < num_localities; i++)
        if (i != victim)
            cluster_tell_death(cluster, victim, i, 1, "is out of reach");
    for (uint32_t i = 0; i < num_localities; i++)
        YIELD_WHILE(!is_idle(i));
    cohort_future_unref(gate);
    cluster_abandon(cluster);
}

static void create(uint64_t seed, uint32_t num_localities)
{
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    cluster = cluster_create(seed, num_localities, 0);
    atomic_store(&num_run, 0);
    gate_promise = new_promise(&gate);
}

static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    atomic_fetch_add(&num_run, 1);
    *ret_out = *in;
    return COHORT_OK;
}

static cohort_status wait_at_gate(const cohort_object *in, cohort_object *ret_out, void *context)
{
    cohort_status status = echo(in, ret_out, context);
    return status ? status : cohort_await(cohort_future_ref(gate));
}

static void die(uint32_t locality, uint32_t told)
{
    cluster_tell_death(cluster, told, locality, 1, "was killed by signal 9"); /* knows no better */
    cluster_kill(cluster, locality);
}

static void check_died(cohort_future *future, const cohort_object *out)
{
    CHECK_INT(cohort_await(future), COHORT_ERR_PEER_DIED);
    CHECK(!out->data && out->bytes == 0);
    CHECK_CONTAINS(cohort_error_message(), "at locality 1: locality 1 was killed by signal 9");
}

/* There is room for so many calls with so much IN. */
enum {
    LARGE_BYTES = 1 << 20,
    NUM_LARGE = COHORT__REMOTE_ADMITTED_BYTES_MAX / LARGE_BYTES,
};
static unsigned char large[LARGE_BYTES];

/* Calls that run, that wait there, that wait here, and that come too late. */
TEST(callee)
{
    enum { NUM = 500 };
    static cohort_future *futures[NUM];
    static cohort_object outs[NUM];
    create(1, 3);
    for (uint32_t i = 0; i < NUM; i++)
        futures[i] = call(0, 1, "wait_at_gate", &(cohort_object){large, sizeof(large)}, &outs[i]);
    cohort_future *other = call(0, 2, "wait_at_gate", NULL, NULL);
    YIELD_WHILE(atomic_load(&num_run) < NUM_LARGE / 2);
    die(1, 0);
    for (uint32_t i = 0; i < NUM; i++)
        check_died(futures[i], &outs[i]);
    check_died(call(0, 1, "echo", NULL, &outs[0]), &outs[0]);
    check_died(call(0, 1, "not registered", NULL, &outs[0]), &outs[0]);
    CHECK(!cohort_future_ready(other));
    open_gate();
    CHECK_OK(cohort_await(other));
    CHECK_OK(cohort_await(call(0, 2, "echo", NULL, NULL)));
    end(3, 1);
}

/* The caller dies: what runs goes on to its end, what waits does not begin. */
TEST(caller)
{
    enum { NUM = NUM_LARGE + 200 };
    static cohort_future *futures[NUM];
    create(2, 2);
    struct cohort__remote_served *all =
        &cohort__remote_tasks_of(cluster_process(cluster, 1))->served;
    for (uint32_t i = 0; i < NUM; i++)
        futures[i] = call(0, 1, "wait_at_gate", &(cohort_object){large, sizeof(large)}, NULL);
    YIELD_WHILE(atomic_load(&num_run) < NUM_LARGE);
    die(0, 1);
    pthread_mutex_lock(&all->lock);
    CHECK_INT(all->num_waiting, 0);
    CHECK(all->num_admitted >= NUM_LARGE);
    pthread_mutex_unlock(&all->lock);
    open_gate();
    YIELD_WHILE(!is_idle(1));
    cluster_tell_death(cluster, 0, 1, 1, "was killed by signal 9"); /* so that its calls end */
    for (uint32_t i = 0; i < NUM; i++)
        CHECK_INT(cohort_await(futures[i]), COHORT_ERR_PEER_DIED);
    end(2, 0);
}

/* At any time, while calls of all sizes go to the victim and to another one. */
static void run_any_time(uint64_t seed)
{
    enum { NUM = 200, BYTES = 100000 };
    static unsigned char data[BYTES];
    static cohort_future *futures[NUM];
    static cohort_object outs[NUM];
    struct cohort__random random = cohort__random_seeded(seed);
    create(seed, 3);
    open_gate();
    uint64_t yields = cohort__random_below(&random, 300);
    uint64_t dies_at = cohort__random_below(&random, NUM);
    for (uint32_t i = 0; i < NUM; i++) {
        bool is_long = seed % 2 || cohort__random_below(&random, 4) == 0;
        size_t limit = is_long ? BYTES : 300;
        cohort_object in = {data, cohort__random_below(&random, limit)};
        futures[i] = call(0, 1 + i % 2, "wait_at_gate", &in, &outs[i]);
        if (i != dies_at)
            continue;
        for (uint64_t n = 0; n < yields; n++)
            cohort_yield();
        die(1, 0);
    }
    for (uint32_t i = 0; i < NUM; i++) {
        cohort_status status = cohort_await(futures[i]);
        bool is_lost = i % 2 == 0 && status != COHORT_OK;
        if (is_lost)
            CHECK_CONTAINS(cohort_error_message(), "at locality 1: locality 1 was killed");
        CHECK_INT(status, is_lost ? COHORT_ERR_PEER_DIED : COHORT_OK);
        cohort_object_fini(&outs[i]);
    }
    end(3, 1);
}

TEST(any_time)
{
    for (uint64_t seed = 1; seed <= test_rounds(200, 30); seed++)
        run_any_time(seed);
}

/* Of a call to all: the first that is missing is named, and nothing hangs. */
TEST(everywhere)
{
    enum { NUM = 7 };
    for (uint32_t victim = 1; victim < NUM; victim++) {
        cohort_object outs[NUM];
        create(victim, NUM);
        cohort_future *future =
            cohort__async_everywhere_from(cluster_process(cluster, 0), "wait_at_gate", NULL, outs);
        YIELD_WHILE(atomic_load(&num_run) < NUM);
        for (uint32_t i = 0; i < NUM; i++)
            if (i != victim)
                cluster_tell_death(cluster, i, victim, 1, "was killed by signal 9");
        cluster_kill(cluster, victim);
        open_gate();
        CHECK_INT(cohort_await(future), COHORT_ERR_PEER_DIED);
        char want[100];
        snprintf(want, sizeof(want), "at locality %u: locality %u was killed by signal 9", victim,
                 victim);
        CHECK_CONTAINS(cohort_error_message(), want);
        for (uint32_t i = 0; i < NUM; i++)
            CHECK(!outs[i].data && outs[i].bytes == 0);
        end(NUM, victim);
    }
}

/* When a locality is said to be dead, what it was to fetch is withdrawn, before its calls end. So
 * the answer that there was nothing to fetch may come in between. */
static atomic_bool is_answer_first;

bool __real_cohort__remote_calls_end_some(struct cohort__remote_tasks *tasks,
                                          struct cohort__remote_peer *peer);

bool __wrap_cohort__remote_calls_end_some(struct cohort__remote_tasks *tasks,
                                          struct cohort__remote_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    const bool has_died = peer->over == COHORT_ERR_PEER_DIED;
    pthread_mutex_unlock(&peer->lock);
    if (has_died && atomic_exchange(&is_answer_first, false)) {
        struct cohort__error error = {0};
        struct cohort__packer packer = {0};
        cohort__error_set(&error, COHORT_ERR_PROTOCOL, "they are not there any more");
        cohort__remote_error_pack(&packer, &error);
        CHECK_OK(packer.status);
        struct cohort__arrival arrival = {.process = tasks->process,
                                          .envelope = {.kind = COHORT__KIND_ERROR,
                                                       .source_locality = peer->rank,
                                                       .generation = peer->last_number,
                                                       .payload_bytes = (uint32_t)packer.bytes},
                                          .data = packer.data};
        cohort__remote_result(tasks, &arrival);
        cohort__packer_fini(&packer);
        cohort__error_fini(&error);
    }
    return __real_cohort__remote_calls_end_some(tasks, peer);
}

/* Of a call, and of one that is for locality 2 as well. */
TEST(withdrawn)
{
    cohort_object outs[3];
    for (int is_for_all = 0; is_for_all <= 1; is_for_all++) {
        create(1, 3);
        cohort_future *future = is_for_all
                                    ? cohort__async_everywhere_from(cluster_process(cluster, 0),
                                                                    "wait_at_gate", NULL, outs)
                                    : call(0, 1, "wait_at_gate", NULL, &outs[0]);
        YIELD_WHILE(atomic_load(&num_run) < (is_for_all ? 3 : 1));
        atomic_store(&is_answer_first, true);
        die(1, 0);
        CHECK(!atomic_load(&is_answer_first));
        open_gate();
        check_died(future, &outs[0]);
        end(3, 1);
    }
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("echo", echo, NULL));
    CHECK_OK(cohort_remote_register("wait_at_gate", wait_at_gate, NULL));
    return cluster_test(argc, argv, 1);
}
