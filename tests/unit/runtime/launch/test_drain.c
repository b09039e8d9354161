/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/drain.h"

#include <stdio.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static enum cohort__drain_next answer(struct cohort__drain *drain, uint64_t sent, uint64_t received,
                                      bool busy)
{
    return cohort__drain_answer(drain, drain->round, sent, received, busy);
}

TEST(two_equal_rounds)
{
    struct cohort__drain drain;
    cohort__drain_init(&drain, 2);
    CHECK_INT((long long)cohort__drain_begin(&drain), 1);
    CHECK_INT(answer(&drain, 5, 3, false), COHORT__DRAIN_WAIT);
    CHECK_INT(answer(&drain, 1, 3, false), COHORT__DRAIN_AGAIN); /* equal, but only once */
    CHECK_INT((long long)cohort__drain_begin(&drain), 2);
    CHECK_INT(answer(&drain, 5, 3, false), COHORT__DRAIN_WAIT);
    CHECK_INT(answer(&drain, 1, 3, false), COHORT__DRAIN_DONE);
}

TEST(not_done)
{
    struct cohort__drain drain;
    cohort__drain_init(&drain, 1);
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 2, 2, false), COHORT__DRAIN_AGAIN);
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 3, 3, false), COHORT__DRAIN_AGAIN); /* the counts have changed */
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 3, 3, true), COHORT__DRAIN_AGAIN); /* busy */
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 3, 3, false), COHORT__DRAIN_AGAIN); /* was busy the last time */
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 4, 3, false), COHORT__DRAIN_AGAIN);
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 4, 3, false), COHORT__DRAIN_AGAIN); /* one message is under way */
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 4, 4, false), COHORT__DRAIN_AGAIN);
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 4, 4, false), COHORT__DRAIN_DONE);
}

TEST(stray_answers)
{
    struct cohort__drain drain;
    cohort__drain_init(&drain, 1);
    cohort__drain_begin(&drain);
    CHECK_INT(cohort__drain_answer(&drain, 7, 9, 9, true), COHORT__DRAIN_WAIT);
    CHECK_INT(answer(&drain, 0, 0, false), COHORT__DRAIN_AGAIN);
    CHECK_INT(answer(&drain, 0, 0, false), COHORT__DRAIN_WAIT); /* answered twice in one round */
    cohort__drain_begin(&drain);
    CHECK_INT(answer(&drain, 0, 0, false), COHORT__DRAIN_DONE);
}

TEST(pauses_grow)
{
    struct cohort__drain drain;
    uint64_t last = 0;
    cohort__drain_init(&drain, 1);
    for (int i = 0; i < 100; i++) {
        cohort__drain_begin(&drain);
        uint64_t pause = cohort__drain_pause_ns(&drain);
        CHECK(pause >= last && pause <= 100000000);
        last = pause;
    }
    CHECK(last > 0);
}

/* A random job: messages are sent, travel and arrive, each arrival may send more, and rounds are
 * asked at random moments. The drain must never end while a message is under way. */
enum { SIZE = 5 };

struct job {
    uint64_t sent[SIZE], received[SIZE];
    uint64_t num_travelling[SIZE];
    unsigned num_to_send;
};

static void step(struct job *job, struct cohort__random *random)
{
    uint32_t rank = (uint32_t)cohort__random_below(random, SIZE);
    if (job->num_travelling[rank] == 0)
        return;
    job->num_travelling[rank]--;
    job->received[rank]++;
    for (uint64_t i = cohort__random_below(random, 3); i > 0 && job->num_to_send > 0; i--) {
        job->num_to_send--;
        job->sent[rank]++;
        job->num_travelling[cohort__random_below(random, SIZE)]++;
    }
}

static void run_job(struct cohort__random *random)
{
    struct job job = {.num_to_send = 40};
    struct cohort__drain drain;
    enum cohort__drain_next next = COHORT__DRAIN_AGAIN;
    job.sent[0] = 3;
    job.num_travelling[1] = 3;
    cohort__drain_init(&drain, SIZE);
    for (int rounds = 0; next != COHORT__DRAIN_DONE; rounds++) {
        bool asked[SIZE] = {false};
        CHECK(rounds < 10000);
        cohort__drain_begin(&drain);
        for (uint32_t left = SIZE; left > 0;) {
            uint32_t rank = (uint32_t)cohort__random_below(random, SIZE);
            step(&job, random);
            if (asked[rank])
                continue;
            asked[rank] = true;
            left--;
            next = answer(&drain, job.sent[rank], job.received[rank], false);
        }
    }
    for (int rank = 0; rank < SIZE; rank++)
        CHECK_INT((long long)job.num_travelling[rank], 0);
}

TEST(random_jobs)
{
    uint64_t seed = 4;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    struct cohort__random random = cohort__random_seeded(seed);
    for (int i = 0; i < 5000; i++)
        run_job(&random);
}
