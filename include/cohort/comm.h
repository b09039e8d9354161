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

/* One site's endpoint of a named group of sites. Sites are numbered 0..num_sites-1; any number of
 * them may live in one locality, each driven by its own task. Calls on one endpoint are ordered by
 * the caller (two tasks don't call on it at once); different endpoints are independent. */
typedef struct cohort_comm cohort_comm;

/* What 0 stands for in cohort_comm_options.arity. */
#define COHORT_DEFAULT_ARITY 4
#define COHORT_DEFAULT_FLAT_FALLBACK_THRESHOLD 16

/* The flat_fallback_threshold that forces the tree (0 is what options left out hold, and stands for
 * the default). */
#define COHORT_FORCE_TREE UINT32_MAX

typedef struct cohort_comm_options {
    uint32_t num_sites; /* 1 .. 2^31 - 1 */
    uint32_t this_site; /* 0 .. num_sites - 1 */
    uint32_t root_site; /* of the rooted collectives; 0 .. num_sites - 1 */
    uint32_t arity;     /* of the tree: 2 or more; 0: COHORT_DEFAULT_ARITY */
    /* Fewer sites than this, or no more than the arity, make a flat communicator: collectives go
     * directly, not over the tree. 0: the default; COHORT_FORCE_TREE: only for the arity. */
    uint32_t flat_fallback_threshold;
    /* The communicator numbers its calls itself; they are then given generation
     * COHORT_AUTO_GENERATION. */
    bool auto_generation;
    /* A site that has waited this many nanoseconds for another one asks it what it is doing, and
     * again each time that it has waited twice as long, at most 16 times, as before; 0: 1 s. */
    uint64_t stall_after;
    /* The algorithms of some collectives, by the names of docs/COLLECTIVES.md, for instance
     * "all_to_all=bruck,all_reduce=ring"; NULL or what is not named: chosen by the communicator.
     * A call that its algorithm can't carry out fails and says what it needs. Only read during the
     * call. */
    const char *algorithms;
    /* Reductions have the same bits whatever the algorithm, the arity and the timing: they are done
     * site by site from the left. */
    bool reproducible;
    /* Agreement before each gather and scatter and their v-variants; see cohort_check_rooted. */
    bool check_asymmetric;
    /* The bytes of memory of its own that a call may take at a site, besides the caller's buffers;
     * 0: any. Algorithms that take more are not chosen; a call that none is left for, or that takes
     * more at a site because it is in place there, fails with COHORT_ERR_NO_MEMORY at all sites and
     * says what it would need. */
    uint64_t memory_budget;
} cohort_comm_options;

/* The generation of calls on a communicator with auto_generation, and only there. */
#define COHORT_AUTO_GENERATION UINT64_MAX

/* Joins the communicator NAME (1 to 255 bytes; copied) as one of its sites. When all num_sites
 * sites have joined, from whatever localities, the future completes and *ret_comm, which has to
 * live until then, holds the endpoint with one reference. This future has to be awaited.
 *
 * All sites give the same num_sites, root_site, arity, flat_fallback_threshold, auto_generation,
 * algorithms, reproducible, check_asymmetric and memory_budget; the futures of all that have joined
 * get COHORT_ERR_MISMATCH otherwise, with both sites named. COHORT_ERR_DUPLICATE_SITE: this site is
 * taken, here or elsewhere, by an endpoint that still lives or by one that is waiting; the others
 * don't notice. COHORT_ERR_BAD_PARAMETER: a site out of range and the like, which only this site is
 * told. But where a locality's environment is wrong (COHORT_CHECK_ASYMMETRIC, the tuning file), all
 * get the error of its site, whose name is in it. A name may be used again once all endpoints of
 * this site under it are gone. Any task or thread; never suspends.
 *
 * The library exports cohort_comm_create_sized, which other languages call; C and C++ have the
 * inline function. OPTIONS_BYTES is the size of the struct that the caller was built with, which
 * may be another one than the library's, as new fields are added at its end: those that it lacks
 * count as 0; bytes that the library doesn't know yet have to be 0, else COHORT_ERR_BAD_PARAMETER.
 * So it is with all functions that end in _sized. */
COHORT_API cohort_future *cohort_comm_create_sized(cohort_comm **ret_comm, const char *name,
                                                   const cohort_comm_options *options,
                                                   size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_comm_create(cohort_comm **ret_comm, const char *name, const cohort_comm_options *options)
{
    return cohort_comm_create_sized(ret_comm, name, options, sizeof(*options));
}

/* Destroys the endpoint and waits for nothing: what is in flight here ends with
 * COHORT_ERR_CANCELLED, as soon as nobody touches its buffers any more; what has been completed
 * here stays complete for the others, and what lies beyond fails for them with COHORT_ERR_GONE.
 * NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_comm_unref(cohort_comm *comm);

/* Completes when none of this endpoint's calls so far, collectives and channels, is in flight any
 * more, whatever became of them. Any task or thread; never suspends. */
COHORT_API cohort_future *cohort_comm_idle(cohort_comm *comm) COHORT_MUST_USE;

/* What the endpoint was created with. Any thread; never suspend. */
COHORT_API uint32_t cohort_comm_num_sites(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_this_site(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_root_site(const cohort_comm *comm);
COHORT_API uint32_t cohort_comm_arity(const cohort_comm *comm);
COHORT_API const char *cohort_comm_name(const cohort_comm *comm);

/* The levels of the tree that its hierarchical collectives use: 1 for a flat communicator. */
COHORT_API uint32_t cohort_comm_levels(const cohort_comm *comm);

/* Roll-call: completes with a text, which the caller frees with free(), that says a line for each
 * call in flight at this endpoint what it waits for: generation, operation, site, locality, and
 * what that site last answered ("not called yet"), where it has been asked. Empty when nothing is
 * in flight. Sets and gets of channels that are not over have a line, too. (The future's value; see
 * cohort_await_value.) COHORT_ERR_NO_MEMORY. Any task or thread; never suspends. */
COHORT_API cohort_future *cohort_comm_roll_call(cohort_comm *comm) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
