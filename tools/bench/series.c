/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: one measurement: how many calls fill a round, and the spread of the rounds. */
#include "tools/bench/series.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUND_NS = 20 * 1000 * 1000,
    QUICK_ROUND_NS = 1000 * 1000,
    /* The first long run may have been a slow start. So the next one, which warms up, has to be
     * long as well. */
    NUM_LONG_RUNS = 2,
    MAX_GROWTH = 100,
    /* A call that lasts so many rounds is a round by itself: it would take too long to warm up. */
    MUCH_TOO_LONG = 3,
};
static const uint64_t max_calls = 1000 * 1000 * 1000;

uint64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_renew(double *numbers, size_t num)
{
    enum { IN_A_LINE = 8 };
    for (size_t i = 0; i < num; i += IN_A_LINE)
        *(volatile double *)&numbers[i] = numbers[i];
}

void bench_series_init(struct bench_series *series, const struct bench_options *options)
{
    series->round_ns = options->quick ? QUICK_ROUND_NS : ROUND_NS;
    if (options->seconds > 0)
        series->round_ns = (uint64_t)(options->seconds * 1e9);
    series->calls = 1;
    series->rounds = options->rounds;
    series->num_long = 0;
    series->num_rounds = 0;
}

uint64_t bench_series_next(const struct bench_series *series)
{
    return series->num_rounds < series->rounds ? series->calls : 0;
}

/* Aims at a quarter more than a round, as runs differ in length. */
static uint64_t more_calls(const struct bench_series *series, uint64_t elapsed_ns)
{
    double growth = 1.25 * (double)series->round_ns / (double)(elapsed_ns ? elapsed_ns : 1);
    if (growth > MAX_GROWTH)
        growth = MAX_GROWTH;
    uint64_t calls = (uint64_t)((double)series->calls * growth) + 1;
    return calls < max_calls ? calls : max_calls;
}

void bench_series_add_part(struct bench_series *series, uint64_t elapsed_ns, uint64_t part_ns)
{
    bool is_endless = series->calls == 1 && elapsed_ns / MUCH_TOO_LONG > series->round_ns;
    if (series->num_long == NUM_LONG_RUNS || is_endless) {
        series->ns_per_call[series->num_rounds++] = (double)part_ns / (double)series->calls;
    } else if (elapsed_ns >= series->round_ns || series->calls == max_calls) {
        series->num_long++;
    } else {
        series->num_long = 0;
        series->calls = more_calls(series, elapsed_ns);
    }
}

void bench_series_add(struct bench_series *series, uint64_t elapsed_ns)
{
    bench_series_add_part(series, elapsed_ns, elapsed_ns);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct bench_spread bench_series_spread(struct bench_series *series)
{
    const double *sorted = series->ns_per_call;
    unsigned count = series->num_rounds;
    qsort(series->ns_per_call, count, sizeof(series->ns_per_call[0]), compare);
    return (struct bench_spread){
        .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
        .min = sorted[0],
        .max = sorted[count - 1],
    };
}

void bench_spread_divide(struct bench_spread *spread, double parts)
{
    spread->median /= parts;
    spread->min /= parts;
    spread->max /= parts;
}
