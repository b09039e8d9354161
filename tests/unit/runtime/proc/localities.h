/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_PROC_LOCALITIES_H
#define COHORT_TESTS_UNIT_RUNTIME_PROC_LOCALITIES_H

#include "runtime/net/hub.h"
#include "tests/support/inproc.h"
#include "runtime/proc/process.h"

/* Several processes on one inproc hub, or in shared memory, turned by hand. Numbers of seeds that
 * tests run through. */
enum { LOCALITIES_MAX = 5, NUM_SEEDS = 50 };

struct localities {
    uint32_t num;
    struct cohort__inproc_hub *hub; /* NULL: in shared memory */
    struct cohort__process *processes[LOCALITIES_MAX];
    struct cohort__net *nets[LOCALITIES_MAX];
};

/* Prints SEED, so that a failed check tells it. */
void localities_open(struct localities *localities, uint64_t seed, uint32_t num,
                     size_t eager_budget);

/* In the memory of SHARED, from its slot FIRST_SLOT on. */
void localities_open_shared(struct localities *localities, const struct cohort__hub *shared,
                            uint32_t first_slot, uint32_t num);

/* Lets each of them handle what is there, once: whether anything was. */
bool localities_turn(struct localities *localities);

/* Turns until nothing is under way in the transport any more. */
void localities_settle(struct localities *localities);

/* Checks that as much was received as was sent, that nobody is busy, and nothing was dropped. */
void localities_check_quiet(struct localities *localities);

/* Stops and destroys everything. */
void localities_close(struct localities *localities);

#endif
