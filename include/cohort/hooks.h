/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_HOOKS_H
#define COHORT_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For profilers: functions that the library calls at the begin and at the end of each call of a
 * collective, as a tool for MPI does it with PMPI. A tool that is preloaded sets them in a
 * constructor. docs/TRACING.md has an example. */

/* What is called. It and its texts are there until the hook returns. */
typedef struct cohort_hook_call {
    const char *name; /* "all_reduce", "gatherv"; "split: all_gather" of the library's own */
    const char *communicator; /* its name */
    uint32_t site;            /* who calls */
    uint32_t num_sites;
    uint64_t generation; /* no call of this site in this communicator has it again */
    /* Of all blocks that this site gives, and of all that it gets, its own one included. The sizes
     * of objects that come are not known; these are 0. So are both of a call whose arguments are
     * wrong. */
    uint64_t in_bytes;
    uint64_t out_bytes;
} cohort_hook_call;

/* BEGIN: by the thread that calls, during the call, when its generation has been taken. It also is
 * called if the arguments are wrong; not if the call takes no generation, since that number was
 * used already for instance. What it returns is only passed on to END: a time, or a pointer.
 *
 * END: once for each BEGIN, by any thread of the library, when nothing of the call is under way any
 * more, with what its future will hold. It returns before that future completes. The exceptions are
 * calls that are taken back (cohort_comm_cancel, a deadline): STATUS is what the call itself has
 * come to, also if it is then refused; and one that waits for its turn has its END later. Calls
 * that are in flight at the end of the program may have none.
 *
 * Both are called for several calls at once, and may run on the stack of a task. They must not
 * suspend, call a collective, or wait for anything that needs a task or the loop to run: all calls
 * of that site wait for them. Either may be NULL. */
typedef struct cohort_hooks {
    uint64_t (*begin)(const cohort_hook_call *call, void *arg);
    void (*end)(const cohort_hook_call *call, cohort_status status, uint64_t begun, void *arg);
    void *arg; /* only passed on */
} cohort_hooks;

/* Sets the hooks of this process, once and for all. HOOKS is copied. From then on each call that
 * begins has them; one that is in flight has none. COHORT_ERR_BAD_PARAMETER: HOOKS is NULL;
 * COHORT_ERR_STATE: there are some. Any thread, also before main and outside of cohort_run; never
 * suspends. Without hooks, two instructions at the begin of each call and two at its end look for
 * them. _sized: the exported function, for HOOKS_BYTES of HOOKS; see
 * cohort_comm_create_sized. */
COHORT_API cohort_status cohort_hooks_set_sized(const cohort_hooks *hooks,
                                                size_t hooks_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status cohort_hooks_set(const cohort_hooks *hooks)
{
    return cohort_hooks_set_sized(hooks, sizeof(*hooks));
}

#ifdef __cplusplus
}
#endif

#endif
