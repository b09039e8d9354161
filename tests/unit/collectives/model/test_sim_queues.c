/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of events and the queues of jobs return their entries in order. */
#include <stdlib.h>

#include "collectives/model/sim_heap.h"
#include "collectives/model/sim_jobs.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM = 500 };

static void test_heap(void)
{
    struct cohort__sim_heap heap = {0};
    struct cohort__random random;
    cohort__random_init(&random, 7);
    for (unsigned i = 0; i < NUM; i++)
        CHECK(cohort__sim_heap_push(&heap, (double)cohort__random_below(&random, 50), i));
    struct cohort__sim_entry last = {-1, 0};
    for (unsigned i = 0; i < NUM; i++) {
        CHECK_INT(heap.count, NUM - i);
        struct cohort__sim_entry entry = cohort__sim_heap_pop(&heap);
        CHECK(entry.key > last.key || (entry.key >= last.key && entry.value > last.value));
        last = entry;
    }
    cohort__sim_heap_fini(&heap);
}

/* Jobs are added and removed at random. The job that is removed is always the lowest one. */
static void test_queue(void)
{
    struct cohort__sim_job jobs[NUM] = {0};
    bool is_in[NUM] = {false};
    uint32_t queue = COHORT__NO_JOB, num_in = 0;
    struct cohort__random random;
    cohort__random_init(&random, 8);
    for (uint32_t i = 0; i < NUM; i++)
        jobs[i].order = (i * UINT32_C(7919)) % 100003;
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t job = (uint32_t)cohort__random_below(&random, NUM);
        if (!is_in[job]) {
            cohort__sim_queue_add(jobs, &queue, job);
            is_in[job] = true;
            num_in++;
        } else {
            uint32_t lowest = COHORT__NO_JOB;
            for (uint32_t i = 0; i < NUM; i++)
                if (is_in[i] && (lowest == COHORT__NO_JOB || jobs[i].order < jobs[lowest].order))
                    lowest = i;
            CHECK_INT(cohort__sim_queue_take(jobs, &queue), lowest);
            is_in[lowest] = false;
            num_in--;
        }
        CHECK_INT(queue == COHORT__NO_JOB, num_in == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"heap", test_heap},
        {"queue", test_queue},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
