/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/select.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/machine.h"
#include "tests/support/test.h"

/* A machine on which only some of the terms have a cost. */
static struct cohort__parameters parameters;
static struct cohort__placement placement;

static void set_machine(double startup, double byte, double message)
{
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = 4;
    parameters.workers = 1;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++) {
        parameters.terms[distance][COHORT__TERM_STARTUP] = startup;
        parameters.terms[distance][COHORT__TERM_BYTE] = byte;
        parameters.terms[distance][COHORT__TERM_MESSAGE] = message;
    }
}

static struct cohort__request request_of(enum cohort__collective collective, uint32_t num_sites,
                                         size_t bytes)
{
    placement = (struct cohort__placement){num_sites, num_sites, 1, 1, true, 0};
    return (struct cohort__request){.collective = collective,
                                    .num_sites = num_sites,
                                    .arity = 4,
                                    .bytes = bytes,
                                    .element = 8,
                                    .commutative = true};
}

static struct cohort__question question_of(const struct cohort__request *request,
                                           enum cohort__mode mode)
{
    return (struct cohort__question){
        .request = request, .parameters = &parameters, .placement = &placement, .mode = mode};
}

static const struct cohort__algorithm *choice(const struct cohort__question *question)
{
    struct cohort__candidate chosen = {0};
    CHECK_OK(cohort__select(question, &chosen));
    CHECK(!chosen.algorithm || cohort__algorithms[chosen.row] == chosen.algorithm);
    return chosen.algorithm;
}

TEST(is_flat)
{
    CHECK(cohort__select_is_flat(15, 4, 16));
    CHECK(!cohort__select_is_flat(16, 4, 16));
    CHECK(!cohort__select_is_flat(5, 4, 0));
    CHECK(cohort__select_is_flat(4, 4, 0));
    CHECK(cohort__select_is_flat(1, 2, 0));
    CHECK(!cohort__select_is_flat(3, 2, 0));
    CHECK(cohort__select_is_flat(64, 2, 1024));
}

/* Flat: no row over the tree. Tree: only such rows, if there are any. There is always some row. */
TEST(modes)
{
    set_machine(1000, 1, 100);
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        struct cohort__candidate all[COHORT__MAX_CANDIDATES];
        struct cohort__request request =
            request_of((enum cohort__collective)collective, 20, collective % 2 ? 8 : 1 << 20);
        struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
        uint32_t num = cohort__select_candidates(&question, all);
        bool has_tree = false, has_any = false;
        CHECK(num < COHORT__MAX_CANDIDATES);
        for (uint32_t i = 0; i < num; i++) {
            has_any = has_any || !all[i].refused;
            has_tree = has_tree || (!all[i].refused && all[i].algorithm->hierarchical);
            CHECK(i == 0 || all[i - 1].refused || all[i].refused || !all[i].is_priced ||
                  all[i - 1].time <= all[i].time);
        }
        if (!has_any)
            continue;
        CHECK(choice(&question)->collective == collective);
        question.mode = COHORT__MODE_FLAT;
        CHECK(!choice(&question)->hierarchical);
        question.mode = COHORT__MODE_TREE;
        CHECK_INT(choice(&question)->hierarchical, has_tree);
    }
}

TEST(same_for_all_sites)
{
    set_machine(1000, 1, 100);
    for (unsigned collective = 0; collective < COHORT__EXCHANGE; collective++)
        for (uint32_t num_sites = 1; num_sites < 20; num_sites++)
            for (size_t bytes = 8; bytes < 1 << 20; bytes *= 64) {
                struct cohort__request request =
                    request_of((enum cohort__collective)collective, num_sites, bytes);
                struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
                struct cohort__candidate all[COHORT__MAX_CANDIDATES];
                if (cohort__select_candidates(&question, all) == 0 || all[0].refused)
                    continue;
                for (; request.this_site < num_sites; request.this_site++)
                    CHECK(choice(&question) == all[0].algorithm);
            }
}

/* The amounts of startups, bytes and messages are those of the formulas. If only startups cost, the
 * row with the fewest startups is chosen. The same holds for bytes and for messages. */
TEST(what_costs_decides)
{
    static const enum cohort__term terms[] = {COHORT__TERM_STARTUP, COHORT__TERM_BYTE,
                                              COHORT__TERM_MESSAGE};
    for (unsigned collective = 0; collective <= COHORT__BARRIER; collective++)
        for (unsigned t = 0; t < 3; t++) {
            struct cohort__request request =
                request_of((enum cohort__collective)collective, 64, 4096);
            struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
            struct cohort__candidate all[COHORT__MAX_CANDIDATES];
            double amounts[COHORT__NUM_TERMS], least[COHORT__NUM_TERMS];
            set_machine(0, 0, 0);
            for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
                parameters.terms[distance][terms[t]] = 1;
            uint32_t num = cohort__select_candidates(&question, all);
            if (!all[0].is_priced)
                continue;
            cohort__predict_amounts(&parameters, &placement, COHORT__DISTANCE_LOCALITIES,
                                    &all[0].cost, least);
            for (uint32_t i = 1; i < num && !all[i].refused && all[i].is_priced; i++) {
                cohort__predict_amounts(&parameters, &placement, COHORT__DISTANCE_LOCALITIES,
                                        &all[i].cost, amounts);
                CHECK(least[terms[t]] <= amounts[terms[t]]);
            }
        }
}

/* The time by the formulas, if a startup costs 1000 and each byte of any message 1. */
static double price(const struct cohort__algorithm *algorithm,
                    const struct cohort__request *request)
{
    struct cohort__cost cost = cohort__algorithm_cost(algorithm, request);
    return 1000 * cost.startups + cost.moved;
}

/* A gather at one of 64 sites takes log2 64 = 6 startups in a binomial tree, in which blocks are
 * passed on several times. Without a tree it takes 63 startups, and each block is sent once. The
 * tree is better for small blocks, and the other way for large ones. The choice changes at the size
 * that the formulas give. */
TEST(crossover)
{
    const struct cohort__algorithm *last = NULL;
    unsigned num_crossings = 0;
    set_machine(1000, 0, 0);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        parameters.terms[distance][COHORT__TERM_MOVED] = parameters.cores;
    for (size_t bytes = 8; bytes <= 1 << 20; bytes += (bytes / 64 + 1) * 8) {
        struct cohort__request request = request_of(COHORT__GATHER, 64, bytes);
        struct cohort__question question = question_of(&request, COHORT__MODE_FLAT);
        const struct cohort__algorithm *now = choice(&question);
        if (!last)
            CHECK_TEXT(now->name, "binomial");
        num_crossings += last && last != now;
        for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
            const struct cohort__algorithm *other = cohort__algorithms[row];
            if (other->collective == COHORT__GATHER && other->cost && !other->hierarchical &&
                !cohort__algorithm_refuses(other, &request))
                CHECK(price(now, &request) <= price(other, &request));
        }
        last = now;
    }
    CHECK_TEXT(last->name, "linear");
    CHECK(num_crossings > 0);
}

TEST(forced)
{
    set_machine(1000, 1, 100);
    struct cohort__request request = request_of(COHORT__ALL_TO_ALL, 20, 8);
    struct cohort__question question = question_of(&request, COHORT__MODE_FLAT);
    question.forced = cohort__algorithm_find(COHORT__ALL_TO_ALL, "padded");
    CHECK(choice(&question) == question.forced);
    request.bytes = SIZE_MAX / 8 * 8;
    struct cohort__candidate chosen;
    CHECK_FAILS(cohort__select(&question, &chosen), COHORT_ERR_BAD_PARAMETER,
                "the algorithm padded of all_to_all");
    CHECK_CONTAINS(cohort_error_message(), "too large");
}

TEST(budget)
{
    set_machine(1000, 1, 100);
    struct cohort__request request = request_of(COHORT__ALL_TO_ALL, 20, 1 << 20);
    struct cohort__question question = question_of(&request, COHORT__MODE_TREE);
    question.forced = cohort__algorithm_find(COHORT__ALL_TO_ALL, "hierarchical");
    if (!question.forced->cost)
        return;
    double needs = cohort__algorithm_cost(question.forced, &request).memory;
    struct cohort__candidate chosen;
    question.memory_budget = (uint64_t)needs;
    CHECK_OK(cohort__select(&question, &chosen));
    question.memory_budget--;
    CHECK_FAILS(cohort__select(&question, &chosen), COHORT_ERR_NO_MEMORY,
                "algorithm hierarchical, which is forced,");
    char figure[40];
    snprintf(figure, sizeof(figure), "takes %.0f bytes", needs);
    CHECK_CONTAINS(cohort_error_message(), figure);
    question.memory_budget++;
    question.memory_beside = 1;
    CHECK_INT(cohort__select(&question, &chosen), COHORT_ERR_NO_MEMORY);
    question.memory_beside = 0;
    question.memory_budget--;
    /* Without force, a row that needs less memory is chosen. */
    question.forced = NULL;
    question.mode = COHORT__MODE_ANY;
    CHECK_OK(cohort__select(&question, &chosen));
    CHECK(chosen.cost.memory <= (double)question.memory_budget);
}

TEST(reproducible)
{
    set_machine(1000, 1, 100);
    struct cohort__request request = request_of(COHORT__REDUCE, 20, 8);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    question.is_reproducible = true;
    CHECK(choice(&question)->ordered);
    request.collective = COHORT__BROADCAST; /* reduces nothing */
    CHECK_INT(choice(&question)->collective, COHORT__BROADCAST);
}

/* If not all sites know the sizes, the same row is chosen at all sites. */
TEST(ragged)
{
    set_machine(1000, 1, 0);
    struct cohort__part parts[20];
    for (uint32_t site = 0; site < 20; site++)
        parts[site] = (struct cohort__part){site, site * 64, site % 3 * 8};
    struct cohort__request request = request_of(COHORT__GATHER, 20, 8);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    question.is_ragged = true;
    struct cohort__candidate other, root;
    cohort_status status = cohort__select(&question, &other);
    request.bytes = 0;
    request.out_parts = parts;
    request.num_out_parts = 20;
    CHECK_INT(cohort__select(&question, &root), status);
    if (status)
        CHECK_INT(status, COHORT_ERR_NOT_SUPPORTED);
    else
        CHECK(root.algorithm == other.algorithm && root.algorithm->ragged);
    request.collective = COHORT__ALL_GATHER;
    question.are_sizes_known = true;
    if (cohort__select(&question, &root) == COHORT_OK)
        CHECK(root.algorithm->ragged && root.is_priced == (root.algorithm->stages == NULL));
}

/* Makes row ROW nearly free between hosts. */
static void make_cheap(uint32_t row)
{
    memset(parameters.factors[COHORT__DISTANCE_HOSTS][row], -112, COHORT__KNOTS);
}

static struct cohort__candidate candidate_of(const struct cohort__question *question,
                                             const char *name)
{
    struct cohort__candidate all[COHORT__MAX_CANDIDATES];
    uint32_t num = cohort__select_candidates(question, all), i = 0;
    while (i < num && strcmp(all[i].algorithm->name, name) != 0)
        i++;
    CHECK(i < num);
    return all[i];
}

static struct cohort__candidate composed(const struct cohort__request *request, bool is_forced)
{
    struct cohort__question question = question_of(request, COHORT__MODE_ANY);
    if (is_forced)
        question.forced = cohort__algorithm_find(request->collective, "levels");
    return candidate_of(&question, "levels");
}

/* The leaders' row is the cheapest one for them, but never one over a tree. Where the sites can
 * meet, a composed row is not chosen by itself. */
TEST(composed)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__request request = request_of(COHORT__ALL_REDUCE, TEST_MACHINE_SITES, 8);
    request.machine = machine;
    set_machine(1000, 1, 100);
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        request.collective = algorithm->collective;
        if (algorithm->shared || algorithm->stages || algorithm->collective == COHORT__SCAN ||
            algorithm->collective == COHORT__SHIFT ||
            !cohort__algorithm_find(request.collective, "levels"))
            continue;
        set_machine(1000, 1, 100);
        make_cheap(row);
        struct cohort__candidate candidate = composed(&request, true);
        CHECK(candidate.is_priced && !candidate.refused && candidate.inner > 0);
        const struct cohort__algorithm *inner = cohort__algorithms[candidate.inner - 1];
        CHECK(!inner->hierarchical && inner->collective == request.collective);
        CHECK(algorithm->hierarchical || inner == algorithm);
    }
    request.collective = COHORT__ALL_REDUCE;
    CHECK(!composed(&request, false).refused);
    request.can_meet = true;
    CHECK_CONTAINS(composed(&request, false).refused, "the sites can meet");
    CHECK(!composed(&request, true).refused);
    cohort__machine_destroy(machine);
}

/* The leaders of an all_to_all sort all that their sites send and get. They are one in each host,
 * of 8 sites. */
TEST(copies)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__request request = request_of(COHORT__ALL_TO_ALL, TEST_MACHINE_SITES, 4096);
    const uint32_t gather = cohort__algorithm_row(COHORT__GATHER, "linear");
    request.machine = machine;
    set_machine(0, 0, 0);
    parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_MOVED] = 1;
    double hot = composed(&request, true).time;
    memset(parameters.factors[COHORT__DISTANCE_TASKS][gather], 16, COHORT__KNOTS); /* twice */
    double cold = composed(&request, true).time;
    CHECK_INT((int)(cold - hot), 2 * 8 * TEST_MACHINE_SITES * 4096);
    cohort__machine_destroy(machine);
}

/* Two localities of each of two hosts lead a share. The hosts have two cores each, or share them.
 */
TEST(shares)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__placement placement = cohort__placement_of(machine);
    struct cohort__request request = request_of(COHORT__ALL_REDUCE, TEST_MACHINE_SITES, 1 << 20);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    request.machine = machine;
    question.placement = &placement;
    set_machine(1000, 1, 100);
    memset(parameters.terms[COHORT__DISTANCE_TASKS], 0, sizeof(parameters.terms[0]));
    parameters.cores = 2;
    double *link = &parameters.terms[COHORT__DISTANCE_HOSTS][COHORT__TERM_BYTE];
    double slow = candidate_of(&question, "shares").time;
    double slow_levels = candidate_of(&question, "levels").time;
    *link = 0.1;
    double fast = candidate_of(&question, "shares").time;
    double fast_levels = candidate_of(&question, "levels").time;
    CHECK(fast < fast_levels);
    /* Both who lead send through the link of their host, so it carries as much as for one. */
    CHECK(slow - fast > 0.9 * (slow_levels - fast_levels));
    request.bytes = 8;
    CHECK(candidate_of(&question, "shares").time > candidate_of(&question, "levels").time);
    request.bytes = 1 << 20;
    placement.sharing = 2;
    CHECK_CONTAINS(candidate_of(&question, "shares").refused, "share cores");
    placement.sharing = 1;
    parameters.cores = 1;
    CHECK_CONTAINS(candidate_of(&question, "shares").refused, "share cores");
    question.forced = cohort__algorithm_find(COHORT__ALL_REDUCE, "shares");
    CHECK(!candidate_of(&question, "shares").refused);
    cohort__machine_destroy(machine);
}

/* A long block goes in segments: what follows the first one is what the slowest stage takes. Where
 * hosts share their cores it is what all stages take. */
TEST(segments)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__placement placement = cohort__placement_of(machine);
    struct cohort__request request = request_of(COHORT__ALL_REDUCE, TEST_MACHINE_SITES, 1 << 20);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    struct cohort__stages stages;
    request.machine = machine;
    question.placement = &placement;
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = 2;
    parameters.workers = 1;
    parameters.terms[COHORT__DISTANCE_HOSTS][COHORT__TERM_BYTE] = 1;
    parameters.terms[COHORT__DISTANCE_LOCALITIES][COHORT__TERM_BYTE] = 0.5;
    const struct cohort__candidate levels = candidate_of(&question, "levels");
    cohort__select_stages(&question, levels.algorithm, &request, &stages);
    CHECK_INT(stages.num_segments, 4);
    CHECK_INT(stages.stages[0].bytes, 1 << 18);
    /* Bytes one after the other on the way up, at the top, and back. Then 4 (u + t + d) is the time
     * of all stages, one after the other. */
    placement.sharing = 2;
    const double in_turn = candidate_of(&question, "levels").time;
    parameters.terms[COHORT__DISTANCE_LOCALITIES][COHORT__TERM_BYTE] = 0;
    const double top = candidate_of(&question, "levels").time;
    CHECK(top > 0 && in_turn > top);
    CHECK(levels.time > 0.99 * (in_turn / 4 + top * 3 / 4));
    CHECK(levels.time < 1.01 * (in_turn / 4 + top * 3 / 4));
    cohort__machine_destroy(machine);
}

/* Where all sites know the sizes, the sites of a locality gather by messages, and meet for what is
 * of one size. */
TEST(composed_ragged)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__request request = request_of(COHORT__ALL_GATHER, TEST_MACHINE_SITES, 8);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    struct cohort__stages stages;
    request.machine = machine;
    request.meets = true;
    request.can_meet = true; /* not with such blocks */
    question.is_ragged = question.are_sizes_known = true;
    set_machine(1000, 1, 100);
    struct cohort__candidate candidate = candidate_of(&question, "levels");
    CHECK(!candidate.refused && candidate.is_priced && candidate.inner > 0);
    CHECK(cohort__algorithms[candidate.inner - 1]->ragged);
    cohort__select_stages(&question, candidate.algorithm, &request, &stages);
    CHECK(stages.num > 2 && stages.stages[0].collective == COHORT__GATHER);
    CHECK(!cohort__stage_meets(&question, &stages.stages[0]));
    CHECK(stages.stages[stages.num - 1].collective == COHORT__BROADCAST);
    CHECK(cohort__stage_meets(&question, &stages.stages[stages.num - 1]));
    question.are_sizes_known = false; /* then a leader can't know what it gathers */
    request.can_meet = false;
    request.collective = COHORT__GATHER;
    CHECK(strcmp(choice(&question)->name, "linear") == 0);
    question.forced = cohort__algorithm_find(COHORT__GATHER, "levels");
    CHECK_CONTAINS(candidate_of(&question, "levels").refused, "blocks of one size");
    request.collective = COHORT__ALL_TO_ALL;
    question.forced = NULL;
    CHECK(strcmp(choice(&question)->name, "linear") == 0);
    CHECK_CONTAINS(candidate_of(&question, "spread").refused, "not all sites know the sizes");
    cohort__machine_destroy(machine);
}

/* A composed shift has an exchange among its leaders. It refuses where no two blocks have the same
 * way; and how many blocks leave a host is counted for the direct one, too. */
TEST(shift)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__request request = request_of(COHORT__SHIFT, TEST_MACHINE_SITES, 8);
    struct cohort__question question = question_of(&request, COHORT__MODE_ANY);
    request.machine = machine;
    request.meets = true;
    placement = cohort__placement_of(machine);
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = parameters.workers = 1;
    parameters.terms[COHORT__DISTANCE_HOSTS][COHORT__TERM_STARTUP] = 1000;
    request.shift = 1;
    CHECK_CONTAINS(candidate_of(&question, "levels").refused, "two have their targets");
    CHECK_INT((int)candidate_of(&question, "direct").time, 125); /* one of eight leaves the host */
    request.shift = 6;
    CHECK_INT((int)candidate_of(&question, "direct").time, 750);
    struct cohort__candidate levels = candidate_of(&question, "levels");
    CHECK(!levels.refused && levels.is_priced);
    CHECK(cohort__algorithms[levels.inner - 1]->collective == COHORT__EXCHANGE);
    CHECK_INT((int)levels.time, 1000); /* one message for each of two leaders */
    cohort__machine_destroy(machine);
}
