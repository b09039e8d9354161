/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/ledger.h"
#include "runtime/remote/served.h"

/* The ledger's lines of the calls that this locality works on. */

/* With the lock held: line I of those that say what is worked on here. NULL: it has none. */
static struct cohort__pending_line *begin_line(const struct cohort__remote_tasks *tasks, unsigned i)
{
    struct cohort__pending_line *line = tasks->served.lines[i];
    if (!line)
        return NULL;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->rank, cohort__process_rank(tasks->process), memory_order_relaxed);
    atomic_store_explicit(&line->num, 0, memory_order_relaxed);
    return line;
}

/* With the lock held: SERVED as what is worked on. */
static void describe(struct cohort__pending_line *line, const struct served *served)
{
    const uint32_t num = atomic_load_explicit(&line->num, memory_order_relaxed);
    struct cohort__pending *pending = &line->of[num];
    atomic_store_explicit(&pending->future,
                          atomic_load_explicit(&served->task, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&pending->number, served->number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, served->peer->rank, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, COHORT__WAIT_TASK, memory_order_relaxed);
    atomic_store_explicit(&line->num, num + 1, memory_order_relaxed);
}

/* With the lock held. For those who look on: which task works on which call, the oldest first, as
 * many as there is room for. */
static void write_lines(struct cohort__remote_tasks *tasks)
{
    struct cohort__remote_served *all = &tasks->served;
    const uint64_t now = cohort__clock_ticks();
    struct cohort__list *at = all->admitted.next;
    for (unsigned i = 0; i < COHORT__REMOTE_SERVED_LINES; i++) {
        struct cohort__pending_line *line = begin_line(tasks, i);
        for (int num = 0; line && num < COHORT__LEDGER_PENDING_MOST && at != &all->admitted;
             num++, at = at->next)
            describe(line, COHORT_CONTAINER_OF(at, struct served, admitted));
        if (line)
            atomic_store_explicit(&line->at, now, memory_order_release);
    }
}

/* As for calls: those that end in time don't pay for it. Only the ticks take lines. */
void cohort__served_look_on(struct cohort__remote_tasks *tasks)
{
    struct cohort__remote_served *all = &tasks->served;
    const uint32_t each = COHORT__LEDGER_PENDING_MOST;
    pthread_mutex_lock(&all->lock);
    const uint32_t num = all->num_admitted;
    const bool is_told = num > 0 && all->was_serving;
    all->was_serving = num > 0;
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; is_told && i < COHORT__REMOTE_SERVED_LINES && i * each < num; i++)
        if (!all->lines[i])
            all->lines[i] = cohort__ledger_take(COHORT__LEDGER_PENDING);
    if (!is_told)
        return;
    pthread_mutex_lock(&all->lock);
    write_lines(tasks);
    pthread_mutex_unlock(&all->lock);
}
