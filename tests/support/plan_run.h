/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_PLAN_RUN_H
#define COHORT_TESTS_SUPPORT_PLAN_RUN_H

#include <stdbool.h>

#include "collectives/plan/plan.h"

/* TO = LEFT op RIGHT, as a REDUCE step; TO may be LEFT or RIGHT. */
typedef void plan_run_op(void *to, const void *left, const void *right, size_t bytes);

/* The plans of all sites of one call, run in one process without threads. The seed decides which
 * ready step and which message comes next, and whether a message is copied when it is sent or
 * fetched when it is received. TMP starts as rubbish, and what a RECV writes to is rubbish from its
 * start to its end; so who reads too early gets a wrong result. */
struct plan_run {
    struct cohort__plan *const *plans; /* plans[site] */
    uint32_t num_sites;
    const uint8_t *const *in; /* in[site]: at least in_bytes */
    uint8_t *const *out;      /* out[site]: at least out_bytes */
    plan_run_op *op;          /* NULL if there is no REDUCE of the caller's */
    uint8_t *const *check;    /* check[site]: COHORT__CHECK_BYTES; NULL if there is no agreement */
    bool (*guard)(const uint8_t *check); /* false: the site stops there */
    uint64_t seed;
    bool *ret_is_done; /* for each site, also when the run fails; NULL: nobody asks */
};

/* Fails, with a message, when a message finds no RECV or steps are left that can't start. */
cohort_status plan_run(const struct plan_run *run);

#endif
