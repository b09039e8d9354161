/* SPDX-License-Identifier: Apache-2.0 */
/* Every row, with each of its allocations failing in turn: an error, no crash, and no leak (which
 * the address sanitizer sees). */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

/* The linker sends all calls of malloc to __wrap_malloc, and so on. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

/* How many allocations succeed until one fails; those after it succeed again. */
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

/* Returns how many allocations it takes. */
static long verify(const struct cohort__algorithm *row, const struct cohort__request *request)
{
    for (long failing = 0;; failing++) {
        struct cohort__plan *plan = NULL;
        left = failing;
        cohort_status status = cohort__algorithm_build(row, request, &plan);
        bool has_failed = left < 0;
        left = -1;
        if (!has_failed) {
            CHECK_INT(status, COHORT_OK);
            cohort__plan_unref(plan);
            return failing;
        }
        CHECK_INT(status, COHORT_ERR_NO_MEMORY);
        CHECK(!plan);
    }
}

static void test_rows(void)
{
    long num_allocations = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t site = 0; site < 23; site++) {
            struct cohort__request request = {.collective = cohort__algorithms[i]->collective,
                                              .num_sites = 23,
                                              .this_site = site,
                                              .arity = 3,
                                              .bytes = 8};
            num_allocations += verify(cohort__algorithms[i], &request);
        }
    CHECK(num_allocations > 17 * 23 * 3); /* they do come by here */
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"rows", test_rows}};
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
