/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the time against bytes or sites, as a plot. */
#include "tools/sim/plot.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/share/plot.h"
#include "tools/sim/limits.h"

/* Two points for each power of two, and both ends. */
enum { MAX_POINTS = 2 * 64 + 2 };

static size_t grid(const struct sim_options *options, size_t values[MAX_POINTS])
{
    size_t num = 0;
    values[num++] = options->from;
    for (size_t power = 1; power > 0 && power < options->to; power *= 2) {
        size_t between = power + power / 2;
        if (power > options->from)
            values[num++] = power;
        if (options->over == SIM_OVER_SITES && power > 1 && between > options->from &&
            between < options->to)
            values[num++] = between;
    }
    if (options->to > options->from)
        values[num++] = options->to;
    return num;
}

/* The request of the point at VALUE. */
static struct cohort__request request_at(const struct sim_options *options, size_t value)
{
    struct cohort__request request = options->request;
    size_t element = cohort__request_element(&request);
    if (options->over == SIM_OVER_SITES)
        request.num_sites = (uint32_t)value;
    else
        request.bytes = (value + element - 1) / element * element;
    return request;
}

/* Adds the point at VALUE to POINTS, unless it is refused. A time of 0 can't be on the axis. */
static cohort_status add_point(const struct sim_options *options,
                               const struct cohort__algorithm *algorithm, size_t value,
                               struct plot_point *points, size_t *num_points)
{
    struct cohort__request request = request_at(options, value);
    struct cohort__network network;
    struct cohort__sim_result result;
    if (cohort__network_init(&network, options->network, request.num_sites) != COHORT_OK ||
        sim_refuses(algorithm, &request))
        return COHORT_OK;
    cohort_status status =
        cohort__simulate_algorithm(&network, &options->costs, algorithm, &request, &result);
    if (status != COHORT_OK)
        return status;
    if (result.time > 0)
        points[(*num_points)++] = (struct plot_point){(double)value, result.time};
    cohort__sim_result_fini(&result);
    return COHORT_OK;
}

static void draw_texts(const struct sim_options *options, char title[128], char subtitle[256])
{
    const struct cohort__request *request = &options->request;
    if (options->over == SIM_OVER_BYTES)
        snprintf(title, 128, "%s of %u sites on %s", cohort__collective_name(request->collective),
                 request->num_sites, options->network);
    else
        snprintf(title, 128, "%s of blocks of %zu bytes on %s",
                 cohort__collective_name(request->collective), request->bytes, options->network);
    snprintf(
        subtitle, 256,
        "simulated: t_s = %g us, t_w = %g us/byte, t_r = %g us/byte, arity %u; dashed: another "
        "one becomes the fastest",
        options->costs.startup, options->costs.per_byte, options->costs.reduce, request->arity);
}

static cohort_status draw(const struct sim_options *options, const struct plot_series *series,
                          size_t num_series)
{
    char title[128], subtitle[256];
    draw_texts(options, title, subtitle);
    bool is_bytes = options->over == SIM_OVER_BYTES;
    struct plot plot = {
        .title = title,
        .subtitle = subtitle,
        .x = {is_bytes ? "bytes of a block" : "sites", PLOT_LOG2,
              is_bytes ? PLOT_BYTES : PLOT_NUMBER},
        .y = {"time in microseconds", PLOT_LOG10, PLOT_NUMBER},
        .series = series,
        .num_series = num_series,
        .mark_crossings = true,
    };
    return plot_write(&plot, options->plot);
}

cohort_status sim_plot(const struct sim_options *options,
                       const struct cohort__algorithm *const *algorithms, size_t num_algorithms)
{
    size_t values[MAX_POINTS];
    size_t num_values = grid(options, values);
    struct plot_series *series = calloc(num_algorithms + 1, sizeof(*series));
    struct plot_point *points = calloc(num_algorithms * num_values + 1, sizeof(*points));
    cohort_status status = COHORT_OK;
    if (!series || !points)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for the plot", options->plot);
    for (size_t i = 0; i < num_algorithms && status == COHORT_OK; i++) {
        struct plot_point *of_series = points + i * num_values;
        series[i].label = algorithms[i]->name;
        series[i].points = of_series;
        for (size_t k = 0; k < num_values && status == COHORT_OK; k++)
            status = add_point(options, algorithms[i], values[k], of_series, &series[i].num_points);
    }
    if (status == COHORT_OK)
        status = draw(options, series, num_algorithms);
    free(series);
    free(points);
    return status;
}
