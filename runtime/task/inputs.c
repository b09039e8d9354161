/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/bounds.h"
#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
#include "runtime/task/fork.h"
#include "runtime/task/task.h"

/* Of many inputs a tick looks at a part. */
enum { PLACES = COHORT__INPUTS_PLACES, MOST_LINES = 1024 };

static struct cohort__inputs_table *_Atomic tables[COHORT__MAX_WORKERS];
static atomic_uint num_tables;            /* those behind are NULL */
static _Atomic uintptr_t outside[PLACES]; /* the places of other threads */

/* The lines of the ledger, for the tick. */
static struct {
    struct cohort__inputs_line *lines[MOST_LINES];
    unsigned num_taken, num_used;
    uint64_t seen_at; /* of the tick */
} told;

/* --- places --- */

struct cohort__inputs_table *cohort__inputs_table(unsigned index)
{
    struct cohort__inputs_table *table = atomic_load_explicit(&tables[index], memory_order_acquire);
    if (table)
        return table;
    table = calloc(1, sizeof(*table));
    atomic_store_explicit(&tables[index], table, memory_order_release);
    if (atomic_load_explicit(&num_tables, memory_order_relaxed) <= index)
        atomic_store_explicit(&num_tables, index + 1, memory_order_release);
    return table;
}

/* Where all are taken, as many calls are spared a search. */
_Atomic uintptr_t *cohort__inputs_search(struct cohort__inputs_table *table)
{
    if (table->num_spared > 0) {
        table->num_spared--;
        return NULL;
    }
    for (unsigned i = 1; i < PLACES; i++) {
        _Atomic uintptr_t *place = &table->places[++table->next % PLACES];
        if (atomic_load_explicit(place, memory_order_acquire) == 0)
            return place;
    }
    table->num_spared = PLACES;
    return NULL;
}

void cohort__inputs_begin_outside(struct cohort__inputs *inputs)
{
    for (unsigned i = 0; i < PLACES; i++) {
        uintptr_t expected = 0;
        inputs->place = &outside[i];
        if (atomic_load_explicit(&outside[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&outside[i], &expected, (uintptr_t)inputs))
            return;
    }
    inputs->place = NULL;
}

/* The tick is soon through; in a child that was forked meanwhile it never is. */
void cohort__inputs_end_after_tick(struct cohort__inputs *inputs)
{
    unsigned num_yields = 0;
    uintptr_t expected = (uintptr_t)inputs;
    while (!cohort__fork_is_child() &&
           !atomic_compare_exchange_strong(inputs->place, &expected, 0)) {
        cohort__core_yield(&num_yields);
        expected = (uintptr_t)inputs;
    }
}

/* --- the tick --- */

bool cohort__inputs_add(struct cohort__inputs_line *line, uintptr_t what)
{
    unsigned i = 0;
    while (i < COHORT__LEDGER_INPUTS_MOST &&
           atomic_load_explicit(&line->what[i], memory_order_relaxed) != 0)
        i++;
    if (i == COHORT__LEDGER_INPUTS_MOST)
        return false;
    atomic_store_explicit(&line->what[i], what, memory_order_relaxed);
    return true;
}

void cohort__inputs_add_pending(struct cohort__inputs_line *line, cohort_future *const *first,
                                size_t bytes, size_t count, size_t *done)
{
    const size_t end = cohort__inputs_look_end(count, *done);
    for (size_t i = *done; i < end; i++) {
        const char *member = (const char *)first + i * bytes;
        const cohort_future *future = *(cohort_future *const *)(const void *)member;
        if (!cohort__future_is_complete(future)) {
            if (!cohort__inputs_add(line, cohort__future_what(future)))
                return;
        } else if (i == *done) {
            ++*done;
        }
    }
}

void cohort__inputs_set_of(struct cohort__inputs_line *line, const cohort_future *future)
{
    const struct cohort__extended_task *task = (const struct cohort__extended_task *)future;
    atomic_store_explicit(&line->of, (uintptr_t)future, memory_order_relaxed);
    if (!future->is_task || !future->is_extended)
        return;
    atomic_store_explicit(&line->function, (uintptr_t)task->shown, memory_order_relaxed);
    atomic_store_explicit(&line->scope, (uintptr_t)task->scope, memory_order_relaxed);
}

static void write_line(struct cohort__inputs_line *to, const struct cohort__inputs_line *from)
{
    const size_t first = sizeof(from->seen_at);
    atomic_store_explicit(&to->seen_at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy((char *)to + first, (const char *)from + first, sizeof(*to) - first);
    atomic_store_explicit(&to->seen_at, told.seen_at, memory_order_release);
}

void cohort__inputs_tell(const struct cohort__inputs_line *line)
{
    if (atomic_load_explicit(&line->num, memory_order_relaxed) == 0 || told.num_used == MOST_LINES)
        return;
    if (told.num_used == told.num_taken) {
        told.lines[told.num_taken] = cohort__ledger_take(COHORT__LEDGER_INPUTS);
        if (!told.lines[told.num_taken])
            return;
        told.num_taken++;
    }
    write_line(told.lines[told.num_used++], line);
}

static void look_at(_Atomic uintptr_t *place, uint64_t now)
{
    uintptr_t found = atomic_load_explicit(place, memory_order_relaxed);
    struct cohort__inputs *inputs = (struct cohort__inputs *)found;
    if (!inputs || !atomic_compare_exchange_strong_explicit(
                       place, &found, found + 1, memory_order_acquire, memory_order_relaxed))
        return;
    if (inputs->since)
        inputs->describe(inputs, inputs->since);
    else
        inputs->since = now;
    atomic_store_explicit(place, (uintptr_t)inputs, memory_order_release);
}

void cohort__inputs_tick(void)
{
    const uint64_t now = cohort__clock_cycles();
    const unsigned num_before = told.num_used;
    told.num_used = 0;
    told.seen_at = now;
    const unsigned num = atomic_load_explicit(&num_tables, memory_order_acquire);
    for (unsigned i = 0; i < num; i++) {
        struct cohort__inputs_table *table = atomic_load_explicit(&tables[i], memory_order_acquire);
        for (unsigned k = 0; table && k < PLACES; k++)
            look_at(&table->places[k], now);
    }
    for (unsigned k = 0; k < PLACES; k++)
        look_at(&outside[k], now);
    for (unsigned i = told.num_used; i < num_before; i++)
        atomic_store_explicit(&told.lines[i]->seen_at, 0, memory_order_relaxed);
}

void cohort__inputs_close(void)
{
    while (told.num_taken > 0)
        cohort__ledger_give_back(COHORT__LEDGER_INPUTS, told.lines[--told.num_taken]);
    told.num_used = 0;
}
