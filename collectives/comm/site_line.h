/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_SITE_LINE_H
#define COHORT_COLLECTIVES_COMM_SITE_LINE_H

#include "collectives/comm/endpoint.h"
#include "runtime/base/ledger.h"
#include "runtime/task/wait.h"

/* What an endpoint writes into the ledger, for whoever looks for the site that has not called. */

/* By the caller, whose call of GENERATION has passed the gate. */
static inline void cohort__site_line_call(const struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__site_line *line = comm->line;
    atomic_store_explicit(&line->last_called, generation, memory_order_relaxed);
    atomic_store_explicit(&line->task, cohort__wait_line_stamped_self(), memory_order_relaxed);
    cohort__ledger_note(COHORT__EVENT_CALL,
                        atomic_load_explicit(&line->number, memory_order_relaxed), generation);
}

/* In the endpoint's turn: that call has ended. The endpoint may have left, and has no line then. */
static inline void cohort__site_line_end(const struct cohort_comm *comm, uint64_t generation)
{
    const struct cohort__site_line *line = comm->line;
    if (line)
        cohort__ledger_note(COHORT__EVENT_END,
                            atomic_load_explicit(&line->number, memory_order_relaxed), generation);
}

#endif
