/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "collectives/comm/operation.h"
#include "collectives/comm/team.h"
#include "collectives/exec/attendance.h"
#include "collectives/exec/movement.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Collectives whose inputs are lent: the others read them where they are. As soon as a call has
 * ended, its site writes other things there. And calls that fail while somebody reads. */

enum { NUM_WORKERS = 7, MOST_SITES = 6, NUM_CALLS = 8, MOST_IN_FLIGHT = 3 };

static const uint64_t never = UINT64_C(3600000000000);

static struct cluster *cluster;

/* Who lends ---------------------------------------------------------------------------------- */

static _Atomic uint64_t num_lent;

const unsigned char *__real_cohort__boards_lent(struct cohort__process *process, uint32_t from,
                                                uint64_t offset, size_t bytes);

const unsigned char *__wrap_cohort__boards_lent(struct cohort__process *process, uint32_t from,
                                                uint64_t offset, size_t bytes)
{
    num_lent++;
    return __real_cohort__boards_lent(process, from, offset, bytes);
}

/* Any call ----------------------------------------------------------------------------------- */

enum kind {
    BROADCAST,
    SCATTER,
    GATHER,
    REDUCE,
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    SCAN,
    EXCLUSIVE_SCAN,
    SHIFT,
    NUM_KINDS,
};

struct call {
    enum kind kind;
    size_t count;
    uint32_t root;
    bool is_in_place; /* where it can be */
    bool lends[MOST_SITES];
};

struct job {
    uint64_t seed;
    uint32_t num_localities, num_sites;
    size_t most;             /* elements */
    const struct call *call; /* NULL: drawn */
};

/* A site's part in a call. */
struct part {
    struct call call;
    cohort_future *done;
    uint64_t *in, *out;
    bool is_in_place;
};

static uint32_t locality_of(const struct job *job, uint32_t site)
{
    return site % job->num_localities;
}

static struct call draw(const struct job *job, uint64_t generation)
{
    if (job->call)
        return *job->call;
    struct cohort__random random = cohort__random_seeded(job->seed * 1000 + generation);
    struct call call = {.kind = (enum kind)cohort__random_below(&random, NUM_KINDS),
                        .count = 1 + cohort__random_below(&random, job->most),
                        .root = (uint32_t)cohort__random_below(&random, job->num_sites),
                        .is_in_place = cohort__random_below(&random, 3) == 0};
    for (uint32_t site = 0; site < job->num_sites; site++)
        call.lends[site] = cohort__random_below(&random, 4) > 0;
    return call;
}

static uint64_t element(uint64_t generation, uint32_t from, size_t at)
{
    return generation * 1000003 + from * 10007 + at % 4099;
}

static bool is_rooted(enum kind kind)
{
    return kind <= REDUCE;
}

static bool has_source(enum kind kind)
{
    return kind <= SCATTER;
}

static bool is_in_blocks(enum kind kind)
{
    return kind == SCATTER || kind == ALL_TO_ALL || kind == REDUCE_SCATTER;
}

/* How many elements there are in the input, and in the output, of a site that has one. */
static size_t in_count(const struct job *job, const struct call *call)
{
    return call->count * (is_in_blocks(call->kind) ? job->num_sites : 1);
}

static size_t out_count(const struct job *job, const struct call *call)
{
    bool is_of_all = call->kind == GATHER || call->kind == ALL_GATHER || call->kind == ALL_TO_ALL;
    return call->count * (is_of_all ? job->num_sites : 1);
}

/* The right element of SITE's output. */
static uint64_t wanted(const struct job *job, const struct call *call, uint64_t generation,
                       uint32_t site, size_t at)
{
    uint32_t from = (uint32_t)(at / call->count), first = 0, end = job->num_sites;
    size_t in_block = at % call->count;
    uint64_t sum = 0;
    switch (call->kind) {
    case BROADCAST:
        return element(generation, call->root, at);
    case SCATTER:
        return element(generation, call->root, site * call->count + at);
    case GATHER:
    case ALL_GATHER:
        return element(generation, from, in_block);
    case ALL_TO_ALL:
        return element(generation, from, site * call->count + in_block);
    case SHIFT:
        return element(generation, (site + job->num_sites - 1) % job->num_sites, at);
    case SCAN:
        end = site + 1;
        break;
    case EXCLUSIVE_SCAN:
        end = site;
        break;
    case REDUCE_SCATTER:
        at += site * call->count;
        break;
    default:
        break;
    }
    for (uint32_t i = first; i < end; i++)
        sum += element(generation, i, at);
    return sum;
}

static bool has_output(const struct call *call, uint32_t site)
{
    switch (call->kind) {
    case BROADCAST:
        return site != call->root;
    case GATHER:
    case REDUCE:
        return site == call->root;
    case EXCLUSIVE_SCAN:
        return site > 0;
    default:
        return true;
    }
}

static cohort_future *start(cohort_comm *comm, const struct part *part, uint64_t generation)
{
    const struct call *call = &part->call;
    const bool is_root = cohort_comm_this_site(comm) == call->root;
    const cohort_datatype type = COHORT_UINT64;
    const void *in = part->is_in_place ? COHORT_IN_PLACE : part->in;
    uint64_t *out = part->out;
    size_t count = call->count;
    if (is_rooted(call->kind))
        CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.root_site = &call->root}));
    switch (call->kind) {
    case BROADCAST:
        return is_root ? cohort_broadcast_to(comm, in, count, type, generation)
                       : cohort_broadcast_from(comm, out, count, type, generation);
    case SCATTER:
        return is_root ? cohort_scatter_to(comm, in, out, count, type, generation)
                       : cohort_scatter_from(comm, out, count, type, generation);
    case GATHER:
        return is_root ? cohort_gather_here(comm, in, out, count, type, generation)
                       : cohort_gather_there(comm, in, count, type, generation);
    case REDUCE:
        return is_root ? cohort_reduce_here(comm, in, out, count, type, COHORT_SUM, generation)
                       : cohort_reduce_there(comm, in, count, type, COHORT_SUM, generation);
    case ALL_GATHER:
        return cohort_all_gather(comm, in, out, count, type, generation);
    case ALL_REDUCE:
        return cohort_all_reduce(comm, in, out, count, type, COHORT_SUM, generation);
    case ALL_TO_ALL:
        return cohort_all_to_all(comm, in, out, count, type, generation);
    case REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in, out, count, type, COHORT_SUM, generation);
    case SCAN:
        return cohort_scan(comm, in, out, count, type, COHORT_SUM, generation);
    case EXCLUSIVE_SCAN:
        return cohort_exclusive_scan(comm, in, out, count, type, COHORT_SUM, generation);
    default:
        return cohort_shift(comm, in, out, count, type, 1, generation);
    }
}

static bool can_be_in_place(const struct call *call, uint32_t site)
{
    return has_output(call, site) && call->kind != BROADCAST && call->kind != SCATTER &&
           call->kind != SHIFT;
}

static uint64_t *allocate(const struct job *job, const struct call *call, uint32_t site,
                          size_t count)
{
    size_t bytes = count * sizeof(uint64_t);
    return call->lends[site] ? cluster_memory_alloc(cluster, locality_of(job, site), bytes)
                             : malloc(bytes);
}

static void give_back(const struct job *job, const struct call *call, uint32_t site,
                      uint64_t *memory)
{
    if (call->lends[site])
        cluster_memory_free(cluster, locality_of(job, site), memory);
    else
        free(memory);
}

static void begin(const struct job *job, cohort_comm *comm, struct part *part, uint64_t generation)
{
    const uint32_t site = cohort_comm_this_site(comm);
    struct call *call = &part->call;
    *call = draw(job, generation);
    const size_t num_in = in_count(job, call), num_out = out_count(job, call);
    const bool has_input = !has_source(call->kind) || site == call->root;
    const bool is_gathered = call->kind == GATHER || call->kind == ALL_GATHER;
    part->is_in_place = call->is_in_place && can_be_in_place(call, site);
    part->out = allocate(job, call, site, num_in > num_out ? num_in : num_out);
    part->in = allocate(job, call, site, num_in);
    uint64_t *input = part->in;
    if (part->is_in_place)
        input = part->out + (is_gathered ? site * call->count : 0);
    for (size_t at = 0; has_input && at < num_in; at++)
        input[at] = element(generation, site, at);
    part->done = start(comm, part, generation);
}

/* What was an input may be overwritten, and given back. */
static void end(const struct job *job, uint32_t site, struct part *part, uint64_t generation)
{
    const struct call *call = &part->call;
    cohort_status status = cohort_await(part->done);
    if (status)
        FAIL("%s", cohort_error_message());
    memset(part->in, 0xee, in_count(job, call) * sizeof(uint64_t));
    for (size_t at = 0; has_output(call, site) && at < out_count(job, call); at++)
        if (part->out[at] != wanted(job, call, generation, site, at))
            FAIL("seed %llu, generation %llu, kind %d, site %u at %zu",
                 (unsigned long long)job->seed, (unsigned long long)generation, (int)call->kind,
                 site, at);
    memset(part->out, 0xee, out_count(job, call) * sizeof(uint64_t));
    give_back(job, call, site, part->in);
    give_back(job, call, site, part->out);
}

static cohort_status play(cohort_comm *comm, void *arg)
{
    const struct job *job = arg;
    struct part parts[MOST_IN_FLIGHT];
    const uint32_t site = cohort_comm_this_site(comm);
    const uint64_t num_in_flight = 1 + job->seed % MOST_IN_FLIGHT;
    for (uint64_t generation = 1; generation <= NUM_CALLS + num_in_flight; generation++) {
        struct part *part = &parts[generation % num_in_flight];
        if (generation > num_in_flight)
            end(job, site, part, generation - num_in_flight);
        if (generation <= NUM_CALLS)
            begin(job, comm, part, generation);
    }
    return COHORT_OK;
}

static void run_sites(struct job *job, const char *algorithms,
                      cohort_status (*run)(cohort_comm *comm, void *arg), uint64_t stall_after)
{
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = "lent",
                                        .options = {.num_sites = job->num_sites,
                                                    .stall_after = stall_after,
                                                    .algorithms = algorithms},
                                        .run = run,
                                        .arg = job,
                                    }));
}

static const char all_shared[] =
    "broadcast=shared,scatter=shared,gather=shared,reduce=shared,all_gather=shared,"
    "all_reduce=shared,all_to_all=shared,reduce_scatter=shared,scan=shared,"
    "exclusive_scan=shared,shift=shared";

/* Lengths on both sides of the least that is lent, and beyond what a post can have. */
TEST(random)
{
    static const size_t most[] = {COHORT__BOARD_LENT / 4, 5 * COHORT__BOARD_LENT / 8,
                                  COHORT__BOARD_POST / 8};
    num_lent = 0;
    for (uint64_t seed = 1; seed <= test_rounds(60, 12); seed++) {
        struct job job = {.seed = seed,
                          .num_localities = 2 + seed / 3 % 3,
                          .most = most[seed % 8 == 0 ? 2 : seed % 2]};
        job.num_sites = job.num_localities + (uint32_t)(seed / 2 % 3); /* some have two */
        cluster = cluster_create(seed, job.num_localities, 0);
        run_sites(&job, all_shared, play, never);
        cluster_destroy(cluster);
    }
    CHECK(num_lent > test_rounds(200, 36));
}

/* One call in which something happens while it is read --------------------------------------- */

/* Locality 0 lends, locality 1 reads. Locality 2 is there only to die, for one of them. */
enum event {
    NOTHING_ELSE,
    READER_FAILS,
    LENDER_FAILS, /* and its memory is other memory by then */
};

struct moment {
    struct job job;
    struct call call;
    enum event event;
};

static const struct moment *_Atomic moment; /* NULL: not now */
static cohort_future *_Atomic lender;       /* a reference */
static uint64_t *lent;
static size_t lent_bytes;
static atomic_bool is_read, has_failed, is_over;
static _Atomic uint32_t num_called;

cohort_status __real_cohort__movement_perform(const struct cohort__movement *movement,
                                              uint64_t part);
void __real_cohort__movement_fold(const struct cohort__movement *movement, unsigned char *to,
                                  size_t place, size_t bytes);
bool __real_cohort__participant_fail(struct cohort__participant *participant);

/* Who sleeps looks. */
static void wait_awhile(void)
{
    const uint32_t slots[] = {0, 1, 2};
    cohort__boards_alert(cluster_process(cluster, 0), slots, moment->job.num_localities);
    sched_yield();
}

static void happen(void)
{
    while (!atomic_load(&lender))
        sched_yield();
    switch (moment->event) {
    case NOTHING_ELSE:
        for (int i = 0; i < 100; i++)
            wait_awhile();
        break;
    case READER_FAILS:
        cluster_tell_death(cluster, 1, 2, 1, "was killed");
        while (!atomic_load(&has_failed))
            wait_awhile();
        break;
    case LENDER_FAILS:
        cluster_tell_death(cluster, 0, 2, 1, "was killed");
        while (!cohort_future_ready(lender)) /* though it is still read */
            wait_awhile();
        memset(lent, 0xee, lent_bytes);
        atomic_store(&is_over, true);
        return;
    }
    CHECK(!cohort_future_ready(lender));
}

/* By a work of locality 1: after its first part. */
cohort_status __wrap_cohort__movement_perform(const struct cohort__movement *movement,
                                              uint64_t part)
{
    cohort_status status = __real_cohort__movement_perform(movement, part);
    if (moment && movement->out[1] && !atomic_exchange(&is_read, true))
        happen();
    return status;
}

void __wrap_cohort__movement_fold(const struct cohort__movement *movement, unsigned char *to,
                                  size_t place, size_t bytes)
{
    __real_cohort__movement_fold(movement, to, place, bytes);
    if (moment && movement->out[1] && !atomic_exchange(&is_read, true))
        happen();
}

bool __wrap_cohort__participant_fail(struct cohort__participant *participant)
{
    bool is_over = __real_cohort__participant_fail(participant);
    atomic_store(&has_failed, true);
    return is_over;
}

static cohort_status expected(uint32_t site)
{
    return moment->event == LENDER_FAILS || site == 1 ? COHORT_ERR_PEER_DIED : COHORT_OK;
}

/* In a job all hear of a death. Here who is not to hear of it at first is told when all that
 * matters has happened. */
static void await_failure(uint32_t site, cohort_future *done)
{
    if (site == 0 && moment->event == LENDER_FAILS) {
        YIELD_WHILE(!cohort_future_ready(done) || !atomic_load(&is_over));
        for (int i = 0; i < 1000; i++) /* a reader that does not look again would end by then */
            cohort_yield();
        cluster_tell_death(cluster, 1, 2, 1, "was killed");
        cluster_tell_death(cluster, 2, 0, 1, "was killed");
    }
    cohort_status status = cohort_await(done);
    if (site == 2 && status == COHORT_OK)
        return; /* it has read before */
    CHECK_INT(status, expected(site));
}

/* The lender calls last: a work that it posts may stop the worker of another site. */
static cohort_status call_in_order(cohort_comm *comm, void *arg)
{
    struct part part;
    const struct job *job = arg;
    const uint32_t site = cohort_comm_this_site(comm);
    YIELD_WHILE(site == 0 && num_called + 1 < job->num_sites);
    begin(job, comm, &part, 1);
    num_called++;
    if (site == 0) {
        lent = part.in;
        lent_bytes = in_count(job, &part.call) * sizeof(uint64_t);
        atomic_store(&lender, cohort_future_ref(part.done));
    }
    if (moment->event == NOTHING_ELSE) {
        end(job, site, &part, 1);
        return COHORT_OK;
    }
    await_failure(site, part.done);
    give_back(job, &part.call, site, part.in);
    give_back(job, &part.call, site, part.out);
    return COHORT_OK;
}

static void run_moment(struct moment what)
{
    what.job.num_sites = what.job.num_localities;
    what.job.call = &what.call;
    moment = &what;
    is_read = has_failed = is_over = false;
    lender = NULL;
    num_called = 0;
    cluster = cluster_create(1, what.job.num_localities, 0);
    run_sites(&what.job, all_shared, call_in_order, never);
    CHECK(is_read);
    moment = NULL;
    cohort_future_unref(lender);
    if (what.event == NOTHING_ELSE)
        cluster_destroy(cluster);
    else
        cluster_abandon(cluster);
}

static void run_all(enum event event, uint32_t num_localities)
{
    static const enum kind kinds[] = {BROADCAST, SCATTER, ALL_GATHER, ALL_REDUCE, ALL_TO_ALL};
    for (size_t i = 0; i < NUM_OF(kinds); i++)
        run_moment((struct moment){
            .job.num_localities = num_localities,
            .event = event,
            .call = {.kind = kinds[i], .count = COHORT__BOARD_LENT, .lends = {true}}});
}

TEST(lender_waits)
{
    run_all(NOTHING_ELSE, 2);
    run_all(NOTHING_ELSE, 3);
}

TEST_CALL(reader_fails, run_all(READER_FAILS, 3))
TEST_CALL(lender_fails, run_all(LENDER_FAILS, 3))

/* Who is through ---------------------------------------------------------------------------- */

/* Locality 1 has read what locality 0 lends, and its site is through with that call. But a call
 * before it waits for locality 2, so that it has not passed it. That is nothing to fail for,
 * however often it says so. */

static atomic_bool is_through;
static _Atomic uint32_t num_asked; /* answers of locality 2 since */

void __real_cohort__participant_answered(const struct cohort__participant *participant,
                                         uint32_t site, enum cohort__answer answer);

void __wrap_cohort__participant_answered(const struct cohort__participant *participant,
                                         uint32_t site, enum cohort__answer answer)
{
    if (site == 1 && answer == COHORT__ANSWER_COMPLETED)
        is_through = true;
    num_asked += is_through && site == 2 && participant->operation->generation == 2;
    __real_cohort__participant_answered(participant, site, answer);
}

static cohort_status hold_back(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct part part;
    uint64_t one = 1, sum = 0;
    const uint32_t site = cohort_comm_this_site(comm);
    YIELD_WHILE(site == 2 && num_asked < 3);
    cohort_future *earlier = cohort_all_reduce(comm, &one, &sum, 1, COHORT_UINT64, COHORT_SUM, 1);
    begin(job, comm, &part, 2);
    end(job, site, &part, 2);
    CHECK_OK(cohort_await(earlier));
    CHECK_INT(sum, 3);
    return COHORT_OK;
}

TEST(held_back)
{
    const struct call call = {
        .kind = BROADCAST, .count = COHORT__BOARD_LENT, .lends = {true, true, true}};
    struct job job = {.num_localities = 3, .num_sites = 3, .call = &call};
    is_through = false;
    num_asked = 0;
    cluster = cluster_create(1, 3, 0);
    run_sites(&job, all_shared, hold_back, 20000000);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, NUM_WORKERS);
}
