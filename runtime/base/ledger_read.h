/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LEDGER_READ_H
#define COHORT_RUNTIME_BASE_LEDGER_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cohort/status.h"
#include "runtime/base/ledger_format.h"

/* Reads the ledger of a process, which may run, be stopped, or be dead. Nothing that is there is
 * trusted: a process that goes wrong may have written anything. It is read like a file, not mapped,
 * so nothing that others do to the memory can harm the reader. One thread at a time. */
struct cohort__ledger_view {
    int memory; /* the caller's */
    uint64_t region;
    struct cohort__ledger_head head; /* as it was at init */
    uint32_t num_chunks;             /* of those in head.chunks, which make sense */
    bool is_damaged;                 /* others did not */
};

/* Of region SLOT of MEMORY, which has to stay open while the view is used. COHORT_ERR_PROTOCOL,
 * with what is wrong: there is no ledger (yet), or it is one of another version of the library;
 * COHORT_ERR_SYSTEM. */
cohort_status cohort__ledger_view_init(struct cohort__ledger_view *view, int memory, uint32_t slot);

/* Calls VISIT for a copy of each line of KIND that is in use, all fields of which belong together.
 * COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM; VISIT may have been called before. */
cohort_status cohort__ledger_each(const struct cohort__ledger_view *view,
                                  enum cohort__ledger_kind kind,
                                  void (*visit)(void *context, const void *line), void *context);

/* CYCLES of the process as nanoseconds of CLOCK_MONOTONIC of its host. NOW_CYCLES and NOW_MONO are
 * a moment of both clocks on that host; 0: the last one that the head knows. */
uint64_t cohort__ledger_nanoseconds(const struct cohort__ledger_view *view, uint64_t now_cycles,
                                    uint64_t now_mono, uint64_t cycles);

/* Opens the memory of the ledger that process PID of this host and user writes, or has written.
 * COHORT_ERR_STATE: it has none, so it is no program of this library, or is before its begin or
 * after its end; COHORT_ERR_SYSTEM: the process does not exist, or is another user's. */
cohort_status cohort__ledger_find(pid_t pid, int *ret_memory, uint32_t *ret_slot);

#endif
