/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution.h"

#include "collectives/comm/endpoint.h"
#include "runtime/base/trace.h"
#include "runtime/task/future.h"

/* LEVEL, or that of the hosts, if it is that of the domains and each host is only one. */
static uint32_t common_name(const struct cohort__machine *machine, uint32_t level)
{
    uint32_t host = cohort__machine_find(machine, "host");
    bool is_domain = level > COHORT__LEVEL_LOCALITY && level < host;
    return is_domain && cohort__machine_num_subgroups(machine, level) ==
                            cohort__machine_num_subgroups(machine, host)
               ? host
               : level;
}

/* The finest level at which SITE and the one of the call are together; the number of levels, if
 * they are at none. */
static uint32_t step_trace_level(const struct cohort__operation *operation, uint32_t site)
{
    const struct cohort__machine *machine = operation->comm->group->machine;
    uint32_t own = operation->comm->this_site, level = 0, num = cohort__machine_num_levels(machine);
    while (level < num && cohort__machine_subgroup(machine, level, site) !=
                              cohort__machine_subgroup(machine, level, own))
        level++;
    return common_name(machine, level);
}

uint32_t cohort__step_trace_level_of_all(const struct cohort__operation *operation)
{
    const struct cohort__machine *machine = operation->comm->group->machine;
    uint32_t level = 0, num = cohort__machine_num_levels(machine);
    while (level < num && cohort__machine_num_subgroups(machine, level) > 1)
        level++;
    return common_name(machine, level);
}

void cohort__step_trace_write(const struct cohort__operation *operation,
                              enum cohort__trace_kind kind, const struct cohort__step_trace *step)
{
    cohort__trace_write((uint32_t)kind | ((uint32_t)step->what | step->phase << 4) << 8,
                        (uintptr_t)operation->comm, operation->generation,
                        step->peer | (uint64_t)step->tag << 32 | (uint64_t)step->level << 60);
}

void cohort__execution_row_done(struct cohort__execution *execution, uint32_t row)
{
    if (row >= execution->num_rows || !execution->rows[row])
        return; /* the caller has none, or there was no memory for it */
    cohort__future_fulfil(execution->rows[row], NULL);
    execution->rows[row] = NULL;
}

/* Those that take part in a meeting, or share a note. */
static uint32_t level_of_all(const struct cohort__execution *execution,
                             const struct cohort__step *step)
{
    const struct cohort__plan *plan = execution->plan;
    bool is_meeting = step->kind == COHORT__STEP_MEET;
    const struct cohort__sharers *sharers = &plan->notes[is_meeting ? 0 : step->tag];
    uint32_t level = 0, num = is_meeting ? plan->num_members : sharers->num;
    for (uint32_t i = 0; i < num; i++) {
        uint32_t site =
            is_meeting ? cohort__plan_member(plan, i) : plan->sharers[sharers->first + i];
        uint32_t common = step_trace_level(&execution->operation, site);
        level = common > level ? common : level;
    }
    return level;
}

/* Of computing, only what was handed to other threads is worth a record. */
__attribute__((noinline, cold)) void
cohort__execution_trace(const struct cohort__execution *execution, uint32_t number,
                        enum cohort__trace_kind kind)
{
    const struct cohort__step *step = &execution->plan->steps[number];
    const struct cohort__operation *operation = &execution->operation;
    struct cohort__step_trace trace = {.phase = step->phase,
                                       .peer = step->peer,
                                       .tag = step->tag,
                                       .level = COHORT__TRACE_NO_LEVEL};
    if (!cohort__trace_has_file())
        return; /* nobody counts steps */
    switch ((enum cohort__step_kind)step->kind) {
    case COHORT__STEP_JOIN:
    case COHORT__STEP_DONE:
        return;
    case COHORT__STEP_SEND:
    case COHORT__STEP_RECV:
    case COHORT__STEP_READ:
        trace.what = step->kind == COHORT__STEP_SEND   ? COHORT__TRACE_STEP_SEND
                     : step->kind == COHORT__STEP_RECV ? COHORT__TRACE_STEP_RECEIVE
                                                       : COHORT__TRACE_STEP_READ;
        trace.level = step_trace_level(operation, step->peer);
        break;
    case COHORT__STEP_MEET:
    case COHORT__STEP_POST:
        trace.what =
            step->kind == COHORT__STEP_MEET ? COHORT__TRACE_STEP_MEET : COHORT__TRACE_STEP_POST;
        trace.level = level_of_all(execution, step);
        break;
    case COHORT__STEP_GUARD:
        trace.what = COHORT__TRACE_STEP_AGREE;
        break;
    case COHORT__STEP_COPY:
    case COHORT__STEP_ZERO:
    case COHORT__STEP_REDUCE:
    case COHORT__STEP_ROUTE:
        if (kind == COHORT__TRACE_STEP || execution->states[number] != COHORT__STEP_BUSY)
            return;
        trace.what = COHORT__TRACE_STEP_COMPUTE;
        break;
    }
    cohort__step_trace_write(operation, kind, &trace);
}
