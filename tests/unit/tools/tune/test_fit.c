/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tune/fit.h"

#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static bool is_near(double got, double want, double tolerance)
{
    double difference = got - want;
    return difference <= tolerance * (want + 1e-9) && -difference <= tolerance * (want + 1e-9);
}

static double draw(struct cohort__random *random)
{
    return (double)(1 + cohort__random_below(random, 1000));
}

/* Times that were computed from terms give these terms back. For a row that is slower, they give
 * its factor back. */
TEST(terms_return)
{
    enum { NUM = 300, ODD_ROW = 7 };
    static struct tune_sample samples[NUM];
    static struct cohort__parameters made, found;
    struct cohort__random random = cohort__random_seeded(7);
    cohort__parameters_default(&made);
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        made.terms[COHORT__DISTANCE_TASKS][term] = term == COHORT__TERM_BYTE ? 0 : draw(&random);
    for (unsigned i = 0; i < NUM; i++) {
        uint32_t num_sites = 2u << cohort__random_below(&random, 5);
        samples[i] = (struct tune_sample){
            .distance = COHORT__DISTANCE_TASKS,
            .row = 1,
            .num_sites = num_sites,
            .bytes = 8,
            .placement = {num_sites, 1, 1, num_sites, true, 0},
            .cost = {draw(&random), draw(&random), draw(&random), draw(&random), draw(&random),
                     draw(&random), 0},
        };
        struct cohort__request request = {.num_sites = num_sites, .bytes = 8};
        samples[i].ns =
            cohort__predict(&made, &samples[i].placement, 1, &request, &samples[i].cost);
    }
    cohort__parameters_default(&found);
    tune_fit(&found, samples, NUM);
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        CHECK(is_near(found.terms[COHORT__DISTANCE_TASKS][term],
                      made.terms[COHORT__DISTANCE_TASKS][term], 0.02));
    CHECK(memcmp(found.terms[COHORT__DISTANCE_LOCALITIES], made.terms[COHORT__DISTANCE_LOCALITIES],
                 sizeof(found.terms[0])) == 0);
    for (unsigned i = 0; i < COHORT__KNOTS; i++)
        CHECK_INT(found.factors[COHORT__DISTANCE_TASKS][1][i], 0);
}

/* A knot has the factor of its own sample. Knots without a sample have the factor of the nearest
 * one. */
TEST(factors)
{
    static struct cohort__parameters found;
    struct tune_sample samples[30];
    struct cohort__cost cost = {.startups = 1, .messages = 1};
    for (unsigned i = 0; i < 30; i++)
        samples[i] = (struct tune_sample){
            .distance = COHORT__DISTANCE_LOCALITIES,
            .row = i < 28 ? 3 : 4,
            .num_sites = 2,
            .bytes = i == 29 ? 2097152 : 8,
            .ns = i == 29 ? 400 : 100,
            .placement = {2, 2, 1, 1, true, 0},
            .cost = cost,
        };
    cohort__parameters_default(&found);
    tune_fit(&found, samples, 30);
    const int8_t *factors = found.factors[COHORT__DISTANCE_LOCALITIES][4];
    int small = factors[0], large = factors[COHORT__KNOTS_BYTES - 1];
    CHECK_INT(large - small, 32);
    CHECK_INT(factors[1], small);
    CHECK_INT(factors[COHORT__KNOTS - 1], large);
    CHECK_INT(factors[COHORT__KNOTS_BYTES], small);
    CHECK_INT(found.factors[COHORT__DISTANCE_TASKS][4][0], 0);
}

/* A coefficient that would be negative is 0, and the others are the best fit without it. Here a =
 * (1, 1), (1, 2) and right sides of 1 give x = (1, 0). */
TEST(none_negative)
{
    double equations[3][COHORT__NUM_TERMS] = {{1, 2}, {1, 1}, {2, 8}};
    double solution[COHORT__NUM_TERMS];
    tune_fit_squares((const double(*)[COHORT__NUM_TERMS])equations, 3, solution);
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        CHECK(solution[term] >= 0);
    CHECK(solution[0] > 0);
    CHECK(is_near(solution[0], 4.0 / 6, 1e-6) && solution[1] == 0);
}
