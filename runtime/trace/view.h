/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_VIEW_H
#define COHORT_RUNTIME_TRACE_VIEW_H

#include "cohort/status.h"
#include "runtime/trace/clocks.h"
#include "runtime/trace/event.h"
#include "runtime/trace/part.h"
#include "runtime/trace/perfetto.h"

/* What becomes of records in a trace for Perfetto: a process for each locality, with its threads
 * and what they run, the waits of its tasks, and a track for each site with its calls; and a
 * process with the communicators, each with its generations. */
struct cohort__trace_view;

/* Of each part: the number of its host, and that of its clock; and what is known of the clocks. */
struct cohort__trace_hosts {
    const uint32_t *hosts, *clocks;
    const struct cohort__trace_clock *known;
};

/* Writes the localities of PARTS, by rank. PERFETTO and PARTS have to
 * outlive it. NULL: no memory. */
struct cohort__trace_view *cohort__trace_view_create(struct cohort__perfetto *perfetto,
                                                     struct cohort__trace_part *parts,
                                                     uint32_t num_parts,
                                                     const struct cohort__trace_hosts *hosts);
void cohort__trace_view_destroy(struct cohort__trace_view *view);

/* Events come by time. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__trace_view_add(struct cohort__trace_view *view,
                                     const struct cohort__trace_event *event);

/* There are no more. */
void cohort__trace_view_end(struct cohort__trace_view *view);

#endif
