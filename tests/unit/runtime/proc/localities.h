/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_PROC_LOCALITIES_H
#define COHORT_TESTS_UNIT_RUNTIME_PROC_LOCALITIES_H

#include "runtime/proc/process.h"
#include "tests/support/inproc.h"

/* Several processes on one inproc hub, or in shared memory, which the test turns by hand. NUM_SEEDS
 * is how many seeds tests run with; with a sanitizer, FEW_SEEDS. */
enum { LOCALITIES_MAX = 5, NUM_SEEDS = 50, FEW_SEEDS = 15 };

struct localities {
    uint32_t num;
    struct cohort__inproc_hub *hub; /* NULL: in shared memory */
    struct cohort__process *processes[LOCALITIES_MAX];
    struct cohort__net *nets[LOCALITIES_MAX];
};

/* Prints SEED, so that it is known when a check fails. */
void localities_open(struct localities *localities, uint64_t seed, uint32_t num,
                     size_t eager_budget);

/* In shared memory of NUM_SLOTS, beginning with FIRST_SLOT. */
void localities_open_shared(struct localities *localities, uint32_t num_slots, uint32_t first_slot,
                            uint32_t num);

/* Where memory is shared: RANK arms its poller, and whether it was woken since, awake afterwards.
 */
void localities_sleep(struct localities *localities, uint32_t rank);
bool localities_was_woken(struct localities *localities, uint32_t rank);

/* Lets each process handle what is there, once. Returns whether there was anything. */
bool localities_turn(struct localities *localities);

/* Turns until nothing is under way in the transport. */
void localities_settle(struct localities *localities);

/* Checks that all sent messages were received, that no locality is busy, and that nothing was
 * dropped. */
void localities_check_quiet(struct localities *localities);

/* Stops and destroys all processes. */
void localities_close(struct localities *localities);

#endif
