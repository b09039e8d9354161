/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint_life.h"
#include "runtime/loop/loop.h"
#include "tests/counts/cases.h"

/* usage: many_sites WHAT SITES: makes the endpoints of all sites of a communicator in one locality,
 * does WHAT with them, and gives them back. growth.py counts what that takes. */

struct job {
    const struct what *what;
    uint32_t num_sites;
    cohort_comm **comms;
    cohort_future **done; /* by site */
    double *in, *out;     /* a number for each site */
    double *gathered;
};

struct what {
    const char *name;
    cohort_comm_options options; /* create fills in the rest */
    cohort_status (*run)(struct job *job);
};

static cohort_status await_all(struct job *job)
{
    return cohort_await(cohort_when_all(job->done, job->num_sites));
}

static cohort_status create(struct job *job)
{
    cohort_comm_options options = job->what->options;
    options.num_sites = job->num_sites;
    options.auto_generation = true;
    for (uint32_t site = 0; site < job->num_sites; site++) {
        options.this_site = site;
        job->done[site] = cohort_comm_create(&job->comms[site], "many", &options);
    }
    return await_all(job);
}

static cohort_status nothing(struct job *job)
{
    (void)job;
    return COHORT_OK;
}

static cohort_future *sum(struct job *job, uint32_t site, size_t count)
{
    return cohort_all_reduce(job->comms[site], &job->in[site], &job->out[site], count,
                             COHORT_DOUBLE, COHORT_SUM, COHORT_AUTO_GENERATION);
}

static cohort_future *broadcast(struct job *job, uint32_t site)
{
    cohort_comm *comm = job->comms[site];
    return site == 0
               ? cohort_broadcast_to(comm, &job->in[0], 1, COHORT_DOUBLE, COHORT_AUTO_GENERATION)
               : cohort_broadcast_from(comm, &job->out[site], 1, COHORT_DOUBLE,
                                       COHORT_AUTO_GENERATION);
}

static cohort_future *gather(struct job *job, uint32_t site)
{
    cohort_comm *comm = job->comms[site];
    return site == 0 ? cohort_gather_here(comm, &job->in[0], job->gathered, 1, COHORT_DOUBLE,
                                          COHORT_AUTO_GENERATION)
                     : cohort_gather_there(comm, &job->in[site], 1, COHORT_DOUBLE,
                                           COHORT_AUTO_GENERATION);
}

static cohort_status calls(struct job *job)
{
    for (uint32_t site = 0; site < job->num_sites; site++)
        job->done[site] = cohort_barrier(job->comms[site], COHORT_AUTO_GENERATION);
    cohort_status status = await_all(job);
    for (uint32_t site = 0; !status && site < job->num_sites; site++)
        job->done[site] = sum(job, site, 1);
    status = status ? status : await_all(job);
    for (uint32_t site = 0; !status && site < job->num_sites; site++)
        job->done[site] = broadcast(job, site);
    status = status ? status : await_all(job);
    for (uint32_t site = 0; !status && site < job->num_sites; site++)
        job->done[site] = gather(job, site);
    return status ? status : await_all(job);
}

/* Each site but the first finds messages of those before. */
static cohort_status exchange_all(struct job *job, size_t count)
{
    const size_t num_sites = job->num_sites;
    char *in = calloc(num_sites, count), *out = calloc(num_sites, num_sites * count);
    size_t *counts = calloc(num_sites, sizeof(*counts));
    cohort_status status = in && out && counts ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    for (size_t i = 0; !status && i < num_sites; i++)
        counts[i] = count;
    for (uint32_t site = 0; !status && site < num_sites; site++)
        job->done[site] =
            cohort_all_to_allv(job->comms[site], in, counts, NULL, out + site * num_sites * count,
                               counts, NULL, COHORT_INT8, COHORT_AUTO_GENERATION);
    status = status ? status : await_all(job);
    free(in);
    free(out);
    free(counts);
    return status;
}

static cohort_status pairs(struct job *job)
{
    return exchange_all(job, 1);
}

/* What a communicator says that all sites of this locality keep for their next calls. */
static cohort_status look_at_plans(const cohort_comm *comm, size_t *ret_kib)
{
    static const char words[] = "all sites of this locality ";
    char *text;
    cohort_status status = cohort_comm_describe(comm, &text);
    if (status)
        return status;
    const char *found = strstr(text, words);
    *ret_kib = found ? strtoul(found + sizeof(words) - 1, NULL, 10) : 0;
    free(text);
    return found ? COHORT_OK : cohort_fail(COHORT_ERR_FAILED, "no word about plans");
}

/* The counts are others each time, and never come again. What is kept is what is allowed, at most,
 * and a plan of each site. */
static cohort_status changing(struct job *job)
{
    enum { ROUNDS = 40, ALLOWED_KIB = 64 << 10 };
    size_t first = 0, kib = 0;
    cohort_status status = COHORT_OK;
    for (size_t round = 0; !status && round < ROUNDS; round++) {
        status = exchange_all(job, round + 1);
        if (!status)
            status = look_at_plans(job->comms[0], &kib);
        first = round == 0 ? kib : first;
        if (!status && kib > ALLOWED_KIB + 2 * first)
            status = cohort_fail(COHORT_ERR_FAILED, "round %zu: %zu KiB are kept", round, kib);
    }
    printf("%zu KiB are kept, %zu after the first round\n", kib, first);
    return status;
}

static cohort_status expect(cohort_status wanted, cohort_status status)
{
    return status == wanted ? COHORT_OK : cohort_fail(COHORT_ERR_FAILED, "it did not fail");
}

/* Site 0 calls with another count than all others, which come one after the other. */
static cohort_status differ(struct job *job)
{
    for (uint32_t site = 0; site < job->num_sites; site++)
        job->done[site] = sum(job, site, site == 0 ? 0 : 1);
    return expect(COHORT_ERR_MISMATCH, await_all(job));
}

/* The last site has left before the others call. */
static cohort_status leave(struct job *job)
{
    uint32_t last = job->num_sites - 1;
    cohort_comm_unref(job->comms[last]);
    job->comms[last] = NULL;
    for (uint32_t site = 0; site < last; site++)
        job->done[site] = sum(job, site, 1);
    job->done[last] = cohort_sleep(0);
    return expect(COHORT_ERR_GONE, await_all(job));
}

cohort_status __wrap_cohort__loop_every(struct cohort__loop *loop, uint64_t nanoseconds,
                                        void (*function)(void *context), void *context);

/* No ticks by the clock: how many there are would depend on how long this takes. */
cohort_status __wrap_cohort__loop_every(struct cohort__loop *loop, uint64_t nanoseconds,
                                        void (*function)(void *context), void *context)
{
    (void)loop, (void)nanoseconds, (void)function, (void)context;
    return COHORT_OK;
}

/* The last site comes after so many ticks, at each of which the others ask for it. */
static cohort_status wait_long(struct job *job)
{
    enum { TICKS = 20 };
    const uint32_t last = job->num_sites - 1;
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < last; site++)
        job->done[site] = cohort_barrier(job->comms[site], COHORT_AUTO_GENERATION);
    for (int tick = 0; !status && tick < TICKS; tick++) {
        for (uint32_t site = 0; site < last; site++)
            cohort__endpoint_tick(job->comms[site]);
        status = cohort_await(cohort_sleep(0));
    }
    job->done[last] = cohort_barrier(job->comms[last], COHORT_AUTO_GENERATION);
    return status ? status : await_all(job);
}

static const struct what whats[] = {
    {.name = "create", .run = nothing},
    {.name = "calls", .run = calls},
    {.name = "tree",
     .run = calls,
     .options = {.algorithms = "barrier=hierarchical,all_reduce=hierarchical,"
                               "broadcast=hierarchical,gather=hierarchical"}},
    {.name = "linear",
     .run = calls,
     .options = {.algorithms = "barrier=linear,all_reduce=linear,broadcast=linear,gather=linear"}},
    {.name = "pairs", .run = pairs, .options = {.stall_after = UINT64_C(1000000000000)}},
    {.name = "changing", .run = changing, .options = {.stall_after = UINT64_C(1000000000000)}},
    {.name = "agree", .run = calls, .options = {.check_asymmetric = true}},
    {.name = "differ", .run = differ},
    {.name = "leave", .run = leave},
    {.name = "wait_long", .run = wait_long, .options = {.stall_after = 1}},
};

static cohort_status run(void *arg)
{
    struct job *job = arg;
    cohort_status status = create(job);
    if (!status)
        status = job->what->run(job);
    for (uint32_t site = 0; site < job->num_sites; site++)
        cohort_comm_unref(job->comms[site]);
    return status;
}

static int run_job(struct job *job)
{
    size_t num_sites = job->num_sites;
    job->comms = calloc(num_sites, sizeof(cohort_comm *));
    job->done = calloc(num_sites, sizeof(cohort_future *));
    job->in = calloc(3 * num_sites, sizeof(*job->in));
    bool has_memory = job->comms && job->done && job->in;
    if (has_memory) {
        job->out = job->in + num_sites;
        job->gathered = job->out + num_sites;
    }
    int result = has_memory ? cohort_main(0, NULL, run, job) : 1;
    free(job->comms);
    free(job->done);
    free(job->in);
    return result;
}

static int run_case(const void *what, uint64_t num)
{
    return run_job(&(struct job){.what = what, .num_sites = (uint32_t)num});
}

int main(int argc, char **argv)
{
    return CASES_MAIN(whats, argc, argv, run_case);
}
