/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_INPROC_H
#define COHORT_TESTS_SUPPORT_INPROC_H

#include "runtime/net/net.h"

/* A transport within one process, for tests: several ends on one hub, one a rank. Each end may be
 * driven by another thread.
 *
 * With seed 0 everything arrives at once and in order. Any other seed delays messages, the ends of
 * fetches and `writable` by up to eight calls of the receiving end's progress, lets them overtake
 * each other, and now and then answers AGAIN. As long as ends are driven by one thread a seed
 * gives the same order each time. */
struct cohort__inproc_hub;

/* COHORT_ERR_NO_MEMORY. */
cohort_status cohort__inproc_hub_create(uint64_t seed, uint32_t num_ends,
                                        struct cohort__inproc_hub **ret_hub);

/* After all its ends have been destroyed. NULL is fine. */
void cohort__inproc_hub_destroy(struct cohort__inproc_hub *hub);

/* The end of RANK (below num_ends, not taken yet). Its peers' numbers are up to it, as usual.
 * COHORT_ERR_BAD_PARAMETER, COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM. */
cohort_status cohort__inproc_create(struct cohort__inproc_hub *hub, uint32_t rank,
                                    const struct cohort__net_handlers *handlers,
                                    struct cohort__net **ret_net);

/* RANK dies: nothing comes from it or gets there any more, and whoever has it as a peer is told
 * that it is unreachable. Its end can still be driven and destroyed. */
void cohort__inproc_cut(struct cohort__inproc_hub *hub, uint32_t rank);

#endif
