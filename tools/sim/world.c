/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: a machine, its prices, and how the library's algorithms do there. */
#include "tools/sim/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/model/default_tune.h"
#include "collectives/model/tune_file.h"
#include "tools/sim/limits.h"

enum { FLAT_BELOW = 16 }; /* the default of flat_fallback_threshold */

/* The text of the file at PATH, which the caller frees. */
static cohort_status read_text(const char *path, char **ret_text)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length = file ? getdelim(&text, &room, '\0', file) : -1;
    bool is_read = file && (length >= 0 || !ferror(file));
    if (is_read)
        *ret_text = text;
    else
        free(text);
    cohort_status status =
        is_read ? COHORT_OK
                : cohort_fail(COHORT_ERR_SYSTEM, "--tune %s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return status;
}

static cohort_status read_prices(struct cohort__parameters *parameters, const char *path)
{
    char *text = NULL;
    if (!path)
        return cohort__tune_file_read(parameters, "of the library", cohort__default_tune);
    cohort_status status = read_text(path, &text);
    if (!status)
        status = cohort__tune_file_read(parameters, path, text ? text : "");
    free(text);
    return status;
}

static cohort_status make_levels(struct sim_world *world)
{
    const struct cohort__sim_machine *machine = &world->machine;
    uint32_t num_sites = cohort__sim_machine_sites(machine),
             num = machine->hosts * machine->localities;
    uint32_t *locality_of = malloc(num_sites * sizeof(*locality_of));
    uint32_t *host_of = malloc(num * sizeof(*host_of));
    uint32_t *domain_of = malloc(num * sizeof(*domain_of));
    const struct cohort__machine_level outer[] = {{"domain", domain_of}, {"host", host_of}};
    const bool has_domains = machine->domains > 0;
    cohort_status status = COHORT_OK;
    if (!locality_of || !host_of || !domain_of)
        status =
            cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the places of %u sites", num_sites);
    for (uint32_t i = 0; !status && i < num_sites; i++)
        locality_of[i] = i / machine->tasks;
    for (uint32_t i = 0; !status && i < num; i++)
        host_of[i] = i / machine->localities;
    for (uint32_t i = 0; !status && has_domains && i < num; i++)
        domain_of[i] = i / (machine->localities / machine->domains);
    if (!status)
        status = cohort__machine_create(&world->levels, locality_of, num_sites, num,
                                        &outer[has_domains ? 0 : 1], has_domains ? 2 : 1);
    free(locality_of);
    free(host_of);
    free(domain_of);
    return status;
}

cohort_status sim_world_create(struct sim_world **ret_world, const struct sim_options *options,
                               uint32_t hosts)
{
    struct sim_world *world = calloc(1, sizeof(*world));
    if (!world)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a machine");
    world->machine = options->machine;
    world->machine.hosts = hosts;
    cohort_status status = read_prices(&world->parameters, options->tune);
    if (!status)
        status = make_levels(world);
    if (status) {
        sim_world_destroy(world);
        return status;
    }
    world->parameters.workers = 1;
    world->parameters.cores = world->machine.cores;
    world->machine.parameters = &world->parameters;
    world->placement = cohort__placement_of(world->levels);
    world->placement.sharing = world->machine.is_shared ? hosts : 1;
    *ret_world = world;
    return COHORT_OK;
}

void sim_world_destroy(struct sim_world *world)
{
    if (!world)
        return;
    cohort__machine_destroy(world->levels);
    free(world);
}

static const char *refusal(const struct cohort__request *request,
                           const struct cohort__candidate *candidate)
{
    const char *refuses = cohort__algorithm_refuses(candidate->algorithm, request);
    if (!refuses && candidate->is_priced)
        refuses = sim_refuses_messages(candidate->cost.messages);
    return refuses;
}

uint32_t sim_world_rows(const struct sim_world *world, const struct sim_options *options,
                        struct cohort__request *request,
                        struct sim_row ret_rows[COHORT__MAX_CANDIDATES])
{
    struct cohort__candidate candidates[COHORT__MAX_CANDIDATES];
    request->num_sites = cohort__sim_machine_sites(&world->machine);
    request->machine = world->levels;
    request->meets = world->machine.tasks > 1;
    const struct cohort__question question = {
        .request = request,
        .parameters = &world->parameters,
        .placement = &world->placement,
        .mode = cohort__select_is_flat(request->num_sites, request->arity, FLAT_BELOW)
                    ? COHORT__MODE_FLAT
                    : COHORT__MODE_ANY,
    };
    uint32_t num = cohort__select_candidates(&question, candidates), num_rows = 0;
    for (uint32_t i = 0; i < num; i++)
        if (!options->algorithm || options->algorithm == candidates[i].algorithm)
            ret_rows[num_rows++] = (struct sim_row){
                .candidate = candidates[i],
                .refuses = refusal(request, &candidates[i]),
                .is_chosen = i == 0 && !candidates[i].refused,
            };
    return num_rows;
}

/* A plan for each site, in turn. */
struct building {
    const struct cohort__algorithm *algorithm;
    struct cohort__request request;
};

static cohort_status build(void *argument, uint32_t site, struct cohort__plan **ret_plan)
{
    struct building *building = argument;
    building->request.this_site = site;
    return cohort__algorithm_build(building->algorithm, &building->request, ret_plan);
}

cohort_status sim_world_simulate(const struct sim_world *world,
                                 const struct cohort__request *request, struct sim_row *row)
{
    struct building building = {row->candidate.algorithm, *request};
    building.request.inner = row->candidate.inner;
    return cohort__simulate_machine(&world->machine, build, &building, &row->account);
}
