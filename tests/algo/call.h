/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_ALGO_CALL_H
#define COHORT_TESTS_ALGO_CALL_H

#include "collectives/algo/algorithm.h"
#include "tests/support/plan_run.h"

typedef cohort_status call_build(const struct cohort__request *request,
                                 struct cohort__plan **ret_plan);

/* One call of a collective at all of its sites: the plans, and buffers that are exactly as large as
 * what a user gives. IN has the same contents for the same seed. OUT is filled with garbage first.
 */
struct call {
    struct cohort__request request; /* its this_site is not used */
    struct cohort__plan **plans;
    uint8_t **in;
    uint8_t **out;
    size_t *in_bytes;
    size_t *out_bytes;
};

/* The sizes of a site's buffers. */
typedef void call_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                        size_t *ret_out);

/* The sizes that the public collectives use. */
void call_sizes_collective(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                           size_t *ret_out);

/* Ends the test on failure. */
void call_init(struct call *call, const struct cohort__request *request, call_build *build,
               call_sizes *sizes, uint64_t seed);
void call_init_row(struct call *call, const struct cohort__request *request,
                   const struct cohort__algorithm *row, call_sizes *sizes, uint64_t seed);
void call_fini(struct call *call);

/* Runs the plan check, and checks that the plans use the buffers up to their ends and not beyond.
 */
cohort_status call_check(const struct call *call);

/* Fills OUT with garbage and runs the plans. */
cohort_status call_run(const struct call *call, plan_run_op *op, uint64_t seed);

/* What OUT of a site has to be, by the definition of the collective. OP is as in plan_run_op and is
 * applied from left to right. WANT has out_bytes[site] bytes. */
void call_reference(const struct call *call, uint32_t site, plan_run_op *op, uint8_t *want);

/* If STATUS is an error, ends the test with the request, the seed and the error message. */
void call_expect(const struct call *call, const char *what, cohort_status status, uint64_t seed);

/* Runs the plans, and compares OUT of all sites with the reference. */
void call_verify(const struct call *call, const char *what, plan_run_op *op, uint64_t seed);

/* Operations. call_op_add adds bytes and commutes. call_op_affine composes affine maps of residues.
 * It is associative, but does not commute; its elements have 8 bytes, or 1 where the length is no
 * multiple of 8. call_op_hash is not even associative. */
plan_run_op call_op_add;
plan_run_op call_op_affine;
plan_run_op call_op_affine_byte; /* elements of 1 byte, whatever the length */
plan_run_op call_op_hash;

/* The number of sites to go on with: the next one, except under the slow sanitizers, which see the
 * same code with fewer numbers of sites. */
uint32_t call_next_sites(uint32_t num_sites);

#endif
