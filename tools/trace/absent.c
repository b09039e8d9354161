/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the site that a call waited for in vain. */
#include "tools/trace/absent.h"

/* Of a way over sites that have called, each of which waits for the next one. */
enum { MOST_TURNS = 1 << 16 };

static const struct generation *generation_of(const struct model *model, uint32_t call)
{
    return &model->generations[model->calls[call].generation];
}

/* Takes SITE, if it had not called by AT and is more to blame than what is found already. */
static bool take(const struct model *model, const struct generation *generation, uint32_t site,
                 uint64_t at, bool is_found, struct absent *absent)
{
    uint32_t call = generation->of_site[site];
    if (call != NONE && model->calls[call].at <= at)
        return false;
    bool is_first_never = call == NONE && (!is_found || absent->call != NONE);
    bool is_later =
        call != NONE && (!is_found || (absent->call != NONE &&
                                       model->calls[call].at > model->calls[absent->call].at));
    if (is_first_never || is_later)
        *absent = (struct absent){site, call};
    return true;
}

static bool find_needed(const struct model *model, uint32_t number, uint64_t at,
                        struct absent *ret_absent)
{
    const struct generation *generation = generation_of(model, number);
    bool is_found = false;
    for (uint32_t site = 0; site < generation->num_sites; site++)
        if (model_depends(model, number, site))
            is_found |= take(model, generation, site, at, is_found, ret_absent);
    return is_found;
}

/* Whether the step at I of CALL was not over at AT. */
static bool is_open(const struct model *model, const struct call *call, uint32_t i, uint64_t at)
{
    const struct event *step = &model->trace->events[call->steps[i]];
    if (step->kind != COHORT__TRACE_STEP || step->at > at)
        return false;
    while (++i < call->num_steps) {
        const struct event *other = &model->trace->events[call->steps[i]];
        if (other->at > at)
            break;
        if (other->kind == COHORT__TRACE_OVER && other->small == step->small && other->b == step->b)
            return false;
    }
    return true;
}

/* The other site of a step that NUMBER's call was at when it waited for one. NONE: it is not known,
 * as of a meeting. */
static uint32_t find_peer(const struct model *model, uint32_t number, uint64_t at)
{
    const struct call *call = &model->calls[number];
    for (uint32_t i = 0; i < call->num_steps; i++) {
        const struct event *step = &model->trace->events[call->steps[i]];
        const enum cohort__trace_step what = phases_step(step);
        if ((what == COHORT__TRACE_STEP_RECEIVE || what == COHORT__TRACE_STEP_READ ||
             what == COHORT__TRACE_STEP_SEND) &&
            is_open(model, call, i, at))
            return phases_peer(step);
    }
    return NONE;
}

/* A relay in a tree, for instance, which waits itself for one that has not called. */
static bool find_by_steps(const struct model *model, uint32_t number, uint64_t at,
                          struct absent *ret_absent)
{
    const struct generation *generation = generation_of(model, number);
    for (uint32_t turns = 0; turns < MOST_TURNS; turns++) {
        uint32_t site = find_peer(model, number, at);
        if (site >= generation->num_sites)
            return false;
        if (take(model, generation, site, at, false, ret_absent))
            return true;
        number = generation->of_site[site];
    }
    return false;
}

bool absent_find(const struct model *model, uint32_t number, uint64_t at, struct absent *ret_absent)
{
    return find_needed(model, number, at, ret_absent) ||
           find_by_steps(model, number, at, ret_absent);
}

/* Whether CALL sends SITE what RECEIVE, a step of that one's call, waits for. */
static bool sends(const struct model *model, const struct call *call, uint32_t site,
                  const struct event *receive)
{
    for (uint32_t i = 0; i < call->num_steps; i++) {
        const struct event *step = &model->trace->events[call->steps[i]];
        if (phases_step(step) == COHORT__TRACE_STEP_SEND && phases_peer(step) == site &&
            phases_match(step, receive))
            return true;
    }
    return false;
}

/* All sends of an exchange begin with its call. */
uint32_t absent_sender(const struct model *model, uint32_t number, uint64_t at)
{
    const struct generation *generation = generation_of(model, number);
    const struct call *call = &model->calls[number];
    for (uint32_t i = 0; *call->from && i < call->num_steps; i++) {
        const struct event *step = &model->trace->events[call->steps[i]];
        const uint32_t site = phases_peer(step);
        if (phases_step(step) != COHORT__TRACE_STEP_RECEIVE || !is_open(model, call, i, at) ||
            site >= generation->num_sites)
            continue;
        const uint32_t sender = generation->of_site[site];
        if (sender != NONE && model->calls[sender].at <= at &&
            !sends(model, &model->calls[sender], call->site, step))
            return sender;
    }
    return NONE;
}

uint32_t absent_next(const struct model *model, uint32_t number, uint32_t site)
{
    const struct generation *generation = generation_of(model, number);
    for (; site < generation->num_sites; site++)
        if (generation->of_site[site] == NONE && model_depends(model, number, site))
            return site;
    return NONE;
}
