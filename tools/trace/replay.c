/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what events mean, in turn: stacks, waits, calls. */
#include "tools/trace/replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/trace/list.h"

static void *get(struct replay *replay, struct cohort__map *map, size_t bytes, uint64_t first,
                 uint64_t second, bool *ret_is_new)
{
    void *found = keyed_get(map, bytes, first, second, ret_is_new);
    replay->has_failed |= !found;
    return found;
}

static struct thread *find_thread(struct replay *replay, const struct event *event)
{
    bool is_new;
    struct thread *thread =
        get(replay, &replay->threads, sizeof(*thread), event->rank, event->thread, &is_new);
    if (thread && is_new)
        thread->left = NONE;
    return thread;
}

static struct open_wait *find_wait(struct replay *replay, const struct event *event)
{
    bool is_new;
    struct open_wait *wait =
        get(replay, &replay->waits, sizeof(*wait), event->rank, event->value, &is_new);
    if (wait && is_new) {
        wait->number = NONE;
        wait->flow = ++replay->num_flows;
    }
    return wait;
}

/* Phases -------------------------------------------------------------------------------------- */

enum cohort__trace_step phases_step(const struct event *event)
{
    uint32_t step = event->small & 15;
    return step < COHORT__TRACE_STEPS ? (enum cohort__trace_step)step : COHORT__TRACE_STEP_COMPUTE;
}

uint32_t phases_phase(const struct event *event)
{
    return event->small >> 4 & (COHORT__TRACE_PHASES - 1);
}

uint32_t phases_peer(const struct event *event)
{
    return (uint32_t)event->b;
}

uint32_t phases_level(const struct event *event)
{
    return (uint32_t)(event->b >> 60);
}

bool phases_match(const struct event *left, const struct event *right)
{
    const uint64_t tag = ((UINT64_C(1) << 28) - 1) << 32;
    return left->small >> 4 == right->small >> 4 && (left->b & tag) == (right->b & tag);
}

static void phase_levels_add(struct phase_levels *levels, const struct event *event)
{
    if (event->small >= COHORT__TRACE_NO_LEVEL)
        return;
    snprintf(levels->names[event->small], sizeof(levels->names[0]), "%s", event->text);
    levels->num = event->small + 1U > levels->num ? event->small + 1U : levels->num;
}

void phase_levels_name(const struct phase_levels *levels, uint32_t level, char text[48])
{
    bool is_beyond = level >= levels->num;
    text[0] = '\0';
    if (level != COHORT__TRACE_NO_LEVEL && levels->num > 0)
        snprintf(text, 48, "%s%s", is_beyond ? "beyond " : "",
                 levels->names[is_beyond ? levels->num - 1 : level]);
}

/* Takes a STEP or OVER. */
static void phases_add(struct phases *phases, const struct event *event)
{
    struct phase *phase = &phases->of[phases_phase(event)];
    uint32_t level = phases_level(event);
    if (!phase->is_used)
        *phase =
            (struct phase){.begin = event->at, .is_used = true, .level = COHORT__TRACE_NO_LEVEL};
    if (level != COHORT__TRACE_NO_LEVEL &&
        (phase->level == COHORT__TRACE_NO_LEVEL || level > phase->level))
        phase->level = level;
    phase->end = event->at;
    if (event->kind == COHORT__TRACE_STEP)
        phase->num_open++;
    else if (phase->num_open > 0 && phases_step(event) != COHORT__TRACE_STEP_COMPUTE)
        phase->num_open--;
}

/* Tasks --------------------------------------------------------------------------------------- */

uint32_t replay_top(const struct stack *stack)
{
    return stack->num > 0 ? stack->frames[stack->num - 1].task : NONE;
}

static void push(struct replay *replay, struct stack *stack, const struct frame *frame)
{
    if (list_grow(&stack->frames, stack->num, sizeof(*frame)))
        stack->frames[stack->num++] = *frame;
    else
        replay->has_failed = true;
}

static void on_begin(struct replay *replay, const struct event *event, struct seen *seen)
{
    seen->thread->deed.kind = COHORT__TRACE_NONE;
    push(replay, &seen->thread->stack,
         &(struct frame){replay->num_tasks++, event->text, event->small == 2});
}

/* What was begun before is not known where records are lost. */
static void on_end(struct replay *replay, const struct event *event, struct seen *seen)
{
    struct thread *thread = seen->thread;
    struct stack *stack = &thread->stack;
    (void)replay;
    seen->ended = replay_top(stack);
    thread->deed = (struct deed){.kind = COHORT__TRACE_END, .ended = seen->ended};
    if (seen->ended == NONE)
        return;
    thread->deed.is_blocking = stack->frames[--stack->num].is_blocking;
    thread->left = seen->ended;
    thread->left_at = event->at;
}

static void on_suspend(struct replay *replay, const struct event *event, struct seen *seen)
{
    struct thread *thread = seen->thread;
    struct open_wait *wait = seen->wait = find_wait(replay, event);
    if (!wait)
        return;
    free(wait->stack.frames);
    wait->stack = thread->stack;
    wait->number = replay->num_waits++;
    thread->stack = (struct stack){0};
    thread->deed.kind = COHORT__TRACE_NONE;
    thread->left = replay_top(&wait->stack);
    thread->left_at = event->at;
}

static void on_wake(struct replay *replay, const struct event *event, struct seen *seen)
{
    struct open_wait *wait = seen->wait = find_wait(replay, event);
    if (!wait)
        return;
    wait->is_woken = true;
    wait->woken = event->at;
    wait->deed = seen->thread->deed;
    wait->running = replay_top(&seen->thread->stack);
}

static void on_resume(struct replay *replay, const struct event *event, struct seen *seen)
{
    struct open_wait *wait = seen->wait = find_wait(replay, event);
    for (uint32_t i = 0; wait && i < wait->stack.num; i++)
        push(replay, &seen->thread->stack, &wait->stack.frames[i]);
    seen->thread->deed.kind = COHORT__TRACE_NONE;
}

static void on_sleep(struct replay *replay, const struct event *event, struct seen *seen)
{
    (void)replay, (void)event;
    seen->thread->deed.kind = COHORT__TRACE_NONE;
}

/* Collectives --------------------------------------------------------------------------------- */

static void on_endpoint(struct replay *replay, const struct event *event, struct seen *seen)
{
    bool is_new;
    struct endpoint *endpoint = seen->endpoint =
        get(replay, &replay->endpoints, sizeof(*endpoint), event->rank, event->value, &is_new);
    if (!endpoint)
        return;
    endpoint->instance = event->a;
    endpoint->site = (uint32_t)event->b;
    endpoint->num_sites = (uint32_t)(event->b >> 32);
    endpoint->name = event->text;
    endpoint->levels = (struct phase_levels){0}; /* of one that had this address before */
}

static void find_call(struct replay *replay, const struct event *event, struct seen *seen)
{
    seen->endpoint = keyed_find(&replay->endpoints, event->rank, event->value);
    if (seen->endpoint)
        seen->call = keyed_find(&replay->calls, (uintptr_t)seen->endpoint, event->a);
}

static void on_level(struct replay *replay, const struct event *event, struct seen *seen)
{
    seen->endpoint = keyed_find(&replay->endpoints, event->rank, event->value);
    if (seen->endpoint)
        phase_levels_add(&seen->endpoint->levels, event);
}

static struct open_generation *find_generation(struct replay *replay, const struct event *event,
                                               const struct endpoint *endpoint)
{
    bool is_new;
    struct open_generation *open =
        get(replay, &replay->generations, sizeof(*open), endpoint->instance, event->a, &is_new);
    if (open && is_new) {
        open->number = replay->num_generations++;
        open->communicator = endpoint->name;
        open->call = event->text;
        open->num_sites = endpoint->num_sites;
    }
    return open;
}

static void arrive(struct replay *replay, struct open_generation *open, uint32_t site, uint64_t at)
{
    if (list_grow(&open->arrivals, open->num_called, sizeof(*open->arrivals)))
        open->arrivals[open->num_called++] = (struct arrival){site, at};
    else
        replay->has_failed = true;
}

static void on_call(struct replay *replay, const struct event *event, struct seen *seen)
{
    bool is_new;
    struct endpoint *endpoint = seen->endpoint =
        keyed_find(&replay->endpoints, event->rank, event->value);
    if (!endpoint)
        return;
    seen->generation = find_generation(replay, event, endpoint);
    struct open_call *call = seen->call =
        get(replay, &replay->calls, sizeof(*call), (uintptr_t)endpoint, event->a, &is_new);
    if (!seen->generation || !call)
        return;
    arrive(replay, seen->generation, endpoint->site, event->at);
    *call = (struct open_call){.keyed = call->keyed, .number = replay->num_calls++};
}

static void on_step(struct replay *replay, const struct event *event, struct seen *seen)
{
    find_call(replay, event, seen);
    if (seen->call)
        phases_add(&seen->call->phases, event);
}

static void on_ended(struct replay *replay, const struct event *event, struct seen *seen)
{
    find_call(replay, event, seen);
    seen->thread->deed =
        (struct deed){.kind = COHORT__TRACE_ENDED, .ended = seen->call ? seen->call->number : NONE};
    if (seen->call)
        seen->generation = keyed_find(&replay->generations, seen->endpoint->instance, event->a);
    if (seen->generation)
        seen->generation->num_ended++;
}

/* Messages ------------------------------------------------------------------------------------ */

uint64_t replay_pair(const struct event *message)
{
    bool is_sent = message->kind == COHORT__TRACE_SENT;
    return is_sent ? (uint64_t)message->rank << 32 | (uint32_t)message->value
                   : message->value << 32 | message->rank;
}

static void on_received(struct replay *replay, const struct event *event, struct seen *seen)
{
    (void)replay;
    seen->thread->deed = (struct deed){.kind = COHORT__TRACE_RECEIVED,
                                       .pair = replay_pair(event),
                                       .number = event->a,
                                       .at = event->at};
}

/* The whole ----------------------------------------------------------------------------------- */

void replay_init(struct replay *replay,
                 void (*tell)(void *context, const struct event *event, const struct seen *seen),
                 void *context)
{
    *replay = (struct replay){.tell = tell, .context = context};
    cohort__map_init(&replay->threads);
    cohort__map_init(&replay->waits);
    cohort__map_init(&replay->endpoints);
    cohort__map_init(&replay->calls);
    cohort__map_init(&replay->generations);
}

bool replay_is_over(const struct open_generation *generation)
{
    return generation->num_ended >= generation->num_sites;
}

static void forget_wait(struct replay *replay, struct open_wait *wait)
{
    free(wait->stack.frames);
    cohort__map_remove(&replay->waits, &wait->keyed.node);
    free(wait);
}

static void forget_call(struct replay *replay, const struct seen *seen)
{
    struct open_generation *generation = seen->generation;
    cohort__map_remove(&replay->calls, &seen->call->keyed.node);
    free(seen->call);
    if (!generation || !replay_is_over(generation))
        return;
    cohort__map_remove(&replay->generations, &generation->keyed.node);
    free(generation->arrivals);
    free(generation);
}

bool replay_add(struct replay *replay, const struct event *event)
{
    static void (*const handlers[COHORT__TRACE_KINDS])(
        struct replay * replay, const struct event *event, struct seen *seen) = {
        [COHORT__TRACE_BEGIN] = on_begin,     [COHORT__TRACE_END] = on_end,
        [COHORT__TRACE_SUSPEND] = on_suspend, [COHORT__TRACE_RESUME] = on_resume,
        [COHORT__TRACE_WAKE] = on_wake,       [COHORT__TRACE_SLEEP] = on_sleep,
        [COHORT__TRACE_AWAKE] = on_sleep,     [COHORT__TRACE_ENDPOINT] = on_endpoint,
        [COHORT__TRACE_LEVEL] = on_level,     [COHORT__TRACE_CALL] = on_call,
        [COHORT__TRACE_ENDED] = on_ended,     [COHORT__TRACE_STEP] = on_step,
        [COHORT__TRACE_OVER] = on_step,       [COHORT__TRACE_RECEIVED] = on_received,
    };
    struct seen seen = {.thread = find_thread(replay, event), .ended = NONE};
    if (seen.thread && handlers[event->kind])
        handlers[event->kind](replay, event, &seen);
    if (replay->has_failed)
        return false;
    replay->tell(replay->context, event, &seen);
    if (event->kind == COHORT__TRACE_RESUME)
        forget_wait(replay, seen.wait);
    if (event->kind == COHORT__TRACE_ENDED && seen.call)
        forget_call(replay, &seen);
    return true;
}

void replay_fini(struct replay *replay)
{
    struct cohort__map_node *node;
    for (node = cohort__map_first(&replay->threads); node;
         node = cohort__map_next(&replay->threads, node))
        free(((struct thread *)keyed_of(node))->stack.frames);
    for (node = cohort__map_first(&replay->waits); node;
         node = cohort__map_next(&replay->waits, node))
        free(((struct open_wait *)keyed_of(node))->stack.frames);
    for (node = cohort__map_first(&replay->generations); node;
         node = cohort__map_next(&replay->generations, node))
        free(((struct open_generation *)keyed_of(node))->arrivals);
    keyed_free(&replay->threads);
    keyed_free(&replay->waits);
    keyed_free(&replay->endpoints);
    keyed_free(&replay->calls);
    keyed_free(&replay->generations);
}
