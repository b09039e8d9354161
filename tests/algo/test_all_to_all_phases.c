/* SPDX-License-Identifier: Apache-2.0 */
/* Phases 1 and 3 of the hierarchical all-to-all alone, checked against a matrix whose elements
 * contain their own positions. */
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/pattern/all_to_all_phases.h"
#include "tests/algo/call.h"
#include "tests/support/test.h"

enum { LAST_SITES = 16, ELEMENT = 8, NUM_SEEDS = 3 };

static struct cohort__range group_of(const struct cohort__request *request, uint32_t site)
{
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    uint32_t index = cohort__partition_find(all, request->arity, site);
    return cohort__partition_group(all, request->arity, index);
}

/* A representative has the matrix of its group. The other sites have nothing. */
static size_t matrix_bytes(const struct cohort__request *request, uint32_t site)
{
    struct cohort__range group = group_of(request, site);
    return group.first == site ? group.count * request->num_sites * request->bytes : 0;
}

static void rows_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                       size_t *ret_out)
{
    *ret_in = request->num_sites * request->bytes;
    *ret_out = matrix_bytes(request, site);
}

static void columns_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                          size_t *ret_out)
{
    *ret_in = matrix_bytes(request, site);
    *ret_out = request->num_sites * request->bytes;
}

/* The elements of lines FIRST to FIRST + COUNT - 1, with num_sites elements in each line. */
static void encode(const struct cohort__request *request, uint8_t *bytes, uint32_t first,
                   uint32_t count)
{
    for (uint64_t line = 0; line < count; line++)
        for (uint64_t place = 0; place < request->num_sites; place++) {
            uint64_t element = (first + line) << 32 | (place + 1);
            memcpy(bytes + (line * request->num_sites + place) * ELEMENT, &element, ELEMENT);
        }
}

static void expect_lines(const struct call *call, uint32_t site, uint32_t first, uint64_t seed)
{
    size_t line_bytes = call->request.num_sites * call->request.bytes;
    uint32_t count = (uint32_t)(call->out_bytes[site] / line_bytes);
    if (count == 0)
        return;
    uint8_t *want = malloc(call->out_bytes[site]);
    CHECK(want);
    encode(&call->request, want, first, count);
    if (memcmp(call->out[site], want, call->out_bytes[site]) != 0)
        call_expect(call, "phase",
                    cohort_fail(COHORT_ERR_FAILED, "site %u has other elements", site), seed);
    free(want);
}

static void verify(call_build *build, call_sizes *sizes, uint32_t num_sites, uint32_t arity)
{
    struct cohort__request request = {
        .collective = COHORT__ALL_TO_ALL, .num_sites = num_sites, .arity = arity, .bytes = ELEMENT};
    struct call call;
    call_init(&call, &request, build, sizes, 1);
    call_expect(&call, "phase", call_check(&call), 1);
    for (uint32_t site = 0; site < num_sites; site++)
        encode(&request, call.in[site], site,
               (uint32_t)(call.in_bytes[site] / (num_sites * ELEMENT)));
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        call_expect(&call, "phase", call_run(&call, NULL, seed), seed);
        for (uint32_t site = 0; site < num_sites; site++)
            expect_lines(&call, site, site, seed);
    }
    call_fini(&call);
}

static void test_rows(void)
{
    for (uint32_t num_sites = 2; num_sites <= LAST_SITES; num_sites++)
        for (uint32_t arity = 2; arity <= 4; arity++)
            verify(cohort__all_to_all_rows_build, rows_sizes, num_sites, arity);
}

static void test_columns(void)
{
    for (uint32_t num_sites = 2; num_sites <= LAST_SITES; num_sites++)
        for (uint32_t arity = 2; arity <= 4; arity++)
            verify(cohort__all_to_all_columns_build, columns_sizes, num_sites, arity);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"rows", test_rows},
        {"columns", test_columns},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
