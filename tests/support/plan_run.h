/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_PLAN_RUN_H
#define COHORT_TESTS_SUPPORT_PLAN_RUN_H

#include <stdbool.h>

#include "collectives/plan/plan.h"

/* TO = LEFT op RIGHT, as in a REDUCE step. TO may be LEFT or RIGHT. */
typedef void plan_run_op(void *to, const void *left, const void *right, size_t bytes);

/* The plans of all sites of one call, run in one process without threads. The seed decides which
 * ready step and which message comes next, and whether a message is copied when it is sent or
 * fetched when it is received. TMP is filled with garbage first. What a RECV writes to is garbage
 * from its start to its end, so that a step that reads too early gets a wrong result. */
struct plan_run {
    struct cohort__plan *const *plans; /* plans[site] */
    uint32_t num_sites;
    const uint8_t *const *in; /* in[site]: at least in_bytes */
    uint8_t *const *out;      /* out[site]: at least out_bytes */
    plan_run_op *op;          /* NULL if the caller has no REDUCE */
    uint8_t *const *check;    /* check[site]: COHORT__CHECK_BYTES; NULL if there is no agreement */
    bool (*guard)(const uint8_t *check); /* false: the site stops there */
    uint64_t seed;
    bool *ret_is_done; /* set for each site, also if the run fails; may be NULL */
};

/* Fails with a message if a message matches no RECV, or if some steps can't start. */
cohort_status plan_run(const struct plan_run *run);

#endif
