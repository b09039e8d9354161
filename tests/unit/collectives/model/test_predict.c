/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/predict.h"

#include <math.h>
#include <string.h>

#include "tests/support/test.h"

static void check_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
        FAIL("got %.17g, not %.17g", got, want);
}

/* Every term has another price, so the sum shows each of them. */
TEST(sum)
{
    static struct cohort__parameters parameters;
    struct cohort__cost cost = {1, 2, 3, 4, 5, 6, 7};
    struct cohort__placement placement = {8, 1, 1, 8, true, 0};
    struct cohort__request request = {.num_sites = 8, .bytes = 8};
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = 4;
    parameters.workers = 2;
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        parameters.terms[COHORT__DISTANCE_TASKS][term] =
            term == 0 ? 1 : 10 * parameters.terms[COHORT__DISTANCE_TASKS][term - 1];
    /* Two workers in one locality. */
    check_near(cohort__predict(&parameters, &placement, 0, &request, &cost),
               1 + 10 * 1 + 100 * 2 + 1000 * 3 + (1e4 * 8 + 1e5 * 4 + 1e6 * 5 + 1e7 * 6) / 2);
    /* Eight localities of two workers on four cores. */
    memcpy(parameters.terms[COHORT__DISTANCE_LOCALITIES], parameters.terms[COHORT__DISTANCE_TASKS],
           sizeof(parameters.terms[0]));
    memset(parameters.terms[COHORT__DISTANCE_TASKS], 0, sizeof(parameters.terms[0]));
    placement = (struct cohort__placement){8, 8, 1, 1, true, 0};
    check_near(cohort__predict(&parameters, &placement, 0, &request, &cost),
               1 + 10 * 1 + 100 * 2 + 1000 * 3 + (1e4 * 8 + 1e5 * 4 + 1e6 * 5 + 1e7 * 6) / 4);
}

/* All that the sites do costs 1, and nothing else does. */
static struct cohort__parameters *work_alone(void)
{
    static struct cohort__parameters parameters;
    memset(&parameters, 0, sizeof(parameters));
    parameters.cores = 2;
    parameters.workers = 1;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        parameters.terms[distance][COHORT__TERM_MESSAGE] = 1;
    return &parameters;
}

/* Hosts of two localities each have two cores together if they share them. */
TEST(sharing)
{
    const struct cohort__parameters *parameters = work_alone();
    struct cohort__cost cost = {.messages = 48};
    for (uint32_t sharing = 0; sharing <= 8; sharing++) {
        static const double want[] = {48 / 8., 48 / 8., 48 / 4., 48 / 4., 48 / 2.};
        struct cohort__placement placement = {8, 8, 4, 1, true, sharing};
        double amounts[COHORT__NUM_TERMS];
        cohort__predict_amounts(parameters, &placement, COHORT__DISTANCE_HOSTS, &cost, amounts);
        check_near(amounts[COHORT__TERM_MESSAGE], want[sharing < 4 ? sharing : 4]);
    }
}

/* What happens in several places at once is work of the cores that these share. */
TEST(stage)
{
    const struct cohort__parameters *parameters = work_alone();
    struct cohort__request request = {.num_sites = 4};
    struct cohort__cost cost = {.messages = 48};
    struct cohort__placement apart = {16, 16, 4, 1, true, 1}, shared = {16, 16, 4, 1, true, 4};
    struct cohort__stage stage = {.num_sites = 4, .at_once = 1};
    static const struct {
        enum cohort__distance distance;
        uint32_t at_once;
        double apart, shared;
    } rows[] = {{COHORT__DISTANCE_TASKS, 1, 48, 4 * 48 / 2.},
                {COHORT__DISTANCE_TASKS, 3, 3 * 48 / 2., 12 * 48 / 2.},
                {COHORT__DISTANCE_LOCALITIES, 1, 48 / 2., 4 * 48 / 2.},
                {COHORT__DISTANCE_LOCALITIES, 3, 3 * 48 / 2., 12 * 48 / 2.},
                {COHORT__DISTANCE_HOSTS, 1, 48 / 4., 48 / 2.},
                {COHORT__DISTANCE_HOSTS, 3, 3 * 48 / 8., 3 * 48 / 2.}};
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        stage.distance = rows[i].distance;
        stage.at_once = rows[i].at_once;
        check_near(cohort__predict_stage(parameters, &apart, &stage, 0, &request, &cost),
                   rows[i].apart);
        check_near(cohort__predict_stage(parameters, &shared, &stage, 0, &request, &cost),
                   rows[i].shared);
    }
}

static uint32_t row_of(const char *name)
{
    uint32_t row = 0;
    while (cohort__algorithms[row] != cohort__algorithm_find(COHORT__ALL_TO_ALL, name))
        row++;
    return row;
}

/* 128 sites in 8 localities. A tree has an edge to each of them but the first; within groups of 32,
 * which are in two each, half of what goes directly is for the other one. */
TEST(direct)
{
    struct cohort__parameters parameters = *work_alone();
    struct cohort__request request = {.num_sites = 128, .arity = 4};
    struct cohort__cost cost = {.messages = 127 * 2};
    struct cohort__placement placement = {128, 8, 1, 16, true, 0};
    parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_MESSAGE] = 0;
    check_near(cohort__predict(&parameters, &placement, row_of("hierarchical"), &request, &cost),
               7. / 127 * 127 * 2 / 2 *
                   cohort__predict_factor(&parameters, COHORT__DISTANCE_LOCALITIES,
                                          row_of("hierarchical"), 128, 0));
    check_near(cohort__predict(&parameters, &placement, row_of("leaders"), &request, &cost),
               16. / 31 * 127 * 2 / 2 *
                   cohort__predict_factor(&parameters, COHORT__DISTANCE_LOCALITIES,
                                          row_of("leaders"), 128, 0));
}

static void check_factor(const struct cohort__parameters *parameters,
                         enum cohort__distance distance, uint32_t num_sites, size_t bytes,
                         double want)
{
    check_near(cohort__predict_factor(parameters, distance, 5, num_sites, bytes), want);
}

TEST(factor)
{
    static struct cohort__parameters parameters;
    enum cohort__distance tasks = COHORT__DISTANCE_TASKS, localities = COHORT__DISTANCE_LOCALITIES;
    cohort__parameters_default(&parameters);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++) {
        int8_t *factors = parameters.factors[distance][5];
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
    CHECK_OK(cohort__machine_create(&machine, locality_of, num_sites, 3, NULL, 0));
    struct cohort__placement placement = cohort__placement_of(machine);
    cohort__machine_destroy(machine);
    return placement;
}

TEST(placement)
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
TEST(monotone)
{
    static struct cohort__parameters parameters;
    cohort__parameters_default(&parameters);
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        for (uint32_t n = 2; !algorithm->stages && n <= 64; n *= 4) {
            struct cohort__placement here = {n, 1, 1, n, true, 0}, apart = {n, n, 1, 1, true, 0};
            struct cohort__placement mixed = {n, 2, 1, n / 2, true, 0};
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
                struct cohort__cost cost = cohort__algorithm_cost(algorithm, &request);
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

/* Where all sites of several localities meet, each locality reduces the blocks of all sites, and a
 * call of the operation for a short one is not free: 8 bytes at 4 x 16 sites on two cores. */
TEST(calls_of_operation)
{
    static struct cohort__parameters parameters = {.cores = 2, .workers = 1};
    const struct cohort__placement placement = {
        .num_sites = 64, .num_localities = 4, .num_hosts = 1, .largest = 16, .is_contiguous = true};
    const struct cohort__request request = {.collective = COHORT__REDUCE_SCATTER,
                                            .num_sites = 64,
                                            .arity = 4,
                                            .bytes = 8,
                                            .element = 8,
                                            .commutative = true,
                                            .can_meet = true};
    const uint32_t number = cohort__algorithm_row(COHORT__REDUCE_SCATTER, "shared");
    const struct cohort__algorithm *row = cohort__algorithms[number];
    parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_COMBINED] = 1;
    const struct cohort__cost cost = cohort__algorithm_cost(row, &request);
    double factor = cohort__predict_factor(&parameters, COHORT__DISTANCE_TASKS, number, 16, 32);
    /* 4 localities on 2 cores; 16 sites bring 15 blocks of 32 bytes each for the others. */
    double want = factor * 2 * (16 * 15 * 32 + 16 * 48 * 400);
    double got = cohort__predict(&parameters, &placement, number, &request, &cost);
    CHECK(got > want * 0.999999 && got < want * 1.000001);
}

/* Four leaders on two cores; and on two hosts that share them. What all of them copy, not what one
 * of them does, decides whether it is in a cache. */
TEST(copies)
{
    static struct cohort__parameters parameters = {.cores = 2, .workers = 1};
    const uint32_t gather = cohort__algorithm_row(COHORT__GATHER, "linear");
    struct cohort__placement placement = {.num_sites = 64, .num_localities = 4, .num_hosts = 2};
    parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_MOVED] = 0.5;
    check_near(cohort__predict_copies(&parameters, &placement, 4, 4096), 0.5 * 4096 * 4 / 2);
    check_near(cohort__predict_copies(&parameters, &placement, 1, 4096), 0.5 * 4096);
    placement.sharing = 2;
    check_near(cohort__predict_copies(&parameters, &placement, 4, 4096), 0.5 * 4096 * 8 / 2);
    placement.sharing = 1;
    int8_t *factors = parameters.factors[COHORT__DISTANCE_TASKS][gather];
    factors[COHORT__KNOTS - COHORT__KNOTS_BYTES + 2] = 16; /* twice, 32 sites of 512 bytes */
    check_near(cohort__predict_copies(&parameters, &placement, 4, 4096), 4096 * 4 / 2);
    check_near(cohort__predict_copies(&parameters, &placement, 1, 4096 * 4), 4096 * 4);
}

TEST_CALL(table_fits, CHECK(cohort__num_algorithms <= COHORT__MAX_ROWS))
