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
