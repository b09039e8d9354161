/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the generations of all communicators, for Perfetto. */
#ifndef COHORT_TOOLS_TRACE_GENERATIONS_H
#define COHORT_TOOLS_TRACE_GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/map.h"
#include "tools/trace/perfetto.h"
#include "tools/trace/replay.h"

/* A process of its own shows them, with a track for each communicator: when the sites have arrived,
 * in which order, and when the last one was over. */
struct generations {
    struct perfetto *perfetto;
    uint32_t pid;
    bool is_shown; /* the process */
    struct cohort__map groups;
};

void generations_init(struct generations *generations, struct perfetto *perfetto, uint32_t pid);
void generations_fini(struct generations *generations);

/* Shows one that has ended at AT, if it was called. False: no memory. */
bool generations_show(struct generations *generations, const struct open_generation *open,
                      uint64_t at);

#endif
