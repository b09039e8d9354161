/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: the list of measured times, and its lines between jobs. */
#include "tools/tune/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 };

struct cohort__placement tune_samples_placement(enum cohort__distance distance, uint32_t num_sites,
                                                uint32_t sharing)
{
    bool is_spread = distance != COHORT__DISTANCE_TASKS;
    return (struct cohort__placement){
        .num_sites = num_sites,
        .num_localities = is_spread ? num_sites : 1,
        .num_hosts = distance == COHORT__DISTANCE_HOSTS ? num_sites : 1,
        .largest = is_spread ? 1 : num_sites,
        .is_contiguous = true,
        .sharing = distance == COHORT__DISTANCE_HOSTS ? sharing : 0,
    };
}

cohort_status tune_samples_add(struct tune_samples *samples, const struct tune_sample *sample)
{
    if (samples->num == samples->capacity) {
        size_t capacity = samples->capacity ? 2 * samples->capacity : 1024;
        void *all = realloc(samples->all, capacity * sizeof(*samples->all));
        if (!all)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu samples", capacity);
        samples->all = all;
        samples->capacity = capacity;
    }
    samples->all[samples->num++] = *sample;
    return COHORT_OK;
}

cohort_status tune_samples_print(const struct tune_samples *samples, FILE *file)
{
    for (size_t i = 0; i < samples->num; i++) {
        const struct tune_sample *sample = &samples->all[i];
        const struct cohort__algorithm *row = cohort__algorithms[sample->row];
        const struct cohort__cost *cost = &sample->cost;
        fprintf(file, "%s %s %s %u %zu %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %u\n",
                cohort__distance_name(sample->distance), cohort__collective_name(row->collective),
                row->name, (unsigned)sample->num_sites, sample->bytes, sample->ns, cost->startups,
                cost->bytes, cost->reduced, cost->messages, cost->moved, cost->combined,
                cost->memory, (unsigned)sample->placement.sharing);
    }
    return fflush(file) || ferror(file)
               ? cohort_fail(COHORT_ERR_SYSTEM, "the samples can't be written: %s", strerror(errno))
               : COHORT_OK;
}

/* COHORT__NUM_DISTANCES: none of that name. */
static enum cohort__distance find_distance(const char *name)
{
    unsigned distance = 0;
    while (distance < COHORT__NUM_DISTANCES &&
           strcmp(cohort__distance_name((enum cohort__distance)distance), name) != 0)
        distance++;
    return (enum cohort__distance)distance;
}

/* COHORT__MAX_ROWS: none of these names. */
static uint32_t find_row(const char *collective, const char *name)
{
    uint32_t row = 0;
    while (row < cohort__num_algorithms &&
           (strcmp(cohort__algorithms[row]->name, name) != 0 ||
            strcmp(cohort__collective_name(cohort__algorithms[row]->collective), collective) != 0))
        row++;
    return row < cohort__num_algorithms ? row : COHORT__MAX_ROWS;
}

cohort_status tune_samples_read(struct tune_samples *samples, const char *line)
{
    char distance[MAX_NAME], collective[MAX_NAME], name[MAX_NAME];
    uint32_t sharing = 0;
    int end = 0;
    struct tune_sample sample = {.num_sites = 0};
    struct cohort__cost *cost = &sample.cost;
    int num = sscanf(line, "%63s %63s %63s %u %zu %lf %lf %lf %lf %lf %lf %lf %lf %u%n", distance,
                     collective, name, &sample.num_sites, &sample.bytes, &sample.ns,
                     &cost->startups, &cost->bytes, &cost->reduced, &cost->messages, &cost->moved,
                     &cost->combined, &cost->memory, &sharing, &end);
    if (num == 14) {
        sample.distance = find_distance(distance);
        sample.row = find_row(collective, name);
    }
    if (num != 14 || strcmp(line + end, "\n") != 0 || sample.distance == COHORT__NUM_DISTANCES ||
        sample.row == COHORT__MAX_ROWS || sample.num_sites < 2 || !isfinite(sample.ns) ||
        sample.ns <= 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "\"%.*s\" is no sample",
                           (int)strcspn(line, "\n"), line);
    sample.placement = tune_samples_placement(sample.distance, sample.num_sites, sharing);
    return tune_samples_add(samples, &sample);
}

void tune_samples_fini(struct tune_samples *samples)
{
    free(samples->all);
    *samples = (struct tune_samples){NULL, 0, 0};
}
