/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "tests/multi/member.h"
#include "tests/support/test.h"

/* A storm of collectives, in which a locality dies. It is killed from outside (mode "kill"), or
 * locality --victim ends by itself when its first site is in generation --generations:
 *   exit     exits with status 0
 *   abort    calls abort()
 * In mode "endure" no locality dies, and the storm ends after --generations generations.
 *
 * A locality prints "ready" before it makes its communicator, and then how far it has come. Each
 * site whose calls fail prints that, with the time at which the last of them ended. No site leaves
 * before the file $COHORT_TEST_RELEASE (a FIFO) has a byte for each locality. If an endpoint left,
 * that would be another error than a death. */

struct storm {
    const struct member *member;
    cohort_future *release;
    atomic_uint_fast64_t furthest;
};

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void reach(const struct member *member, uint64_t generation)
{
    if (generation <= 100 || generation % 100 == 0)
        member_say("generation %llu", (unsigned long long)generation);
    if (cohort_locality() != member->victim || generation != member->generations)
        return;
    if (strcmp(member->mode, "exit") == 0)
        _exit(0);
    if (strcmp(member->mode, "abort") == 0)
        abort();
}

/* Counts each generation once, for the site that comes first. */
static void advance(struct storm *storm, uint64_t generation)
{
    uint_fast64_t before = atomic_load(&storm->furthest);
    while (before < generation)
        if (atomic_compare_exchange_weak(&storm->furthest, &before, before + 1))
            reach(storm->member, ++before);
}

/* Ends all calls from ENDED to BEGUN. Returns the first error. */
static cohort_status end_all(struct exercise *exercises, uint64_t ended, uint64_t begun,
                             uint32_t in_flight, cohort_status status)
{
    char first[512];
    strncpy(first, cohort_error_message(), sizeof(first) - 1);
    first[sizeof(first) - 1] = '\0';
    while (ended < begun)
        (void)exercise_end(&exercises[ended++ % in_flight]); /* these may still have succeeded */
    return cohort_fail(status, "%s", first);
}

static void say_failed(uint32_t site, cohort_status status)
{
    member_say("site %u failed at %lld: %s %s", site, (long long)now_us(),
               cohort_status_name(status), cohort_error_message());
}

static cohort_status created(cohort_future *creation, void *arg)
{
    uint32_t site = *(uint32_t *)arg;
    cohort_status status = cohort_await(creation);
    if (status)
        say_failed(site, status);
    free(arg);
    return status;
}

static cohort_future *create(void *context, cohort_comm **ret_comm, const char *name,
                             const cohort_comm_options *options)
{
    uint32_t *site = test_malloc(sizeof(*site));
    *site = options->this_site;
    return cohort_then(cohort_comm_create(ret_comm, name, options), created, site);
}

static cohort_status storm_on(cohort_comm *comm, void *arg)
{
    struct storm *storm = arg;
    const struct member *member = storm->member;
    bool endless = strcmp(member->mode, "endure") != 0;
    struct exercise exercises[MEMBER_MAX_IN_FLIGHT];
    uint64_t begun = 0, ended = 0;
    cohort_status status = COHORT_OK;
    struct cohort__random random = cohort__random_seeded(member->seed);
    while (!status && (endless || ended < member->generations)) {
        while ((endless || begun < member->generations) && begun - ended < member->in_flight) {
            enum exercise_kind kind =
                (enum exercise_kind)cohort__random_below(&random, EXERCISE_NUM_KINDS);
            size_t count = (size_t)cohort__random_below(&random, member->count + 1);
            begun++;
            exercise_begin(&exercises[(begun - 1) % member->in_flight], comm, kind, count, begun);
        }
        status = exercise_end(&exercises[ended++ % member->in_flight]);
        if (!status)
            advance(storm, ended);
    }
    if (!status)
        return COHORT_OK;
    status = end_all(exercises, ended, begun, member->in_flight, status);
    say_failed(cohort_comm_this_site(comm), status);
    cohort_status released = cohort_await(cohort_future_ref(storm->release));
    return released ? released : status;
}

static void *await_release(void *arg)
{
    const char *path = getenv("COHORT_TEST_RELEASE");
    char byte;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        CHECK(read(fd, &byte, 1) == 1);
    cohort_promise_fulfil(arg, NULL);
    return NULL;
}

static cohort_status program(void *arg)
{
    struct storm storm = {.member = arg};
    cohort_promise *release;
    pthread_t waiter;
    CHECK_OK(cohort_promise_create(&release, &storm.release));
    CHECK(pthread_create(&waiter, NULL, await_release, release) == 0);
    member_say("ready");
    struct sites sites = member_sites(arg, "storm", storm_on, &storm);
    sites.create = create;
    cohort_status status = sites_run(&sites);
    CHECK_OK(cohort_await(storm.release));
    CHECK(pthread_join(waiter, NULL) == 0);
    return status;
}

int main(int argc, char **argv)
{
    struct member member;
    member_read(&member, argc, argv);
    return cohort_main(argc, argv, program, &member);
}
