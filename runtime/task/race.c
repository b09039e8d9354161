/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/inputs.h"

/* Each future that completes draws the next place. Those with a place below WANTED write their
 * index there; the last one to have done so, which may be another one than that with the last
 * place, decides the race. After that, and once all waiters are registered, the other futures
 * forget their waiters. Otherwise they would pile up in a future that takes part in one race after
 * another. Each registered waiter holds a reference to this object, which is given back when its
 * notification is through. One more reference is held while waiters are registered.
 * tests/model/race.pml is a model of this. */

struct race;
struct member {
    struct cohort__waiter waiter;
    struct race *race;
    cohort_future *future;
};
enum { REGISTERED = 1, DECIDED = 2 };
struct race {
    cohort_future *result;
    struct cohort__inputs inputs; /* until it is decided */
    size_t num_seen_done;         /* in front, for the tick */
    size_t *ret_indices;
    size_t wanted;
    bool is_like_winner;
    atomic_uint progress; /* REGISTERED and DECIDED: the second one to be set calls forget_all */
    _Atomic size_t refs;
    _Atomic size_t num_places; /* drawn so far, also those from WANTED on */
    _Atomic size_t num_written;
    size_t count;
    size_t num_registered; /* or found complete */
    struct member members[];
};

static void unref(struct race *race)
{
    if (atomic_fetch_sub_explicit(&race->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(race);
}

/* From now on, a notification finds all places taken, and does not look at its future. */
static void forget_all(struct race *race)
{
    cohort__inputs_end(&race->inputs);
    for (size_t i = 0; i < race->count; i++) {
        struct member *member = &race->members[i];
        if (i < race->num_registered && !cohort__future_is_complete(member->future))
            cohort__future_forget(member->future, &member->waiter);
        cohort_future_unref(member->future);
    }
}

static void advance(struct race *race, unsigned step)
{
    if (atomic_fetch_or(&race->progress, step) != 0)
        forget_all(race);
}

/* MEMBER's future is complete. Whether that decides the race. */
static bool decides(const struct member *member)
{
    struct race *race = member->race;
    size_t place = atomic_fetch_add(&race->num_places, 1);
    if (place >= race->wanted)
        return false;
    if (race->ret_indices)
        race->ret_indices[place] = (size_t)(member - race->members);
    return race->wanted == 1 || atomic_fetch_add(&race->num_written, 1) + 1 == race->wanted;
}

static struct member *member_of(struct cohort__waiter *waiter)
{
    return COHORT_CONTAINER_OF(waiter, struct member, waiter);
}

static void decide(struct cohort__waiter *waiter)
{
    const struct member *member = member_of(waiter);
    struct race *race = member->race;
    if (race->is_like_winner)
        cohort__future_complete_like(race->result, member->future);
    else
        cohort__future_fulfil(race->result, NULL);
    advance(race, DECIDED);
    unref(race);
}

static void notify(struct cohort__waiter *waiter)
{
    const struct member *member = member_of(waiter);
    if (decides(member))
        cohort__waiter_follow(waiter, decide);
    else
        unref(member->race);
}

static struct race *create(cohort_future *const *futures, size_t count)
{
    struct race *race = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct member))
        race = cohort__slab_alloc(sizeof(*race) + count * sizeof(struct member));
    if (!race)
        return NULL;
    race->result = cohort__future_create_about(COHORT__WAIT_SEVERAL);
    if (!race->result) {
        cohort__slab_free(race);
        return NULL;
    }
    cohort__inputs_init(&race->inputs);
    race->num_seen_done = 0;
    atomic_init(&race->progress, 0);
    atomic_init(&race->refs, 1);
    atomic_init(&race->num_places, 0);
    atomic_init(&race->num_written, 0);
    race->count = count;
    for (size_t i = 0; i < count; i++)
        race->members[i] =
            (struct member){.waiter = {.notify = notify}, .race = race, .future = futures[i]};
    return race;
}

/* The result may be complete at any time, and gone. */
static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    struct race *race = COHORT_CONTAINER_OF(inputs, struct race, inputs);
    const size_t num_complete = atomic_load_explicit(&race->num_places, memory_order_relaxed);
    if (num_complete >= race->wanted)
        return;
    struct cohort__inputs_line line = {.since = since,
                                       .of = (uintptr_t)race->result,
                                       .num = race->count - num_complete,
                                       .wanted = race->wanted - num_complete};
    cohort__inputs_add_pending(&line, &race->members[0].future, sizeof(race->members[0]),
                               race->count, &race->num_seen_done);
    cohort__inputs_tell(&line);
}

static void register_all(struct race *race)
{
    size_t i = 0;
    for (; i < race->count && atomic_load(&race->num_places) < race->wanted; i++) {
        struct member *member = &race->members[i];
        atomic_fetch_add_explicit(&race->refs, 1, memory_order_relaxed);
        if (!cohort__future_wait_with(member->future, &member->waiter))
            notify(&member->waiter);
    }
    race->num_registered = i;
    if (i == race->count)
        cohort__inputs_begin(&race->inputs, describe);
    advance(race, REGISTERED);
    unref(race);
}

/* The first WANTED of COUNT futures that complete win; 1 <= WANTED <= COUNT. Before the returned
 * future completes, RET_INDICES[0 .. WANTED - 1], if it is not NULL, has their indices in the order
 * of completion. It completes with COHORT_OK, or if IS_LIKE_WINNER, which is for WANTED 1 only,
 * with the status and value of the winner. Takes the references, which it gives back when the race
 * is decided. Any thread. */
static cohort_future *start_race(cohort_future *const *futures, size_t count, size_t wanted,
                                 size_t *ret_indices, bool is_like_winner)
{
    struct race *race = create(futures, count);
    if (!race) {
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    race->ret_indices = ret_indices;
    race->wanted = wanted;
    race->is_like_winner = is_like_winner;
    cohort_future *result = race->result;
    register_all(race);
    return result;
}

cohort_future *cohort_when_any(cohort_future *const *futures, size_t count, size_t *ret_index)
{
    const char *name = "cohort_when_any";
    if (count == 0)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no futures", name);
    cohort_future *refused =
        cohort__futures_check(futures, count, name, __builtin_return_address(0));
    if (refused)
        return refused;
    return start_race(futures, count, 1, ret_index, true);
}

cohort_future *cohort_when_some(cohort_future *const *futures, size_t count, size_t wanted,
                                size_t *ret_indices)
{
    const char *name = "cohort_when_some";
    cohort_future *refused = NULL;
    if (count > 0)
        refused = cohort__futures_check(futures, count, name, __builtin_return_address(0));
    if (refused)
        return refused;
    if (wanted > 0 && wanted <= count)
        return start_race(futures, count, wanted, ret_indices, false);
    cohort__futures_unref(futures, count);
    if (wanted == 0)
        return cohort_future_of_value(NULL);
    return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: %zu futures wanted of %zu", name,
                                  wanted, count);
}
