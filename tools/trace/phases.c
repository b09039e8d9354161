/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the phases of calls. */
#include "tools/trace/phases.h"

#include <stdio.h>

enum cohort__trace_step phases_step(const struct event *event)
{
    uint32_t step = event->small & 15;
    return step < COHORT__TRACE_STEPS ? (enum cohort__trace_step)step : COHORT__TRACE_STEP_COMPUTE;
}

uint32_t phases_phase(const struct event *event)
{
    return event->small >> 4 & (COHORT__TRACE_PHASES - 1);
}

uint32_t phases_peer(const struct event *event)
{
    return (uint32_t)event->b;
}

uint32_t phases_level(const struct event *event)
{
    return (uint32_t)(event->b >> 60);
}

bool phases_match(const struct event *left, const struct event *right)
{
    const uint64_t tag = ((UINT64_C(1) << 28) - 1) << 32;
    return left->small >> 4 == right->small >> 4 && (left->b & tag) == (right->b & tag);
}

void phase_levels_add(struct phase_levels *levels, const struct event *event)
{
    if (event->small >= COHORT__TRACE_NO_LEVEL)
        return;
    snprintf(levels->names[event->small], sizeof(levels->names[0]), "%s", event->text);
    levels->num = event->small + 1U > levels->num ? event->small + 1U : levels->num;
}

void phase_levels_name(const struct phase_levels *levels, uint32_t level, char text[48])
{
    bool is_beyond = level >= levels->num;
    text[0] = '\0';
    if (level != COHORT__TRACE_NO_LEVEL && levels->num > 0)
        snprintf(text, 48, "%s%s", is_beyond ? "beyond " : "",
                 levels->names[is_beyond ? levels->num - 1 : level]);
}

void phases_add(struct phases *phases, const struct event *event)
{
    struct phase *phase = &phases->of[phases_phase(event)];
    uint32_t level = phases_level(event);
    if (!phase->is_used)
        *phase =
            (struct phase){.begin = event->at, .is_used = true, .level = COHORT__TRACE_NO_LEVEL};
    if (level != COHORT__TRACE_NO_LEVEL &&
        (phase->level == COHORT__TRACE_NO_LEVEL || level > phase->level))
        phase->level = level;
    phase->end = event->at;
    if (event->kind == COHORT__TRACE_STEP)
        phase->num_open++;
    else if (phase->num_open > 0 && phases_step(event) != COHORT__TRACE_STEP_COMPUTE)
        phase->num_open--;
}
