/* SPDX-License-Identifier: Apache-2.0 */
/* Every row, with each of its allocations failing in turn. It has to end with an error, without a
 * crash and without a leak (which the address sanitizer finds). */
#include <stdlib.h>

#include "collectives/algo/agreement.h"
#include "collectives/algo/algorithm.h"
#include "collectives/model/sim.h"
#include "tests/support/machine.h"
#include "tests/support/test.h"

/* The linker redirects all calls of malloc to __wrap_malloc, and so on. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);

/* How many allocations succeed before one fails. Those after it succeed again. */
static long left = -1;

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

/* Returns how many allocations the row needs. */
static long verify(const struct cohort__algorithm *row, const struct cohort__request *request)
{
    for (long failing = 0;; failing++) {
        struct cohort__plan *plan = NULL;
        left = failing;
        cohort_status status = cohort__algorithm_build(row, request, &plan);
        bool has_failed = left < 0;
        left = -1;
        if (!has_failed) {
            CHECK_OK(status);
            cohort__plan_unref(plan);
            return failing;
        }
        CHECK_INT(status, COHORT_ERR_NO_MEMORY);
        CHECK(!plan);
    }
}

TEST(rows)
{
    long num_allocations = 0;
    struct cohort__machine *machine = test_machine_create();
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t site = 0; site < 23; site++) {
            struct cohort__request request = {.collective = cohort__algorithms[i]->collective,
                                              .num_sites = 23,
                                              .this_site = site,
                                              .arity = 3,
                                              .bytes = 8,
                                              .commutative = true};
            if (cohort__algorithm_refuses(cohort__algorithms[i], &request)) {
                request.num_sites = TEST_MACHINE_SITES; /* the row needs a power of two */
                request.this_site %= TEST_MACHINE_SITES;
                request.machine = machine; /* or levels */
                request.shift = request.collective == COHORT__SHIFT ? 5 : 0;
            }
            if (!cohort__algorithms[i]->shared)
                num_allocations += verify(cohort__algorithms[i], &request);
        }
    CHECK(num_allocations > 17 * 23 * 3); /* the wrapped functions are really called */
    cohort__machine_destroy(machine);
}

TEST(agreement)
{
    struct cohort__request request = {
        .collective = COHORT__GATHER, .num_sites = 9, .arity = 3, .bytes = 8};
    struct cohort__request minimum_request = cohort__agreement_request(&request);
    struct cohort__plan *gather = NULL, *minimum = NULL, *plan = NULL;
    CHECK_OK(cohort__algorithm_plan(&cohort__gather_hierarchical, &request, &gather));
    CHECK_OK(cohort__algorithm_plan(&cohort__all_reduce_hierarchical, &minimum_request, &minimum));
    long failing = 0;
    for (bool has_failed = true; has_failed; failing++) {
        left = failing;
        cohort_status status = cohort__agreement_build(minimum, gather, &plan);
        has_failed = left < 0;
        left = -1;
        CHECK_INT(status, has_failed ? COHORT_ERR_NO_MEMORY : COHORT_OK);
        CHECK(has_failed == !plan);
    }
    CHECK(failing > 10); /* the wrapped functions are really called */
    cohort__plan_unref(plan);
    cohort__plan_unref(minimum);
    cohort__plan_unref(gather);
}

/* The simulation of the plans has allocations of its own. */
TEST(simulation)
{
    static const char *const names[] = {"ring", "full", "hosts:3"};
    struct cohort__request request = {
        .collective = COHORT__REDUCE, .num_sites = 9, .arity = 3, .bytes = 8, .commutative = true};
    struct cohort__sim_costs costs = {.startup = 1, .reduce = 1};
    for (unsigned i = 0; i < 3; i++) {
        struct cohort__network network;
        bool has_failed = true;
        long failing = 0;
        CHECK_OK(cohort__network_init(&network, names[i], 9));
        for (; has_failed; failing++) {
            struct cohort__sim_result result = {.messages = 77};
            left = failing;
            cohort_status status = cohort__simulate_algorithm(
                &network, &costs, &cohort__reduce_hierarchical, &request, &result);
            has_failed = left < 0;
            left = -1;
            CHECK_INT(status, has_failed ? COHORT_ERR_NO_MEMORY : COHORT_OK);
            CHECK_INT((long long)result.messages, has_failed ? 77 : 8);
            if (!has_failed)
                cohort__sim_result_fini(&result);
        }
        CHECK(failing > 9 * 3 + 10);
    }
}

/* Blocks of different sizes, on a machine. */
TEST(ragged)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__part parts[TEST_MACHINE_SITES];
    struct cohort__request request = {
        .num_sites = TEST_MACHINE_SITES, .arity = 3, .commutative = true, .machine = machine};
    for (uint32_t i = 0; i < TEST_MACHINE_SITES; i++)
        parts[i] = (struct cohort__part){i, 100 * i, 3 * i};
    for (uint32_t site = 0; site < TEST_MACHINE_SITES; site++) {
        struct cohort__request gather = request, scatter = request;
        gather.collective = COHORT__ALL_GATHER;
        scatter.collective = COHORT__REDUCE_SCATTER;
        gather.this_site = scatter.this_site = site;
        gather.bytes = scatter.bytes = parts[site].bytes;
        gather.out_parts = scatter.in_parts = parts;
        gather.num_out_parts = scatter.num_in_parts = TEST_MACHINE_SITES;
        verify(cohort__algorithm_find(COHORT__ALL_GATHER, "levels"), &gather);
        verify(cohort__algorithm_find(COHORT__REDUCE_SCATTER, "levels"), &scatter);
    }
    cohort__machine_destroy(machine);
}
