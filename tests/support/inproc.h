/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_INPROC_H
#define COHORT_TESTS_SUPPORT_INPROC_H

#include "runtime/net/net.h"

/* A transport within one process, for tests. A hub connects several ends, one for each rank. Each
 * end may be driven by another thread.
 *
 * With seed 0 everything arrives at once and in order. With any other seed, messages, the ends of
 * fetches and `writable` are delayed by up to eight calls of the receiving end's progress, and
 * overtake each other. Now and then a send is answered with AGAIN. If one thread drives all ends, a
 * seed gives the same order each time. */
struct cohort__inproc_hub;

/* COHORT_ERR_NO_MEMORY. */
cohort_status cohort__inproc_hub_create(uint64_t seed, uint32_t num_ends,
                                        struct cohort__inproc_hub **ret_hub);

/* May be called after all its ends have been destroyed. NULL is fine. */
void cohort__inproc_hub_destroy(struct cohort__inproc_hub *hub);

/* The end of RANK (below num_ends, not taken yet). The caller chooses the numbers of its peers, as
 * with other transports. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM. */
cohort_status cohort__inproc_create(struct cohort__inproc_hub *hub, uint32_t rank,
                                    const struct cohort__net_handlers *handlers,
                                    struct cohort__net **ret_net);

/* RANK dies: no message comes from it or reaches it any more. Ends that have it as a peer are told
 * that it is unreachable. Its own end can still be driven and destroyed. */
void cohort__inproc_cut(struct cohort__inproc_hub *hub, uint32_t rank);

/* The same, for all RANKS (a bit each), as soon as RANK has sent NUM_MESSAGES more. */
void cohort__inproc_cut_after(struct cohort__inproc_hub *hub, uint32_t rank, uint64_t num_messages,
                              uint64_t ranks);

#endif
