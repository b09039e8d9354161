/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* The bits of a reproducible reduction are those of adding site by site from the left. They do not
 * depend on the arity, the algorithm, the places of the sites, or the order of the messages. With
 * these numbers any other order gives other bits, which the test verifies. */

enum { MAX_SITES = 11, MAX_COUNT = 3000 };

static double numbers[MAX_SITES][MAX_SITES * MAX_COUNT];

/* Numbers of all magnitudes, so that hardly any sum is exact. */
static void fill_numbers(void)
{
    struct cohort__random random = cohort__random_seeded(20);
    for (uint32_t site = 0; site < MAX_SITES; site++)
        for (size_t i = 0; i < (size_t)MAX_SITES * MAX_COUNT; i++) {
            uint64_t bits = cohort__random_next(&random);
            double magnitude = (double)(UINT64_C(1) << (bits % 50));
            numbers[site][i] = (double)(int64_t)(bits >> 8) / magnitude;
        }
}

struct setting {
    size_t count;
    const char *algorithm; /* forced for each call; NULL: chosen by the library */
    enum cohort__collective collective;
};

/* The sum of sites FIRST to LAST from the left. */
static double folded(uint32_t first, uint32_t last, size_t index)
{
    double sum = numbers[first][index];
    for (uint32_t site = first + 1; site <= last; site++)
        sum += numbers[site][index];
    return sum;
}

static cohort_future *call(cohort_comm *comm, const struct setting *setting, double *out,
                           uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    const double *in = numbers[me];
    size_t count = setting->count;
    switch (setting->collective) {
    case COHORT__REDUCE:
        return me == cohort_comm_root_site(comm)
                   ? cohort_reduce_here(comm, in, out, count, COHORT_DOUBLE, COHORT_SUM, generation)
                   : cohort_reduce_there(comm, in, count, COHORT_DOUBLE, COHORT_SUM, generation);
    case COHORT__ALL_REDUCE:
        return cohort_all_reduce(comm, in, out, count, COHORT_DOUBLE, COHORT_SUM, generation);
    case COHORT__REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in, out, count, COHORT_DOUBLE, COHORT_SUM, generation);
    case COHORT__SCAN:
        return cohort_scan(comm, in, out, count, COHORT_DOUBLE, COHORT_SUM, generation);
    default:
        return cohort_exclusive_scan(comm, in, out, count, COHORT_DOUBLE, COHORT_SUM, generation);
    }
}

/* Whether this site gets a result, and its value at INDEX. */
static bool expect(const cohort_comm *comm, const struct setting *setting, size_t index,
                   double *ret_sum)
{
    uint32_t me = cohort_comm_this_site(comm), last = cohort_comm_num_sites(comm) - 1;
    switch (setting->collective) {
    case COHORT__REDUCE:
        *ret_sum = folded(0, last, index);
        return me == cohort_comm_root_site(comm);
    case COHORT__ALL_REDUCE:
        *ret_sum = folded(0, last, index);
        return true;
    case COHORT__REDUCE_SCATTER:
        *ret_sum = folded(0, last, me * setting->count + index);
        return true;
    case COHORT__SCAN:
        *ret_sum = folded(0, me, index);
        return true;
    default:
        if (me > 0)
            *ret_sum = folded(0, me - 1, index);
        return me > 0;
    }
}

static cohort_status reduce_twice(cohort_comm *comm, void *arg)
{
    const struct setting *setting = arg;
    double *out = malloc(setting->count * sizeof(*out));
    cohort_status status = COHORT_OK;
    CHECK(out);
    for (uint64_t generation = 1; !status && generation <= 2; generation++) {
        cohort_call_options options = {.algorithm = setting->algorithm, .reproducible = true};
        CHECK_OK(cohort_comm_next_call(comm, &options));
        status = cohort_await(call(comm, setting, out, generation));
        for (size_t i = 0; !status && i < setting->count; i++) {
            double sum;
            if (expect(comm, setting, i, &sum) && memcmp(&sum, &out[i], sizeof(sum)) != 0)
                FAIL("%s by %s, %u sites, arity %u, element %zu: %a is not %a",
                     cohort__collective_name(setting->collective),
                     setting->algorithm ? setting->algorithm : "choice",
                     cohort_comm_num_sites(comm), cohort_comm_arity(comm), i, out[i], sum);
        }
    }
    free(out);
    return status;
}

static void run(uint32_t num_sites, uint32_t num_localities, const struct setting *setting)
{
    static uint64_t seed;
    static const size_t counts[] = {1, 7, MAX_COUNT};
    struct cluster *cluster = cluster_create(++seed, num_localities, 0);
    for (uint32_t arity = 2; arity <= 5; arity++)
        for (uint32_t tree = 0; tree < 2; tree++) {
            struct setting one = *setting;
            one.count = counts[(seed + arity + tree) % 3];
            cohort_status status = cluster_sites(
                cluster,
                (struct sites){
                    .name = "reproducible",
                    .options = {.num_sites = num_sites,
                                .root_site = num_sites / 2,
                                .arity = arity,
                                .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024},
                    .run = reduce_twice,
                    .arg = &one,
                });
            if (status)
                FAIL("%s", cohort_error_message());
        }
    cluster_destroy(cluster);
}

static void run_all(enum cohort__collective collective, const char *algorithm, bool needs_memory)
{
    static const uint32_t sites[] = {1, 2, 3, 5, 8, MAX_SITES};
    struct setting setting = {.collective = collective, .algorithm = algorithm};
    for (size_t s = 0; s < NUM_OF(sites); s++)
        for (uint32_t localities = 1; localities <= (needs_memory ? 1 : 3); localities++)
            run(sites[s], localities, &setting);
}

/* Every row that promises it, and the row that is chosen. */
TEST(rows)
{
    uint32_t num = 0;
    fill_numbers();
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        if (!row->ordered)
            continue;
        run_all(row->collective, row->name, row->shared);
        num++;
    }
    CHECK(num >= 10);
}

TEST(choice)
{
    fill_numbers();
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++)
        if (cohort__collective_reduces((enum cohort__collective)collective))
            run_all((enum cohort__collective)collective, NULL, false);
}

/* The numbers distinguish orders: added from the right, they mostly give other bits. */
TEST(numbers)
{
    uint32_t num_other = 0;
    fill_numbers();
    for (size_t i = 0; i < 100; i++) {
        double sum = numbers[4][i];
        for (uint32_t site = 4; site-- > 0;)
            sum = numbers[site][i] + sum;
        num_other += sum != folded(0, 4, i);
    }
    CHECK(num_other > 20);
}
