/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/support/exercise.h"
#include "tests/support/program.h"
#include "tests/support/sites.h"

/* The only site of a communicator. A call that is like the one before is over when it has copied
 * its block, and is no operation, unless somebody would miss one. */

enum { REPEATS = 3, LONGEST = 513 }; /* elements; of more than 512 the bytes are too many */

static void run(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    CHECK_OK(sites_run(&(struct sites){.name = name, .options = {.num_sites = 1}, .run = site}));
}

/* Two calls after the first one are known. Generations are left out between them. */
TEST_SITE(each_kind, run("each-kind", site))
{
    static const size_t counts[] = {1, 2, 512, LONGEST};
    uint64_t generation = 0;
    for (int kind = 0; kind < EXERCISE_NUM_KINDS; kind++)
        for (size_t i = 0; i < NUM_OF(counts); i++)
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                struct exercise exercise;
                exercise_begin_with(&exercise, comm, (enum exercise_kind)kind, counts[i],
                                    generation += 1 + (uint64_t)repeat,
                                    (struct exercise_options){0});
                CHECK_OK(exercise_end(&exercise));
            }
}

/* Of elements of each size OUT is written as far as its block goes, and no further. */
TEST_SITE(each_size, run("each-size", site))
{
    static const cohort_datatype types[] = {COHORT_INT8, COHORT_INT16, COHORT_FLOAT, COHORT_DOUBLE,
                                            COHORT_DOUBLE_COMPLEX};
    uint64_t generation = 0;
    for (size_t i = 0; i < NUM_OF(types); i++)
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            unsigned char in[64], out[64], wanted[64];
            memset(in, repeat + 1, sizeof(in));
            memset(out, 99, sizeof(out));
            memset(wanted, 99, sizeof(wanted));
            memset(wanted, repeat + 1, 3 * cohort_datatype_size(types[i]));
            CHECK_OK(cohort_await(cohort_all_gather(comm, in, out, 3, types[i], ++generation)));
            CHECK(memcmp(out, wanted, sizeof(out)) == 0);
        }
}

static cohort_future *all_reduce(cohort_comm *comm, double *in, double *out, uint64_t generation)
{
    return cohort_all_reduce(comm, in, out, 1, COHORT_DOUBLE, COHORT_SUM, generation);
}

/* Nothing is left of a known call: the endpoint is idle, and no generation can be used again. */
TEST_SITE(leaves_nothing, run("leaves-nothing", site))
{
    double in = 5, out = 0;
    for (uint64_t generation = 1; generation <= 200; generation++) {
        cohort_future *future = all_reduce(comm, &in, &out, generation);
        CHECK(cohort_future_ready(future) && out == 5);
        CHECK_OK(cohort_await(future));
        in = 5;
        out = 0;
    }
    CHECK_OK(cohort_await(cohort_comm_idle(comm)));
    CHECK_INT(cohort_await(all_reduce(comm, &in, &out, 200)), COHORT_ERR_GENERATION);
    CHECK_INT(cohort_await(all_reduce(comm, &in, &in, 201)), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(all_reduce(comm, &in, NULL, 202)), COHORT_ERR_BAD_PARAMETER);
}

TEST_SITE(revoked, run("revoked", site))
{
    double in = 5, out = 0;
    for (uint64_t generation = 1; generation <= 3; generation++)
        CHECK_OK(cohort_await(all_reduce(comm, &in, &out, generation)));
    CHECK_OK(cohort_await(cohort_comm_revoke(comm)));
    out = 0;
    CHECK_INT(cohort_await(all_reduce(comm, &in, &out, 4)), COHORT_ERR_REVOKED);
    CHECK(out == 0);
}

/* A known call that was taken back before it was made is refused, and the one after it is not. */
TEST_SITE(cancelled, run("cancelled", site))
{
    double in = 5, out = 0;
    for (uint64_t generation = 1; generation <= 3; generation++)
        CHECK_OK(cohort_await(all_reduce(comm, &in, &out, generation)));
    CHECK_OK(cohort_comm_cancel(comm, 5));
    out = 0;
    CHECK_OK(cohort_await(all_reduce(comm, &in, &out, 4)));
    CHECK(out == 5);
    out = 0;
    CHECK_INT(cohort_await(all_reduce(comm, &in, &out, 5)), COHORT_ERR_CANCELLED);
    CHECK(out == 0);
    CHECK_OK(cohort_await(all_reduce(comm, &in, &out, 6)));
    CHECK_OK(cohort_comm_cancel(comm, 7));
    CHECK_OK(cohort_await(all_reduce(comm, &in, &out, 8))); /* 7 is left out */
    CHECK_OK(cohort_await(all_reduce(comm, &in, &out, 9)));
    CHECK_OK(cohort_await(cohort_comm_idle(comm)));
}

static uint64_t num_begun, num_ended;

static uint64_t begin(const cohort_hook_call *call, void *arg)
{
    return num_begun++;
}

static void end(const cohort_hook_call *call, cohort_status status, uint64_t begun, void *arg)
{
    num_ended++;
}

/* Last, since hooks stay. */
TEST_SITE(hooked, run("hooked", site))
{
    const cohort_hooks hooks = {.begin = begin, .end = end};
    double in = 5, out = 0;
    CHECK_OK(cohort_await(all_reduce(comm, &in, &out, 1)));
    CHECK_OK(cohort_hooks_set(&hooks));
    for (uint64_t generation = 2; generation <= 4; generation++)
        CHECK_OK(cohort_await(all_reduce(comm, &in, &out, generation)));
    CHECK(num_begun == 3 && num_ended == 3);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
