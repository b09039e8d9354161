/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: the figures beside each other, as table or JSON. */
#include "tools/bench/host_peers_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/bench/report.h"
#include "tools/share/json.h"
#include "tools/share/trial.h"

/* The JSON is as report.c's, except its results, and without targets:
 *
 * {"name": "all_reduce", "bytes": 8, "hosts": 2, "localities": 4, "tasks": 1, "unit": "us",
 *   "figures": {"cohort": 60, "tuned": 55, "han": 50, "mpich": 70},
 *   "best": "han", "ratio": 1.2, "of_link": 1.5} (in one line)
 *
 * Figures are medians. One that was not measured is left out. Localities are those of a host, tasks
 * those of a locality. "best" and "ratio" are left out where there is nothing to compare with, and
 * "of_link" where blocks are short, or the stream was not measured. */

static const char *const names[HOST_PEERS_NUM_COLUMNS] = {
    [HOST_PEERS_COHORT] = "cohort",
    [HOST_PEERS_TUNED] = "tuned",
    [HOST_PEERS_HAN] = "han",
    [HOST_PEERS_MPICH] = "mpich",
};

/* The figures of a line. 0: not measured. */
struct verdict {
    double medians[HOST_PEERS_NUM_COLUMNS];
    size_t best; /* of tuned and HAN; 0: there is none */
    double ratio;
    double of_link; /* 0: not known */
};

static double median(struct host_peers_line *line, size_t column)
{
    unsigned num = line->num_rounds[column];
    return num ? trial_median(line->figures[column], num) : 0;
}

/* Cohort's figure of LINE, by the time in which the stream carries what has to go over a host's
 * link. */
static double judge_link(const struct host_peers_table *table, struct host_peers_line *line)
{
    struct host_peers_line *last = &table->lines[table->num_lines - 1];
    if (!host_peers_row_is_stream(&last->row))
        return 0;
    double link = host_peers_row_link(&line->row, table->places.hosts);
    double stream = median(last, HOST_PEERS_COHORT) / (double)last->row.bytes;
    return link * stream > 0 ? median(line, HOST_PEERS_COHORT) / (link * stream) : 0;
}

static struct verdict judge(const struct host_peers_table *table, struct host_peers_line *line)
{
    struct verdict verdict = {.of_link = judge_link(table, line)};
    double *medians = verdict.medians;
    for (size_t i = 0; i < HOST_PEERS_NUM_COLUMNS; i++)
        medians[i] = median(line, i);
    for (size_t i = HOST_PEERS_TUNED; medians[HOST_PEERS_COHORT] > 0 && i <= HOST_PEERS_HAN; i++)
        if (medians[i] > 0 && (!verdict.best || medians[i] < medians[verdict.best]))
            verdict.best = i;
    if (verdict.best)
        verdict.ratio = medians[HOST_PEERS_COHORT] / medians[verdict.best];
    return verdict;
}

void host_peers_table_begin(const struct host_peers_table *table)
{
    struct bench_machine machine = bench_machine();
    const struct bench_places *places = &table->places;
    if (table->json)
        return;
    printf("cohort-bench %s, %u cores, %s, %s, load %.2f%s\n\n", COHORT_VERSION, machine.cores,
           machine.cpu, machine.system, machine.load,
           table->quick ? ", --quick: not for figures" : "");
    peers_versions_print(table->versions);
    printf("Hosts x localities x tasks: %" PRIu32 " x %" PRIu32 " x %" PRIu32
           ". The hosts are namespaces of this machine.\n",
           places->hosts, places->localities, places->tasks);
    puts("Medians of the rounds, for one call; bytes are a site's, all_to_all's a pair's,\n"
         "reduce_scatter's those that a site gets. tuned, han: Open MPI's collectives. ratio:\n"
         "Cohort's figure by that of the better one of these two. link: by the time in which the\n"
         "stream, 1 MiB at a time from one host to another, carries what has to go over the link "
         "of\n"
         "a host, whatever the algorithm.\n");
    printf("%-14s %8s %5s", "work", "bytes", "sites");
    for (size_t i = 0; i < HOST_PEERS_NUM_COLUMNS; i++)
        printf(" %9s", names[i]);
    printf(" %-4s %6s %6s  better\n", "unit", "ratio", "link");
    fflush(stdout);
}

static void print_number(int width, double value)
{
    if (value > 0)
        printf(" %*.*f", width, value < 1000 ? 2 : 0, value);
    else
        printf(" %*s", width, "-");
}

static void print_line(const struct host_peers_table *table, struct host_peers_line *line)
{
    const struct host_peers_row *row = &line->row;
    struct verdict verdict = judge(table, line);
    printf("%-14s %8" PRIu64 " %5" PRIu32, row->work, row->bytes, row->sites);
    for (size_t i = 0; i < HOST_PEERS_NUM_COLUMNS; i++)
        print_number(9, verdict.medians[i]);
    printf(" %-4s", "us");
    print_number(6, verdict.ratio);
    print_number(6, verdict.of_link);
    printf("  %s\n", verdict.best ? names[verdict.best] : "-");
}

static void write_line(const struct host_peers_table *table, struct host_peers_line *line,
                       struct json *json)
{
    const struct host_peers_row *row = &line->row;
    const struct bench_places two = {2, 1, 1};
    const struct bench_places *places = host_peers_row_is_stream(row) ? &two : &table->places;
    struct verdict verdict = judge(table, line);
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "name", row->work);
    json_count(json, "bytes", row->bytes);
    json_count(json, "hosts", places->hosts);
    json_count(json, "localities", places->localities);
    json_count(json, "tasks", places->tasks);
    json_text(json, "unit", "us");
    json_begin(json, "figures", '{');
    for (size_t i = 0; i < HOST_PEERS_NUM_COLUMNS; i++)
        if (verdict.medians[i] > 0)
            json_number(json, names[i], verdict.medians[i]);
    json_end(json, '}');
    if (verdict.best) {
        json_text(json, "best", names[verdict.best]);
        json_number(json, "ratio", verdict.ratio);
    }
    if (verdict.of_link > 0)
        json_number(json, "of_link", verdict.of_link);
    json_end(json, '}');
}

static void write_json(const struct host_peers_table *table)
{
    struct bench_machine machine = bench_machine();
    struct json json = {.file = stdout};
    bench_report_write_head(&json, &machine, table->quick);
    for (size_t i = 0; i < table->num_lines; i++)
        write_line(table, &table->lines[i], &json);
    json_break(&json, 0);
    json_end(&json, ']');
    peers_versions_write(table->versions, &json);
    json_end(&json, '}');
    putchar('\n');
}

bool host_peers_table_end(const struct host_peers_table *table)
{
    if (table->json)
        write_json(table);
    else
        for (size_t i = 0; i < table->num_lines; i++)
            print_line(table, &table->lines[i]);
    return fflush(stdout) == 0 && !ferror(stdout);
}
