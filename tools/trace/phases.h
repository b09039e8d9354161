/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the phases of calls. */
#ifndef COHORT_TOOLS_TRACE_PHASES_H
#define COHORT_TOOLS_TRACE_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/trace/event.h"

/* The phases of calls: each goes from the first of its steps to the end of the last one. */

/* How the levels of an endpoint's machine are called, the finest first. */
struct phase_levels {
    uint32_t num;
    char names[COHORT__TRACE_NO_LEVEL][32];
};

/* Those of one call. */
struct phases {
    struct phase {
        uint64_t begin, end;
        uint32_t num_open; /* steps that are not over */
        uint32_t level;    /* the coarsest one of its steps */
        bool is_used;
    } of[COHORT__TRACE_PHASES];
};

/* The parts of a STEP or OVER. */
enum cohort__trace_step phases_step(const struct event *event);
uint32_t phases_phase(const struct event *event);
uint32_t phases_peer(const struct event *event);
uint32_t phases_level(const struct event *event);

/* Whether two have one phase and one tag, which tell a step apart from others of its kind. */
bool phases_match(const struct event *left, const struct event *right);

void phase_levels_add(struct phase_levels *levels, const struct event *event);

/* How LEVEL is called: "host"; "beyond host", if it is no level any more; "" for NO_LEVEL. */
void phase_levels_name(const struct phase_levels *levels, uint32_t level, char text[48]);

/* Takes a STEP or OVER. */
void phases_add(struct phases *phases, const struct event *event);

#endif
