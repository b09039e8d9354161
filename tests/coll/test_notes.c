/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include <cohort/cohort.h>

#include "cohort/task.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/noticeboard.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Leaders that leave each other notes. On the first of two hosts localities 0 and 1 are a domain,
 * and 2 is one alone; 3 is the second host. Each has one site. In the first reduction the sites of
 * the large domain leave their note for site 2, the root, and its leader has the same place for its
 * next note, a window later, which is for the other site of its domain only. */

enum { NUM_SITES = 4, SLOW = 2, FIRST = 1, NEXT = FIRST + COHORT__WINDOW };
enum { SOON = 10000000 };
static const uint64_t never = UINT64_C(3600000000000);

/* The linker redirects all calls of cohort__noticeboard_place to __wrap_cohort__noticeboard_place.
 */
unsigned char *__real_cohort__noticeboard_place(struct cohort__noticeboard *board,
                                                struct cohort__notice_call *call, uint32_t number,
                                                size_t bytes,
                                                const struct cohort__notice_readers *readers);

/* The note for this site alone claims to have one byte less than it has. COHORT__NO_SITE: none. */
static _Atomic uint32_t gets_short = COHORT__NO_SITE;

unsigned char *__wrap_cohort__noticeboard_place(struct cohort__noticeboard *board,
                                                struct cohort__notice_call *call, uint32_t number,
                                                size_t bytes,
                                                const struct cohort__notice_readers *readers)
{
    bool is_short = readers->reader != COHORT__NO_SITE && readers->reader == gets_short;
    return __real_cohort__noticeboard_place(board, call, number, bytes - is_short, readers);
}

/* Those who wait for the result of the agreement of generation FIRST, which comes to them as note 1
 * or 2, do not see it before a site of their host has gone on to the next generation, and has told
 * them so. */
static atomic_bool is_held;

const struct cohort__note *__real_cohort__noticeboard_look(struct cohort__noticeboard *board,
                                                           const struct cohort__notice_call *call,
                                                           uint32_t number, uint32_t site);

const struct cohort__note *__wrap_cohort__noticeboard_look(struct cohort__noticeboard *board,
                                                           const struct cohort__notice_call *call,
                                                           uint32_t number, uint32_t site)
{
    bool is_result = call->generation == FIRST && (number == 1 || number == 2);
    return is_result && atomic_load(&is_held)
               ? NULL
               : __real_cohort__noticeboard_look(board, call, number, site);
}

void __real_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

void __wrap_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    bool is_near = comm->this_site <= SLOW && message->source_site <= SLOW;
    bool goes_on = message->kind == COHORT__KIND_DATA && message->generation == FIRST + 1;
    __real_cohort__endpoint_receive(comm, message);
    if (is_near && goes_on)
        atomic_store(&is_held, false);
}

enum turn_of_events { LEAVES, COMES_LATE, DIES };

struct job {
    enum turn_of_events event;
    struct cluster *cluster; /* set by run_sites */
    _Atomic uint32_t num_begun;
    atomic_bool is_slow_there; /* it has its communicator */
    const char *algorithms;
    bool is_checked;
    uint64_t num_messages; /* when it is counted */
    atomic_bool is_counted;
};

/* The leader of the large domain where site 2 is the root. */
static uint32_t leader_of(cohort_comm *comm)
{
    const struct cohort__machine *machine = comm->group->machine;
    uint32_t level = cohort__machine_find(machine, "domain");
    return cohort__machine_leader(machine, level, cohort__machine_subgroup(machine, level, 0), SLOW,
                                  cohort__group_turn(comm->group));
}

static void tell_all(struct cluster *cluster)
{
    for (uint32_t i = 0, order = 1; i < NUM_SITES; i++)
        if (i != SLOW) {
            cluster_tell_death(cluster, i, SLOW, 1, "was killed");
            cluster_tell_death(cluster, SLOW, i, order++, "is out of reach");
        }
}

static void begin(struct exercise *exercise, cohort_comm *comm, uint32_t root, uint64_t generation)
{
    struct exercise_options options = {.has_root = true, .root = root, .algorithm = "levels"};
    exercise_begin_with(exercise, comm, EXERCISE_REDUCE, 1, generation, options);
}

/* The other site of the leader's domain is the next root, and so its leader there. */
static cohort_status call_next(cohort_comm *comm, struct job *job)
{
    struct exercise exercise;
    begin(&exercise, comm, !leader_of(comm), NEXT);
    if (++job->num_begun == 2 && job->event == DIES) {
        YIELD_WHILE(!atomic_load(&job->is_slow_there)); /* else its creation fails */
        tell_all(job->cluster);
    }
    cohort_status status = exercise_end(&exercise);
    if (job->event == COMES_LATE) {
        CHECK_OK(status);
    } else if (job->event == LEAVES) {
        CHECK_FAILS(status, COHORT_ERR_GONE,
                    "site 2 (locality 2) has left the communicator after generation 0");
    } else {
        CHECK_FAILS(status, COHORT_ERR_PEER_DIED, "site 2 is lost: locality 2 was killed");
    }
    return COHORT_OK;
}

static cohort_status site(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    uint32_t this_site = cohort_comm_this_site(comm);
    struct exercise exercise;
    CHECK(comm->group->has_notes == (this_site <= SLOW));
    if (this_site == SLOW)
        atomic_store(&job->is_slow_there, true);
    if (this_site < SLOW) {
        begin(&exercise, comm, SLOW, FIRST);
        CHECK_OK(exercise_end(&exercise));
        return call_next(comm, job);
    }
    if (job->event != COMES_LATE)
        return COHORT_OK;
    YIELD_WHILE(job->num_begun < SLOW);
    return call_next(comm, job);
}

static void run_sites(struct job *job, cohort_status (*run)(cohort_comm *comm, void *arg),
                      uint64_t stall_after)
{
    const struct cohort__position positions[NUM_SITES] = {
        {0, 0, 0}, {0, 0, 0}, {0, 1, 0}, {1, 0, 0}};
    job->cluster = cluster_create(1, NUM_SITES, 0);
    cluster_locate(job->cluster, positions);
    CHECK_OK(cluster_sites(job->cluster, (struct sites){
                                             .name = "notes",
                                             .options = {.num_sites = NUM_SITES,
                                                         .stall_after = stall_after,
                                                         .algorithms = job->algorithms},
                                             .run = run,
                                             .arg = job,
                                         }));
    if (job->event == DIES)
        cluster_abandon(job->cluster);
    else
        cluster_destroy(job->cluster);
}

static void run(enum turn_of_events event, uint64_t stall_after)
{
    struct job job = {.event = event};
    run_sites(&job, site, stall_after);
}

/* Site 2 does not come to the first reduction, and leaves. The leader of the large domain is not
 * told, since it does not depend on site 2, and none for whom its next note is has yet to read the
 * first one. It has to ask site 2. */
TEST_CALL(leaves, run(LEAVES, SOON))

/* It comes to the next one, and so has left out the first. Nobody asks. */
TEST_CALL(comes_late, run(COMES_LATE, never))

/* Its locality dies. */
TEST_CALL(dies, run(DIES, never))

/* What another process has written is checked. The reader fails, and says who it was; those who do
 * not depend on it don't fail, and the next calls are right. */
static cohort_status read_short(cohort_comm *comm, void *arg)
{
    struct exercise exercise;
    uint32_t this_site = cohort_comm_this_site(comm);
    begin(&exercise, comm, SLOW, FIRST);
    cohort_status status = exercise_end(&exercise);
    if (this_site == SLOW) {
        CHECK_FAILS(status, COHORT_ERR_PROTOCOL,
                    leader_of(comm) ? "site 1 (locality 1) has left"
                                    : "site 0 (locality 0) has left");
        CHECK_CONTAINS(cohort_error_message(), "bytes, which can't be");
        gets_short = COHORT__NO_SITE;
    } else {
        CHECK_OK(status);
    }
    for (uint64_t generation = FIRST + 1; generation < 3 * NEXT; generation++) {
        begin(&exercise, comm, !leader_of(comm), generation);
        CHECK_OK(exercise_end(&exercise));
    }
    return COHORT_OK;
}

TEST(short)
{
    struct job job = {.event = COMES_LATE};
    gets_short = SLOW;
    run_sites(&job, read_short, never);
}

/* Checked calls ------------------------------------------------------------------------------- */

static const char rows[] = "all_reduce=levels,broadcast=levels,gather=levels,all_to_all=linear";

static cohort_status sum_up(cohort_comm *comm, uint64_t generation)
{
    struct exercise exercise;
    struct exercise_options options = {.checked = true};
    exercise_begin_with(&exercise, comm, EXERCISE_ALL_REDUCE, 1, generation, options);
    return exercise_end(&exercise);
}

/* The next call of COMM is checked, and has this root. */
static void check_next(cohort_comm *comm, uint32_t root)
{
    CHECK_OK(cohort_comm_next_call(
        comm, &(cohort_call_options){.check_asymmetric = true, .root_site = &root}));
}

/* A broadcast from the other host. Site 1 gives another type. */
static void disagree(cohort_comm *comm, uint64_t generation)
{
    uint32_t this_site = cohort_comm_this_site(comm), root = NUM_SITES - 1;
    cohort_datatype type = this_site == 1 ? COHORT_FLOAT : COHORT_INT32;
    int32_t block = 7;
    check_next(comm, root);
    CHECK_FAILS(cohort_await(this_site == root
                                 ? cohort_broadcast_to(comm, &block, 1, type, generation)
                                 : cohort_broadcast_from(comm, &block, 1, type, generation)),
                COHORT_ERR_BAD_PARAMETER, "from int32 to float, this site ");
    CHECK_CONTAINS(cohort_error_message(), this_site == 1 ? "site float" : "site int32");
    CHECK_INT(block, 7);
}

/* Each site says it in its own words, also if others have said so long before. No place is in the
 * way of later calls. */
static cohort_status disagree_often(cohort_comm *comm, void *arg)
{
    struct exercise exercise;
    disagree(comm, FIRST);
    exercise_begin(&exercise, comm, EXERCISE_ALL_TO_ALL, 1, FIRST + 1);
    CHECK_OK(exercise_end(&exercise));
    for (uint64_t generation = FIRST + 2; generation < 3 * NEXT; generation += 2) {
        disagree(comm, generation);
        CHECK_OK(sum_up(comm, generation + 1));
    }
    return COHORT_OK;
}

static void run_checked(struct job *job, cohort_status (*run)(cohort_comm *comm, void *arg))
{
    job->event = COMES_LATE;
    job->algorithms = rows;
    run_sites(job, run, never);
}

TEST(disagree)
{
    struct job job = {0};
    atomic_store(&is_held, true);
    run_checked(&job, disagree_often);
    CHECK(!atomic_load(&is_held));
}

/* Behind the agreement notes are compared in full: the leader of the large domain reads that of a
 * site with another count. Who only leaves one may be through. */
static cohort_status other_count(cohort_comm *comm, void *arg)
{
    uint32_t this_site = cohort_comm_this_site(comm), leader = leader_of(comm);
    size_t count = this_site < SLOW && this_site != leader ? 2 : 1;
    int32_t in[2] = {0}, out[2 * NUM_SITES];
    check_next(comm, SLOW);
    cohort_status status = cohort_await(
        this_site == SLOW ? cohort_gather_here(comm, in, out, count, COHORT_INT32, FIRST)
                          : cohort_gather_there(comm, in, count, COHORT_INT32, FIRST));
    bool must_know = this_site == leader || this_site == SLOW;
    CHECK(status == COHORT_ERR_MISMATCH || (!status && !must_know));
    if (status)
        CHECK_CONTAINS(cohort_error_message(), " of 2 int32, root 2, checked");
    return sum_up(comm, FIRST + 1);
}

TEST(other_count)
{
    struct job job = {0};
    run_checked(&job, other_count);
}

enum { NUM_CALLS = 5 };

/* It is counted while all sites have the communicator. */
static cohort_status count_calls(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct exercise exercise;
    for (uint64_t generation = 1; generation <= NUM_CALLS; generation++) {
        exercise_begin_with(&exercise, comm, EXERCISE_ALL_REDUCE, 1, generation,
                            (struct exercise_options){.checked = job->is_checked});
        CHECK_OK(exercise_end(&exercise));
    }
    if (++job->num_begun == NUM_SITES) {
        job->num_messages = cluster_num_sent(job->cluster);
        atomic_store(&job->is_counted, true);
    }
    YIELD_WHILE(!atomic_load(&job->is_counted));
    return COHORT_OK;
}

/* An agreement is one message to the other host, and one back. */
TEST(messages)
{
    struct job plain = {0}, checked = {.is_checked = true};
    run_checked(&plain, count_calls);
    run_checked(&checked, count_calls);
    CHECK_INT(checked.num_messages - plain.num_messages, 2 * NUM_CALLS);
}
