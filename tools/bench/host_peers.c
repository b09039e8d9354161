/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: measures over several hosts, in turns. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/bench/host_peers_jobs.h"
#include "tools/bench/hosts.h"

/* Whether ROW is asked for. */
static bool is_wanted(const struct host_peers_row *row, const char *pattern)
{
    return !pattern || host_peers_row_fits(row, pattern);
}

/* Makes lines of the rows that are asked for, and last of the stream, if one of these is compared
 * with it. False: there are none, or no memory, which is printed. */
static bool fill(struct host_peers_table *table, const char *pattern)
{
    struct host_peers_row rows[HOST_PEERS_MAX_ROWS];
    const struct bench_places *places = &table->places;
    size_t num = host_peers_rows(places->hosts * places->localities * places->tasks, rows);
    bool needs_stream = is_wanted(&host_peers_stream, pattern);
    table->lines = calloc(num + 1, sizeof(*table->lines));
    if (!table->lines) {
        fputs("cohort-bench: no memory for the figures\n", stderr);
        return false;
    }
    for (size_t i = 0; i < num; i++)
        if (is_wanted(&rows[i], pattern)) {
            table->lines[table->num_lines++].row = rows[i];
            needs_stream = needs_stream || host_peers_row_link(&rows[i], places->hosts) > 0;
        }
    if (needs_stream)
        table->lines[table->num_lines++].row = host_peers_stream;
    if (table->num_lines == 0)
        fprintf(stderr, "cohort-bench: --only '%s' fits no row\n", pattern);
    return table->num_lines > 0;
}

/* Among the hosts. */
struct measuring {
    const struct host_peers_jobs *jobs;
    const struct host_peers_table *table;
    unsigned rounds;
};

static int measure(void *context)
{
    const struct measuring *measuring = context;
    bool is_complete = true;
    if (setenv("TMPDIR", hosts_folder, 1))
        return 1;
    host_peers_table_begin(measuring->table);
    for (unsigned round = 0; round < measuring->rounds; round++)
        is_complete = host_peers_jobs_run(measuring->jobs, measuring->table, round) && is_complete;
    if (!host_peers_table_end(measuring->table)) {
        fputs("cohort-bench: standard output can't be written\n", stderr);
        is_complete = false;
    }
    return is_complete ? 0 : 1;
}

int bench_host_peers(const struct bench_options *options)
{
    struct host_peers_jobs jobs;
    struct host_peers_table table = {.json = options->json,
                                     .quick = options->quick,
                                     .places = options->places,
                                     .versions = &jobs.versions};
    struct measuring measuring = {&jobs, &table, options->rounds};
    char names[HOSTS_MAX_LIST];
    int status = 1;
    hosts_list(options->places.hosts, 0, names);
    if (getenv("COHORT_LOCALITY"))
        fputs("cohort-bench: --peers starts its own jobs: run it without cohortrun\n", stderr);
    else if (fill(&table, options->only) && host_peers_jobs_init(&jobs, options))
        status = hosts_run(names, measure, &measuring);
    free(table.lines);
    return status;
}
