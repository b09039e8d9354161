/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that follow the machine, on machines of all kinds: the plan check, the result, and who
 * sends how many messages to whom. */
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/agreement.h"
#include "collectives/algo/pattern/cost.h"
#include "runtime/base/random.h"
#include "tests/algo/call.h"
#include "tests/algo/composed.h"
#include "tests/algo/place.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { NUM_MACHINES = 400, RUBBISH = 0x5a };

static void verify_random(struct cohort__random *random)
{
    /* Short ones; and on both sides of what a note holds, and of what goes in pieces. */
    static const size_t sizes[] = {24, 8, 0, 1, 160}, long_sizes[] = {2056, 4104, 33000};
    const bool is_long = cohort__random_below(random, 40) == 0;
    struct place place;
    place_random_or_regular(&place, random);
    struct cohort__request request = {
        .num_sites = place.num_sites,
        .root = (uint32_t)cohort__random_below(random, place.num_sites),
        .arity = 2 + (uint32_t)cohort__random_below(random, 7),
        .bytes = is_long ? long_sizes[cohort__random_below(random, 3)]
                         : sizes[cohort__random_below(random, 5)],
        .machine = place.machine,
        .turn = cohort__random_next(random),
        .meets = cohort__random_below(random, 2),
        .has_notes = cohort__random_below(random, 2),
    };
    request.element = request.bytes % 8 == 0 ? 8 : 1; /* elements of call_op_affine */
    uint32_t shift = (uint32_t)cohort__random_below(random, place.num_sites);
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        request.collective = row->collective;
        if (!cohort__collective_is_rooted(row->collective))
            request.root = 0;
        request.shift = row->collective == COHORT__SHIFT ? shift : 0;
        request.commutative = cohort__random_below(random, 2);
        request.inner = place_random_inner(composed_top(row->collective), place_num_leaders(&place),
                                           request.commutative, place_is_even(&place), random);
        if (place_is_composed(row) && !cohort__algorithm_refuses(row, &request))
            composed_verify(row, &request, cohort__random_next(random));
    }
    place_fini(&place);
}

TEST(random)
{
    struct cohort__random random = cohort__random_seeded(14);
    for (uint64_t i = 0; i < test_rounds(NUM_MACHINES, NUM_MACHINES / 4); i++)
        verify_random(&random);
}

/* Blocks of different sizes ------------------------------------------------------------------ */

/* Some blocks are empty, and each site has them, or wants them, in other places. */
static struct {
    struct cohort__part parts[PLACE_MAX_SITES][PLACE_MAX_SITES]; /* of each site's OUT, or IN */
    size_t ends[PLACE_MAX_SITES];
    size_t all;
} ragged;

/* In the order of the sites, in that of the machine, or backwards, with gaps. */
static void lay_out(const struct place *place, uint32_t site, struct cohort__random *random)
{
    uint32_t way = (uint32_t)cohort__random_below(random, 3), num = place->num_sites;
    ragged.ends[site] = way == 2 ? 3 : 0;
    for (uint32_t i = 0; i < num; i++) {
        uint32_t from = way == 0   ? i
                        : way == 1 ? cohort__machine_order(place->machine)[i]
                                   : num - 1 - i;
        ragged.parts[site][from].offset = ragged.ends[site];
        ragged.ends[site] += ragged.parts[site][from].bytes + (way == 2 ? i % 3 : 0);
    }
}

/* Blocks of up to 38 UNITs. */
static void make_ragged(const struct place *place, size_t unit, struct cohort__random *random)
{
    ragged.all = 0;
    for (uint32_t from = 0; from < place->num_sites; from++) {
        size_t bytes = unit * cohort__random_below(random, 3) * cohort__random_below(random, 20);
        ragged.all += bytes;
        for (uint32_t site = 0; site < place->num_sites; site++)
            ragged.parts[site][from] = (struct cohort__part){.site = from, .bytes = bytes};
    }
    for (uint32_t site = 0; site < place->num_sites; site++)
        lay_out(place, site, random);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__algorithm_plan(cohort__algorithm_find(request->collective, "levels"), request,
                                  ret_plan);
}

static cohort_status build_ragged(const struct cohort__request *request,
                                  struct cohort__plan **ret_plan)
{
    struct cohort__request own = *request;
    bool gathers = request->collective == COHORT__ALL_GATHER;
    const struct cohort__part *parts = ragged.parts[request->this_site];
    *(gathers ? &own.out_parts : &own.in_parts) = parts;
    *(gathers ? &own.num_out_parts : &own.num_in_parts) = request->num_sites;
    own.bytes = parts[request->this_site].bytes;
    return cohort__algorithm_build(cohort__algorithm_find(request->collective, "levels"), &own,
                                   ret_plan);
}

static void sizes_ragged(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                         size_t *ret_out)
{
    bool gathers = request->collective == COHORT__ALL_GATHER;
    *ret_in = gathers ? ragged.parts[site][site].bytes : ragged.ends[site];
    *ret_out = gathers ? ragged.ends[site] : ragged.parts[site][site].bytes;
}

static void fill(uint8_t *block, uint8_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        block[i] = value;
}

/* Every block is in its place, and nothing else is written. */
static void expect_gathered(const struct call *call, uint64_t seed)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (uint32_t from = 0; from < call->request.num_sites; from++) {
            const struct cohort__part *part = &ragged.parts[site][from];
            if (part->bytes == 0)
                continue;
            if (memcmp(call->out[site] + part->offset, call->in[from], part->bytes) != 0)
                FAIL("seed 0x%llx, site %u: not the block of site %u", (unsigned long long)seed,
                     site, from);
            fill(call->out[site] + part->offset, RUBBISH, part->bytes);
        }
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (size_t i = 0; i < ragged.ends[site]; i++)
            CHECK_INT(call->out[site][i], RUBBISH);
}

/* OP is for elements of a byte. */
static void expect_reduced(const struct call *call, plan_run_op *op, uint64_t seed)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (size_t i = 0; i < ragged.parts[site][site].bytes; i++) {
            uint8_t want = call->in[0][ragged.parts[0][site].offset + i];
            for (uint32_t from = 1; from < call->request.num_sites; from++)
                op(&want, &want, &call->in[from][ragged.parts[from][site].offset + i], 1);
            if (call->out[site][i] != want)
                FAIL("seed 0x%llx, site %u, byte %zu", (unsigned long long)seed, site, i);
        }
}

/* A site of an all_gather that wants the blocks in the machine's order takes no memory. */
static bool is_in_order(const struct place *place, uint32_t site)
{
    const uint32_t *order = cohort__machine_order(place->machine);
    const struct cohort__part *parts = ragged.parts[site];
    bool is_there = true;
    for (uint32_t i = 1; i < place->num_sites; i++)
        is_there = is_there &&
                   parts[order[i]].offset == parts[order[i - 1]].offset + parts[order[i - 1]].bytes;
    return is_there;
}

static void check_gathered(const struct place *place, const struct call *call, uint64_t seed)
{
    for (uint32_t site = 0; site < place->num_sites; site++) {
        CHECK(call->plans[site]->out_bytes <= ragged.ends[site]);
        CHECK((double)call->plans[site]->tmp_bytes <=
              (is_in_order(place, site) ? 0 : cohort__cost_tmp(1, ragged.all)));
    }
    expect_gathered(call, seed);
}

static void verify_ragged(const struct place *place, const struct cohort__request *request,
                          struct cohort__random *random)
{
    struct call call;
    uint64_t seed = cohort__random_next(random);
    /* Some are so long that they go down in pieces. */
    bool is_long =
        request->collective == COHORT__ALL_GATHER && cohort__random_below(random, 8) == 0;
    make_ragged(place, is_long ? 500 : 1, random);
    call_init(&call, request, build_ragged, sizes_ragged, seed);
    call_expect(&call, "levels", plan_check(call.plans, place->num_sites), seed);
    plan_run_op *op = request->commutative ? call_op_add : call_op_affine_byte;
    call_expect(&call, "levels", call_run(&call, op, seed), seed);
    if (request->collective == COHORT__REDUCE_SCATTER)
        expect_reduced(&call, op, seed);
    else
        check_gathered(place, &call, seed);
    call_fini(&call);
}

TEST(ragged)
{
    uint32_t num_done = 0;
    struct cohort__random random = cohort__random_seeded(15);
    for (int i = 0; i < NUM_MACHINES; i++) {
        struct place place;
        place_random(&place, &random);
        struct cohort__request request = {
            .collective = i % 2 ? COHORT__ALL_GATHER : COHORT__REDUCE_SCATTER,
            .num_sites = place.num_sites,
            .arity = 2 + (uint32_t)cohort__random_below(&random, 7),
            .element = 1,
            .commutative = cohort__random_below(&random, 2),
            .machine = place.machine,
            .turn = cohort__random_next(&random),
            .meets = cohort__random_below(&random, 2),
            .has_notes = cohort__random_below(&random, 2),
        };
        request.inner = place_random_inner(request.collective, place_num_leaders(&place),
                                           request.commutative, false, &random);
        const struct cohort__algorithm *row = cohort__algorithm_find(request.collective, "levels");
        if (!cohort__algorithm_refuses(row, &request)) {
            num_done++;
            verify_ragged(&place, &request, &random);
        }
        place_fini(&place);
    }
    CHECK(num_done > NUM_MACHINES / 2);
}

/* Messages --------------------------------------------------------------------------------- */

/* Messages between hosts, and between switches, in all plans of a call. With meetings and notes
 * there are no others. */
struct traffic {
    uint32_t num_all; /* those within hosts, too */
    uint32_t num;
    uint32_t num_of_switches;
    uint32_t from[PLACE_MAX_HOSTS][PLACE_MAX_HOSTS];
};

static void add_traffic(const struct place *place, const struct cohort__plan *plan,
                        struct traffic *traffic)
{
    uint32_t host = place_host_of(place, plan->this_site);
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        traffic->num_all += step->kind == COHORT__STEP_SEND;
        if (step->kind != COHORT__STEP_SEND || place_host_of(place, step->peer) == host)
            continue;
        traffic->num++;
        traffic->num_of_switches += place->switch_of[place->locality_of[plan->this_site]] !=
                                    place->switch_of[place->locality_of[step->peer]];
        traffic->from[host][place_host_of(place, step->peer)]++;
    }
}

static struct traffic traffic_of(const struct place *place, struct cohort__request request,
                                 call_build *build_plan)
{
    struct traffic traffic = {0};
    for (uint32_t site = 0; site < place->num_sites; site++) {
        struct cohort__plan *plan = NULL;
        request.this_site = site;
        CHECK_OK(build_plan(&request, &plan));
        add_traffic(place, plan, &traffic);
        cohort__plan_unref(plan);
    }
    return traffic;
}

static uint32_t between_hosts(const struct place *place, struct cohort__request request)
{
    struct traffic traffic = traffic_of(place, request, build);
    if (request.has_notes)
        CHECK_INT(traffic.num_all, traffic.num);
    return traffic.num;
}

/* One message for each ordered pair of hosts that a block of the shift goes between. Returns
 * whether the row accepts it. */
static bool check_shift(const struct place *place, const struct cohort__request *request)
{
    const struct cohort__algorithm *row = cohort__algorithm_find(COHORT__SHIFT, "levels");
    uint32_t blocks[PLACE_MAX_HOSTS][PLACE_MAX_HOSTS] = {{0}};
    bool is_shared = false;
    for (uint32_t site = 0; site < place->num_sites; site++) {
        uint32_t from = place_host_of(place, site);
        uint32_t to = place_host_of(place, (site + request->shift) % place->num_sites);
        if (from != to)
            is_shared |= ++blocks[from][to] > 1;
    }
    if (cohort__algorithm_refuses(row, request)) {
        CHECK(!is_shared); /* all hosts are alike here */
        return false;
    }
    struct traffic traffic = traffic_of(place, *request, build);
    CHECK(is_shared);
    for (uint32_t from = 0; from < PLACE_MAX_HOSTS; from++)
        for (uint32_t to = 0; to < PLACE_MAX_HOSTS; to++)
            CHECK_INT(traffic.from[from][to], blocks[from][to] > 0);
    return true;
}

static void check_shifts(const struct place *place, bool is_cyclic)
{
    struct cohort__request request = {.collective = COHORT__SHIFT,
                                      .num_sites = place->num_sites,
                                      .arity = 4,
                                      .bytes = 8,
                                      .machine = place->machine,
                                      .turn = 5};
    uint32_t num_accepted = 0;
    for (; request.shift < place->num_sites; request.shift++)
        num_accepted += check_shift(place, &request);
    /* Blocks: all but those by 0, 1 and N - 1. Dealt out: all but those that stay in a host. */
    CHECK(num_accepted >= place->num_sites - (is_cyclic ? place->num_sites / 2 : 3));
}

static uint32_t inner_of(enum cohort__collective collective, const char *name)
{
    uint32_t row = 0;
    while (cohort__algorithms[row] != cohort__algorithm_find(collective, name))
        row++;
    return row + 1;
}

static uint32_t log2_ceiling(uint32_t value)
{
    uint32_t log = 0;
    while ((1u << log) < value)
        log++;
    return log;
}

/* What is longer than a note goes in as many pieces as there are hosts. */
TEST(pieces)
{
    struct place place;
    struct cohort__random random = cohort__random_seeded(16);
    place_regular(&place, 6, 1, 2, 2, false);
    struct cohort__request request = {.num_sites = place.num_sites,
                                      .arity = 2,
                                      .bytes = 32 * (size_t)1024,
                                      .element = 8,
                                      .commutative = true,
                                      .machine = place.machine,
                                      .meets = true,
                                      .has_notes = true};
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        request.collective = row->collective;
        if (place_is_composed(row) && !cohort__algorithm_refuses(row, &request))
            composed_verify(row, &request, cohort__random_next(&random));
    }
    place_fini(&place);
}

/* For every root, and numbers of hosts that are no power of two. TURN: who leads a locality. */
static void check_messages(const struct place *place, uint32_t hosts, bool has_notes, uint64_t turn)
{
    struct cohort__request request = {.num_sites = place->num_sites,
                                      .arity = 4,
                                      .bytes = 8,
                                      .element = 8,
                                      .commutative = true,
                                      .machine = place->machine,
                                      .meets = has_notes,
                                      .has_notes = has_notes,
                                      .turn = turn};
    uint32_t log = log2_ceiling(hosts);
    request.collective = COHORT__ALL_REDUCE;
    request.inner = inner_of(COHORT__ALL_REDUCE, "recursive_doubling");
    bool is_power = (hosts & (hosts - 1)) == 0;
    CHECK(between_hosts(place, request) <= (is_power ? hosts * log : 2 * hosts * log));
    request.collective = COHORT__ALL_TO_ALL;
    request.inner = inner_of(COHORT__ALL_TO_ALL, "linear");
    CHECK_INT(between_hosts(place, request), hosts * (hosts - 1));
    request.collective = COHORT__BROADCAST;
    request.inner = inner_of(COHORT__BROADCAST, "binomial");
    for (request.root = 0; request.root < place->num_sites; request.root++)
        CHECK_INT(between_hosts(place, request), hosts - 1);
}

/* Blocks of different sizes, of which all sites know the sizes: what the leaders' row sends. */
static void check_ragged(const struct place *place, enum cohort__collective collective,
                         uint32_t hosts)
{
    static const char *const inner[] = {"linear", "ring"};
    struct cohort__random random = cohort__random_seeded(hosts);
    make_ragged(place, 1, &random);
    for (unsigned i = 0; i < 2; i++) {
        struct cohort__request request = {.collective = collective,
                                          .num_sites = place->num_sites,
                                          .arity = 4,
                                          .commutative = true,
                                          .machine = place->machine,
                                          .turn = 5,
                                          .inner = inner_of(collective, inner[i])};
        struct traffic traffic = traffic_of(place, request, build_ragged);
        CHECK_INT(traffic.num, hosts * (hosts - 1));
        for (uint32_t from = 0; i == 0 && from < hosts; from++)
            for (uint32_t to = 0; to < hosts; to++)
                CHECK_INT(traffic.from[from][to], from != to);
    }
}

TEST(messages)
{
    static const uint32_t numbers[] = {2, 3, 4, 5, 6, 8, 12};
    for (size_t i = 0; i < NUM_OF(numbers); i++)
        for (int is_cyclic = 0; is_cyclic < 2; is_cyclic++) {
            const uint32_t hosts = numbers[i];
            struct place place;
            place_regular(&place, hosts, 1, 2, 3, is_cyclic);
            for (uint64_t turn = 0; turn < 6; turn += 2) {
                check_messages(&place, hosts, false, turn);
                check_messages(&place, hosts, true, turn + 1);
            }
            check_shifts(&place, is_cyclic);
            check_ragged(&place, COHORT__ALL_GATHER, hosts);
            check_ragged(&place, COHORT__REDUCE_SCATTER, hosts);
            place_fini(&place);
        }
}

/* Of what goes between hosts, only the leaders of switches send anything to another switch. */
static void check_switches(const struct place *place, uint32_t hosts, uint32_t switches)
{
    struct cohort__request request = {.num_sites = place->num_sites,
                                      .arity = 4,
                                      .bytes = 8,
                                      .element = 8,
                                      .commutative = true,
                                      .machine = place->machine,
                                      .meets = true,
                                      .has_notes = true,
                                      .turn = 5};
    const uint32_t up_and_down = 2 * (hosts - switches);
    static const struct {
        enum cohort__collective collective;
        const char *inner;
        uint32_t each; /* messages of a leader of a switch; 0: 1, but none of the root */
        bool is_up_and_down;
    } rows[] = {{COHORT__ALL_REDUCE, "recursive_doubling", 1, true},
                {COHORT__BARRIER, "dissemination", 1, true},
                {COHORT__ALL_GATHER, "ring", 1, true},
                {COHORT__BROADCAST, "binomial", 0, false},
                {COHORT__REDUCE, "binomial", 0, false}};
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        request.collective = rows[i].collective;
        request.inner = inner_of(rows[i].collective, rows[i].inner);
        struct traffic traffic = traffic_of(place, request, build);
        uint32_t top = rows[i].each ? rows[i].each * switches : switches - 1;
        CHECK_INT(traffic.num_of_switches, top);
        CHECK_INT(traffic.num, top + (rows[i].is_up_and_down ? up_and_down : up_and_down / 2));
        CHECK_INT(traffic.num_all, traffic.num);
    }
}

/* The agreement and what comes behind it follow the machine, each with notes of its own. */
static cohort_status build_checked(const struct cohort__request *request,
                                   struct cohort__plan **ret_plan)
{
    struct cohort__request agreement = cohort__agreement_request(request);
    struct cohort__plan *minimum = NULL, *collective = NULL;
    agreement.meets = request->meets;
    agreement.has_notes = request->has_notes;
    CHECK_OK(cohort__algorithm_build(cohort__algorithm_find(COHORT__ALL_REDUCE, "levels"),
                                     &agreement, &minimum));
    CHECK_OK(build(request, &collective));
    cohort_status status = cohort__agreement_build(minimum, collective, ret_plan);
    cohort__plan_unref(minimum);
    cohort__plan_unref(collective);
    return status;
}

static bool accept(const uint8_t *check)
{
    return true;
}

/* Each site has other values; all get the least. */
static void run_checked(const struct call *call, uint64_t seed)
{
    int16_t values[PLACE_MAX_SITES][4];
    uint8_t *check[PLACE_MAX_SITES], want[PLACE_MAX_SITES * 8];
    uint32_t num_sites = call->request.num_sites;
    for (uint32_t site = 0; site < num_sites; site++) {
        int16_t value = (int16_t)(site + 5);
        memcpy(values[site], (int16_t[]){value, (int16_t)-value, 1, -1}, sizeof(values[site]));
        check[site] = (uint8_t *)values[site];
    }
    CHECK_OK(plan_run(&(struct plan_run){.plans = call->plans,
                                         .num_sites = num_sites,
                                         .in = (const uint8_t *const *)call->in,
                                         .out = call->out,
                                         .op = call_op_add,
                                         .check = check,
                                         .guard = accept,
                                         .seed = seed}));
    const int16_t least[] = {5, (int16_t)(-4 - (int)num_sites), 1, -1};
    for (uint32_t site = 0; site < num_sites; site++) {
        CHECK(memcmp(values[site], least, sizeof(least)) == 0);
        CHECK(call->out_bytes[site] <= sizeof(want));
        if (call->out_bytes[site] == 0)
            continue;
        call_reference(call, site, call_op_add, want);
        CHECK(memcmp(call->out[site], want, call->out_bytes[site]) == 0);
    }
}

/* Nothing but notes goes between localities of a host, also where there are domains. */
static void check_checked(const struct place *place, enum cohort__collective collective)
{
    struct cohort__request request = {.collective = collective,
                                      .num_sites = place->num_sites,
                                      .arity = 4,
                                      .bytes = 8,
                                      .element = 8,
                                      .commutative = true,
                                      .machine = place->machine,
                                      .meets = true,
                                      .has_notes = true,
                                      .turn = 5};
    struct call call;
    call_init(&call, &request, build_checked, composed_sizes, 1);
    call_expect(&call, "checked levels", call_check(&call), 1);
    for (uint64_t seed = 0; seed < 3; seed++)
        run_checked(&call, seed);
    struct traffic traffic = traffic_of(place, request, build_checked);
    CHECK(traffic.num > 0);
    CHECK_INT(traffic.num_all, traffic.num);
    call_fini(&call);
}

TEST(checked)
{
    static const enum cohort__collective collectives[] = {
        COHORT__GATHER,     COHORT__SCATTER, COHORT__BROADCAST, COHORT__REDUCE,
        COHORT__ALL_REDUCE, COHORT__BARRIER, COHORT__ALL_GATHER};
    for (uint32_t hosts = 2; hosts <= 3; hosts++)
        for (uint32_t domains = 1; domains <= 2; domains++)
            for (uint32_t tasks = 1; tasks <= 2; tasks++) {
                struct place place;
                place_regular(&place, hosts, domains, 2, tasks, tasks % 2);
                for (size_t i = 0; i < NUM_OF(collectives); i++)
                    check_checked(&place, collectives[i]);
                place_fini(&place);
            }
}

/* The stages say where they are, and which ones go between hosts. */
static void check_stages(const struct place *place)
{
    struct cohort__request request = {.collective = COHORT__ALL_REDUCE,
                                      .num_sites = place->num_sites,
                                      .bytes = 8,
                                      .commutative = true,
                                      .machine = place->machine,
                                      .meets = true};
    struct cohort__stages stages;
    static const struct {
        const char *level;
        enum cohort__distance distance;
        uint32_t num_sites, at_once, num_all;
        bool is_noted;
    } up[] = {{"locality", COHORT__DISTANCE_TASKS, 2, 2, 8, false},
              {"host", COHORT__DISTANCE_LOCALITIES, 2, 1, 4, true},
              {"switch", COHORT__DISTANCE_HOSTS, 2, 1, 2, false}};
    cohort__algorithm_find(COHORT__ALL_REDUCE, "levels")->stages(&request, &stages);
    CHECK_INT(stages.num, 7);
    for (uint32_t i = 0; i < 6; i++) {
        const struct cohort__stage *stage = &stages.stages[i < 3 ? i : 6 - (i - 3)];
        CHECK_TEXT(stage->level, up[i % 3].level);
        CHECK_INT(stage->distance, up[i % 3].distance);
        CHECK_INT(stage->num_sites, up[i % 3].num_sites);
        CHECK_INT(stage->at_once, up[i % 3].at_once);
        CHECK_INT(stage->num_all, up[i % 3].num_all);
        CHECK_INT(stage->is_noted, up[i % 3].is_noted);
        CHECK(!stage->is_top);
    }
    CHECK(stages.stages[3].is_top && stages.stages[3].distance == COHORT__DISTANCE_HOSTS);
    CHECK_INT(stages.stages[3].num_sites, 2);
}

TEST(switches)
{
    for (int is_cyclic = 0; is_cyclic < 2; is_cyclic++) {
        struct place place;
        place_switches(&place, 2, 4, 1, 2, 2, is_cyclic);
        check_switches(&place, 4, 2);
        check_stages(&place);
        place_fini(&place);
        place_switches(&place, 3, 6, 1, 1, 3, is_cyclic);
        check_switches(&place, 6, 2);
        place_fini(&place);
        place_switches(&place, 1, 4, 1, 2, 2, is_cyclic); /* as if there were none */
        check_messages(&place, 4, true, 5);
        place_fini(&place);
    }
}

/* Where there are no levels, or where the order of the sites can't be kept, the rows refuse. */
TEST(refused)
{
    struct place place;
    struct cohort__request request = {
        .collective = COHORT__ALL_REDUCE, .num_sites = 12, .arity = 2, .bytes = 8, .element = 8};
    const struct cohort__algorithm *row = cohort__algorithm_find(COHORT__ALL_REDUCE, "levels");
    CHECK(cohort__algorithm_refuses(row, &request));
    place_regular(&place, 2, 1, 3, 2, true);
    request.machine = place.machine;
    CHECK(cohort__algorithm_refuses(row, &request));
    request.commutative = true;
    CHECK(!cohort__algorithm_refuses(row, &request));
    place_fini(&place);
    place_regular(&place, 2, 1, 3, 2, false);
    request.machine = place.machine;
    request.commutative = false;
    CHECK(!cohort__algorithm_refuses(row, &request));
    place_fini(&place);
    place_regular(&place, 1, 1, 12, 1, false);
    request.machine = place.machine;
    CHECK(cohort__algorithm_refuses(row, &request));
    place_fini(&place);
}
