/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: a trace, read into memory. */
#ifndef COHORT_TOOLS_TRACE_READ_H
#define COHORT_TOOLS_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/event.h"

struct locality {
    uint32_t rank, host;
    bool is_closed;
    uint64_t lost;
    const char *name; /* "program host" */
    /* Its clock. */
    enum cohort__trace_clock_known known;
    int64_t ahead; /* of the first locality's, in ns */
    uint64_t bound;
};

struct trace {
    struct event *events; /* by time */
    size_t num;
    struct locality *localities; /* by rank */
    uint32_t num_localities;
    uint32_t size;      /* of the job */
    uint8_t needs[256]; /* of each collective: enum cohort__trace_needs */
    void *memory;
};

/* Reads FILE, which trace_join has made. On failure it needs no fini. COHORT_ERR_SYSTEM,
 * COHORT_ERR_NO_MEMORY; COHORT_ERR_PROTOCOL: it is no such file. */
cohort_status trace_read(struct trace *trace, const char *file);
void trace_fini(struct trace *trace);

#endif
