/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the way of the data of a call, back to the site that came last. */
#include "tools/trace/way.h"

#include <stdbool.h>

/* Each turn goes back in time; a way is not longer than the sites and their steps. */
enum { MOST_TURNS = 1 << 16 };

/* A place on the way: what CALL had done until AT. */
struct place {
    uint32_t call;
    uint64_t at;
};

static const struct event *step_at(const struct model *model, const struct call *call, uint32_t i)
{
    return &model->trace->events[call->steps[i]];
}

static enum cohort__trace_step what(const struct event *step)
{
    return (enum cohort__trace_step)(step->small & 15);
}

static uint32_t level(const struct event *step)
{
    return (uint32_t)(step->b >> 60);
}

/* What tells a step apart from others of its kind: the phase, the tag. */
static bool fits(const struct event *left, const struct event *right)
{
    const uint64_t tag = ((UINT64_C(1) << 28) - 1) << 32;
    return left->small >> 4 == right->small >> 4 && (left->b & tag) == (right->b & tag);
}

static bool waits_for_others(const struct event *step)
{
    return what(step) == COHORT__TRACE_STEP_RECEIVE || what(step) == COHORT__TRACE_STEP_READ ||
           what(step) == COHORT__TRACE_STEP_MEET;
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
    if (step->kind != COHORT__TRACE_STEP || !fits(step, over))
        return false;
    switch (what(over)) {
    case COHORT__TRACE_STEP_RECEIVE:
        return what(step) == COHORT__TRACE_STEP_SEND && (uint32_t)step->b == site;
    case COHORT__TRACE_STEP_READ:
        return what(step) == COHORT__TRACE_STEP_POST;
    default:
        return what(step) == COHORT__TRACE_STEP_MEET;
    }
}

/* Localities are by rank. */
static uint32_t host_of(const struct trace *trace, uint32_t rank)
{
    uint32_t low = 0, high = trace->num_localities;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->localities[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->num_localities ? trace->localities[low].host : NONE;
}

/* Whether CALL may have a part in what is OVER at OWN. Those who meet share memory. */
static bool takes_part(const struct model *model, const struct call *call, const struct call *own,
                       const struct event *over)
{
    if (what(over) != COHORT__TRACE_STEP_MEET)
        return call->site == (uint32_t)over->b;
    return call->rank == own->rank || (level(over) > 0 && host_of(model->trace, call->rank) ==
                                                              host_of(model->trace, own->rank));
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
    for (uint32_t turns = 0; turns < MOST_TURNS; turns++) {
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

/* Where all are needed, none on the way is later than the last one. */
uint32_t way_last(const struct model *model, uint32_t number, uint64_t before)
{
    uint32_t last = model_last(model, number, before);
    const struct call *call = &model->calls[number];
    uint8_t collective = model->generations[call->generation].collective;
    if (model->trace->needs[collective] == COHORT__TRACE_NEEDS_ALL && !*call->from)
        return last;
    uint32_t by_way = follow(model, number, before);
    return model->calls[by_way].at > model->calls[last].at ? by_way : last;
}
