/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COMM_H
#define COHORT_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One site's endpoint of a named group of sites. Sites are numbered 0 .. num_sites - 1. Any number
 * of them may live in one locality, each driven by its own task. The caller orders the calls on one
 * endpoint (two tasks must not call on it at once). Different endpoints are independent. */
typedef struct cohort_comm cohort_comm;

/* The defaults that 0 stands for in cohort_comm_options: of arity, and of
 * flat_fallback_threshold. */
#define COHORT_DEFAULT_ARITY 4
#define COHORT_DEFAULT_FLAT_FALLBACK_THRESHOLD 16

/* The flat_fallback_threshold that forces the tree. (It is not 0, because an option that is left
 * out is 0, which stands for the default.) */
#define COHORT_FORCE_TREE UINT32_MAX

typedef struct cohort_comm_options {
    uint32_t num_sites; /* 1 .. 2^31 - 1 */
    uint32_t this_site; /* 0 .. num_sites - 1 */
    uint32_t root_site; /* of the rooted collectives; 0 .. num_sites - 1 */
    uint32_t arity;     /* of the tree: 2 or more; 0: COHORT_DEFAULT_ARITY */
    /* A communicator with fewer sites than this, or with no more sites than the arity, is flat:
     * collectives go directly, not over the tree. 0: the default; COHORT_FORCE_TREE: flat only
     * because of the arity. */
    uint32_t flat_fallback_threshold;
    /* The communicator numbers its calls itself. Its calls are then given COHORT_AUTO_GENERATION as
     * their generation. */
    bool auto_generation;
    /* A site that has waited this many nanoseconds for another one asks it what it is doing. It
     * asks again each time that it has waited twice as long as before, up to 16 times this value,
     * but not before the other one has answered. 0: 1 s. */
    uint64_t stall_after;
    /* The algorithms of some collectives, by the names of docs/COLLECTIVES.md, for instance
     * "all_to_all=bruck,all_reduce=ring". Where it is NULL, and for collectives that it doesn't
     * name, the communicator chooses. A call that the named algorithm can't carry out fails, and
     * its error says what the algorithm needs. Only read during the call. */
    const char *algorithms;
    /* Reductions give the same bits with any algorithm, arity and timing: they are done site by
     * site from the left. */
    bool reproducible;
    /* Agreement before each gather and scatter and their v-variants; see cohort_check_rooted. */
    bool check_asymmetric;
    /* The bytes of memory that a call may take for itself at a site, besides the caller's buffers;
     * 0: no limit. Algorithms that take more are not chosen. If no algorithm is left for a call, or
     * if the call takes more at a site because it is in place there, it fails with
     * COHORT_ERR_NO_MEMORY at all sites, and the error says how much it would need. */
    uint64_t memory_budget;
    /* The deadline of each call of a collective, if the call has none of its own; see
     * cohort_call_options. 0: none. Sites may give different ones. Sets and gets of channels,
     * agreements and shrinks have none: cohort_wait bounds the wait for these. */
    uint64_t deadline;
    /* Nanoseconds from the call of cohort_comm_create on: if not all sites have joined by then, the
     * futures of all that have get COHORT_ERR_TIMEOUT, with the sites that are missing, the first 8
     * and how many more. A site that joins later gets that, too, once; then it may join again, as
     * all others. 0: no deadline. Sites may give different ones. The same with
     * COHORT_ERR_CANCELLED if the scope of a task that creates is cancelled (cohort/scope.h). */
    uint64_t create_deadline;
} cohort_comm_options;

/* The generation of calls on a communicator with auto_generation, and only there. */
#define COHORT_AUTO_GENERATION UINT64_MAX

/* Joins the communicator NAME (1 to 255 bytes; copied) as one of its sites. When all num_sites
 * sites have joined, from any localities, the future completes, and *ret_comm holds the endpoint
 * with one reference. ret_comm has to stay valid until then. This future has to be awaited.
 *
 * All sites give the same num_sites, root_site, arity, flat_fallback_threshold, auto_generation,
 * algorithms, reproducible, check_asymmetric and memory_budget. Otherwise the futures of all sites
 * that have joined get COHORT_ERR_MISMATCH, with both sites named. COHORT_ERR_DUPLICATE_SITE: this
 * site is taken, here or in another locality, by an endpoint that still lives or by one that still
 * waits; the other sites don't notice. COHORT_ERR_BAD_PARAMETER: a site out of range and the like;
 * only this site gets it. But if the environment of a locality is wrong (COHORT_CHECK_ASYMMETRIC,
 * the tuning file), all sites get the error of that locality's site, which the error names.
 * COHORT_ERR_NO_MEMORY: this site only; if the others have their endpoints by then, their calls
 * fail with COHORT_ERR_REVOKED; and all sites, if there are more than 2^24 of them in such an order
 * that not even 349,000 runs of neighbours say where they are. A site may use a name again once all
 * its endpoints under this name are gone. Any task or thread; never suspends.
 *
 * The library exports cohort_comm_create_sized, which other languages call; C and C++ have the
 * inline function. OPTIONS_BYTES is the size of the struct that the caller was built with. It may
 * differ from the size that the library was built with, as new fields are added at the end of the
 * struct. Fields that the caller's struct lacks count as 0. Bytes that the library doesn't know yet
 * have to be 0, else COHORT_ERR_BAD_PARAMETER. The same holds for all functions whose names end in
 * _sized. */
COHORT_API cohort_future *cohort_comm_create_sized(cohort_comm **ret_comm, const char *name,
                                                   const cohort_comm_options *options,
                                                   size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_comm_create(cohort_comm **ret_comm, const char *name, const cohort_comm_options *options)
{
    return cohort_comm_create_sized(ret_comm, name, options, sizeof(*options));
}

/* Destroys the endpoint. The call does not wait; but an endpoint that takes part in splits which
 * are in flight (cohort/split.h) stays until these are over. Calls in flight here end with
 * COHORT_ERR_CANCELLED, as soon as the library doesn't touch their buffers any more. For the other
 * sites, calls that have completed here stay complete, and calls after those fail with
 * COHORT_ERR_GONE, which names this site; a call that was in flight here still completes at sites
 * that need nothing more of this one. Whoever uses COMM afterwards is named by a line on standard
 * error, and the program ends by SIGABRT, as for a future; this is found out for the latest 64
 * endpoints that are gone, at least. NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_comm_unref(cohort_comm *comm);

/* Takes back GENERATION of the communicator, at all of its sites, as far as it can be taken back.
 * It is for calls whose sites may wait in vain: some site does not call, or takes too long.
 *
 * - Where each site depends on all others (barrier, check_rooted, all_gather, all_reduce,
 * all_to_all, reduce_scatter, their variants, and splits), nothing is taken back if the call has
 * completed at some site, and all have called, and nobody has died: then it completes everywhere.
 * - Otherwise futures that have not completed get COHORT_ERR_CANCELLED, all with the same text; so
 * do those of sites that call this generation later, at once. Futures that have completed keep
 * their results: where sites complete one by one (rooted calls, scans, shift, exchange), or need
 * nothing of a site that has not called, some may have.
 *
 * A site may take back a generation that it has not called. If it calls a later one before the
 * sites have decided, it has skipped this one: a site that hears of that first gets
 * COHORT_ERR_MOVED_PAST, which names it.
 *
 * The text has the roll-call: `generation 17 all_reduce: 61 of 64 sites, missing 5 (locality 1, not
 * called yet), 9 and 33 (locality 4, not called yet)`; the first 8 of those that are missing and of
 * those that have completed, and how many more there are. The communicator goes on with the next
 * generation.
 *
 * This function only asks, and what comes of it is in the futures. A future still completes only
 * when the library doesn't touch the buffers of its call any more. Futures of rows (ret_rows) that
 * have completed stay so; the contents of a buffer are undefined if the call fails. Each locality
 * that lives and has sites of the communicator has to turn its event loop once or twice: one whose
 * tasks compute without a break, and which has no progress thread, or one that is stopped, holds up
 * all. If a locality dies meanwhile, calls end with COHORT_ERR_PEER_DIED, as ever.
 *
 * COHORT_ERR_BAD_PARAMETER: no COMM, or no such generation. COHORT_ERR_NO_MEMORY; if another
 * locality has none, nothing is taken back, and its log says so. Any task or thread, also while
 * others call on COMM; never suspends. */
COHORT_API cohort_status cohort_comm_cancel(cohort_comm *comm, uint64_t generation) COHORT_MUST_USE;

/* Completes when all that has been begun on this endpoint has ended, with a value or with an error:
 * collectives, sets and gets, splits and dups, and what cohort/survivors.h has. Then their futures
 * are complete, and the library doesn't touch their buffers any more, also where a future was
 * dropped. What is begun before it completes is waited for, too: it completes the first time that
 * nothing is under way. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_NO_MEMORY; COHORT_ERR_CANCELLED: the
 * task's scope was cancelled. Any task or thread; never suspends. */
COHORT_API cohort_future *cohort_comm_idle(cohort_comm *comm) COHORT_MUST_USE;

/* What the endpoint was created with. Any thread; they never suspend. */
COHORT_API uint32_t cohort_comm_num_sites(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_this_site(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_root_site(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_arity(const cohort_comm *comm);
COHORT_API const char *cohort_comm_name(const cohort_comm *comm);

/* The levels of the tree that its hierarchical collectives use: 1 for a flat communicator. */
COHORT_API uint32_t cohort_comm_levels(const cohort_comm *comm);

/* Roll-call: completes with a text, which is the future's value (see cohort_await_value) and which
 * the caller frees with free(). It has a line for each call in flight at this endpoint, which says
 * what the call waits for: generation, operation, site, locality, and the site's last answer ("not
 * called yet") if it has been asked; but none for a call that waits for the window or is being
 * taken back, nor for a split or dup that all sites have called. Sets, gets and probes of channels
 * that have not ended have a line, too. The text is empty when nothing is in flight.
 * COHORT_ERR_NO_MEMORY. Any task or thread; never suspends. */
COHORT_API cohort_future *cohort_comm_roll_call(cohort_comm *comm) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
