/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/random.h"
#include "tests/cross/play.h"
#include "tests/cross/simulation.h"
#include "tests/cross/stage.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* Tasks of a scope in other localities, which start more of them elsewhere, and wait for what does
 * not come before the scope is cancelled. When it has ended, none is left anywhere. */

enum { MOST_ERRANDS = 4, MOST_DEPTH = 3 };
static const uint64_t LONG = UINT64_C(100000000000), SOON = UINT64_C(10000000000);

/* What a function is told. */
struct errand {
    uint32_t number; /* of the step */
    uint32_t here;   /* where it runs */
    uint32_t num_localities;
    uint32_t depth;
    bool waits;
    uint64_t seed;
};

static void check_end(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED ||
          (status == COHORT_ERR_PEER_DIED && stage_dead()) ||
          (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()));
}

/* The next one, from the locality HERE, in SCOPE. */
static void send(cohort_scope *scope, uint32_t here, struct errand errand,
                 struct cohort__random *random)
{
    errand.here = (uint32_t)cohort__random_below(random, errand.num_localities);
    errand.seed = cohort__random_below(random, UINT64_MAX);
    check_end(stage_scope_async_at(here, scope, errand.here, "errand",
                                   &(cohort_object){&errand, sizeof(errand)}));
}

static cohort_status run(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct errand errand;
    CHECK_INT(in->bytes, sizeof(errand));
    memcpy(&errand, in->data, sizeof(errand));
    _Atomic uint32_t *num_running = &stage_facts()->steps[errand.number].num_running;
    (*num_running)++;
    struct cohort__random random = cohort__random_seeded(errand.seed);
    CHECK(cohort_scope_current());
    for (uint64_t i = cohort__random_below(&random, 3); errand.depth++ < MOST_DEPTH && i > 0; i--)
        send(cohort_scope_current(), errand.here, errand, &random);
    cohort_status status = cohort_await(cohort_sleep(errand.waits ? LONG : 1000));
    check_end(status);
    CHECK(!status || cohort_cancelled() || scarce_has_failed());
    (*num_running)--;
    return COHORT_OK;
}

void errands_register(void)
{
    CHECK_OK(cohort_remote_register("errand", run, NULL));
}

void errands_play(struct world *world, uint32_t number, uint32_t locality)
{
    const struct step *step = &world->program->steps[number];
    struct errand errand = {.number = number,
                            .num_localities = world->program->num_localities,
                            .waits = step->form % 2};
    cohort_scope *scope;
    trace("locality %u sends errands of form %u", locality, step->form);
    struct cohort__random random = cohort__random_seeded(step->form);
    cohort_status status = cohort_scope_create(NULL, &scope);
    check_end(status);
    if (status)
        return;
    for (uint64_t i = 1 + cohort__random_below(&random, MOST_ERRANDS); i > 0; i--)
        send(scope, locality, errand, &random);
    for (uint32_t i = step->moment; errand.waits && i > 0; i--)
        cohort_yield();
    if (errand.waits)
        cohort_scope_cancel(scope);
    const uint64_t begin = simulation_time();
    status = cohort_scope_await(scope);
    check_end(status);
    CHECK(status != COHORT_ERR_CANCELLED || errand.waits);
    CHECK(stage_dead() ||
          (simulation_time() - begin < SOON && world->facts->steps[number].num_running == 0));
}
