/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what the rows say of their cost with the plans that they build. Messages, bytes and
 * reductions of all sites are exact. Memory is enough, and not much more than that. (For time see
 * tests/unit/.../sim.) */
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

enum { LAST_SITES = 33 };

struct totals {
    double messages;
    double moved;
    double combined;
    size_t memory; /* of the site that needs most */
};

static void count_plan(struct totals *totals, const struct cohort__plan *plan)
{
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        if (step->kind == COHORT__STEP_SEND) {
            totals->messages++;
            totals->moved += (double)step->bytes;
        } else if (step->kind == COHORT__STEP_REDUCE) {
            totals->combined += (double)step->bytes;
        }
    }
    if (plan->tmp_bytes > totals->memory)
        totals->memory = plan->tmp_bytes;
}

static void check_exact(const char *what, double said, double counted,
                        const struct cohort__algorithm *row, const struct cohort__request *request)
{
    if (said != counted)
        FAIL("%s %s, %u sites, root %u, arity %u, shift %u, %zu bytes: %s: says %.0f, has "
             "%.0f",
             cohort__collective_name(row->collective), row->name, request->num_sites, request->root,
             request->arity, request->shift, request->bytes, what, said, counted);
}

static void check_cost(const struct cohort__algorithm *row, struct cohort__request request)
{
    struct totals totals = {0};
    if (cohort__algorithm_refuses(row, &request))
        return;
    for (uint32_t site = 0; site < request.num_sites; site++) {
        struct cohort__plan *plan = NULL;
        request.this_site = site;
        CHECK_OK(cohort__algorithm_build(row, &request, &plan));
        count_plan(&totals, plan);
        cohort__plan_unref(plan);
    }
    struct cohort__cost cost = cohort__algorithm_cost(row, &request);
    check_exact("messages", cost.messages, totals.messages, row, &request);
    check_exact("moved", cost.moved, totals.moved, row, &request);
    check_exact("combined", cost.combined, totals.combined, row, &request);
    CHECK(cost.startups >= 0 && cost.bytes >= 0 && cost.reduced >= 0);
    CHECK(cost.startups <= cost.messages && cost.bytes <= cost.moved);
    CHECK(cost.reduced <= cost.combined);
    if (cost.memory < (double)totals.memory || cost.memory > 1.125 * (double)totals.memory + 4096)
        check_exact("memory", cost.memory, (double)totals.memory, row, &request);
}

static void check_row(const struct cohort__algorithm *row)
{
    static const uint32_t arities[] = {4, 2, 3, 8};
    static const size_t sizes[] = {1024, 8, 0, 6 << 20};
    bool reduces = cohort__collective_reduces(row->collective);
    for (uint32_t n = 1; n <= LAST_SITES + 1; n++) {
        struct cohort__request request = {
            .collective = row->collective,
            .num_sites = n <= LAST_SITES ? n : 64,
            .arity = 2,
            .element = 8,
        };
        for (uint32_t a = 0; a < (row->hierarchical ? 4 : 1); a++)
            for (uint32_t s = 0; s < 4; s++)
                for (int commutative = !reduces; commutative <= 1; commutative++) {
                    request.arity = arities[a];
                    request.bytes = sizes[s];
                    request.commutative = commutative;
                    request.root = request.shift = 0;
                    check_cost(row, request);
                    if (cohort__collective_is_rooted(row->collective))
                        request.root = request.num_sites / 2;
                    if (row->collective == COHORT__SHIFT)
                        request.shift = request.num_sites / 3;
                    check_cost(row, request);
                }
    }
}

TEST(rows)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        if (!cohort__algorithms[i]->stages) /* until all rows have a cost */
            check_row(cohort__algorithms[i]);
}
