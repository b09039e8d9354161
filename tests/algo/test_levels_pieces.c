/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that follow the machine send what comes from other hosts on while the network still
 * carries others: the plan check, the results, and what each row of OUT waits for. */
#include <stdlib.h>

#include "collectives/algo/pattern/levels.h"
#include "collectives/plan/decorations.h"
#include "tests/algo/call.h"
#include "tests/algo/place.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { NUM_MACHINES = 60, FEW_MACHINES = 20, NUM_RESULTS = 40, FEW_RESULTS = 10 };
enum { NOTE = COHORT__LEVELS_NOTE_BYTES };

/* Plans with rows ---------------------------------------------------------------------------- */

/* Which sites are called in place, and where each site wants blocks of different sizes. */
static struct {
    bool is_in_place[PLACE_MAX_SITES];
    struct cohort__part parts[PLACE_MAX_SITES]; /* none, if the first site's is empty */
} how;

static void put_in_place(const struct cohort__request *request, struct cohort__plan **plan)
{
    struct cohort__plan *inner = *plan;
    size_t offset = request->collective == COHORT__ALL_TO_ALL
                        ? 0
                        : cohort__request_out(request, request->this_site).offset;
    CHECK_OK(cohort__plan_in_place(inner, offset, plan));
    cohort__plan_unref(inner);
}

static void add_rows(const struct cohort__request *request, struct cohort__plan **plan)
{
    struct cohort__plan *inner = *plan;
    struct cohort__row rows[PLACE_MAX_SITES];
    for (uint32_t site = 0; site < request->num_sites; site++) {
        struct cohort__part part = cohort__request_out(request, site);
        rows[site] = (struct cohort__row){part.offset, part.bytes};
    }
    CHECK_OK(cohort__plan_rows(inner, rows, request->num_sites, plan));
    cohort__plan_unref(inner);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__request own = *request;
    if (how.parts[0].bytes > 0) {
        own.out_parts = how.parts;
        own.num_out_parts = own.num_sites;
        own.bytes = how.parts[own.this_site].bytes;
    }
    cohort_status status =
        cohort__algorithm_build(cohort__algorithm_find(own.collective, "levels"), &own, ret_plan);
    bool has_rows = own.collective != COHORT__GATHER || own.this_site == own.root;
    if (!status && has_rows && how.is_in_place[own.this_site])
        put_in_place(&own, ret_plan);
    if (!status && has_rows)
        add_rows(&own, ret_plan);
    return status;
}

/* Blocks of up to three times BYTES, in the order of the sites, or backwards and with gaps. */
static void make_ragged(uint32_t num_sites, size_t bytes, bool is_backwards)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < num_sites; i++) {
        uint32_t site = is_backwards ? num_sites - 1 - i : i;
        how.parts[site] =
            (struct cohort__part){site, offset, (site % 5 != 4) * (1 + site % 3) * bytes};
        offset += how.parts[site].bytes + (is_backwards ? i % 3 : 0);
    }
}

static void make_in_place(struct cohort__random *random)
{
    for (uint32_t site = 0; site < PLACE_MAX_SITES; site++)
        how.is_in_place[site] = random && cohort__random_below(random, 2);
}

static size_t out_bytes(const struct cohort__request *request)
{
    size_t bytes = how.parts[0].bytes > 0 ? 0 : request->num_sites * request->bytes;
    for (uint32_t site = 0; how.parts[0].bytes > 0 && site < request->num_sites; site++)
        bytes += how.parts[site].bytes;
    return bytes;
}

/* What rows wait for ------------------------------------------------------------------------- */

/* For each step of each site: a bit for each leader one of whose messages to another leader has to
 * come before the step is done. */
struct waits {
    struct cohort__plan *const *plans;
    uint32_t num_sites;
    uint64_t *leaders[PLACE_MAX_SITES];
    bool has_changed;
};

static void add(struct waits *waits, uint32_t site, uint32_t step, uint64_t leaders)
{
    waits->has_changed |= (leaders & ~waits->leaders[site][step]) != 0;
    waits->leaders[site][step] |= leaders;
}

/* The step of KIND at SITE, with TAG and, of a READ, of PEER. */
static void add_to(struct waits *waits, uint32_t site, unsigned kind, uint32_t tag, uint32_t peer,
                   uint64_t leaders)
{
    const struct cohort__plan *plan = waits->plans[site];
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == kind && plan->steps[i].tag == tag &&
            (kind != COHORT__STEP_READ || plan->steps[i].peer == peer))
            add(waits, site, i, leaders);
}

/* What waits for a step also waits for what that step has waited for. */
static void pass_on(struct waits *waits, uint32_t site, uint32_t index)
{
    const struct cohort__plan *plan = waits->plans[site];
    const struct cohort__step *step = &plan->steps[index];
    uint64_t leaders = waits->leaders[site][index];
    for (uint32_t k = 0; k < step->num_successors; k++)
        add(waits, site, plan->successors[step->first_successor + k], leaders);
    if (step->kind == COHORT__STEP_SEND)
        add(waits, step->peer,
            cohort__plan_find_recv(waits->plans[step->peer], step->phase, site, step->tag),
            leaders);
    for (uint32_t rank = 0; step->kind == COHORT__STEP_MEET && rank < plan->num_members; rank++)
        add_to(waits, cohort__plan_member(plan, rank), COHORT__STEP_MEET, step->tag, 0, leaders);
    for (uint32_t other = 0; step->kind == COHORT__STEP_POST && other < waits->num_sites; other++)
        add_to(waits, other, COHORT__STEP_READ, step->tag, site, leaders);
}

static bool is_from_leader(const struct cohort__step *step)
{
    return step->kind == COHORT__STEP_RECV && step->phase == COHORT__LEVELS_TOP;
}

static void waits_init(struct waits *waits, const struct call *call)
{
    *waits = (struct waits){
        .plans = call->plans, .num_sites = call->request.num_sites, .has_changed = true};
    for (uint32_t site = 0; site < waits->num_sites; site++) {
        const struct cohort__plan *plan = call->plans[site];
        waits->leaders[site] = test_calloc(plan->num_steps, sizeof(uint64_t));
        for (uint32_t i = 0; i < plan->num_steps; i++)
            if (is_from_leader(&plan->steps[i]))
                waits->leaders[site][i] = UINT64_C(1) << plan->steps[i].peer;
    }
    while (waits->has_changed) {
        waits->has_changed = false;
        for (uint32_t site = 0; site < waits->num_sites; site++)
            for (uint32_t i = 0; i < call->plans[site]->num_steps; i++)
                pass_on(waits, site, i);
    }
}

static void waits_fini(struct waits *waits)
{
    for (uint32_t site = 0; site < waits->num_sites; site++)
        free(waits->leaders[site]);
}

static bool is_leader(const struct cohort__plan *plan)
{
    bool is = false;
    for (uint32_t i = 0; i < plan->num_steps; i++)
        is |= is_from_leader(&plan->steps[i]);
    return is;
}

/* Of several pieces, a row waits for no messages between leaders but those of its own. Of one, the
 * rows of those who don't lead wait for all messages, except for empty ones. */
static void check_waits(const struct call *call, uint32_t num_leaders, uint32_t num_pieces)
{
    struct waits waits;
    const uint32_t most = (num_leaders + num_pieces - 1) / num_pieces;
    const uint32_t least = num_pieces == 1 && how.parts[0].bytes == 0 ? num_leaders - 1 : 0;
    waits_init(&waits, call);
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        const struct cohort__plan *plan = call->plans[site];
        for (uint32_t i = 0; i < plan->num_steps; i++) {
            uint32_t num = (uint32_t)__builtin_popcountll(waits.leaders[site][i]);
            if (plan->steps[i].kind != COHORT__STEP_DONE || plan->steps[i].num_waits == 0)
                continue;
            if (num > most || (num < least && !is_leader(plan)))
                FAIL("%s, %u sites, %u leaders, %zu bytes: at site %u row %u waits for "
                     "%u messages between leaders, with %u pieces",
                     plan->name, plan->num_sites, num_leaders, call->request.bytes, site,
                     plan->steps[i].peer, num, num_pieces);
        }
    }
    waits_fini(&waits);
}

/* However many pieces there are: one message for each ordered pair of leaders, or to the root. */
static void check_messages(const struct call *call, uint32_t num_leaders)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (uint32_t i = 0; i < call->plans[site]->num_steps; i++)
            num += is_from_leader(&call->plans[site]->steps[i]);
    bool is_gather = call->request.collective == COHORT__GATHER;
    CHECK_INT(num, (is_gather ? 1 : num_leaders) * (num_leaders - 1));
}

static bool keeps_order(const struct place *place)
{
    bool keeps = true;
    for (uint32_t site = 0; site < place->num_sites; site++)
        keeps = keeps && cohort__machine_order(place->machine)[site] == site;
    return keeps;
}

static uint32_t smaller(size_t a, size_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t num_pieces(const struct place *place, const struct cohort__request *request)
{
    size_t notes = (out_bytes(request) + NOTE - 1) / NOTE;
    uint32_t most = smaller(place_num_leaders(place), COHORT__LEVELS_PIECES);
    if (request->collective == COHORT__GATHER)
        return most;
    return how.parts[0].bytes == 0 && !keeps_order(place) ? 1 : smaller(notes, most);
}

static void no_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                     size_t *ret_out)
{
    *ret_in = *ret_out = 0;
}

static void check_rows(const struct place *place, const struct cohort__request *request)
{
    struct call call;
    call_init(&call, request, build, no_sizes, 1);
    call_expect(&call, "levels", plan_check(call.plans, place->num_sites), 1);
    check_messages(&call, place_num_leaders(place));
    check_waits(&call, place_num_leaders(place), num_pieces(place, request));
    call_fini(&call);
}

/* With the linear row, where no message between leaders waits for another one. */
static void check_place(const struct place *place, struct cohort__random *random)
{
    struct cohort__request request = {
        .num_sites = place->num_sites,
        .arity = 2 + (uint32_t)cohort__random_below(random, 3),
        .machine = place->machine,
        .turn = cohort__random_next(random),
        .meets = cohort__random_below(random, 2),
        .has_notes = cohort__random_below(random, 2),
    };
    const size_t limit = NOTE / place->num_sites;
    const size_t sizes[] = {8, limit, limit + 1, 3 * limit, 12 * limit + 12};
    make_in_place(cohort__random_below(random, 2) ? random : NULL);
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        request.bytes = sizes[i];
        request.collective = COHORT__ALL_GATHER;
        check_rows(place, &request);
        make_ragged(place->num_sites, sizes[i] / 3 + 1, cohort__random_below(random, 2));
        check_rows(place, &request);
        how.parts[0].bytes = 0;
        request.collective = COHORT__ALL_TO_ALL;
        check_rows(place, &request);
        request.collective = COHORT__GATHER;
        request.root = (uint32_t)cohort__random_below(random, place->num_sites);
        check_rows(place, &request);
        request.root = 0;
    }
}

/* HOSTS x DOMAINS x LOCALITIES x TASKS */
TEST(rows)
{
    static const uint32_t shapes[][4] = {{2, 1, 1, 2}, {2, 1, 2, 2}, {3, 2, 2, 1}, {3, 1, 2, 4},
                                         {4, 1, 3, 2}, {6, 1, 2, 3}, {12, 1, 1, 3}};
    struct cohort__random random = cohort__random_seeded(16);
    for (size_t i = 0; i < NUM_OF(shapes); i++)
        for (uint64_t way = 0; way < test_rounds(8, 4); way++) {
            const uint32_t *shape = shapes[i];
            struct place place;
            place_regular(&place, shape[0], shape[1], shape[2], shape[3], way % 4 == 3);
            check_place(&place, &random);
            place_fini(&place);
        }
}

TEST(rows_of_random)
{
    uint64_t num_machines = test_rounds(NUM_MACHINES, FEW_MACHINES), num_done = 0;
    struct cohort__random random = cohort__random_seeded(17);
    for (uint64_t i = 0; i < num_machines; i++) {
        struct place place;
        place_random(&place, &random);
        struct cohort__request request = {.collective = COHORT__ALL_GATHER,
                                          .num_sites = place.num_sites,
                                          .arity = 2,
                                          .machine = place.machine};
        if (!cohort__algorithm_refuses(cohort__algorithm_find(COHORT__ALL_GATHER, "levels"),
                                       &request)) {
            num_done++;
            check_place(&place, &random);
        }
        place_fini(&place);
    }
    CHECK(num_done > num_machines / 2);
}

/* Results ------------------------------------------------------------------------------------ */

static void check_results(const struct place *place, struct cohort__random *random)
{
    static const enum cohort__collective collectives[] = {COHORT__ALL_GATHER, COHORT__ALL_TO_ALL};
    struct cohort__request request = {
        .num_sites = place->num_sites,
        .arity = 2 + (uint32_t)cohort__random_below(random, 3),
        .bytes = NOTE * (1 + cohort__random_below(random, 4)) / place->num_sites + 1,
        .machine = place->machine,
        .turn = cohort__random_next(random),
        .meets = cohort__random_below(random, 2),
        .has_notes = cohort__random_below(random, 2),
    };
    make_in_place(NULL);
    for (size_t i = 0; i < 2; i++) {
        struct call call;
        uint64_t seed = cohort__random_next(random);
        request.collective = collectives[i];
        request.inner = place_random_inner(request.collective, place_num_leaders(place), false,
                                           place_is_even(place), random);
        call_init(&call, &request, build, call_sizes_collective, seed);
        call_expect(&call, "levels", call_check(&call), seed);
        call_verify(&call, "levels", call_op_add, seed);
        call_fini(&call);
    }
}

TEST(results)
{
    struct cohort__random random = cohort__random_seeded(18);
    for (uint64_t i = 0; i < test_rounds(NUM_RESULTS, FEW_RESULTS); i++) {
        struct place place;
        place_regular(&place, 2 + (uint32_t)cohort__random_below(&random, 2),
                      1 + (uint32_t)cohort__random_below(&random, 2),
                      1 + (uint32_t)cohort__random_below(&random, 2),
                      2 + (uint32_t)cohort__random_below(&random, 2), i % 4 == 0);
        check_results(&place, &random);
        place_fini(&place);
    }
}
