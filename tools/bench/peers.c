/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: measures row by row, in turns. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/bench/peers_jobs.h"

/* Makes lines of the rows that are asked for. False: there are none, or no memory, which is
 * printed. */
static bool fill(struct peers_table *table, const char *pattern)
{
    struct peers_row rows[PEERS_MAX_ROWS];
    size_t num = peers_rows(rows);
    table->lines = calloc(num, sizeof(*table->lines));
    if (!table->lines) {
        fputs("cohort-bench: no memory for the figures\n", stderr);
        return false;
    }
    for (size_t i = 0; i < num; i++)
        if (!pattern || peers_row_fits(&rows[i], pattern))
            table->lines[table->num_lines++].row = rows[i];
    if (table->num_lines == 0)
        fprintf(stderr, "cohort-bench: --only '%s' fits no row\n", pattern);
    return table->num_lines > 0;
}

/* Measures all rounds of the lines from FIRST on that share their jobs. Returns how many lines
 * these are. The memory of a process is measured in one round: it does not vary, and takes a large
 * job. */
static size_t measure(const struct peers_jobs *jobs, const struct peers_table *table, size_t first,
                      unsigned rounds, bool *is_complete)
{
    struct peers_line *lines = &table->lines[first];
    size_t num = 1;
    while (first + num < table->num_lines && peers_row_shares_jobs(&lines[0].row, &lines[num].row))
        num++;
    if (lines[0].row.kind == PEERS_MEMORY)
        rounds = 1;
    for (unsigned round = 0; round < rounds; round++)
        *is_complete = peers_jobs_run(jobs, lines, num, round) && *is_complete;
    for (size_t i = 0; i < num; i++)
        peers_table_show(table, &lines[i]);
    return num;
}

int bench_peers(const struct bench_options *options)
{
    struct peers_jobs jobs;
    struct peers_table table = {.json = options->json, .quick = options->quick};
    bool is_complete = true;
    if (getenv("COHORT_LOCALITY")) {
        fputs("cohort-bench: --peers starts its own jobs: run it without cohortrun\n", stderr);
        return 1;
    }
    if (!fill(&table, options->only) || !peers_jobs_init(&jobs, options)) {
        free(table.lines);
        return 1;
    }
    for (size_t i = 0; i < jobs.num_contenders && i < 2; i++)
        table.nets[i] = jobs.contenders[i].net;
    for (size_t i = 0; i < jobs.num_contenders; i++)
        table.has_components[jobs.contenders[i].column] = jobs.contenders[i].component;
    table.versions = &jobs.versions;
    peers_table_begin(&table);
    for (size_t i = 0; i < table.num_lines;)
        i += measure(&jobs, &table, i, options->rounds, &is_complete);
    if (!peers_table_end(&table)) {
        fputs("cohort-bench: standard output can't be written\n", stderr);
        is_complete = false;
    }
    free(table.lines);
    return is_complete ? 0 : 1;
}
