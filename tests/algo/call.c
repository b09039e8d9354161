/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/algo/call.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { RUBBISH = 0x5a };

void call_sizes_collective(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                           size_t *ret_out)
{
    bool is_root = site == request->root;
    size_t one = request->bytes;
    size_t all = request->num_sites * one;
    switch (request->collective) {
    case COHORT__GATHER:
        *ret_in = one;
        *ret_out = is_root ? all : 0;
        break;
    case COHORT__SCATTER:
        *ret_in = is_root ? all : 0;
        *ret_out = one;
        break;
    case COHORT__BROADCAST:
        *ret_in = is_root ? one : 0;
        *ret_out = is_root ? 0 : one;
        break;
    case COHORT__REDUCE:
        *ret_in = one;
        *ret_out = is_root ? one : 0;
        break;
    case COHORT__ALL_GATHER:
        *ret_in = one;
        *ret_out = all;
        break;
    case COHORT__ALL_REDUCE:
        *ret_in = one;
        *ret_out = one;
        break;
    case COHORT__ALL_TO_ALL:
        *ret_in = all;
        *ret_out = all;
        break;
    case COHORT__REDUCE_SCATTER:
        *ret_in = all;
        *ret_out = one;
        break;
    case COHORT__SCAN:
    case COHORT__SHIFT:
        *ret_in = one;
        *ret_out = one;
        break;
    case COHORT__EXCLUSIVE_SCAN: /* no site receives the last site's input */
        *ret_in = site + 1 < request->num_sites ? one : 0;
        *ret_out = site > 0 ? one : 0;
        break;
    default:
        *ret_in = 0;
        *ret_out = 0;
    }
}

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    CHECK(memory || count * bytes == 0);
    return memory;
}

/* By ROW, or if that is NULL by BUILD. */
static void init(struct call *call, const struct cohort__request *request,
                 const struct cohort__algorithm *row, call_build *build, call_sizes *sizes,
                 uint64_t seed)
{
    uint32_t num_sites = request->num_sites;
    struct cohort__random random = cohort__random_seeded(seed);
    *call = (struct call){
        .request = *request,
        .plans = allocate(num_sites, sizeof(*call->plans)),
        .in = allocate(num_sites, sizeof(*call->in)),
        .out = allocate(num_sites, sizeof(*call->out)),
        .in_bytes = allocate(num_sites, sizeof(*call->in_bytes)),
        .out_bytes = allocate(num_sites, sizeof(*call->out_bytes)),
    };
    for (uint32_t site = 0; site < num_sites; site++) {
        call->request.this_site = site;
        cohort_status status = row ? cohort__algorithm_plan(row, &call->request, &call->plans[site])
                                   : build(&call->request, &call->plans[site]);
        call_expect(call, "build", status, seed);
        sizes(request, site, &call->in_bytes[site], &call->out_bytes[site]);
        call->in[site] = allocate(call->in_bytes[site], 1);
        call->out[site] = allocate(call->out_bytes[site], 1);
        for (size_t i = 0; i < call->in_bytes[site]; i++)
            call->in[site][i] = (uint8_t)cohort__random_next(&random);
    }
}

void call_init(struct call *call, const struct cohort__request *request, call_build *build,
               call_sizes *sizes, uint64_t seed)
{
    init(call, request, NULL, build, sizes, seed);
}

void call_init_row(struct call *call, const struct cohort__request *request,
                   const struct cohort__algorithm *row, call_sizes *sizes, uint64_t seed)
{
    init(call, request, row, NULL, sizes, seed);
}

void call_fini(struct call *call)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        cohort__plan_unref(call->plans[site]);
        free(call->in[site]);
        free(call->out[site]);
    }
    free(call->plans);
    free(call->in);
    free(call->out);
    free(call->in_bytes);
    free(call->out_bytes);
}

cohort_status call_check(const struct call *call)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        const struct cohort__plan *plan = call->plans[site];
        /* A plan may leave out a part of IN only if it has nothing to do with it. That happens only
         * to the last site of an exclusive scan. */
        bool may_leave_out =
            call->request.num_sites == 1 || (call->request.collective == COHORT__EXCLUSIVE_SCAN &&
                                             site == call->request.num_sites - 1);
        if (plan->in_bytes != call->in_bytes[site] &&
            !(may_leave_out && plan->in_bytes < call->in_bytes[site]))
            return cohort_fail(COHORT_ERR_FAILED, "site %u reads %zu bytes of IN, not %zu", site,
                               plan->in_bytes, call->in_bytes[site]);
        if (plan->out_bytes != call->out_bytes[site])
            return cohort_fail(COHORT_ERR_FAILED, "site %u writes %zu bytes of OUT, not %zu", site,
                               plan->out_bytes, call->out_bytes[site]);
    }
    return plan_check(call->plans, call->request.num_sites);
}

cohort_status call_run(const struct call *call, plan_run_op *op, uint64_t seed)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        if (call->out_bytes[site] > 0)
            memset(call->out[site], RUBBISH, call->out_bytes[site]);
    struct plan_run run = {.plans = call->plans,
                           .num_sites = call->request.num_sites,
                           .in = (const uint8_t *const *)call->in,
                           .out = call->out,
                           .op = op,
                           .seed = seed};
    return plan_run(&run);
}

/* The reduction of sites 0 to LAST, of the block at OFFSET of each. */
static void reduce_reference(const struct call *call, plan_run_op *op, uint32_t last, size_t offset,
                             uint8_t *want)
{
    size_t bytes = call->request.bytes;
    memcpy(want, call->in[0] + offset, bytes);
    for (uint32_t site = 1; site <= last; site++)
        op(want, want, call->in[site] + offset, bytes);
}

void call_reference(const struct call *call, uint32_t site, plan_run_op *op, uint8_t *want)
{
    size_t bytes = call->request.bytes;
    uint32_t num_sites = call->request.num_sites;
    if (call->out_bytes[site] == 0)
        return;
    switch (call->request.collective) {
    case COHORT__SCATTER:
        memcpy(want, call->in[call->request.root] + site * bytes, bytes);
        break;
    case COHORT__BROADCAST:
        memcpy(want, call->in[call->request.root], bytes);
        break;
    case COHORT__REDUCE:
    case COHORT__ALL_REDUCE:
        reduce_reference(call, op, num_sites - 1, 0, want);
        break;
    case COHORT__REDUCE_SCATTER:
        reduce_reference(call, op, num_sites - 1, site * bytes, want);
        break;
    case COHORT__SCAN:
        reduce_reference(call, op, site, 0, want);
        break;
    case COHORT__EXCLUSIVE_SCAN:
        reduce_reference(call, op, site - 1, 0, want);
        break;
    case COHORT__SHIFT:
        memcpy(want, call->in[(site + num_sites - call->request.shift) % num_sites], bytes);
        break;
    case COHORT__GATHER:
    case COHORT__ALL_GATHER:
        for (uint32_t from = 0; from < call->request.num_sites; from++)
            memcpy(want + from * bytes, call->in[from], bytes);
        break;
    case COHORT__ALL_TO_ALL:
        for (uint32_t from = 0; from < call->request.num_sites; from++)
            memcpy(want + from * bytes, call->in[from] + site * bytes, bytes);
        break;
    default:
        break;
    }
}

void call_expect(const struct call *call, const char *what, cohort_status status, uint64_t seed)
{
    const struct cohort__request *request = &call->request;
    if (status != COHORT_OK)
        test_failed(
            __FILE__, __LINE__,
            "%s %s, %u sites, root %u, arity %u, shift %u, %zu bytes, commutative %d, seed 0x%llx: "
            "%s: %s",
            cohort__collective_name(request->collective), what, request->num_sites, request->root,
            request->arity, request->shift, request->bytes, request->commutative,
            (unsigned long long)seed, cohort_status_name(status), cohort_error_message());
}

void call_verify(const struct call *call, const char *what, plan_run_op *op, uint64_t seed)
{
    call_expect(call, what, call_run(call, op, seed), seed);
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        size_t bytes = call->out_bytes[site];
        uint8_t *want = allocate(bytes, 1);
        call_reference(call, site, op, want);
        for (size_t i = 0; i < bytes; i++)
            if (call->out[site][i] != want[i])
                call_expect(call, what,
                            cohort_fail(COHORT_ERR_FAILED,
                                        "site %u: byte %zu of OUT is 0x%02x, not 0x%02x", site, i,
                                        call->out[site][i], want[i]),
                            seed);
        free(want);
    }
}

void call_op_add(void *to, const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;
    uint8_t *sum = to;
    for (size_t i = 0; i < bytes; i++)
        sum[i] = (uint8_t)(a[i] + b[i]);
}

/* The map x -> factor * x + summand. The left map is applied last. Odd factors keep all residues
 * distinct. */
static void affine_words(uint32_t *to, const uint32_t *a, const uint32_t *b)
{
    uint32_t factor = (a[0] | 1) * (b[0] | 1);
    uint32_t summand = (a[0] | 1) * b[1] + a[1];
    to[0] = factor;
    to[1] = summand;
}

/* The same map modulo 16. The factor is in the high half of the byte. */
static uint8_t affine_byte(uint8_t a, uint8_t b)
{
    unsigned a_factor = a >> 4 | 1, b_factor = b >> 4 | 1;
    return (uint8_t)((a_factor * b_factor % 16) << 4 | (a_factor * (b % 16) + a) % 16);
}

void call_op_affine_byte(void *to, const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;
    uint8_t *result = to;
    for (size_t i = 0; i < bytes; i++)
        result[i] = affine_byte(a[i], b[i]);
}

void call_op_affine(void *to, const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;
    uint8_t *result = to;
    if (bytes % 8 != 0) {
        call_op_affine_byte(to, left, right, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += 8) {
        uint32_t words[3][2];
        memcpy(words[0], a + i, 8);
        memcpy(words[1], b + i, 8);
        affine_words(words[2], words[0], words[1]);
        memcpy(result + i, words[2], 8);
    }
}

void call_op_hash(void *to, const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;
    uint8_t *result = to;
    for (size_t i = 0; i < bytes; i++)
        result[i] = (uint8_t)cohort__hash_mix(a[i], b[i]);
}

uint32_t call_next_sites(uint32_t num_sites)
{
    bool is_slow = COHORT__ASAN || COHORT__TSAN;
    return num_sites + 1 + (is_slow ? num_sites / 3 : 0);
}
