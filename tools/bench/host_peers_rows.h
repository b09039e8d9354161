/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: which works with how many bytes. */
#ifndef COHORT_TOOLS_BENCH_HOST_PEERS_ROWS_H
#define COHORT_TOOLS_BENCH_HOST_PEERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_PEERS_MAX_ROWS = 24 };

struct host_peers_row {
    const char *work; /* of works.h */
    uint64_t bytes; /* of all_to_all a pair's, of reduce_scatter those that a site gets; a site's */
    uint32_t sites;
};

/* The rows for SITES, without those in which a site has more than 8 MiB. Returns how many. */
size_t host_peers_rows(uint32_t sites, struct host_peers_row rows[HOST_PEERS_MAX_ROWS]);

/* Whether the shell pattern PATTERN fits "work/bytes/sites". */
bool host_peers_row_fits(const struct host_peers_row *row, const char *pattern);

#endif
