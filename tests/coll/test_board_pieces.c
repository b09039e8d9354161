/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "collectives/comm/team.h"
#include "collectives/exec/attendance.h"
#include "collectives/exec/movement.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Broadcasts and scatters that are read in pieces, while the source writes. Here it stops after a
 * piece, until what the test wants has happened. Locality 0 has the source, locality 1 reads. Works
 * write, so that no lock is held meanwhile. There are more workers than a post has parts. */

enum { PIECE = COHORT__BOARD_PIECE, HELD_AT = 2 * PIECE };

enum { LEAST = 64 * 1024 + 1, MOST = 3 * COHORT__PART_BYTES, NUM_WORKERS = 7 };

static const uint64_t never = UINT64_C(3600000000000);

enum event {
    STEP_BY_STEP, /* the source goes on when a piece has been read */
    READER_FAILS, /* while a part is there, and the source has stopped */
    SOURCE_FAILS,
};

struct job {
    enum event event;
    uint32_t num_sites;
    size_t bytes; /* of a block */
    bool is_scatter;
};

static enum event event;
static struct cluster *cluster;
static uint32_t slot;               /* of locality 1 */
static _Atomic uint32_t num_called; /* by sites other than the source */
static _Atomic size_t num_read;
static atomic_bool has_failed, is_source_over;
static cohort_future *reader; /* the call of site 1 */
static unsigned char *reader_out;
static size_t reader_bytes;

/* The linker redirects all calls of cohort__team_mark to __wrap_cohort__team_mark. */
void __real_cohort__team_mark(const struct cohort__team *team, const struct cohort__round *round,
                              size_t begin, size_t end);

/* A reader that sleeps would be woken only when all is there. */
static void wait_awhile(void)
{
    cohort__boards_alert(cluster_process(cluster, 0), &slot, 1);
    sched_yield();
}

/* A reader that waits for the next piece fails at once, and nobody writes to its buffer later. */
static void fail_reader(void)
{
    while (atomic_load(&num_read) == 0)
        wait_awhile();
    cluster_tell_death(cluster, 1, 0, 1, "was killed");
    while (!cohort_future_ready(reader))
        wait_awhile();
    memset(reader_out, 0xee, reader_bytes);
}

static void fail_source(void)
{
    cluster_tell_death(cluster, 0, 1, 1, "is out of reach");
    while (!atomic_load(&has_failed))
        wait_awhile();
}

void __wrap_cohort__team_mark(const struct cohort__team *team, const struct cohort__round *round,
                              size_t begin, size_t end)
{
    __real_cohort__team_mark(team, round, begin, end);
    while (event == STEP_BY_STEP && atomic_load(&num_read) < end)
        wait_awhile();
    if (event == READER_FAILS && end == HELD_AT)
        fail_reader();
    if (event == SOURCE_FAILS && end == HELD_AT)
        fail_source();
}

void __real_cohort__movement_read(const struct cohort__movement *movement, size_t begin,
                                  size_t end);

void __wrap_cohort__movement_read(const struct cohort__movement *movement, size_t begin, size_t end)
{
    __real_cohort__movement_read(movement, begin, end);
    size_t before = atomic_load(&num_read);
    while (before < end && !atomic_compare_exchange_weak(&num_read, &before, end)) {
    }
}

bool __real_cohort__participant_fail(struct cohort__participant *participant);

bool __wrap_cohort__participant_fail(struct cohort__participant *participant)
{
    bool is_over = __real_cohort__participant_fail(participant);
    atomic_store(&has_failed, true);
    return is_over;
}

static unsigned char content(size_t at)
{
    return (unsigned char)(at * 7 + at / PIECE + 1);
}

static size_t bytes_in(const struct job *job)
{
    return job->bytes * (job->is_scatter ? job->num_sites : 1);
}

static cohort_future *call(cohort_comm *comm, const struct job *job, unsigned char *in,
                           unsigned char *out)
{
    size_t count = job->bytes;
    bool is_root = cohort_comm_this_site(comm) == 0;
    if (job->is_scatter)
        return is_root ? cohort_scatter_to(comm, in, out, count, COHORT_BYTE, 1)
                       : cohort_scatter_from(comm, out, count, COHORT_BYTE, 1);
    return is_root ? cohort_broadcast_to(comm, in, count, COHORT_BYTE, 1)
                   : cohort_broadcast_from(comm, out, count, COHORT_BYTE, 1);
}

static void check_output(const struct job *job, uint32_t site, const unsigned char *out)
{
    size_t first = job->is_scatter ? site * job->bytes : 0;
    for (size_t at = 0; at < job->bytes; at++)
        if (out[at] != content(first + at))
            FAIL("site %u: wrong at %zu", site, at);
}

/* It calls last: a work that it posts may stop the worker of another site. What it has posted a
 * part of is read as a whole, also if its own call fails. */
static void be_source(cohort_comm *comm, const struct job *job, unsigned char *in,
                      unsigned char *out)
{
    YIELD_WHILE(num_called < job->num_sites - 1);
    cohort_status status = cohort_await(call(comm, job, in, out));
    CHECK_INT(status, job->event == SOURCE_FAILS ? COHORT_ERR_PEER_DIED : COHORT_OK);
    atomic_store(&is_source_over, true);
}

static void be_other(cohort_comm *comm, const struct job *job, unsigned char *out)
{
    cohort_future *done = call(comm, job, NULL, out);
    if (cohort_comm_this_site(comm) == 1) {
        reader = done;
        reader_out = out;
        reader_bytes = job->bytes;
    }
    num_called++;
    if (job->event != READER_FAILS) {
        CHECK_OK(cohort_await(done));
        check_output(job, cohort_comm_this_site(comm), out);
        return;
    }
    YIELD_WHILE(!atomic_load(&is_source_over));
    CHECK_INT(cohort_await(done), COHORT_ERR_PEER_DIED);
    for (size_t at = 0; at < job->bytes; at++)
        CHECK_INT(out[at], 0xee);
}

static cohort_status site(cohort_comm *comm, void *arg)
{
    const struct job *job = arg;
    unsigned char *in = test_malloc(bytes_in(job)), *out = test_calloc(1, job->bytes);
    for (size_t at = 0; at < bytes_in(job); at++)
        in[at] = content(at);
    if (cohort_comm_this_site(comm) == 0)
        be_source(comm, job, in, out);
    else
        be_other(comm, job, out);
    free(in);
    free(out);
    return COHORT_OK;
}

static void run(struct job job)
{
    event = job.event;
    num_called = 0;
    num_read = 0;
    has_failed = is_source_over = false;
    cluster = cluster_create(1, 2, 0);
    CHECK(cohort__boards_slot_of(cluster_process(cluster, 0), 1, &slot));
    CHECK_OK(
        cluster_sites(cluster, (struct sites){
                                   .name = "pieces",
                                   .options = {.num_sites = job.num_sites,
                                               .stall_after = never,
                                               .algorithms = "broadcast=shared,scatter=shared"},
                                   .run = site,
                                   .arg = &job,
                               }));
    if (job.event == STEP_BY_STEP)
        cluster_destroy(cluster);
    else
        cluster_abandon(cluster);
}

/* With a last piece that is shorter, and with several readers in one locality. */
TEST(steps)
{
    static const size_t bytes[] = {LEAST, MOST - PIECE / 2, MOST};
    for (size_t i = 0; i < NUM_OF(bytes); i++)
        for (uint32_t num_sites = 2; num_sites <= 4; num_sites++)
            run((struct job){.num_sites = num_sites, .bytes = bytes[i]});
}

/* Blocks end within pieces. */
TEST(steps_of_scatter)
{
    run((struct job){.num_sites = 2, .bytes = LEAST, .is_scatter = true});
    run((struct job){.num_sites = 4, .bytes = LEAST / 2 + 100, .is_scatter = true});
}

TEST(reader_fails)
{
    run((struct job){.event = READER_FAILS, .num_sites = 2, .bytes = LEAST});
    run((struct job){.event = READER_FAILS, .num_sites = 2, .bytes = MOST});
}

TEST_CALL(source_fails, run((struct job){.event = SOURCE_FAILS, .num_sites = 2, .bytes = MOST}))

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, NUM_WORKERS);
}
