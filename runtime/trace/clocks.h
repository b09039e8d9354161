/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_CLOCKS_H
#define COHORT_RUNTIME_TRACE_CLOCKS_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/trace/part.h"

/* Clocks of different hosts have nothing in common. Makes the PARTS, of which each is of one of
 * NUM_HOSTS HOSTS, have the time of the first part's host. Nothing but the messages between two
 * hosts is needed: none is received before it was sent, and the fastest ones of both directions
 * take about as long. A host that has exchanged no messages goes by its time of day.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__trace_clocks_align(struct cohort__trace_part *parts, uint32_t num_parts,
                                         const uint32_t *hosts, uint32_t num_hosts);

#endif
