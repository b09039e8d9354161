/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the time against bytes or sites, as a plot. */
#include "tools/sim/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/share/plot.h"
#include "tools/sim/limits.h"
#include "tools/sim/world.h"

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
        if (options->over != SIM_OVER_BYTES && power > 1 && between > options->from &&
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

/* RET_TIME stays as it is where the network or the row refuses. */
static cohort_status network_time(const struct sim_options *options,
                                  const struct cohort__algorithm *algorithm, size_t value,
                                  double *ret_time)
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
    *ret_time = result.time;
    cohort__sim_result_fini(&result);
    return COHORT_OK;
}

static cohort_status machine_time(const struct sim_options *options,
                                  const struct cohort__algorithm *algorithm, size_t value,
                                  double *ret_time)
{
    bool is_hosts = options->over == SIM_OVER_HOSTS;
    struct cohort__request request = request_at(options, value);
    struct sim_options one = *options;
    struct sim_row row[COHORT__MAX_CANDIDATES];
    struct sim_world *world = NULL;
    one.algorithm = algorithm;
    cohort_status status =
        sim_world_create(&world, options, is_hosts ? (uint32_t)value : options->machine.hosts);
    if (!status && sim_world_rows(world, &one, &request, row) == 1 && !row->refuses) {
        status = sim_world_simulate(world, &request, row);
        *ret_time = row->account.time / 1e3;
    }
    sim_world_destroy(world);
    return status;
}

/* Adds the point at VALUE to POINTS, unless it is refused. A time of 0 can't be on the axis. */
static cohort_status add_point(const struct sim_options *options,
                               const struct cohort__algorithm *algorithm, size_t value,
                               struct plot_point *points, size_t *num_points)
{
    double time = 0;
    cohort_status status = options->machine.hosts > 0
                               ? machine_time(options, algorithm, value, &time)
                               : network_time(options, algorithm, value, &time);
    if (!status && time > 0)
        points[(*num_points)++] = (struct plot_point){(double)value, time};
    return status;
}

static void machine_texts(const struct sim_options *options, char title[128], char subtitle[256])
{
    const struct cohort__sim_machine *machine = &options->machine;
    const struct cohort__request *request = &options->request;
    const char *name = cohort__collective_name(request->collective);
    if (options->over == SIM_OVER_BYTES)
        snprintf(title, 128, "%s on %u hosts x %u localities x %u tasks", name, machine->hosts,
                 machine->localities, machine->tasks);
    else
        snprintf(title, 128, "%s of blocks of %zu bytes on hosts x %u localities x %u tasks", name,
                 request->bytes, machine->localities, machine->tasks);
    snprintf(subtitle, 256,
             "simulated: %u cores %s, a turn %g us, arity %u; dashed: another one becomes the "
             "fastest",
             machine->cores, machine->is_shared ? "in all" : "each host", machine->turn / 1e3,
             request->arity);
}

static void draw_texts(const struct sim_options *options, char title[128], char subtitle[256])
{
    const struct cohort__request *request = &options->request;
    if (options->machine.hosts > 0) {
        machine_texts(options, title, subtitle);
        return;
    }
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
        .x = {is_bytes                          ? "bytes of a block"
              : options->over == SIM_OVER_HOSTS ? "hosts"
                                                : "sites",
              PLOT_LOG2, is_bytes ? PLOT_BYTES : PLOT_NUMBER},
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
