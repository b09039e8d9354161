/* SPDX-License-Identifier: Apache-2.0 */
/* The plans of sparse exchanges on random machines: the plan check, and how much a site has to look
 * at, however many sites there are. That the objects arrive is tested by coll/sparse. */
#include "collectives/algo/sparse.h"

#include <stdlib.h>

#include "collectives/algo/pattern/levels.h"
#include "tests/algo/place.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

static struct cohort__request request_of(const struct place *place)
{
    return (struct cohort__request){.collective = COHORT__ALL_TO_ALL,
                                    .num_sites = place->num_sites,
                                    .arity = 3,
                                    .bytes = 1,
                                    .element = 1,
                                    .commutative = true,
                                    .machine = place->machine};
}

/* Builds and checks the plans of all sites. The caller destroys them. */
static struct cohort__plan **build(const char *row, struct cohort__request request)
{
    struct cohort__plan **plans = calloc(request.num_sites, sizeof(struct cohort__plan *));
    const struct cohort__algorithm *algorithm = cohort__algorithm_find(COHORT__ALL_TO_ALL, row);
    CHECK(plans && algorithm);
    for (uint32_t site = 0; site < request.num_sites; site++) {
        request.this_site = site;
        CHECK_OK(cohort__sparse_build(algorithm, &request, &plans[site]));
        CHECK(plans[site]->in_bytes <= 1 && plans[site]->out_bytes == 1);
    }
    if (plan_check(plans, request.num_sites))
        FAIL("%s: %s", row, cohort_error_message());
    return plans;
}

/* How often the steps of PLAN read and write each slot; at once COPYs, SENDs, RECVs, ROUTEs and
 * MEETs. Slots of IN are written once from the start. */
struct uses {
    uint32_t *reads, *writes;
};

static void add_uses(const struct cohort__plan *plan, uint32_t ref, uint32_t *uses)
{
    const struct cohort__block *block = &plan->blocks[plan->block_refs[ref]];
    size_t first = block->space == COHORT__SPACE_IN    ? 0
                   : block->space == COHORT__SPACE_OUT ? plan->in_bytes
                                                       : plan->in_bytes + plan->out_bytes;
    for (uint32_t piece = 0; piece < block->count; piece++)
        for (size_t i = 0; i < block->bytes; i++)
            uses[first + block->offset + piece * block->stride + i]++;
}

static bool is_read(const struct cohort__step *step, uint32_t operand)
{
    return step->kind == COHORT__STEP_SEND || (step->kind != COHORT__STEP_RECV && operand == 1);
}

/* Whether a site hands on something twice. */
static bool hands_on_twice(const struct cohort__plan *plan)
{
    size_t num = plan->in_bytes + plan->out_bytes + plan->tmp_bytes;
    struct uses uses = {calloc(num + 1, sizeof(uint32_t)), calloc(num + 1, sizeof(uint32_t))};
    bool found = false;
    CHECK(uses.reads && uses.writes);
    for (size_t i = 0; i < plan->in_bytes; i++)
        uses.writes[i]++;
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        for (uint32_t k = 0; k < step->num_blocks; k++)
            add_uses(plan, step->first_block + k, is_read(step, k) ? uses.reads : uses.writes);
    }
    for (size_t i = 0; i < num; i++)
        found = found || uses.reads[i] > uses.writes[i];
    free(uses.reads);
    free(uses.writes);
    return found;
}

static void destroy(struct cohort__plan **plans, uint32_t num)
{
    for (uint32_t site = 0; site < num; site++)
        cohort__plan_unref(plans[site]);
    free(plans);
}

static void check(const char *row, const struct cohort__request *request)
{
    destroy(build(row, *request), request->num_sites);
}

TEST(random)
{
    struct cohort__random random = cohort__random_seeded(5);
    for (int round = 0; round < 60; round++) {
        struct place place;
        place_random_or_regular(&place, &random);
        struct cohort__request request = request_of(&place);
        request.turn = cohort__random_next(&random);
        check("bruck", &request);
        check("linear", &request);
        if (cohort__levels_accepts(&request)) {
            request.meets = cohort__random_below(&random, 2);
            request.inner = place_random_inner(COHORT__ALL_TO_ALL, place_num_leaders(&place), true,
                                               true, &random);
            check("levels", &request);
        }
        place_fini(&place);
    }
}

/* A site that leads nobody has one slot each way, and messages or a meeting with its leader only.
 */
TEST(few_slots)
{
    struct place place;
    place_regular(&place, 3, 1, 2, 8, false);
    struct cohort__request request = request_of(&place);
    request.meets = true;
    CHECK(cohort__sparse_row(&request) == cohort__algorithm_find(COHORT__ALL_TO_ALL, "levels"));
    struct cohort__plan **plans = build("levels", request);
    uint32_t num_leaders = 0;
    for (uint32_t site = 0; site < request.num_sites; site++) {
        uint32_t num_routes = 0;
        for (uint32_t i = 0; i < plans[site]->num_steps; i++)
            num_routes += plans[site]->steps[i].kind == COHORT__STEP_ROUTE;
        CHECK(num_routes == 0 || num_routes == 2);
        num_leaders += num_routes / 2;
        /* Two localities of a host have 8 bundles each; and 3 leaders, the slots of whom are
         * aligned. */
        CHECK(plans[site]->tmp_bytes <= (num_routes ? 6 : 2) * 64);
        CHECK(num_routes || plans[site]->num_steps <= 8);
    }
    CHECK_INT(num_leaders, 3);
    destroy(plans, request.num_sites);
    place_fini(&place);
}

TEST(rows)
{
    struct place place;
    place_regular(&place, 1, 1, 1, 9, false);
    struct cohort__request request = request_of(&place);
    CHECK(!cohort__sparse_row(&request));
    request.can_meet = true;
    CHECK(cohort__sparse_row(&request)->shared);
    check("shared", &request);
    place_fini(&place);
    place_regular(&place, 1, 1, 9, 1, false);
    request = request_of(&place);
    CHECK(!cohort__sparse_row(&request));
    check("pairwise", &request);
    place_fini(&place);
}

/* Whether site 0 copies what it got from other sites, or leaders. */
static bool has_copies(const char *row, struct cohort__request request)
{
    struct cohort__plan **plans = build(row, request);
    const struct cohort__plan *plan = plans[0];
    bool found = false;
    for (uint32_t i = 0; i < plan->num_steps; i++)
        found = found || (plan->steps[i].kind == COHORT__STEP_ROUTE && plan->steps[i].op);
    destroy(plans, request.num_sites);
    return found;
}

/* Objects change hands where they end, so only rows that say so may send one twice. */
TEST(once)
{
    struct place place;
    uint32_t num_replicating = 0;
    place_regular(&place, 2, 1, 2, 4, false);
    struct cohort__request request = request_of(&place);
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        if (cohort__algorithm_refuses(algorithm, &request))
            continue;
        struct cohort__plan **plans = build(algorithm->name, request);
        bool found = false;
        for (uint32_t site = 0; site < request.num_sites; site++)
            found = found || hands_on_twice(plans[site]);
        if (found != algorithm->replicates)
            FAIL("%s %s something twice", algorithm->name, found ? "hands on" : "never hands on");
        num_replicating += found;
        destroy(plans, request.num_sites);
    }
    CHECK_INT(num_replicating, 1);
    CHECK(!has_copies("bruck", request) && !has_copies("levels", request));
    CHECK(has_copies("tree", request));
    request.inner = 1 + cohort__algorithm_row(COHORT__ALL_TO_ALL, "tree");
    CHECK(has_copies("levels", request));
    place_fini(&place);
}
