/* SPDX-License-Identifier: Apache-2.0 */
/* With 65,536 sites, the simulation of a collective with log N messages a site needs less than 4
 * GiB, and so does a million of sites on a machine that a row follows. How long it takes (less than
 * 30 s on a machine of 2026) is printed for the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "collectives/model/sim.h"
#include "collectives/model/sim_machine.h"
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
    CHECK_OK(cohort__network_init(&network, "hypercube", SITES));
    CHECK(algorithm);
    CHECK_OK(cohort__simulate_algorithm(&network, &costs, algorithm, &request, &result));
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    printf("%s %s: %.1f s of processor, %ld MiB\n", cohort__collective_name(collective), row,
           cpu_seconds() - begin, usage.ru_maxrss / 1024);
    CHECK(usage.ru_maxrss < 4L << 20); /* in KiB */
    CHECK_INT((long long)result.time, (long long)want_time);
    CHECK_INT((long long)result.messages, (long long)want_messages);
    CHECK_INT((long long)result.delayed, 0);
    cohort__sim_result_fini(&result);
}

TEST_CALL(broadcast, check_large(COHORT__BROADCAST, "binomial", 8, LOG_SITES * 1008.0, SITES - 1))

TEST(all_gather)
{
    check_large(COHORT__ALL_GATHER, "mesh_nd", 8, LOG_SITES * 1000.0 + 8.0 * (SITES - 1),
                (uint64_t)LOG_SITES * SITES);
}

TEST(all_reduce)
{
    check_large(COHORT__ALL_REDUCE, "recursive_doubling", 8, LOG_SITES * 1008.0,
                (uint64_t)LOG_SITES * SITES);
}

enum { HOSTS = 1000, LOCALITIES = 64, TASKS = 16, MILLION = HOSTS * LOCALITIES * TASKS };

static cohort_status build_site(void *argument, uint32_t site, struct cohort__plan **ret_plan)
{
    struct cohort__request *request = argument;
    request->this_site = site;
    return cohort__algorithm_build(cohort__algorithm_find(request->collective, "levels"), request,
                                   ret_plan);
}

static struct cohort__machine *make_machine(void)
{
    struct cohort__machine *machine = NULL;
    uint32_t *locality_of = calloc(MILLION, sizeof(*locality_of));
    uint32_t *host_of = calloc((size_t)HOSTS * LOCALITIES, sizeof(*host_of));
    const struct cohort__machine_level hosts = {"host", host_of};
    CHECK(locality_of && host_of);
    for (uint32_t i = 0; i < MILLION; i++)
        locality_of[i] = i / TASKS;
    for (uint32_t i = 0; i < HOSTS * LOCALITIES; i++)
        host_of[i] = i / LOCALITIES;
    CHECK_OK(cohort__machine_create(&machine, locality_of, MILLION, HOSTS * LOCALITIES, &hosts, 1));
    free(locality_of);
    free(host_of);
    return machine;
}

/* 1000 hosts x 64 localities x 16 tasks: each locality's sites meet, its leader sends to the
 * host's, which send to host 0's: so many messages there and back. */
TEST(million)
{
    static struct cohort__parameters parameters;
    struct cohort__machine *levels = make_machine();
    struct cohort__request request = {.collective = COHORT__ALL_REDUCE,
                                      .num_sites = MILLION,
                                      .arity = 4,
                                      .bytes = 8,
                                      .element = 8,
                                      .commutative = true,
                                      .machine = levels,
                                      .meets = true};
    const struct cohort__sim_machine machine = {.hosts = HOSTS,
                                                .localities = LOCALITIES,
                                                .tasks = TASKS,
                                                .cores = LOCALITIES,
                                                .parameters = &parameters};
    struct cohort__sim_account account;
    struct rusage usage;
    double begin = cpu_seconds();
    cohort__parameters_default(&parameters);
    CHECK_OK(cohort__simulate_machine(&machine, build_site, &request, &account));
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    printf("a million sites: %.1f s of processor, %ld MiB\n", cpu_seconds() - begin,
           usage.ru_maxrss / 1024);
    CHECK(usage.ru_maxrss < 4L << 20);
    CHECK_INT((long long)account.reaches[COHORT__DISTANCE_TASKS].messages, 0);
    CHECK_INT((long long)account.reaches[COHORT__DISTANCE_LOCALITIES].messages,
              2LL * HOSTS * (LOCALITIES - 1));
    CHECK_INT((long long)account.reaches[COHORT__DISTANCE_HOSTS].messages, 2LL * (HOSTS - 1));
    cohort__machine_destroy(levels);
}
