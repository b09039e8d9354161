/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the tasks, waits and calls of a trace. */
#include "tools/trace/model.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "tools/trace/keyed.h"
#include "tools/trace/list.h"

/* While the events are looked at, in turn ----------------------------------------------------- */

struct numbered {
    struct keyed keyed; /* instance, 0 */
    uint32_t number;
};

struct sent {
    struct keyed keyed; /* from and to; number */
    uint64_t at;
    uint32_t task;
};

struct reading {
    struct model *model;
    struct cohort__map communicators, messages;
    bool has_failed;
};

/* The next one of LIST, a pointer to the first of *NUM, all zero. NULL: no memory. */
static void *next(struct reading *reading, void *list, uint32_t *num, size_t bytes)
{
    char *first;
    if (!list_grow(list, *num, bytes)) {
        reading->has_failed = true;
        return NULL;
    }
    memcpy(&first, list, sizeof(first));
    return memset(first + bytes * (*num)++, 0, bytes);
}

static void push(struct reading *reading, uint32_t **list, uint32_t *num, uint32_t value)
{
    uint32_t *last = next(reading, list, num, sizeof(value));
    if (last)
        *last = value;
}

/* Tasks --------------------------------------------------------------------------------------- */

static void on_begin(struct reading *reading, const struct event *event, const struct seen *seen)
{
    struct model *model = reading->model;
    struct task *task = next(reading, &model->tasks, &model->num_tasks, sizeof(*task));
    (void)seen;
    if (task)
        *task = (struct task){.rank = event->rank,
                              .function = event->text,
                              .begin = event->at,
                              .end = model->end,
                              .is_in_place = event->small == 1};
}

static void on_end(struct reading *reading, const struct event *event, const struct seen *seen)
{
    if (seen->ended != NONE)
        reading->model->tasks[seen->ended].end = event->at;
}

static void on_suspend(struct reading *reading, const struct event *event, const struct seen *seen)
{
    struct model *model = reading->model;
    const struct stack *stack = &seen->wait->stack;
    for (uint32_t i = 0; i < stack->num; i++) { /* those below it wait, too */
        struct task *task = &model->tasks[stack->frames[i].task];
        push(reading, &task->waits, &task->num_waits, model->num_waits);
    }
    struct wait *wait = next(reading, &model->waits, &model->num_waits, sizeof(*wait));
    if (wait)
        *wait = (struct wait){
            .task = replay_top(stack),
            .rank = event->rank,
            .what = (uint8_t)(event->a % COHORT__WAIT_KINDS),
            .by = NONE,
            .begin = event->at,
            .woken = model->end,
            .end = model->end,
        };
}

/* What the waker did last before it woke it, or else the task that runs there. */
static void find_cause(const struct reading *reading, const struct open_wait *open,
                       struct wait *wait)
{
    const struct deed *deed = &open->deed;
    bool has_task_ended = deed->kind == COHORT__TRACE_END && deed->ended != NONE;
    bool is_outside = wait->what == COHORT__WAIT_OUTSIDE || wait->what == COHORT__WAIT_YIELD;
    wait->cause = CAUSE_OUTSIDE;
    wait->by = NONE;
    if (is_outside && !(has_task_ended && deed->is_blocking))
        return;
    if (deed->kind == COHORT__TRACE_ENDED && deed->ended != NONE) {
        wait->cause = CAUSE_CALL;
        wait->by = deed->ended;
    } else if (has_task_ended) {
        wait->cause = CAUSE_TASK;
        wait->by = deed->ended;
    } else if (deed->kind == COHORT__TRACE_RECEIVED) {
        const struct sent *sent = keyed_find(&reading->messages, deed->pair, deed->number);
        wait->cause = CAUSE_MESSAGE;
        wait->by = sent ? sent->task : NONE;
        wait->sent = sent ? sent->at : deed->at;
    } else if (open->running != NONE) {
        wait->cause = CAUSE_TASK;
        wait->by = open->running;
    }
}

static void on_resume(struct reading *reading, const struct event *event, const struct seen *seen)
{
    const struct open_wait *open = seen->wait;
    if (open->number == NONE)
        return;
    struct wait *wait = &reading->model->waits[open->number];
    wait->end = event->at;
    wait->woken = open->is_woken ? open->woken : event->at;
    wait->woken = wait->woken > wait->begin ? wait->woken : wait->begin;
    wait->woken = wait->woken < wait->end ? wait->woken : wait->end;
    find_cause(reading, open, wait);
}

/* Collectives --------------------------------------------------------------------------------- */

/* NUM times NONE. NULL: no memory. */
static uint32_t *nones(struct reading *reading, uint32_t num)
{
    uint32_t *list = malloc((num ? num : 1) * sizeof(*list));
    reading->has_failed |= !list;
    for (uint32_t i = 0; list && i < num; i++)
        list[i] = NONE;
    return list;
}

/* Its number. NONE: no memory. */
static uint32_t communicator_of(struct reading *reading, const struct endpoint *endpoint)
{
    bool is_new;
    struct model *model = reading->model;
    struct numbered *found =
        keyed_get(&reading->communicators, sizeof(*found), endpoint->instance, 0, &is_new);
    reading->has_failed |= !found;
    if (!found || !is_new)
        return found ? found->number : NONE;
    found->number = model->num_communicators;
    struct communicator *communicator =
        next(reading, &model->communicators, &model->num_communicators, sizeof(*communicator));
    if (!communicator)
        return NONE;
    communicator->ranks = nones(reading, endpoint->num_sites);
    communicator->num_sites = communicator->ranks ? endpoint->num_sites : 0;
    return found->number;
}

static void on_endpoint(struct reading *reading, const struct event *event, const struct seen *seen)
{
    uint32_t number = communicator_of(reading, seen->endpoint), site = seen->endpoint->site;
    if (number != NONE && site < reading->model->communicators[number].num_sites)
        reading->model->communicators[number].ranks[site] = event->rank;
}

static void begin_generation(struct reading *reading, const struct event *event,
                             const struct endpoint *endpoint)
{
    struct model *model = reading->model;
    struct generation *generation =
        next(reading, &model->generations, &model->num_generations, sizeof(*generation));
    if (generation)
        *generation = (struct generation){
            .communicator = endpoint->name,
            .name = event->text,
            .number = event->a,
            .collective = event->small,
            .place = (uint32_t)event->d,
            .sites = communicator_of(reading, endpoint),
            .of_site = nones(reading, endpoint->num_sites),
            .num_sites = endpoint->num_sites,
        };
}

static void on_call(struct reading *reading, const struct event *event, const struct seen *seen)
{
    struct model *model = reading->model;
    if (!seen->call)
        return;
    if (seen->generation->number == model->num_generations)
        begin_generation(reading, event, seen->endpoint);
    struct call *call = next(reading, &model->calls, &model->num_calls, sizeof(*call));
    if (reading->has_failed)
        return;
    const uint32_t site = seen->endpoint->site;
    struct generation *generation = &model->generations[seen->generation->number];
    push(reading, &generation->calls, &generation->num_calls, seen->call->number);
    if (site < generation->num_sites)
        generation->of_site[site] = seen->call->number;
    *call = (struct call){
        .rank = event->rank,
        .site = site,
        .task = replay_top(&seen->thread->stack),
        .generation = seen->generation->number,
        .at = event->at,
        .from = event->from,
    };
}

static void on_ended(struct reading *reading, const struct event *event, const struct seen *seen)
{
    if (!seen->call)
        return;
    struct call *call = &reading->model->calls[seen->call->number];
    call->ended = event->at;
    call->has_failed = event->small != 0; /* the status */
}

static void on_step(struct reading *reading, const struct event *event, const struct seen *seen)
{
    struct model *model = reading->model;
    struct call *call = seen->call ? &model->calls[seen->call->number] : NULL;
    if (call)
        push(reading, &call->steps, &call->num_steps, (uint32_t)(event - model->trace->events));
}

/* Messages ------------------------------------------------------------------------------------ */

/* A message that no task sends may have waited for its connection, or for room: it is that of the
 * task that was there before, up to when that left. */
static void on_sent(struct reading *reading, const struct event *event, const struct seen *seen)
{
    bool is_new;
    const struct thread *thread = seen->thread;
    struct sent *sent =
        keyed_get(&reading->messages, sizeof(*sent), replay_pair(event), event->a, &is_new);
    reading->has_failed |= !sent;
    if (!sent)
        return;
    bool is_late = thread->stack.num == 0 && thread->left != NONE;
    sent->at = is_late ? thread->left_at : event->at;
    sent->task = is_late ? thread->left : replay_top(&thread->stack);
}

/* The whole ----------------------------------------------------------------------------------- */

static void look(void *context, const struct event *event, const struct seen *seen)
{
    static void (*const handlers[COHORT__TRACE_KINDS])(
        struct reading * reading, const struct event *event, const struct seen *seen) = {
        [COHORT__TRACE_BEGIN] = on_begin,       [COHORT__TRACE_END] = on_end,
        [COHORT__TRACE_SUSPEND] = on_suspend,   [COHORT__TRACE_RESUME] = on_resume,
        [COHORT__TRACE_ENDPOINT] = on_endpoint, [COHORT__TRACE_CALL] = on_call,
        [COHORT__TRACE_ENDED] = on_ended,       [COHORT__TRACE_SENT] = on_sent,
        [COHORT__TRACE_STEP] = on_step,         [COHORT__TRACE_OVER] = on_step,
    };
    if (handlers[event->kind])
        handlers[event->kind](context, event, seen);
}

cohort_status model_init(struct model *model, const struct trace *trace)
{
    struct reading reading = {.model = model};
    struct replay replay;
    *model = (struct model){.trace = trace};
    if (trace->num > 0) {
        model->begin = trace->events[0].at;
        model->end = trace->events[trace->num - 1].at;
    }
    replay_init(&replay, look, &reading);
    cohort__map_init(&reading.communicators);
    cohort__map_init(&reading.messages);
    for (size_t i = 0; i < trace->num && !reading.has_failed; i++)
        reading.has_failed |= !replay_add(&replay, &trace->events[i]);
    replay_fini(&replay);
    keyed_free(&reading.communicators);
    keyed_free(&reading.messages);
    if (!reading.has_failed)
        return COHORT_OK;
    model_fini(model);
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for what is in the trace");
}

void model_fini(struct model *model)
{
    for (uint32_t i = 0; i < model->num_tasks; i++)
        free(model->tasks[i].waits);
    for (uint32_t i = 0; i < model->num_generations; i++) {
        free(model->generations[i].calls);
        free(model->generations[i].of_site);
    }
    for (uint32_t i = 0; i < model->num_communicators; i++)
        free(model->communicators[i].ranks);
    for (uint32_t i = 0; i < model->num_calls; i++)
        free(model->calls[i].steps);
    free(model->tasks);
    free(model->waits);
    free(model->calls);
    free(model->generations);
    free(model->communicators);
    *model = (struct model){0};
}

/* Who came last ------------------------------------------------------------------------------- */

/* Whether SITE is one of those in LIST, as "2 5". */
static bool is_listed(const char *list, uint32_t site)
{
    while (*list) {
        char *end;
        unsigned long listed = strtoul(list, &end, 10);
        if (end == list)
            return false;
        if (listed == site)
            return true;
        list = end;
    }
    return false;
}

bool model_depends(const struct model *model, uint32_t number, uint32_t site)
{
    const struct call *call = &model->calls[number];
    const struct generation *generation = &model->generations[call->generation];
    uint32_t num = generation->num_sites;
    if (*call->from)
        return is_listed(call->from, site);
    switch ((enum cohort__trace_needs)model->trace->needs[generation->collective]) {
    case COHORT__TRACE_NEEDS_ALL:
        return true;
    case COHORT__TRACE_NEEDS_ALL_AT_ROOT:
        return call->site == generation->place;
    case COHORT__TRACE_NEEDS_ROOT:
        return site == generation->place;
    case COHORT__TRACE_NEEDS_LOWER:
        return site < call->site;
    case COHORT__TRACE_NEEDS_SOURCE:
        return num > 0 && (site + generation->place) % num == call->site;
    default:
        return false;
    }
}

uint32_t model_last(const struct model *model, uint32_t number, uint64_t before)
{
    const struct call *call = &model->calls[number];
    const struct generation *generation = &model->generations[call->generation];
    for (uint32_t i = generation->num_calls; i-- > 0;) {
        uint32_t other = generation->calls[i];
        if (model->calls[other].at <= before &&
            (other == number || model_depends(model, number, model->calls[other].site)))
            return other;
    }
    return number;
}

uint32_t model_rank(const struct model *model, uint32_t number, uint32_t site)
{
    const struct generation *generation = &model->generations[model->calls[number].generation];
    const struct communicator *sites = &model->communicators[generation->sites];
    return site < sites->num_sites ? sites->ranks[site] : NONE;
}

uint32_t model_locality(const struct model *model, uint32_t rank)
{
    const struct trace *trace = model->trace;
    uint32_t low = 0, high = trace->num_localities;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->localities[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->num_localities && trace->localities[low].rank == rank ? low : NONE;
}
