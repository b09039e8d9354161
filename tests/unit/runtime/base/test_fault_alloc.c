/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/fault.h"

#include <errno.h>

#include "runtime/base/slab.h"
#include "tests/support/test.h"

static void make(struct cohort__fault *fault, uint32_t rank, const char *text)
{
    fault->rank = rank;
    CHECK_OK(cohort__fault_plan_read(text, &fault->plan));
}

static void test_wanted(void)
{
    struct cohort__fault fault;
    make(&fault, 1, "kill:1@3,drop:1-2@3,alloc:2@7");
    CHECK(!cohort__alloc_fault_is_wanted(&fault));
    make(&fault, 2, "kill:1@3,drop:1-2@3,alloc:2@7");
    CHECK(cohort__alloc_fault_is_wanted(&fault));
    CHECK(!cohort__alloc_can_fail); /* this program has no fault_wrap.c */
}

/* Those that are named fail, and after the last one nothing is counted any more. */
static void test_counts(void)
{
    struct cohort__fault fault;
    make(&fault, 1, "alloc:1@4,alloc:2@3,alloc:1@2,kill:1@1");
    CHECK(!atomic_load(&cohort__alloc_is_counted));
    for (int round = 0; round < 2; round++) {
        cohort__alloc_fault_begin(&fault);
        for (int number = 1; number <= 4; number++) {
            CHECK(atomic_load(&cohort__alloc_is_counted));
            errno = 0;
            CHECK(cohort__alloc_fails() == (number % 2 == 0));
            CHECK_INT(errno, number % 2 == 0 ? ENOMEM : 0);
        }
        CHECK(!atomic_load(&cohort__alloc_is_counted));
    }
    cohort__alloc_fault_begin(&fault);
    cohort__alloc_fault_end();
    CHECK(!atomic_load(&cohort__alloc_is_counted));
    CHECK(!cohort__alloc_fails()); /* a thread that has looked before the end */
}

/* The slab has objects of before and of malloc at the same time. */
static void test_slab(void)
{
    struct cohort__slab_stats before, after;
    void *old = cohort__slab_alloc(40);
    cohort__slab_use_malloc();
    cohort__slab_stats_get(&before);
    void *objects[5000];
    for (int i = 0; i < 5000; i++) {
        objects[i] = cohort__slab_alloc_zero(40);
        CHECK(objects[i] != NULL);
    }
    cohort__slab_stats_get(&after);
    CHECK_INT(after.num_chunks, before.num_chunks);
    CHECK_INT(after.num_caches, before.num_caches);
    cohort__slab_free(old);
    for (int i = 0; i < 5000; i++)
        cohort__slab_free(objects[i]);
}

int main(void)
{
    test_wanted();
    test_counts();
    test_slab();
    return 0;
}
