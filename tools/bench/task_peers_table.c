/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the figures beside each other, as table or JSON. */
#include "tools/bench/task_peers_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/bench/report.h"
#include "tools/share/json.h"
#include "tools/share/trial.h"

/* The JSON is as report.c's, except its results, and without targets:
 *
 * {"name": "fib", "size": 30, "workers": 1, "unit": "ns",
 *   "figures": {"cohort": 30, "tbb": 90, "openmp": 100},
 *   "best": "tbb", "ratio": 0.33, "limit": 0.25, "against": "tbb", "reached": false} (in one line)
 *
 * Figures are medians. One that was not measured is left out. "best" and "ratio" are left out where
 * there is no peer, and "reached" where it can't be told. Without "against", the limit is in the
 * unit of the figures; else it is a ratio. With "floor", the ratio and the limit are of what is
 * above that one's figure. */

const char *const task_peers_names[TASK_PEERS_NUM_COLUMNS] = {
    [TASK_PEERS_COHORT] = "cohort",
    [TASK_PEERS_TBB] = "tbb",
    [TASK_PEERS_OPENMP] = "openmp",
    [TASK_PEERS_SYSTEM] = "system",
};

/* The figures of a line. 0: not measured. */
struct verdict {
    double medians[TASK_PEERS_NUM_COLUMNS];
    size_t best;  /* of the peers; 0: there is none */
    double floor; /* 0: there is none */
    double ratio; /* to that one, above the floor */
    double limit; /* for Cohort's figure; 0: can't be told */
    bool is_reached;
};

static struct verdict judge(struct task_peers_line *line)
{
    struct verdict verdict = {.best = 0};
    for (size_t i = 0; i < TASK_PEERS_NUM_COLUMNS; i++) {
        double *median = &verdict.medians[i];
        if (line->num_rounds[i])
            *median = trial_median(line->figures[i], line->num_rounds[i]);
        if (line->row->is_above && i == TASK_PEERS_SYSTEM)
            verdict.floor = *median;
        else if (i != TASK_PEERS_COHORT && *median > 0 &&
                 (!verdict.best || *median < verdict.medians[verdict.best]))
            verdict.best = i;
    }
    double cohort = verdict.medians[TASK_PEERS_COHORT];
    if (verdict.best)
        verdict.ratio = (cohort - verdict.floor) / (verdict.medians[verdict.best] - verdict.floor);
    if (cohort > 0)
        verdict.limit = line->row->limit;
    double against = verdict.medians[line->row->against];
    if (line->row->against != TASK_PEERS_COHORT && verdict.limit > 0)
        verdict.limit = against > 0 ? verdict.floor + verdict.limit * (against - verdict.floor) : 0;
    verdict.is_reached = cohort <= verdict.limit;
    return verdict;
}

uint64_t task_peers_size(const struct task_peers_table *table, const struct task_peers_line *line)
{
    return table->quick ? line->row->quick_size : line->row->size;
}

void task_peers_table_begin(const struct task_peers_table *table)
{
    struct bench_machine machine = bench_machine();
    if (table->json)
        return;
    printf("cohort-bench %s, %u cores, %s, %s, load %.2f%s\n\n", COHORT_VERSION, machine.cores,
           machine.cpu, machine.system, machine.load,
           table->quick ? ", --quick: not for figures" : "");
    puts("Medians of the rounds, for one item; x: times the ideal. ratio: Cohort's figure by that "
         "of the\n"
         "best peer. docs/performance.md tells what the rows are.\n");
    printf("%-16s %8s %7s", "work", "size", "workers");
    for (size_t i = 0; i < TASK_PEERS_NUM_COLUMNS; i++)
        printf(" %9s", task_peers_names[i]);
    printf(" %-4s %6s  wanted\n", "unit", "ratio");
    fflush(stdout);
}

static void print_number(int width, double value)
{
    if (value > 0)
        printf(" %*.*f", width, value < 1000 ? 2 : 0, value);
    else
        printf(" %*s", width, "-");
}

void task_peers_table_show(const struct task_peers_table *table, struct task_peers_line *line)
{
    const struct task_peers_row *row = line->row;
    if (table->json)
        return;
    struct verdict verdict = judge(line);
    printf("%-16s %8" PRIu64 " %7u", row->work, task_peers_size(table, line), row->workers);
    for (size_t i = 0; i < TASK_PEERS_NUM_COLUMNS; i++)
        print_number(9, verdict.medians[i]);
    printf(" %-4s", row->unit);
    print_number(6, verdict.ratio);
    if (row->against != TASK_PEERS_COHORT)
        printf("  <= %g of %s%s", row->limit, task_peers_names[row->against],
               row->is_above ? " above system" : "");
    else
        printf("  <= %g %s", row->limit, row->unit);
    if (verdict.limit > 0)
        printf(": %s", verdict.is_reached ? "reached" : "missed");
    if (row->system)
        printf(" (system: %s)", row->system);
    putchar('\n');
    fflush(stdout);
}

static void write_line(const struct task_peers_table *table, struct task_peers_line *line,
                       struct json *json)
{
    const struct task_peers_row *row = line->row;
    struct verdict verdict = judge(line);
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "name", row->work);
    json_count(json, "size", task_peers_size(table, line));
    json_count(json, "workers", row->workers);
    json_text(json, "unit", row->unit);
    json_begin(json, "figures", '{');
    for (size_t i = 0; i < TASK_PEERS_NUM_COLUMNS; i++)
        if (verdict.medians[i] > 0)
            json_number(json, task_peers_names[i], verdict.medians[i]);
    json_end(json, '}');
    if (verdict.best) {
        json_text(json, "best", task_peers_names[verdict.best]);
        json_number(json, "ratio", verdict.ratio);
    }
    json_number(json, "limit", row->limit);
    if (row->against != TASK_PEERS_COHORT)
        json_text(json, "against", task_peers_names[row->against]);
    if (row->is_above)
        json_text(json, "floor", task_peers_names[TASK_PEERS_SYSTEM]);
    if (verdict.limit > 0)
        json_bool(json, "reached", verdict.is_reached);
    json_end(json, '}');
}

bool task_peers_table_end(const struct task_peers_table *table)
{
    if (table->json) {
        struct bench_machine machine = bench_machine();
        struct json json = {.file = stdout};
        bench_report_write_head(&json, &machine, table->quick);
        for (size_t i = 0; i < table->num_lines; i++)
            write_line(table, &table->lines[i], &json);
        json_break(&json, 0);
        json_end(&json, ']');
        json_end(&json, '}');
        putchar('\n');
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}
