/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LEDGER_H
#define COHORT_RUNTIME_BASE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/ledger_format.h"

/* The ledger: what this process waits for, in memory that others can read while the process itself
 * is stopped, computes, or is a core file. The process only writes it. Each process has one, which
 * begins with the first line that is taken, in memory of its own, unless one that somebody else has
 * made was adopted before. A child that is forked does not write into its parent's.
 *
 * Whoever takes a line writes its fields, and the first word last; all by relaxed atomics, since
 * another process may read at any time. Where there is no memory for more lines of the ledger, a
 * line is private memory that nobody reads: the head says that it is cut. */

/* --- for who starts localities --- */

/* Memory for NUM_SLOTS localities, closed on exec. COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM,
 * COHORT_ERR_BAD_PARAMETER. */
cohort_status cohort__ledger_create(int *ret_memory, uint32_t num_slots);
enum { COHORT__LEDGER_MAX_SLOTS = 4096 };

/* In the environment of a locality: "DESCRIPTOR SLOT". */
#define COHORT__LEDGER_VARIABLE "COHORT_LEDGER"

/* --- for the process itself --- */

/* From now on the ledger is region SLOT of MEMORY, which ledger_create has made in some process.
 * What was there before is cleared. MEMORY belongs to the ledger from now on, also on failure.
 * COHORT_ERR_PROTOCOL: it is none, or too small; COHORT_ERR_STATE: there is a ledger already;
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__ledger_adopt(int memory, uint32_t slot);

/* The same with what COHORT__LEDGER_VARIABLE describes, and COHORT_OK where it is not set. The
 * variable is removed from the environment. No other thread may use the environment meanwhile. */
cohort_status cohort__ledger_inherit(void);

/* Who this is, which the head says. Begins the ledger if there is none. */
void cohort__ledger_introduce(uint32_t rank, uint32_t size, uint64_t key, uint32_t epoch);

/* The program has come so far. STATUS is what it has returned. */
void cohort__ledger_enter_stage(enum cohort__ledger_stage stage, cohort_status status);

/* Whether this is one of several localities, and which one. Any thread, and a signal handler. */
bool cohort__ledger_rank(uint32_t *ret_rank);

/* TEXT is why the program fails, or dies: the last words count. After introduce; does nothing where
 * there is no memory for it. Any thread, and a signal handler. */
void cohort__ledger_say(const char *text);

/* To be called now and then. MOVED: any number that changes when something has moved. TASKS: how
 * many there are that have not ended. ACTS_OUTSIDE: see the head. Also looks for modules that were
 * loaded meanwhile. One thread at a time. */
void cohort__ledger_tick(uint64_t moved, uint64_t tasks, bool acts_outside);

/* A line of KIND, all zero, aligned to 64. NULL: not even private memory. Any thread. */
void *cohort__ledger_take(enum cohort__ledger_kind kind);

/* Gives it back. Any thread; NULL is fine. */
void cohort__ledger_give_back(enum cohort__ledger_kind kind, void *line);

/* Ends the ledger: what was adopted stays as it is for those who hold it. If there are lines that
 * were not given back, it stays until the process ends. */
void cohort__ledger_close(void);

/* --- events --- */

/* The line of the calling thread, if it is a worker or the progress thread. For initial-exec see
 * error.c. */
extern _Thread_local struct cohort__worker_line *cohort__ledger_thread
    __attribute__((tls_model("initial-exec")));

/* There is one event more. Only the thread that has LINE counts, so nothing is locked. Of a relaxed
 * load and store compilers make three instructions. */
static inline void cohort__ledger_count_event(struct cohort__worker_line *line)
{
    enum { BYTES = sizeof(struct cohort__ledger_event) };
#ifdef __x86_64__
    __asm__("addq %1, %0" : "+m"(line->event_bytes) : "i"(BYTES));
#else
    uint64_t bytes = atomic_load_explicit(&line->event_bytes, memory_order_relaxed);
    atomic_store_explicit(&line->event_bytes, bytes + BYTES, memory_order_relaxed);
#endif
}

/* Notes an event of KIND. NUMBER, below 2^20: see struct cohort__ledger_event. It costs 12
 * instructions on x86-64, and 4 in other threads. */
static inline void cohort__ledger_note(enum cohort__event_kind kind, uint32_t number,
                                       uint64_t generation)
{
    struct cohort__worker_line *line = cohort__ledger_thread;
    if (!line)
        return;
    uint16_t place = atomic_load_explicit(&line->event_place, memory_order_relaxed);
    struct cohort__ledger_event *event = (void *)((char *)line->events + place);
    uint64_t at = atomic_load_explicit(&line->seen_at, memory_order_relaxed);
    /* The parts have no bit in common, and sums are computed at once with an address. */
    uint64_t what = (generation << COHORT__EVENT_GENERATION_SHIFT) + number +
                    ((uint64_t)kind << COHORT__EVENT_KIND_SHIFT);
    atomic_store_explicit(&event->at, at, memory_order_relaxed);
    atomic_store_explicit(&event->what, what, memory_order_relaxed);
    cohort__ledger_count_event(line);
}

/* The bytes of a line of KIND; 0: there is no such kind. */
uint32_t cohort__ledger_stride(uint32_t kind);

#endif
