/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_JOB_H
#define COHORT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs PROGRAM(ARG) as the first task of this locality, with the calling thread as its first
 * worker. Returns the exit status for main: 0, or 1 if the program, or the start of the job,
 * failed. After a failure cohort_error_message() says why, and so does one line on stderr.
 * cohortrun prints that line, or, without cohortrun, this function. The function returns when the
 * program of every locality of the job has returned, their tasks have ended and no message is under
 * way. ARGC and ARGV are the program's own; nothing is taken out of them. Where descriptors 0, 1
 * and 2 are closed, they are opened on /dev/null.
 *
 * A process that cohortrun starts is one locality of its job. A process that is started alone is a
 * job with one locality. If the process exits without returning from cohort_main, this locality has
 * died, which ends the job.
 *
 * Environment, with the default last where there is one: COHORT_WORKERS (threads that run tasks, at
 * most 4096; the cores that this process may use, shared with the localities of its host, at least
 * one), COHORT_SPIN (microseconds, at most 1000000, for which a waiting worker polls before it
 * gives up its core, unless polling turns out to bring nothing, or to keep others from the core; 0:
 * not at all; 100, or 0 where the host's localities have more workers and progress threads than
 * cores), COHORT_STACK (bytes of a task's stack; 262144), COHORT_STACK_GUARD (what shows that a
 * task has grown beyond its stack: kernel, 64 KiB that it guards itself; page, as much without
 * access; canary, known bytes, which are looked at when the task waits or ends; kernel, or page
 * where the kernel has no guards), COHORT_TASKS (pinned or movable: whether another worker may go
 * on with a task that has waited, see task.h; pinned), COHORT_PROGRESS (workers or thread: whether
 * workers see to messages between tasks, or one more thread does all the time, also while every
 * worker computes; a core that no worker uses should be left to it, and code of the program's still
 * runs on workers only; workers), COHORT_BLOCKING_THREADS (how many functions of cohort_blocking
 * run at a time, at most 1024; 64), COHORT_NET (shm or ofi for all messages; without it shared
 * memory within a host, libfabric between hosts), COHORT_TOPOLOGY (HOSTSxDOMAINSxLOCALITIES, for
 * tests: a machine that communicators take for the real one, for instance 2x2x4 for 2 hosts with 2
 * domains of 4 localities each, filled in the order of the localities; without it the hosts of the
 * launcher, and the last-level cache or the NUMA node that each locality is bound to),
 * COHORT_LEVELS (LEVEL=GROUP,...: levels of the machine above the hosts, finest first, and which
 * group of each this locality is in, for instance switch=s1,rack=r7, if it is on a host behind the
 * switch s1 in the rack r7; at most 4 levels. The name of a level has up to 31 small letters,
 * digits, hyphens and underscores, and is not locality, domain or host; that of a group has up to
 * 63 letters, digits and any of - _ . and the colon. All localities name the same levels in the
 * same order; those of a host are in the same groups, and those that are together at one level are
 * so at the next ones. cohortrun sets it by its hostfile; without it there are no such levels),
 * COHORT_EAGER_BUDGET (bytes of payload that one peer may have sent before they are asked for;
 * 262144), COHORT_FAULT (for tests of a program: faults that happen to the job, for instance
 * seed:4711,delay:1%:5ms,drop:2-5@1000,kill:any@<5000,alloc:3@200; docs/LAUNCHING.md has all of
 * them; none), COHORT_OFI_PROVIDER, COHORT_OFI_ADDRESS, COHORT_CHECK_ASYMMETRIC (1: agreement
 * before gather and scatter, see collectives.h; 0), COHORT_TUNE (a file of cohort-tune, instead of
 * the one in the configuration folder), COHORT_TRACE (a file, in which the trace of the job is
 * found at the end, docs/TRACING.md; none), COHORT_TRACE_MIB (how much of it is kept of each
 * locality; 1024), COHORT_MEMORY_MIB (how much of cohort_memory_alloc a locality may have; its part
 * of half the host's memory), COHORT_GRACE (under another launcher than cohortrun:
 * seconds in which a locality may end by itself when the job is broken; 1), COHORT_ALONE (1: one of
 * several processes of a launcher without PMIx is a job of one locality, else that is an error; 0,
 * but 1 in what a locality starts), COHORT_LOG (error,
 * warn, info, debug: on stderr; off). A wrong value of any of them is an error at the start, except
 * that wrong values of COHORT_CHECK_ASYMMETRIC and COHORT_TUNE are an error when the first
 * communicator is created.
 *
 * It is called from a thread that runs no task, while the runtime is not up (by another call, or by
 * cohort_start). A process that was started alone may call it again when it has returned; one of a
 * launcher's job may not, since it has left its job. */
COHORT_API int cohort_main(int argc, char **argv, cohort_task_function *program, void *arg);

/* How cohort_start starts the runtime. 0 is the default of each. */
typedef struct cohort_start_options {
    /* Threads that run tasks, at most 4096, where neither COHORT_WORKERS nor cohortrun says how
     * many. 0: as for cohort_main. */
    uint32_t workers;
} cohort_start_options;

/* Starts the runtime in a program that keeps its thread, as a library does within a program, or a
 * program that has an event loop of another kind. The workers are threads of their own. When it
 * returns COHORT_OK, this process is a locality, as within cohort_main: of the job of cohortrun, or
 * of another launcher, that has started it, or of a job of its own. So it waits for the start of
 * the job's other localities. The environment is read as by cohort_main; no other thread may use
 * the environment meanwhile. Whatever the program's threads are, they are threads outside of tasks:
 * they may start tasks and collectives, wait for futures (cohort_await, cohort_wait; they block),
 * or have callbacks called by a loop of their own (cohort/callbacks.h).
 *
 * What other headers say of cohort_main is true of cohort_start and cohort_stop, and what they say
 * of the thread that has called it, of one of these. Threads of the runtime block the signals that
 * the calling thread blocks, but none that a thread causes itself (SIGSEGV and the like), and so do
 * the programs that tasks start. A signal that is for one thread only is to be blocked in the
 * calling one, before the call. SIGUSR2, if it is at its default, prints what the program waits for
 * as long as the runtime is up (docs/LAUNCHING.md), in whichever thread gets it; cohort_stop puts
 * the default back, so from then on it ends the process again. Standard output stays as it is:
 * where a launcher reads it, it is not made line-buffered.
 *
 * OPTIONS may be NULL, and is read before the call returns. On failure nothing is up, and nothing
 * is printed by this process. In a process that was started alone it may be called again. A
 * launcher ends the job, as when cohort_main has failed to start, also if this process goes on
 * (cohortrun after a second, or five times its grace where a script has started this process); so
 * it can't be called again there, unless it has refused only its options or its moment. The errors:
 * COHORT_ERR_BAD_PARAMETER (the options, or an environment variable), COHORT_ERR_NO_MEMORY (no
 * memory, no thread, no descriptor), COHORT_ERR_STATE: the runtime is up already (by cohort_main,
 * too), or starts or stops just now; in a child that was forked while it was up; or this process
 * has left the job of a launcher that takes no process twice, or has failed to start in one.
 *
 * After cohort_stop it may be started again, each time as a new job: as often as it likes in a
 * process that was started alone; under cohortrun by all localities together, as if a script had
 * started one program after the other (for which this process keeps copies of the descriptors that
 * cohortrun has given it); not under another launcher, nor where cohort_main came first under
 * cohortrun. COHORT_TRACE and COHORT_STATS are of the first run.
 *
 * Any thread outside of tasks; blocks it. A process that exits without cohort_stop has died, as one
 * that exits without returning from cohort_main. _sized: the exported function, for OPTIONS_BYTES
 * of OPTIONS; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_start_sized(const cohort_start_options *options,
                                            size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status cohort_start(const cohort_start_options *options)
{
    return cohort_start_sized(options, sizeof(*options));
}

/* Ends what cohort_start has started, by the rules by which cohort_main ends when its program
 * returns STATUS. From now on threads outside of tasks start no tasks any more, here or by
 * cohort_async_at: what they call for that fails with COHORT_ERR_STATE. They may go on with all
 * else, so that tasks which wait for them can end; tasks, and functions of cohort_blocking and of
 * the loop, still start others. Waits until all tasks of this locality have ended, those of all
 * localities, too, and they have called cohort_stop, or returned from their programs, and no
 * message is under way. Then the threads of the runtime have ended, callbacks whose futures are
 * still pending are ready, with COHORT_ERR_CANCELLED, and communicators are gone: calls in flight
 * there have ended with COHORT_ERR_CANCELLED, and an endpoint that is left must not be used any
 * more, except that cohort_comm_unref does nothing until the next start. The references to futures,
 * files and connections are the program's still.
 *
 * STATUS is COHORT_OK, or the error with which the program ends, with the calling thread's
 * cohort_error_message() if that is of this status. A launcher is told then, as when a program has
 * returned an error: the job fails, and others do not wait for this locality for ever.
 *
 * Returns STATUS if that is an error, or an error of the end itself, with its message. Nothing was
 * stopped if it returns COHORT_ERR_STATE: cohort_start has not started the runtime or has not
 * returned, cohort_stop was called before, in a task, on the locality's loop or in a function of
 * cohort_blocking (the end would wait for itself), in a child that was forked.
 *
 * It blocks, so a task that waits for what this thread is to do waits for ever. Where a loop has to
 * go on meanwhile, let another thread call it. Any thread outside of tasks, also another one than
 * that of cohort_start. */
COHORT_API cohort_status cohort_stop(cohort_status status);

/* Ends the job at once, with all of its localities, whatever their tasks do: this process calls
 * _exit(CODE), cohortrun prints which locality has aborted it and REASON, ends the others (SIGTERM,
 * after two seconds SIGKILL; with --keep-going, too) and exits with CODE. Without cohortrun this
 * function prints REASON itself. Another launcher is asked to end the job with CODE, at once
 * (PMIx_Abort), and the status is what it makes of that.
 *
 * CODE is 1 to 255; anything else counts as 1. REASON is one line of at most 4,000 bytes, or NULL.
 * What this process has printed is flushed if nobody else is printing just then; functions of
 * atexit are not called. Any thread, also in a callback of the loop, but not in a signal handler;
 * at any time, also before cohort_main has started the job and after it has returned: then it ends
 * only this process, with CODE, which ends a job under cohortrun, too, unless it had been left
 * already. Does not return; does not suspend. */
COHORT_API void cohort_abort(int code, const char *reason) __attribute__((noreturn));

/* This locality's number in the job, and how many localities there are. Any thread, once the job
 * has started; also when it has ended, as what runs on the loop (uv.h) at the end. Before that they
 * return 0 and 1. */
COHORT_API uint32_t cohort_locality(void);
COHORT_API uint32_t cohort_num_localities(void);

/* The localities that have died, as far as this one knows, in the order of their deaths. Writes the
 * first CAPACITY of them to RET_RANKS, which may be NULL if CAPACITY is 0, and returns how many
 * there are. Under cohortrun the order is the same in all localities, so what one of them knows is
 * the beginning of what another one does. Where one locality hears of a death, its calls tell the
 * others' calls, so these may fail with COHORT_ERR_PEER_DIED a moment before the death is here.
 * Without cohortrun --keep-going a death ends the job soon.
 * Any thread; does not suspend. Before cohort_main has started the job and when it has returned,
 * the result is 0. */
COHORT_API uint32_t cohort_failed_localities(uint32_t *ret_ranks, uint32_t capacity);

/* The number of workers of this locality. To be called in tasks, and in other threads after
 * cohort_start has returned. Before the start and after the end it returns 0. */
COHORT_API uint32_t cohort_num_workers(void);

#ifdef __cplusplus
}
#endif

#endif
