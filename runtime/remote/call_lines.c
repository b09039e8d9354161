/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
#include "runtime/remote/private.h"

/* The ledger's lines of calls to other localities, one for each of these. A call has a place there
 * from its beginning until its result comes: the ticks are too late to say it where the tasks of
 * this locality compute without a pause. A place costs a dozen stores, and to clear it costs one.
 */

enum { ALL_PLACES = (1 << COHORT__LEDGER_PENDING_MOST) - 1 };

void cohort__remote_line_make(const struct cohort__remote_tasks *tasks,
                              struct cohort__remote_peer *peer)
{
    struct cohort__pending_line *none = NULL, *line;
    if (atomic_load_explicit(&peer->line, memory_order_acquire) ||
        !(line = cohort__ledger_take(COHORT__LEDGER_PENDING)))
        return;
    atomic_store_explicit(&line->rank, cohort__process_rank(tasks->process), memory_order_relaxed);
    atomic_store_explicit(&line->site, peer->rank, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&peer->line, &none, line))
        cohort__ledger_give_back(COHORT__LEDGER_PENDING, line); /* another thread was faster */
}

int cohort__remote_line_add(struct cohort__remote_peer *peer, const cohort_future *future,
                            uint64_t number, const char *name)
{
    struct cohort__pending_line *line = atomic_load_explicit(&peer->line, memory_order_acquire);
    const uint32_t places = ~peer->places & ALL_PLACES;
    if (!line || places == 0)
        return COHORT__REMOTE_NO_PLACE;
    const int place = __builtin_ctz(places);
    struct cohort__pending *pending = &line->of[place];
    char *text = line->text + place * COHORT__LEDGER_PENDING_NAME;
    const size_t bytes = name ? strnlen(name, COHORT__LEDGER_PENDING_NAME - 1) : 0;
    peer->places |= 1U << place;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    if (atomic_load_explicit(&line->num, memory_order_relaxed) <= (uint32_t)place)
        atomic_store_explicit(&line->num, (uint32_t)place + 1, memory_order_relaxed);
    atomic_store_explicit(&pending->future, (uintptr_t)future, memory_order_relaxed);
    atomic_store_explicit(&pending->number, number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, peer->rank, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, COHORT__WAIT_REMOTE, memory_order_relaxed);
    if (bytes > 0)
        memcpy(text, name, bytes);
    text[bytes] = '\0';
    atomic_store_explicit(&line->at, cohort__clock_ticks(), memory_order_release);
    return place;
}

void cohort__remote_line_remove(struct cohort__remote_peer *peer, int place)
{
    struct cohort__pending_line *line = atomic_load_explicit(&peer->line, memory_order_relaxed);
    if (place == COHORT__REMOTE_NO_PLACE)
        return;
    peer->places &= ~(1U << place);
    atomic_store_explicit(&line->of[place].future, 0, memory_order_relaxed);
}

bool cohort__remote_line_has_room(const struct cohort__remote_peer *peer)
{
    const uint32_t num = (uint32_t)__builtin_popcount(peer->places);
    return num < COHORT__LEDGER_PENDING_MOST && num < peer->calls.num_nodes;
}
