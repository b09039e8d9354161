/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/pending_line.h"

#include "collectives/comm/channel.h"
#include "collectives/comm/operation.h"
#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"

/* False: there is no more room. One more is counted, so that it is known that there are more. */
static bool add(struct cohort__pending_line *line, const cohort_future *future, uint32_t kind,
                uint64_t number, uint32_t site)
{
    uint32_t num = atomic_load_explicit(&line->num, memory_order_relaxed);
    atomic_store_explicit(&line->num, num + 1, memory_order_relaxed);
    if (num >= COHORT__LEDGER_PENDING_MOST)
        return false;
    struct cohort__pending *pending = &line->of[num];
    atomic_store_explicit(&pending->future, (uintptr_t)future, memory_order_relaxed);
    atomic_store_explicit(&pending->number, number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, site, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, kind, memory_order_relaxed);
    return true;
}

static bool add_get(void *context, const cohort_future *future, uint64_t tag, uint32_t site,
                    bool has_come)
{
    return add(context, future, COHORT__WAIT_GET | (has_come ? COHORT__PENDING_HAS_COME : 0U), tag,
               site);
}

static bool add_set(void *context, const cohort_future *future, uint64_t tag, uint32_t site,
                    bool needs_get)
{
    return add(context, future, COHORT__WAIT_SET | (needs_get ? COHORT__PENDING_NEEDS_ALL : 0U),
               tag, site);
}

/* Blocks with counts of their own may be empty, and then nobody waits for them. */
static bool needs_all(const struct cohort__signature *signature)
{
    return signature->variant == COHORT__VARIANT_EQUAL &&
           !cohort__signature_may_end_alone(signature);
}

static bool add_calls(struct cohort__pending_line *line, struct cohort_comm *comm)
{
    for (uint64_t i = 0; comm->oldest > 0 && i < COHORT__WINDOW; i++) {
        const struct cohort__operation *operation = cohort__endpoint_find(comm, comm->oldest + i);
        if (operation &&
            !add(line, operation->future,
                 COHORT__WAIT_COLLECTIVE |
                     (needs_all(&operation->signature) ? COHORT__PENDING_NEEDS_ALL : 0U),
                 operation->generation, comm->this_site))
            return false;
    }
    return true;
}

/* NULL: no memory, so nobody sees it. */
static struct cohort__pending_line *line_of(struct cohort_comm *comm)
{
    if (!comm->pending)
        comm->pending = cohort__ledger_take(COHORT__LEDGER_PENDING);
    return comm->pending;
}

void cohort__pending_line_write(struct cohort_comm *comm, uint64_t stalled)
{
    struct cohort__pending_line *line = line_of(comm);
    if (!line)
        return;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->instance, comm->group->membership->instance, memory_order_relaxed);
    atomic_store_explicit(&line->site, comm->this_site, memory_order_relaxed);
    atomic_store_explicit(&line->rank, comm->group->rank, memory_order_relaxed);
    atomic_store_explicit(&line->num, 0, memory_order_relaxed);
    if (add_calls(line, comm) && cohort__channels_each_get(comm, add_get, line))
        (void)cohort__channels_each_set(comm, add_set, line);
    const uint64_t described =
        stalled ? stalled : atomic_load_explicit(&line->described, memory_order_relaxed);
    const struct cohort__operation *operation =
        described ? cohort__endpoint_find(comm, described) : NULL;
    if (operation) { /* again, with the answers that have come since */
        size_t bytes = operation->handlers->describe(operation, line->text, 0, sizeof(line->text));
        line->text[bytes < sizeof(line->text) ? bytes : sizeof(line->text) - 1] = '\0';
        atomic_store_explicit(&line->described, described, memory_order_relaxed);
    }
    atomic_store_explicit(&line->at, cohort__clock_ticks(), memory_order_release);
}

void cohort__pending_line_give_back(struct cohort_comm *comm)
{
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, comm->pending);
    comm->pending = NULL;
}
