/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cross/simulation.h"
#include "tests/support/test.h"

/* Parts that wait for each other, by the same objects, within a scope that is cancelled, and a
 * keeper outside of it that waits without a limit. What the keeper waits for comes at the end, but
 * only if it can't have come already, by what the others have counted: so who is cancelled must
 * have taken nothing, and left nothing. */

enum { MOST_ITEMS = 512, MOST_USES = 4, MOST_WIDTH = 4 };

struct item {
    _Atomic uint32_t num_puts, num_gets; /* that have succeeded */
};

struct shared {
    cohort_mutex *mutex;
    cohort_condition *condition;
    cohort_semaphore *semaphore;
    cohort_latch *latch;
    cohort_local_barrier *barrier;
    cohort_queue *queue;
    const struct kept *kept; /* what the keeper waits for; NULL: there is none */
    cohort_future *keeper;   /* NULL: likewise, or it is over */
    uint32_t delay;          /* of it, in yields */

    _Atomic uint32_t num_holders; /* of the mutex */
    /* By who holds it. A wait that has ended still counts as one until it has the mutex. */
    uint32_t num_tokens, num_waiting, num_woken, may_wake;

    _Atomic uint32_t given, taken; /* permits */

    uint32_t to_count; /* by the latch */
    _Atomic uint32_t num_counting, num_counted;

    uint32_t width;                       /* of the barrier */
    _Atomic uint32_t num_met, num_rounds; /* waits that have succeeded, as the last one */
    atomic_bool has_keeper_met;

    uint32_t capacity;             /* of the queue */
    bool keeper_puts;              /* it waits for room, and not for an item */
    struct item items[MOST_ITEMS]; /* in the order of the puts */
    struct item *got[MOST_ITEMS];  /* in the order of the gets */
    _Atomic uint32_t num_items, num_turns;
    atomic_bool is_closing, is_closed;
};

/* Waiting ------------------------------------------------------------------------------------ */

struct limit {
    uint64_t nanoseconds;
    uint64_t begin;
    bool was_cancelled;
};

static struct limit draw_limit(struct part *part)
{
    const uint64_t limits[] = {COHORT_NO_LIMIT, COHORT_NO_LIMIT, 0, 1 + part_draw(part, 30000)};
    return (struct limit){.nanoseconds = limits[part_draw(part, 4)],
                          .begin = simulation_time(),
                          .was_cancelled = cohort_cancelled()};
}

/* Whether a wait with LIMIT has succeeded, and else whether it may fail in this way. */
static bool has_succeeded(cohort_status status, const struct limit *limit)
{
    bool is_over = simulation_time() - limit->begin >= limit->nanoseconds;
    CHECK(status != COHORT_ERR_TIMEOUT || (is_over && !limit->was_cancelled));
    if (status != COHORT_ERR_TIMEOUT)
        check_end(status);
    return status == COHORT_OK;
}

/* Outside of the scope, and without a limit. */
static bool is_kept(cohort_status status)
{
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    return status == COHORT_OK;
}

/* A task of the test's own. */
static cohort_future *start_own(cohort_task_function *function, struct shared *shared)
{
    scarce_pause();
    cohort_future *future = cohort_async(function, shared);
    scarce_go_on();
    return future;
}

static void await_keeper(struct shared *shared)
{
    if (shared->keeper)
        CHECK_OK(cohort_await(shared->keeper));
    shared->keeper = NULL;
}

/* The mutex ---------------------------------------------------------------------------------- */

static void hold(struct shared *shared)
{
    CHECK_INT(shared->num_holders++, 0);
}

static void let_go(struct shared *shared)
{
    CHECK_INT(shared->num_holders--, 1);
}

static void unlock(struct shared *shared)
{
    let_go(shared);
    CHECK_OK(cohort_mutex_unlock(shared->mutex));
}

static void lock_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    if (!has_succeeded(cohort_mutex_lock(shared->mutex, limit.nanoseconds), &limit)) {
        CHECK_INT(cohort_mutex_unlock(shared->mutex), COHORT_ERR_STATE);
        return;
    }
    hold(shared);
    CHECK_INT(cohort_mutex_lock(shared->mutex, COHORT_NO_LIMIT), COHORT_ERR_STATE);
    part_pause(part);
    unlock(shared);
}

static void keep_mutex(struct shared *shared)
{
    while (!is_kept(cohort_mutex_lock(shared->mutex, COHORT_NO_LIMIT)))
        ;
    hold(shared);
    cohort_yield();
    unlock(shared);
}

static void end_mutex(struct shared *shared)
{
    await_keeper(shared);
    CHECK_OK(cohort_mutex_lock(shared->mutex, 0));
    hold(shared);
    unlock(shared);
}

/* The condition ------------------------------------------------------------------------------ */

/* Who holds the mutex waits for a token. */
static cohort_status await_token(struct shared *shared, uint64_t nanoseconds)
{
    shared->num_waiting++;
    let_go(shared);
    cohort_status status = cohort_condition_wait(shared->condition, shared->mutex, nanoseconds);
    hold(shared);
    shared->num_waiting--;
    shared->num_woken += status == COHORT_OK;
    CHECK(shared->num_woken <= shared->may_wake);
    return status;
}

static void take_token(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    while (shared->num_tokens == 0)
        if (!has_succeeded(await_token(shared, limit.nanoseconds), &limit))
            return;
    shared->num_tokens--;
}

/* The caller holds the mutex. */
static void give_token(struct shared *shared, bool to_all)
{
    shared->num_tokens++;
    shared->may_wake += to_all ? shared->num_waiting : 1;
    if (to_all)
        cohort_condition_broadcast(shared->condition);
    else
        cohort_condition_signal(shared->condition);
}

static void meet_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    if (!has_succeeded(cohort_mutex_lock(shared->mutex, limit.nanoseconds), &limit))
        return;
    hold(shared);
    if (part_draw(part, 3) == 0)
        give_token(shared, part_draw(part, 4) == 0);
    else
        take_token(part);
    unlock(shared);
}

static void keep_condition(struct shared *shared)
{
    while (!is_kept(cohort_mutex_lock(shared->mutex, COHORT_NO_LIMIT)))
        ;
    hold(shared);
    while (shared->num_tokens == 0)
        (void)is_kept(await_token(shared, COHORT_NO_LIMIT));
    shared->num_tokens--;
    unlock(shared);
}

/* Who has been woken has taken a token. So if there is one, the keeper has been woken, too. */
static void end_condition(struct shared *shared)
{
    while (!is_kept(cohort_mutex_lock(shared->mutex, COHORT_NO_LIMIT)))
        ;
    hold(shared);
    if (shared->num_tokens == 0)
        give_token(shared, false);
    unlock(shared);
    end_mutex(shared);
}

/* The semaphore ------------------------------------------------------------------------------ */

static void give_permit(struct shared *shared)
{
    shared->given++;
    CHECK_OK(cohort_semaphore_release(shared->semaphore, 1));
}

static void took_permit(struct shared *shared)
{
    uint32_t taken = ++shared->taken;
    CHECK(taken <= shared->given);
}

static void acquire_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    if (!has_succeeded(cohort_semaphore_acquire(shared->semaphore, limit.nanoseconds), &limit))
        return;
    took_permit(shared);
    part_pause(part);
    if (part_draw(part, 4) > 0)
        give_permit(shared);
}

static void keep_semaphore(struct shared *shared)
{
    while (!is_kept(cohort_semaphore_acquire(shared->semaphore, COHORT_NO_LIMIT)))
        ;
    took_permit(shared);
}

static void end_semaphore(struct shared *shared)
{
    if (shared->taken == shared->given)
        give_permit(shared);
    await_keeper(shared);
    while (shared->taken < shared->given) {
        CHECK_OK(cohort_semaphore_acquire(shared->semaphore, 0));
        shared->taken++;
    }
    CHECK_INT(cohort_semaphore_acquire(shared->semaphore, 0), COHORT_ERR_TIMEOUT);
}

/* The latch ---------------------------------------------------------------------------------- */

static void count_down(struct shared *shared)
{
    if (++shared->num_counting > shared->to_count)
        return;
    CHECK_OK(cohort_latch_count_down(shared->latch, 1));
    shared->num_counted++;
}

static void count_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    if (part_draw(part, 3) == 0) {
        CHECK_INT(cohort_latch_count_down(shared->latch, shared->to_count + 1), COHORT_ERR_STATE);
        count_down(shared);
        return;
    }
    bool was_open = shared->num_counted == shared->to_count;
    struct limit limit = draw_limit(part);
    bool is_open = has_succeeded(cohort_latch_wait(shared->latch, limit.nanoseconds), &limit);
    CHECK(is_open ? shared->num_counting >= shared->to_count : !was_open);
}

static void keep_latch(struct shared *shared)
{
    while (!is_kept(cohort_latch_wait(shared->latch, COHORT_NO_LIMIT)))
        ;
    CHECK(shared->num_counting >= shared->to_count);
}

static void end_latch(struct shared *shared)
{
    while (shared->num_counted < shared->to_count)
        count_down(shared);
    await_keeper(shared);
    CHECK_OK(cohort_latch_wait(shared->latch, 0));
}

/* The barrier -------------------------------------------------------------------------------- */

static void met(struct shared *shared, bool is_last)
{
    shared->num_met++;
    shared->num_rounds += is_last;
}

static void come_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    bool is_last = false;
    cohort_status status = cohort_local_barrier_wait(shared->barrier, limit.nanoseconds, &is_last);
    if (has_succeeded(status, &limit))
        met(shared, is_last);
}

static cohort_status come(void *arg)
{
    struct shared *shared = arg;
    bool is_last = false;
    while (!is_kept(cohort_local_barrier_wait(shared->barrier, COHORT_NO_LIMIT, &is_last)))
        ;
    met(shared, is_last);
    return COHORT_OK;
}

/* What it has met is told first. */
static void keep_barrier(struct shared *shared)
{
    bool is_last = false;
    while (!is_kept(cohort_local_barrier_wait(shared->barrier, COHORT_NO_LIMIT, &is_last)))
        ;
    shared->has_keeper_met = true;
    met(shared, is_last);
}

/* Where all but one have returned, it is the keeper that is about to. */
static void end_barrier(struct shared *shared)
{
    cohort_future *others[MOST_WIDTH];
    uint32_t num = shared->num_met % shared->width == 0 ? shared->width - 1 : 0;
    if (shared->has_keeper_met || !shared->keeper)
        num = 0;
    for (uint32_t i = 0; i < num; i++)
        others[i] = start_own(come, shared);
    for (uint32_t i = 0; i < num; i++)
        CHECK_OK(cohort_await(others[i]));
    await_keeper(shared);
    CHECK_INT(shared->num_met, shared->width * shared->num_rounds);
}

/* The queue ---------------------------------------------------------------------------------- */

static struct item *next_item(struct shared *shared)
{
    uint32_t number = shared->num_items++;
    CHECK(number < MOST_ITEMS);
    return &shared->items[number];
}

static uint32_t next_turn(struct shared *shared)
{
    uint32_t turn = shared->num_turns++;
    CHECK(turn < MOST_ITEMS);
    return turn;
}

static void put_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    struct limit limit = draw_limit(part);
    struct item *item = next_item(shared);
    bool was_closed = shared->is_closed;
    cohort_status status = cohort_queue_put(shared->queue, item, limit.nanoseconds);
    CHECK(status == COHORT_ERR_GONE ? shared->is_closing : !was_closed);
    if (status != COHORT_ERR_GONE && has_succeeded(status, &limit))
        item->num_puts++;
}

static void got(struct shared *shared, uint32_t turn, struct item *item)
{
    CHECK_INT(item->num_gets++, 0);
    shared->got[turn] = item;
}

static void get_once(struct part *part)
{
    struct shared *shared = part_shared(part);
    uint32_t turn = next_turn(shared);
    struct limit limit = draw_limit(part);
    bool was_closed = shared->is_closed;
    void *item;
    cohort_status status = cohort_queue_get(shared->queue, &item, limit.nanoseconds);
    CHECK(status == COHORT_ERR_GONE ? shared->is_closing : status == COHORT_OK || !was_closed);
    if (status != COHORT_ERR_GONE && has_succeeded(status, &limit))
        got(shared, turn, item);
}

static void close_queue(struct part *part)
{
    struct shared *shared = part_shared(part);
    shared->is_closing = true;
    cohort_queue_close(shared->queue);
    shared->is_closed = true;
}

static void pass_once(struct part *part)
{
    uint32_t what = part_draw(part, 16);
    if (what == 15)
        close_queue(part);
    else if (what % 2)
        put_once(part);
    else
        get_once(part);
}

static bool is_kept_or_closed(const struct shared *shared, cohort_status status)
{
    return status == COHORT_ERR_GONE ? shared->is_closing : is_kept(status);
}

static void keep_putting(struct shared *shared)
{
    struct item *item = next_item(shared);
    cohort_status status;
    do
        status = cohort_queue_put(shared->queue, item, COHORT_NO_LIMIT);
    while (!is_kept_or_closed(shared, status));
    item->num_puts += status == COHORT_OK;
}

static void keep_getting(struct shared *shared)
{
    uint32_t turn = next_turn(shared);
    void *item = NULL;
    while (!is_kept_or_closed(shared, cohort_queue_get(shared->queue, &item, COHORT_NO_LIMIT)))
        ;
    if (item)
        got(shared, turn, item);
}

static void keep_queue(struct shared *shared)
{
    if (shared->keeper_puts)
        keep_putting(shared);
    else
        keep_getting(shared);
}

/* Puts and gets wait in the order of their calls, which only one thread can know. */
static void check_order(const struct shared *shared)
{
    const struct item *last = NULL;
    for (uint32_t i = 0; i < shared->num_turns && !simulation_means.has_threads; i++) {
        CHECK(!shared->got[i] || shared->got[i] > last);
        last = shared->got[i] ? shared->got[i] : last;
    }
}

/* Less than 0: the keeper has not been told yet that its item has been got. */
static int num_queued(const struct shared *shared)
{
    int num = 0;
    for (uint32_t i = 0; i < shared->num_items; i++)
        num += (int)shared->items[i].num_puts - (int)shared->items[i].num_gets;
    return num;
}

static void end_putting(struct shared *shared)
{
    void *item;
    if (num_queued(shared) < (int)shared->capacity)
        return;
    CHECK_OK(cohort_queue_get(shared->queue, &item, 0));
    got(shared, next_turn(shared), item);
}

static void end_getting(struct shared *shared)
{
    if (shared->is_closed || num_queued(shared) > 0)
        return;
    struct item *item = next_item(shared);
    CHECK_OK(cohort_queue_put(shared->queue, item, 0));
    item->num_puts++;
}

static void end_queue(struct shared *shared)
{
    void *item;
    cohort_status status;
    if (shared->keeper_puts)
        end_putting(shared);
    else
        end_getting(shared);
    await_keeper(shared);
    while ((status = cohort_queue_get(shared->queue, &item, 0)) == COHORT_OK)
        got(shared, next_turn(shared), item);
    CHECK_INT(status, shared->is_closed ? COHORT_ERR_GONE : COHORT_ERR_TIMEOUT);
    for (uint32_t i = 0; i < shared->num_items; i++)
        CHECK_INT(shared->items[i].num_gets, shared->items[i].num_puts);
    check_order(shared);
}

/* All of it ---------------------------------------------------------------------------------- */

static void use(struct part *part, part_function *once)
{
    for (uint32_t i = part_draw(part, MOST_USES); part_shared(part) && i < MOST_USES; i++) {
        part_call(part, once);
        part_pause(part);
    }
}

void use_mutex(struct part *part)
{
    use(part, lock_once);
}

void use_condition(struct part *part)
{
    use(part, meet_once);
}

void use_semaphore(struct part *part)
{
    use(part, acquire_once);
}

void use_latch(struct part *part)
{
    use(part, count_once);
}

void use_barrier(struct part *part)
{
    use(part, come_once);
}

void use_queue(struct part *part)
{
    use(part, pass_once);
}

static const struct kept {
    part_function *kind;
    void (*keep)(struct shared *shared);
    void (*end)(struct shared *shared);
} kepts[] = {
    {use_mutex, keep_mutex, end_mutex},
    {use_condition, keep_condition, end_condition},
    {use_semaphore, keep_semaphore, end_semaphore},
    {use_latch, keep_latch, end_latch},
    {use_barrier, keep_barrier, end_barrier},
    {use_queue, keep_queue, end_queue},
};

enum { NUM_KEPTS = NUM_OF(kepts) };

static void destroy(struct shared *shared)
{
    cohort_mutex_unref(shared->mutex);
    cohort_condition_unref(shared->condition);
    cohort_semaphore_unref(shared->semaphore);
    cohort_latch_unref(shared->latch);
    cohort_local_barrier_unref(shared->barrier);
    cohort_queue_unref(shared->queue);
    free(shared);
}

struct shared *shared_create(uint32_t form)
{
    scarce_pause();
    struct shared *shared = calloc(1, sizeof(*shared));
    scarce_go_on();
    CHECK(shared);
    shared->given = form % 3;
    shared->to_count = 1 + form % MOST_USES;
    shared->width = 1 + form % MOST_WIDTH;
    shared->capacity = 1 + form % 3;
    shared->keeper_puts = form / 64 % 2;
    shared->delay = form / 128 % 16;
    const cohort_status statuses[] = {
        cohort_mutex_create(&shared->mutex),
        cohort_condition_create(&shared->condition),
        cohort_semaphore_create(shared->given, &shared->semaphore),
        cohort_latch_create(shared->to_count, &shared->latch),
        cohort_local_barrier_create(shared->width, &shared->barrier),
        cohort_queue_create(shared->capacity, &shared->queue),
    };
    for (size_t i = 0; i < NUM_OF(statuses); i++)
        if (!is_kept(statuses[i])) {
            destroy(shared);
            return NULL;
        }
    return shared;
}

static cohort_status keep(void *arg)
{
    struct shared *shared = arg;
    for (uint32_t i = 0; i < shared->delay; i++)
        cohort_yield();
    shared->kept->keep(shared);
    return COHORT_OK;
}

void shared_keep(struct shared *shared, part_function *kind)
{
    for (size_t i = 0; i < NUM_KEPTS; i++)
        if (kepts[i].kind == kind) {
            shared->kept = &kepts[i];
            shared->keeper = start_own(keep, shared);
        }
}

void shared_end(struct shared *shared)
{
    if (shared->kept)
        shared->kept->end(shared);
    for (size_t i = 0; i < NUM_KEPTS; i++)
        kepts[i].end(shared);
    destroy(shared);
}
