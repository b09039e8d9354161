/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/task/worker.h"

/* A kernel wakes a thread on the core on which it slept, if no idle one shares a cache with that,
 * as in many virtual machines; also if the thread that wakes it runs there. Then one of the two
 * workers waits until the other one sleeps, or until the kernel moves one of them, which it does
 * some milliseconds later, while another core is idle. So a worker that wakes up looks where the
 * others are, and moves by itself. Each of them notes that at every poll. One that has been in a
 * task since then may have been moved by the kernel; so a move may also go to its core, or be of no
 * use. If somebody changes the mask of this thread just then, that is lost.
 *
 * The progress thread is one of them. It will wake up where it sleeps, so it leaves a worker's core
 * before it parks, and workers leave its core also while it is parked, if there is another one. */

/* Where thread I is, of all but the one of OWN, if it is awake. -1: it sleeps, or is OWN's, or that
 * is not known. WITH_PARKED: the progress thread counts while it sleeps, too. */
static int other_core(unsigned i, const _Atomic int *own, bool with_parked)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    bool is_worker = i < s->num_workers;
    const _Atomic int *core = is_worker ? &s->workers[i]->core : &s->progress.core;
    const _Atomic uint32_t *state =
        is_worker ? &s->workers[i]->sleep_state : &s->progress.sleep_state;
    bool is_there = atomic_load_explicit(state, memory_order_relaxed) == COHORT__AWAKE ||
                    (with_parked && !is_worker);
    return core == own || !is_there ? -1 : atomic_load_explicit(core, memory_order_relaxed);
}

/* Those of CORES where no other one is; -1 is in no set. */
static cpu_set_t free_of(cpu_set_t cores, const _Atomic int *own, bool with_parked)
{
    for (unsigned i = 0; i < cohort__scheduler.num_threads; i++)
        CPU_CLR((unsigned)other_core(i, own, with_parked), &cores);
    return cores;
}

static bool is_shared(const _Atomic int *own, bool with_parked)
{
    int core = sched_getcpu();
    for (unsigned i = 0; core >= 0 && i < cohort__scheduler.num_threads; i++)
        if (other_core(i, own, with_parked) == core)
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

void cohort__core_note(_Atomic int *core)
{
    atomic_store_explicit(core, sched_getcpu(), memory_order_relaxed);
}

bool cohort__core_leave_shared(_Atomic int *core)
{
    cpu_set_t all, others;
    bool has_moved = false;
    if (is_shared(core, true) && sched_getaffinity(0, sizeof(all), &all) == 0) {
        others = free_of(all, core, true);
        if (CPU_COUNT(&others) == 0 && is_shared(core, false))
            others = free_of(all, core, false);
        has_moved = CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0;
    }
    cohort__core_note(core);
    if (has_moved && sched_setaffinity(0, sizeof(all), &all) != 0)
        allow_all();
    return has_moved;
}

/* What the kernel takes, in its first version. Not every C library declares it. */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime; /* of an ordinary thread: its slice, from Linux 6.12 on */
    uint64_t deadline;
    uint64_t period;
};

/* A thread that wakes up on a core where another one computes waits until the slice of that one is
 * over, 1 to 4 ms, unless its own slice is shorter. The kernel is as fair as before. If it can't do
 * that, there has to be a free core. */
uint64_t cohort__core_set_slice(uint64_t nanoseconds)
{
    struct attributes attributes = {.size = sizeof(attributes)};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return 0;
    const uint64_t before = attributes.runtime;
    attributes.size = sizeof(attributes);
    attributes.runtime = nanoseconds;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
    return before;
}

/* A thread that only yields may keep others from a core for good: Linux from 6.13 on, as
 * seen with 6.18, moves what runs in a control group or session of its own towards the head of the
 * queue each time that a thread there wakes up or sleeps while the group has cores in changing
 * shares. Threads of a group that have yielded to each other on two cores kept all else of the
 * machine waiting for more than a minute, those that they waited for as well. A moment of sleep
 * ends that. Measured: docs/measurements.md, "Yielding for long".
 *
 * Not nanosleep, at which a thread may be cancelled. */
void cohort__core_nap(void)
{
    const struct timespec moment = {.tv_nsec = 1}; /* and the kernel's timer slack, of 50 us */
    int saved = errno;
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
    errno = saved;
}

/* --- pinning --- */

struct cohort__pinning {
    hwloc_topology_t topology;
    hwloc_obj_type_t type; /* cores, or hardware threads if hwloc knows no cores */
    unsigned num_cores;
};

cohort_status cohort__pinning_create(struct cohort__pinning **ret_pinning)
{
    struct cohort__pinning *pinning = calloc(1, sizeof(*pinning));
    if (!pinning || hwloc_topology_init(&pinning->topology) != 0) {
        free(pinning);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "pinning: no memory for the topology");
    }
    if (hwloc_topology_load(pinning->topology) != 0)
        goto fail;
    pinning->type = HWLOC_OBJ_CORE;
    if (hwloc_get_nbobjs_by_type(pinning->topology, pinning->type) < 1)
        pinning->type = HWLOC_OBJ_PU;
    int num_cores = hwloc_get_nbobjs_by_type(pinning->topology, pinning->type);
    if (num_cores < 1)
        goto fail;
    pinning->num_cores = (unsigned)num_cores;
    *ret_pinning = pinning;
    return COHORT_OK;
fail:
    cohort__pinning_destroy(pinning);
    return cohort_fail(COHORT_ERR_SYSTEM, "pinning: hwloc can't tell the cores of this machine");
}

void cohort__pinning_destroy(struct cohort__pinning *pinning)
{
    if (!pinning)
        return;
    hwloc_topology_destroy(pinning->topology);
    free(pinning);
}

cohort_status cohort__pinning_apply(struct cohort__pinning *pinning, unsigned index)
{
    hwloc_obj_t core =
        hwloc_get_obj_by_type(pinning->topology, pinning->type, index % pinning->num_cores);
    if (hwloc_set_cpubind(pinning->topology, core->cpuset, HWLOC_CPUBIND_THREAD) != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "pinning: worker %u to core %u: %s", index,
                           index % pinning->num_cores, strerror(errno));
    return COHORT_OK;
}

unsigned cohort__pinning_num_cores(const struct cohort__pinning *pinning)
{
    return pinning->num_cores;
}
