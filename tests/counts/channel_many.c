/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdlib.h>

#include "tests/counts/cases.h"

/* usage: channel_many WHAT NUM: does WHAT with NUM messages of a communicator in one locality, all
 * of whose sites one task plays. channel_growth.py counts what that takes. */

enum { SETTERS = 3, LONG = 8192 };
static unsigned char data[LONG]; /* longer than what is copied */

/* Site 0 gets. */
struct job {
    uint64_t num;
    uint32_t num_sites;
    cohort_comm **comms;
    cohort_future **futures;
    uint64_t got;
};

struct what {
    const char *name;
    uint32_t num_sites; /* 0: as many as messages, and one more */
    cohort_status (*run)(struct job *job);
};

static uint32_t setter_of(uint64_t i)
{
    return 1 + (uint32_t)(i % SETTERS);
}

static cohort_status set(struct job *job, uint32_t site, uint64_t tag)
{
    return cohort_await(cohort_channel_set(job->comms[site], 0, tag, &tag, sizeof(tag)));
}

static cohort_future *get_any(struct job *job, uint64_t tag)
{
    return cohort_channel_get_any(job->comms[0], tag, &job->got, sizeof(job->got), NULL, NULL);
}

static cohort_future *get(struct job *job, uint32_t site, uint64_t tag)
{
    return cohort_channel_get(job->comms[0], site, tag, &job->got, sizeof(job->got), NULL);
}

/* All messages are set before the first is got, with one tag or with one each. */
static cohort_status set_all(struct job *job, bool has_tags)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < job->num; i++)
        status = set(job, setter_of(i), has_tags ? i : 0);
    return status;
}

static cohort_status late_by_site(struct job *job)
{
    cohort_status status = set_all(job, false);
    for (uint64_t i = 0; !status && i < job->num; i++)
        status = cohort_await(get(job, setter_of(i), 0));
    return status;
}

static cohort_status late_from_any(struct job *job)
{
    cohort_status status = set_all(job, false);
    for (uint64_t i = 0; !status && i < job->num; i++)
        status = cohort_await(get_any(job, 0));
    return status;
}

static cohort_status tags_by_site(struct job *job)
{
    cohort_status status = set_all(job, true);
    for (uint64_t i = job->num; !status && i-- > 0;)
        status = cohort_await(get(job, setter_of(i), i));
    return status;
}

/* The last one first. */
static cohort_status tags_from_any(struct job *job)
{
    cohort_status status = set_all(job, true);
    for (uint64_t i = job->num; !status && i-- > 0;)
        status = cohort_await(get_any(job, i));
    return status;
}

/* Each is looked at, and got. */
static cohort_status probe(struct job *job)
{
    cohort_status status = set_all(job, true);
    for (uint64_t i = job->num; !status && i-- > 0;) {
        uint32_t site = 0;
        status = cohort_await(cohort_channel_probe(job->comms[0], COHORT_ANY_SITE, i, NULL, &site));
        if (!status)
            status = cohort_await(get(job, site, i));
    }
    return status;
}

static cohort_status await_all(struct job *job)
{
    return cohort_await(cohort_when_all(job->futures, job->num));
}

static cohort_status waiting_gets(struct job *job)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < job->num; i++)
        job->futures[i] = get_any(job, i);
    for (uint64_t i = job->num; !status && i-- > 0;)
        status = set(job, setter_of(i), i);
    cohort_status ended = await_all(job);
    return status ? status : ended;
}

/* Each message is from another site, and a get waits for it. */
static cohort_status sources(struct job *job)
{
    cohort_status status = COHORT_OK;
    for (uint32_t site = 1; !status && site < job->num_sites; site++) {
        cohort_future *any = get_any(job, 0);
        status = set(job, site, 0);
        cohort_status got = cohort_await(any);
        status = status ? status : got;
    }
    return status;
}

/* The setter leaves while its sets have not been got. */
static cohort_status take_back(struct job *job)
{
    for (uint64_t i = 0; i < job->num; i++)
        job->futures[i] = cohort_channel_set(job->comms[1], 0, 0, data, sizeof(data));
    cohort_comm_unref(job->comms[1]);
    job->comms[1] = NULL;
    return await_all(job) == COHORT_ERR_CANCELLED
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_FAILED, "they were not taken back");
}

/* So often somebody waits until all of that is over. */
static cohort_status idle(struct job *job)
{
    cohort_future *late = get(job, 1, 0);
    for (uint64_t i = 0; i < job->num; i++)
        job->futures[i] = cohort_comm_idle(job->comms[0]);
    cohort_status status = set(job, 1, 0), ended = await_all(job);
    cohort_status got = cohort_await(late);
    return status ? status : ended ? ended : got;
}

static const struct what whats[] = {
    {"late_by_site", 1 + SETTERS, late_by_site},
    {"late_from_any", 1 + SETTERS, late_from_any},
    {"tags_by_site", 1 + SETTERS, tags_by_site},
    {"tags_from_any", 1 + SETTERS, tags_from_any},
    {"probe", 1 + SETTERS, probe},
    {"waiting_gets", 1 + SETTERS, waiting_gets},
    {"sources", 0, sources},
    {"take_back", 1 + SETTERS, take_back},
    {"idle", 1 + SETTERS, idle},
};

static const struct what *what;

static cohort_status run(void *arg)
{
    struct job *job = arg;
    cohort_comm_options options = {.num_sites = job->num_sites};
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < job->num_sites; site++) {
        options.this_site = site;
        job->futures[site] = cohort_comm_create(&job->comms[site], "many", &options);
    }
    status = cohort_await(cohort_when_all(job->futures, job->num_sites));
    if (!status && job->num > 0)
        status = what->run(job);
    for (uint32_t site = 0; site < job->num_sites; site++)
        cohort_comm_unref(job->comms[site]);
    return status;
}

static int run_case(const void *chosen, uint64_t num)
{
    struct job job = {.num = num};
    what = chosen;
    job.num_sites = what->num_sites ? what->num_sites : (uint32_t)job.num + 1;
    job.comms = calloc(job.num_sites, sizeof(cohort_comm *));
    job.futures = calloc(job.num + job.num_sites, sizeof(cohort_future *));
    int result = job.comms && job.futures ? cohort_main(0, NULL, run, &job) : 1;
    free(job.comms);
    free(job.futures);
    return result;
}

int main(int argc, char **argv)
{
    return CASES_MAIN(whats, argc, argv, run_case);
}
