/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what becomes of events in a trace for Perfetto. */
#include "tools/trace/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger_format.h"
#include "tools/trace/generations.h"
#include "tools/trace/keyed.h"
#include "tools/trace/lanes.h"
#include "tools/trace/phases.h"

enum {
    MOST_FRAMES = 1 << 16, /* tasks in place of awaits, on one stack */
    MOST_LANES = 256,      /* of waits, or of calls of a site: more are not shown */
    TIDS = 10000,          /* numbers of threads of a locality */
};

/* How a function is called. */
struct function {
    struct keyed keyed; /* rank, address */
    char name[256];
};

/* The tasks of a stack, from the outermost one. */
struct stack {
    const struct function **frames;
    uint32_t num;
};

struct thread {
    struct keyed keyed; /* rank, thread */
    struct stack stack; /* what it runs */
    bool is_asleep;
};

struct wait {
    struct keyed keyed; /* rank, wait */
    struct stack stack; /* what waits */
    uint64_t flow;
    int lane;
    bool has_begun; /* its SUSPEND has come */
};

struct row {
    struct keyed keyed; /* collective, row */
    char name[64];
};

struct endpoint {
    struct keyed keyed; /* rank, endpoint */
    uint64_t instance;
    uint32_t site, num_sites;
    char name[300];
    struct lanes lanes;       /* of its calls */
    struct lanes phase_lanes; /* below them; all zero until a call has phases */
    struct phase_levels levels;
};

struct call {
    struct keyed keyed; /* the endpoint's address here, generation */
    int lane;
    struct phases phases;
};

struct view {
    struct perfetto *perfetto;
    struct part *parts;
    uint32_t num_parts;
    uint32_t first_rank; /* of the parts; its names of rows hold for all */
    uint64_t next_flow;
    uint64_t last; /* time */
    struct cohort__map functions, threads, waits, rows, endpoints, calls;
    struct lanes *wait_lanes; /* for each part */
    struct generations generations;
    bool has_failed; /* no memory */
};

/* Numbers of tracks. */
static uint64_t process_track(uint32_t rank)
{
    return ((uint64_t)rank + 1) << 32;
}

static uint64_t thread_track(uint32_t rank, uint32_t thread)
{
    return process_track(rank) + thread + 1;
}

static uint32_t pid_of(uint32_t rank)
{
    return rank + 1;
}

/* Finding things ------------------------------------------------------------------------------ */

static struct part *part_of(struct view *view, uint32_t rank)
{
    uint32_t low = 0, high = view->num_parts;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->parts[middle].head.rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return &view->parts[low];
}

/* As keyed_get, but a failure is remembered. */
static void *get(struct view *view, struct cohort__map *map, size_t bytes, uint64_t first,
                 uint64_t second, bool *ret_is_new)
{
    void *found = keyed_get(map, bytes, first, second, ret_is_new);
    view->has_failed |= !found;
    return found;
}

static const struct function *find_function(struct view *view, uint32_t rank, uint64_t address)
{
    bool is_new;
    struct function *function =
        get(view, &view->functions, sizeof(*function), rank, address, &is_new);
    if (function && is_new)
        part_name(part_of(view, rank), address, function->name, sizeof(function->name));
    return function;
}

static struct thread *find_thread(struct view *view, const struct event *event)
{
    bool is_new;
    return get(view, &view->threads, sizeof(struct thread), event->rank, event->thread, &is_new);
}

static struct wait *find_wait(struct view *view, const struct event *event)
{
    bool is_new;
    struct wait *wait = get(view, &view->waits, sizeof(*wait), event->rank, event->value, &is_new);
    if (wait && is_new) {
        wait->flow = ++view->next_flow;
        wait->lane = -1;
    }
    return wait;
}

static bool push(struct stack *stack, const struct function *function)
{
    if (stack->num == MOST_FRAMES)
        return false;
    if ((stack->num & (stack->num - 1)) == 0) {
        const struct function **frames =
            realloc(stack->frames, (stack->num ? 2 * stack->num : 1) * sizeof(const void *));
        if (!frames)
            return false;
        stack->frames = frames;
    }
    stack->frames[stack->num++] = function;
    return true;
}

/* Events -------------------------------------------------------------------------------------- */

static void put(struct view *view, const struct event *event, enum perfetto_type type,
                const char *name, bool is_record)
{
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = thread_track(event->rank, event->thread),
                                       .at = event->at,
                                       .type = type,
                                       .name = name,
                                       .record = is_record ? event : NULL,
                                   });
}

static void on_begin(struct view *view, const struct event *event)
{
    struct thread *thread = find_thread(view, event);
    const struct function *function = find_function(view, event->rank, event->b);
    if (!thread || !function || !push(&thread->stack, function)) {
        view->has_failed = true;
        return;
    }
    put(view, event, PERFETTO_BEGIN, function->name, true);
}

/* What was begun before is not known where records are lost. */
static void on_end(struct view *view, const struct event *event)
{
    struct thread *thread = find_thread(view, event);
    if (!thread)
        return;
    bool is_open = thread->stack.num > 0;
    put(view, event, is_open ? PERFETTO_END : PERFETTO_INSTANT, is_open ? NULL : "end", true);
    thread->stack.num -= is_open;
}

static const char *words_of_wait(uint64_t what)
{
    static const char *const words[COHORT__WAIT_KINDS] = {
        [COHORT__WAIT_PLAIN] = "waits for a future",
        [COHORT__WAIT_TASK] = "waits for a task",
        [COHORT__WAIT_COLLECTIVE] = "waits for a collective",
        [COHORT__WAIT_GET] = "waits for a get",
        [COHORT__WAIT_SET] = "waits for a set",
        [COHORT__WAIT_CREATION] = "waits for a communicator",
        [COHORT__WAIT_SEVERAL] = "waits for several futures",
        [COHORT__WAIT_OUTSIDE] = "waits for something outside",
        [COHORT__WAIT_REMOTE] = "waits for a remote task",
        [COHORT__WAIT_YIELD] = "yields",
        [COHORT__WAIT_MUTEX] = "waits for a mutex",
        [COHORT__WAIT_CONDITION] = "waits for a condition",
        [COHORT__WAIT_SEMAPHORE] = "waits for a semaphore",
        [COHORT__WAIT_LATCH] = "waits for a latch",
        [COHORT__WAIT_LOCAL_BARRIER] = "waits for a local barrier",
        [COHORT__WAIT_QUEUE] = "waits for a queue",
    };
    const char *found = words[what % COHORT__WAIT_KINDS];
    return found ? found : "waits";
}

static struct lanes *lanes_of(struct view *view, uint32_t rank)
{
    return &view->wait_lanes[part_of(view, rank) - view->parts];
}

/* Shows the wait on a lane of its own. */
static void show_wait(struct view *view, const struct event *event, struct wait *wait)
{
    const struct function *caller = find_function(view, event->rank, event->b);
    struct perfetto_note notes[2] = {{.name = "where", .text = caller ? caller->name : ""}};
    uint32_t num = wait->stack.num;
    notes[1] = (struct perfetto_note){.name = "in",
                                      .text = num > 0 ? wait->stack.frames[num - 1]->name : "?"};
    wait->lane = lanes_take(lanes_of(view, event->rank), view->perfetto);
    if (wait->lane < 0)
        return;
    perfetto_event(view->perfetto,
                   &(struct perfetto_event){
                       .track = lanes_track(lanes_of(view, event->rank), wait->lane),
                       .at = event->at,
                       .type = PERFETTO_BEGIN,
                       .name = words_of_wait(event->a),
                       .notes = notes,
                       .num_notes = 2,
                   });
}

static void on_suspend(struct view *view, const struct event *event)
{
    struct thread *thread = find_thread(view, event);
    struct wait *wait = find_wait(view, event);
    if (!thread || !wait)
        return;
    uint32_t num = thread->stack.num;
    put(view, event, num > 0 ? PERFETTO_END : PERFETTO_INSTANT, num > 0 ? NULL : "suspend", true);
    for (uint32_t i = 1; i < num; i++)
        put(view, event, PERFETTO_END, NULL, false);
    free(wait->stack.frames);
    wait->stack = thread->stack;
    thread->stack = (struct stack){0};
    if (!wait->has_begun)
        show_wait(view, event, wait);
    wait->has_begun = true;
}

static void hide_wait(struct view *view, uint64_t at, uint32_t rank, const struct wait *wait)
{
    struct lanes *lanes = lanes_of(view, rank);
    if (wait->lane < 0)
        return;
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = lanes_track(lanes, wait->lane),
                                       .at = at,
                                       .type = PERFETTO_END,
                                   });
    lanes_give_back(lanes, wait->lane);
}

static void on_resume(struct view *view, const struct event *event)
{
    struct thread *thread = find_thread(view, event);
    struct wait *wait = find_wait(view, event);
    if (!thread || !wait)
        return;
    hide_wait(view, event->at, event->rank, wait);
    uint32_t num = wait->stack.num;
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = thread_track(event->rank, event->thread),
                                       .at = event->at,
                                       .type = num > 0 ? PERFETTO_BEGIN : PERFETTO_INSTANT,
                                       .name = num > 0 ? wait->stack.frames[0]->name : "resume",
                                       .record = event,
                                       .flow_end = wait->flow,
                                   });
    for (uint32_t i = 1; i < num; i++)
        put(view, event, PERFETTO_BEGIN, wait->stack.frames[i]->name, false);
    for (uint32_t i = 0; i < num; i++)
        view->has_failed |= !push(&thread->stack, wait->stack.frames[i]);
    free(wait->stack.frames);
    cohort__map_remove(&view->waits, &wait->keyed.node);
    free(wait);
}

static void on_wake(struct view *view, const struct event *event)
{
    const struct wait *wait = find_wait(view, event);
    if (!wait)
        return;
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = thread_track(event->rank, event->thread),
                                       .at = event->at,
                                       .type = PERFETTO_INSTANT,
                                       .name = "wake",
                                       .record = event,
                                       .flow = wait->flow,
                                   });
}

static void on_sleep(struct view *view, const struct event *event)
{
    struct thread *thread = find_thread(view, event);
    bool is_sleep = event->kind == COHORT__TRACE_SLEEP;
    if (!thread)
        return;
    if (is_sleep == thread->is_asleep) /* records are lost */
        put(view, event, PERFETTO_INSTANT, is_sleep ? "sleep" : "awake", true);
    else
        put(view, event, is_sleep ? PERFETTO_BEGIN : PERFETTO_END, is_sleep ? "asleep" : NULL,
            true);
    thread->is_asleep = is_sleep;
}

/* Collectives --------------------------------------------------------------------------------- */

static void on_row(struct view *view, const struct event *event)
{
    bool is_new;
    struct row *row = get(view, &view->rows, sizeof(*row), event->a, event->value, &is_new);
    if (row && is_new) {
        snprintf(row->name, sizeof(row->name), "%s", event->text);
        put(view, event, PERFETTO_INSTANT, row->name, true);
    }
}

/* "all_reduce levels" */
static void name_call(const struct view *view, const struct event *event, char *text, size_t bytes)
{
    const struct row *row = keyed_find(&view->rows, event->small, event->b);
    const struct row *collective = keyed_find(&view->rows, event->small, COHORT__TRACE_NO_ROW);
    snprintf(text, bytes, "%s%s%s", collective ? collective->name : "call", row ? " " : "",
             row ? row->name : "");
}

static void on_endpoint(struct view *view, const struct event *event)
{
    bool is_new;
    struct endpoint *endpoint =
        get(view, &view->endpoints, sizeof(*endpoint), event->rank, event->value, &is_new);
    if (!endpoint)
        return;
    char name[340];
    lanes_fini(&endpoint->lanes); /* of one that had this address before */
    lanes_fini(&endpoint->phase_lanes);
    endpoint->levels = (struct phase_levels){0};
    endpoint->instance = event->a;
    endpoint->site = (uint32_t)event->b;
    endpoint->num_sites = (uint32_t)(event->b >> 32);
    snprintf(endpoint->name, sizeof(endpoint->name), "%s", event->text);
    snprintf(name, sizeof(name), "\"%.250s\" site %u", event->text, (unsigned)endpoint->site);
    view->has_failed |= !lanes_init(&endpoint->lanes, process_track(event->rank), name, MOST_LANES);
    put(view, event, PERFETTO_INSTANT, endpoint->name, true);
}

static void on_call(struct view *view, const struct event *event)
{
    char name[140];
    bool is_new;
    struct endpoint *endpoint = keyed_find(&view->endpoints, event->rank, event->value);
    name_call(view, event, name, sizeof(name));
    if (!endpoint) {
        put(view, event, PERFETTO_INSTANT, name, true);
        return;
    }
    struct call *call =
        get(view, &view->calls, sizeof(*call), (uintptr_t)endpoint, event->a, &is_new);
    if (!call)
        return;
    call->phases = (struct phases){0};
    call->lane = lanes_take(&endpoint->lanes, view->perfetto);
    struct perfetto_note from = {.name = "from", .text = event->from};
    uint64_t track = call->lane < 0 ? thread_track(event->rank, event->thread)
                                    : lanes_track(&endpoint->lanes, call->lane);
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = track,
                                       .at = event->at,
                                       .type = call->lane < 0 ? PERFETTO_INSTANT : PERFETTO_BEGIN,
                                       .name = name,
                                       .record = event,
                                       .notes = &from,
                                       .num_notes = *event->from != 0,
                                   });
    view->has_failed |=
        !generations_call(&view->generations, endpoint->instance, endpoint->name,
                          endpoint->num_sites, event->a, endpoint->site, event->at, name);
}

static void on_level(struct view *view, const struct event *event)
{
    struct endpoint *endpoint = keyed_find(&view->endpoints, event->rank, event->value);
    if (endpoint)
        phase_levels_add(&endpoint->levels, event);
    put(view, event, PERFETTO_INSTANT, event->text, true);
}

static void on_step(struct view *view, const struct event *event)
{
    static const char *const words[COHORT__TRACE_STEPS][2] = {
        [COHORT__TRACE_STEP_SEND] = {"sends", "has sent"},
        [COHORT__TRACE_STEP_RECEIVE] = {"waits for data", "has data"},
        [COHORT__TRACE_STEP_MEET] = {"meets", "has met"},
        [COHORT__TRACE_STEP_POST] = {"posts", "has posted"},
        [COHORT__TRACE_STEP_READ] = {"reads", "has read"},
        [COHORT__TRACE_STEP_AGREE] = {"agrees", "has agreed"},
        [COHORT__TRACE_STEP_COMPUTE] = {"computes", "has computed"},
    };
    const struct endpoint *endpoint = keyed_find(&view->endpoints, event->rank, event->value);
    struct call *call = endpoint ? keyed_find(&view->calls, (uintptr_t)endpoint, event->a) : NULL;
    char level[48] = "";
    if (endpoint)
        phase_levels_name(&endpoint->levels, phases_level(event), level);
    const struct perfetto_note notes[] = {
        {.name = "site", .number = phases_peer(event)},
        {.name = "phase", .number = phases_phase(event)},
        {.name = "level", .text = level},
    };
    if (call)
        phases_add(&call->phases, event);
    perfetto_event(view->perfetto,
                   &(struct perfetto_event){
                       .track = thread_track(event->rank, event->thread),
                       .at = event->at,
                       .type = PERFETTO_INSTANT,
                       .name = words[phases_step(event)][event->kind == COHORT__TRACE_OVER],
                       .record = event,
                       .notes = notes,
                       .num_notes = 3,
                   });
}

/* On tracks below that of the calls. */
static void show_phases(struct view *view, struct endpoint *endpoint, const struct call *call,
                        uint64_t at)
{
    if (call->lane < 0)
        return;
    if (!endpoint->phase_lanes.tracks)
        view->has_failed |= !lanes_init(&endpoint->phase_lanes, lanes_track(&endpoint->lanes, 0),
                                        "phases", MOST_LANES);
    if (endpoint->phase_lanes.tracks)
        phases_show(&call->phases, &endpoint->levels, &endpoint->phase_lanes, view->perfetto, at);
}

static void on_ended(struct view *view, const struct event *event)
{
    struct endpoint *endpoint = keyed_find(&view->endpoints, event->rank, event->value);
    struct call *call = endpoint ? keyed_find(&view->calls, (uintptr_t)endpoint, event->a) : NULL;
    if (!call || call->lane < 0) {
        put(view, event, PERFETTO_INSTANT, "ended", true);
    } else {
        perfetto_event(view->perfetto, &(struct perfetto_event){
                                           .track = lanes_track(&endpoint->lanes, call->lane),
                                           .at = event->at,
                                           .type = PERFETTO_END,
                                           .record = event,
                                       });
        lanes_give_back(&endpoint->lanes, call->lane);
    }
    if (!call)
        return;
    show_phases(view, endpoint, call, event->at);
    generations_ended(&view->generations, endpoint->instance, event->a, event->at);
    cohort__map_remove(&view->calls, &call->keyed.node);
    free(call);
}

/* Messages ------------------------------------------------------------------------------------ */

static void on_message(struct view *view, const struct event *event)
{
    bool is_sent = event->kind == COHORT__TRACE_SENT;
    uint64_t from = is_sent ? event->rank : event->value;
    uint64_t to = is_sent ? event->value : event->rank;
    uint64_t flow = cohort__hash_mix(cohort__hash_mix(from + 1, to), event->a) | 1;
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = thread_track(event->rank, event->thread),
                                       .at = event->at,
                                       .type = PERFETTO_INSTANT,
                                       .name = is_sent ? "sent" : "received",
                                       .record = event,
                                       .flow = is_sent ? flow : 0,
                                       .flow_end = is_sent ? 0 : flow,
                                   });
}

static void on_thread(struct view *view, const struct event *event)
{
    char name[80];
    snprintf(name, sizeof(name), "%.20s %u (%llu)", event->text, (unsigned)event->thread,
             (unsigned long long)event->a);
    perfetto_thread(view->perfetto, thread_track(event->rank, event->thread),
                    process_track(event->rank), pid_of(event->rank),
                    pid_of(event->rank) * TIDS + event->thread % TIDS, name);
}

/* The whole ----------------------------------------------------------------------------------- */

cohort_status view_add(struct view *view, const struct event *event)
{
    static void (*const handlers[COHORT__TRACE_KINDS])(struct view * view,
                                                       const struct event *event) = {
        [COHORT__TRACE_BEGIN] = on_begin,     [COHORT__TRACE_END] = on_end,
        [COHORT__TRACE_SUSPEND] = on_suspend, [COHORT__TRACE_RESUME] = on_resume,
        [COHORT__TRACE_WAKE] = on_wake,       [COHORT__TRACE_SLEEP] = on_sleep,
        [COHORT__TRACE_AWAKE] = on_sleep,     [COHORT__TRACE_CALL] = on_call,
        [COHORT__TRACE_ENDED] = on_ended,     [COHORT__TRACE_ENDPOINT] = on_endpoint,
        [COHORT__TRACE_SENT] = on_message,    [COHORT__TRACE_RECEIVED] = on_message,
        [COHORT__TRACE_THREAD] = on_thread,   [COHORT__TRACE_ROW] = on_row,
        [COHORT__TRACE_LEVEL] = on_level,     [COHORT__TRACE_STEP] = on_step,
        [COHORT__TRACE_OVER] = on_step,
    };
    if (event->kind == COHORT__TRACE_LEFT)
        put(view, event, PERFETTO_INSTANT, "left", true);
    else if (handlers[event->kind])
        handlers[event->kind](view, event);
    view->last = event->at;
    return view->has_failed ? cohort_fail(COHORT_ERR_NO_MEMORY, "trace: no memory to join it")
                            : COHORT_OK;
}

static const char *base_of(const char *path)
{
    const char *base = strrchr(path, '/');
    return base ? base + 1 : path;
}

static void add_clock(struct view *view, const struct event *locality,
                      const struct known_clock *clock)
{
    const struct event event = {
        .at = locality->at,
        .rank = locality->rank,
        .kind = COHORT__TRACE_OFFSET,
        .small = (uint8_t)clock->known,
        .value = clock->bound,
        .a = (uint64_t)clock->ahead,
    };
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = process_track(event.rank),
                                       .at = event.at,
                                       .type = PERFETTO_INSTANT,
                                       .name = "clock",
                                       .record = &event,
                                   });
}

static bool add_locality(struct view *view, uint32_t i, const struct view_hosts *hosts)
{
    const struct part *part = &view->parts[i];
    const struct cohort__trace_head *head = &part->head;
    char name[420];
    struct event event = {
        .at = part->num_moments > 0 ? part_time(part, part->moments[0].ticks) : 0,
        .rank = head->rank,
        .kind = COHORT__TRACE_LOCALITY,
        .small = head->is_closed == 1,
        .value = (uint32_t)head->pid,
        .a = head->lost,
        .b = head->size,
        .c = hosts->hosts[i],
    };
    snprintf(name, sizeof(name), "locality %u (%s, host %s, pid %d%s)", (unsigned)head->rank,
             base_of(head->program), head->host, (int)head->pid,
             head->is_closed == 1 ? "" : ", has not come to its end");
    perfetto_process(view->perfetto, process_track(head->rank), pid_of(head->rank), name);
    snprintf(name, sizeof(name), "%s %s", base_of(head->program), head->host);
    perfetto_event(view->perfetto, &(struct perfetto_event){
                                       .track = process_track(head->rank),
                                       .at = event.at,
                                       .type = PERFETTO_INSTANT,
                                       .name = name,
                                       .record = &event,
                                   });
    add_clock(view, &event, &hosts->known[hosts->clocks[i]]);
    return lanes_init(&view->wait_lanes[i], process_track(head->rank), "waits", MOST_LANES);
}

struct view *view_create(struct perfetto *perfetto, struct part *parts, uint32_t num_parts,
                         const struct view_hosts *hosts)
{
    struct view *view = calloc(1, sizeof(*view));
    if (!view)
        return NULL;
    view->perfetto = perfetto;
    view->parts = parts;
    view->num_parts = num_parts;
    cohort__map_init(&view->functions);
    cohort__map_init(&view->threads);
    cohort__map_init(&view->waits);
    cohort__map_init(&view->rows);
    cohort__map_init(&view->endpoints);
    cohort__map_init(&view->calls);
    uint32_t last_rank = parts[num_parts - 1].head.rank;
    generations_init(&view->generations, perfetto, pid_of(last_rank) + 1);
    view->wait_lanes = calloc(num_parts, sizeof(*view->wait_lanes));
    view->has_failed = !view->wait_lanes;
    for (uint32_t i = 0; i < num_parts && !view->has_failed; i++)
        view->has_failed = !add_locality(view, i, hosts);
    if (!view->has_failed)
        return view;
    view_destroy(view);
    return NULL;
}

/* Whatever waits still does so when the trace ends, and calls are not over: Perfetto shows them as
 * such. */
void view_end(struct view *view)
{
    generations_end(&view->generations, view->last);
}

void view_destroy(struct view *view)
{
    struct cohort__map_node *node;
    if (!view)
        return;
    for (node = cohort__map_first(&view->threads); node;
         node = cohort__map_next(&view->threads, node))
        free(((struct thread *)keyed_of(node))->stack.frames);
    for (node = cohort__map_first(&view->waits); node; node = cohort__map_next(&view->waits, node))
        free(((struct wait *)keyed_of(node))->stack.frames);
    for (node = cohort__map_first(&view->endpoints); node;
         node = cohort__map_next(&view->endpoints, node)) {
        lanes_fini(&((struct endpoint *)keyed_of(node))->lanes);
        lanes_fini(&((struct endpoint *)keyed_of(node))->phase_lanes);
    }
    keyed_free(&view->functions);
    keyed_free(&view->threads);
    keyed_free(&view->waits);
    keyed_free(&view->rows);
    keyed_free(&view->endpoints);
    keyed_free(&view->calls);
    for (uint32_t i = 0; view->wait_lanes && i < view->num_parts; i++)
        lanes_fini(&view->wait_lanes[i]);
    free(view->wait_lanes);
    generations_fini(&view->generations);
    free(view);
}
