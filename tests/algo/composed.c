/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/algo/composed.h"

#include "tests/support/test.h"

void composed_sizes(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                    size_t *ret_out)
{
    call_sizes_collective(request, site, ret_in, ret_out);
    if (request->collective == COHORT__EXCLUSIVE_SCAN)
        *ret_in = request->bytes;
}

/* The memory of the row that does STAGE, as its price has it. */
static double memory_of(const struct cohort__request *request, const struct cohort__stage *stage)
{
    bool is_linear = stage->is_ragged || stage->is_top;
    const struct cohort__algorithm *row =
        stage->is_top && request->inner
            ? cohort__algorithms[request->inner - 1]
            : cohort__algorithm_find(stage->collective, is_linear ? "linear" : "hierarchical");
    const struct cohort__request part = {.collective = stage->collective,
                                         .num_sites = stage->num_sites,
                                         .arity = request->arity,
                                         .bytes = stage->bytes,
                                         .element = request->element,
                                         .commutative = request->commutative};
    return stage->num_sites > 1 && !row->stages ? cohort__algorithm_cost(row, &part).memory : 0;
}

/* No plan takes more memory than the price says. */
static void check_memory(const struct cohort__algorithm *row, const struct call *call)
{
    struct cohort__stages stages;
    row->stages(&call->request, &stages);
    const double num_segments = stages.num_segments > 0 ? stages.num_segments : 1;
    double most = stages.memory;
    for (uint32_t i = 0; i < stages.num; i++)
        most += num_segments * memory_of(&call->request, &stages.stages[i]);
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        if ((double)call->plans[site]->tmp_bytes > most)
            FAIL("%s, %u sites: site %u takes %zu bytes, not %.0f",
                 cohort__collective_name(row->collective), call->request.num_sites, site,
                 call->plans[site]->tmp_bytes, most);
}

void composed_verify(const struct cohort__algorithm *row, const struct cohort__request *request,
                     uint64_t seed)
{
    struct call call;
    call_init_row(&call, request, row, composed_sizes, seed);
    call_expect(&call, row->name, call_check(&call), seed);
    check_memory(row, &call);
    plan_run_op *affine = request->bytes % 8 == 0 ? call_op_affine : call_op_affine_byte;
    call_verify(&call, row->name, request->commutative ? call_op_add : affine, seed);
    call_fini(&call);
}

enum cohort__collective composed_top(enum cohort__collective collective)
{
    switch (collective) {
    case COHORT__SCAN:
        return COHORT__EXCLUSIVE_SCAN;
    case COHORT__SHIFT:
        return COHORT__EXCHANGE;
    default:
        return collective;
    }
}
