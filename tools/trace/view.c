/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what becomes of events in a trace for Perfetto. */
#include "tools/trace/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "tools/share/wait_words.h"
#include "tools/trace/keyed.h"
#include "tools/trace/list.h"
#include "tools/trace/replay.h"

enum {
    MOST_LANES = 256, /* of waits, or of calls of a site: more are not shown */
    MOST_GENERATIONS = 64,
    MOST_LISTED = 32, /* sites of a generation */
    LIST_BYTES = 1024,
    TIDS = 10000, /* numbers of threads of a locality */
};

static const uint64_t communicators_track = 1;
static const uint64_t first_lane = UINT64_C(1) << 63; /* others have smaller numbers */

/* Lanes ---------------------------------------------------------------------------------------- */

/* Tracks of one name, for what may overlap. On each there is one thing at a time. They are made
 * when they are needed. */
struct lanes {
    uint64_t parent;
    struct lane {
        uint64_t track, until; /* it is taken */
    } * list;
    uint32_t num, most;
    char name[340];
};

static void lanes_init(struct lanes *lanes, uint64_t parent, const char *name, uint32_t most)
{
    *lanes = (struct lanes){.parent = parent, .most = most};
    snprintf(lanes->name, sizeof(lanes->name), "%s", name);
}

/* All zero is fine. */
static void lanes_fini(struct lanes *lanes)
{
    free(lanes->list);
    *lanes = (struct lanes){0};
}

/* The track of the first one that is free from BEGIN on; it is taken until END. 0: all are taken,
 * or there is no memory, as PERFETTO knows then. */
static uint64_t lanes_take(struct lanes *lanes, struct perfetto *perfetto, uint64_t begin,
                           uint64_t end)
{
    uint32_t lane = 0;
    while (lane < lanes->num && lanes->list[lane].until > begin)
        lane++;
    if (lane == lanes->most)
        return 0;
    if (lane == lanes->num) {
        if (!list_grow(&lanes->list, lanes->num, sizeof(*lanes->list))) {
            perfetto->proto.has_failed = true;
            return 0;
        }
        lanes->list[lane].track = first_lane + perfetto->num_tracks++;
        perfetto_track(perfetto, lanes->list[lane].track, lanes->parent, lanes->name);
        lanes->num++;
    }
    lanes->list[lane].until = end;
    return lanes->list[lane].track;
}

/* It is free from AT on. */
static void lanes_give_back(struct lanes *lanes, uint64_t track, uint64_t at)
{
    for (uint32_t lane = 0; lane < lanes->num; lane++)
        if (lanes->list[lane].track == track)
            lanes->list[lane].until = at;
}

/* Shows SLICE, which begins at its time and lasts until END. They come by END. */
static void lanes_show(struct lanes *lanes, struct perfetto *perfetto, struct perfetto_event slice,
                       uint64_t end)
{
    slice.track = lanes_take(lanes, perfetto, slice.at, end);
    if (slice.track == 0)
        return;
    slice.type = PERFETTO_BEGIN;
    perfetto_event(perfetto, &slice);
    perfetto_event(perfetto,
                   &(struct perfetto_event){.track = slice.track, .at = end, .type = PERFETTO_END});
}

/* The view ------------------------------------------------------------------------------------- */

/* Where an endpoint is shown. */
struct site {
    struct keyed keyed;       /* rank, endpoint */
    struct lanes lanes;       /* of its calls */
    struct lanes phase_lanes; /* below them; all zero until a call has phases */
};

/* Where the generations of a communicator are shown. */
struct group {
    struct keyed keyed; /* instance, 0 */
    struct lanes lanes;
};

struct view {
    struct perfetto *perfetto;
    struct part *parts;
    uint32_t num_parts;
    uint64_t last; /* time */
    struct cohort__map names;
    struct replay replay;
    struct cohort__map sites, groups;
    struct cohort__map rows;  /* that are shown */
    struct lanes *wait_lanes; /* for each part */
    bool has_failed;          /* no memory */
};

/* Numbers of tracks. */
static uint64_t process_track(uint32_t rank)
{
    return ((uint64_t)rank + 1) << 32;
}

static uint64_t thread_track(const struct event *event)
{
    return process_track(event->rank) + event->thread + 1;
}

static uint32_t pid_of(uint32_t rank)
{
    return rank + 1;
}

/* At the time of EVENT, and if there is no other track, on that of its thread. */
static void put(struct view *view, const struct event *event, struct perfetto_event shown)
{
    shown.track = shown.track ? shown.track : thread_track(event);
    shown.at = event->at;
    perfetto_event(view->perfetto, &shown);
}

static void begin(struct view *view, const struct event *event, const char *name, bool is_record)
{
    put(view, event,
        (struct perfetto_event){
            .type = PERFETTO_BEGIN, .name = name, .record = is_record ? event : NULL});
}

static void end(struct view *view, const struct event *event, bool is_record)
{
    put(view, event,
        (struct perfetto_event){.type = PERFETTO_END, .record = is_record ? event : NULL});
}

static void mark(struct view *view, const struct event *event, const char *name)
{
    put(view, event,
        (struct perfetto_event){.type = PERFETTO_INSTANT, .name = name, .record = event});
}

/* Names --------------------------------------------------------------------------------------- */

/* What has a name. The first number is this plus 2^32 times what is said here, then the second. */
enum {
    FUNCTION,     /* locality; address */
    ROW,          /* collective; row */
    CALL,         /* the same */
    COMMUNICATOR, /* 0; instance */
};

struct name {
    struct keyed keyed;
    char text[300];
};

static uint64_t key(uint64_t of, uint64_t what)
{
    return of << 32 | what;
}

/* "all_reduce levels" */
static void name_call(const struct cohort__map *names, const struct event *event, struct name *name)
{
    const struct name *row = keyed_find(names, key(event->small, ROW), event->b),
                      *collective = keyed_find(names, key(event->small, ROW), COHORT__TRACE_NO_ROW);
    snprintf(name->text, sizeof(name->text), "%.63s%s%.63s", collective ? collective->text : "call",
             row ? " " : "", row ? row->text : "");
}

/* Gives EVENT, of PART, a text that is in NAMES, and lasts as long: of a BEGIN and a SUSPEND that
 * of the function, of a CALL that of the collective and its row; of a ROW and an ENDPOINT its own.
 * False: no memory. */
static bool give_name(struct cohort__map *names, struct part *part, struct event *event)
{
    uint64_t first, second = event->b;
    bool is_new;
    switch (event->kind) {
    case COHORT__TRACE_BEGIN:
    case COHORT__TRACE_SUSPEND:
        first = key(event->rank, FUNCTION);
        break;
    case COHORT__TRACE_CALL:
        first = key(event->small, CALL);
        break;
    case COHORT__TRACE_ROW:
        first = key(event->a, ROW);
        second = event->value;
        break;
    case COHORT__TRACE_ENDPOINT:
        first = key(0, COMMUNICATOR);
        second = event->a;
        break;
    default:
        return true;
    }
    struct name *name = keyed_get(names, sizeof(*name), first, second, &is_new);
    if (!name)
        return false;
    if (is_new && event->kind == COHORT__TRACE_CALL)
        name_call(names, event, name);
    else if (is_new && (uint32_t)first == FUNCTION)
        part_name(part, second, name->text, sizeof(name->text));
    else if (is_new)
        snprintf(name->text, sizeof(name->text), "%s", event->text);
    event->text = name->text;
    return true;
}

/* Tasks --------------------------------------------------------------------------------------- */

static void on_begin(struct view *view, const struct event *event, const struct seen *seen)
{
    (void)seen;
    begin(view, event, event->text, true);
}

/* What was begun before is not known where records are lost. */
static void on_end(struct view *view, const struct event *event, const struct seen *seen)
{
    if (seen->ended == NONE)
        mark(view, event, "end");
    else
        end(view, event, true);
}

static struct lanes *lanes_of(struct view *view, uint32_t rank)
{
    return &view->wait_lanes[parts_find(view->parts, view->num_parts, rank)];
}

/* On a lane of its own. */
static void show_wait(struct view *view, const struct event *event, struct open_wait *wait)
{
    const struct stack *stack = &wait->stack;
    struct lanes *lanes = lanes_of(view, event->rank);
    const struct perfetto_note notes[] = {
        {.name = "where", .text = event->text},
        {.name = "in", .text = stack->num > 0 ? stack->frames[stack->num - 1].function : "?"},
    };
    char name[64];
    snprintf(name, sizeof(name), "waits for %s", wait_words[event->a % COHORT__WAIT_KINDS].text);
    wait->track = lanes_take(lanes, view->perfetto, event->at, UINT64_MAX);
    if (wait->track)
        put(view, event,
            (struct perfetto_event){.track = wait->track,
                                    .type = PERFETTO_BEGIN,
                                    .name = name,
                                    .notes = notes,
                                    .num_notes = 2});
}

static void on_suspend(struct view *view, const struct event *event, const struct seen *seen)
{
    if (seen->wait->stack.num == 0)
        mark(view, event, "suspend");
    for (uint32_t i = 0; i < seen->wait->stack.num; i++)
        end(view, event, i == 0);
    if (!seen->wait->track)
        show_wait(view, event, seen->wait);
}

static void hide_wait(struct view *view, const struct event *event, const struct open_wait *wait)
{
    if (!wait->track)
        return;
    put(view, event, (struct perfetto_event){.track = wait->track, .type = PERFETTO_END});
    lanes_give_back(lanes_of(view, event->rank), wait->track, event->at);
}

static void on_resume(struct view *view, const struct event *event, const struct seen *seen)
{
    const struct stack *stack = &seen->wait->stack;
    hide_wait(view, event, seen->wait);
    put(view, event,
        (struct perfetto_event){.type = stack->num > 0 ? PERFETTO_BEGIN : PERFETTO_INSTANT,
                                .name = stack->num > 0 ? stack->frames[0].function : "resume",
                                .record = event,
                                .flow_end = seen->wait->flow});
    for (uint32_t i = 1; i < stack->num; i++)
        begin(view, event, stack->frames[i].function, false);
}

static void on_wake(struct view *view, const struct event *event, const struct seen *seen)
{
    put(view, event,
        (struct perfetto_event){
            .type = PERFETTO_INSTANT, .name = "wake", .record = event, .flow = seen->wait->flow});
}

static void on_sleep(struct view *view, const struct event *event, const struct seen *seen)
{
    bool is_sleep = event->kind == COHORT__TRACE_SLEEP;
    if (is_sleep == seen->thread->is_asleep) /* records are lost */
        mark(view, event, is_sleep ? "sleep" : "awake");
    else if (is_sleep)
        begin(view, event, "asleep", true);
    else
        end(view, event, true);
    seen->thread->is_asleep = is_sleep;
}

/* Generations --------------------------------------------------------------------------------- */

/* A process of its own shows them, with a track for each communicator: when the sites have arrived,
 * in which order, and when the last one was over. */
static struct group *find_group(struct view *view, const struct open_generation *open)
{
    bool is_new;
    struct group *group = keyed_get(&view->groups, sizeof(*group), open->keyed.first, 0, &is_new);
    if (!group || !is_new)
        return group;
    if (view->groups.num_nodes == 1)
        perfetto_process(view->perfetto, communicators_track,
                         pid_of(view->parts[view->num_parts - 1].head.rank) + 1, "communicators");
    lanes_init(&group->lanes, communicators_track, open->communicator, MOST_GENERATIONS);
    return group;
}

/* "2 0 3 1", and by how many microseconds each was later than the first one: "0 1.2 3.0 211.4". */
static void list(const struct open_generation *open, char order[LIST_BYTES], char late[LIST_BYTES])
{
    size_t used = 0, used_late = 0;
    order[0] = late[0] = '\0';
    for (uint32_t i = 0; i < open->num_called && i < MOST_LISTED; i++) {
        const struct arrival *arrival = &open->arrivals[i];
        used += (size_t)snprintf(order + used, LIST_BYTES - used, "%s%u", i ? " " : "",
                                 (unsigned)arrival->site);
        used_late +=
            (size_t)snprintf(late + used_late, LIST_BYTES - used_late, "%s%.1f", i ? " " : "",
                             (double)(arrival->at - open->arrivals[0].at) / 1000);
    }
    if (open->num_called > MOST_LISTED)
        snprintf(order + used, LIST_BYTES - used, " ... %u",
                 (unsigned)open->arrivals[open->num_called - 1].site);
}

/* One that has ended at AT. Its slice is written as a whole: Perfetto sorts by time. */
static void show_generation(struct view *view, const struct open_generation *open, uint64_t at)
{
    char order[LIST_BYTES], late[LIST_BYTES];
    struct group *group = find_group(view, open);
    view->has_failed |= !group;
    if (!group)
        return;
    list(open, order, late);
    const struct perfetto_note notes[] = {
        {.name = "arrived", .text = order},
        {.name = "late_us", .text = late},
        {.name = "generation", .number = open->keyed.second},
        {.name = "missing", .number = open->num_sites - open->num_called},
    };
    lanes_show(&group->lanes, view->perfetto,
               (struct perfetto_event){
                   .at = open->arrivals[0].at, .name = open->call, .notes = notes, .num_notes = 4},
               at);
}

/* Collectives --------------------------------------------------------------------------------- */

static void on_row(struct view *view, const struct event *event, const struct seen *seen)
{
    bool is_new;
    const struct keyed *row = keyed_get(&view->rows, sizeof(*row), event->a, event->value, &is_new);
    (void)seen;
    view->has_failed |= !row;
    if (row && is_new)
        mark(view, event, event->text);
}

static struct site *find_site(struct view *view, const struct event *event)
{
    return keyed_find(&view->sites, event->rank, event->value);
}

static void on_endpoint(struct view *view, const struct event *event, const struct seen *seen)
{
    char name[340];
    bool is_new;
    struct site *site = keyed_get(&view->sites, sizeof(*site), event->rank, event->value, &is_new);
    view->has_failed |= !site;
    if (!site)
        return;
    lanes_fini(&site->lanes); /* of one that had this address before */
    lanes_fini(&site->phase_lanes);
    snprintf(name, sizeof(name), "\"%.250s\" site %u", event->text, (unsigned)seen->endpoint->site);
    lanes_init(&site->lanes, process_track(event->rank), name, MOST_LANES);
    mark(view, event, event->text);
}

static void on_call(struct view *view, const struct event *event, const struct seen *seen)
{
    struct site *site = seen->call ? find_site(view, event) : NULL;
    const struct perfetto_note from = {.name = "from", .text = event->from};
    uint64_t track = site ? lanes_take(&site->lanes, view->perfetto, event->at, UINT64_MAX) : 0;
    if (site)
        seen->call->track = track;
    put(view, event,
        (struct perfetto_event){.track = track,
                                .type = track ? PERFETTO_BEGIN : PERFETTO_INSTANT,
                                .name = event->text,
                                .record = event,
                                .notes = &from,
                                .num_notes = *event->from != 0});
}

static void on_level(struct view *view, const struct event *event, const struct seen *seen)
{
    (void)seen;
    mark(view, event, event->text);
}

static void on_step(struct view *view, const struct event *event, const struct seen *seen)
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
    char level[48] = "";
    if (seen->endpoint)
        phase_levels_name(&seen->endpoint->levels, phases_level(event), level);
    const struct perfetto_note notes[] = {
        {.name = "site", .number = phases_peer(event)},
        {.name = "phase", .number = phases_phase(event)},
        {.name = "level", .text = level},
    };
    put(view, event,
        (struct perfetto_event){.type = PERFETTO_INSTANT,
                                .name =
                                    words[phases_step(event)][event->kind == COHORT__TRACE_OVER],
                                .record = event,
                                .notes = notes,
                                .num_notes = 3});
}

static void name_phase(uint32_t number, const struct phase *phase,
                       const struct phase_levels *levels, char text[80])
{
    char level[48];
    phase_levels_name(levels, phase->level, level);
    if (number == 0)
        snprintf(text, 80, "agreement%s%s", *level ? ": " : "", level);
    else
        snprintf(text, 80, "phase %u%s%s", (unsigned)number, *level ? ": " : "", level);
}

/* On tracks below that of the calls. One with a step that is not over lasts as long as the call. */
static void show_phases(struct view *view, struct site *site, const struct seen *seen, uint64_t at)
{
    char name[80];
    if (!site->phase_lanes.most)
        lanes_init(&site->phase_lanes, seen->call->track, "phases", MOST_LANES);
    for (uint32_t i = 0; i < COHORT__TRACE_PHASES; i++) {
        const struct phase *phase = &seen->call->phases.of[i];
        if (!phase->is_used)
            continue;
        name_phase(i, phase, &seen->endpoint->levels, name);
        lanes_show(&site->phase_lanes, view->perfetto,
                   (struct perfetto_event){.at = phase->begin, .name = name},
                   phase->num_open > 0 && at > phase->end ? at : phase->end);
    }
}

static void on_ended(struct view *view, const struct event *event, const struct seen *seen)
{
    struct site *site = seen->call ? find_site(view, event) : NULL;
    uint64_t track = site ? seen->call->track : 0;
    if (!track) {
        mark(view, event, "ended");
    } else {
        put(view, event,
            (struct perfetto_event){.track = track, .type = PERFETTO_END, .record = event});
        lanes_give_back(&site->lanes, track, event->at);
        show_phases(view, site, seen, event->at);
    }
    if (seen->generation && replay_is_over(seen->generation))
        show_generation(view, seen->generation, event->at);
}

static void on_left(struct view *view, const struct event *event, const struct seen *seen)
{
    (void)seen;
    mark(view, event, "left");
}

/* Messages ------------------------------------------------------------------------------------ */

static void on_message(struct view *view, const struct event *event, const struct seen *seen)
{
    bool is_sent = event->kind == COHORT__TRACE_SENT;
    uint64_t flow = cohort__hash_mix(cohort__hash_mix(0, replay_pair(event)), event->a) | 1;
    (void)seen;
    put(view, event,
        (struct perfetto_event){.type = PERFETTO_INSTANT,
                                .name = is_sent ? "sent" : "received",
                                .record = event,
                                .flow = is_sent ? flow : 0,
                                .flow_end = is_sent ? 0 : flow});
}

static void on_thread(struct view *view, const struct event *event, const struct seen *seen)
{
    char name[80];
    (void)seen;
    snprintf(name, sizeof(name), "%.20s %u (%llu)", event->text, (unsigned)event->thread,
             (unsigned long long)event->a);
    perfetto_thread(view->perfetto, thread_track(event), process_track(event->rank),
                    pid_of(event->rank), pid_of(event->rank) * TIDS + event->thread % TIDS, name);
}

/* The whole ----------------------------------------------------------------------------------- */

static void show(void *context, const struct event *event, const struct seen *seen)
{
    static void (*const handlers[COHORT__TRACE_KINDS])(
        struct view * view, const struct event *event, const struct seen *seen) = {
        [COHORT__TRACE_BEGIN] = on_begin,      [COHORT__TRACE_END] = on_end,
        [COHORT__TRACE_SUSPEND] = on_suspend,  [COHORT__TRACE_RESUME] = on_resume,
        [COHORT__TRACE_WAKE] = on_wake,        [COHORT__TRACE_SLEEP] = on_sleep,
        [COHORT__TRACE_AWAKE] = on_sleep,      [COHORT__TRACE_CALL] = on_call,
        [COHORT__TRACE_ENDED] = on_ended,      [COHORT__TRACE_ENDPOINT] = on_endpoint,
        [COHORT__TRACE_LEFT] = on_left,        [COHORT__TRACE_SENT] = on_message,
        [COHORT__TRACE_RECEIVED] = on_message, [COHORT__TRACE_THREAD] = on_thread,
        [COHORT__TRACE_ROW] = on_row,          [COHORT__TRACE_LEVEL] = on_level,
        [COHORT__TRACE_STEP] = on_step,        [COHORT__TRACE_OVER] = on_step,
    };
    if (handlers[event->kind])
        handlers[event->kind](context, event, seen);
}

static cohort_status status_of(const struct view *view)
{
    return view->has_failed ? cohort_fail(COHORT_ERR_NO_MEMORY, "trace: no memory to join it")
                            : COHORT_OK;
}

cohort_status view_add(struct view *view, struct event *event)
{
    struct part *part = &view->parts[parts_find(view->parts, view->num_parts, event->rank)];
    view->has_failed |= !give_name(&view->names, part, event) || !replay_add(&view->replay, event);
    view->last = event->at;
    return status_of(view);
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

static void add_locality(struct view *view, uint32_t i, const struct view_hosts *hosts)
{
    const struct part *part = &view->parts[i];
    const struct cohort__trace_head *head = &part->head;
    char name[420];
    struct event event = {
        .at = part->num_moments > 0 ? part_time(part, part->moments[0].cycles) : 0,
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
    lanes_init(&view->wait_lanes[i], process_track(head->rank), "waits", MOST_LANES);
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
    cohort__map_init(&view->names);
    replay_init(&view->replay, show, view);
    cohort__map_init(&view->sites);
    cohort__map_init(&view->rows);
    cohort__map_init(&view->groups);
    view->wait_lanes = calloc(num_parts, sizeof(*view->wait_lanes));
    view->has_failed = !view->wait_lanes;
    for (uint32_t i = 0; i < num_parts && !view->has_failed; i++)
        add_locality(view, i, hosts);
    if (!view->has_failed)
        return view;
    view_destroy(view);
    return NULL;
}

/* Whatever waits still does so when the trace ends, and calls are not over: Perfetto shows them as
 * such. */
cohort_status view_end(struct view *view)
{
    struct cohort__map *open = &view->replay.generations;
    for (struct cohort__map_node *node = cohort__map_first(open); node;
         node = cohort__map_next(open, node))
        show_generation(view, (struct open_generation *)keyed_of(node), view->last);
    return status_of(view);
}

void view_destroy(struct view *view)
{
    struct cohort__map_node *node;
    if (!view)
        return;
    for (node = cohort__map_first(&view->sites); node;
         node = cohort__map_next(&view->sites, node)) {
        lanes_fini(&((struct site *)keyed_of(node))->lanes);
        lanes_fini(&((struct site *)keyed_of(node))->phase_lanes);
    }
    for (node = cohort__map_first(&view->groups); node;
         node = cohort__map_next(&view->groups, node))
        lanes_fini(&((struct group *)keyed_of(node))->lanes);
    keyed_free(&view->sites);
    keyed_free(&view->groups);
    keyed_free(&view->rows);
    for (uint32_t i = 0; view->wait_lanes && i < view->num_parts; i++)
        lanes_fini(&view->wait_lanes[i]);
    free(view->wait_lanes);
    replay_fini(&view->replay);
    keyed_free(&view->names);
    free(view);
}
