/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the events of all parts, by time. */
#ifndef COHORT_TOOLS_TRACE_MERGE_H
#define COHORT_TOOLS_TRACE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/part.h"

/* The events of all threads of all parts, by time. Those of a thread stay in their order. */
struct source {
    struct stream stream;
    struct event event; /* the next one */
};

struct merge {
    struct source **heap; /* the earliest one is first */
    size_t num;
    struct source *handed_out; /* its event is the caller's until the next one */
};

/* PARTS have to outlive it. On failure it needs no fini. COHORT_ERR_NO_MEMORY. */
cohort_status merge_init(struct merge *merge, const struct part *parts, uint32_t num_parts);
void merge_fini(struct merge *merge);

/* False: there is none any more. */
bool merge_next(struct merge *merge, struct event *ret_event);

#endif
