/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_MERGE_H
#define COHORT_RUNTIME_TRACE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/trace/part.h"

/* The events of all threads of all parts, by time. Those of a thread stay in their order. */
struct cohort__trace_source {
    struct cohort__trace_stream stream;
    struct cohort__trace_event event; /* the next one */
};

struct cohort__trace_merge {
    struct cohort__trace_source **heap; /* the earliest one is first */
    size_t num;
    struct cohort__trace_source *handed_out; /* its event is the caller's until the next one */
};

/* PARTS have to outlive it. On failure it needs no fini. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__trace_merge_init(struct cohort__trace_merge *merge,
                                       const struct cohort__trace_part *parts, uint32_t num_parts);
void cohort__trace_merge_fini(struct cohort__trace_merge *merge);

/* False: there is none any more. */
bool cohort__trace_merge_next(struct cohort__trace_merge *merge,
                              struct cohort__trace_event *ret_event);

#endif
