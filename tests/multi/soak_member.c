/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/random.h"
#include "tests/multi/member.h"
#include "tests/support/test.h"

/* All that programs do again and again, right and wrong, for as many seconds as --count says: what
 * the library keeps must not grow meanwhile. In each round the same numbers are drawn at all
 * sites. Site 0 prints "begun" and how many rounds are over, and says at the end of each whether
 * there is another one. */

enum { MAX_BYTES = 100000, NUM_SLEEPERS = 4, NUM_INDICES = 500, RARELY = 50 };

/* The round of one site. */
struct soak {
    cohort_comm *comm; /* of all sites */
    uint32_t site, num_sites;
    uint64_t generation; /* that was called last */
    struct cohort__random random;
};

static uint64_t draw(struct soak *soak, uint64_t bound)
{
    return cohort__random_below(&soak->random, bound);
}

static void exercise(struct soak *soak, cohort_comm *comm, uint64_t generation)
{
    struct exercise exercise;
    enum exercise_kind kind = (enum exercise_kind)draw(soak, EXERCISE_NUM_KINDS);
    exercise_begin(&exercise, comm, kind, (size_t)draw(soak, draw(soak, 8) ? 64 : 4096),
                   generation);
    CHECK_OK(exercise_end(&exercise));
}

/* Right calls ------------------------------------------------------------------------------- */

static void collectives(struct soak *soak)
{
    for (uint64_t num = 1 + draw(soak, 5); num > 0; num--)
        exercise(soak, soak->comm, ++soak->generation);
}

static void use_up(struct soak *soak, cohort_comm *comm)
{
    for (uint64_t generation = 1; generation <= 3; generation++)
        exercise(soak, comm, generation);
    cohort_comm_unref(comm);
}

static void communicators(struct soak *soak)
{
    static const char name[] = "soak again";
    cohort_comm_options options = {.num_sites = soak->num_sites, .this_site = soak->site};
    cohort_comm *created, *half, *same;
    CHECK_OK(cohort_await(cohort_comm_create(&created, name, &options)));
    use_up(soak, created);
    CHECK_OK(cohort_await(
        cohort_comm_split(&half, soak->comm, (int32_t)(soak->site % 2), 0, ++soak->generation)));
    CHECK_OK(cohort_await(cohort_comm_dup(&same, soak->comm, ++soak->generation)));
    use_up(soak, half);
    use_up(soak, same);
}

/* A message of BYTES around the ring. */
static void channels(struct soak *soak)
{
    uint32_t next = (soak->site + 1) % soak->num_sites;
    uint32_t previous = (soak->site + soak->num_sites - 1) % soak->num_sites;
    size_t bytes = (size_t)draw(soak, draw(soak, 4) ? 200 : MAX_BYTES);
    uint64_t tag = draw(soak, 1000);
    unsigned char *sent = malloc(bytes + 1);
    cohort_object got;
    CHECK(sent);
    memset(sent, (int)soak->site, bytes);
    cohort_future *set = cohort_channel_set(soak->comm, next, tag, sent, bytes);
    CHECK_OK(cohort_await(cohort_channel_get_object(soak->comm, previous, tag, &got)));
    CHECK_OK(cohort_await(set));
    CHECK(got.bytes == bytes && (bytes == 0 || *(unsigned char *)got.data == previous));
    cohort_object_fini(&got);
    free(sent);
}

static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    void *data = test_malloc(in->bytes + 1);
    memcpy(data, in->data, in->bytes);
    *ret_out = (cohort_object){data, in->bytes};
    return COHORT_OK;
}

static void remote_calls(struct soak *soak)
{
    size_t bytes = 1 + (size_t)draw(soak, draw(soak, 4) ? 200 : MAX_BYTES);
    uint32_t locality = (uint32_t)draw(soak, cohort_num_localities());
    cohort_object in = {calloc(1, bytes), bytes}, out;
    CHECK(in.data);
    CHECK_OK(cohort_await(cohort_async_at(locality, "echo", &in, &out)));
    CHECK(out.bytes == bytes);
    cohort_object_fini(&out);
    free(in.data);
}

static cohort_status count_index(size_t index, void *arg)
{
    return index % 100 == 0 ? cohort_await(cohort_sleep(1)) : COHORT_OK;
}

static cohort_status sleep_long(void *arg)
{
    return cohort_await(cohort_sleep(UINT64_C(3600000000000)));
}

static void tasks(struct soak *soak)
{
    cohort_scope *scope;
    CHECK_OK(cohort_await(cohort_parallel_for(0, NUM_INDICES, NULL, count_index, NULL)));
    CHECK_OK(cohort_scope_create(NULL, &scope));
    for (int i = 0; i < NUM_SLEEPERS; i++)
        CHECK_OK(cohort_scope_async(scope, sleep_long, NULL));
    cohort_yield();
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
}

/* Calls that fail --------------------------------------------------------------------------- */

static void wrong_call(struct soak *soak)
{
    bool is_wrong = soak->site == draw(soak, soak->num_sites);
    int64_t in[2] = {0}, out[2];
    CHECK_INT(cohort_await(cohort_all_reduce(soak->comm, in, out, is_wrong ? 2 : 1, COHORT_INT64,
                                             COHORT_SUM, ++soak->generation)),
              COHORT_ERR_MISMATCH);
}

/* One site takes it back instead of calling it, and goes on, which others may hear of first; or it
 * calls, too, so that it may be late. */
static void cancel(struct soak *soak)
{
    bool cancels = soak->site == draw(soak, soak->num_sites), calls_too = draw(soak, 2);
    uint64_t generation = ++soak->generation;
    if (cancels)
        CHECK_OK(cohort_comm_cancel(soak->comm, generation));
    if (cancels && !calls_too)
        return;
    cohort_status status = cohort_await(cohort_barrier(soak->comm, generation));
    CHECK(status == COHORT_ERR_CANCELLED ||
          status == (calls_too ? COHORT_OK : COHORT_ERR_MOVED_PAST));
}

/* One site never calls; the next one wakes it when the others have waited long enough. */
static void deadline(struct soak *soak)
{
    uint32_t absent = (uint32_t)draw(soak, soak->num_sites);
    cohort_call_options options = {.deadline = 1000000};
    uint64_t generation = ++soak->generation;
    char byte;
    if (soak->site == absent) {
        CHECK_OK(cohort_await(cohort_channel_get(soak->comm, (absent + 1) % soak->num_sites,
                                                 UINT64_MAX, &byte, 1, NULL)));
        return;
    }
    CHECK_OK(cohort_comm_next_call(soak->comm, &options));
    CHECK_INT(cohort_await(cohort_barrier(soak->comm, generation)), COHORT_ERR_TIMEOUT);
    if (soak->site == (absent + 1) % soak->num_sites)
        CHECK_OK(cohort_await(cohort_channel_set(soak->comm, absent, UINT64_MAX, NULL, 0)));
}

/* A name with a site too few: nobody waits for longer than this. */
static void creation(struct soak *soak)
{
    cohort_comm *comm;
    cohort_comm_options options = {
        .num_sites = soak->num_sites + 1, .this_site = soak->site, .create_deadline = 1000000};
    CHECK_INT(cohort_await(cohort_comm_create(&comm, "soak in vain", &options)),
              COHORT_ERR_TIMEOUT);
}

/* ------------------------------------------------------------------------------------------- */

/* Those that wait for a time are rare, so that many other rounds fit into an hour. */
static void play(struct soak *soak)
{
    static void (*const usual[])(struct soak *) = {collectives,  communicators, channels, tasks,
                                                   remote_calls, wrong_call,    cancel};
    static void (*const slow[])(struct soak *) = {deadline, creation};
    if (draw(soak, RARELY) == 0)
        slow[draw(soak, NUM_OF(slow))](soak);
    else
        usual[draw(soak, NUM_OF(usual))](soak);
}

/* On a busy machine the time may be over before the caches have filled. */
enum { LEAST_ROUNDS = 1000 };

static bool goes_on(struct soak *soak, uint64_t rounds, int64_t end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t is_over = now.tv_sec >= end && rounds >= LEAST_ROUNDS;
    uint64_t generation = ++soak->generation;
    cohort_future *told =
        soak->site == 0 ? cohort_broadcast_to(soak->comm, &is_over, 1, COHORT_INT64, generation)
                        : cohort_broadcast_from(soak->comm, &is_over, 1, COHORT_INT64, generation);
    CHECK_OK(cohort_await(told));
    return !is_over;
}

static cohort_status soak_on(cohort_comm *comm, void *arg)
{
    const struct member *member = arg;
    struct soak soak = {
        .comm = comm,
        .site = cohort_comm_this_site(comm),
        .num_sites = cohort_comm_num_sites(comm),
    };
    struct timespec now;
    uint64_t rounds = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    soak.random = cohort__random_seeded(member->seed);
    if (soak.site == 0)
        member_say("begun");
    do {
        play(&soak);
        if (++rounds % 100 == 0 && soak.site == 0)
            member_say("rounds %llu", (unsigned long long)rounds);
    } while (goes_on(&soak, rounds, now.tv_sec + (int64_t)member->count));
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    return member_run(arg, "soak", soak_on, arg);
}

int main(int argc, char **argv)
{
    struct member member;
    member_read(&member, argc, argv);
    CHECK_OK(cohort_remote_register("echo", echo, NULL));
    return cohort_main(argc, argv, program, &member);
}
