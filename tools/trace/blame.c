/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: who is to blame for each part of a wait. */
#include "tools/trace/blame.h"

#include "tools/trace/way.h"

/* Each turn goes back in time, so it ends; but it need not go farther than anybody would read. */
enum { MOST_TURNS = 64 };

struct blaming {
    const struct model *model;
    bool directly;
    void (*tell)(void *context, const struct blame *blame);
    void *context;
    uint32_t call, last; /* of the wait that all began with */
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
        blaming->tell(blaming->context, &(struct blame){kind, task, blaming->call, blaming->last,
                                                        span.begin, span.end - span.begin});
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

/* The part before the wake-up. */
static void divide_open(const struct blaming *blaming, const struct wait *wait, struct span span,
                        unsigned turns)
{
    const struct model *model = blaming->model;
    uint64_t at = wait->begin;
    uint32_t by = wait->by, last;
    switch ((enum cause)wait->cause) {
    case CAUSE_CALL:
        last = way_last(model, by, wait->woken);
        if (last != by)
            at = model->calls[last].at;
        charge(blaming, model->calls[last].task, cut(wait->begin, at, span), turns);
        tell(blaming, BLAME_OPERATION, NONE, cut(at, wait->woken, span));
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
        by = find_open_call(model, wait);
        tell(blaming,
             by != NONE && model_is_missing(model, by, wait->woken) ? BLAME_MISSING : BLAME_OUTSIDE,
             NONE, span);
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
    struct blaming blaming = {model, directly, tell, context, NONE, NONE};
    if (wait->cause == CAUSE_CALL) {
        blaming.call = wait->by;
        blaming.last = way_last(model, wait->by, wait->woken);
    }
    divide(&blaming, wait, (struct span){wait->begin, wait->end}, 0);
}
