/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `describe`: where the sites of the whole job are; measures nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/share/json.h"

static void write_subgroup(struct json *json, const cohort_comm *comm, uint32_t level,
                           uint32_t subgroup)
{
    uint32_t num = 0;
    const uint32_t *sites = cohort_comm_subgroup_sites(comm, level, subgroup, &num);
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_count(json, "leader", cohort_comm_subgroup_leader(comm, level, subgroup));
    json_begin(json, "sites", '[');
    for (uint32_t i = 0; i < num; i++)
        json_count(json, NULL, sites[i]);
    json_end(json, ']');
    json_end(json, '}');
}

static void write_level(struct json *json, const cohort_comm *comm, uint32_t level)
{
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "name", cohort_comm_level_name(comm, level));
    json_begin(json, "subgroups", '[');
    for (uint32_t i = 0; i < cohort_comm_num_subgroups(comm, level); i++)
        write_subgroup(json, comm, level, i);
    json_end(json, ']');
    json_end(json, '}');
}

static void write_all(const cohort_comm *comm)
{
    struct json json = {.file = stdout};
    json_begin(&json, NULL, '{');
    json_count(&json, "sites", cohort_comm_num_sites(comm));
    json_count(&json, "localities", cohort_num_localities());
    json_begin(&json, "levels", '[');
    for (uint32_t level = 0; level < cohort_comm_num_machine_levels(comm); level++)
        write_level(&json, comm, level);
    json_break(&json, 0);
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
}

static cohort_status print(const cohort_comm *comm, bool as_json)
{
    char *text = NULL;
    cohort_status status = COHORT_OK;
    if (as_json)
        write_all(comm);
    else
        status = cohort_comm_describe(comm, &text);
    if (text)
        fputs(text, stdout);
    free(text);
    if (status == COHORT_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    return status;
}

struct site {
    const struct bench_options *options;
    uint32_t index;
};

static cohort_status run_site(void *arg)
{
    const struct site *site = arg;
    const cohort_comm_options options = {
        .num_sites = cohort_num_localities() * site->options->sites_per_locality,
        .this_site = site->index,
    };
    cohort_comm *comm = NULL;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "all", &options));
    if (status == COHORT_OK && site->index == 0)
        status = print(comm, site->options->json);
    cohort_comm_unref(comm);
    return status;
}

cohort_status bench_describe(const struct bench_options *options)
{
    uint32_t num = options->sites_per_locality;
    struct site *sites = calloc(num, sizeof(*sites));
    cohort_future **futures = calloc(num, sizeof(cohort_future *));
    cohort_status status = COHORT_OK;
    if (!sites || !futures)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u sites", (unsigned)num);
    for (uint32_t i = 0; status == COHORT_OK && i < num; i++) {
        sites[i] = (struct site){options, cohort_locality() * num + i};
        futures[i] = cohort_async(run_site, &sites[i]);
    }
    if (status == COHORT_OK)
        status = cohort_await(cohort_when_all(futures, num));
    free(sites);
    free(futures);
    return status;
}
