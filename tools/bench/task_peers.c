/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: measures row by row, in turns. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/bench/task_peers_jobs.h"

/* Makes lines of the rows that are asked for. False: there are none, or no memory, which is
 * printed. */
static bool fill(struct task_peers_table *table, const char *pattern)
{
    const struct task_peers_row *rows;
    size_t num = task_peers_rows(&rows);
    table->lines = calloc(num, sizeof(*table->lines));
    if (!table->lines) {
        fputs("cohort-bench: no memory for the figures\n", stderr);
        return false;
    }
    for (size_t i = 0; i < num; i++)
        if (!pattern || task_peers_row_fits(&rows[i], pattern))
            table->lines[table->num_lines++].row = &rows[i];
    if (table->num_lines == 0)
        fprintf(stderr, "cohort-bench: --only '%s' fits no row\n", pattern);
    return table->num_lines > 0;
}

int bench_task_peers(const struct bench_options *options)
{
    struct task_peers_jobs jobs;
    struct task_peers_table table = {.json = options->json, .quick = options->quick};
    bool is_complete = true;
    if (getenv("COHORT_LOCALITY")) {
        fputs("cohort-bench: --peers starts its own jobs: run it without cohortrun\n", stderr);
        return 1;
    }
    if (!fill(&table, options->only) || !task_peers_jobs_init(&jobs, options)) {
        free(table.lines);
        return 1;
    }
    task_peers_table_begin(&table);
    for (size_t i = 0; i < table.num_lines; i++) {
        for (unsigned round = 0; round < options->rounds; round++)
            is_complete = task_peers_jobs_run(&jobs, &table, &table.lines[i], round) && is_complete;
        task_peers_table_show(&table, &table.lines[i]);
    }
    if (!task_peers_table_end(&table)) {
        fputs("cohort-bench: standard output can't be written\n", stderr);
        is_complete = false;
    }
    free(table.lines);
    return is_complete ? 0 : 1;
}
