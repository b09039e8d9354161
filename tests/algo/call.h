/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_ALGO_CALL_H
#define COHORT_TESTS_ALGO_CALL_H

#include "collectives/algo/algorithm.h"
#include "tests/support/plan_run.h"

typedef cohort_status call_build(const struct cohort__request *request,
                                 struct cohort__plan **ret_plan);

/* One call of a collective at all of its sites: the plans, and buffers that are exactly as large as
 * what a user gives. IN is the same for the same seed; OUT starts as rubbish. */
struct call {
    struct cohort__request request; /* this_site is nobody's */
    struct cohort__plan **plans;
    uint8_t **in;
    uint8_t **out;
    size_t *in_bytes;
    size_t *out_bytes;
};

/* How large the buffers of a site are. */
typedef void call_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                        size_t *ret_out);

/* The sizes of the public collectives. */
void call_sizes_collective(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                           size_t *ret_out);

/* A failure ends the test. */
void call_init(struct call *call, const struct cohort__request *request, call_build *build,
               call_sizes *sizes, uint64_t seed);
void call_fini(struct call *call);

/* The plan check, and that the plans reach to the ends of the buffers and not beyond. */
cohort_status call_check(const struct call *call);

/* Runs the plans; OUT is rubbish before. */
cohort_status call_run(const struct call *call, plan_run_op *op, uint64_t seed);

/* What OUT of a site has to be, by the definition of the collective; OP as plan_run_op, applied
 * from left to right. WANT has out_bytes[site] bytes. */
void call_reference(const struct call *call, uint32_t site, plan_run_op *op, uint8_t *want);

/* Ends the test with the request, the seed and the error message, if STATUS is one. */
void call_expect(const struct call *call, const char *what, cohort_status status, uint64_t seed);

/* Runs, and compares OUT of all sites with the reference. */
void call_verify(const struct call *call, const char *what, plan_run_op *op, uint64_t seed);

/* Operations. Bytes added: commutes. Affine maps of residues, one after the other: associative, but
 * does not commute; elements of 8 bytes (of 1 where the length is no multiple of 8). A hash: not
 * even associative. */
plan_run_op call_op_add;
plan_run_op call_op_affine;
plan_run_op call_op_affine_byte; /* elements of 1 byte, whatever the length */
plan_run_op call_op_hash;

/* The number of sites to go on with: all, but for the slow sanitizers, which see the same code at
 * fewer. */
uint32_t call_next_sites(uint32_t num_sites);

#endif
