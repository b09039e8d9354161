/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXPLAIN_H
#define COHORT_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Describes where the sites of COMM are. *ret_text gets lines of text, which the caller frees with
 * free(). The first line has the communicator's name and the number of its sites. Then come the
 * levels of the machine, the finest first: localities; domains, which are last-level caches or NUMA
 * nodes (see COHORT_TOPOLOGY in job.h); hosts; and those that the user names (COHORT_LEVELS in
 * job.h), switches for instance. Each level divides the sites into subgroups, and has a line that
 * says how many these are, how many sites the largest has, and whether each has consecutive sites
 * ("in order") or not ("scattered"); or that they are those of the level before ("as locality").
 * Below it is a line for each of the first 16 subgroups: the site that leads it in calls without a
 * root, and its sites, up to 8 ranges of them, in the order of the localities that they are in. For
 * instance:
 *
 *   communicator "c": 8 sites
 *   locality: 4, at most 2 in one, scattered
 *     0 leads 0,4
 *     6 leads 2,6
 *     5 leads 1,5
 *     7 leads 3,7
 *   domain: 2, at most 4 in one, scattered
 *     0 leads 0,4,2,6
 *     7 leads 1,5,3,7
 *   host: 2, as domain
 *
 * A program gets the same by the functions of machine.h; `cohort-bench describe` prints it, with
 * --json as JSON.
 *
 * All sites get the same text, but for two more lines. One is there where the localities of one
 * host share memory for their calls (a board): its number, and how much of it this locality has
 * written to and kept. The other is there once the site has made calls: how many plans of them it
 * keeps for the next ones, in how much memory, and how much all sites of this locality keep so.
 * Beyond 64 MiB of that, plans that no call has used again go first, so calls whose counts never
 * come again don't pile up. A site whose plans take no more than its part of the 64 MiB keeps up to
 * 32 of them, and each site keeps the one that it has used last. COHORT_ERR_BAD_PARAMETER: an
 * argument is NULL; COHORT_ERR_NO_MEMORY. Any task or thread. Sends nothing; never suspends. */
COHORT_API cohort_status cohort_comm_describe(const cohort_comm *comm,
                                              char **ret_text) COHORT_MUST_USE;

/* Explains which algorithm would carry out COLLECTIVE ("all_reduce", "gather", ..., as in
 * docs/COLLECTIVES.md) of blocks of COUNT elements on COMM, and why. *ret_text gets lines of text,
 * which the caller frees with free(). The first line repeats the question. The second line begins
 * with "chosen: " and the algorithm's name, or with "none: " and the reason. Then come its
 * predicted time, startups, messages, bytes and memory, and what it does at the levels of the
 * machine. Then come the other algorithms, the fastest first, with the same numbers, or with the
 * reason why they can't be chosen. Then come the levels as cohort_comm_describe has them, with the
 * leaders for this call: of a rooted call the root leads its subgroups, and of a reduction that
 * does not commute the lowest site. All sites get the same text, but for "by notes", which only
 * those have whose localities share memory with others of their hosts.
 *
 * OP: the operation of a reduction; NULL: one that is commutative. A shift is by 1. DATATYPE is
 * ignored for a barrier. Options for the next call (cohort_comm_next_call) are neither used nor
 * changed. COHORT_ERR_BAD_PARAMETER: no such collective or datatype; COHORT_ERR_NO_MEMORY. Any task
 * or thread. Sends nothing; never suspends. */
COHORT_API cohort_status cohort_explain(cohort_comm *comm, const char *collective, size_t count,
                                        cohort_datatype datatype, const cohort_op *op,
                                        char **ret_text) COHORT_MUST_USE;

/* Whether ALGORITHM ("ring") could carry out that call, that is, could be forced for it
 * (cohort_call_options). Returns COHORT_OK, or the status that the call would have, with a message
 * that says why: COHORT_ERR_BAD_PARAMETER, or COHORT_ERR_NO_MEMORY where it takes more than
 * memory_budget. The answer is the same at all sites. Arguments and everything else as for
 * cohort_explain. */
COHORT_API cohort_status cohort_algorithm_check(cohort_comm *comm, const char *collective,
                                                const char *algorithm, size_t count,
                                                cohort_datatype datatype,
                                                const cohort_op *op) COHORT_MUST_USE;

/* A call to ask about. If all fields except COLLECTIVE and DATATYPE are zero, it is a call without
 * options. */
typedef struct cohort_call_question {
    const char *collective; /* as for cohort_explain; for "exchange" only ALGORITHM is used */
    const char *algorithm;  /* to be forced; NULL: the communicator's choice */
    size_t count;           /* of elements in a block */
    cohort_datatype datatype;
    const cohort_op *op;       /* of a reduction; NULL: one that is commutative */
    const uint32_t *root_site; /* as in cohort_call_options, like the next two */
    bool check_asymmetric;
    bool reproducible;
    bool of_objects; /* blocks are objects: no COUNT, no DATATYPE */
    /* The v-variant, with blocks of different sizes: no COUNT. COUNTS has num_sites numbers of
     * elements for all_gather and reduce_scatter, and is ignored otherwise. */
    bool is_ragged;
    const size_t *counts;
    int64_t q; /* of a shift */
} cohort_call_question;

/* Whether a call could be carried out. Returns COHORT_OK, or the status that the call would have at
 * a site that gives correct buffers, with a message. It makes the same checks as the call itself,
 * so the answers are the same, except for what only the call knows: memory for what is in place,
 * and memory for blocks whose sizes not all sites know. Everything else as for cohort_explain.
 * _sized: the exported function, for QUESTION_BYTES of QUESTION; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_call_check_sized(cohort_comm *comm,
                                                 const cohort_call_question *question,
                                                 size_t question_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status cohort_call_check(cohort_comm *comm,
                                                              const cohort_call_question *question)
{
    return cohort_call_check_sized(comm, question, sizeof(*question));
}

#ifdef __cplusplus
}
#endif

#endif
