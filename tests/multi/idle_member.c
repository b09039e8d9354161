/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <unistd.h>

#include "tests/multi/member.h"
#include "tests/support/test.h"

/* Every site has sent to every other one. Then all sites except 0 wait in a broadcast. Site 0 does
 * not call the broadcast before its locality's standard input ends. Each site prints "idle" when it
 * has come so far. */

static void *await_end_of_input(void *promise)
{
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof(bytes)) > 0)
        ;
    cohort_promise_fulfil(promise, NULL);
    return NULL;
}

static cohort_status end_of_input(void)
{
    cohort_promise *promise;
    cohort_future *ended;
    pthread_t reader;
    CHECK_OK(cohort_promise_create(&promise, &ended));
    CHECK(pthread_create(&reader, NULL, await_end_of_input, promise) == 0);
    cohort_status status = cohort_await(ended);
    CHECK(pthread_join(reader, NULL) == 0);
    return status;
}

static cohort_status idle(cohort_comm *comm, void *arg)
{
    static const enum exercise_kind kinds[] = {EXERCISE_ALL_TO_ALL, EXERCISE_ALL_REDUCE,
                                               EXERCISE_BARRIER, EXERCISE_BROADCAST};
    const struct member *member = arg;
    const uint64_t last = NUM_OF(kinds);
    struct exercise exercise;
    cohort_status status = COHORT_OK;
    for (uint64_t generation = 1; !status && generation <= last; generation++) {
        if (generation == last) {
            member_say("idle");
            if (cohort_comm_this_site(comm) == member->options.root_site)
                status = end_of_input();
        }
        exercise_begin_with(&exercise, comm, kinds[generation - 1], member->count, generation,
                            (struct exercise_options){0});
        status = exercise_end(&exercise);
    }
    return status;
}

static cohort_status program(void *arg)
{
    return member_run(arg, "idle", idle, arg);
}

int main(int argc, char **argv)
{
    struct member member;
    member_read(&member, argc, argv);
    return cohort_main(argc, argv, program, &member);
}
