/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdlib.h>

#include "tests/counts/cases.h"

/* usage: late_site WHAT NUM: of two sites in one locality the first makes NUM calls, or one with
 * NUM blocks, before the other one does anything. late_growth.py counts what that takes. */

enum { SITES = 2, STRIDE = 1000 };
static const uint64_t FAR = 1000000000000; /* ns */

struct job {
    const struct what *what;
    size_t num;
    cohort_comm *comms[SITES];
    cohort_future **done; /* by site, and in it by call */
    int *values;
    cohort_neighbour *blocks;
    cohort_agreed *agreed; /* as `done` */
};

struct what {
    const char *name;
    /* By site 0, and then by site 1. Sets `done` of all calls. */
    cohort_status (*call)(struct job *job, uint32_t site);
    cohort_status expected; /* of a call */
};

static cohort_future **done_of(const struct job *job, uint32_t site)
{
    return job->done + site * job->num;
}

static cohort_future *broadcast(struct job *job, uint32_t site, uint64_t generation)
{
    return site == 0
               ? cohort_broadcast_to(job->comms[0], job->values, 1, COHORT_INT32, generation)
               : cohort_broadcast_from(job->comms[1], job->values + 1, 1, COHORT_INT32, generation);
}

static cohort_status call_exchange(struct job *job, uint32_t site)
{
    for (size_t i = 0; i < job->num; i++) {
        job->blocks[i] = (cohort_neighbour){1 - site, i, 1};
        done_of(job, site)[i] = cohort_sleep(0);
    }
    cohort_status status = cohort_await(done_of(job, site)[0]);
    done_of(job, site)[0] = cohort_exchange(job->comms[site], job->values, job->blocks, job->num,
                                            job->values + (1 + site) * job->num, job->blocks,
                                            job->num, COHORT_INT32, 1);
    return status;
}

/* Each message is for a generation of its own; and these are far apart. */
static cohort_status call_strides(struct job *job, uint32_t site)
{
    for (size_t i = 0; i < job->num; i++)
        done_of(job, site)[i] = broadcast(job, site, STRIDE * (i + 1));
    return COHORT_OK;
}

/* Site 1 leaves out every other generation that site 0 has sent something for. */
static cohort_status call_left_out(struct job *job, uint32_t site)
{
    for (size_t i = 0; i < job->num; i++)
        done_of(job, site)[i] =
            site == 1 && i % 2 == 0 ? cohort_sleep(0) : broadcast(job, site, i + 1);
    return COHORT_OK;
}

static cohort_status call_deadlines(struct job *job, uint32_t site)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < job->num; i++) {
        const cohort_call_options options = {.deadline = FAR + i};
        status = status ? status : cohort_comm_next_call(job->comms[site], &options);
        done_of(job, site)[i] = cohort_barrier(job->comms[site], i + 1);
    }
    return status;
}

struct scoped_call {
    struct job *job;
    uint32_t site;
    size_t i;
};

static cohort_status call_in_scope(void *arg)
{
    struct scoped_call *call = arg;
    done_of(call->job, call->site)[call->i] =
        cohort_barrier(call->job->comms[call->site], call->i + 1);
    return COHORT_OK;
}

/* Each call comes from a scope of its own. */
static cohort_status call_scoped(struct job *job, uint32_t site)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < job->num; i++) {
        struct scoped_call call = {job, site, i};
        cohort_scope *scope;
        status = status ? status : cohort_scope_create(NULL, &scope);
        if (status)
            return status;
        status = cohort_scope_async(scope, call_in_scope, &call);
        cohort_status ended = cohort_scope_await(scope);
        status = status ? status : ended;
    }
    return status;
}

/* All of them are taken back, the last one first, before site 1 calls them. */
static cohort_status call_cancelled(struct job *job, uint32_t site)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < job->num; i++)
        done_of(job, site)[i] = cohort_barrier(job->comms[site], i + 1);
    for (size_t i = job->num; !status && site == 0 && i > 0; i--)
        status = cohort_comm_cancel(job->comms[0], i);
    return status;
}

static cohort_status call_agree(struct job *job, uint32_t site)
{
    for (size_t i = 0; i < job->num; i++)
        done_of(job, site)[i] =
            cohort_comm_agree(job->comms[site], 1, &job->agreed[site * job->num + i]);
    return COHORT_OK;
}

static const struct what whats[] = {
    {"exchange", call_exchange, COHORT_OK}, {"strides", call_strides, COHORT_OK},
    {"left_out", call_left_out, COHORT_OK}, {"deadlines", call_deadlines, COHORT_OK},
    {"scoped", call_scoped, COHORT_OK},     {"cancelled", call_cancelled, COHORT_ERR_CANCELLED},
    {"agree", call_agree, COHORT_OK},
};

static cohort_status create(struct job *job)
{
    cohort_future *made[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        made[site] = cohort_comm_create(&job->comms[site], "late",
                                        &(cohort_comm_options){
                                            .num_sites = SITES,
                                            .this_site = site,
                                            .stall_after = FAR,
                                            .algorithms = "barrier=linear,broadcast=linear",
                                        });
    return cohort_await(cohort_when_all(made, SITES));
}

static cohort_status run(void *arg)
{
    struct job *job = arg;
    cohort_status status = create(job);
    for (uint32_t site = 0; !status && site < SITES; site++)
        status = job->what->call(job, site);
    for (size_t i = 0; !status && i < SITES * job->num; i++)
        if (cohort_await(job->done[i]) != job->what->expected)
            status = cohort_fail(COHORT_ERR_FAILED, "call %zu: %s", i, cohort_error_message());
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(job->comms[site]);
    return status;
}

static int run_job(struct job *job)
{
    job->done = calloc(SITES * job->num, sizeof(cohort_future *));
    job->values = calloc((1 + SITES) * job->num, sizeof(*job->values));
    job->blocks = calloc(job->num, sizeof(*job->blocks));
    job->agreed = calloc(SITES * job->num, sizeof(*job->agreed));
    bool has_memory = job->done && job->values && job->blocks && job->agreed;
    int result = has_memory ? cohort_main(0, NULL, run, job) : 1;
    free(job->done);
    free(job->values);
    free(job->blocks);
    free(job->agreed);
    return result;
}

static int run_case(const void *what, uint64_t num)
{
    return run_job(&(struct job){.what = what, .num = num});
}

int main(int argc, char **argv)
{
    return CASES_MAIN(whats, argc, argv, run_case);
}
