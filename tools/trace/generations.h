/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the generations of all communicators, for Perfetto. */
#ifndef COHORT_TOOLS_TRACE_GENERATIONS_H
#define COHORT_TOOLS_TRACE_GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/map.h"
#include "tools/trace/perfetto.h"

/* The generations of all communicators: when its sites have arrived, in which order, and when the
 * last one was over. A process of its own shows them, with a track for each communicator. */
struct generations {
    struct perfetto *perfetto;
    uint32_t pid;
    bool is_shown; /* the process */
    struct cohort__map groups, open;
};

void generations_init(struct generations *generations, struct perfetto *perfetto, uint32_t pid);
void generations_fini(struct generations *generations);

/* SITE of NUM_SITES of the communicator NAME has called GENERATION at AT, as CALL. False: no
 * memory. */
bool generations_call(struct generations *generations, uint64_t instance, const char *name,
                      uint32_t num_sites, uint64_t generation, uint32_t site, uint64_t at,
                      const char *call);

/* A site that has called it is through. */
void generations_ended(struct generations *generations, uint64_t instance, uint64_t generation,
                       uint64_t at);

/* Shows those that are not over when the trace ends, at AT. */
void generations_end(struct generations *generations, uint64_t at);

#endif
