/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/positions.h"

#include "runtime/base/random.h"
#include "runtime/proc/process.h"
#include "tests/support/test.h"

enum { MAX_SIZE = 20, NUM_CASES = 1000 };

static struct cohort__process *open_process(uint32_t size)
{
    struct cohort__process *process;
    CHECK_INT(cohort__process_create(&process, &(struct cohort__process_options){.size = size}),
              COHORT_OK);
    return process;
}

static void test_unknown(void)
{
    struct cohort__process *process = open_process(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        CHECK_INT(cohort__positions_hosts(process)[rank], 0);
        CHECK_INT(cohort__positions_domains(process)[rank], 0);
    }
    cohort__process_destroy(process);
}

static void test_random(void)
{
    struct cohort__random random;
    cohort__random_init(&random, 1);
    for (int i = 0; i < NUM_CASES; i++) {
        struct cohort__position positions[MAX_SIZE];
        uint32_t size = 1 + (uint32_t)cohort__random_below(&random, MAX_SIZE);
        struct cohort__process *process = open_process(size);
        for (uint32_t rank = 0; rank < size; rank++)
            positions[rank] = (struct cohort__position){
                .host = UINT32_MAX - (uint32_t)cohort__random_below(&random, 4),
                .domain = 7 * (uint32_t)cohort__random_below(&random, 3)};
        CHECK_INT(cohort__positions_set(process, positions), COHORT_OK);
        const uint32_t *hosts = cohort__positions_hosts(process);
        const uint32_t *domains = cohort__positions_domains(process);
        for (uint32_t a = 0; a < size; a++)
            for (uint32_t b = 0; b < size; b++) {
                bool same_host = positions[a].host == positions[b].host;
                bool same_domain = same_host && positions[a].domain == positions[b].domain;
                CHECK(hosts[a] < size && domains[a] < size);
                CHECK_INT(hosts[a] == hosts[b], same_host);
                CHECK_INT(domains[a] == domains[b], same_domain);
            }
        cohort__process_destroy(process);
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"unknown", test_unknown},
        {"random", test_random},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
