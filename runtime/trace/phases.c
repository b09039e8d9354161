/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trace/phases.h"

#include <stdio.h>

enum cohort__trace_step cohort__phases_step(const struct cohort__trace_event *event)
{
    uint32_t step = event->small & 15;
    return step < COHORT__TRACE_STEPS ? (enum cohort__trace_step)step : COHORT__TRACE_STEP_COMPUTE;
}

uint32_t cohort__phases_phase(const struct cohort__trace_event *event)
{
    return event->small >> 4 & (COHORT__TRACE_PHASES - 1);
}

uint32_t cohort__phases_peer(const struct cohort__trace_event *event)
{
    return (uint32_t)event->b;
}

uint32_t cohort__phases_level(const struct cohort__trace_event *event)
{
    return (uint32_t)(event->b >> 60);
}

void cohort__phase_levels_add(struct cohort__phase_levels *levels,
                              const struct cohort__trace_event *event)
{
    if (event->small >= COHORT__TRACE_NO_LEVEL)
        return;
    snprintf(levels->names[event->small], sizeof(levels->names[0]), "%s", event->text);
    levels->num = event->small + 1U > levels->num ? event->small + 1U : levels->num;
}

void cohort__phase_levels_name(const struct cohort__phase_levels *levels, uint32_t level,
                               char text[48])
{
    bool is_beyond = level >= levels->num;
    text[0] = '\0';
    if (level != COHORT__TRACE_NO_LEVEL && levels->num > 0)
        snprintf(text, 48, "%s%s", is_beyond ? "beyond " : "",
                 levels->names[is_beyond ? levels->num - 1 : level]);
}

void cohort__phases_add(struct cohort__phases *phases, const struct cohort__trace_event *event)
{
    struct cohort__phase *phase = &phases->of[cohort__phases_phase(event)];
    uint32_t level = cohort__phases_level(event);
    if (!phase->is_used)
        *phase = (struct cohort__phase){
            .begin = event->at, .is_used = true, .level = COHORT__TRACE_NO_LEVEL};
    if (level != COHORT__TRACE_NO_LEVEL &&
        (phase->level == COHORT__TRACE_NO_LEVEL || level > phase->level))
        phase->level = level;
    phase->end = event->at;
    if (event->kind == COHORT__TRACE_STEP)
        phase->num_open++;
    else if (phase->num_open > 0 && cohort__phases_step(event) != COHORT__TRACE_STEP_COMPUTE)
        phase->num_open--;
}

static void name_phase(uint32_t number, const struct cohort__phase *phase,
                       const struct cohort__phase_levels *levels, char text[80])
{
    char level[48];
    cohort__phase_levels_name(levels, phase->level, level);
    if (number == 0)
        snprintf(text, 80, "agreement%s%s", *level ? ": " : "", level);
    else
        snprintf(text, 80, "phase %u%s%s", (unsigned)number, *level ? ": " : "", level);
}

/* One with a step that is not over lasts as long as the call. */
void cohort__phases_show(const struct cohort__phases *phases,
                         const struct cohort__phase_levels *levels, struct cohort__lanes *lanes,
                         struct cohort__perfetto *perfetto, uint64_t at)
{
    for (uint32_t i = 0; i < COHORT__TRACE_PHASES; i++) {
        const struct cohort__phase *phase = &phases->of[i];
        char name[80];
        if (!phase->is_used)
            continue;
        uint64_t end = phase->num_open > 0 && at > phase->end ? at : phase->end;
        uint64_t track = cohort__lanes_free_at(lanes, perfetto, phase->begin, end);
        if (track == 0)
            continue;
        name_phase(i, phase, levels, name);
        cohort__perfetto_event(
            perfetto,
            &(struct cohort__perfetto_event){
                .track = track, .at = phase->begin, .type = COHORT__PERFETTO_BEGIN, .name = name});
        cohort__perfetto_event(perfetto,
                               &(struct cohort__perfetto_event){
                                   .track = track, .at = end, .type = COHORT__PERFETTO_END});
    }
}
