/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the rows, and the limits for Cohort in each. */
#ifndef COHORT_TOOLS_BENCH_PEERS_ROWS_H
#define COHORT_TOOLS_BENCH_PEERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is measured side by side, and the limits for Cohort. */

enum { PEERS_MAX_ROWS = 64 };

/* Rows are measured by the same jobs when they are of the same kind and number of localities. */
enum peers_kind {
    PEERS_WORKS,  /* timed within a job */
    PEERS_JOB,    /* the time of a whole job */
    PEERS_MEMORY, /* of an idle process, once */
    PEERS_RAW,    /* over ofi, beside fi_pingpong */
};

/* How many times the other figure Cohort's may be at most. 0: the other one is only shown. */
struct peers_limits {
    double blocking;    /* an MPI's blocking call */
    double nonblocking; /* its non-blocking call and MPI_Wait */
    double reference;   /* what the row itself says: see peers_row */
};

struct peers_row {
    enum peers_kind kind;
    uint32_t localities;
    const char *work; /* of works.h */
    uint64_t bytes;
    const char *unit;
    struct peers_limits limits;
    /* What the reference is: a figure that is given here, or one that is measured. "longer": the
     * longer of computing alone and exchanging alone. Or "fi_pingpong". */
    const char *reference;
    double given;
};

/* All rows; those of the same job follow each other. Returns how many there are. */
size_t peers_rows(struct peers_row rows[PEERS_MAX_ROWS]);

bool peers_row_shares_jobs(const struct peers_row *row, const struct peers_row *other);

/* Whether the shell pattern PATTERN fits "work/bytes/localities", with "ofi_" in front for RAW. */
bool peers_row_fits(const struct peers_row *row, const char *pattern);

/* The first part of that text. */
const char *peers_row_name(const struct peers_row *row);

#endif
