/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: times the library's choice against all other algorithms. */
#include "tools/bench/select.h"

#include <inttypes.h>
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
    FRESH_ROUNDS = 7,
    FEWEST_TURNS = 15, /* by call */
    MOST_TURNS = 301,
    FEW_CALLS = 4, /* of a turn */
};

/* Of all sites together: buffers, and the rows' own. Where there are tasks in several localities, a
 * call has been seen to take six times as much. */
static const uint64_t most_memory = UINT64_C(8) << 30, most_of_mixed = UINT64_C(3) << 29;
static const double hopeless = 4;    /* times the best: not measured any further */
static const double slow_ns = 200e6; /* a call that is not even repeated */
static const double long_ns = 1e6;   /* a call that is alone in its turn, by call */

/* The points of one number of sites. */
struct stretch {
    const struct bench_options *options;
    struct select_report *report;
    enum bench_placement placement;
    uint32_t num_sites;
    uint32_t per_locality; /* sites */
    uint64_t end;          /* of measuring */
};

struct runner {
    uint32_t row;
    double ns;
};

static uint64_t max_memory(const struct stretch *stretch)
{
    bool is_mixed =
        stretch->placement == BENCH_PLACED_MIXED || stretch->placement == BENCH_PLACED_HOSTS;
    return is_mixed ? most_of_mixed : most_memory;
}

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

/* The times of RUNNERS in turns: calls[i * num_rounds + round]. */
struct turns {
    double *ns;
    unsigned num_rounds;
};

static double mean_ns(const struct runner *runners, unsigned num)
{
    double sum_ns = 0;
    for (unsigned i = 0; i < num; i++)
        sum_ns += runners[i].ns;
    return sum_ns > num ? sum_ns / num : 1;
}

/* The calls of a row that are timed in a turn, by call. */
static unsigned count_calls(const struct runner *runners, unsigned num)
{
    return mean_ns(runners, num) < long_ns ? FEW_CALLS : 1;
}

/* How many turns: NUM_ROUNDS rounds or, by call, as many as take that long. */
static unsigned count_turns(const struct stretch *stretch, const struct runner *runners,
                            unsigned num, unsigned num_rounds)
{
    double turn_ns = (1 + count_calls(runners, num)) * mean_ns(runners, num);
    double turns = num_rounds * round_ns(stretch) / turn_ns;
    if (!stretch->options->by_call)
        return num_rounds;
    return turns < FEWEST_TURNS ? FEWEST_TURNS : turns > MOST_TURNS ? MOST_TURNS : (unsigned)turns;
}

/* A round of each runner after the other. Each turn begins with another one. */
static cohort_status take_rounds(struct trial_lead *lead, const struct stretch *stretch,
                                 struct trial *trial, const struct runner *runners, unsigned num,
                                 struct turns *turns)
{
    cohort_status status = COHORT_OK;
    for (unsigned round = 0; round < turns->num_rounds; round++)
        for (unsigned turn = 0; !status && turn < num; turn++) {
            unsigned i = (round + turn) % num;
            trial->row = runners[i].row;
            status = trial_time(lead, trial, trial_calls(runners[i].ns, round_ns(stretch)),
                                &turns->ns[i * turns->num_rounds + round]);
        }
    return status;
}

static cohort_status take_calls(struct trial_lead *lead, const struct trial *trial,
                                const struct runner *runners, unsigned num, struct turns *turns)
{
    uint32_t rows[COHORT__MAX_ROWS];
    for (unsigned i = 0; i < num; i++)
        rows[i] = runners[i].row;
    return trial_alternate(lead, trial, rows, num, turns->num_rounds, count_calls(runners, num),
                           turns->ns);
}

/* Measures the NUM runners in turns, of which there are NUM_ROUNDS or, by call, about as long ones.
 * RET_TURNS has their times, to be freed on success. */
static cohort_status take_turns(struct trial_lead *lead, const struct stretch *stretch,
                                struct trial *trial, const struct runner *runners, unsigned num,
                                unsigned num_rounds, struct turns *ret_turns)
{
    struct turns turns = {.num_rounds = count_turns(stretch, runners, num, num_rounds)};
    turns.ns = calloc((size_t)num * turns.num_rounds, sizeof(*turns.ns));
    if (!turns.ns)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u times", num * turns.num_rounds);
    cohort_status status = stretch->options->by_call
                               ? take_calls(lead, trial, runners, num, &turns)
                               : take_rounds(lead, stretch, trial, runners, num, &turns);
    if (status)
        free(turns.ns);
    else
        *ret_turns = turns;
    return status;
}

/* The median of each of the NUM runners, measured in turns. */
static cohort_status race(struct trial_lead *lead, const struct stretch *stretch,
                          struct trial *trial, struct runner *runners, unsigned num)
{
    struct turns turns = {.ns = NULL};
    unsigned num_rounds = stretch->options->by_call ? FRESH_ROUNDS : FIRST_ROUNDS;
    cohort_status status = take_turns(lead, stretch, trial, runners, num, num_rounds, &turns);
    if (status)
        return status;
    for (unsigned i = 0; i < num; i++)
        runners[i].ns = trial_median(&turns.ns[i * turns.num_rounds], turns.num_rounds);
    free(turns.ns);
    return COHORT_OK;
}

/* Measures two runners again, in turns. RET_RATIO: the median of the turns' ratios, second to
 * first. So what slows down both does not count. */
static cohort_status duel(struct trial_lead *lead, const struct stretch *stretch,
                          struct trial *trial, struct runner pair[2], double *ret_ratio)
{
    struct turns turns = {.ns = NULL};
    cohort_status status = take_turns(lead, stretch, trial, pair, 2, FRESH_ROUNDS, &turns);
    if (status)
        return status;
    double *first = turns.ns, *second = turns.ns + turns.num_rounds;
    double *ratios = calloc(turns.num_rounds, sizeof(*ratios));
    if (ratios) {
        for (unsigned i = 0; i < turns.num_rounds; i++)
            ratios[i] = second[i] / first[i];
        *ret_ratio = trial_median(ratios, turns.num_rounds);
        pair[0].ns = trial_median(first, turns.num_rounds); /* sorts them */
        pair[1].ns = trial_median(second, turns.num_rounds);
    } else {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u ratios", turns.num_rounds);
    }
    free(ratios);
    free(turns.ns);
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
    cohort_status status = cohort_explain(
        trial_comm(lead), cohort__collective_name((enum cohort__collective)trial->collective),
        trial->bytes / sizeof(double), COHORT_DOUBLE, NULL, &text);
    if (status)
        return status;
    const char *chosen = strstr(text, "\nchosen: ");
    if (chosen)
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(chosen + 9, ",\n"), chosen + 9);
    uint32_t row = cohort__algorithm_row((enum cohort__collective)trial->collective, name);
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
    return race(lead, stretch, trial, runners, num_kept);
}

/* Says where the point's sites are. */
static void set_place(const struct stretch *stretch, struct select_point *point)
{
    static const char *const names[] = {"tasks", "localities", "mixed", "hosts"};
    uint32_t hosts = 1, localities = stretch->num_sites / stretch->per_locality;
    if (stretch->placement == BENCH_PLACED_HOSTS)
        hosts = stretch->options->places.hosts;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i][0] == (char)stretch->placement)
            snprintf(point->placement, sizeof(point->placement), "%s", names[i]);
    snprintf(point->shape, sizeof(point->shape), "%" PRIu32 "x%" PRIu32 "x%" PRIu32, hosts,
             localities / hosts, stretch->per_locality);
}

static cohort_status measure(struct trial_lead *lead, const struct stretch *stretch,
                             struct trial *trial, struct runner *runners, unsigned num)
{
    struct select_point point = {.sites = stretch->num_sites, .bytes = trial->bytes, .rows = num};
    snprintf(point.collective, sizeof(point.collective), "%s",
             cohort__collective_name((enum cohort__collective)trial->collective));
    set_place(stretch, &point);
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
    point.regret = 1;
    if (pair[0].row != selected)
        status = duel(lead, stretch, trial, pair, &point.regret);
    point.best_us = pair[0].ns / 1e3;
    point.selected_us = pair[1].ns / 1e3;
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
        if (trial_memory(lead, &trial) <= (double)max_memory(stretch))
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

/* Where this job's sites are. */
static enum bench_placement placement_of(const struct bench_options *options)
{
    if (options->placement)
        return (enum bench_placement)options->placement;
    return cohort_num_localities() > 1 ? BENCH_PLACED_LOCALITIES : BENCH_PLACED_TASKS;
}

/* How many of NUM_SITES each locality has. 0: that is not possible in this job. */
static uint32_t per_locality(const struct bench_options *options, uint32_t num_sites)
{
    uint32_t localities = cohort_num_localities();
    switch (placement_of(options)) {
    case BENCH_PLACED_TASKS:
        return num_sites;
    case BENCH_PLACED_LOCALITIES:
        return num_sites <= localities ? 1 : 0;
    case BENCH_PLACED_MIXED:
        return num_sites > localities && num_sites % localities == 0 ? num_sites / localities : 0;
    default: /* hosts: their sites are the ones that are asked for */
        return options->places.tasks;
    }
}

/* The numbers of sites that this job is to measure. Returns how many there are. */
static unsigned list_sites(const struct bench_options *options, uint32_t ret_sites[NUM_SITES])
{
    const struct bench_places *places = &options->places;
    unsigned num = 0;
    if (placement_of(options) == BENCH_PLACED_HOSTS) {
        ret_sites[0] = places->hosts * places->localities * places->tasks;
        return !options->sites || options->sites == ret_sites[0];
    }
    if (placement_of(options) == BENCH_PLACED_MIXED && options->sites) {
        ret_sites[0] = options->sites; /* whether or not it is in the grid */
        return per_locality(options, options->sites) > 0;
    }
    for (unsigned i = 0; i < NUM_SITES; i++)
        if ((!options->sites || options->sites == all_sites[i]) &&
            per_locality(options, all_sites[i]) > 0)
            ret_sites[num++] = all_sites[i];
    return num;
}

static cohort_status check_job(const struct bench_options *options)
{
    const struct bench_places *places = &options->places;
    uint32_t localities = cohort_num_localities();
    if (placement_of(options) != BENCH_PLACED_HOSTS)
        return COHORT_OK;
    if (!places->hosts)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "--placement hosts in a job needs --hosts HxL as well, as this job is");
    if (places->hosts * places->localities == localities)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "--hosts %" PRIu32 "x%" PRIu32 ": this job has %" PRIu32 " localities",
                       places->hosts, places->localities, localities);
}

static cohort_status run_stretch(struct stretch *stretch)
{
    char name[32];
    snprintf(name, sizeof(name), "select %" PRIu32, stretch->num_sites);
    return trial_group_run(&(struct trial_group){
        .name = name,
        .options = {.num_sites = stretch->num_sites,
                    .flat_fallback_threshold = 1,
                    .memory_budget = max_memory(stretch) / stretch->num_sites},
        .per_locality = stretch->per_locality,
        .lead = lead_stretch,
        .arg = stretch,
    });
}

cohort_status bench_select(const struct bench_options *options, struct select_report *report)
{
    uint32_t sites[NUM_SITES];
    uint64_t end = trial_now() + options->limit * (uint64_t)1000000000;
    unsigned num = list_sites(options, sites), parts_left = 0;
    cohort_status status = check_job(options);
    for (unsigned i = 0; i < num; i++)
        parts_left += sites[i];
    for (unsigned i = 0; !status && i < num; i++) {
        uint64_t now = trial_now(), left = end > now ? end - now : 0;
        struct stretch stretch = {
            .options = options,
            .report = report,
            .placement = placement_of(options),
            .num_sites = sites[i],
            .per_locality = per_locality(options, sites[i]),
            .end = now + left / parts_left * sites[i],
        };
        parts_left -= sites[i];
        status = run_stretch(&stretch);
    }
    return status;
}
