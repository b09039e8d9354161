/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/share.h"

struct member {
    struct site site;
    const struct sites_program *program;
};

struct run {
    const struct sites_program *program;
    struct member *members; /* of this locality */
    cohort_future **done;   /* of their tasks */
};

static cohort_status run_member(void *arg)
{
    struct member *member = arg;
    struct site *site = &member->site;
    cohort_comm_options options = member->program->options;
    options.num_sites = site->num_sites;
    options.this_site = site->index;
    options.auto_generation = true;
    cohort_status status =
        cohort_await(cohort_comm_create(&site->comm, member->program->name, &options));
    if (!status)
        status = member->program->run(site);
    cohort_comm_unref(site->comm);
    return status;
}

static uint32_t sites_per_locality(const struct sites_program *program)
{
    return program->sites_per_locality ? program->sites_per_locality : SITES_DEFAULT_PER_LOCALITY;
}

/* The first task of each locality: starts the others and waits for them. */
static cohort_status run_members(void *arg)
{
    struct run *run = arg;
    const struct sites_program *program = run->program;
    uint32_t localities = cohort_num_localities();
    uint32_t num_sites =
        program->num_sites ? program->num_sites : localities * sites_per_locality(program);
    uint32_t first = (uint32_t)share_begin(num_sites, localities, cohort_locality());
    uint32_t here = (uint32_t)share_size(num_sites, localities, cohort_locality());
    for (uint32_t i = 0; i < here; i++) {
        run->members[i] = (struct member){
            .site = {.index = first + i, .num_sites = num_sites, .work = program->work},
            .program = program};
        run->done[i] = cohort_async(run_member, &run->members[i]);
    }
    return cohort_await(cohort_when_all(run->done, here));
}

/* The memory is allocated before the job starts, for as many sites as may be here. If a locality
 * gets none, it ends, and the job with it. Later, the others would wait for its sites. */
int sites_run(int argc, char **argv, const struct sites_program *program)
{
    uint32_t most = program->num_sites ? program->num_sites : sites_per_locality(program);
    struct run run = {.program = program,
                      .members = calloc(most, sizeof(*run.members)),
                      .done = calloc(most, sizeof(*run.done))};
    int status = 1;
    if (run.members && run.done)
        status = cohort_main(argc, argv, run_members, &run);
    else
        fprintf(stderr, "%s: no memory for %" PRIu32 " sites\n", program->name, most);
    free(run.members);
    free(run.done);
    return status;
}

/* What site 0 tells all others: its status, and facts. */
struct verdict {
    int32_t status;
    char message[512];
    unsigned char facts[SITES_MAX_FACTS];
};

cohort_status site_agree(struct site *site, cohort_status status, void *facts, size_t bytes)
{
    struct verdict verdict = {.status = status};
    if (bytes > sizeof(verdict.facts))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "site %" PRIu32 ": too many facts",
                           site->index);
    if (status)
        snprintf(verdict.message, sizeof(verdict.message), "%s", cohort_error_message());
    if (bytes)
        memcpy(verdict.facts, facts, bytes);

    /* A struct travels as one element of a datatype of our own. */
    cohort_datatype type = cohort_datatype_of_bytes(sizeof(verdict));
    const uint64_t generation = COHORT_AUTO_GENERATION;
    cohort_status told = cohort_await(
        site->index == 0 ? cohort_broadcast_to(site->comm, &verdict, 1, type, generation)
                         : cohort_broadcast_from(site->comm, &verdict, 1, type, generation));
    if (told && (!status || site->index != 0))
        return told;
    if (verdict.status)
        return cohort_fail((cohort_status)verdict.status, "%s", verdict.message);
    if (bytes)
        memcpy(facts, verdict.facts, bytes);
    return COHORT_OK;
}

cohort_status site_allocate(const struct site *site, size_t count, size_t bytes, void *ret_memory)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "site %" PRIu32 ": no memory for %zu elements of %zu bytes", site->index,
                           count, bytes);
    memcpy(ret_memory, &memory, sizeof(memory));
    return COHORT_OK;
}

cohort_status site_scatter(struct site *site, const void *all, const size_t *counts, void *mine,
                           size_t count, cohort_datatype datatype)
{
    const uint64_t generation = COHORT_AUTO_GENERATION;
    if (site->index == 0)
        return cohort_await(
            cohort_scatterv_to(site->comm, all, counts, NULL, mine, count, datatype, generation));
    return cohort_await(cohort_scatterv_from(site->comm, mine, count, datatype, generation));
}

cohort_status site_gather(struct site *site, const void *mine, size_t count, void *all,
                          const size_t *counts, cohort_datatype datatype)
{
    const uint64_t generation = COHORT_AUTO_GENERATION;
    if (site->index == 0)
        return cohort_await(
            cohort_gatherv_here(site->comm, mine, count, all, counts, NULL, datatype, generation));
    return cohort_await(cohort_gatherv_there(site->comm, mine, count, datatype, generation));
}
