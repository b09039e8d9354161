/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <string.h>

#include "runtime/task/worker.h"

/* A kernel wakes a thread on the core on which it slept, if no idle one shares a cache with that,
 * as in many virtual machines; also if the thread that wakes it runs there. Then one of the two
 * workers waits until the other one sleeps, or until the kernel moves one of them, which it does
 * some milliseconds later, while another core is idle. So a worker that wakes up looks where the
 * others are, and moves by itself. Each of them notes that at every poll. One that has been in a
 * task since then may have been moved by the kernel; so a move may also go to its core, or be of no
 * use. If somebody changes the mask of this thread just then, that is lost. */

static int core_of(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->core, memory_order_relaxed);
}

static bool is_awake(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->sleep_state, memory_order_relaxed) == COHORT__AWAKE;
}

/* Removes the cores of the other workers that are awake from CORES. One that is not known is -1,
 * which is in no set. */
static void remove_taken(const struct cohort__worker *worker, cpu_set_t *cores)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    for (unsigned i = 0; i < s->num_workers; i++)
        if (s->workers[i] != worker && is_awake(s->workers[i]))
            CPU_CLR((unsigned)core_of(s->workers[i]), cores);
}

static bool is_shared(const struct cohort__worker *worker)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    int core = sched_getcpu();
    for (unsigned i = 0; core >= 0 && i < s->num_workers; i++)
        if (s->workers[i] != worker && is_awake(s->workers[i]) && core_of(s->workers[i]) == core)
            return true;
    return false;
}

/* The mask that this thread had is not allowed any more. The kernel leaves those cores out that are
 * not. */
static void allow_all(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(0, sizeof(all), &all);
}

void cohort__core_note(struct cohort__worker *worker)
{
    atomic_store_explicit(&worker->core, sched_getcpu(), memory_order_relaxed);
}

bool cohort__core_leave_shared(struct cohort__worker *worker)
{
    cpu_set_t all, others;
    bool has_moved = false;
    if (is_shared(worker) && sched_getaffinity(0, sizeof(all), &all) == 0) {
        others = all;
        remove_taken(worker, &others);
        has_moved = CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0;
    }
    cohort__core_note(worker);
    if (has_moved && sched_setaffinity(0, sizeof(all), &all) != 0)
        allow_all();
    return has_moved;
}
