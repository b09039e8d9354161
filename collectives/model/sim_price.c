/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_price.h"

enum cohort__scope cohort__sim_scope(const struct cohort__sim_machine *machine, uint32_t from,
                                     uint32_t to)
{
    uint32_t per_host = machine->localities * machine->tasks;
    if (from / per_host != to / per_host)
        return COHORT__SCOPE_HOSTS;
    return from / machine->tasks != to / machine->tasks ? COHORT__SCOPE_LOCALITIES
                                                        : COHORT__SCOPE_TASKS;
}

/* Hosts that share cores are namespaces of one machine: no wire is between them, and what their
 * messages wait for is work of these cores. */
static bool has_wire(const struct cohort__sim_machine *machine, enum cohort__scope scope)
{
    return scope != COHORT__SCOPE_HOSTS || !machine->is_shared;
}

double cohort__sim_startup(const struct cohort__sim_machine *machine, enum cohort__scope scope)
{
    return has_wire(machine, scope) ? machine->parameters->terms[scope][COHORT__TERM_STARTUP] : 0;
}

double cohort__sim_per_byte(const struct cohort__sim_machine *machine, enum cohort__scope scope)
{
    return has_wire(machine, scope) ? machine->parameters->terms[scope][COHORT__TERM_BYTE] : 0;
}

/* The work of one end of a message. */
static double half(const struct cohort__sim_machine *machine, const struct cohort__sim_step *step)
{
    enum cohort__scope scope = cohort__sim_scope(machine, step->site, step->peer);
    const double *terms = machine->parameters->terms[scope];
    double message = terms[COHORT__TERM_MESSAGE], moved = terms[COHORT__TERM_MOVED];
    if (!has_wire(machine, scope)) {
        message += terms[COHORT__TERM_STARTUP];
        moved += terms[COHORT__TERM_BYTE];
    }
    return (message + moved * (double)step->bytes) / 2;
}

double cohort__sim_work(const struct cohort__sim_machine *machine,
                        const struct cohort__sim_step *step)
{
    const double *terms = machine->parameters->terms[COHORT__SCOPE_TASKS];
    double bytes = (double)step->bytes;
    switch (step->kind) {
    case COHORT__STEP_SEND:
    case COHORT__STEP_RECV:
        return half(machine, step);
    case COHORT__STEP_REDUCE:
        return (terms[COHORT__TERM_COMBINED] + terms[COHORT__TERM_REDUCED]) * bytes;
    case COHORT__STEP_MEET:
        return terms[COHORT__TERM_MESSAGE];
    default:
        return 0;
    }
}

double cohort__sim_movement(const struct cohort__sim_machine *machine,
                            const struct cohort__sim_step *step)
{
    static const enum cohort__collective collectives[] = {
        [COHORT__MEETING_GATHER] = COHORT__GATHER,
        [COHORT__MEETING_SCATTER] = COHORT__SCATTER,
        [COHORT__MEETING_BROADCAST] = COHORT__BROADCAST,
        [COHORT__MEETING_REDUCE] = COHORT__REDUCE,
        [COHORT__MEETING_ALL_GATHER] = COHORT__ALL_GATHER,
        [COHORT__MEETING_ALL_REDUCE] = COHORT__ALL_REDUCE,
        [COHORT__MEETING_ALL_TO_ALL] = COHORT__ALL_TO_ALL,
        [COHORT__MEETING_REDUCE_SCATTER] = COHORT__REDUCE_SCATTER,
        [COHORT__MEETING_SCAN] = COHORT__SCAN,
        [COHORT__MEETING_EXCLUSIVE_SCAN] = COHORT__EXCLUSIVE_SCAN,
        [COHORT__MEETING_SHIFT] = COHORT__SHIFT,
    };
    const double *terms = machine->parameters->terms[COHORT__SCOPE_TASKS];
    const struct cohort__request request = {
        .collective = collectives[step->meeting],
        .num_sites = machine->tasks,
        .root = step->peer,
        .arity = 2,
        .bytes = step->bytes,
        .commutative = true,
        .can_meet = true,
    };
    struct cohort__cost cost = cohort__algorithm_find(request.collective, "shared")->cost(&request);
    return terms[COHORT__TERM_STARTUP] * cost.startups + terms[COHORT__TERM_BYTE] * cost.bytes +
           terms[COHORT__TERM_REDUCED] * cost.reduced + terms[COHORT__TERM_MOVED] * cost.moved +
           terms[COHORT__TERM_COMBINED] * cost.combined;
}
