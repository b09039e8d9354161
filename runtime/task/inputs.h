/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_INPUTS_H
#define COHORT_RUNTIME_TASK_INPUTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/ledger_format.h"
#include "runtime/task/future.h"
#include "runtime/task/worker.h"

/* What waits for futures without a stack: a combinator, a task that begins when others are complete
 * (cohort_then, cohort_dataflow), and the end of a scope or a range. As long as it is pending, it
 * is in a place of the worker that has made it. A tick of the locality goes through the places, and
 * writes into the ledger what it finds for the second time. So what ends in time pays for a place,
 * which takes no lock, and for nothing else.
 *
 * A worker has 64 places, and so have all other threads together. Who finds none is not noted. */
enum { COHORT__INPUTS_PLACES = 64 };

struct cohort__inputs;

/* Calls cohort__inputs_tell for the object that INPUTS is in, any number of times, with SINCE in
 * each line. By the thread of the tick, while the object is kept from its end: so this uses only
 * what does not change until then, is atomic, or is its own. */
typedef void cohort__inputs_describe(struct cohort__inputs *inputs, uint64_t since);

/* Embedded in the object. */
struct cohort__inputs {
    cohort__inputs_describe *describe;
    _Atomic uintptr_t *place; /* NULL: it is not noted */
    uint64_t since;           /* cycles: when a tick has first found it; 0: none has yet */
};

/* The places of a worker, which is the only one that takes them; any thread gives one back. It
 * stays when the worker has gone: what is in it may end later. */
struct cohort__inputs_table {
    unsigned next;                                   /* the place to be tried first */
    unsigned num_spared;                             /* searches, since all places were taken */
    _Atomic uintptr_t places[COHORT__INPUTS_PLACES]; /* the inputs; 0: free; plus 1: the tick uses
                                                      * them */
};

/* The table of the worker INDEX. NULL: no memory. One thread at a time. */
struct cohort__inputs_table *cohort__inputs_table(unsigned index);

/* In inputs.c, for those below. search: NULL: there is none. */
_Atomic uintptr_t *cohort__inputs_search(struct cohort__inputs_table *table);
void cohort__inputs_begin_outside(struct cohort__inputs *inputs);
void cohort__inputs_end_after_tick(struct cohort__inputs *inputs);

/* INPUTS is not noted, and needs no end. */
static inline void cohort__inputs_init(struct cohort__inputs *inputs)
{
    inputs->place = NULL;
}

/* From now on the object of INPUTS is pending. */
static inline void cohort__inputs_begin(struct cohort__inputs *inputs,
                                        cohort__inputs_describe *describe)
{
    const struct cohort__worker *worker = cohort__worker_self;
    struct cohort__inputs_table *table = worker ? worker->inputs : NULL;
    inputs->describe = describe;
    inputs->since = 0;
    if (__builtin_expect(!table, 0)) {
        cohort__inputs_begin_outside(inputs);
        return;
    }
    _Atomic uintptr_t *place = &table->places[table->next % COHORT__INPUTS_PLACES];
    if (__builtin_expect(atomic_load_explicit(place, memory_order_acquire) != 0, 0))
        place = cohort__inputs_search(table);
    inputs->place = place;
    if (!place)
        return;
    table->next++;
    atomic_store_explicit(place, (uintptr_t)inputs, memory_order_release);
}

/* The object is complete, and may go when this has returned. Any thread. */
static inline void cohort__inputs_end(struct cohort__inputs *inputs)
{
    uintptr_t expected = (uintptr_t)inputs;
    if (inputs->place &&
        !atomic_compare_exchange_strong_explicit(inputs->place, &expected, 0, memory_order_acq_rel,
                                                 memory_order_relaxed))
        cohort__inputs_end_after_tick(inputs);
}

/* --- for the tick --- */

/* Adds WHAT (struct cohort__wait_line) to LINE. False: there is no room. */
bool cohort__inputs_add(struct cohort__inputs_line *line, uintptr_t what);

/* A line is for those who look on, and not worth more than so many looks: of COUNT inputs, of which
 * DONE in front are known to be complete, up to which one the tick looks. */
static inline size_t cohort__inputs_look_end(size_t count, size_t done)
{
    enum { MOST_LOOKS = 1 << 16 };
    return count - done < MOST_LOOKS ? count : done + MOST_LOOKS;
}

/* Adds those of COUNT futures that are pending, as long as there is room. They are in an array of
 * members of BYTES each: FIRST is in the first one. *DONE of them in front are known to be
 * complete; so those of a million are not looked at again and again. */
void cohort__inputs_add_pending(struct cohort__inputs_line *line, cohort_future *const *first,
                                size_t bytes, size_t count, size_t *done);

/* What LINE is of: FUTURE, and if that is a task, its function and its scope. */
void cohort__inputs_set_of(struct cohort__inputs_line *line, const cohort_future *future);

/* LINE belongs into the ledger. */
void cohort__inputs_tell(const struct cohort__inputs_line *line);

/* To be called now and then, by one thread at a time. */
void cohort__inputs_tick(void);

/* There are no more ticks: gives the lines back. */
void cohort__inputs_close(void);

#endif
