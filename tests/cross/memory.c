/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/random.h"
#include "tests/cross/play.h"
#include "tests/cross/stage.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* One-sided access. Each locality shares one block: a number that all add to, an area for each
 * actor, who knows what it has put there, and room for inputs of calls, which others read by
 * themselves when they know that they are there. A block may be given back while nobody uses it,
 * and then is refused. */

enum { HEADER = 64, QUARTERS = 4, MOST_ROUNDS = 6, INPUTS = 4 << 20 };

/* Of a block: how many operations use it, and inputs lie in it; or one of these. */
enum { CLOSED = 1 << 29, GIVEN_BACK = 1 << 30 };

enum kind { PUT, GET, ADD, NUM_KINDS };

/* Of this process. */
static struct block {
    unsigned char *memory;
    unsigned char *next; /* what has come in its place */
    _Atomic size_t inputs;
} blocks[MAX_LOCALITIES];

/* What an actor has put into a quarter of its area. */
static struct quarter {
    bool is_known;
    uint64_t seed;
    size_t at, bytes; /* in the quarter */
} quarters[MAX_ACTORS][MAX_LOCALITIES][QUARTERS];

static struct facts *facts;
static const struct program *program;

/* An actor's part in a step. */
struct access {
    uint32_t actor, here, owner;
    bool is_gone; /* it was given back before */
    struct cohort__random random;
};

static uint32_t draw(struct access *access, uint64_t limit)
{
    return (uint32_t)cohort__random_below(&access->random, limit);
}

static bool uses_memory(void)
{
    for (uint32_t s = 0; s < program->num_steps; s++)
        if (program->steps[s].verb == VERB_MEMORY)
            return true;
    return false;
}

static size_t areas_end(void)
{
    return HEADER + program->num_actors * program->area;
}

static size_t block_bytes(void)
{
    return areas_end() + INPUTS;
}

void memory_init(const struct world *world)
{
    program = world->program;
    facts = world->facts;
}

void memory_begin(uint32_t locality)
{
    struct memory_facts *its = &facts->memory[locality];
    struct block *block = &blocks[locality];
    if (!uses_memory())
        return;
    block->memory = stage_memory_alloc(locality, block_bytes());
    memset(block->memory, 0, HEADER);
    CHECK_OK(stage_memory_share(locality, &its->handle, block->memory, block_bytes()));
}

/* No actor of this process uses anything any more. */
void memory_end(uint32_t locality)
{
    stage_memory_free(locality, blocks[locality].memory);
    stage_memory_free(locality, blocks[locality].next);
}

/* Whether there is a block to use, or to be refused. */
static bool begin_use(uint32_t locality, bool *ret_is_gone)
{
    uint32_t state = facts->memory[locality].state;
    do {
        *ret_is_gone = state & GIVEN_BACK;
        if (state & (CLOSED | GIVEN_BACK))
            return *ret_is_gone;
    } while (!atomic_compare_exchange_weak(&facts->memory[locality].state, &state, state + 1));
    return true;
}

static void end_use(uint32_t locality)
{
    facts->memory[locality].state--;
}

/* If nobody uses it. What comes next may lie in its place. */
static void give_back(uint32_t locality)
{
    struct block *block = &blocks[locality];
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong(&facts->memory[locality].state, &none, CLOSED))
        return;
    trace("locality %u gives its block back", locality);
    scarce_pause();
    stage_memory_free(locality, block->memory);
    block->memory = NULL;
    block->next = stage_memory_alloc(locality, block_bytes());
    memset(block->next, 0x5a, HEADER);
    scarce_go_on();
    facts->memory[locality].state = GIVEN_BACK;
}

/* Inputs ------------------------------------------------------------------------------------- */

static bool is_in_block(uint32_t locality, const unsigned char *memory)
{
    const unsigned char *block = blocks[locality].memory;
    return block && memory >= block && memory < block + block_bytes();
}

void *memory_alloc(uint32_t locality, size_t bytes)
{
    struct block *block = &blocks[locality];
    const size_t all = (bytes + 63) / 64 * 64;
    bool is_gone = true;
    if (!block->memory || !begin_use(locality, &is_gone) || is_gone)
        return stage_memory_alloc(locality, bytes);
    const size_t at = atomic_fetch_add(&block->inputs, all) + all;
    if (at <= INPUTS)
        return block->memory + areas_end() + at - all;
    end_use(locality);
    return stage_memory_alloc(locality, bytes);
}

void memory_free(uint32_t locality, void *memory)
{
    if (is_in_block(locality, memory))
        end_use(locality);
    else
        stage_memory_free(locality, memory);
}

void memory_tell_input(const struct flight *flight)
{
    const struct random_site *call = &flight->call;
    const uint32_t locality = call->memory.locality;
    if (call->memory.alloc != memory_alloc || !is_in_block(locality, call->in) ||
        call->given_in != call->in)
        return;
    const size_t at = (size_t)(call->in - blocks[locality].memory);
    atomic_store_explicit(&facts->steps[flight->number].input_at[flight->site], (uint32_t)at,
                          memory_order_relaxed);
}

/* Operations --------------------------------------------------------------------------------- */

static void check(const struct access *access, cohort_status status)
{
    const uint32_t dead = stage_dead();
    bool may_end = dead >> access->owner & 1 || (dead && !program->keeps_going);
    if (dead >> access->here & 1 || (status == COHORT_ERR_PEER_DIED && may_end) ||
        (status == COHORT_ERR_CANCELLED && cohort_cancelled()) ||
        (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()))
        return;
    if (status != (access->is_gone ? COHORT_ERR_GONE : COHORT_OK))
        FAIL("memory of locality %u, by locality %u: %s: %s", access->owner, access->here,
             cohort_status_name(status), status ? cohort_error_message() : "");
}

static void fill(unsigned char *to, uint64_t seed, size_t bytes)
{
    struct cohort__random random = cohort__random_seeded(seed);
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        const uint64_t word = cohort__random_below(&random, UINT64_MAX);
        memcpy(to + at, &word, bytes - at < sizeof(word) ? bytes - at : sizeof(word));
    }
}

/* Operations of one kind in all quarters at once, whose futures are awaited in any order. */
struct round {
    enum kind kind;
    cohort_future *futures[QUARTERS];
    unsigned char *data[QUARTERS];
    struct quarter drawn[QUARTERS];
    uint64_t value;
    uint64_t before[QUARTERS];
};

static void start(struct access *access, struct round *round, uint32_t i)
{
    const cohort_memory_handle *handle = &facts->memory[access->owner].handle;
    const size_t quarter = program->area / QUARTERS / 8 * 8;
    const struct quarter *known = &quarters[access->actor][access->owner][i];
    struct quarter *drawn = &round->drawn[i];
    if (round->kind == ADD) {
        facts->memory[access->owner].begun += round->value;
        round->futures[i] =
            stage_memory_add(access->here, handle, 0, round->value, &round->before[i]);
        return;
    }
    const size_t bytes[] = {8, 1 + draw(access, quarter), quarter};
    drawn->bytes = bytes[draw(access, 3)];
    drawn->at = draw(access, quarter - drawn->bytes + 1);
    drawn->seed = draw(access, UINT32_MAX);
    if (round->kind == GET && known->is_known)
        *drawn = *known;
    const size_t at = HEADER + access->actor * program->area + i * quarter + drawn->at;
    scarce_pause();
    round->data[i] = malloc(drawn->bytes);
    scarce_go_on();
    CHECK(round->data[i]);
    fill(round->data[i], round->kind == PUT ? drawn->seed : ~drawn->seed, drawn->bytes);
    round->futures[i] =
        round->kind == PUT
            ? stage_memory_put(access->here, handle, at, round->data[i], drawn->bytes)
            : stage_memory_get(access->here, handle, at, round->data[i], drawn->bytes);
}

static void check_got(const struct quarter *known, const unsigned char *got)
{
    scarce_pause();
    unsigned char *want = test_malloc(known->bytes);
    scarce_go_on();
    fill(want, known->seed, known->bytes);
    if (memcmp(got, want, known->bytes) != 0)
        FAIL("memory: what was put is not there");
    free(want);
}

static void finish(struct access *access, struct round *round, uint32_t i)
{
    struct quarter *known = &quarters[access->actor][access->owner][i];
    struct memory_facts *its = &facts->memory[access->owner];
    const cohort_status status = cohort_await(round->futures[i]);
    check(access, status);
    if (round->kind == PUT) {
        *known = round->drawn[i];
        known->is_known = !status;
    } else if (round->kind == GET && !status && known->is_known) {
        check_got(known, round->data[i]);
    } else if (round->kind == ADD && !status) {
        its->done += round->value;
        CHECK(round->before[i] <= its->begun - round->value);
    }
    free(round->data[i]);
}

static void play_round(struct access *access)
{
    struct round round = {.kind = (enum kind)draw(access, NUM_KINDS), .value = draw(access, 1000)};
    const uint32_t num = 1 + draw(access, QUARTERS), first = draw(access, num);
    for (uint32_t i = 0; i < num; i++)
        start(access, &round, i);
    for (uint32_t i = 0; i < num; i++)
        finish(access, &round, (first + i) % num);
}

/* What no handle allows. */
static void play_wrong(struct access *access)
{
    const cohort_memory_handle *handle = &facts->memory[access->owner].handle;
    uint64_t word = 0;
    cohort_status status =
        cohort_await(draw(access, 2) ? stage_memory_add(access->here, handle, 4, 1, NULL)
                                     : stage_memory_get(access->here, handle, handle->bytes - 4,
                                                        &word, sizeof(word)));
    CHECK(status == COHORT_ERR_BAD_PARAMETER ||
          (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()));
}

static cohort_status play_rounds(void *arg)
{
    struct access *access = arg;
    if (!begin_use(access->owner, &access->is_gone))
        return COHORT_OK;
    trace("actor %u uses the block of locality %u", access->actor, access->owner);
    if (draw(access, 8) == 7)
        play_wrong(access);
    for (uint32_t i = 1 + draw(access, MOST_ROUNDS); i > 0; i--)
        play_round(access);
    if (!access->is_gone)
        end_use(access->owner);
    return COHORT_OK;
}

static void play_in_scope(struct access *access, uint32_t moment)
{
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    if (!status)
        status = cohort_scope_async(scope, play_rounds, access);
    for (uint32_t i = 0; !status && i < moment; i++)
        cohort_yield();
    if (!status) {
        cohort_scope_cancel(scope);
        status = cohort_scope_await(scope);
    }
    CHECK(!status || status == COHORT_ERR_CANCELLED ||
          (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()));
}

void memory_play(const struct step *step, uint32_t actor)
{
    struct access access = {.actor = actor, .here = program->locality_of[actor], .owner = step->to};
    access.random = cohort__random_seeded(step->form);
    if (access.here == access.owner && step->form % 4 == 3)
        give_back(access.owner);
    if (step->trouble == TROUBLE_SCOPE)
        play_in_scope(&access, step->moment);
    else
        (void)play_rounds(&access);
}

/* A call has ended here: so the inputs that it needed are there, and whoever likes may read them,
 * also while others still do so for the call. */
void memory_check_inputs(struct world *world, const struct flight *flight, uint32_t sites)
{
    const struct group *group = &program->groups[flight->step->group];
    const struct random_call *call = &flight->step->call;
    struct access access = {.actor = group->actors[flight->site]};
    access.here = program->locality_of[access.actor];
    for (uint32_t site = 0; site < group->num_sites; site++) {
        const uint32_t at = atomic_load_explicit(&facts->steps[flight->number].input_at[site],
                                                 memory_order_relaxed);
        struct random_side in, out;
        access.owner = program->locality_of[group->actors[site]];
        if (!(sites >> site & 1) || at == 0 || !begin_use(access.owner, &access.is_gone))
            continue;
        random_lay_out(call, site, &in, &out);
        const size_t bytes = in.end * random_element(call);
        scarce_pause();
        unsigned char *data = malloc(bytes + 1);
        scarce_go_on();
        CHECK(data);
        cohort_status status = cohort_await(
            stage_memory_get(access.here, &facts->memory[access.owner].handle, at, data, bytes));
        check(&access, status);
        if (!status && memcmp(data, world->inputs[flight->number][site], bytes) != 0)
            FAIL("memory: another input");
        free(data);
        if (!access.is_gone)
            end_use(access.owner);
    }
}

/* All have done what they do: each add that is done has been done once. */
void memory_check_all(uint32_t locality)
{
    const struct memory_facts *its = &facts->memory[locality];
    struct access access = {.here = locality, .owner = locality};
    uint64_t sum;
    if (!blocks[locality].memory || !begin_use(locality, &access.is_gone))
        return;
    cohort_status status =
        cohort_await(stage_memory_get(locality, &its->handle, 0, &sum, sizeof(sum)));
    check(&access, status);
    if (!status && (sum < its->done || sum > its->begun))
        FAIL("memory: %llu instead of %llu to %llu", (unsigned long long)sum,
             (unsigned long long)its->done, (unsigned long long)its->begun);
    if (!access.is_gone)
        end_use(locality);
}
