/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: times the library's choice against all other algorithms, in one job. */
#include "tools/bench/select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/model/parameters.h"
#include "tools/share/trial.h"

enum {
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

/* What is to be measured in this job, and where the results go: NULL in all localities but 0. */
struct selecting {
    const struct bench_options *options;
    struct select_report *report;
    uint32_t num_sites;
};

struct runner {
    uint32_t row;
    double ns;
};

static uint64_t max_memory(const struct selecting *selecting)
{
    bool is_mixed = selecting->options->sites_per_locality > 1 && cohort_num_localities() > 1;
    return is_mixed ? most_of_mixed : most_memory;
}

static double round_ns(const struct selecting *selecting)
{
    return selecting->options->quick ? 0.3e6 : 3e6;
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
static unsigned count_turns(const struct selecting *selecting, const struct runner *runners,
                            unsigned num, unsigned num_rounds)
{
    double turn_ns = (1 + count_calls(runners, num)) * mean_ns(runners, num);
    double turns = num_rounds * round_ns(selecting) / turn_ns;
    if (!selecting->options->by_call)
        return num_rounds;
    return turns < FEWEST_TURNS ? FEWEST_TURNS : turns > MOST_TURNS ? MOST_TURNS : (unsigned)turns;
}

/* A round of each runner after the other. Each turn begins with another one. */
static cohort_status take_rounds(struct trial_lead *lead, const struct selecting *selecting,
                                 struct trial *trial, const struct runner *runners, unsigned num,
                                 struct turns *turns)
{
    cohort_status status = COHORT_OK;
    for (unsigned round = 0; round < turns->num_rounds; round++)
        for (unsigned turn = 0; !status && turn < num; turn++) {
            unsigned i = (round + turn) % num;
            trial->row = runners[i].row;
            status = trial_time(lead, trial, trial_calls(runners[i].ns, round_ns(selecting)),
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
static cohort_status take_turns(struct trial_lead *lead, const struct selecting *selecting,
                                struct trial *trial, const struct runner *runners, unsigned num,
                                unsigned num_rounds, struct turns *ret_turns)
{
    struct turns turns = {.num_rounds = count_turns(selecting, runners, num, num_rounds)};
    turns.ns = calloc((size_t)num * turns.num_rounds, sizeof(*turns.ns));
    if (!turns.ns)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u times", num * turns.num_rounds);
    cohort_status status = selecting->options->by_call
                               ? take_calls(lead, trial, runners, num, &turns)
                               : take_rounds(lead, selecting, trial, runners, num, &turns);
    if (status)
        free(turns.ns);
    else
        *ret_turns = turns;
    return status;
}

/* The median of each of the NUM runners, measured in turns. */
static cohort_status race(struct trial_lead *lead, const struct selecting *selecting,
                          struct trial *trial, struct runner *runners, unsigned num)
{
    struct turns turns = {.ns = NULL};
    unsigned num_rounds = selecting->options->by_call ? FRESH_ROUNDS : FIRST_ROUNDS;
    cohort_status status = take_turns(lead, selecting, trial, runners, num, num_rounds, &turns);
    if (status)
        return status;
    for (unsigned i = 0; i < num; i++)
        runners[i].ns = trial_median(&turns.ns[i * turns.num_rounds], turns.num_rounds);
    free(turns.ns);
    return COHORT_OK;
}

/* Measures two runners again, in turns. RET_RATIO: the median of the turns' ratios, second to
 * first. So what slows down both does not count. */
static cohort_status duel(struct trial_lead *lead, const struct selecting *selecting,
                          struct trial *trial, struct runner pair[2], double *ret_ratio)
{
    struct turns turns = {.ns = NULL};
    cohort_status status = take_turns(lead, selecting, trial, pair, 2, FRESH_ROUNDS, &turns);
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
static cohort_status find_best(struct trial_lead *lead, const struct selecting *selecting,
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
    return race(lead, selecting, trial, runners, num_kept);
}

static cohort_status measure(struct trial_lead *lead, const struct selecting *selecting,
                             struct trial *trial, struct runner *runners, unsigned num)
{
    struct select_point point = {
        .collective = cohort__collective_name((enum cohort__collective)trial->collective),
        .sites = selecting->num_sites,
        .bytes = trial->bytes,
        .rows = num,
    };
    uint32_t selected = 0;
    cohort_status status = find_selected(lead, trial, &selected);
    if (!status)
        status = find_best(lead, selecting, trial, runners, &num);
    if (status)
        return status;
    /* Both rows are asked for by name, since that takes time, too. */
    struct runner pair[2] = {*fastest(runners, num)};
    pair[1] = (struct runner){selected, pair[0].ns};
    point.best = cohort__algorithms[pair[0].row]->name;
    point.selected = cohort__algorithms[selected]->name;
    point.regret = 1;
    if (pair[0].row != selected)
        status = duel(lead, selecting, trial, pair, &point.regret);
    point.best_us = pair[0].ns / 1e3;
    point.selected_us = pair[1].ns / 1e3;
    if (!status)
        select_report_add(selecting->report, &point);
    return status;
}

/* A point whose rows all need too much memory is reported without any. */
static cohort_status measure_point(struct trial_lead *lead, const struct selecting *selecting,
                                   const struct bench_work *work)
{
    uint32_t rows[COHORT__MAX_ROWS];
    struct runner runners[COHORT__MAX_ROWS];
    struct trial trial = {.collective = cohort__collective_find(work->name), .bytes = work->size};
    uint32_t num = trial_rows(lead, &trial, rows, COHORT__MAX_ROWS), num_fit = 0;
    for (uint32_t i = 0; i < num; i++) {
        trial.row = rows[i];
        if (trial_memory(lead, &trial) <= (double)max_memory(selecting))
            runners[num_fit++] = (struct runner){.row = rows[i]};
    }
    if (num_fit > 0)
        return measure(lead, selecting, &trial, runners, num_fit);
    select_report_add(selecting->report, &(struct select_point){
                                             .collective = work->name,
                                             .sites = selecting->num_sites,
                                             .bytes = work->size,
                                         });
    return COHORT_OK;
}

static cohort_status lead_job(struct trial_lead *lead, void *arg)
{
    const struct selecting *selecting = arg;
    const struct bench_works *works = &selecting->options->works;
    cohort_status status = COHORT_OK;
    for (size_t i = 0; !status && i < works->num; i++)
        status = measure_point(lead, selecting, &works->list[i]);
    return status;
}

const char *const *select_works(void)
{
    static const char *names[COHORT__EXCHANGE + 1]; /* the last one is NULL */
    for (uint32_t i = 0; i < COHORT__EXCHANGE; i++)
        names[i] = cohort__collective_name((enum cohort__collective)i);
    return names;
}

cohort_status bench_select(const struct bench_options *options, struct select_report *report)
{
    struct selecting selecting = {
        .options = options,
        .report = report,
        .num_sites = cohort_num_localities() * options->sites_per_locality,
    };
    return trial_group_run(&(struct trial_group){
        .name = "select",
        .options = {.num_sites = selecting.num_sites,
                    .flat_fallback_threshold = 1,
                    .memory_budget = max_memory(&selecting) / selecting.num_sites},
        .per_locality = options->sites_per_locality,
        .lead = lead_job,
        .arg = &selecting,
    });
}
