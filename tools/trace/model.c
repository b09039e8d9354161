/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what the events of a trace mean: tasks, waits, calls. */
#include "tools/trace/model.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "tools/trace/keyed.h"

/* While the events are looked at, in turn ----------------------------------------------------- */

struct stack {
    uint32_t *tasks; /* numbers, from the outermost one */
    uint32_t num;
};

struct thread {
    struct keyed keyed; /* rank, thread */
    struct stack stack;
    const struct event *last; /* an end, or a message, with nothing begun or resumed since; or
                               * NULL */
    uint32_t ended;           /* the task or call of `last` */
    uint32_t left;            /* the task that ran here before; NONE: none */
    uint64_t left_at;
};

struct open_wait {
    struct keyed keyed; /* rank, wait */
    struct stack stack;
    uint32_t wait; /* NONE: its SUSPEND has not come yet */
    bool is_woken;
    uint64_t woken;
    const struct event *last; /* of the waker */
    uint32_t ended;
    uint32_t running; /* on the waker's thread; NONE: no task */
};

struct endpoint {
    struct keyed keyed; /* rank, endpoint */
    uint64_t instance;
    uint32_t site, num_sites;
    uint32_t communicator; /* number in the model's list */
    const char *name;
};

struct numbered {
    struct keyed keyed;
    uint32_t number;
};

struct sent {
    struct keyed keyed; /* from and to; number */
    uint64_t at;
    uint32_t task;
};

struct reading {
    struct model *model;
    struct cohort__map threads, waits, endpoints, open_calls, communicators, generations, messages;
    bool has_failed;
};

static bool grow(void **list, size_t num, size_t bytes)
{
    if (num & (num - 1))
        return true;
    void *larger = realloc(*list, (num ? 2 * num : 1) * bytes);
    *list = larger ? larger : *list;
    return larger != NULL;
}

static void *get(struct reading *reading, struct cohort__map *map, size_t bytes, uint64_t first,
                 uint64_t second, bool *ret_is_new)
{
    void *found = keyed_get(map, bytes, first, second, ret_is_new);
    reading->has_failed |= !found;
    return found;
}

static struct thread *thread_of(struct reading *reading, const struct event *event)
{
    bool is_new;
    struct thread *thread =
        get(reading, &reading->threads, sizeof(*thread), event->rank, event->thread, &is_new);
    if (thread && is_new)
        thread->left = thread->ended = NONE;
    return thread;
}

static uint32_t top(const struct stack *stack)
{
    return stack->num > 0 ? stack->tasks[stack->num - 1] : NONE;
}

static bool push(uint32_t **list, uint32_t *num, uint32_t value)
{
    void *larger = *list;
    bool fits = grow(&larger, *num, sizeof(**list));
    *list = larger;
    if (fits)
        (*list)[(*num)++] = value;
    return fits;
}

/* Tasks --------------------------------------------------------------------------------------- */

static void on_begin(struct reading *reading, const struct event *event)
{
    struct model *model = reading->model;
    struct thread *thread = thread_of(reading, event);
    void *list = model->tasks;
    bool fits = grow(&list, model->num_tasks, sizeof(*model->tasks));
    model->tasks = list;
    if (!thread || !fits || !push(&thread->stack.tasks, &thread->stack.num, model->num_tasks)) {
        reading->has_failed = true;
        return;
    }
    thread->last = NULL;
    model->tasks[model->num_tasks++] = (struct task){.rank = event->rank,
                                                     .function = event->text,
                                                     .begin = event->at,
                                                     .end = model->end,
                                                     .is_in_place = event->small == 1,
                                                     .is_blocking = event->small == 2};
}

static void on_end(struct reading *reading, const struct event *event)
{
    struct thread *thread = thread_of(reading, event);
    if (!thread)
        return;
    thread->last = event;
    thread->ended = top(&thread->stack);
    if (thread->ended == NONE)
        return;
    reading->model->tasks[thread->ended].end = event->at;
    thread->stack.num--;
    thread->left = thread->ended;
    thread->left_at = event->at;
}

static struct open_wait *wait_of(struct reading *reading, const struct event *event)
{
    bool is_new;
    struct open_wait *open =
        get(reading, &reading->waits, sizeof(*open), event->rank, event->value, &is_new);
    if (open && is_new)
        open->wait = NONE;
    return open;
}

static void on_suspend(struct reading *reading, const struct event *event)
{
    struct model *model = reading->model;
    struct thread *thread = thread_of(reading, event);
    struct open_wait *open = wait_of(reading, event);
    void *list = model->waits;
    bool fits = grow(&list, model->num_waits, sizeof(*model->waits));
    model->waits = list;
    reading->has_failed |= !fits;
    if (!thread || !open || !fits)
        return;
    uint32_t task = top(&thread->stack);
    for (uint32_t i = 0; i < thread->stack.num; i++) { /* those below it wait, too */
        struct task *waits = &model->tasks[thread->stack.tasks[i]];
        reading->has_failed |= !push(&waits->waits, &waits->num_waits, model->num_waits);
    }
    free(open->stack.tasks);
    open->stack = thread->stack;
    open->wait = model->num_waits;
    thread->stack = (struct stack){0};
    thread->last = NULL;
    thread->left = task;
    thread->left_at = event->at;
    model->waits[model->num_waits] = (struct wait){
        .task = task,
        .rank = event->rank,
        .what = (uint8_t)(event->a % COHORT__WAIT_KINDS),
        .by = NONE,
        .begin = event->at,
        .woken = model->end,
        .end = model->end,
    };
    model->num_waits++;
}

/* What the waker did last before it woke it, or else the task that runs there. */
static void find_cause(const struct reading *reading, const struct open_wait *open,
                       struct wait *wait)
{
    const struct event *last = open->last;
    bool has_task_ended = last && last->kind == COHORT__TRACE_END && open->ended != NONE;
    bool is_blocking = has_task_ended && reading->model->tasks[open->ended].is_blocking;
    bool is_outside = wait->what == COHORT__WAIT_OUTSIDE || wait->what == COHORT__WAIT_YIELD;
    wait->cause = CAUSE_OUTSIDE;
    wait->by = NONE;
    if (is_outside && !is_blocking)
        return;
    if (last && last->kind == COHORT__TRACE_ENDED && open->ended != NONE) {
        wait->cause = CAUSE_CALL;
        wait->by = open->ended;
    } else if (has_task_ended) {
        wait->cause = CAUSE_TASK;
        wait->by = open->ended;
    } else if (last && last->kind == COHORT__TRACE_RECEIVED) {
        const struct sent *sent =
            keyed_find(&reading->messages, last->value << 32 | last->rank, last->a);
        wait->cause = CAUSE_MESSAGE;
        wait->by = sent ? sent->task : NONE;
        wait->sent = sent ? sent->at : last->at;
    } else if (open->running != NONE) {
        wait->cause = CAUSE_TASK;
        wait->by = open->running;
    }
}

static void on_wake(struct reading *reading, const struct event *event)
{
    const struct thread *thread = thread_of(reading, event);
    struct open_wait *open = wait_of(reading, event);
    if (!thread || !open)
        return;
    open->is_woken = true;
    open->woken = event->at;
    open->last = thread->last;
    open->ended = thread->ended;
    open->running = top(&thread->stack);
}

static void on_resume(struct reading *reading, const struct event *event)
{
    struct thread *thread = thread_of(reading, event);
    struct open_wait *open = wait_of(reading, event);
    if (!thread || !open)
        return;
    if (open->wait != NONE) {
        struct wait *wait = &reading->model->waits[open->wait];
        wait->end = event->at;
        wait->woken = open->is_woken ? open->woken : event->at;
        wait->woken = wait->woken > wait->begin ? wait->woken : wait->begin;
        wait->woken = wait->woken < wait->end ? wait->woken : wait->end;
        find_cause(reading, open, wait);
    }
    free(thread->stack.tasks);
    thread->stack = open->stack;
    thread->last = NULL;
    cohort__map_remove(&reading->waits, &open->keyed.node);
    free(open);
}

static void on_sleep(struct reading *reading, const struct event *event)
{
    struct thread *thread = thread_of(reading, event);
    if (thread)
        thread->last = NULL;
}

/* Collectives --------------------------------------------------------------------------------- */

/* NUM times NONE. NULL: no memory. */
static uint32_t *nones(uint32_t num)
{
    uint32_t *list = malloc((num ? num : 1) * sizeof(*list));
    for (uint32_t i = 0; list && i < num; i++)
        list[i] = NONE;
    return list;
}

/* NONE: no memory. */
static uint32_t communicator_of(struct reading *reading, uint64_t instance, uint32_t num_sites)
{
    bool is_new;
    struct model *model = reading->model;
    struct numbered *found =
        get(reading, &reading->communicators, sizeof(*found), instance, 0, &is_new);
    if (!found)
        return NONE;
    if (!is_new)
        return found->number;
    void *list = model->communicators;
    bool fits = grow(&list, model->num_communicators, sizeof(*model->communicators));
    model->communicators = list;
    uint32_t *ranks = fits ? nones(num_sites) : NULL;
    found->number = model->num_communicators;
    if (!ranks) {
        reading->has_failed = true;
        return NONE;
    }
    model->communicators[model->num_communicators++] = (struct communicator){ranks, num_sites};
    return found->number;
}

static void on_endpoint(struct reading *reading, const struct event *event)
{
    bool is_new;
    struct endpoint *endpoint =
        get(reading, &reading->endpoints, sizeof(*endpoint), event->rank, event->value, &is_new);
    if (!endpoint)
        return;
    endpoint->instance = event->a;
    endpoint->site = (uint32_t)event->b;
    endpoint->num_sites = (uint32_t)(event->b >> 32);
    endpoint->name = event->text;
    endpoint->communicator = communicator_of(reading, endpoint->instance, endpoint->num_sites);
    if (endpoint->communicator == NONE)
        return;
    struct communicator *sites = &reading->model->communicators[endpoint->communicator];
    if (endpoint->site < sites->num_sites)
        sites->ranks[endpoint->site] = event->rank;
}

/* NONE: no memory. */
static uint32_t generation_of(struct reading *reading, const struct endpoint *endpoint,
                              const struct event *event)
{
    bool is_new;
    struct model *model = reading->model;
    struct numbered *found =
        get(reading, &reading->generations, sizeof(*found), endpoint->instance, event->a, &is_new);
    if (!found)
        return NONE;
    if (!is_new)
        return found->number;
    void *list = model->generations;
    bool fits = grow(&list, model->num_generations, sizeof(*model->generations));
    model->generations = list;
    uint32_t *of_site = fits ? nones(endpoint->num_sites) : NULL;
    found->number = model->num_generations;
    if (!of_site) {
        reading->has_failed = true;
        return NONE;
    }
    model->generations[model->num_generations++] = (struct generation){
        .communicator = endpoint->name,
        .name = event->text,
        .number = event->a,
        .collective = event->small,
        .place = (uint32_t)event->d,
        .sites = endpoint->communicator,
        .of_site = of_site,
        .num_sites = endpoint->num_sites,
    };
    return found->number;
}

static void on_call(struct reading *reading, const struct event *event)
{
    bool is_new;
    struct model *model = reading->model;
    const struct thread *thread = thread_of(reading, event);
    const struct endpoint *endpoint = keyed_find(&reading->endpoints, event->rank, event->value);
    if (!thread || !endpoint)
        return;
    uint32_t number = generation_of(reading, endpoint, event);
    struct numbered *open =
        get(reading, &reading->open_calls, sizeof(*open), (uintptr_t)endpoint, event->a, &is_new);
    void *list = model->calls;
    bool fits = grow(&list, model->num_calls, sizeof(*model->calls));
    model->calls = list;
    reading->has_failed |= !fits;
    if (number == NONE || !open || !fits)
        return;
    struct generation *generation = &model->generations[number];
    open->number = model->num_calls;
    reading->has_failed |= !push(&generation->calls, &generation->num_calls, model->num_calls);
    if (endpoint->site < generation->num_sites)
        generation->of_site[endpoint->site] = model->num_calls;
    model->calls[model->num_calls++] = (struct call){
        .rank = event->rank,
        .site = endpoint->site,
        .task = top(&thread->stack),
        .generation = number,
        .at = event->at,
        .from = event->from,
    };
}

static void on_ended(struct reading *reading, const struct event *event)
{
    struct thread *thread = thread_of(reading, event);
    const struct endpoint *endpoint = keyed_find(&reading->endpoints, event->rank, event->value);
    struct numbered *open =
        endpoint ? keyed_find(&reading->open_calls, (uintptr_t)endpoint, event->a) : NULL;
    if (!thread)
        return;
    thread->last = event;
    thread->ended = open ? open->number : NONE;
    if (!open)
        return;
    reading->model->calls[open->number].ended = event->at;
    reading->model->calls[open->number].has_failed = event->small != 0; /* the status */
    cohort__map_remove(&reading->open_calls, &open->keyed.node);
    free(open);
}

static void on_step(struct reading *reading, const struct event *event)
{
    struct model *model = reading->model;
    const struct endpoint *endpoint = keyed_find(&reading->endpoints, event->rank, event->value);
    const struct numbered *open =
        endpoint ? keyed_find(&reading->open_calls, (uintptr_t)endpoint, event->a) : NULL;
    struct call *call = open ? &model->calls[open->number] : NULL;
    if (call)
        reading->has_failed |=
            !push(&call->steps, &call->num_steps, (uint32_t)(event - model->trace->events));
}

/* Messages ------------------------------------------------------------------------------------ */

/* A message that no task sends may have waited for its connection, or for room: it is that of the
 * task that was there before, up to when that left. */
static void on_sent(struct reading *reading, const struct event *event)
{
    bool is_new;
    const struct thread *thread = thread_of(reading, event);
    struct sent *sent = get(reading, &reading->messages, sizeof(*sent),
                            (uint64_t)event->rank << 32 | event->value, event->a, &is_new);
    if (!thread || !sent)
        return;
    bool is_late = thread->stack.num == 0 && thread->left != NONE;
    sent->at = is_late ? thread->left_at : event->at;
    sent->task = is_late ? thread->left : top(&thread->stack);
}

static void on_received(struct reading *reading, const struct event *event)
{
    struct thread *thread = thread_of(reading, event);
    if (thread)
        thread->last = event;
}

/* The whole ----------------------------------------------------------------------------------- */

static void look(struct reading *reading, const struct event *event)
{
    static void (*const handlers[COHORT__TRACE_KINDS])(struct reading * reading,
                                                       const struct event *event) = {
        [COHORT__TRACE_BEGIN] = on_begin,     [COHORT__TRACE_END] = on_end,
        [COHORT__TRACE_SUSPEND] = on_suspend, [COHORT__TRACE_RESUME] = on_resume,
        [COHORT__TRACE_WAKE] = on_wake,       [COHORT__TRACE_SLEEP] = on_sleep,
        [COHORT__TRACE_AWAKE] = on_sleep,     [COHORT__TRACE_ENDPOINT] = on_endpoint,
        [COHORT__TRACE_CALL] = on_call,       [COHORT__TRACE_ENDED] = on_ended,
        [COHORT__TRACE_SENT] = on_sent,       [COHORT__TRACE_RECEIVED] = on_received,
        [COHORT__TRACE_STEP] = on_step,       [COHORT__TRACE_OVER] = on_step,
    };
    if (event->kind < COHORT__TRACE_KINDS && handlers[event->kind])
        handlers[event->kind](reading, event);
}

static void fini(struct reading *reading)
{
    struct cohort__map_node *node;
    for (node = cohort__map_first(&reading->threads); node;
         node = cohort__map_next(&reading->threads, node))
        free(((struct thread *)keyed_of(node))->stack.tasks);
    for (node = cohort__map_first(&reading->waits); node;
         node = cohort__map_next(&reading->waits, node))
        free(((struct open_wait *)keyed_of(node))->stack.tasks);
    keyed_free(&reading->threads);
    keyed_free(&reading->waits);
    keyed_free(&reading->endpoints);
    keyed_free(&reading->open_calls);
    keyed_free(&reading->communicators);
    keyed_free(&reading->generations);
    keyed_free(&reading->messages);
}

cohort_status model_init(struct model *model, const struct trace *trace)
{
    struct reading reading = {.model = model};
    *model = (struct model){.trace = trace};
    if (trace->num > 0) {
        model->begin = trace->events[0].at;
        model->end = trace->events[trace->num - 1].at;
    }
    cohort__map_init(&reading.threads);
    cohort__map_init(&reading.waits);
    cohort__map_init(&reading.endpoints);
    cohort__map_init(&reading.open_calls);
    cohort__map_init(&reading.communicators);
    cohort__map_init(&reading.generations);
    cohort__map_init(&reading.messages);
    for (size_t i = 0; i < trace->num && !reading.has_failed; i++)
        look(&reading, &trace->events[i]);
    fini(&reading);
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
