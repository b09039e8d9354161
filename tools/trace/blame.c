/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: who is to blame for each part of a wait. */
#include "tools/trace/blame.h"

#include "tools/trace/absent.h"
#include "tools/trace/way.h"

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
