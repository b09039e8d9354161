/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cohort_status run_site(cohort_comm *comm, void *arg)
{
    const struct sites_program *program = arg;
    struct site site = {.index = cohort_comm_this_site(comm),
                        .num_sites = cohort_comm_num_sites(comm),
                        .comm = comm,
                        .work = program->work};
    return program->run(&site);
}

static cohort_status run_sites(void *arg)
{
    const struct sites_program *program = arg;
    cohort_comm_options comm = program->options;
    cohort_sites_options options = {.num_sites = program->num_sites,
                                    .sites_per_locality = program->sites_per_locality,
                                    .comm = &comm};
    comm.auto_generation = true;
    if (!options.num_sites && !options.sites_per_locality)
        options.sites_per_locality = SITES_DEFAULT_PER_LOCALITY;
    return cohort_await(cohort_sites(program->name, &options, run_site, arg));
}

int sites_run(int argc, char **argv, const struct sites_program *program)
{
    struct sites_program copy = *program;
    return cohort_main(argc, argv, run_sites, &copy);
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
        return cohort_fail((cohort_status)verdict.status, "site 0: %s", verdict.message);
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
