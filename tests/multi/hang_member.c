/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>
#include <cohort/uv.h>

#include "tests/support/new.h"
#include "tests/support/test.h"

/* Programs that hang, each in its own way, until they are killed. Functions that tests look for are
 * not inlined, and nothing of them is a tail call. */

#define NOT_INLINE __attribute__((noinline))

/* The site of this locality, of a communicator with as many sites as there are localities, and
 * MORE. */
NOT_INLINE static cohort_comm *join(const char *name, uint32_t site, uint32_t more)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = cohort_num_localities() + more,
                                         .this_site = site};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, name, &options)));
    return comm;
}

NOT_INLINE static void meet(cohort_comm *comm, uint64_t generation)
{
    CHECK_OK(cohort_await(cohort_barrier(comm, generation)));
}

NOT_INLINE static void take_block(cohort_comm *comm, uint32_t site)
{
    char block[8];
    size_t bytes;
    CHECK_OK(cohort_await(cohort_channel_get(comm, site, 1, block, sizeof(block), &bytes)));
}

/* Locality 1 misspells the name. */
static cohort_status name(void *arg)
{
    join(cohort_locality() == 1 ? "tranpose" : "transpose", cohort_locality(), 0);
    return COHORT_OK;
}

/* There is one site too many. */
static cohort_status count(void *arg)
{
    join("grid", cohort_locality(), 1);
    return COHORT_OK;
}

/* One task is to be two sites of one communicator, and waits for the first to be made before it
 * joins as the second. */
static cohort_status turns(void *arg)
{
    cohort_comm *comm = NULL;
    for (uint32_t site = 0; site < 2; site++) {
        const cohort_comm_options options = {.num_sites = 2, .this_site = site};
        CHECK_OK(cohort_await(cohort_comm_create(&comm, "pair", &options)));
    }
    return COHORT_OK;
}

/* The program of locality 0 returns, and the others wait for its site. Its endpoint stays. */
static cohort_status returns(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    meet(comm, 1);
    if (cohort_locality() != 0)
        meet(comm, 2);
    return COHORT_OK;
}

NOT_INLINE static void compute(void)
{
    for (;;)
        __asm__ volatile("" ::: "memory");
}

/* Locality 0 computes, and the others wait for its site. */
static cohort_status straggler(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    meet(comm, 1);
    if (cohort_locality() == 0)
        compute();
    meet(comm, 2);
    return COHORT_OK;
}

/* Locality 0 waits for a block that nobody sends, and the others for its site. */
static cohort_status channel(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    meet(comm, 1);
    if (cohort_locality() == 0)
        take_block(comm, 1);
    meet(comm, 2);
    return COHORT_OK;
}

/* Each site gives the other a block that does not come without a get, before it gets one. */
NOT_INLINE static void give_block(cohort_comm *comm, uint32_t site)
{
    static char block[1 << 20];
    CHECK_OK(cohort_await(cohort_channel_set(comm, site, 7, block, sizeof(block))));
}

static cohort_status sets_first(void *arg)
{
    const uint32_t other = 1 - cohort_locality();
    cohort_comm *comm = join("pair", cohort_locality(), 0);
    give_block(comm, other);
    take_block(comm, other);
    return COHORT_OK;
}

/* Each site exchanges a block with those beside it, all at once. Site 0 has forgotten to send. */
NOT_INLINE static void exchange_halos(cohort_comm *comm)
{
    static char out[2], in[2];
    const uint32_t here = cohort_locality(), num = cohort_num_localities();
    cohort_future *futures[4];
    size_t count = 0, bytes;
    if (here > 0) {
        futures[count++] = cohort_channel_set(comm, here - 1, 3, &out[0], 1);
        futures[count++] = cohort_channel_get(comm, here - 1, 3, &in[0], 1, &bytes);
    }
    if (here + 1 < num) {
        futures[count++] = cohort_channel_get(comm, here + 1, 3, &in[1], 1, &bytes);
        if (here > 0)
            futures[count++] = cohort_channel_set(comm, here + 1, 3, &out[1], 1);
    }
    CHECK_OK(cohort_await(cohort_when_all(futures, count)));
}

static cohort_status forgets(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    exchange_halos(comm);
    meet(comm, 1);
    return COHORT_OK;
}

/* The sites of cohort_sites wait for each other's block. */
static cohort_status ring_site(cohort_comm *comm, void *arg)
{
    take_block(comm, (cohort_comm_this_site(comm) + 1) % cohort_comm_num_sites(comm));
    return COHORT_OK;
}

NOT_INLINE static void await_sites(const cohort_sites_options *options)
{
    CHECK_OK(cohort_await(cohort_sites("ring", options, ring_site, NULL)));
}

static cohort_status sites(void *arg)
{
    const cohort_sites_options options = {.sites_per_locality = 2};
    await_sites(&options);
    return COHORT_OK;
}

/* A call of a range waits for a block of the other locality, where it is the same. */
static cohort_status take_in_range(size_t index, void *arg)
{
    if (index == 1)
        take_block(arg, 1 - cohort_locality());
    return COHORT_OK;
}

NOT_INLINE static void await_range(cohort_comm *comm)
{
    CHECK_OK(cohort_await(cohort_parallel_for(0, 3, NULL, take_in_range, comm)));
}

static cohort_status ranges(void *arg)
{
    await_range(join("pair", cohort_locality(), 0));
    return COHORT_OK;
}

/* Combinators in combinators, of blocks that don't come, since each site is busy with the same. */
static cohort_status consume(cohort_future *future, void *arg)
{
    return cohort_await(future);
}

static cohort_status add_up(void *const *values, size_t count, void **ret_value, void *arg)
{
    return COHORT_OK;
}

NOT_INLINE static void await_nested(cohort_comm *comm, uint32_t other)
{
    static char blocks[4];
    size_t bytes[4], first;
    cohort_future *gets[4];
    for (uint64_t i = 0; i < 4; i++)
        gets[i] = cohort_channel_get(comm, other, 10 + i, &blocks[i], 1, &bytes[i]);
    gets[2] = cohort_when_any(&gets[2], 2, &first);
    gets[1] = cohort_dataflow(&gets[1], 1, add_up, NULL);
    CHECK_OK(cohort_await(cohort_then(cohort_when_all(gets, 3), consume, NULL)));
}

static cohort_status nested(void *arg)
{
    await_nested(join("pair", cohort_locality(), 0), 1 - cohort_locality());
    return COHORT_OK;
}

/* The program of locality 1 fails at once, and the other one waits for its site. */
static cohort_status fails(void *arg)
{
    if (cohort_locality() == 1)
        return cohort_fail(COHORT_ERR_FAILED, "cannot read \xc3\xa9tat.dat");
    join("halo", cohort_locality(), 0);
    return COHORT_OK;
}

/* A task of locality 0 never returns, and the program there awaits it. */
static cohort_status spin(void *arg)
{
    compute();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status never_returns(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    meet(comm, 1);
    if (cohort_locality() == 0)
        CHECK_OK(cohort_await(cohort_async(spin, NULL)));
    meet(comm, 2);
    return COHORT_OK;
}

/* Each site has a block for the next one, but site 1 does not send the one that site 2 expects.
 * That is an error, which is told. */
static cohort_status exchange(void *arg)
{
    const uint32_t me = cohort_locality(), num = cohort_num_localities();
    const cohort_comm_options options = {
        .num_sites = num, .this_site = me, .stall_after = 50000000};
    cohort_comm *comm = NULL;
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "ring", &options)));
    int32_t in = (int32_t)me, out = 0;
    const cohort_neighbour to = {.site = (me + 1) % num, .count = 1};
    const cohort_neighbour from = {.site = (me + num - 1) % num, .count = 1};
    return cohort_await(
        cohort_exchange(comm, &in, &to, me == 1 ? 0 : 1, &out, &from, 1, COHORT_INT32, 1));
}

/* Two localities meet in two communicators, in opposite orders. */
static cohort_status opposite(void *arg)
{
    const uint32_t me = cohort_locality();
    cohort_comm *rows = join("rows", me, 0), *columns = join("columns", me, 0);
    meet(me == 0 ? rows : columns, 1);
    meet(me == 0 ? columns : rows, 1);
    return COHORT_OK;
}

/* The same, and locality 2 comes to neither. */
static cohort_status opposite_of_three(void *arg)
{
    const uint32_t me = cohort_locality();
    cohort_comm *rows = join("rows", me, 0), *columns = join("columns", me, 0);
    if (me == 2)
        compute();
    meet(me == 0 ? rows : columns, 1);
    meet(me == 0 ? columns : rows, 1);
    return COHORT_OK;
}

NOT_INLINE static void receive(cohort_comm *comm)
{
    int32_t value;
    CHECK_OK(cohort_await(cohort_broadcast_from(comm, &value, 1, COHORT_INT32, 1)));
}

static cohort_status set_a_timer(uv_loop_t *loop, void *arg)
{
    return COHORT_OK;
}

/* For all that anybody knows there is a timer now that will call for one of the sites. */
static cohort_status opposite_of_guests(void *arg)
{
    CHECK_OK(cohort_await(cohort_run_on_loop(set_a_timer, NULL)));
    return opposite(arg);
}

/* Locality 1 needs 0 only, which computes, and then calls what the others wait for. */
static cohort_status broadcast(void *arg)
{
    const uint32_t me = cohort_locality();
    cohort_comm *rows = join("rows", me, 0), *columns = join("columns", me, 0);
    if (me == 0)
        compute();
    if (me == 1)
        receive(rows);
    meet(columns, 1);
    return COHORT_OK;
}

static cohort_comm *both[2];

NOT_INLINE static cohort_status meet_as_0(void *arg)
{
    meet(both[0], 1);
    return COHORT_OK;
}

static cohort_status meet_late_as_1(void *arg)
{
    compute();
    meet(both[1], 1);
    return COHORT_OK;
}

NOT_INLINE static void await_first(cohort_future *first)
{
    CHECK_OK(cohort_await(first));
}

/* The main task has made both sites, for two others, and waits for these. The second one takes its
 * time. It is no deadlock. */
static cohort_status made_for_others(void *arg)
{
    cohort_future *made_both[2];
    for (uint32_t site = 0; site < 2; site++) {
        const cohort_comm_options options = {.num_sites = 2, .this_site = site};
        made_both[site] = cohort_comm_create(&both[site], "both", &options);
    }
    CHECK_OK(cohort_await(cohort_when_all(made_both, 2)));
    cohort_future *first = cohort_async(meet_as_0, NULL);
    cohort_future *second = cohort_async(meet_late_as_1, NULL);
    await_first(first);
    return cohort_await(second);
}

static cohort_comm *halo;

static cohort_status meet_there(const cohort_object *in, cohort_object *ret_out, void *context)
{
    meet(halo, 2);
    return COHORT_OK;
}

NOT_INLINE static void call_meet_there(void)
{
    CHECK_OK(cohort_await(cohort_async_at(1, "meet_there", NULL, NULL)));
}

/* Locality 0 lets 1 meet it, and waits for that before it comes itself. Before, both meet once, so
 * that 1 has its communicator when it is called. */
static cohort_status remote_circle(void *arg)
{
    halo = join("halo", cohort_locality(), 0);
    meet(halo, 1);
    if (cohort_locality() == 0) {
        call_meet_there();
        meet(halo, 2);
    }
    return COHORT_OK;
}

static cohort_future *never;

/* Two tasks make the two sites, and end. Two others, which may have their addresses, are to call.
 */
static cohort_comm *made[2];

NOT_INLINE static cohort_status make(void *arg)
{
    cohort_comm **site = arg;
    *site = join("pair", (uint32_t)(site - made), 1);
    return COHORT_OK;
}

NOT_INLINE static cohort_status meet_first(void *arg)
{
    meet(made[0], 1);
    return COHORT_OK;
}

NOT_INLINE static cohort_status meet_never(void *arg)
{
    CHECK_OK(cohort_await(never));
    return COHORT_OK;
}

static cohort_status passed_on(void *arg)
{
    cohort_future *first = cohort_async(make, &made[0]), *second = cohort_async(make, &made[1]);
    CHECK_OK(cohort_await(first));
    CHECK_OK(cohort_await(second));
    new_promise(&never);
    first = cohort_async(meet_first, NULL);
    second = cohort_async(meet_never, NULL);
    CHECK_OK(cohort_await(first));
    CHECK_OK(cohort_await(second));
    return COHORT_OK;
}

NOT_INLINE static void agree(cohort_comm *comm)
{
    cohort_agreed agreed;
    CHECK_OK(cohort_await(cohort_comm_agree(comm, 1, &agreed)));
}

NOT_INLINE static void shrink(cohort_comm *comm)
{
    cohort_comm *rest;
    CHECK_OK(cohort_await(cohort_comm_shrink(&rest, comm)));
}

/* Locality 1 meets where the others agree. */
static cohort_status agrees(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    if (cohort_locality() == 1)
        meet(comm, 1);
    else
        agree(comm);
    return COHORT_OK;
}

NOT_INLINE static void wait_for_never(void)
{
    new_promise(&never);
    CHECK_OK(cohort_await(cohort_future_ref(never)));
}

/* A call fails, since locality 1 dies or revokes the communicator. The last one does not come to
 * the shrink. */
static cohort_status shrink_without_last(cohort_comm *comm)
{
    const cohort_status status = cohort_await(cohort_barrier(comm, 1));
    CHECK(status == COHORT_ERR_PEER_DIED || status == COHORT_ERR_REVOKED);
    if (cohort_locality() == cohort_num_localities() - 1)
        wait_for_never();
    else
        shrink(comm);
    return COHORT_OK;
}

static cohort_status shrinks(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    if (cohort_locality() == 1)
        raise(SIGKILL);
    return shrink_without_last(comm);
}

static cohort_status revokes(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    if (cohort_locality() == 0) {
        CHECK_OK(cohort_await(cohort_comm_revoke(comm)));
        shrink(comm);
    }
    return shrink_without_last(comm);
}

static cohort_status read_for_ever(void *arg)
{
    int pipes[2];
    char byte;
    CHECK_INT(pipe(pipes), 0);
    (void)!read(pipes[0], &byte, 1);
    return arg ? COHORT_OK : COHORT_ERR_STATE;
}

NOT_INLINE static void read_in_thread(void)
{
    CHECK_OK(cohort_blocking(read_for_ever, NULL));
}

static cohort_status never_ends(void *arg)
{
    wait_for_never();
    return COHORT_OK;
}

NOT_INLINE static void await_scope(void)
{
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, never_ends, NULL));
    CHECK_OK(cohort_scope_await(scope));
}

static cohort_status solve(const cohort_object *in, cohort_object *ret_out, void *context)
{
    wait_for_never();
    return COHORT_OK;
}

NOT_INLINE static void call_solve(void)
{
    CHECK_OK(cohort_await(cohort_async_at(1, "solve", NULL, NULL)));
}

NOT_INLINE static cohort_status call_other(void *arg)
{
    CHECK_OK(cohort_await(cohort_async_at(1, "solve/other", NULL, NULL)));
    return COHORT_OK;
}

/* Locality 0 awaits two remote tasks of locality 1, neither of which ends. */
static cohort_status remote(void *arg)
{
    if (cohort_locality() == 0) {
        cohort_future_unref(cohort_async(call_other, NULL));
        call_solve();
    }
    return COHORT_OK;
}

/* The same of one task, whose worker, the only one, computes as soon as it waits. */
static cohort_status remote_busy(void *arg)
{
    if (cohort_locality() == 0) {
        cohort_future_unref(cohort_async(call_other, NULL));
        cohort_yield();
        return cohort_await(cohort_async(spin, NULL));
    }
    return COHORT_OK;
}

/* Waits that are not those of an await that stands in the program. */
static cohort_status places(void *arg)
{
    if (cohort_locality() == 0)
        read_in_thread();
    else
        await_scope();
    return COHORT_OK;
}

NOT_INLINE static cohort_status await_condition(void *arg)
{
    cohort_condition *condition;
    cohort_mutex *mutex;
    CHECK_OK(cohort_mutex_create(&mutex));
    CHECK_OK(cohort_condition_create(&condition));
    CHECK_OK(cohort_mutex_lock(mutex, UINT64_MAX));
    return cohort_condition_wait(condition, mutex, UINT64_MAX) + 1;
}

NOT_INLINE static cohort_status await_semaphore(void *arg)
{
    cohort_semaphore *semaphore;
    CHECK_OK(cohort_semaphore_create(0, &semaphore));
    return cohort_semaphore_acquire(semaphore, UINT64_MAX) + 1;
}

NOT_INLINE static cohort_status await_latch(void *arg)
{
    cohort_latch *latch;
    CHECK_OK(cohort_latch_create(1, &latch));
    return cohort_latch_wait(latch, UINT64_MAX) + 1;
}

NOT_INLINE static cohort_status await_local_barrier(void *arg)
{
    cohort_local_barrier *barrier;
    CHECK_OK(cohort_local_barrier_create(2, &barrier));
    return cohort_local_barrier_wait(barrier, UINT64_MAX, NULL) + 1;
}

NOT_INLINE static cohort_status await_queue(void *arg)
{
    cohort_queue *queue;
    void *item;
    CHECK_OK(cohort_queue_create(1, &queue));
    return cohort_queue_get(queue, &item, UINT64_MAX) + 1;
}

static cohort_status objects(void *arg)
{
    cohort_future_unref(cohort_async(await_condition, NULL));
    cohort_future_unref(cohort_async(await_semaphore, NULL));
    cohort_future_unref(cohort_async(await_latch, NULL));
    cohort_future_unref(cohort_async(await_local_barrier, NULL));
    return await_queue(arg);
}

/* The program of locality 0 returns without joining, and the others wait, for PATIENCE. */
static cohort_status join_without_0(uint64_t patience)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality(),
                                         .create_deadline = patience};
    return cohort_locality() == 0 ? COHORT_OK
                                  : cohort_await(cohort_comm_create(&comm, "halo", &options));
}

static cohort_status late(void *arg)
{
    return join_without_0(500000000);
}

static cohort_status never_joins(void *arg)
{
    return join_without_0(0);
}

/* Locality 0 sleeps, on purpose, and the others wait for its site. */
static cohort_status sleeps(void *arg)
{
    cohort_comm *comm = join("halo", cohort_locality(), 0);
    meet(comm, 1);
    if (cohort_locality() == 0)
        CHECK_OK(cohort_await(cohort_sleep(UINT64_C(1000000000) * 3600)));
    meet(comm, 2);
    return COHORT_OK;
}

NOT_INLINE static cohort_status wait_for_ever(void *arg)
{
    CHECK_OK(cohort_await(cohort_future_ref(never)));
    return COHORT_OK;
}

NOT_INLINE static cohort_status lock_second(void *arg)
{
    CHECK_OK(cohort_mutex_lock(arg, UINT64_MAX));
    return COHORT_OK;
}

/* So many tasks that a look at them does not fit into one message. */
static cohort_status many(void *arg)
{
    enum { NUM = 17000 };
    cohort_future *last = NULL;
    new_promise(&never);
    for (int i = 0; i < NUM - 1; i++)
        cohort_future_unref(cohort_async(wait_for_ever, NULL));
    last = cohort_async(wait_for_ever, NULL);
    CHECK_OK(cohort_await(last));
    return COHORT_OK;
}

/* --- a program alone --- */

/* A thousand tasks wait for a promise; the main task holds a mutex, which another one wants, and
 * waits for that one. */
static cohort_status alone(void *arg)
{
    enum { NUM = 1000 };
    cohort_mutex *mutex;
    new_promise(&never);
    CHECK_OK(cohort_mutex_create(&mutex));
    CHECK_OK(cohort_mutex_lock(mutex, UINT64_MAX));
    for (int i = 0; i < NUM; i++)
        cohort_future_unref(cohort_async(wait_for_ever, NULL));
    CHECK_OK(cohort_await(cohort_async(lock_second, mutex)));
    return COHORT_OK;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static cohort_promise *let_go;

static cohort_status take_held(void *arg)
{
    pthread_mutex_lock(&held);
    cohort_promise_fulfil(let_go, NULL);
    pthread_mutex_unlock(&held);
    return COHORT_OK;
}

NOT_INLINE static void wait_with_held(cohort_future *future)
{
    CHECK_OK(cohort_await(future));
}

/* A task waits for one that wants a mutex of pthreads which it holds itself. */
static cohort_status holds(void *arg)
{
    cohort_future *future;
    let_go = new_promise(&future);
    pthread_mutex_lock(&held);
    cohort_future_unref(cohort_async(take_held, NULL));
    wait_with_held(future);
    pthread_mutex_unlock(&held);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        cohort_task_function *program;
    } programs[] = {
        {"name", name},
        {"count", count},
        {"turns", turns},
        {"returns", returns},
        {"straggler", straggler},
        {"channel", channel},
        {"exchange", exchange},
        {"sets_first", sets_first},
        {"forgets", forgets},
        {"sites", sites},
        {"nested", nested},
        {"ranges", ranges},
        {"fails", fails},
        {"never_returns", never_returns},
        {"opposite", opposite},
        {"sleeps", sleeps},
        {"many", many},
        {"late", late},
        {"never_joins", never_joins},
        {"alone", alone},
        {"holds", holds},
        {"passed_on", passed_on},
        {"agrees", agrees},
        {"shrinks", shrinks},
        {"revokes", revokes},
        {"places", places},
        {"remote", remote},
        {"remote_busy", remote_busy},
        {"opposite_of_three", opposite_of_three},
        {"broadcast", broadcast},
        {"made_for_others", made_for_others},
        {"opposite_of_guests", opposite_of_guests},
        {"remote_circle", remote_circle},
        {"objects", objects},
    };
    CHECK_OK(cohort_remote_register("solve", solve, NULL));
    CHECK_OK(cohort_remote_register("solve/other", solve, NULL));
    CHECK_OK(cohort_remote_register("meet_there", meet_there, NULL));
    for (size_t i = 0; argc == 2 && i < NUM_OF(programs); i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            return cohort_main(argc, argv, programs[i].program, NULL);
    fprintf(stderr, "hang_member: which program?\n");
    return 2;
}
