/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: who is to blame for each part of a wait. */
#include "tools/trace/blame.h"

#include "tools/trace/absent.h"

/* The way of the data of a call, back to the site that came last ------------------------------ */

/* Each turn goes back in time; a way is not longer than the sites and their steps. */
enum { MOST_STEPS = 1 << 16 };

/* A place on the way: what CALL had done until AT. */
struct place {
    uint32_t call;
    uint64_t at;
};

static const struct event *step_at(const struct model *model, const struct call *call, uint32_t i)
{
    return &model->trace->events[call->steps[i]];
}

static bool waits_for_others(const struct event *step)
{
    return phases_step(step) == COHORT__TRACE_STEP_RECEIVE ||
           phases_step(step) == COHORT__TRACE_STEP_READ ||
           phases_step(step) == COHORT__TRACE_STEP_MEET;
}

/* The last step of PLACE's call that waited for others, and was over then. NULL: there is none. */
static const struct event *find_over(const struct model *model, struct place place)
{
    const struct call *call = &model->calls[place.call];
    for (uint32_t i = call->num_steps; i-- > 0;) {
        const struct event *step = step_at(model, call, i);
        if (step->kind == COHORT__TRACE_OVER && step->at < place.at && waits_for_others(step))
            return step;
    }
    return NULL;
}

/* When the step that is OVER began. 0: that is not known. */
static uint64_t find_begin(const struct model *model, const struct call *call,
                           const struct event *over)
{
    for (uint32_t i = call->num_steps; i-- > 0;) {
        const struct event *step = step_at(model, call, i);
        if (step->kind == COHORT__TRACE_STEP && step->small == over->small && step->b == over->b &&
            step->at <= over->at)
            return step->at;
    }
    return 0;
}

/* Whether SITE's STEP was for what is OVER at the site FOR: it has sent or posted that, or has met
 * it. */
static bool is_other_end(const struct event *step, const struct event *over, uint32_t site)
{
    if (step->kind != COHORT__TRACE_STEP || !phases_match(step, over))
        return false;
    switch (phases_step(over)) {
    case COHORT__TRACE_STEP_RECEIVE:
        return phases_step(step) == COHORT__TRACE_STEP_SEND && phases_peer(step) == site;
    case COHORT__TRACE_STEP_READ:
        return phases_step(step) == COHORT__TRACE_STEP_POST;
    default:
        return phases_step(step) == COHORT__TRACE_STEP_MEET;
    }
}

static uint32_t host_of(const struct model *model, uint32_t rank)
{
    uint32_t i = model_locality(model, rank);
    return i != NONE ? model->trace->localities[i].host : NONE;
}

/* Whether CALL may have a part in what is OVER at OWN. Those who meet share memory. */
static bool takes_part(const struct model *model, const struct call *call, const struct call *own,
                       const struct event *over)
{
    if (phases_step(over) != COHORT__TRACE_STEP_MEET)
        return call->site == phases_peer(over);
    return call->rank == own->rank ||
           (phases_level(over) > 0 && host_of(model, call->rank) == host_of(model, own->rank));
}

/* Where the latest of the other ends of OVER began. False: it is not known. */
static bool find_other_end(const struct model *model, const struct call *own,
                           const struct event *over, struct place *ret_place)
{
    const struct generation *generation = &model->generations[own->generation];
    bool is_found = false;
    for (uint32_t i = 0; i < generation->num_calls; i++) {
        const struct call *call = &model->calls[generation->calls[i]];
        if (!takes_part(model, call, own, over))
            continue;
        for (uint32_t k = 0; k < call->num_steps; k++) {
            const struct event *step = step_at(model, call, k);
            if (is_other_end(step, over, own->site) && step->at <= over->at &&
                (!is_found || step->at > ret_place->at)) {
                *ret_place = (struct place){generation->calls[i], step->at};
                is_found = true;
            }
        }
    }
    return is_found;
}

/* The steps begin in the turn of what they waited for, so this is the critical path. */
static uint32_t follow(const struct model *model, uint32_t number, uint64_t before)
{
    struct place place = {number, before};
    for (uint32_t turns = 0; turns < MOST_STEPS; turns++) {
        const struct call *call = &model->calls[place.call];
        const struct event *over = find_over(model, place);
        struct place other;
        if (!over)
            break;
        uint64_t begin = find_begin(model, call, over);
        if (find_other_end(model, call, over, &other) && other.at > begin &&
            other.call != place.call)
            place = other;
        else
            place.at = begin; /* it was there already */
    }
    return place.call;
}

/* The call that CALL's end, before BEFORE, had to wait for: by what the collective means
 * (model_last), or, if that came later, that of a site which passed on what CALL needs: a relay in
 * a tree. It may be CALL itself.
 * Where all are needed, none on the way is later than the last one. */
static uint32_t way_last(const struct model *model, uint32_t number, uint64_t before)
{
    uint32_t last = model_last(model, number, before);
    const struct call *call = &model->calls[number];
    uint8_t collective = model->generations[call->generation].collective;
    if (model->trace->needs[collective] == COHORT__TRACE_NEEDS_ALL && !*call->from)
        return last;
    uint32_t by_way = follow(model, number, before);
    return model->calls[by_way].at > model->calls[last].at ? by_way : last;
}

/* Blame --------------------------------------------------------------------------------------- */

/* Farther than anybody would read. Calls that end with an error may wait for each other in a
 * circle; all others go back in time. */
enum { MOST_TURNS = 64 };

struct blaming {
    const struct model *model;
    bool directly;
    void (*tell)(void *context, const struct blame *blame);
    void *context;
    uint32_t call; /* of the wait that all began with */
};

struct span {
    uint64_t begin, end;
};

static struct span cut(uint64_t begin, uint64_t end, struct span to)
{
    begin = begin > to.begin ? begin : to.begin;
    end = end < to.end ? end : to.end;
    return (struct span){begin, end > begin ? end : begin};
}

static void tell(const struct blaming *blaming, enum blame_kind kind, uint32_t task,
                 struct span span)
{
    if (span.end > span.begin)
        blaming->tell(blaming->context, &(struct blame){kind, task, blaming->call, NONE, NONE,
                                                        span.begin, span.end - span.begin});
}

static void tell_missing(const struct blaming *blaming, uint32_t call, uint32_t site,
                         struct span span)
{
    if (span.end > span.begin)
        blaming->tell(blaming->context, &(struct blame){BLAME_MISSING, NONE, blaming->call, site,
                                                        call, span.begin, span.end - span.begin});
}

static void divide(const struct blaming *blaming, const struct wait *wait, struct span span,
                   unsigned turns);

/* The first of TASK's waits that ends behind AT. */
static uint32_t find_wait(const struct model *model, const struct task *task, uint64_t at)
{
    uint32_t low = 0, high = task->num_waits;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model->waits[task->waits[middle]].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is charged to task NUMBER: all in which it did not wait itself, and in which it waited for
 * something outside, is its own. */
static void charge(const struct blaming *blaming, uint32_t number, struct span span, unsigned turns)
{
    const struct model *model = blaming->model;
    if (number == NONE) {
        tell(blaming, BLAME_OUTSIDE, NONE, span);
        return;
    }
    const struct task *task = &model->tasks[number];
    uint32_t i = find_wait(model, task, span.begin);
    for (; !blaming->directly && turns < MOST_TURNS && i < task->num_waits; i++) {
        const struct wait *wait = &model->waits[task->waits[i]];
        if (wait->begin >= span.end)
            break;
        if (wait->cause == CAUSE_OUTSIDE || wait->cause == CAUSE_NONE)
            continue;
        struct span inner = cut(wait->begin, wait->end, span);
        tell(blaming, BLAME_TASK, number, cut(span.begin, inner.begin, span));
        divide(blaming, wait, inner, turns + 1);
        span.begin = inner.end;
    }
    tell(blaming, BLAME_TASK, number, span);
}

/* The call of the wait's task that is not over. NONE: there is none. */
static uint32_t find_open_call(const struct model *model, const struct wait *wait)
{
    for (uint32_t i = model->num_calls; i-- > 0;)
        if (model->calls[i].task == wait->task && wait->task != NONE)
            return model->calls[i].ended == 0 ? i : NONE;
    return NONE;
}

/* Who left out a block that CALL waits for is to blame, also while it waits itself, perhaps for who
 * waits for that block. False: nobody did. */
static bool divide_left_out(const struct blaming *blaming, uint32_t call, uint64_t at,
                            struct span span)
{
    const uint32_t sender = absent_sender(blaming->model, call, at);
    const uint32_t task = sender != NONE ? blaming->model->calls[sender].task : NONE;
    if (task != NONE)
        tell(blaming, BLAME_TASK, task, span);
    return task != NONE;
}

/* A call that has ended. If with an error, those are to blame that had not called by then. */
static void divide_call(const struct blaming *blaming, const struct wait *wait, struct span span,
                        unsigned turns)
{
    const struct model *model = blaming->model;
    const struct call *call = &model->calls[wait->by];
    uint64_t at = wait->begin;
    struct absent absent;
    uint32_t last;
    if (call->has_failed && absent_find(model, wait->by, call->ended, &absent)) {
        at = call->ended;
        last = absent.call;
    } else if (call->has_failed && divide_left_out(blaming, wait->by, call->ended,
                                                   cut(wait->begin, call->ended, span))) {
        tell(blaming, BLAME_OPERATION, NONE, cut(call->ended, wait->woken, span));
        return;
    } else {
        absent = (struct absent){NONE, NONE};
        last = way_last(model, wait->by, wait->woken);
        at = last != wait->by ? model->calls[last].at : at;
    }
    if (last == NONE)
        tell_missing(blaming, wait->by, absent.site, cut(wait->begin, at, span));
    else
        charge(blaming, model->calls[last].task, cut(wait->begin, at, span), turns);
    tell(blaming, BLAME_OPERATION, NONE, cut(at, wait->woken, span));
}

/* Nobody has woken it. */
static void divide_unfinished(const struct blaming *blaming, const struct wait *wait,
                              struct span span)
{
    uint32_t call = find_open_call(blaming->model, wait);
    struct absent absent;
    if (call != NONE && absent_find(blaming->model, call, wait->woken, &absent))
        tell_missing(blaming, call, absent.site, span);
    else if (call == NONE || !divide_left_out(blaming, call, wait->woken, span))
        tell(blaming, BLAME_OUTSIDE, NONE, span);
}

/* The part before the wake-up. */
static void divide_open(const struct blaming *blaming, const struct wait *wait, struct span span,
                        unsigned turns)
{
    uint32_t by = wait->by;
    switch ((enum cause)wait->cause) {
    case CAUSE_CALL:
        divide_call(blaming, wait, span, turns);
        break;
    case CAUSE_TASK:
        charge(blaming, by, span, turns);
        break;
    case CAUSE_MESSAGE:
        if (by != NONE)
            charge(blaming, by, cut(wait->begin, wait->sent, span), turns);
        tell(blaming, BLAME_MESSAGE, NONE,
             cut(by == NONE ? wait->begin : wait->sent, wait->woken, span));
        break;
    case CAUSE_NONE:
        divide_unfinished(blaming, wait, span);
        break;
    case CAUSE_OUTSIDE:
        tell(blaming, BLAME_OUTSIDE, NONE, span);
        break;
    }
}

/* What of WAIT lies within SPAN. */
static void divide(const struct blaming *blaming, const struct wait *wait, struct span span,
                   unsigned turns)
{
    divide_open(blaming, wait, cut(wait->begin, wait->woken, span), turns);
    tell(blaming, BLAME_QUEUE, NONE, cut(wait->woken, wait->end, span));
}

void blame_wait(const struct model *model, uint32_t number, bool directly,
                void (*tell)(void *context, const struct blame *blame), void *context)
{
    const struct wait *wait = &model->waits[number];
    struct blaming blaming = {model, directly, tell, context, NONE};
    if (wait->cause == CAUSE_CALL)
        blaming.call = wait->by;
    else if (wait->cause == CAUSE_NONE)
        blaming.call = find_open_call(model, wait);
    divide(&blaming, wait, (struct span){wait->begin, wait->end}, 0);
}
