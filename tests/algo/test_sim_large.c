/* SPDX-License-Identifier: Apache-2.0 */
/* With 65,536 sites, the simulation of a collective with log N messages a site needs less than 4
 * GiB. How long it takes (less than 30 s on a machine of 2026) is printed for the reader. */
#include <stdio.h>
#include <sys/resource.h>

#include "collectives/model/sim.h"
#include "tests/support/test.h"

enum { SITES = 65536, LOG_SITES = 16 };

static double cpu_seconds(void)
{
    struct rusage usage;
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

/* 1000 for a message and 1 for a byte, so that the time shows both numbers. */
static void check_large(enum cohort__collective collective, const char *row, size_t bytes,
                        double want_time, uint64_t want_messages)
{
    struct cohort__request request = {.collective = collective,
                                      .num_sites = SITES,
                                      .arity = 2,
                                      .bytes = bytes,
                                      .element = 1,
                                      .commutative = true};
    const struct cohort__algorithm *algorithm = cohort__algorithm_find(collective, row);
    struct cohort__sim_costs costs = {.startup = 1000, .per_byte = 1};
    struct cohort__sim_result result;
    struct cohort__network network;
    struct rusage usage;
    double begin = cpu_seconds();
    CHECK_INT(cohort__network_init(&network, "hypercube", SITES), COHORT_OK);
    CHECK(algorithm);
    CHECK_INT(cohort__simulate_algorithm(&network, &costs, algorithm, &request, &result),
              COHORT_OK);
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    printf("%s %s: %.1f s of processor, %ld MiB\n", cohort__collective_name(collective), row,
           cpu_seconds() - begin, usage.ru_maxrss / 1024);
    CHECK(usage.ru_maxrss < 4L << 20); /* in KiB */
    CHECK_INT((long long)result.time, (long long)want_time);
    CHECK_INT((long long)result.messages, (long long)want_messages);
    CHECK_INT((long long)result.delayed, 0);
    cohort__sim_result_fini(&result);
}

static void test_broadcast(void)
{
    check_large(COHORT__BROADCAST, "binomial", 8, LOG_SITES * 1008.0, SITES - 1);
}

static void test_all_gather(void)
{
    check_large(COHORT__ALL_GATHER, "mesh_nd", 8, LOG_SITES * 1000.0 + 8.0 * (SITES - 1),
                (uint64_t)LOG_SITES * SITES);
}

static void test_all_reduce(void)
{
    check_large(COHORT__ALL_REDUCE, "recursive_doubling", 8, LOG_SITES * 1008.0,
                (uint64_t)LOG_SITES * SITES);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"broadcast", test_broadcast},
        {"all_gather", test_all_gather},
        {"all_reduce", test_all_reduce},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
