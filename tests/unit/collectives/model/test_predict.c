/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/predict.h"

#include <math.h>
#include <string.h>

#include "tests/support/test.h"

static void check_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
        test_failed(__FILE__, __LINE__, "got %.17g, not %.17g", got, want);
}

/* Every term has another price, so the sum shows each of them. */
static void test_sum(void)
{
    static struct cohort__parameters parameters;
    struct cohort__cost cost = {1, 2, 3, 4, 5, 6, 7};
    struct cohort__placement placement = {8, 1, 1, 8, true};
    struct cohort__request request = {.num_sites = 8, .bytes = 8};
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = 4;
    parameters.workers = 2;
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        parameters.terms[COHORT__SCOPE_TASKS][term] =
            term == 0 ? 1 : 10 * parameters.terms[COHORT__SCOPE_TASKS][term - 1];
    /* Two workers in one locality. */
    check_near(cohort__predict(&parameters, &placement, 0, &request, &cost),
               1 + 10 * 1 + 100 * 2 + 1000 * 3 + (1e4 * 8 + 1e5 * 4 + 1e6 * 5 + 1e7 * 6) / 2);
    /* Eight localities of two workers on four cores. */
    memcpy(parameters.terms[COHORT__SCOPE_LOCALITIES], parameters.terms[COHORT__SCOPE_TASKS],
           sizeof(parameters.terms[0]));
    memset(parameters.terms[COHORT__SCOPE_TASKS], 0, sizeof(parameters.terms[0]));
    placement = (struct cohort__placement){8, 8, 1, 1, true};
    check_near(cohort__predict(&parameters, &placement, 0, &request, &cost),
               1 + 10 * 1 + 100 * 2 + 1000 * 3 + (1e4 * 8 + 1e5 * 4 + 1e6 * 5 + 1e7 * 6) / 4);
}

static void check_factor(const struct cohort__parameters *parameters, enum cohort__scope scope,
                         uint32_t num_sites, size_t bytes, double want)
{
    check_near(cohort__predict_factor(parameters, scope, 5, num_sites, bytes), want);
}

static void test_factor(void)
{
    static struct cohort__parameters parameters;
    enum cohort__scope tasks = COHORT__SCOPE_TASKS, localities = COHORT__SCOPE_LOCALITIES;
    cohort__parameters_default(&parameters);
    for (unsigned scope = 0; scope < COHORT__NUM_SCOPES; scope++) {
        int8_t *factors = parameters.factors[scope][5];
        for (unsigned i = 0; i < COHORT__KNOTS_BYTES; i++)
            factors[2 * COHORT__KNOTS_BYTES + i] = 16; /* 8 sites */
        factors[0] = 32;                               /* 2 sites, 8 bytes */
    }
    check_factor(&parameters, tasks, 8, 8, 2);
    check_factor(&parameters, tasks, 8, 12345, 2);
    check_factor(&parameters, tasks, 6, 8, 1.5);
    check_factor(&parameters, tasks, 4, 1 << 20, 1);
    check_factor(&parameters, tasks, 2, 8, 4);
    check_factor(&parameters, tasks, 1, 0, 4);
    check_factor(&parameters, tasks, 2, 64, 1);
    check_factor(&parameters, tasks, 3, 8, 2.5);
    check_factor(&parameters, tasks, 100000, (size_t)1 << 40, 1);
    /* Three localities on two cores have the factor of four, not of two. On three cores it is
     * between. */
    check_factor(&parameters, localities, 2, 8, 4);
    check_factor(&parameters, localities, 3, 8, 1);
    check_factor(&parameters, localities, 6, 8, 1.5);
    parameters.cores = 3;
    check_factor(&parameters, localities, 3, 8, 2.5);
    parameters.workers = 2;
    check_factor(&parameters, localities, 3, 8, 2.5); /* here even two share a core */
}

static struct cohort__placement place(const uint32_t *locality_of, uint32_t num_sites)
{
    struct cohort__machine *machine;
    CHECK_INT(cohort__machine_create(&machine, locality_of, num_sites, 3, NULL, 0), COHORT_OK);
    struct cohort__placement placement = cohort__placement_of(machine);
    cohort__machine_destroy(machine);
    return placement;
}

static void test_placement(void)
{
    struct cohort__placement placement = place((uint32_t[]){2, 2, 0, 0, 0}, 5);
    CHECK_INT(placement.num_sites, 5);
    CHECK_INT(placement.num_localities, 2);
    CHECK_INT(placement.largest, 3);
    CHECK(placement.is_contiguous);
    placement = place((uint32_t[]){0, 1, 0}, 3);
    CHECK_INT(placement.num_localities, 2);
    CHECK(!placement.is_contiguous);
}

/* More sites or more bytes never take less time. Neither do sites that are farther apart. */
static void test_monotone(void)
{
    static struct cohort__parameters parameters;
    cohort__parameters_default(&parameters);
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        for (uint32_t n = 2; algorithm->cost && n <= 64; n *= 4) {
            struct cohort__placement here = {n, 1, 1, n, true}, apart = {n, n, 1, 1, true};
            struct cohort__placement mixed = {n, 2, 1, n / 2, true};
            double last = 0;
            for (size_t bytes = 64; bytes <= 1 << 22; bytes *= 64) {
                struct cohort__request request = {.collective = algorithm->collective,
                                                  .num_sites = n,
                                                  .arity = 4,
                                                  .bytes = bytes,
                                                  .element = 8,
                                                  .commutative = true};
                if (cohort__algorithm_refuses(algorithm, &request))
                    break;
                struct cohort__cost cost = algorithm->cost(&request);
                double time = cohort__predict(&parameters, &here, row, &request, &cost);
                double far = cohort__predict(&parameters, &apart, row, &request, &cost);
                double between = cohort__predict(&parameters, &mixed, row, &request, &cost);
                CHECK(time >= last);
                CHECK(far >= time);
                CHECK(n == 2 || (time <= between && between <= far));
                last = time;
            }
        }
    }
}

static void test_table_fits(void)
{
    CHECK(cohort__num_algorithms <= COHORT__MAX_ROWS);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"sum", test_sum},           {"factor", test_factor},         {"placement", test_placement},
        {"monotone", test_monotone}, {"table_fits", test_table_fits},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
