/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cohort/file.h>

#include "tests/cross/simulation.h"
#include "tests/support/test.h"

/* Scopes, and what tasks in them do that only wait; the kinds of parts; and combinators over
 * combinators. */

enum {
    MOST_SCOPES = 3,
    MOST_TASKS = 6,
    MOST_NESTED = 3,
    FEW_LEVELS = 40,
    MANY_LEVELS = 12000,
    MOST_LEFT = 4,
    FEW_YIELDS = 20,
    MANY_YIELDS = 400
};
static const uint64_t LONG = UINT64_C(100000000000), SOON = UINT64_C(10000000000);

/* Why it fails. */
struct scope_facts {
    cohort_scope *scope;
    uint64_t limit, begin;
    _Atomic int first;    /* the first cause that the program makes; COHORT_OK: there is none */
    atomic_bool has_left; /* a task in it does not await a scope that it has created */
    uint32_t num_started;
    _Atomic uint32_t num_run; /* of these */
};

enum { MOST_INNER = 3 };

struct inner {
    struct scope_facts facts;
    struct part parts[MOST_INNER];
};

struct scene {
    cohort_future *input;   /* pending until the scope has ended */
    cohort_task_local *key; /* NULL: no memory */
    struct shared *shared;  /* the same */
    uint32_t theme;         /* the kind of all parts in the outer scope; NUM_KINDS: of any */
    struct inner left[MOST_LEFT];
    _Atomic uint32_t num_left;    /* scopes that are not awaited */
    _Atomic uint32_t num_running; /* functions of tasks in the scope */
    _Atomic uint32_t num_values;  /* of these tasks, not destroyed yet */
};

void check_end(cohort_status status)
{
    CHECK(status == COHORT_OK || (status == COHORT_ERR_CANCELLED && cohort_cancelled()) ||
          is_for_want_of_memory(status));
}

struct shared *part_shared(const struct part *part)
{
    return part->scene->shared;
}

void part_check(const struct part *part)
{
    CHECK(cohort_scope_current() == part->facts->scope);
}

void part_pause(struct part *part)
{
    for (uint32_t i = part_draw(part, 4); i > 0; i--)
        cohort_yield();
}

static cohort_status follow(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return COHORT_OK;
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    *ret_value = NULL;
    return COHORT_OK;
}

static cohort_future *start_following(const struct scene *scene, bool flows)
{
    cohort_future *input = cohort_future_ref(scene->input);
    return flows ? cohort_dataflow(&input, 1, flow, NULL) : cohort_then(input, follow, NULL);
}

static cohort_status follow_in_task(void *arg)
{
    struct scene *scene = arg;
    scene->num_running++;
    check_end(cohort_await(start_following(scene, false)));
    scene->num_running--;
    return COHORT_OK;
}

static void wait_limited(struct part *part)
{
    enum cohort_wait_end end;
    cohort_status status = cohort_wait(part->scene->input, LONG, &end);
    check_end(status);
    CHECK(status || end == COHORT_WAIT_CANCELLED || scarce_has_failed());
}

/* A call whose thread has begun goes on to its end, and one that waits for a thread is cancelled;
 * each of them is awaited, since the buffer is its. */
static cohort_status await_both(cohort_future *first, cohort_future *second)
{
    cohort_future *both[] = {cohort_future_ref(first), cohort_future_ref(second)};
    check_end(cohort_await(cohort_when_all(both, 2)));
    cohort_status status = cohort_await(first), other = cohort_await(second);
    check_end(status);
    check_end(other);
    return status ? status : other;
}

static void use_file(struct part *part)
{
    uint32_t form = part_draw(part, 1 << 16);
    enum { HALF = 300 };
    unsigned char out[2 * HALF], in[2 * HALF];
    char path[40];
    cohort_file *file;
    size_t bytes = 0;
    int fd = memfd_create("cross", MFD_CLOEXEC);
    CHECK(fd >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cohort_status status = cohort_await(cohort_file_open(path, O_RDWR, 0, &file));
    close(fd);
    check_end(status);
    if (status)
        return;
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = oracle_byte(form, i);
    status = await_both(cohort_file_write(file, HALF, out + HALF, HALF),
                        cohort_file_write(file, 0, out, HALF));
    cohort_status got = cohort_await(cohort_file_read(file, 0, in, sizeof(in), &bytes));
    check_end(got);
    if (!status && !got) {
        CHECK_INT(bytes, sizeof(in));
        CHECK(memcmp(in, out, sizeof(in)) == 0);
    }
    check_end(cohort_await(cohort_file_close(file)));
    cohort_file_unref(file);
}

static void sleep_long(struct part *part)
{
    check_end(cohort_await(cohort_sleep(LONG)));
}

static void await_following(struct part *part)
{
    check_end(cohort_await(start_following(part->scene, part_draw(part, 2))));
}

static void drop_following(struct part *part)
{
    cohort_future_unref(start_following(part->scene, part_draw(part, 2)));
}

/* Tasks -------------------------------------------------------------------------------------- */

struct call {
    struct part *part;
    part_function *function;
    void *value;
    bool is_called;
};

/* On a thread that is in the scope of the part's task, and uses its values. */
static cohort_status call_on_thread(void *arg)
{
    struct call *call = arg;
    call->is_called = true;
    CHECK(cohort_worker_index() == -1);
    part_check(call->part);
    CHECK(cohort_task_local_get(call->part->scene->key) == call->value);
    call->function(call->part);
    return COHORT_OK;
}

void part_block(struct part *part, part_function *function)
{
    struct call call = {part, function, cohort_task_local_get(part->scene->key), false};
    bool was_cancelled = cohort_cancelled();
    cohort_status status = cohort_blocking(call_on_thread, &call);
    check_end(status);
    CHECK(call.is_called == (status == COHORT_OK));
    CHECK(!was_cancelled || status);
}

void part_call(struct part *part, part_function *function)
{
    if (part_draw(part, 4) == 0)
        part_block(part, function);
    else
        function(part);
}

/* Whatever it starts is in the scope, too. */
static void start_more(struct part *part)
{
    if (!cohort_cancelled())
        cohort_future_unref(cohort_async(follow_in_task, part->scene));
}

static void block(struct part *part)
{
    part_block(part, start_more);
}

static cohort_status answer(void *arg)
{
    struct part *part = arg;
    part_check(part);
    CHECK(!cohort_task_local_get(part->scene->key));
    part_pause(part);
    return part_draw(part, 2) ? cohort_fail(COHORT_ERR_FAILED, "an answer") : COHORT_OK;
}

/* Its failure is its future's, and not the scope's. */
static void start_with(struct part *part)
{
    cohort_task_options options = {
        .stack_bytes = part_draw(part, 2) ? (size_t)32768 << part_draw(part, 3) : 0,
        .mobility = (enum cohort_task_mobility)part_draw(part, 3),
        .priority = (enum cohort_task_priority)part_draw(part, 3),
    };
    if (options.mobility != COHORT_TASK_MOVABLE && part_draw(part, 3) == 0)
        options.worker = 1;
    bool was_cancelled = cohort_cancelled();
    cohort_status status = cohort_await(cohort_async_with(answer, part, &options));
    CHECK(!was_cancelled || status == COHORT_ERR_CANCELLED || is_for_want_of_memory(status));
    if (status != COHORT_ERR_FAILED)
        check_end(status);
    else if (!scarce_has_failed())
        CHECK_TEXT(cohort_error_message(), "an answer");
}

/* Scopes ------------------------------------------------------------------------------------- */

/* What comes first is what the scope fails with. */
static void blame(struct scope_facts *facts, cohort_status status)
{
    int none = COHORT_OK;
    atomic_compare_exchange_strong(&facts->first, &none, status);
}

static void cancel(struct scope_facts *facts)
{
    blame(facts, COHORT_ERR_CANCELLED);
    cohort_scope_cancel(facts->scope);
}

/* The scope has ended with STATUS, and been in one that is cancelled or not. */
static void check_scope(const struct scope_facts *facts, cohort_status status, bool is_cancelled)
{
    int first = facts->first;
    if (status == COHORT_OK)
        CHECK_INT(facts->num_run, facts->num_started);
    if (status == COHORT_ERR_TIMEOUT)
        CHECK(facts->limit && simulation_time() - facts->begin >= facts->limit);
    else if (status == COHORT_ERR_CANCELLED && is_cancelled)
        return;
    else if (!first)
        CHECK_INT(status, facts->has_left ? COHORT_ERR_STATE : COHORT_OK);
    else if (!simulation_means.has_threads)
        CHECK_INT(status, first);
    else
        CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_FAILED);
    if (status == COHORT_ERR_FAILED && !scarce_has_failed())
        CHECK_CONTAINS(cohort_error_message(), "on purpose");
}

static bool open_scope(struct scope_facts *facts, uint64_t limit)
{
    *facts = (struct scope_facts){.limit = limit, .begin = simulation_time()};
    cohort_status status =
        cohort_scope_create(limit ? &(cohort_scope_options){limit} : NULL, &facts->scope);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    return status == COHORT_OK;
}

static cohort_status run_part(void *arg);

/* PART is not drawn yet. */
static void start_part(struct part *part, struct scene *scene, struct scope_facts *facts,
                       uint64_t form)
{
    part->scene = scene;
    part->facts = facts;
    part->random = cohort__random_seeded(form);
    cohort_status status = cohort_scope_async(facts->scope, run_part, part);
    CHECK(status != COHORT_ERR_CANCELLED || facts->first || facts->limit || cohort_cancelled());
    CHECK(!status || status == COHORT_ERR_CANCELLED || is_for_want_of_memory(status));
    facts->num_started += status == COHORT_OK;
}

static bool open_inner(struct inner *inner, struct part *part)
{
    uint64_t limit = part_draw(part, 3) ? 0 : 1 + part_draw(part, 50000);
    if (!open_scope(&inner->facts, limit))
        return false;
    for (uint32_t i = part_draw(part, MOST_INNER); i < MOST_INNER; i++) {
        inner->parts[i].depth = part->depth + 1;
        start_part(&inner->parts[i], part->scene, &inner->facts, part_draw(part, 1 << 16));
    }
    return true;
}

static void nest(struct part *part)
{
    struct inner inner;
    if (part->depth == MOST_NESTED || !open_inner(&inner, part))
        return;
    if (part_draw(part, 3) == 0) {
        part_pause(part);
        cancel(&inner.facts);
    }
    cohort_status status = cohort_scope_await(inner.facts.scope);
    check_scope(&inner.facts, status, cohort_cancelled());
}

/* The scope around it ends it, and fails. */
static void leave_scope(struct part *part)
{
    struct scene *scene = part->scene;
    if (part->depth == MOST_NESTED)
        return;
    uint32_t number = scene->num_left++;
    if (number < MOST_LEFT && open_inner(&scene->left[number], part))
        part->facts->has_left = true;
}

/* The parts ---------------------------------------------------------------------------------- */

static part_function *const kinds[] = {
    wait_limited,  await_following, drop_following, sleep_long, block,
    use_file,      leave_scope,     start_with,     use_mutex,  use_condition,
    use_semaphore, use_latch,       use_barrier,    use_queue,  use_range,
    use_reduction, use_promises,    use_callbacks,  use_loop,   use_connection,
};

enum { NUM_KINDS = NUM_OF(kinds) };

/* At once before the scope hears of it. */
static void tell_failure(struct part *part)
{
    if (part->fails)
        blame(part->facts, COHORT_ERR_FAILED);
}

/* At the end of its task, whose error stays. */
static void value_destroyed(void *value)
{
    struct part *part = value;
    part_pause(part);
    cohort_fail(COHORT_ERR_SYSTEM, "of a destructor");
    part->scene->num_values--;
    tell_failure(part);
}

static bool set_value(struct part *part)
{
    cohort_task_local *key = part->scene->key;
    CHECK(!cohort_task_local_get(key));
    if (!key || part_draw(part, 2))
        return false;
    cohort_status status = cohort_task_local_set(key, part);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    part->scene->num_values += status == COHORT_OK;
    return status == COHORT_OK;
}

static cohort_status run_part(void *arg)
{
    struct part *part = arg;
    struct scene *scene = part->scene;
    scene->num_running++;
    part->facts->num_run++;
    part_check(part);
    bool has_value = set_value(part);
    if (part_draw(part, 5) == 0)
        nest(part);
    bool has_theme = scene->theme < NUM_KINDS && part->depth == 0;
    kinds[has_theme ? scene->theme : part_draw(part, NUM_KINDS)](part);
    CHECK(cohort_task_local_get(scene->key) == (has_value ? part : NULL));
    uint32_t end = part_draw(part, 20);
    part->fails = end == 0;
    if (end == 1) {
        blame(part->facts, COHORT_ERR_FAILED);
        cohort_scope_fail(cohort_scope_current(), COHORT_ERR_FAILED, "on purpose");
    }
    scene->num_running--;
    if (!has_value)
        tell_failure(part);
    return part->fails ? cohort_fail(COHORT_ERR_FAILED, "on purpose") : COHORT_OK;
}

static void play_scope(struct scene *scene, struct cohort__random *random)
{
    struct part parts[MOST_TASKS];
    struct scope_facts facts;
    uint32_t num = 1 + (uint32_t)cohort__random_below(random, MOST_TASKS);
    uint64_t limit = cohort__random_below(random, 4) ? 0 : 1 + cohort__random_below(random, 100000);
    if (!open_scope(&facts, limit))
        return;
    for (uint32_t i = 0; i < num; i++) {
        parts[i].depth = 0;
        start_part(&parts[i], scene, &facts, cohort__random_below(random, 1 << 16));
    }
    uint64_t most = cohort__random_below(random, 2) ? FEW_YIELDS : MANY_YIELDS;
    for (uint64_t i = cohort__random_below(random, most); i > 0; i--)
        cohort_yield();
    cancel(&facts);
    uint64_t begin = simulation_time();
    check_scope(&facts, cohort_scope_await(facts.scope), false);
    CHECK(simulation_time() - begin < SOON);
    CHECK_INT(scene->num_running, 0);
    CHECK_INT(scene->num_values, 0);
}

/* Combinators -------------------------------------------------------------------------------- */

enum { ANY, ALL, SOME, EACH, NUM_WAYS };

/* What is complete with INNER, and not before. */
static cohort_future *combine(cohort_future *inner, uint64_t how)
{
    cohort_future *both[] = {inner, NULL}, *each[2];
    if (how == ANY)
        return cohort_when_any(both, 1, NULL);
    both[1] = cohort_future_of_value(NULL);
    if (how == ALL)
        return cohort_when_all(both, 2);
    if (how == SOME)
        return cohort_when_some(both, 2, 2, NULL);
    if (cohort_when_each(both, 2, each, NULL))
        return cohort_future_of_value(NULL);
    cohort_future_unref(each[0]);
    return each[1];
}

/* What is over it gets its error, unless *ret_hides. */
static cohort_future *pile_up(const struct scene *scene, struct cohort__random *random,
                              bool *ret_hides)
{
    cohort_future *top = cohort_future_ref(scene->input);
    uint64_t how = cohort__random_below(random, NUM_WAYS);
    uint64_t most = cohort__random_below(random, 4) ? FEW_LEVELS : MANY_LEVELS;
    uint64_t num = scarce_has_failed() ? 0 : cohort__random_below(random, most);
    for (uint64_t i = 0; i < num; i++)
        top = combine(top, how);
    *ret_hides = how == SOME && num > 0;
    return top;
}

/* At the end. */
static void check_pile(cohort_status status, bool hides)
{
    if (status == COHORT_OK)
        CHECK(hides || scarce_has_failed());
    else if (!is_for_want_of_memory(status))
        CHECK(status == COHORT_ERR_FAILED && !hides);
}

static bool open_scene(struct scene *scene, struct cohort__random *random,
                       cohort_promise **ret_promise)
{
    cohort_status status = cohort_promise_create(ret_promise, &scene->input);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    if (status)
        return false;
    status = cohort_task_local_create(value_destroyed, &scene->key);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    uint32_t theme = (uint32_t)cohort__random_below(random, 2 * NUM_KINDS);
    scene->theme = theme < NUM_KINDS ? theme : NUM_KINDS;
    scene->shared = shared_create((uint32_t)cohort__random_below(random, 1 << 16));
    if (scene->shared && theme < NUM_KINDS)
        shared_keep(scene->shared, kinds[theme]);
    return true;
}

void tasks_play(uint32_t form)
{
    struct scene scene = {.input = NULL};
    cohort_promise *promise;
    bool hides;
    struct cohort__random random = cohort__random_seeded(form);
    if (!open_scene(&scene, &random, &promise))
        return;
    cohort_future *top = pile_up(&scene, &random, &hides);
    for (uint64_t i = cohort__random_below(&random, MOST_SCOPES); i < MOST_SCOPES; i++)
        play_scope(&scene, &random);
    cohort_promise_fail(promise, COHORT_ERR_FAILED, "the scope has ended");
    check_pile(cohort_await(top), hides);
    cohort_future_unref(scene.input);
    cohort_task_local_unref(scene.key);
    if (scene.shared)
        shared_end(scene.shared);
}
