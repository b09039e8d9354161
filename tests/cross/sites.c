/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

#include "tests/cross/play.h"
#include "tests/cross/stage.h"
#include "tests/support/test.h"

/* Sites that the library makes and runs, in each locality. */

static const uint64_t CREATE_LIMIT = UINT64_C(5000000000); /* somebody may have died */

static uint32_t locality_of(const struct flight *flight)
{
    const struct program *program = flight->world->program;
    return program->locality_of[program->groups[flight->step->group].actors[flight->site]];
}

uint32_t sites_made(const struct program *program, const struct step *step, uint32_t locality)
{
    uint32_t sites = 0;
    for (uint32_t site = 0; site < program_num_made(program, step); site++)
        sites |= (uint32_t)(program_locality_made(program, step, site) == locality) << site;
    return sites;
}

static cohort_status fail(void)
{
    return cohort_fail(COHORT_ERR_STATE, "as it was drawn");
}

static cohort_status visit(cohort_comm *comm, void *arg)
{
    const struct flight *flight = arg;
    const struct step *step = flight->step;
    const struct program *program = flight->world->program;
    uint32_t site = cohort_comm_this_site(comm), num = cohort_comm_num_sites(comm);
    const uint64_t in = UINT64_C(1) << site;
    uint64_t sum;
    _Atomic uint32_t *visited = &flight->world->facts->steps[flight->number].visited;
    CHECK_INT(num, program_num_made(program, step));
    CHECK(sites_made(program, step, locality_of(flight)) >> site & 1);
    CHECK(!(*visited >> site & 1));
    learn(visited, site);
    trace("site %u of step %u", site, flight->number);
    if (site == step->failing && !step->fails_late)
        return fail();
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &sum, 1, COHORT_UINT64, COHORT_SUM, 1));
    CHECK(status || sum == (UINT64_C(1) << num) - 1);
    return !status && site == step->failing ? fail() : status;
}

cohort_future *sites_start(struct flight *flight)
{
    const struct program *program = flight->world->program;
    const cohort_comm_options *like = &program->groups[flight->step->group].options;
    const cohort_comm_options comm = {
        .arity = like->arity,
        .flat_fallback_threshold = like->flat_fallback_threshold,
        .stall_after = like->stall_after,
        .create_deadline = program->victims || program->has_accidents ? CREATE_LIMIT : 0,
    };
    const cohort_sites_options options = {
        .sites_per_locality = flight->step->each, .num_sites = flight->step->num, .comm = &comm};
    char name[32];
    snprintf(name, sizeof(name), "sites %u", flight->number);
    return stage_sites(locality_of(flight), name, &options, visit, flight);
}

const char *sites_check(const struct flight *flight, cohort_status status, const char *message)
{
    const struct program *program = flight->world->program;
    const struct step *step = flight->step;
    const struct step_facts *facts = &flight->world->facts->steps[flight->number];
    uint32_t here = sites_made(program, step, locality_of(flight));
    bool fails_here = step->failing != NONE && here >> step->failing & 1;
    bool has_failed = step->failing != NONE && facts->visited >> step->failing & 1;
    char text[64];
    snprintf(text, sizeof(text), "site %u of \"sites %u\": as it was drawn", step->failing,
             flight->number);
    switch (status) {
    case COHORT_OK:
        return here & ~facts->visited ? "without a site" : fails_here ? "though one fails" : NULL;
    case COHORT_ERR_STATE:
        return fails_here && has_failed && strcmp(message, text) == 0 ? NULL : "without a failure";
    case COHORT_ERR_CANCELLED:
    case COHORT_ERR_GONE: /* where the site fails that error is the first one */
        return (has_failed && !fails_here) || facts->is_cancelled || stage_dead()
                   ? NULL
                   : "without a cause";
    default:
        return stage_dead() && (status == COHORT_ERR_PEER_DIED || status == COHORT_ERR_TIMEOUT)
                   ? NULL
                   : "without a cause";
    }
}

void sites_check_all(const struct world *world)
{
    const struct program *program = world->program;
    for (uint32_t s = 0; s < program->num_steps && !stage_dead(); s++) {
        const struct step *step = &program->steps[s];
        uint32_t visited = world->facts->steps[s].visited;
        if (step->verb == VERB_SITES && step->failing == NONE)
            CHECK(visited == 0 || visited == (1u << program_num_made(program, step)) - 1);
    }
}
