/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what becomes of events in a trace for Perfetto. */
#ifndef COHORT_TOOLS_TRACE_VIEW_H
#define COHORT_TOOLS_TRACE_VIEW_H

#include "cohort/status.h"
#include "tools/trace/clocks.h"
#include "tools/trace/event.h"
#include "tools/trace/part.h"
#include "tools/trace/perfetto.h"

/* What becomes of records in a trace for Perfetto: a process for each locality, with its threads
 * and what they run, the waits of its tasks, and a track for each site with its calls; and a
 * process with the communicators, each with its generations. */
struct view;

/* Of each part: the number of its host, and that of its clock; and what is known of the clocks. */
struct view_hosts {
    const uint32_t *hosts, *clocks;
    const struct known_clock *known;
};

/* Writes the localities of PARTS, by rank. PERFETTO and PARTS have to
 * outlive it. NULL: no memory. */
struct view *view_create(struct perfetto *perfetto, struct part *parts, uint32_t num_parts,
                         const struct view_hosts *hosts);
void view_destroy(struct view *view);

/* Events come by time; EVENT gets the text that it has in a trace. COHORT_ERR_NO_MEMORY. */
cohort_status view_add(struct view *view, struct event *event);

/* There are no more. COHORT_ERR_NO_MEMORY. */
cohort_status view_end(struct view *view);

#endif
