/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: times the library's choice against all other algorithms. */
#include "tools/bench/select.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/model/parameters.h"
#include "tools/share/trial.h"

/* The grid. */
static const uint32_t all_sites[] = {2, 3, 4, 5, 8, 16, 32};
static const uint64_t all_bytes[] = {8, 64, 512, 4096, 32768, 262144, 2097152, 4194304};
enum {
    NUM_SITES = sizeof(all_sites) / sizeof(all_sites[0]),
    NUM_BYTES = sizeof(all_bytes) / sizeof(all_bytes[0]),
    FIRST_ROUNDS = 3,
    FRESH_ROUNDS = 5,
};

static const double max_memory = 8.0 * (1 << 30);
static const double hopeless = 4;    /* times the best: not measured any further */
static const double slow_ns = 200e6; /* a call that is not even repeated */

/* The points of one number of sites. */
struct stretch {
    const struct bench_options *options;
    struct select_report *report;
    uint32_t num_sites;
    bool is_spread;
    uint64_t end; /* of measuring */
};

struct runner {
    uint32_t row;
    double ns;
};

static double round_ns(const struct stretch *stretch)
{
    return stretch->options->quick ? 0.3e6 : 3e6;
}

/* A first look: one call and, if it isn't slow, a second one, since the first one builds the
 * plan. */
static cohort_status look(struct trial_lead *lead, struct trial *trial, struct runner *runner)
{
    double again;
    trial->row = runner->row;
    cohort_status status = trial_time(lead, trial, 1, &runner->ns);
    if (status || runner->ns > slow_ns)
        return status;
    status = trial_time(lead, trial, 1, &again);
    if (!status && again < runner->ns)
        runner->ns = again;
    return status;
}

/* The median of NUM_ROUNDS rounds of each of the NUM runners, in turns. */
static cohort_status race(struct trial_lead *lead, const struct stretch *stretch,
                          struct trial *trial, struct runner *runners, unsigned num,
                          unsigned num_rounds)
{
    double *times = calloc((size_t)num * num_rounds, sizeof(*times));
    cohort_status status = COHORT_OK;
    if (!times)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u times", num * num_rounds);
    for (unsigned round = 0; round < num_rounds; round++)
        for (unsigned i = 0; !status && i < num; i++) {
            trial->row = runners[i].row;
            status = trial_time(lead, trial, trial_calls(runners[i].ns, round_ns(stretch)),
                                &times[i * num_rounds + round]);
        }
    for (unsigned i = 0; !status && i < num; i++)
        runners[i].ns = trial_median(&times[i * num_rounds], num_rounds);
    free(times);
    return status;
}

static struct runner *fastest(struct runner *runners, unsigned num)
{
    struct runner *best = &runners[0];
    for (unsigned i = 1; i < num; i++)
        if (runners[i].ns < best->ns)
            best = &runners[i];
    return best;
}

/* The row that the library selects: the word behind "chosen: ". */
static cohort_status find_selected(struct trial_lead *lead, const struct trial *trial,
                                   uint32_t *ret_row)
{
    char *text = NULL, name[32] = "";
    uint32_t row = 0;
    cohort_status status = cohort_explain(
        trial_comm(lead), cohort__collective_name((enum cohort__collective)trial->collective),
        trial->bytes / sizeof(double), COHORT_DOUBLE, NULL, &text);
    if (status)
        return status;
    const char *chosen = strstr(text, "\nchosen: ");
    if (chosen)
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(chosen + 9, ",\n"), chosen + 9);
    const struct cohort__algorithm *selected =
        cohort__algorithm_find((enum cohort__collective)trial->collective, name);
    while (row < cohort__num_algorithms && cohort__algorithms[row] != selected)
        row++;
    if (row < cohort__num_algorithms)
        *ret_row = row;
    else
        status = cohort_fail(COHORT_ERR_FAILED, "nothing is selected: %s", text);
    free(text);
    return status;
}

/* Finds the best row: looks at all rows that fit, then measures those that are not hopeless in
 * turns. */
static cohort_status find_best(struct trial_lead *lead, const struct stretch *stretch,
                               struct trial *trial, struct runner *runners, unsigned *num)
{
    cohort_status status = COHORT_OK;
    for (unsigned i = 0; !status && i < *num; i++)
        status = look(lead, trial, &runners[i]);
    if (status)
        return status;
    double limit = hopeless * fastest(runners, *num)->ns;
    unsigned num_kept = 0;
    for (unsigned i = 0; i < *num; i++)
        if (runners[i].ns <= limit)
            runners[num_kept++] = runners[i];
    *num = num_kept;
    return race(lead, stretch, trial, runners, num_kept, FIRST_ROUNDS);
}

static cohort_status measure(struct trial_lead *lead, const struct stretch *stretch,
                             struct trial *trial, struct runner *runners, unsigned num)
{
    struct select_point point = {.sites = stretch->num_sites, .bytes = trial->bytes, .rows = num};
    snprintf(point.collective, sizeof(point.collective), "%s",
             cohort__collective_name((enum cohort__collective)trial->collective));
    snprintf(point.placement, sizeof(point.placement), "%s",
             stretch->is_spread ? "localities" : "tasks");
    uint32_t selected = 0;
    cohort_status status = find_selected(lead, trial, &selected);
    if (!status)
        status = find_best(lead, stretch, trial, runners, &num);
    if (status)
        return status;
    /* Both rows are asked for by name, since that takes time, too. */
    struct runner pair[2] = {*fastest(runners, num)};
    pair[1] = (struct runner){selected, pair[0].ns};
    snprintf(point.best, sizeof(point.best), "%s", cohort__algorithms[pair[0].row]->name);
    snprintf(point.selected, sizeof(point.selected), "%s", cohort__algorithms[selected]->name);
    if (pair[0].row != selected)
        status = race(lead, stretch, trial, pair, 2, FRESH_ROUNDS);
    point.best_us = pair[0].ns / 1e3;
    point.selected_us = pair[1].ns / 1e3;
    point.regret = pair[1].ns / pair[0].ns;
    return status ? status : select_report_add(stretch->report, &point);
}

static cohort_status measure_point(struct trial_lead *lead, const struct stretch *stretch,
                                   uint32_t collective, uint64_t bytes)
{
    uint32_t rows[COHORT__MAX_ROWS];
    struct runner runners[COHORT__MAX_ROWS];
    struct trial trial = {.collective = collective, .bytes = bytes};
    uint32_t num = trial_rows(lead, &trial, rows, COHORT__MAX_ROWS), num_fit = 0;
    if (num == 0)
        return COHORT_OK;
    for (uint32_t i = 0; i < num; i++) {
        trial.row = rows[i];
        if (trial_memory(lead, &trial) <= max_memory)
            runners[num_fit++] = (struct runner){.row = rows[i]};
    }
    if (num_fit == 0)
        stretch->report->num_too_large++;
    else if (trial_now() >= stretch->end)
        stretch->report->num_late++;
    else
        return measure(lead, stretch, &trial, runners, num_fit);
    return COHORT_OK;
}

bool bench_select_has(const char *collective)
{
    return cohort__collective_find(collective) < COHORT__EXCHANGE;
}

static bool is_wanted(const struct bench_options *options, uint32_t collective, uint64_t bytes)
{
    const char *name = cohort__collective_name((enum cohort__collective)collective);
    return (!options->collective || strcmp(options->collective, name) == 0) &&
           (!options->bytes || options->bytes == bytes);
}

static cohort_status lead_stretch(struct trial_lead *lead, void *arg)
{
    const struct stretch *stretch = arg;
    cohort_status status = COHORT_OK;
    for (unsigned b = 0; b < NUM_BYTES; b++)
        for (uint32_t collective = 0; !status && collective < COHORT__EXCHANGE; collective++) {
            uint64_t bytes = collective == COHORT__BARRIER ? 0 : all_bytes[b];
            if ((b == 0 || bytes > 0) && is_wanted(stretch->options, collective, all_bytes[b]))
                status = measure_point(lead, stretch, collective, bytes);
        }
    return status;
}

static bool is_in_grid(const struct bench_options *options, uint32_t num_sites, bool is_spread)
{
    return (!options->sites || options->sites == num_sites) &&
           (!is_spread || num_sites <= cohort_num_localities());
}

cohort_status bench_select(const struct bench_options *options, struct select_report *report)
{
    bool is_spread = cohort_num_localities() > 1;
    uint64_t end = trial_now() + options->limit * (uint64_t)1000000000;
    unsigned parts_left = 0;
    cohort_status status = COHORT_OK;
    for (unsigned i = 0; i < NUM_SITES; i++)
        parts_left += is_in_grid(options, all_sites[i], is_spread) ? all_sites[i] : 0;
    for (unsigned i = 0; !status && i < NUM_SITES; i++) {
        uint64_t now = trial_now(), left = end > now ? end - now : 0;
        if (!is_in_grid(options, all_sites[i], is_spread))
            continue;
        struct stretch stretch = {options, report, all_sites[i], is_spread,
                                  now + left / parts_left * all_sites[i]};
        char name[32];
        parts_left -= all_sites[i];
        snprintf(name, sizeof(name), "select %u", (unsigned)all_sites[i]);
        status = trial_group_run(&(struct trial_group){
            .name = name,
            .options = {.num_sites = all_sites[i], .flat_fallback_threshold = 1},
            .is_spread = is_spread,
            .lead = lead_stretch,
            .arg = &stretch,
        });
    }
    return status;
}
