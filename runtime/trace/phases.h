/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_PHASES_H
#define COHORT_RUNTIME_TRACE_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/trace/event.h"
#include "runtime/trace/lanes.h"
#include "runtime/trace/perfetto.h"

/* The phases of calls: each goes from the first of its steps to the end of the last one. */

/* How the levels of an endpoint's machine are called, the finest first. */
struct cohort__phase_levels {
    uint32_t num;
    char names[COHORT__TRACE_NO_LEVEL][32];
};

/* Those of one call. */
struct cohort__phases {
    struct cohort__phase {
        uint64_t begin, end;
        uint32_t num_open; /* steps that are not over */
        uint32_t level;    /* the coarsest one of its steps */
        bool is_used;
    } of[COHORT__TRACE_PHASES];
};

/* The parts of a STEP or OVER. */
enum cohort__trace_step cohort__phases_step(const struct cohort__trace_event *event);
uint32_t cohort__phases_phase(const struct cohort__trace_event *event);
uint32_t cohort__phases_peer(const struct cohort__trace_event *event);
uint32_t cohort__phases_level(const struct cohort__trace_event *event);

void cohort__phase_levels_add(struct cohort__phase_levels *levels,
                              const struct cohort__trace_event *event);

/* How LEVEL is called: "host"; "beyond host", if it is no level any more; "" for NO_LEVEL. */
void cohort__phase_levels_name(const struct cohort__phase_levels *levels, uint32_t level,
                               char text[48]);

/* Takes a STEP or OVER. */
void cohort__phases_add(struct cohort__phases *phases, const struct cohort__trace_event *event);

/* Shows them on LANES. The call has ended at AT. */
void cohort__phases_show(const struct cohort__phases *phases,
                         const struct cohort__phase_levels *levels, struct cohort__lanes *lanes,
                         struct cohort__perfetto *perfetto, uint64_t at);

#endif
