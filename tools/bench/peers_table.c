/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the figures beside each other, as table or JSON. */
#include "tools/bench/peers_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/report.h"
#include "tools/share/json.h"
#include "tools/share/trial.h"

/* The JSON is as report.c's, except its results, and without targets:
 *
 * {"name": "all_reduce", "bytes": 8, "localities": 2, "unit": "us",
 *   "figures": {"cohort_shm": 0.5, "openmpi": 0.25, "openmpi_wait": 0.5, ...},
 *   "against": "openmpi_wait", "ratio": 1, "limit": 1, "reached": true} (in one line)
 *
 * and "peers": {"openmpi": "4.1.4", "mpich": "4.0.2"}, their versions, behind the results.
 *
 * Figures are medians. One that was not measured is left out. The last four are left out if there
 * is no limit, or nothing to compare with. */

static const char *column_name(const struct peers_table *table, const struct peers_row *row,
                               size_t column, char text[16])
{
    static const char *const names[PEERS_NUM_COLUMNS] = {
        [PEERS_OPENMPI] = "openmpi", [PEERS_OPENMPI_WAIT] = "openmpi_wait",
        [PEERS_MPICH] = "mpich",     [PEERS_MPICH_WAIT] = "mpich_wait",
        [PEERS_ACOLL] = "acoll",     [PEERS_UCC] = "ucc",
        [PEERS_XHC] = "xhc",         [PEERS_REFERENCE] = "reference",
    };
    if (column == PEERS_REFERENCE && row && row->reference)
        return row->reference;
    if (column > PEERS_COHORT_OTHER)
        return names[column];
    snprintf(text, 16, "cohort_%.8s", table->nets[column]);
    return text;
}

static bool has_column(const struct peers_table *table, size_t column)
{
    if (column >= PEERS_ACOLL && column <= PEERS_XHC)
        return table->has_components[column];
    return column != PEERS_COHORT_OTHER || table->nets[1];
}

void peers_figure_add(struct peers_figure *figure, double value)
{
    if (figure->num < BENCH_MAX_ROUNDS)
        figure->rounds[figure->num++] = value;
}

static double limit_of(const struct peers_row *row, size_t column)
{
    switch (column) {
    case PEERS_OPENMPI:
    case PEERS_MPICH:
        return row->limits.blocking;
    case PEERS_OPENMPI_WAIT:
    case PEERS_MPICH_WAIT:
        return row->limits.nonblocking;
    default:
        return column == PEERS_REFERENCE ? row->limits.reference : 0;
    }
}

/* The figure that is the hardest for Cohort to reach. */
struct verdict {
    size_t column; /* 0: there is none */
    double ratio;
    double limit;
};

static struct verdict judge(const struct peers_table *table, const struct peers_row *row,
                            const double medians[PEERS_NUM_COLUMNS])
{
    struct verdict verdict = {0};
    bool is_other = row->kind == PEERS_RAW && strcmp(table->nets[PEERS_COHORT], "ofi") != 0;
    double cohort = medians[is_other ? PEERS_COHORT_OTHER : PEERS_COHORT];
    for (size_t i = PEERS_OPENMPI; cohort > 0 && i < PEERS_NUM_COLUMNS; i++) {
        double limit = limit_of(row, i);
        double ratio = limit > 0 && medians[i] > 0 ? cohort / medians[i] : 0;
        if (ratio > 0 && (!verdict.column || ratio / limit > verdict.ratio / verdict.limit))
            verdict = (struct verdict){i, ratio, limit};
    }
    return verdict;
}

static bool is_reached(const struct verdict *verdict)
{
    return verdict->ratio <= verdict->limit;
}

/* The medians of LINE. 0: not measured. */
static void medians_of(struct peers_line *line, double ret_medians[PEERS_NUM_COLUMNS])
{
    for (size_t i = 0; i < PEERS_NUM_COLUMNS; i++) {
        struct peers_figure *figure = &line->figures[i];
        ret_medians[i] = figure->num ? trial_median(figure->rounds, figure->num) : 0;
    }
}

void peers_table_begin(const struct peers_table *table)
{
    struct bench_machine machine = bench_machine();
    char text[16];
    if (table->json)
        return;
    printf("cohort-bench %s, %u cores, %s, %s, load %.2f%s\n\n", COHORT_VERSION, machine.cores,
           machine.cpu, machine.system, machine.load,
           table->quick ? ", --quick: not for figures" : "");
    peers_versions_print(table->versions);
    puts("Medians of the rounds, for one call; bytes are a site's, all_to_all's a pair's. _wait:\n"
         "the non-blocking call and MPI_Wait. ratio: Cohort's first figure (ofi_ping_pong: that "
         "over\n"
         "ofi) by that of whoever is the hardest to reach. docs/performance.md tells what the rows "
         "are.\n"
         "acoll, ucc, xhc: Open MPI with that component.\n");
    printf("%-13s %8s %3s", "work", "bytes", "n");
    for (size_t i = 0; i < PEERS_NUM_COLUMNS; i++)
        if (has_column(table, i))
            printf(" %12s", column_name(table, NULL, i, text));
    printf(" %-4s %6s  wanted\n", "unit", "ratio");
    fflush(stdout);
}

static void print_figure(double value)
{
    if (value > 0)
        printf(" %12.*f", value < 1000 ? 2 : 0, value);
    else
        printf(" %12s", "-");
}

void peers_table_show(const struct peers_table *table, struct peers_line *line)
{
    const struct peers_row *row = &line->row;
    double medians[PEERS_NUM_COLUMNS];
    char text[16];
    if (table->json)
        return;
    medians_of(line, medians);
    struct verdict verdict = judge(table, row, medians);
    printf("%-13s %8" PRIu64 " %3" PRIu32, peers_row_name(row), row->bytes, row->localities);
    for (size_t i = 0; i < PEERS_NUM_COLUMNS; i++)
        if (has_column(table, i))
            print_figure(medians[i]);
    if (verdict.column)
        printf(" %-4s %6.2f  <= %.2f of %s: %s\n", row->unit, verdict.ratio, verdict.limit,
               column_name(table, row, verdict.column, text),
               is_reached(&verdict) ? "reached" : "missed");
    else
        printf(" %-4s %6s  -\n", row->unit, "-");
    fflush(stdout);
}

static void write_line(const struct peers_table *table, struct peers_line *line, struct json *json)
{
    const struct peers_row *row = &line->row;
    double medians[PEERS_NUM_COLUMNS];
    char text[16];
    medians_of(line, medians);
    struct verdict verdict = judge(table, row, medians);
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "name", peers_row_name(row));
    json_count(json, "bytes", row->bytes);
    json_count(json, "localities", row->localities);
    json_text(json, "unit", row->unit);
    json_begin(json, "figures", '{');
    for (size_t i = 0; i < PEERS_NUM_COLUMNS; i++)
        if (medians[i] > 0)
            json_number(json, column_name(table, row, i, text), medians[i]);
    json_end(json, '}');
    if (verdict.column) {
        json_text(json, "against", column_name(table, row, verdict.column, text));
        json_number(json, "ratio", verdict.ratio);
        json_number(json, "limit", verdict.limit);
        json_bool(json, "reached", is_reached(&verdict));
    }
    json_end(json, '}');
}

bool peers_table_end(const struct peers_table *table)
{
    if (table->json) {
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
    return fflush(stdout) == 0 && !ferror(stdout);
}
