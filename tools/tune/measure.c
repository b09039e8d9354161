/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: times all algorithms on one communicator. */
#include "tools/tune/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/share/trial.h"

enum { NUM_SIZES = COHORT__KNOTS_BYTES };
static const double round_ns = 2e6;   /* what a round should last */
static const double look_ns = 5e5;    /* what a round of the first pass should last */
static const double slow_ns = 30e6;   /* a call that is so slow needs no warm-up */
static const double max_memory = 1e9; /* bytes of a trial */
/* A row is not measured at all if it takes more than FAR times as long as the fastest of its
 * collective. It is measured only TUNE_PASSES times if it takes more than NEAR times as long: a
 * slower row is not chosen, however exact its factor is. */
static const double far = 10, near = 4;

/* A row at a size. */
struct point {
    struct trial trial;
    struct cohort__cost cost;
    double predicted; /* in nanoseconds, by the default parameters */
    double rounds[TUNE_MAX_PASSES];
    unsigned num_rounds;
    bool is_possible;
};

struct course {
    const struct tune_measure *measure;
    struct tune_samples *samples;
    struct point points[NUM_SIZES][COHORT__MAX_ROWS];
};

static struct cohort__placement placement_of(const struct tune_measure *measure)
{
    return tune_samples_placement(measure->distance, measure->num_sites, measure->sharing);
}

static void set_point(struct point *point, struct trial_lead *lead, const struct trial *trial,
                      const struct tune_measure *measure,
                      const struct cohort__parameters *parameters)
{
    const struct cohort__algorithm *algorithm = cohort__algorithms[trial->row];
    struct cohort__request request = trial_request(lead, trial);
    if (algorithm->stages || trial_memory(lead, trial) > max_memory)
        return;
    struct cohort__placement placement = placement_of(measure);
    point->trial = *trial;
    point->cost = cohort__algorithm_cost(algorithm, &request);
    point->predicted = cohort__predict(parameters, &placement, trial->row, &request, &point->cost);
    point->is_possible = true;
}

static void set_points(struct course *course, struct trial_lead *lead)
{
    static struct cohort__parameters parameters;
    cohort__parameters_default(&parameters);
    for (unsigned size = 0; size < NUM_SIZES; size++)
        for (uint32_t collective = 0; collective < COHORT__EXCHANGE; collective++) {
            uint32_t rows[COHORT__MAX_ROWS];
            bool is_barrier = collective == COHORT__BARRIER;
            struct trial trial = {.collective = collective,
                                  .bytes = is_barrier ? 0 : (uint64_t)8 << (3 * size)};
            uint32_t num =
                is_barrier && size > 0 ? 0 : trial_rows(lead, &trial, rows, COHORT__MAX_ROWS);
            for (uint32_t i = 0; i < num; i++) {
                trial.row = rows[i];
                set_point(&course->points[size][rows[i]], lead, &trial, course->measure,
                          &parameters);
            }
        }
}

/* Disturbances only make a time longer, so a row is judged by its fastest round. If a row was
 * disturbed in the first pass, the next pass makes up for it, also for the larger blocks that it
 * was refused. */
static double fastest(const struct point *point)
{
    double ns = point->rounds[0];
    for (unsigned i = 1; i < point->num_rounds; i++)
        ns = point->rounds[i] < ns ? point->rounds[i] : ns;
    return ns;
}

/* The median; of an even number of rounds, the lower of the two in the middle. */
static double median(struct point *point)
{
    trial_median(point->rounds, point->num_rounds); /* sorts them */
    return point->rounds[(point->num_rounds - 1) / 2];
}

/* What a call should take: as measured; or else as measured at the nearest smaller size, times what
 * the model says about the two. 0: nothing is known. */
static double expect(const struct course *course, unsigned size, uint32_t row)
{
    const struct point *wanted = &course->points[size][row];
    for (unsigned s = size + 1; s-- > 0;) {
        const struct point *point = &course->points[s][row];
        if (point->num_rounds == 0)
            continue;
        double ns = fastest(point);
        return s == size || !(point->predicted > 0) ? ns
                                                    : ns * wanted->predicted / point->predicted;
    }
    return 0;
}

static double expect_best(const struct course *course, unsigned size, uint32_t collective)
{
    double best = 0;
    for (uint32_t row = 0; row < COHORT__MAX_ROWS; row++) {
        const struct point *point = &course->points[size][row];
        double ns = point->is_possible && point->trial.collective == collective
                        ? expect(course, size, row)
                        : 0;
        if (ns > 0 && (best == 0 || ns < best))
            best = ns;
    }
    return best;
}

/* The smallest blocks are measured once however late it is: a slow machine has samples, too. */
static bool is_wanted(const struct course *course, unsigned size, uint32_t row, unsigned pass)
{
    const struct point *point = &course->points[size][row];
    uint64_t now = trial_now();
    if (point->is_possible && size == 0 && pass == 0)
        return true;
    if (!point->is_possible || now >= course->measure->end)
        return false;
    double ns = expect(course, size, row), left = (double)(course->measure->end - now);
    if (ns > left)
        return false;
    if (point->num_rounds > 0 && pass < TUNE_PASSES)
        return true;
    return ns <=
           (pass < TUNE_PASSES ? far : near) * expect_best(course, size, point->trial.collective);
}

/* Measures a round, after a call that warms up. */
static cohort_status measure_point(struct trial_lead *lead, struct point *point)
{
    bool is_known = point->num_rounds > 0;
    double once = is_known ? median(point) : 0, warm_up;
    bool is_slow = once > slow_ns;
    cohort_status status = COHORT_OK;
    if (!is_slow) {
        status = trial_time(lead, &point->trial, 1, &warm_up);
        once = is_known ? once : warm_up;
    }
    double ns = once;
    if (!status && (is_known || once <= slow_ns))
        status =
            trial_time(lead, &point->trial, trial_calls(once, is_known ? round_ns : look_ns), &ns);
    if (!status && ns > 0)
        point->rounds[point->num_rounds++] = ns;
    return status;
}

static cohort_status add_samples(struct course *course)
{
    cohort_status status = COHORT_OK;
    for (unsigned size = 0; size < NUM_SIZES; size++)
        for (uint32_t row = 0; !status && row < COHORT__MAX_ROWS; row++) {
            struct point *point = &course->points[size][row];
            if (point->num_rounds == 0)
                continue;
            status =
                tune_samples_add(course->samples, &(struct tune_sample){
                                                      .distance = course->measure->distance,
                                                      .row = row,
                                                      .num_sites = course->measure->num_sites,
                                                      .bytes = point->trial.bytes,
                                                      .ns = median(point),
                                                      .placement = placement_of(course->measure),
                                                      .cost = point->cost,
                                                  });
        }
    return status;
}

static cohort_status lead_course(struct trial_lead *lead, void *arg)
{
    struct course *course = arg;
    cohort_status status = COHORT_OK;
    set_points(course, lead);
    for (unsigned pass = 0; pass < course->measure->max_passes; pass++)
        for (unsigned size = 0; size < NUM_SIZES; size++)
            for (uint32_t row = 0; !status && row < COHORT__MAX_ROWS; row++)
                if (is_wanted(course, size, row, pass))
                    status = measure_point(lead, &course->points[size][row]);
    return status ? status : add_samples(course);
}

cohort_status tune_measure_run(const struct tune_measure *measure, struct tune_samples *samples)
{
    char name[40];
    struct course *course = calloc(1, sizeof(*course));
    if (!course)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu bytes", sizeof(*course));
    course->measure = measure;
    course->samples = samples;
    snprintf(name, sizeof(name), "tune %u%s", (unsigned)measure->num_sites,
             measure->distance != COHORT__DISTANCE_TASKS ? " spread" : "");
    cohort_status status = trial_group_run(&(struct trial_group){
        .name = name,
        .options = {.num_sites = measure->num_sites, .flat_fallback_threshold = 1},
        .per_locality = measure->distance != COHORT__DISTANCE_TASKS ? 1 : measure->num_sites,
        .lead = lead_course,
        .arg = course,
    });
    free(course);
    return status;
}

/* The fewest sites have all rows to measure, too. The time of each row grows with the sites. */
unsigned tune_measure_weight(uint32_t num_sites)
{
    return num_sites + 8;
}

unsigned tune_measure_weights(uint32_t max_sites)
{
    unsigned weights = 0;
    for (uint32_t n = 2; n <= max_sites; n *= 2)
        weights += tune_measure_weight(n);
    return weights;
}
