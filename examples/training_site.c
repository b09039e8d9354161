/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/training_site.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/network.h"
#include "examples/pgm.h"
#include "examples/share.h"

/* Every site has the same weights from the beginning, and its share of the points. In each epoch it
 * sums up over its points. An all_reduce makes that the sums over all points, and all sites take
 * the same step. So the weights are never sent.
 *
 * If localities die, and the job keeps going (cohortrun --keep-going), the others share out all
 * points anew and go on. Where the epoch had succeeded at some sites only, those take it back. */

struct model {
    double weights[NETWORK_WEIGHTS];
    double velocity[NETWORK_WEIGHTS];
};

struct training {
    struct site *site;
    const struct training_options *options;
    uint32_t epoch;           /* the next one */
    struct model model;       /* after so many steps */
    struct model before;      /* after one less */
    struct network_sums last; /* of the last epoch */
    cohort_comm *survivors;   /* the site's, since somebody has died; or NULL */
};

/* Greater differences between two ways to add the same numbers are mistakes. */
static const double tolerance = 1e-9;

static void start(struct model *model, const struct training_options *options)
{
    *model = (struct model){0};
    network_start(model->weights, options->seed);
}

/* Sums up over the points of share SHARE out of NUM. */
static void learn_share(const struct model *model, const struct training_options *options,
                        uint32_t num, uint32_t share, struct network_sums *sums)
{
    size_t end = share_begin(options->points, num, share + 1);
    *sums = (struct network_sums){0};
    for (size_t i = share_begin(options->points, num, share); i < end; i++) {
        struct point point = network_point(i, options->points, options->seed);
        network_learn(model->weights, &point, sums);
    }
}

/* All that is reduced here are doubles. A struct of doubles counts as so many doubles. */
static cohort_status all_reduce(struct training *training, const double *mine, double *all,
                                size_t count, const cohort_op *op)
{
    struct site *site = training->site;
    const cohort_call_options options = {.algorithm = training->options->algorithm};
    cohort_status status = cohort_comm_next_call(site->comm, &options);
    if (status)
        return status;
    return cohort_await(
        cohort_all_reduce(site->comm, mine, all, count, COHORT_DOUBLE, op, COHORT_AUTO_GENERATION));
}

static void report_epoch(const struct training *training, uint32_t epoch)
{
    const struct training_options *options = training->options;
    bool is_due = epoch % options->report == 0 || epoch == options->epochs;
    if (training->site->index == 0 && is_due)
        printf("epoch %" PRIu32 ": loss %.6f, %.1f%% right\n", epoch,
               training->last.loss / options->points,
               100 * training->last.correct / options->points);
}

/* Of the localities that are to die the last one is the first, and they do it at equal distances.
 */
static void die_if_due(const struct training *training)
{
    const struct training_options *options = training->options;
    uint64_t nth = cohort_num_localities() - cohort_locality();
    if (nth <= options->deaths && training->epoch == nth * options->epochs / (options->deaths + 1))
        abort();
}

/* Up to the last epoch, or until a call fails. There is one epoch more than steps: the last one
 * only tells how good the result is. */
static cohort_status train_on(struct training *training)
{
    const struct training_options *options = training->options;
    const struct site *site = training->site;
    struct network_sums mine;
    for (; training->epoch <= options->epochs; training->epoch++) {
        die_if_due(training);
        learn_share(&training->model, options, site->num_sites, site->index, &mine);
        cohort_status status = all_reduce(training, (const double *)&mine,
                                          (double *)&training->last, NETWORK_NUM_SUMS, COHORT_SUM);
        if (status)
            return status;
        report_epoch(training, training->epoch);
        training->before = training->model;
        if (training->epoch < options->epochs)
            network_step(training->model.weights, training->model.velocity, &training->last,
                         options->points);
    }
    return COHORT_OK;
}

/* Nobody can be ahead by more than one epoch, since each epoch takes all sites. If somebody dies
 * meanwhile, the next call fails, and this is done again. */
static cohort_status go_on_without_the_dead(struct training *training)
{
    struct site *site = training->site;
    double mine = training->epoch, first;
    cohort_comm *survivors;
    cohort_status status = cohort_await(cohort_comm_shrink(&survivors, site->comm));
    if (status)
        return status;
    cohort_comm_unref(training->survivors);
    site->comm = training->survivors = survivors;
    site->index = cohort_comm_this_site(survivors);
    site->num_sites = cohort_comm_num_sites(survivors);
    status = all_reduce(training, &mine, &first, 1, COHORT_MIN);
    if (status)
        return status == COHORT_ERR_PEER_DIED ? COHORT_OK : status;
    if (first < mine) {
        training->model = training->before;
        training->epoch--;
    }
    if (site->index == 0)
        printf("epoch %" PRIu32 ": %" PRIu32 " sites go on\n", training->epoch, site->num_sites);
    return COHORT_OK;
}

/* All sites have done it, or all do again what has failed at some. */
static cohort_status train(struct training *training)
{
    for (;;) {
        cohort_agreed agreed;
        cohort_status status = train_on(training);
        if (status && status != COHORT_ERR_PEER_DIED)
            return status;
        status = cohort_await(cohort_comm_agree(training->site->comm, !status, &agreed));
        if (!status && agreed.value == 1)
            return COHORT_OK;
        if (!status)
            status = go_on_without_the_dead(training);
        if (status)
            return status;
    }
}

/* Trains at one site. The points are in NUM shares, whose sums are added in their order. */
static void train_serially(const struct training_options *options, uint32_t num,
                           struct model *model)
{
    start(model, options);
    for (uint32_t epoch = 0; epoch < options->epochs; epoch++) {
        struct network_sums sums, share;
        learn_share(model, options, num, 0, &sums);
        for (uint32_t i = 1; i < num; i++) {
            learn_share(model, options, num, i, &share);
            for (size_t j = 0; j < NETWORK_NUM_SUMS; j++)
                ((double *)&sums)[j] += ((double *)&share)[j];
        }
        network_step(model->weights, model->velocity, &sums, options->points);
    }
}

/* The greatest difference, in parts of the greatest weight. */
static double difference(const double *left, const double *right)
{
    double largest = 0;
    double error = 0;
    for (size_t i = 0; i < NETWORK_WEIGHTS; i++) {
        double here = fabs(left[i] - right[i]);
        if (isnan(here))
            return INFINITY;
        largest = fmax(largest, fabs(right[i]));
        error = fmax(error, here);
    }
    return error / largest;
}

/* To be called at all sites. RET_SPREAD: how far their weights are apart. */
static cohort_status find_spread(struct training *training, double *ret_spread)
{
    double lowest[NETWORK_WEIGHTS];
    double highest[NETWORK_WEIGHTS];
    const double *mine = training->model.weights;
    cohort_status status = all_reduce(training, mine, lowest, NETWORK_WEIGHTS, COHORT_MIN);
    if (!status)
        status = all_reduce(training, mine, highest, NETWORK_WEIGHTS, COHORT_MAX);
    if (!status)
        *ret_spread = difference(lowest, highest);
    return status;
}

/* Compares with two serial ways: all points one after another, and share by share, which is the
 * order of a reproducible sum. */
static cohort_status compare(const struct training *training, double spread, double *ret_error)
{
    struct model serial;
    const struct training_options *options = training->options;
    const double *weights = training->model.weights;
    train_serially(options, 1, &serial);
    double error = difference(weights, serial.weights);
    if (!(error <= tolerance) || !(spread <= tolerance))
        return cohort_fail(COHORT_ERR_FAILED,
                           "check failed: the weights differ by %g of the greatest from serial "
                           "training, by %g between sites",
                           error, spread);
    *ret_error = error;
    if (!options->reproducible)
        return COHORT_OK;
    train_serially(options, training->site->num_sites, &serial);
    if (memcmp(weights, serial.weights, sizeof(serial.weights)) != 0 || spread > 0)
        return cohort_fail(COHORT_ERR_FAILED,
                           "check failed: the weights have other bits than serial training gives");
    return COHORT_OK;
}

enum { SIDE = 256 };

/* Draws in grey what the network says of each place, and the points in black and white. */
static cohort_status draw(const struct training *training)
{
    const struct training_options *options = training->options;
    const double half = 1.25;
    uint8_t *samples = NULL;
    cohort_status status = site_allocate(training->site, (size_t)SIDE * SIDE, 1, &samples);
    if (status)
        return status;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double x = half * (2.0 * column / SIDE - 1);
            double y = half * (1 - 2.0 * row / SIDE);
            double output = network_output(training->model.weights, x, y);
            samples[row * SIDE + column] = (uint8_t)(70 + 115 * output + 0.5);
        }
    for (uint32_t i = 0; i < options->points; i++) {
        struct point point = network_point(i, options->points, options->seed);
        int column = (int)((point.x / half + 1) * SIDE / 2);
        int row = (int)((1 - point.y / half) * SIDE / 2);
        for (int dot = 0; dot < 4; dot++)
            samples[(row + dot / 2) * SIDE + column + dot % 2] = point.label > 0 ? 255 : 0;
    }
    struct pgm picture = {.width = SIDE, .height = SIDE, .maxval = 255, .samples = samples};
    status = pgm_write(options->out, &picture);
    pgm_fini(&picture);
    return status;
}

/* Site 0 compares and draws. The status of that is the status of all sites. */
static cohort_status finish(struct training *training)
{
    struct site *site = training->site;
    const struct training_options *options = training->options;
    double spread = 0;
    double error = 0;
    cohort_status status = find_spread(training, &spread);
    if (status)
        return status;
    if (site->index == 0) {
        status = compare(training, spread, &error);
        if (!status)
            status = draw(training);
    }
    status = site_agree(site, status, NULL, 0);
    if (status || site->index != 0)
        return status;
    printf("sites: %" PRIu32 " in %" PRIu32 " localities, up to %zu points each\n", site->num_sites,
           cohort_num_localities() - cohort_failed_localities(NULL, 0),
           share_size(options->points, site->num_sites, 0));
    printf("all_reduce: %s of %d doubles\n", options->algorithm ? options->algorithm : "any",
           NETWORK_NUM_SUMS);
    printf("check: weights differ by at most %.1e of the greatest from serial training, by %.1e "
           "between sites\n",
           error, spread);
    if (options->reproducible)
        printf("check: equal to serial training on the same shares, bit for bit\n");
    return COHORT_OK;
}

cohort_status training_site_run(struct site *site)
{
    struct training training = {.site = site, .options = site->work};
    start(&training.model, training.options);
    cohort_status status = train(&training);
    if (!status)
        status = finish(&training);
    cohort_comm_unref(training.survivors);
    return status;
}
