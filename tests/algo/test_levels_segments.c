/* SPDX-License-Identifier: Apache-2.0 */
/* Long blocks in segments: the result, and which segment waits for what. */
#include <stdlib.h>

#include "collectives/algo/pattern/levels.h"
#include "runtime/base/random.h"
#include "tests/algo/composed.h"
#include "tests/algo/place.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { KIB = 1024, NUM_CALLS = 60 };

static const struct {
    enum cohort__collective collective;
    const char *row;
} rows[] = {{COHORT__ALL_REDUCE, "levels"}, {COHORT__ALL_REDUCE, "shares"},
            {COHORT__BROADCAST, "levels"},  {COHORT__BROADCAST, "shares"},
            {COHORT__REDUCE, "levels"},     {COHORT__REDUCE, "shares"}};
enum { NUM_ROWS = NUM_OF(rows) };

static const struct cohort__algorithm *row_of(unsigned i)
{
    return cohort__algorithm_find(rows[i].collective, rows[i].row);
}

static void verify_random(struct cohort__random *random)
{
    static const size_t sizes[] = {256 * KIB, 384 * KIB + 8, 512 * KIB - 8, 700 * KIB + 16};
    const unsigned chosen = (unsigned)cohort__random_below(random, NUM_ROWS);
    struct place place;
    place_random_or_regular(&place, random);
    struct cohort__request request = {
        .collective = rows[chosen].collective,
        .num_sites = place.num_sites,
        .arity = 2 + (uint32_t)cohort__random_below(random, 7),
        .bytes = sizes[cohort__random_below(random, 4)],
        .element = 8,
        .commutative = cohort__random_below(random, 4) > 0,
        .machine = place.machine,
        .turn = cohort__random_next(random),
        .meets = cohort__random_below(random, 2),
        .has_notes = cohort__random_below(random, 2),
    };
    if (cohort__collective_is_rooted(request.collective))
        request.root = (uint32_t)cohort__random_below(random, place.num_sites);
    request.inner = place_random_inner(request.collective, place_num_leaders(&place),
                                       request.commutative, place_is_even(&place), random);
    if (!cohort__algorithm_refuses(row_of(chosen), &request))
        composed_verify(row_of(chosen), &request, cohort__random_next(random));
    place_fini(&place);
}

TEST(random)
{
    struct cohort__random random = cohort__random_seeded(17);
    for (int i = 0; i < NUM_CALLS; i++)
        verify_random(&random);
}

/* How many there are. */
TEST(number)
{
    static const struct {
        size_t bytes, element;
        uint32_t num;
    } blocks[] = {{0, 0, 1},
                  {8, 8, 1},
                  {256 * KIB - 8, 8, 1},
                  {256 * KIB, 8, 2},
                  {400 * KIB, 8, 3},
                  {512 * KIB, 1, 4},
                  {64 * (size_t)KIB * KIB, 8, COHORT__LEVELS_SEGMENTS},
                  {1024 * KIB, 1024 * KIB, 1}, /* an element is not cut */
                  {1536 * KIB, 512 * KIB, 3}};
    for (size_t i = 0; i < NUM_OF(blocks); i++) {
        struct cohort__request request = {.bytes = blocks[i].bytes, .element = blocks[i].element};
        CHECK_INT(cohort__levels_num_segments(&request), blocks[i].num);
        struct cohort__request longest = cohort__levels_longest_segment(&request);
        CHECK(longest.bytes * blocks[i].num >= blocks[i].bytes);
        CHECK(blocks[i].element == 0 || longest.bytes % blocks[i].element == 0);
    }
}

/* The segment of a message, by its tag: behind what is in one piece each has 2^18. */
static uint32_t segment_of(const struct cohort__step *step)
{
    const uint32_t in_one = (COHORT__LAST_PHASE + 1) << 20;
    CHECK(step->tag >= in_one);
    return (step->tag - in_one) >> 18;
}

static uint32_t bit_of(unsigned phase, uint32_t segment)
{
    CHECK(segment < COHORT__LEVELS_SEGMENTS);
    return 1u << (phase * COHORT__LEVELS_SEGMENTS + segment);
}

/* For each step, which messages it waits for at its site: a bit for each phase and segment, which
 * is also set for the step itself if it receives. */
static uint32_t *find_waits(const struct cohort__plan *plan)
{
    uint32_t *waits = test_calloc(plan->num_steps, sizeof(*waits));
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == COHORT__STEP_RECV)
            waits[i] = bit_of(plan->steps[i].phase, segment_of(&plan->steps[i]));
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t i = 0; i < plan->num_steps; i++)
            for (uint32_t k = 0; k < plan->steps[i].num_successors; k++) {
                uint32_t *later = &waits[plan->successors[plan->steps[i].first_successor + k]];
                has_changed |= (waits[i] & ~*later) != 0;
                *later |= waits[i];
            }
    }
    return waits;
}

/* What goes on with a segment waits for no other one, but that on its way up, where leaders REDUCE,
 * they take them one after the other. */
static void check_step(const struct cohort__plan *plan, bool reduces, uint32_t index,
                       uint32_t waits)
{
    const struct cohort__step *step = &plan->steps[index];
    const bool is_message = step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV;
    const uint32_t segment = is_message ? segment_of(step) : 0;
    uint32_t allowed = 0, wanted = 0;
    if (!is_message)
        return;
    for (unsigned phase = COHORT__LEVELS_UP; phase <= step->phase; phase++)
        allowed |= bit_of(phase, segment);
    for (uint32_t earlier = 0; earlier < segment; earlier++)
        allowed |= bit_of(COHORT__LEVELS_UP, earlier);
    if (reduces && step->kind == COHORT__STEP_RECV && step->phase == COHORT__LEVELS_UP &&
        segment > 0)
        wanted = bit_of(COHORT__LEVELS_UP, segment - 1);
    if ((waits & ~allowed) != 0 || (waits & wanted) != wanted)
        FAIL("%s: at site %u step %u of phase %u and segment %u waits for %x, not %x of %x",
             plan->name, plan->this_site, index, step->phase, segment, waits, wanted, allowed);
}

static void check_flow(const struct place *place, unsigned chosen)
{
    struct cohort__request request = {
        .collective = rows[chosen].collective,
        .num_sites = place->num_sites,
        .arity = 4,
        .bytes = 512 * KIB,
        .element = 8,
        .commutative = true,
        .machine = place->machine,
    };
    for (request.this_site = 0; request.this_site < place->num_sites; request.this_site++) {
        struct cohort__plan *plan = NULL;
        CHECK_OK(cohort__algorithm_plan(row_of(chosen), &request, &plan));
        uint32_t *waits = find_waits(plan);
        for (uint32_t i = 0; i < plan->num_steps; i++)
            check_step(plan, cohort__collective_reduces(request.collective), i, waits[i]);
        free(waits);
        cohort__plan_unref(plan);
    }
}

TEST(flow)
{
    struct place place;
    place_regular(&place, 3, 1, 4, 1, false);
    for (unsigned i = 0; i < NUM_ROWS; i++)
        check_flow(&place, i);
    place_fini(&place);
}
