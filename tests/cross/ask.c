/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/hash.h"
#include "tests/cross/play.h"
#include "tests/cross/stage.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* Questions. They are asked in the middle of everything, whatever is in flight; their answers agree
 * with each other, with where the program has put the sites, and with those of other sites, and
 * they leave nothing behind. */

enum { WINDOW = 64 }; /* generations that an endpoint begins at once */

/* Where the sites are -------------------------------------------------------------------------- */

/* Whether the subgroup has the sites that are together with one of it, each finer subgroup's
 * without a gap. */
static void check_sites(cohort_comm *comm, uint32_t level, uint32_t subgroup)
{
    uint32_t num = 0, lowest = NONE, num_changes = 1, finer = 0;
    const uint32_t *sites = cohort_comm_subgroup_sites(comm, level, subgroup, &num);
    CHECK(sites && num > 0);
    for (uint32_t i = 0; i < num; i++) {
        CHECK_INT(cohort_comm_subgroup(comm, level, sites[i]), subgroup);
        lowest = sites[i] < lowest ? sites[i] : lowest;
        num_changes += i > 0 && level > 0 &&
                       cohort_comm_subgroup(comm, level - 1, sites[i]) !=
                           cohort_comm_subgroup(comm, level - 1, sites[i - 1]);
    }
    for (uint32_t other = 0; level > 0 && other < cohort_comm_num_subgroups(comm, level - 1);
         other++) {
        uint32_t num_others;
        finer += cohort_comm_subgroup(comm, level,
                                      cohort_comm_subgroup_sites(comm, level - 1, other,
                                                                 &num_others)[0]) == subgroup;
    }
    CHECK_INT(sites[0], lowest);
    CHECK(level == 0 || num_changes == finer);
}

/* It is in the subgroup, and leads its own at each finer level. */
static void check_leader(cohort_comm *comm, uint32_t level, uint32_t subgroup)
{
    uint32_t leader = cohort_comm_subgroup_leader(comm, level, subgroup);
    CHECK_INT(cohort_comm_subgroup(comm, level, leader), subgroup);
    for (uint32_t finer = 0; finer < level; finer++)
        CHECK_INT(
            cohort_comm_subgroup_leader(comm, finer, cohort_comm_subgroup(comm, finer, leader)),
            leader);
}

static void check_places(const struct program *program, const struct group *group,
                         cohort_comm *comm, uint32_t level)
{
    for (uint32_t site = 0; site < group->num_sites; site++)
        for (uint32_t other = 0; other < site; other++) {
            uint32_t here = program->locality_of[group->actors[site]];
            uint32_t there = program->locality_of[group->actors[other]];
            CHECK_INT(cohort_comm_subgroup(comm, level, site) ==
                          cohort_comm_subgroup(comm, level, other),
                      program_place(program, here, level) == program_place(program, there, level));
        }
}

static void check_machine(const struct program *program, const struct group *group,
                          cohort_comm *comm)
{
    static const char *const names[NUM_LEVELS] = {"locality", "domain", "host"};
    uint32_t num = cohort_comm_num_machine_levels(comm), unused;
    CHECK_INT(num, NUM_LEVELS);
    for (uint32_t level = 0; level < num; level++) {
        uint32_t num_subgroups = cohort_comm_num_subgroups(comm, level);
        CHECK(strcmp(cohort_comm_level_name(comm, level), names[level]) == 0);
        CHECK(num_subgroups > 0);
        for (uint32_t subgroup = 0; subgroup < num_subgroups; subgroup++) {
            check_sites(comm, level, subgroup);
            check_leader(comm, level, subgroup);
        }
        if (level == COHORT_LEVEL_LOCALITY || program->means.has_places)
            check_places(program, group, comm, level);
        CHECK(cohort_comm_subgroup(comm, level, group->num_sites) == UINT32_MAX);
        CHECK(cohort_comm_subgroup_leader(comm, level, num_subgroups) == UINT32_MAX);
        CHECK(!cohort_comm_subgroup_sites(comm, level, num_subgroups, &unused));
    }
    CHECK(!cohort_comm_level_name(comm, num));
    CHECK_INT(cohort_comm_num_subgroups(comm, num), 0);
}

static void check_group(const struct group *group, uint32_t site, cohort_comm *comm)
{
    const cohort_comm_options *options = &group->options;
    bool is_flat = group->num_sites < options->flat_fallback_threshold;
    if (options->flat_fallback_threshold == COHORT_FORCE_TREE)
        is_flat = false;
    is_flat |= group->num_sites <= options->arity;
    CHECK_INT(cohort_comm_num_sites(comm), group->num_sites);
    CHECK_INT(cohort_comm_this_site(comm), site);
    CHECK_INT(cohort_comm_root_site(comm), options->root_site);
    CHECK_INT(cohort_comm_arity(comm), options->arity);
    CHECK_INT(cohort_comm_levels(comm) == 1, is_flat);
    CHECK(cohort_comm_name(comm)[0]);
}

/* The call ------------------------------------------------------------------------------------- */

/* What it chooses can be done, and if it chooses nothing, the call can't. */
static cohort_status check_choice(cohort_comm *comm, const cohort_call_question *question,
                                  const char *text)
{
    char name[64];
    const char *line = strchr(text, '\n');
    CHECK(line);
    const cohort_call_question plain = {.collective = question->collective,
                                        .count = question->count,
                                        .datatype = question->datatype,
                                        .op = question->op,
                                        .q = 1};
    cohort_status status = cohort_call_check(comm, &plain);
    if (sscanf(line, "\nchosen: %63[^ :,;\n]", name) != 1) {
        CHECK(strncmp(line, "\nnone: ", 7) == 0);
        CHECK(status != COHORT_OK);
        return status == COHORT_ERR_NO_MEMORY && scarce_has_failed() ? status : COHORT_OK;
    }
    if (!status)
        status = cohort_algorithm_check(comm, question->collective, name, question->count,
                                        question->datatype, question->op);
    return status;
}

/* Leaves out what only the sites of a locality know that shares memory with others. */
static void leave_out_own(char *text)
{
    static const char own[] = " by notes";
    for (char *at = text; (at = strstr(at, own));)
        memmove(at, at + strlen(own), strlen(at + strlen(own)) + 1);
}

static cohort_status check_explanation(cohort_comm *comm, const cohort_call_question *question,
                                       uint64_t *hash)
{
    char *text;
    cohort_status status = cohort_explain(comm, question->collective, question->count,
                                          question->datatype, question->op, &text);
    if (status)
        return status;
    leave_out_own(text);
    *hash = cohort__hash_mix(*hash, cohort__hash_bytes(text, strlen(text)));
    status = check_choice(comm, question, text);
    free(text);
    return status;
}

/* Without its last two lines, which are of the site's own. */
static cohort_status hash_description(cohort_comm *comm, uint64_t *hash)
{
    char *text;
    cohort_status status = cohort_comm_describe(comm, &text);
    if (status)
        return status;
    const char *own = strstr(text, "\nboard ");
    own = own ? own : strstr(text, "\nplans: ");
    *hash = cohort__hash_mix(
        *hash, cohort__hash_bytes(text, own ? (size_t)(own + 1 - text) : strlen(text)));
    free(text);
    return COHORT_OK;
}

/* Options that would fail the next call are neither used by questions nor left behind. */
static cohort_status check_call(cohort_comm *comm, const struct random_call *call, uint64_t *hash)
{
    size_t counts[RANDOM_SITES];
    const cohort_call_question question = random_question(call, counts);
    const cohort_call_options wrong = {.algorithm = "no such algorithm"};
    cohort_status answer = cohort_call_check(comm, &question), again, status;
    CHECK_OK(cohort_comm_next_call(comm, &wrong));
    again = cohort_call_check(comm, &question);
    status = hash_description(comm, hash);
    if (!status && call->kind < RANDOM_GATHERV && call->kind != RANDOM_CHECK)
        status = check_explanation(comm, &question, hash);
    CHECK_OK(cohort_comm_next_call(comm, NULL));
    if (scarce_has_failed() && (answer == COHORT_ERR_NO_MEMORY || again == COHORT_ERR_NO_MEMORY))
        return COHORT_ERR_NO_MEMORY;
    CHECK_INT(again, answer);
    *hash = cohort__hash_mix(*hash, answer);
    return status;
}

/* What is in flight ---------------------------------------------------------------------------- */

/* The oldest generation of GROUP's that is not over for sure. */
static uint64_t oldest_of(const struct flight *flights, uint32_t num, uint32_t group)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < num; i++) {
        const struct step *step = flights[i].step;
        if (step->group == group && step->generation > 0 && step->generation < oldest &&
            !flights[i].is_over)
            oldest = step->generation;
    }
    return oldest;
}

/* Whether something may just be ending a call or a message of GROUP, and calls wait for that. */
static bool is_disturbed(const struct world *world, uint32_t group)
{
    bool is_any = stage_dead() || world->facts->groups[group].is_revoked ||
                  world->program->groups[group].options.deadline > 0;
    for (uint32_t s = 0; s < world->program->num_steps; s++)
        is_any |= world->program->steps[s].group == group &&
                  (world->facts->steps[s].is_cancelled || world->facts->steps[s].has_deadline);
    return is_any;
}

/* Whether FLIGHT has a line, unless it is over by then: if it is a call, and does not wait for the
 * window, which begins with OLDEST. */
static bool has_line(const struct flight *flight, uint64_t oldest)
{
    return flight->kind == FLIGHT_SET || flight->kind == FLIGHT_GET ||
           flight->kind == FLIGHT_PROBE ||
           (flight->kind == FLIGHT_CALL && flight->step->generation < oldest + WINDOW);
}

/* And whether it may have one. */
static bool may_have_line(const struct flight *flight)
{
    return flight->kind != FLIGHT_IDLE && flight->kind != FLIGHT_AGREE &&
           flight->kind != FLIGHT_REMOTE &&
           (flight->was_dropped || !cohort_future_ready(flight->future));
}

static cohort_status check_roll_call(const struct world *world, uint32_t group, cohort_comm *comm,
                                     const struct flight *flights, uint32_t num_flights)
{
    uint64_t oldest = oldest_of(flights, num_flights, group);
    uint32_t least = 0, most = 0, num = 0;
    void *text;
    for (uint32_t i = 0; i < num_flights; i++)
        most +=
            flights[i].step->group == group && !flights[i].is_over && may_have_line(&flights[i]);
    cohort_status status = cohort_await_value(cohort_comm_roll_call(comm), &text);
    if (status)
        return status;
    for (uint32_t i = 0; !is_disturbed(world, group) && i < num_flights; i++)
        least += flights[i].step->group == group && is_in_flight(&flights[i]) &&
                 !cohort_future_ready(flights[i].future) && has_line(&flights[i], oldest);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        num++;
    if (num < least || num > most)
        FAIL("%u to %u are in flight, not as in:\n%s", least, most, (const char *)text);
    free(text);
    return COHORT_OK;
}

/* The dead, in an order that all localities have in common. */
static void check_failed(const struct world *world, uint32_t actor)
{
    uint32_t ranks[MAX_LOCALITIES], seen = 0;
    uint32_t num =
        stage_failed_localities(world->program->locality_of[actor], ranks, MAX_LOCALITIES);
    CHECK(num <= (uint32_t)__builtin_popcount(stage_dead()));
    for (uint32_t i = 0; i < num; i++) {
        uint32_t first = 0;
        CHECK(stage_dead() >> ranks[i] & 1);
        CHECK(!(seen >> ranks[i] & 1));
        seen |= 1u << ranks[i];
        CHECK(atomic_compare_exchange_strong(&world->facts->deaths[i], &first, ranks[i] + 1) ||
              first == ranks[i] + 1);
    }
}

cohort_status ask_all(struct world *world, uint32_t number, uint32_t site, cohort_comm *comm,
                      const struct flight *flights, uint32_t num_flights)
{
    const struct step *step = &world->program->steps[number];
    const struct group *group = &world->program->groups[step->group];
    uint64_t hash = number;
    check_group(group, site, comm);
    check_machine(world->program, group, comm);
    if (world->program->keeps_going) /* else cohortrun ends all */
        check_failed(world, group->actors[site]);
    cohort_status status = check_call(comm, &step->call, &hash);
    if (!status && !oracle_is_the_same(&world->facts->steps[number], hash | 1))
        FAIL("step %u: another answer than elsewhere", number);
    return status ? status : check_roll_call(world, step->group, comm, flights, num_flights);
}
